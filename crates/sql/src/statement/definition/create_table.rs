//! CREATE TABLE.
//!
//! ```text
//!   columns, in their order --> keys and constraints, in theirs --> order of keys, limits --> references
//! ```

use meseta_errors::*;
use meseta_parser::ast::{self, CreateTableSource, TableConstraint, TableElement};
use meseta_types::DataType;

use super::column::NewColumn;
use super::failure::{engine_failure, no_such_database};
use super::{DefinitionContext, Outcome, foreign_key, name};
use crate::error::{Error, Result};
use crate::name::same_name;
use crate::schema::{Column, Index, Table};

/// Columns of a table at most.
const COLUMNS_MAX: usize = 4096;
/// Columns of a table at most, as InnoDB has it.
const INNODB_COLUMNS_MAX: usize = 1017;

/// A constraint to be added when all columns are known: where it was written decides its place.
enum Key<'a> {
    Index(ast::IndexDefinition<'a>),
    /// Behind a column.
    Inline(ast::IndexKind, ast::Identifier<'a>),
    Foreign(foreign_key::Given<'a>),
}

/// CREATE TABLE, and the seam of CREATE TABLE ... AS: creates the table of the statement with the columns of its query
/// behind its own. The caller plans the query, calls this, and then inserts the rows.
pub fn create_table_of(
    create: &ast::CreateTable<'_>,
    text: &[u8],
    query: &[Column],
    session: &mut DefinitionContext<'_>,
) -> Result<Outcome> {
    session.create_table(create, text, query)
}

impl DefinitionContext<'_> {
    pub(super) fn create_table(
        &mut self,
        create: &ast::CreateTable<'_>,
        text: &[u8],
        query: &[Column],
    ) -> Result<Outcome> {
        if create.temporary {
            return Err(Error::not_yet("TEMPORARY tables"));
        }
        if create.external {
            return Err(Error::not_yet("EXTERNAL tables"));
        }
        let table_name = name::table(create.name.name)?;
        let (database, _) = self.object(&create.name)?;
        let mut auto_increment = None;
        let table = match create.source {
            CreateTableSource::Like(source) => {
                self.check_new_table(&database, &table_name).or_else(|error| self.forgive(error, create))?;
                if self.is_there(&database, &table_name) {
                    return Ok(Outcome::DONE);
                }
                self.table_like(&source, &database, &table_name)?
            }
            CreateTableSource::Definition { elements, options, partitioning, query: source, .. } => {
                if partitioning.is_some() {
                    return Err(Error::not_yet("partitioning"));
                }
                if source.is_some() && query.is_empty() {
                    return Err(Error::not_yet("CREATE TABLE ... AS SELECT"));
                }
                let collation = self.database_named(&database).map_or(self.server_collation, |known| known.collation);
                let mut table = Table::new(&database, &table_name, collation);
                let mut given = super::options::Given::default();
                let mut own = table.options.clone();
                // A column's collation is the table's, which is written behind it; warnings come in the order written.
                let warnings = std::mem::take(&mut self.context.warnings);
                let set =
                    options.iter().try_for_each(|option| self.set_option(option, &mut own, &mut given, &table_name));
                let of_options = std::mem::replace(&mut self.context.warnings, warnings);
                table.options = own;
                table.options.collation = given.collation().unwrap_or(collation);
                auto_increment = given.auto_increment;
                let bound = self.bind_elements(&mut table, elements, query, text);
                for warning in of_options.kept() {
                    self.context.warnings.push(warning.level, warning.condition.clone());
                }
                let bound = bound?;
                set?;
                if let Err(error) = self.check_new_table(&database, &table_name) {
                    self.forgive(error, create)?;
                    return Ok(Outcome::DONE);
                }
                self.finish_table(&mut table, bound, text)?;
                self.check_expressions(&table)?;
                table
            }
        };
        self.create(table, auto_increment)
    }

    /// Creates a table that was checked, and lets keys refer to it that wait for it.
    fn create(&mut self, mut table: Table, auto_increment: Option<u64>) -> Result<Outcome> {
        table.options.created = self.now;
        let waiting = self.waiting_for(&table)?;
        let id = self.engine.create_table(table.definition()).map_err(engine_failure)?;
        if !waiting.is_empty() {
            let mut redefined = Vec::new();
            for mut child in waiting {
                for key in &mut child.foreign_keys {
                    if key.parent == Some(table.id) {
                        key.parent = Some(id);
                    }
                }
                redefined.push(child.definition());
            }
            self.engine.change_tables(redefined, &[]).map_err(engine_failure)?;
        }
        if let Some(next) = auto_increment.filter(|&next| next > 1)
            && table.auto_increment().is_some()
        {
            self.engine.set_auto_increment(id, next).map_err(engine_failure)?;
        }
        Ok(Outcome::DONE)
    }

    pub(super) fn is_there(&mut self, database: &str, table: &str) -> bool {
        self.schema().table_named(database, table).is_ok()
    }

    /// The database has to be there, and no table of this name in it.
    pub(super) fn check_new_table(&mut self, database: &str, table: &str) -> Result<()> {
        if !self.schema().databases.contains_key(database) {
            return Err(no_such_database(database));
        }
        match self.is_there(database, table) {
            true => Err(Error::new(ER_TABLE_EXISTS_ERROR, &[&table])),
            false => Ok(()),
        }
    }

    /// With IF NOT EXISTS, that a table exists is no more than a note.
    fn forgive(&mut self, error: Error, create: &ast::CreateTable<'_>) -> Result<()> {
        if create.if_not_exists && error.code == ER_TABLE_EXISTS_ERROR {
            self.note_error(error);
            return Ok(());
        }
        Err(error)
    }

    /// LIKE: all but foreign keys and the numbers that were counted.
    fn table_like(&mut self, source: &ast::ObjectName<'_>, database: &str, table_name: &str) -> Result<Table> {
        let (source, _) = self.table(source)?;
        let mut table = (*source).clone();
        table.id = meseta_engine::ids::TableId(0);
        (table.database, table.name) = (database.to_owned(), table_name.to_owned());
        table.foreign_keys.clear();
        table.stored = Vec::new();
        table.hidden_index = None;
        for index in &mut table.indexes {
            index.engine = (0, 0);
        }
        for column in &mut table.columns {
            column.added_with = None;
        }
        let mut checks: Vec<_> = std::mem::take(&mut table.checks);
        checks.sort_by_key(|check| check.name.to_lowercase());
        for (number, check) in checks.iter_mut().enumerate() {
            check.name = format!("{table_name}_chk_{}", number + 1);
        }
        table.checks = checks;
        Ok(table)
    }

    /// Columns, with their types and defaults.
    fn bind_elements<'a>(
        &mut self,
        table: &mut Table,
        elements: &[TableElement<'a>],
        query: &[Column],
        text: &[u8],
    ) -> Result<Elements<'a>> {
        let mut bound = Elements::default();
        let default = table.options.collation;
        for element in elements {
            match element {
                TableElement::Column(given) => {
                    let mut made = self.bind_column(given, default, text)?;
                    bound.keys_of_column(&mut made, given.name)?;
                    bound.columns.push(made);
                }
                TableElement::Constraint(TableConstraint::Index(index)) => bound.keys.push(Key::Index(*index)),
                TableElement::Constraint(TableConstraint::ForeignKey { constraint, name, columns, references }) => {
                    let given = foreign_key::Given::new(*constraint, *name, columns, *references)?;
                    bound.keys.push(Key::Foreign(given));
                }
                TableElement::Constraint(TableConstraint::Check(check)) => bound.checks.push((None, *check)),
            }
        }
        for column in query {
            // One that was written keeps its type, and has its place among the query's.
            let made = match bound.columns.iter().position(|made| same_name(&made.column.name, &column.name)) {
                Some(at) => bound.columns.remove(at),
                None => NewColumn::plain(column.clone()),
            };
            bound.columns.push(made);
        }
        Ok(bound)
    }

    fn finish_table(&mut self, table: &mut Table, bound: Elements<'_>, text: &[u8]) -> Result<()> {
        if bound.columns.is_empty() && bound.keys.is_empty() && bound.checks.is_empty() {
            return Err(Error::new(ER_TABLE_MUST_HAVE_COLUMNS, &[]));
        }
        let nulls: Vec<bool> = bound.columns.iter().map(|made| made.explicit_null).collect();
        let defaults: Vec<bool> = bound.columns.iter().map(|made| made.default_null).collect();
        let uses: Vec<Vec<String>> = bound.columns.iter().map(|made| made.uses.clone()).collect();
        for made in bound.columns {
            if table.column(&made.column.name).is_some() {
                return Err(Error::new(ER_DUP_FIELDNAME, &[&made.column.name]));
            }
            table.columns.push(made.column);
        }
        check_columns(table)?;
        check_generated(table, &uses)?;
        let mut later = Vec::new();
        // A primary key first: its columns are never NULL, wherever it was written.
        for key in &bound.keys {
            let is_null = |at: u16| nulls.get(usize::from(at)) == Some(&true);
            let index = match key {
                Key::Index(given) => Some(self.bind_index(table, given, is_null)?),
                Key::Inline(kind, column) => Some(self.bind_inline_index(table, *kind, *column, is_null)?),
                Key::Foreign(_) => None,
            };
            if let Some(index) = index {
                if index.is_primary()
                    && let Some(part) =
                        index.parts.iter().find(|part| defaults.get(usize::from(part.column)) == Some(&true))
                {
                    let column = &table.columns[usize::from(part.column)];
                    return Err(Error::new(ER_INVALID_DEFAULT, &[&column.name]));
                }
                later.push(index);
            }
        }
        if later.iter().filter(|index| index.is_primary()).count() > 1 {
            return Err(Error::new(ER_MULTIPLE_PRI_KEY, &[]));
        }
        let mut foreign_keys = Vec::new();
        for key in bound.keys {
            match key {
                Key::Index(_) | Key::Inline(..) => {
                    let index = later.remove(0);
                    self.add_index(table, index)?;
                }
                Key::Foreign(given) => {
                    self.index_for(table, &given, &later)?;
                    foreign_keys.push(given);
                }
            }
        }
        self.finish_indexes(table, |_: &Index| false)?;
        let mut number = 0;
        for (of, check) in bound.checks {
            self.add_check(table, &check, of.as_deref(), &mut number, text)?;
        }
        let mut number = 0;
        for given in &foreign_keys {
            self.add_foreign_key(table, given, &mut number)?;
        }
        Ok(())
    }
}

