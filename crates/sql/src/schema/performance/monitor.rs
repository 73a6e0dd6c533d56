//! SHOW ENGINE INNODB STATUS and MUTEX: the engine in the sections that tools look for.
//!
//! The figures that mean nothing here (an insert buffer, an adaptive hash index) are left out with their sections.

use std::fmt::Write as _;

use meseta_types::{DataType, Datum};

use super::locks::open_transactions;
use super::{SystemTable, waits};
use crate::schema::information::{Cell, View};
use crate::session::{Counter, SessionFacts, clock};

const PAGE_BYTES: u64 = 16 << 10;

fn time_text(micros: i64, session: &SessionFacts) -> String {
    let zone = &session.variables.settings().time_zone;
    let mut text = Vec::new();
    if let Some(local) = zone.from_utc(micros.div_euclid(1_000_000), 0) {
        DataType::DateTime { decimals: 0 }.append_text(Datum::DateTime(local, 0), &mut text);
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// The text of SHOW ENGINE INNODB STATUS.
pub fn engine_status(session: &SessionFacts) -> String {
    let mut out = String::new();
    // Writing to a String does not fail.
    let _ = write_status(session, &mut out);
    out
}

fn heading(out: &mut String, text: &str) -> std::fmt::Result {
    let line = "-".repeat(text.len());
    writeln!(out, "{line}\n{text}\n{line}")
}

fn write_status(session: &SessionFacts, out: &mut String) -> std::fmt::Result {
    let engine = &session.instance.engine;
    let store = engine.store();
    let figures = store.figures();
    let line = "=".repeat(37);
    writeln!(out, "\n{line}\n{} 0 INNODB MONITOR OUTPUT\n{line}", time_text(clock(), session))?;
    let uptime = session.instance.server().map_or(0, |server| server.figures().uptime_seconds).max(1);
    writeln!(out, "Per second averages calculated from the last {uptime} seconds")?;

    heading(out, "SEMAPHORES")?;
    let all = waits::all(session);
    let latches: u64 = all.iter().filter(|(name, ..)| name.starts_with("wait/synch")).map(|(_, count, _)| count).sum();
    writeln!(out, "OS WAIT ARRAY INFO: reservation count {latches}\nOS WAIT ARRAY INFO: signal count {latches}")?;

    if let Some(deadlock) = engine.last_deadlock() {
        let at = deadlock.at.duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_micros() as i64;
        let text = deadlock.to_string();
        // The moment stands between the heading and the first transaction.
        let mut lines = text.splitn(4, '\n');
        for line in lines.by_ref().take(3) {
            writeln!(out, "{line}")?;
        }
        writeln!(out, "{} 0", time_text(at, session))?;
        out.push_str(lines.next().unwrap_or(""));
    }

    heading(out, "TRANSACTIONS")?;
    let open = open_transactions(session);
    let next = open.iter().map(|open| open.id).max().unwrap_or(0).max(engine.next_transaction());
    writeln!(out, "Trx id counter {next}")?;
    writeln!(out, "Purge done for trx's n:o < {next} undo n:o < 0 state: running but idle")?;
    writeln!(out, "History list length {}", engine.unpurged())?;
    writeln!(out, "LIST OF TRANSACTIONS FOR EACH SESSION:")?;
    let processes = session.instance.server().map(crate::session::Connections::processes).unwrap_or_default();
    for transaction in &open {
        let shared = &transaction.session;
        let seconds = (clock() - shared.counters.transaction_since()).max(0) / 1_000_000;
        let process = processes.iter().find(|process| process.id == shared.connection);
        let state = process.map_or("", |process| process.state);
        writeln!(out, "---TRANSACTION {}, ACTIVE {seconds} sec {state}", transaction.id)?;
        let waits = transaction.locks.iter().find(|lock| lock.waits);
        if waits.is_some() {
            write!(out, "LOCK WAIT ")?;
        }
        let rows = transaction.locks.iter().map(|lock| lock.locked.rows()).sum::<u64>();
        write!(out, "{} lock struct(s), heap size 1128, {rows} row lock(s)", transaction.locks.len())?;
        match shared.canceller.rows_changed() {
            0 => writeln!(out)?,
            changed => writeln!(out, ", undo log entries {changed}")?,
        }
        if let Some(process) = process {
            let (id, host, user) = (process.id, &process.host, &process.user);
            writeln!(out, "MySQL thread id {id}, OS thread handle 0, query id 0 {host} {user} {state}")?;
            if let Some(info) = &process.info {
                writeln!(out, "{}", String::from_utf8_lossy(info))?;
            }
        }
        if let Some(lock) = waits {
            let line = "-".repeat(7);
            writeln!(out, "{line} TRX HAS BEEN WAITING FOR THIS LOCK TO BE GRANTED:\n{lock}\n{}", "-".repeat(18))?;
        }
    }

    heading(out, "FILE I/O")?;
    let reads = figures.pool.reads;
    let writes = figures.cleaner.pages_written + figures.log.writes;
    writeln!(out, "{reads} OS file reads, {writes} OS file writes, {} OS fsyncs", figures.log.flushes)?;
    let second = |count: u64| count as f64 / uptime as f64;
    writeln!(
        out,
        "{:.2} reads/s, {} avg bytes/read, {:.2} writes/s, {:.2} fsyncs/s",
        second(reads),
        if reads == 0 { 0 } else { PAGE_BYTES },
        second(writes),
        second(figures.log.flushes)
    )?;

    out.push_str("---\nLOG\n---\n");
    let (end, durable, checkpoint) = (store.log_end().0, store.durable_lsn().0, store.checkpoint_lsn().0);
    writeln!(out, "Log sequence number          {end}")?;
    writeln!(out, "Log buffer assigned up to    {end}")?;
    writeln!(out, "Log buffer completed up to   {end}")?;
    writeln!(out, "Log written up to            {durable}")?;
    writeln!(out, "Log flushed up to            {durable}")?;
    writeln!(out, "Added dirty pages up to      {end}")?;
    writeln!(out, "Pages flushed up to          {checkpoint}")?;
    writeln!(out, "Last checkpoint at           {checkpoint}")?;
    writeln!(out, "{} log i/o's done, {:.2} log i/o's/second", figures.log.writes, second(figures.log.writes))?;

    heading(out, "BUFFER POOL AND MEMORY")?;
    let pool = figures.pool;
    writeln!(out, "Total large memory allocated {}", pool.limit_pages as u64 * PAGE_BYTES)?;
    writeln!(out, "Dictionary memory allocated 0")?;
    writeln!(out, "Buffer pool size   {}", pool.limit_pages)?;
    writeln!(out, "Free buffers       {}", pool.limit_pages.saturating_sub(pool.resident_pages))?;
    writeln!(out, "Database pages     {}", pool.resident_pages)?;
    writeln!(out, "Old database pages 0")?;
    writeln!(out, "Modified db pages  {}", figures.cleaner.dirty_pages)?;
    writeln!(out, "Pending reads      0")?;
    let created = figures.file_pages.saturating_sub(figures.free_pages);
    writeln!(out, "Pages read {reads}, created {created}, written {}", figures.cleaner.pages_written)?;
    writeln!(
        out,
        "{:.2} reads/s, {:.2} creates/s, {:.2} writes/s",
        second(reads),
        second(created),
        second(figures.cleaner.pages_written)
    )?;

    heading(out, "ROW OPERATIONS")?;
    writeln!(out, "0 queries inside InnoDB, 0 queries in queue")?;
    let sums = session.instance.sessions.sums();
    let sum = |counter: Counter| sums[counter as usize];
    let (inserted, updated) = (sum(Counter::InnodbRowsInserted), sum(Counter::InnodbRowsUpdated));
    let (deleted, read) = (sum(Counter::InnodbRowsDeleted), sum(Counter::InnodbRowsRead));
    writeln!(out, "Number of rows inserted {inserted}, updated {updated}, deleted {deleted}, read {read}")?;
    writeln!(
        out,
        "{:.2} inserts/s, {:.2} updates/s, {:.2} deletes/s, {:.2} reads/s",
        second(inserted),
        second(updated),
        second(deleted),
        second(read)
    )?;
    let line = "-".repeat(28);
    writeln!(out, "{line}\nEND OF INNODB MONITOR OUTPUT\n{}", "=".repeat(28))
}

/// The rows of SHOW ENGINE INNODB MUTEX: where threads waited for each other, and how often.
pub fn mutexes(session: &SessionFacts) -> Vec<(String, String)> {
    let waits = waits::all(session).into_iter();
    let waits = waits.filter(|(name, count, _)| *count > 0 && name.starts_with("wait/synch"));
    waits.map(|(name, count, _)| (name, format!("waits={count}"))).collect()
}

pub(super) fn buffer_pool(table: &SystemTable, session: &SessionFacts, _: &View<'_>) -> Vec<Vec<Cell>> {
    let figures = session.instance.engine.store().figures();
    let pool = figures.pool;
    vec![table.row(&[
        ("POOL_SIZE", Cell::Unsigned(pool.limit_pages as u64)),
        ("FREE_BUFFERS", Cell::Unsigned(pool.limit_pages.saturating_sub(pool.resident_pages) as u64)),
        ("DATABASE_PAGES", Cell::Unsigned(pool.resident_pages as u64)),
        ("NUMBER_PAGES_READ", Cell::Unsigned(pool.reads)),
        ("MODIFIED_DATABASE_PAGES", Cell::Unsigned(figures.cleaner.dirty_pages)),
        ("NUMBER_PAGES_WRITTEN", Cell::Unsigned(figures.cleaner.pages_written)),
        ("NUMBER_PAGES_CREATED", Cell::Unsigned(figures.file_pages.saturating_sub(figures.free_pages))),
    ])]
}
