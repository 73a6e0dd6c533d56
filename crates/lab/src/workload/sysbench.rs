//! sysbench 1.0's OLTP family: the same tables, statements, counts and order, so that results compare.
//!
//! ```text
//! BEGIN | P x point_selects, one table | R | S | O | D, a table each | UI | UN | DEL INS, one table | COMMIT
//! ```
//!
//! | test | event | reads, writes, others |
//! |---|---|---|
//! | oltp_read_only | BEGIN 10P R S O D COMMIT | 14 0 2 |
//! | oltp_read_write | BEGIN 10P R S O D UI UN DEL INS COMMIT | 14 4 2 |
//! | oltp_write_only | BEGIN UI UN DEL INS COMMIT | 0 4 2 |
//! | oltp_point_select | P | 1 0 0 |
//! | oltp_update_index, oltp_update_non_index, oltp_delete, oltp_insert | UI, UN, DEL, INS | 0 1 0 |
//! | select_random_points, select_random_ranges | ten values, ten ranges | 1 0 0 |
//! | bulk_insert | a row into a statement that is sent when it has 512 KiB | about 0 |
//!
//! Invariants:
//! 1. A table is drawn uniformly once a group of statements; ids come from the chosen distribution over 1..=table_size;
//!    ranges are `id ..= id + range_size - 1`, without regard to the table's end.
//! 2. INS has the id that DEL had.
//!
//! Source: sysbench 1.0.20, observed from a server's side (`tests/data/sysbench-1.0.20.txt`).

use std::fmt::Write;

use crate::generator::connection::Connection;
use crate::generator::statement::{Parameter, Statement, int, text};
use crate::generator::{Kind, Result, Session, Workload};
use crate::load::{Filling, LoadPlan};
use crate::random::{Distribution, Random, Shape};

/// The length of column `c`.
const C: usize = 119;
/// The length of column `pad`.
const PAD: usize = 59;
/// When a bulk insert is sent.
const BULK_BYTES: usize = 512 << 10;

/// Which of the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// `oltp_point_select`
    PointSelect,
    /// `oltp_read_only`
    ReadOnly,
    /// `oltp_read_write`
    ReadWrite,
    /// `oltp_write_only`
    WriteOnly,
    /// `oltp_update_index`
    UpdateIndex,
    /// `oltp_update_non_index`
    UpdateNonIndex,
    /// `oltp_insert`
    Insert,
    /// `oltp_delete`
    Delete,
    /// `select_random_points`
    RandomPoints,
    /// `select_random_ranges`
    RandomRanges,
    /// `bulk_insert`
    BulkInsert,
}

/// The tests by name.
pub const TESTS: [(&str, Test); 11] = [
    ("oltp_point_select", Test::PointSelect),
    ("oltp_read_only", Test::ReadOnly),
    ("oltp_read_write", Test::ReadWrite),
    ("oltp_write_only", Test::WriteOnly),
    ("oltp_update_index", Test::UpdateIndex),
    ("oltp_update_non_index", Test::UpdateNonIndex),
    ("oltp_insert", Test::Insert),
    ("oltp_delete", Test::Delete),
    ("select_random_points", Test::RandomPoints),
    ("select_random_ranges", Test::RandomRanges),
    ("bulk_insert", Test::BulkInsert),
];

/// The workload: sysbench's options, by their names.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names are sysbench's own, documented there and in the lab's manual")]
pub struct Sysbench {
    pub test: Test,
    pub tables: usize,
    pub table_size: i64,
    pub range_size: i64,
    pub point_selects: u32,
    pub simple_ranges: u32,
    pub sum_ranges: u32,
    pub order_ranges: u32,
    pub distinct_ranges: u32,
    pub index_updates: u32,
    pub non_index_updates: u32,
    pub delete_inserts: u32,
    pub range_selects: bool,
    pub skip_trx: bool,
    pub auto_inc: bool,
    pub secondary: bool,
    pub create_secondary: bool,
    pub engine: String,
    pub random_points: u32,
    pub random_ranges: u32,
    pub delta: i64,
    pub shape: Shape,
    /// Whether statements are prepared.
    pub prepares: bool,
}

