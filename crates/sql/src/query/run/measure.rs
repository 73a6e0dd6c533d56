//! What EXPLAIN ANALYZE measures: how often each source was read, how many rows it showed, how long that took.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::inside::Running;
use super::{Flow, Sink};
use crate::error::Result;
use crate::query::plan::Source;

/// What an operation did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measure {
    /// How often it began.
    pub loops: u64,
    /// Rows of all loops.
    pub rows: u64,
    /// Until the first row, of all loops: what it did itself.
    pub first: Duration,
    /// Until the last.
    pub last: Duration,
}

/// A duration in milliseconds, with three digits that count.
fn milliseconds(duration: Duration, loops: u64) -> String {
    let value = duration.as_secs_f64() * 1e3 / loops.max(1) as f64;
    let decimals = match value {
        value if value >= 100.0 => 0,
        value if value >= 10.0 => 1,
        value if value >= 1.0 => 2,
        value if value >= 0.1 => 3,
        _ => 4,
    };
    format!("{value:.decimals$}")
}

impl Measure {
    /// `(actual time=0.03..0.04 rows=2 loops=1)`, per loop as MySQL counts.
    pub fn text(&self) -> String {
        if self.loops == 0 {
            return "(never executed)".to_owned();
        }
        let rows = self.rows as f64 / self.loops as f64;
        let rows = if rows == rows.round() { format!("{rows}") } else { format!("{rows:.2}") };
        let (first, last) = (milliseconds(self.first, self.loops), milliseconds(self.last, self.loops));
        format!("(actual time={first}..{last} rows={rows} loops={})", self.loops)
    }

    /// The same as members of a JSON object.
    pub fn json(&self) -> Vec<String> {
        let loops = self.loops.max(1) as f64;
        vec![
            format!("\"actual_rows\": {:?}", self.rows as f64 / loops),
            format!("\"actual_loops\": {}", self.loops),
            format!("\"actual_last_row_ms\": {:?}", self.last.as_secs_f64() * 1e3 / loops),
            format!("\"actual_first_row_ms\": {:?}", self.first.as_secs_f64() * 1e3 / loops),
        ]
    }
}

/// What each source of a statement did: sources by their places in the plan, which does not move while it runs.
#[derive(Default)]
pub struct Measures(RefCell<HashMap<usize, Measure>>);

impl Measures {
    fn key(source: &Source) -> usize {
        std::ptr::from_ref(source) as usize
    }

    /// What a source did.
    pub fn of(&self, source: &Source) -> Measure {
        self.0.borrow().get(&Self::key(source)).copied().unwrap_or_default()
    }

    /// Measures one reading of a source: what it does itself, without those to whom it shows rows.
    pub fn measure(
        &self,
        source: &Source,
        running: &mut Running<'_>,
        sink: &mut Sink<'_>,
        read: impl FnOnce(&mut Running<'_>, &mut Sink<'_>) -> Result<Flow>,
    ) -> Result<Flow> {
        let (mut own, mut since) = (Duration::ZERO, Instant::now());
        let (mut rows, mut first) = (0, None);
        let flow = read(running, &mut |running, row| {
            own += since.elapsed();
            rows += 1;
            first.get_or_insert(own);
            let flow = sink(running, row);
            since = Instant::now();
            flow
        });
        own += since.elapsed();
        let mut all = self.0.borrow_mut();
        let measure = all.entry(Self::key(source)).or_default();
        measure.loops += 1;
        measure.rows += rows;
        measure.first += first.unwrap_or(own);
        measure.last += own;
        flow
    }
}
