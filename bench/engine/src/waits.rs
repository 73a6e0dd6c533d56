//! Where threads have waited: the store's places and the lock table's, side by side.
//!
//! The engine counts a wait when it ends. A cell's waits are therefore read when all its threads have ended, and compared
//! with the time that these threads were at work, until each ended.
//!
//! What is not seen here: short mutexes without a name, and threads that yield in turns. They show as context switches.

use std::collections::BTreeMap;
use std::time::Duration;

use meseta_engine::Engine;
use meseta_storage::WaitEvent;
use serde::Serialize;

use crate::workload::Workload;

/// Above this share of its threads' time a wait is too much.
pub const TOO_MUCH: f64 = 0.05;

/// Whose wait it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// A worker's.
    Worker,
    /// For the log to be written or flushed: a worker's, or of the log's own thread.
    Log,
    /// A worker's, for a lock.
    Lock,
    /// Of a thread of the store's own. Workers that wait for its work have a place of their own.
    Background,
}

/// Waits of one name.
#[derive(Clone, Debug, Serialize)]
pub struct Wait {
    /// What was waited for.
    pub name: String,
    /// Whose wait it was.
    pub side: Side,
    /// How often.
    pub count: u64,
    /// How long, all together.
    pub seconds: f64,
    /// Their part of the workers' time.
    pub share: f64,
}

impl Wait {
    /// Whether it is more than there should be: hot rows are waited for, and the log, and nothing else.
    pub fn is_too_much(&self, workload: Workload) -> bool {
        let is_expected = match self.side {
            Side::Worker => false,
            Side::Log | Side::Background => true,
            Side::Lock => workload == Workload::Hot,
        };
        self.share > TOO_MUCH && !is_expected
    }
}

/// All waits so far.
pub struct Waits(BTreeMap<(String, Side), (u64, Duration)>);

impl Waits {
    /// Those that have ended by now.
    pub fn of(engine: &Engine) -> Self {
        let mut waits = BTreeMap::new();
        for figures in engine.store().wait_events() {
            waits.insert((figures.event.name().to_owned(), side(figures.event)), (figures.count, figures.total));
        }
        for lock in engine.lock_waits() {
            let name = format!("{} {}", lock.figures.kind.name(), lock.index.unwrap_or(lock.table));
            let (count, total) = waits.entry((name, Side::Lock)).or_default();
            *count += lock.figures.count;
            *total += lock.figures.total;
        }
        Waits(waits)
    }

    /// Those since an earlier moment, the longest first.
    pub fn since(self, before: &Waits, thread_time: Duration) -> Vec<Wait> {
        let mut since: Vec<_> = self
            .0
            .into_iter()
            .filter_map(|(place, (count, total))| {
                let (count_before, total_before) = before.0.get(&place).copied().unwrap_or_default();
                let seconds = (total - total_before).as_secs_f64();
                let share = seconds / thread_time.as_secs_f64();
                let (name, side) = place;
                (count > count_before).then(|| Wait { name, side, count: count - count_before, seconds, share })
            })
            .collect();
        since.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
        since
    }
}

fn side(event: WaitEvent) -> Side {
    match event {
        // Who commits may write and flush the log itself, for others too.
        WaitEvent::LogWritten | WaitEvent::LogDurable | WaitEvent::LogWrite | WaitEvent::LogSync => Side::Log,
        // (A page cleaner's latch is another turn of the cleaner's, or a checkpoint.)
        WaitEvent::LatchCleaner
        | WaitEvent::DataWrite
        | WaitEvent::DataSync
        | WaitEvent::DoublewriteWrite
        | WaitEvent::DoublewriteSync
        | WaitEvent::ControlSync => Side::Background,
        _ => Side::Worker,
    }
}
