//! Groups of which each is what is joined to one row of a table: GROUP BY a key of that table.
//!
//! ```text
//!   SELECT o.id, o.at, COUNT(*) FROM orders o JOIN items i ON i.order = o.id GROUP BY o.id ORDER BY o.at DESC LIMIT 20
//!
//!   orders, in the order that is wanted --row--> its items: a group, there at once --> the next row, until there are 20
//! ```
//! Otherwise all groups would be made and kept, to be put in order, though a few of them are wanted.
//!
//! # Invariants
//! 1. The join begins with the table: what is joined to one of its rows comes one behind the other.
//! 2. Keys that are columns of other tables have one value for all that is joined to one of its rows.

use std::collections::HashSet;

use meseta_engine::table::{IndexDefinition, TableIndex};

use crate::expression::Expr;
use crate::query::plan::{Join, Lookup, SortKey, Source, SourceKind};

/// The table of which a key is among those that rows are grouped by: a unique index without NULL.
pub fn table_of_keys(keys: &[Expr], sources: &[Source]) -> Option<usize> {
    let slots: HashSet<u32> = keys.iter().filter_map(Expr::as_column).collect();
    sources.iter().position(|source| {
        let SourceKind::Table(table) = &source.kind else { return false };
        let engine = table.table.engine();
        let definition = &engine.definition;
        // (One that is being built may turn out not to be unique.)
        let is_key = |(index, opened): (&IndexDefinition, &TableIndex)| {
            opened.build.is_none()
                && index.unique
                && !index.parts.is_empty()
                && index.parts.iter().all(|part| {
                    let column = usize::from(part.column);
                    part.prefix.is_none()
                        && !definition.columns[column].content.nullable
                        && slots.contains(&((source.first_slot + column) as u32))
                })
        };
        definition.indexes.iter().zip(&engine.indexes).any(is_key)
    })
}

/// Whether a join begins with this table, and all keys have one value for each of its rows.
pub fn are_of_rows(table: usize, keys: &[Expr], join: &Option<Join>, sources: &[Source]) -> bool {
    if join.as_ref().and_then(Join::first) != Some(table) {
        return false;
    }
    // With the tables of which one row is joined, found by what is known of that row.
    let mut known: HashSet<u32> = sources[table].slots().collect();
    while let Some(found) = sources.iter().find(|source| {
        let SourceKind::Table(table) = &source.kind else { return false };
        let is_known = |value: &Expr| {
            let mut is_known = true;
            value.columns(&mut |slot| is_known &= known.contains(&slot));
            is_known
        };
        table.access.is_one_point()
            && table.access.lookups().all(|lookup| matches!(lookup, Lookup::Value { value, .. } if is_known(value)))
            && !known.contains(&(source.first_slot as u32))
    }) {
        known.extend(found.slots());
    }
    keys.iter().all(|key| key.as_column().is_some_and(|slot| known.contains(&slot)))
}

/// Whether rows are ordered by columns of this source alone.
pub fn is_order_of(source: &Source, order: &[SortKey]) -> bool {
    let slots = source.slots();
    order.iter().all(|key| key.value.as_column().is_some_and(|slot| slots.contains(&slot)))
}
