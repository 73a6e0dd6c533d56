//! Names: of columns, tables, accounts, and pieces of text.

use crate::span::Span;

/// Bytes of text, in the statement's character set. Not always UTF-8.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Text<'a>(pub &'a [u8]);

impl std::fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self.0))
    }
}

impl std::ops::Deref for Text<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0
    }
}

/// A name, without its quotes.
#[derive(Clone, Copy)]
pub struct Identifier<'a> {
    pub text: Text<'a>,
    /// With its quotes.
    pub span: Span,
}

impl std::fmt::Debug for Identifier<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.text.fmt(f)
    }
}

/// `[schema.]name`: a table, view, routine, trigger, event.
#[derive(Clone, Copy, Debug)]
pub struct ObjectName<'a> {
    pub schema: Option<Identifier<'a>>,
    pub name: Identifier<'a>,
}

/// `[[schema.]table.]column`.
#[derive(Clone, Copy, Debug)]
pub struct ColumnName<'a> {
    pub schema: Option<Identifier<'a>>,
    pub table: Option<Identifier<'a>>,
    pub column: Identifier<'a>,
}

/// `user[@host]`, or a role.
#[derive(Clone, Copy, Debug)]
pub enum AccountName<'a> {
    /// `CURRENT_USER`.
    CurrentUser,
    Named {
        user: Text<'a>,
        /// `%` when it is left out.
        host: Option<Text<'a>>,
    },
}

/// The name of a character set or collation; `DEFAULT` and `BINARY` are names like others here.
pub type CharacterSetName<'a> = Text<'a>;
