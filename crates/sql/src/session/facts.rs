//! What functions ask of a session.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use meseta_errors::ER_QUERY_TIMEOUT;
use meseta_types::{Context, Datum, Warnings};

use super::connections::SessionShared;
use super::counters::Counter;
use super::user_lock::Bell;
use super::{Instance, identifiers};
use crate::account::SessionAccount;
use crate::error::{Error, Result};
use crate::expression::random::Random;
use crate::expression::{Host, Kept, SystemVariable, Value};
use crate::variable::{ReadScope, SessionVariables};

/// Whether a statement is to end: asked between rows.
pub trait Interrupts: Send {
    /// The error with which it ends.
    fn check(&self) -> Result<()>;

    /// Waits until the bell is rung or the deadline comes; the bell is rung as well when the statement is to end. `state`
    /// is what SHOW PROCESSLIST says meanwhile. Others have the core.
    fn wait(&self, bell: &Arc<Bell>, deadline: Option<Instant>, _state: &'static str) {
        bell.wait(deadline);
    }
}

/// Nobody interrupts.
pub struct Undisturbed;

impl Interrupts for Undisturbed {
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// Who is connected.
#[derive(Clone, Debug, Default)]
pub struct Identity {
    /// The connection's number.
    pub connection: u64,
    /// As the client named itself: `user@host`.
    pub user: String,
    /// The account: `user@host`.
    pub account: String,
}

/// The part of a session that functions see.
pub struct SessionFacts {
    /// System variables.
    pub variables: SessionVariables,
    /// User variables.
    pub user_variables: HashMap<Box<str>, Value>,
    /// Who is connected.
    pub identity: Identity,
    /// What he may.
    pub account: SessionAccount,
    /// The session's database. As long as it is the same it is the same allocation.
    pub database: Option<Arc<str>>,
    /// When the statement began: microseconds since 1970.
    pub statement_time: i64,
    /// What LAST_INSERT_ID(expr) of this statement was given.
    pub given_insert_id: Option<u64>,
    /// ROW_COUNT().
    pub row_count: i64,
    /// FOUND_ROWS().
    pub found_rows: u64,
    /// Whether a statement is to end.
    pub interrupts: Box<dyn Interrupts>,
    /// RAND().
    pub random: Random,
    /// RAND(seed), by the place in the statement.
    pub seeded: HashMap<usize, Option<Random>>,
    /// What is the same for all rows of the statement, by the numbers that its plan gives it.
    pub kept_values: Vec<Option<Kept>>,
    /// What all sessions share.
    pub instance: Arc<Instance>,
    /// What others see of this one.
    pub shared: Arc<SessionShared>,
    /// When the statement is to end: max_execution_time.
    pub deadline: Option<Instant>,
}

impl SessionFacts {
    /// The name of the session's database.
    pub fn database_name(&self) -> Option<String> {
        self.database.as_deref().map(str::to_owned)
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn late(&self) -> Error {
        self.shared.counters.add(Counter::MaxExecutionTimeExceeded, 1);
        Error::new(ER_QUERY_TIMEOUT, &[])
    }
}

impl Drop for SessionFacts {
    fn drop(&mut self) {
        self.instance.user_locks.release_all(self.identity.connection);
        self.instance.sessions.remove(&self.shared);
    }
}

/// Microseconds since 1970.
pub fn clock() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as i64)
}

