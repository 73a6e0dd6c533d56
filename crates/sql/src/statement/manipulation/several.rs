//! UPDATE and DELETE of several tables, and of one that the statement also reads in another place.
//!
//! ```text
//!   join of all tables --row--> for each table that is changed: has its row been met?   no: its new values are kept
//!                      (locked)                                                            (assignments from left to right)
//!   then, table by table: the rows are changed
//! ```
//!
//! # Invariants
//! 1. Each row is changed once, with the values of the first row of the join that it is in; rows are changed in the order in which
//!    they are met, or if they are too many for memory in that of their keys.
//! 2. Nothing is changed while the join runs: it does not see what the statement does.
//!
//! # Source
//! The manual, "UPDATE Statement" and "DELETE Statement", multiple-table syntax.

use std::collections::HashSet;
use std::sync::Arc;

use bumpalo::Bump;
use meseta_engine::lock::TableMode;
use meseta_engine::rows::{FoundRow, RowChange};
use meseta_errors::{ER_NON_UPDATABLE_TABLE, ER_NONUNIQ_TABLE, ER_UNKNOWN_TABLE, ER_WRONG_USAGE};
use meseta_parser::ast::{self, DeleteTarget, ExpressionKind};
use meseta_types::Datum;

use super::row::{RowRules, default_of, put, refuse_generated};
use super::update::Updating;
use super::{Changes, Strictness, columns_of};
use crate::error::{Error, Result};
use crate::expression::{Expr, Value, copy_into};
use crate::name::text_of;
use crate::query::{
    Binder, JoinPlan, KnownTable, MORE, MemberPlaces, Place, QueryPlan, Running, SpilledRows, enter_table,
    found_values, run_query, set_found,
};

/// A table whose rows are changed.
#[derive(Debug)]
struct Target {
    /// Its number among the sources.
    source: usize,
    table: Arc<KnownTable>,
    first_slot: usize,
    /// What is set; nothing if rows are deleted.
    rules: Option<RowRules>,
}

/// UPDATE or DELETE of several tables, bound.
#[derive(Debug)]
pub struct SeveralPlan {
    join: JoinPlan,
    targets: Vec<Target>,
    /// Target, column and value (`None` for DEFAULT), in the order written.
    assignments: Vec<(usize, usize, Option<Expr>)>,
    deletes: bool,
    ignores: bool,
}

/// Rows of one table that are to be changed, and the values that columns get.
#[derive(Default)]
struct Todo {
    /// The keys of those that have been met; not kept once they are in a file.
    met: HashSet<Vec<u8>>,
    rows: Vec<(FoundRow, Vec<Value>)>,
    /// What memory they take.
    bytes: usize,
    /// All of them, by their keys, once they have been too many: of those with one key the first counts.
    spilled: Option<SpilledRows>,
}

