//! ONLY_FULL_GROUP_BY: what a query of groups shows of each group must be the same in all of its rows.
//!
//! ```text
//!   GROUP BY t.id, ..  WHERE u.k = 3 AND u.t_id = t.id      determined: t.id, u.k, u.t_id
//!                                                           + all of t (t.id is its primary key) + ...
//! ```
//!
//! # Source
//! The manual, "MySQL Handling of GROUP BY" and "Detection of Functional Dependence".

use std::cell::Cell;
use std::collections::HashSet;

use meseta_errors::{
    ER_AGGREGATE_IN_ORDER_NOT_SELECT, ER_FIELD_IN_ORDER_NOT_SELECT, ER_MIX_OF_GROUP_FUNC_AND_FIELDS,
    ER_MIX_OF_GROUP_FUNC_AND_FIELDS_V2, ER_WRONG_FIELD_WITH_GROUP, ER_WRONG_FIELD_WITH_GROUP_V2,
};

use super::scope::Block;
use crate::error::{Error, Result};
use crate::expression::{BindFacts, ComparisonOperator, Expr, ExprKind};
use crate::query::plan::join_tree::Tree;
use crate::query::plan::{Body, QueryPlan, SelectPlan, SortKey, Source, SourceKind};

/// Slots that queries inside of items name.
#[derive(Default)]
pub struct Named {
    /// By the item's number.
    pub by_item: Vec<(usize, Vec<u32>)>,
}

/// A query that is checked.
pub struct Checked<'c> {
    /// Which expressions are one.
    pub likeness: &'c Likeness<'c>,
    /// What names mean in it.
    pub block: &'c Block,
    /// Its sources.
    pub sources: &'c [Source],
    /// How they are joined.
    pub tree: Option<&'c Tree>,
    /// WHERE.
    pub conditions: &'c [Expr],
    /// GROUP BY.
    pub keys: &'c [Expr],
    /// Slots from here on are of aggregates.
    pub first_slot: usize,
    /// Whether there is GROUP BY.
    pub has_keys: bool,
}

/// Tells whether two expressions are computed alike.
pub struct Likeness<'f> {
    /// The statement that they stand in.
    pub facts: BindFacts<'f>,
    /// Whether values of literals that were lifted out have decided: then the plan is not for other values.
    pub used_literals: Cell<bool>,
}

impl Likeness<'_> {
    /// Whether they are.
    pub fn same(&self, one: &Expr, other: &Expr) -> bool {
        match (&one.kind, &other.kind) {
            (ExprKind::Column(one), ExprKind::Column(other)) => one == other,
            (ExprKind::Column(_), _) | (_, ExprKind::Column(_)) => false,
            (one, other) if std::mem::discriminant(one) != std::mem::discriminant(other) => false,
            _ => self.text_of(one) == self.text_of(other),
        }
    }

    fn text_of(&self, expr: &Expr) -> String {
        let mut plain = expr.clone();
        self.put_literals(&mut plain);
        format!("{:?}", plain.kind)
    }

    fn put_literals(&self, expr: &mut Expr) {
        if let ExprKind::Slot(slot) = expr.kind {
            let number = slot.checked_sub(self.facts.first_lifted).map(|number| number as usize);
            if let Some(lifted) = number.and_then(|number| self.facts.lifted.get(number)) {
                let span = lifted.span.start as usize..lifted.span.end as usize;
                let text = self.facts.text.get(span).unwrap_or_default();
                self.used_literals.set(true);
                expr.kind = ExprKind::UserVariable(format!("literal {}", String::from_utf8_lossy(text)).into());
            }
        }
        expr.operands_mut(&mut |operand| self.put_literals(operand));
    }
}

/// Columns that determine others.
#[derive(Default)]
struct Dependencies {
    /// Each determines each.
    pairs: Vec<(u32, u32)>,
    /// The first determines the second.
    one_way: Vec<(u32, u32)>,
    determined: HashSet<u32>,
}

