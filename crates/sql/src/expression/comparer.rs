//! How two values compare: found out once, when an expression is bound.
//!
//! Source: the manual's "Type Conversion in Expression Evaluation".

use std::cmp::Ordering;

use meseta_types::comparison::{ComparisonKind, ComparisonType, compare_as};
use meseta_types::{CastType, Collation, Context, DataType, DateTime, Datum, cast, compare};

use crate::error::Result;

/// `= <=> <> < <= > >=`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // The names say it.
pub enum ComparisonOperator {
    Equal,
    NullSafeEqual,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl ComparisonOperator {
    /// Whether it holds for values in this order.
    #[inline]
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal | Self::NullSafeEqual => order == Ordering::Equal,
            Self::NotEqual => order != Ordering::Equal,
            Self::Less => order == Ordering::Less,
            Self::LessOrEqual => order != Ordering::Greater,
            Self::Greater => order == Ordering::Greater,
            Self::GreaterOrEqual => order != Ordering::Less,
        }
    }

    /// The operator with its operands exchanged.
    pub fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            other => other,
        }
    }

    /// The operator that holds where this one does not (NULL aside); none for `<=>`.
    pub fn negated(self) -> Option<Self> {
        Some(match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
            Self::NullSafeEqual => return None,
        })
    }

    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NullSafeEqual => "<=>",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }
}

/// How two values compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Comparer {
    /// As what; `None` if the type of one of them is not known before there is a value.
    pub kind: Option<ComparisonType>,
    /// The collation of texts.
    pub collation: Collation,
    /// Whether a text that is no date is an error beside a date; otherwise it warns and is the zero date.
    pub refuses: bool,
}

impl Comparer {
    /// How values of these types compare, texts in this collation.
    pub fn new(left: &DataType, right: &DataType, collation: Collation) -> Comparer {
        let kind = kind_of(left).zip(kind_of(right)).map(|(left, right)| left.with(right));
        Comparer { kind, collation, refuses: false }
    }

    /// One that finds out when there are values.
    pub fn open(collation: Collation) -> Comparer {
        Comparer { kind: None, collation, refuses: false }
    }

    /// The order of two values; `None` if one is NULL.
    #[inline]
    pub fn compare(&self, left: Datum<'_>, right: Datum<'_>, context: &mut Context) -> Result<Option<Ordering>> {
        self.compare_at(&left, &right, context)
    }

    /// The same, where they lie.
    #[inline]
    pub fn compare_at(&self, left: &Datum<'_>, right: &Datum<'_>, context: &mut Context) -> Result<Option<Ordering>> {
        match (left, right) {
            (Datum::Signed(a), Datum::Signed(b)) => Ok(Some(a.cmp(b))),
            (Datum::Text(a, _), Datum::Text(b, _)) if matches!(self.kind, Some(ComparisonType::Text) | None) => {
                Ok(Some(self.collation.compare(a, b)))
            }
            (Datum::DateTime(a, _), Datum::DateTime(b, _)) => Ok(Some(a.cmp(b))),
            (Datum::Decimal(a), Datum::Decimal(b)) if matches!(self.kind, Some(ComparisonType::Decimal) | None) => {
                Ok(Some(a.cmp(b)))
            }
            (Datum::Null, _) | (_, Datum::Null) => Ok(None),
            _ => self.compare_slowly(*left, *right, context),
        }
    }

    fn compare_slowly(&self, left: Datum<'_>, right: Datum<'_>, context: &mut Context) -> Result<Option<Ordering>> {
        // What rows mostly compare beside integers and texts.
        match (left, right) {
            (Datum::Date(a), Datum::Date(b)) => return Ok(Some(a.cmp(&b))),
            (Datum::Date(a), Datum::DateTime(b, _)) => return Ok(Some(a.midnight().cmp(&b))),
            (Datum::DateTime(a, _), Datum::Date(b)) => return Ok(Some(a.cmp(&b.midnight()))),
            (Datum::Time(a, _), Datum::Time(b, _)) => return Ok(Some(a.cmp(&b))),
            (Datum::Double(a), Datum::Double(b)) => return Ok(a.partial_cmp(&b)),
            _ => {}
        }
        Ok(match self.kind {
            // A number beside a point in time may be of any kind: what the values are decides.
            Some(ComparisonType::DateTime | ComparisonType::Json) | None => {
                match compare(left, right, self.collation, context) {
                    Err(error) if error.number == 1525 && !self.refuses => {
                        let beside_date = matches!(left, Datum::Date(_)) || matches!(right, Datum::Date(_));
                        let left = lenient_date(left, beside_date, context)?;
                        let right = lenient_date(right, beside_date, context)?;
                        compare(left, right, self.collation, context)?
                    }
                    result => result?,
                }
            }
            Some(kind) => compare_as(kind, left, right, self.collation, context)?,
        })
    }

    /// Whether two values are equal; `None` if one is NULL.
    #[inline]
    pub fn equal(&self, left: Datum<'_>, right: Datum<'_>, context: &mut Context) -> Result<Option<bool>> {
        Ok(self.compare(left, right, context)?.map(|order| order == Ordering::Equal))
    }

    /// The result of an operator; `None` is NULL.
    #[inline]
    pub fn holds(
        &self,
        operator: ComparisonOperator,
        left: Datum<'_>,
        right: Datum<'_>,
        context: &mut Context,
    ) -> Result<Option<bool>> {
        self.holds_at(operator, &left, &right, context)
    }

    /// The same, of values where they lie.
    #[inline]
    pub fn holds_at(
        &self,
        operator: ComparisonOperator,
        left: &Datum<'_>,
        right: &Datum<'_>,
        context: &mut Context,
    ) -> Result<Option<bool>> {
        match self.compare_at(left, right, context)? {
            Some(order) => Ok(Some(operator.holds(order))),
            None if operator == ComparisonOperator::NullSafeEqual => Ok(Some(left.is_null() && right.is_null())),
            None => Ok(None),
        }
    }
}

/// A text beside a date as a point in time: the zero date, with a warning, if it is none.
fn lenient_date<'v>(value: Datum<'v>, beside_date: bool, context: &mut Context) -> Result<Datum<'v>> {
    if !matches!(value, Datum::Text(..)) {
        return Ok(value);
    }
    let arena = bumpalo::Bump::new();
    let target = if beside_date { CastType::Date } else { CastType::DateTime(6) };
    Ok(match cast(value, target, context, &arena, &String::new)? {
        Datum::Date(date) => Datum::DateTime(date.midnight(), 0),
        Datum::DateTime(value, decimals) => Datum::DateTime(value, decimals),
        _ => Datum::DateTime(DateTime::ZERO, 0),
    })
}

/// The kind of a type's values when they are compared; `None` if it is not known.
pub fn kind_of(data_type: &DataType) -> Option<ComparisonKind> {
    Some(match data_type {
        DataType::Null => return None,
        DataType::Integer { .. } | DataType::Bit { .. } | DataType::Year => ComparisonKind::Integer,
        DataType::Decimal { .. } => ComparisonKind::Decimal,
        DataType::Float { .. } | DataType::Double { .. } => ComparisonKind::Double,
        DataType::Date | DataType::DateTime { .. } | DataType::Timestamp { .. } => ComparisonKind::DateTime,
        DataType::Time { .. } => ComparisonKind::Time,
        DataType::Char { .. } | DataType::Varchar { .. } | DataType::Text { .. } => ComparisonKind::Text,
        DataType::Enum(_) | DataType::Set(_) => ComparisonKind::Member,
        DataType::Json => ComparisonKind::Json,
    })
}