impl Default for Sysbench {
    fn default() -> Sysbench {
        Sysbench {
            test: Test::ReadWrite,
            tables: 1,
            table_size: 10_000,
            range_size: 100,
            point_selects: 10,
            simple_ranges: 1,
            sum_ranges: 1,
            order_ranges: 1,
            distinct_ranges: 1,
            index_updates: 1,
            non_index_updates: 1,
            delete_inserts: 1,
            range_selects: true,
            skip_trx: false,
            auto_inc: true,
            secondary: false,
            create_secondary: true,
            engine: "innodb".to_owned(),
            random_points: 10,
            random_ranges: 10,
            delta: 5,
            shape: Shape::Special { iterations: 12, percent: 1.0, hot: 75.0 },
            prepares: true,
        }
    }
}

/// The kinds of statements: their places in [`Workload::kinds`].
const KINDS: [&str; 14] = [
    "begin",
    "commit",
    "point_select",
    "simple_range",
    "sum_range",
    "order_range",
    "distinct_range",
    "index_update",
    "non_index_update",
    "delete",
    "insert",
    "random_points",
    "random_ranges",
    "bulk_insert",
];
const BEGIN: usize = 0;
const COMMIT: usize = 1;
const POINT: usize = 2;
const SIMPLE: usize = 3;
const SUM: usize = 4;
const ORDER: usize = 5;
const DISTINCT: usize = 6;
const INDEX: usize = 7;
const NON_INDEX: usize = 8;
const DELETE: usize = 9;
const INSERT: usize = 10;
const POINTS: usize = 11;
const RANGES: usize = 12;
const BULK: usize = 13;

impl Sysbench {
    /// The texts that are prepared for each table, with `?` for parameters.
    fn texts(&self) -> Vec<(usize, String)> {
        let ranges = self.range_selects && matches!(self.test, Test::ReadOnly | Test::ReadWrite);
        let (point, write) = match self.test {
            Test::PointSelect => (true, [false; 4]),
            Test::ReadOnly => (true, [false; 4]),
            Test::ReadWrite => (true, [true; 4]),
            Test::WriteOnly => (false, [true; 4]),
            Test::UpdateIndex => (false, [true, false, false, false]),
            Test::UpdateNonIndex => (false, [false, true, false, false]),
            Test::Delete => (false, [false, false, true, false]),
            _ => (false, [false; 4]),
        };
        let mut texts = Vec::new();
        let mut add = |wanted: bool, kind: usize, text: &str| {
            if wanted {
                texts.push((kind, text.to_owned()));
            }
        };
        add(point, POINT, "SELECT c FROM sbtest{} WHERE id=?");
        add(ranges, SIMPLE, "SELECT c FROM sbtest{} WHERE id BETWEEN ? AND ?");
        add(ranges, SUM, "SELECT SUM(k) FROM sbtest{} WHERE id BETWEEN ? AND ?");
        add(ranges, ORDER, "SELECT c FROM sbtest{} WHERE id BETWEEN ? AND ? ORDER BY c");
        add(ranges, DISTINCT, "SELECT DISTINCT c FROM sbtest{} WHERE id BETWEEN ? AND ? ORDER BY c");
        add(write[0], INDEX, "UPDATE sbtest{} SET k=k+1 WHERE id=?");
        add(write[1], NON_INDEX, "UPDATE sbtest{} SET c=? WHERE id=?");
        add(write[2], DELETE, "DELETE FROM sbtest{} WHERE id=?");
        add(write[3], INSERT, "INSERT INTO sbtest{} (id, k, c, pad) VALUES (?, ?, ?, ?)");
        if self.test == Test::RandomPoints {
            let marks = vec!["?"; self.random_points as usize].join(", ");
            add(
                true,
                POINTS,
                &format!(
                    "        SELECT id, k, c, pad\n          FROM sbtest1\n          WHERE k IN ({marks})\n        "
                ),
            );
        }
        if self.test == Test::RandomRanges {
            let marks = vec!["k BETWEEN ? AND ?"; self.random_ranges as usize].join(" OR ");
            add(true, RANGES, &format!("        SELECT count(k)\n          FROM sbtest1\n          WHERE {marks}"));
        }
        texts
    }

