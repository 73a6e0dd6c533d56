//! What an index is asked for, for a value that its column is compared with.
//!
//! ```text
//!   k = 5.5, k < 5.5     k an integer: nothing is equal, 5 is less, and 6 is greater           Between(6)
//!   c = 'abc'            c a text in the collation of the comparison                              Exact('abc')
//!   e = 'new'            e an ENUM: the member of this name. What texts are less or greater its order does not tell   Exact(2)
//!   d = '2024-13-01'     no date: the comparison says what comes of it                        Unusable
//! ```
//!
//! # Invariants
//! 1. A key finds all rows that the comparison is true of. Where that is not certain, it is unusable, and all rows are looked at.

use meseta_types::comparison::{ComparisonKind, ComparisonType, as_length, exact_number, given_year};
use meseta_types::decimal::Fit;
use meseta_types::{Collation, DataType, Datum, Decimal};

use super::Env;
use super::comparer::{Comparer, kind_of};

/// Whether comparing a column with values of a type follows the order that the column is stored in. Comparisons of a
/// column of integers as decimals or doubles do: [`key_value`] finds the integer, or says that there is none. Members are stored by
/// their numbers, and beside texts compare as texts.
pub fn orders_like(comparer: &Comparer, column: &DataType, value: &DataType) -> bool {
    use ComparisonKind as Kind;
    let Some(kind) = kind_of(column) else { return false };
    let is_number = |kind| matches!(kind, Some(Kind::Integer | Kind::Decimal | Kind::Double));
    match comparer.kind {
        // A value of unknown type: `key_value` decides for each.
        None => kind != Kind::Member,
        Some(ComparisonType::Text) => column.is_string() && column.collation() == Some(comparer.collation),
        Some(ComparisonType::Integer) => matches!(kind, Kind::Integer | Kind::Member),
        Some(ComparisonType::Given) => matches!(kind, Kind::Integer | Kind::Decimal),
        Some(ComparisonType::Year) => matches!(column, DataType::Year),
        Some(ComparisonType::Decimal) => matches!(kind, Kind::Integer | Kind::Decimal | Kind::Member | Kind::Time),
        Some(ComparisonType::Double) => is_number(Some(kind)) || kind == Kind::Member && is_number(kind_of(value)),
        Some(ComparisonType::DateTime) => {
            kind == Kind::DateTime && matches!(kind_of(value), Some(Kind::DateTime | Kind::Text))
        }
        Some(ComparisonType::Time) => {
            let value = kind_of(value);
            kind == Kind::Time && (is_number(value) || matches!(value, Some(Kind::Time | Kind::Text)))
        }
        Some(ComparisonType::YearBesideDate | ComparisonType::Json) => false,
    }
}

/// Whether an index on a column finds what is equal to values of a type: where its order is that of the comparison, and members by their
/// texts.
pub fn finds_equal(comparer: &Comparer, column: &DataType, value: &DataType) -> bool {
    let is_member = kind_of(column) == Some(ComparisonKind::Member);
    match comparer.kind {
        None => true,
        Some(ComparisonType::Text) if is_member => column.collation() == Some(comparer.collation),
        _ => orders_like(comparer, column, value),
    }
}

