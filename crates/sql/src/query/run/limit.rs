//! LIMIT: which rows are shown.

use std::cell::Cell;

use bumpalo::Bump;
use meseta_errors::ER_DATA_OUT_OF_RANGE;
use meseta_types::Datum;

use super::inside::Running;
use super::{ENOUGH, Flow, MORE, Outer, Sink};
use crate::error::{Error, Result};
use crate::expression::Expr;
use crate::query::plan::LimitPlan;

/// Passes rows on from `offset` on, until `count` of them have been.
pub struct Limited {
    offset: u64,
    count: u64,
    passed: Cell<u64>,
    shown: Cell<u64>,
}

impl Limited {
    /// None passed yet.
    pub fn new(offset: u64, count: u64) -> Self {
        Self { offset, count, passed: Cell::new(0), shown: Cell::new(0) }
    }

    /// So many rows are wanted, those included that are passed over.
    pub fn wanted(&self) -> u64 {
        self.offset.saturating_add(self.count)
    }

    /// Whether the next row is passed over: then it need not be made, and is not taken.
    pub fn passes_over(&self) -> bool {
        let passes = self.passed.get() < self.offset;
        self.passed.set(self.passed.get() + u64::from(passes));
        passes
    }

    /// Takes a row.
    pub fn show(&self, running: &mut Running<'_>, row: &[Datum<'_>], sink: &mut Sink<'_>) -> Result<Flow> {
        if self.passes_over() {
            return Ok(MORE);
        }
        self.shown.set(self.shown.get() + 1);
        let flow = sink(running, row)?;
        Ok(if self.shown.get() == self.count { ENOUGH } else { flow })
    }
}

/// How many rows are passed over, and how many are shown.
pub fn limit_of(limit: &LimitPlan, outer: Outer<'_>, running: &mut Running<'_>) -> Result<(u64, u64)> {
    let offset = limit.offset.as_ref().map_or(Ok(0), |offset| number_of(offset, outer, running))?;
    Ok((offset, number_of(&limit.count, outer, running)?))
}

/// How many rows an UPDATE or DELETE changes at most.
pub fn limit_count(limit: Option<&Expr>, running: &mut Running<'_>) -> Result<u64> {
    limit.map_or(Ok(u64::MAX), |limit| number_of(limit, &[], running))
}

/// The number of rows that a literal or a parameter is, which may be a text: beside LIMIT a text below zero is a large number, as it is in
/// MySQL, and NULL is none. Error 1690: an integer below zero.
fn number_of(expr: &Expr, outer: Outer<'_>, running: &mut Running<'_>) -> Result<u64> {
    let arena = Bump::new();
    match expr.evaluate(&[], &mut running.env(&arena, outer))? {
        Datum::Unsigned(number) => Ok(number),
        Datum::Signed(number) => u64::try_from(number)
            .map_err(|_| Error::new(ER_DATA_OUT_OF_RANGE, &[&"SIGNED INTEGER", &"mysqld_stmt_execute"])),
        // (What stands behind the number of a text is passed over without a warning.)
        other => Ok(other.to_integer(&mut running.context.apart()).map_or(0, |(number, _)| number as u64)),
    }
}
