//! Keys of values that are compared: bytes that are equal where a comparison says that the values are.
//!
//! # Invariants
//! 1. Of values that have keys, those are equal that compare as equal, and no others.

use meseta_types::comparison::{ComparisonType, exact_number, text_as_point};
use meseta_types::{Context, Datum};

use super::Comparer;
use super::group::append_group_key;

/// Whether equal values of this comparison have equal keys.
pub fn has_keys(comparer: &Comparer) -> bool {
    use ComparisonType as T;
    matches!(comparer.kind, Some(T::Integer | T::Decimal | T::Double | T::Text | T::DateTime | T::Time | T::Given))
}

/// A key under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keyed {
    /// It is there.
    Yes,
    /// A value is NULL: it is equal to nothing.
    Null,
    /// These values have no keys: they have to be compared.
    No,
}

/// Appends bytes that are equal for values that compare as equal.
pub fn append_comparison_key(value: Datum<'_>, comparer: &Comparer, context: &mut Context, out: &mut Vec<u8>) -> Keyed {
    use ComparisonType as T;
    let key = match (comparer.kind, value) {
        (_, Datum::Null) => return Keyed::Null,
        (Some(T::Integer), Datum::Signed(_) | Datum::Unsigned(_)) => value,
        (Some(T::Integer), Datum::Bits { bits: number, .. } | Datum::Member { number, .. }) => Datum::Unsigned(number),
        (Some(T::Text), Datum::Text(..)) => value,
        (Some(T::Text), Datum::Member { number, members, set: false }) => {
            Datum::Text(members.get(number), members.collation())
        }
        (Some(T::Text), other) => {
            let mut text = Vec::new();
            other.append_text(&mut text);
            append_group_key(Datum::Text(&text, comparer.collation), comparer.collation, out);
            return Keyed::Yes;
        }
        (
            Some(T::Decimal),
            Datum::Signed(_)
            | Datum::Unsigned(_)
            | Datum::Decimal(_)
            | Datum::Bits { .. }
            | Datum::Member { .. }
            | Datum::Time(..),
        ) => match value.to_decimal(context) {
            Some(number) => Datum::Decimal(number),
            None => return Keyed::No,
        },
        (Some(T::Given), _) => match exact_number(value, context) {
            Some(number) => Datum::Decimal(number),
            // As doubles.
            None => return Keyed::No,
        },
        (Some(T::Double), _) => match value.to_double(context) {
            Some(number) => Datum::Double(number),
            None => return Keyed::No,
        },
        (Some(T::DateTime), Datum::DateTime(found, _)) => Datum::DateTime(found, 6),
        (Some(T::DateTime), Datum::Date(date)) => Datum::DateTime(date.midnight(), 6),
        (Some(T::DateTime), Datum::Text(text, _)) => match text_as_point(text, context) {
            Some(point) => Datum::DateTime(point, 6),
            None => return Keyed::No,
        },
        (Some(T::Time), Datum::Time(..)) => value,
        _ => return Keyed::No,
    };
    append_group_key(key, comparer.collation, out);
    Keyed::Yes
}
