//! The query as it is executed, as text: note 1003 of EXPLAIN.

use super::super::plan::{Body, QueryPlan, SelectPlan, SourceKind};
use super::text::Names;
use super::traditional::sources_of;
use crate::expression::Expr;

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
    let mut order = Vec::new();
    select.join.iter().for_each(|join| sources_of(join, &mut order));
    for (at, &number) in order.iter().enumerate() {
        text.push_str(if at == 0 { " from " } else { " join " });
        let alias = select.names.get(number).map_or("", |name| &name.alias);
        match &select.sources[number].kind {
            SourceKind::Table(table) => {
                text.push_str(&format!("`{}`.`{}`", table.table.database, table.table.name));
                if *table.table.name != *alias {
                    text.push_str(&format!(" `{alias}`"));
                }
            }
            SourceKind::Derived { plan, .. } => {
                text.push_str(&format!("({}) `{alias}`", query(plan, Some(&names), last)));
            }
            SourceKind::Working(_) => text.push_str(&format!("`{alias}`")),
            SourceKind::Virtual(table) => text.push_str(&format!("`information_schema`.`{}`", table.name())),
        }
    }
    let mut conditions: Vec<&Expr> = select.constant.iter().collect();
    for &number in &order {
        match select.hashes.get(number).and_then(Option::as_ref) {
            Some(hash) => conditions.extend(&hash.conditions),
            None => conditions.extend(&select.sources[number].conditions),
        }
    }
    let add = |what: &str, parts: Vec<String>, separator: &str, text: &mut String| {
        if !parts.is_empty() {
            text.push_str(&format!(" {what} {}", parts.join(separator)));
        }
    };
    if !conditions.is_empty() {
        add("where", vec![names.all(&conditions)], "", &mut text);
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
