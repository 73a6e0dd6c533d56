//! Transactions, savepoints, table locks, XA.

use super::{K, Parser, Result, T};
use crate::ast::*;

impl<'a> Parser<'a> {
    /// `BEGIN [WORK]`.
    pub(super) fn begin(&mut self) -> Result<Statement<'a>> {
        self.advance();
        self.accept(K::WORK);
        Ok(Statement::Transaction(Transaction::Start { consistent_snapshot: false, read_only: None }))
    }

    /// Behind `START TRANSACTION`.
    pub(super) fn start_transaction(&mut self) -> Result<Statement<'a>> {
        let (mut consistent_snapshot, mut read_only) = (false, None);
        if self.at_any(&[K::WITH, K::READ]) {
            loop {
                if self.accept(K::WITH) {
                    self.expect_words(&[K::CONSISTENT, K::SNAPSHOT])?;
                    consistent_snapshot = true;
                } else {
                    self.expect(K::READ)?;
                    let only = self.expect_any(&[K::ONLY, K::WRITE])? == K::ONLY;
                    if read_only.is_some_and(|before| before != only) {
                        return self.fail();
                    }
                    read_only = Some(only);
                }
                if !self.accept_kind(T::Comma) {
                    break;
                }
            }
        }
        Ok(Statement::Transaction(Transaction::Start { consistent_snapshot, read_only }))
    }

    /// `AND [NO] CHAIN`, `[NO] RELEASE`.
    fn chain_and_release(&mut self) -> Result<(Option<bool>, Option<bool>)> {
        let (mut chain, mut release) = (None, None);
        if self.accept(K::AND) {
            let no = self.accept(K::NO);
            self.expect(K::CHAIN)?;
            chain = Some(!no);
        }
        if self.accept(K::NO) {
            self.expect(K::RELEASE)?;
            release = Some(false);
        } else if self.at(K::RELEASE) && chain != Some(true) {
            self.advance();
            release = Some(true);
        }
        Ok((chain, release))
    }

    pub(super) fn commit(&mut self) -> Result<Statement<'a>> {
        self.advance();
        self.accept(K::WORK);
        let (chain, release) = self.chain_and_release()?;
        Ok(Statement::Transaction(Transaction::Commit { chain, release }))
    }

    pub(super) fn rollback(&mut self) -> Result<Statement<'a>> {
        self.advance();
        self.accept(K::WORK);
        if self.accept(K::TO) {
            self.accept(K::SAVEPOINT);
            return Ok(Statement::Transaction(Transaction::RollbackTo(self.identifier()?)));
        }
        let (chain, release) = self.chain_and_release()?;
        Ok(Statement::Transaction(Transaction::Rollback { chain, release }))
    }

    pub(super) fn savepoint(&mut self) -> Result<Statement<'a>> {
        let release = self.accept(K::RELEASE);
        self.expect(K::SAVEPOINT)?;
        let name = self.identifier()?;
        let savepoint = if release { Transaction::ReleaseSavepoint(name) } else { Transaction::Savepoint(name) };
        Ok(Statement::Transaction(savepoint))
    }

    pub(super) fn lock(&mut self) -> Result<Statement<'a>> {
        self.advance();
        if self.accept(K::INSTANCE) {
            self.expect_words(&[K::FOR, K::BACKUP])?;
            return Ok(Statement::LockInstance);
        }
        self.expect_any(&[K::TABLE, K::TABLES])?;
        Ok(Statement::LockTables(self.comma_list(|p| {
            let table = p.table_name()?;
            let alias = p.table_alias()?;
            let mode = match p.expect_any(&[K::READ, K::WRITE, K::LOW_PRIORITY])? {
                K::READ if p.accept(K::LOCAL) => TableLockMode::ReadLocal,
                K::READ => TableLockMode::Read,
                K::WRITE => TableLockMode::Write,
                _ => {
                    p.expect(K::WRITE)?;
                    TableLockMode::Write
                }
            };
            Ok(LockTable { table, alias, mode })
        })?))
    }

    pub(super) fn unlock(&mut self) -> Result<Statement<'a>> {
        self.advance();
        let instance = self.expect_any(&[K::TABLE, K::TABLES, K::INSTANCE])? == K::INSTANCE;
        Ok(if instance { Statement::UnlockInstance } else { Statement::UnlockTables })
    }

    fn xa_identifier(&mut self) -> Result<XaIdentifier<'a>> {
        let global = self.string_or_digits()?;
        let (mut branch, mut format) = (None, None);
        if self.accept_kind(T::Comma) {
            branch = Some(self.string_or_digits()?);
            if self.accept_kind(T::Comma) {
                format = Some(self.unsigned()?);
            }
        }
        Ok(XaIdentifier { global, branch, format })
    }

    pub(super) fn xa(&mut self) -> Result<Statement<'a>> {
        self.advance();
        let verb = self.expect_any(&[K::START, K::BEGIN, K::END, K::PREPARE, K::COMMIT, K::ROLLBACK, K::RECOVER])?;
        if verb == K::RECOVER {
            let convert_id = self.accept_words(&[K::CONVERT, K::XID])?;
            return Ok(Statement::Xa(Xa::Recover { convert_id }));
        }
        let id = self.xa_identifier()?;
        Ok(Statement::Xa(match verb {
            K::START | K::BEGIN => {
                let join = self.accept(K::JOIN);
                Xa::Start { id, join, resume: !join && self.accept(K::RESUME) }
            }
            K::END => {
                let suspend = self.accept(K::SUSPEND);
                Xa::End { id, suspend, migrate: suspend && self.accept_words(&[K::FOR, K::MIGRATE])? }
            }
            K::PREPARE => Xa::Prepare(id),
            K::COMMIT => Xa::Commit { id, one_phase: self.accept_words(&[K::ONE, K::PHASE])? },
            _ => Xa::Rollback(id),
        }))
    }
}
