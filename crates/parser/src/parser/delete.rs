//! DELETE, of one table and of several.

use super::{K, Parser, Result, T};
use crate::ast::*;

impl<'a> Parser<'a> {
    pub(super) fn delete(&mut self, with: Option<&'a With<'a>>) -> Result<Statement<'a>> {
        let hints = self.advance_to_hint();
        let (mut low_priority, mut quick, mut ignore) = (false, false, false);
        loop {
            match self.token.keyword {
                K::LOW_PRIORITY => low_priority = true,
                K::QUICK => quick = true,
                K::IGNORE => ignore = true,
                _ => break,
            }
            self.advance();
        }
        let target = if self.accept(K::FROM) {
            self.delete_from()?
        } else {
            let tables = self.comma_list(Parser::deleted_table)?;
            self.expect(K::FROM)?;
            DeleteTarget::Several { tables, from: self.table_references()? }
        };
        let condition = self.where_clause()?;
        let (mut order_by, mut limit): (List<'a, OrderItem<'a>>, _) = (&[], None);
        if matches!(target, DeleteTarget::Single(_)) {
            order_by = self.order_by()?;
            limit = self.simple_limit()?;
        }
        let delete = Delete { with, hints, low_priority, quick, ignore, target, condition, order_by, limit };
        Ok(Statement::Delete(self.alloc(delete)))
    }

    fn delete_from(&mut self) -> Result<DeleteTarget<'a>> {
        let name = self.deleted_table()?;
        if self.at_kind(T::Comma) || self.at(K::USING) {
            let mut tables = self.new_list();
            tables.push(name);
            while self.accept_kind(T::Comma) {
                tables.push(self.deleted_table()?);
            }
            self.expect(K::USING)?;
            let tables = tables.into_bump_slice();
            return Ok(DeleteTarget::Several { tables, from: self.table_references()? });
        }
        let alias = self.table_alias()?;
        let partitions = self.partition_names_clause()?;
        let table = Table { name, partitions, alias, index_hints: &[], sample: None };
        Ok(DeleteTarget::Single(self.alloc(table)))
    }

    /// `t`, `t.*`, `s.t.*`.
    fn deleted_table(&mut self) -> Result<ObjectName<'a>> {
        let first = self.identifier()?;
        let mut name = ObjectName { schema: None, name: first };
        if self.accept_kind(T::Dot) {
            if self.accept_kind(T::Star) {
                return Ok(name);
            }
            name = ObjectName { schema: Some(first), name: self.identifier()? };
            if self.accept_kind(T::Dot) {
                self.expect_kind(T::Star)?;
            }
        }
        Ok(name)
    }
}
