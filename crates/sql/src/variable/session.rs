//! A session's variables.
//!
//! ```text
//! begun (shared with all who connected since the last SET GLOBAL)  +  changed (sparse)  +  state  =  @@session.x
//!                                                     \--> settings: the same, typed
//! ```
//!
//! # Invariants
//! 1. A session that has set nothing owns no values: it shares those it began with.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use meseta_errors::{ER_INCORRECT_GLOBAL_LOCAL_VAR, ER_UNKNOWN_SYSTEM_VARIABLE};
use meseta_types::{Charset, Collation, Warnings};

use super::assign::warn_old;
use super::globals::{GlobalValues, Globals};
use super::registry::{Scope, Variable};
use super::settings::{Isolation, Settings};
use super::value::Value;
use crate::error::{Error, Result};

/// Of which scope `@@x` is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadScope {
    /// `@@x`: the session's, or the global one where there is no other.
    Either,
    /// `@@global.x`, and the persisted ones.
    Global,
    /// `@@session.x`, `@@local.x`.
    Session,
}

impl From<Option<meseta_parser::ast::VariableScope>> for ReadScope {
    fn from(scope: Option<meseta_parser::ast::VariableScope>) -> Self {
        use meseta_parser::ast::VariableScope;
        match scope {
            None => ReadScope::Either,
            Some(VariableScope::Session) => ReadScope::Session,
            Some(VariableScope::Global | VariableScope::Persist | VariableScope::PersistOnly) => ReadScope::Global,
        }
    }
}

/// What the session itself changes while it works, and variables show.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SessionState {
    /// `last_insert_id`, `identity`.
    pub last_insert_id: u64,
    /// `insert_id`: the next AUTO_INCREMENT value, if it was set. The insert that uses it clears it.
    pub insert_id: u64,
    /// `timestamp`, if it was set: seconds since 1970.
    pub timestamp: Option<f64>,
    /// `rand_seed1`, `rand_seed2`, as set.
    pub rand_seed: (u64, u64),
    /// `pseudo_thread_id`.
    pub connection_id: u64,
    /// `error_count` of the statement before.
    pub error_count: u64,
    /// `warning_count` of the statement before.
    pub warning_count: u64,
    /// `statement_id`.
    pub statement_id: u64,
    /// `proxy_user`.
    pub proxy_user: Option<Arc<str>>,
    /// `external_user`.
    pub external_user: Option<Arc<str>>,
    /// What SET TRANSACTION said of the next transaction: isolation, read only.
    pub next_isolation: Option<Isolation>,
    /// The same.
    pub next_read_only: Option<bool>,
    /// Whether a transaction is open: then the next one's kind cannot be set (error 1568).
    pub in_transaction: bool,
}

/// A session's variables.
#[derive(Clone, Debug)]
pub struct SessionVariables {
    globals: Arc<Globals>,
    begun: Arc<GlobalValues>,
    /// In the order of variables.
    changed: Vec<(Variable, Value)>,
    settings: Settings,
    /// How often a value was set.
    version: u64,
    /// What changes without SET.
    pub state: SessionState,
}

impl SessionVariables {
    /// Those of a session that begins now.
    pub fn new(globals: Arc<Globals>) -> Self {
        let begun = globals.values();
        let settings = begun.settings().clone();
        Self { globals, begun, changed: Vec::new(), settings, version: 0, state: SessionState::default() }
    }

    /// As after COM_RESET_CONNECTION and COM_CHANGE_USER: what the server has now, but the connection's number.
    pub fn reset(&mut self) {
        let (connection_id, version) = (self.state.connection_id, self.version);
        *self = Self::new(Arc::clone(&self.globals));
        self.state.connection_id = connection_id;
        self.version = version + 1;
    }

    /// Whether a statement is a transaction of its own: none is open, and with autocommit none stays open behind it.
    pub fn is_own_transaction(&self) -> bool {
        self.settings.autocommit && !self.state.in_transaction
    }

    /// The variables, typed.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The server's.
    pub fn globals(&self) -> &Arc<Globals> {
        &self.globals
    }

    /// `SELECT @@x`. Errors: 1193, 1238. Warns of deprecated names.
    pub fn get(&self, scope: ReadScope, name: &str, warnings: &mut Warnings) -> Result<(Variable, Value)> {
        let variable = Variable::find(name).ok_or_else(|| Error::new(ER_UNKNOWN_SYSTEM_VARIABLE, &[&name]))?;
        let definition = variable.definition();
        let wrong = |kind: &str| Err(Error::new(ER_INCORRECT_GLOBAL_LOCAL_VAR, &[&name, &kind]));
        match (definition.scope, scope) {
            (Scope::Session, ReadScope::Global) => return wrong("SESSION"),
            (Scope::Global, ReadScope::Session) => return wrong("GLOBAL"),
            _ => warn_old(definition, warnings),
        }
        let value = if scope == ReadScope::Global { self.globals.get(variable) } else { self.value(variable) };
        Ok((variable, value))
    }

