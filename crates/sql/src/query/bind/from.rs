//! FROM: sources, how they are joined, which columns there are.
//!
//! ```text
//!   a JOIN b USING (id) JOIN c ON ..      Joined { tree, columns: [(a, id), (a, x), (b, y), (c, id) ...] }
//!                                                          what `*` means, and what a bare name may mean
//! ```
//!
//! # Source
//! The manual, "JOIN Clause": of USING and NATURAL first the common columns, then the others of the left and of the right;
//! a RIGHT JOIN is a LEFT JOIN the other way round. The ON of a join sees the tables of this join alone.

use std::sync::Arc;

use meseta_errors::ER_TOO_MANY_TABLES;
use meseta_errors::{
    ER_BAD_FIELD_ERROR, ER_CTE_RECURSIVE_REQUIRES_NONRECURSIVE_FIRST, ER_DERIVED_MUST_HAVE_ALIAS, ER_DUP_FIELDNAME,
    ER_MISPLACED_INTO, ER_NON_UNIQ_ERROR, ER_NONUNIQ_TABLE, ER_UPDATE_TABLE_USED, ER_VIEW_WRONG_LIST,
};
use meseta_parser::ast::{self, TableReference};

use super::scope::{NamedSource, SourceColumn};
use super::{Binder, CommonTable, Place, Recursion};
use crate::error::{Error, Result};
use crate::expression::Expr;
use crate::name::{same_name, text_of};
use crate::query::plan::bound::BoundSelect;
use crate::query::plan::columns::flags_in_table;
use crate::query::plan::join_tree::{Shows, TABLES, Tree};
use crate::query::plan::table::KnownTable;
use crate::query::plan::usable::UsableIndexes;
use crate::query::plan::{Body, LockingPlan, Origin, QueryPlan, Source, SourceKind, TableSource};
use crate::query::planner::push::selects_of;
use crate::query::planner::tables::FoundTable;

/// A table reference that is bound.
pub struct Joined {
    /// How its sources are joined.
    pub tree: Tree,
    /// Its columns: source and number there. Hidden ones are not among them, nor the second of two that USING made one.
    pub columns: Vec<(usize, usize)>,
}

