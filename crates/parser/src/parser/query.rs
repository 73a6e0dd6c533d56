//! Query expressions: WITH, set operations, ORDER BY, LIMIT, INTO, locking clauses.

use super::{K, Parser, Result, T};
use crate::ast::*;

impl<'a> Parser<'a> {
    /// A query expression.
    pub(super) fn query(&mut self) -> Result<&'a Query<'a>> {
        self.enter()?;
        let start = self.token.start;
        let with = if self.at(K::WITH) { Some(self.with()?) } else { None };
        let mut into = None;
        let body = self.query_primary(&mut into)?;
        let query = self.query_after(with, body, into, start, false)?;
        self.leave();
        Ok(query)
    }

    /// A query that is a statement: INTO may be at its end.
    pub(super) fn query_statement(&mut self) -> Result<&'a Query<'a>> {
        let start = self.token.start;
        let with = if self.at(K::WITH) { Some(self.with()?) } else { None };
        self.query_with(with, start)
    }

    /// What follows WITH.
    pub(super) fn query_with(&mut self, with: Option<&'a With<'a>>, start: u32) -> Result<&'a Query<'a>> {
        let mut into = None;
        let body = self.query_primary(&mut into)?;
        self.query_after(with, body, into, start, true)
    }

    /// The same, where the first operand is there already.
    pub(super) fn query_behind(
        &mut self,
        with: Option<&'a With<'a>>,
        body: QueryBody<'a>,
        start: u32,
    ) -> Result<&'a Query<'a>> {
        self.query_after(with, body, None, start, false)
    }

    fn query_after(
        &mut self,
        with: Option<&'a With<'a>>,
        body: QueryBody<'a>,
        mut into: Option<&'a SelectInto<'a>>,
        start: u32,
        into_allowed: bool,
    ) -> Result<&'a Query<'a>> {
        let body = self.set_operations(body, &mut into)?;
        let order_by = self.order_by()?;
        let limit = self.limit()?;
        if into_allowed && self.at(K::INTO) {
            into = Some(self.select_into()?);
        }
        let locking = self.run(Parser::locking)?;
        if into_allowed && self.at(K::INTO) {
            into = Some(self.select_into()?);
        }
        let span = self.span_from(start);
        Ok(self.alloc(Query { with, body, order_by, limit, locking, into, span }))
    }

    pub(super) fn with(&mut self) -> Result<&'a With<'a>> {
        self.expect(K::WITH)?;
        let recursive = self.accept(K::RECURSIVE);
        let tables = self.comma_list(|p| {
            let name = p.identifier()?;
            let columns = p.optional_identifiers()?;
            p.expect(K::AS)?;
            let query = p.subquery()?;
            Ok(CommonTable { name, columns, query })
        })?;
        Ok(self.alloc(With { recursive, tables }))
    }

    /// UNION and EXCEPT, and INTERSECT, which binds tighter.
    fn set_operations(&mut self, first: QueryBody<'a>, into: &mut Option<&'a SelectInto<'a>>) -> Result<QueryBody<'a>> {
        let mut left = self.intersections(first, into)?;
        while self.at_any(&[K::UNION, K::EXCEPT]) {
            let operator = if self.at(K::UNION) { SetOperator::Union } else { SetOperator::Except };
            let all = self.set_operator_tail()?;
            let first = self.query_primary(into)?;
            let right = self.intersections(first, into)?;
            left = QueryBody::SetOperation(self.alloc(SetOperation { operator, all, left, right }));
        }
        Ok(left)
    }

    fn intersections(&mut self, first: QueryBody<'a>, into: &mut Option<&'a SelectInto<'a>>) -> Result<QueryBody<'a>> {
        let mut left = first;
        while self.at(K::INTERSECT) {
            let all = self.set_operator_tail()?;
            let right = self.query_primary(into)?;
            let operation = SetOperation { operator: SetOperator::Intersect, all, left, right };
            left = QueryBody::SetOperation(self.alloc(operation));
        }
        Ok(left)
    }

    /// At the operator: `ALL`, `DISTINCT` or nothing behind it.
    fn set_operator_tail(&mut self) -> Result<bool> {
        self.advance();
        let all = self.accept(K::ALL);
        if !all {
            self.accept(K::DISTINCT);
        }
        Ok(all)
    }

    fn query_primary(&mut self, into: &mut Option<&'a SelectInto<'a>>) -> Result<QueryBody<'a>> {
        match self.token.keyword {
            K::SELECT => {
                let (select, found) = self.select()?;
                if found.is_some() {
                    *into = found;
                }
                Ok(QueryBody::Select(select))
            }
            K::VALUES => {
                self.advance();
                Ok(QueryBody::Values(self.comma_list(Parser::row_constructor)?))
            }
            K::TABLE => {
                self.advance();
                Ok(QueryBody::Table(self.table_name()?))
            }
            _ if self.at_kind(T::LeftParenthesis) => Ok(QueryBody::Parenthesised(self.subquery()?)),
            _ => self.fail(),
        }
    }

    /// `ROW(1, 2)`.
    pub(super) fn row_constructor(&mut self) -> Result<List<'a, Expression<'a>>> {
        self.expect(K::ROW)?;
        self.row_values()
    }

    /// `(1, DEFAULT)`, `()`.
    pub(super) fn row_values(&mut self) -> Result<List<'a, Expression<'a>>> {
        self.open()?;
        if self.accept_kind(T::RightParenthesis) {
            return Ok(&[]);
        }
        let values = self.comma_list(Parser::expression_or_default)?;
        self.close()?;
        Ok(values)
    }

    /// `LIMIT n`, `LIMIT m, n`, `LIMIT n OFFSET m`, or nothing.
    pub(super) fn limit(&mut self) -> Result<Option<Limit<'a>>> {
        if !self.accept(K::LIMIT) {
            return Ok(None);
        }
        let first = self.limit_value()?;
        if self.accept_kind(T::Comma) {
            return Ok(Some(Limit { count: self.limit_value()?, offset: Some(first) }));
        }
        let offset = if self.accept(K::OFFSET) { Some(self.limit_value()?) } else { None };
        Ok(Some(Limit { count: first, offset }))
    }