    /// The session's value, or the global one where there is no other.
    pub fn value(&self, variable: Variable) -> Value {
        let definition = variable.definition();
        if definition.scope == Scope::Global {
            return self.globals.get(variable);
        }
        let state = &self.state;
        let text = |text: &Option<Arc<str>>| text.clone().map_or(Value::Null, Value::Text);
        match definition.name {
            "last_insert_id" | "identity" => Value::Unsigned(state.last_insert_id),
            "insert_id" => Value::Unsigned(state.insert_id),
            "timestamp" => Value::Double(state.timestamp.unwrap_or_else(now)),
            "pseudo_thread_id" => Value::Unsigned(state.connection_id),
            "error_count" => Value::Unsigned(state.error_count),
            "warning_count" => Value::Unsigned(state.warning_count),
            "statement_id" => Value::Unsigned(state.statement_id),
            "proxy_user" => text(&state.proxy_user),
            "external_user" => text(&state.external_user),
            _ => match self.changed.binary_search_by_key(&variable, |(variable, _)| *variable) {
                Ok(at) => self.changed[at].1.clone(),
                Err(_) => self.begun.get(variable).clone(),
            },
        }
    }

    /// Stores a value that was checked, and what follows it.
    pub(super) fn store(&mut self, variable: Variable, value: Value) {
        for (follower, value) in followers(variable, &value) {
            self.keep(follower, value);
        }
        let state = &mut self.state;
        match variable.definition().name {
            "last_insert_id" | "identity" => state.last_insert_id = value.as_u64(),
            "insert_id" => state.insert_id = value.as_u64(),
            "timestamp" => {
                state.timestamp = match value {
                    Value::Double(seconds) if seconds > 0.0 => Some(seconds),
                    _ => None,
                }
            }
            "pseudo_thread_id" => state.connection_id = value.as_u64(),
            // What is set can be used once, and is not shown.
            "rand_seed1" => state.rand_seed.0 = value.as_u64(),
            "rand_seed2" => state.rand_seed.1 = value.as_u64(),
            _ => self.keep(variable, value),
        }
    }

    /// Another number whenever a value has been set.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Hashes what distinguishes these values from those of other sessions of this server.
    pub fn hash_values(&self, hasher: &mut impl Hasher) {
        self.begun.generation().hash(hasher);
        for (variable, value) in &self.changed {
            variable.hash(hasher);
            match value {
                Value::Null => 0u8.hash(hasher),
                Value::Signed(number) => (1u8, number).hash(hasher),
                Value::Unsigned(number) => (2u8, number).hash(hasher),
                Value::Double(number) => (3u8, number.to_bits()).hash(hasher),
                Value::Text(text) => (4u8, text).hash(hasher),
            }
        }
    }

    fn keep(&mut self, variable: Variable, value: Value) {
        self.version += 1;
        self.settings.take(variable.definition().name, &value);
        match self.changed.binary_search_by_key(&variable, |(variable, _)| *variable) {
            Ok(at) => self.changed[at].1 = value,
            Err(at) => self.changed.insert(at, (variable, value)),
        }
    }

    /// What the session sets on its own, without a check: the character sets that a client asked for when it connected,
    /// those of a database that it uses.
    pub fn set_collation(&mut self, name: &str, collation: Collation) {
        if let Some(variable) = Variable::find(name) {
            self.store(variable, Value::text(collation.name()));
        }
    }

    /// Sets a number without a check.
    pub fn set_number(&mut self, name: &str, number: u64) {
        if let Some(variable) = Variable::find(name) {
            self.store(variable, Value::Unsigned(number));
        }
    }

    /// As SET NAMES: what the client sends, what it is sent, and what literals are.
    pub fn set_names(&mut self, charset: Charset, collation: Collation) {
        for name in ["character_set_client", "character_set_results"] {
            if let Some(variable) = Variable::find(name) {
                self.store(variable, Value::text(charset.name()));
            }
        }
        self.set_collation("collation_connection", collation);
    }
}

/// The variables that another one's value decides: a collation has a character set, a character set its default
/// collation.
pub(super) fn followers(variable: Variable, value: &Value) -> Vec<(Variable, Value)> {
    let text = value.as_text();
    let pair = |name: &str, value: &str| Variable::find(name).map(|variable| (variable, Value::text(value)));
    let collation_of = |charset: &str| Charset::parse(charset).map(|charset| charset.default_collation().name());
    let charset_of = |collation: &str| Collation::parse(collation).map(|collation| collation.charset().name());
    let follower = match variable.definition().name {
        "character_set_connection" => collation_of(text).ok().and_then(|name| pair("collation_connection", name)),
        "character_set_database" => collation_of(text).ok().and_then(|name| pair("collation_database", name)),
        "character_set_server" => collation_of(text).ok().and_then(|name| pair("collation_server", name)),
        "collation_connection" => charset_of(text).ok().and_then(|name| pair("character_set_connection", name)),
        "collation_database" => charset_of(text).ok().and_then(|name| pair("character_set_database", name)),
        "collation_server" => charset_of(text).ok().and_then(|name| pair("character_set_server", name)),
        _ => None,
    };
    follower.into_iter().collect()
}

fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_micros() as f64 / 1e6
}
