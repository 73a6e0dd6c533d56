//! Bound expressions as EXPLAIN prints them: every operation in parentheses, columns by their tables' names.

use std::fmt::Write as _;

use meseta_types::Datum;

use crate::expression::aggregate::{AggregateCall, AggregateFunction};
use crate::expression::{BitOperator, ChainOperator, Expr, ExprKind};
use crate::query::plan::{SelectPlan, SourceKind};

/// How deep expressions are printed.
const DEPTH: usize = 60;

/// What slots are called, in a query and in those around it.
#[derive(Clone, Copy)]
pub struct Names<'n> {
    /// The query.
    pub select: &'n SelectPlan,
    /// Around it.
    pub outside: Option<&'n Names<'n>>,
    /// Whether names are printed with their databases, in backquotes.
    pub is_full: bool,
}

impl Names<'_> {
    /// What a slot is called.
    pub fn slot(&self, slot: u32) -> String {
        let slot = slot as usize;
        if let Some(group) = &self.select.group
            && let Some(call) = slot.checked_sub(group.first_slot).and_then(|at| group.aggregates.get(at))
        {
            return self.aggregate(call);
        }
        let sources = self.select.sources.iter().zip(&self.select.names);
        let found = sources
            .into_iter()
            .find(|(source, _)| (source.first_slot..source.first_slot + source.width).contains(&slot));
        let Some((source, name)) = found else { return format!("#{slot}") };
        let column = name.columns.get(slot - source.first_slot).map_or("?", |column| column);
        match (&source.kind, self.is_full) {
            (SourceKind::Table(table), true) => {
                format!("`{}`.`{}`.`{column}`", table.table.database, name.alias)
            }
            (_, true) => format!("`{}`.`{column}`", name.alias),
            (_, false) => format!("{}.{column}", name.alias),
        }
    }

    fn outer(&self, level: u32, slot: u32) -> String {
        let mut around = self.outside;
        for _ in 0..level {
            around = around.and_then(|names| names.outside);
        }
        around.map_or_else(|| format!("#{slot}"), |names| Names { is_full: self.is_full, ..*names }.slot(slot))
    }

    /// An aggregate.
    pub fn aggregate(&self, call: &AggregateCall) -> String {
        use AggregateFunction as F;
        let name = match call.function {
            F::CountRows => return "count(0)".to_owned(),
            F::Count => "count",
            F::Sum => "sum",
            F::Avg => "avg",
            F::Min => "min",
            F::Max => "max",
            F::BitAnd => "bit_and",
            F::BitOr => "bit_or",
            F::BitXor => "bit_xor",
            F::StdPop => "std",
            F::StdSamp => "stddev_samp",
            F::VarPop => "variance",
            F::VarSamp => "var_samp",
            F::GroupConcat => "group_concat",
            F::JsonArray => "json_arrayagg",
            F::JsonObject => "json_objectagg",
        };
        let arguments: Vec<String> = call.arguments.iter().map(|argument| self.text(argument)).collect();
        format!("{name}({}{})", if call.distinct { "distinct " } else { "" }, arguments.join(","))
    }

    /// An expression.
    pub fn text(&self, expr: &Expr) -> String {
        let mut out = String::new();
        self.append(expr, 0, &mut out);
        out
    }

    /// Conditions that all must hold.
    pub fn all(&self, conditions: &[&Expr]) -> String {
        let texts: Vec<String> = conditions.iter().map(|condition| self.text(condition)).collect();
        if texts.len() == 1 { texts.concat() } else { format!("({})", texts.join(" and ")) }
    }

    fn list<'e>(&self, parts: impl IntoIterator<Item = &'e Expr>, separator: &str, depth: usize, out: &mut String) {
        for (at, part) in parts.into_iter().enumerate() {
            if at > 0 {
                out.push_str(separator);
            }
            self.append(part, depth + 1, out);
        }
    }

    fn append(&self, expr: &Expr, depth: usize, out: &mut String) {
        if depth > DEPTH {
            out.push_str("...");
            return;
        }
        let deeper = depth + 1;
        match &expr.kind {
            ExprKind::Constant(value) => append_value(value.get(), out),
            ExprKind::Slot(_) => out.push('?'),
            ExprKind::Column(slot) => out.push_str(&self.slot(*slot)),
            ExprKind::Outer { level, column } => out.push_str(&self.outer(*level, *column)),
            ExprKind::Chain(chain) => {
                (0..chain.steps.len()).for_each(|_| out.push('('));
                self.append(&chain.first, deeper, out);
                for step in &chain.steps {
                    let symbol = match step.operator {
                        ChainOperator::Arithmetic(operator) => operator.symbol(),
                        ChainOperator::Bits(BitOperator::And, _) => "&",
                        ChainOperator::Bits(BitOperator::Or, _) => "|",
                        ChainOperator::Bits(BitOperator::Xor, _) => "^",
                        ChainOperator::Bits(BitOperator::ShiftLeft, _) => "<<",
                        ChainOperator::Bits(BitOperator::ShiftRight, _) => ">>",
                    };
                    let _ = write!(out, " {symbol} ");
                    self.append(&step.right, deeper, out);
                    out.push(')');
                }
            }
            ExprKind::Once(once) => self.append(&once.value, depth, out),
            ExprKind::Negate(operand, _) => self.with_prefix("-", operand, deeper, out),
            ExprKind::BitNot(operand) => self.with_prefix("~", operand, deeper, out),
            ExprKind::Not(operand) => {
                out.push_str("(not(");
                self.append(operand, deeper, out);
                out.push_str("))");
            }
            ExprKind::Compare(compare) => {
                out.push('(');
                self.append(&compare.left, deeper, out);
                let _ = write!(out, " {} ", compare.operator.symbol());
                self.append(&compare.right, deeper, out);
                out.push(')');
            }
            ExprKind::RowCompare(compare) => {
                out.push_str("((");
                self.list(compare.columns.iter().map(|(left, ..)| left), ",", depth, out);
                let _ = write!(out, ") {} (", compare.operator.symbol());
                self.list(compare.columns.iter().map(|(_, right, _)| right), ",", depth, out);
                out.push_str("))");
            }
            ExprKind::And(parts) => self.chained(parts, " and ", depth, out),
            ExprKind::Or(parts) => self.chained(parts, " or ", depth, out),
            ExprKind::Xor(parts) => self.chained(parts, " xor ", depth, out),
            ExprKind::IsNull { operand, negated } => {
                out.push('(');
                self.append(operand, deeper, out);
                out.push_str(if *negated { " is not null)" } else { " is null)" });
            }
            ExprKind::IsTruth { operand, truth, negated } => {
                out.push('(');
                self.append(operand, deeper, out);
                let _ = write!(out, " is {}{truth})", if *negated { "not " } else { "" });
            }
            ExprKind::Between(between) => {
                out.push('(');
                self.append(&between.operand, deeper, out);
                out.push_str(if between.negated { " not between " } else { " between " });
                self.append(&between.low, deeper, out);
                out.push_str(" and ");
                self.append(&between.high, deeper, out);
                out.push(')');
            }
            ExprKind::In(list) => {
                out.push('(');
                self.append(&list.operand, deeper, out);
                out.push_str(if list.negated { " not in (" } else { " in (" });
                self.list(&list.list, ",", depth, out);
                out.push_str("))");
            }
            ExprKind::Like(like) => {
                out.push('(');
                self.append(&like.operand, deeper, out);
                out.push_str(if like.negated { " not like " } else { " like " });
                self.append(&like.pattern, deeper, out);
                out.push(')');
            }
            ExprKind::Row(parts) => {
                out.push('(');
                self.list(parts, ",", depth, out);
                out.push(')');
            }
            ExprKind::Subquery(_) => out.push_str("(select ...)"),
            ExprKind::Exists(_) => out.push_str("exists(select ...)"),
            ExprKind::InSubquery(inside) => {
                out.push('(');
                self.append(&inside.operand, deeper, out);
                out.push_str(if inside.negated { " not in (select ...))" } else { " in (select ...))" });
            }
            ExprKind::Quantified(inside) => {
                out.push('(');
                self.append(&inside.left, deeper, out);
                let which = if inside.all { "all" } else { "any" };
                let _ = write!(out, " {} {which} (select ...))", inside.operator.symbol());
            }
            ExprKind::Case(case) => {
                out.push_str("(case");
                if let Some(operand) = &case.operand {
                    out.push(' ');
                    self.append(operand, deeper, out);
                }
                for (condition, _, result) in &case.branches {
                    out.push_str(" when ");
                    self.append(condition, deeper, out);
                    out.push_str(" then ");
                    self.append(result, deeper, out);
                }
                if let Some(otherwise) = &case.otherwise {
                    out.push_str(" else ");
                    self.append(otherwise, deeper, out);
                }
                out.push_str(" end)");
            }
            ExprKind::Cast(cast) => {
                out.push_str("cast(");
                self.append(&cast.operand, deeper, out);
                let _ = write!(out, " as {})", format!("{:?}", cast.target).to_lowercase());
            }
            ExprKind::Convert(operand) | ExprKind::NumberOf(operand) => self.append(operand, deeper, out),
            ExprKind::Call(call) if call.function.is_unwritten() => {
                call.arguments.iter().for_each(|argument| self.append(argument, depth, out));
            }
            ExprKind::Call(call) => {
                let _ = write!(out, "{}(", call.function.name);
                self.list(&call.arguments, ",", depth, out);
                out.push(')');
            }
            ExprKind::UserVariable(name) => {
                let _ = write!(out, "(@{name})");
            }
            ExprKind::SetUserVariable(name, value) => {
                let _ = write!(out, "(@{name}:=");
                self.append(value, deeper, out);
                out.push(')');
            }
            ExprKind::SystemVariable(variable) => {
                let _ = write!(out, "@@{}", variable.name);
            }
        }
    }

    fn with_prefix(&self, prefix: &str, operand: &Expr, depth: usize, out: &mut String) {
        out.push_str(prefix);
        out.push('(');
        self.append(operand, depth, out);
        out.push(')');
    }

    fn chained(&self, parts: &[Expr], separator: &str, depth: usize, out: &mut String) {
        out.push('(');
        self.list(parts, separator, depth, out);
        out.push(')');
    }
}

fn append_value(value: Datum<'_>, out: &mut String) {
    let mut text = Vec::new();
    value.append_text(&mut text);
    let text = String::from_utf8_lossy(&text);
    match value {
        Datum::Null => out.push_str("NULL"),
        Datum::Text(..) | Datum::Json(_) | Datum::Member { .. } => {
            let _ = write!(out, "'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
        }
        Datum::Date(_) => drop(write!(out, "DATE'{text}'")),
        Datum::Time(..) => drop(write!(out, "TIME'{text}'")),
        Datum::DateTime(..) => drop(write!(out, "TIMESTAMP'{text}'")),
        _ => out.push_str(&text),
    }
}