/// What CREATE TABLE lists.
#[derive(Default)]
struct Elements<'a> {
    columns: Vec<NewColumn<'a>>,
    keys: Vec<Key<'a>>,
    checks: Vec<(Option<String>, ast::Check<'a>)>,
}

impl<'a> Elements<'a> {
    /// A column's own keys and checks, in the order in which they were written.
    fn keys_of_column(&mut self, made: &mut NewColumn<'a>, column: ast::Identifier<'a>) -> Result<()> {
        for kind in made.index_kinds() {
            self.keys.push(Key::Inline(kind, column));
        }
        for references in made.references.drain(..) {
            let given = foreign_key::Given { constraint: None, name: None, columns: vec![column], references };
            self.keys.push(Key::Foreign(given));
        }
        self.checks.extend(made.checks.drain(..).map(|check| (Some(made.column.name.clone()), check)));
        Ok(())
    }
}

impl NewColumn<'_> {
    /// A column without keys and checks.
    pub(super) fn plain(column: Column) -> Self {
        Self {
            column,
            primary: false,
            unique: false,
            explicit_null: false,
            default_null: false,
            checks: Vec::new(),
            references: Vec::new(),
            uses: Vec::new(),
        }
    }

    /// The keys that were written behind it.
    pub(super) fn index_kinds(&self) -> Vec<ast::IndexKind> {
        let kinds = [(self.primary, ast::IndexKind::Primary), (self.unique, ast::IndexKind::Unique)];
        kinds.into_iter().filter(|(is_there, _)| *is_there).map(|(_, kind)| kind).collect()
    }
}

