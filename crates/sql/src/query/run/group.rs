//! GROUP BY and DISTINCT: rows with equal keys are one.
//!
//! ```text
//!   row --keys--> bytes that are equal for equal keys --> group: its first row, and an accumulator for each aggregate
//! ```
//!
//! Groups come out in the order in which they were met. Where rows come with equal keys one behind the other, a group is shown when
//! the next begins, and one is kept.

use std::cmp::Ordering;

use bumpalo::Bump;
use meseta_types::Datum;

use super::inside::Running;
use super::kept_slots::KeptSlots;
use super::member_places::MemberPlaces;
use super::row_numbers::{RowNumbers, collations_of};
use super::sort::ordered;
use super::spare::recycle;
use super::spilled_rows::SpilledRows;
use super::{ENOUGH, Flow, MORE, Outer, Sink, evaluate_all, evaluate_into};
use crate::error::{Error, Result};
use crate::expression::aggregate::{Accumulator, AggregateCall};
use crate::expression::group::append_row_key;
use crate::expression::key_numbers::KeyNumbers;
use crate::expression::{Value, copy_into};
use crate::query::plan::{Access, GroupPlan, RollupPlan, SelectPlan};

/// Shows the rows that are to be grouped.
pub type Rows<'r> = dyn FnMut(&mut Running<'_>, &mut Sink<'_>) -> Result<()> + 'r;

/// Shows the rows of the only table, found so.
pub type RowsBy<'r> = dyn FnMut(&Access, &mut Running<'_>, &mut Sink<'_>) -> Result<()> + 'r;

/// Groups under way, one behind the other.
struct Groups<'a> {
    kept: KeptSlots,
    /// What is kept of each one's first row.
    rows: Vec<Datum<'a>>,
    /// As many of each one as there are aggregates.
    accumulators: Vec<Accumulator>,
    count: usize,
}

impl<'a> Groups<'a> {
    fn new(select: &SelectPlan) -> Self {
        Self { kept: KeptSlots::read(select), rows: Vec::new(), accumulators: Vec::new(), count: 0 }
    }

    fn begin(&mut self, plan: &GroupPlan, row: &[Datum<'_>], arena: &'a Bump) {
        self.rows.extend(self.kept.values(row).map(|value| copy_into(value, None, arena)));
        self.accumulators.extend(accumulators(plan));
        self.count += 1;
    }

    fn accumulators(&mut self, plan: &GroupPlan, number: usize) -> &mut [Accumulator] {
        let each = plan.aggregates.len();
        &mut self.accumulators[number * each..][..each]
    }

    /// What is kept of a group's first row.
    fn row(&self, number: usize) -> impl Iterator<Item = Datum<'a>> {
        let each = self.kept.len();
        self.rows[number * each..][..each].iter().copied()
    }

    /// Memory that is taken, but for what is outside of the values.
    fn bytes(&self) -> usize {
        size_of_val(&*self.rows) + size_of_val(&*self.accumulators)
    }
}

/// Runs GROUP BY: reads `rows`, and shows a row for each group. Without keys there is one group, be there rows or not.
pub fn run(
    plan: &GroupPlan,
    select: &SelectPlan,
    outer: Outer<'_>,
    running: &mut Running<'_>,
    rows: &mut Rows<'_>,
    show: &mut Sink<'_>,
) -> Result<()> {
    if let Some(rollup) = &plan.rollup {
        return run_rollup(plan, rollup, select, outer, running, rows, show);
    }
    if plan.keys.is_empty() {
        return run_whole(plan, select, outer, running, rows, show);
    }
    if plan.is_sorted {
        return run_sorted(plan, select, outer, running, rows, show);
    }
    let arena = Bump::new();
    let mut numbers = RowNumbers::new(&plan.keys);
    let mut groups = Groups::new(select);
    let mut spare = Bump::new();
    let mut values = Vec::new();
    // Rows of groups that there is no memory for.
    let mut spilled: Option<SpilledRows> = None;
    rows(running, &mut |running, row| {
        spare.reset();
        let mut of_row = recycle(std::mem::take(&mut values));
        evaluate_into(&mut of_row, plan.keys.iter(), row, outer, running, &spare)?;
        let (number, is_new) = match &mut spilled {
            None => numbers.of(&of_row),
            Some(spilled) => match numbers.get(&of_row) {
                Some(number) => (number, false),
                None => return spilled.add(numbers.key(), row).map(|()| MORE),
            },
        };
        values = recycle(of_row);
        if is_new {
            groups.begin(plan, row, &arena);
        }
        add(plan, groups.accumulators(plan, number), row, outer, running, &spare)?;
        // Memory is taken by groups, not by rows.
        if is_new {
            let bytes = numbers.bytes() + groups.bytes();
            if spilled.is_none() && bytes + arena.allocated_bytes() > running.inside.memory_limit {
                spilled = Some(SpilledRows::new(running));
            }
        }
        Ok(MORE)
    })?;
    let members = MemberPlaces::in_slots(&select.sources);
    let mut shown = Vec::new();
    for number in 0..groups.count {
        spare.reset();
        let mut row = recycle(std::mem::take(&mut shown));
        groups.kept.restore(groups.row(number), select.width, &mut row);
        members.restore(&mut row);
        finish(plan, groups.accumulators(plan, number), &mut row, outer, running, &spare)?;
        if show(running, &row)?.is_break() {
            return Ok(());
        }
        shown = recycle(row);
    }
    if spilled.is_none() {
        return Ok(());
    }
    // They come with equal keys one behind the other.
    let mut rows = |running: &mut Running<'_>, sink: &mut Sink<'_>| {
        let Some(spilled) = spilled.take() else { return Ok(()) };
        spilled.show(usize::MAX, &members, running, sink)
    };
    run_sorted(plan, select, outer, running, &mut rows, show)
}

