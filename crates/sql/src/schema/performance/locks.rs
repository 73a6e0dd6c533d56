//! Locks and transactions: data_locks, data_lock_waits, INNODB_TRX.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use meseta_engine::lock::{LockDescription, Locked, Mode, OwnerId, Reach, TableMode};
use meseta_types::DateTime;

use super::SystemTable;
use crate::schema::information::{Cell, View};
use crate::session::{Process, SessionFacts, SessionShared};

type Rows = Vec<Vec<Cell>>;

/// Sessions by the name that their locks have.
fn by_owner(session: &SessionFacts) -> HashMap<OwnerId, Arc<SessionShared>> {
    session.instance.sessions.all().into_iter().map(|session| (session.canceller.owner(), session)).collect()
}

/// A lock's mode in InnoDB's letters.
pub(super) fn mode(lock: &LockDescription) -> String {
    match &lock.locked {
        Locked::Row { mode, reach, key, .. } => {
            let mode = if *mode == Mode::Shared { "S" } else { "X" };
            let reach = match (reach, key) {
                (Reach::Record, _) => ",REC_NOT_GAP",
                (Reach::Gap, Some(_)) => ",GAP",
                (Reach::Gap, None) | (Reach::NextKey, _) => "",
                (Reach::InsertIntention, Some(_)) => ",GAP,INSERT_INTENTION",
                (Reach::InsertIntention, None) => ",INSERT_INTENTION",
            };
            format!("{mode}{reach}")
        }
        Locked::Span { mode, gaps, .. } => {
            let mode = if *mode == Mode::Shared { "S" } else { "X" };
            format!("{mode}{}", if *gaps { "" } else { ",REC_NOT_GAP" })
        }
        Locked::Table { modes, .. } => {
            let strongest = modes.iter().max_by_key(|mode| **mode as u8);
            match strongest {
                Some(TableMode::Read) => "IS".to_owned(),
                Some(mode) => format!("{mode:?}").to_uppercase(),
                None => String::new(),
            }
        }
    }
}

fn id(lock: &LockDescription) -> String {
    let transaction = lock.transaction.map_or(lock.owner.0, |id| id.0);
    match &lock.locked {
        Locked::Row { table, index, key, .. } => {
            let key = key.as_ref().map_or("supremum".to_owned(), |key| hexadecimal(key));
            format!("{transaction}:{}:{}:{}:{key}", lock.owner.0, table.0, index.0)
        }
        Locked::Span { table, index, first, .. } => {
            format!("{transaction}:{}:{}:{}:from {}", lock.owner.0, table.0, index.0, hexadecimal(first))
        }
        Locked::Table { table, .. } => format!("{transaction}:{}:{}", lock.owner.0, table.0),
    }
}

fn hexadecimal(key: &[u8]) -> String {
    key.iter().take(64).map(|byte| format!("{byte:02x}")).collect()
}

fn transaction(lock: &LockDescription) -> Cell {
    Cell::Unsigned(lock.transaction.map_or(lock.owner.0, |id| id.0))
}

pub(super) fn data_locks(table: &SystemTable, session: &SessionFacts, view: &View<'_>) -> Rows {
    let owners = by_owner(session);
    let row = |lock: &LockDescription| {
        let literal = |key: &[u8]| format!("0x{}", hexadecimal(key).to_uppercase());
        let (of, index, data) = match &lock.locked {
            Locked::Row { table, index, key: Some(key), .. } => (*table, Some(*index), Some(literal(key))),
            Locked::Row { table, index, key: None, .. } => {
                (*table, Some(*index), Some("supremum pseudo-record".to_owned()))
            }
            Locked::Span { table, index, first, last, gaps, .. } => {
                let from = if *gaps { "above" } else { "from" };
                (*table, Some(*index), Some(format!("{from} {} through {}", literal(first), literal(last))))
            }
            Locked::Table { table, .. } => (*table, None, None),
        };
        let definition = view.schema.table(of).map(|table| &table.definition);
        let index_name = index.and_then(|index| {
            let engine = view.schema.table(of)?;
            let at = engine.indexes.iter().position(|known| known.index.locks.id() == index)?;
            let name = &engine.definition.indexes.get(at)?.name;
            Some(if name.is_empty() { "GEN_CLUST_INDEX".to_owned() } else { name.clone() })
        });
        let thread = owners.get(&lock.owner).map(|session| session.connection);
        table.row(&[
            ("ENGINE", Cell::text("INNODB")),
            ("ENGINE_LOCK_ID", Cell::text(id(lock))),
            ("ENGINE_TRANSACTION_ID", transaction(lock)),
            ("THREAD_ID", thread.map_or(Cell::Null, Cell::Unsigned)),
            ("OBJECT_SCHEMA", Cell::optional(definition.map(|table| table.database.as_str()))),
            ("OBJECT_NAME", Cell::optional(definition.map(|table| table.name.as_str()))),
            ("INDEX_NAME", Cell::optional(index_name)),
            ("LOCK_TYPE", Cell::text(if index.is_some() { "RECORD" } else { "TABLE" })),
            ("LOCK_MODE", Cell::text(mode(lock))),
            ("LOCK_STATUS", Cell::text(if lock.waits { "WAITING" } else { "GRANTED" })),
            ("LOCK_DATA", Cell::optional(data)),
        ])
    };
    session.instance.engine.locks().iter().map(row).collect()
}

