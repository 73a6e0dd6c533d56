//! INSERT and REPLACE.

use super::{K, Parser, Result, T};
use crate::ast::*;

impl<'a> Parser<'a> {
    pub(super) fn insert(&mut self) -> Result<Statement<'a>> {
        let replace = self.at(K::REPLACE);
        let hints = self.advance_to_hint();
        let priority = match self.token.keyword {
            K::LOW_PRIORITY => Priority::Low,
            K::DELAYED => Priority::Delayed,
            K::HIGH_PRIORITY if !replace => Priority::High,
            _ => Priority::Normal,
        };
        if priority != Priority::Normal {
            self.advance();
        }
        let ignore = !replace && self.accept(K::IGNORE);
        self.accept(K::INTO);
        let table = self.table_name()?;
        let partitions = self.partition_names_clause()?;
        let (columns, source) = self.insert_source()?;
        let mut row_alias = None;
        if !replace && self.at(K::AS) {
            self.advance();
            row_alias = Some((self.identifier()?, self.optional_identifiers()?));
        }
        let mut on_duplicate: List<'a, Assignment<'a>> = &[];
        if !replace && self.accept_words(&[K::ON, K::DUPLICATE, K::KEY, K::UPDATE])? {
            on_duplicate = self.assignments()?;
        }
        let insert =
            Insert { replace, hints, priority, ignore, table, partitions, columns, source, row_alias, on_duplicate };
        Ok(Statement::Insert(self.alloc(insert)))
    }

    #[allow(clippy::type_complexity)]
    fn insert_source(&mut self) -> Result<(Option<List<'a, ColumnName<'a>>>, InsertSource<'a>)> {
        if self.accept(K::SET) {
            let assignments = self.assignments()?;
            let columns = self.arena.alloc_slice_fill_iter(assignments.iter().map(|assignment| assignment.column));
            let row: &[_] = self.arena.alloc_slice_fill_iter(assignments.iter().map(|assignment| assignment.value));
            return Ok((Some(columns), InsertSource::Rows(self.arena.alloc_slice_copy(&[row]))));
        }
        let mut columns = None;
        if self.at_kind(T::LeftParenthesis) {
            let next = self.peek();
            let is_query = next.kind == T::LeftParenthesis
                || next.kind == T::Word && matches!(next.keyword, K::SELECT | K::WITH | K::TABLE | K::VALUES);
            if !is_query {
                self.advance();
                let list = if self.at_kind(T::RightParenthesis) { &[] } else { self.comma_list(Parser::column_name)? };
                self.close()?;
                columns = Some(list);
            }
        }
        let is_rows = self.at(K::VALUE) || (self.at(K::VALUES) && self.token.kind == T::Word);
        if is_rows && self.peek().kind == T::LeftParenthesis {
            self.advance();
            return Ok((columns, InsertSource::Rows(self.comma_list(Parser::row_values)?)));
        }
        if !(self.at_query() || self.at_kind(T::LeftParenthesis)) {
            if is_rows {
                self.advance();
            }
            return self.fail();
        }
        Ok((columns, InsertSource::Query(self.query()?)))
    }

    /// `column = value, ..`.
    pub(super) fn assignments(&mut self) -> Result<List<'a, Assignment<'a>>> {
        self.comma_list(|p| {
            let column = p.column_name()?;
            if !p.accept_kind(T::Assign) {
                p.expect_kind(T::Equal)?;
            }
            let value = p.expression_or_default()?;
            Ok(Assignment { column, value })
        })
    }
}