/// What to look for in an index on a column that is compared with a value.
#[derive(Clone, Copy, Debug)]
pub enum Key<'v> {
    /// This value, which is of the column's type.
    Exact(Datum<'v>),
    /// No value of the column is equal; those below this one are less, this one and those above are greater (if [`orders_like`] is true).
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
        (DataType::Enum(_) | DataType::Set(_), Datum::Text(..) | Datum::Member { .. }) => {
            member_key(value, column, comparer, env)
        }
        (
            DataType::Integer { .. } | DataType::Bit { .. } | DataType::Enum(_) | DataType::Set(_),
            Datum::Signed(_) | Datum::Unsigned(_) | Datum::Decimal(_) | Datum::Bits { .. } | Datum::Member { .. },
        ) => match value.to_decimal(env.context) {
            Some(number) => whole_key(number, column),
            None => Key::Unusable,
        },
        (
            DataType::Integer { .. } | DataType::Bit { .. } | DataType::Enum(_) | DataType::Set(_),
            Datum::Float(_) | Datum::Double(_),
        ) => {
            let number = value.to_double(env.context).and_then(exact_double);
            number.map_or(Key::Unusable, |number| whole_key(number, column))
        }
        (DataType::Integer { .. } | DataType::Bit { .. }, Datum::Text(text, _)) => {
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
            number.map_or(Key::Unusable, |number| whole_key(number, column))
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
        (DataType::Float { .. } | DataType::Double { .. }, _)
            if matches!(comparer.kind, Some(ComparisonType::Double)) =>
        {
            let mut apart = env.context.apart();
            match (column, value.to_double(&mut apart)) {
                // (The comparison warns.)
                _ if apart.warnings.count() > 0 => Key::Unusable,
                (DataType::Float { .. }, Some(number)) => float_key(number),
                (_, Some(number)) => Key::Exact(Datum::Double(number)),
                _ => Key::Unusable,
            }
        }
        (
            DataType::Char { collation, .. } | DataType::Varchar { collation, .. } | DataType::Text { collation, .. },
            Datum::Text(text, own),
        ) => {
            if !is_comparable(text, own, *collation, comparer) {
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
        (DataType::Time { decimals }, Datum::Text(text, _)) => {
            let parsed = meseta_types::temporal::parse_time(text, env.context.mode);
            match parsed.value {
                Some(time) if !parsed.truncated && time.round(*decimals, true).0 == time => {
                    Key::Exact(Datum::Time(time, *decimals))
                }
                _ => Key::Unusable,
            }
        }
        (DataType::Time { decimals }, Datum::Time(..) | Datum::Signed(_) | Datum::Unsigned(_) | Datum::Decimal(_)) => {
            match as_length(value, env.context) {
                Some(time) if time.round(*decimals, true).0 == time => Key::Exact(Datum::Time(time, *decimals)),
                _ => Key::Unusable,
            }
        }
        (DataType::Year, Datum::Signed(_) | Datum::Unsigned(_) | Datum::Text(..)) => year_key(value, comparer, env),
        _ => Key::Unusable,
    }
}

/// Whether a text is compared in a column's own collation, and is of the same bytes in its character set.
fn is_comparable(text: &[u8], own: Collation, column: Collation, comparer: &Comparer) -> bool {
    let (own, charset) = (own.charset(), column.charset());
    column == comparer.collation && (own == charset || own.is_same_in(charset, text))
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
fn year_key<'v>(value: Datum<'_>, comparer: &Comparer, env: &mut Env<'v, '_>) -> Key<'v> {
    let mut apart = env.context.apart();
    let number = match comparer.kind {
        Some(ComparisonType::Year) => given_year(value, &mut apart),
        _ => value.to_double(&mut apart),
    };
    let Some(number) = number.filter(|number| number.trunc() == *number) else { return Key::Unusable };
    // (The comparison warns.)
    if apart.warnings.count() > 0 {
        return Key::Unusable;
    }
    match number as i64 {
        0 | 1901..=2155 => Key::Exact(Datum::Unsigned(number as u64)),
        ..0 => Key::Between(Datum::Unsigned(0)),
        1..=1900 => Key::Between(Datum::Unsigned(1901)),
        _ => Key::Unusable,
    }
}

/// The place of a number among the whole ones that a column has: integers, bits, the numbers of members.
fn whole_key<'v>(number: Decimal, column: &'v DataType) -> Key<'v> {
    let unsigned = |number: i128| number as u64;
    let (low, high) = match column {
        DataType::Integer { size, .. } if column.is_unsigned() => (0, i128::from(size.unsigned_max())),
        DataType::Integer { size, .. } => (i128::from(size.signed_min()), i128::from(size.signed_max())),
        DataType::Bit { width } => (0, (1_i128 << width) - 1),
        DataType::Enum(members) => (0, members.len() as i128),
        DataType::Set(members) => (0, i128::from(members.mask())),
        _ => return Key::Unusable,
    };
    let datum = |number: i128| match column {
        DataType::Bit { width } => Datum::Bits { bits: unsigned(number), width: *width },
        DataType::Enum(members) => Datum::Member { number: unsigned(number), members, set: false },
        DataType::Set(members) => Datum::Member { number: unsigned(number), members, set: true },
        _ if column.is_unsigned() => Datum::Unsigned(unsigned(number)),
        _ => Datum::Signed(number as i64),
    };
    let Ok(floor) = number.floor() else { return Key::Unusable };
    let whole = floor == number;
    let Ok(next) = (if whole { Ok(floor) } else { number.ceiling() }) else { return Key::Unusable };
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

/// The member that a text is equal to, of an ENUM or a SET. (Nothing is less or greater: texts have another order than members.)
fn member_key<'v>(value: Datum<'v>, column: &'v DataType, comparer: &Comparer, env: &mut Env<'v, '_>) -> Key<'v> {
    let (DataType::Enum(members) | DataType::Set(members)) = column else { return Key::Unusable };
    let Some(text) = value.to_text(env.arena) else { return Key::Null };
    if !is_comparable(text, value.collation(), members.collation(), comparer) {
        return Key::Unusable;
    }
    let is_equal = |name: &[u8]| comparer.collation.equal(name, text);
    match column {
        DataType::Enum(_) => {
            // (0 is the empty text. Where two are equal the index does not have them side by side.)
            let mut equal = (0..=members.len() as u64).filter(|&number| is_equal(members.get(number)));
            match (equal.next(), equal.next()) {
                (Some(number), None) => Key::Exact(Datum::Member { number, members, set: false }),
                (Some(_), Some(_)) => Key::Unusable,
                (None, _) => Key::Between(Datum::Member { number: 0, members, set: false }),
            }
        }
        _ => {
            let (number, _) = members.parse_set(text);
            let mut shown = Vec::new();
            members.append_set(number, &mut shown);
            // (A member without a name is not seen in a text.)
            let is_told = is_equal(&shown) && members.names().all(|name| !name.is_empty());
            if is_told { Key::Exact(Datum::Member { number, members, set: true }) } else { Key::Unusable }
        }
    }
}

/// The place of a number among those of a FLOAT column, which are doubles where they are compared.
fn float_key<'v>(number: f64) -> Key<'v> {
    let near = number as f32;
    match f64::from(near) {
        _ if !near.is_finite() => Key::Unusable,
        found if found == number => Key::Exact(Datum::Float(near)),
        found if found > number => Key::Between(Datum::Float(near)),
        _ => Key::Between(Datum::Float(near.next_up())),
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
