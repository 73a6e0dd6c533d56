//! LOCK TABLES, UNLOCK TABLES, FLUSH TABLES: tables that a session has for itself from one transaction to the next.
//!
//! ```text
//!   LOCK TABLES t READ      the engine's table lock "read only": others read, nobody changes
//!   LOCK TABLES t WRITE     "exclusive": nobody else enters
//!   statements              by the names that were locked, in the way that they were locked; nothing else (1099, 1100)
//!   UNLOCK TABLES, START TRANSACTION, the client goes
//! ```
//!
//! FLUSH TABLES WITH READ LOCK locks all tables as LOCK TABLES READ does, and keeps definitions away. So it waits until
//! transactions that have changed something end, where MySQL waits for their statements only, and holds up their commits.
//!
//! # Source
//! The manual, "LOCK TABLES and UNLOCK TABLES Statements", "FLUSH Statement"; answers recorded from MySQL 9.7.

use std::time::{Duration, Instant};

use meseta_engine::ids::TableId;
use meseta_engine::lock::TableMode;
use meseta_errors::{
    ER_BAD_DB_ERROR, ER_CANT_UPDATE_WITH_READLOCK, ER_LOCK_OR_ACTIVE_TRANSACTION, ER_LOCK_WAIT_TIMEOUT, ER_NO_DB_ERROR,
    ER_NO_SUCH_TABLE, ER_NONUNIQ_TABLE, ER_TABLE_NOT_LOCKED, ER_TABLE_NOT_LOCKED_FOR_WRITE,
};
use meseta_parser::ast::{self, FlushTablesMode, FlushWhat, TableLockMode};
use parking_lot::{Condvar, Mutex};

use super::Session;
use crate::error::{Error, Result};
use crate::name::text_of;

/// A name under which a table was locked.
#[derive(Clone, PartialEq, Eq, Debug)]
struct LockedName {
    table: TableId,
    alias: Box<str>,
    writes: bool,
}

/// What a session has locked.
#[derive(Clone, Debug, Default)]
pub struct LockedTables {
    names: Vec<LockedName>,
    /// FLUSH TABLES WITH READ LOCK: every table, to read.
    all: bool,
}

impl LockedTables {
    /// Whether a statement may use a table under this name. Errors: 1223, 1100, 1099.
    pub fn permit(&self, table: TableId, alias: &str, changes: bool) -> Result<()> {
        if self.all {
            return if changes { Err(Error::new(ER_CANT_UPDATE_WITH_READLOCK, &[])) } else { Ok(()) };
        }
        let found = self.names.iter().find(|name| name.table == table && *name.alias == *alias);
        match found {
            None => Err(Error::new(ER_TABLE_NOT_LOCKED, &[&alias])),
            Some(name) if changes && !name.writes => Err(Error::new(ER_TABLE_NOT_LOCKED_FOR_WRITE, &[&alias])),
            Some(_) => Ok(()),
        }
    }

    /// Whether it is FLUSH TABLES WITH READ LOCK.
    pub fn is_of_all(&self) -> bool {
        self.all
    }

    /// Whether a definition may change a table: under any name. `None`: there is no such table. Errors as above.
    fn permit_definition(&self, table: Option<TableId>, name: &str) -> Result<()> {
        if self.all {
            return Err(Error::new(ER_CANT_UPDATE_WITH_READLOCK, &[]));
        }
        let mut found = self.names.iter().filter(|locked| Some(locked.table) == table).peekable();
        if found.peek().is_none() {
            return Err(Error::new(ER_TABLE_NOT_LOCKED, &[&name]));
        }
        match found.any(|locked| locked.writes) {
            true => Ok(()),
            false => Err(Error::new(ER_TABLE_NOT_LOCKED_FOR_WRITE, &[&name])),
        }
    }
}

/// How many.
#[derive(Default)]
struct Holders {
    /// Those who keep definitions away.
    readers: usize,
    /// Definitions under way.
    definitions: usize,
}

/// Sessions that hold FLUSH TABLES WITH READ LOCK: definitions wait for them.
#[derive(Default)]
pub struct GlobalReadLock {
    state: Mutex<Holders>,
    changed: Condvar,
}

