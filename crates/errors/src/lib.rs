//! MySQL's errors: number, name, SQLSTATE and text, as one table.
//!
//! ```text
//! ErrorCode(1062) --info()--> ErrorInfo { "ER_DUP_ENTRY", "23000", "Duplicate entry '%s' for key '%s'" }
//!       |
//!       +--message(&[&"7", &"t.PRIMARY"])--> Duplicate entry '7' for key 't.PRIMARY'
//! ```
//!
//! Whoever raises an error names it by a constant (`ER_DUP_ENTRY`), which is a number and costs two bytes; the text is
//! looked up when the error is told to somebody. The crate has no dependencies: whoever needs the numbers needs
//! neither packets nor an engine.
//!
//! Invariants:
//! 1. The table is in ascending order of numbers, and no number and no name is there twice. (A test looks.)
//! 2. No text needs more than the arguments of its `%s` and `%d`; one that is missing shows as nothing, one too many
//!    is ignored: an error about an error helps nobody.
//!
//! Source: the error reference of the MySQL 9.7 manual, and what a server of that version says about itself.

mod general;
mod later;

use std::fmt;

pub use general::*;
pub use later::*;

/// The number of an error of MySQL. The constants of this crate name those that there are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ErrorCode(pub u16);

/// What is known of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorInfo {
    /// The number that clients compare.
    pub number: u16,
    /// The five characters of its SQLSTATE; a class of two, a subclass of three.
    pub sqlstate: &'static str,
    /// Its symbol in the manual: `ER_DUP_ENTRY`.
    pub name: &'static str,
    /// Its text, with `%s` where a text and `%d` where a number goes. `%%` stands for a per cent sign.
    pub format: &'static str,
}

impl ErrorCode {
    /// What is known of this error; of a number that is not in the table, what is known of `ER_UNKNOWN_ERROR`.
    pub fn info(self) -> &'static ErrorInfo {
        self.find().unwrap_or(&general::UNKNOWN)
    }

    /// What is known of this error, if its number is in the table.
    pub fn find(self) -> Option<&'static ErrorInfo> {
        [general::TABLE, later::TABLE].into_iter().find_map(|table| {
            let at = table.binary_search_by_key(&self.0, |info| info.number).ok()?;
            Some(&table[at])
        })
    }

    /// The number that clients compare.
    pub fn number(self) -> u16 {
        self.0
    }

    /// Its symbol in the manual.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Its SQLSTATE: five characters of ASCII.
    pub fn sqlstate(self) -> &'static str {
        self.info().sqlstate
    }

    /// Its text with `arguments` in the places of `%s` and `%d`, from left to right.
    pub fn message(self, arguments: &[&dyn fmt::Display]) -> String {
        let format = self.info().format;
        let mut text = String::with_capacity(format.len() + 16 * arguments.len());
        self.write_message(&mut text, arguments).expect("writing to a String does not fail");
        text
    }

    /// As [`ErrorCode::message`], appended to `to`.
    pub fn write_message(self, to: &mut impl fmt::Write, arguments: &[&dyn fmt::Display]) -> fmt::Result {
        let mut arguments = arguments.iter();
        let mut rest = self.info().format;
        while let Some(at) = rest.find('%') {
            to.write_str(&rest[..at])?;
            rest = &rest[at + 1..];
            match rest.as_bytes().first() {
                Some(b's' | b'd') => {
                    if let Some(argument) = arguments.next() {
                        write!(to, "{argument}")?;
                    }
                    rest = &rest[1..];
                }
                Some(b'%') => {
                    to.write_char('%')?;
                    rest = &rest[1..];
                }
                _ => to.write_char('%')?,
            }
        }
        to.write_str(rest)
    }

    /// The error of that name (`ER_DUP_ENTRY`), if there is one.
    pub fn by_name(name: &str) -> Option<ErrorCode> {
        all().find(|info| info.name == name).map(|info| ErrorCode(info.number))
    }
}

impl fmt::Debug for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, self.find().map_or("?", |info| info.name))
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// All errors of the table, in ascending order of numbers.
pub fn all() -> impl Iterator<Item = &'static ErrorInfo> {
    general::TABLE.iter().chain(later::TABLE)
}

/// Makes a constant of each entry, and the `TABLE` of all.
macro_rules! errors {
    ($($number:literal $sqlstate:literal $name:ident $format:literal;)*) => {
        $(#[doc = concat!(stringify!($number), " (", $sqlstate, "): `` ", $format, " ``")]
        pub const $name: ErrorCode = ErrorCode($number);)*
        pub(crate) static TABLE: &[ErrorInfo] = &[
            $(ErrorInfo { number: $number, sqlstate: $sqlstate, name: stringify!($name), format: $format },)*
        ];
    };
}
pub(crate) use errors;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_and_nothing_is_there_twice() {
        let all: Vec<_> = all().collect();
        assert!(all.len() >= 250, "{}", all.len());
        assert!(all.windows(2).all(|pair| pair[0].number < pair[1].number));
        let mut names: Vec<_> = all.iter().map(|info| info.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
        for info in all {
            let state = info.sqlstate.as_bytes();
            assert!(state.len() == 5 && state.iter().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase()), "{info:?}");
            let specifiers = info.format.replace("%%", "").replace("%s", "").replace("%d", "");
            assert!(!specifiers.contains('%'), "{info:?}");
        }
    }

    #[test]
    fn texts_take_their_arguments_from_left_to_right() {
        assert_eq!(ER_DUP_ENTRY.message(&[&7, &"t.PRIMARY"]), "Duplicate entry '7' for key 't.PRIMARY'");
        assert_eq!((ER_DUP_ENTRY.number(), ER_DUP_ENTRY.sqlstate()), (1062, "23000"));
        assert_eq!(ER_NO_SUCH_TABLE.message(&[&"a%sb", &"c"]), "Table 'a%sb.c' doesn't exist");
        assert_eq!(ER_UNKNOWN_COM_ERROR.message(&[&"too many"]), "Unknown command");
        assert_eq!(ER_BAD_DB_ERROR.message(&[]), "Unknown database ''");
    }

    #[test]
    fn a_number_without_entry_reads_as_unknown() {
        assert_eq!(ErrorCode(9).find(), None);
        assert_eq!(ErrorCode(9).info().name, "ER_UNKNOWN_ERROR");
        assert_eq!(format!("{}", ErrorCode(9)), "9 ?");
        assert_eq!(ErrorCode::by_name("ER_LOCK_DEADLOCK"), Some(ER_LOCK_DEADLOCK));
        assert_eq!(ER_LOCK_DEADLOCK.sqlstate(), "40001");
        assert_eq!(general::UNKNOWN, *ER_UNKNOWN_ERROR.find().unwrap());
    }
}
