//! Statements: one module a family.

pub mod definition;
pub mod manipulation;

use meseta_parser::ast::Statement;
use meseta_types::{Date, Zone};

/// Today in a time zone.
pub fn today(micros: i64, zone: &Zone) -> Date {
    zone.from_utc(micros.div_euclid(1_000_000), 0).map(|local| local.date).unwrap_or_default()
}

/// Whether a statement defines something: then what was before is committed.
pub fn is_definition(statement: &Statement<'_>) -> bool {
    matches!(
        statement,
        Statement::CreateTable(_)
            | Statement::AlterTable(_)
            | Statement::DropTables(_)
            | Statement::RenameTables(_)
            | Statement::Truncate(_)
            | Statement::CreateIndex(_)
            | Statement::DropIndex(_)
            | Statement::CreateDatabase(_)
            | Statement::DropDatabase { .. }
    )
}
