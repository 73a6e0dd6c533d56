//! INSERT and REPLACE.
//!
//! Bound here; `inserting` does it.
//!
//! # Slots
//! Expressions of VALUES see the row so far: the table's columns, from slot 0 on. Those of ON DUPLICATE KEY UPDATE see the row
//! that is there, and behind it the one that was given: `VALUES(column)`, or the alias's columns.

mod filling;
mod found;
mod given;
mod inserting;
mod numbers;

use std::sync::Arc;

pub(super) use filling::{Filling, NewRows};
use given::{GivenRows, GivenValue};
pub(super) use inserting::Inserting;
use meseta_errors::{
    ER_BAD_FIELD_ERROR, ER_FIELD_SPECIFIED_TWICE, ER_NONUNIQ_TABLE, ER_VIEW_WRONG_LIST, ER_WRONG_VALUE_COUNT_ON_ROW,
};
use meseta_parser::ast::{self, ExpressionKind, InsertSource};
use numbers::Numbers;

use super::row::{RowRules, refuse_generated};
use crate::error::{Error, Result};
use crate::expression::{Expr, ExprKind, literal_value};
use crate::name::{same_name, text_of, written};
use crate::query::{Binder, FoundTable, KnownTable, Place, QueryPlan, named_source};

#[derive(Debug)]
enum Rows {
    /// A value for each of the columns, or none.
    Given(GivenRows),
    /// What a query finds, and whether it reads the table that gets the rows.
    Query { plan: Box<QueryPlan>, reads_table: bool },
}

/// INSERT or REPLACE, bound.
#[derive(Debug)]
pub struct InsertPlan {
    table: Arc<KnownTable>,
    rules: RowRules,
    /// The columns that values are given for.
    columns: Vec<usize>,
    rows: Rows,
    replaces: bool,
    ignores: bool,
    /// ON DUPLICATE KEY UPDATE: column and value (`None` for DEFAULT).
    on_duplicate: Vec<(usize, Option<Expr>)>,
    /// The column that counts by itself.
    counting: Option<usize>,
    /// Whether values name columns: those have their defaults until they are given.
    names_columns: bool,
    /// Of a query's row, so many values are given; those behind them are for ON DUPLICATE KEY UPDATE.
    given: usize,
}

/// The column of a table that a name means.
pub fn column_named(table: &KnownTable, name: &ast::ColumnName<'_>) -> Result<usize> {
    let text = text_of(name.column.text.0);
    let is_of_it = name.table.is_none_or(|other| *other.text.0 == *table.name.as_bytes())
        && name.schema.is_none_or(|other| *other.text.0 == *table.database.as_bytes());
    let found = table.columns.iter().position(|column| is_of_it && same_name(&column.name, &text));
    found.ok_or_else(|| Error::new(ER_BAD_FIELD_ERROR, &[&written(name), &"field list"]))
}

/// The table that is to get rows.
pub fn table_named(name: &ast::ObjectName<'_>, binder: &mut Binder<'_, '_>) -> Result<Arc<KnownTable>> {
    let database = name.schema.map(|schema| text_of(schema.text.0));
    match binder.tables.table(database.as_deref(), &text_of(name.name.text.0))? {
        FoundTable::Table(table) => Ok(table),
        FoundTable::Virtual(_) => Err(Error::not_yet("INSERT into a table that is made up")),
    }
}

impl InsertPlan {
    /// One for rows that come from elsewhere ([`InsertPlan::one_row`]). What follows is bound with the table's names.
    pub(super) fn of_rows(
        table: &Arc<KnownTable>,
        replaces: bool,
        ignores: bool,
        binder: &mut Binder<'_, '_>,
    ) -> Result<Self> {
        let rules = RowRules::new(table, binder.facts, binder.tables)?;
        binder.push_source(named_source(table, &table.name, 0));
        Ok(Self {
            rules,
            columns: Vec::new(),
            rows: Rows::Given(GivenRows::new(0, 0, 0)),
            replaces,
            ignores,
            on_duplicate: Vec::new(),
            counting: table.columns.iter().position(|column| column.auto_increment),
            names_columns: false,
            given: 0,
            table: Arc::clone(table),
        })
    }

    /// The columns that values are given for.
    pub(super) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Sets them.
    pub(super) fn set_columns(&mut self, columns: Vec<usize>) {
        self.columns = columns;
    }

    /// Defaults, generated columns and checks.
    pub(super) fn rules(&self) -> &RowRules {
        &self.rules
    }

