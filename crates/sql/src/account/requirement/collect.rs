//! Requirements as they are found in a statement's tree: in queries (`query`), changes of rows (`change`), expressions
//! (`expression`).
//!
//! ```text
//! levels:   the blocks of a query, the innermost last: what names of columns may mean
//! common:   the names of WITH, which are no tables
//! ```

use meseta_parser::ast::{ColumnName, ObjectName};

use super::{Extent, Requirement, Requirements};
use crate::account::privilege::Privileges;
use crate::account::store;
use crate::error::{Error, Result};
use crate::stack;

/// A source of rows by its name.
pub(super) struct Named {
    pub(super) alias: Box<str>,
    /// The place of its table; none of a derived one, which was looked at by itself.
    pub(super) table: Option<usize>,
}

/// What names may mean in a block.
#[derive(Default)]
pub(super) struct Level {
    pub(super) named: Vec<Named>,
    /// Aliases of expressions.
    pub(super) aliases: Vec<Box<str>>,
}

/// Requirements as they are found.
pub(super) struct Collector<'c> {
    database: Option<&'c str>,
    pub(super) each: Vec<Requirement>,
    /// Those of columns, which come behind.
    pub(super) columns: Vec<Requirement>,
    pub(super) tables: Vec<(Box<str>, Box<str>)>,
    pub(super) levels: Vec<Level>,
    pub(super) common: Vec<Box<str>>,
    pub(super) enough: Privileges,
    /// The statement nests too deep.
    failure: Option<Error>,
}

pub(super) fn text(bytes: &[u8]) -> Box<str> {
    String::from_utf8_lossy(bytes).into()
}

/// The tables of performance_schema that everybody reads.
fn is_for_everybody(table: &str) -> bool {
    let name = table.to_ascii_lowercase();
    name == "processlist" || name.ends_with("_status") || name.ends_with("_variables") || name.starts_with("session_")
}

impl<'c> Collector<'c> {
    pub(super) fn new(database: Option<&'c str>) -> Self {
        Self {
            database,
            each: Vec::new(),
            columns: Vec::new(),
            tables: Vec::new(),
            levels: Vec::new(),
            common: Vec::new(),
            enough: Privileges::NONE,
            failure: None,
        }
    }

    /// Whether to go a level deeper. If not, the statement fails with error 1436.
    pub(super) fn goes_deeper(&mut self) -> bool {
        match stack::check() {
            Ok(()) => true,
            Err(error) => {
                self.failure.get_or_insert(error);
                false
            }
        }
    }

    pub(super) fn finish(mut self, changes_password: bool) -> Result<Requirements> {
        if let Some(error) = self.failure {
            return Err(error);
        }
        self.each.append(&mut self.columns);
        let is_of_table = |each: &Requirement| matches!(each, Requirement::Table { .. } | Requirement::Column { .. });
        let is_of_tables = self.each.iter().all(is_of_table);
        let (each, tables) = (self.each.into(), self.tables.into());
        Ok(Requirements { enough: self.enough, is_of_tables, each, tables, changes_password })
    }

    /// `enough` are the global privileges that are enough for it.
    pub(super) fn push(&mut self, requirement: Requirement, enough: Privileges) {
        self.enough = self.enough.and(enough);
        if !self.each.contains(&requirement) {
            self.each.push(requirement);
        }
    }

