//! Types of results: of integers with so many digits, of texts with so many characters, of two types that meet.
//!
//! Source: what MySQL 9.7 says of the columns of results (tests/expression).

use meseta_types::{Collated, Collation, DataType, Derivation, IntegerSize, TextSize, datatype::Number};

use super::Expr;

const PLAIN: Number = Number { unsigned: false, zerofill: false };
/// Decimals from which on each value has its own.
const NOT_FIXED: u8 = 31;
/// Characters of a DOUBLE beside its decimals: fifteen digits, a sign and a point.
const DOUBLE_DIGITS: u32 = 17;
const UNSIGNED: Number = Number { unsigned: true, zerofill: false };

/// BIGINT with this display width.
pub(super) const fn integer(width: u8) -> DataType {
    DataType::Integer { size: IntegerSize::Big, number: PLAIN, display_width: Some(width) }
}

/// BIGINT UNSIGNED with this display width.
pub(super) const fn unsigned(width: u8) -> DataType {
    DataType::Integer { size: IntegerSize::Big, number: UNSIGNED, display_width: Some(width) }
}

/// The type of conditions.
pub(super) const BOOLEAN: DataType = integer(1);

/// DECIMAL, within its limits.
pub(super) fn decimal(whole: u32, scale: u32, is_unsigned: bool) -> DataType {
    let scale = scale.min(30);
    let precision = (whole + scale).clamp(1, 65);
    let number = Number { unsigned: is_unsigned, zerofill: false };
    DataType::Decimal { precision: precision as u8, scale: scale.min(precision) as u8, number }
}

/// The type of a text of so many characters: VARCHAR, or TEXT if it is longer than that can be.
pub fn string_type(characters: u64, collation: Collation) -> DataType {
    let bytes = characters.saturating_mul(collation.charset().max_len().into());
    match bytes {
        ..=65_535 => DataType::Varchar { length: characters as u32, collation },
        65_536..=16_777_215 => DataType::Text { size: TextSize::Medium, collation },
        _ => DataType::Text { size: TextSize::Long, collation },
    }
}

/// How the text of numbers, dates and the like is held: anything can have it.
pub(super) const fn numeric_collated(connection: Collation) -> Collated {
    Collated { collation: connection, derivation: Derivation::Numeric, ascii: true }
}

/// What a type is for those who give a column's or a variable's value.
pub(super) fn collated_of(data_type: &DataType, derivation: Derivation, connection: Collation) -> Collated {
    match data_type {
        DataType::Json => Collated { collation: Collation::Utf8mb4Bin, derivation, ascii: false },
        DataType::Bit { .. } => Collated { collation: Collation::Binary, derivation, ascii: false },
        DataType::Null => Collated { collation: Collation::Binary, derivation: Derivation::Ignorable, ascii: true },
        other => match other.collation() {
            Some(collation) => {
                let ascii = collation.charset() == meseta_types::Charset::Ascii;
                Collated { collation, derivation, ascii }
            }
            None => numeric_collated(connection),
        },
    }
}

/// How a column holds its collation: as a query says, or as a column of a table does.
pub(super) fn collated_as(said: Option<Collated>, data_type: &DataType, connection: Collation) -> Collated {
    said.unwrap_or_else(|| collated_of(data_type, Derivation::Implicit, connection))
}

/// Digits before the point, after it, and whether it is unsigned, of what arithmetic takes for exact; `None` is DOUBLE.
pub(super) fn exact_digits(data_type: &DataType) -> Option<(u32, u32, bool)> {
    Some(match data_type {
        DataType::Integer { .. } => {
            let is_unsigned = data_type.is_unsigned();
            let width = u32::from(data_type.shown_width());
            (width.saturating_sub(u32::from(!is_unsigned)).max(1), 0, is_unsigned)
        }
        DataType::Decimal { precision, scale, .. } => {
            (u32::from(precision.saturating_sub(*scale)), u32::from(*scale), data_type.is_unsigned())
        }
        DataType::Bit { width } => (u32::from(*width).min(20), 0, true),
        DataType::Year => (4, 0, true),
        DataType::Date => (8, 0, false),
        DataType::Time { decimals } => (7, u32::from(*decimals), false),
        DataType::DateTime { decimals } | DataType::Timestamp { decimals } => (14, u32::from(*decimals), false),
        DataType::Null => (0, 0, false),
        _ => return None,
    })
}

