//! The order of documents.
//!
//! # Source
//! MySQL Reference Manual, "Comparison and Ordering of JSON Values": first by kind (BLOB, BIT, OPAQUE, DATETIME, TIME,
//! DATE, BOOLEAN, ARRAY, OBJECT, STRING, numbers, NULL, from above), then by value.

use std::cmp::Ordering;

use super::{Element, MAX_DEPTH};
use crate::comparison::{compare_double_with_decimal, compare_integers};
use crate::decimal::Decimal;

fn precedence(element: &Element<'_>) -> u8 {
    match element {
        Element::Null => 0,
        Element::Signed(_) | Element::Unsigned(_) | Element::Double(_) | Element::Decimal(_) => 1,
        Element::Text(_) => 2,
        Element::Object(_) => 3,
        Element::Array(_) => 4,
        Element::Bool(_) => 5,
        Element::Date(_) => 6,
        Element::Time(_) => 7,
        Element::DateTime(_) => 8,
        Element::Opaque(16, _) => 10,
        Element::Opaque(249..=254 | 15, _) => 11,
        Element::Opaque(..) => 9,
    }
}

/// The order of two documents.
pub fn compare(left: &[u8], right: &[u8]) -> Ordering {
    Element::root(left).compare(&Element::root(right))
}

impl Element<'_> {
    /// The order of two elements.
    pub fn compare(&self, other: &Element<'_>) -> Ordering {
        compare_at(self, other, 0)
    }
}

fn compare_at(left: &Element<'_>, right: &Element<'_>, depth: usize) -> Ordering {
    let order = precedence(left).cmp(&precedence(right));
    if order.is_ne() || depth > MAX_DEPTH {
        return order;
    }
    match (left, right) {
        (Element::Bool(a), Element::Bool(b)) => a.cmp(b),
        (Element::Text(a), Element::Text(b)) => a.cmp(b),
        (Element::Date(a), Element::Date(b)) => a.cmp(b),
        (Element::Time(a), Element::Time(b)) => a.cmp(b),
        (Element::DateTime(a), Element::DateTime(b)) => a.cmp(b),
        (Element::Opaque(a, x), Element::Opaque(b, y)) => a.cmp(b).then_with(|| x.cmp(y)),
        (Element::Array(a), Element::Array(b)) => {
            let different = a.values().zip(b.values()).map(|(x, y)| compare_at(&x, &y, depth + 1)).find(|o| o.is_ne());
            different.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Element::Object(a), Element::Object(b)) => a.len().cmp(&b.len()).then_with(|| {
            for ((key, x), (other_key, y)) in a.members().zip(b.members()) {
                let order = super::binary::key_order(key, other_key).then_with(|| compare_at(&x, &y, depth + 1));
                if order.is_ne() {
                    return order;
                }
            }
            Ordering::Equal
        }),
        _ => compare_numbers(left, right),
    }
}

fn compare_numbers(left: &Element<'_>, right: &Element<'_>) -> Ordering {
    let decimal = |element: &Element<'_>| match *element {
        Element::Signed(number) => Decimal::from(number),
        Element::Unsigned(number) => Decimal::from(number),
        Element::Decimal(number) => number,
        _ => Decimal::ZERO,
    };
    let wide = |element: &Element<'_>| match *element {
        Element::Signed(number) => Some(i128::from(number)),
        Element::Unsigned(number) => Some(i128::from(number)),
        _ => None,
    };
    match (left, right) {
        (Element::Double(a), Element::Double(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
        (Element::Double(a), _) => compare_double_with_decimal(*a, &decimal(right)),
        (_, Element::Double(b)) => compare_double_with_decimal(*b, &decimal(left)).reverse(),
        _ => match (wide(left), wide(right)) {
            (Some(a), Some(b)) => compare_integers(a, b),
            _ => decimal(left).cmp(&decimal(right)),
        },
    }
}
