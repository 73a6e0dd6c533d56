//! Names as text, quoted where a server prints them.

use super::*;
use std::fmt;

impl fmt::Display for Identifier<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", String::from_utf8_lossy(self.text.0).replace('`', "``"))
    }
}

impl fmt::Display for ObjectName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(schema) = self.schema {
            write!(f, "{schema}.")?;
        }
        write!(f, "{}", self.name)
    }
}

impl fmt::Display for ColumnName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in [self.schema, self.table].into_iter().flatten() {
            write!(f, "{part}.")?;
        }
        write!(f, "{}", self.column)
    }
}

impl fmt::Display for AccountName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: Text<'_>| format!("`{}`", String::from_utf8_lossy(text.0).replace('`', "``"));
        match self {
            AccountName::CurrentUser => write!(f, "CURRENT_USER"),
            AccountName::Named { user, host } => {
                write!(f, "{}@{}", quoted(*user), quoted(host.unwrap_or(Text(b"%"))))
            }
        }
    }
}

impl BinaryOperator {
    /// As SQL text.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOperator::Or => "or",
            BinaryOperator::Xor => "xor",
            BinaryOperator::And => "and",
            BinaryOperator::Equal => "=",
            BinaryOperator::NullSafeEqual => "<=>",
            BinaryOperator::NotEqual => "<>",
            BinaryOperator::Less => "<",
            BinaryOperator::LessOrEqual => "<=",
            BinaryOperator::Greater => ">",
            BinaryOperator::GreaterOrEqual => ">=",
            BinaryOperator::SoundsLike => "sounds like",
            BinaryOperator::BitOr => "|",
            BinaryOperator::BitAnd => "&",
            BinaryOperator::ShiftLeft => "<<",
            BinaryOperator::ShiftRight => ">>",
            BinaryOperator::Add => "+",
            BinaryOperator::Subtract => "-",
            BinaryOperator::Multiply => "*",
            BinaryOperator::Divide => "/",
            BinaryOperator::IntegerDivide => "div",
            BinaryOperator::Modulo => "%",
            BinaryOperator::BitXor => "^",
            BinaryOperator::Concat => "||",
        }
    }
}

impl UnaryOperator {
    /// As SQL text.
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOperator::Not => "not ",
            UnaryOperator::Exclamation => "!",
            UnaryOperator::Plus => "+",
            UnaryOperator::Minus => "-",
            UnaryOperator::BitNot => "~",
            UnaryOperator::Binary => "binary ",
        }
    }
}

impl IntervalUnit {
    /// As SQL text.
    pub fn symbol(self) -> &'static str {
        match self {
            IntervalUnit::Microsecond => "microsecond",
            IntervalUnit::Second => "second",
            IntervalUnit::Minute => "minute",
            IntervalUnit::Hour => "hour",
            IntervalUnit::Day => "day",
            IntervalUnit::Week => "week",
            IntervalUnit::Month => "month",
            IntervalUnit::Quarter => "quarter",
            IntervalUnit::Year => "year",
            IntervalUnit::SecondMicrosecond => "second_microsecond",
            IntervalUnit::MinuteMicrosecond => "minute_microsecond",
            IntervalUnit::MinuteSecond => "minute_second",
            IntervalUnit::HourMicrosecond => "hour_microsecond",
            IntervalUnit::HourSecond => "hour_second",
            IntervalUnit::HourMinute => "hour_minute",
            IntervalUnit::DayMicrosecond => "day_microsecond",
            IntervalUnit::DaySecond => "day_second",
            IntervalUnit::DayMinute => "day_minute",
            IntervalUnit::DayHour => "day_hour",
            IntervalUnit::YearMonth => "year_month",
        }
    }
}