    pub(super) fn one_of(&mut self, names: &'static [&'static str], shown: &'static str) {
        // The static one among them, if there is one; who has another is looked at closer.
        let enough = names.iter().find_map(|name| Privileges::parse(name)).unwrap_or(Privileges::NOBODYS);
        self.push(Requirement::OneOf { names, shown }, enough);
    }

    pub(super) fn never(&mut self, database: &str) {
        self.push(Requirement::Never(database.into()), Privileges::NOBODYS);
    }

    /// The session's database.
    pub(super) fn current(&self) -> Option<Box<str>> {
        self.database.map(Into::into)
    }

    /// A name's database: the one that is written, or the session's.
    pub(super) fn database_of(&self, name: &ObjectName<'_>) -> Option<Box<str>> {
        name.schema.map(|schema| text(schema.text.0)).or_else(|| self.database.map(Into::into))
    }

    /// Privileges in a database.
    pub(super) fn database(&mut self, name: &str, privileges: Privileges) {
        let is_ours = ["information_schema", "performance_schema", store::DATABASE]
            .iter()
            .any(|system| name.eq_ignore_ascii_case(system));
        if is_ours {
            return self.never(name);
        }
        self.push(Requirement::Database { name: name.into(), privileges }, privileges);
    }

    /// Anything at all in a database.
    pub(super) fn see(&mut self, name: &str, creates: bool) {
        if name == store::DATABASE {
            return self.never(name);
        }
        self.push(Requirement::SeeDatabase { name: name.into(), creates }, Privileges::SELECT);
    }

    /// Privileges in a table; nothing if it is none that needs any.
    pub(super) fn table(&mut self, name: &ObjectName<'_>, privileges: Privileges, extent: Extent) -> Option<usize> {
        // What is written is a table, whatever WITH says.
        let is_read = privileges == Privileges::SELECT;
        if is_read && name.schema.is_none() && self.common.iter().any(|common| **common == *text(name.name.text.0)) {
            return None;
        }
        // Without a database the binder says so.
        let database = self.database_of(name)?;
        let table = text(name.name.text.0);
        let reads = Privileges::SELECT.has(privileges) || matches!(extent, Extent::OneOf { .. } | Extent::Seen);
        if database.eq_ignore_ascii_case("information_schema") {
            if !reads {
                self.never(&database);
            } else if table.to_ascii_uppercase().starts_with("INNODB_") {
                self.one_of(&["PROCESS"], "PROCESS");
            }
            return None;
        }
        if &*database == store::DATABASE {
            self.never(&database);
            return None;
        }
        if database.eq_ignore_ascii_case("performance_schema") {
            if reads && is_for_everybody(&table) {
                return None;
            }
            if privileges.has(Privileges::CREATE) {
                self.never(&database);
                return None;
            }
        }
        let known = self.tables.iter().position(|(of, name)| *of == database && *name == table);
        let place = known.unwrap_or_else(|| {
            self.tables.push((database, table));
            self.tables.len() - 1
        });
        let requirement = Requirement::Table { table: place, privileges, extent, is_qualified: false };
        self.push(requirement, privileges);
        Some(place)
    }

    /// The same of a table that a foreign key refers to.
    pub(super) fn referenced(&mut self, name: &ObjectName<'_>) {
        if let Some(table) = self.table(name, Privileges::REFERENCES, Extent::SomeColumn)
            && let Some(Requirement::Table { table: last, is_qualified, .. }) = self.each.last_mut()
            && *last == table
        {
            *is_qualified = true;
        }
    }

    pub(super) fn column_of(
        &mut self,
        name: &[u8],
        privilege: Privileges,
        levels: Vec<Box<[usize]>>,
        may_be_alias: bool,
    ) {
        if levels.iter().all(|level| level.is_empty()) {
            return;
        }
        self.enough = self.enough.and(privilege);
        let requirement = Requirement::Column { name: text(name), privilege, levels: levels.into(), may_be_alias };
        if !self.columns.contains(&requirement) {
            self.columns.push(requirement);
        }
    }

    /// A column that an expression reads, or an assignment writes.
    pub(super) fn column(&mut self, name: &ColumnName<'_>, privilege: Privileges, aliases_count: bool) {
        let mut levels = Vec::new();
        for level in self.levels.iter().rev() {
            let tables: Box<[usize]> = match name.table {
                None => level.named.iter().filter_map(|named| named.table).collect(),
                Some(table) => {
                    let table = text(table.text.0);
                    let mut found =
                        level.named.iter().filter(|named| named.alias.eq_ignore_ascii_case(&table)).peekable();
                    let is_here = found.peek().is_some();
                    let tables = found.filter_map(|named| named.table).collect();
                    if is_here {
                        levels.push(tables);
                        break;
                    }
                    continue;
                }
            };
            levels.push(tables);
        }
        // A derived table's columns are not known here.
        let is_derived = |level: &Level| level.named.iter().any(|named| named.table.is_none());
        let is_alias = || {
            let written = text(name.column.text.0);
            let level = self.levels.last();
            aliases_count
                && level.is_some_and(|level| level.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(&written)))
        };
        let may_be_alias = name.table.is_none() && (self.levels.iter().any(is_derived) || is_alias());
        self.column_of(name.column.text.0, privilege, levels, may_be_alias);
    }
}