impl Checked<'_> {
    /// Errors: 1055, 1140.
    pub fn check(&self, items: &[Expr], named: &Named, having: &[Expr], order: &[SortKey]) -> Result<()> {
        let determined = self.determined();
        let undetermined = |slot: u32| (slot as usize) < self.first_slot && !determined.contains(&slot);
        for (at, item) in items.iter().enumerate() {
            let inside = named.by_item.iter().filter(|(number, _)| *number == at).flat_map(|(_, slots)| slots);
            let found = self.undetermined_in(item, &undetermined);
            if let Some(slot) = found.or_else(|| inside.copied().find(|&slot| undetermined(slot))) {
                return Err(self.refuse(at, "SELECT list", slot));
            }
        }
        for condition in having {
            if let Some(slot) = self.undetermined_in(condition, &undetermined) {
                return Err(self.refuse(0, "HAVING clause", slot));
            }
        }
        for (at, key) in order.iter().enumerate() {
            if let Some(slot) = self.undetermined_in(&key.value, &undetermined) {
                return Err(self.refuse(at, "ORDER BY clause", slot));
            }
        }
        Ok(())
    }

    /// Errors of DISTINCT: 3065, 3066.
    pub fn check_distinct(&self, items: &[Expr], order: &[SortKey]) -> Result<()> {
        for (at, key) in order.iter().enumerate() {
            if items.iter().any(|item| self.likeness.same(item, &key.value)) {
                continue;
            }
            let mut missing = None;
            key.value.columns(&mut |slot| {
                if missing.is_none() && !items.iter().any(|item| item.as_column() == Some(slot)) {
                    missing = Some(slot);
                }
            });
            match missing {
                Some(slot) if slot as usize >= self.first_slot => {
                    return Err(Error::new(ER_AGGREGATE_IN_ORDER_NOT_SELECT, &[&(at + 1), &"DISTINCT"]));
                }
                Some(slot) => {
                    let arguments: [&dyn std::fmt::Display; 3] = [&(at + 1), &self.name_of(slot), &"DISTINCT"];
                    return Err(Error::new(ER_FIELD_IN_ORDER_NOT_SELECT, &arguments));
                }
                None => {}
            }
        }
        Ok(())
    }

    fn refuse(&self, at: usize, place: &str, slot: u32) -> Error {
        let (code, text) = match self.has_keys {
            true => (ER_WRONG_FIELD_WITH_GROUP, ER_WRONG_FIELD_WITH_GROUP_V2),
            false => (ER_MIX_OF_GROUP_FUNC_AND_FIELDS, ER_MIX_OF_GROUP_FUNC_AND_FIELDS_V2),
        };
        Error { code, message: text.message(&[&(at + 1), &place, &self.name_of(slot)]) }
    }

    fn name_of(&self, slot: u32) -> String {
        let Some((source, column)) = self.block.column_of(slot) else { return String::new() };
        match &*source.database {
            "" => format!("{}.{}", source.alias, column.name),
            database => format!("{database}.{}.{}", source.alias, column.name),
        }
    }

    /// The first column that a group does not decide.
    fn undetermined_in(&self, expr: &Expr, undetermined: &dyn Fn(u32) -> bool) -> Option<u32> {
        if self.keys.iter().any(|key| self.likeness.same(key, expr)) {
            return None;
        }
        match &expr.kind {
            ExprKind::Column(slot) => undetermined(*slot).then_some(*slot),
            ExprKind::Call(call) if matches!(call.function.name, "any_value" | "grouping") => None,
            _ => {
                let mut found = None;
                expr.operands(&mut |operand| {
                    if found.is_none() {
                        found = self.undetermined_in(operand, undetermined);
                    }
                });
                found
            }
        }
    }

    /// The columns that the keys decide.
    fn determined(&self) -> HashSet<u32> {
        let mut known =
            Dependencies { determined: self.keys.iter().filter_map(Expr::as_column).collect(), ..Default::default() };
        self.conditions.iter().for_each(|condition| known.add(condition, None));
        if let Some(tree) = self.tree {
            self.of_tree(tree, &mut known);
        }
        loop {
            let before = known.determined.len();
            known.follow();
            for source in self.sources {
                let slots = source.slots();
                let is_decided = self
                    .unique_sets(source)
                    .iter()
                    .any(|set| set.iter().all(|column| known.determined.contains(&(slots.start + *column as u32))));
                if is_decided {
                    known.determined.extend(slots);
                }
            }
            if known.determined.len() == before {
                return known.determined;
            }
        }
    }

    fn of_tree(&self, tree: &Tree, known: &mut Dependencies) {
        match tree {
            Tree::Source(_) => {}
            Tree::Inner { inputs, conditions, .. } => {
                conditions.iter().for_each(|condition| known.add(condition, None));
                inputs.iter().for_each(|input| self.of_tree(input, known));
            }
            Tree::Left { left, right, on, .. } => {
                let weak = right.slots(self.sources);
                on.iter().for_each(|condition| known.add(condition, Some(&weak)));
                self.of_tree(left, known);
                self.of_tree(right, known);
            }
        }
    }
}

