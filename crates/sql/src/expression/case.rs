//! CASE.
//!
//! ```text
//!   CASE id WHEN 7 THEN a WHEN ? THEN b .. END          branches are asked one by one; of many, the operand's key tells which
//!   CASE WHEN id = 7 THEN a WHEN id = ? THEN b .. END   the same
//! ```
//! Bulk updates are written so: a row that is compared with a thousand keys is not compared with them one by one. The keys of literals and
//! parameters are kept from row to row, as of IN ([`super::in_list`]).
//!
//! # Invariants
//! 1. What is answered is what asking one by one answers. (What a branch's value warns of is told once, not for each row.)

use std::cell::Cell;

use meseta_types::{Context, Datum};

use super::comparer::{Comparer, ComparisonOperator};
use super::comparison_key::{Keyed, append_comparison_key, has_keys};
use super::key_numbers::KeyNumbers;
use super::kind::{Case, ExprKind};
use super::once::Kept;
use super::{Env, Expr};
use crate::error::Result;

/// So many branches there are where keys are kept.
const MANY: usize = 8;

/// What is kept from row to row.
pub enum KeptCase {
    /// The keys of branches' values.
    Branches(Branches),
    /// Nothing: a value has no key.
    Nothing,
}

/// The first branch that has a value, by its key.
#[derive(Default)]
pub struct Branches {
    keys: KeyNumbers,
    /// For each key.
    branches: Vec<usize>,
    /// Memory for a key that is asked for.
    spare: Cell<Vec<u8>>,
}

impl Branches {
    /// The branch of a value, if one has it; `None` if they have to be asked.
    fn find(&self, value: Datum<'_>, comparer: &Comparer, context: &mut Context) -> Option<Option<usize>> {
        let mut key = self.spare.take();
        key.clear();
        let found = match append_comparison_key(value, comparer, context, &mut key) {
            Keyed::Yes => Some(self.keys.get(&key).map(|number| self.branches[number])),
            Keyed::Null => Some(None),
            Keyed::No => None,
        };
        self.spare.set(key);
        found
    }
}

/// Whether it is a literal or a parameter.
fn is_given(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Slot(_) | ExprKind::Constant(_))
}

impl Case {
    /// Has keys kept by the next number, if it is one whose branches are many values that one is compared with.
    pub(super) fn keep_keys(&mut self, next: &mut u32) {
        if self.branches.len() < MANY {
            return;
        }
        if self.operand.is_none()
            && let Some((operand, comparer)) = self.compared_column()
        {
            self.operand = Some(operand.clone());
            for (condition, compared, _) in &mut self.branches {
                let ExprKind::Compare(compare) = &condition.kind else { unreachable!("it is a comparison") };
                (*compared, *condition) = (comparer, compare.right.clone());
            }
        }
        let (_, first, _) = &self.branches[0];
        let has_keys = self.operand.is_some()
            && has_keys(first)
            && self.branches.iter().all(|(condition, comparer, _)| comparer == first && is_given(condition));
        if has_keys {
            self.number = Some(*next);
            *next += 1;
        }
    }

    /// The column that all conditions compare with something given, in one way.
    fn compared_column(&self) -> Option<(Expr, Comparer)> {
        let comparison = |condition: &Expr| match &condition.kind {
            ExprKind::Compare(compare) if compare.operator == ComparisonOperator::Equal => {
                Some((compare.left.as_column().filter(|_| is_given(&compare.right))?, compare.comparer))
            }
            _ => None,
        };
        let (condition, ..) = self.branches.first()?;
        let ExprKind::Compare(compare) = &condition.kind else { return None };
        let first = comparison(condition)?;
        let are_alike = self.branches.iter().all(|(condition, ..)| comparison(condition) == Some(first));
        are_alike.then(|| (compare.left.clone(), first.1))
    }

    /// The keys of all branches.
    fn keep<'v>(&'v self, row: &'v [Datum<'v>], env: &mut Env<'v, '_>) -> Result<KeptCase> {
        let mut kept = Branches::default();
        for (branch, (condition, comparer, _)) in self.branches.iter().enumerate() {
            let value = condition.evaluate(row, env)?;
            let key = kept.spare.get_mut();
            key.clear();
            match append_comparison_key(value, comparer, env.context, key) {
                Keyed::Yes => {
                    if kept.keys.of(key).1 {
                        kept.branches.push(branch);
                    }
                }
                Keyed::Null => {}
                Keyed::No => return Ok(KeptCase::Nothing),
            }
        }
        Ok(KeptCase::Branches(kept))
    }

    /// Which branch is taken, if one is.
    fn branch<'v>(&'v self, row: &'v [Datum<'v>], env: &mut Env<'v, '_>) -> Result<Option<usize>> {
        let Some(operand) = &self.operand else {
            for (branch, (condition, ..)) in self.branches.iter().enumerate() {
                if condition.evaluate(row, env)?.is_taken(env.context) {
                    return Ok(Some(branch));
                }
            }
            return Ok(None);
        };
        let operand = operand.evaluate(row, env)?;
        if let Some(number) = self.number {
            if let Some(None) = env.host.kept_value(number) {
                let kept = self.keep(row, env)?;
                if let Some(place) = env.host.kept_value(number) {
                    *place = Some(Kept::Case(kept));
                }
            }
            if let Some(Some(Kept::Case(KeptCase::Branches(kept)))) = env.host.kept_value(number)
                && let Some(found) = kept.find(operand, &self.branches[0].1, env.context)
            {
                return Ok(found);
            }
        }
        for (branch, (condition, comparer, _)) in self.branches.iter().enumerate() {
            let condition = condition.evaluate(row, env)?;
            if comparer.equal(operand, condition, env.context)? == Some(true) {
                return Ok(Some(branch));
            }
        }
        Ok(None)
    }

    pub(super) fn evaluate<'v>(&'v self, row: &'v [Datum<'v>], env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
        match (self.branch(row, env)?, &self.otherwise) {
            (Some(branch), _) => self.branches[branch].2.evaluate(row, env),
            (None, Some(otherwise)) => otherwise.evaluate(row, env),
            (None, None) => Ok(Datum::Null),
        }
    }
}