impl Host for SessionFacts {
    fn subquery(
        &mut self,
        _number: u32,
        _rows: &[&[Datum<'_>]],
        _context: &mut Context,
        _show: &mut dyn FnMut(&[Datum<'_>]) -> Result<bool>,
    ) -> Result<()> {
        Err(Error::not_yet("a subquery here"))
    }

    fn user_variable(&mut self, name: &str, show: &mut dyn FnMut(Datum<'_>)) {
        show(self.user_variables.get(name).map_or(Datum::Null, Value::get));
    }

    fn set_user_variable(&mut self, name: &str, value: Datum<'_>) -> Result<()> {
        self.user_variables.insert(name.into(), Value::new(value));
        Ok(())
    }

    fn system_variable(&mut self, variable: &SystemVariable, show: &mut dyn FnMut(Datum<'_>)) -> Result<()> {
        let scope = match variable.global {
            None => ReadScope::Either,
            Some(true) => ReadScope::Global,
            Some(false) => ReadScope::Session,
        };
        let (_, value) = self.variables.get(scope, &variable.name, &mut Warnings::new(0))?;
        show(value.as_datum());
        Ok(())
    }

    fn statement_time(&self) -> i64 {
        self.variables.state.timestamp.map_or(self.statement_time, |seconds| (seconds * 1e6) as i64)
    }

    fn clock(&self) -> i64 {
        clock()
    }

    fn last_insert_id(&self) -> u64 {
        self.variables.state.last_insert_id
    }

    fn set_last_insert_id(&mut self, number: u64) {
        self.variables.state.last_insert_id = number;
        self.given_insert_id = Some(number);
    }

    fn take_insert_id(&mut self) -> u64 {
        std::mem::take(&mut self.variables.state.insert_id)
    }

    fn row_count(&self) -> i64 {
        self.row_count
    }

    fn found_rows(&self) -> u64 {
        self.found_rows
    }

    fn connection_id(&self) -> u64 {
        self.identity.connection
    }

    fn user(&self) -> &str {
        &self.identity.user
    }

    fn current_user(&self) -> &str {
        &self.identity.account
    }

    fn current_role(&self) -> &str {
        self.account.current_role()
    }

    fn database(&self) -> Option<&str> {
        self.database.as_deref()
    }

    fn random(&mut self) -> Option<&mut Random> {
        Some(&mut self.random)
    }

    fn seeded_random(&mut self, site: usize) -> Option<&mut Option<Random>> {
        Some(self.seeded.entry(site).or_default())
    }

    fn check_killed(&self) -> Result<()> {
        self.interrupts.check()?;
        if self.is_late() { Err(self.late()) } else { Ok(()) }
    }

    fn version(&self) -> &str {
        &self.instance.version
    }

    fn kept_value(&mut self, number: u32) -> Option<&mut Option<Kept>> {
        let number = number as usize;
        if self.kept_values.len() <= number {
            self.kept_values.resize_with(number + 1, || None);
        }
        self.kept_values.get_mut(number)
    }

    fn random_bytes(&mut self, out: &mut [u8]) {
        identifiers::random_bytes(out);
    }

    fn uuid(&mut self) -> [u8; 16] {
        identifiers::uuid()
    }

    fn uuid_short(&mut self) -> u64 {
        self.instance.next_short_identifier()
    }

    fn get_lock(&mut self, name: &str, seconds: f64) -> Result<Option<bool>> {
        let wanted = (seconds >= 0.0).then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let limit = match (wanted, left) {
            (Some(wanted), Some(left)) => Some(wanted.min(left)),
            (wanted, left) => wanted.or(left),
        };
        let got = self.instance.user_locks.get(name, self.identity.connection, limit, &*self.interrupts)?;
        if !got && self.is_late() { Err(self.late()) } else { Ok(Some(got)) }
    }

    fn release_lock(&mut self, name: &str) -> Result<Option<bool>> {
        Ok(self.instance.user_locks.release(name, self.identity.connection))
    }

    fn release_all_locks(&mut self) -> u64 {
        self.instance.user_locks.release_all(self.identity.connection)
    }

    fn lock_owner(&mut self, name: &str) -> Option<u64> {
        self.instance.user_locks.owner(name)
    }

    fn sleep(&mut self, seconds: f64) -> Result<bool> {
        let wanted = Duration::try_from_secs_f64(seconds).ok().and_then(|time| Instant::now().checked_add(time));
        let until = match (wanted, self.deadline) {
            (Some(wanted), Some(deadline)) => Some(wanted.min(deadline)),
            (wanted, deadline) => wanted.or(deadline),
        };
        let bell = Arc::new(Bell::default());
        // Who is interrupted says so by its value: whoever looks between rows makes an error of it.
        while self.interrupts.check().is_ok() {
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(self.is_late());
            }
            self.interrupts.wait(&bell, until, "User sleep");
        }
        Ok(true)
    }

    fn count(&self, counter: Counter, amount: u64) {
        self.shared.counters.add(counter, amount);
    }

    fn session(&self) -> Option<&SessionFacts> {
        Some(self)
    }

    fn max_allowed_packet(&self) -> usize {
        self.variables.settings().max_allowed_packet as usize
    }

    fn group_concat_max_len(&self) -> usize {
        self.variables.settings().group_concat_max_len as usize
    }

    fn block_encryption_mode(&self) -> &str {
        &self.variables.settings().block_encryption_mode
    }

    fn default_week_format(&self) -> u64 {
        self.variables.settings().default_week_format
    }
}
