//! A join with a source whose rows are too many for memory: it is joined part by part.
//!
//! ```text
//!   a JOIN b, b in memory by its keys      all of a with b's first rows, all of a with the next, ...
//! ```
//!
//! # Invariants
//! 1. Rows come in no order that anybody asked for, and no outer join asks whether there is none. (Where the first row is enough, each part has
//!    one: there it does not matter how often a row comes.)
//! 2. None is locked, or rows are to be changed: another session may add rows to a table between its parts (READ COMMITTED), so
//!    that rows come twice, or some of these without others. For a change it is enough that each row that it keeps comes once.
//! 3. One source at a time has parts: of another one whose rows are too many all are read again for each row.
//!
//! # Source
//! Block nested loop join; Ramakrishnan and Gehrke, "Database Management Systems", chapter 14.

use std::cell::Cell;

use crate::query::plan::{Join, SelectPlan, Source};

/// Which part is joined.
#[derive(Default)]
pub struct Parts {
    /// The source that has parts, and how many of its rows are in those before this one.
    of: Cell<Option<(usize, usize)>>,
    /// How many are in those up to this one, if there are more.
    next: Cell<Option<usize>>,
}

impl Parts {
    /// How many of a source's rows are in the parts before this one.
    pub fn passed(&self, source: usize) -> usize {
        self.of.get().filter(|(of, _)| *of == source).map_or(0, |(_, passed)| passed)
    }

    /// Notes that up to this part there are so many of a source's rows, and that there are more. False if another source has parts.
    pub fn ends_at(&self, source: usize, read: usize) -> bool {
        let (of, passed) = self.of.get().unwrap_or((source, 0));
        if of == source {
            self.of.set(Some((of, passed)));
            self.next.set(Some(read));
        }
        of == source
    }

    /// Goes on to the next part. False if there is none.
    pub fn go_on(&self) -> bool {
        match (self.of.get(), self.next.take()) {
            (Some((of, _)), Some(read)) => {
                self.of.set(Some((of, read)));
                true
            }
            _ => false,
        }
    }
}

/// Whether a SELECT may be joined part by part.
pub fn may_have_parts(plan: &SelectPlan) -> bool {
    let changes = plan.sources.iter().any(|source| source.keeps_row.is_some());
    let locks = plan.sources.iter().any(Source::is_locked);
    !plan.is_ordered && (changes || !locks) && plan.join.as_ref().is_some_and(is_inner)
}

fn is_inner(join: &Join) -> bool {
    match join {
        Join::Source(_) => true,
        Join::Inner(joins) => joins.iter().all(is_inner),
        Join::Filter { input, .. } | Join::First(input) => is_inner(input),
        Join::Left { .. } => false,
    }
}
