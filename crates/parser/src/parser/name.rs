//! Names and accounts.

use super::{K, Parser, Result, T};
use crate::ast::{AccountName, ColumnName, Identifier, List, ObjectName, Text};
use crate::error::ErrorKind;
use crate::literal::decode_string;
use crate::span::Span;
use crate::token::Token;

/// The longest name, in characters.
const NAME_LIMIT: usize = 64;

/// Words that cannot be labels of compound statements, since statements begin with them.
const NOT_LABELS: &[K] = &[
    K::ASCII,
    K::BEGIN,
    K::BYTE,
    K::CACHE,
    K::CHARSET,
    K::CHECKSUM,
    K::CLONE,
    K::COMMENT,
    K::COMMIT,
    K::CONTAINS,
    K::DEALLOCATE,
    K::DO,
    K::END,
    K::EXECUTE,
    K::FLUSH,
    K::FOLLOWS,
    K::HANDLER,
    K::HELP,
    K::IMPORT,
    K::INSTALL,
    K::LANGUAGE,
    K::NO,
    K::PRECEDES,
    K::PREPARE,
    K::REPAIR,
    K::RESET,
    K::RESTART,
    K::ROLLBACK,
    K::SAVEPOINT,
    K::SHUTDOWN,
    K::SIGNED,
    K::SLAVE,
    K::START,
    K::STOP,
    K::TRUNCATE,
    K::UNICODE,
    K::UNINSTALL,
    K::XA,
];

/// Words that cannot be roles, since they are privileges or beginnings.
const NOT_ROLES: &[K] = &[
    K::EVENT,
    K::EXECUTE,
    K::FILE,
    K::NONE,
    K::PROCESS,
    K::PROXY,
    K::RELOAD,
    K::REPLICATION,
    K::RESOURCE,
    K::RESTART,
    K::SHUTDOWN,
    K::SUPER,
];

impl<'a> Parser<'a> {
    /// Whether the token is a name by itself.
    pub(super) fn is_identifier(&self, token: &Token) -> bool {
        match token.kind {
            T::Word => {
                !token.keyword.is_reserved()
                    && (!token.keyword.is_function()
                        || matches!(token.keyword, K::SESSION_USER | K::SYSTEM_USER | K::SUBDATE))
            }
            T::QuotedIdentifier => true,
            _ => false,
        }
    }

    pub(super) fn at_identifier(&self) -> bool {
        self.is_identifier(&self.token)
    }

