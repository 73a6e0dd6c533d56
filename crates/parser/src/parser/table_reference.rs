//! FROM: tables, joins, derived tables, JSON_TABLE.
//!
//! A join without ON waits for one: `a JOIN b JOIN c ON x ON y` is `a JOIN (b JOIN c ON x) ON y`. If none comes, it is a
//! cross join, to the left of what was read meanwhile. A LEFT or RIGHT JOIN must have one.

use super::{K, Parser, Result, T};
use crate::ast::*;
use crate::error::ErrorKind;

/// Joins one behind the other. A join may have 61 tables; and whoever walks the tree goes as deep as they are many.
const JOINS: usize = 61;

/// What a parenthesis behind FROM held.
enum TableGroup<'a> {
    Query(&'a Query<'a>),
    References(TableReference<'a>),
}

impl<'a> Parser<'a> {
    pub(super) fn table_references(&mut self) -> Result<List<'a, TableReference<'a>>> {
        self.comma_list(Parser::table_reference)
    }

    pub(super) fn table_reference(&mut self) -> Result<TableReference<'a>> {
        self.enter()?;
        let reference = if self.at_kind(T::LeftBrace) {
            self.advance();
            // `{ OJ a LEFT JOIN b ON .. }`
            self.expect(K::OJ)?;
            let inner = self.table_reference()?;
            self.expect_kind(T::RightBrace)?;
            inner
        } else {
            self.table_factor()?
        };
        let reference = self.joins(reference)?;
        self.leave();
        Ok(reference)
    }

    /// The joins that follow `left`.
    fn joins(&mut self, left: TableReference<'a>) -> Result<TableReference<'a>> {
        self.joins_counted(left).map(|(reference, _)| reference)
    }

    /// The same, and how many joins lie on the way from the result down to `left`.
    fn joins_counted(&mut self, mut left: TableReference<'a>) -> Result<(TableReference<'a>, usize)> {
        let mut count = 0;
        while let Some((kind, natural)) = self.join_operator()? {
            let mut right = if self.at_kind(T::LeftBrace) { self.table_reference()? } else { self.table_factor()? };
            if count > JOINS {
                return self.fail_at(ErrorKind::TooManyTables, self.token.span());
            }
            if natural {
                left = self.join(kind, true, left, right, JoinCondition::None);
                count += 1;
                continue;
            }
            let mut condition = self.join_condition()?;
            let mut inner = 0;
            if matches!(condition, JoinCondition::None) && self.at_join() {
                self.enter()?;
                (right, inner) = self.joins_counted(right)?;
                self.leave();
                condition = self.join_condition()?;
            }
            if !matches!(condition, JoinCondition::None) {
                left = self.join(kind, false, left, right, condition);
                count += 1;
            } else if matches!(kind, JoinKind::Left | JoinKind::Right) {
                return self.fail();
            } else {
                // `a JOIN b JOIN c ON x`: nobody else wants the condition, so it is `(a JOIN b) JOIN c ON x`.
                left = self.join_at_the_left(kind, left, right, inner);
                count += inner + 1;
            }
        }
        Ok((left, count))
    }

    /// Joins `left` to what is `depth` joins down the left side of `tree`.
    fn join_at_the_left(
        &self,
        kind: JoinKind,
        left: TableReference<'a>,
        mut tree: TableReference<'a>,
        depth: usize,
    ) -> TableReference<'a> {
        let mut above = Vec::with_capacity(depth);
        while let (TableReference::Join(join), true) = (tree, above.len() < depth) {
            above.push(join);
            tree = join.left;
        }
        let joined = self.join(kind, false, left, tree, JoinCondition::None);
        above.into_iter().rev().fold(joined, |left, join| TableReference::Join(self.alloc(Join { left, ..*join })))
    }

    fn join(
        &self,
        kind: JoinKind,
        natural: bool,
        left: TableReference<'a>,
        right: TableReference<'a>,
        condition: JoinCondition<'a>,
    ) -> TableReference<'a> {
        TableReference::Join(self.alloc(Join { kind, natural, left, right, condition }))
    }

    fn at_join(&self) -> bool {
        self.at_any(&[K::JOIN, K::INNER, K::CROSS, K::LEFT, K::RIGHT, K::STRAIGHT_JOIN, K::NATURAL])
    }

    fn join_operator(&mut self) -> Result<Option<(JoinKind, bool)>> {
        if !self.at_join() {
            return Ok(None);
        }
        let natural = self.accept(K::NATURAL);
        let kind = match self.token.keyword {
            K::STRAIGHT_JOIN if !natural => {
                self.advance();
                return Ok(Some((JoinKind::Straight, false)));
            }
            K::LEFT | K::RIGHT => {
                let kind = if self.at(K::LEFT) { JoinKind::Left } else { JoinKind::Right };
                self.advance();
                self.accept(K::OUTER);
                kind
            }
            K::INNER => {
                self.advance();
                JoinKind::Inner
            }
            K::CROSS if !natural => {
                self.advance();
                JoinKind::Inner
            }
            _ => JoinKind::Inner,
        };
        self.expect(K::JOIN)?;
        Ok(Some((kind, natural)))
    }

    fn join_condition(&mut self) -> Result<JoinCondition<'a>> {
        if self.accept(K::ON) {
            return self.expression().map(JoinCondition::On);
        }
        if self.accept(K::USING) {
            return self.identifiers().map(JoinCondition::Using);
        }
        Ok(JoinCondition::None)
    }

    fn table_factor(&mut self) -> Result<TableReference<'a>> {
        if self.at_kind(T::LeftParenthesis) {
            return match self.table_group()? {
                TableGroup::Query(query) => self.derived(false, query),
                TableGroup::References(reference) => Ok(reference),
            };
        }
        if self.accept(K::LATERAL) {
            let query = self.subquery()?;
            return self.derived(true, query);
        }
        if self.at(K::JSON_TABLE) {
            return self.json_table();
        }
        let table = self.table()?;
        Ok(TableReference::Table(self.alloc(table)))
    }

    fn table(&mut self) -> Result<Table<'a>> {
        let name = self.table_name()?;
        let partitions = self.partition_names_clause()?;
        let sample = if self.at(K::TABLESAMPLE) { Some(self.table_sample()?) } else { None };
        let alias = self.table_alias()?;
        let index_hints = self.run(Parser::index_hint)?;
        Ok(Table { name, partitions, alias, index_hints, sample })
    }

    fn table_sample(&mut self) -> Result<(bool, Expression<'a>)> {
        self.advance();
        let bernoulli = self.expect_any(&[K::SYSTEM, K::BERNOULLI])? == K::BERNOULLI;
        self.open()?;
        let percentage = self.expression()?;
        self.close()?;
        Ok((bernoulli, percentage))
    }

    /// `PARTITION (p, q)`, or nothing.
    pub(super) fn partition_names_clause(&mut self) -> Result<List<'a, Identifier<'a>>> {
        if self.accept(K::PARTITION) { self.identifiers() } else { Ok(&[]) }
    }

    /// `[AS] alias`, or nothing.
    pub(super) fn table_alias(&mut self) -> Result<Option<Identifier<'a>>> {
        if self.accept(K::AS) { self.identifier().map(Some) } else { Ok(self.accept_identifier()) }
    }

    fn index_hint(&mut self) -> Result<Option<IndexHint<'a>>> {
        let action = match self.token.keyword {
            K::USE => IndexHintAction::Use,
            K::IGNORE => IndexHintAction::Ignore,
            K::FORCE => IndexHintAction::Force,
            _ => return Ok(None),
        };
        if !matches!(self.peek().keyword, K::INDEX | K::KEY) {
            return Ok(None);
        }
        self.advance();
        self.advance();
        let mut scope = IndexHintScope::All;
        if self.accept(K::FOR) {
            scope = match self.expect_any(&[K::JOIN, K::ORDER, K::GROUP])? {
                K::JOIN => IndexHintScope::Join,
                K::ORDER => IndexHintScope::OrderBy,
                _ => IndexHintScope::GroupBy,
            };
            if scope != IndexHintScope::Join {
                self.expect(K::BY)?;
            }
        }
        self.open()?;
        let indexes = if self.at_kind(T::RightParenthesis) && action == IndexHintAction::Use {
            &[]
        } else {
            self.comma_list(|p| if p.at(K::PRIMARY) { p.any_word() } else { p.identifier() })?
        };
        self.close()?;
        Ok(Some(IndexHint { action, scope, indexes }))
    }

    fn derived(&mut self, lateral: bool, query: &'a Query<'a>) -> Result<TableReference<'a>> {
        let alias = self.table_alias()?;
        let columns = if alias.is_some() { self.optional_identifiers()? } else { &[] };
        Ok(TableReference::Derived(self.alloc(Derived { lateral, query, alias, columns })))
    }

    /// At `(`: a query, or references, up to the `)`.
    fn table_group(&mut self) -> Result<TableGroup<'a>> {
        self.enter()?;
        self.open()?;
        let start = self.token.start;
        let group = if self.at_query() {
            TableGroup::Query(self.query()?)
        } else if self.at_kind(T::LeftParenthesis) {
            match self.table_group()? {
                TableGroup::Query(query) if self.at_kind(T::RightParenthesis) => TableGroup::Query(query),
                TableGroup::Query(query) if self.at_query_tail() => {
                    TableGroup::Query(self.query_behind(None, QueryBody::Parenthesised(query), start)?)
                }
                TableGroup::Query(query) => {
                    let first = self.derived(false, query)?;
                    TableGroup::References(self.references_behind(first)?)
                }
                TableGroup::References(first) => TableGroup::References(self.references_behind(first)?),
            }
        } else {
            let first = if self.at_kind(T::LeftBrace) { self.table_reference()? } else { self.table_factor()? };
            TableGroup::References(self.references_behind(first)?)
        };
        self.close()?;
        self.leave();
        Ok(group)
    }

    fn references_behind(&mut self, first: TableReference<'a>) -> Result<TableReference<'a>> {
        let first = self.joins(first)?;
        if !self.at_kind(T::Comma) {
            return Ok(first);
        }
        let mut references = self.new_list();
        references.push(first);
        while self.accept_kind(T::Comma) {
            references.push(self.table_reference()?);
        }
        Ok(TableReference::Parenthesised(references.into_bump_slice()))
    }

    fn json_table(&mut self) -> Result<TableReference<'a>> {
        self.advance();
        self.open()?;
        let document = self.expression()?;
        self.expect_kind(T::Comma)?;
        let path = self.introduced_string()?;
        self.expect(K::COLUMNS)?;
        let columns = self.parenthesised_list(Parser::json_table_column)?;
        self.close()?;
        let alias = self.table_alias()?;
        Ok(TableReference::JsonTable(self.alloc(JsonTable { document, path, columns, alias })))
    }

    fn json_table_column(&mut self) -> Result<JsonTableColumn<'a>> {
        if self.at(K::NESTED)
            && (self.peek().keyword == K::PATH || matches!(self.peek().kind, T::String | T::Introducer))
        {
            self.enter()?;
            self.advance();
            self.accept(K::PATH);
            let path = self.introduced_string()?;
            self.expect(K::COLUMNS)?;
            let columns = self.parenthesised_list(Parser::json_table_column)?;
            self.leave();
            return Ok(JsonTableColumn::Nested { path, columns });
        }
        let name = self.identifier()?;
        if self.accept_words(&[K::FOR, K::ORDINALITY])? {
            return Ok(JsonTableColumn::Ordinality(name));
        }
        let data_type = self.data_type()?;
        let collation = if self.accept(K::COLLATE) { Some(self.character_set_name()?) } else { None };
        let exists = self.accept(K::EXISTS);
        self.expect(K::PATH)?;
        let path = self.introduced_string()?;
        let (on_empty, on_error) = self.json_fallbacks()?;
        let data_type = self.alloc(data_type);
        Ok(JsonTableColumn::Path { name, data_type, collation, exists, path, on_empty, on_error })
    }
}
