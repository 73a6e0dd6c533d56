//! Foreign keys: rows that refer to rows.
//!
//! ```text
//!   parent  id 7  <----- child  parent_id 7        insert or update a child: its parent is there, and locked to stay
//!                                                  delete or update a parent: its children restrict, follow, or forget
//! ```
//!
//! # Invariants
//! 1. A parent is looked for in its newest version and locked to share, before the child is changed. So it cannot go
//!    before the child's transaction ends.
//! 2. Children are looked for with their gaps locked, and the parent's row is this transaction's, or found changed when
//!    it is written. So no child comes that is overlooked, before the parent's transaction ends.
//! 3. A NULL among the columns refers to nothing.
//!
//! # Source
//! The manual, "FOREIGN KEY Constraints". As in InnoDB, constraints are checked row by row, NO ACTION is RESTRICT, and
//! changes cascade at most fifteen levels deep.

use super::{FoundRow, RowChange, RowCursor};
use crate::error::{EngineError, Result};
use crate::ids::TableId;
use crate::lock::{Mode, TableMode};
use crate::locking::{Direction, Locking};
use crate::row::{KeyRange, Value};
use crate::session::{Isolation, Session};
use crate::table::{ForeignKeyDefinition, ReferentialAction, Table};

/// How deep changes cascade.
const CASCADES_MAX: usize = 15;

/// What is done about rows that refer to one that goes, or changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pass {
    /// Those whose key restricts are looked for.
    Restrict,
    /// The others follow, or forget.
    Follow,
    /// Both, key by key as they were defined: one whose rows go may spare another that would have restricted.
    All,
}

/// What becomes of a row to which others may refer.
#[derive(Clone, Copy)]
pub(super) enum Becomes<'v> {
    /// It goes.
    Nothing,
    /// It gets these values.
    Changed(&'v [Value<'v>]),
    /// It goes, and a new row with these values comes: what refers to values that stay is left alone.
    Replaced(&'v [Value<'v>]),
}

/// A row that others follow.
pub(crate) struct Cascade {
    table: TableId,
    key: Vec<u8>,
    /// It goes; else it changes.
    goes: bool,
}

/// The values of some columns; `None` if one of them is NULL.
fn values_of<'v>(columns: &[u16], values: &[Value<'v>]) -> Option<Vec<Value<'v>>> {
    let chosen: Vec<_> = columns.iter().map(|&column| values[usize::from(column)]).collect();
    (!chosen.contains(&Value::Null)).then_some(chosen)
}

fn locking(session: &Session, mode: Mode, gaps: bool) -> Locking {
    Locking { mode, gaps, on_conflict: session.on_conflict() }
}

