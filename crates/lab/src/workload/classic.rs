//! The OLTP test of sysbench 0.4, on which the reports of 2006 to 2012 rest.
//!
//! ```text
//! complex   BEGIN | 10 P | R S O D | UI UN | UPDATE k, DELETE, INSERT of one id | COMMIT    14 reads 5 writes 2 others
//! simple    P                                 (with simple_update: P, and one UPDATE of one row)
//! nontrx    one statement of the chosen kind
//! ```
//!
//! What differs from 1.0: the extra UPDATE before the DELETE (there was one in all builds before 2016), constant rows,
//! ranges moved inside the table, one row more for DISTINCT, all ids of a request drawn before it, and a failed request
//! replayed with the same ids.
//!
//! `simple_update` was of a private build whose source is lost; what is known is one SELECT of all columns by key and
//! one UPDATE of one row. The defaults here (column `c`, an id of its own) are a guess, named as such in the manual.
//!
//! Invariant: a replay after an error executes the same statements with the same ids.
//!
//! Source: the reports of 2009 to 2011, the manual of sysbench 0.4.12.

use std::time::Duration;

use crate::generator::connection::Connection;
use crate::generator::statement::{Statement, int, text};
use crate::generator::{Kind, Result, Session, Workload};
use crate::load::{Filling, LoadPlan};
use crate::random::{Distribution, Random, Shape};

/// What a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A transaction of about twenty statements.
    Complex,
    /// One SELECT by key.
    Simple,
    /// One statement of a kind.
    NonTransactional(NonTransactional),
}

/// The kind of statement of [`Mode::NonTransactional`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum NonTransactional {
    Select,
    UpdateKey,
    UpdateNoKey,
    Insert,
    Delete,
}

/// The workload: the options of 0.4 without their prefix `oltp-`.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names are sysbench's own, documented there and in the lab's manual")]
pub struct Classic {
    pub mode: Mode,
    pub read_only: bool,
    pub skip_trx: bool,
    pub point_selects: u32,
    pub simple_ranges: u32,
    pub sum_ranges: u32,
    pub order_ranges: u32,
    pub distinct_ranges: u32,
    pub index_updates: u32,
    pub non_index_updates: u32,
    pub range_size: i64,
    pub auto_inc: bool,
    pub secondary: bool,
    pub table_name: String,
    pub table_size: i64,
    pub engine: String,
    pub point_select_all_cols: bool,
    pub simple_update: bool,
    /// Of `simple_update`: whether `k` is changed in place of `c`.
    pub simple_update_key: bool,
    /// Of `simple_update`: whether the row that was read is changed.
    pub simple_update_same_id: bool,
    /// The least and the most time before each statement, within what is timed.
    pub user_delay: Option<(Duration, Duration)>,
    pub shape: Shape,
}

impl Default for Classic {
    fn default() -> Classic {
        Classic {
            mode: Mode::Complex,
            read_only: false,
            skip_trx: false,
            point_selects: 10,
            simple_ranges: 1,
            sum_ranges: 1,
            order_ranges: 1,
            distinct_ranges: 1,
            index_updates: 1,
            non_index_updates: 1,
            range_size: 100,
            auto_inc: true,
            secondary: false,
            table_name: "sbtest".to_owned(),
            table_size: 10_000,
            engine: "innodb".to_owned(),
            point_select_all_cols: false,
            simple_update: false,
            simple_update_key: false,
            simple_update_same_id: false,
            user_delay: None,
            shape: Shape::Special04 { iterations: 12, percent: 1, hot: 75 },
        }
    }
}