/// Whether two locks are on the same thing.
fn same_place(one: &Locked, other: &Locked) -> bool {
    match (one, other) {
        (Locked::Row { table, index, key, .. }, Locked::Row { table: t, index: i, key: k, .. }) => {
            (table, index, key) == (t, i, k)
        }
        (Locked::Table { table, .. }, Locked::Table { table: other, .. }) => table == other,
        _ => false,
    }
}

pub(super) fn data_lock_waits(table: &SystemTable, session: &SessionFacts, _: &View<'_>) -> Rows {
    let locks = session.instance.engine.locks();
    let owners = by_owner(session);
    let thread = |lock: &LockDescription| {
        owners.get(&lock.owner).map_or(Cell::Null, |session| Cell::Unsigned(session.connection))
    };
    let mut rows = Vec::new();
    for waiting in locks.iter().filter(|lock| lock.waits) {
        let blocks = |lock: &&LockDescription| {
            !lock.waits && lock.owner != waiting.owner && same_place(&lock.locked, &waiting.locked)
        };
        for blocking in locks.iter().filter(blocks) {
            rows.push(table.row(&[
                ("ENGINE", Cell::text("INNODB")),
                ("REQUESTING_ENGINE_LOCK_ID", Cell::text(id(waiting))),
                ("REQUESTING_ENGINE_TRANSACTION_ID", transaction(waiting)),
                ("REQUESTING_THREAD_ID", thread(waiting)),
                ("BLOCKING_ENGINE_LOCK_ID", Cell::text(id(blocking))),
                ("BLOCKING_ENGINE_TRANSACTION_ID", transaction(blocking)),
                ("BLOCKING_THREAD_ID", thread(blocking)),
            ]));
        }
    }
    rows
}

/// A transaction that is open.
pub(super) struct Open {
    /// Whose.
    pub session: Arc<SessionShared>,
    /// Its id; the owner's number while it has changed nothing.
    pub id: u64,
    /// Its locks.
    pub locks: Vec<LockDescription>,
}

/// The transactions that have changed something or hold locks, the youngest first.
pub(super) fn open_transactions(session: &SessionFacts) -> Vec<Open> {
    let mut locks: BTreeMap<OwnerId, Vec<LockDescription>> = BTreeMap::new();
    for lock in session.instance.engine.locks() {
        locks.entry(lock.owner).or_default().push(lock);
    }
    let mut all = Vec::new();
    for session in session.instance.sessions.all() {
        let own = locks.remove(&session.canceller.owner()).unwrap_or_default();
        let transaction = session.canceller.transaction();
        if transaction.is_some() || !own.is_empty() {
            let id = transaction.map_or(session.canceller.owner().0, |id| id.0);
            all.push(Open { session, id, locks: own });
        }
    }
    all.sort_by_key(|open| std::cmp::Reverse(open.session.counters.transaction_since()));
    all
}

/// A moment, in microseconds since 1970, in the view's zone.
fn moment(micros: i64, view: &View<'_>) -> Cell {
    let local = view.zone.from_utc(micros.div_euclid(1_000_000), 0);
    Cell::DateTime(local.unwrap_or(DateTime::ZERO))
}

pub(super) fn transactions(table: &SystemTable, session: &SessionFacts, view: &View<'_>) -> Rows {
    let processes: HashMap<u64, Process> = session
        .instance
        .server()
        .map(crate::session::Connections::processes)
        .unwrap_or_default()
        .into_iter()
        .map(|process| (process.id, process))
        .collect();
    let row = |open: Open| {
        let counters = &open.session.counters;
        let rows = open.session.canceller.rows_changed();
        let waiting = open.locks.iter().find(|lock| lock.waits);
        let is_table = |lock: &&LockDescription| matches!(lock.locked, Locked::Table { .. });
        let tables = open.locks.iter().filter(is_table).count() as u64;
        let locked = open.locks.iter().map(|lock| lock.locked.rows()).sum::<u64>();
        let process = processes.get(&open.session.connection);
        let query = process.and_then(|process| process.info.as_ref());
        let query = query.map(|query| String::from_utf8_lossy(query).chars().take(1024).collect::<String>());
        table.row(&[
            ("trx_id", Cell::Unsigned(open.id)),
            ("trx_state", Cell::text(if waiting.is_some() { "LOCK WAIT" } else { "RUNNING" })),
            ("trx_started", moment(counters.transaction_since(), view)),
            ("trx_requested_lock_id", Cell::optional(waiting.map(id))),
            ("trx_wait_started", waiting.map_or(Cell::Null, |_| moment(counters.transaction_since(), view))),
            ("trx_weight", Cell::Unsigned(rows + locked)),
            ("trx_mysql_thread_id", Cell::Unsigned(open.session.connection)),
            ("trx_query", Cell::optional(query)),
            ("trx_operation_state", Cell::optional(waiting.map(|_| "starting index read"))),
            ("trx_tables_locked", Cell::Unsigned(tables)),
            ("trx_lock_structs", Cell::Unsigned(open.locks.len() as u64)),
            ("trx_rows_locked", Cell::Unsigned(locked)),
            ("trx_rows_modified", Cell::Unsigned(rows)),
            ("trx_isolation_level", Cell::text("REPEATABLE READ")),
            ("trx_unique_checks", Cell::Unsigned(1)),
            ("trx_foreign_key_checks", Cell::Unsigned(1)),
        ])
    };
    open_transactions(session).into_iter().map(row).collect()
}
