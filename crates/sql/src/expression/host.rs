//! What functions ask of a session and of the executor.
//!
//! Everything but running queries has a default, which is that of a session that has done nothing yet: whoever evaluates
//! constants, defaults of columns or generated columns needs no session.

use meseta_types::{Context, Datum};

use super::kind::{LookUps, SystemVariable};
use super::once::Kept;
use super::random::Random;
use super::value::Value;
use crate::error::{Error, Result};
use crate::session::{Counter, SessionFacts};

/// What an evaluation asks its session and its executor.
pub trait Host {
    /// Runs a query inside: shows its rows, one by one, until `show` says that it has seen enough (false). `rows` are the
    /// rows of the queries around it, the next one out last.
    fn subquery(
        &mut self,
        number: u32,
        rows: &[&[Datum<'_>]],
        context: &mut Context,
        show: &mut dyn FnMut(&[Datum<'_>]) -> Result<bool>,
    ) -> Result<()>;

    /// Whether a query inside has a row. `rows` are as in [`Host::subquery`].
    fn exists(&mut self, number: u32, rows: &[&[Datum<'_>]], context: &mut Context) -> Result<bool> {
        let mut found = false;
        self.subquery(number, rows, context, &mut |_| {
            found = true;
            Ok(false)
        })?;
        Ok(found)
    }

    /// Whether a query inside, which refers to no row around it, has a row of these values: looked up by an index. `None` if there is
    /// none for that, or so much has been looked up.
    fn look_up(
        &mut self,
        _number: u32,
        _look_ups: LookUps,
        _values: &[Datum<'_>],
        _context: &mut Context,
    ) -> Result<Option<bool>> {
        Ok(None)
    }

    /// Whether a query inside, which refers to no row around it, has a row of these values: `Some(None)` if NULLs leave that
    /// open. `None` if its rows have to be compared one by one: they are kept only if that is asked for often, or again.
    fn probe(
        &mut self,
        _inside: &super::InSubquery,
        _is_asked_often: bool,
        _values: &[Datum<'_>],
        _context: &mut Context,
    ) -> Result<Option<Option<bool>>> {
        Ok(None)
    }

    /// Shows the row that a query inside had when it saw the same of the row around it, if it is kept: `seen` has bytes that are the same
    /// for that.
    fn show_seen_row(&mut self, _number: u32, _seen: &[u8], _show: &mut dyn FnMut(&[Value])) {}

    /// Keeps the row of a query inside that was not there, for [`Host::show_seen_row`].
    fn keep_seen_row(&mut self, _number: u32, _seen: &[u8], _row: &[Datum<'_>]) {}

    /// Whether `left` compares so with all rows, or any, of a query inside, which refers to no row around it: `Some(None)` if NULLs
    /// leave that open. `None` if its rows have to be compared one by one.
    fn all_or_any(
        &mut self,
        _left: Datum<'_>,
        _quantified: &super::Quantified,
        _context: &mut Context,
    ) -> Result<Option<Option<bool>>> {
        Ok(None)
    }

    /// The value of a user variable, by its name in lower case: shown to `show`; NULL if it has none.
    fn user_variable(&mut self, _name: &str, show: &mut dyn FnMut(Datum<'_>)) {
        show(Datum::Null);
    }

    /// `@name := value`.
    fn set_user_variable(&mut self, _name: &str, _value: Datum<'_>) -> Result<()> {
        Ok(())
    }

    /// The value of a system variable, shown to `show`.
    fn system_variable(&mut self, variable: &SystemVariable, _show: &mut dyn FnMut(Datum<'_>)) -> Result<()> {
        Err(Error::new(meseta_errors::ER_UNKNOWN_SYSTEM_VARIABLE, &[&variable.name]))
    }

    /// When the statement began: microseconds since 1970, UTC. NOW().
    fn statement_time(&self) -> i64 {
        0
    }

    /// The time now: microseconds since 1970, UTC. SYSDATE().
    fn clock(&self) -> i64 {
        self.statement_time()
    }

    /// LAST_INSERT_ID().
    fn last_insert_id(&self) -> u64 {
        0
    }

    /// LAST_INSERT_ID(number).
    fn set_last_insert_id(&mut self, _number: u64) {}

    /// ROW_COUNT(): rows that the statement before changed.
    fn row_count(&self) -> i64 {
        -1
    }

    /// The number that SET insert_id gave to the next row that counts; 0 if there is none.
    fn take_insert_id(&mut self) -> u64 {
        0
    }

    /// FOUND_ROWS().
    fn found_rows(&self) -> u64 {
        0
    }

    /// CONNECTION_ID().
    fn connection_id(&self) -> u64 {
        0
    }

    /// USER(): as the client named itself, `user@host`.
    fn user(&self) -> &str {
        ""
    }

    /// CURRENT_USER(): the account, `user@host`.
    fn current_user(&self) -> &str {
        ""
    }

    /// CURRENT_ROLE().
    fn current_role(&self) -> &str {
        "NONE"
    }

    /// DATABASE().
    fn database(&self) -> Option<&str> {
        None
    }

    /// VERSION().
    fn version(&self) -> &str {
        "9.7.0"
    }

    /// The session's random numbers: those of RAND().
    fn random(&mut self) -> Option<&mut Random> {
        None
    }

    /// The random numbers of one RAND(seed) of the statement, by a number that no other has; `None` at first. Without a place
    /// to keep them each row sees the first number.
    fn seeded_random(&mut self, _site: usize) -> Option<&mut Option<Random>> {
        None
    }

    /// A place for what is the same for all rows of a statement, by a number that nothing else has; nothing is there at first.
    /// Without a place it is computed for each.
    fn kept_value(&mut self, _number: u32) -> Option<&mut Option<Kept>> {
        None
    }

    /// Fills in bytes that nobody can guess.
    fn random_bytes(&mut self, out: &mut [u8]) {
        out.fill(0);
    }

    /// UUID(): a version 1 identifier.
    fn uuid(&mut self) -> [u8; 16] {
        [0; 16]
    }

    /// UUID_SHORT().
    fn uuid_short(&mut self) -> u64 {
        0
    }

    /// GET_LOCK: whether it was got in time; `None` for an error that is NULL.
    fn get_lock(&mut self, _name: &str, _seconds: f64) -> Result<Option<bool>> {
        Err(Error::not_yet("GET_LOCK"))
    }

    /// RELEASE_LOCK: whether it was this session's; `None` if there is no such lock.
    fn release_lock(&mut self, _name: &str) -> Result<Option<bool>> {
        Ok(None)
    }

    /// RELEASE_ALL_LOCKS.
    fn release_all_locks(&mut self) -> u64 {
        0
    }

    /// IS_USED_LOCK: the connection that has it.
    fn lock_owner(&mut self, _name: &str) -> Option<u64> {
        None
    }

    /// Sleeps; true if it was interrupted. A kill of the session is an error.
    fn sleep(&mut self, _seconds: f64) -> Result<bool> {
        Err(Error::not_yet("SLEEP"))
    }

    /// Error 1317 if the statement was killed. Long loops ask now and then.
    fn check_killed(&self) -> Result<()> {
        Ok(())
    }

    /// Counts for SHOW STATUS.
    fn count(&self, _counter: Counter, _amount: u64) {}

    /// The session itself, if there is one: for tables that tell of it.
    fn session(&self) -> Option<&SessionFacts> {
        None
    }

    /// `max_allowed_packet`: longer texts are NULL, with a warning.
    fn max_allowed_packet(&self) -> usize {
        64 << 20
    }

    /// `group_concat_max_len`.
    fn group_concat_max_len(&self) -> usize {
        1024
    }

    /// `block_encryption_mode`.
    fn block_encryption_mode(&self) -> &str {
        "aes-128-ecb"
    }

    /// `default_week_format`.
    fn default_week_format(&self) -> u64 {
        0
    }
}

/// A host that has nothing.
pub struct NoHost;

impl Host for NoHost {
    fn subquery(
        &mut self,
        _number: u32,
        _rows: &[&[Datum<'_>]],
        _context: &mut Context,
        _show: &mut dyn FnMut(&[Datum<'_>]) -> Result<bool>,
    ) -> Result<()> {
        Err(Error::not_yet("a subquery here"))
    }
}
