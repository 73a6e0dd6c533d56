//! Which of a table's indexes a query may use: those that are visible, and that USE, FORCE and IGNORE INDEX leave.
//!
//! ```text
//!   USE INDEX (i)          of all indexes i only; USE INDEX () none
//!   IGNORE INDEX (i)       not i
//!   FORCE INDEX (i)        i only, and before the whole table
//!   .. FOR JOIN, FOR ORDER BY, FOR GROUP BY     where that is what it is for; everywhere without
//! ```
//!
//! # Source
//! The manual, "Index Hints", "Invisible Indexes".

use meseta_errors::{ER_KEY_DOES_NOT_EXITS, ER_WRONG_USAGE};
use meseta_parser::ast::{IndexHint, IndexHintAction, IndexHintScope};

use super::table::KnownTable;
use crate::error::{Error, Result};
use crate::name::text_of;
use crate::schema::Index;

/// Some of a table's indexes, by the engine's numbers. A table has 64 at the most, and that of its rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct IndexSet(u128);

impl IndexSet {
    fn of(index: &Index) -> Self {
        Self(u32::try_from(index.position).ok().and_then(|number| 1_u128.checked_shl(number)).unwrap_or(0))
    }

    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    fn has(self, number: usize) -> bool {
        u32::try_from(number).ok().and_then(|number| self.0.checked_shr(number)).is_some_and(|bits| bits & 1 == 1)
    }
}

/// The indexes that may be used for something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Usable {
    indexes: IndexSet,
    /// FORCE INDEX: one of them, if any can be used.
    pub is_forced: bool,
}

impl Usable {
    /// Whether this one may, by its number.
    pub fn has(self, number: usize) -> bool {
        self.indexes.has(number)
    }
}

/// The indexes that a query may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UsableIndexes {
    /// To find rows.
    pub for_rows: Usable,
    /// To have them in order.
    pub for_order: Usable,
    /// To have groups one after the other.
    pub for_groups: Usable,
}

impl UsableIndexes {
    /// All that hints leave of a table's. Errors: 1176 (no such index), 1221 (USE and FORCE do not go together).
    pub fn new(hints: &[IndexHint<'_>], table: &KnownTable, alias: &str) -> Result<Self> {
        let mut named = Vec::with_capacity(hints.len());
        for hint in hints {
            let mut indexes = IndexSet::default();
            for name in hint.indexes.iter() {
                let name = text_of(name.text.0);
                let index = index_named(table, &name);
                let index = index.ok_or_else(|| Error::new(ER_KEY_DOES_NOT_EXITS, &[&name, &alias]))?;
                indexes = indexes.or(IndexSet::of(index));
            }
            named.push((hint, indexes));
        }
        let has = |action| hints.iter().any(|hint| hint.action == action);
        if has(IndexHintAction::Use) && has(IndexHintAction::Force) {
            return Err(Error::new(ER_WRONG_USAGE, &[&"USE INDEX", &"FORCE INDEX"]));
        }
        let visible = visible(table).map(IndexSet::of).fold(IndexSet::default(), IndexSet::or);
        let usable = |scope: IndexHintScope| {
            let of_scope = || named.iter().filter(|(hint, _)| hint.scope == scope || hint.scope == IndexHintScope::All);
            let (mut only, mut ignored, mut is_forced) = (None::<IndexSet>, IndexSet::default(), false);
            for (hint, indexes) in of_scope() {
                is_forced |= hint.action == IndexHintAction::Force;
                match hint.action {
                    IndexHintAction::Ignore => ignored = ignored.or(*indexes),
                    IndexHintAction::Use | IndexHintAction::Force => {
                        only = Some(only.unwrap_or_default().or(*indexes));
                    }
                }
            }
            Usable { indexes: only.unwrap_or(visible).without(ignored), is_forced }
        };
        Ok(Self {
            for_rows: usable(IndexHintScope::Join),
            for_order: usable(IndexHintScope::OrderBy),
            for_groups: usable(IndexHintScope::GroupBy),
        })
    }
}

fn visible(table: &KnownTable) -> impl Iterator<Item = &Index> {
    table.indexes.iter().filter(|index| !index.invisible)
}

/// The index of this name. It may be cut short, as long as one index alone begins with it.
fn index_named<'t>(table: &'t KnownTable, name: &str) -> Option<&'t Index> {
    let begins = |index: &&Index| index.name.get(..name.len()).is_some_and(|front| front.eq_ignore_ascii_case(name));
    let exactly = visible(table).find(|index| index.name.eq_ignore_ascii_case(name));
    exactly.or_else(|| {
        let mut beginning = visible(table).filter(begins);
        beginning.next().filter(|_| beginning.next().is_none())
    })
}
