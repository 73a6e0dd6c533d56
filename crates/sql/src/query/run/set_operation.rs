//! UNION, INTERSECT, EXCEPT: rows of two queries, as sets or as bags.

use bumpalo::Bump;
use meseta_parser::ast::SetOperator;
use meseta_types::{DataType, DateTime, Datum, Decimal};

use super::inside::Running;
use super::member_places::MemberPlaces;
use super::row_numbers::RowNumbers;
use super::spare::recycle;
use super::spilled_rows::SpilledRows;
use super::{MORE, Outer, Sink, run_query};
use crate::error::{Error, Result};
use crate::expression::{Env, Expr};
use crate::query::plan::{QueryPlan, SetPlan};

/// Runs a set operation. Error 1038: there is no memory for the rows that are met, of INTERSECT and EXCEPT.
pub fn run(plan: &SetPlan, outer: Outer<'_>, running: &mut Running<'_>, sink: &mut Sink<'_>) -> Result<()> {
    let [left, right] = &plan.sides;
    let (mut met, mut arena, mut spare) = (Met::new(plan), Bump::new(), Vec::new());
    // Shows `of_row` a row as both sides have it.
    let mut each = |side: &QueryPlan, running: &mut Running<'_>, of_row: &mut Sink<'_>| {
        run_query(side, outer, running, &mut |running, row| {
            arena.reset();
            let mut values = recycle(std::mem::take(&mut spare));
            meet(row, &plan.columns, running, &arena, &mut values)?;
            let flow = of_row(running, &values)?;
            spare = recycle(values);
            Ok(flow)
        })
    };
    if plan.operator == SetOperator::Union {
        let mut flow = MORE;
        // Rows that there is no memory for.
        let mut spilled: Option<SpilledRows> = None;
        for side in [left, right] {
            if flow == MORE {
                each(side, running, &mut |running, row| {
                    if !plan.all && spilled.is_none() && met.is_full(running) {
                        spilled = Some(SpilledRows::new(running));
                    }
                    let is_shown = match &mut spilled {
                        None => plan.all || met.rows.is_new(row),
                        Some(spilled) => {
                            if met.rows.get(row).is_none() {
                                spilled.add(met.rows.key(), row)?;
                            }
                            false
                        }
                    };
                    if is_shown {
                        flow = sink(running, row)?;
                    }
                    Ok(flow)
                })?;
            }
        }
        return match spilled {
            Some(mut spilled) if flow == MORE => {
                spilled.drop_equals();
                spilled.show(usize::MAX, &MemberPlaces::default(), running, sink)
            }
            _ => Ok(()),
        };
    }
    each(right, running, &mut |running, row| {
        let (number, _) = met.add(row, running)?;
        met.counts[number] += 1;
        Ok(MORE)
    })?;
    let shows_met = plan.operator == SetOperator::Intersect;
    each(left, running, &mut |running, row| {
        let number = match (plan.all, shows_met) {
            (false, false) => Some(met.add(row, running)?.0),
            _ => met.rows.get(row),
        };
        let count = number.map(|number| &mut met.counts[number]);
        let is_shown = count.as_ref().is_some_and(|count| **count > 0) == shows_met;
        match count {
            Some(count) if plan.all => *count = count.saturating_sub(1),
            // As a set: once. Of what EXCEPT has shown, no more.
            Some(count) if is_shown => *count = u64::from(!shows_met),
            _ => {}
        }
        if is_shown { sink(running, row) } else { Ok(MORE) }
    })
}

/// The rows that have been met: in the right side, or among those shown.
struct Met {
    rows: RowNumbers,
    /// How often each.
    counts: Vec<u64>,
}

impl Met {
    fn new(plan: &SetPlan) -> Self {
        Self { rows: RowNumbers::new(&plan.columns), counts: Vec::new() }
    }

    /// A row's number, and whether it is new: then its count is 0.
    fn add(&mut self, row: &[Datum<'_>], running: &Running<'_>) -> Result<(usize, bool)> {
        let (number, is_new) = self.rows.of(row);
        if is_new {
            self.counts.push(0);
            if self.is_full(running) {
                return Err(Error::out_of_sort_memory());
            }
        }
        Ok((number, is_new))
    }

    fn is_full(&self, running: &Running<'_>) -> bool {
        self.rows.bytes() + self.counts.len() * size_of::<u64>() > running.inside.memory_limit
    }
}

/// Appends the values of a row in the types of these columns.
pub fn meet<'v>(
    row: &[Datum<'v>],
    columns: &'v [Expr],
    running: &mut Running<'_>,
    arena: &'v Bump,
    values: &mut Vec<Datum<'v>>,
) -> Result<()> {
    for (&value, column) in row.iter().zip(columns) {
        values.push(match (&column.data_type, value) {
            (_, Datum::Null) => Datum::Null,
            (DataType::Decimal { scale, .. }, value) => {
                let number = value.to_decimal(running.context).unwrap_or(Decimal::ZERO);
                Datum::Decimal(number.round(i32::from(*scale)).unwrap_or(number))
            }
            (DataType::DateTime { decimals }, Datum::Time(time, _)) => {
                let micros = running.context.today.midnight().total_micros() + time.micros();
                DateTime::from_total_micros(micros).map_or(Datum::Null, |moment| Datum::DateTime(moment, *decimals))
            }
            (_, value) => conformed(column, value, running, arena)?,
        });
    }
    Ok(())
}

fn conformed<'v>(column: &'v Expr, value: Datum<'v>, running: &mut Running<'_>, arena: &'v Bump) -> Result<Datum<'v>> {
    let mut env = Env { arena, context: running.context, slots: &[], outer: &[], host: &mut running.inside };
    column.conform(&value, &mut env)
}
