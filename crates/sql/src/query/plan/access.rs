//! How a table's rows are found: by which index, and between which of its entries.

use meseta_engine::Direction;
use meseta_engine::table::TableDefinition;

use crate::expression::{Comparer, ComparisonOperator, Expr, InSubquery, Like};

/// A value that is looked for in an index.
#[derive(Clone, Debug)]
pub enum Lookup {
    /// Rows whose column compares as equal, or as less or greater where it is a bound.
    Value {
        /// The value: of the row so far, or constant.
        value: Expr,
        /// How the column is compared with it.
        comparer: Comparer,
    },
    /// The same, where NULL is equal to NULL.
    Same {
        /// The value.
        value: Expr,
        /// How the column is compared with it.
        comparer: Comparer,
    },
    /// Rows whose column is NULL.
    Null,
    /// Rows whose column begins as a pattern does, before its first wildcard. It is both bounds of a stretch.
    Beginning(Box<Like>),
    /// Rows whose column is equal to one of the values of a query. It is the first of a stretch's.
    EachOf(Box<InSubquery>),
}

impl Lookup {
    /// The value; none of NULL.
    pub fn value(&self) -> Option<&Expr> {
        match self {
            Lookup::Value { value, .. } | Lookup::Same { value, .. } => Some(value),
            Lookup::Beginning(like) => Some(&like.pattern),
            Lookup::Null | Lookup::EachOf(_) => None,
        }
    }

    /// The query whose values are looked for.
    pub fn query(&self) -> Option<&InSubquery> {
        if let Lookup::EachOf(inside) = self { Some(inside) } else { None }
    }

    /// Whether it depends on the rows of sources before.
    pub fn is_by_row(&self) -> bool {
        self.value().is_some_and(Expr::looks_at_columns)
    }

    /// Whether a query has to run before it is known.
    pub fn runs_query(&self) -> bool {
        matches!(self, Lookup::EachOf(_)) || self.value().is_some_and(Expr::has_subquery)
    }
}

/// A part of an index: what its columns behind those of [`Access::equal`] are.
#[derive(Clone, Debug, Default)]
pub struct Stretch {
    /// Values of the columns that come next.
    pub equal: Vec<Lookup>,
    /// From where on, in the column behind those: the value, and whether it is included.
    pub low: Option<(Lookup, bool)>,
    /// To where.
    pub high: Option<(Lookup, bool)>,
}

/// Some of a source's conditions, by their numbers. Those behind the first 64 are in no set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ConditionSet(u64);

impl ConditionSet {
    /// With one more.
    pub fn insert(&mut self, number: usize) {
        self.0 |= u32::try_from(number).ok().and_then(|number| 1_u64.checked_shl(number)).unwrap_or(0);
    }

    /// Whether it is in the set.
    pub fn has(self, number: usize) -> bool {
        number < 64 && self.0 >> number & 1 == 1
    }

    /// Whether the first so many are all in the set.
    pub fn has_first(self, count: usize) -> bool {
        self.0.trailing_ones() as usize >= count
    }
}

/// Of all entries that are the same in an index's first columns the first is read, the way that the index is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LooseScan {
    /// So many columns.
    pub parts: usize,
    /// The last is as well.
    pub shows_both_ends: bool,
    /// What is asked of the column behind those is what the bounds say: where they turn out to be wider, all entries are read.
    pub trusts_bounds: bool,
    /// That column, if the first entry in which it is not NULL is to be read too: those with NULL come first, as entries of their own.
    pub passes_null: Option<u16>,
}

/// One of the operands of an OR, each of which has its rows found by an index.
#[derive(Clone, Debug)]
pub struct UnionOperand {
    /// The operand. A row of which one before it is true has been found by that.
    pub condition: Expr,
    /// How the rows are found of which it is true.
    pub access: Access,
}

