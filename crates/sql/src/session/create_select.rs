//! CREATE TABLE ... AS SELECT: a table with a query's columns, and its rows.
//!
//! # Invariants
//! 1. Rows that cannot be inserted leave no table behind.
//!
//! # Source
//! The manual, "CREATE TABLE ... SELECT Statement"; defaults by experiment.

use std::sync::Arc;

use meseta_engine::table::OwnedValue;
use meseta_parser::ast::{self, CreateTableSource, LoadDuplicates};
use meseta_types::{Charset, Collation, DataType, TextSize};

use super::plan::PlanBody;
use super::{Done, Parameters, Session};
use crate::account::Requirements;
use crate::error::{Error, Result};
use crate::name::text_of;
use crate::query::{Binder, OutputColumn};
use crate::schema::{Column, ColumnDefault};
use crate::statement::definition::create_table_of;
use crate::statement::manipulation::Changes;

/// Whether a table is to get the rows of a query.
pub(super) fn has_query(create: &ast::CreateTable<'_>) -> bool {
    matches!(create.source, CreateTableSource::Definition { query: Some(_), .. })
}

impl Session {
    /// Creates the table and fills it.
    pub(super) fn create_from_query(
        &mut self,
        create: &ast::CreateTable<'_>,
        text: &[u8],
        parameters: Parameters<'_>,
    ) -> Result<Done> {
        let CreateTableSource::Definition { query: Some(query), duplicates, .. } = create.source else {
            return Err(Error::not_yet("CREATE TABLE without a query here"));
        };
        self.end_transaction(true)?;
        let facts = self.bind_facts(text, parameters);
        let outputs = Binder::new(facts, &mut self.tables()).query(query)?.columns;
        let columns = outputs.iter().map(|column| self.column_of(column)).collect::<Result<Vec<_>>>()?;
        let database = match create.name.schema {
            Some(schema) => text_of(schema.text.0),
            None => self.facts.database_name().unwrap_or_default(),
        };
        let name = text_of(create.name.name.text.0);
        if create.if_not_exists && self.engine.schema().table_named(&database, &name).is_ok() {
            self.with_definitions(|context| create_table_of(create, text, &columns, context))?;
            return Ok(Done::default());
        }
        self.with_definitions(|context| create_table_of(create, text, &columns, context))?;
        let names: Vec<ast::ColumnName<'_>> = columns
            .iter()
            .map(|column| ast::ColumnName {
                schema: None,
                table: None,
                column: ast::Identifier { text: ast::Text(column.name.as_bytes()), ..create.name.name },
            })
            .collect();
        let insert = ast::Insert {
            replace: duplicates == LoadDuplicates::Replace,
            hints: None,
            priority: ast::Priority::Normal,
            ignore: duplicates == LoadDuplicates::Ignore,
            table: create.name,
            partitions: &[],
            columns: Some(&names),
            source: ast::InsertSource::Query(query),
            row_alias: None,
            on_duplicate: &[],
        };
        let filled = self.fill(&ast::Statement::Insert(&insert), text, parameters);
        let filled = filled.and_then(|changes| self.end_transaction(true).map(|()| changes));
        match filled {
            Ok(changes) => {
                let (found, warnings) = (changes.found, self.context.warnings.count());
                let info = format!("Records: {found}  Duplicates: {}  Warnings: {warnings}", changes.duplicates);
                Ok(Done { affected: changes.affected, info, ..Done::default() })
            }
            Err(error) => {
                self.end_transaction(false)?;
                if let Ok(table) = self.engine.schema().table_named(&database, &name) {
                    let id = table.id();
                    self.engine.drop_tables(&[id]).map_err(Error::from_engine)?;
                }
                Err(error)
            }
        }
    }

    fn fill(&mut self, insert: &ast::Statement<'_>, text: &[u8], parameters: Parameters<'_>) -> Result<Changes> {
        let facts = self.bind_facts(text, parameters);
        let plan = self.plan(insert, facts, Requirements::default(), parameters.values)?;
        let mut running = self.running(parameters.values, &plan.subqueries);
        match &plan.body {
            PlanBody::Insert(plan) => plan.run(&mut running),
            _ => Ok(Changes::default()),
        }
    }

    /// The column that one of the query's becomes.
    fn column_of(&mut self, output: &OutputColumn) -> Result<Column> {
        let is_computed = output.origin.is_none();
        let mut column = Column::new(&String::from_utf8_lossy(&output.name), kept_type(&output.data_type, is_computed));
        column.nullable = output.nullable || matches!(output.data_type, DataType::Null);
        let source = match &output.origin {
            None => None,
            Some(origin) => {
                let schema = Arc::clone(self.engine.schema());
                let found = schema.table_named(&origin.database, &origin.table).ok();
                let table = found.map(|engine| self.instance.tables.get(engine)).transpose().map_err(Error::damaged)?;
                table.and_then(|table| table.columns.get(origin.column).cloned())
            }
        };
        column.default = match source {
            Some(source) => {
                column.comment = source.comment;
                if source.auto_increment { zero(&column.data_type) } else { source.default }
            }
            None if column.nullable => ColumnDefault::Null,
            None => zero(&column.data_type),
        };
        if !column.nullable && column.default == ColumnDefault::Null {
            column.default = ColumnDefault::None;
        }
        if column.nullable && column.default == ColumnDefault::None {
            column.default = ColumnDefault::Null;
        }
        Ok(column)
    }
}

/// Digits of a column that keeps computed doubles with fixed decimals.
const COMPUTED_WIDTH: u8 = 22;

/// The type of a column that keeps values of this type.
fn kept_type(data_type: &DataType, is_computed: bool) -> DataType {
    match data_type {
        // The width of a sum is what its operands are announced with; it may well need more.
        DataType::Double { digits: Some((_, decimals)), number } if is_computed => {
            DataType::Double { digits: Some((COMPUTED_WIDTH.max(*decimals), *decimals)), number: *number }
        }
        DataType::Null => DataType::Char { length: 0, collation: Collation::Binary },
        DataType::Varchar { length: 0, collation } => DataType::Char { length: 0, collation: *collation },
        DataType::Varchar { length, collation } => {
            let each = collation.charset().max_len();
            match length.saturating_mul(each) {
                0..=65_532 => data_type.clone(),
                bytes => DataType::Text { size: TextSize::for_bytes(bytes.into()), collation: *collation },
            }
        }
        other => other.clone(),
    }
}

/// The default of a computed column that is never NULL.
fn zero(data_type: &DataType) -> ColumnDefault {
    let value = match data_type {
        DataType::Integer { .. } if data_type.is_unsigned() => OwnedValue::Unsigned(0),
        DataType::Integer { .. } => OwnedValue::Signed(0),
        DataType::Double { .. } => OwnedValue::Double(0.0),
        DataType::Float { .. } => OwnedValue::Float(0.0),
        DataType::Char { collation, .. } | DataType::Varchar { collation, .. }
            if collation.charset() != Charset::Binary || matches!(data_type, DataType::Varchar { .. }) =>
        {
            OwnedValue::Bytes(Vec::new())
        }
        DataType::Decimal { .. } => {
            let zone = meseta_types::Zone::UTC;
            let mut scratch = Vec::new();
            let zero = meseta_types::Datum::Decimal(meseta_types::Decimal::ZERO);
            match data_type.store(zero, &zone, &mut scratch) {
                meseta_types::Stored::Bytes(bytes) => OwnedValue::Bytes(bytes.to_vec()),
                _ => return ColumnDefault::None,
            }
        }
        _ => return ColumnDefault::None,
    };
    ColumnDefault::Literal(value)
}
