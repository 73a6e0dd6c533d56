//! UPDATE.

use super::{K, Parser, Result};
use crate::ast::*;

impl<'a> Parser<'a> {
    pub(super) fn update(&mut self, with: Option<&'a With<'a>>) -> Result<Statement<'a>> {
        let hints = self.advance_to_hint();
        let low_priority = self.accept(K::LOW_PRIORITY);
        let ignore = self.accept(K::IGNORE);
        let tables = self.table_references()?;
        self.expect(K::SET)?;
        let assignments = self.assignments()?;
        let condition = self.where_clause()?;
        let order_by = self.order_by()?;
        let limit = self.simple_limit()?;
        let update = Update { with, hints, low_priority, ignore, tables, assignments, condition, order_by, limit };
        Ok(Statement::Update(self.alloc(update)))
    }
}
