//! What an index is asked for, for a value that its column is compared with.
//!
//! ```text
//!   k = 5.5, k < 5.5     k an integer: nothing is equal, 5 is less, and 6 is greater           Between(6)
//!   c = 'abc'            c a text in the collation of the comparison                              Exact('abc')
//!   d = '2024-13-01'     no date: the comparison says what comes of it                        Unusable
//! ```
//!
//! # Invariants
//! 1. A key finds all rows that the comparison is true of. Where that is not certain, it is unusable, and all rows are looked at.

use meseta_types::comparison::{ComparisonKind, ComparisonType, exact_number};
use meseta_types::decimal::Fit;
use meseta_types::{Collation, DataType, Datum, Decimal, IntegerSize};

use super::Env;
use super::comparer::{Comparer, kind_of};

/// Whether comparing a column with values of a type follows the order that the column is stored in. Comparisons of a
/// column of integers as decimals or doubles do: [`key_value`] finds the integer, or says that there is none.
pub fn orders_like(comparer: &Comparer, column: &DataType, value: &DataType) -> bool {
    let Some(kind) = kind_of(column) else { return false };
    match comparer.kind {
        // A value of unknown type: `key_value` decides for each.
        None => true,
        Some(ComparisonType::Text) => column.is_string() && column.collation() == Some(comparer.collation),
        Some(ComparisonType::Integer) => kind == ComparisonKind::Integer,
        Some(ComparisonType::Given) => matches!(kind, ComparisonKind::Integer | ComparisonKind::Decimal),
        Some(ComparisonType::Year) => matches!(column, DataType::Year),
        Some(ComparisonType::Decimal) => matches!(kind, ComparisonKind::Integer | ComparisonKind::Decimal),
        Some(ComparisonType::Double) => {
            matches!(kind, ComparisonKind::Double) || matches!(kind, ComparisonKind::Integer | ComparisonKind::Decimal)
        }
        Some(ComparisonType::DateTime) => {
            kind == ComparisonKind::DateTime
                && matches!(kind_of(value), Some(ComparisonKind::DateTime | ComparisonKind::Text))
        }
        Some(ComparisonType::Time) => {
            kind == ComparisonKind::Time && matches!(kind_of(value), Some(ComparisonKind::Time | ComparisonKind::Text))
        }
        Some(ComparisonType::Json) => false,
    }
}

