//! SHOW ... WHERE: which of the rows that a SHOW has are shown.

use bumpalo::Bump;
use meseta_parser::ast::{Show, ShowFilter};
use meseta_types::Datum;

use super::{Parameters, Session};
use crate::error::Result;
use crate::query::{OutputColumn, bind_filter, holds};
use crate::schema::information::{Cell, Rows};

/// Columns as a client is told of them.
pub(super) fn output_columns(rows: &Rows) -> Vec<OutputColumn> {
    let column = |(name, column): &(String, crate::schema::information::VirtualColumn)| {
        OutputColumn::new(name, column.data_type.clone(), column.nullable)
    };
    rows.columns.iter().map(column).collect()
}

impl Session {
    /// The rows for which the WHERE of a SHOW holds; all, if it has none. Errors: those of binding it, 1054 first.
    pub(super) fn rows_where(&mut self, mut rows: Rows, show: &Show<'_>, text: &[u8]) -> Result<Rows> {
        let Some(ShowFilter::Where(condition)) = &show.filter else { return Ok(rows) };
        let columns = output_columns(&rows);
        let facts = self.bind_facts(text, Parameters::default());
        let mut tables = self.tables();
        let (condition, subqueries) = bind_filter(condition, &columns, facts, &mut tables)?;
        let condition = [condition];
        let mut running = self.running(&[], &subqueries);
        let mut arena = Bump::new();
        let mut kept = Vec::new();
        for row in rows.rows {
            arena.reset();
            let values: Vec<Datum<'_>> = row.iter().map(Cell::datum).collect();
            if holds(&condition, &values, &[], &mut running, &arena)? {
                kept.push(row);
            }
        }
        rows.rows = kept;
        Ok(rows)
    }
}
