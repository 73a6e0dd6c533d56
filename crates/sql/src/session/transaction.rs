//! Transactions: where they begin and end.

use meseta_engine::Isolation as EngineIsolation;
use meseta_errors::{ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_SP_DOES_NOT_EXIST};
use meseta_parser::ast::{self, Transaction};
use meseta_storage::Durability;
use meseta_types::SqlError;

use super::{Counter, Session};
use crate::error::{Error, Result};
use crate::name::text_of;
use crate::variable::{Completion, Isolation, Variable};

/// A warning of the storage engine: `HA_ERR_UNSUPPORTED`'s number as MySQL shows it.
const SNAPSHOT_IGNORED_NUMBER: u16 = 138;
const SNAPSHOT_IGNORED: &str = "InnoDB: WITH CONSISTENT SNAPSHOT was ignored because this phrase can only be used with \
    REPEATABLE READ isolation level.";

impl Session {
    /// Has the engine do as the session's variables say.
    pub(super) fn apply_settings(&mut self) {
        let settings = self.facts.variables.settings();
        let isolation = self.facts.variables.state.next_isolation.unwrap_or(settings.transaction_isolation);
        if !self.facts.variables.state.in_transaction {
            self.engine.set_isolation(match isolation {
                Isolation::ReadUncommitted => EngineIsolation::ReadUncommitted,
                Isolation::ReadCommitted => EngineIsolation::ReadCommitted,
                Isolation::RepeatableRead => EngineIsolation::RepeatableRead,
                Isolation::Serializable => EngineIsolation::Serializable,
            });
        }
        self.engine.set_table_wait(std::time::Duration::from_secs(settings.lock_wait_timeout));
        self.engine.set_lock_wait(std::time::Duration::from_secs(settings.innodb_lock_wait_timeout));
        self.engine.set_checks_foreign_keys(settings.foreign_key_checks);
    }

    /// Has the engine do as global variables say, if one has been set since that was last done.
    pub(super) fn heed_globals(&mut self) {
        let version = self.instance.globals.version();
        if self.globals_heeded == Some(version) {
            return;
        }
        self.globals_heeded = Some(version);
        let flush = Variable::find("innodb_flush_log_at_trx_commit");
        let flush = flush.map_or(1, |variable| self.instance.globals.get(variable).as_u64());
        self.engine.set_durability(match flush {
            0 => Durability::Lazy,
            2 => Durability::Write,
            _ => Durability::Flush,
        });
    }

    /// Whether what runs now may change nothing: the transaction that is open, or the one that the next statement makes.
    pub(super) fn is_read_only(&self) -> bool {
        let variables = &self.facts.variables;
        variables.state.next_read_only.unwrap_or(variables.settings().transaction_read_only)
    }

    /// Whether reads lock what they see: SERIALIZABLE, unless a statement is a transaction of its own.
    pub(super) fn reads_lock(&self) -> bool {
        let variables = &self.facts.variables;
        let isolation = variables.state.next_isolation.unwrap_or(variables.settings().transaction_isolation);
        isolation == Isolation::Serializable && !variables.is_own_transaction()
    }

    /// From here on a transaction is open: of the kind that was asked for, which stays what it is.
    fn pin_transaction(&mut self) {
        let variables = &mut self.facts.variables;
        let settings = variables.settings();
        let (isolation, read_only) = (settings.transaction_isolation, settings.transaction_read_only);
        let state = &mut variables.state;
        state.next_isolation.get_or_insert(isolation);
        state.next_read_only.get_or_insert(read_only);
        state.in_transaction = true;
    }

    /// Opens a transaction. On entry: none is open.
    pub(super) fn open_transaction(&mut self, read_only: Option<bool>) -> Result<()> {
        if let Some(read_only) = read_only {
            self.facts.variables.state.next_read_only = Some(read_only);
        }
        self.apply_settings();
        self.pin_transaction();
        Ok(())
    }

    /// Runs a definition: what was before is committed, and it stands by itself.
    pub(super) fn in_definition<T>(
        &mut self,
        statement: &ast::Statement<'_>,
        define: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.end_transaction(true)?;
        if self.is_read_only() {
            return Err(Error::new(ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, &[]));
        }
        self.permit_definition(statement)?;
        self.begin_definition()?;
        let done = define(self);
        self.end_definition();
        done
    }

    /// Whether the client is to be sent away: COMMIT RELEASE.
    pub fn is_released(&self) -> bool {
        self.is_released
    }

    /// A statement has ended: its transaction ends with it, unless one is open.
    pub(super) fn end_statement<T>(&mut self, done: Result<T>) -> Result<T> {
        let is_open = self.facts.variables.state.in_transaction;
        match &done {
            Err(error) if error.ends_transaction() => {
                self.facts.shared.counters.add(Counter::HandlerRollback, 1);
                self.engine.roll_back().map_err(Error::from_engine)?;
                self.transaction_ended();
                self.xa_rolled_back();
            }
            _ if is_open => {}
            _ if self.facts.variables.settings().autocommit => {
                self.commit()?;
                let state = &mut self.facts.variables.state;
                if done.is_ok() && (state.next_isolation.is_some() || state.next_read_only.is_some()) {
                    (state.next_isolation, state.next_read_only) = (None, None);
                    self.apply_settings();
                }
            }
            // Without autocommit the first statement that reads or changes a table has begun a transaction.
            _ if self.engine.is_in_use() => self.pin_transaction(),
            _ => {}
        }
        done
    }