impl GlobalReadLock {
    fn wait(&self, limit: Duration, session: &Session, free: impl Fn(&mut Holders) -> bool) -> Result<()> {
        /// How often a waiting session looks whether it was killed.
        const LOOK: Duration = Duration::from_millis(50);
        let end = Instant::now().checked_add(limit);
        let mut state = self.state.lock();
        while !free(&mut state) {
            session.facts.interrupts.check()?;
            if end.is_some_and(|end| Instant::now() >= end) {
                return Err(Error::new(ER_LOCK_WAIT_TIMEOUT, &[]));
            }
            self.changed.wait_for(&mut state, LOOK);
        }
        Ok(())
    }

    fn give_back(&self, of: impl FnOnce(&mut Holders)) {
        let mut state = self.state.lock();
        of(&mut state);
        self.changed.notify_all();
    }
}

impl Session {
    fn table_wait(&self) -> Duration {
        Duration::from_secs(self.facts.variables.settings().lock_wait_timeout)
    }

    /// A table that LOCK TABLES names.
    fn lockable(&mut self, name: &ast::ObjectName<'_>) -> Result<TableId> {
        let database = name.schema.map(|schema| text_of(schema.text.0)).or_else(|| self.facts.database_name());
        let database = database.ok_or_else(|| Error::new(ER_NO_DB_ERROR, &[]))?;
        let table = text_of(name.name.text.0);
        let schema = self.engine.schema();
        if !schema.databases.contains_key(&database) {
            return Err(Error::new(ER_BAD_DB_ERROR, &[&database]));
        }
        let found = schema.table_named(&database, &table).map(|table| table.id());
        found.map_err(|_| Error::new(ER_NO_SUCH_TABLE, &[&database, &table]))
    }

