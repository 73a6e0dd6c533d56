//! Tables by their names, as a statement of this session sees them.

use std::collections::HashMap;
use std::sync::Arc;

use meseta_engine::catalog::{CatalogError, Schema};
use meseta_errors::{
    ER_BAD_DB_ERROR, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_NO_DB_ERROR, ER_NO_SUCH_TABLE, ER_UNKNOWN_TABLE,
    ER_XA_RBDEADLOCK,
};
use meseta_parser::ast::LockWait;
use meseta_types::{Collation, DataType, Number, Warnings};

use super::instance::Instance;
use super::lock::LockedTables;
use super::prepared::type_of;
use super::xa::{XaState, wrong_state};
use crate::error::{Error, Result};
use crate::expression::{SystemVariable, Value};
use crate::query::{FoundTable, KnownTable, LockingPlan, Sizes, Tables};
use crate::schema::TableStatistics;
use crate::variable::{ReadScope, ResultType, SessionVariables};

/// What the session's state says of the tables that a statement names.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableRules<'s> {
    /// LOCK TABLES.
    pub locked: Option<&'s LockedTables>,
    /// An XA branch.
    pub xa: Option<XaState>,
    /// The transaction is READ ONLY.
    pub is_read_only: bool,
    /// Every read locks: SERIALIZABLE, in a transaction.
    pub reads_lock: bool,
}

impl TableRules<'_> {
    /// Whether plans may be kept and used: what is said is said by [`TableRules::kind`].
    pub fn allow_kept_plans(&self) -> bool {
        self.locked.is_none() && matches!(self.xa, None | Some(XaState::Active))
    }

    /// What plans depend on: whether reads lock, and whether nothing may be changed.
    pub fn kind(&self) -> u64 {
        u64::from(self.reads_lock) << 1 | u64::from(self.is_read_only)
    }
}

/// The schema of one moment, and the session's database.
pub struct SessionTables<'s> {
    /// What all sessions share.
    pub instance: &'s Instance,
    /// All that there is.
    pub schema: Arc<Schema>,
    /// The session's database.
    pub database: Option<&'s str>,
    /// System variables.
    pub variables: &'s SessionVariables,
    /// User variables.
    pub user_variables: &'s HashMap<Box<str>, Value>,
    /// What the session's state says.
    pub rules: TableRules<'s>,
    /// Whether a variable's type has been asked for: it may be another next time.
    pub has_named_variables: bool,
    /// What is known of ranges.
    pub sizes: Sizes,
}

impl Tables for SessionTables<'_> {
    fn table(&mut self, database: Option<&str>, name: &str) -> Result<FoundTable> {
        let Some(database) = database.or(self.database) else { return Err(Error::new(ER_NO_DB_ERROR, &[])) };
        if let Some(table) = self.instance.system_table(database, name) {
            return Ok(FoundTable::Virtual(table));
        }
        if database.eq_ignore_ascii_case("information_schema") {
            return Err(Error::new(ER_UNKNOWN_TABLE, &[&name.to_uppercase(), &"information_schema"]));
        }
        if database.eq_ignore_ascii_case("performance_schema") {
            let found = crate::schema::performance::table(name).map(FoundTable::Virtual);
            return found.ok_or_else(|| Error::new(ER_NO_SUCH_TABLE, &[&"performance_schema", &name]));
        }
        match self.schema.table_named(database, name) {
            Ok(engine) => {
                let schema = self.instance.tables.get(engine).map_err(Error::damaged)?;
                Ok(FoundTable::Table(Arc::new(KnownTable::new(schema, Arc::clone(engine)))))
            }
            Err(CatalogError::NoSuchDatabase(_)) => Err(Error::new(ER_BAD_DB_ERROR, &[&database])),
            Err(_) => Err(Error::new(ER_NO_SUCH_TABLE, &[&database, &name])),
        }
    }

    fn permit(&mut self, table: &KnownTable, alias: &str, changes: bool) -> Result<()> {
        let rules = &self.rules;
        match rules.xa {
            Some(XaState::Idle) => return Err(wrong_state(rules.xa)),
            Some(XaState::RollbackOnly) => return Err(Error::new(ER_XA_RBDEADLOCK, &[])),
            Some(XaState::Active) | None => {}
        }
        if changes && rules.is_read_only {
            return Err(Error::new(ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, &[]));
        }
        rules.locked.map_or(Ok(()), |locked| locked.permit(table.engine().id(), alias, changes))
    }

    fn default_locking(&self) -> Option<LockingPlan> {
        self.rules.reads_lock.then_some(LockingPlan {
            exclusive: false,
            wait: LockWait::Wait,
            takes_all: false,
            passes_by: false,
        })
    }

    fn statistics(&mut self, table: &KnownTable) -> Arc<TableStatistics> {
        self.instance.statistics.get(table.engine())
    }

    fn sizes(&mut self) -> &mut Sizes {
        &mut self.sizes
    }

    fn database(&self) -> Option<&str> {
        self.database
    }

    fn user_variable(&mut self, name: &str) -> Option<DataType> {
        self.has_named_variables = true;
        let data_type = type_of(self.user_variables.get(name)?.get());
        Some(match data_type {
            DataType::Integer { .. } => shown_with(data_type, INTEGER_WIDTH),
            other => other,
        })
    }

    fn system_variable(&mut self, variable: &SystemVariable) -> Result<(DataType, bool)> {
        let scope = match variable.global {
            None => ReadScope::Either,
            Some(true) => ReadScope::Global,
            Some(false) => ReadScope::Session,
        };
        self.has_named_variables = true;
        let (found, _) = self.variables.get(scope, &variable.name, &mut Warnings::new(0))?;
        let data_type = match found.definition().result_type() {
            ResultType::Boolean => shown_with(DataType::BIGINT, 1),
            ResultType::Signed => shown_with(DataType::BIGINT, INTEGER_WIDTH),
            ResultType::Unsigned => shown_with(DataType::BIGINT_UNSIGNED, INTEGER_WIDTH),
            ResultType::Double => DataType::Double { digits: Some((23, 6)), number: Number::default() },
            ResultType::Text => DataType::Varchar { length: TEXT_LENGTH, collation: Collation::Utf8mb4_0900AiCi },
        };
        Ok((data_type, true))
    }
}

/// An integer of a variable is as wide as any, with its sign.
const INTEGER_WIDTH: u8 = 21;

/// Characters that a variable may have, whatever it has now.
const TEXT_LENGTH: u32 = 21_845;

/// An integer type that says how wide it is shown.
fn shown_with(data_type: DataType, width: u8) -> DataType {
    match data_type {
        DataType::Integer { size, number, .. } => DataType::Integer { size, number, display_width: Some(width) },
        other => other,
    }
}
