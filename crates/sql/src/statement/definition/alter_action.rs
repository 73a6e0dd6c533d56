//! The actions of ALTER TABLE, on a draft of the table that is to be.
//!
//! ```text
//!   columns: dropped, changed, renamed, then added and moved   --> keys, checks, foreign keys that stay follow them
//!   --> those that are dropped or added --> options, name
//! ```
//!
//! Names in the actions are those of before the statement: `RENAME COLUMN a TO b, RENAME COLUMN b TO a` exchanges them.

use meseta_errors::*;
use meseta_parser::ast::{self, AlterAction, ColumnPosition, TableConstraint, TableElement};
use meseta_types::{Charset, Collation, DataType, SqlError, TextSize};

use super::column::NewColumn;
use super::create_table::{check_columns, check_generated};
use super::way::Algorithm;
use super::{DefinitionContext, foreign_key, name, options};
use crate::error::{Error, Result};
use crate::name::same_name;
use crate::schema::{Column, ColumnDefault, Index, Table};

/// The table that is to be, and where it comes from.
pub struct Draft {
    pub table: Table,
    /// For each column, the number that it had before.
    pub sources: Vec<Option<u16>>,
    /// What options say besides.
    pub given: options::Given,
    /// How it is to be done.
    pub algorithm: Algorithm,
    /// Whether a new check has to hold for the rows that are there.
    pub new_checks: Vec<String>,
    /// Foreign keys that are new.
    pub new_keys: Vec<String>,
}

/// 1054 in ALTER TABLE names the table as the clause.
fn unknown_column(column: &str, table: &str) -> Error {
    Error::new(ER_BAD_FIELD_ERROR, &[&column, &table])
}

fn cannot_drop(what: &str) -> Error {
    Error::new(ER_CANT_DROP_FIELD_OR_KEY, &[&what])
}

fn no_such_key(key: &str, table: &str) -> Error {
    Error::new(ER_KEY_DOES_NOT_EXITS, &[&key, &table])
}

/// The names that a kept expression has: all that is in backquotes, outside of texts.
pub(super) fn names_in(expression: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut characters = expression.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\'' => {
                while let Some(inner) = characters.next() {
                    match inner {
                        '\\' => drop(characters.next()),
                        '\'' => break,
                        _ => {}
                    }
                }
            }
            '`' => {
                let mut name = String::new();
                while let Some(inner) = characters.next() {
                    if inner == '`' && characters.next_if_eq(&'`').is_none() {
                        break;
                    }
                    name.push(inner);
                }
                names.push(name);
            }
            _ => {}
        }
    }
    names
}

