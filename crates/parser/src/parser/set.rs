//! SET in its forms, and `@@variables`.

use super::{K, Parser, Result, T};
use crate::ast::*;

impl<'a> Parser<'a> {
    fn scope_of(keyword: K) -> Option<VariableScope> {
        Some(match keyword {
            K::GLOBAL => VariableScope::Global,
            K::SESSION | K::LOCAL => VariableScope::Session,
            K::PERSIST => VariableScope::Persist,
            K::PERSIST_ONLY => VariableScope::PersistOnly,
            _ => return None,
        })
    }

    /// At `@@`.
    pub(super) fn system_variable(&mut self) -> Result<SystemVariable<'a>> {
        self.expect_kind(T::AtAt)?;
        let mut scope = None;
        if self.token.kind == T::Word {
            scope = Self::scope_of(self.token.keyword);
            if scope.is_some() && self.peek().kind == T::Dot {
                self.advance();
                self.expect_kind(T::Dot)?;
            } else if self.at_any(&[K::GLOBAL, K::LOCAL, K::SESSION]) {
                self.advance();
                return self.fail();
            } else {
                scope = None;
            }
        }
        if self.at(K::DEFAULT) || self.at_any(&[K::GLOBAL, K::LOCAL, K::SESSION]) && self.token.kind == T::Word {
            return self.fail();
        }
        let (prefix, name) = self.variable_name()?;
        Ok(SystemVariable { scope, prefix, name })
    }

    /// `name`, `prefix.name`, `DEFAULT.name`.
    fn variable_name(&mut self) -> Result<(Option<Identifier<'a>>, Identifier<'a>)> {
        let scopes = ["global", "session", "local"];
        if scopes.iter().any(|scope| self.at_word(scope)) {
            return self.fail();
        }
        let first = if self.at(K::DEFAULT) { self.any_word()? } else { self.identifier()? };
        if self.accept_kind(T::Dot) {
            return Ok((Some(first), self.identifier()?));
        }
        Ok((None, first))
    }

    pub(super) fn set_statement(&mut self) -> Result<Statement<'a>> {
        self.expect(K::SET)?;
        let next = self.peek().keyword;
        let scope = Self::scope_of(self.token.keyword);
        match self.token.keyword {
            K::TRANSACTION if matches!(next, K::ISOLATION | K::READ) => return self.set_transaction(None),
            K::GLOBAL | K::SESSION | K::LOCAL if next == K::TRANSACTION => {
                self.advance();
                return self.set_transaction(scope);
            }
            K::PASSWORD => return self.set_password(),
            K::ROLE if !matches!(self.peek().kind, T::Equal | T::Assign) => {
                self.advance();
                return self.set_role().map(Statement::SetRole);
            }
            K::DEFAULT if next == K::ROLE => {
                self.advance();
                self.advance();
                let roles = match self.token.keyword {
                    K::ALL => {
                        self.advance();
                        SetRole::All
                    }
                    K::NONE => {
                        self.advance();
                        SetRole::None
                    }
                    _ => SetRole::Roles(self.comma_list(Parser::role)?),
                };
                self.expect(K::TO)?;
                let accounts = self.comma_list(Parser::account)?;
                return Ok(Statement::SetDefaultRole { roles, accounts });
            }
            K::RESOURCE if next == K::GROUP => {
                self.advance();
                self.advance();
                let name = self.identifier()?;
                let mut threads = self.new_list();
                if self.accept(K::FOR) {
                    threads.push(self.integer()?);
                    while self.accept_kind(T::Comma) || self.at_kind(T::Integer) {
                        threads.push(self.integer()?);
                    }
                }
                return Ok(Statement::SetResourceGroup { name, threads: threads.into_bump_slice() });
            }
            _ => {}
        }
        Ok(Statement::Set(self.comma_list(Parser::set_item)?))
    }

    fn set_transaction(&mut self, scope: Option<VariableScope>) -> Result<Statement<'a>> {
        self.expect(K::TRANSACTION)?;
        let (mut isolation, mut read_only) = (None, None);
        loop {
            if isolation.is_none() && self.accept(K::ISOLATION) {
                self.expect(K::LEVEL)?;
                isolation = Some(match self.expect_any(&[K::READ, K::REPEATABLE, K::SERIALIZABLE])? {
                    K::READ => match self.expect_any(&[K::UNCOMMITTED, K::COMMITTED])? {
                        K::UNCOMMITTED => IsolationLevel::ReadUncommitted,
                        _ => IsolationLevel::ReadCommitted,
                    },
                    K::REPEATABLE => {
                        self.expect(K::READ)?;
                        IsolationLevel::RepeatableRead
                    }
                    _ => IsolationLevel::Serializable,
                });
            } else if read_only.is_none() && self.accept(K::READ) {
                read_only = Some(self.expect_any(&[K::ONLY, K::WRITE])? == K::ONLY);
            } else {
                return self.fail();
            }
            if !self.accept_kind(T::Comma) {
                return Ok(Statement::SetTransaction(SetTransaction { scope, isolation, read_only }));
            }
        }
    }

    fn set_password(&mut self) -> Result<Statement<'a>> {
        self.expect(K::PASSWORD)?;
        let account = if self.accept(K::FOR) { Some(self.account()?) } else { None };
        let password = if self.accept(K::TO) {
            self.expect(K::RANDOM)?;
            None
        } else {
            if !self.accept_kind(T::Assign) {
                self.expect_kind(T::Equal)?;
            }
            Some(self.string()?)
        };
        let current = if self.accept(K::REPLACE) { Some(self.string()?) } else { None };
        let retain_current = self.accept_words(&[K::RETAIN, K::CURRENT, K::PASSWORD])?;
        Ok(Statement::SetPassword(self.alloc(SetPassword { account, password, current, retain_current })))
    }

    /// Behind ROLE.
    pub(super) fn set_role(&mut self) -> Result<SetRole<'a>> {
        Ok(match self.token.keyword {
            K::DEFAULT => {
                self.advance();
                SetRole::Default
            }
            K::NONE => {
                self.advance();
                SetRole::None
            }
            K::ALL => {
                self.advance();
                if self.accept(K::EXCEPT) { SetRole::AllExcept(self.comma_list(Parser::role)?) } else { SetRole::All }
            }
            _ => SetRole::Roles(self.comma_list(Parser::role)?),
        })
    }

    fn assignment_sign(&mut self) -> Result<()> {
        if self.accept_kind(T::Assign) { Ok(()) } else { self.expect_kind(T::Equal) }
    }

    fn set_item(&mut self) -> Result<SetItem<'a>> {
        match self.token.kind {
            T::AtName => {
                let name = self.at_name()?;
                self.assignment_sign()?;
                return Ok(SetItem::User { name, value: self.expression()? });
            }
            T::AtAt => {
                let variable = self.system_variable()?;
                self.assignment_sign()?;
                return Ok(SetItem::System { variable, at_signs: true, value: self.set_value()? });
            }
            _ => {}
        }
        if self.at(K::NAMES) {
            self.advance();
            if self.accept(K::DEFAULT) {
                return Ok(SetItem::Names { character_set: None, collation: None });
            }
            let character_set = Some(self.character_set_name()?);
            let collation = if self.accept(K::COLLATE) { Some(self.character_set_name()?) } else { None };
            return Ok(SetItem::Names { character_set, collation });
        }
        if self.at_any(&[K::CHARSET, K::CHARACTER, K::CHAR])
            && !matches!(self.peek().kind, T::Equal | T::Assign | T::Dot)
        {
            if !self.accept_character_set()? {
                self.advance();
                return self.fail();
            }
            let is_default = self.accept(K::DEFAULT);
            return Ok(SetItem::CharacterSet(if is_default { None } else { Some(self.character_set_name()?) }));
        }
        let mut scope = None;
        if self.token.kind == T::Word {
            scope = Self::scope_of(self.token.keyword);
            if scope.is_some() {
                self.advance();
            }
        }
        let (prefix, name) = self.variable_name()?;
        if scope.is_none() && self.at_kind(T::Dot) {
            return self.fail();
        }
        self.assignment_sign()?;
        if let (None, Some(row)) = (scope, prefix)
            && self.in_program
            && matches!(row.text.to_ascii_lowercase().as_slice(), b"new" | b"old")
        {
            let column = ColumnName { schema: None, table: Some(row), column: name };
            return Ok(SetItem::TriggerRow { column, value: self.set_value()? });
        }
        let variable = SystemVariable { scope, prefix, name };
        Ok(SetItem::System { variable, at_signs: false, value: self.set_value()? })
    }

    /// An expression, DEFAULT, or one of the reserved words that are values of variables.
    pub(super) fn set_value(&mut self) -> Result<Expression<'a>> {
        let is_word = match self.token.keyword {
            K::ON | K::ALL | K::ROW | K::SYSTEM => self.peek().kind != T::LeftParenthesis,
            K::BINARY => matches!(self.peek().kind, T::End | T::Semicolon | T::Comma),
            _ => false,
        };
        if is_word && self.token.kind == T::Word {
            let span = self.token.span();
            let value = self.source(span);
            self.advance();
            let string = StringLiteral { character_set: None, value, first_length: value.len() as u32 };
            return Ok(Expression { kind: self.literal_kind(Literal::String(string)), span });
        }
        self.expression_or_default()
    }
}
