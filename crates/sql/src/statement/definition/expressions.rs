//! Expressions of tables' definitions at work: bound over a table's columns, evaluated for its rows.
//!
//! ```text
//!   "(`a` + 1)", as the catalog keeps it --parse, bind (ColumnsOf)--> Expr --row--> value --assign, store--> the column's
//! ```
//!
//! # Invariants
//! 1. The i-th column of the table is slot i of the row.
//! 2. A text is bound once for a table.

use std::collections::HashMap;

use bumpalo::Bump;
use meseta_engine::table::OwnedValue;
use meseta_errors::*;
use meseta_parser::ast;
use meseta_types::{Context, Datum, SqlError, assign};

use super::alter_action::names_in;
use super::default::owned;
use super::rows::zero;
use super::{DefinitionContext, RowExpressions};
use crate::error::{Error, Result};
use crate::expression::{
    BindFacts, BoundSubquery, Env, Expr, ExprKind, Host, ResolvedColumn, Scope, Value, bind as bind_expression,
};
use crate::name::same_name;
use crate::schema::{ColumnDefault, ForeignKeyAction, Table, stored_to_datum};

/// What names mean in a definition: the table's columns, and nothing else.
struct ColumnsOf<'t> {
    table: &'t Table,
    /// Where the expression stands, as errors call it.
    place: &'static str,
}

impl ColumnsOf<'_> {
    fn find(&self, name: &ast::ColumnName<'_>) -> Result<usize> {
        let text = super::name::text(name.column.text);
        let found = self.table.column(&text).map(usize::from);
        found.ok_or_else(|| Error::new(ER_BAD_FIELD_ERROR, &[&text, &self.place]))
    }
}

impl Scope for ColumnsOf<'_> {
    fn column(&mut self, name: &ast::ColumnName<'_>) -> Result<ResolvedColumn> {
        let at = self.find(name)?;
        let column = &self.table.columns[at];
        let kind = ExprKind::Column(at as u32);
        Ok(ResolvedColumn { kind, data_type: column.data_type.clone(), nullable: column.nullable, collated: None })
    }

    fn aggregate(&mut self, _: &ast::Aggregate<'_>) -> Result<Expr> {
        Err(Error::new(ER_INVALID_GROUP_FUNC_USE, &[]))
    }

    fn subquery(&mut self, _: &ast::Query<'_>) -> Result<BoundSubquery> {
        Err(Error::not_yet("a subquery in a definition"))
    }

    fn default_value(&mut self, column: Option<&ast::ColumnName<'_>>) -> Result<Expr> {
        let Some(name) = column else { return Err(Error::not_yet("DEFAULT in a definition")) };
        let column = &self.table.columns[self.find(name)?];
        default_constant(column)
    }

    fn inserted_value(&mut self, _: &ast::ColumnName<'_>) -> Result<Expr> {
        Err(Error::not_yet("VALUES() in a definition"))
    }
}

/// `DEFAULT(column)`: a column's default as a constant. Errors: 1364 if it has none; 3773 if it is no constant.
pub fn default_constant(column: &crate::schema::Column) -> Result<Expr> {
    let connection = meseta_types::Collation::Utf8mb4_0900AiCi;
    let value = match &column.default {
        ColumnDefault::Null => Value::NULL,
        ColumnDefault::Literal(value) => {
            Value::new(stored_to_datum(&column.data_type, value.as_value(), &meseta_types::Zone::UTC))
        }
        ColumnDefault::None if column.nullable => Value::NULL,
        ColumnDefault::None => return Err(Error::new(ER_NO_DEFAULT_FOR_FIELD, &[&column.name])),
        ColumnDefault::Now | ColumnDefault::Expression(_) => {
            return Err(Error::new(ER_DEFAULT_AS_VAL_GENERATED, &[]));
        }
    };
    Ok(Expr::constant(value, column.data_type.clone(), connection))
}

/// Binds an expression of a table's definition: its columns are slots 0 and on. `place` is where it stands, as errors call
/// it. Errors: 1054, and those of binding.
pub fn bind_definition(table: &Table, text: &str, place: &'static str, facts: BindFacts<'_>) -> Result<Expr> {
    let text = format!("SELECT {text}");
    let arena = meseta_parser::Arena::new();
    let parsed = meseta_parser::parse(&arena, text.as_bytes(), 0, meseta_parser::Options::default())?;
    let expression = match parsed.statement {
        ast::Statement::Query(ast::Query { body: ast::QueryBody::Select(select), .. }) => match select.items.first() {
            Some(ast::SelectItem::Expression { expression, .. }) => expression,
            _ => return Err(Error::not_yet("this expression in a definition")),
        },
        _ => return Err(Error::not_yet("this expression in a definition")),
    };
    let facts = BindFacts {
        text: text.as_bytes(),
        parser_mode: meseta_parser::SqlMode::default(),
        lifted: &[],
        parameters: &[],
        ..facts
    };
    bind_expression(expression, &mut ColumnsOf { table, place }, &facts)
}

/// Evaluates expressions of a table while its rows are written anew.
pub struct Expressions<'h> {
    host: &'h mut dyn Host,
    bound: HashMap<String, Expr>,
}

impl<'h> Expressions<'h> {
    /// Functions ask this host.
    pub fn new(host: &'h mut dyn Host) -> Self {
        Self { host, bound: HashMap::new() }
    }

