//! The tables and columns that a query reads.

use meseta_parser::ast::{
    self, Expression, ExpressionKind as Kind, JoinCondition, Query, QueryBody, SelectItem, TableReference,
};

use super::collect::{Collector, Level, Named, text};
use super::{Extent, Requirement};
use crate::account::privilege::Privileges;

impl Collector<'_> {
    pub(super) fn with(&mut self, with: Option<&ast::With<'_>>) {
        for table in with.into_iter().flat_map(|with| with.tables.iter()) {
            let is_recursive = with.is_some_and(|with| with.recursive);
            if is_recursive {
                self.common.push(text(table.name.text.0));
            }
            self.query(table.query);
            if !is_recursive {
                self.common.push(text(table.name.text.0));
            }
        }
    }

    pub(super) fn query(&mut self, query: &Query<'_>) {
        let common = self.common.len();
        self.with(query.with);
        self.body(&query.body, query);
        if !matches!(query.body, QueryBody::Select(_) | QueryBody::Parenthesised(_)) {
            // Names are those of the result; queries in it are queries.
            self.levels.push(Level::default());
            self.order(query.order_by);
            self.levels.pop();
        }
        if let Some(into) = query.into
            && !matches!(into, ast::SelectInto::Variables(_))
        {
            self.one_of(&["FILE"], "FILE");
        }
        self.common.truncate(common);
    }

    pub(super) fn body(&mut self, body: &QueryBody<'_>, query: &Query<'_>) {
        if !self.goes_deeper() {
            return;
        }
        match body {
            QueryBody::Select(select) => self.select(select, query),
            QueryBody::Values(rows) => rows.iter().flat_map(|row| row.iter()).for_each(|value| self.expression(value)),
            QueryBody::Table(name) => {
                self.table(name, Privileges::SELECT, Extent::SomeColumn);
                self.table(name, Privileges::SELECT, Extent::EveryColumn);
            }
            QueryBody::SetOperation(operation) => {
                // ORDER BY names the columns of the result.
                let plain = Query { order_by: &[], ..*query };
                self.body(&operation.left, &plain);
                self.body(&operation.right, &plain);
            }
            QueryBody::Parenthesised(inner) => {
                // What is behind the parentheses may be about what is in them.
                let order: Vec<_> = inner.order_by.iter().chain(query.order_by).copied().collect();
                let locking = if inner.locking.is_empty() { query.locking } else { inner.locking };
                self.query(&Query { order_by: &order, locking, ..**inner });
            }
        }
    }

    pub(super) fn select(&mut self, select: &ast::Select<'_>, query: &Query<'_>) {
        let level = self.from(select.from);
        let everything = select.items.iter().any(|item| matches!(item, SelectItem::All));
        let mut whole: Vec<usize> = Vec::new();
        for named in &level.named {
            let is_whole = select.items.iter().any(|item| match item {
                SelectItem::AllOf(of) => named.alias.eq_ignore_ascii_case(&text(of.name.text.0)),
                _ => false,
            });
            whole.extend(named.table.filter(|_| everything || is_whole));
        }
        for clause in query.locking.iter().filter(|clause| clause.exclusive) {
            for named in &level.named {
                let is_meant = clause.tables.is_empty()
                    || clause.tables.iter().any(|table| named.alias.eq_ignore_ascii_case(&text(table.name.text.0)));
                if let Some(table) = named.table.filter(|_| is_meant) {
                    let privileges = Privileges::UPDATE.and(Privileges::DELETE).and(Privileges::LOCK_TABLES);
                    let extent = Extent::OneOf { columns: true, shown: "SELECT with locking clause" };
                    self.enough = self.enough.and(Privileges::UPDATE);
                    self.columns.push(Requirement::Table { table, privileges, extent, is_qualified: false });
                }
            }
        }
        for table in whole {
            self.whole(table, Privileges::SELECT);
        }
        self.levels.push(level);
        self.conditions(select.from);
        for item in select.items {
            if let SelectItem::Expression { expression, alias, .. } = item {
                self.expression(expression);
                let alias = alias.map(|alias| text(alias.0));
                let Some(level) = self.levels.last_mut() else { continue };
                level.aliases.extend(alias);
            }
        }
        self.optional(select.condition.as_ref());
        self.aliased(select.group_by.iter().flat_map(|group| group.items.iter().map(|item| &item.expression)));
        self.aliased(select.having.iter());
        for (_, window) in select.windows {
            self.window(window);
        }
        self.optional(select.qualify.as_ref());
        self.aliased(query.order_by.iter().map(|item| &item.expression));
        self.levels.pop();
    }

    /// Expressions in which an alias may stand by itself.
    pub(super) fn aliased<'e>(&mut self, expressions: impl Iterator<Item = &'e Expression<'e>>) {
        for expression in expressions {
            match expression.kind {
                Kind::Column(name) => self.column(name, Privileges::SELECT, true),
                _ => self.walk(expression, true),
            }
        }
    }

    /// All columns of a table.
    pub(super) fn whole(&mut self, table: usize, privileges: Privileges) {
        let requirement = Requirement::Table { table, privileges, extent: Extent::EveryColumn, is_qualified: false };
        self.enough = self.enough.and(privileges);
        if !self.columns.contains(&requirement) {
            self.columns.push(requirement);
        }
    }

    /// The sources of FROM. Their conditions come when all are known: [`Collector::conditions`].
    pub(super) fn from(&mut self, references: &[TableReference<'_>]) -> Level {
        let mut level = Level::default();
        references.iter().for_each(|reference| self.source(reference, &mut level));
        level
    }

    pub(super) fn source(&mut self, reference: &TableReference<'_>, level: &mut Level) {
        if !self.goes_deeper() {
            return;
        }
        match reference {
            TableReference::Table(table) => {
                let alias = text(table.alias.map_or(table.name.name, |alias| alias).text.0);
                let table = self.table(&table.name, Privileges::SELECT, Extent::SomeColumn);
                level.named.push(Named { alias, table });
            }
            TableReference::Derived(derived) => {
                if derived.lateral {
                    self.levels.push(std::mem::take(level));
                    self.query(derived.query);
                    *level = self.levels.pop().unwrap_or_default();
                } else {
                    self.query(derived.query);
                }
                if let Some(alias) = derived.alias {
                    level.named.push(Named { alias: text(alias.text.0), table: None });
                }
            }
            TableReference::Join(join) => {
                self.source(&join.left, level);
                self.source(&join.right, level);
            }
            TableReference::Parenthesised(all) => all.iter().for_each(|one| self.source(one, level)),
            TableReference::JsonTable(table) => {
                self.levels.push(std::mem::take(level));
                self.expression(&table.document);
                *level = self.levels.pop().unwrap_or_default();
                if let Some(alias) = table.alias {
                    level.named.push(Named { alias: text(alias.text.0), table: None });
                }
            }
        }
    }

    /// ON. (Of the columns of USING and NATURAL nothing is asked, as in MySQL.)
    pub(super) fn conditions(&mut self, references: &[TableReference<'_>]) {
        let mut left: Vec<&TableReference<'_>> = references.iter().collect();
        while let Some(next) = left.pop() {
            match next {
                TableReference::Join(join) => {
                    left.extend([&join.left, &join.right]);
                    if let JoinCondition::On(condition) = &join.condition {
                        self.expression(condition);
                    }
                }
                TableReference::Parenthesised(all) => left.extend(all.iter()),
                _ => {}
            }
        }
    }
}
