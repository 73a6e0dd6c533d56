//! A table that is filled with the rows of one INSERT, some at a time.
//!
//! ```text
//!   NewRows --row by row--> Inserting     until memory is to be used again
//! ```

use bumpalo::Bump;
use meseta_engine::catalog::TableHandle;
use meseta_engine::rows::RowRun;

use super::super::Changes;
use super::super::row::Given;
use super::found::FoundRows;
use super::inserting::{Gathered, Inserting};
use super::{GivenRows, InsertPlan, Numbers};
use crate::error::Result;
use crate::query::Running;

/// So much memory the rows of a run may take, and what they are made of.
const ARENA_MAX: usize = 64 << 10;

/// Rows that are to be inserted.
pub enum NewRows<'p> {
    /// Of VALUES.
    Given(&'p GivenRows),
    /// Of a query.
    Found(&'p FoundRows<'p>),
}

impl NewRows<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Given(rows) => rows.len(),
            Self::Found(rows) => rows.len(),
        }
    }
}

/// The table, and what has become of the rows.
pub struct Filling<'p> {
    plan: &'p InsertPlan,
    handle: &'p TableHandle,
    /// Whether what does not suit a column is made to.
    is_kind: bool,
    /// Whether rows may go together.
    takes_runs: bool,
    numbers: Numbers,
    run: RowRun,
    changes: Changes,
}

impl<'p> Filling<'p> {
    /// No rows yet; so many are going to come, if that is known.
    pub fn new(plan: &'p InsertPlan, handle: &'p TableHandle, rows: Option<usize>, running: &Running<'_>) -> Self {
        let is_plain = !plan.ignores && !plan.replaces && plan.on_duplicate.is_empty();
        Self {
            plan,
            handle,
            is_kind: rows != Some(1) && !running.context.mode.strict,
            takes_runs: is_plain && running.inside.engine.takes_runs(handle),
            numbers: Numbers::new(rows.map(|rows| rows as u64), running.inside.auto_increment.0),
            run: RowRun::default(),
            changes: Changes::default(),
        }
    }

    /// Inserts rows: those of a plain INSERT in runs, as many at a time as an arena is to hold.
    pub fn insert(&mut self, rows: &NewRows<'_>, running: &mut Running<'_>) -> Result<()> {
        let (plan, handle, count) = (self.plan, self.handle, rows.len());
        let in_runs = self.takes_runs && count > 1;
        self.run.expect(count as u64);
        let mut arena = Bump::new();
        let mut at = 0;
        while at < count {
            arena.reset();
            let mut inserting = Inserting::singly(handle, self.is_kind, &mut self.numbers, &mut self.changes);
            inserting.gathered = in_runs.then(|| Gathered::new(&mut self.run));
            let done = loop {
                running.context.row = inserting.found() + 1;
                let done = running.inside.facts.check_killed().and_then(|()| match rows {
                    NewRows::Given(rows) => plan.given_row(rows.row(at), &mut inserting, running, &arena),
                    NewRows::Found(rows) => {
                        let (values, beside) = rows.row(at, &arena).split_at(plan.given);
                        let given = arena.alloc_slice_fill_iter(values.iter().map(|&value| Given::Value(value)));
                        plan.one_row(given, beside, &mut inserting, running, &arena)
                    }
                });
                at += 1;
                let used = arena.allocated_bytes() - arena.chunk_capacity();
                let is_full = !in_runs || used > ARENA_MAX;
                if done.is_err() || at == count || is_full {
                    break done;
                }
            };
            // A row in front of one that cannot be is refused first.
            if let Some(gathered) = &mut inserting.gathered {
                plan.insert_gathered(gathered, handle, running)?;
            }
            done?;
        }
        Ok(())
    }

    /// There are no more rows. What has become of them all.
    pub fn end(mut self, running: &mut Running<'_>) -> Result<Changes> {
        let ended = running.inside.engine.end_run(self.handle, &mut self.run);
        ended.map_err(|error| running.inside.refusal(error)).map(|()| self.changes)
    }
}
