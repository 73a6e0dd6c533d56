//! The server's values: those of global variables, and those with which sessions begin.
//!
//! ```text
//! Globals { Arc<GlobalValues> }   swapped whole by SET GLOBAL; a session that connects takes the Arc
//! ```
//!
//! # Invariants
//! 1. `GlobalValues` never changes: who has one reads it without a lock.
//! 2. What SET PERSIST remembered is kept apart, as text, and is on disk before it is here (`persisted`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use meseta_types::Warnings;
use parking_lot::RwLock;

use super::assign::Assignment;
use super::check::check;
use super::persisted::Persisted;
use super::registry::{Scope, Variable};
use super::settings::Settings;
use super::value::{Input, Value};
use crate::error::{Error, Result};
use meseta_errors::ER_UNKNOWN_SYSTEM_VARIABLE;

/// All values of one moment.
#[derive(Clone, Debug)]
pub struct GlobalValues {
    values: Box<[Value]>,
    settings: Settings,
    /// Another number for other values.
    generation: u64,
}

impl GlobalValues {
    fn defaults() -> Self {
        let mut settings = Settings::empty();
        let values = Variable::all().map(|variable| variable.definition().default.clone()).collect();
        for variable in Variable::all() {
            let definition = variable.definition();
            settings.take(definition.name, &definition.default);
        }
        Self { values, settings, generation: 0 }
    }

    /// The value of a variable; of a session's variable, the one that sessions begin with.
    pub fn get(&self, variable: Variable) -> &Value {
        &self.values[usize::from(variable.0)]
    }

    /// What a session begins with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Another number for other values of the same server.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    fn store(&mut self, variable: Variable, value: Value) {
        self.generation += 1;
        self.settings.take(variable.definition().name, &value);
        self.values[usize::from(variable.0)] = value;
    }
}

/// The server's variables.
#[derive(Debug)]
pub struct Globals {
    now: RwLock<Arc<GlobalValues>>,
    /// What DEFAULT means: the values of the start.
    start: RwLock<Arc<GlobalValues>>,
    version: AtomicU64,
    persisted: RwLock<Persisted>,
}

impl Default for Globals {
    fn default() -> Self {
        Self::new()
    }
}

impl Globals {
    /// With MySQL's defaults.
    pub fn new() -> Self {
        let defaults = Arc::new(GlobalValues::defaults());
        Self {
            now: RwLock::new(Arc::clone(&defaults)),
            start: RwLock::new(defaults),
            version: AtomicU64::new(0),
            persisted: RwLock::default(),
        }
    }

    /// Sets a variable before the server starts, from an option or a persisted value; also one that SET cannot set.
    /// Errors: 1193, 1231, 1232. Warnings: a value that was cut to the range.
    pub fn set_at_start(&self, name: &str, value: &str, warnings: &mut Warnings) -> Result<()> {
        let variable = Variable::find(name).ok_or_else(|| Error::new(ER_UNKNOWN_SYSTEM_VARIABLE, &[&name]))?;
        let definition = variable.definition();
        let current = self.values().get(variable).clone();
        let input = match (definition.kind.read(value), value) {
            (Some(Value::Signed(number)), _) => Input::Signed(number),
            (Some(Value::Unsigned(number)), _) => i64::try_from(number).map_or(Input::Unsigned(number), Input::Signed),
            (Some(Value::Double(number)), _) => Input::Fraction(number),
            (_, "\\N") => Input::Null,
            (_, text) => Input::Text(text.as_bytes()),
        };
        let value = match definition.writable {
            true => check(definition, input, &current, warnings)?,
            false => definition.kind.read(value).unwrap_or(Value::Null),
        };
        let value = self.with_charset(variable, value);
        for place in [&self.now, &self.start] {
            let mut values = place.write();
            let changed = Arc::make_mut(&mut *values);
            for (variable, value) in &value {
                changed.store(*variable, value.clone());
            }
        }
        self.version.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// The values of now.
    pub fn values(&self) -> Arc<GlobalValues> {
        Arc::clone(&self.now.read())
    }

    /// How often a value was set: whoever keeps a copy looks whether it is old.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// The value of a variable, now.
    pub fn get(&self, variable: Variable) -> Value {
        self.now.read().get(variable).clone()
    }

    /// The value that DEFAULT stands for.
    pub(super) fn default_of(&self, variable: Variable) -> Value {
        self.start.read().get(variable).clone()
    }

    /// Stores a value that was checked.
    pub(super) fn store(&self, variable: Variable, value: Value) {
        let values = self.with_charset(variable, value);
        let mut now = self.now.write();
        let changed = Arc::make_mut(&mut *now);
        for (variable, value) in values {
            changed.store(variable, value);
        }
        drop(now);
        self.version.fetch_add(1, Ordering::Release);
    }

    /// With the variables that follow it: a collation its character set, and the other way round.
    fn with_charset(&self, variable: Variable, value: Value) -> Vec<(Variable, Value)> {
        let mut all = super::session::followers(variable, &value);
        all.push((variable, value));
        all
    }

    /// What SET PERSIST has remembered.
    pub fn persisted(&self) -> Persisted {
        self.persisted.read().clone()
    }

    /// What was remembered when the server started, and where more is kept.
    pub fn keep_persisted(&self, persisted: Persisted) {
        *self.persisted.write() = persisted;
    }

    /// Remembers what these say of the next start, if any does; `by` is `user@host`, `now` in microseconds since 1970.
    /// Error 3: it cannot be written.
    pub fn persist(&self, assignments: &[Assignment], by: &str, now: u64) -> Result<()> {
        let values: Vec<_> = assignments.iter().filter_map(Assignment::for_next_start).collect();
        if values.is_empty() {
            return Ok(());
        }
        let mut persisted = self.persisted.write();
        *persisted = persisted.with(values, by, now)?;
        Ok(())
    }

    /// Forgets what SET PERSIST remembered: of one variable, or of all. False if there was none of that name. Error 3: it
    /// cannot be written.
    pub fn forget_persisted(&self, name: Option<&str>) -> Result<bool> {
        let mut persisted = self.persisted.write();
        let Some(rest) = persisted.without(name)? else { return Ok(false) };
        *persisted = rest;
        Ok(true)
    }

    /// Whether the variable has a global value.
    pub(super) fn has(variable: Variable) -> bool {
        variable.definition().scope != Scope::Session
    }
}