/// What is done with one of them.
type ShowTodo<'s> = dyn FnMut(&mut Running<'_>, &FoundRow, &[Datum<'_>]) -> Result<()> + 's;

impl Todo {
    /// Whether a row is not known to have been met.
    fn is_new(&mut self, found: &FoundRow) -> bool {
        self.spilled.is_some() || self.met.insert(found.key.clone())
    }

    /// Adds a row that is new.
    fn add(&mut self, found: FoundRow, values: Vec<Value>) -> Result<()> {
        match &mut self.spilled {
            Some(spilled) => Self::add_to(spilled, &found, &values),
            None => {
                self.bytes += 2 * found.key.len() + found.value.len() + values.len() * 48 + 128;
                self.rows.push((found, values));
                Ok(())
            }
        }
    }

    fn add_to(spilled: &mut SpilledRows, found: &FoundRow, values: &[Value]) -> Result<()> {
        let row: Vec<_> = found_values(found).into_iter().chain(values.iter().map(Value::get)).collect();
        spilled.add(&found.key, &row)
    }

    /// The rows go to a file.
    fn spill(&mut self, running: &Running<'_>) -> Result<()> {
        let mut spilled = SpilledRows::new(running);
        spilled.drop_equals();
        self.rows.iter().try_for_each(|(found, values)| Self::add_to(&mut spilled, found, values))?;
        *self = Self { spilled: Some(spilled), ..Self::default() };
        Ok(())
    }

    /// Shows each row: in the order in which they were met, or in that of their keys; with members of ENUMs and SETs in these places
    /// of the values.
    fn for_each(self, members: MemberPlaces<'_>, running: &mut Running<'_>, show: &mut ShowTodo<'_>) -> Result<()> {
        for (found, values) in &self.rows {
            let values: Vec<Datum<'_>> = values.iter().map(Value::get).collect();
            show(running, found, &values)?;
        }
        let Some(spilled) = self.spilled else { return Ok(()) };
        let mut found = FoundRow::default();
        let members = members.behind(found_values(&found).len());
        spilled.show(usize::MAX, &members, running, &mut |running, row| {
            let values = set_found(&mut found, row);
            show(running, &found, values).map(|()| MORE)
        })
    }
}

impl SeveralPlan {
    /// Binds UPDATE.
    pub fn update<'a>(update: &'a ast::Update<'a>, binder: &mut Binder<'a, '_>) -> Result<Self> {
        if !update.order_by.is_empty() {
            return Err(Error::new(ER_WRONG_USAGE, &[&"UPDATE", &"ORDER BY"]));
        }
        if update.limit.is_some() {
            return Err(Error::new(ER_WRONG_USAGE, &[&"UPDATE", &"LIMIT"]));
        }
        if let Some(with) = update.with {
            binder.with(with)?;
        }
        let mut bound = binder.begin_join(update.tables)?;
        let mut targets: Vec<Target> = Vec::new();
        let mut columns = Vec::new();
        for assignment in update.assignments.iter() {
            let (source, column) = binder.column_of_source(&assignment.column)?;
            let Some(table) = bound.table(source) else {
                let name = binder.alias_of(source);
                return Err(Error::new(ER_NON_UPDATABLE_TABLE, &[&name, &"UPDATE"]));
            };
            if table.columns[column].generated.is_some() && !matches!(assignment.value.kind, ExpressionKind::Default) {
                return Err(refuse_generated(&table, column));
            }
            let target = match targets.iter().position(|target| target.source == source) {
                Some(target) => target,
                None => {
                    let first_slot = bound.first_slot(source);
                    binder.changed.push((table.engine().id(), binder.alias_of(source)));
                    targets.push(Target { source, table, first_slot, rules: None });
                    targets.len() - 1
                }
            };
            columns.push((target, column));
        }
        let mut assignments = Vec::new();
        for ((target, column), assignment) in columns.into_iter().zip(update.assignments.iter()) {
            let value = match assignment.value.kind {
                ExpressionKind::Default => None,
                _ => {
                    let value = binder.expression(&assignment.value, Place::plain("field list"))?;
                    Some(value.for_column(&targets[target].table.columns[column].data_type))
                }
            };
            assignments.push((target, column, value));
        }
        bound.condition(binder, update.condition.as_ref())?;
        binder.changed.clear();
        for target in &targets {
            binder.tables.permit(&target.table, &target.table.name, true)?;
        }
        let changed: Vec<usize> = targets.iter().map(|target| target.source).collect();
        let join = binder.finish_join(bound, &changed, false)?;
        let values = assignments.iter_mut().filter_map(|(.., value)| value.as_mut());
        values.for_each(|value| value.keep_keys(&mut binder.constants));
        for target in &mut targets {
            target.rules = Some(RowRules::new(&target.table, binder.facts, binder.tables)?);
        }
        Ok(Self { join, targets, assignments, deletes: false, ignores: update.ignore })
    }

    /// Binds DELETE.
    pub fn delete<'a>(delete: &'a ast::Delete<'a>, binder: &mut Binder<'a, '_>) -> Result<Self> {
        if let Some(with) = delete.with {
            binder.with(with)?;
        }
        let alone;
        let (names, mut bound) = match delete.target {
            DeleteTarget::Several { tables, from } => (Some(tables), binder.begin_join(from)?),
            DeleteTarget::Single(table) => {
                alone = binder.begin_table(table)?;
                (None, alone)
            }
        };
        let mut targets: Vec<Target> = Vec::new();
        match names {
            None => {
                let Some(table) = bound.table(0) else { return Err(Error::not_yet("DELETE from this table")) };
                targets.push(Target { source: 0, table, first_slot: 0, rules: None });
            }
            Some(names) => {
                for name in names.iter() {
                    let text = text_of(name.name.text.0);
                    let database = name.schema.map(|schema| text_of(schema.text.0));
                    let Some(source) = binder.source_named(database.as_deref(), &text) else {
                        return Err(Error::new(ER_UNKNOWN_TABLE, &[&text, &"MULTI DELETE"]));
                    };
                    if targets.iter().any(|target| target.source == source) {
                        return Err(Error::new(ER_NONUNIQ_TABLE, &[&text]));
                    }
                    let Some(table) = bound.table(source) else {
                        return Err(Error::new(ER_NON_UPDATABLE_TABLE, &[&text, &"DELETE"]));
                    };
                    binder.changed.push((table.engine().id(), text));
                    targets.push(Target { source, table, first_slot: bound.first_slot(source), rules: None });
                }
            }
        }
        bound.condition(binder, delete.condition.as_ref())?;
        binder.changed.clear();
        for target in &targets {
            binder.tables.permit(&target.table, &target.table.name, true)?;
        }
        let changed: Vec<usize> = targets.iter().map(|target| target.source).collect();
        let join = binder.finish_join(bound, &changed, true)?;
        Ok(Self { join, targets, assignments: Vec::new(), deletes: true, ignores: delete.ignore })
    }

    /// The tables whose rows are changed.
    pub fn tables(&self) -> impl Iterator<Item = &Arc<KnownTable>> {
        self.targets.iter().map(|target| &target.table)
    }

    /// The join of the tables.
    pub fn query(&self) -> &QueryPlan {
        &self.join.plan
    }

    /// Whether rows go.
    pub fn deletes(&self) -> bool {
        self.deletes
    }

    /// Changes the rows.
    pub fn run(&self, running: &mut Running<'_>) -> Result<Changes> {
        let strictness = Strictness::new(self.ignores, running);
        let done = self.run_inside(running);
        strictness.end(running, done)
    }

    fn run_inside(&self, running: &mut Running<'_>) -> Result<Changes> {
        let mut todo: Vec<Todo> = self.targets.iter().map(|_| Todo::default()).collect();
        let mut arena = Bump::new();
        let around = std::mem::take(&mut running.inside.found);
        running.inside.found = self.targets.iter().map(|_| None).collect();
        let mut number = 0;
        let done = run_query(&self.join.plan, &[], running, &mut |running, row| {
            arena.reset();
            let found = running.inside.found.clone();
            let is_new: Vec<bool> = found
                .iter()
                .zip(&mut todo)
                .map(|(found, todo)| found.as_ref().is_some_and(|found| todo.is_new(found)))
                .collect();
            if !is_new.contains(&true) {
                return Ok(MORE);
            }
            number += 1;
            running.context.row = number;
            let values = self.values(&found, row, running, &arena)?;
            for (at, (found, values)) in found.into_iter().zip(values).enumerate() {
                let Some(found) = found.filter(|_| is_new[at]) else { continue };
                todo[at].add(found, values)?;
            }
            if todo.iter().map(|todo| todo.bytes).sum::<usize>() > running.inside.memory_limit {
                todo.iter_mut().try_for_each(|todo| todo.spill(running))?;
            }
            Ok(MORE)
        });
        running.inside.found = around;
        done?;
        let mut changes = Changes::default();
        for (at, (target, todo)) in self.targets.iter().zip(todo).enumerate() {
            let handle = enter_table(&target.table, TableMode::Write, running)?;
            let columns = self.assignments.iter().filter(|(target, ..)| *target == at);
            let columns: Vec<usize> = columns.map(|(_, column, _)| *column).collect();
            let types = columns.iter().map(|&column| &target.table.columns[column].data_type);
            let members = MemberPlaces::in_types(types);
            todo.for_each(members, running, &mut |running, found, values| {
                arena.reset();
                running.inside.facts.check_killed()?;
                changes.found += 1;
                running.context.row = changes.found;
                match &target.rules {
                    None => {
                        let deleted = running.inside.engine.delete_row(&handle, found);
                        match deleted.map_err(|error| running.inside.refusal(error)) {
                            Ok(RowChange::Done) => changes.affected += 1,
                            Ok(_) => {}
                            Err(error) => super::warn_or_fail(error, self.ignores, running)?,
                        }
                    }
                    Some(rules) => {
                        let before = columns_of(&target.table, found, running, &arena)?;
                        let row = arena.alloc_slice_copy(before);
                        columns.iter().zip(values).for_each(|(&column, value)| {
                            row[column] = copy_into(*value, Some(&target.table.columns[column].data_type), &arena);
                        });
                        let updating = Updating { handle: &handle, table: &target.table, rules, ignores: self.ignores };
                        updating.update(found, before, row, running, &mut changes, &arena)?;
                    }
                }
                Ok(())
            })?;
        }
        Ok(changes)
    }

    /// What the columns of each table get, by the row of the join.
    fn values(
        &self,
        found: &[Option<FoundRow>],
        row: &[Datum<'_>],
        running: &mut Running<'_>,
        arena: &Bump,
    ) -> Result<Vec<Vec<Value>>> {
        let mut values: Vec<Vec<Value>> = self.targets.iter().map(|_| Vec::new()).collect();
        if self.assignments.is_empty() {
            return Ok(values);
        }
        let mut so_far: Vec<Datum<'_>> = row.to_vec();
        for (target, found) in self.targets.iter().zip(found) {
            let Some(found) = found else { continue };
            let columns = columns_of(&target.table, found, running, arena)?;
            so_far[target.first_slot..target.first_slot + columns.len()].copy_from_slice(columns);
        }
        for (at, column, value) in &self.assignments {
            let target = &self.targets[*at];
            if found[*at].is_none() {
                continue;
            }
            let seen: &[Datum<'_>] = arena.alloc_slice_copy(&so_far);
            let value = match (value, &target.rules) {
                (Some(value), _) => value.evaluate(seen, &mut running.env(arena, &[]))?,
                (None, Some(rules)) => {
                    let own = &seen[target.first_slot..target.first_slot + target.table.columns.len()];
                    default_of(&target.table, rules, *column, own, running, arena)?
                }
                (None, None) => Datum::Null,
            };
            let is_kind = self.ignores || !running.context.mode.strict;
            let value = put(&target.table, *column, value, is_kind, running, arena)?;
            so_far[target.first_slot + column] = value;
            values[*at].push(Value::new(value));
        }
        Ok(values)
    }
}
