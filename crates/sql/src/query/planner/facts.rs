//! What conditions say of a table's columns: what can be looked for in an index.
//!
//! ```text
//!   a = 1   b > ?   c LIKE 'x%'           of all rows: a is equal to 1, b is above ?, c begins with x
//!   b IN (2, 3)   b = 2 OR b > ?          of each row one of these
//!   (a, b) > (1, 2)                       likewise: a > 1, or a = 1 and b > 2
//! ```
//!
//! # Invariants
//! 1. A comparison says something only if an index's order is that of the comparison (`expression`, index_key), and if its value is
//!    known before the row is.

use std::ops::Range;

use meseta_types::{Collation, DataType};

use crate::expression::{
    Comparer, ComparisonOperator, Expr, InList, InSubquery, Like, RowCompare, finds_equal, orders_like,
};
use crate::query::plan::table::KnownTable;

/// What a condition says of one column.
#[derive(Clone, Copy)]
pub enum Said<'e> {
    IsNull,
    Equal(&'e Expr, Comparer),
    Same(&'e Expr, Comparer),
    Low(&'e Expr, Comparer, bool),
    High(&'e Expr, Comparer, bool),
    Begins(&'e Like),
    EqualToOneOf(&'e InSubquery),
}

/// What a condition says of one column, and which condition.
#[derive(Clone, Copy)]
pub struct Fact<'e> {
    /// The column's slot.
    pub column: u32,
    /// What it says.
    pub said: Said<'e>,
    /// Its number; [`ASKED_AGAIN`] if it has to be asked again whatever bounds say.
    pub condition: usize,
}

/// For a condition that may hold of a row and no longer of the next, or of which a fact is only a part.
const ASKED_AGAIN: usize = usize::MAX;

/// One of the things of which OR or IN says that one holds.
pub struct Alternative<'e> {
    /// What it says.
    pub facts: Vec<Fact<'e>>,
    /// They are all that it says.
    pub is_told: bool,
}

/// What OR or IN says: one of these holds.
pub struct OneOf<'e> {
    /// These.
    pub alternatives: Vec<Alternative<'e>>,
    /// The number of OR or IN, as a fact has one.
    pub condition: usize,
}

/// What conditions say of a table's columns.
#[derive(Default)]
pub struct Facts<'e> {
    /// The columns' slots: values that depend on them are no help in finding them.
    slots: Range<u32>,
    /// All of this holds.
    pub all: Vec<Fact<'e>>,
    /// Of each of these, one.
    pub one_of: Vec<OneOf<'e>>,
}

impl<'e> Facts<'e> {
    /// What these conditions say of a table whose columns are in slots from `first_slot` on.
    pub fn new(table: &KnownTable, first_slot: usize, conditions: &[&'e Expr]) -> Self {
        let slots = first_slot as u32..(first_slot + table.columns.len()) as u32;
        let mut facts = Facts { slots, ..Facts::default() };
        conditions.iter().enumerate().for_each(|(number, condition)| facts.add(number, condition));
        facts
    }

    fn add(&mut self, number: usize, condition: &'e Expr) {
        use ComparisonOperator as Operator;
        let number = if condition.reads_user_variable() { ASKED_AGAIN } else { number };
        let fact = |column, said| Fact { column, said, condition: number };
        if let Some(slot) = condition.as_is_null() {
            self.all.push(fact(slot, Said::IsNull));
        }
        for comparison in condition.as_comparisons() {
            if !comparison.is_found_by_index() || !self.are_known([comparison.value]) {
                continue;
            }
            let (value, comparer) = (comparison.value, comparison.comparer);
            let said = match comparison.operator {
                Operator::Equal => Some(Said::Equal(value, comparer)),
                Operator::NullSafeEqual => Some(Said::Same(value, comparer)),
                Operator::Less => Some(Said::High(value, comparer, false)),
                Operator::LessOrEqual => Some(Said::High(value, comparer, true)),
                Operator::Greater => Some(Said::Low(value, comparer, false)),
                Operator::GreaterOrEqual => Some(Said::Low(value, comparer, true)),
                _ => None,
            };
            self.all.extend(said.map(|said| fact(comparison.column, said)));
        }
        if let Some((column, between)) = condition.as_between()
            && [&between.low, &between.high]
                .iter()
                .all(|side| orders_like(&between.comparer, &between.operand.data_type, &side.data_type))
            && self.are_known([&between.low, &between.high])
        {
            self.all.push(fact(column, Said::Low(&between.low, between.comparer, true)));
            self.all.push(fact(column, Said::High(&between.high, between.comparer, true)));
        }
        if let Some((column, like)) = condition.as_like()
            && like.operand.data_type.is_string()
            && like.operand.data_type.collation() == Some(like.collation)
            // (Keys have bytes of one length as they are: nothing says there where the beginning ends.)
            && !matches!(like.operand.data_type, DataType::Char { collation: Collation::Binary, .. })
            && like.has_beginning()
            && self.are_known([&like.pattern])
        {
            // (What begins as the pattern may still not be like all of it.)
            self.all.push(Fact { column, said: Said::Begins(like), condition: ASKED_AGAIN });
        }
        if let Some((column, inside)) = condition.as_in_query()
            && finds_equal(&inside.comparers[0], &inside.operand.data_type, &inside.query.columns[0].data_type)
        {
            let facts = vec![fact(column, Said::EqualToOneOf(inside))];
            self.one_of.push(OneOf { alternatives: vec![Alternative { facts, is_told: true }], condition: number });
        }
        let of_list = condition.as_in().filter(|list| self.are_known(&list.list)).map(of_list);
        let alternatives = of_list
            .or_else(|| condition.as_or().map(|operands| self.of_or(operands)))
            .or_else(|| condition.as_row_compare().map(|compare| self.of_rows(compare)));
        if let Some(alternatives) = alternatives
            && alternatives.iter().all(|alternative| !alternative.facts.is_empty())
        {
            self.one_of.push(OneOf { alternatives, condition: number });
        }
    }

    fn are_known(&self, values: impl IntoIterator<Item = &'e Expr>) -> bool {
        values.into_iter().all(|value| value.is_known_without(&self.slots))
    }

    /// `(a, b) > (x, y)` is `a > x OR a = x AND b > y`.
    fn of_rows(&self, compare: &'e RowCompare) -> Vec<Alternative<'e>> {
        use ComparisonOperator as Operator;
        let known = |side: &'e Expr, value: &'e Expr, comparer: Comparer| {
            let column = side.as_column()?;
            let is_known = orders_like(&comparer, &side.data_type, &value.data_type) && self.are_known([value]);
            (is_known && self.slots.contains(&column)).then_some((column, value, comparer))
        };
        let sides = |(left, right, comparer): &'e (Expr, Expr, Comparer)| {
            [known(left, right, *comparer), known(right, left, *comparer)]
        };
        let pairs: Vec<_> = compare.columns.iter().map(sides).collect();
        let is_mirrored = usize::from(pairs.first().is_none_or(|[on_left, _]| on_left.is_none()));
        let operator = if is_mirrored == 1 { compare.operator.mirrored() } else { compare.operator };
        let mut alternatives = Vec::with_capacity(pairs.len());
        for (at, pair) in pairs.iter().enumerate() {
            let before = pairs[..at].iter().filter_map(|pair| pair[is_mirrored]);
            let equal = |(column, value, comparer)| (column, Said::Equal(value, comparer));
            let is_included =
                at + 1 == pairs.len() && matches!(operator, Operator::GreaterOrEqual | Operator::LessOrEqual);
            let bound = pair[is_mirrored].map(|(column, value, comparer)| match operator {
                Operator::Greater | Operator::GreaterOrEqual => (column, Said::Low(value, comparer, is_included)),
                _ => (column, Said::High(value, comparer, is_included)),
            });
            let facts = before.map(equal).chain(bound).map(|(column, said)| Fact { column, said, condition: 0 });
            let facts: Vec<_> = facts.collect();
            alternatives.push(Alternative { is_told: facts.len() == at + 1, facts });
        }
        alternatives
    }

    /// What each operand of OR says.
    fn of_or(&self, operands: &'e [Expr]) -> Vec<Alternative<'e>> {
        let said = |operand: &'e Expr| {
            let mut of_operand = Facts { slots: self.slots.clone(), ..Facts::default() };
            let conjuncts = operand.as_conjuncts();
            conjuncts.iter().enumerate().for_each(|(number, conjunct)| of_operand.add(number, conjunct));
            let facts = of_operand.all;
            let is_told = (0..conjuncts.len()).all(|number| facts.iter().any(|fact| fact.condition == number));
            Alternative { facts, is_told }
        };
        operands.iter().map(said).collect()
    }
}

/// What each element of an IN list says.
fn of_list(list: &InList) -> Vec<Alternative<'_>> {
    let operands = list.operand.as_row().unwrap_or(std::slice::from_ref(&list.operand));
    let comparers = list.comparers.chunks(operands.len());
    let mut all = Vec::with_capacity(list.list.len());
    for (element, comparers) in list.list.iter().zip(comparers) {
        let values = element.as_row().unwrap_or(std::slice::from_ref(element));
        let mut facts = Vec::with_capacity(operands.len());
        for ((operand, value), comparer) in operands.iter().zip(values).zip(comparers) {
            if let Some(column) = operand.as_column()
                && finds_equal(comparer, &operand.data_type, &value.data_type)
            {
                facts.push(Fact { column, said: Said::Equal(value, *comparer), condition: 0 });
            }
        }
        let is_told = facts.len() == operands.len();
        all.push(Alternative { facts, is_told });
    }
    all
}
