//! CHECK constraints.

use meseta_errors::*;
use meseta_parser::ast;

use super::expression_text::{Purpose, is_condition};
use super::{DefinitionContext, name};
use crate::error::{Error, Result};
use crate::name::same_name;
use crate::schema::{Check, Table};

impl DefinitionContext<'_> {
    /// Adds a CHECK. `of` is the column that it was written behind.
    pub(super) fn add_check(
        &mut self,
        table: &mut Table,
        given: &ast::Check<'_>,
        of: Option<&str>,
        number: &mut u64,
        text: &[u8],
    ) -> Result<()> {
        let name = match given.name {
            Some(name) => name::constraint(name)?,
            None => {
                *number += 1;
                format!("{}_chk_{number}", table.name)
            }
        };
        if table.checks.iter().any(|check| same_name(&check.name, &name)) || self.has_check(table, &name)? {
            return Err(Error::new(ER_CHECK_CONSTRAINT_DUP_NAME, &[&name]));
        }
        let printed = self.print_expression(&given.condition, text, &Purpose::Check(name.clone()))?;
        if !is_condition(&given.condition) {
            return Err(Error::new(ER_NON_BOOLEAN_EXPR_FOR_CHECK_CONSTRAINT, &[&name]));
        }
        for used in &printed.columns {
            let Some(column) = table.column(used) else {
                return Err(Error::new(ER_CHECK_CONSTRAINT_REFERS_UNKNOWN_COLUMN, &[&name, used]));
            };
            if of.is_some_and(|of| !same_name(of, used)) {
                return Err(Error::new(ER_COLUMN_CHECK_CONSTRAINT_REFERENCES_OTHER_COLUMN, &[&name]));
            }
            if table.columns[usize::from(column)].auto_increment {
                return Err(Error::new(ER_CHECK_CONSTRAINT_REFERS_AUTO_INCREMENT_COLUMN, &[&name]));
            }
        }
        let enforced = given.enforced.unwrap_or(true);
        table.checks.push(Check { name, expression: printed.text, enforced });
        Ok(())
    }

    /// Whether another table of the database has a CHECK of this name.
    fn has_check(&mut self, table: &Table, name: &str) -> Result<bool> {
        let schema = self.schema();
        for other in schema.tables() {
            if other.definition.database == table.database
                && other.id() != table.id
                && self.read(other)?.checks.iter().any(|check| same_name(&check.name, name))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
