//! The query as it is executed, as text: note 1003 of EXPLAIN.

use super::text::Names;
use crate::expression::Expr;
use crate::query::plan::join_tree::Shows;
use crate::query::plan::{Body, Join, QueryPlan, SelectPlan, SourceKind};

/// The text of a query.
pub fn query_note(plan: &QueryPlan) -> String {
    let mut last = 0;
    query(plan, None, &mut last)
}

fn query(plan: &QueryPlan, outside: Option<&Names<'_>>, last: &mut u64) -> String {
    let mut text = match &plan.body {
        Body::Select(inner) => select(inner, plan, outside, last),
        Body::Values(_) => {
            *last += 1;
            format!("/* select#{last} */ values ...")
        }
        Body::Nested(inner) => format!("({})", query(inner, outside, last)),
        Body::Recursive(recursive) => {
            let parts = recursive.seeds.iter().chain(&recursive.steps);
            let parts: Vec<String> = parts.map(|part| query(part, outside, last)).collect();
            parts.join(if recursive.all { " union all " } else { " union " })
        }
        Body::SetOperation(set) => {
            let operator = format!("{:?}", set.operator).to_lowercase();
            let all = if set.all { " all" } else { "" };
            let left = query(&set.sides[0], outside, last);
            let right = query(&set.sides[1], outside, last);
            format!("{left} {operator}{all} {right}")
        }
    };
    if let Some(limit) = &plan.limit {
        let number = |expr: &Expr| {
            let mut digits = Vec::new();
            if let Some(value) = expr.as_constant() {
                value.append_text(&mut digits);
            }
            if digits.is_empty() { "?".to_owned() } else { String::from_utf8_lossy(&digits).into_owned() }
        };
        text.push_str(" limit ");
        if let Some(offset) = &limit.offset {
            text.push_str(&number(offset));
            text.push(',');
        }
        text.push_str(&number(&limit.count));
    }
    text
}

fn select(select: &SelectPlan, plan: &QueryPlan, outside: Option<&Names<'_>>, last: &mut u64) -> String {
    *last += 1;
    let names = Names { select, outside, is_full: true };
    let mut text = format!("/* select#{last} */ select ");
    if select.distinct {
        text.push_str("distinct ");
    }
    let items = select
        .items
        .iter()
        .zip(plan.columns.iter())
        .map(|(item, column)| format!("{} AS `{}`", names.text(item), String::from_utf8_lossy(&column.name)));
    text.push_str(&items.collect::<Vec<_>>().join(","));
    let mut conditions: Vec<&Expr> = select.constant.iter().collect();
    let mut is_outer = false;
    if let Some(join) = &select.join {
        let mut from = FromText { select, names: &names, last, is_outer: false };
        text.push_str(&format!(" from {}", from.join(join, &mut conditions)));
        is_outer = from.is_outer;
    }
    let add = |what: &str, parts: Vec<String>, separator: &str, text: &mut String| {
        if !parts.is_empty() {
            text.push_str(&format!(" {what} {}", parts.join(separator)));
        }
    };
    match (conditions.is_empty(), is_outer) {
        (false, _) => add("where", vec![names.all(&conditions)], "", &mut text),
        (true, true) => text.push_str(" where true"),
        (true, false) => {}
    }
    if let Some(group) = &select.group {
        add("group by", group.keys.iter().map(|key| names.text(key)).collect(), ",", &mut text);
    }
    let having: Vec<&Expr> = select.having.iter().collect();
    if !having.is_empty() {
        add("having", vec![names.all(&having)], "", &mut text);
    }
    add("order by", super::source::order_text(&select.order, &names), ",", &mut text);
    text
}

/// Writes FROM.
struct FromText<'f, 'n> {
    select: &'f SelectPlan,
    names: &'f Names<'n>,
    /// The number of the last SELECT.
    last: &'f mut u64,
    /// Some rows are there without a match, or must be without one.
    is_outer: bool,
}

impl<'f> FromText<'f, '_> {
    /// The text of a join. What is asked of its rows is for WHERE.
    fn join(&mut self, join: &'f Join, conditions: &mut Vec<&'f Expr>) -> String {
        match join {
            Join::Source(number) => self.source(*number, conditions),
            Join::Inner(joins) => {
                let mut text = String::new();
                for join in joins {
                    let next = self.join(join, conditions);
                    // (What has the row before it for a left side begins with the name of the join.)
                    text.push_str(if text.is_empty() || next.starts_with(' ') { "" } else { " join " });
                    text.push_str(&next);
                }
                text
            }
            Join::First(input) => self.join(input, conditions),
            Join::Filter { input, conditions: asked } => {
                let text = self.join(input, conditions);
                conditions.extend(asked);
                text
            }
            Join::Left { left, right, when, on, shows, .. } => {
                let (left, mut inside) = (self.join(left, conditions), when.iter().collect());
                let mut right_text = self.join(right, &mut inside);
                inside.extend(on);
                if *shows == Shows::Matched {
                    conditions.append(&mut inside);
                    return format!("{left} semi join ({right_text})");
                }
                self.is_outer = true;
                let on = if inside.is_empty() { "true".to_owned() } else { self.names.all(&inside) };
                let word = if *shows == Shows::All { "left" } else { "anti" };
                if word == "anti" || !matches!(**right, Join::Source(_)) {
                    right_text = format!("({right_text})");
                }
                format!("{left} {word} join {right_text} on({on})")
            }
        }
    }

    fn source(&mut self, number: usize, conditions: &mut Vec<&'f Expr>) -> String {
        let source = &self.select.sources[number];
        match self.select.hashes.get(number).and_then(Option::as_ref) {
            Some(hash) => conditions.extend(&hash.conditions),
            None => conditions.extend(&source.conditions),
        }
        let alias = self.select.names.get(number).map_or("", |name| &name.alias);
        match &source.kind {
            SourceKind::Table(table) => {
                let mut text = format!("`{}`.`{}`", table.table.database, table.table.name);
                if *table.table.name != *alias {
                    text.push_str(&format!(" `{alias}`"));
                }
                text
            }
            SourceKind::Derived { plan, .. } => format!("({}) `{alias}`", query(plan, Some(self.names), self.last)),
            SourceKind::Working(_) => format!("`{alias}`"),
            SourceKind::Virtual(table) => format!("`information_schema`.`{}`", table.name()),
        }
    }
}
