//! What rows are ordered by, as bytes in the same order.
//!
//! ```text
//!   each value = 0 for NULL, or 1 and: integers, dates, times with their highest bytes first
//!                                      decimals by sign, size, digits; doubles by sign and bits
//!                                      texts by the sort key of their collation, behind it 0 0 (a 0 in it is 0 255)
//!   a value in descending order: all its bytes inverted
//! ```
//!
//! # Invariants
//! 1. Keys of rows compare as the rows do, value by value; those of rows that are equal are equal.
//! 2. No value is the beginning of another one.
//! 3. In one place all values are of one kind: another one has no key, and neither has a JSON document.

use meseta_types::{Collation, Context, DataType, Datum, Decimal};

use super::plan::SortKey;

/// Makes keys of rows in one order.
pub struct SortKeys<'a> {
    order: &'a [SortKey],
    /// The kind that the values in each place have; `None` before the first that is not NULL.
    kinds: Vec<Option<Kind>>,
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

/// The collation in which a key is compared.
pub fn collation_of(key: &SortKey) -> Collation {
    key.value.data_type.collation().unwrap_or(key.value.collated.collation)
}

impl<'a> SortKeys<'a> {
    /// For rows in this order.
    pub fn new(order: &'a [SortKey]) -> Self {
        Self { order, kinds: vec![None; order.len()] }
    }

    /// Appends the key of a row whose values are these. False if it has none.
    pub fn append(&mut self, values: &[Datum<'_>], context: &mut Context, out: &mut Vec<u8>) -> bool {
        for ((value, key), of) in values.iter().zip(self.order).zip(&mut self.kinds) {
            let start = out.len();
            if value.is_null() {
                out.push(0);
            } else {
                out.push(1);
                let Some(kind) = append(*value, key, context, out) else { return false };
                if *of.get_or_insert(kind) != kind {
                    return false;
                }
            }
            if key.descending {
                out[start..].iter_mut().for_each(|byte| *byte = !*byte);
            }
        }
        true
    }
}

fn append(value: Datum<'_>, key: &SortKey, context: &mut Context, out: &mut Vec<u8>) -> Option<Kind> {
    let of_type = &key.value.data_type;
    Some(match (value, of_type) {
        // (What has one type may be made of several.)
        (Datum::Signed(_) | Datum::Unsigned(_) | Datum::Decimal(_), DataType::Decimal { .. })
        | (Datum::Decimal(_), _) => {
            append_decimal(&value.to_decimal(context)?.normalized(), out);
            Kind::Decimal
        }
        (Datum::Signed(_) | Datum::Unsigned(_), DataType::Double { .. }) | (Datum::Double(_) | Datum::Float(_), _) => {
            append_double(value.to_double(context)?, out);
            Kind::Double
        }
        (Datum::Signed(number), _) => append_integer(number.into(), out),
        (Datum::Unsigned(number), _) => append_integer(number.into(), out),
        (Datum::Bits { bits, .. }, _) => append_integer(bits.into(), out),
        (Datum::Date(date), _) => {
            out.extend_from_slice(&date.midnight().to_number().to_be_bytes());
            out.extend_from_slice(&0_u32.to_be_bytes());
            Kind::DateTime
        }
        (Datum::DateTime(time, _), _) => {
            out.extend_from_slice(&time.to_number().to_be_bytes());
            out.extend_from_slice(&time.micros.to_be_bytes());
            Kind::DateTime
        }
        (Datum::Time(time, _), _) => {
            out.extend_from_slice(&(time.micros() as u64 ^ 1 << 63).to_be_bytes());
            Kind::Time
        }
        (Datum::Text(text, _), _) => {
            let start = out.len();
            collation_of(key).append_sort_key(text, None, out);
            end_text(start, out);
            Kind::Text
        }
        (Datum::Null | Datum::Member { .. } | Datum::Json(_), _) => return None,
    })
}

fn append_integer(number: i128, out: &mut Vec<u8>) -> Kind {
    // Of signed and unsigned ones: 65 bits.
    out.extend_from_slice(&(number - i128::from(i64::MIN)).to_be_bytes()[7..]);
    Kind::Integer
}

fn append_double(number: f64, out: &mut Vec<u8>) {
    // (There is one zero.)
    let bits = (number + 0.0).to_bits();
    let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    out.extend_from_slice(&ordered.to_be_bytes());
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

/// Marks the end of a text that has been appended from `start` on.
fn end_text(start: usize, out: &mut Vec<u8>) {
    let zeros = out[start..].iter().filter(|byte| **byte == 0).count();
    // From behind, so that each byte moves once.
    let (mut from, mut to) = (out.len(), out.len() + zeros);
    out.resize(to, 0);
    while from < to {
        (from, to) = (from - 1, to - 1);
        out[to] = out[from];
        if out[from] == 0 {
            out[to] = u8::MAX;
            to -= 1;
            out[to] = 0;
        }
    }
    out.extend_from_slice(&[0, 0]);
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use meseta_types::{Date, Time};

    use super::*;
    use crate::query::scope::slot;

    /// How two values compare that have keys, by those.
    fn compared(key: &SortKey, one: Datum<'_>, other: Datum<'_>) -> Ordering {
        let mut keys = SortKeys::new(std::slice::from_ref(key));
        let mut of = |value: Datum<'_>| {
            let mut out = Vec::new();
            assert!(keys.append(&[value], &mut Context::default(), &mut out), "{value:?}");
            out
        };
        of(one).cmp(&of(other))
    }

    fn key(data_type: DataType, descending: bool) -> SortKey {
        SortKey { value: slot(0, data_type, true), descending }
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
        let (mut context, mut out) = (Context::default(), Vec::new());
        assert!(keys.append(&[Datum::Signed(1)], &mut context, &mut out));
        assert!(!keys.append(&[Datum::Text(b"1", Collation::Binary)], &mut context, &mut out));
        assert!(keys.append(&[Datum::Null], &mut context, &mut out));
        assert!(!keys.append(&[Datum::Json(b"")], &mut context, &mut out));
    }
}