/// How a table's rows are found.
#[derive(Clone, Debug)]
pub struct Access {
    /// The number of the index; 0 has the rows.
    pub index: usize,
    /// Values of its first columns.
    pub equal: Vec<Lookup>,
    /// The columns behind them are one of these: IN, OR. Then there are no bounds.
    pub any_of: Vec<Stretch>,
    /// So many columns may have any value: of the entries with each of their values those within the bounds are read. Then nothing else is
    /// said of the index's columns.
    pub skips: usize,
    /// From where on, in the column behind those: the value, and whether it is included.
    pub low: Option<(Lookup, bool)>,
    /// To where.
    pub high: Option<(Lookup, bool)>,
    /// OR of several indexes: the rows that each finds. Then there is nothing else.
    pub union: Vec<UnionOperand>,
    /// Which way.
    pub direction: Direction,
    /// Of rows that are the same in the index's first columns not all are read.
    pub loose: Option<LooseScan>,
    /// `equal`, with each of `any_of`, names every column of a unique index: at most one row each.
    pub is_point: bool,
    /// Of the source's conditions, those that say no more than `equal`, `any_of`, `low` and `high`.
    pub implied: ConditionSet,
}

impl Access {
    /// Whether one row at most is read, or entry of a unique index: that whose key `equal` is.
    pub fn is_one_point(&self) -> bool {
        self.is_point && self.any_of.is_empty()
    }

    /// Whether what a condition asks is looked for: by the beginnings of texts, it may be, so that it is asked still, though few rows that
    /// are found do not meet it.
    pub fn looks_for(&self, condition: &Expr, table: &TableDefinition, first_slot: usize) -> bool {
        let parts = &table.indexes[self.index].parts;
        let is_part = |slot: u32| {
            parts.iter().take(self.equal.len()).any(|part| first_slot + usize::from(part.column) == slot as usize)
        };
        condition.as_comparisons().any(|found| found.operator == ComparisonOperator::Equal && is_part(found.column))
    }

    /// All values that are looked for, bounds too.
    pub fn lookups(&self) -> impl Iterator<Item = &Lookup> {
        self.steps().flat_map(|(access, _)| {
            let stretches = access.any_of.iter().flat_map(|stretch| {
                stretch.equal.iter().chain(stretch.low.iter().chain(&stretch.high).map(|(lookup, _)| lookup))
            });
            access.equal.iter().chain(stretches).chain(access.low.iter().chain(&access.high).map(|(lookup, _)| lookup))
        })
    }

    /// Whether what is looked for depends on the rows of sources before.
    pub fn is_by_row(&self) -> bool {
        self.lookups().any(Lookup::is_by_row)
    }

    /// Whether rows of sources before tell where it begins, or ends, and nothing else of them: it finds a good part of all rows for each.
    pub fn is_open_by_row(&self) -> bool {
        let by_row = |bound: &Option<(Lookup, bool)>| bound.as_ref().is_some_and(|(lookup, _)| lookup.is_by_row());
        let has_other = self.low.is_some() && self.high.is_some() || self.equal.iter().any(Lookup::is_by_row);
        (by_row(&self.low) || by_row(&self.high)) && !has_other
    }

    /// Those by which rows are found, one after the other: itself, or those of a union; and the operands up to each.
    pub fn steps(&self) -> impl Iterator<Item = (&Access, &[UnionOperand])> {
        let own: Option<(&Access, &[UnionOperand])> = self.union.is_empty().then_some((self, &[]));
        let operands = self.union.iter().enumerate();
        own.into_iter().chain(operands.map(|(number, operand)| (&operand.access, &self.union[..=number])))
    }

    /// Whether it finds rows in one stretch of one index: they come in its order.
    pub fn is_one_stretch(&self) -> bool {
        self.any_of.is_empty() && self.union.is_empty() && self.skips == 0
    }

    /// Whether it finds all rows.
    pub fn is_whole(&self) -> bool {
        self.is_one_stretch() && self.equal.is_empty() && self.low.is_none() && self.high.is_none()
    }

    /// All rows, as they are.
    pub fn all() -> Self {
        Self {
            index: 0,
            equal: Vec::new(),
            any_of: Vec::new(),
            low: None,
            high: None,
            union: Vec::new(),
            direction: Direction::Ascending,
            loose: None,
            skips: 0,
            is_point: false,
            implied: ConditionSet::default(),
        }
    }
}
