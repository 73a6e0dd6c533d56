//! Right sides of outer joins that are not read: nothing asks for their columns, and they change nothing in how often a row comes.
//!
//! ```text
//!   SELECT COUNT(*) FROM post p LEFT JOIN user u ON u.id = p.user            each p once, whether there is a u or not: p
//!   SELECT DISTINCT u.name FROM user u LEFT JOIN post p ON p.user = u.id     however often: u
//! ```
//! A view, or who maps tables to objects, joins all that may be wanted; a query wants a part of it.
//!
//! # Invariants
//! 1. A right side goes only if it is a table of which ON names the whole of a unique key, or if it does not matter how often a row comes.
//! 2. Nothing but its own ON names its columns, and that does the same whether it is asked or not.
//! 3. The first source stays, and so do the slots of the others: those of what has gone are in no row.
//!
//! # Source
//! MariaDB's manual, "Table Elimination".

use std::collections::HashSet;

use super::equal_columns::columns_and_others;
use super::first_match::counts_once;
use crate::expression::Expr;
use crate::query::plan::bound::BoundSelect;
use crate::query::plan::join_tree::{Shows, Tree};
use crate::query::plan::{Source, SourceKind};

/// Takes from a query the right sides of outer joins that it does not need.
pub fn eliminate(select: &mut BoundSelect) {
    let stays = |source: &Source| source.is_locked() || source.is_lateral() || source.keeps_row.is_some();
    if select.sources.len() < 2 || select.shows_all || select.sources.iter().any(stays) {
        return;
    }
    let counts_once = counts_once(select);
    let Some(tree) = select.tree.take() else { return };
    let mut needed = HashSet::from([0]);
    select.expressions(&mut |expr| name(expr, &select.sources, &mut needed));
    let mut tree = Elimination { sources: &select.sources, counts_once }.of(tree, needed);
    let left = tree.numbers();
    if left.len() < select.sources.len() {
        tree.renumber(&mut |number| Tree::Source((0..number).filter(|before| left.contains(before)).count()));
        let (mut sources, mut names) = (0.., 0..);
        select.sources.retain(|_| sources.next().is_some_and(|number| left.contains(&number)));
        select.names.retain(|_| names.next().is_some_and(|number| left.contains(&number)));
    }
    select.tree = Some(tree);
}

struct Elimination<'s> {
    sources: &'s [Source],
    /// Whether it does not matter how often a row comes.
    counts_once: bool,
}

impl Elimination<'_> {
    /// A tree without what is not needed; what is outside of it needs these sources.
    fn of(&self, tree: Tree, mut needed: HashSet<usize>) -> Tree {
        match tree {
            Tree::Source(_) => tree,
            Tree::Inner { inputs, conditions, keeps_order } => {
                conditions.iter().for_each(|condition| name(condition, self.sources, &mut needed));
                let inputs = inputs.into_iter().map(|input| self.of(input, needed.clone())).collect();
                Tree::Inner { inputs, conditions, keeps_order }
            }
            Tree::Left { left, ref right, ref on, shows: Shows::All } if self.may_go(right, on, &needed) => {
                self.of(*left, needed)
            }
            Tree::Left { left, right, on, shows } => {
                on.iter().for_each(|condition| name(condition, self.sources, &mut needed));
                // (ON inside a query of EXISTS that has been joined names what is around it.)
                right.conditions(&mut |condition| name(condition, self.sources, &mut needed));
                let [left, right] = [left, right].map(|side| Box::new(self.of(*side, needed.clone())));
                Tree::Left { left, right, on, shows }
            }
        }
    }

    fn may_go(&self, right: &Tree, on: &[Expr], needed: &HashSet<usize>) -> bool {
        let mut is_repeatable = on.iter().all(|condition| !condition.is_of_each_row());
        right.conditions(&mut |condition| is_repeatable &= !condition.is_of_each_row());
        let matches_one = || matches!(right, Tree::Source(number) if matches_one(&self.sources[*number], on));
        is_repeatable && right.numbers().is_disjoint(needed) && (self.counts_once || matches_one())
    }
}

/// Notes the sources that an expression names.
fn name(expr: &Expr, sources: &[Source], named: &mut HashSet<usize>) {
    expr.columns_looked_at(&mut |slot| named.extend(Source::position_of(sources, slot)));
}

/// Whether one row of a source at the most meets conditions: each column of a unique key is equal to something else.
fn matches_one(source: &Source, on: &[Expr]) -> bool {
    let SourceKind::Table(table) = &source.kind else { return false };
    let own = source.slots();
    let is_told = |column: u16| {
        on.iter().flat_map(columns_and_others).any(|(slot, other)| {
            let mut names_own = false;
            other.columns_looked_at(&mut |slot| names_own |= own.contains(&slot));
            slot == own.start + u32::from(column) && !names_own
        })
    };
    let mut keys = table.table.indexes.iter().filter(|index| index.unique);
    keys.any(|key| key.parts.iter().all(|part| part.prefix.is_none() && is_told(part.column)))
}
