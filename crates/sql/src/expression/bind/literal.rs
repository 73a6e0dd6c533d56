//! Literals, parameters, variables.

use meseta_errors::ER_ILLEGAL_VALUE_FOR_TYPE;
use meseta_parser::{LiftedKind, Span, ast};
use meseta_types::double::parse_double;
use meseta_types::integer::parse_integer;
use meseta_types::temporal::{parse_datetime, parse_time};
use meseta_types::{Charset, Collated, Collation, DataType, Datum, Decimal, Derivation, SqlError};

use super::Binder;
use crate::error::{Error, Result};
use crate::expression::Expr;
use crate::expression::kind::{ExprKind, SystemVariable};
use crate::expression::typing::{self, collated_of};
use crate::expression::value::Value;

impl Binder<'_, '_> {
    pub(super) fn literal(&mut self, literal: &ast::Literal<'_>, span: Span) -> Result<Expr> {
        let connection = self.facts.collation;
        if let Some(slot) = self.lifted_slot(literal, span) {
            return Ok(slot);
        }
        Ok(match literal {
            ast::Literal::String(ast::StringLiteral { character_set: Some(name), value, .. }) => {
                self.text_literal(value, introduced(name, connection)?, true)?
            }
            ast::Literal::Hexadecimal { character_set, bytes } | ast::Literal::Bit { character_set, bytes } => {
                match character_set {
                    Some(name) => self.text_literal(bytes, introduced(name, connection)?, true)?,
                    None => {
                        let data_type = DataType::varchar(bytes.len() as u32, Collation::Binary);
                        let mut found = Expr::constant(Value::Hexadecimal(bytes.0.into()), data_type, connection);
                        found.collated.ascii = bytes.is_ascii();
                        found
                    }
                }
            }
            ast::Literal::Temporal { kind, value } => self.temporal_literal(*kind, value)?,
            plain => {
                let mut value = literal_value(plain, connection)?.unwrap_or(Datum::Null);
                let data_type = type_of(plain, value);
                if let (Datum::Decimal(number), DataType::Decimal { precision, scale, .. }) = (&mut value, &data_type) {
                    *number = number.fit(*precision, *scale).0;
                }
                Expr::constant(Value::new(value), data_type, connection)
            }
        })
    }

    fn lifted_slot(&self, literal: &ast::Literal<'_>, span: Span) -> Option<Expr> {
        let number = self.facts.lifted.binary_search_by_key(&span.start, |lifted| lifted.span.start).ok()?;
        let lifted = self.facts.lifted.get(number).filter(|lifted| lifted.span == span)?;
        let data_type = match (lifted.kind, literal) {
            (LiftedKind::Integer, _) => typing::integer(20),
            (LiftedKind::Decimal, ast::Literal::Decimal(digits)) => typing::decimal(65, scale_of(digits), false),
            (LiftedKind::Decimal, _) => DataType::decimal(65, 30),
            (LiftedKind::Float, _) => DataType::DOUBLE,
            (LiftedKind::String | LiftedKind::WideString, _) => {
                typing::string_type(u64::from(span.end - span.start), self.facts.collation)
            }
        };
        let kind = ExprKind::Slot(self.facts.first_lifted + number as u32);
        let mut slot = Expr::new(kind, data_type, false, self.facts.collation);
        slot.collated.ascii |= lifted.kind == LiftedKind::String;
        Some(slot)
    }

    fn text_literal(&self, bytes: &[u8], collation: Collation, is_introduced: bool) -> Result<Expr> {
        if is_introduced && collation.charset() != Charset::Binary {
            collation.charset().check(bytes)?;
        }
        let length = collation.charset().char_count(bytes) as u64;
        let data_type = typing::string_type(length, collation);
        Ok(Expr::constant(Value::Text(bytes.into(), collation), data_type, collation))
    }

    fn temporal_literal(&self, kind: ast::TemporalKind, text: &[u8]) -> Result<Expr> {
        let (value, data_type) = match kind {
            ast::TemporalKind::Time => {
                let parsed = parse_time(text, self.facts.mode);
                match parsed.value {
                    Some(time) if !parsed.truncated && !parsed.out_of_range => {
                        (Some(Datum::Time(time, parsed.decimals)), DataType::Time { decimals: parsed.decimals })
                    }
                    _ => (None, DataType::Null),
                }
            }
            _ => {
                let parsed = parse_datetime(text, self.facts.mode);
                match parsed.value {
                    Some(found) if !parsed.truncated => match kind {
                        ast::TemporalKind::Date if parsed.date_only => (Some(Datum::Date(found.date)), DataType::Date),
                        ast::TemporalKind::Timestamp if !parsed.date_only && parsed.offset.is_none() => (
                            Some(Datum::DateTime(found, parsed.decimals)),
                            DataType::DateTime { decimals: parsed.decimals },
                        ),
                        ast::TemporalKind::Timestamp if parsed.offset.is_some() => {
                            // In the session's zone: a value of its own for each session.
                            let operand = self.text_literal(text, self.facts.collation, false)?;
                            let decimals = parsed.decimals;
                            return Ok(self.cast_to(operand, meseta_types::CastType::DateTime(decimals), "".into()));
                        }
                        _ => (None, DataType::Null),
                    },
                    _ => (None, DataType::Null),
                }
            }
        };
        let Some(value) = value else {
            let name = match kind {
                ast::TemporalKind::Date => "DATE",
                ast::TemporalKind::Time => "TIME",
                ast::TemporalKind::Timestamp => "DATETIME",
            };
            let shown = meseta_types::error::printable(text);
            return Err(SqlError::new(1525, format!("Incorrect {name} value: '{shown}'")).into());
        };
        Ok(Expr::constant(Value::new(value), data_type, self.facts.collation))
    }

