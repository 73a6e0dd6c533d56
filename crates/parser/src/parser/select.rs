//! SELECT: one block of it.

use super::{K, Parser, Result, T};
use crate::ast::*;

impl<'a> Parser<'a> {
    /// From SELECT up to before ORDER BY; and INTO, if it stood between the list and FROM.
    pub(super) fn select(&mut self) -> Result<(&'a Select<'a>, Option<&'a SelectInto<'a>>)> {
        let hints = self.advance_to_hint();
        let options = self.select_options();
        let items = self.select_items()?;
        let into = if self.at(K::INTO) { Some(self.select_into()?) } else { None };
        let mut select = Select {
            hints,
            options,
            items,
            from: &[],
            condition: None,
            group_by: None,
            having: None,
            windows: &[],
            qualify: None,
            has_from: self.accept(K::FROM),
        };
        if select.has_from && !self.accept(K::DUAL) {
            select.from = self.table_references()?;
        }
        // Few statements have all the rest, many have none of it.
        if self.token.kind == T::Word {
            select.condition = self.where_clause()?;
            select.group_by = self.group_by()?;
            if self.accept(K::HAVING) {
                select.having = Some(self.expression()?);
            }
            if self.accept(K::WINDOW) {
                select.windows = self.comma_list(|p| {
                    let name = p.identifier()?;
                    p.expect(K::AS)?;
                    Ok((name, p.window_specification()?))
                })?;
            }
            if self.accept(K::QUALIFY) {
                select.qualify = Some(self.expression()?);
            }
        }
        Ok((self.alloc(select), into))
    }

    fn select_options(&mut self) -> SelectOptions {
        let mut options = SelectOptions::default();
        while self.token.kind == T::Word {
            let option = match self.token.keyword {
                K::DISTINCT | K::DISTINCTROW => &mut options.distinct,
                K::ALL => &mut options.all,
                K::HIGH_PRIORITY => &mut options.high_priority,
                K::STRAIGHT_JOIN => &mut options.straight_join,
                K::SQL_SMALL_RESULT => &mut options.sql_small_result,
                K::SQL_BIG_RESULT => &mut options.sql_big_result,
                K::SQL_BUFFER_RESULT => &mut options.sql_buffer_result,
                K::SQL_NO_CACHE => &mut options.sql_no_cache,
                K::SQL_CALC_FOUND_ROWS => &mut options.sql_calc_found_rows,
                _ => break,
            };
            *option = true;
            self.advance();
        }
        options
    }

    /// `*` may only be the first.
    fn select_items(&mut self) -> Result<List<'a, SelectItem<'a>>> {
        if self.accept_kind(T::Star) {
            if !self.at_kind(T::Comma) {
                return Ok(&[SelectItem::All]);
            }
            let mut items = self.new_list();
            items.push(SelectItem::All);
            while self.accept_kind(T::Comma) {
                items.push(self.select_item()?);
            }
            return Ok(items.into_bump_slice());
        }
        self.comma_list(Parser::select_item)
    }

    fn select_item(&mut self) -> Result<SelectItem<'a>> {
        if let Some(name) = self.accept_table_wildcard()? {
            return Ok(SelectItem::AllOf(name));
        }
        let start = self.token.start;
        let expression = self.expression()?;
        let span = self.span_from(start);
        let alias = self.alias()?;
        Ok(SelectItem::Expression { expression, alias, span })
    }

    /// `t.*`, `s.t.*`: consumed whole or not at all.
    fn accept_table_wildcard(&mut self) -> Result<Option<ObjectName<'a>>> {
        // Most items are no names with a dot: the byte behind the token tells, blanks aside.
        let behind = self.text.get(self.token.end as usize).copied().unwrap_or(0);
        if !self.at_identifier() || !(behind == b'.' || behind <= b' ' || behind == b'/') {
            return Ok(None);
        }
        let mut lexer = self.lexer;
        if lexer.next_token().kind != T::Dot {
            return Ok(None);
        }
        let second = lexer.next_token();
        let wildcard = second.kind == T::Star
            || self.is_identifier(&second) && lexer.next_token().kind == T::Dot && lexer.next_token().kind == T::Star;
        if !wildcard {
            return Ok(None);
        }
        let first = self.identifier()?;
        self.expect_kind(T::Dot)?;
        let name = match self.accept_identifier() {
            Some(name) => {
                self.expect_kind(T::Dot)?;
                ObjectName { schema: Some(first), name }
            }
            None => ObjectName { schema: None, name: first },
        };
        self.expect_kind(T::Star)?;
        Ok(Some(name))
    }

    fn group_by(&mut self) -> Result<Option<GroupBy<'a>>> {
        if !self.accept_words(&[K::GROUP, K::BY])? {
            return Ok(None);
        }
        if self.at_any(&[K::ROLLUP, K::CUBE]) && self.peek().kind == T::LeftParenthesis {
            let modifier = if self.at(K::ROLLUP) { GroupModifier::Rollup } else { GroupModifier::Cube };
            self.advance();
            self.open()?;
            let items = self.group_items()?;
            self.close()?;
            return Ok(Some(GroupBy { items, modifier }));
        }
        if self.at(K::GROUPING) && self.peek().keyword == K::SETS {
            self.advance();
            self.advance();
            let items = self.parenthesised_list(|p| {
                let start = p.token.start;
                let row = ExpressionKind::Row(p.row_values()?);
                let expression = Expression { kind: row, span: p.span_from(start) };
                Ok(OrderItem { expression, descending: false })
            })?;
            return Ok(Some(GroupBy { items, modifier: GroupModifier::GroupingSets }));
        }
        let items = self.group_items()?;
        // WITH can also begin WITH CHECK OPTION of a view.
        let rollup = self.at(K::WITH) && self.peek().keyword == K::ROLLUP;
        if rollup {
            self.advance();
            self.advance();
        }
        Ok(Some(GroupBy { items, modifier: if rollup { GroupModifier::Rollup } else { GroupModifier::None } }))
    }

    fn group_items(&mut self) -> Result<List<'a, OrderItem<'a>>> {
        self.comma_list(|p| Ok(OrderItem { expression: p.expression()?, descending: false }))
    }
}