/// Whether arithmetic takes it for an integer.
pub(super) fn is_integral(data_type: &DataType) -> bool {
    match data_type {
        DataType::Integer { .. } | DataType::Bit { .. } | DataType::Year | DataType::Date | DataType::Null => true,
        DataType::Time { decimals } | DataType::DateTime { decimals } | DataType::Timestamp { decimals } => {
            *decimals == 0
        }
        _ => false,
    }
}

/// Characters and decimals of an operand of arithmetic that is done with doubles; `None` where each value has its own decimals.
fn fixed_digits(data_type: &DataType) -> Option<(u32, u32)> {
    let is_fixed = data_type.is_numeric() || data_type.is_temporal() || *data_type == DataType::Null;
    let decimals = if is_fixed { data_type.column_decimals() } else { NOT_FIXED };
    (decimals < NOT_FIXED).then(|| (data_type.column_length(meseta_types::Charset::Latin1), decimals.into()))
}

/// DOUBLE of so many characters, with so many decimals if those are few enough to be fixed.
fn double(width: u32, decimals: u32) -> DataType {
    let digits = (decimals < u32::from(NOT_FIXED)).then(|| (width.min(255) as u8, decimals as u8));
    DataType::Double { digits, number: PLAIN }
}

/// DOUBLE of any width, with the decimals of this type and so many more: of a sum over rows, or of what has another sign.
pub(super) fn double_like(data_type: &DataType, more_decimals: u32) -> DataType {
    let of_decimals = |decimals| double(DOUBLE_DIGITS + decimals, decimals);
    fixed_digits(data_type).map_or(DataType::DOUBLE, |(_, decimals)| of_decimals(decimals + more_decimals))
}

/// DOUBLE with the decimals of that type which has more, wide enough for both.
pub(super) fn double_of_both(left: &DataType, right: &DataType) -> DataType {
    digits_of_both(left, right).map_or(DataType::DOUBLE, |(width, decimals)| double(width, decimals))
}

fn digits_of_both(left: &DataType, right: &DataType) -> Option<(u32, u32)> {
    let ((left_width, left_decimals), (right_width, right_decimals)) = (fixed_digits(left)?, fixed_digits(right)?);
    let whole = left_width.saturating_sub(left_decimals).max(right_width.saturating_sub(right_decimals));
    let decimals = left_decimals.max(right_decimals);
    Some((whole.saturating_add(decimals), decimals))
}

/// DOUBLE of a quotient, with so many decimals more than its operands.
pub(super) fn double_quotient(left: &DataType, right: &DataType, increment: u32) -> DataType {
    let (Some((left_width, left_decimals)), Some((_, right_decimals))) = (fixed_digits(left), fixed_digits(right))
    else {
        return DataType::DOUBLE;
    };
    let decimals = left_decimals.max(right_decimals) + increment;
    double((left_width.saturating_sub(left_decimals) + decimals).min(DOUBLE_DIGITS + decimals), decimals)
}

/// Characters of the longest text that a value of the type makes.
pub(super) fn characters(data_type: &DataType) -> u64 {
    match data_type {
        DataType::Bit { width } => u64::from(*width).div_ceil(8),
        DataType::Json => u64::from(u32::MAX),
        DataType::Text { size, collation } => {
            u64::from(size.max_bytes()) / u64::from(collation.charset().max_len().max(1))
        }
        DataType::Float { digits: None, .. } => 12,
        DataType::Double { digits: None, .. } => 23,
        other => match other.max_characters() {
            Some(count) => count,
            None => other.column_length(meseta_types::Charset::Latin1).into(),
        },
    }
}

/// The type in which values of two types are one column: of CASE, IF, COALESCE, UNION. Texts get this collation.
pub fn merge_types(left: &DataType, right: &DataType, collation: Collation) -> DataType {
    use DataType::*;
    match (left, right) {
        (Null, other) | (other, Null) => match other.collation() {
            Some(_) if !matches!(other, Enum(_) | Set(_)) => with_collation(other, collation),
            _ => unfilled(other),
        },
        (a, b) if a == b && !a.is_string() && !matches!(a, Enum(_) | Set(_)) => unfilled(a),
        (Json, Json) => Json,
        _ if left.is_numeric() && right.is_numeric() => merge_numbers(left, right),
        _ if left.is_temporal() && right.is_temporal() => {
            let decimals = left.decimals().unwrap_or(0).max(right.decimals().unwrap_or(0));
            match (left, right) {
                (Time { .. }, Time { .. }) => Time { decimals },
                (Timestamp { .. }, Timestamp { .. }) => Timestamp { decimals },
                _ => DateTime { decimals },
            }
        }
        (Char { length: a, .. }, Char { length: b, .. }) if *a.max(b) <= 255 => Char { length: *a.max(b), collation },
        (Text { size: a, .. }, Text { size: b, .. }) => Text { size: *a.max(b), collation },
        (Text { size, .. }, other) | (other, Text { size, .. }) => {
            let bytes = characters(other).saturating_mul(collation.charset().max_len().into());
            Text { size: (*size).max(TextSize::for_bytes(bytes)), collation }
        }
        (Json, _) | (_, Json) => Text { size: TextSize::Long, collation },
        _ => string_type(characters(left).max(characters(right)), collation),
    }
}

