//! DEFAULT: a constant, CURRENT_TIMESTAMP, or an expression.

use bumpalo::Bump;
use meseta_engine::table::OwnedValue;
use meseta_errors::*;
use meseta_parser::ast::{self, CallExtra, ExpressionKind, Literal, UnaryOperator};
use meseta_types::{Charset, Collation, Context, DataType, Datum, Decimal, Level, Stored, assign};

use super::expression_text::Purpose;
use super::{DefinitionContext, data_type};
use crate::error::{Error, Result};
use crate::schema::{Column, ColumnDefault};

impl DefinitionContext<'_> {
    /// Sets a column's default to what is behind DEFAULT. Errors: 1067, 1101.
    pub(super) fn set_default(&mut self, column: &mut Column, value: &ast::Expression<'_>, text: &[u8]) -> Result<()> {
        if is_in_parentheses(value, text) {
            let printed = self.print_expression(value, text, &Purpose::Default(column.name.clone()))?;
            column.default = ColumnDefault::Expression(printed.text);
            return Ok(());
        }
        let invalid = || Error::new(ER_INVALID_DEFAULT, &[&column.name]);
        if let Some(decimals) = current_timestamp(value) {
            column.default = match column.data_type {
                DataType::DateTime { decimals: own } | DataType::Timestamp { decimals: own } if own == decimals => {
                    ColumnDefault::Now
                }
                _ => return Err(invalid()),
            };
            return Ok(());
        }
        let Some(datum) = self.literal(value, &column.data_type) else { return Err(invalid()) };
        if datum.is_null() {
            column.default = ColumnDefault::Null;
            return Ok(());
        }
        if matches!(column.data_type, DataType::Text { .. } | DataType::Json) {
            return Err(Error::new(ER_BLOB_CANT_HAVE_DEFAULT, &[&column.name]));
        }
        if matches!(column.data_type, DataType::Enum(_) | DataType::Set(_)) && !matches!(datum, Datum::Text(..)) {
            return Err(invalid());
        }
        let stored = self.store(datum, column).map_err(|_| invalid())?;
        column.default = ColumnDefault::Literal(stored);
        Ok(())
    }

    /// A default fitted into its column, as it is stored. Errors: if it does not fit, whatever the SQL mode.
    pub(super) fn store(&mut self, datum: Datum<'_>, column: &Column) -> Result<OwnedValue> {
        let arena = Bump::new();
        let mut own = Context::new(self.context.mode);
        (own.zone, own.today, own.row) = (self.context.zone.clone(), self.context.today, self.context.row);
        let fitted = assign(datum, &column.data_type, &column.name, &mut own, &arena)?;
        let kept = own.warnings.kept();
        kept.iter().for_each(|warning| self.context.warnings.push(warning.level, warning.condition.clone()));
        // Without strict mode it is bent until it fits, which no default may be.
        if let Some(warning) = kept.iter().find(|warning| warning.level != Level::Note) {
            return Err(warning.condition.clone().into());
        }
        let mut scratch = Vec::new();
        let stored = owned(column.data_type.store(fitted, &self.context.zone, &mut scratch));
        // What was something and is stored as nothing has no place in the type: a TIMESTAMP before 1970.
        if stored == OwnedValue::Null && !datum.is_null() {
            return Err(Error::new(ER_INVALID_DEFAULT, &[&column.name]));
        }
        Ok(stored)
    }

    /// The value of a constant; `None` if it is none.
    fn literal<'a>(&self, value: &ast::Expression<'a>, target: &DataType) -> Option<Datum<'a>> {
        match &value.kind {
            ExpressionKind::Unary { operator: UnaryOperator::Plus, operand } => self.literal(operand, target),
            ExpressionKind::Unary { operator: UnaryOperator::Minus, operand } => {
                if let Some(number) = value.as_integer() {
                    return Some(integer(number));
                }
                match self.literal(operand, target)? {
                    Datum::Double(number) => Some(Datum::Double(-number)),
                    Datum::Decimal(number) => {
                        let mut text = b"-".to_vec();
                        number.append_text(&mut text);
                        Some(Datum::Decimal(Decimal::parse(&text).value))
                    }
                    _ => None,
                }
            }
            ExpressionKind::Collate { operand, .. } => self.literal(operand, target),
            ExpressionKind::Literal(literal) => Some(match literal {
                Literal::Null => Datum::Null,
                Literal::True => Datum::Signed(1),
                Literal::False => Datum::Signed(0),
                Literal::Integer(_) => value.as_integer().map(integer).unwrap_or(Datum::Double(f64::MAX)),
                Literal::Decimal(digits) => Datum::Decimal(Decimal::parse(digits).value),
                Literal::Float(digits) => Datum::Double(meseta_types::double::parse_double(digits).value),
                Literal::String(string) => {
                    let charset = string.character_set.and_then(|name| Charset::parse(&super::name::text(name)).ok());
                    let collation = charset.map_or(self.connection_collation, Charset::default_collation);
                    Datum::Text(string.value.0, collation)
                }
                Literal::Hexadecimal { character_set, bytes } | Literal::Bit { character_set, bytes } => {
                    let is_text = target.is_string() || matches!(target, DataType::Enum(_) | DataType::Set(_));
                    let charset = character_set.and_then(|name| Charset::parse(&super::name::text(name)).ok());
                    if is_text || bytes.len() > 8 {
                        return Some(Datum::Text(
                            bytes.0,
                            charset.map_or(Collation::Binary, Charset::default_collation),
                        ));
                    }
                    let bits = bytes.iter().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
                    match target {
                        DataType::Bit { .. } => Datum::Bits { bits, width: 64 },
                        _ => Datum::Unsigned(bits),
                    }
                }
                // MySQL refuses it here.
                Literal::Temporal { .. } => return None,
            }),
            _ => None,
        }
    }
}

