//! What names mean inside of a SELECT: its sources, those of the queries around it, aliases.
//!
//! ```text
//!   SELECT a, (SELECT max(b) FROM u WHERE u.a = t.a) FROM t
//!              \__ block 1: u ________________/ \__ found in block 0: a column of an outer row
//! ```

use std::collections::HashSet;

use meseta_errors::{ER_BAD_FIELD_ERROR, ER_NON_UNIQ_ERROR};
use meseta_parser::ast;
use meseta_types::{Collated, DataType};

use crate::error::{Error, Result};
use crate::expression::{Expr, ExprKind, ResolvedColumn};
use crate::name::{same_name, written};
use crate::query::plan::{Origin, SourceName};

/// A column of a source.
#[derive(Clone, Debug)]
pub struct SourceColumn {
    /// Its name.
    pub name: Box<str>,
    /// Its type.
    pub data_type: DataType,
    /// Whether it may be NULL in its source.
    pub nullable: bool,
    /// As of the [`OutputColumn`](crate::query::plan::OutputColumn) that it is, of a derived table.
    pub collated: Option<Collated>,
    /// Where it comes from.
    pub origin: Option<Origin>,
    /// Whether `*` leaves it out: an invisible column.
    pub is_hidden: bool,
}

/// A source, as names see it.
#[derive(Clone, Debug)]
pub struct NamedSource {
    /// Its database; empty for a derived table.
    pub database: Box<str>,
    /// Its alias, or its name.
    pub alias: Box<str>,
    /// Its first slot.
    pub first_slot: usize,
    /// Its columns, a slot each.
    pub columns: Vec<SourceColumn>,
    /// Whether an outer join may make all of them NULL.
    pub is_outer: bool,
    /// Columns that NATURAL or USING made one with those of a source before: a bare name does not mean them.
    pub merged: Vec<usize>,
}

impl NamedSource {
    /// Whether a qualified name, or a bare one, may mean a column of this source.
    fn may_be(&self, name: &ast::ColumnName<'_>) -> bool {
        name.table.is_none_or(|table| *self.alias.as_bytes() == *table.text.0)
            && name.schema.is_none_or(|schema| *self.database.as_bytes() == *schema.text.0)
    }
}

/// The sources of one SELECT.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// In the order in which they were written.
    pub sources: Vec<NamedSource>,
    /// Slots that have been named, from inside too.
    pub used: HashSet<u32>,
    /// Slots that have been named from inside, in this order.
    pub named_inside: Vec<u32>,
    /// The first source that names can mean: those before it are not in sight of a join's ON.
    pub visible_from: usize,
    /// Whether what is being bound may have aggregates: one of a query inside, of this block's columns, is this block's.
    pub may_aggregate: bool,
}

impl Block {
    /// The column that has a slot, and its source; `None` of a slot that no column has.
    pub fn column_of(&self, slot: u32) -> Option<(&NamedSource, &SourceColumn)> {
        let slot = slot as usize;
        let source = self.sources.iter().rfind(|source| source.first_slot <= slot)?;
        Some((source, source.columns.get(slot - source.first_slot)?))
    }

    /// What each source is called: for EXPLAIN.
    pub fn names(&self) -> Vec<SourceName> {
        let name = |source: &NamedSource| SourceName {
            alias: source.alias.clone(),
            columns: source.columns.iter().map(|column| column.name.clone()).collect(),
        };
        self.sources.iter().map(name).collect()
    }

    /// Its slots, as expressions: all columns of all sources.
    pub fn slots(&self) -> impl Iterator<Item = Expr> {
        self.sources.iter().flat_map(|source| {
            let columns = source.columns.iter().enumerate();
            columns.map(|(at, column)| Expr::slot((source.first_slot + at) as u32, column.data_type.clone(), true))
        })
    }

    /// Slots of all sources.
    pub fn width(&self) -> usize {
        self.sources.last().map_or(0, |source| source.first_slot + source.columns.len())
    }

    /// The source and the number of the column that a name means here.
    pub fn find(&self, name: &ast::ColumnName<'_>, place: &str) -> Result<Option<(&NamedSource, usize)>> {
        let mut found = None;
        for source in self.sources.iter().skip(self.visible_from).filter(|source| source.may_be(name)) {
            for (number, column) in source.columns.iter().enumerate() {
                if !same_name(column.name.as_bytes(), name.column.text.0)
                    || (name.table.is_none() && source.merged.contains(&number))
                {
                    continue;
                }
                if found.replace((source, number)).is_some() {
                    return Err(Error::new(ER_NON_UNIQ_ERROR, &[&written(name), &place]));
                }
            }
        }
        Ok(found)
    }
}

/// What a name means in the innermost block, or in one around it; and the number of that block.
pub fn resolve(blocks: &mut [Block], name: &ast::ColumnName<'_>, place: &str) -> Result<(usize, ResolvedColumn)> {
    for level in 0..blocks.len() {
        let at = blocks.len() - 1 - level;
        let Some((source, number)) = blocks[at].find(name, place)? else { continue };
        let column = &source.columns[number];
        let slot = (source.first_slot + number) as u32;
        let kind = match level {
            0 => ExprKind::Column(slot),
            _ => ExprKind::Outer { level: level as u32 - 1, column: slot },
        };
        let nullable = column.nullable || source.is_outer;
        let resolved =
            ResolvedColumn { kind, data_type: column.data_type.clone(), nullable, collated: column.collated };
        blocks[at].used.insert(slot);
        if level > 0 {
            blocks[at].named_inside.push(slot);
        }
        return Ok((at, resolved));
    }
    Err(Error::new(ER_BAD_FIELD_ERROR, &[&written(name), &place]))
}
