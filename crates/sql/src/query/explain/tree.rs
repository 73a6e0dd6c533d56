//! EXPLAIN FORMAT=TREE and JSON: what the executor does, as a tree of operations; with ANALYZE, what it did.
//!
//! ```text
//!   -> Sort: t.c  (cost=2.46 rows=11)
//!       -> Filter: (t.id between 10 and 20)  (cost=2.46 rows=11)
//!           -> Index range scan on t using PRIMARY over (10 <= id <= 20)  (cost=2.46 rows=11)
//! ```

use std::fmt::Write as _;

use super::source::{Kind, Read, Skips, order_text, read};
use super::text::Names;
use super::traditional::{expressions_of, is_impossible, subqueries_in};
use crate::error::Result;
use crate::expression::Expr;
use crate::query::plan::join_tree::Shows;
use crate::query::plan::{
    Body, HashPlan, Join, LimitPlan, QueryPlan, SelectPlan, SortKey, Source, SourceKind, Subquery,
};
use crate::query::run::inside::Running;
use crate::query::run::measure::{Measure, Measures};
use meseta_parser::ast::SetOperator;

/// An operation.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// What it does.
    pub operation: String,
    /// Of which kind it is, for JSON.
    pub access_type: &'static str,
    /// What else JSON has: names and texts that are JSON already.
    pub details: Vec<(&'static str, String)>,
    /// About what it costs and how many rows it yields.
    pub estimate: Option<(f64, f64)>,
    /// What it did.
    pub measure: Option<Measure>,
    /// What it works on.
    pub inputs: Vec<Node>,
}

/// A text in JSON.
pub fn json_text(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            control if control < ' ' => drop(write!(out, "\\u{:04x}", control as u32)),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

fn json_list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| json_text(text)).collect();
    format!("[{}]", texts.join(", "))
}

