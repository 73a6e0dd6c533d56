//! Keys of groups: rows are in one group if the bytes of their keys are equal.
//!
//! ```text
//!   each value = a byte for its kind, then: numbers in one form, texts by the sort key of their collation
//! ```
//!
//! # Invariants
//! 1. Values that compare as equal (in one column, under its collation) have equal bytes; others have not.
//! 2. No key is the beginning of another one of as many columns.

use meseta_types::{Collation, Datum, Decimal};

/// Appends the key of a value, its text under this collation.
pub fn append_group_key(value: Datum<'_>, collation: Collation, out: &mut Vec<u8>) {
    let integer = |number: i128, out: &mut Vec<u8>| {
        out.push(1);
        out.extend_from_slice(&number.to_be_bytes()[7..]);
    };
    match value {
        Datum::Null => out.push(0),
        Datum::Signed(number) => integer(number.into(), out),
        Datum::Unsigned(number) => integer(number.into(), out),
        Datum::Bits { bits, .. } => integer(bits.into(), out),
        Datum::Member { number, .. } => integer(number.into(), out),
        Datum::Float(number) => append_double(number.into(), out),
        Datum::Double(number) => append_double(number, out),
        Datum::Decimal(number) => append_decimal(&number, out),
        Datum::Text(text, _) => {
            out.push(4);
            append_framed(out, |out| collation.append_sort_key(text, None, out));
        }
        Datum::Date(date) => {
            out.push(5);
            out.extend_from_slice(&date.to_number().to_be_bytes());
        }
        Datum::DateTime(value, _) => {
            out.push(6);
            out.extend_from_slice(&value.to_number().to_be_bytes());
            out.extend_from_slice(&value.micros.to_be_bytes());
        }
        Datum::Time(time, _) => {
            out.push(7);
            out.extend_from_slice(&time.micros().to_be_bytes());
        }
        Datum::Json(document) => {
            out.push(8);
            append_framed(out, |out| append_json(meseta_types::json::Element::root(document), 0, out));
        }
    }
}

/// Appends the key of a row; `collations` are those of its columns.
pub fn append_row_key(row: &[Datum<'_>], collations: &[Collation], out: &mut Vec<u8>) {
    for (number, value) in row.iter().enumerate() {
        append_group_key(*value, collations.get(number).copied().unwrap_or(Collation::Binary), out);
    }
}

/// Writes the length in front of what is appended.
fn append_framed(out: &mut Vec<u8>, append: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    append(out);
    let len = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&len.to_be_bytes());
}

fn append_double(number: f64, out: &mut Vec<u8>) {
    out.push(2);
    // There is one zero.
    out.extend_from_slice(&(if number == 0.0 { 0.0 } else { number }).to_bits().to_be_bytes());
}

fn append_decimal(number: &Decimal, out: &mut Vec<u8>) {
    out.push(3);
    append_framed(out, |out| {
        let number = number.normalized();
        if number.is_zero() { out.push(b'0') } else { number.append_text(out) }
    });
}

/// Documents that are equal have equal keys: numbers of all kinds are one.
fn append_json(element: meseta_types::json::Element<'_>, depth: usize, out: &mut Vec<u8>) {
    use meseta_types::json::Element;
    if depth > meseta_types::json::MAX_DEPTH {
        return;
    }
    match element {
        Element::Signed(number) => append_decimal(&Decimal::from(number), out),
        Element::Unsigned(number) => append_decimal(&Decimal::from(number), out),
        Element::Decimal(number) => append_decimal(&number, out),
        Element::Double(number) => match Decimal::from_f64(number) {
            (exact, true) => append_decimal(&exact, out),
            _ => append_double(number, out),
        },
        Element::Array(elements) => {
            out.push(b'[');
            elements.values().for_each(|value| append_json(value, depth + 1, out));
            out.push(b']');
        }
        Element::Object(members) => {
            out.push(b'{');
            for (key, value) in members.members() {
                append_framed(out, |out| out.extend_from_slice(key));
                append_json(value, depth + 1, out);
            }
            out.push(b'}');
        }
        other => {
            out.push(b'v');
            append_framed(out, |out| other.append_text(out));
        }
    }
}
