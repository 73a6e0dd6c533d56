//! UPDATE and DELETE of several tables, and of one that the statement also reads in another place.
//!
//! ```text
//!   join of all tables --row--> for each table that is changed: has its row been met?   no: its new values are kept
//!                      (locked)                                                            (assignments from left to right)
//!   then, table by table: the rows are changed
//! ```
//!
//! # Invariants
//! 1. Each row is changed once, with the values of the first row of the join that it is in.
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
use crate::expression::{Expr, Value};
use crate::query::{Binder, JoinPlan, KnownTable, MORE, Place, QueryPlan, Running, enter_table, run_query, text_of};

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
        let join = binder.finish_join(bound, &changed)?;
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
        let join = binder.finish_join(bound, &changed)?;
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
        let mut met: Vec<HashSet<Vec<u8>>> = self.targets.iter().map(|_| HashSet::new()).collect();
        // Of each table: rows, and the values that columns get.
        let mut todo: Vec<Vec<(FoundRow, Vec<Value>)>> = self.targets.iter().map(|_| Vec::new()).collect();
        let mut bytes = 0_usize;
        let mut arena = Bump::new();
        let around = std::mem::take(&mut running.inside.found);
        running.inside.found = self.targets.iter().map(|_| None).collect();
        let mut number = 0;
        let done = run_query(&self.join.plan, &[], running, &mut |running, row| {
            arena.reset();
            let found = running.inside.found.clone();
            let is_new: Vec<bool> = found
                .iter()
                .zip(&mut met)
                .map(|(found, met)| found.as_ref().is_some_and(|found| met.insert(found.key.clone())))
                .collect();
            if !is_new.contains(&true) {
                return Ok(MORE);
            }
            number += 1;
            running.context.row = number;
            let values = self.values(&found, row, running, &arena)?;
            for (at, (found, values)) in found.into_iter().zip(values).enumerate() {
                let Some(found) = found.filter(|_| is_new[at]) else { continue };
                bytes += 2 * found.key.len() + found.value.len() + values.len() * 48 + 128;
                todo[at].push((found, values));
            }
            if bytes > running.inside.memory_limit {
                return Err(Error::out_of_sort_memory());
            }
            Ok(MORE)
        });
        running.inside.found = around;
        done?;
        let mut changes = Changes::default();
        for (at, (target, rows)) in self.targets.iter().zip(&todo).enumerate() {
            let handle = enter_table(&target.table, TableMode::Write, running)?;
            for (found, values) in rows {
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
                        let columns = self.assignments.iter().filter(|(target, ..)| *target == at);
                        let columns = columns.map(|(_, column, _)| *column).zip(values.iter().map(Value::get));
                        let before = columns_of(&target.table, found, running, &arena)?;
                        let row = arena.alloc_slice_copy(before);
                        columns.for_each(|(column, value)| row[column] = value);
                        let updating = Updating { handle: &handle, table: &target.table, rules, ignores: self.ignores };
                        updating.update(found, before, row, running, &mut changes, &arena)?;
                    }
                }
            }
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