impl Session {
    /// A row is about to have these values: is there what it refers to? `before` are those that it has.
    pub(super) fn check_parents(
        &mut self,
        table: &Table,
        before: Option<&[Value<'_>]>,
        values: &[Value<'_>],
    ) -> Result<()> {
        if table.definition.foreign_keys.is_empty() || !self.checks_foreign_keys {
            return Ok(());
        }
        for key in &table.definition.foreign_keys {
            let Some(wanted) = values_of(&key.columns, values) else { continue };
            if before.and_then(|before| values_of(&key.columns, before)).as_ref() == Some(&wanted) {
                continue;
            }
            // Only a new row may be its own parent before it is there.
            let refers_to_itself = before.is_none()
                && key.parent == table.id()
                && values_of(&key.parent_columns, values).as_ref() == Some(&wanted);
            if !refers_to_itself && !self.has_parent(key, &wanted)? {
                return Err(EngineError::NoParent { table: table.id(), key: key.name.clone() });
            }
        }
        Ok(())
    }

    fn has_parent(&mut self, key: &ForeignKeyDefinition, wanted: &[Value<'_>]) -> Result<bool> {
        let Some(parent) = self.use_table(key.parent, TableMode::Read)? else { return Ok(false) };
        self.has_parent_in(&parent, key, wanted)
    }

    fn has_parent_in(&mut self, parent: &Table, key: &ForeignKeyDefinition, wanted: &[Value<'_>]) -> Result<bool> {
        let Some(range) = self.referring_range(parent, &key.parent_columns, wanted)? else { return Ok(false) };
        let gaps = self.isolation() >= Isolation::RepeatableRead;
        let locking = locking(self, Mode::Shared, gaps);
        RowCursor::locking(parent, range.0, &range.1, Direction::Ascending, locking).next(self)
    }

    /// Looks for the parent of each row of a table that refers to itself. Errors: `NoParent`.
    pub(crate) fn check_own_references(&mut self, table: &Table, key: &ForeignKeyDefinition) -> Result<()> {
        let columns = 0..table.definition.columns.len() as u16;
        let mut rows = RowCursor::consistent(table, 0, KeyRange::ALL, Direction::Ascending, columns);
        let mut buffers = Default::default();
        while rows.next(self)? {
            let mut values = Vec::new();
            rows.read(&mut buffers, &mut values)?;
            let Some(wanted) = values_of(&key.columns, &values) else { continue };
            if !self.has_parent_in(table, key, &wanted)? {
                return Err(EngineError::NoParent { table: table.id(), key: key.name.clone() });
            }
        }
        Ok(())
    }

    /// Where rows with these values in these columns are: an index, and a range of it. `None` if no index tells.
    fn referring_range(
        &self,
        table: &Table,
        columns: &[u16],
        values: &[Value<'_>],
    ) -> Result<Option<(usize, KeyRange)>> {
        let Some(index) = table.definition.index_beginning_with(columns) else { return Ok(None) };
        let mut beginning = Vec::new();
        table.indexes[index].layout.beginning(values, &*self.core.collations, &mut beginning)?;
        Ok(Some((index, KeyRange::beginning_with(beginning))))
    }

    /// A row goes, or gets other values: what refers to it? Before it goes, others go too or keep it. One that changes is
    /// kept from that before, and followed afterwards, since it is then that the others find it.
    pub(super) fn follow(
        &mut self,
        pass: Pass,
        table: &Table,
        row: &FoundRow,
        before: &[Value<'_>],
        becomes: Becomes<'_>,
    ) -> Result<()> {
        if table.referrers.is_empty() || !self.checks_foreign_keys {
            return Ok(());
        }
        if self.cascades.len() == CASCADES_MAX {
            return Err(EngineError::CascadesTooDeep);
        }
        let goes = !matches!(becomes, Becomes::Changed(_));
        self.cascades.push(Cascade { table: table.id(), key: row.key.clone(), goes });
        let followed = table.referrers.iter().try_for_each(|referrer| {
            let Some(child) = self.use_table(referrer.table, TableMode::Write)? else { return Ok(()) };
            let Some(key) = child.definition.foreign_keys.get(referrer.key) else { return Ok(()) };
            self.follow_key(pass, table, &child, key, before, becomes)
        });
        self.cascades.pop();
        followed
    }

    #[allow(clippy::too_many_arguments)]
    fn follow_key(
        &mut self,
        pass: Pass,
        parent: &Table,
        child: &Table,
        key: &ForeignKeyDefinition,
        before: &[Value<'_>],
        becomes: Becomes<'_>,
    ) -> Result<()> {
        let Some(gone) = values_of(&key.parent_columns, before) else { return Ok(()) };
        let (after, new) = match becomes {
            Becomes::Nothing => (None, None),
            Becomes::Changed(values) => (Some(values), Some(values)),
            Becomes::Replaced(values) => (None, Some(values)),
        };
        if new.and_then(|new| values_of(&key.parent_columns, new)).as_ref() == Some(&gone) {
            return Ok(());
        }
        let Some((index, range)) = self.referring_range(child, &key.columns, &gone)? else { return Ok(()) };
        let refers_to_its_own = child.id() == parent.id();
        let action = match after {
            None => key.on_delete,
            // As in InnoDB: an update that would come back to its own table is not followed.
            Some(_) if refers_to_its_own => ReferentialAction::Restrict,
            Some(_) => key.on_update,
        };
        let (its_pass, mode) = match action {
            ReferentialAction::Restrict => (Pass::Restrict, Mode::Shared),
            ReferentialAction::Cascade | ReferentialAction::SetNull => (Pass::Follow, Mode::Exclusive),
        };
        if pass != its_pass && pass != Pass::All {
            return Ok(());
        }
        let mut children = RowCursor::locking(child, index, &range, Direction::Ascending, locking(self, mode, true));
        while children.next(self)? {
            let found = children.row();
            // It goes itself, perhaps because of one that refers to it. One that changes keeps itself from it, as in InnoDB.
            if self.cascades.iter().any(|row| row.goes && row.table == child.id() && row.key == found.key) {
                continue;
            }
            match (action, after) {
                (ReferentialAction::Restrict, _) => {
                    return Err(EngineError::HasChildren { table: child.id(), key: key.name.clone() });
                }
                (ReferentialAction::Cascade, None) => {
                    self.must_be_done(child, key, |session| session.delete_row(child, found))?;
                }
                (ReferentialAction::Cascade, Some(after)) => {
                    self.refer_to(child, found, key, |at| after[usize::from(key.parent_columns[at])])?;
                }
                (ReferentialAction::SetNull, _) => self.refer_to(child, found, key, |_| Value::Null)?,
            }
        }
        Ok(())
    }

    /// Gives a child's columns other values.
    fn refer_to<'v>(
        &mut self,
        child: &Table,
        row: &FoundRow,
        key: &ForeignKeyDefinition,
        value: impl Fn(usize) -> Value<'v>,
    ) -> Result<()> {
        let (mut buffers, mut values) = (Default::default(), Vec::new());
        row.read(child, &mut buffers, &mut values)?;
        let mut values: Vec<Value<'_>> = values;
        for (at, &column) in key.columns.iter().enumerate() {
            values[usize::from(column)] = value(at);
        }
        self.must_be_done(child, key, |session| session.update_row(child, row, &values, Mode::Shared))
    }

    /// Changes a child, which is locked.
    fn must_be_done(
        &mut self,
        child: &Table,
        key: &ForeignKeyDefinition,
        change: impl FnOnce(&mut Session) -> Result<RowChange>,
    ) -> Result<()> {
        self.rows_followed += 1;
        match change(self)? {
            RowChange::Done => Ok(()),
            RowChange::Conflict(conflict) => {
                Err(EngineError::CascadeConflict { table: child.id(), index: conflict.index })
            }
            RowChange::Stale => Err(EngineError::HasChildren { table: child.id(), key: key.name.clone() }),
        }
    }
}