/// Without keys all rows are one group, which is there even if they are none.
fn run_whole(
    plan: &GroupPlan,
    select: &SelectPlan,
    outer: Outer<'_>,
    running: &mut Running<'_>,
    rows: &mut Rows<'_>,
    show: &mut Sink<'_>,
) -> Result<()> {
    let (arena, mut spare) = (Bump::new(), Bump::new());
    let (mut first, mut accumulators) = (None, Vec::from_iter(accumulators(plan)));
    rows(running, &mut |running, row| {
        spare.reset();
        if first.is_none() {
            first = Some(copied(row, &arena));
        }
        add(plan, &mut accumulators, row, outer, running, &spare)?;
        Ok(MORE)
    })?;
    show_whole(plan, select, first, &accumulators, outer, running, show)
}

/// The least and the greatest of columns: of the rows in the order of each one's index the first that has a value.
pub fn run_ends(
    plan: &GroupPlan,
    select: &SelectPlan,
    outer: Outer<'_>,
    running: &mut Running<'_>,
    rows: &mut RowsBy<'_>,
    show: &mut Sink<'_>,
) -> Result<()> {
    let (arena, mut spare) = (Bump::new(), Bump::new());
    let (mut first, mut accumulators) = (None, Vec::from_iter(accumulators(plan)));
    for ((call, access), accumulator) in plan.aggregates.iter().zip(&plan.ends).zip(&mut accumulators) {
        rows(access, running, &mut |running, row| {
            spare.reset();
            if first.is_none() {
                first = Some(copied(row, &arena));
            }
            add_evaluated(call, accumulator, row, outer, running, &spare)?;
            let value = call.arguments[0].evaluate(row, &mut running.env(&spare, outer))?;
            Ok(if value.is_null() { MORE } else { ENOUGH })
        })?;
    }
    show_whole(plan, select, first, &accumulators, outer, running, show)
}

/// Shows the group of all rows, of which this is the first.
fn show_whole(
    plan: &GroupPlan,
    select: &SelectPlan,
    first: Option<Vec<Datum<'_>>>,
    accumulators: &[Accumulator],
    outer: Outer<'_>,
    running: &mut Running<'_>,
    show: &mut Sink<'_>,
) -> Result<()> {
    let (mut row, spare) = (first.unwrap_or_default(), Bump::new());
    row.resize(select.width, Datum::Null);
    MemberPlaces::in_slots(&select.sources).restore(&mut row);
    finish(plan, accumulators, &mut row, outer, running, &spare)?;
    show(running, &row).map(drop)
}

/// The slots of a row that stays.
fn copied<'a>(row: &[Datum<'_>], arena: &'a Bump) -> Vec<Datum<'a>> {
    row.iter().map(|&value| copy_into(value, None, arena)).collect()
}

/// Accumulators for one group.
fn accumulators(plan: &GroupPlan) -> impl Iterator<Item = Accumulator> {
    plan.aggregates.iter().map(AggregateCall::accumulator)
}

