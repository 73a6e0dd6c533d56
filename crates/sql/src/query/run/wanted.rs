//! What a query asks of a table that is made up, so that not all of its rows are made: `TABLE_SCHEMA = 'a'`.

use bumpalo::Bump;
use meseta_types::Datum;

use super::inside::Running;
use crate::error::Result;
use crate::expression::ComparisonOperator;
use crate::query::plan::Source;
use crate::schema::information::VirtualTable;

/// Columns that name a database, and a table in it.
const DATABASE: [&str; 3] = ["TABLE_SCHEMA", "CONSTRAINT_SCHEMA", "SCHEMA_NAME"];
const TABLE: &str = "TABLE_NAME";

/// The names that conditions ask for, if they do.
#[derive(Default)]
pub struct WantedNames {
    /// Of the database.
    pub database: Option<String>,
    /// Of the table.
    pub table: Option<String>,
}

/// What the conditions of a source say of its rows' names.
pub fn wanted_names(
    source: &Source,
    table: &dyn VirtualTable,
    outer: &[&[Datum<'_>]],
    running: &mut Running<'_>,
) -> Result<WantedNames> {
    let mut wanted = WantedNames::default();
    let columns = table.columns();
    let arena = Bump::new();
    for comparison in source.conditions.iter().flat_map(|condition| condition.as_comparisons()) {
        let number = (comparison.column as usize).checked_sub(source.first_slot);
        let Some(column) = number.and_then(|number| columns.get(number)) else { continue };
        let is_of_bytes = column.data_type.collation() == Some(meseta_types::Collation::Utf8mb3Bin);
        // Rows that are kept for a whole join are not those of one row of it.
        if comparison.operator != ComparisonOperator::Equal || !is_of_bytes || !comparison.value.is_constant() {
            continue;
        }
        let wanted = match column.name {
            TABLE => &mut wanted.table,
            name if DATABASE.contains(&name) => &mut wanted.database,
            _ => continue,
        };
        let value = comparison.value.evaluate(&[], &mut running.env(&arena, outer))?;
        if let Datum::Text(text, _) = value
            && let Ok(text) = std::str::from_utf8(text)
        {
            *wanted = Some(text.to_owned());
        }
    }
    Ok(wanted)
}
