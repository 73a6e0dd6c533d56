//! LIMIT: which rows are shown.

use bumpalo::Bump;
use meseta_types::Datum;

use super::inside::Running;
use super::plan::LimitPlan;
use super::run::{ENOUGH, Flow, MORE, Outer, Sink};
use crate::error::Result;
use crate::expression::Expr;

/// Passes rows on from `offset` on, until `count` of them have been.
pub struct Limited {
    offset: u64,
    count: u64,
    passed: u64,
    shown: u64,
}

impl Limited {
    /// None passed yet.
    pub fn new(offset: u64, count: u64) -> Self {
        Self { offset, count, passed: 0, shown: 0 }
    }

    /// Takes a row.
    pub fn show(&mut self, running: &mut Running<'_>, row: &[Datum<'_>], sink: &mut Sink<'_>) -> Result<Flow> {
        if self.passed < self.offset {
            self.passed += 1;
            return Ok(MORE);
        }
        self.shown += 1;
        let flow = sink(running, row)?;
        Ok(if self.shown == self.count { ENOUGH } else { flow })
    }
}

/// How many rows are passed over, and how many are shown.
pub fn limit_of(limit: &LimitPlan, outer: Outer<'_>, running: &mut Running<'_>) -> Result<(u64, u64)> {
    let arena = Bump::new();
    let mut number = |expr: &Expr| -> Result<u64> {
        let value = expr.evaluate(&[], &mut running.env(&arena, outer))?;
        Ok(match value {
            Datum::Unsigned(number) => number,
            Datum::Signed(number) => u64::try_from(number).unwrap_or(0),
            other => other.to_integer(running.context).map_or(0, |(number, _)| u64::try_from(number).unwrap_or(0)),
        })
    };
    let offset = limit.offset.as_ref().map_or(Ok(0), &mut number)?;
    Ok((offset, number(&limit.count)?))
}
