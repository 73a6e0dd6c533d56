//! WHERE over rows that are at hand: that of SHOW.

use meseta_parser::ast;

use super::scope::{NamedSource, SourceColumn};
use super::{Binder, Place};
use crate::error::Result;
use crate::expression::{BindFacts, Expr};
use crate::query::plan::{OutputColumn, Subquery};
use crate::query::planner::tables::Tables;

/// Binds a condition over rows of these columns, a slot each. Returns the queries inside of it, too.
pub fn bind_filter<'a>(
    condition: &'a ast::Expression<'a>,
    columns: &[OutputColumn],
    facts: BindFacts<'a>,
    tables: &mut dyn Tables,
) -> Result<(Expr, Vec<Subquery>)> {
    let columns = columns.iter().map(|column| SourceColumn {
        name: String::from_utf8_lossy(&column.name).into(),
        data_type: column.data_type.clone(),
        nullable: column.nullable,
        collated: column.collated,
        origin: None,
        is_hidden: false,
    });
    let source = NamedSource {
        database: "".into(),
        alias: "".into(),
        first_slot: 0,
        columns: columns.collect(),
        is_outer: false,
        merged: Vec::new(),
    };
    let mut binder = Binder::new(facts, tables);
    binder.push_source(source);
    let bound = binder.expression(condition, Place::plain("where clause"))?;
    Ok((bound, binder.subqueries))
}
