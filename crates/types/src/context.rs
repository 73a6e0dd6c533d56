//! What a statement lends to conversions: its SQL mode, its time zone, its warnings.
//!
//! # Invariants
//! 1. At most `max_error_count` warnings are kept; all are counted.
//! 2. While warnings of lost values are refused, as by a statement that changes rows in strict mode, the first of them is
//!    kept apart as the error that the statement ends with, wherever in an expression it came up.

use crate::error::{SqlError, number};
use crate::temporal::{Date, Zone};

/// The parts of `sql_mode` that values can feel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SqlMode {
    /// STRICT_TRANS_TABLES or STRICT_ALL_TABLES, in a statement that changes data: a bad value is an error.
    pub strict: bool,
    /// NO_ZERO_DATE: `0000-00-00` is a bad value.
    pub no_zero_date: bool,
    /// NO_ZERO_IN_DATE: `2020-00-01` is a bad value.
    pub no_zero_in_date: bool,
    /// ALLOW_INVALID_DATES: `2020-02-31` is a good one.
    pub allow_invalid_dates: bool,
    /// ERROR_FOR_DIVISION_BY_ZERO: warn, or fail, when dividing by zero.
    pub error_for_division_by_zero: bool,
    /// PAD_CHAR_TO_FULL_LENGTH: CHAR columns are read with their blanks.
    pub pad_char_to_full_length: bool,
    /// TIME_TRUNCATE_FRACTIONAL: fractions of a second are cut off rather than rounded.
    pub time_truncate_fractional: bool,
    /// NO_UNSIGNED_SUBTRACTION: a difference of unsigned integers is signed.
    pub no_unsigned_subtraction: bool,
}

impl SqlMode {
    /// MySQL's default, as far as values feel it.
    pub const DEFAULT: SqlMode = SqlMode {
        strict: true,
        no_zero_date: true,
        no_zero_in_date: true,
        error_for_division_by_zero: true,
        ..SqlMode::NONE
    };
    /// The empty mode.
    pub const NONE: SqlMode = SqlMode {
        strict: false,
        no_zero_date: false,
        no_zero_in_date: false,
        allow_invalid_dates: false,
        error_for_division_by_zero: false,
        pad_char_to_full_length: false,
        time_truncate_fractional: false,
        no_unsigned_subtraction: false,
    };
}

/// How bad a condition is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// Something was lost that nobody should miss.
    Note,
    /// Something is not as it was given.
    Warning,
    /// The statement failed.
    Error,
}

impl Level {
    /// As SHOW WARNINGS prints it.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Note => "Note",
            Level::Warning => "Warning",
            Level::Error => "Error",
        }
    }
}

/// What SHOW WARNINGS would show.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    /// How bad.
    pub level: Level,
    /// What.
    pub condition: SqlError,
}

/// The conditions of a statement.
#[derive(Clone, Debug)]
pub struct Warnings {
    limit: usize,
    count: u64,
    kept: Vec<Warning>,
    refuses: bool,
    refused: Option<SqlError>,
}

/// What a statement that changes rows in strict mode does not accept as a warning.
const STRICT: [u16; 15] = [
    number::COLUMN_CANNOT_BE_NULL,
    number::CUT_BY_GROUP_CONCAT,
    number::TOO_FEW_FIELDS,
    number::TOO_MANY_FIELDS,
    number::OUT_OF_RANGE,
    number::DATA_TRUNCATED,
    number::TRUNCATED_WRONG_VALUE,
    number::NO_DEFAULT_FOR_FIELD,
    number::DIVISION_BY_ZERO,
    number::INCORRECT_VALUE,
    number::DATA_TOO_LONG,
    number::WRONG_VALUE_FOR_FUNCTION,
    number::DATETIME_FUNCTION_OVERFLOW,
    number::INVALID_ARGUMENT_FOR_LOGARITHM,
    number::INVALID_JSON_VALUE_FOR_CAST,
];

impl Warnings {
    /// Keeps at most so many (`max_error_count`).
    pub const fn new(limit: usize) -> Self {
        Self { limit, count: 0, kept: Vec::new(), refuses: false, refused: None }
    }