    /// Binds the statement.
    pub fn new<'a>(insert: &'a ast::Insert<'a>, binder: &mut Binder<'a, '_>) -> Result<Self> {
        let table = table_named(&insert.table, binder)?;
        binder.tables.permit(&table, &text_of(insert.table.name.text.0), true)?;
        let rules = RowRules::new(&table, binder.facts, binder.tables)?;
        let columns = match insert.columns {
            None => (0..table.columns.len()).filter(|&number| !table.columns[number].invisible).collect(),
            Some(names) => {
                let (mut columns, mut twice) = (Vec::new(), None);
                for name in names.iter() {
                    let number = column_named(&table, name)?;
                    twice = columns.iter().position(|&known| known == number).into_iter().chain(twice).min();
                    columns.push(number);
                }
                if let Some(first) = twice {
                    let name = text_of(names[first].column.text.0);
                    return Err(Error::new(ER_FIELD_SPECIFIED_TWICE, &[&name]));
                }
                columns
            }
        };
        let alias = insert.row_alias.map(|(alias, names)| (text_of(alias.text.0), names));
        if let Some((alias, names)) = &alias {
            if *alias == table.name {
                return Err(Error::new(ER_NONUNIQ_TABLE, &[alias]));
            }
            if !names.is_empty() && names.len() != columns.len() {
                return Err(Error::new(ER_VIEW_WRONG_LIST, &[]));
            }
        }
        let given = columns.len();
        let mut names_columns = false;
        let mut query_block = None;
        let rows = match insert.source {
            InsertSource::Query(query) => {
                binder.wants_block = !insert.on_duplicate.is_empty();
                let used_before = binder.used.len();
                let mut plan = binder.query(query)?;
                let reads_table =
                    binder.used[used_before..].iter().any(|used| used.engine().id() == table.engine().id());
                if plan.columns.len() != columns.len() {
                    return Err(Error::new(ER_WRONG_VALUE_COUNT_ON_ROW, &[&1]));
                }
                binder.wants_block = false;
                query_block = binder.kept_block.take().filter(|block| plan.show_also(block.slots()));
                binder.push_source(named_source(&table, &table.name, 0));
                Rows::Query { plan: Box::new(plan), reads_table }
            }
            InsertSource::Rows(rows) => {
                binder.changed.push((table.engine().id(), table.name.clone()));
                binder.push_source(named_source(&table, &table.name, 0));
                // `()` is a row of defaults, if all rows are.
                let is_empty =
                    rows.first().is_some_and(|row| row.is_empty()) && insert.columns.is_none_or(<[_]>::is_empty);
                let width = if is_empty { 0 } else { columns.len() };
                let mut given =
                    GivenRows::new(rows.len(), rows.iter().map(|row| row.len()).sum(), binder.facts.text.len());
                for (at, row) in rows.iter().enumerate() {
                    if row.len() != width {
                        return Err(Error::new(ER_WRONG_VALUE_COUNT_ON_ROW, &[&(at + 1)]));
                    }
                    for (value, &column) in row.iter().zip(&columns) {
                        match &value.kind {
                            ExpressionKind::Default => {
                                given.push_default();
                                continue;
                            }
                            ExpressionKind::Literal(literal) if binder.facts.lifted.is_empty() => {
                                if let Some(value) = literal_value(literal, binder.facts.collation)? {
                                    given.push_literal(value);
                                    continue;
                                }
                            }
                            _ => {}
                        }
                        let value = binder.expression(value, Place::plain("field list"))?;
                        let value = value.for_column(&table.columns[column].data_type);
                        if let ExprKind::Constant(value) = value.kind {
                            given.push_constant(value);
                            continue;
                        }
                        names_columns |= value.names_columns() || value.has_subquery();
                        given.push_computed(value);
                    }
                    given.end_row();
                }
                Rows::Given(given)
            }
        };
        let mut on_duplicate = Vec::new();
        if !insert.on_duplicate.is_empty() {
            let width = table.columns.len();
            let mut new = named_source(&table, alias.as_ref().map_or("", |(alias, _)| alias), width);
            match alias {
                Some((_, names)) => {
                    for (column, name) in columns.iter().zip(names.iter()) {
                        new.columns[*column].name = text_of(name.text.0).into();
                    }
                }
                // A row without a name is reached by VALUES() alone.
                None => new.merged = (0..width).collect(),
            }
            binder.push_beside(new);
            binder.inserted_from = Some(width as u32);
            if let Some(block) = query_block {
                for mut source in block.sources {
                    source.first_slot += 2 * width;
                    binder.push_beside(source);
                }
            }
            for assignment in insert.on_duplicate.iter() {
                let number = column_named(&table, &assignment.column)?;
                if table.columns[number].generated.is_some()
                    && !matches!(assignment.value.kind, ExpressionKind::Default)
                {
                    return Err(refuse_generated(&table, number));
                }
                on_duplicate.push((
                    number,
                    match assignment.value.kind {
                        ExpressionKind::Default => None,
                        _ => {
                            let value = binder.expression(&assignment.value, Place::plain("field list"))?;
                            Some(value.for_column(&table.columns[number].data_type))
                        }
                    },
                ));
            }
        }
        let counting = table.columns.iter().position(|column| column.auto_increment);
        Ok(Self {
            rules,
            columns,
            rows,
            replaces: insert.replace,
            ignores: insert.ignore,
            on_duplicate,
            counting,
            names_columns,
            given,
            table,
        })
    }

    /// The table that gets rows.
    pub fn table(&self) -> &Arc<KnownTable> {
        &self.table
    }

    /// Whether it is REPLACE.
    pub fn replaces(&self) -> bool {
        self.replaces
    }

    /// The query that it has its rows from.
    pub fn query(&self) -> Option<&QueryPlan> {
        match &self.rows {
            Rows::Query { plan, .. } => Some(plan),
            Rows::Given(_) => None,
        }
    }
}