/// Adds a row to a group.
#[inline(always)]
fn add<'v, 'r: 'v>(
    plan: &'v GroupPlan,
    accumulators: &mut [Accumulator],
    row: &'v [Datum<'v>],
    outer: Outer<'v>,
    running: &mut Running<'r>,
    arena: &'v Bump,
) -> Result<()> {
    for (call, accumulator) in plan.aggregates.iter().zip(accumulators) {
        match call.add_whole(accumulator, row) {
            Some(added) => added?,
            None => add_evaluated(call, accumulator, row, outer, running, arena)?,
        }
    }
    Ok(())
}

/// Adds a row to one aggregate of a group.
#[inline(never)]
fn add_evaluated<'v, 'r: 'v>(
    call: &'v AggregateCall,
    accumulator: &mut Accumulator,
    row: &'v [Datum<'v>],
    outer: Outer<'v>,
    running: &mut Running<'r>,
    arena: &'v Bump,
) -> Result<()> {
    call.add_row(accumulator, row, &mut running.env(arena, outer))
}

/// Puts the values of a group's aggregates into its row.
fn finish<'v, 'r: 'v>(
    plan: &'v GroupPlan,
    accumulators: &'v [Accumulator],
    row: &mut [Datum<'v>],
    outer: Outer<'v>,
    running: &mut Running<'r>,
    arena: &'v Bump,
) -> Result<()> {
    for (at, (call, accumulator)) in plan.aggregates.iter().zip(accumulators).enumerate() {
        row[plan.first_slot + at] = accumulator.finish(call, &mut running.env(arena, outer))?;
    }
    Ok(())
}

/// The group at hand, of rows that come with equal keys one behind the other.
struct Current {
    /// Whether there is one.
    has_begun: bool,
    key: Vec<u8>,
    /// What the key is made of.
    values: Vec<Value>,
    kept: KeptSlots,
    /// What is kept of its first row.
    row: Vec<Value>,
    accumulators: Vec<Accumulator>,
}

impl Current {
    fn none(select: &SelectPlan) -> Self {
        Self {
            has_begun: false,
            key: Vec::new(),
            values: Vec::new(),
            kept: KeptSlots::read(select),
            row: Vec::new(),
            accumulators: Vec::new(),
        }
    }

    /// The next begins, with this key, which is exchanged for another's memory.
    fn begin(&mut self, plan: &GroupPlan, key: &mut Vec<u8>, values: &[Datum<'_>], row: &[Datum<'_>]) {
        self.has_begun = true;
        std::mem::swap(&mut self.key, key);
        self.values.clear();
        self.values.extend(values.iter().map(|&value| Value::new(value)));
        self.row.clear();
        self.row.extend(self.kept.values(row).map(Value::new));
        self.accumulators.clear();
        self.accumulators.extend(accumulators(plan));
    }

    /// Whether a row has these very values, as most of a group have: texts byte by byte.
    fn has_values(&self, values: &[Datum<'_>]) -> bool {
        self.values.iter().zip(values).all(|(own, value)| match (own.get(), *value) {
            (Datum::Null, Datum::Null) => true,
            (Datum::Signed(own), Datum::Signed(value)) => own == value,
            (Datum::Unsigned(own), Datum::Unsigned(value)) => own == value,
            (Datum::Text(own, _), Datum::Text(value, _)) => own == value,
            (Datum::Date(own), Datum::Date(value)) => own == value,
            (Datum::DateTime(own, _), Datum::DateTime(value, _)) => own == value,
            _ => false,
        })
    }

    fn show(
        &self,
        plan: &GroupPlan,
        select: &SelectPlan,
        outer: Outer<'_>,
        running: &mut Running<'_>,
        show: &mut Sink<'_>,
    ) -> Result<Flow> {
        let (arena, mut row) = (Bump::new(), Vec::new());
        self.kept.restore(self.row.iter().map(Value::get), select.width, &mut row);
        finish(plan, &self.accumulators, &mut row, outer, running, &arena)?;
        show(running, &row)
    }
}

/// GROUP BY of rows that come with equal keys one behind the other.
pub fn run_sorted(
    plan: &GroupPlan,
    select: &SelectPlan,
    outer: Outer<'_>,
    running: &mut Running<'_>,
    rows: &mut Rows<'_>,
    show: &mut Sink<'_>,
) -> Result<()> {
    let collations = collations_of(plan.keys.iter());
    let (mut spare, mut key) = (Bump::new(), Vec::new());
    let (mut group, mut values) = (Current::none(select), Vec::new());
    rows(running, &mut |running, row| {
        spare.reset();
        let mut of_row = recycle(std::mem::take(&mut values));
        evaluate_into(&mut of_row, plan.keys.iter(), row, outer, running, &spare)?;
        // (Most are the same, byte by byte, and need no key.)
        let mut is_same = group.has_begun && group.has_values(&of_row);
        if !is_same {
            key.clear();
            append_row_key(&of_row, &collations, &mut key);
            is_same = group.has_begun && group.key == key;
        }
        if !is_same {
            if std::mem::take(&mut group.has_begun) && group.show(plan, select, outer, running, show)?.is_break() {
                return Ok(ENOUGH);
            }
            group.begin(plan, &mut key, &of_row, row);
        }
        values = recycle(of_row);
        add(plan, &mut group.accumulators, row, outer, running, &spare)?;
        Ok(MORE)
    })?;
    if group.has_begun { group.show(plan, select, outer, running, show).map(drop) } else { Ok(()) }
}

/// The key of the group of all rows: no level, and nothing behind it.
const ALL_ROWS: [u8; 4] = 0_u32.to_le_bytes();

/// A group of the first keys alone, or of all.
struct Level<'a> {
    keys: Vec<Datum<'a>>,
    row: Vec<Datum<'a>>,
    accumulators: Vec<Accumulator>,
}

