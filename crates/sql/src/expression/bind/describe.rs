//! Expressions as errors print them: `(`a` + 1)`.

use super::Scope;
use meseta_parser::ast::{self, BinaryOperator as B, ExpressionKind as A, Literal, UnaryOperator};

/// The text of an expression, at most some hundred characters of it.
pub(super) fn describe(expression: &ast::Expression<'_>, text: &[u8], scope: &dyn Scope) -> Box<str> {
    let mut out = String::new();
    write(expression, text, scope, 0, &mut out);
    out.into()
}

fn lossy(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

fn write(expression: &ast::Expression<'_>, text: &[u8], scope: &dyn Scope, depth: usize, out: &mut String) {
    if out.len() > 400 || depth > 16 {
        return;
    }
    match &expression.kind {
        A::Literal(literal) => match literal {
            Literal::Null => out.push_str("NULL"),
            Literal::True => out.push_str("true"),
            Literal::False => out.push_str("false"),
            Literal::Integer(digits) | Literal::Decimal(digits) | Literal::Float(digits) => {
                out.push_str(&lossy(digits));
            }
            Literal::Hexadecimal { .. } => {
                let written = lossy(expression.span.of(text));
                match written.get(..2) {
                    Some("x'" | "X'") => out.push_str(&format!("0x{}", written[2..].trim_end_matches('\''))),
                    _ => out.push_str(&written),
                }
            }
            Literal::String(string) => {
                out.push('\'');
                out.push_str(&lossy(&string.value));
                out.push('\'');
            }
            _ => out.push_str(&lossy(expression.span.of(text))),
        },
        A::Parameter(_) => out.push('?'),
        A::Column(name) => {
            if let Some(known) = scope.column_text(name) {
                out.push_str(&known);
                return;
            }
            let parts = [name.schema.as_ref(), name.table.as_ref(), Some(&name.column)];
            for (number, part) in parts.into_iter().flatten().enumerate() {
                out.push_str(if number > 0 { ".`" } else { "`" });
                out.push_str(&lossy(part.text.0));
                out.push('`');
            }
        }
        A::Unary { operator, operand } => {
            out.push_str(match operator {
                UnaryOperator::Minus => "-",
                UnaryOperator::Plus => "",
                UnaryOperator::BitNot => "~",
                UnaryOperator::Binary => "cast(",
                UnaryOperator::Not | UnaryOperator::Exclamation => "!",
            });
            match (operator, &operand.kind) {
                (UnaryOperator::Minus | UnaryOperator::Not, _) => {
                    out.push('(');
                    write(operand, text, scope, depth + 1, out);
                    out.push(')');
                }
                _ => write(operand, text, scope, depth + 1, out),
            }
            if *operator == UnaryOperator::Binary {
                out.push_str(" as char charset binary)");
            }
        }
        A::Binary { operator, left, right } => {
            out.push('(');
            write(left, text, scope, depth + 1, out);
            out.push(' ');
            out.push_str(symbol(*operator));
            out.push(' ');
            write(right, text, scope, depth + 1, out);
            out.push(')');
        }
        A::Call(call) => {
            out.push_str(&lossy(call.name.name.text.0).to_lowercase());
            list(call.arguments, text, scope, depth, out);
        }
        A::Aggregate(aggregate) => {
            out.push_str(&format!("{:?}", aggregate.function).to_lowercase());
            list(aggregate.arguments, text, scope, depth, out);
        }
        _ => out.push_str(&lossy(expression.span.of(text))),
    }
}

fn list(arguments: &[ast::Expression<'_>], text: &[u8], scope: &dyn Scope, depth: usize, out: &mut String) {
    out.push('(');
    for (number, argument) in arguments.iter().enumerate() {
        if number > 0 {
            out.push(',');
        }
        write(argument, text, scope, depth + 1, out);
    }
    out.push(')');
}

fn symbol(operator: B) -> &'static str {
    match operator {
        B::Or => "or",
        B::Xor => "xor",
        B::And => "and",
        B::Equal => "=",
        B::NullSafeEqual => "<=>",
        B::NotEqual => "<>",
        B::Less => "<",
        B::LessOrEqual => "<=",
        B::Greater => ">",
        B::GreaterOrEqual => ">=",
        B::SoundsLike => "sounds like",
        B::BitOr => "|",
        B::BitAnd => "&",
        B::ShiftLeft => "<<",
        B::ShiftRight => ">>",
        B::Add => "+",
        B::Subtract => "-",
        B::Multiply => "*",
        B::Divide => "/",
        B::IntegerDivide => "DIV",
        B::Modulo => "%",
        B::BitXor => "^",
        B::Concat => "||",
    }
}