    /// `LIMIT n` of UPDATE and DELETE.
    pub(super) fn simple_limit(&mut self) -> Result<Option<Expression<'a>>> {
        if self.accept(K::LIMIT) { self.limit_value().map(Some) } else { Ok(None) }
    }

    /// A number, a parameter, or a variable of a stored program.
    pub(super) fn limit_value(&mut self) -> Result<Expression<'a>> {
        let span = self.token.span();
        let kind = match self.token.kind {
            T::Integer | T::HexNumber | T::BitNumber | T::HexString | T::BitString => self.literal()?,
            T::Parameter if self.options.parameters => {
                self.advance();
                self.parameters += 1;
                ExpressionKind::Parameter(self.parameters - 1)
            }
            _ if self.at_identifier() => {
                let column = self.identifier()?;
                ExpressionKind::Column(self.alloc(ColumnName { schema: None, table: None, column }))
            }
            _ => return self.fail(),
        };
        Ok(Expression { kind, span })
    }

    fn locking(&mut self) -> Result<Option<Locking<'a>>> {
        if self.accept(K::LOCK) {
            self.expect_words(&[K::IN, K::SHARE, K::MODE])?;
            return Ok(Some(Locking { exclusive: false, tables: &[], wait: LockWait::Wait }));
        }
        if !self.at(K::FOR) {
            return Ok(None);
        }
        self.advance();
        let exclusive = self.expect_any(&[K::UPDATE, K::SHARE])? == K::UPDATE;
        let tables = if self.accept(K::OF) { self.comma_list(Parser::table_name)? } else { &[] };
        let wait = if self.accept(K::NOWAIT) {
            LockWait::NoWait
        } else if self.accept_words(&[K::SKIP, K::LOCKED])? {
            LockWait::SkipLocked
        } else {
            LockWait::Wait
        };
        Ok(Some(Locking { exclusive, tables, wait }))
    }

    pub(super) fn select_into(&mut self) -> Result<&'a SelectInto<'a>> {
        self.expect(K::INTO)?;
        let into = if self.accept(K::OUTFILE) {
            let path = self.string()?;
            let character_set = if self.accept_character_set()? { Some(self.character_set_name()?) } else { None };
            SelectInto::Outfile { path, character_set, format: self.file_format()? }
        } else if self.accept(K::DUMPFILE) {
            SelectInto::Dumpfile(self.string()?)
        } else {
            SelectInto::Variables(self.comma_list(|p| {
                if p.at_kind(T::AtName) {
                    return p.at_name().map(IntoVariable::User);
                }
                if p.at_kind(T::String) {
                    return p.fail();
                }
                p.identifier().map(IntoVariable::Local)
            })?)
        };
        Ok(self.alloc(into))
    }

    /// `FIELDS ..`, `LINES ..`.
    pub(super) fn file_format(&mut self) -> Result<FileFormat<'a>> {
        let mut format = FileFormat::default();
        if self.accept(K::COLUMNS) || self.accept(K::FIELDS) {
            let before = self.token.start;
            loop {
                match self.token.keyword {
                    K::TERMINATED => {
                        self.advance();
                        self.expect(K::BY)?;
                        format.fields_terminated = Some(self.string_or_digits()?);
                    }
                    K::OPTIONALLY | K::ENCLOSED => {
                        format.optionally_enclosed = self.accept(K::OPTIONALLY);
                        self.expect_words(&[K::ENCLOSED, K::BY])?;
                        format.fields_enclosed = Some(self.string_or_digits()?);
                    }
                    K::ESCAPED => {
                        self.advance();
                        self.expect(K::BY)?;
                        format.fields_escaped = Some(self.string_or_digits()?);
                    }
                    _ => break,
                }
            }
            if self.token.start == before {
                return self.fail();
            }
        }
        if self.accept(K::LINES) {
            let before = self.token.start;
            loop {
                match self.token.keyword {
                    K::TERMINATED => {
                        self.advance();
                        self.expect(K::BY)?;
                        format.lines_terminated = Some(self.string_or_digits()?);
                    }
                    K::STARTING => {
                        self.advance();
                        self.expect(K::BY)?;
                        format.lines_starting = Some(self.string_or_digits()?);
                    }
                    _ => break,
                }
            }
            if self.token.start == before {
                return self.fail();
            }
        }
        Ok(format)
    }
}