/// GROUP BY .. WITH ROLLUP: rows of the groups in the order of their keys, those of all values of a key behind them.
fn run_rollup(
    plan: &GroupPlan,
    rollup: &RollupPlan,
    select: &SelectPlan,
    outer: Outer<'_>,
    running: &mut Running<'_>,
    rows: &mut Rows<'_>,
    show: &mut Sink<'_>,
) -> Result<()> {
    let arena = Bump::new();
    let collations = collations_of(plan.keys.iter());
    // The group of all rows is there even if there are none.
    let mut groups = vec![Level { keys: Vec::new(), row: Vec::new(), accumulators: accumulators(plan).collect() }];
    let mut numbers = KeyNumbers::default();
    numbers.of(&ALL_ROWS);
    let mut spare = Bump::new();
    let mut key = Vec::new();
    rows(running, &mut |running, row| {
        spare.reset();
        let values = evaluate_all(plan.keys.iter(), row, outer, running, &spare)?;
        for level in 0..=values.len() {
            key.clear();
            key.extend_from_slice(&(level as u32).to_le_bytes());
            append_row_key(&values[..level], &collations[..level], &mut key);
            let (number, is_new) = numbers.of(&key);
            if is_new {
                let keys = values[..level].iter().map(|&value| copy_into(value, None, &arena)).collect();
                groups.push(Level { keys, row: Vec::new(), accumulators: accumulators(plan).collect() });
            }
            let group = &mut groups[number];
            if group.row.is_empty() {
                group.row = copied(row, &arena);
            }
            add(plan, &mut group.accumulators, row, outer, running, &spare)?;
        }
        let bytes = numbers.bytes() + groups.len() * size_of::<Level<'_>>();
        if bytes + arena.allocated_bytes() > running.inside.memory_limit {
            return Err(Error::out_of_sort_memory());
        }
        Ok(MORE)
    })?;
    let mut failed = None;
    groups.sort_by(|one, other| {
        for (((one, other), &collation), key) in one.keys.iter().zip(&other.keys).zip(&collations).zip(&plan.keys) {
            let [one, other] = [one, other].map(|value| key.sort_value(*value));
            let ordering = ordered(one, other, collation, running).unwrap_or_else(|error| {
                failed.get_or_insert(error);
                Ordering::Equal
            });
            if ordering != Ordering::Equal {
                return ordering;
            }
        }
        other.keys.len().cmp(&one.keys.len())
    });
    failed.map_or(Ok(()), Err)?;
    let (members, key_members) = (MemberPlaces::in_slots(&select.sources), MemberPlaces::in_items(&plan.keys));
    for group in &groups {
        spare.reset();
        let mut row: Vec<Datum<'_>> = group.row.clone();
        row.resize(select.width, Datum::Null);
        for (at, key) in plan.keys.iter().enumerate() {
            let value = group.keys.get(at).copied().unwrap_or(Datum::Null);
            row[rollup.first_key + at] = value;
            if let Some(slot) = key.as_column() {
                row[slot as usize] = value;
            }
        }
        members.restore(&mut row);
        key_members.restore(&mut row[rollup.first_key..]);
        for (asked, slot) in &rollup.groupings {
            let bits = asked.iter().fold(0, |bits, &key| bits << 1 | i64::from(key >= group.keys.len()));
            row[*slot] = Datum::Signed(bits);
        }
        finish(plan, &group.accumulators, &mut row, outer, running, &spare)?;
        if show(running, &row)?.is_break() {
            break;
        }
    }
    Ok(())
}