/// What to look for in an index on a column that is compared with a value.
#[derive(Clone, Copy, Debug)]
pub enum Key<'v> {
    /// This value, which is of the column's type.
    Exact(Datum<'v>),
    /// No value of the column is equal; those below this one are less, this one and those above are greater.
    Between(Datum<'v>),
    /// NULL: nothing is equal, less or greater.
    Null,
    /// The index does not help: look at every row.
    Unusable,
}

/// The key for a value that a column is compared with. `comparer` is the comparison's.
pub fn key_value<'v>(value: Datum<'v>, column: &'v DataType, comparer: &Comparer, env: &mut Env<'v, '_>) -> Key<'v> {
    match (column, value) {
        (_, Datum::Null) => Key::Null,
        // What rows are mostly looked for by, at once.
        (DataType::Integer { size, .. }, Datum::Signed(number))
            if !column.is_unsigned() && (size.signed_min()..=size.signed_max()).contains(&number) =>
        {
            Key::Exact(value)
        }
        (DataType::Integer { size, .. }, Datum::Signed(_) | Datum::Unsigned(_) | Datum::Decimal(_)) => {
            match value.to_decimal(env.context) {
                Some(number) => integer_key(number, *size, column.is_unsigned()),
                None => Key::Unusable,
            }
        }
        (DataType::Integer { size, .. }, Datum::Double(number)) => {
            exact_double(number).map_or(Key::Unusable, |number| integer_key(number, *size, column.is_unsigned()))
        }
        (DataType::Integer { size, .. }, Datum::Text(text, _)) => {
            let parsed = Decimal::parse(text);
            let complete = parsed.len == text.len() && parsed.len > 0 && !parsed.overflow && !parsed.truncated;
            // Beside the column itself it is exact; as a double it may be equal to several integers.
            let exact = comparer.kind == Some(ComparisonType::Given) || parsed.value.abs().whole_digits() <= 15;
            let number = match (complete, exact) {
                (true, true) => Some(parsed.value),
                (true, false) => None,
                // A number as far as it is one, '77-title' or none at all. What is cut off is warned of, here or by the comparison.
                (false, _) => {
                    let mut apart = env.context.apart();
                    let number = value.to_double(&mut apart).and_then(exact_double);
                    number.inspect(|_| env.context.add_warnings_of(&apart))
                }
            };
            number.map_or(Key::Unusable, |number| integer_key(number, *size, column.is_unsigned()))
        }
        (DataType::Decimal { precision, scale, .. }, Datum::Signed(_) | Datum::Unsigned(_) | Datum::Decimal(_)) => {
            match value.to_decimal(env.context) {
                Some(number) => decimal_key(number, *precision, *scale),
                None => Key::Unusable,
            }
        }
        (DataType::Decimal { precision, scale, .. }, Datum::Text(..))
            if comparer.kind == Some(ComparisonType::Given) =>
        {
            match exact_number(value, env.context) {
                Some(number) => decimal_key(number, *precision, *scale),
                None => Key::Unusable,
            }
        }
        (DataType::Double { .. }, _) if matches!(comparer.kind, Some(ComparisonType::Double)) => {
            let mut apart = env.context.apart();
            match value.to_double(&mut apart) {
                Some(number) if apart.warnings.count() == 0 => Key::Exact(Datum::Double(number)),
                // (The comparison warns.)
                _ => Key::Unusable,
            }
        }
        (
            DataType::Char { collation, .. } | DataType::Varchar { collation, .. } | DataType::Text { collation, .. },
            Datum::Text(text, own),
        ) => {
            if *collation != comparer.collation
                || own.charset() != collation.charset() && !own.charset().is_same_in(collation.charset(), text)
            {
                return Key::Unusable;
            }
            match column {
                DataType::Char { length, collation: Collation::Binary } => binary_key(text, *length as usize, env),
                _ => Key::Exact(Datum::Text(text, *collation)),
            }
        }
        (DataType::Date, Datum::Date(_)) => Key::Exact(value),
        (DataType::Date, Datum::DateTime(found, _)) => {
            if found.time_micros() == 0 {
                return Key::Exact(Datum::Date(found.date));
            }
            match meseta_types::temporal::from_day_number(meseta_types::temporal::day_number(found.date) + 1) {
                Some(next) => Key::Between(Datum::Date(next)),
                None => Key::Unusable,
            }
        }
        (DataType::DateTime { decimals } | DataType::Timestamp { decimals }, Datum::Date(date)) => {
            Key::Exact(Datum::DateTime(date.midnight(), *decimals))
        }
        (DataType::DateTime { decimals } | DataType::Timestamp { decimals }, Datum::DateTime(found, _)) => {
            match found.round(*decimals, true) {
                Some(rounded) if rounded == found => Key::Exact(Datum::DateTime(found, *decimals)),
                _ => Key::Unusable,
            }
        }
        (DataType::Date | DataType::DateTime { .. } | DataType::Timestamp { .. }, Datum::Text(text, _)) => {
            let parsed = meseta_types::temporal::parse_datetime(text, env.context.mode);
            match parsed.value {
                Some(found) if !parsed.truncated && parsed.offset.is_none() => {
                    key_value(Datum::DateTime(found, 6), column, comparer, env)
                }
                _ => Key::Unusable,
            }
        }
        (DataType::Time { decimals }, Datum::Time(time, _)) if time.round(*decimals, true).0 == time => {
            Key::Exact(Datum::Time(time, *decimals))
        }
        (DataType::Time { decimals }, Datum::Text(text, _)) => {
            let parsed = meseta_types::temporal::parse_time(text, env.context.mode);
            match parsed.value {
                Some(time) if !parsed.truncated && time.round(*decimals, true).0 == time => {
                    Key::Exact(Datum::Time(time, *decimals))
                }
                _ => Key::Unusable,
            }
        }
        (DataType::Year, Datum::Signed(_) | Datum::Unsigned(_) | Datum::Text(..)) => year_key(value, comparer),
        _ => Key::Unusable,
    }
}

/// A double, exactly, if no two integers beside it are the same double.
fn exact_double(number: f64) -> Option<Decimal> {
    (number.abs() < 9e15).then(|| Decimal::from_f64(number).0)
}

/// The place of some bytes among those of a BINARY column, all of which are of one length.
fn binary_key<'v>(bytes: &'v [u8], length: usize, env: &mut Env<'v, '_>) -> Key<'v> {
    let text = |bytes| Datum::Text(bytes, Collation::Binary);
    match bytes.get(..length) {
        // Filled up with zeros, which are more than nothing.
        None => Key::Between(text(bytes)),
        Some(front) if front.len() == bytes.len() => Key::Exact(text(bytes)),
        // More than what it begins with, and less than what comes next.
        Some(front) => {
            let Some(last) = front.iter().rposition(|byte| *byte != u8::MAX) else { return Key::Unusable };
            let next = env.arena.alloc_slice_copy(front);
            next[last] += 1;
            next[last + 1..].fill(0);
            Key::Between(text(next))
        }
    }
}

