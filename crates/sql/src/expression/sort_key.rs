//! What rows are ordered by, as bytes in the same order.
//!
//! Each value is a part of an index's key ([`KeyPart`]): integers of 65 bits, dates and times as bytes, the highest first; doubles; texts by
//! the weights of their collation. Decimals, which have no scale in common, are their sign, size and digits.
//!
//! # Invariants
//! 1. Keys of rows compare as the rows do, value by value; those of rows that are equal are equal.
//! 2. In one place all values are of one kind: another one has no key, and neither has a JSON document.

use meseta_engine::row::{Column, ColumnType, IntegerWidth, KeyPart, Value};
use meseta_types::{Collation, Context, DataType, DateTime, Datum, Decimal};

use super::Expr;

/// What rows are ordered by.
#[derive(Clone, Debug)]
pub struct SortKey {
    /// The value.
    pub value: Expr,
    /// Whether large values come first.
    pub descending: bool,
}

/// Makes keys of rows in one order.
pub struct SortKeys<'a> {
    order: &'a [SortKey],
    /// The kind that the values in each place have; `None` before the first that is not NULL.
    kinds: Vec<Option<Kind>>,
    /// Memory for a value that is made of bytes.
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Integer,
    Decimal,
    Double,
    DateTime,
    Time,
    Text,
}

impl Kind {
    /// How its values are written.
    fn part(self, descending: bool) -> KeyPart {
        let column_type = match self {
            Kind::Integer => ColumnType::Fixed { len: INTEGER as u16 },
            Kind::DateTime => ColumnType::Fixed { len: DATE_TIME as u16 },
            Kind::Time => ColumnType::Signed(IntegerWidth::Eight),
            Kind::Double => ColumnType::Double,
            Kind::Decimal | Kind::Text => ColumnType::Variable { max_len: u32::MAX },
        };
        let part = KeyPart::new(0, Column::new(column_type).or_null());
        if descending { part.descending() } else { part }
    }
}

/// Bytes of an integer, signed or unsigned: 65 bits.
const INTEGER: usize = 9;
/// Bytes of a date and time.
const DATE_TIME: usize = 12;

/// The collation in which a key is compared.
pub fn collation_of(key: &SortKey) -> Collation {
    key.value.data_type.collation().unwrap_or(key.value.collated.collation)
}

impl<'a> SortKeys<'a> {
    /// For rows in this order.
    pub fn new(order: &'a [SortKey]) -> Self {
        Self { order, kinds: vec![None; order.len()], bytes: Vec::new() }
    }

    /// Appends the key of a row that is ordered by these values. False if it has none.
    pub fn append<'v>(
        &mut self,
        values: impl Iterator<Item = Datum<'v>>,
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> bool {
        for ((value, key), of) in values.zip(self.order).zip(&mut self.kinds) {
            self.bytes.clear();
            // (NULL is written alike in all kinds.)
            let (kind, value) = match value {
                Datum::Null => (of.unwrap_or(Kind::Integer), Value::Null),
                value => match stored(value, key, context, &mut self.bytes) {
                    Some((kind, value)) if *of.get_or_insert(kind) == kind => (kind, value),
                    _ => return false,
                },
            };
            if kind.part(key.descending).append(value, usize::MAX, out).is_err() {
                return false;
            }
        }
        true
    }
}

/// The kind of a value, and as what it is written: in `bytes`, or a number.
fn stored<'b>(
    value: Datum<'_>,
    key: &SortKey,
    context: &mut Context,
    bytes: &'b mut Vec<u8>,
) -> Option<(Kind, Value<'b>)> {
    let of_type = &key.value.data_type;
    let kind = match (value, of_type) {
        // (What has one type may be made of several.)
        (Datum::Signed(_) | Datum::Unsigned(_) | Datum::Decimal(_), DataType::Decimal { .. })
        | (Datum::Decimal(_), _) => {
            append_decimal(&value.to_decimal(context)?.normalized(), bytes);
            Kind::Decimal
        }
        (Datum::Signed(_) | Datum::Unsigned(_), DataType::Double { .. }) | (Datum::Double(_) | Datum::Float(_), _) => {
            return Some((Kind::Double, Value::Double(value.to_double(context)?)));
        }
        (Datum::Signed(number), _) => append_integer(number.into(), bytes),
        (Datum::Unsigned(number), _) => append_integer(number.into(), bytes),
        (Datum::Bits { bits, .. }, _) => append_integer(bits.into(), bytes),
        (Datum::Date(date), _) => append_point(date.midnight(), bytes),
        (Datum::DateTime(point, _), _) => append_point(point, bytes),
        (Datum::Time(time, _), _) => return Some((Kind::Time, Value::Signed(time.micros()))),
        (Datum::Text(text, _), _) => {
            collation_of(key).append_sort_key(text, None, bytes);
            Kind::Text
        }
        (Datum::Null | Datum::Member { .. } | Datum::Json(_), _) => return None,
    };
    Some((kind, Value::Bytes(bytes)))
}

fn append_integer(number: i128, out: &mut Vec<u8>) -> Kind {
    out.extend_from_slice(&(number - i128::from(i64::MIN)).to_be_bytes()[size_of::<i128>() - INTEGER..]);
    Kind::Integer
}

fn append_point(point: DateTime, out: &mut Vec<u8>) -> Kind {
    out.extend_from_slice(&point.to_number().to_be_bytes());
    out.extend_from_slice(&point.micros.to_be_bytes());
    Kind::DateTime
}