/// The type of what is made of a column's values: it has no ZEROFILL.
pub fn unfilled(data_type: &DataType) -> DataType {
    let mut unfilled = data_type.clone();
    match &mut unfilled {
        DataType::Integer { number, .. }
        | DataType::Decimal { number, .. }
        | DataType::Float { number, .. }
        | DataType::Double { number, .. } => *number = number.unfilled(),
        _ => {}
    }
    unfilled
}

fn with_collation(data_type: &DataType, collation: Collation) -> DataType {
    match data_type {
        DataType::Char { length, .. } => DataType::Char { length: *length, collation },
        DataType::Varchar { length, .. } => DataType::Varchar { length: *length, collation },
        DataType::Text { size, .. } => DataType::Text { size: *size, collation },
        other => other.clone(),
    }
}

fn merge_numbers(left: &DataType, right: &DataType) -> DataType {
    let (Some((left_whole, left_scale, left_unsigned)), Some((right_whole, right_scale, right_unsigned))) =
        (exact_digits(left), exact_digits(right))
    else {
        return match (left, right) {
            (DataType::Float { .. }, DataType::Float { .. }) => {
                let digits =
                    digits_of_both(left, right).map(|(width, decimals)| (width.min(255) as u8, decimals as u8));
                DataType::Float { digits, number: PLAIN }
            }
            _ => double_of_both(left, right),
        };
    };
    let both_integers = !matches!(left, DataType::Decimal { .. }) && !matches!(right, DataType::Decimal { .. });
    if both_integers && (left_unsigned == right_unsigned || left_whole.max(right_whole) < 19) {
        let is_unsigned = left_unsigned && right_unsigned;
        let width = left_whole.max(right_whole) + u32::from(!is_unsigned);
        let of = |data_type: &DataType| match data_type {
            DataType::Integer { size, .. } => *size,
            DataType::Year => IntegerSize::Small,
            _ => IntegerSize::Big,
        };
        let mut size = of(left).max(of(right));
        if left_unsigned != right_unsigned {
            size = match size {
                IntegerSize::Tiny => IntegerSize::Small,
                IntegerSize::Small => IntegerSize::Medium,
                IntegerSize::Medium => IntegerSize::Int,
                _ => IntegerSize::Big,
            };
        }
        let number = Number { unsigned: is_unsigned, zerofill: false };
        return DataType::Integer { size, number, display_width: Some(width.min(21) as u8) };
    }
    decimal(left_whole.max(right_whole), left_scale.max(right_scale), left_unsigned && right_unsigned)
}

impl Expr {
    /// The longest value in bytes as a client hears it, who wants its text in this character set.
    pub fn column_length(&self, client: meseta_types::Charset) -> u32 {
        match (&self.kind, &self.data_type) {
            (super::ExprKind::Column(_) | super::ExprKind::Outer { .. }, data_type) => data_type.column_length(client),
            (_, DataType::Double { digits: None, .. }) => 23,
            (_, DataType::Json) => u32::MAX / 4 * 4,
            (_, data_type) => data_type.column_length(client),
        }
    }

    /// The number of the collation as a client hears it, who wants its text with this one.
    pub fn column_charset(&self, client: Collation) -> u16 {
        match (&self.kind, &self.data_type) {
            (super::ExprKind::Column(_) | super::ExprKind::Outer { .. }, data_type) => data_type.column_charset(client),
            (_, DataType::Json) => client.id(),
            (_, data_type) => data_type.column_charset(client),
        }
    }

    /// The number of decimals as a client hears it: 31 for texts that are no columns.
    pub fn column_decimals(&self) -> u8 {
        match &self.kind {
            super::ExprKind::Column(_) | super::ExprKind::Outer { .. } => self.data_type.column_decimals(),
            _ if self.data_type.is_string() || self.data_type == DataType::Json => 31,
            _ => self.data_type.column_decimals(),
        }
    }
}
