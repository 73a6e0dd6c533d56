//! What a statement costs inside of the server, without wire and kernel: nanoseconds and allocations, prepared, by text with
//! its plan in the cache, and by text read anew. With many sessions, that have their turns one after the other, a statement
//! finds little of its session in the caches. (Those of 100 rows are executed a tenth as often as
//! is said, and texts of a new shape a tenth of that: it matters to who counts instructions.)
//!
//! ```text
//! cargo run --release -p meseta-sql --example statement_cost [STATEMENTS [PART OF A NAME [SESSIONS [ROWS]]]]
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use meseta_sql::Result;
use meseta_sql::query::{OutputColumn, OutputColumns};
use meseta_sql::session::{
    Answer, Done, Identity, Instance, Parameters, PreparedStatement, Session, Status, Undisturbed,
};
use meseta_storage::{Store, StoreOptions};
use meseta_types::{DataType, Datum};

/// Counts allocations.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Counts rows.
#[derive(Default)]
struct Rows(u64);

impl Answer for Rows {
    fn columns(&mut self, _: &OutputColumns, _: Status) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, _: &[OutputColumn], row: &[Datum<'_>]) -> Result<()> {
        std::hint::black_box(row);
        self.0 += 1;
        Ok(())
    }

    fn end(&mut self, _: Status) -> Result<()> {
        Ok(())
    }

    fn done(&mut self, done: &Done, _: Status) -> Result<()> {
        self.0 += done.affected;
        Ok(())
    }

    fn failed(&mut self, error: &meseta_sql::Error, _: Status) -> Result<()> {
        panic!("{error}");
    }
}

fn run(session: &mut Session, text: &str) -> u64 {
    let mut rows = Rows::default();
    session.execute(text.as_bytes(), false, &mut rows).expect("the rows are only counted");
    rows.0
}

/// Groups of eleven digits with a `-` between them, as sysbench fills its columns.
fn digits(row: u64, groups: u64) -> String {
    let mut state = row;
    let group = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{:011}", (state >> 24) % 100_000_000_000)
    };
    (0..groups).map(group).collect::<Vec<_>>().join("-")
}

/// A session, and what it has prepared.
struct Client {
    session: Session,
    prepared: Option<PreparedStatement>,
}

fn argument(number: usize, default: u64) -> u64 {
    std::env::args().nth(number).and_then(|count| count.parse().ok()).unwrap_or(default)
}

/// Executes statements with keys of so many rows, and returns how many rows they made.
fn measured(statements: u64, rows: u64, statement: &mut impl FnMut(u64) -> u64) -> u64 {
    let mut key = 1u64;
    let mut next = || {
        key = key.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (key >> 33) % (rows - 100) + 1
    };
    (0..statements).map(|_| statement(next())).sum()
}

fn measure(name: &str, statements: u64, rows: u64, mut statement: impl FnMut(u64) -> u64) {
    if std::env::args().nth(2).is_some_and(|part| !name.contains(&part)) {
        return;
    }
    std::hint::black_box(measured(statements / 10, rows, &mut statement));
    let (allocations, began) = (ALLOCATIONS.load(Ordering::Relaxed), Instant::now());
    let rows = measured(statements, rows, &mut statement);
    let nanoseconds = began.elapsed().as_nanos() as f64 / statements as f64;
    let allocations = (ALLOCATIONS.load(Ordering::Relaxed) - allocations) as f64 / statements as f64;
    let rows = rows as f64 / statements as f64;
    println!("{name:<44} {nanoseconds:>9.0} ns {allocations:>7.1} allocations {rows:>6.1} rows");
}

fn main() {
    let (statements, sessions, table_rows) = (argument(1, 200_000), argument(3, 1), argument(4, 100_000));
    let directory = std::env::temp_dir().join(format!("meseta-statement-cost-{}", std::process::id()));
    let options = StoreOptions { memory_bytes: 512 << 20, max_data_bytes: 16 << 30, ..StoreOptions::default() };
    let store = Store::open(&directory, options).expect("a new store in the temporary folder");
    let instance = Instance::open(store).expect("a new engine");
    let root = "root@localhost".to_owned();
    let new_session = |connection| {
        let identity = Identity { connection, user: root.clone(), account: root.clone() };
        Session::new(&instance, identity, Box::new(Undisturbed)).expect("a session")
    };
    let mut session = new_session(1);
    run(&mut session, "SET GLOBAL innodb_flush_log_at_trx_commit = 0");
    run(&mut session, "CREATE DATABASE sbtest");
    session.use_database("sbtest").expect("it was created");
    run(
        &mut session,
        "CREATE TABLE sbtest1 (id INT NOT NULL AUTO_INCREMENT, k INT NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '', \
         pad CHAR(60) NOT NULL DEFAULT '', PRIMARY KEY (id), KEY k_1 (k))",
    );
    for from in (1..=table_rows).step_by(500) {
        let rows = (from..from + 500)
            .map(|id| format!("({id}, {}, '{}', '{}')", id * 7 % table_rows, digits(id, 10), digits(id, 5)));
        let rows: Vec<String> = rows.collect();
        run(&mut session, &format!("INSERT INTO sbtest1 VALUES {}", rows.join(",")));
    }
    let mut clients: Vec<Client> = std::iter::once(session)
        .chain((2..=sessions).map(|connection| {
            let mut session = new_session(connection);
            session.use_database("sbtest").expect("it is there");
            session
        }))
        .map(|session| Client { session, prepared: None })
        .collect();
    for (name, text) in [
        ("point select", "SELECT c FROM sbtest1 WHERE id=?"),
        ("range of 100", "SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?+99"),
        ("sum of 100", "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN ? AND ?+99"),
        ("100 in order", "SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?+99 ORDER BY c"),
        ("100 distinct in order", "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN ? AND ?+99 ORDER BY c"),
        ("update of an index", "UPDATE sbtest1 SET k=k+1 WHERE id=?"),
        ("update of no index", "UPDATE sbtest1 SET c='abc' WHERE id=?"),
    ] {
        let parameters = text.matches('?').count();
        let few = if name.contains("100") { statements / 10 } else { statements };
        let types = vec![DataType::BIGINT; parameters];
        let mut turn = 0;
        measure(&format!("{name}, prepared"), few, table_rows, |key| {
            turn = (turn + 1) % clients.len();
            let client = &mut clients[turn];
            let session = &mut client.session;
            let prepared =
                client.prepared.get_or_insert_with(|| session.prepare(text.as_bytes()).expect("it can be read").0);
            let values = [Datum::Signed(key as i64); 2];
            let parameters = Parameters { values: &values[..parameters], types: &types };
            let mut rows = Rows::default();
            let done = session.execute_prepared(prepared, parameters, &mut rows);
            done.expect("the rows are only counted");
            rows.0
        });
        clients.iter_mut().for_each(|client| client.prepared = None);
        measure(&format!("{name}, text"), few, table_rows, |key| {
            turn = (turn + 1) % clients.len();
            run(&mut clients[turn].session, &text.replace('?', &key.to_string()))
        });
        let mut salt = 0u64;
        measure(&format!("{name}, text of a new shape"), few / 10, table_rows, |key| {
            salt += 1;
            run(&mut clients[0].session, &format!("{} /* {salt} */", text.replace('?', &key.to_string())))
        });
    }
    drop(clients);
    drop(instance);
    std::fs::remove_dir_all(&directory).expect("what was made can be removed");
}
