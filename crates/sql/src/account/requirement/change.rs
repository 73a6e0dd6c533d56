//! The tables and columns that a change of rows reads and writes.

use meseta_parser::ast::{self, ColumnName, DeleteTarget, InsertSource, TableReference};

use super::collect::{Collector, Level, Named, text};
use super::{Extent, Requirement};
use crate::account::privilege::Privileges;

impl Collector<'_> {
    pub(super) fn insert(&mut self, insert: &ast::Insert<'_>) {
        let mut privileges = Privileges::INSERT;
        if insert.replace {
            privileges = privileges.and(Privileges::DELETE);
        }
        if !insert.on_duplicate.is_empty() {
            privileges = privileges.and(Privileges::UPDATE);
        }
        let target = self.table(&insert.table, privileges, Extent::SomeColumn);
        let named = Named { alias: text(insert.table.name.text.0), table: target };
        self.levels.push(Level { named: vec![named], aliases: Vec::new() });
        match insert.columns {
            Some(columns @ [_, ..]) => {
                columns.iter().for_each(|column| self.column(column, Privileges::INSERT, false));
            }
            _ => {
                if let Some(table) = target {
                    self.whole(table, Privileges::INSERT);
                }
            }
        }
        match insert.source {
            InsertSource::Rows(rows) => {
                rows.iter().flat_map(|row| row.iter()).for_each(|value| self.expression(value));
            }
            InsertSource::Query(query) => {
                // The query does not see the table; what is behind it sees both.
                let level = self.levels.pop();
                let before = self.tables.len();
                self.query(query);
                self.levels.extend(level);
                let read = before..self.tables.len();
                if let Some(level) = self.levels.last_mut() {
                    level
                        .named
                        .extend(read.map(|table| Named { alias: self.tables[table].1.clone(), table: Some(table) }));
                }
            }
        }
        if let (Some((alias, _)), Some(level)) = (insert.row_alias, self.levels.last_mut()) {
            level.named.push(Named { alias: text(alias.text.0), table: None });
        }
        for assignment in insert.on_duplicate {
            self.written(&assignment.column, target, Privileges::UPDATE);
            self.expression(&assignment.value);
        }
        self.levels.pop();
    }

    /// A column of the one table that is written.
    pub(super) fn written(&mut self, column: &ColumnName<'_>, target: Option<usize>, privilege: Privileges) {
        if let Some(table) = target {
            self.column_of(column.column.text.0, privilege, vec![[table].into()], false);
        }
    }

    pub(super) fn update(&mut self, update: &ast::Update<'_>) {
        let common = self.common.len();
        self.with(update.with);
        let mut level = Level::default();
        if let [TableReference::Table(table)] = update.tables {
            let alias = text(table.alias.map_or(table.name.name, |alias| alias).text.0);
            let target = self.table(&table.name, Privileges::UPDATE, Extent::SomeColumn);
            level.named.push(Named { alias, table: target });
        } else {
            update.tables.iter().for_each(|reference| self.several(reference, &mut level));
        }
        self.levels.push(level);
        self.conditions(update.tables);
        for assignment in update.assignments {
            self.column(&assignment.column, Privileges::UPDATE, false);
            self.expression(&assignment.value);
        }
        self.optional(update.condition.as_ref());
        self.order(update.order_by);
        self.optional(update.limit.as_ref());
        self.levels.pop();
        self.common.truncate(common);
    }

    /// The sources of an UPDATE of several tables. Which are written is asked of their columns.
    pub(super) fn several(&mut self, reference: &TableReference<'_>, level: &mut Level) {
        if !self.goes_deeper() {
            return;
        }
        match reference {
            TableReference::Table(table) => {
                let alias = text(table.alias.map_or(table.name.name, |alias| alias).text.0);
                let either = Privileges::SELECT.and(Privileges::UPDATE);
                let table = self.table(&table.name, either, Extent::OneOf { columns: true, shown: "SELECT" });
                level.named.push(Named { alias, table });
            }
            TableReference::Join(join) => {
                self.several(&join.left, level);
                self.several(&join.right, level);
            }
            TableReference::Parenthesised(all) => all.iter().for_each(|one| self.several(one, level)),
            other => self.source(other, level),
        }
    }

    pub(super) fn delete(&mut self, delete: &ast::Delete<'_>) {
        let common = self.common.len();
        self.with(delete.with);
        match delete.target {
            DeleteTarget::Single(table) => {
                let alias = text(table.alias.map_or(table.name.name, |alias| alias).text.0);
                let target = self.table(&table.name, Privileges::DELETE, Extent::Table);
                self.levels.push(Level { named: vec![Named { alias, table: target }], aliases: Vec::new() });
            }
            DeleteTarget::Several { tables, from } => {
                let level = self.from(from);
                for target in tables {
                    let name = text(target.name.text.0);
                    let found = level.named.iter().find(|named| named.alias.eq_ignore_ascii_case(&name));
                    match found.and_then(|named| named.table) {
                        Some(table) => {
                            let (privileges, extent) = (Privileges::DELETE, Extent::Table);
                            let requirement = Requirement::Table { table, privileges, extent, is_qualified: false };
                            self.push(requirement, privileges);
                        }
                        None => {
                            self.table(target, Privileges::DELETE, Extent::Table);
                        }
                    }
                }
                self.levels.push(level);
                self.conditions(from);
            }
        }
        self.optional(delete.condition.as_ref());
        self.order(delete.order_by);
        self.optional(delete.limit.as_ref());
        self.levels.pop();
        self.common.truncate(common);
    }

    pub(super) fn load(&mut self, load: &ast::Load<'_>) {
        if !load.local {
            self.push(Requirement::File, Privileges::FILE);
        }
        let mut privileges = Privileges::INSERT;
        if load.duplicates == ast::LoadDuplicates::Replace {
            privileges = privileges.and(Privileges::DELETE);
        }
        let target = self.table(&load.table, privileges, Extent::SomeColumn);
        let named = Named { alias: text(load.table.name.text.0), table: target };
        self.levels.push(Level { named: vec![named], aliases: Vec::new() });
        if let (true, Some(table)) = (load.columns.is_empty(), target) {
            self.whole(table, Privileges::INSERT);
        }
        for column in load.columns {
            if let ast::LoadColumn::Column(column) = column {
                self.column(column, Privileges::INSERT, false);
            }
        }
        for assignment in load.assignments {
            self.column(&assignment.column, Privileges::INSERT, false);
            self.expression(&assignment.value);
        }
        self.levels.pop();
    }
}