/// Sign; how many digits there are before the point, or zeros behind it; digits, without zeros at the end.
fn append_decimal(number: &Decimal, out: &mut Vec<u8>) {
    let mut text = Vec::new();
    number.append_text(&mut text);
    let is_negative = text.first() == Some(&b'-');
    let digits = &text[usize::from(is_negative)..];
    let point = digits.iter().position(|byte| *byte == b'.').unwrap_or(digits.len());
    let Some(first) = digits.iter().position(|byte| (b'1'..=b'9').contains(byte)) else { return out.push(1) };
    let size = if first < point { (point - first) as i16 } else { point as i16 + 1 - first as i16 };
    out.push(if is_negative { 0 } else { 2 });
    let start = out.len();
    out.push((size + 128) as u8);
    out.extend(digits[first..].iter().filter(|byte| **byte != b'.'));
    while out.last() == Some(&b'0') {
        out.pop();
    }
    out.push(0);
    if is_negative {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use meseta_types::{Date, Time};

    use super::*;
    use crate::expression::ExprKind;

    /// How two values compare that have keys, by those.
    fn compared(key: &SortKey, one: Datum<'_>, other: Datum<'_>) -> Ordering {
        let mut keys = SortKeys::new(std::slice::from_ref(key));
        let mut of = |value: Datum<'_>| {
            let mut out = Vec::new();
            assert!(keys.append([value].into_iter(), &mut Context::default(), &mut out), "{value:?}");
            out
        };
        of(one).cmp(&of(other))
    }

    fn key(data_type: DataType, descending: bool) -> SortKey {
        let collation = data_type.collation().unwrap_or(Collation::Binary);
        SortKey { value: Expr::new(ExprKind::Column(0), data_type, true, collation), descending }
    }

    /// Values in ascending order have keys in ascending order, and in descending order if that is asked for.
    fn ascend(data_type: DataType, values: &[Datum<'_>]) {
        for (at, one) in values.iter().enumerate() {
            for (place, other) in values.iter().enumerate() {
                let ascending = key(data_type.clone(), false);
                assert_eq!(compared(&ascending, *one, *other), at.cmp(&place), "{one:?} {other:?}");
                assert_eq!(compared(&key(data_type.clone(), true), *one, *other), place.cmp(&at), "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn keys_ascend_as_values_do() {
        let (signed, unsigned) = (Datum::Signed, Datum::Unsigned);
        ascend(
            DataType::BIGINT,
            &[Datum::Null, signed(i64::MIN), signed(-2), signed(0), signed(2), unsigned(u64::MAX)],
        );
        let doubles = [f64::NEG_INFINITY, -1e300, -2.0, 0.0, 1e-300, 2.0, f64::INFINITY].map(Datum::Double);
        ascend(DataType::DOUBLE, &doubles);
        let decimals = [
            "-1000",
            "-999.5",
            "-10.01",
            "-10",
            "-9",
            "-0.1",
            "-0.02",
            "-0.01",
            "0",
            "0.001",
            "0.01",
            "0.0101",
            "0.1",
            "0.11",
            "1",
            "1.5",
            "9.99",
            "10",
            "10.1",
            "100",
            "123456789012345678901234567890.5",
        ];
        let decimals = decimals.map(|text| Datum::Decimal(Decimal::parse_exact(text).unwrap()));
        let decimal = DataType::Decimal { precision: 40, scale: 4, number: Default::default() };
        ascend(decimal.clone(), &decimals);
        ascend(decimal, &[signed(-3), Datum::Decimal(Decimal::parse_exact("-2.50").unwrap()), signed(7)]);
        let dates = [(2023, 12, 31), (2024, 1, 1), (2024, 2, 29)].map(|(year, month, day)| Date { year, month, day });
        ascend(DataType::Date, &dates.map(Datum::Date));
        ascend(
            DataType::Time { decimals: 6 },
            &[-5_000_001, -1, 0, 7].map(|micros| Datum::Time(Time::from_micros(micros).0, 6)),
        );
        let collation = Collation::Utf8mb4_0900AiCi;
        let texts = ["", "a", "a b", "ab", "B", "b\0", "b\0\0", "z"]
            .map(|text| Datum::Text(text.as_bytes(), Collation::Binary));
        ascend(DataType::Varchar { length: 9, collation: Collation::Binary }, &{
            let mut texts = texts;
            texts.sort_by_key(|text| if let Datum::Text(text, _) = text { text.to_vec() } else { Vec::new() });
            texts
        });
        let texts = ["", "a", "a b", "ab", "B", "z"].map(|text| Datum::Text(text.as_bytes(), collation));
        ascend(DataType::Varchar { length: 9, collation }, &texts);
        let same = key(DataType::Varchar { length: 9, collation }, false);
        assert!(compared(&same, Datum::Text(b"aB", collation), Datum::Text(b"Ab", collation)).is_eq());
    }

    #[test]
    fn values_of_two_kinds_have_no_keys_in_one_place() {
        let order = [key(DataType::BIGINT, false)];
        let mut keys = SortKeys::new(&order);
        let mut has_key = |value| keys.append([value].into_iter(), &mut Context::default(), &mut Vec::new());
        assert!(has_key(Datum::Signed(1)));
        assert!(!has_key(Datum::Text(b"1", Collation::Binary)));
        assert!(has_key(Datum::Null));
        assert!(!has_key(Datum::Json(b"")));
    }
}
