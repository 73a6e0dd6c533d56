//! A statement that runs: what it works on, and what its expressions ask of it.
//!
//! ```text
//!   Running = Inside (the engine's session, ours, queries inside of expressions) + Context (SQL mode, warnings)
//!                 \__ is the expressions' host                                      \__ is lent beside it
//! ```

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bumpalo::Bump;
use foldhash::fast::RandomState;
use meseta_engine::EngineError;
use meseta_engine::rows::FoundRow;
use meseta_types::{Context, Datum};
use smallvec::SmallVec;

use super::kept_rows::KeptRows;
use super::materialized::Materialized;
use super::measure::Measures;
use super::recursive::WorkingRows;
use super::seen_rows::{SeenRows, bytes_of, kept_row};
use super::{ENOUGH, MORE, Outer, run_query};
use crate::error::{Error, Result};
use crate::expression::kept_keys::KeptKeys;
use crate::expression::random::Random;
use crate::expression::{Comparer, Env, Host, InSubquery, Kept, LookUps, Quantified, SystemVariable, Value};
use crate::query::plan::{QueryPlan, Subquery};
use crate::schema::{StatisticsCache, TableCache};
use crate::session::Counter;
use crate::statement::definition::change_failure;

/// So many rows of a query are kept when it is run for the first time.
const FEW_ROWS: usize = 4;

/// What a statement runs on.
pub struct Inside<'r> {
    /// The session's engine side.
    pub engine: &'r mut meseta_engine::Session,
    /// The session.
    pub facts: &'r mut dyn Host,
    /// Values of parameters and of literals that were lifted out.
    pub slots: &'r [Datum<'r>],
    /// Queries inside of the statement's expressions, by their numbers.
    pub subqueries: &'r [Subquery],
    /// Bytes that rows kept in between may take.
    pub memory_limit: usize,
    /// How long to wait for a lock.
    pub lock_wait: Duration,
    /// Whether the statement may wait for the next row that it locks without its thread, and be executed again: it has done
    /// nothing that could be noticed.
    pub may_suspend: bool,
    /// Whether the statement is a transaction of its own: a lock on what is not to be changed would go at once.
    pub is_own_transaction: bool,
    /// auto_increment_increment and auto_increment_offset.
    pub auto_increment: (u64, u64),
    /// NO_AUTO_VALUE_ON_ZERO.
    pub no_auto_value_on_zero: bool,
    /// Tables as they have been read.
    pub tables: &'r TableCache,
    /// What they contain, about.
    pub statistics: &'r StatisticsCache,
    /// The rows that came last of recursive tables, by their numbers.
    pub working: Vec<WorkingRows>,
    /// Rows at hand of tables that are changed, as the engine has them.
    pub found: Vec<Option<FoundRow>>,
    /// How many rows there would have been without LIMIT, if that was asked for.
    pub rows_without_limit: Option<u64>,
    /// Rows of queries that refer to no row around them, by their numbers: if they are few, or once they have been run twice.
    pub kept: Option<Rc<RefCell<KeptQueries>>>,
    /// What sources do is measured: EXPLAIN ANALYZE.
    pub measures: Option<Rc<Measures>>,
}

/// Rows of queries inside of expressions.
#[derive(Default)]
pub struct KeptQueries(HashMap<u32, KeptQuery, RandomState>);

/// What is kept of one.
#[derive(Default)]
struct KeptQuery {
    /// So many values have been looked up in it.
    looked_up: u32,
    /// So many rows have been read for that.
    read: u64,
    /// It has been run.
    has_run: bool,
    /// Whether it has a row, once that has been asked.
    has_rows: Option<bool>,
    /// Its rows, or that they are not kept: they take too much memory.
    rows: Option<Option<Rc<KeptRows>>>,
    /// The keys of its rows, or that they are not kept: they take too much memory, or some row has none.
    keys: Option<Option<Rc<KeptKeys>>>,
    /// The rows that it had for rows around it.
    seen: SeenRows,
}

/// A statement that runs.
pub struct Running<'r> {
    /// What it runs on.
    pub inside: Inside<'r>,
    /// SQL mode, time zone, warnings.
    pub context: &'r mut Context,
    /// Rows of derived tables that are kept.
    pub materialized: Materialized,
}

