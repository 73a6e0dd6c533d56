//! EXPLAIN: what a plan does, in the forms that MySQL prints.
//!
//! ```text
//!   plan --source (one table)--> traditional: a row for each source
//!                        \-----> tree: operations, as text or JSON; with what was measured
//! ```
//!
//! Above: `session::explain`. Below: plans, `measure`.
//!
//! # Source
//! The manual, "EXPLAIN Output Format"; texts recorded from MySQL 9.7. Costs are of our own making: a row is a tenth.

mod note;
mod source;
mod text;
mod traditional;
mod tree;

use crate::error::Result;
use crate::query::plan::selected_table::SelectedTable;
use crate::query::plan::{QueryPlan, SelectPlan, SourceKind, SourceName, Subquery};
use crate::query::run::inside::Running;
use crate::query::run::measure::Measures;

pub use note::query_note;
pub use traditional::Row as ExplainRow;

use traditional::Traditional;
use tree::{Node, Trees, json_text};

/// What a statement does, for EXPLAIN.
#[derive(Clone, Copy)]
pub enum Explained<'p> {
    /// A query.
    Query(&'p QueryPlan),
    /// INSERT or REPLACE: the verb, the table, and the query that it has its rows from.
    Insert(&'static str, &'p str, Option<&'p QueryPlan>),
    /// UPDATE or DELETE of one table: the verb, its rows, whether they are sorted.
    Change(&'static str, &'p SelectedTable, bool),
}

/// The rows of FORMAT=TRADITIONAL.
pub fn traditional(what: Explained<'_>, subqueries: &[Subquery], running: &mut Running<'_>) -> Result<Vec<ExplainRow>> {
    let mut all = Traditional { subqueries, running, last: 0, rows: Vec::new() };
    match what {
        Explained::Query(plan) => drop(all.query(plan, "SIMPLE", None)?),
        Explained::Insert(verb, table, query) => {
            let row = ExplainRow {
                id: 1,
                select_type: verb.to_uppercase(),
                table: Some(table.to_owned()),
                access: Some("ALL"),
                ..ExplainRow::default()
            };
            all.rows.push(row);
            if let Some(query) = query {
                all.query(query, "SIMPLE", None)?;
            }
        }
        Explained::Change(verb, selected, is_sorted) => {
            let mut row = row_of_change(verb, selected, all.running)?;
            if is_sorted {
                row.extra.push("Using filesort".to_owned());
            }
            all.rows.push(row);
        }
    }
    Ok(all.rows)
}

/// The row of an UPDATE or DELETE of one table.
fn row_of_change(verb: &str, selected: &SelectedTable, running: &mut Running<'_>) -> Result<ExplainRow> {
    let source = &selected.source;
    let SourceKind::Table(table) = &source.kind else { return Ok(ExplainRow::default()) };
    let names = SourceName {
        alias: table.table.name.as_str().into(),
        columns: table.table.columns.iter().map(|column| column.name.as_str().into()).collect(),
    };
    let select = SelectPlan { names: vec![names], ..SelectPlan::nothing() };
    let names = text::Names { select: &select, outside: None, is_full: false };
    let mut read = source::read_table(source, table, &source.conditions, selected.is_ordered, &names, running)?;
    // MySQL calls what it looks up a range here, and says that it asks again.
    if matches!(read.kind, source::Kind::Const | source::Kind::Ref) {
        read.kind = source::Kind::Range;
        read.residual.clone_from(&source.conditions);
        read.filtered = 100.0;
    }
    let mut row = ExplainRow::of(1, verb, &table.table.name, &read);
    if verb == "DELETE" && source.conditions.is_empty() && !selected.is_limited {
        row.extra.push("Deleting all rows".to_owned());
    }
    Ok(row)
}

/// The tree of a statement; with what was measured, if it has been run.
pub fn tree(
    what: Explained<'_>,
    subqueries: &[Subquery],
    running: &mut Running<'_>,
    measures: Option<&Measures>,
) -> Result<ExplainTree> {
    let mut trees = Trees { subqueries, running, measures, last: 0 };
    Ok(ExplainTree(match what {
        Explained::Query(plan) => trees.query(plan, None)?,
        Explained::Insert(verb, table, query) => {
            let input = match query {
                Some(query) => trees.query(query, None)?,
                None => Node { operation: "Rows fetched before execution".to_owned(), ..Node::default() },
            };
            Node { operation: format!("{verb} into {table}"), inputs: vec![input], ..Node::default() }
        }
        Explained::Change(..) => {
            Node { operation: "<not executable by iterator executor>".to_owned(), ..Node::default() }
        }
    }))
}

/// A tree of operations.
pub struct ExplainTree(Node);

impl ExplainTree {
    /// As FORMAT=TREE prints it.
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.0.append_tree(0, &mut out);
        out
    }

    /// As FORMAT=JSON prints it.
    pub fn json(&self, query: &str, query_type: &str) -> String {
        let mut out = format!("{{\n  \"query\": {},\n  \"query_plan\": ", json_text(query));
        self.0.append_json(2, &mut out);
        out.push_str(&format!(
            ",\n  \"query_type\": {},\n  \"json_schema_version\": \"2.0\"\n}}",
            json_text(query_type)
        ));
        out
    }

    /// What the whole did: for ANALYZE.
    pub fn set_measure(&mut self, measure: crate::query::run::measure::Measure) {
        self.0.measure = Some(measure);
    }
}