impl Dependencies {
    /// What a condition says that is true of all rows; in an ON of a LEFT JOIN, of the columns of its right side.
    fn add(&mut self, condition: &Expr, weak: Option<&HashSet<u32>>) {
        if let Some(column) = condition.as_is_null()
            && weak.is_none()
        {
            self.determined.insert(column);
        }
        let Some(comparison) = condition.as_comparisons().next() else { return };
        if comparison.operator != ComparisonOperator::Equal {
            return;
        }
        match (comparison.value.as_column(), weak) {
            (Some(other), None) => self.pairs.push((comparison.column, other)),
            (Some(other), Some(weak)) => {
                let column = comparison.column;
                match (weak.contains(&column), weak.contains(&other)) {
                    (true, false) => self.one_way.push((other, column)),
                    (false, true) => self.one_way.push((column, other)),
                    (true, true) => self.pairs.push((column, other)),
                    (false, false) => {}
                }
            }
            (None, None) if comparison.value.is_constant() => drop(self.determined.insert(comparison.column)),
            (None, _) => {}
        }
    }

    fn follow(&mut self) {
        for &(one, other) in &self.pairs {
            if self.determined.contains(&one) || self.determined.contains(&other) {
                self.determined.extend([one, other]);
            }
        }
        for (one, other) in &self.one_way {
            if self.determined.contains(one) {
                self.determined.insert(*other);
            }
        }
    }
}

impl Checked<'_> {
    /// Sets of columns that decide all columns of a source.
    fn unique_sets(&self, source: &Source) -> Vec<Vec<usize>> {
        match &source.kind {
            SourceKind::Table(table) => {
                let unique = table.table.indexes.iter().filter(|index| index.unique);
                let is_whole = |index: &&crate::schema::Index| {
                    index
                        .parts
                        .iter()
                        .all(|part| part.prefix.is_none() && !table.table.columns[usize::from(part.column)].nullable)
                };
                unique
                    .filter(is_whole)
                    .map(|index| index.parts.iter().map(|part| usize::from(part.column)).collect())
                    .collect()
            }
            SourceKind::Derived { plan, .. } => self.of_query(plan),
            SourceKind::Virtual(_) | SourceKind::Working(_) => Vec::new(),
        }
    }

    fn of_query(&self, plan: &QueryPlan) -> Vec<Vec<usize>> {
        let Body::Select(select) = &plan.body else { return Vec::new() };
        let place = |wanted: &Expr| select.items.iter().position(|item| self.likeness.same(item, wanted));
        match &select.group {
            Some(group) => group.keys.iter().map(place).collect::<Option<Vec<_>>>().into_iter().collect(),
            None => self.of_one_source(select),
        }
    }

    /// A query of one table has its unique keys, as far as they are shown.
    fn of_one_source(&self, select: &SelectPlan) -> Vec<Vec<usize>> {
        let [source] = &*select.sources else { return Vec::new() };
        let place = |column: &usize| {
            let slot = (source.first_slot + column) as u32;
            select.items.iter().position(|item| item.as_column() == Some(slot))
        };
        self.unique_sets(source).iter().filter_map(|set| set.iter().map(place).collect()).collect()
    }
}