/// Limits of columns as a whole. Errors: 1117, 1118, 4028, 1113.
pub(super) fn check_columns(table: &Table) -> Result<()> {
    if table.columns.len() > COLUMNS_MAX.min(INNODB_COLUMNS_MAX) {
        return Err(Error::new(ER_TOO_MANY_FIELDS, &[]));
    }
    let mut bytes = table.columns.iter().filter(|column| column.nullable).count().div_ceil(8) as u64;
    for column in &table.columns {
        bytes += u64::from(column.data_type.row_bytes());
    }
    if bytes > u64::from(DataType::MAX_ROW_BYTES) {
        return Err(Error::new(ER_TOO_BIG_ROWSIZE, &[&DataType::MAX_ROW_BYTES]));
    }
    if !table.columns.is_empty() && table.columns.iter().all(|column| column.invisible) {
        return Err(Error::new(ER_TABLE_MUST_HAVE_A_VISIBLE_COLUMN, &[]));
    }
    Ok(())
}

/// Generated columns refer to columns that are there, and not to such as count by themselves; among generated ones, to
/// those before.
pub(super) fn check_generated(table: &Table, uses: &[Vec<String>]) -> Result<()> {
    for (at, used) in uses.iter().enumerate() {
        for name in used {
            let Some(other) = table.column(name) else {
                return Err(Error::new(ER_BAD_FIELD_ERROR, &[name, &"generated column function"]));
            };
            let column = &table.columns[usize::from(other)];
            if column.auto_increment {
                return Err(Error::new(ER_GENERATED_COLUMN_REF_AUTO_INC, &[&table.columns[at].name]));
            }
            if column.generated.is_some() && usize::from(other) >= at {
                return Err(Error::new(ER_GENERATED_COLUMN_NON_PRIOR, &[]));
            }
        }
    }
    Ok(())
}
