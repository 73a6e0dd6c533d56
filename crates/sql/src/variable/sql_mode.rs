//! `sql_mode`: its bits, their names, and what parser and values must know of them.
//!
//! # Source
//! The manual's "Server SQL Modes"; bits and names as a server prints them.

use meseta_errors::{ER_SQL_MODE_MERGED, ER_UNSUPPORTED_SQL_MODE};
use meseta_types::{SqlError, Warnings};

use crate::error::{Error, Result};

/// Which modes are on: MySQL's bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SqlModes(u64);

macro_rules! modes {
    ($($name:ident = $bit:literal),* $(,)?) => {
        /// The modes by name.
        #[allow(missing_docs)]
        impl SqlModes { $(pub const $name: SqlModes = SqlModes(1 << $bit);)* }
        const NAMES: &[(u8, &str)] = &[$(($bit, stringify!($name))),*];
    };
}

modes! {
    REAL_AS_FLOAT = 0, PIPES_AS_CONCAT = 1, ANSI_QUOTES = 2, IGNORE_SPACE = 3, NOT_USED = 4, ONLY_FULL_GROUP_BY = 5,
    NO_UNSIGNED_SUBTRACTION = 6, NO_DIR_IN_CREATE = 7, ANSI = 18, NO_AUTO_VALUE_ON_ZERO = 19,
    NO_BACKSLASH_ESCAPES = 20, STRICT_TRANS_TABLES = 21, STRICT_ALL_TABLES = 22, NO_ZERO_IN_DATE = 23,
    NO_ZERO_DATE = 24, ALLOW_INVALID_DATES = 25, ERROR_FOR_DIVISION_BY_ZERO = 26, TRADITIONAL = 27,
    HIGH_NOT_PRECEDENCE = 29, NO_ENGINE_SUBSTITUTION = 30, PAD_CHAR_TO_FULL_LENGTH = 31,
    TIME_TRUNCATE_FRACTIONAL = 32, INTERPRET_UTF8_AS_UTF8MB4 = 33,
}

/// Bits of modes that there were once.
const GONE: u64 = 0x1003_FF00;
const END: u32 = 34;

impl SqlModes {
    /// None on.
    pub const NONE: SqlModes = SqlModes(0);
    /// The default.
    pub const DEFAULT: SqlModes = Self::ONLY_FULL_GROUP_BY
        .and(Self::STRICT_TRANS_TABLES)
        .and(Self::NO_ZERO_IN_DATE)
        .and(Self::NO_ZERO_DATE)
        .and(Self::ERROR_FOR_DIVISION_BY_ZERO)
        .and(Self::NO_ENGINE_SUBSTITUTION);
    const OF_ANSI: SqlModes = Self::REAL_AS_FLOAT
        .and(Self::PIPES_AS_CONCAT)
        .and(Self::ANSI_QUOTES)
        .and(Self::IGNORE_SPACE)
        .and(Self::ONLY_FULL_GROUP_BY);
    const OF_TRADITIONAL: SqlModes = Self::STRICT_TRANS_TABLES
        .and(Self::STRICT_ALL_TABLES)
        .and(Self::NO_ZERO_IN_DATE)
        .and(Self::NO_ZERO_DATE)
        .and(Self::ERROR_FOR_DIVISION_BY_ZERO)
        .and(Self::NO_ENGINE_SUBSTITUTION);
    const STRICT: SqlModes = Self::STRICT_TRANS_TABLES.and(Self::STRICT_ALL_TABLES);
    const DATES: SqlModes = Self::NO_ZERO_IN_DATE.and(Self::NO_ZERO_DATE).and(Self::ERROR_FOR_DIVISION_BY_ZERO);

    const fn and(self, other: SqlModes) -> SqlModes {
        SqlModes(self.0 | other.0)
    }

    /// Whether one of these is on.
    pub const fn has(self, modes: SqlModes) -> bool {
        self.0 & modes.0 != 0
    }

    /// The number that `SET sql_mode = number` takes.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The modes of a text of names with commas. Errors: the name that is none.
    pub fn parse(text: &str) -> Result<SqlModes, &str> {
        let mut modes = Self::NONE;
        for name in text.split(',').filter(|name| !name.is_empty()) {
            let end = name.trim_end_matches(' ');
            let found = NAMES.iter().find(|(_, known)| known.eq_ignore_ascii_case(end)).ok_or(name)?;
            modes.0 |= 1 << found.0;
        }
        Ok(modes)
    }

    /// The modes of a number. `None` if it has bits of none.
    pub fn of_bits(bits: u64) -> Option<SqlModes> {
        (bits >> END == 0).then_some(SqlModes(bits))
    }

    /// With what ANSI and TRADITIONAL stand for; warnings for those that are to be merged or removed.
    pub fn completed(mut self, warnings: &mut Warnings) -> Result<SqlModes> {
        if self.0 & GONE != 0 {
            return Err(Error::new(ER_UNSUPPORTED_SQL_MODE, &[&format_args!("{:08x}", self.0 & GONE)]));
        }
        if self.has(Self::ANSI) {
            self = self.and(Self::OF_ANSI);
        }
        if self.has(Self::TRADITIONAL) {
            self = self.and(Self::OF_TRADITIONAL);
        }
        let dates = self.0 & Self::DATES.0;
        if (dates != 0) != self.has(Self::STRICT) || (dates != 0 && dates != Self::DATES.0) {
            warnings.warn(SqlError::new(ER_SQL_MODE_MERGED.0, ER_SQL_MODE_MERGED.message(&[])));
        }
        if self.has(Self::PAD_CHAR_TO_FULL_LENGTH) {
            let text =
                "Changing sql mode 'PAD_CHAR_TO_FULL_LENGTH' is deprecated. It will be removed in a future release.";
            warnings.warn(SqlError::new(3090, text));
        }
        Ok(self)
    }

    /// Their names, with commas: `@@sql_mode`.
    pub fn text(self) -> String {
        let names: Vec<_> = NAMES.iter().filter(|(bit, _)| self.0 >> bit & 1 != 0).map(|&(_, name)| name).collect();
        names.join(",")
    }

    /// What the parser must know.
    pub const fn for_parser(self) -> meseta_parser::SqlMode {
        meseta_parser::SqlMode {
            ansi_quotes: self.has(Self::ANSI_QUOTES),
            pipes_as_concat: self.has(Self::PIPES_AS_CONCAT),
            no_backslash_escapes: self.has(Self::NO_BACKSLASH_ESCAPES),
            high_not_precedence: self.has(Self::HIGH_NOT_PRECEDENCE),
            ignore_space: self.has(Self::IGNORE_SPACE),
        }
    }

    /// What values must know. `strict` is as in a statement that changes data.
    pub const fn for_values(self) -> meseta_types::SqlMode {
        meseta_types::SqlMode {
            strict: self.has(Self::STRICT),
            no_zero_date: self.has(Self::NO_ZERO_DATE),
            no_zero_in_date: self.has(Self::NO_ZERO_IN_DATE),
            allow_invalid_dates: self.has(Self::ALLOW_INVALID_DATES),
            error_for_division_by_zero: self.has(Self::ERROR_FOR_DIVISION_BY_ZERO),
            pad_char_to_full_length: self.has(Self::PAD_CHAR_TO_FULL_LENGTH),
            time_truncate_fractional: self.has(Self::TIME_TRUNCATE_FRACTIONAL),
            no_unsigned_subtraction: self.has(Self::NO_UNSIGNED_SUBTRACTION),
        }
    }
}