/// A number as MySQL prints costs: three digits that count.
fn number(value: f64) -> String {
    if value >= 100.0 || value == value.round() {
        return format!("{}", value.round());
    }
    let decimals = if value >= 10.0 { 1 } else { 2 };
    let text = format!("{value:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

impl Node {
    fn new(operation: impl Into<String>, access_type: &'static str, inputs: Vec<Node>) -> Node {
        let estimate = inputs.first().and_then(|input| input.estimate);
        let measure = inputs.first().and_then(|input| input.measure);
        Node { operation: operation.into(), access_type, estimate, measure, inputs, ..Node::default() }
    }

    /// It yields so many rows.
    fn yielding(mut self, rows: f64) -> Node {
        if let Some(estimate) = &mut self.estimate {
            estimate.1 = rows;
        }
        self
    }

    /// As FORMAT=TREE prints it.
    pub fn append_tree(&self, depth: usize, out: &mut String) {
        let _ = write!(out, "{}-> {}", "    ".repeat(depth), self.operation);
        if let Some((cost, rows)) = self.estimate {
            // Of rows that are at hand the cost of the first is told too.
            let cost = if cost == 0.0 { "0..0".to_owned() } else { number(cost) };
            let _ = write!(out, "  (cost={cost} rows={})", number(rows));
        }
        if let Some(measure) = &self.measure {
            let _ = write!(out, " {}", measure.text());
        }
        out.push('\n');
        self.inputs.iter().for_each(|input| input.append_tree(depth + 1, out));
    }

    /// As FORMAT=JSON prints it.
    pub fn append_json(&self, indent: usize, out: &mut String) {
        let inner = " ".repeat(indent + 2);
        out.push_str("{\n");
        let mut members: Vec<String> = Vec::new();
        if !self.inputs.is_empty() {
            let mut text = format!("\"inputs\": [\n{inner}  ");
            for (at, input) in self.inputs.iter().enumerate() {
                if at > 0 {
                    let _ = write!(text, ",\n{inner}  ");
                }
                input.append_json(indent + 4, &mut text);
            }
            let _ = write!(text, "\n{inner}]");
            members.push(text);
        }
        members.extend(self.details.iter().map(|(name, value)| format!("\"{name}\": {value}")));
        members.push(format!("\"operation\": {}", json_text(&self.operation)));
        if !self.access_type.is_empty() {
            members.push(format!("\"access_type\": {}", json_text(self.access_type)));
        }
        if let Some(measure) = &self.measure {
            members.extend(measure.json());
        }
        if let Some((cost, rows)) = self.estimate {
            members.push(format!("\"estimated_rows\": {rows:?}"));
            members.push(format!("\"estimated_total_cost\": {cost:?}"));
        }
        let _ = write!(out, "{inner}{}", members.join(&format!(",\n{inner}")));
        let _ = write!(out, "\n{}}}", " ".repeat(indent));
    }
}

/// Makes trees of plans.
pub struct Trees<'x, 'r> {
    /// Queries inside of expressions.
    pub subqueries: &'x [Subquery],
    /// What estimates.
    pub running: &'x mut Running<'r>,
    /// What was measured, if the query has been run.
    pub measures: Option<&'x Measures>,
    /// The number of the last SELECT.
    pub last: u64,
}

/// What reading a row costs.
const ROW: f64 = 0.1;
/// What beginning costs.
const BEGIN: f64 = 0.25;

impl Trees<'_, '_> {
    /// The tree of a query.
    pub fn query(&mut self, plan: &QueryPlan, outside: Option<&Names<'_>>) -> Result<Node> {
        let mut node = match &plan.body {
            Body::Select(select) => self.select(select, outside)?,
            Body::Values(rows) => {
                self.last += 1;
                let estimate = Some((0.0, rows.len() as f64));
                Node { estimate, ..Node::new("Rows fetched before execution", "rows_fetched_before_execution", vec![]) }
            }
            Body::Nested(query) => self.query(query, outside)?,
            Body::Recursive(recursive) => {
                let parts = recursive.seeds.iter().chain(&recursive.steps);
                let parts = parts.map(|part| self.query(part, outside)).collect::<Result<Vec<_>>>()?;
                Node::new("Repeat until convergence", "repeat", parts).yielding(recursive.rows)
            }
            Body::SetOperation(set) => {
                let sides = vec![self.query(&set.sides[0], outside)?, self.query(&set.sides[1], outside)?];
                let rows = sides.iter().filter_map(|side| side.estimate).map(|(_, rows)| rows).sum();
                match (set.operator, set.all) {
                    (SetOperator::Union, true) => Node::new("Append", "append", sides).yielding(rows),
                    (SetOperator::Union, false) => {
                        let stored = Node::new("Union materialize with deduplication", "materialize", sides);
                        Node::new("Table scan on <union temporary>", "table", vec![stored.yielding(rows)])
                    }
                    (operator, _) => {
                        let name = if operator == SetOperator::Intersect { "Intersect" } else { "Except" };
                        let stored = Node::new(format!("{name} materialize"), "materialize", sides);
                        Node::new(format!("Table scan on <{} temporary>", name.to_lowercase()), "table", vec![stored])
                    }
                }
            }
        };
        if !plan.order.is_empty() {
            let names: Vec<String> = plan
                .order
                .iter()
                .map(|key| match key.value.as_column().and_then(|at| plan.columns.get(at as usize)) {
                    Some(column) => String::from_utf8_lossy(&column.name).into_owned(),
                    None => "...".to_owned(),
                })
                .collect();
            node = Node::new(format!("Sort: {}", names.join(", ")), "sort", vec![node]);
        }
        if let Some(limit) = &plan.limit {
            node = limited(node, limit);
        }
        Ok(node)
    }

    fn select(&mut self, select: &SelectPlan, outside: Option<&Names<'_>>) -> Result<Node> {
        self.last += 1;
        let names = Names { select, outside, is_full: false };
        let mut node = match &select.join {
            _ if is_impossible(select) => {
                Node { estimate: Some((0.0, 0.0)), ..Node::new("Zero rows (Impossible WHERE)", "zero_rows", vec![]) }
            }
            None => Node {
                estimate: Some((0.0, 1.0)),
                ..Node::new("Rows fetched before execution", "rows_fetched_before_execution", vec![])
            },
            Some(join) => self.join(join, select, &names)?,
        };
        let constant: Vec<&Expr> = select.constant.iter().filter(|expr| expr.as_constant().is_none()).collect();
        if !constant.is_empty() {
            node = filter(node, names.all(&constant), constant.len());
        }
        if let Some(group) = &select.group {
            let aggregates: Vec<String> = group.aggregates.iter().map(|call| names.aggregate(call)).collect();
            let aggregates = aggregates.join(", ");
            let rows = node.estimate.map_or(1.0, |(_, rows)| rows);
            if group.keys.is_empty() {
                if !group.ends.is_empty() {
                    node = Node::new("Limit: 1 row(s)", "limit", vec![node]).yielding(1.0);
                }
                node = Node::new(format!("Aggregate: {aggregates}"), "aggregate", vec![node]).yielding(1.0);
            } else if group.is_sorted {
                let operation = format!("Group aggregate: {aggregates}");
                node = Node::new(operation, "aggregate", vec![node]).yielding((rows / 10.0).max(1.0));
            } else {
                let stored = Node::new("Aggregate using temporary table", "temp_table_aggregate", vec![node]);
                node = Node::new("Table scan on <temporary>", "table", vec![stored]).yielding((rows / 10.0).max(1.0));
            }
        }
        let having: Vec<&Expr> = select.having.iter().collect();
        if !having.is_empty() {
            node = filter(node, names.all(&having), having.len());
        }
        if select.distinct {
            let stored = Node::new("Temporary table with deduplication", "materialize", vec![node]);
            node = Node::new("Table scan on <temporary>", "table", vec![stored]);
        }
        if !select.order.is_empty() && select.early_sort.is_none() {
            node = sorted(node, &select.order, &names);
        }
        let mut inside = Vec::new();
        expressions_of(select, &mut |expr| subqueries_in(expr, &mut inside));
        for number in inside {
            let Some(subquery) = self.subqueries.get(number as usize) else { continue };
            let number = self.last + 1;
            let tree = self.query(&subquery.plan, Some(&names))?;
            let how = if subquery.is_correlated { "dependent" } else { "run only once" };
            let title = format!("Select #{number} (subquery in condition; {how})");
            node.inputs.push(Node { operation: title, inputs: vec![tree], ..Node::default() });
        }
        Ok(node)
    }

    fn join(&mut self, join: &Join, select: &SelectPlan, names: &Names<'_>) -> Result<Node> {
        match join {
            Join::Source(number) => self.source(*number, select, names),
            Join::Inner(joins) => {
                let mut joined: Option<Node> = None;
                for join in joins {
                    let right = self.join(join, select, names)?;
                    joined = Some(match joined {
                        None => right,
                        Some(left) => joined_nodes(left, right, hash_of(join, select), "inner", &[], names),
                    });
                }
                Ok(joined.unwrap_or_else(|| Node::new("Row before", "row_before", vec![])))
            }
            Join::First(input) => {
                let node = self.join(input, select, names)?;
                Ok(Node::new("Limit: 1 row(s)", "limit", vec![node]).yielding(1.0))
            }
            Join::Left { left, right, when, on, shows, .. } => {
                let left = self.join(left, select, names)?;
                let mut inner = self.join(right, select, names)?;
                if !when.is_empty() {
                    inner = filter(inner, names.all(&when.iter().collect::<Vec<_>>()), when.len());
                }
                let on: Vec<&Expr> = on.iter().collect();
                Ok(joined_nodes(
                    left,
                    inner,
                    hash_of(right, select),
                    match shows {
                        Shows::All => "left",
                        Shows::Unmatched => "anti",
                        Shows::Matched => "semi",
                    },
                    &on,
                    names,
                ))
            }
            Join::Filter { input, conditions } => {
                let node = self.join(input, select, names)?;
                let conditions: Vec<&Expr> = conditions.iter().collect();
                Ok(filter(node, names.all(&conditions), conditions.len()))
            }
        }
    }

    fn source(&mut self, number: usize, select: &SelectPlan, names: &Names<'_>) -> Result<Node> {
        let source = &select.sources[number];
        let alias = select.names.get(number).map_or("", |name| &name.alias);
        let hash = select.hashes.get(number).and_then(Option::as_ref);
        let mut node = match &source.kind {
            SourceKind::Table(table) => {
                let read = read(select, number, source, table, names, self.running)?;
                let node = table_node(alias, table.table.name.as_str(), &table.table.database, &read);
                // What a hash join asks is shown there.
                let own: Vec<&Expr> = match hash {
                    Some(_) => source.conditions.iter().collect(),
                    None => read.residual.iter().collect(),
                };
                let measure = node.measure;
                let node = if own.is_empty() { node } else { filter(node, names.all(&own), own.len()) };
                let share = read.rows * read.filtered / 100.0;
                Node { measure, ..node }.yielding(if own.is_empty() { read.rows } else { share })
            }
            SourceKind::Derived { plan, .. } => {
                let tree = self.query(plan, Some(names))?;
                let own: Vec<&Expr> = source.conditions.iter().collect();
                let node = Node::new(
                    format!("Table scan on {alias}"),
                    "table",
                    vec![Node::new("Materialize", "materialize", vec![tree])],
                );
                if own.is_empty() { node } else { filter(node, names.all(&own), own.len()) }
            }
            SourceKind::Working(_) => {
                let node = Node::new(format!("Scan new records on {alias}"), "table", vec![]);
                let own: Vec<&Expr> = source.conditions.iter().collect();
                if own.is_empty() { node } else { filter(node, names.all(&own), own.len()) }
            }
            SourceKind::Virtual(table) => {
                let node = Node::new(format!("Table scan on {}", table.name().to_lowercase()), "table", vec![]);
                let own: Vec<&Expr> = source.conditions.iter().collect();
                if own.is_empty() { node } else { filter(node, names.all(&own), own.len()) }
            }
        };
        if let Some(measures) = self.measures {
            node.measure = Some(measures.of(source));
        }
        if select.early_sort.is_some_and(|early| early.source == number) {
            node = sorted(node, &select.order, names);
        }
        Ok(node)
    }
}

/// How the rows of a join's right side are kept.
fn hash_of<'s>(join: &Join, select: &'s SelectPlan) -> Option<(&'s HashPlan, &'s Source)> {
    match join {
        Join::Source(number) => {
            select.hashes.get(*number).and_then(Option::as_ref).map(|hash| (hash, &select.sources[*number]))
        }
        _ => None,
    }
}

fn joined_nodes(
    left: Node,
    right: Node,
    hash: Option<(&HashPlan, &Source)>,
    kind: &str,
    on: &[&Expr],
    names: &Names<'_>,
) -> Node {
    let (left_cost, left_rows) = left.estimate.unwrap_or((BEGIN, 1.0));
    let (right_cost, right_rows) = right.estimate.unwrap_or((BEGIN, 1.0));
    let join = match kind {
        "anti" => "antijoin".to_owned(),
        "semi" => "semijoin (FirstMatch)".to_owned(),
        _ => format!("{kind} join"),
    };
    let (operation, algorithm, cost, right) = match hash {
        None => {
            let operation = format!("Nested loop {join}");
            (operation, "nested_loop", left_cost + left_rows * right_cost, right)
        }
        Some((hash, source)) => {
            let name = match kind {
                "inner" => "Inner hash join",
                "anti" => "Hash antijoin",
                "semi" => "Hash semijoin (FirstMatch)",
                _ => "Left hash join",
            };
            let local: Vec<String> = source.conditions.iter().map(|condition| names.text(condition)).collect();
            let asked = hash.conditions.iter().map(|condition| names.text(condition));
            let asked: Vec<String> = asked.filter(|condition| !local.contains(condition)).collect();
            let asked = if asked.is_empty() { "(no condition)".to_owned() } else { asked.join(", ") };
            let right = Node { estimate: None, measure: None, ..Node::new("Hash", "hash", vec![right]) };
            (format!("{name} {asked}"), "hash", left_cost + right_cost + left_rows * ROW, right)
        }
    };
    let operation = if on.is_empty() { operation } else { format!("{operation} on {}", names.all(on)) };
    let rows = match hash {
        Some((hash, _)) if !hash.keys.is_empty() => (left_rows * right_rows * 0.1).max(left_rows.min(right_rows)),
        _ => left_rows * right_rows,
    };
    // What was measured of an inner join is what its right side showed.
    let measured = |node: &Node| match hash {
        Some(_) => node.inputs.first().and_then(|input| input.measure),
        None => node.measure,
    };
    let measure = left.measure.zip(measured(&right)).filter(|_| kind == "inner").map(|(left, right)| Measure {
        loops: left.loops,
        rows: right.rows,
        first: left.first + right.first,
        last: left.last + right.last,
    });
    let inner = Node::new(operation, "join", vec![left, right]);
    let details = vec![("join_type", json_text(&join)), ("join_algorithm", json_text(algorithm))];
    Node { estimate: Some((cost, rows)), measure, details, ..inner }
}

/// What a table's read is called.
fn table_node(alias: &str, table: &str, database: &str, read: &Read) -> Node {
    if read.kind == Kind::IndexMerge {
        let parts = read.union.iter().map(|part| table_node(alias, table, database, part)).collect();
        let (operation, access_type) = match read.is_in_key_order {
            true => ("Deduplicate rows sorted by row ID", "rowid_union"),
            false => ("Sort-deduplicate by row ID", "index_merge"),
        };
        return Node {
            estimate: Some((BEGIN + read.rows * ROW, read.rows)),
            ..Node::new(operation, access_type, parts)
        };
    }
    let key = read.key.as_deref().unwrap_or_default();
    let lookup = read.lookup.join(", ");
    let covering = |name: &str| {
        if !read.is_covering {
            return name.to_owned();
        }
        match name.split_once(' ') {
            Some(("Index", rest)) => format!("Covering index {rest}"),
            Some(("Single-row", rest)) => format!("Single-row covering {rest}"),
            _ => name.to_owned(),
        }
    };
    let (operation, kind) = match (read.kind, read.skips) {
        (_, Some(skips)) => {
            let purpose = match skips {
                Skips::Deduplication => " for deduplication",
                Skips::Grouping => " for grouping",
                Skips::Range => "",
            };
            let over =
                if read.ranges.is_empty() { String::new() } else { format!(" over {}", read.ranges.join(" OR ")) };
            let scan = format!("Covering index skip scan{purpose} on {alias} using {key}{over}");
            (scan, Some("index_skip_scan"))
        }
        (Kind::All | Kind::IndexMerge, None) => (format!("Table scan on {alias}"), None),
        (Kind::Index, None) => (format!("{} on {alias} using {key}", covering("Index scan")), Some("index_scan")),
        (Kind::Range, None) => (
            format!("{} on {alias} using {key} over {}", covering("Index range scan"), read.ranges.join(" OR ")),
            Some("index_range_scan"),
        ),
        (Kind::Ref, None) => {
            (format!("{} on {alias} using {key} ({lookup})", covering("Index lookup")), Some("index_lookup"))
        }
        (Kind::Const | Kind::EqRef, None) => {
            (format!("{} on {alias} using {key} ({lookup})", covering("Single-row index lookup")), Some("index_lookup"))
        }
    };
    let operation = if read.is_backward { format!("{operation} (reverse)") } else { operation };
    let mut details = Vec::new();
    if alias != table {
        details.push(("alias", json_text(alias)));
    }
    if !read.ranges.is_empty() {
        details.push(("ranges", json_list(&read.ranges)));
    }
    if let Some(key) = &read.key {
        details.push(("covering", read.is_covering.to_string()));
        details.push(("index_name", json_text(key)));
        details.push(("key_columns", json_list(&read.key_columns)));
    }
    details.push(("table_name", json_text(table)));
    details.push(("schema_name", json_text(database)));
    if let Some(kind) = kind {
        details.push(("index_access_type", json_text(kind)));
    }
    if !lookup.is_empty() {
        details.push(("lookup_condition", json_text(&lookup)));
        details.push(("lookup_references", json_list(&read.references)));
    }
    let access_type = if read.kind == Kind::All { "table" } else { "index" };
    let estimate = Some((BEGIN + read.rows * ROW, read.rows));
    Node { operation, access_type, details, estimate, measure: None, inputs: Vec::new() }
}

fn sorted(node: Node, order: &[SortKey], names: &Names<'_>) -> Node {
    let keys = order_text(order, names);
    let mut sort = Node::new(format!("Sort: {}", keys.join(", ")), "sort", vec![node]);
    sort.details.push(("sort_fields", json_list(&keys)));
    sort
}

fn filter(node: Node, condition: String, conditions: usize) -> Node {
    let rows = node.estimate.map_or(1.0, |(_, rows)| rows) * 0.33_f64.powi(conditions.min(4) as i32);
    let mut filter = Node::new(format!("Filter: {condition}"), "filter", vec![node]).yielding(rows);
    filter.details.push(("condition", json_text(&condition)));
    filter
}

fn limited(node: Node, limit: &LimitPlan) -> Node {
    let number = |expr: &Expr| {
        expr.as_constant().and_then(|value| {
            let mut text = Vec::new();
            value.append_text(&mut text);
            String::from_utf8(text).ok()
        })
    };
    let count = number(&limit.count).unwrap_or_else(|| "?".to_owned());
    let operation = match limit.offset.as_ref() {
        None => format!("Limit: {count} row(s)"),
        Some(offset) => format!("Limit/Offset: {count}/{} row(s)", number(offset).unwrap_or_else(|| "?".to_owned())),
    };
    let rows = node.estimate.map_or(1.0, |(_, rows)| rows);
    let most = count.parse::<f64>().unwrap_or(rows);
    Node::new(operation, "limit", vec![node]).yielding(rows.min(most))
}
