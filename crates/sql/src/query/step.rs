//! A step of a join: which input goes next.
//!
//! ```text
//!   rows there   1,000                 customer by its key     1 each, a tenth is wanted     rank -0.9     next
//!                                      nation by its key       1 each                              0
//!                                      item by order           4 each                              0.75
//!                                      region                  5, nothing joins it                        last
//! ```
//!
//! # Source
//! Rank, the rows that a step adds by what it costs: Ibaraki and Kameda, "On the Optimal Nesting Order for Computing N-Relational
//! Joins", ACM TODS 9 (1984).

use super::plan::Access;

/// Costs more than any table.
pub const LAST: f64 = f64::MAX / 4.0;

/// To look for the place of a row's key costs as much as to read this part of a row that is fetched.
const LOOK_UP: f64 = 0.5;

/// To run a query for a row costs at least as much as to read so many that are fetched.
const QUERY: f64 = 2.0;

/// What it takes to join an input to what is there, for each row of that.
pub struct Step {
    /// About how many rows are read, one that is fetched behind its entry counted more,
    pub cost: f64,
    /// and found.
    pub found: f64,
    /// How they are found, if it is a table.
    pub access: Option<Access>,
    /// Which part of them meets the conditions on it alone,
    pub share: f64,
    /// and which part of those what else is asked of it and of what is there, beside what finds it.
    pub meets: f64,
    /// What each costs by one that is looked up.
    pub each: f64,
    /// So many queries run for each row that is left.
    pub queries: usize,
    /// Whether an equality tells which of its rows belong to one of those that are there: not each is compared with each.
    pub has_key: bool,
    /// Whether a condition names it and something that is there.
    pub is_joined: bool,
}

impl Step {
    /// That of what is no table.
    pub fn of(cost: f64) -> Self {
        Self {
            cost,
            found: cost,
            access: None,
            share: 1.0,
            meets: 1.0,
            each: 1.0,
            queries: 0,
            has_key: true,
            is_joined: false,
        }
    }

    /// What it costs to join it to so many rows, looked up, those that lie beside each other counted less; and how many rows there are
    /// then.
    pub fn joined_to(&self, rows: f64) -> (f64, f64) {
        let depends = self.access.as_ref().is_some_and(|access| access.is_point || access.is_by_row());
        let is_point = self.access.as_ref().is_some_and(|access| access.is_point);
        let &Self { cost, found, share, meets, each, has_key, .. } = self;
        let looked_up = if is_point { cost } else { LOOK_UP + cost * each };
        // What does not depend on the rows before is read once, and kept (`hash`).
        let (cost, then) = match (depends, has_key) {
            (true, _) => (rows * looked_up, rows * found * share * meets),
            (false, true) => (cost * each + rows, rows.max(found * share)),
            (false, false) => (rows * cost * each, rows * found * share * meets),
        };
        (cost + self.cost_of_queries(then), then)
    }

    /// What it costs to run its queries for so many rows.
    pub fn cost_of_queries(&self, rows: f64) -> f64 {
        rows * self.queries as f64 * QUERY
    }

    /// Of what may be joined to so many rows, what has the lowest goes next: something that is joined, or a single row, before what
    /// is not; and then what adds the fewest rows for its cost.
    fn rank(&self, rows: f64) -> (u8, f64) {
        if self.cost >= LAST {
            return (2, 0.0);
        }
        if !self.is_joined && self.cost > 1.0 {
            return (1, self.cost);
        }
        let (cost, then) = self.joined_to(rows);
        (0, (then - rows) / cost.max(f64::MIN_POSITIVE))
    }
}

/// Which of these goes next, if there are so many rows; none yet, if there is nothing.
pub fn next_of<'s>(steps: impl Iterator<Item = &'s Step>, rows: Option<f64>) -> usize {
    match rows {
        None => cheapest(steps.map(|step| step.cost)),
        Some(rows) => {
            let ranks = steps.map(|step| step.rank(rows)).enumerate();
            let least = ranks.min_by(|(_, one), (_, other)| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
            least.map_or(0, |(at, _)| at)
        }
    }
}

/// The place of the least of some costs.
pub fn cheapest(costs: impl Iterator<Item = f64>) -> usize {
    let least = |best: (usize, f64), (at, cost)| if cost < best.1 { (at, cost) } else { best };
    costs.enumerate().fold((0, f64::INFINITY), least).0
}