    /// The text of a quoted or unquoted name or string; `skip` bytes in front of the quote.
    pub(super) fn text_of(&self, token: &Token, skip: u32) -> Text<'a> {
        let source = Span::new(token.start + skip, token.end).of(self.text);
        match source.first() {
            Some(quote @ (b'`' | b'\'' | b'"')) if source.len() >= 2 => {
                let inner = &source[1..source.len() - 1];
                if !token.escaped {
                    return Text(inner);
                }
                let is_identifier = token.kind == T::QuotedIdentifier || *quote == b'`';
                let backslashes = !is_identifier && !self.options.sql_mode.no_backslash_escapes;
                Text(decode_string(self.arena, inner, *quote, backslashes))
            }
            _ => Text(source),
        }
    }

    fn take_identifier(&mut self) -> Identifier<'a> {
        let identifier = Identifier { text: self.text_of(&self.token, 0), span: self.token.span() };
        self.advance();
        identifier
    }

    /// A name.
    pub(super) fn identifier(&mut self) -> Result<Identifier<'a>> {
        if self.at_identifier() { Ok(self.take_identifier()) } else { self.fail() }
    }

    pub(super) fn accept_identifier(&mut self) -> Option<Identifier<'a>> {
        self.at_identifier().then(|| self.take_identifier())
    }

    /// Any word, reserved or not, as a name.
    pub(super) fn any_word(&mut self) -> Result<Identifier<'a>> {
        if matches!(self.token.kind, T::Word | T::QuotedIdentifier) { Ok(self.take_identifier()) } else { self.fail() }
    }

    pub(super) fn identifiers(&mut self) -> Result<List<'a, Identifier<'a>>> {
        self.parenthesised_list(Parser::identifier)
    }

    /// `(a, b)` or nothing.
    pub(super) fn optional_identifiers(&mut self) -> Result<List<'a, Identifier<'a>>> {
        self.optional_list(Parser::identifier)
    }

    pub(super) fn at_label(&self) -> bool {
        self.at_identifier() && !self.at_any(NOT_LABELS)
    }

    fn check_length(&self, name: Identifier<'a>) -> Result<()> {
        let is_character = |byte: &&u8| **byte & 0xC0 != 0x80;
        if name.text.len() > NAME_LIMIT && name.text.iter().filter(is_character).count() > NAME_LIMIT {
            return self.fail_at(ErrorKind::IdentifierTooLong, self.inside(name));
        }
        Ok(())
    }

    /// The span of a name without its quotes.
    fn inside(&self, name: Identifier<'a>) -> Span {
        let quoted = name.span.of(self.text).first().is_some_and(|byte| matches!(byte, b'`' | b'"'));
        if quoted { Span::new(name.span.start + 1, name.span.end - 1) } else { name.span }
    }

    fn checked(&self, name: Identifier<'a>, kind: ErrorKind) -> Result<Identifier<'a>> {
        if matches!(name.text.last(), None | Some(b' ')) {
            return self.fail_at(kind, self.inside(name));
        }
        self.check_length(name)?;
        Ok(name)
    }

    /// The name of a database.
    pub(super) fn schema_name(&mut self) -> Result<Identifier<'a>> {
        let name = self.identifier()?;
        self.checked(name, ErrorKind::WrongDatabaseName)
    }

    /// The name of a column that is defined.
    pub(super) fn new_column_name(&mut self) -> Result<Identifier<'a>> {
        let name = self.identifier()?;
        self.checked(name, ErrorKind::WrongColumnName)
    }

    /// `[schema.]name` of anything.
    pub(super) fn object_name(&mut self) -> Result<ObjectName<'a>> {
        let first = self.identifier()?;
        if !self.accept_kind(T::Dot) {
            return Ok(ObjectName { schema: None, name: first });
        }
        let name = self.identifier()?;
        Ok(ObjectName { schema: Some(self.checked(first, ErrorKind::WrongDatabaseName)?), name })
    }

    /// `[schema.]table`.
    pub(super) fn table_name(&mut self) -> Result<ObjectName<'a>> {
        let name = self.object_name()?;
        self.checked(name.name, ErrorKind::WrongTableName)?;
        Ok(name)
    }

    /// `[[schema.]table.]column`.
    pub(super) fn column_name(&mut self) -> Result<ColumnName<'a>> {
        let first = self.identifier()?;
        self.column_behind(first)
    }

    /// The same, where the first part was read.
    pub(super) fn column_behind(&mut self, first: Identifier<'a>) -> Result<ColumnName<'a>> {
        if !self.at_kind(T::Dot) {
            return Ok(ColumnName { schema: None, table: None, column: first });
        }
        self.advance();
        let second = self.identifier()?;
        if !self.accept_kind(T::Dot) {
            return Ok(ColumnName { schema: None, table: Some(first), column: second });
        }
        let column = self.identifier()?;
        Ok(ColumnName { schema: Some(first), table: Some(second), column })
    }

    pub(super) fn if_exists(&mut self) -> Result<bool> {
        self.accept_words(&[K::IF, K::EXISTS])
    }

    pub(super) fn if_not_exists(&mut self) -> Result<bool> {
        if !self.accept(K::IF) {
            return Ok(false);
        }
        self.expect_words(&[K::NOT, K::EXISTS])?;
        Ok(true)
    }

    /// A name or a string, as engines, character sets and accounts are written.
    pub(super) fn name_or_string(&mut self) -> Result<Text<'a>> {
        if self.at_identifier() || self.at_kind(T::String) {
            let text = self.text_of(&self.token, 0);
            self.advance();
            Ok(text)
        } else {
            self.fail()
        }
    }

    /// A character set or collation: a name, a string, `BINARY`, `DEFAULT`, `ASCII`.
    pub(super) fn character_set_name(&mut self) -> Result<Text<'a>> {
        if self.at(K::BINARY) {
            let text = self.source(self.token.span());
            self.advance();
            return Ok(text);
        }
        let token = self.token;
        let name = self.name_or_string()?;
        // Collations are `set_rest` or `binary`; a set that there is not is refused while reading.
        if token.kind == T::QuotedIdentifier && name.is_empty() {
            return self.fail_at(ErrorKind::UnknownCharacterSet, token.span());
        }
        Ok(name)
    }

    /// `CHARACTER SET`, `CHARSET`, `CHAR SET`; consumes nothing if it is not there.
    pub(super) fn accept_character_set(&mut self) -> Result<bool> {
        if self.accept(K::CHARSET) {
            return Ok(true);
        }
        if self.at_any(&[K::CHARACTER, K::CHAR]) && self.peek().keyword == K::SET {
            self.advance();
            self.advance();
            return Ok(true);
        }
        Ok(false)
    }

    /// `user[@host]`, `CURRENT_USER[()]`.
    pub(super) fn account(&mut self) -> Result<AccountName<'a>> {
        if self.accept(K::CURRENT_USER) {
            if self.accept_kind(T::LeftParenthesis) {
                self.close()?;
            }
            return Ok(AccountName::CurrentUser);
        }
        let user = self.name_or_string()?;
        let host = self.accept_at_name()?;
        Ok(AccountName::Named { user, host })
    }

    /// The same, where words that are privileges are not names.
    pub(super) fn role(&mut self) -> Result<AccountName<'a>> {
        if self.at_any(NOT_ROLES) && self.peek().kind != T::AtName {
            return self.fail();
        }
        if self.at(K::CURRENT_USER) {
            return self.fail();
        }
        self.account()
    }

    /// `@host`.
    pub(super) fn accept_at_name(&mut self) -> Result<Option<Text<'a>>> {
        if !self.at_kind(T::AtName) {
            return Ok(None);
        }
        let host = self.text_of(&self.token, 1);
        self.advance();
        Ok(Some(host))
    }

    /// `@name`, without the sign.
    pub(super) fn at_name(&mut self) -> Result<Text<'a>> {
        if !self.at_kind(T::AtName) || self.token.end == self.token.start + 1 {
            return self.fail();
        }
        let name = self.text_of(&self.token, 1);
        self.advance();
        Ok(name)
    }
}
