//! A table that is filled with the rows of one INSERT, some at a time.
//!
//! ```text
//!   NewRows --row by row--> Inserting     until memory is to be used again
//! ```

use bumpalo::Bump;
use meseta_engine::catalog::TableHandle;
use meseta_engine::rows::RowRun;

use super::super::Changes;
use super::inserting::{Gathered, Inserting};
use super::{GivenRows, InsertPlan, Numbers};
use crate::error::Result;
use crate::query::Running;

/// So much memory the rows of a run may take, and what they are made of.
const ARENA_MAX: usize = 64 << 10;

/// When a row was in the way of one that was to be passed over (IGNORE), so many that follow go one by one: there may be more.
const SINGLY: usize = 1024;

/// Rows that are to be inserted, one by one.
pub(in super::super) trait NewRows<'p> {
    /// How many there are, if that is known.
    fn count(&self) -> Option<usize>;

    /// Has the plan insert the next one, in front of which there were so many. False if there is none.
    fn insert_next<'v, 'r: 'v>(
        &mut self,
        at: usize,
        plan: &'v InsertPlan,
        inserting: &mut Inserting<'_, 'v>,
        running: &mut Running<'r>,
        arena: &'v Bump,
    ) -> Result<bool>
    where
        'p: 'v;
}

/// Those of VALUES.
impl<'p> NewRows<'p> for &'p GivenRows {
    fn count(&self) -> Option<usize> {
        Some(self.len())
    }

    fn insert_next<'v, 'r: 'v>(
        &mut self,
        at: usize,
        plan: &'v InsertPlan,
        inserting: &mut Inserting<'_, 'v>,
        running: &mut Running<'r>,
        arena: &'v Bump,
    ) -> Result<bool>
    where
        'p: 'v,
    {
        if at == self.len() {
            return Ok(false);
        }
        plan.given_row(self.row(at), inserting, running, arena).map(|()| true)
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
    /// So many go one by one all the same.
    singly: usize,
    numbers: Numbers,
    run: RowRun,
    changes: Changes,
}

impl<'p> Filling<'p> {
    /// No rows yet; so many are going to come, if that is known.
    pub fn new(plan: &'p InsertPlan, handle: &'p TableHandle, rows: Option<usize>, running: &mut Running<'_>) -> Self {
        let is_plain = !plan.replaces && plan.on_duplicate.is_empty();
        // (IGNORE of many goes by what the last one met.)
        if !plan.ignores || !is_plain || rows == Some(1) {
            running.inside.engine.expect_conflict(!is_plain || plan.ignores);
        }
        Self {
            plan,
            handle,
            is_kind: rows != Some(1) && !running.context.mode.strict,
            takes_runs: is_plain && running.inside.engine.takes_runs(handle),
            singly: 0,
            numbers: Numbers::new(rows.map(|rows| rows as u64), running.inside.auto_increment.0),
            run: RowRun::default(),
            changes: Changes::default(),
        }
    }

    /// Inserts rows: those that nothing is to be done about if another is in the way, or little, in runs, as many at a time as an arena
    /// is to hold.
    pub fn insert<'q>(&mut self, mut rows: impl NewRows<'q>, running: &mut Running<'_>) -> Result<()> {
        let (plan, handle) = (self.plan, self.handle);
        let may_take_runs = self.takes_runs && rows.count() != Some(1);
        self.run.expect(rows.count().map_or(0, |count| count as u64));
        let (mut arena, mut at, mut are_more) = (Bump::new(), 0, true);
        while are_more {
            arena.reset();
            let in_runs = may_take_runs && self.singly == 0;
            self.singly = self.singly.saturating_sub(1);
            let mut inserting = Inserting::singly(handle, self.is_kind, &mut self.numbers, &mut self.changes);
            inserting.gathered = in_runs.then(|| Gathered::new(&mut self.run));
            let done = loop {
                running.context.row = inserting.found() + 1;
                inserting.warned = running.context.warnings.count();
                let inserted = running
                    .inside
                    .facts
                    .check_killed()
                    .and_then(|()| rows.insert_next(at, plan, &mut inserting, running, &arena));
                at += 1;
                let used = arena.allocated_bytes() - arena.chunk_capacity();
                match inserted {
                    Ok(true) if in_runs && used <= ARENA_MAX => {}
                    Ok(more) => break Ok(more),
                    Err(error) => break Err(error),
                }
            };
            // A row in front of one that cannot be is refused first.
            let met_others = plan.insert_gathered(&mut inserting, running, &arena)?;
            are_more = done?;
            if met_others {
                self.singly = SINGLY;
            }
        }
        Ok(())
    }

    /// There are no more rows. What has become of them all.
    pub fn end(mut self, running: &mut Running<'_>) -> Result<Changes> {
        let ended = running.inside.engine.end_run(self.handle, &mut self.run);
        ended.map_err(|error| running.inside.refusal(error)).map(|()| self.changes)
    }
}