    fn is_transaction(&self) -> bool {
        !self.skip_trx && matches!(self.test, Test::ReadOnly | Test::ReadWrite | Test::WriteOnly)
    }

    /// How many tables the test works on, given so many clients.
    fn table_count(&self, clients: usize) -> usize {
        if self.test == Test::BulkInsert { clients } else { self.tables }
    }

    /// How its tables are made and filled.
    pub fn load_plan(&self, seed: u64) -> LoadPlan {
        if self.test == Test::BulkInsert {
            // (Of one table a client: the caller sets `tables` so.)
            let before = (1..=self.tables).map(|table| {
                format!(
                    "CREATE TABLE IF NOT EXISTS sbtest{table} (id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, \
                     PRIMARY KEY (id))"
                )
            });
            return LoadPlan { seed, before: before.collect(), ..LoadPlan::default() };
        }
        let mut plan = LoadPlan { seed, ..LoadPlan::default() };
        let id = if self.auto_inc { "INTEGER NOT NULL AUTO_INCREMENT" } else { "INTEGER NOT NULL" };
        let key = if self.secondary { "KEY xid (id)" } else { "PRIMARY KEY (id)" };
        let is_empty = self.test == Test::Insert && !self.auto_inc;
        for table in 1..=self.tables {
            plan.before.push(format!(
                "CREATE TABLE sbtest{table}(id {id}, k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, \
                 pad CHAR(60) DEFAULT '' NOT NULL, {key}) /*! ENGINE = {} */",
                self.engine
            ));
            if !is_empty {
                plan.fillings.push(self.filling(table));
            }
            if self.create_secondary {
                plan.after.push(format!("CREATE INDEX k_{table} ON sbtest{table}(k)"));
            }
        }
        plan
    }

    fn filling(&self, table: usize) -> Filling {
        let (shape, size) = (self.shape, self.table_size);
        Filling {
            head: format!("INSERT INTO sbtest{table} (id, k, c, pad) VALUES"),
            rows: 1..size.max(0) as u64 + 1,
            make: Box::new(move |random, row, to| {
                let k = Distribution::new(shape).draw(random, 1, size);
                put_row(random, row as i64, k, to);
            }),
            piece: 10_000,
        }
    }

    /// Statements that drop its tables.
    pub fn cleanup(&self) -> Vec<String> {
        let tables = (1..=self.tables).map(|table| format!("DROP TABLE IF EXISTS sbtest{table}"));
        tables.chain(["DROP TABLE IF EXISTS lab_load".to_owned()]).collect()
    }

    /// Statements that read its tables.
    pub fn prewarm(&self) -> Vec<String> {
        (1..=self.tables)
            .flat_map(|table| {
                [
                    format!("ANALYZE TABLE sbtest{table}"),
                    format!(
                        "SELECT AVG(id) FROM (SELECT * FROM sbtest{table} FORCE KEY (PRIMARY) LIMIT {}) t",
                        self.table_size
                    ),
                    format!(
                        "SELECT COUNT(*) FROM (SELECT * FROM sbtest{table} WHERE k LIKE '%0%' LIMIT {}) t",
                        self.table_size
                    ),
                ]
            })
            .collect()
    }

    /// The test's name.
    pub fn name(&self) -> String {
        TESTS.iter().find(|(_, test)| *test == self.test).map_or("", |(name, _)| name).to_owned()
    }
}

