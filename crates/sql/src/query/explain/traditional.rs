//! EXPLAIN FORMAT=TRADITIONAL: a row for each source.

use super::source::{Kind, Read, Skips, read, table_of};
use super::text::Names;
use crate::error::Result;
use crate::expression::{Expr, ExprKind};
use crate::query::plan::join_tree::Shows;
use crate::query::plan::{Body, GroupPlan, Join, QueryPlan, SelectPlan, SourceKind, Subquery, TableSource};
use crate::query::planner::estimate::share_of;
use crate::query::run::inside::Running;
use meseta_parser::ast::SetOperator;

/// One row; what is not known is NULL.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// The number of its SELECT.
    pub id: u64,
    /// SIMPLE, PRIMARY, ...
    pub select_type: String,
    /// The alias.
    pub table: Option<String>,
    /// const, eq_ref, ...
    pub access: Option<&'static str>,
    /// Indexes that could be used.
    pub possible_keys: Option<String>,
    /// The one that is.
    pub key: Option<String>,
    /// Bytes of it that are used.
    pub key_len: Option<String>,
    /// What it is compared with.
    pub reference: Option<String>,
    /// Rows that are read, about.
    pub rows: Option<u64>,
    /// How many of a hundred remain, about.
    pub filtered: Option<f64>,
    /// What else there is to say.
    pub extra: Vec<String>,
}

impl Row {
    /// A row of a table that is read so.
    pub fn of(id: u64, select_type: &str, alias: &str, read: &Read) -> Row {
        let joined = |names: &[String]| (!names.is_empty()).then(|| names.join(","));
        let mut extra = Vec::new();
        if let (Kind::IndexMerge, Some(keys)) = (read.kind, &read.key) {
            extra.push(format!("Using {}union({keys})", if read.is_in_key_order { "" } else { "sort_" }));
        }
        if !read.residual.is_empty() {
            extra.push("Using where".to_owned());
        }
        if read.is_backward {
            extra.push("Backward index scan".to_owned());
        }
        if read.is_covering {
            let what = match read.skips {
                None => "Using index",
                Some(Skips::Deduplication | Skips::Grouping) => "Using index for group-by",
                Some(Skips::Range) => "Using index for skip scan",
            };
            extra.push(what.to_owned());
        }
        Row {
            id,
            select_type: select_type.to_owned(),
            table: Some(alias.to_owned()),
            access: Some(read.kind.name()),
            possible_keys: joined(&read.possible),
            key: read.key.clone(),
            key_len: read.key_len.clone(),
            reference: joined(&read.references),
            rows: Some(read.rows.round() as u64),
            filtered: Some(read.filtered),
            extra,
        }
    }

    /// A row that says one thing.
    fn saying(id: u64, select_type: &str, what: &str) -> Row {
        Row { id, select_type: select_type.to_owned(), extra: vec![what.to_owned()], ..Row::default() }
    }
}

/// Explains a query and those inside of it.
pub struct Traditional<'x, 'r> {
    /// Queries inside of expressions.
    pub subqueries: &'x [Subquery],
    /// What estimates.
    pub running: &'x mut Running<'r>,
    /// The number of the last SELECT.
    pub last: u64,
    /// The rows so far.
    pub rows: Vec<Row>,
}

/// Which rows an outer join shows whose right side is this source alone, and whether something must hold before.
fn outer_of(join: &Join, number: usize) -> Option<(Shows, bool)> {
    match join {
        Join::Source(_) => None,
        Join::Inner(joins) => joins.iter().find_map(|join| outer_of(join, number)),
        Join::Left { right, shows, when, .. } if matches!(**right, Join::Source(alone) if alone == number) => {
            Some((*shows, !when.is_empty()))
        }
        Join::Left { left, right, .. } => outer_of(left, number).or_else(|| outer_of(right, number)),
        Join::Filter { input, .. } | Join::First(input) => outer_of(input, number),
    }
}

/// Whether a source is looked for once for each row of those before.
fn is_looked_for_once(join: &Join, number: usize) -> bool {
    match join {
        Join::Source(_) => false,
        Join::Inner(joins) => joins.iter().any(|join| is_looked_for_once(join, number)),
        Join::Left { left, right, .. } => [left, right].into_iter().any(|join| is_looked_for_once(join, number)),
        Join::Filter { input, .. } => is_looked_for_once(input, number),
        Join::First(input) => input.numbers().contains(&number),
    }
}