    fn value<'v>(
        &'v mut self,
        table: &Table,
        text: &str,
        row: &'v [Datum<'v>],
        context: &mut Context,
        arena: &'v Bump,
    ) -> Result<Datum<'v>> {
        if !self.bound.contains_key(text) {
            let facts = BindFacts {
                mode: context.mode,
                div_precision_increment: context.div_precision_increment,
                ..BindFacts::default()
            };
            self.bound.insert(text.to_owned(), bind_definition(table, text, "expression", facts)?);
        }
        let mut env = Env { arena, context, slots: &[], outer: &[], host: &mut *self.host };
        self.bound[text].evaluate(row, &mut env)
    }
}

/// A row as one to compute with.
fn datums<'v>(table: &'v Table, row: &'v [OwnedValue], context: &Context) -> Vec<Datum<'v>> {
    let columns = table.columns.iter().zip(row);
    columns.map(|(column, value)| stored_to_datum(&column.data_type, value.as_value(), &context.zone)).collect()
}

impl RowExpressions for Expressions<'_> {
    fn evaluate(
        &mut self,
        table: &Table,
        column: usize,
        text: &str,
        row: &[OwnedValue],
        context: &mut Context,
    ) -> Result<OwnedValue> {
        let arena = Bump::new();
        let to = &table.columns[column];
        let row = datums(table, row, context);
        let value = self.value(table, text, &row, context, &arena)?;
        let value = assign(value, &to.data_type, &to.name, context, &arena)?;
        if value.is_null() && !to.nullable {
            let error = Error::new(ER_BAD_NULL_ERROR, &[&to.name]);
            if context.mode.strict {
                return Err(error);
            }
            context.warnings.warn(SqlError::new(error.code.0, error.message));
            return zero(to, context);
        }
        let mut scratch = Vec::new();
        Ok(owned(to.data_type.store(value, &context.zone, &mut scratch)))
    }

    fn holds(&mut self, table: &Table, text: &str, row: &[OwnedValue], context: &mut Context) -> Result<bool> {
        let arena = Bump::new();
        let row = datums(table, row, context);
        let value = self.value(table, text, &row, context, &arena)?;
        Ok(value.is_null() || value.to_bool(context).unwrap_or(true))
    }
}

impl DefinitionContext<'_> {
    /// Binds all expressions of a table that is to be, to see that they can be. Errors: 1054, 1582 and others of binding;
    /// 3767, 3768 of what a default may not refer to.
    pub(super) fn check_expressions(&mut self, table: &Table) -> Result<()> {
        let facts = BindFacts { mode: self.context.mode, ..BindFacts::default() };
        for (at, column) in table.columns.iter().enumerate() {
            if let Some(generated) = &column.generated {
                bind_definition(table, &generated.expression, "generated column function", facts)?;
            } else if let ColumnDefault::Expression(text) = &column.default {
                bind_definition(table, text, "default value expression", facts)?;
                check_default(table, at, text)?;
            }
        }
        for check in &table.checks {
            bind_definition(table, &check.expression, "check constraint", facts)?;
        }
        check_cascades(table)
    }
}

/// What a foreign key changes in a row by itself is nothing that others are computed from, or checked by: the engine
/// follows references and knows no expressions. Errors: 1215, 3104, 3823; 1235 where MySQL computes when it reads.
fn check_cascades(table: &Table) -> Result<()> {
    for key in &table.foreign_keys {
        let deletes = key.on_delete == ForeignKeyAction::SetNull;
        let changes = deletes || matches!(key.on_update, ForeignKeyAction::SetNull | ForeignKeyAction::Cascade);
        let names = |expression: &str| {
            let columns = key.columns.iter().map(|&column| &table.columns[usize::from(column)].name);
            let used = names_in(expression);
            columns.into_iter().find(|column| used.iter().any(|name| same_name(name, column))).cloned()
        };
        let is_computed = |column: &u16| table.columns[usize::from(*column)].generated.is_some();
        if changes && key.columns.iter().any(is_computed) {
            let clause = match (key.on_update, deletes) {
                (_, true) => "ON DELETE SET NULL",
                (ForeignKeyAction::Cascade, _) => "ON UPDATE CASCADE",
                _ => "ON UPDATE SET NULL",
            };
            return Err(Error::new(ER_WRONG_FK_OPTION_FOR_GENERATED_COLUMN, &[&clause]));
        }
        for column in &table.columns {
            let Some(generated) = &column.generated else { continue };
            if names(&generated.expression).is_none() {
                continue;
            }
            if generated.stored && (changes || key.on_delete == ForeignKeyAction::Cascade) {
                return Err(Error::new(ER_CANNOT_ADD_FOREIGN, &[]));
            }
            if changes {
                return Err(Error::not_yet("a column computed from one that a foreign key changes"));
            }
        }
        for check in &table.checks {
            if let Some(column) = names(&check.expression).filter(|_| changes) {
                let names: [&dyn std::fmt::Display; 3] = [&column, &check.name, &key.name];
                return Err(Error::new(ER_CHECK_CONSTRAINT_CLAUSE_USING_FK_REFER_ACTION_COLUMN, &names));
            }
        }
    }
    Ok(())
}

/// What a default refers to must have its value before it has.
fn check_default(table: &Table, at: usize, text: &str) -> Result<()> {
    for used in names_in(text) {
        let Some(other) = table.column(&used).map(usize::from) else { continue };
        let (column, used) = (&table.columns[at].name, &table.columns[other]);
        if used.auto_increment {
            return Err(Error::new(ER_DEFAULT_VAL_GENERATED_REF_AUTO_INC, &[column]));
        }
        let is_computed = used.generated.is_some() || matches!(used.default, ColumnDefault::Expression(_));
        if other >= at && is_computed {
            return Err(Error::new(ER_DEFAULT_VAL_GENERATED_NON_PRIOR, &[column]));
        }
    }
    Ok(())
}
