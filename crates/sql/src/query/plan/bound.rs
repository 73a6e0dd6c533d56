//! A SELECT that has been bound and is to be planned.
//!
//! It can be changed in between: a derived table becomes a part of the query around it ([`crate::query::planner::merge`]), a condition on it is
//! asked inside of it ([`crate::query::planner::push`]), a query inside a condition is planned for one value more ([`crate::query::planner::decorrelate`]).

use std::collections::HashSet;

use super::join_tree::Tree;
use super::{GroupPlan, LimitPlan, SortKey, Source, SourceName};
use crate::expression::Expr;

/// What has been bound of it.
#[derive(Debug)]
pub struct BoundSelect {
    /// Its sources.
    pub sources: Vec<Source>,
    /// What they are called.
    pub names: Vec<SourceName>,
    /// How they are joined.
    pub tree: Option<Tree>,
    /// STRAIGHT_JOIN.
    pub keeps_order: bool,
    /// WHERE.
    pub conditions: Vec<Expr>,
    /// What is shown.
    pub items: Vec<Expr>,
    /// GROUP BY and aggregates.
    pub group: Option<GroupPlan>,
    /// HAVING.
    pub having: Vec<Expr>,
    /// ORDER BY.
    pub order: Vec<SortKey>,
    /// DISTINCT.
    pub distinct: bool,
    /// Nobody asks how often a row comes: it is a query of IN or EXISTS, or a side of a UNION, which shows each row once.
    pub is_set: bool,
    /// What it does not show is asked for, too: ON DUPLICATE KEY UPDATE may name any column of its tables.
    pub shows_all: bool,
    /// LIMIT.
    pub limit: Option<LimitPlan>,
    /// Slots of a row, those of aggregates too.
    pub width: usize,
    /// Slots that are named anywhere.
    pub used: HashSet<u32>,
    /// Slots that something other than WHERE names.
    pub named_beside_where: HashSet<u32>,
    /// The number under which ranges of its tables are known once it is planned.
    pub block: u32,
}

impl BoundSelect {
    /// One of nothing.
    pub fn nothing() -> Self {
        Self {
            sources: Vec::new(),
            names: Vec::new(),
            tree: None,
            keeps_order: false,
            conditions: Vec::new(),
            items: Vec::new(),
            group: None,
            having: Vec::new(),
            order: Vec::new(),
            distinct: false,
            is_set: false,
            shows_all: false,
            limit: None,
            width: 0,
            used: HashSet::new(),
            named_beside_where: HashSet::new(),
            block: 0,
        }
    }

    /// The same once more, to be planned otherwise; `None` if it reads anything but tables.
    pub fn copy(&self) -> Option<Self> {
        Some(Self {
            sources: self.sources.iter().map(Source::unplanned_copy).collect::<Option<_>>()?,
            names: self.names.clone(),
            tree: self.tree.clone(),
            keeps_order: self.keeps_order,
            conditions: self.conditions.clone(),
            items: self.items.clone(),
            group: self.group.clone(),
            having: self.having.clone(),
            order: self.order.clone(),
            distinct: self.distinct,
            is_set: self.is_set,
            shows_all: self.shows_all,
            limit: self.limit.clone(),
            width: self.width,
            used: self.used.clone(),
            named_beside_where: self.named_beside_where.clone(),
            block: self.block,
        })
    }

    /// Whether its rows are those of its tables that meet its conditions, one for one.
    pub fn shows_rows_as_they_are(&self) -> bool {
        self.tree.is_some() && self.group.is_none() && self.having.is_empty() && !self.distinct && !self.keeps_order
    }

    /// Calls with each expression of it.
    pub fn expressions<'b>(&'b self, f: &mut dyn FnMut(&'b Expr)) {
        self.conditions.iter().chain(&self.items).chain(&self.having).for_each(&mut *f);
        self.order.iter().for_each(|key| f(&key.value));
        self.group.iter().flat_map(GroupPlan::expressions).for_each(&mut *f);
        if let Some(tree) = &self.tree {
            tree.conditions(f);
        }
    }

    /// The same, to change them.
    pub fn expressions_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        self.conditions.iter_mut().chain(&mut self.items).chain(&mut self.having).for_each(&mut *f);
        self.order.iter_mut().for_each(|key| f(&mut key.value));
        self.group.iter_mut().flat_map(GroupPlan::expressions_mut).for_each(&mut *f);
        if let Some(tree) = &mut self.tree {
            tree.conditions_mut(f);
        }
    }
}

/// Notes the columns that an expression names, and those that queries inside of it look at.
pub fn name_columns(expr: &Expr, named: &mut HashSet<u32>) {
    expr.columns_looked_at(&mut |slot| named.extend([slot]));
}
