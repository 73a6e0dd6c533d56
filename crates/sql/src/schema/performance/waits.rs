//! Where threads waited, how often and how long, by MySQL's kind of names.
//!
//! ```text
//! storage: io/data/read       -> wait/io/file/innodb/innodb_data_file (read)
//! storage: latch/..           -> wait/synch/sxlock/innodb/..
//! engine:  lock/record        -> wait/lock/row/innodb/record
//! ```
//! TRUNCATE of the table sets all to zero. Times are in picoseconds.

use std::time::Duration;

use meseta_storage::WaitEvent;

use super::SystemTable;
use crate::schema::information::{Cell, View};
use crate::session::SessionFacts;

/// The name of a wait of the store's.
pub(super) fn event_name(event: WaitEvent) -> &'static str {
    match event {
        WaitEvent::LatchTree => "wait/synch/sxlock/innodb/tree_page_latch",
        WaitEvent::LatchSpaceMap => "wait/synch/sxlock/innodb/space_map_page_latch",
        WaitEvent::LatchSpace => "wait/synch/mutex/innodb/space_mutex",
        WaitEvent::LatchCleaner => "wait/synch/mutex/innodb/page_cleaner_mutex",
        WaitEvent::PageLoad => "wait/synch/cond/innodb/page_load_cond",
        WaitEvent::DataRead => "wait/io/file/innodb/innodb_data_file/read",
        WaitEvent::DataWrite => "wait/io/file/innodb/innodb_data_file/write",
        WaitEvent::DataSync => "wait/io/file/innodb/innodb_data_file/sync",
        WaitEvent::DataExtend => "wait/io/file/innodb/innodb_data_file/extend",
        WaitEvent::DoublewriteWrite => "wait/io/file/innodb/innodb_dblwr_file/write",
        WaitEvent::DoublewriteSync => "wait/io/file/innodb/innodb_dblwr_file/sync",
        WaitEvent::LogWrite => "wait/io/file/innodb/innodb_log_file/write",
        WaitEvent::LogSync => "wait/io/file/innodb/innodb_log_file/sync",
        WaitEvent::ControlSync => "wait/io/file/innodb/control_file/sync",
        WaitEvent::FrameFree => "wait/synch/cond/innodb/buffer_free_page_cond",
        WaitEvent::LogBufferSpace => "wait/synch/cond/innodb/log_buffer_space_cond",
        WaitEvent::LogCapacity => "wait/synch/cond/innodb/log_capacity_cond",
        WaitEvent::LogWritten => "wait/synch/cond/innodb/log_written_cond",
        WaitEvent::LogDurable => "wait/synch/cond/innodb/log_durable_cond",
    }
}

/// All waits: name, how often, how long.
pub(super) fn all(session: &SessionFacts) -> Vec<(String, u64, Duration)> {
    let instance = &session.instance;
    let before = instance.waits_before().locks;
    let store = instance.engine.store().wait_events();
    let mut all: Vec<_> =
        store.into_iter().map(|figures| (event_name(figures.event).to_owned(), figures.count, figures.total)).collect();
    for (at, figures) in instance.engine.lock_wait_totals().into_iter().enumerate() {
        let (count, total) = before.get(at).copied().unwrap_or_default();
        let kind = figures.kind.name().trim_start_matches("lock/");
        let name = match kind {
            "table" => "wait/lock/table/innodb/table".to_owned(),
            kind => format!("wait/lock/row/innodb/{kind}"),
        };
        all.push((name, figures.count.saturating_sub(count), figures.total.saturating_sub(total)));
    }
    all.sort_unstable();
    all
}

fn picoseconds(time: Duration) -> Cell {
    Cell::Unsigned(u64::try_from(time.as_nanos().saturating_mul(1000)).unwrap_or(u64::MAX))
}

pub(super) fn by_event_name(table: &SystemTable, session: &SessionFacts, _: &View<'_>) -> Vec<Vec<Cell>> {
    let row = |(name, count, total): (String, u64, Duration)| {
        let average = u32::try_from(count).ok().and_then(|count| total.checked_div(count)).unwrap_or_default();
        table.row(&[
            ("EVENT_NAME", Cell::text(name)),
            ("COUNT_STAR", Cell::Unsigned(count)),
            ("SUM_TIMER_WAIT", picoseconds(total)),
            ("AVG_TIMER_WAIT", picoseconds(average)),
        ])
    };
    all(session).into_iter().map(row).collect()
}