/// Appends `(id,k,'c','pad')`.
fn put_row(random: &mut Random, id: i64, k: i64, to: &mut Vec<u8>) {
    use std::io::Write;
    let (mut c, mut pad) = ([0; C], [0; PAD]);
    random.digit_groups(&mut c);
    random.digit_groups(&mut pad);
    // Writing to a vector does not fail.
    let _ = write!(to, "({id}, {k}, '");
    to.extend_from_slice(&c);
    to.extend_from_slice(b"', '");
    to.extend_from_slice(&pad);
    to.extend_from_slice(b"')");
}

impl Workload for Sysbench {
    type Session = SysbenchSession;

    fn kinds(&self) -> Vec<Kind> {
        KINDS.iter().map(|name| Kind::statement(name)).collect()
    }

    fn session(&self, client: usize, clients: usize, random: Random) -> SysbenchSession {
        let tables = self.table_count(clients);
        let mut statements: Vec<Vec<Statement>> = vec![Vec::new(); KINDS.len()];
        for (kind, text) in self.texts() {
            let count = if matches!(kind, POINTS | RANGES) { 1 } else { tables };
            statements[kind] =
                (1..=count).map(|table| Statement::new(kind, &text.replacen("{}", &table.to_string(), 1))).collect();
        }
        SysbenchSession {
            options: self.clone(),
            random,
            distribution: Distribution::new(self.shape),
            begin: Statement::new(BEGIN, "BEGIN"),
            commit: Statement::new(COMMIT, "COMMIT"),
            statements,
            client,
            clients,
            values: Vec::new(),
            insert: String::new(),
            bulk: Vec::new(),
            inserted: 0,
            c: [0; C],
            pad: [0; PAD],
        }
    }

    fn prepared_statements(&self) -> usize {
        let texts: usize =
            self.texts().iter().map(|(kind, _)| if matches!(*kind, POINTS | RANGES) { 1 } else { self.tables }).sum();
        texts + 2 * usize::from(self.is_transaction())
    }
}

/// A client.
#[derive(Debug)]
pub struct SysbenchSession {
    options: Sysbench,
    random: Random,
    distribution: Distribution,
    begin: Statement,
    commit: Statement,
    /// By kind and table.
    statements: Vec<Vec<Statement>>,
    client: usize,
    clients: usize,
    values: Vec<i64>,
    insert: String,
    bulk: Vec<u8>,
    inserted: u64,
    c: [u8; C],
    pad: [u8; PAD],
}

impl SysbenchSession {
    fn id(&mut self) -> i64 {
        self.distribution.draw(&mut self.random, 1, self.options.table_size)
    }

    fn table(&mut self) -> usize {
        self.random.below(self.options.tables as u64) as usize
    }

    async fn points(&mut self, connection: &mut Connection, count: u32) -> Result<()> {
        let table = self.table();
        for _ in 0..count {
            let id = self.id();
            connection.run(&mut self.statements[POINT][table], &[int(id)]).await?;
        }
        Ok(())
    }

    async fn ranges(&mut self, connection: &mut Connection, kind: usize, count: u32) -> Result<()> {
        let table = self.table();
        for _ in 0..count {
            let id = self.id();
            let to = id + self.options.range_size - 1;
            connection.run(&mut self.statements[kind][table], &[int(id), int(to)]).await?;
        }
        Ok(())
    }

    async fn index_updates(&mut self, connection: &mut Connection, count: u32) -> Result<()> {
        let table = self.table();
        for _ in 0..count {
            let id = self.id();
            connection.run(&mut self.statements[INDEX][table], &[int(id)]).await?;
        }
        Ok(())
    }

    async fn non_index_updates(&mut self, connection: &mut Connection, count: u32) -> Result<()> {
        let table = self.table();
        for _ in 0..count {
            self.random.digit_groups(&mut self.c);
            let id = self.id();
            connection.run(&mut self.statements[NON_INDEX][table], &[text(&self.c), int(id)]).await?;
        }
        Ok(())
    }

