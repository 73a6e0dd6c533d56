//! CREATE, ALTER and DROP DATABASE.

use meseta_engine::SYSTEM_DATABASE;
use meseta_errors::*;
use meseta_parser::ast::{self, DatabaseOption};
use meseta_types::Charset;

use super::failure::engine_failure;
use super::{DefinitionContext, Outcome, name};
use crate::error::{Error, Result};
use crate::schema::Database;

/// Whether a database is the server's own.
pub(super) fn is_own(name: &str) -> bool {
    name.eq_ignore_ascii_case("information_schema")
        || name.eq_ignore_ascii_case("performance_schema")
        || name == SYSTEM_DATABASE
}

impl DefinitionContext<'_> {
    /// 1044: nobody may change what is the server's own.
    fn denied(&self, name: &str) -> Error {
        let (user, host) = self.account;
        Error::new(ER_DBACCESS_DENIED_ERROR, &[&user, &host, &name])
    }

    pub(super) fn create_or_alter_database(&mut self, given: &ast::CreateDatabase<'_>) -> Result<Outcome> {
        let database_name = match given.name {
            Some(name) => name::database(name)?,
            None => self.current_database()?,
        };
        let known = self.database_named(&database_name);
        let mut database = known.unwrap_or(Database::new(self.server_collation));
        let mut chosen = (None, None);
        for option in given.options {
            let default = self.server_collation;
            match option {
                DatabaseOption::CharacterSet(set) => {
                    chosen = self.collation_option(Some(*set), None, default, chosen)?;
                }
                DatabaseOption::Collate(collation) => {
                    chosen = self.collation_option(None, Some(*collation), default, chosen)?;
                }
                DatabaseOption::Encryption(value) if value.eq_ignore_ascii_case(b"Y") => {
                    return Err(Error::not_yet("encryption"));
                }
                DatabaseOption::Encryption(_) => {}
                DatabaseOption::ReadOnly(value) => database.read_only = &**value == b"1",
            }
        }
        if let Some(collation) = chosen.1.or(chosen.0.map(Charset::default_collation)) {
            database.collation = collation;
        }
        if is_own(&database_name) {
            return Err(self.denied(&database_name));
        }
        if given.alter {
            if known.is_none() {
                return Err(Error::new(ER_NO_SUCH_DB, &[&database_name]));
            }
            self.engine.alter_database(&database_name, &database.attributes()).map_err(engine_failure)?;
            return Ok(Outcome::Done { rows: 1 });
        }
        if known.is_some() {
            let error = Error::new(ER_DB_CREATE_EXISTS, &[&database_name]);
            if !given.if_not_exists {
                return Err(error);
            }
            self.note_error(error);
            return Ok(Outcome::DONE);
        }
        self.engine.create_database(&database_name, &database.attributes()).map_err(engine_failure)?;
        Ok(Outcome::Done { rows: 1 })
    }

    pub(super) fn drop_database(&mut self, if_exists: bool, given: &ast::Identifier<'_>) -> Result<Outcome> {
        let database_name = name::database(*given)?;
        if is_own(&database_name) {
            return Err(self.denied(&database_name));
        }
        let schema = self.schema();
        let Some(database) = schema.databases.get(&database_name) else {
            let error = Error::new(ER_DB_DROP_EXISTS, &[&database_name]);
            if !if_exists {
                return Err(error);
            }
            self.note_error(error);
            return Ok(Outcome::DONE);
        };
        let tables: Vec<_> = database.tables.values().copied().collect();
        self.leave_children(&tables)?;
        self.engine.drop_database(&database_name).map_err(engine_failure)?;
        let schema = self.schema();
        self.tables.keep(|id| schema.table(id).is_some());
        Ok(Outcome::DroppedDatabase { name: database_name, tables: tables.len() as u64 })
    }
}