fn integer<'a>(number: i128) -> Datum<'a> {
    if let Ok(number) = i64::try_from(number) {
        Datum::Signed(number)
    } else if let Ok(number) = u64::try_from(number) {
        Datum::Unsigned(number)
    } else {
        Datum::Decimal(Decimal::parse(number.to_string().as_bytes()).value)
    }
}

pub(super) fn owned(stored: Stored<'_>) -> OwnedValue {
    match stored {
        Stored::Null => OwnedValue::Null,
        Stored::Signed(number) => OwnedValue::Signed(number),
        Stored::Unsigned(number) => OwnedValue::Unsigned(number),
        Stored::Float(number) => OwnedValue::Float(number),
        Stored::Double(number) => OwnedValue::Double(number),
        Stored::Bytes(bytes) => OwnedValue::Bytes(bytes.to_vec()),
    }
}

/// Whether an expression stands in parentheses of its own.
fn is_in_parentheses(value: &ast::Expression<'_>, text: &[u8]) -> bool {
    let before = text.get(..value.span.start as usize).unwrap_or_default();
    before.iter().rev().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'(')
}

/// The decimals of a CURRENT_TIMESTAMP, or of one of its other names.
pub(super) fn current_timestamp(value: &ast::Expression<'_>) -> Option<u8> {
    let ExpressionKind::Call(call) = value.kind else { return None };
    let name = call.name.name.text.to_ascii_uppercase();
    let is_now = matches!(&name[..], b"NOW" | b"CURRENT_TIMESTAMP" | b"LOCALTIME" | b"LOCALTIMESTAMP");
    if !is_now || !matches!(call.extra, CallExtra::None | CallExtra::NoParentheses) {
        return None;
    }
    match call.arguments {
        [] => Some(0),
        [decimals] => match decimals.kind {
            ExpressionKind::Literal(Literal::Integer(digits)) => u8::try_from(data_type::number(*digits)).ok(),
            _ => None,
        },
        _ => None,
    }
}
