//! What the reading of a statement depends on besides its text: bits of `sql_mode`, and the version that
//! `/*!NNNNN ... */` comments are compared with.
//!
//! Source: the manual's "Server SQL Modes" and "Comments".

/// The bits of `sql_mode` that change how text is read. (Others change only what it means.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SqlMode {
    /// `"x"` is an identifier, not a string.
    pub ansi_quotes: bool,
    /// `a || b` joins strings, and binds tighter than `^`.
    pub pipes_as_concat: bool,
    /// A backslash in a string is a character like others.
    pub no_backslash_escapes: bool,
    /// `NOT` binds as tightly as `!`.
    pub high_not_precedence: bool,
    /// Blanks are allowed between the name of a built-in function and `(`.
    pub ignore_space: bool,
}

/// How to read a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// From the session's `sql_mode`.
    pub sql_mode: SqlMode,
    /// As `major * 10000 + minor * 100 + patch`: what is in `/*!NNNNN ... */` is read if it is not above this.
    pub version: u32,
    /// Whether text may follow the statement's `;` (the client's CLIENT_MULTI_STATEMENTS).
    pub multi_statements: bool,
    /// Whether `?` may stand for a value: in a statement that is being prepared.
    pub parameters: bool,
    /// How deep expressions, queries and compound statements may nest. The tree is as deep, apart from chains of
    /// binary operators, which grow to the left only.
    pub depth_limit: u32,
}

/// With this depth a statement is read on a stack of 2 MiB in builds with any optimisation.
pub const DEFAULT_DEPTH_LIMIT: u32 = 300;

impl Default for Options {
    fn default() -> Options {
        Options {
            sql_mode: SqlMode::default(),
            version: 90_704,
            multi_statements: false,
            parameters: true,
            depth_limit: DEFAULT_DEPTH_LIMIT,
        }
    }
}