impl DefinitionContext<'_> {
    /// The draft of a table after all actions.
    pub(super) fn draft<'a>(&mut self, old: &Table, actions: &[AlterAction<'a>], text: &[u8]) -> Result<Draft> {
        let algorithm = algorithm(actions)?;
        let mut draft = Draft {
            table: Table { columns: Vec::new(), ..old.clone() },
            sources: Vec::new(),
            given: options::Given::default(),
            algorithm,
            new_checks: Vec::new(),
            new_keys: Vec::new(),
        };
        let mut options = draft.table.options.clone();
        for action in actions {
            if let AlterAction::Option(option) = action {
                self.set_option(option, &mut options, &mut draft.given, &old.name)?;
            }
        }
        draft.table.options = options;
        if let Some(collation) = draft.given.collation() {
            draft.table.options.collation = collation;
        }
        let convert = self.conversion(actions, &mut draft.table)?;
        let mut added = self.alter_columns(old, actions, &mut draft, text)?;
        if let Some(collation) = convert {
            draft.table.columns.iter_mut().for_each(|column| convert_column(column, collation));
        }
        check_columns(&draft.table)?;
        let uses: Vec<Vec<String>> = draft
            .table
            .columns
            .iter()
            .map(|column| column.generated.as_ref().map_or_else(Vec::new, |of| names_in(&of.expression)))
            .collect();
        self.keep_constraints(old, &mut draft, actions)?;
        check_generated(&draft.table, &uses)?;
        self.alter_keys(old, actions, &mut draft, &mut added, text)?;
        let Table { columns, indexes, .. } = &mut draft.table;
        for index in indexes.iter_mut().filter(|index| index.engine != (0, 0)) {
            self.check_index(index, columns)?;
        }
        Ok(draft)
    }

    /// CONVERT TO CHARACTER SET: the collation of all text columns and of the table.
    fn conversion(&mut self, actions: &[AlterAction<'_>], table: &mut Table) -> Result<Option<Collation>> {
        let mut convert = None;
        for action in actions {
            if let AlterAction::ConvertTo { character_set, collation } = action {
                let default =
                    self.database_named(&table.database).map_or(self.server_collation, |known| known.collation);
                let chosen = self.collation_option(Some(*character_set), *collation, default, (None, None))?;
                convert = chosen.1.or(chosen.0.map(Charset::default_collation));
                table.options.collation = convert.unwrap_or(default);
            }
        }
        Ok(convert)
    }

    /// Columns as they are to be. Returns what new columns ask of the table.
    fn alter_columns<'a>(
        &mut self,
        old: &Table,
        actions: &[AlterAction<'a>],
        draft: &mut Draft,
        text: &[u8],
    ) -> Result<Added<'a>> {
        let collation = draft.table.options.collation;
        let mut added = Added::default();
        let mut columns: Vec<(Column, Option<u16>)> =
            old.columns.iter().cloned().enumerate().map(|(at, column)| (column, Some(at as u16))).collect();
        let mut dropped = 0;
        let find = |columns: &[(Column, Option<u16>)], given: ast::Identifier<'_>| {
            let wanted = name::text(given.text);
            let of = old.column(&wanted);
            let at = of.and_then(|of| columns.iter().position(|(_, source)| *source == Some(of)));
            (wanted, at)
        };
        let primary_key = old.indexes.first().filter(|_| old.has_primary_key && !drops_primary_key(actions));
        let may_be = |made: &NewColumn<'_>, source: Option<u16>| {
            let is_part = |index: &Index| index.parts.iter().any(|part| Some(part.column) == source);
            match (made.explicit_null || made.default_null) && primary_key.is_some_and(is_part) {
                true => Err(Error::new(ER_PRIMARY_CANT_HAVE_NULL, &[])),
                false => Ok(()),
            }
        };
        // What was there goes, or changes; names are those of before.
        for action in actions {
            match action {
                AlterAction::DropColumn(given) => {
                    let (wanted, at) = find(&columns, *given);
                    columns.remove(at.ok_or_else(|| cannot_drop(&wanted))?);
                    dropped += 1;
                }
                AlterAction::ChangeColumn { old: given, column, .. } => {
                    let (wanted, at) = find(&columns, *given);
                    let at = at.ok_or_else(|| unknown_column(&wanted, &old.name))?;
                    let made = self.bind_column(column, collation, text)?;
                    may_be(&made, columns[at].1)?;
                    change(&mut columns[at].0, made, column.name, &mut added);
                }
                AlterAction::ModifyColumn { column, .. } => {
                    let (wanted, at) = find(&columns, column.name);
                    let at = at.ok_or_else(|| unknown_column(&wanted, &old.name))?;
                    let made = self.bind_column(column, collation, text)?;
                    may_be(&made, columns[at].1)?;
                    change(&mut columns[at].0, made, column.name, &mut added);
                }
                AlterAction::RenameColumn { old: given, new } => {
                    let (wanted, at) = find(&columns, *given);
                    let at = at.ok_or_else(|| unknown_column(&wanted, &old.name))?;
                    columns[at].0.name = name::column(*new)?;
                }
                AlterAction::SetDefault { column, value } => {
                    let (wanted, at) = find(&columns, *column);
                    let column = &mut columns[at.ok_or_else(|| unknown_column(&wanted, &old.name))?].0;
                    if matches!(column.data_type, DataType::Text { .. } | DataType::Json) {
                        return Err(Error::new(ER_BLOB_CANT_HAVE_DEFAULT, &[&column.name]));
                    }
                    if column.auto_increment || column.generated.is_some() {
                        return Err(Error::new(ER_INVALID_DEFAULT, &[&column.name]));
                    }
                    self.set_default(column, value, text)?;
                    if column.default == ColumnDefault::Null && !column.nullable {
                        return Err(Error::new(ER_INVALID_DEFAULT, &[&column.name]));
                    }
                }
                AlterAction::DropDefault(given) => {
                    let (wanted, at) = find(&columns, *given);
                    let column = &mut columns[at.ok_or_else(|| unknown_column(&wanted, &old.name))?].0;
                    column.default = ColumnDefault::None;
                }
                AlterAction::SetColumnVisibility { column, visible } => {
                    let (wanted, at) = find(&columns, *column);
                    columns[at.ok_or_else(|| unknown_column(&wanted, &old.name))?].0.invisible = !visible;
                }
                AlterAction::SetMaskingPolicy { .. } => return Err(Error::not_yet("masking policies")),
                _ => {}
            }
        }
        // Then others come, and all go to their places.
        let mut comes = |context: &mut Self,
                         columns: &mut Vec<(Column, Option<u16>)>,
                         given: &ast::ColumnDefinition<'a>,
                         position: &Option<ColumnPosition<'a>>| {
            let made = context.bind_column(given, collation, text)?;
            let column = made.column.clone();
            if columns.iter().any(|(known, _)| same_name(&known.name, &column.name)) {
                return Err(Error::new(ER_DUP_FIELDNAME, &[&column.name]));
            }
            added.take(made, given.name);
            let at = place(columns, position.as_ref(), &old.name)?;
            columns.insert(at, (column, None));
            Ok(())
        };
        for action in actions {
            match action {
                AlterAction::AddColumn { column, position } => comes(self, &mut columns, column, position)?,
                AlterAction::AddElements(elements) => {
                    for element in *elements {
                        if let TableElement::Column(column) = element {
                            comes(self, &mut columns, column, &None)?;
                        }
                    }
                }
                AlterAction::ChangeColumn { column, position: Some(position), .. }
                | AlterAction::ModifyColumn { column, position: Some(position) } => {
                    let wanted = name::text(column.name.text);
                    if let Some(at) = columns.iter().position(|(known, _)| same_name(&known.name, &wanted)) {
                        let moved = columns.remove(at);
                        let at = place(&columns, Some(position), &old.name)?;
                        columns.insert(at, moved);
                    }
                }
                _ => {}
            }
        }
        if columns.is_empty() && dropped > 0 {
            return Err(Error::new(ER_CANT_REMOVE_ALL_FIELDS, &[]));
        }
        for (at, (column, _)) in columns.iter().enumerate() {
            if columns[..at].iter().any(|(known, _)| same_name(&known.name, &column.name)) {
                return Err(Error::new(ER_DUP_FIELDNAME, &[&column.name]));
            }
        }
        (draft.table.columns, draft.sources) = columns.into_iter().unzip();
        Ok(added)
    }

    /// Keys and constraints that were there follow their columns.
    fn keep_constraints(&mut self, old: &Table, draft: &mut Draft, actions: &[AlterAction<'_>]) -> Result<()> {
        let by_source = |of: u16| draft.sources.iter().position(|source| *source == Some(of)).map(|at| at as u16);
        // A column that is dropped and added anew is the same to keys.
        let is_added = |&at: &u16| draft.sources[usize::from(at)].is_none();
        let follow = |(of, column): (usize, &Column)| {
            by_source(of as u16).or_else(|| draft.table.column(&column.name).filter(is_added))
        };
        let followed: Vec<Option<u16>> = old.columns.iter().enumerate().map(follow).collect();
        for index in &mut draft.table.indexes {
            index.parts.retain_mut(|part| {
                let at = followed.get(usize::from(part.column)).copied().flatten();
                part.column = at.unwrap_or(part.column);
                at.is_some()
            });
        }
        let drops_primary = drops_primary_key(actions);
        let before = std::mem::take(&mut draft.table.indexes);
        draft.table.indexes = before.into_iter().filter(|index| !index.parts.is_empty()).collect();
        draft.table.has_primary_key = draft.table.indexes.iter().any(Index::is_primary);
        for index in &mut draft.table.indexes {
            for part in &mut index.parts {
                let column = &mut draft.table.columns[usize::from(part.column)];
                clamp_prefix(part, &column.data_type);
                if index.name == "PRIMARY" && !drops_primary {
                    super::index::make_not_null(column);
                }
            }
        }
        let is_gone_key = |key: &str| {
            actions.iter().any(|action| match action {
                AlterAction::DropForeignKey(given) | AlterAction::DropConstraint(given) => {
                    same_name(name::text(given.text), key)
                }
                _ => false,
            })
        };
        for key in &mut draft.table.foreign_keys {
            for column in &mut key.columns {
                let dropped = &old.columns[usize::from(*column)].name;
                match by_source(*column) {
                    Some(at) => *column = at,
                    None if is_gone_key(&key.name) => {}
                    None => return Err(Error::new(ER_FK_COLUMN_CANNOT_DROP, &[dropped, &key.name])),
                }
            }
            if key.parent == Some(old.id) {
                let numbers = key.parent_numbers.iter().map(|&number| by_source(number));
                key.parent_numbers = numbers.collect::<Option<_>>().unwrap_or_default();
            }
        }
        // Expressions name columns, and are kept as text: what they name must stay.
        let is_gone = |used: &str| match old.column(used) {
            Some(of) => by_source(of).is_none_or(|at| !same_name(&draft.table.columns[usize::from(at)].name, used)),
            None => false,
        };
        for column in &old.columns {
            if let Some(generated) = &column.generated
                && draft.table.columns.iter().any(|kept| kept.generated.as_ref() == Some(generated))
                && let Some(used) = names_in(&generated.expression).iter().find(|used| is_gone(used))
            {
                return Err(Error::new(ER_DEPENDENT_BY_GENERATED_COLUMN, &[used]));
            }
        }
        for column in &draft.table.columns {
            if let ColumnDefault::Expression(text) = &column.default
                && let Some(used) = names_in(text).iter().find(|used| is_gone(used))
            {
                return Err(Error::new(ER_DEPENDENT_BY_DEFAULT_GENERATED_VALUE, &[used, &old.name]));
            }
        }
        let mut kept = Vec::new();
        for check in std::mem::take(&mut draft.table.checks) {
            let used = names_in(&check.expression);
            match used.iter().find(|used| is_gone(used)) {
                None => kept.push(check),
                // A check of this column alone goes with it.
                Some(gone) if used.iter().all(|used| used == gone) && draft.table.column(gone).is_none() => {
                    let is_renamed = old.column(gone).and_then(by_source).is_some();
                    if is_renamed {
                        return Err(Error::new(ER_DEPENDENT_BY_CHECK_CONSTRAINT, &[&check.name, gone]));
                    }
                }
                Some(gone) => return Err(Error::new(ER_DEPENDENT_BY_CHECK_CONSTRAINT, &[&check.name, gone])),
            }
        }
        draft.table.checks = kept;
        Ok(())
    }

    /// Keys and constraints that are dropped, renamed, added.
    fn alter_keys<'a>(
        &mut self,
        old: &Table,
        actions: &[AlterAction<'a>],
        draft: &mut Draft,
        added: &mut Added<'a>,
        text: &[u8],
    ) -> Result<()> {
        let old_name = old.name.clone();
        for action in actions {
            match action {
                AlterAction::DropPrimaryKey => drop_index(old, &mut draft.table, "PRIMARY")?,
                AlterAction::DropIndex(given) => drop_index(old, &mut draft.table, &name::text(given.text))?,
                AlterAction::DropForeignKey(given) => {
                    let wanted = name::text(given.text);
                    let table = &mut draft.table;
                    let at = table.foreign_keys.iter().position(|key| same_name(&key.name, &wanted));
                    table.foreign_keys.remove(at.ok_or_else(|| cannot_drop(&wanted))?);
                }
                AlterAction::DropCheck(given) => {
                    let wanted = name::text(given.text);
                    if !old.checks.iter().any(|check| same_name(&check.name, &wanted)) {
                        return Err(Error::new(ER_CHECK_CONSTRAINT_NOT_FOUND, &[&wanted]));
                    }
                    draft.table.checks.retain(|check| !same_name(&check.name, &wanted));
                }
                AlterAction::DropConstraint(given) => drop_constraint(old, &mut draft.table, &name::text(given.text))?,
                AlterAction::SetEnforced { name: given, any_kind, enforced } => {
                    let wanted = name::text(given.text);
                    match draft.table.checks.iter_mut().find(|check| same_name(&check.name, &wanted)) {
                        Some(check) => {
                            if *enforced && !check.enforced {
                                draft.new_checks.push(check.name.clone());
                            }
                            check.enforced = *enforced;
                        }
                        None if *any_kind => return Err(Error::new(ER_CONSTRAINT_NOT_FOUND, &[&wanted])),
                        None => return Err(Error::new(ER_CHECK_CONSTRAINT_NOT_FOUND, &[&wanted])),
                    }
                }
                AlterAction::RenameIndex { old: given, new } => {
                    let (wanted, new) = (name::text(given.text), name::index(*new)?);
                    let at = old.index(&wanted).filter(|_| !same_name(&wanted, "PRIMARY"));
                    at.ok_or_else(|| no_such_key(&wanted, &old_name))?;
                    if draft.table.index(&new).is_some() && !same_name(&wanted, &new) {
                        return Err(Error::new(ER_DUP_KEYNAME, &[&new]));
                    }
                    if let Some(at) = draft.table.index(&wanted) {
                        draft.table.indexes[at].name = new;
                    }
                }
                AlterAction::SetIndexVisibility { index, visible } => {
                    let wanted = name::text(index.text);
                    let at = draft.table.index(&wanted).ok_or_else(|| no_such_key(&wanted, &old_name))?;
                    if same_name(&wanted, "PRIMARY") && !visible {
                        return Err(Error::new(ER_PK_INDEX_CANT_BE_INVISIBLE, &[]));
                    }
                    draft.table.indexes[at].invisible = !visible;
                }
                _ => {}
            }
        }
        let mut checks: Vec<(Option<String>, ast::Check<'a>)> = std::mem::take(&mut added.checks);
        let mut given_keys: Vec<foreign_key::Given<'a>> = Vec::new();
        for (kind, column) in std::mem::take(&mut added.indexes) {
            let index = self.bind_inline_index(&mut draft.table, kind, column, |_| false)?;
            self.add_explicit(&mut draft.table, index)?;
        }
        for (column, references) in std::mem::take(&mut added.references) {
            given_keys.push(foreign_key::Given { constraint: None, name: None, columns: vec![column], references });
        }
        for action in actions {
            let constraints: Vec<&TableConstraint<'a>> = match action {
                AlterAction::AddConstraint(constraint) => vec![constraint],
                AlterAction::AddElements(elements) => {
                    let constraint = |element: &'a TableElement<'a>| match element {
                        TableElement::Constraint(constraint) => Some(constraint),
                        TableElement::Column(_) => None,
                    };
                    elements.iter().filter_map(constraint).collect()
                }
                _ => continue,
            };
            for constraint in constraints {
                match constraint {
                    TableConstraint::Index(given) => {
                        if given.kind == ast::IndexKind::Primary && draft.table.has_primary_key {
                            return Err(Error::new(ER_MULTIPLE_PRI_KEY, &[]));
                        }
                        let index = self.bind_index(&mut draft.table, given, |_| false)?;
                        self.add_explicit(&mut draft.table, index)?;
                    }
                    TableConstraint::ForeignKey { constraint, name, columns, references } => {
                        given_keys.push(foreign_key::Given::new(*constraint, *name, columns, *references)?);
                    }
                    TableConstraint::Check(check) => checks.push((None, *check)),
                }
            }
        }
        for given in &given_keys {
            self.index_for(&mut draft.table, given, &[])?;
        }
        let is_old = |index: &Index| {
            old.indexes.iter().any(|known| known.engine == index.engine && known.parts.len() == index.parts.len())
        };
        self.finish_indexes(&mut draft.table, is_old)?;
        let mut number = name::numbered(&old.name, "chk", old.checks.iter().map(|check| check.name.as_str()));
        for (of, check) in checks {
            let before = draft.table.checks.len();
            self.add_check(&mut draft.table, &check, of.as_deref(), &mut number, text)?;
            draft.new_checks.extend(
                draft.table.checks[before..].iter().filter(|check| check.enforced).map(|check| check.name.clone()),
            );
        }
        let mut number = name::numbered(&old.name, "ibfk", old.foreign_keys.iter().map(|key| key.name.as_str()));
        for given in &given_keys {
            self.add_foreign_key(&mut draft.table, given, &mut number)?;
            draft.new_keys.extend(draft.table.foreign_keys.last().map(|key| key.name.clone()));
        }
        Ok(())
    }

    /// Adds a key that was written: one that was made for a foreign key, and that it begins with, goes.
    fn add_explicit(&mut self, table: &mut Table, index: Index) -> Result<()> {
        let parts = index.parts.clone();
        let is_plain = !index.is_primary();
        self.add_index(table, index)?;
        if is_plain {
            table.indexes.retain(|known| !known.implicit || !parts.starts_with(&known.parts));
        }
        Ok(())
    }
}

