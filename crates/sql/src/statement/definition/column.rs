//! Columns as CREATE TABLE and ALTER TABLE write them.

use meseta_errors::*;
use meseta_parser::ast::{self, ColumnAttribute};
use meseta_types::{Collation, DataType};

use super::default::current_timestamp;
use super::expression_text::Purpose;
use super::{DefinitionContext, name};
use crate::error::{Error, Result};
use crate::schema::{Column, ColumnDefault, Generated};

/// A column, and what it asks of its table.
pub struct NewColumn<'a> {
    pub column: Column,
    /// PRIMARY KEY.
    pub primary: bool,
    /// UNIQUE.
    pub unique: bool,
    /// NULL was written.
    pub explicit_null: bool,
    /// DEFAULT NULL was written.
    pub default_null: bool,
    /// CHECKs.
    pub checks: Vec<ast::Check<'a>>,
    /// REFERENCES.
    pub references: Vec<ast::References<'a>>,
    /// What a generated column, or a default, refers to.
    pub uses: Vec<String>,
}

impl DefinitionContext<'_> {
    /// A column. `table` is its table's collation.
    pub(super) fn bind_column<'a>(
        &mut self,
        given: &ast::ColumnDefinition<'a>,
        table: Collation,
        text: &[u8],
    ) -> Result<NewColumn<'a>> {
        let name = name::column(given.name)?;
        self.warn_of_type(&given.data_type);
        let mut collate = None;
        for attribute in given.attributes {
            if let ColumnAttribute::Collate(given) = attribute {
                collate = Some(self.collation(*given)?);
            }
        }
        let bound = self.bind_type(&given.data_type, &name, collate, table)?;
        let mut column = Column::new(&name, bound.data_type);
        column.explicit_collation = bound.explicit_collation;
        let is_serial = matches!(given.data_type.kind, ast::TypeKind::Serial);
        column.auto_increment = is_serial;
        column.nullable = !is_serial;
        let mut made = NewColumn {
            column,
            primary: false,
            unique: is_serial,
            explicit_null: false,
            default_null: false,
            checks: Vec::new(),
            references: Vec::new(),
            uses: Vec::new(),
        };
        let mut default = None;
        let mut has_on_update = false;
        for attribute in given.attributes {
            let column = &mut made.column;
            match attribute {
                ColumnAttribute::Null => {
                    column.nullable = true;
                    made.explicit_null = true;
                }
                ColumnAttribute::NotNull => {
                    column.nullable = false;
                    made.explicit_null = false;
                }
                ColumnAttribute::Default(value) => default = Some(value),
                ColumnAttribute::OnUpdate(value) => {
                    has_on_update = true;
                    let decimals = match column.data_type {
                        DataType::DateTime { decimals } | DataType::Timestamp { decimals } => Some(decimals),
                        _ => None,
                    };
                    if decimals.is_none() || current_timestamp(value) != decimals {
                        return Err(Error::new(ER_INVALID_ON_UPDATE, &[&column.name]));
                    }
                    column.on_update_now = true;
                }
                ColumnAttribute::AutoIncrement => column.auto_increment = true,
                ColumnAttribute::Serial => {
                    (column.auto_increment, column.nullable) = (true, false);
                    made.unique = true;
                }
                ColumnAttribute::PrimaryKey => made.primary = true,
                ColumnAttribute::Unique => made.unique = true,
                ColumnAttribute::Comment(given) => {
                    column.comment = name::text(*given);
                    if column.comment.chars().count() > 1024 {
                        return Err(Error::new(ER_TOO_LONG_FIELD_COMMENT, &[&column.name, &1024]));
                    }
                }
                ColumnAttribute::ColumnFormat(format) => column.column_format = without_default(*format),
                ColumnAttribute::Storage(medium) => column.storage_medium = without_default(*medium),
                ColumnAttribute::Generated { expression, stored, .. } => {
                    let printed = self.print_expression(expression, text, &Purpose::Generated(name.clone()))?;
                    made.column.generated = Some(Generated { expression: printed.text, stored: *stored });
                    made.uses = printed.columns;
                }
                ColumnAttribute::Visible => column.invisible = false,
                ColumnAttribute::Invisible => column.invisible = true,
                ColumnAttribute::References(references) => made.references.push(*references),
                ColumnAttribute::Check(check) => made.checks.push(*check),
                ColumnAttribute::SpatialReference(_) => {
                    return Err(Error::new(ER_WRONG_USAGE, &[&"SRID", &"non-geometry column"]));
                }
                ColumnAttribute::MaskingPolicy(_) => return Err(Error::not_yet("masking policies")),
                ColumnAttribute::ExternalFormat(_) => return Err(Error::not_yet("EXTERNAL_FORMAT")),
                ColumnAttribute::Collate(_)
                | ColumnAttribute::EngineAttribute(_)
                | ColumnAttribute::SecondaryEngineAttribute(_)
                | ColumnAttribute::NotSecondary => {}
            }
        }
        self.finish_column(&mut made, default, has_on_update, text)?;
        Ok(made)
    }

    fn finish_column(
        &mut self,
        made: &mut NewColumn<'_>,
        default: Option<&ast::Expression<'_>>,
        has_on_update: bool,
        text: &[u8],
    ) -> Result<()> {
        let column = &mut made.column;
        if column.generated.is_some() {
            let unfit = [
                (default.is_some(), "DEFAULT"),
                (has_on_update, "ON UPDATE"),
                (column.auto_increment, "AUTO_INCREMENT"),
            ];
            if let Some((_, what)) = unfit.into_iter().find(|(is_there, _)| *is_there) {
                return Err(Error::new(ER_WRONG_USAGE, &[&what, &"generated column"]));
            }
            column.default = ColumnDefault::None;
            return Ok(());
        }
        if column.auto_increment {
            if default.is_some() {
                return Err(Error::new(ER_INVALID_DEFAULT, &[&column.name]));
            }
            if !matches!(column.data_type, DataType::Integer { .. }) {
                return Err(Error::new(ER_WRONG_FIELD_SPEC, &[&column.name]));
            }
            column.nullable = false;
        }
        column.default = ColumnDefault::Null;
        if let Some(value) = default {
            self.set_default(column, value, text)?;
            made.default_null = column.default == ColumnDefault::Null;
            if made.default_null && !column.nullable {
                return Err(Error::new(ER_INVALID_DEFAULT, &[&column.name]));
            }
        }
        if !column.nullable && column.default == ColumnDefault::Null {
            column.default = ColumnDefault::None;
        }
        Ok(())
    }
}

fn without_default(given: ast::Text<'_>) -> String {
    let given = name::text(given).to_uppercase();
    if given == "DEFAULT" { String::new() } else { given }
}