impl<'a> Binder<'a, '_> {
    /// Binds FROM.
    pub fn from(
        &mut self,
        list: &'a [TableReference<'a>],
        sources: &mut Vec<Source>,
        locking: &[ast::Locking<'a>],
    ) -> Result<Option<Joined>> {
        let mut trees = Vec::new();
        let mut columns = Vec::new();
        for reference in list {
            let joined = self.reference(reference, sources, locking)?;
            trees.push(joined.tree);
            columns.extend(joined.columns);
        }
        let tree = match trees.len() {
            0 => return Ok(None),
            1 => trees.remove(0),
            _ => Tree::Inner { inputs: trees, conditions: Vec::new(), keeps_order: false },
        };
        Ok(Some(Joined { tree, columns }))
    }

    fn reference(
        &mut self,
        reference: &'a TableReference<'a>,
        sources: &mut Vec<Source>,
        locking: &[ast::Locking<'a>],
    ) -> Result<Joined> {
        if sources.len() >= TABLES {
            return Err(Error::new(ER_TOO_MANY_TABLES, &[&TABLES]));
        }
        match reference {
            TableReference::Table(table) => {
                if !table.partitions.is_empty() {
                    return Err(Error::not_yet("partitions"));
                }
                if table.sample.is_some() {
                    return Err(Error::not_yet("TABLESAMPLE"));
                }
                self.table(&table.name, table.alias, table.index_hints, sources, locking)
            }
            TableReference::Derived(derived) => self.derived(derived, sources),
            TableReference::Parenthesised(list) => {
                Ok(self.from(list, sources, locking)?.expect("the parser gives at least one"))
            }
            TableReference::Join(join) => self.join(join, sources, locking),
            TableReference::JsonTable(_) => Err(Error::not_yet("JSON_TABLE")),
        }
    }

    /// A table by its name.
    pub(super) fn table(
        &mut self,
        name: &ast::ObjectName<'a>,
        alias: Option<ast::Identifier<'a>>,
        hints: &[ast::IndexHint<'a>],
        sources: &mut Vec<Source>,
        locking: &[ast::Locking<'a>],
    ) -> Result<Joined> {
        let database = name.schema.map(|schema| text_of(schema.text.0));
        let name = text_of(name.name.text.0);
        let alias = alias.map_or_else(|| name.clone(), |alias| text_of(alias.text.0));
        if database.is_none()
            && let Some(at) = self.common.iter().rposition(|common| common.definition.name.text.0 == name.as_bytes())
        {
            return self.common_table(at, alias, sources);
        }
        match self.tables.table(database.as_deref(), &name)? {
            FoundTable::Table(found) => {
                let usable = UsableIndexes::new(hints, &found, &alias)?;
                if self.subqueries_around > 0 {
                    self.check_changed(&found)?;
                }
                let columns = source_columns(&found, &alias);
                let plan = self.locking_for(&alias, locking);
                self.tables.permit(&found, &alias, plan.is_some_and(|plan| plan.exclusive))?;
                self.used.push(Arc::clone(&found));
                let database = found.database.clone();
                let kind = SourceKind::Table(Box::new(TableSource::new(found, usable, plan)));
                self.add_source(database, alias, columns, kind, sources)
            }
            FoundTable::Virtual(found) => {
                let columns = found
                    .columns()
                    .into_iter()
                    .map(|column| SourceColumn {
                        name: column.name.into(),
                        data_type: column.data_type.clone(),
                        nullable: column.nullable,
                        collated: None,
                        origin: None,
                        is_hidden: false,
                    })
                    .collect();
                let database = database.or_else(|| self.tables.database().map(str::to_owned)).unwrap_or_default();
                self.add_source(database, alias, columns, SourceKind::Virtual(found), sources)
            }
        }
    }

    /// Error 1093: a subquery reads a table that the statement changes. One in a derived table may: its rows are kept.
    fn check_changed(&mut self, table: &KnownTable) -> Result<()> {
        let Some((_, alias)) = self.changed.iter().find(|(id, _)| *id == table.engine().id()) else { return Ok(()) };
        if self.derived_around == 0 {
            return Err(Error::new(ER_UPDATE_TABLE_USED, &[alias]));
        }
        self.reads_changed = true;
        Ok(())
    }

    fn locking_for(&self, alias: &str, locking: &[ast::Locking<'a>]) -> Option<LockingPlan> {
        let is_it = |clause: &&ast::Locking<'a>| {
            clause.tables.is_empty() || clause.tables.iter().any(|table| *table.name.text.0 == *alias.as_bytes())
        };
        let found = locking.iter().find(is_it);
        let clause = found.map(|found| LockingPlan {
            exclusive: found.exclusive,
            wait: found.wait,
            takes_all: false,
            passes_by: false,
        });
        clause.or_else(|| self.tables.default_locking())
    }

    fn common_table(&mut self, at: usize, alias: String, sources: &mut Vec<Source>) -> Result<Joined> {
        let CommonTable { definition, depth, is_recursive, recursion } = self.common[at].clone();
        match recursion {
            Recursion::Seeds => {
                let name = text_of(definition.name.text.0);
                return Err(Error::new(ER_CTE_RECURSIVE_REQUIRES_NONRECURSIVE_FIRST, &[&name]));
            }
            Recursion::Steps { working, columns, reads } => {
                reads.set(reads.get() + 1);
                let columns = columns
                    .iter()
                    .map(|column| SourceColumn {
                        name: text_of(&column.name).into(),
                        data_type: column.data_type.clone(),
                        nullable: true,
                        collated: column.collated,
                        origin: Some(Origin {
                            alias: alias.as_str().into(),
                            name: text_of(&column.name).into(),
                            ..Origin::nowhere()
                        }),
                        is_hidden: false,
                    })
                    .collect();
                return self.add_source(String::new(), alias, columns, SourceKind::Working(working), sources);
            }
            Recursion::None => {}
        }
        // It sees what was there when it was defined: the tables of WITH before it, and the blocks around. Those inside are
        // there, as rows around it will be, but nothing in them can be named.
        let inside = depth.min(self.blocks.len());
        let hidden: Vec<_> = self.blocks[inside..].iter_mut().map(|block| std::mem::take(&mut block.sources)).collect();
        let inner_common = self.common.split_off(if is_recursive { at + 1 } else { at });
        self.derived_around += 1;
        let plan = if is_recursive {
            self.recursive_table(at).map(|plan| (plan, Vec::new()))
        } else {
            self.derived_query(definition.query)
        };
        self.derived_around -= 1;
        for (block, sources) in self.blocks[inside..].iter_mut().zip(hidden) {
            block.sources = sources;
        }
        self.common.extend(inner_common);
        self.add_derived(plan?, definition.columns, alias, false, sources)
    }

    /// Binds a derived table's query: its plan, and its SELECTs before they were planned, if all of its rows come from those.
    fn derived_query(&mut self, query: &'a ast::Query<'a>) -> Result<(QueryPlan, Vec<BoundSelect>)> {
        let around = (std::mem::replace(&mut self.wants_unplanned, true), std::mem::take(&mut self.unplanned));
        let plan = self.query(query);
        let mut unplanned = std::mem::take(&mut self.unplanned);
        (self.wants_unplanned, self.unplanned) = around;
        let plan = plan?;
        if selects_of(&plan) != Some(unplanned.len()) {
            unplanned.clear();
        }
        Ok((plan, unplanned))
    }

    fn derived(&mut self, derived: &'a ast::Derived<'a>, sources: &mut Vec<Source>) -> Result<Joined> {
        self.derived_around += 1;
        let bound = self.derived_inside(derived, sources);
        self.derived_around -= 1;
        bound
    }

    fn derived_inside(&mut self, derived: &'a ast::Derived<'a>, sources: &mut Vec<Source>) -> Result<Joined> {
        if derived.query.into.is_some() {
            return Err(Error::new(ER_MISPLACED_INTO, &[]));
        }
        let Some(alias) = derived.alias else { return Err(Error::new(ER_DERIVED_MUST_HAVE_ALIAS, &[])) };
        let plan = if derived.lateral {
            let visible_from = self.blocks.last_mut().map(|block| std::mem::take(&mut block.visible_from));
            let plan = self.query(derived.query);
            if let (Some(block), Some(visible_from)) = (self.blocks.last_mut(), visible_from) {
                block.visible_from = visible_from;
            }
            (plan?, Vec::new())
        } else {
            // It does not see the tables beside it.
            let hidden = self.blocks.last_mut().map(|block| std::mem::take(&mut block.sources));
            let plan = self.derived_query(derived.query);
            if let (Some(block), Some(hidden)) = (self.blocks.last_mut(), hidden) {
                block.sources = hidden;
            }
            plan?
        };
        self.add_derived(plan, derived.columns, text_of(alias.text.0), derived.lateral, sources)
    }

    fn add_derived(
        &mut self,
        (plan, unplanned): (QueryPlan, Vec<BoundSelect>),
        names: ast::List<'a, ast::Identifier<'a>>,
        alias: String,
        is_lateral: bool,
        sources: &mut Vec<Source>,
    ) -> Result<Joined> {
        if !names.is_empty() && names.len() != plan.columns.len() {
            return Err(Error::new(ER_VIEW_WRONG_LIST, &[]));
        }
        let is_merged = is_merged(&plan);
        let columns = plan.columns.iter().enumerate().map(|(at, column)| {
            let name: Box<str> =
                names.get(at).map_or_else(|| text_of(&column.name), |name| text_of(name.text.0)).into();
            let origin = match &column.origin {
                Some(origin) if is_merged => Origin { alias: alias.as_str().into(), ..origin.clone() },
                // What is kept has a name if it was a column.
                Some(origin) if !origin.name.is_empty() => {
                    Origin { alias: alias.as_str().into(), name: name.clone(), ..Origin::nowhere() }
                }
                _ => Origin { alias: alias.as_str().into(), name: name.clone(), ..Origin::nowhere() },
            };
            let origin = (!is_merged || column.origin.is_some()).then_some(origin);
            let (data_type, nullable, collated) = (column.data_type.clone(), column.nullable, column.collated);
            SourceColumn { name, data_type, nullable, collated, origin, is_hidden: false }
        });
        let columns: Vec<SourceColumn> = columns.collect();
        for (at, column) in columns.iter().enumerate() {
            if columns[..at].iter().any(|other| same_name(&*other.name, &*column.name)) {
                return Err(Error::new(ER_DUP_FIELDNAME, &[&column.name]));
            }
        }
        let kind = SourceKind::derived(plan, is_lateral);
        let joined = self.add_source(String::new(), alias, columns, kind, sources)?;
        if let Some(source) = sources.last_mut() {
            source.unplanned = unplanned;
        }
        Ok(joined)
    }

    fn add_source(
        &mut self,
        database: String,
        alias: String,
        columns: Vec<SourceColumn>,
        kind: SourceKind,
        sources: &mut Vec<Source>,
    ) -> Result<Joined> {
        let block = self.blocks.last_mut().expect("a SELECT has a block");
        if block.sources.iter().any(|source| *source.alias == *alias && *source.database == *database) {
            return Err(Error::new(ER_NONUNIQ_TABLE, &[&alias]));
        }
        let (first_slot, width) = (block.width(), columns.len());
        let number = sources.len();
        let shown = (0..width).filter(|&at| !columns[at].is_hidden).map(|at| (number, at)).collect();
        let source = NamedSource {
            database: database.into(),
            alias: alias.into(),
            first_slot,
            columns,
            is_outer: false,
            merged: Vec::new(),
        };
        block.sources.push(source);
        sources.push(Source { kind, first_slot, width, ..Source::nothing() });
        Ok(Joined { tree: Tree::Source(number), columns: shown })
    }

    fn join(
        &mut self,
        join: &'a ast::Join<'a>,
        sources: &mut Vec<Source>,
        locking: &[ast::Locking<'a>],
    ) -> Result<Joined> {
        let begin = sources.len();
        let mut left = self.reference(&join.left, sources, locking)?;
        let middle = sources.len();
        let mut right = self.reference(&join.right, sources, locking)?;
        let end = sources.len();
        let mut conditions = Vec::new();
        if let ast::JoinCondition::On(condition) = &join.condition {
            let around = self.blocks.last_mut().map(|block| std::mem::replace(&mut block.visible_from, begin));
            let bound = self.condition(condition, Place::plain("on clause"));
            if let (Some(block), Some(around)) = (self.blocks.last_mut(), around) {
                block.visible_from = around;
            }
            conditions = bound?;
        }
        let is_right = join.kind == ast::JoinKind::Right;
        let is_merging = join.natural || matches!(join.condition, ast::JoinCondition::Using(_));
        let columns = if is_merging {
            // A RIGHT JOIN is a LEFT JOIN of the other two.
            let (first, second) = if is_right { (&mut right, &mut left) } else { (&mut left, &mut right) };
            let shared: Vec<Box<str>> = match &join.condition {
                ast::JoinCondition::Using(names) => names.iter().map(|name| text_of(name.text.0).into()).collect(),
                _ => self.shared_names(&first.columns, &second.columns),
            };
            let mut merged = Vec::new();
            for name in shared {
                let (column, condition) = self.merge_column(&name, &first.columns, &second.columns)?;
                conditions.push(condition);
                merged.push(column);
            }
            let firsts: Vec<_> = merged.iter().map(|(first, _)| *first).collect();
            let seconds: Vec<_> = merged.iter().map(|(_, second)| *second).collect();
            // In the order of the first table.
            let mut columns: Vec<_> = first.columns.iter().filter(|column| firsts.contains(column)).copied().collect();
            columns.extend(first.columns.iter().filter(|column| !firsts.contains(column)));
            columns.extend(second.columns.iter().filter(|column| !seconds.contains(column)));
            columns
        } else {
            left.columns.iter().chain(&right.columns).copied().collect()
        };
        let outer = match join.kind {
            ast::JoinKind::Inner | ast::JoinKind::Straight => None,
            ast::JoinKind::Left => Some(middle..end),
            ast::JoinKind::Right => Some(begin..middle),
        };
        let block = self.blocks.last_mut().expect("a SELECT has a block");
        if let Some(outer) = outer {
            block.sources[outer].iter_mut().for_each(|source| source.is_outer = true);
        }
        let (left, right) = (left.tree, right.tree);
        let tree = match join.kind {
            ast::JoinKind::Inner => Tree::Inner { inputs: vec![left, right], conditions, keeps_order: false },
            ast::JoinKind::Straight => Tree::Inner { inputs: vec![left, right], conditions, keeps_order: true },
            ast::JoinKind::Left => {
                Tree::Left { left: Box::new(left), right: Box::new(right), on: conditions, shows: Shows::All }
            }
            ast::JoinKind::Right => {
                Tree::Left { left: Box::new(right), right: Box::new(left), on: conditions, shows: Shows::All }
            }
        };
        Ok(Joined { tree, columns })
    }

    fn name_of(&self, (source, column): (usize, usize)) -> &str {
        let block = self.blocks.last().expect("a SELECT has a block");
        &block.sources[source].columns[column].name
    }

    fn shared_names(&self, first: &[(usize, usize)], second: &[(usize, usize)]) -> Vec<Box<str>> {
        let is_in = |name: &str| second.iter().any(|&at| same_name(self.name_of(at), name));
        first.iter().map(|&at| self.name_of(at)).filter(|name| is_in(name)).map(Box::from).collect()
    }

    /// Makes one of two columns of a name: they are equal, and the bare name means the first. Errors: 1054, 1052.
    #[allow(clippy::type_complexity)]
    fn merge_column(
        &mut self,
        name: &str,
        first: &[(usize, usize)],
        second: &[(usize, usize)],
    ) -> Result<(((usize, usize), (usize, usize)), Expr)> {
        let find = |columns: &[(usize, usize)]| -> Result<(usize, usize)> {
            let mut found = columns.iter().filter(|&&at| same_name(self.name_of(at), name));
            match (found.next(), found.next()) {
                (Some(&one), None) => Ok(one),
                (None, _) => Err(Error::new(ER_BAD_FIELD_ERROR, &[&name, &"from clause"])),
                _ => Err(Error::new(ER_NON_UNIQ_ERROR, &[&name, &"from clause"])),
            }
        };
        let (one, other) = (find(first)?, find(second)?);
        let block = self.blocks.last_mut().expect("a SELECT has a block");
        block.sources[other.0].merged.push(other.1);
        let mut side = |(source, at): (usize, usize)| {
            let found = &block.sources[source];
            let slot = (found.first_slot + at) as u32;
            let column = &found.columns[at];
            let expr = Expr::slot(slot, column.data_type.clone(), column.nullable || found.is_outer);
            block.used.insert(slot);
            expr
        };
        let condition = Expr::equal(side(one), side(other));
        Ok(((one, other), condition))
    }
}

/// A table's columns as names see them.
pub fn source_columns(table: &KnownTable, alias: &str) -> Vec<SourceColumn> {
    let columns = table.columns.iter().enumerate();
    columns
        .map(|(number, column)| SourceColumn {
            name: column.name.as_str().into(),
            data_type: column.data_type.clone(),
            nullable: column.nullable,
            collated: None,
            origin: Some(Origin {
                database: table.database.as_str().into(),
                alias: alias.into(),
                table: table.name.as_str().into(),
                column: number,
                name: column.name.as_str().into(),
                flags: flags_in_table(table, number, column),
            }),
            is_hidden: column.invisible,
        })
        .collect()
}

/// Whether a derived table is read as part of the query around it: then its columns are those of its tables.
fn is_merged(plan: &QueryPlan) -> bool {
    match &plan.body {
        Body::Select(select) => {
            select.group.is_none()
                && select.having.is_empty()
                && !select.distinct
                && plan.limit.is_none()
                && select.join.is_some()
        }
        _ => false,
    }
}