/// The place of a number among years.
fn year_key<'v>(value: Datum<'_>, comparer: &Comparer) -> Key<'v> {
    let number = match value {
        Datum::Signed(number) => number,
        Datum::Unsigned(number) => i64::try_from(number).unwrap_or(i64::MAX),
        Datum::Text(text, _) => match Decimal::parse(text) {
            parsed if parsed.len == text.len() && parsed.len > 0 && parsed.value.scale() == 0 => {
                parsed.value.to_i64().0
            }
            _ => return Key::Unusable,
        },
        _ => return Key::Unusable,
    };
    let number = match number {
        1..=69 if comparer.kind == Some(ComparisonType::Year) => 2000 + number,
        70..=99 if comparer.kind == Some(ComparisonType::Year) => 1900 + number,
        _ => number,
    };
    match number {
        0 | 1901..=2155 => Key::Exact(Datum::Unsigned(number as u64)),
        ..0 => Key::Between(Datum::Unsigned(0)),
        1..=1900 => Key::Between(Datum::Unsigned(1901)),
        _ => Key::Unusable,
    }
}

/// The place of a number among integers of a size.
fn integer_key<'v>(number: Decimal, size: IntegerSize, is_unsigned: bool) -> Key<'v> {
    let Ok(floor) = number.floor() else { return Key::Unusable };
    let whole = floor == number;
    let Ok(next) = (if whole { Ok(floor) } else { number.ceiling() }) else { return Key::Unusable };
    let (low, high) = match is_unsigned {
        true => (0, i128::from(size.unsigned_max())),
        false => (i128::from(size.signed_min()), i128::from(size.signed_max())),
    };
    let datum = |number: i128| if is_unsigned { Datum::Unsigned(number as u64) } else { Datum::Signed(number as i64) };
    match next.to_i128() {
        Some(next) if (low..=high).contains(&next) => {
            if whole {
                Key::Exact(datum(next))
            } else {
                Key::Between(datum(next))
            }
        }
        // Everything is greater.
        _ if number.is_negative() => Key::Between(datum(low)),
        _ => Key::Unusable,
    }
}

/// The place of a number among those of a DECIMAL column.
fn decimal_key<'v>(number: Decimal, precision: u8, scale: u8) -> Key<'v> {
    let Ok(mut near) = number.truncate(scale.into()) else { return Key::Unusable };
    let exact = near == number;
    if near < number {
        match near.add(&Decimal::from_parts(1, scale)) {
            Ok(next) => near = next,
            Err(_) => return Key::Unusable,
        }
    }
    match near.fit(precision, scale) {
        (fitted, Fit::Exact) if exact => Key::Exact(Datum::Decimal(fitted)),
        (fitted, Fit::Exact) => Key::Between(Datum::Decimal(fitted)),
        _ => Key::Unusable,
    }
}