    pub(super) fn parameter(&mut self, number: u32) -> Expr {
        let data_type = self.facts.parameters.get(number as usize).cloned().unwrap_or(DataType::Null);
        let mut found = Expr::new(ExprKind::Slot(number), data_type, true, self.facts.collation);
        if found.data_type == DataType::Null {
            found.collated =
                Collated { collation: self.facts.collation, derivation: Derivation::Coercible, ascii: false };
        }
        found.collated.ascii |= self.facts.parameters_are_ascii;
        found
    }

    pub(super) fn user_variable(&mut self, name: &[u8]) -> Expr {
        let name = variable_name(name);
        let data_type = self.scope.user_variable(&name);
        let data_type = data_type.unwrap_or(typing::string_type(u64::from(u32::MAX / 4), self.facts.collation));
        let collated = collated_of(&data_type, Derivation::Implicit, self.facts.collation);
        Expr { kind: ExprKind::UserVariable(name), data_type, nullable: true, collated }
    }

    pub(super) fn assignment(&mut self, name: &[u8], value: &ast::Expression<'_>) -> Result<Expr> {
        let value = self.scalar(value)?;
        let collated = Collated { derivation: Derivation::Implicit.min(value.collated.derivation), ..value.collated };
        let (data_type, nullable) = (value.data_type.clone(), value.nullable);
        Ok(Expr {
            kind: ExprKind::SetUserVariable(variable_name(name), Box::new(value)),
            data_type,
            nullable,
            collated,
        })
    }

    pub(super) fn system_variable(&mut self, variable: &ast::SystemVariable<'_>) -> Result<Expr> {
        let mut name = String::new();
        if let Some(prefix) = &variable.prefix {
            name = String::from_utf8_lossy(prefix.text.0).to_lowercase() + ".";
        }
        name += &String::from_utf8_lossy(variable.name.text.0).to_lowercase();
        let global = match variable.scope {
            None => None,
            Some(ast::VariableScope::Session) => Some(false),
            Some(_) => Some(true),
        };
        let variable = SystemVariable { global, name: name.into() };
        let (data_type, nullable) = self.scope.system_variable(&variable)?;
        let collated = collated_of(&data_type, Derivation::SystemConstant, self.facts.collation);
        Ok(Expr { kind: ExprKind::SystemVariable(Box::new(variable)), data_type, nullable, collated })
    }
}

/// The value of a literal that has nothing in front of it: no introducer, no name of a type; and not of bytes, which are a
/// number in some places. Text is in the connection's character set; a DECIMAL has all its digits. Error 1367: a number that
/// no double is near to.
pub fn literal_value<'a>(literal: &ast::Literal<'a>, connection: Collation) -> Result<Option<Datum<'a>>> {
    Ok(Some(match literal {
        ast::Literal::Null => Datum::Null,
        ast::Literal::True => Datum::Signed(1),
        ast::Literal::False => Datum::Signed(0),
        ast::Literal::Integer(digits) => {
            let parsed = parse_integer(digits);
            match i64::try_from(parsed.magnitude) {
                _ if parsed.overflow => Datum::Decimal(Decimal::parse(digits).value),
                Ok(number) => Datum::Signed(number),
                Err(_) => Datum::Unsigned(parsed.magnitude),
            }
        }
        ast::Literal::Decimal(digits) => Datum::Decimal(Decimal::parse(digits).value),
        ast::Literal::Float(digits) => {
            let parsed = parse_double(digits);
            if parsed.overflow {
                let text = String::from_utf8_lossy(digits);
                return Err(Error::new(ER_ILLEGAL_VALUE_FOR_TYPE, &[&"double", &text]));
            }
            Datum::Double(parsed.value)
        }
        ast::Literal::String(ast::StringLiteral { character_set: None, value, .. }) => Datum::Text(value.0, connection),
        _ => return Ok(None),
    }))
}

/// The type of a literal that has nothing in front of it.
fn type_of(literal: &ast::Literal<'_>, value: Datum<'_>) -> DataType {
    let digits: &[u8] = match literal {
        ast::Literal::Integer(digits) | ast::Literal::Decimal(digits) | ast::Literal::Float(digits) => digits,
        _ => b"",
    };
    let significant = digits.iter().skip_while(|digit| **digit == b'0').count().clamp(1, 65) as u8;
    match value {
        Datum::Signed(_) if digits.is_empty() => typing::integer(1),
        Datum::Signed(_) => typing::integer(significant + 1),
        Datum::Unsigned(_) => typing::unsigned(significant),
        Datum::Decimal(_) => decimal_type(digits),
        Datum::Double(_) => DataType::DOUBLE,
        Datum::Text(text, collation) => typing::string_type(collation.charset().char_count(text) as u64, collation),
        _ => DataType::Null,
    }
}

/// How many digits are behind the point.
fn scale_of(digits: &[u8]) -> u32 {
    digits.iter().position(|byte| *byte == b'.').map_or(0, |at| digits.len() - at - 1) as u32
}

fn decimal_type(digits: &[u8]) -> DataType {
    let whole = digits.iter().take_while(|byte| **byte != b'.').skip_while(|byte| **byte == b'0').count();
    typing::decimal(whole as u32, scale_of(digits), false)
}

/// Names of user variables are the same in upper and lower case.
fn variable_name(name: &[u8]) -> Box<str> {
    String::from_utf8_lossy(name).to_lowercase().into()
}

fn introduced(name: &[u8], connection: Collation) -> Result<Collation> {
    let name = String::from_utf8_lossy(name);
    let charset = Charset::parse(&name)?;
    Ok(if charset == connection.charset() { connection } else { charset.default_collation() })
}
