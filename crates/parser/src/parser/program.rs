//! Stored programs: procedures, functions, triggers, events, libraries, and the statements of their bodies.
//!
//! The bodies are read by the same rules as all statements, so what is wrong in them is found; their trees are dropped.

use super::{K, Parser, Result, T};
use crate::ast::*;
use crate::error::ErrorKind;
use crate::span::Span;

impl<'a> Parser<'a> {
    /// Behind `CREATE [DEFINER = x] [AGGREGATE]`, at the kind.
    pub(super) fn create_program(
        &mut self,
        definer: Option<AccountName<'a>>,
        aggregate: bool,
    ) -> Result<Statement<'a>> {
        let keyword = self.token.keyword;
        self.advance();
        let mut program = StoredProgram {
            action: ProgramAction::Create,
            kind: match keyword {
                K::PROCEDURE => ProgramKind::Procedure,
                K::FUNCTION => ProgramKind::Function,
                K::TRIGGER => ProgramKind::Trigger,
                K::EVENT => ProgramKind::Event,
                _ => ProgramKind::Library,
            },
            conditional: self.if_not_exists()?,
            definer,
            name: self.object_name()?,
            table: None,
            header: Span::default(),
            body: Span::default(),
        };
        let header = self.token.start;
        match program.kind {
            ProgramKind::Function if aggregate || self.at(K::RETURNS) => {
                if definer.is_some() {
                    return self.fail();
                }
                self.expect(K::RETURNS)?;
                self.expect_any(&[K::STRING, K::REAL, K::DECIMAL, K::INT, K::INTEGER])?;
                self.expect(K::SONAME)?;
                self.string()?;
                program.kind = ProgramKind::LoadableFunction;
                program.header = self.span_from(header);
                return Ok(Statement::StoredProgram(self.alloc(program)));
            }
            ProgramKind::Procedure | ProgramKind::Function => {
                self.parameters_of_routine(program.kind == ProgramKind::Procedure)?;
                if program.kind == ProgramKind::Function {
                    self.expect(K::RETURNS)?;
                    self.data_type()?;
                    if self.accept(K::COLLATE) {
                        self.character_set_name()?;
                    }
                }
                let (mut javascript, mut libraries) = (false, false);
                while self.routine_characteristic(true, &mut javascript, &mut libraries)? {}
                if javascript || self.at(K::AS) {
                    self.expect(K::AS)?;
                    if !javascript {
                        return self.fail();
                    }
                    if self.at_kind(T::DollarString) || self.at_kind(T::String) {
                        let body = self.token.span();
                        self.advance();
                        program.header = Span::new(header, body.start);
                        program.body = body;
                        return Ok(Statement::StoredProgram(self.alloc(program)));
                    }
                    return self.fail();
                }
            }
            ProgramKind::Trigger => {
                self.expect_any(&[K::BEFORE, K::AFTER])?;
                self.expect_any(&[K::INSERT, K::UPDATE, K::DELETE])?;
                self.expect(K::ON)?;
                program.table = Some(self.table_name()?);
                self.expect_words(&[K::FOR, K::EACH, K::ROW])?;
                if self.at_any(&[K::FOLLOWS, K::PRECEDES]) {
                    self.advance();
                    self.name_or_string()?;
                }
            }
            ProgramKind::Event => {
                self.expect_words(&[K::ON, K::SCHEDULE])?;
                self.schedule()?;
                self.event_options()?;
                self.expect(K::DO)?;
            }
            _ => {
                if self.accept(K::COMMENT) {
                    self.string()?;
                }
                self.expect(K::LANGUAGE)?;
                self.identifier()?;
                if self.accept(K::COMMENT) {
                    self.string()?;
                }
                self.expect(K::AS)?;
                program.body = self.token.span();
                if !self.accept_kind(T::DollarString) {
                    self.introduced_string()?;
                }
                return Ok(Statement::StoredProgram(self.alloc(program)));
            }
        }
        program.header = self.span_from(header);
        program.body = self.body()?;
        Ok(Statement::StoredProgram(self.alloc(program)))
    }

    /// A body: one statement, compound as a rule.
    fn body(&mut self) -> Result<Span> {
        let outside = std::mem::replace(&mut self.in_program, true);
        let start = self.token.start;
        self.program_statement()?;
        self.in_program = outside;
        Ok(self.span_from(start))
    }

    fn parameters_of_routine(&mut self, modes: bool) -> Result<()> {
        self.open()?;
        if self.accept_kind(T::RightParenthesis) {
            return Ok(());
        }
        self.comma_list(|p| {
            if modes && p.at_any(&[K::IN, K::OUT, K::INOUT]) {
                p.advance();
            }
            p.identifier()?;
            p.data_type()?;
            if p.accept(K::COLLATE) {
                p.character_set_name()?;
            }
            Ok(())
        })?;
        self.close()
    }

    /// A characteristic of a routine, if one begins here.
    fn routine_characteristic(&mut self, create: bool, javascript: &mut bool, libraries: &mut bool) -> Result<bool> {
        match self.token.keyword {
            K::COMMENT => {
                self.advance();
                self.string()?;
            }
            K::LANGUAGE => {
                self.advance();
                if !self.accept(K::SQL) {
                    self.identifier()?;
                    *javascript = true;
                }
            }
            K::NO => {
                self.advance();
                self.expect(K::SQL)?;
            }
            K::CONTAINS => {
                self.advance();
                self.expect(K::SQL)?;
            }
            K::READS | K::MODIFIES => {
                self.advance();
                self.expect_words(&[K::SQL, K::DATA])?;
            }
            K::SQL => {
                self.sql_security()?;
            }
            K::NOT if create => {
                self.advance();
                self.expect(K::DETERMINISTIC)?;
            }
            K::DETERMINISTIC if create => self.advance(),
            K::USING if self.peek().kind == T::LeftParenthesis => {
                if std::mem::replace(libraries, true) {
                    return self.fail();
                }
                self.advance();
                self.open()?;
                if !self.at_kind(T::RightParenthesis) {
                    self.comma_list(|p| {
                        p.object_name()?;
                        if p.accept(K::AS) {
                            p.identifier()?;
                        } else {
                            p.accept_identifier();
                        }
                        Ok(())
                    })?;
                }
                self.close()?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn schedule(&mut self) -> Result<()> {
        if self.accept(K::AT) {
            self.expression()?;
            return Ok(());
        }
        self.expect(K::EVERY)?;
        self.expression()?;
        self.expect_interval_unit()?;
        if self.accept(K::STARTS) {
            self.expression()?;
        }
        if self.accept(K::ENDS) {
            self.expression()?;
        }
        Ok(())
    }

    /// ON COMPLETION, ENABLE, COMMENT; whether there was one.
    fn event_options(&mut self) -> Result<bool> {
        let before = self.token.start;
        if self.accept_words(&[K::ON, K::COMPLETION])? {
            self.accept(K::NOT);
            self.expect(K::PRESERVE)?;
        }
        if self.accept_words(&[K::RENAME, K::TO])? {
            self.object_name()?;
        }
        if !self.accept(K::ENABLE) && self.accept(K::DISABLE) && self.accept(K::ON) {
            self.expect_any(&[K::REPLICA, K::SLAVE])?;
        }
        if self.accept(K::COMMENT) {
            self.string()?;
        }
        Ok(self.token.start != before)
    }

    /// Behind `ALTER [DEFINER = x]`, at the kind.
    pub(super) fn alter_program(&mut self, definer: Option<AccountName<'a>>) -> Result<Statement<'a>> {
        let keyword = self.token.keyword;
        self.advance();
        let kind = match keyword {
            K::PROCEDURE => ProgramKind::Procedure,
            K::FUNCTION => ProgramKind::Function,
            K::EVENT => ProgramKind::Event,
            _ => ProgramKind::Library,
        };
        let name = self.object_name()?;
        let header = self.token.start;
        let mut body = Span::default();
        if kind == ProgramKind::Event {
            let mut changed = false;
            if self.at(K::ON) && self.peek().keyword == K::SCHEDULE {
                self.advance();
                self.advance();
                self.schedule()?;
                changed = true;
            }
            changed |= self.event_options()?;
            if self.accept(K::DO) {
                body = self.body()?;
                changed = true;
            }
            if !changed {
                return self.fail();
            }
        } else if kind == ProgramKind::Library {
            self.expect(K::COMMENT)?;
            self.string()?;
        } else {
            let (mut javascript, mut libraries) = (false, false);
            while self.routine_characteristic(false, &mut javascript, &mut libraries)? {}
        }
        let header = self.span_from(header);
        let action = ProgramAction::Alter;
        Ok(Statement::StoredProgram(self.alloc(StoredProgram {
            action,
            kind,
            conditional: false,
            definer,
            name,
            table: None,
            header,
            body,
        })))
    }

    /// Behind DROP, at the kind.
    pub(super) fn drop_program(&mut self) -> Result<Statement<'a>> {
        let kind = match self.token.keyword {
            K::PROCEDURE => ProgramKind::Procedure,
            K::FUNCTION => ProgramKind::Function,
            K::TRIGGER => ProgramKind::Trigger,
            K::EVENT => ProgramKind::Event,
            _ => ProgramKind::Library,
        };
        self.advance();
        let conditional = self.if_exists()?;
        let name = self.object_name()?;
        Ok(Statement::StoredProgram(self.alloc(StoredProgram {
            action: ProgramAction::Drop,
            kind,
            conditional,
            definer: None,
            name,
            table: None,
            header: Span::default(),
            body: Span::default(),
        })))
    }

    // ---- bodies ----

    /// A statement of a body: compound, flow of control, or any other.
    fn program_statement(&mut self) -> Result<()> {
        self.enter()?;
        if self.at_label() && self.peek().kind == T::Colon {
            let label = self.identifier()?;
            self.advance();
            self.labelled(Some(label))?;
        } else {
            match self.token.keyword {
                K::BEGIN | K::LOOP | K::WHILE if self.token.kind == T::Word => self.labelled(None)?,
                K::REPEAT if self.token.kind == T::Word => self.labelled(None)?,
                K::IF => {
                    self.advance();
                    self.condition_then()?;
                    while self.accept(K::ELSEIF) {
                        self.condition_then()?;
                    }
                    if self.accept(K::ELSE) {
                        self.statements()?;
                    }
                    self.expect_words(&[K::END, K::IF])?;
                }
                K::CASE => {
                    self.advance();
                    if !self.at(K::WHEN) {
                        self.expression()?;
                    }
                    self.expect(K::WHEN)?;
                    self.condition_then()?;
                    while self.accept(K::WHEN) {
                        self.condition_then()?;
                    }
                    if self.accept(K::ELSE) {
                        self.statements()?;
                    }
                    self.expect_words(&[K::END, K::CASE])?;
                }
                K::RETURN => {
                    self.advance();
                    self.expression()?;
                }
                K::LEAVE | K::ITERATE => {
                    self.advance();
                    self.identifier()?;
                }
                K::OPEN | K::CLOSE => {
                    self.advance();
                    self.identifier()?;
                }
                K::FETCH => {
                    self.advance();
                    if self.accept(K::NEXT) {
                        self.expect(K::FROM)?;
                    } else {
                        self.accept(K::FROM);
                    }
                    self.identifier()?;
                    self.expect(K::INTO)?;
                    self.comma_list(Parser::identifier)?;
                }
                _ => {
                    self.statement()?;
                }
            }
        }
        self.leave();
        Ok(())
    }

    /// `condition THEN statements`.
    fn condition_then(&mut self) -> Result<()> {
        self.expression()?;
        self.expect(K::THEN)?;
        self.statements()
    }

    /// One or more statements, each with its `;`.
    fn statements(&mut self) -> Result<()> {
        loop {
            self.program_statement()?;
            self.expect_kind(T::Semicolon)?;
            if self.at_any(&[K::END, K::ELSE, K::ELSEIF, K::WHEN, K::UNTIL]) && self.token.kind == T::Word {
                return Ok(());
            }
        }
    }

    /// BEGIN, LOOP, REPEAT, WHILE, and the label behind their END.
    fn labelled(&mut self, label: Option<Identifier<'a>>) -> Result<()> {
        match self.token.keyword {
            K::BEGIN => {
                self.advance();
                while self.accept(K::DECLARE) {
                    self.declaration()?;
                    self.expect_kind(T::Semicolon)?;
                }
                if !self.at(K::END) {
                    self.statements()?;
                }
                self.expect(K::END)?;
            }
            K::LOOP => {
                self.advance();
                self.statements()?;
                self.expect_words(&[K::END, K::LOOP])?;
            }
            K::WHILE => {
                self.advance();
                self.expression()?;
                self.expect(K::DO)?;
                self.statements()?;
                self.expect_words(&[K::END, K::WHILE])?;
            }
            K::REPEAT => {
                self.advance();
                self.statements()?;
                self.expect(K::UNTIL)?;
                self.expression()?;
                self.expect_words(&[K::END, K::REPEAT])?;
            }
            _ => return self.fail(),
        }
        if self.at_label() {
            let end = self.identifier()?;
            if !label.is_some_and(|label| label.text.eq_ignore_ascii_case(end.text.0)) {
                return self.fail_at(ErrorKind::LabelMismatch, end.span);
            }
        }
        Ok(())
    }

    /// Behind DECLARE.
    fn declaration(&mut self) -> Result<()> {
        if self.at_any(&[K::CONTINUE, K::EXIT]) && self.peek().keyword == K::HANDLER {
            self.advance();
            self.advance();
            self.expect(K::FOR)?;
            self.comma_list(Parser::handled_condition)?;
            return self.program_statement();
        }
        self.identifier()?;
        if self.accept(K::CONDITION) {
            self.expect(K::FOR)?;
            if self.at(K::SQLSTATE) {
                self.sqlstate()?;
            } else {
                self.unsigned()?;
            }
            return Ok(());
        }
        if self.accept(K::CURSOR) {
            self.expect(K::FOR)?;
            self.query()?;
            return Ok(());
        }
        while self.accept_kind(T::Comma) {
            self.identifier()?;
        }
        self.data_type()?;
        if self.accept(K::COLLATE) {
            self.character_set_name()?;
        }
        if self.accept(K::DEFAULT) {
            self.expression()?;
        }
        Ok(())
    }

    fn handled_condition(&mut self) -> Result<()> {
        match self.token.keyword {
            K::SQLSTATE => {
                self.sqlstate()?;
            }
            K::SQLWARNING | K::SQLEXCEPTION => self.advance(),
            K::NOT => {
                self.advance();
                self.expect(K::FOUND)?;
            }
            _ if self.at_kind(T::Integer) => self.advance(),
            _ => {
                self.identifier()?;
            }
        }
        Ok(())
    }
}
