//! LOAD DATA, LOAD XML, HANDLER, CALL, DO.

use super::{K, Parser, Result, T};
use crate::ast::*;

impl<'a> Parser<'a> {
    /// Behind LOAD.
    pub(super) fn load(&mut self) -> Result<Statement<'a>> {
        let xml = self.expect_any(&[K::DATA, K::XML])? == K::XML;
        // Bulk loading names where the file is from: `FROM URL 'x'`, `FROM S3 'x'`.
        let priority = if self.accept(K::LOW_PRIORITY) {
            LoadPriority::Low
        } else if self.accept(K::CONCURRENT) {
            LoadPriority::Concurrent
        } else {
            LoadPriority::Normal
        };
        if self.accept(K::FROM) {
            self.accept(K::INFILE);
        }
        let local = self.accept(K::LOCAL);
        if !self.accept(K::INFILE) && !self.accept(K::URL) {
            self.accept(K::S3);
        }
        let path = self.string()?;
        if self.accept(K::COUNT) || self.at_word("COUNT") {
            self.advance();
            self.integer()?;
        }
        if self.accept_words(&[K::IN, K::PRIMARY, K::KEY])? {
            self.expect(K::ORDER)?;
        }
        let duplicates = match self.token.keyword {
            K::REPLACE => LoadDuplicates::Replace,
            K::IGNORE => LoadDuplicates::Ignore,
            _ => LoadDuplicates::Error,
        };
        if duplicates != LoadDuplicates::Error {
            self.advance();
        }
        self.expect_words(&[K::INTO, K::TABLE])?;
        let table = self.table_name()?;
        let partitions = self.partition_names_clause()?;
        if self.accept(K::COMPRESSION) {
            self.expect_kind(T::Equal)?;
            self.string()?;
        }
        let character_set = if self.accept_character_set()? { Some(self.character_set_name()?) } else { None };
        let row_tag = if xml && self.accept_words(&[K::ROWS, K::IDENTIFIED, K::BY])? {
            Some(self.string_or_digits()?)
        } else {
            None
        };
        let format = self.file_format()?;
        let ignored_lines = if self.accept(K::IGNORE) {
            let count = self.integer()?;
            self.expect_any(&[K::LINES, K::ROWS])?;
            Some(count)
        } else {
            None
        };
        let mut columns: List<'a, LoadColumn<'a>> = &[];
        if self.accept_kind(T::LeftParenthesis) {
            if !self.at_kind(T::RightParenthesis) {
                columns = self.comma_list(|p| {
                    Ok(if p.at_kind(T::AtName) {
                        LoadColumn::Variable(p.at_name()?)
                    } else {
                        LoadColumn::Column(p.column_name()?)
                    })
                })?;
            }
            self.close()?;
        }
        let assignments = if self.accept(K::SET) { self.assignments()? } else { &[] };
        if self.accept(K::PARALLEL) {
            self.expect_kind(T::Equal)?;
            self.integer()?;
        }
        if self.accept(K::MEMORY) {
            self.expect_kind(T::Equal)?;
            self.size()?;
        }
        if self.accept(K::ALGORITHM) {
            self.expect_kind(T::Equal)?;
            self.expect(K::BULK)?;
        }
        let load = Load {
            xml,
            priority,
            local,
            path,
            duplicates,
            table,
            partitions,
            character_set,
            row_tag,
            format,
            ignored_lines,
            columns,
            assignments,
        };
        Ok(Statement::Load(self.alloc(load)))
    }

    pub(super) fn handler(&mut self) -> Result<Statement<'a>> {
        self.advance();
        let table = self.table_name()?;
        let handler = if self.accept(K::OPEN) {
            Handler::Open { table, alias: self.table_alias()? }
        } else if table.schema.is_some() {
            return self.fail();
        } else if self.accept(K::CLOSE) {
            Handler::Close(table.name)
        } else {
            self.expect(K::READ)?;
            let index = if self.at_any(&[K::FIRST, K::NEXT]) && !matches!(self.peek().keyword, K::FIRST | K::NEXT) {
                None
            } else if self.at(K::PRIMARY) {
                Some(self.any_word()?)
            } else {
                Some(self.identifier()?)
            };
            let position = self.handler_position(index.is_some())?;
            let condition = self.where_clause()?;
            Handler::Read { table: table.name, index, position, condition, limit: self.limit()? }
        };
        Ok(Statement::Handler(self.alloc(handler)))
    }

    fn handler_position(&mut self, by_index: bool) -> Result<HandlerPosition<'a>> {
        if by_index
            && let Some(operator) = self.comparison_operator()
            && !matches!(operator, BinaryOperator::NotEqual | BinaryOperator::NullSafeEqual)
        {
            self.advance();
            return Ok(HandlerPosition::Compare(operator, self.row_values()?));
        }
        let words: &[K] = if by_index { &[K::FIRST, K::NEXT, K::PREV, K::LAST] } else { &[K::FIRST, K::NEXT] };
        Ok(match self.expect_any(words)? {
            K::FIRST => HandlerPosition::First,
            K::NEXT => HandlerPosition::Next,
            K::PREV => HandlerPosition::Previous,
            _ => HandlerPosition::Last,
        })
    }

    pub(super) fn call_statement(&mut self) -> Result<Statement<'a>> {
        self.advance();
        let name = self.object_name()?;
        let mut arguments: List<'a, Expression<'a>> = &[];
        if self.accept_kind(T::LeftParenthesis) {
            if !self.at_kind(T::RightParenthesis) {
                arguments = self.comma_list(Parser::expression)?;
            }
            self.close()?;
        }
        Ok(Statement::Call(self.alloc(CallProcedure { name, arguments })))
    }

    pub(super) fn do_statement(&mut self) -> Result<Statement<'a>> {
        self.advance();
        let expressions = self.comma_list(|p| {
            let expression = p.expression()?;
            p.alias()?;
            Ok(expression)
        })?;
        Ok(Statement::Do(expressions))
    }
}