/// What is asked of the rows of the source that a join begins with, behind their sort.
fn asked_behind(join: &Join, number: usize) -> &[Expr] {
    match join {
        Join::Source(_) => &[],
        Join::Inner(joins) => joins.first().map_or(&[], |join| asked_behind(join, number)),
        Join::Left { left, .. } => asked_behind(left, number),
        Join::Filter { input, conditions } if matches!(**input, Join::Source(first) if first == number) => conditions,
        Join::Filter { input, .. } | Join::First(input) => asked_behind(input, number),
    }
}

/// Queries inside of an expression: their numbers.
pub fn subqueries_in(expr: &Expr, out: &mut Vec<u32>) {
    let number = match &expr.kind {
        ExprKind::Subquery(query) | ExprKind::Exists(query) => Some(query.number),
        ExprKind::InSubquery(inside) => Some(inside.query.number),
        ExprKind::Quantified(inside) => Some(inside.query.number),
        _ => None,
    };
    if let Some(number) = number
        && !out.contains(&number)
    {
        out.push(number);
    }
    expr.operands(&mut |operand| subqueries_in(operand, out));
}

/// What a condition without columns comes to, if that is known: false means that there are no rows.
pub fn is_impossible(select: &SelectPlan) -> bool {
    select.constant.iter().any(|condition| {
        condition.as_constant().is_some_and(|value| {
            value.is_null() || matches!(value, meseta_types::Datum::Signed(0) | meseta_types::Datum::Unsigned(0))
        })
    })
}

/// Whether all that is wanted is the least and the greatest of one column, at the ends of an index, or of a part of it.
fn takes_ends(group: &GroupPlan, table: &TableSource) -> bool {
    let are_ends = table.access.loose.is_some_and(|scan| scan.parts == table.access.equal.len());
    !group.ends.is_empty()
        || are_ends && group.keys.is_empty() && !group.aggregates.iter().any(|aggregate| aggregate.distinct)
}

impl Traditional<'_, '_> {
    /// Explains a query. Returns the number of its first SELECT.
    pub fn query(&mut self, plan: &QueryPlan, select_type: &str, outside: Option<&Names<'_>>) -> Result<u64> {
        match &plan.body {
            Body::Select(select) => self.select(select, select_type, outside),
            Body::Values(_) => {
                self.last += 1;
                self.rows.push(Row::saying(self.last, select_type, "No tables used"));
                Ok(self.last)
            }
            Body::Nested(query) => self.query(query, select_type, outside),
            Body::Recursive(recursive) => {
                let parts = recursive.seeds.iter().chain(&recursive.steps);
                let first = self.last + 1;
                for (at, part) in parts.enumerate() {
                    self.query(part, if at == 0 { select_type } else { "UNION" }, outside)?;
                }
                Ok(first)
            }
            Body::SetOperation(set) => {
                let name = match set.operator {
                    SetOperator::Union => "UNION",
                    SetOperator::Intersect => "INTERSECT",
                    SetOperator::Except => "EXCEPT",
                };
                let first_type = if select_type == "SIMPLE" { "PRIMARY" } else { select_type };
                let first = self.query(&set.sides[0], first_type, outside)?;
                let second = self.query(&set.sides[1], name, outside)?;
                let keeps = set.operator != SetOperator::Union || !set.all;
                if keeps || !plan.order.is_empty() {
                    self.last += 1;
                    let mut extra = vec!["Using temporary".to_owned()];
                    if !plan.order.is_empty() {
                        extra.push("Using filesort".to_owned());
                    }
                    let table = format!("<{}{first},{second}>", name.to_lowercase());
                    let select_type = format!("{name} RESULT");
                    let access = Some("ALL");
                    self.rows.push(Row {
                        id: self.last,
                        select_type,
                        table: Some(table),
                        access,
                        extra,
                        ..Row::default()
                    });
                }
                Ok(first)
            }
        }
    }

