//! Abbreviated sort keys: a number for each value, by which most are put in order without a look at the values themselves.
//!
//! Source: abbreviated keys, as in P. Geoghegan's for PostgreSQL 9.5.

use meseta_types::{Collation, DataType, Datum};

/// A number for a value of this type, not greater than that of any value behind it; NULL has the least. `None` if there is
/// none for all values of its type.
pub fn abbreviation(value: Datum<'_>, data_type: &DataType, collation: Collation) -> Option<u64> {
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
    Some(match (data_type, value) {
        (_, Datum::Null) => 0,
        (DataType::Integer { number: kind, .. }, Datum::Signed(number)) => integer(number.into(), kind.unsigned),
        (DataType::Integer { number: kind, .. }, Datum::Unsigned(number)) => integer(number.into(), kind.unsigned),
        (DataType::Enum(_) | DataType::Set(_), Datum::Unsigned(number)) => number.saturating_add(1),
        (DataType::Double { .. }, Datum::Double(number)) => double(number),
        // (The nearest double of a number is not greater than that of a number behind it.)
        (DataType::Decimal { .. }, Datum::Decimal(number)) => double(number.to_f64()),
        (DataType::Decimal { .. }, Datum::Signed(number)) => double(number as f64),
        (DataType::Decimal { .. }, Datum::Unsigned(number)) => double(number as f64),
        (DataType::Date, Datum::Date(date)) => date.to_number(),
        (DataType::DateTime { .. } | DataType::Timestamp { .. }, Datum::DateTime(time, _)) => time.to_number(),
        (DataType::Char { .. } | DataType::Varchar { .. } | DataType::Text { .. }, Datum::Text(text, _)) => {
            collation.sort_key_head(text)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use meseta_types::Decimal;

    use super::*;

    /// Values in ascending order have abbreviations in ascending order, NULL's the least.
    fn ascend(data_type: &DataType, values: &[Datum<'_>]) {
        let collation = Collation::Utf8mb4_0900AiCi;
        let mut before = abbreviation(Datum::Null, data_type, collation).unwrap();
        for value in values {
            let here = abbreviation(*value, data_type, collation).unwrap();
            assert!(before <= here, "{value:?}: {before:x} {here:x}");
            before = here;
        }
        let (first, last) = (values[0], values[values.len() - 1]);
        assert!(abbreviation(first, data_type, collation) < abbreviation(last, data_type, collation));
    }

    #[test]
    fn abbreviations_ascend_as_values_do() {
        let (signed, unsigned) = (Datum::Signed, Datum::Unsigned);
        let integers = [signed(i64::MIN), signed(-2), signed(0), unsigned(0), signed(2), unsigned(u64::MAX)];
        ascend(&DataType::BIGINT, &integers);
        ascend(&DataType::BIGINT_UNSIGNED, &integers);
        let doubles = [f64::NEG_INFINITY, -1e300, -2.0, -0.0, 0.0, 1e-300, 2.0, f64::INFINITY].map(Datum::Double);
        ascend(&DataType::DOUBLE, &doubles);
        let decimal = |text: &str| Datum::Decimal(Decimal::parse_exact(text).expect("it is a number"));
        let below = ["-1e40", "-2.5"].map(decimal);
        let above = ["0", "0.001", "0.1", "1", "9007199254740993", "9007199254740993.1"].map(decimal);
        let decimals = [&below[..], &[signed(-2)], &above, &[unsigned(u64::MAX), decimal("1e40")]].concat();
        ascend(&DataType::Decimal { precision: 65, scale: 30, number: Default::default() }, &decimals);
        assert_eq!(
            abbreviation(Datum::Double(0.0), &DataType::DOUBLE, Collation::Binary),
            abbreviation(Datum::Double(-0.0), &DataType::DOUBLE, Collation::Binary)
        );
        assert_eq!(abbreviation(Datum::Double(0.0), &DataType::BIGINT, Collation::Binary), None);
    }
}
