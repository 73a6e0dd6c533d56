//! Abbreviated sort keys: a number for each row, by which most are put in order without a look at their values.
//!
//! ```text
//!   ORDER BY name              | sixteen bytes of the text's sort key                        |
//!   ORDER BY status, at DESC   | the first value            | not the second one             |    where the first tells all of a value
//! ```
//!
//! # Invariants
//! 1. Of two rows the one that comes first has no greater number. Where both have the same, their values tell.
//!
//! Source: abbreviated keys, as in P. Geoghegan's for PostgreSQL 9.5.

use meseta_types::{DataType, Datum};

use super::sort_key::{SortKey, collation_of};

/// What the second value has of a number.
const SECOND: u128 = u64::MAX as u128;

/// The number of a row that is ordered by these values. `None` if there is none for all rows of that order.
pub fn abbreviation<'v>(mut values: impl Iterator<Item = Datum<'v>>, order: &[SortKey]) -> Option<u128> {
    let key = order.first()?;
    let first = number_of(values.next()?, key)?;
    // (What NULL or another value has, too, does not say which it is.)
    let is_one_value = is_told(&key.value.data_type) && !matches!((first >> u64::BITS) as u64, 0 | u64::MAX);
    let second = match (order.get(1), values.next()) {
        (Some(key), Some(value)) if is_one_value && has_number(&key.value.data_type) => number_of(value, key)?,
        _ => return Some(first),
    };
    Some(first & !SECOND | second >> u64::BITS)
}

/// Whether values of this type have a number, as a rule.
fn has_number(data_type: &DataType) -> bool {
    !matches!(data_type, DataType::Json | DataType::Null)
}

/// Whether values of this type are one if the first halves of their numbers are, but for the least and the greatest one.
fn is_told(data_type: &DataType) -> bool {
    match data_type {
        DataType::Char { .. } | DataType::Varchar { .. } | DataType::Text { .. } => false,
        DataType::DateTime { decimals } | DataType::Timestamp { decimals } => *decimals == 0,
        // (No two numbers of so many digits are the same double.)
        DataType::Decimal { precision, .. } => u32::from(*precision) <= f64::DIGITS,
        _ => true,
    }
}

/// A number for a value, not greater than that of any value behind it in the direction of its key; that of a text takes both halves.
/// `None` if there is none.
fn number_of(value: Datum<'_>, key: &SortKey) -> Option<u128> {
    // As its type has them, which all values of a column are in, if not all of an expression.
    let integer = |number: i128, is_unsigned: bool| {
        let above = if is_unsigned { number } else { number - i128::from(i64::MIN) };
        above.clamp(0, u64::MAX.into()) as u64
    };
    let double = |number: f64| {
        // (There is one zero.)
        let bits = (number + 0.0).to_bits();
        if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
    };
    let first = match (&key.value.data_type, value) {
        (_, Datum::Null) => 0,
        (DataType::Integer { number: kind, .. }, Datum::Signed(number)) => integer(number.into(), kind.unsigned),
        (DataType::Integer { number: kind, .. }, Datum::Unsigned(number)) => integer(number.into(), kind.unsigned),
        (DataType::Enum(_) | DataType::Set(_) | DataType::Year, Datum::Unsigned(number)) => number.saturating_add(1),
        (DataType::Bit { .. }, Datum::Bits { bits, .. }) => bits.saturating_add(1),
        (DataType::Float { .. }, Datum::Float(number)) => double(number.into()),
        (DataType::Double { .. }, Datum::Double(number)) => double(number),
        // (The nearest double of a number is not greater than that of a number behind it.)
        (DataType::Decimal { .. }, Datum::Decimal(number)) => double(number.to_f64()),
        (DataType::Decimal { .. }, Datum::Signed(number)) => double(number as f64),
        (DataType::Decimal { .. }, Datum::Unsigned(number)) => double(number as f64),
        (DataType::Date, Datum::Date(date)) => date.to_number(),
        (DataType::DateTime { .. } | DataType::Timestamp { .. }, Datum::DateTime(time, _)) => time.to_number(),
        (DataType::Time { .. }, Datum::Time(time, _)) => integer(time.micros().into(), false),
        (DataType::Char { .. } | DataType::Varchar { .. } | DataType::Text { .. }, Datum::Text(text, _)) => {
            let head = collation_of(key).sort_key_head(text);
            return Some(if key.descending { !head } else { head });
        }
        _ => return None,
    };
    let number = u128::from(first) << u64::BITS;
    Some(if key.descending { !number } else { number })
}

#[cfg(test)]
mod tests {
    use meseta_types::{Collation, Date, Decimal, Time};

    use super::*;
    use crate::expression::{Expr, ExprKind};

    fn key(data_type: &DataType, descending: bool) -> SortKey {
        let collation = data_type.collation().unwrap_or(Collation::Binary);
        SortKey { value: Expr::new(ExprKind::Column(0), data_type.clone(), true, collation), descending }
    }