    fn select(&mut self, select: &SelectPlan, select_type: &str, outside: Option<&Names<'_>>) -> Result<u64> {
        self.last += 1;
        let id = self.last;
        let names = Names { select, outside, is_full: false };
        let first_row = self.rows.len();
        let order = select.join.as_ref().map_or(Vec::new(), Join::numbers);
        let mut derived = Vec::new();
        let mut is_told = false;
        if is_impossible(select) {
            self.rows.push(Row::saying(id, select_type, "Impossible WHERE"));
            is_told = true;
        } else if order.is_empty() {
            self.rows.push(Row::saying(id, select_type, "No tables used"));
            is_told = true;
        }
        let mut before: Option<&str> = None;
        for &number in order.iter().filter(|_| !is_told) {
            let source = &select.sources[number];
            let alias = select.names.get(number).map_or("", |name| &name.alias);
            let hash = select.hashes.get(number).and_then(Option::as_ref);
            let mut row = match &source.kind {
                SourceKind::Table(_) => {
                    let Some(table) = table_of(source) else { continue };
                    let read = read(select, number, source, table, &names, self.running)?;
                    let takes_end = select.group.as_ref().is_some_and(|group| takes_ends(group, table));
                    let mut row = Row::of(id, select_type, alias, &read);
                    if takes_end && (read.residual.is_empty() || read.kind == Kind::Range) {
                        row = Row::saying(id, select_type, "Select tables optimized away");
                    }
                    let behind = select.join.as_ref().map_or(&[][..], |join| asked_behind(join, number));
                    if !behind.is_empty() && read.residual.is_empty() {
                        row.extra.insert(0, "Using where".to_owned());
                    }
                    row.filtered = row.filtered.map(|filtered| filtered * behind.iter().map(share_of).product::<f64>());
                    row
                }
                SourceKind::Derived { plan, .. } => {
                    derived.push((self.rows.len(), &**plan));
                    Row {
                        rows: Some(2),
                        filtered: Some(100.0),
                        access: Some("ALL"),
                        ..Row::saying(id, select_type, "")
                    }
                }
                SourceKind::Virtual(_) | SourceKind::Working(_) => {
                    let table = Some(alias.to_owned());
                    Row { table, access: Some("ALL"), ..Row::saying(id, select_type, "") }
                }
            };
            row.extra.retain(|what| !what.is_empty());
            let outer = select.join.as_ref().and_then(|join| outer_of(join, number));
            let behind = match outer {
                Some((Shows::Unmatched, _)) => Some("Not exists".to_owned()),
                Some((Shows::Matched, _)) => before.map(|before| format!("FirstMatch({before})")),
                Some((Shows::All, _)) | None => None,
            };
            if outer.is_some_and(|(_, asks_first)| asks_first) && !row.extra.iter().any(|what| what == "Using where") {
                row.extra.insert(0, "Using where".to_owned());
            }
            if let Some(behind) = behind {
                row.extra.retain(|what| what != "Using where");
                row.extra.splice(0..0, ["Using where".to_owned(), behind]);
            }
            if table_of(source).is_none()
                && hash.map_or(!source.conditions.is_empty(), |hash| !hash.conditions.is_empty())
            {
                row.extra.push("Using where".to_owned());
            }
            if select.join.as_ref().is_some_and(|join| is_looked_for_once(join, number)) {
                row.extra.push("Distinct".to_owned());
            }
            if hash.is_some() {
                row.extra.push("Using join buffer (hash join)".to_owned());
            }
            self.rows.push(row);
            before = Some(alias);
        }
        let is_kept = |group: &GroupPlan| !group.keys.is_empty() && (!group.is_sorted || !select.order.is_empty());
        if !is_told && let Some(row) = self.rows.get_mut(first_row) {
            let sorts_join = !select.order.is_empty() && select.sources.len() > 1 && select.early_sort.is_none();
            if select.group.as_ref().is_some_and(is_kept) || select.distinct || sorts_join {
                row.extra.push("Using temporary".to_owned());
            }
            if !select.order.is_empty() {
                row.extra.push("Using filesort".to_owned());
            }
        }
        for (row, plan) in derived {
            let around = Names { select, outside, is_full: false };
            let number = self.query(plan, "DERIVED", Some(&around))?;
            self.rows[row].table = Some(format!("<derived{number}>"));
        }
        let mut inside = Vec::new();
        expressions_of(select, &mut |expr| subqueries_in(expr, &mut inside));
        for number in inside {
            let Some(subquery) = self.subqueries.get(number as usize) else { continue };
            let select_type = if subquery.is_correlated { "DEPENDENT SUBQUERY" } else { "SUBQUERY" };
            self.query(&subquery.plan, select_type, Some(&names))?;
        }
        if select_type == "SIMPLE" && self.last > id {
            self.rows[first_row..].iter_mut().filter(|row| row.id == id).for_each(|row| {
                row.select_type = "PRIMARY".to_owned();
            });
        }
        Ok(id)
    }
}

/// The expressions of a SELECT, but for those of derived tables.
pub fn expressions_of<'s>(select: &'s SelectPlan, f: &mut dyn FnMut(&'s Expr)) {
    for source in &select.sources {
        source.conditions.iter().for_each(&mut *f);
    }
    select.hashes.iter().flatten().flat_map(|hash| &hash.conditions).for_each(&mut *f);
    select.join.iter().for_each(|join| join.expressions(f));
    select.constant.iter().chain(&select.having).chain(&select.items).for_each(&mut *f);
    select.order.iter().for_each(|key| f(&key.value));
    if let Some(group) = &select.group {
        group.keys.iter().for_each(&mut *f);
        group.aggregates.iter().flat_map(|call| &call.arguments).for_each(f);
    }
}