/// What new and changed columns ask of their table.
#[derive(Default)]
struct Added<'a> {
    indexes: Vec<(ast::IndexKind, ast::Identifier<'a>)>,
    checks: Vec<(Option<String>, ast::Check<'a>)>,
    references: Vec<(ast::Identifier<'a>, ast::References<'a>)>,
}

impl<'a> Added<'a> {
    fn take(&mut self, made: NewColumn<'a>, column: ast::Identifier<'a>) {
        self.indexes.extend(made.index_kinds().into_iter().map(|kind| (kind, column)));
        self.checks.extend(made.checks.into_iter().map(|check| (Some(made.column.name.clone()), check)));
        self.references.extend(made.references.into_iter().map(|references| (column, references)));
    }
}

/// Whether the primary key goes.
fn drops_primary_key(actions: &[AlterAction<'_>]) -> bool {
    actions.iter().any(|action| match action {
        AlterAction::DropPrimaryKey => true,
        AlterAction::DropIndex(given) | AlterAction::DropConstraint(given) => {
            given.text.eq_ignore_ascii_case(b"PRIMARY")
        }
        _ => false,
    })
}

/// Puts a column's new definition in the place of its old one.
fn change<'a>(column: &mut Column, made: NewColumn<'a>, given: ast::Identifier<'a>, added: &mut Added<'a>) {
    let added_with = column.added_with.take();
    *column = Column { added_with, ..made.column.clone() };
    added.take(made, given);
}

/// Where a column goes.
fn place(columns: &[(Column, Option<u16>)], position: Option<&ColumnPosition<'_>>, table: &str) -> Result<usize> {
    match position {
        None => Ok(columns.len()),
        Some(ColumnPosition::First) => Ok(0),
        Some(ColumnPosition::After(given)) => {
            let wanted = name::text(given.text);
            let at = columns.iter().position(|(known, _)| same_name(&known.name, &wanted));
            Ok(at.ok_or_else(|| unknown_column(&wanted, table))? + 1)
        }
    }
}

/// A prefix that is as long as the column, or of what has no beginnings, is none.
fn clamp_prefix(part: &mut crate::schema::IndexPart, data_type: &DataType) {
    let own = match data_type {
        DataType::Char { length, .. } | DataType::Varchar { length, .. } => Some(*length),
        DataType::Text { .. } => None,
        _ => Some(0),
    };
    if let (Some(own), Some(prefix)) = (own, part.prefix)
        && prefix >= own
    {
        part.prefix = None;
    }
}

/// Gives a text column another collation; one of bytes that could become too small grows.
fn convert_column(column: &mut Column, to: Collation) {
    match &mut column.data_type {
        DataType::Char { collation, .. } | DataType::Varchar { collation, .. } if *collation != Collation::Binary => {
            *collation = to;
        }
        DataType::Text { collation, size } if *collation != Collation::Binary => {
            let (from_len, to_len) = (collation.charset().max_len(), to.charset().max_len());
            if to_len > from_len {
                let bytes = u64::from(size.max_bytes()) / u64::from(from_len) * u64::from(to_len);
                *size = TextSize::for_bytes(bytes);
            }
            *collation = to;
        }
        DataType::Enum(members) | DataType::Set(members) if members.collation() != Collation::Binary => {
            let from = members.collation().charset();
            let names: Vec<Vec<u8>> = members
                .names()
                .map(|name| {
                    let mut converted = Vec::new();
                    from.convert(name, to.charset(), &mut converted);
                    converted
                })
                .collect();
            *members = std::sync::Arc::new(meseta_types::Members::new(names.iter().map(Vec::as_slice), to));
        }
        _ => {}
    }
}

fn drop_index(old: &Table, table: &mut Table, wanted: &str) -> Result<()> {
    old.index(wanted).ok_or_else(|| cannot_drop(wanted))?;
    table.indexes.retain(|index| !same_name(&index.name, wanted));
    table.has_primary_key = table.indexes.iter().any(Index::is_primary);
    Ok(())
}

/// DROP CONSTRAINT: a key, a foreign key or a check of this name.
fn drop_constraint(old: &Table, table: &mut Table, wanted: &str) -> Result<()> {
    let is_key = old.indexes.iter().any(|index| index.unique && same_name(&index.name, wanted));
    let is_foreign = old.foreign_keys.iter().any(|key| same_name(&key.name, wanted));
    let is_check = old.checks.iter().any(|check| same_name(&check.name, wanted));
    match [is_key, is_foreign, is_check].into_iter().filter(|is| *is).count() {
        0 => return Err(Error::new(ER_CONSTRAINT_NOT_FOUND, &[&wanted])),
        1 => {}
        _ => return Err(Error::new(ER_MULTIPLE_CONSTRAINTS_WITH_SAME_NAME, &[&wanted])),
    }
    if is_key {
        return drop_index(old, table, wanted);
    }
    table.foreign_keys.retain(|key| !same_name(&key.name, wanted));
    table.checks.retain(|check| !same_name(&check.name, wanted));
    Ok(())
}

/// What ALGORITHM says, and whether LOCK goes together with it.
fn algorithm(actions: &[AlterAction<'_>]) -> Result<Algorithm> {
    let mut algorithm = Algorithm::Any;
    let mut locks = false;
    for action in actions {
        match action {
            AlterAction::Algorithm(given) => {
                let word = name::text(*given);
                algorithm = match word.to_uppercase().as_str() {
                    "DEFAULT" => Algorithm::Any,
                    "INPLACE" => Algorithm::InPlace,
                    "COPY" => Algorithm::Copy,
                    "INSTANT" => Algorithm::Instant,
                    _ => return Err(Error::new(ER_UNKNOWN_ALTER_ALGORITHM, &[&word])),
                };
            }
            AlterAction::Lock(given) => {
                let word = name::text(*given);
                match word.to_uppercase().as_str() {
                    "DEFAULT" => {}
                    "NONE" | "SHARED" | "EXCLUSIVE" => locks = true,
                    _ => return Err(Error::new(ER_UNKNOWN_ALTER_LOCK, &[&word])),
                }
            }
            AlterAction::DiscardTablespace | AlterAction::ImportTablespace => {
                return Err(Error::not_yet("tablespaces"));
            }
            AlterAction::AddPartitions { .. }
            | AlterAction::DropPartitions(_)
            | AlterAction::CoalescePartitions(_)
            | AlterAction::ReorganizePartitions { .. }
            | AlterAction::ExchangePartition { .. }
            | AlterAction::Partitions { .. } => return Err(Error::not_yet("partitioning")),
            AlterAction::SecondaryLoad | AlterAction::SecondaryUnload => {
                return Err(Error::not_yet("secondary engines"));
            }
            _ => {}
        }
    }
    if algorithm == Algorithm::Instant && locks {
        let message = "Incorrect usage of ALGORITHM=INSTANT and LOCK=NONE/SHARED/EXCLUSIVE";
        return Err(SqlError::new(ER_WRONG_USAGE.0, message).into());
    }
    Ok(algorithm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_outside_of_texts() {
        assert_eq!(names_in("(`a` + `b``c`) like _utf8mb4'`x` '' \\' `y`'"), ["a", "b`c"]);
        assert!(names_in("_utf8mb4'never ends").is_empty());
        assert_eq!(names_in("`never ends"), ["never ends"]);
    }
}
