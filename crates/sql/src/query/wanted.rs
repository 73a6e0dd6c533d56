//! What a query asks of a table that is made up, so that not all of its rows are made: `TABLE_SCHEMA = 'a'`.

use bumpalo::Bump;
use meseta_types::Datum;

use super::inside::Running;
use super::plan::Source;
use crate::error::Result;
use crate::expression::ComparisonOperator;
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

/// What the conditions of a source say of its rows' names. `row` has the sources before it.
pub fn wanted_names(
    source: &Source,
    table: &dyn VirtualTable,
    row: &[Datum<'_>],
    outer: &[&[Datum<'_>]],
    running: &mut Running<'_>,
) -> Result<WantedNames> {
    let mut wanted = WantedNames::default();
    let columns = table.columns();
    let arena = Bump::new();
    for condition in &source.conditions {
        let Some(comparison) = condition.as_comparison() else { continue };
        let number = (comparison.column as usize).checked_sub(source.first_slot);
        let Some(column) = number.and_then(|number| columns.get(number)) else { continue };
        let is_of_bytes = column.data_type.collation() == Some(meseta_types::Collation::Utf8mb3Bin);
        // What names this source's own columns has no value yet.
        let own = source.first_slot..source.first_slot + source.width;
        let mut is_known = true;
        comparison.value.columns(&mut |slot| is_known &= !own.contains(&(slot as usize)));
        if comparison.operator != ComparisonOperator::Equal || !is_of_bytes || !is_known {
            continue;
        }
        let wanted = match column.name {
            TABLE => &mut wanted.table,
            name if DATABASE.contains(&name) => &mut wanted.database,
            _ => continue,
        };
        let value = comparison.value.evaluate(row, &mut running.env(&arena, outer))?;
        if let Datum::Text(text, _) = value
            && let Ok(text) = std::str::from_utf8(text)
        {
            *wanted = Some(text.to_owned());
        }
    }
    Ok(wanted)
}
