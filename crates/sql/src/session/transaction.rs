//! Transactions: where they begin and end.

use meseta_engine::Isolation as EngineIsolation;
use meseta_errors::ER_SP_DOES_NOT_EXIST;
use meseta_parser::ast::{self, Transaction};
use meseta_storage::Durability;

use super::Session;
use crate::error::{Error, Result};
use crate::query::text_of;
use crate::variable::Isolation;

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
        self.engine.set_lock_wait(std::time::Duration::from_secs(settings.innodb_lock_wait_timeout));
        self.engine.set_checks_foreign_keys(settings.foreign_key_checks);
        let flush = crate::variable::Variable::find("innodb_flush_log_at_trx_commit");
        let flush = flush.map_or(1, |variable| self.instance.globals.get(variable).as_u64());
        self.engine.set_durability(match flush {
            0 => Durability::Lazy,
            2 => Durability::Write,
            _ => Durability::Flush,
        });
    }

    /// A statement has ended: its transaction ends with it, unless one is open.
    pub(super) fn end_statement<T>(&mut self, done: Result<T>) -> Result<T> {
        let is_open = self.facts.variables.state.in_transaction;
        match &done {
            Err(error) if error.ends_transaction() => {
                self.engine.roll_back().map_err(Error::from_engine)?;
                self.transaction_ended();
            }
            _ if is_open => {}
            _ if self.facts.variables.settings().autocommit => self.commit()?,
            // Without autocommit the first statement has begun a transaction.
            _ => self.facts.variables.state.in_transaction = true,
        }
        done
    }

    /// Commits. If the client's answer can wait for the log, this does not.
    fn commit(&mut self) -> Result<()> {
        if !self.defers_commits || self.more_follows {
            return self.engine.commit().map_err(Error::from_engine);
        }
        let end = self.engine.commit_deferred().map_err(Error::from_engine)?;
        self.pending = self.pending.max(end);
        Ok(())
    }

    fn transaction_ended(&mut self) {
        let state = &mut self.facts.variables.state;
        (state.in_transaction, state.next_isolation, state.next_read_only) = (false, None, None);
        self.savepoints.clear();
        self.apply_settings();
    }

    /// Ends the open transaction, if there is one: an implicit commit.
    pub(super) fn end_transaction(&mut self, commits: bool) -> Result<()> {
        let ended = if commits { self.commit() } else { self.engine.roll_back().map_err(Error::from_engine) };
        self.transaction_ended();
        ended
    }

    pub(super) fn transaction(&mut self, statement: &Transaction<'_>) -> Result<()> {
        match statement {
            Transaction::Start { consistent_snapshot, read_only } => {
                // What SET TRANSACTION said is for this one.
                let (isolation, only) = {
                    let state = &self.facts.variables.state;
                    (state.next_isolation, state.next_read_only)
                };
                self.end_transaction(true)?;
                self.facts.variables.state.next_isolation = isolation;
                self.facts.variables.state.next_read_only = read_only.or(only);
                self.apply_settings();
                self.facts.variables.state.in_transaction = true;
                if *consistent_snapshot {
                    self.engine.snapshot();
                }
                Ok(())
            }
            Transaction::Commit { chain, release } => self.end_and_chain(true, *chain, *release),
            Transaction::Rollback { chain, release } => self.end_and_chain(false, *chain, *release),
            Transaction::Savepoint(name) => {
                let name: Box<str> = text_of(name.text.0).into();
                self.savepoints.retain(|(other, _)| !other.eq_ignore_ascii_case(&name));
                if self.facts.variables.state.in_transaction || !self.facts.variables.settings().autocommit {
                    let savepoint = self.engine.savepoint();
                    self.savepoints.push((name, savepoint));
                }
                Ok(())
            }
            Transaction::RollbackTo(name) => {
                let at = self.savepoint_named(name)?;
                self.savepoints.truncate(at + 1);
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
        if release == Some(true) {
            return Err(Error::not_yet("RELEASE"));
        }
        let next = (self.facts.variables.state.next_isolation, self.facts.variables.state.next_read_only);
        self.end_transaction(commits)?;
        if chain == Some(true) {
            (self.facts.variables.state.next_isolation, self.facts.variables.state.next_read_only) = next;
            self.apply_settings();
            self.facts.variables.state.in_transaction = true;
        }
        Ok(())
    }

    /// Rolls back what is open, and forgets what was prepared: the client has gone, or begins anew.
    pub fn close(&mut self) {
        self.statements.clear();
        // If it cannot be, the engine rolls it back later.
        let _ = self.end_transaction(false);
    }
}