    fn of(value: Datum<'_>, data_type: &DataType) -> Option<u128> {
        abbreviation([value].into_iter(), &[key(data_type, false)])
    }

    /// Values in ascending order have abbreviations in ascending order, NULL's the least; and in descending order, if that is asked for.
    fn ascend(data_type: &DataType, values: &[Datum<'_>]) {
        let values = [&[Datum::Null], values].concat();
        for pair in values.windows(2) {
            let [one, other] = [pair[0], pair[1]].map(|value| of(value, data_type).unwrap());
            assert!(one <= other, "{pair:?}: {one:x} {other:x}");
            let descending = [key(data_type, true)];
            let [one, other] = [pair[0], pair[1]].map(|value| abbreviation([value].into_iter(), &descending).unwrap());
            assert!(one >= other, "{pair:?}: {one:x} {other:x}");
        }
        assert!(of(values[1], data_type) < of(values[values.len() - 1], data_type));
        // As the first of two, only a value that is told by its number leaves the second one a say.
        let order = [key(data_type, false), key(&DataType::BIGINT, true)];
        let mut last = None;
        for (at, value) in values.iter().enumerate() {
            for second in [Datum::Signed(at as i64), Datum::Null] {
                let here = abbreviation([*value, second].into_iter(), &order).unwrap();
                assert!(last.is_none_or(|last| last <= here), "{value:?}");
                last = Some(here);
            }
        }
    }

    #[test]
    fn abbreviations_ascend_as_values_do() {
        let (signed, unsigned) = (Datum::Signed, Datum::Unsigned);
        let integers = [signed(i64::MIN), signed(-2), signed(0), signed(1), signed(2), unsigned(u64::MAX)];
        ascend(&DataType::BIGINT, &integers);
        ascend(&DataType::BIGINT_UNSIGNED, &integers);
        assert_eq!(of(signed(0), &DataType::BIGINT), of(unsigned(0), &DataType::BIGINT));
        let doubles = [f64::NEG_INFINITY, -1e300, -2.0, -0.0, 1e-300, 2.0, f64::INFINITY].map(Datum::Double);
        ascend(&DataType::DOUBLE, &doubles);
        let decimal = |text: &str| Datum::Decimal(Decimal::parse_exact(text).expect("it is a number"));
        let below = ["-1e40", "-2.5"].map(decimal);
        let above = ["0", "0.001", "0.1", "1", "9007199254740993", "9007199254740993.1"].map(decimal);
        let decimals = [&below[..], &[signed(-2)], &above, &[unsigned(u64::MAX), decimal("1e40")]].concat();
        ascend(&DataType::Decimal { precision: 65, scale: 30, number: Default::default() }, &decimals);
        let date = |day| Date { year: 2024, month: 2, day };
        ascend(&DataType::Date, &[date(1), date(29)].map(Datum::Date));
        let at = |micros| Datum::DateTime(meseta_types::DateTime { micros, ..date(7).midnight() }, 6);
        ascend(&DataType::DateTime { decimals: 6 }, &[Datum::DateTime(date(1).midnight(), 6), at(1), at(2)]);
        ascend(&DataType::Time { decimals: 6 }, &[-7, 0, 7].map(|micros| Datum::Time(Time::from_micros(micros).0, 6)));
        ascend(&DataType::Year, &[unsigned(0), unsigned(1999), unsigned(2024)]);
        ascend(&DataType::Bit { width: 64 }, &[0, 1, u64::MAX].map(|bits| Datum::Bits { bits, width: 64 }));
        let collation = Collation::Utf8mb4_0900AiCi;
        let texts =
            ["", "a", "a b", "abcdefghi", "abcdefghj", "B", "z"].map(|text| Datum::Text(text.as_bytes(), collation));
        ascend(&DataType::Varchar { length: 9, collation }, &texts);
        assert_eq!(of(Datum::Double(0.0), &DataType::DOUBLE), of(Datum::Double(-0.0), &DataType::DOUBLE));
        assert_eq!(of(Datum::Double(0.0), &DataType::BIGINT), None);
    }

    #[test]
    fn the_second_value_decides_where_the_first_is_the_same() {
        let text = DataType::Varchar { length: 9, collation: Collation::Utf8mb4_0900AiCi };
        let order = [key(&DataType::BIGINT, true), key(&text, false)];
        let of = |number, text: &str| {
            let row = [Datum::Signed(number), Datum::Text(text.as_bytes(), Collation::Utf8mb4_0900AiCi)];
            abbreviation(row.into_iter(), &order).unwrap()
        };
        assert!(of(7, "z") < of(6, "a") && of(6, "a") < of(6, "b") && of(6, "abcd") == of(6, "abcdx"));
        // The greatest number may be a greater one's, too.
        assert_eq!(of(i64::MAX, "a"), of(i64::MAX, "b"));
    }
}