    /// Commits. If the client's answer can wait for the log, this does not.
    fn commit(&mut self) -> Result<()> {
        self.facts.shared.counters.add(Counter::HandlerCommit, 1);
        if !self.defers_commits || self.more_follows || self.is_released {
            return self.engine.commit().map_err(Error::from_engine);
        }
        let end = self.engine.commit_deferred().map_err(Error::from_engine)?;
        self.pending = self.pending.max(end);
        Ok(())
    }

    pub(super) fn transaction_ended(&mut self) {
        let state = &mut self.facts.variables.state;
        (state.in_transaction, state.next_isolation, state.next_read_only) = (false, None, None);
        self.savepoints.clear();
        self.apply_settings();
    }

    /// Ends the open transaction, if there is one: an implicit commit. Error 1399 in an XA branch.
    pub(super) fn end_transaction(&mut self, commits: bool) -> Result<()> {
        self.refuse_in_xa()?;
        if !commits {
            self.facts.shared.counters.add(Counter::HandlerRollback, 1);
        }
        let ended = if commits { self.commit() } else { self.engine.roll_back().map_err(Error::from_engine) };
        self.transaction_ended();
        ended
    }

    pub(super) fn transaction(&mut self, statement: &Transaction<'_>) -> Result<()> {
        let is_inside = self.xa_state().is_none_or(|state| state == super::XaState::Active);
        let is_savepoint = matches!(
            statement,
            Transaction::Savepoint(_) | Transaction::RollbackTo(_) | Transaction::ReleaseSavepoint(_)
        );
        if !(is_inside && is_savepoint) {
            self.refuse_in_xa()?;
        }
        match statement {
            Transaction::Start { consistent_snapshot, read_only } => {
                // What SET TRANSACTION said is for this one.
                let (isolation, only) = {
                    let state = &self.facts.variables.state;
                    (state.next_isolation, state.next_read_only)
                };
                let was_open = self.facts.variables.state.in_transaction;
                if self.locked.as_ref().is_some_and(|locked| !locked.is_of_all()) {
                    self.unlock_tables()?;
                }
                self.end_transaction(true)?;
                if !was_open {
                    self.facts.variables.state.next_isolation = isolation;
                }
                self.open_transaction(read_only.or(only.filter(|_| !was_open)))?;
                if *consistent_snapshot {
                    if self.facts.variables.state.next_isolation == Some(Isolation::RepeatableRead) {
                        self.engine.snapshot();
                    } else {
                        self.context.warnings.warn(SqlError::new(SNAPSHOT_IGNORED_NUMBER, SNAPSHOT_IGNORED));
                    }
                }
                Ok(())
            }
            Transaction::Commit { chain, release } => self.end_and_chain(true, *chain, *release),
            Transaction::Rollback { chain, release } => self.end_and_chain(false, *chain, *release),
            Transaction::Savepoint(name) => {
                let name: Box<str> = text_of(name.text.0).into();
                self.savepoints.retain(|(other, _)| !other.eq_ignore_ascii_case(&name));
                if !self.facts.variables.is_own_transaction() {
                    self.facts.shared.counters.add(Counter::HandlerSavepoint, 1);
                    let savepoint = self.engine.savepoint();
                    self.savepoints.push((name, savepoint));
                }
                Ok(())
            }
            Transaction::RollbackTo(name) => {
                let at = self.savepoint_named(name)?;
                self.savepoints.truncate(at + 1);
                self.facts.shared.counters.add(Counter::HandlerSavepointRollback, 1);
                self.engine.roll_back_to(self.savepoints[at].1).map_err(Error::from_engine)
            }
            Transaction::ReleaseSavepoint(name) => {
                let at = self.savepoint_named(name)?;
                self.savepoints.truncate(at);
                Ok(())
            }
        }
    }

    fn savepoint_named(&self, name: &ast::Identifier<'_>) -> Result<usize> {
        let text = text_of(name.text.0);
        let found = self.savepoints.iter().rposition(|(other, _)| other.eq_ignore_ascii_case(&text));
        found.ok_or_else(|| Error::new(ER_SP_DOES_NOT_EXIST, &[&"SAVEPOINT", &text]))
    }

    fn end_and_chain(&mut self, commits: bool, chain: Option<bool>, release: Option<bool>) -> Result<()> {
        let (chain, release) = match self.facts.variables.settings().completion_type {
            Completion::Chain => (chain.unwrap_or(release != Some(true)), release.unwrap_or(false)),
            Completion::Release => (chain.unwrap_or(false), release.unwrap_or(chain != Some(true))),
            Completion::NoChain => (chain.unwrap_or(false), release.unwrap_or(false)),
        };
        self.is_released = release;
        let next = (self.facts.variables.state.next_isolation, self.facts.variables.state.next_read_only);
        self.end_transaction(commits)?;
        if chain {
            (self.facts.variables.state.next_isolation, self.facts.variables.state.next_read_only) = next;
            self.open_transaction(None)?;
        }
        Ok(())
    }

    /// Rolls back what is open, gives back what is locked, forgets what PREPARE prepared: the client has gone, or begins anew.
    pub fn close(&mut self) {
        self.named_statements.clear();
        self.forget_xa();
        // If it cannot be, the engine rolls it back later.
        let _ = self.end_transaction(false);
        let _ = self.unlock_tables();
    }
}