    /// Adds one.
    pub fn push(&mut self, level: Level, condition: SqlError) {
        if self.refuses && level == Level::Warning && STRICT.contains(&condition.number) {
            self.refused.get_or_insert(condition);
            return;
        }
        self.count += 1;
        if self.kept.len() < self.limit {
            self.kept.push(Warning { level, condition });
        }
    }

    /// Adds a warning.
    pub fn warn(&mut self, condition: SqlError) {
        self.push(Level::Warning, condition);
    }

    /// Adds a warning that is made only where it is kept: a statement may have one for each of many rows.
    #[inline]
    pub fn warn_with(&mut self, condition: impl FnOnce() -> SqlError) {
        if self.refuses || self.kept.len() < self.limit { self.warn(condition()) } else { self.count += 1 }
    }

    /// Adds a note.
    pub fn note(&mut self, condition: SqlError) {
        self.push(Level::Note, condition);
    }

    /// Whether warnings of lost values are refused from now on.
    pub fn set_refuses(&mut self, refuses: bool) {
        self.refuses = refuses;
        self.refused = None;
    }

    /// The error that a refused warning is.
    pub fn check(&mut self) -> Result<(), SqlError> {
        match self.refused.take() {
            Some(refused) => Err(refused),
            None => Ok(()),
        }
    }

    /// How many there were, those that are not kept included.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Those kept, oldest first.
    pub fn kept(&self) -> &[Warning] {
        &self.kept
    }

    /// Takes those that came when there were so many.
    pub fn split_off(&mut self, count: u64) -> Self {
        let at = self.kept.len().min(usize::try_from(count).unwrap_or(usize::MAX));
        let (kept, taken) = (self.kept.split_off(at), self.count.saturating_sub(count));
        self.count -= taken;
        Self { limit: self.limit, count: taken, kept, refuses: false, refused: None }
    }

    /// Adds others, behind its own.
    pub fn append(&mut self, others: Self) {
        let room = self.limit.saturating_sub(self.kept.len());
        self.kept.extend(others.kept.into_iter().take(room));
        self.count += others.count;
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.count = 0;
        self.kept.clear();
        self.refused = None;
    }
}

impl Default for Warnings {
    fn default() -> Self {
        Self::new(1024)
    }
}

/// What conversions are lent by the statement for which they work.
#[derive(Clone, Debug)]
pub struct Context {
    /// How strict to be.
    pub mode: SqlMode,
    /// The session's `time_zone`.
    pub zone: Zone,
    /// Decimals that a division adds.
    pub div_precision_increment: u8,
    /// Today in the session's zone: the date of a TIME that becomes a date.
    pub today: Date,
    /// IGNORE: the mode would be strict without it.
    pub ignores: bool,
    /// Where warnings go.
    pub warnings: Warnings,
    /// The row at work, from 1: texts of errors name it.
    pub row: u64,
}

impl Context {
    /// The same, with no warnings: for who warns while this one is lent.
    pub fn apart(&self) -> Self {
        Self { warnings: Warnings::default(), ..self.clone() }
    }

    /// Adds the warnings that one made by [`Context::apart`] has.
    pub fn add_warnings_of(&mut self, apart: &Self) {
        apart.warnings.kept().iter().for_each(|warning| self.warnings.push(warning.level, warning.condition.clone()));
    }

    /// With MySQL's defaults, in this mode.
    pub fn new(mode: SqlMode) -> Self {
        Self {
            mode,
            zone: Zone::UTC,
            today: Date::ZERO,
            div_precision_increment: 4,
            ignores: false,
            warnings: Warnings::default(),
            row: 1,
        }
    }

    /// An error in strict mode, otherwise a warning.
    pub fn complain(&mut self, condition: SqlError) -> Result<(), SqlError> {
        if self.mode.strict {
            return Err(condition);
        }
        self.warnings.warn(condition);
        Ok(())
    }
}

impl Default for Context {
    fn default() -> Self {
        Self::new(SqlMode::DEFAULT)
    }
}
