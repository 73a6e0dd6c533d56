//! RENAME TABLE: all of its pairs, or none.

use std::collections::BTreeMap;

use meseta_engine::ids::TableId;
use meseta_errors::ER_TABLE_EXISTS_ERROR;
use meseta_parser::ast;

use super::failure::{engine_failure, no_such_database, no_such_table};
use super::{DefinitionContext, Outcome, name};
use crate::error::{Error, Result};
use crate::schema::Table;

/// Gives a table another name: constraints that MySQL named after it follow.
pub(super) fn rename(table: &mut Table, database: &str, to: &str) {
    let follow = |name: &mut String, word: &str| {
        let beginning = format!("{}_{word}_", table.name);
        if let Some(number) = name.strip_prefix(&beginning)
            && number.bytes().all(|byte| byte.is_ascii_digit())
        {
            *name = format!("{to}_{word}_{number}");
        }
    };
    table.foreign_keys.iter_mut().for_each(|key| follow(&mut key.name, "ibfk"));
    table.checks.iter_mut().for_each(|check| follow(&mut check.name, "chk"));
    (table.database, table.name) = (database.to_owned(), to.to_owned());
}

impl DefinitionContext<'_> {
    pub(super) fn rename_tables(&mut self, pairs: &[(ast::ObjectName<'_>, ast::ObjectName<'_>)]) -> Result<Outcome> {
        let schema = self.schema();
        // Where each name leads while the pairs are followed.
        let mut changed: BTreeMap<(String, String), Option<TableId>> = BTreeMap::new();
        let mut renamed: Vec<Table> = Vec::new();
        for (from, to) in pairs {
            let from = self.object(from)?;
            let to = (self.object(to)?.0, name::table(to.name)?);
            let look = |changed: &BTreeMap<_, Option<TableId>>, key: &(String, String)| match changed.get(key) {
                Some(found) => *found,
                None => schema.table_named(&key.0, &key.1).ok().map(|table| table.id()),
            };
            if !schema.databases.contains_key(&to.0) {
                return Err(no_such_database(&to.0));
            }
            if look(&changed, &to).is_some() {
                return Err(Error::new(ER_TABLE_EXISTS_ERROR, &[&to.1]));
            }
            let Some(id) = look(&changed, &from) else { return Err(no_such_table(&from.0, &from.1)) };
            changed.insert(from, None);
            changed.insert(to.clone(), Some(id));
            match renamed.iter_mut().find(|table| table.id == id) {
                Some(table) => rename(table, &to.0, &to.1),
                None => {
                    let known = schema.table(id).ok_or_else(|| no_such_table(&to.0, &to.1))?;
                    let mut table = (*self.read(known)?).clone();
                    rename(&mut table, &to.0, &to.1);
                    renamed.push(table);
                }
            }
        }
        let mut redefined = Vec::new();
        for table in &renamed {
            redefined.extend(self.waiting_for(table)?);
        }
        redefined.retain(|child| renamed.iter().all(|table| table.id != child.id));
        let definitions = renamed.iter().chain(&redefined).map(Table::definition).collect();
        self.engine.change_tables(definitions, &[]).map_err(engine_failure)?;
        Ok(Outcome::DONE)
    }
}