const KINDS: [&str; 13] = [
    "begin",
    "commit",
    "point_select",
    "simple_range",
    "sum_range",
    "order_range",
    "distinct_range",
    "index_update",
    "non_index_update",
    "pair_update",
    "delete",
    "insert",
    "truncate",
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
const PAIR: usize = 9;
const DELETE: usize = 10;
const INSERT: usize = 11;
const TRUNCATE: usize = 12;
/// What is in `pad` of every row.
const PAD: &str = "qqqqqqqqqqwwwwwwwwwweeeeeeeeeerrrrrrrrrrtttttttttt";
/// Random numbers are of 0..this.
const RANDOM_BOUND: u64 = 0x3FFF_FFFF;

impl Classic {
    /// The texts, by kind.
    fn texts(&self) -> [String; KINDS.len()] {
        let t = &self.table_name;
        let is_single = matches!(self.mode, Mode::NonTransactional(_));
        let point = match self.mode {
            Mode::NonTransactional(_) => "pad",
            _ if self.point_select_all_cols => "id, k, c, pad",
            _ => "c",
        };
        let insert = if is_single {
            format!("INSERT INTO {t} values(?,?,?,?)")
        } else {
            format!("INSERT INTO {t} values(?,0,' ','aaaaaaaaaaffffffffffrrrrrrrrrreeeeeeeeeeyyyyyyyyyy')")
        };
        let is_locked = !matches!(self.engine.to_ascii_lowercase().as_str(), "innodb" | "ndb" | "ndbcluster" | "bdb");
        let (begin, commit) = match (is_locked, self.read_only) {
            (false, _) => ("BEGIN".to_owned(), "COMMIT"),
            (true, true) => (format!("LOCK TABLES {t} READ"), "UNLOCK TABLES"),
            (true, false) => (format!("LOCK TABLES {t} WRITE"), "UNLOCK TABLES"),
        };
        [
            begin,
            commit.to_owned(),
            format!("SELECT {point} from {t} where id=?"),
            format!("SELECT c from {t} where id between ? and ?"),
            format!("SELECT SUM(K) from {t} where id between ? and ?"),
            format!("SELECT c from {t} where id between ? and ? order by c"),
            format!("SELECT DISTINCT c from {t} where id between ? and ? order by c"),
            format!("UPDATE {t} set k=k+1 where id=?"),
            format!("UPDATE {t} set c=? where id=?"),
            format!("UPDATE {t} set k=k+1 where id=?"),
            format!("DELETE from {t} where id=?"),
            insert,
            format!("TRUNCATE TABLE {t}"),
        ]
    }

    /// The kinds that the mode executes.
    fn used(&self) -> Vec<usize> {
        match self.mode {
            Mode::Simple if self.simple_update => vec![POINT, if self.simple_update_key { INDEX } else { NON_INDEX }],
            Mode::Simple => vec![POINT],
            Mode::NonTransactional(kind) => vec![single(kind)],
            Mode::Complex => {
                let last = if self.read_only { DISTINCT } else { INSERT };
                let first = if self.skip_trx { POINT } else { BEGIN };
                (first..=last).collect()
            }
        }
    }

    /// How its table is made and filled: all rows alike, the index before the rows.
    pub fn load_plan(&self, seed: u64) -> LoadPlan {
        let (t, size) = (&self.table_name, self.table_size.max(0) as u64);
        let auto = if self.auto_inc { " AUTO_INCREMENT" } else { "" };
        let key = if self.secondary { "KEY xid (id)" } else { "PRIMARY KEY (id)" };
        LoadPlan {
            seed,
            before: vec![
                format!(
                    "CREATE TABLE {t} (id INTEGER UNSIGNED NOT NULL{auto}, k INTEGER UNSIGNED DEFAULT '0' NOT NULL, \
                     c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, {key}) /*! ENGINE={} */",
                    self.engine
                ),
                format!("CREATE INDEX k ON {t}(k)"),
            ],
            fillings: vec![Filling {
                head: format!("INSERT INTO {t}(id, k, c, pad) values "),
                rows: 1..size + 1,
                make: Box::new(|_, row, to| {
                    use std::io::Write;
                    // Writing to a vector does not fail.
                    let _ = write!(to, "({row},0,' ','{PAD}')");
                }),
                piece: 10_000,
            }],
            after: Vec::new(),
        }
    }

    /// Statements that drop its table.
    pub fn cleanup(&self) -> Vec<String> {
        vec![format!("DROP TABLE IF EXISTS {}", self.table_name), "DROP TABLE IF EXISTS lab_load".to_owned()]
    }

    /// Statements that read its table.
    pub fn prewarm(&self) -> Vec<String> {
        vec![format!("SELECT AVG(LENGTH(c)), AVG(k) FROM {} FORCE KEY (PRIMARY)", self.table_name)]
    }

    /// The test's name, as the command line had it.
    pub fn name(&self) -> String {
        let mode = match self.mode {
            Mode::Complex if self.read_only => "complex, read-only",
            Mode::Complex => "complex",
            Mode::Simple if self.simple_update => "simple with update",
            Mode::Simple => "simple",
            Mode::NonTransactional(_) => "nontrx",
        };
        format!("sysbench 0.4 oltp ({mode})")
    }
}

fn single(kind: NonTransactional) -> usize {
    match kind {
        NonTransactional::Select => POINT,
        NonTransactional::UpdateKey => INDEX,
        NonTransactional::UpdateNoKey => NON_INDEX,
        NonTransactional::Insert => INSERT,
        NonTransactional::Delete => DELETE,
    }
}

impl Workload for Classic {
    type Session = ClassicSession;

    fn kinds(&self) -> Vec<Kind> {
        KINDS.iter().map(|name| Kind::statement(name)).collect()
    }

    fn session(&self, client: usize, clients: usize, random: Random) -> ClassicSession {
        let statements = self.texts().iter().enumerate().map(|(kind, text)| Statement::new(kind, text)).collect();
        ClassicSession {
            options: self.clone(),
            random,
            distribution: Distribution::new(self.shape),
            statements,
            request: Vec::new(),
            replay: false,
            client,
            clients,
            count: 0,
            c: String::new(),
            pad: String::new(),
        }
    }

    fn prepared_statements(&self) -> usize {
        self.used().len()
    }
}

/// One statement of a request, with its ids.
#[derive(Debug, Clone, Copy)]
struct Step {
    kind: usize,
    from: i64,
    to: i64,
}

/// A client.
#[derive(Debug)]
pub struct ClassicSession {
    options: Classic,
    random: Random,
    distribution: Distribution,
    statements: Vec<Statement>,
    request: Vec<Step>,
    /// Whether the next event is the last one, again.
    replay: bool,
    client: usize,
    clients: usize,
    count: u64,
    c: String,
    pad: String,
}

/// Random numbers joined by `-`.
fn join_numbers(random: &mut Random, count: usize, to: &mut String) {
    use std::fmt::Write;
    to.clear();
    for number in 0..count {
        // Writing to a string does not fail.
        let _ = write!(to, "{}{}", if number > 0 { "-" } else { "" }, random.below(RANDOM_BOUND));
    }
}

impl ClassicSession {
    fn id(&mut self) -> i64 {
        self.distribution.draw(&mut self.random, 1, self.options.table_size)
    }

    fn push(&mut self, kind: usize, id: i64) {
        self.request.push(Step { kind, from: id, to: id });
    }

    fn push_ranges(&mut self, kind: usize, count: u32) {
        let (size, table) = (self.options.range_size, self.options.table_size);
        for _ in 0..count {
            let mut from = self.id();
            if from + size > table {
                from = table - size;
            }
            let from = from.max(1);
            let to = if kind == DISTINCT { from + size } else { from + size - 1 };
            self.request.push(Step { kind, from, to });
        }
    }

    /// Draws all of the next request.
    fn draw(&mut self) {
        self.request.clear();
        self.count += 1;
        let options = &self.options;
        let (points, ranges) = (
            options.point_selects,
            [
                (SIMPLE, options.simple_ranges),
                (SUM, options.sum_ranges),
                (ORDER, options.order_ranges),
                (DISTINCT, options.distinct_ranges),
            ],
        );
        let (index, non_index) = (options.index_updates, options.non_index_updates);
        match options.mode {
            Mode::Simple => {
                let id = self.id();
                self.push(POINT, id);
                if self.options.simple_update {
                    let id = if self.options.simple_update_same_id { id } else { self.id() };
                    self.push(if self.options.simple_update_key { INDEX } else { NON_INDEX }, id);
                }
            }
            Mode::NonTransactional(kind) => {
                let id = match kind {
                    NonTransactional::Insert => (self.count * self.clients as u64 + self.client as u64) as i64,
                    NonTransactional::Delete => {
                        let number = self.count * self.clients as u64 + self.client as u64;
                        let size = self.options.table_size.max(1) as u64;
                        ((u128::from(number) * ((1 << 31) - 1) % u128::from(size)) + 1) as i64
                    }
                    _ => self.id(),
                };
                self.push(single(kind), id);
            }
            Mode::Complex => {
                for _ in 0..points {
                    let id = self.id();
                    self.push(POINT, id);
                }
                for (kind, count) in ranges {
                    self.push_ranges(kind, count);
                }
                if !self.options.read_only {
                    for _ in 0..index {
                        let id = self.id();
                        self.push(INDEX, id);
                    }
                    for _ in 0..non_index {
                        let id = self.id();
                        self.push(NON_INDEX, id);
                    }
                    let id = self.id();
                    for kind in [PAIR, DELETE, INSERT] {
                        self.push(kind, id);
                    }
                }
            }
        }
        join_numbers(&mut self.random, 10, &mut self.c);
        join_numbers(&mut self.random, 5, &mut self.pad);
    }

    async fn step(&mut self, connection: &mut Connection, step: Step) -> Result<()> {
        if let Some((least, most)) = self.options.user_delay {
            let micros = self.random.between(least.as_micros() as i64, most.as_micros() as i64);
            connection.sleep(Duration::from_micros(micros as u64)).await;
        }
        let is_single = matches!(self.options.mode, Mode::NonTransactional(_));
        let statement = &mut self.statements[step.kind];
        match step.kind {
            SIMPLE | SUM | ORDER | DISTINCT => connection.run(statement, &[int(step.from), int(step.to)]).await?,
            NON_INDEX => connection.run(statement, &[text(self.c.as_bytes()), int(step.from)]).await?,
            INSERT if is_single => {
                let values = [int(step.from), int(step.from), text(self.c.as_bytes()), text(self.pad.as_bytes())];
                connection.run(statement, &values).await?
            }
            _ => connection.run(statement, &[int(step.from)]).await?,
        };
        Ok(())
    }
}

impl Session for ClassicSession {
    async fn start(&mut self, connection: &mut Connection) -> Result<()> {
        if self.options.mode == Mode::NonTransactional(NonTransactional::Insert) && self.client == 0 {
            let truncate = self.statements[TRUNCATE].text().to_owned();
            connection.query(TRUNCATE, truncate.as_bytes()).await?;
        }
        for kind in self.options.used() {
            connection.prepare(&mut self.statements[kind]).await?;
        }
        Ok(())
    }

    async fn event(&mut self, connection: &mut Connection) -> Result<()> {
        if !std::mem::take(&mut self.replay) {
            self.draw();
        }
        let is_transaction = self.options.mode == Mode::Complex && !self.options.skip_trx;
        if is_transaction {
            connection.run(&mut self.statements[BEGIN], &[]).await?;
        }
        for number in 0..self.request.len() {
            self.step(connection, self.request[number]).await?;
        }
        if is_transaction {
            connection.run(&mut self.statements[COMMIT], &[]).await?;
        }
        Ok(())
    }

    async fn before_retry(&mut self, _connection: &mut Connection) -> Result<()> {
        self.replay = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(options: Classic) -> Vec<Step> {
        let mut session = options.session(0, 1, Random::new(1, 0));
        session.draw();
        session.request
    }

    #[test]
    fn a_complex_request_has_five_writes() {
        let steps = steps(Classic::default());
        assert_eq!(steps.iter().filter(|step| step.kind < INDEX).count(), 14);
        let writes: Vec<usize> = steps.iter().map(|step| step.kind).filter(|kind| *kind >= INDEX).collect();
        assert_eq!(writes, [INDEX, NON_INDEX, PAIR, DELETE, INSERT]);
        assert_eq!(steps[17].from, steps[18].from);
        assert_eq!(steps[16].from, steps[17].from);
        assert_eq!(super::tests::steps(Classic { read_only: true, ..Classic::default() }).len(), 14);
    }

    #[test]
    fn ranges_stay_in_the_table_and_distinct_has_one_row_more() {
        for seed in 0..50 {
            let mut session =
                Classic { shape: Shape::Uniform, ..Classic::default() }.session(0, 1, Random::new(seed, 0));
            session.draw();
            for step in session.request.iter().filter(|step| (SIMPLE..=DISTINCT).contains(&step.kind)) {
                let rows = step.to - step.from + 1;
                assert_eq!(rows, if step.kind == DISTINCT { 101 } else { 100 });
                assert!(step.from >= 1 && step.to <= 10_000);
            }
        }
    }

    #[test]
    fn texts_are_those_of_the_time() {
        let texts = Classic::default().texts();
        assert_eq!(texts[POINT], "SELECT c from sbtest where id=?");
        assert_eq!(texts[SUM], "SELECT SUM(K) from sbtest where id between ? and ?");
        assert_eq!(texts[DISTINCT], "SELECT DISTINCT c from sbtest where id between ? and ? order by c");
        assert_eq!(
            texts[INSERT],
            "INSERT INTO sbtest values(?,0,' ','aaaaaaaaaaffffffffffrrrrrrrrrreeeeeeeeeeyyyyyyyyyy')"
        );
        let all = Classic { point_select_all_cols: true, mode: Mode::Simple, ..Classic::default() };
        assert_eq!(all.texts()[POINT], "SELECT id, k, c, pad from sbtest where id=?");
        let single = Classic { mode: Mode::NonTransactional(NonTransactional::Select), ..Classic::default() };
        assert_eq!(single.texts()[POINT], "SELECT pad from sbtest where id=?");
        let locked = Classic { engine: "myisam".to_owned(), read_only: true, ..Classic::default() };
        assert_eq!(locked.texts()[BEGIN], "LOCK TABLES sbtest READ");
    }

    #[test]
    fn simple_update_is_a_read_and_a_write() {
        let options = Classic { mode: Mode::Simple, simple_update: true, ..Classic::default() };
        let kinds: Vec<usize> = steps(options).iter().map(|step| step.kind).collect();
        assert_eq!(kinds, [POINT, NON_INDEX]);
    }
}