impl<'r> Running<'r> {
    /// An environment for expressions.
    pub fn env<'v, 'h>(&'h mut self, arena: &'v Bump, outer: &'h [&'v [Datum<'v>]]) -> Env<'v, 'h>
    where
        'r: 'v,
    {
        Env { arena, context: self.context, slots: self.inside.slots, outer, host: &mut self.inside }
    }
}

impl<'r> Inside<'r> {
    /// The engine's refusal of a change, as MySQL tells it: with the text of the foreign key.
    pub fn refusal(&mut self, error: EngineError) -> Error {
        let schema = Arc::clone(self.engine.schema());
        change_failure(error, &schema, self.tables)
    }

    /// Runs a query inside, and shows its rows until `show` has seen enough.
    fn run_plan(
        &mut self,
        plan: &QueryPlan,
        rows: &[&[Datum<'_>]],
        context: &mut Context,
        show: &mut dyn FnMut(&[Datum<'_>]) -> Result<bool>,
    ) -> Result<()> {
        let inside = Inside {
            engine: &mut *self.engine,
            facts: &mut *self.facts,
            slots: self.slots,
            subqueries: self.subqueries,
            memory_limit: self.memory_limit,
            lock_wait: self.lock_wait,
            may_suspend: false,
            is_own_transaction: self.is_own_transaction,
            auto_increment: self.auto_increment,
            no_auto_value_on_zero: self.no_auto_value_on_zero,
            tables: self.tables,
            statistics: self.statistics,
            kept: Some(Rc::clone(self.kept.get_or_insert_default())),
            measures: self.measures.clone(),
            working: self.working.clone(),
            found: Vec::new(),
            rows_without_limit: None,
        };
        let mut running = Running { inside, context, materialized: Materialized::default() };
        let outer: Outer<'_> = rows;
        run_query(plan, outer, &mut running, &mut |_, row| Ok(if show(row)? { MORE } else { ENOUGH }))
    }

    /// How many rows the session has read, if that is counted.
    fn rows_read(&self) -> u64 {
        self.facts.session().map_or(0, |facts| facts.shared.counters.get(Counter::InnodbRowsRead))
    }

    /// What is kept of a query.
    fn kept<T>(&mut self, number: u32, f: impl FnOnce(&mut KeptQuery) -> T) -> T {
        f(self.kept.get_or_insert_default().borrow_mut().0.entry(number).or_default())
    }

    /// The rows of a query that refers to no row around it, if it has been run before; `None` if they are not kept.
    fn kept_rows(&mut self, number: u32, context: &mut Context) -> Result<Option<Rc<KeptRows>>> {
        let known = self.kept(number, |kept| if kept.has_run { kept.rows.clone() } else { Some(None) });
        if let Some(known) = known {
            return Ok(known);
        }
        let subqueries = self.subqueries;
        let Some(subquery) = subqueries.get(number as usize) else { return Ok(None) };
        let (mut bytes, limit, mut all) = (0, self.memory_limit, Vec::new());
        self.run_plan(&subquery.plan, &[], context, &mut |row| {
            let row = kept_row(row);
            bytes += bytes_of(&row);
            all.push(row);
            Ok(bytes <= limit)
        })?;
        let made = (bytes <= limit).then(|| Rc::new(KeptRows::new(all)));
        self.kept(number, |kept| kept.rows = Some(made.clone()));
        Ok(made)
    }

    /// Runs a query that refers to no row around it for the first time. If it has few rows, and all of them are wanted, they are kept
    /// meanwhile: most such queries have one, whose value is wanted beside each row around them.
    fn run_first(
        &mut self,
        number: u32,
        plan: &QueryPlan,
        context: &mut Context,
        show: &mut dyn FnMut(&[Datum<'_>]) -> Result<bool>,
    ) -> Result<()> {
        let (mut bytes, limit, mut few, mut are_all) = (0, self.memory_limit, Vec::new(), true);
        self.run_plan(plan, &[], context, &mut |row| {
            are_all &= few.len() < FEW_ROWS && bytes <= limit;
            if are_all {
                let row = kept_row(row);
                bytes += bytes_of(&row);
                few.push(row);
            }
            let goes_on = show(row)?;
            are_all &= goes_on;
            Ok(goes_on)
        })?;
        if are_all {
            self.kept(number, |kept| kept.rows = Some(Some(Rc::new(KeptRows::new(few)))));
        }
        Ok(())
    }

    /// The keys of a query's rows, as they are compared, if it is asked often, or has been run before: what is asked for once is not
    /// kept, the query shows whether it is there, and may end early. `None` if they are not kept.
    fn kept_keys(
        &mut self,
        number: u32,
        is_asked_often: bool,
        comparers: &[Comparer],
        context: &mut Context,
    ) -> Result<Option<Rc<KeptKeys>>> {
        let is_wanted = |kept: &KeptQuery| is_asked_often || kept.has_run || kept.keys.is_some();
        let known = self.kept(number, |kept| if is_wanted(kept) { kept.keys.clone() } else { Some(None) });
        if let Some(known) = known {
            return Ok(known);
        }
        let subqueries = self.subqueries;
        let Some(subquery) = subqueries.get(number as usize) else { return Ok(None) };
        let (mut keys, mut are_kept, limit) = (KeptKeys::default(), true, self.memory_limit);
        // What is compared may warn, while the query has the context to warn itself.
        let mut own = context.apart();
        self.run_plan(&subquery.plan, &[], context, &mut |row| {
            are_kept = keys.add(row, comparers, &mut own) && keys.bytes() <= limit;
            Ok(are_kept)
        })?;
        context.add_warnings_of(&own);
        let made = are_kept.then(|| Rc::new(keys));
        self.kept(number, |kept| kept.keys = Some(made.clone()));
        Ok(made)
    }
}

impl Host for Inside<'_> {
    fn subquery(
        &mut self,
        number: u32,
        rows: &[&[Datum<'_>]],
        context: &mut Context,
        show: &mut dyn FnMut(&[Datum<'_>]) -> Result<bool>,
    ) -> Result<()> {
        let Some(subquery) = self.subqueries.get(number as usize) else {
            return Err(Error::not_yet("a subquery here"));
        };
        if !subquery.is_correlated {
            if let Some(kept) = self.kept_rows(number, context)? {
                for row in &kept.rows {
                    let row: SmallVec<[Datum<'_>; 4]> = row.iter().map(Value::get).collect();
                    if !show(&row)? {
                        break;
                    }
                }
                return Ok(());
            }
            if !self.kept(number, |kept| std::mem::replace(&mut kept.has_run, true)) {
                return self.run_first(number, &subquery.plan, context, show);
            }
        }
        self.run_plan(&subquery.plan, rows, context, show)
    }

    fn exists(&mut self, number: u32, rows: &[&[Datum<'_>]], context: &mut Context) -> Result<bool> {
        let subqueries = self.subqueries;
        let Some(subquery) = subqueries.get(number as usize) else {
            return Err(Error::not_yet("a subquery here"));
        };
        if !subquery.is_correlated
            && let Some(known) = self.kept(number, |kept| kept.has_rows)
        {
            return Ok(known);
        }
        let mut has_rows = false;
        self.run_plan(&subquery.plan, rows, context, &mut |_| {
            has_rows = true;
            Ok(false)
        })?;
        if !subquery.is_correlated {
            self.kept(number, |kept| kept.has_rows = Some(has_rows));
        }
        Ok(has_rows)
    }

    fn look_up(
        &mut self,
        number: u32,
        look_ups: LookUps,
        values: &[Datum<'_>],
        context: &mut Context,
    ) -> Result<Option<bool>> {
        let subqueries = self.subqueries;
        let Some(plan) = subqueries.get(number as usize).and_then(|subquery| subquery.by_value.as_ref()) else {
            return Ok(None);
        };
        let is_enough = self.kept(number, |kept| {
            kept.looked_up = kept.looked_up.saturating_add(1);
            let is_over = kept.looked_up > look_ups.values || kept.read > look_ups.rows;
            is_over && !matches!(kept.keys, Some(None))
        });
        if is_enough {
            return Ok(None);
        }
        let (mut found, before) = (false, self.rows_read());
        self.run_plan(plan, &[values], context, &mut |_| {
            found = true;
            Ok(false)
        })?;
        let read = self.rows_read().saturating_sub(before);
        self.kept(number, |kept| kept.read += read);
        Ok(Some(found))
    }

    fn probe(
        &mut self,
        inside: &InSubquery,
        is_asked_often: bool,
        values: &[Datum<'_>],
        context: &mut Context,
    ) -> Result<Option<Option<bool>>> {
        let keys = self.kept_keys(inside.query.number, is_asked_often, &inside.comparers, context)?;
        Ok(keys.and_then(|keys| keys.contain(values, &inside.comparers, inside.unknown_is_false, context)))
    }

    fn show_seen_row(&mut self, number: u32, seen: &[u8], show: &mut dyn FnMut(&[Value])) {
        let followed = self.engine.rows_followed();
        self.kept(number, |kept| {
            if let Some(row) = kept.seen.find(seen, followed) {
                show(row);
            }
        });
    }

    fn keep_seen_row(&mut self, number: u32, seen: &[u8], row: &[Datum<'_>]) {
        let limit = self.memory_limit;
        self.kept(number, |kept| kept.seen.keep(seen, row, limit));
    }

    fn all_or_any(
        &mut self,
        left: Datum<'_>,
        quantified: &Quantified,
        context: &mut Context,
    ) -> Result<Option<Option<bool>>> {
        let rows = self.kept_rows(quantified.query.number, context)?;
        rows.map_or(Ok(None), |rows| rows.all_or_any(left, quantified, context))
    }

    fn user_variable(&mut self, name: &str, show: &mut dyn FnMut(Datum<'_>)) {
        self.facts.user_variable(name, show)
    }

    fn set_user_variable(&mut self, name: &str, value: Datum<'_>) -> Result<()> {
        self.facts.set_user_variable(name, value)
    }

    fn system_variable(&mut self, variable: &SystemVariable, show: &mut dyn FnMut(Datum<'_>)) -> Result<()> {
        self.facts.system_variable(variable, show)
    }

    fn statement_time(&self) -> i64 {
        self.facts.statement_time()
    }

    fn clock(&self) -> i64 {
        self.facts.clock()
    }

    fn last_insert_id(&self) -> u64 {
        self.facts.last_insert_id()
    }

    fn set_last_insert_id(&mut self, number: u64) {
        self.facts.set_last_insert_id(number)
    }

    fn row_count(&self) -> i64 {
        self.facts.row_count()
    }

    fn found_rows(&self) -> u64 {
        self.facts.found_rows()
    }

    fn connection_id(&self) -> u64 {
        self.facts.connection_id()
    }

    fn user(&self) -> &str {
        self.facts.user()
    }

    fn current_user(&self) -> &str {
        self.facts.current_user()
    }

    fn current_role(&self) -> &str {
        self.facts.current_role()
    }

    fn database(&self) -> Option<&str> {
        self.facts.database()
    }

    fn version(&self) -> &str {
        self.facts.version()
    }

    fn random(&mut self) -> Option<&mut Random> {
        self.facts.random()
    }

    fn seeded_random(&mut self, site: usize) -> Option<&mut Option<Random>> {
        self.facts.seeded_random(site)
    }

    fn kept_value(&mut self, number: u32) -> Option<&mut Option<Kept>> {
        self.facts.kept_value(number)
    }

    fn random_bytes(&mut self, out: &mut [u8]) {
        self.facts.random_bytes(out)
    }

    fn uuid(&mut self) -> [u8; 16] {
        self.facts.uuid()
    }

    fn uuid_short(&mut self) -> u64 {
        self.facts.uuid_short()
    }

    fn get_lock(&mut self, name: &str, seconds: f64) -> Result<Option<bool>> {
        self.facts.get_lock(name, seconds)
    }

    fn release_lock(&mut self, name: &str) -> Result<Option<bool>> {
        self.facts.release_lock(name)
    }

    fn release_all_locks(&mut self) -> u64 {
        self.facts.release_all_locks()
    }

    fn lock_owner(&mut self, name: &str) -> Option<u64> {
        self.facts.lock_owner(name)
    }

    fn sleep(&mut self, seconds: f64) -> Result<bool> {
        self.facts.sleep(seconds)
    }

    fn check_killed(&self) -> Result<()> {
        self.facts.check_killed()
    }

    fn count(&self, counter: crate::session::Counter, amount: u64) {
        self.facts.count(counter, amount)
    }

    fn session(&self) -> Option<&crate::session::SessionFacts> {
        self.facts.session()
    }

    fn max_allowed_packet(&self) -> usize {
        self.facts.max_allowed_packet()
    }

    fn group_concat_max_len(&self) -> usize {
        self.facts.group_concat_max_len()
    }

    fn block_encryption_mode(&self) -> &str {
        self.facts.block_encryption_mode()
    }

    fn default_week_format(&self) -> u64 {
        self.facts.default_week_format()
    }
}