    async fn delete_inserts(&mut self, connection: &mut Connection, count: u32) -> Result<()> {
        let table = self.table();
        for _ in 0..count {
            let id = self.id();
            let k = self.id();
            connection.run(&mut self.statements[DELETE][table], &[int(id)]).await?;
            self.random.digit_groups(&mut self.c);
            self.random.digit_groups(&mut self.pad);
            let values = [int(id), int(k), text(&self.c), text(&self.pad)];
            connection.run(&mut self.statements[INSERT][table], &values).await?;
        }
        Ok(())
    }

    async fn delete(&mut self, connection: &mut Connection) -> Result<()> {
        let table = self.table();
        let id = self.id();
        connection.run(&mut self.statements[DELETE][table], &[int(id)]).await?;
        Ok(())
    }

    /// sysbench sends this one as text always.
    async fn insert(&mut self, connection: &mut Connection) -> Result<()> {
        let table = self.table() + 1;
        let k = self.id();
        let id = if self.options.auto_inc {
            0
        } else {
            // A different id for each event of each client, in no order.
            let number = self.inserted * self.clients as u64 + self.client as u64;
            i64::from(unique(number as u32)) - (1 << 31)
        };
        self.inserted += 1;
        self.random.digit_groups(&mut self.c);
        self.random.digit_groups(&mut self.pad);
        self.insert.clear();
        let (c, pad) = (ascii(&self.c), ascii(&self.pad));
        // Writing to a string does not fail.
        let _ = write!(self.insert, "INSERT INTO sbtest{table} (id, k, c, pad) VALUES ({id}, {k}, '{c}', '{pad}')");
        connection.query(INSERT, self.insert.as_bytes()).await?;
        Ok(())
    }

    /// Values from this client's slice of the table.
    fn slice_values(&mut self, count: u32, delta: Option<i64>) {
        let (size, clients) = (self.options.table_size, self.clients as i64);
        let client = self.client as i64;
        let (from, to) = (size * client / clients + 1, size * (client + 1) / clients);
        self.values.clear();
        for _ in 0..count {
            let value = self.distribution.draw(&mut self.random, from, to.max(from));
            self.values.push(value);
            if let Some(delta) = delta {
                self.values.push(value + delta);
            }
        }
    }

    async fn random_values(&mut self, connection: &mut Connection, kind: usize) -> Result<()> {
        if kind == POINTS {
            self.slice_values(self.options.random_points, None);
        } else {
            self.slice_values(self.options.random_ranges, Some(self.options.delta));
        }
        let values: Vec<Parameter<'_>> = self.values.iter().map(|value| int(*value)).collect();
        connection.run(&mut self.statements[kind][0], &values).await?;
        Ok(())
    }

    async fn bulk_insert(&mut self, connection: &mut Connection) -> Result<()> {
        self.inserted += 1;
        let id = self.inserted;
        if self.bulk.is_empty() {
            self.begin_bulk();
        } else {
            self.bulk.push(b',');
        }
        let row_at = self.bulk.len();
        // Writing to a vector does not fail.
        let _ = std::io::Write::write_fmt(&mut self.bulk, format_args!("({id},{id})"));
        if self.bulk.len() > BULK_BYTES {
            let row = self.bulk.split_off(row_at);
            // (The comma.)
            self.bulk.pop();
            self.send_bulk(connection).await?;
            self.begin_bulk();
            self.bulk.extend(row);
        }
        Ok(())
    }

    fn begin_bulk(&mut self) {
        self.bulk.extend_from_slice(format!("INSERT INTO sbtest{} VALUES", self.client + 1).as_bytes());
    }

    async fn send_bulk(&mut self, connection: &mut Connection) -> Result<()> {
        let result = connection.query(BULK, &self.bulk).await;
        self.bulk.clear();
        result.map(|_| ())
    }
}