    /// LOCK TABLES.
    pub(super) fn lock_tables(&mut self, tables: &[ast::LockTable<'_>]) -> Result<()> {
        self.refuse_in_xa()?;
        if self.locked.as_ref().is_some_and(|locked| locked.all)
            && tables.iter().any(|table| table.mode == TableLockMode::Write)
        {
            return Err(Error::new(ER_CANT_UPDATE_WITH_READLOCK, &[]));
        }
        self.unlock_tables()?;
        self.end_transaction(true)?;
        let mut names: Vec<LockedName> = Vec::new();
        for table in tables {
            let alias = text_of(table.alias.unwrap_or(table.table.name).text.0);
            if names.iter().any(|name| *name.alias == *alias) {
                return Err(Error::new(ER_NONUNIQ_TABLE, &[&alias]));
            }
            let (id, writes) = (self.lockable(&table.table)?, table.mode == TableLockMode::Write);
            names.push(LockedName { table: id, alias: alias.into(), writes });
        }
        self.take_tables(names, false)
    }

    fn take_tables(&mut self, names: Vec<LockedName>, all: bool) -> Result<()> {
        let mut modes: Vec<(TableId, TableMode)> = Vec::new();
        for name in &names {
            let mode = if name.writes { TableMode::Exclusive } else { TableMode::ReadOnly };
            match modes.iter_mut().find(|(table, _)| *table == name.table) {
                Some(found) if name.writes => found.1 = mode,
                Some(_) => {}
                None => modes.push((name.table, mode)),
            }
        }
        self.engine.set_table_wait(self.table_wait());
        if !self.engine.keep_tables(&modes).map_err(Error::from_engine)? {
            return Err(Error::new(ER_NO_SUCH_TABLE, &[&"", &"?"]));
        }
        self.locked = Some(LockedTables { names, all });
        Ok(())
    }

    /// UNLOCK TABLES: commits, if there is something to unlock.
    pub(super) fn unlock_tables(&mut self) -> Result<()> {
        let Some(locked) = self.locked.take() else { return Ok(()) };
        if locked.all {
            self.instance.read_lock.give_back(|state| state.readers -= 1);
        }
        let ended = if self.xa.is_none() { self.end_transaction(true) } else { Ok(()) };
        self.engine.release_tables();
        ended
    }

    /// FLUSH TABLES in its forms.
    pub(super) fn flush_tables(&mut self, flush: &ast::Flush<'_>) -> Result<()> {
        let FlushWhat::Tables { tables, mode } = &flush.what else { return Err(Error::not_yet("this FLUSH")) };
        self.refuse_in_xa()?;
        let with_lock = *mode != FlushTablesMode::Close;
        if let Some(locked) = self.locked.clone() {
            match (locked.all, with_lock) {
                (true, true) if tables.is_empty() => return Ok(()),
                (_, true) => return Err(Error::new(ER_LOCK_OR_ACTIVE_TRANSACTION, &[])),
                (true, false) => {}
                (false, false) => {
                    for table in tables.iter() {
                        let id = self.lockable(table).ok();
                        locked.permit_definition(id, &text_of(table.name.text.0))?;
                    }
                    let to_read = locked.names.iter().find(|name| !name.writes && tables.is_empty());
                    if let Some(name) = to_read {
                        return Err(Error::new(ER_TABLE_NOT_LOCKED_FOR_WRITE, &[&name.alias]));
                    }
                }
            }
        }
        self.end_transaction(true)?;
        if !with_lock {
            // Nothing is kept of a table that could be closed.
            return Ok(());
        }
        if !tables.is_empty() {
            let names = tables.iter().map(|table| {
                let id = self.lockable(table)?;
                Ok(LockedName { table: id, alias: text_of(table.name.text.0).into(), writes: false })
            });
            let names = names.collect::<Result<Vec<_>>>()?;
            return self.take_tables(names, false);
        }
        self.lock_everything()
    }

    /// FLUSH TABLES WITH READ LOCK.
    fn lock_everything(&mut self) -> Result<()> {
        let (instance, limit) = (std::sync::Arc::clone(&self.instance), self.table_wait());
        instance.read_lock.wait(limit, self, |state| {
            let is_free = state.definitions == 0;
            state.readers += usize::from(is_free);
            is_free
        })?;
        let all = self.engine.schema().tables().map(|table| table.id()).collect::<Vec<_>>();
        let names = all.into_iter().map(|table| LockedName { table, alias: "".into(), writes: false }).collect();
        let taken = self.take_tables(names, true);
        if taken.is_err() {
            instance.read_lock.give_back(|state| state.readers -= 1);
        }
        taken
    }

    /// A definition begins: it waits for FLUSH TABLES WITH READ LOCK of others. It ends with [`Session::end_definition`].
    pub(super) fn begin_definition(&mut self) -> Result<()> {
        let limit = self.table_wait();
        self.engine.set_table_wait(limit);
        let instance = std::sync::Arc::clone(&self.instance);
        instance.read_lock.wait(limit, self, |state| {
            let is_free = state.readers == 0;
            state.definitions += usize::from(is_free);
            is_free
        })
    }

    /// A definition has ended.
    pub(super) fn end_definition(&self) {
        self.instance.read_lock.give_back(|state| state.definitions -= 1);
    }

    /// What LOCK TABLES says of a definition. Errors: 1099, 1100, 1192, 1223.
    pub(super) fn permit_definition(&mut self, statement: &ast::Statement<'_>) -> Result<()> {
        use ast::Statement as S;
        let Some(locked) = self.locked.clone() else { return Ok(()) };
        let mut names: Vec<ast::ObjectName<'_>> = Vec::new();
        match statement {
            S::CreateTable(create) => names.push(create.name),
            S::AlterTable(alter) => names.push(alter.name),
            S::DropTables(drop) => names.extend(drop.tables.iter().copied()),
            S::RenameTables(pairs) => names.extend(pairs.iter().map(|(from, _)| *from)),
            S::Truncate(name) => names.push(*name),
            S::CreateIndex(create) => names.push(create.table),
            S::DropIndex(drop) => names.push(drop.table),
            S::CreateDatabase(_) | S::DropDatabase { .. } if !locked.all => {
                return Err(Error::new(ER_LOCK_OR_ACTIVE_TRANSACTION, &[]));
            }
            _ if locked.all => return Err(Error::new(ER_CANT_UPDATE_WITH_READLOCK, &[])),
            _ => {}
        }
        for name in names {
            let id = self.lockable(&name).ok();
            locked.permit_definition(id, &text_of(name.name.text.0))?;
        }
        Ok(())
    }
}
