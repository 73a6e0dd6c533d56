//! `operand IN (list)`.
//!
//! ```text
//!   n IN (5, 3, ?, ..)                       the integers, in order         n is looked for among them
//!   (a, t) IN ((1, 'x'), (2, 'y'), ..)       the rows' comparison keys      (a, t) is looked up by its own
//! ```
//! A list of literals and parameters that is long enough is looked at once a statement, by the first row that asks. What has no keys is
//! compared with the elements one by one, as short lists are.
//!
//! # Invariants
//! 1. What is answered is what comparing one by one answers. (What an element warns of is told once, not for each row.)

use meseta_types::comparison::ComparisonType;
use meseta_types::{Context, DataType, Datum};

use super::comparer::{Comparer, ComparisonOperator};
use super::comparison_key::has_keys;
use super::evaluate::{as_number, operand, rows_equal};
use super::kept_keys::KeptKeys;
use super::kind::{ExprKind, InList};
use super::once::Kept;
use super::{Env, Expr};
use crate::error::Result;

/// So many values a list has that is kept,
const MANY: usize = 8;
/// or so many rows: one that is not kept is put together again for each comparison.
const MANY_ROWS: usize = 2;

/// What is kept of a list from row to row.
pub enum KeptList {
    /// Integers, in order.
    Integers(Box<[i64]>),
    /// Keys of its elements.
    Keys(KeptKeys),
    /// Nothing: an element has no key.
    Nothing,
}

impl KeptList {
    /// Whether these values are in the list: `Some(None)` if that is unknown, `None` if they have to be compared.
    fn contains(&self, values: &[Datum<'_>], comparers: &[Comparer], context: &mut Context) -> Option<Option<bool>> {
        match (self, values) {
            (Self::Integers(integers), [Datum::Signed(sought)]) => Some(Some(integers.binary_search(sought).is_ok())),
            (Self::Keys(keys), _) => keys.contain(values, comparers, false, context),
            _ => None,
        }
    }
}

impl InList {
    /// How many values an element has.
    fn width(&self) -> usize {
        self.operand.width().max(1)
    }

    /// Has something of it kept by the next number, if it may be worth it once there are values for its literals.
    pub(super) fn keep_keys(&mut self, next: &mut u32) {
        if self.may_be_kept() {
            self.number = Some(*next);
            *next += 1;
        }
    }

    fn may_be_kept(&self) -> bool {
        let is_given = |expr: &Expr| matches!(expr.kind, ExprKind::Slot(_) | ExprKind::Constant(_));
        let are_given = |element: &Expr| match &element.kind {
            ExprKind::Row(parts) => parts.iter().all(is_given),
            _ => is_given(element),
        };
        let mut comparers = self.comparers.chunks(self.width());
        let Some(first) = comparers.next() else { return false };
        let many = if self.width() == 1 { MANY } else { MANY_ROWS };
        self.integers.is_none()
            && self.list.len() >= many
            && first.iter().all(has_keys)
            && comparers.all(|others| others == first)
            && self.list.iter().all(are_given)
    }

    /// What is kept of it.
    fn keep<'v>(&'v self, row: &'v [Datum<'v>], env: &mut Env<'v, '_>) -> Result<KeptList> {
        if self.width() == 1 && matches!(self.operand.data_type, DataType::Integer { .. }) {
            let elements: Vec<Datum<'_>> =
                self.list.iter().map(|element| element.evaluate(row, env)).collect::<Result<_>>()?;
            let integer = |element: &Datum<'_>| if let Datum::Signed(number) = *element { Some(number) } else { None };
            if let Some(mut integers) = elements.iter().map(integer).collect::<Option<Vec<i64>>>() {
                integers.sort_unstable();
                return Ok(KeptList::Integers(integers.into()));
            }
        }
        let mut keys = KeptKeys::default();
        for element in &self.list {
            let values = element.row_values(row, env)?;
            if !keys.add(&values, &self.comparers[..values.len()], env.context) {
                return Ok(KeptList::Nothing);
            }
        }
        Ok(KeptList::Keys(keys))
    }

    /// Whether these values are in the list; `None` if that is unknown.
    fn find<'v>(&'v self, values: &[Datum<'v>], row: &'v [Datum<'v>], env: &mut Env<'v, '_>) -> Result<Option<bool>> {
        if let Some(number) = self.number {
            if let Some(None) = env.host.kept_value(number) {
                let list = self.keep(row, env)?;
                if let Some(place) = env.host.kept_value(number) {
                    *place = Some(Kept::List(list));
                }
            }
            if let Some(Some(Kept::List(list))) = env.host.kept_value(number)
                && let Some(found) = list.contains(values, &self.comparers[..values.len()], env.context)
            {
                return Ok(found);
            }
        }
        // (Converted once, and warned of once.)
        let mut number = None;
        let mut is_unknown = false;
        for (element, comparers) in self.list.iter().zip(self.comparers.chunks(values.len())) {
            let is_equal = match (values, comparers) {
                ([value], [comparer]) => {
                    operand!(element = element, row, env);
                    let value = match (comparer.kind, value) {
                        (Some(ComparisonType::Double), Datum::Text(..)) => {
                            number.get_or_insert_with(|| as_number(*value, env.context))
                        }
                        _ => value,
                    };
                    comparer.holds_at(ComparisonOperator::Equal, value, element, env.context)?
                }
                _ => rows_equal(values, &element.row_values(row, env)?, comparers, env.context)?,
            };
            match is_equal {
                Some(true) => return Ok(Some(true)),
                None => is_unknown = true,
                Some(false) => {}
            }
        }
        Ok((!is_unknown).then_some(false))
    }

    /// Whether it holds of a row; `None` if that is unknown.
    pub(super) fn holds<'v>(&'v self, row: &'v [Datum<'v>], env: &mut Env<'v, '_>) -> Result<Option<bool>> {
        let found = if let ExprKind::Row(_) = self.operand.kind {
            let values = self.operand.row_values(row, env)?;
            self.find(&values, row, env)?
        } else {
            operand!(operand = self.operand, row, env);
            match (operand, &self.integers) {
                (Datum::Null, _) => None,
                (Datum::Signed(sought), Some(integers)) => Some(integers.binary_search(sought).is_ok()),
                _ => self.find(std::slice::from_ref(operand), row, env)?,
            }
        };
        Ok(found.map(|found| found != self.negated))
    }
}