fn ascii(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// A bijection of 32-bit numbers that looks random: squares modulo a prime, twice.
///
/// Source: J. Preshing, "How to generate a sequence of unique random integers" (2012), the idea of quadratic residues.
fn unique(number: u32) -> u32 {
    const PRIME: u32 = 4_294_967_291;
    let permute = |x: u32| {
        if x >= PRIME {
            return x;
        }
        let residue = (u64::from(x) * u64::from(x) % u64::from(PRIME)) as u32;
        if x <= PRIME / 2 { residue } else { PRIME - residue }
    };
    permute(permute(number).wrapping_add(0x682F_0161) ^ 0x5BF0_3635)
}

impl Session for SysbenchSession {
    async fn start(&mut self, connection: &mut Connection) -> Result<()> {
        if self.options.is_transaction() {
            connection.prepare(&mut self.begin).await?;
            connection.prepare(&mut self.commit).await?;
        }
        for statement in self.statements.iter_mut().flatten() {
            connection.prepare(statement).await?;
        }
        Ok(())
    }

    async fn finish(&mut self, connection: &mut Connection) -> Result<()> {
        if self.bulk.is_empty() { Ok(()) } else { self.send_bulk(connection).await }
    }

    async fn event(&mut self, connection: &mut Connection) -> Result<()> {
        let (test, point_selects) = (self.options.test, self.options.point_selects);
        match test {
            Test::PointSelect => return self.points(connection, 1).await,
            Test::UpdateIndex => return self.index_updates(connection, self.options.index_updates).await,
            Test::UpdateNonIndex => return self.non_index_updates(connection, self.options.non_index_updates).await,
            Test::Insert => return self.insert(connection).await,
            Test::Delete => return self.delete(connection).await,
            Test::RandomPoints => return self.random_values(connection, POINTS).await,
            Test::RandomRanges => return self.random_values(connection, RANGES).await,
            Test::BulkInsert => return self.bulk_insert(connection).await,
            Test::ReadOnly | Test::ReadWrite | Test::WriteOnly => (),
        }
        let is_transaction = self.options.is_transaction();
        if is_transaction {
            connection.run(&mut self.begin, &[]).await?;
        }
        if test != Test::WriteOnly {
            self.points(connection, point_selects).await?;
            if self.options.range_selects {
                self.ranges(connection, SIMPLE, self.options.simple_ranges).await?;
                self.ranges(connection, SUM, self.options.sum_ranges).await?;
                self.ranges(connection, ORDER, self.options.order_ranges).await?;
                self.ranges(connection, DISTINCT, self.options.distinct_ranges).await?;
            }
        }
        if test != Test::ReadOnly {
            self.index_updates(connection, self.options.index_updates).await?;
            self.non_index_updates(connection, self.options.non_index_updates).await?;
            self.delete_inserts(connection, self.options.delete_inserts).await?;
        }
        if is_transaction {
            connection.run(&mut self.commit, &[]).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unique_numbers_are_unique() {
        let mut seen: Vec<u32> = (0..100_000).map(unique).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 100_000);
    }

    #[test]
    fn tables_are_those_of_sysbench() {
        let plan = Sysbench { tables: 2, ..Sysbench::default() }.load_plan(1);
        assert_eq!(
            plan.before[1],
            "CREATE TABLE sbtest2(id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) \
             DEFAULT '' \
             NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)) /*! ENGINE = innodb */"
        );
        assert_eq!(plan.after, ["CREATE INDEX k_1 ON sbtest1(k)", "CREATE INDEX k_2 ON sbtest2(k)"]);
        assert_eq!(plan.fillings.len(), 2);
        let mut row = Vec::new();
        (plan.fillings[0].make)(&mut Random::new(1, 1), 7, &mut row);
        let row = String::from_utf8(row).unwrap();
        assert!(row.starts_with("(7, ") && row.ends_with("')"), "{row}");
        assert_eq!(row.matches('-').count(), 9 + 4);
    }

    #[test]
    fn statements_are_counted_before_they_are_prepared() {
        let of = |test, tables| Sysbench { test, tables, ..Sysbench::default() }.prepared_statements();
        assert_eq!(of(Test::ReadWrite, 3), 2 + 9 * 3);
        assert_eq!(of(Test::PointSelect, 3), 3);
        assert_eq!(of(Test::RandomPoints, 3), 1);
        assert_eq!(of(Test::Insert, 3), 0);
    }
}
