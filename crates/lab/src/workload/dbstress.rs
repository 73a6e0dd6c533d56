//! dbSTRESS: objects, each with a history of twenty states; reads of both, and writes to the history.
//!
//! ```text
//! OBJECT -> SECTION -> ZONE          READ  = SEL1 (one object: three lookups), SEL2 (its history: 20 rows)
//!    |                               WRITE = DELETE, INSERT, UPDATE of history, each its own transaction
//! HISTORY (20 an object) -> STAT     rw_ratio k: a WRITE after every k-th READ; 0: none
//! ```
//!
//! Invariants:
//! 1. The INSERT puts back the key that the DELETE just before took: OBJECT has N rows and HISTORY 20 N before and
//!    after.
//! 2. With `anti_dead` (the default) no two clients write to the same object.
//! 3. An event counts as one READ and, when it writes, one WRITE; both and each statement are timed.
//!
//! Source: D. Kravtchuk's reports of 2009 to 2012 and his public kit's documentation of tables and statements.

use std::time::Instant;

use crate::generator::connection::Connection;
use crate::generator::statement::{Parameter, Statement, int, text};
use crate::generator::{Failure, Kind, Result, Session, Workload};
use crate::load::{Filling, LoadPlan};
use crate::random::{Distribution, Random, Shape};

/// States of each object.
pub const HISTORY_PER_OBJECT: u64 = 20;
const FILL: &str =
    "XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX";

/// The scenarios by name: SEL1, SEL2, UPDATE, DELETE and INSERT, and the ratio that goes with it.
pub const SCENARIOS: [(&str, Parts); 9] = [
    ("ro", Parts { sel1: true, sel2: true, update: false, delete_insert: false }),
    ("read+update", Parts { sel1: true, sel2: true, update: true, delete_insert: false }),
    ("read+write", Parts { sel1: true, sel2: true, update: true, delete_insert: true }),
    ("sel1-ro", Parts { sel1: true, sel2: false, update: false, delete_insert: false }),
    ("sel1+update", Parts { sel1: true, sel2: false, update: true, delete_insert: false }),
    ("sel1+write", Parts { sel1: true, sel2: false, update: true, delete_insert: true }),
    ("sel2-ro", Parts { sel1: false, sel2: true, update: false, delete_insert: false }),
    ("upd-only", Parts { sel1: false, sel2: false, update: true, delete_insert: false }),
    ("write-only", Parts { sel1: false, sel2: false, update: true, delete_insert: true }),
];

/// Which statements an event has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Parts {
    pub sel1: bool,
    pub sel2: bool,
    pub update: bool,
    pub delete_insert: bool,
}

/// The workload.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names are those of the options, documented in the lab's manual")]
pub struct DbStress {
    pub scenario: String,
    pub parts: Parts,
    pub rw_ratio: u64,
    pub objects: u64,
    pub sets: usize,
    /// Whether history's key is unique.
    pub hpk: bool,
    pub anti_dead: bool,
    pub same_ref: bool,
    pub for_update: bool,
    /// Whether an event is one transaction.
    pub in_transaction: bool,
    pub engine: String,
    pub shape: Shape,
}

impl Default for DbStress {
    fn default() -> DbStress {
        DbStress {
            scenario: "read+write".to_owned(),
            parts: SCENARIOS[2].1,
            rw_ratio: 1,
            objects: 1_000_000,
            sets: 1,
            hpk: false,
            anti_dead: true,
            same_ref: true,
            for_update: false,
            in_transaction: false,
            engine: "InnoDB".to_owned(),
            shape: Shape::Uniform,
        }
    }
}

const KINDS: [&str; 9] = ["SEL1", "SEL2", "DELETE", "INSERT", "UPDATE", "BEGIN", "COMMIT", "READ", "WRITE"];
const SEL1: usize = 0;
const SEL2: usize = 1;
const DELETE: usize = 2;
const INSERT: usize = 3;
const UPDATE: usize = 4;
const BEGIN: usize = 5;
const COMMIT: usize = 6;
const READ: usize = 7;
const WRITE: usize = 8;

impl DbStress {
    /// What is appended to the names of set number `set`'s tables.
    fn suffix(&self, set: usize) -> String {
        if self.sets > 1 { (set + 1).to_string() } else { String::new() }
    }

    fn texts(&self, set: usize) -> Vec<(usize, String)> {
        let n = self.suffix(set);
        let lock = if self.for_update { " FOR UPDATE" } else { "" };
        let all = [
            (
                self.parts.sel1,
                SEL1,
                format!(
                    "SELECT S.REF, S.NAME, Z.REF, Z.NAME, O.NAME, O.CREATE_DATE, O.NOTE FROM OBJECT{n} O, SECTION{n} \
                     S, \
                     ZONE{n} Z WHERE S.REF = O.REF_SECTION AND Z.REF = S.REF_ZONE AND O.REF = ?{lock}"
                ),
            ),
            (
                self.parts.sel2,
                SEL2,
                format!(
                    "SELECT S.REF, S.NAME, H.HORDER, H.BEGIN_DATE, H.END_DATE, H.NOTE FROM HISTORY{n} H, STAT{n} S \
                     WHERE S.REF = H.REF_STAT AND H.REF_OBJECT = ? ORDER BY H.HORDER{lock}"
                ),
            ),
            (self.parts.delete_insert, DELETE, format!("DELETE FROM HISTORY{n} WHERE REF_OBJECT=? AND HORDER=?")),
            (self.parts.delete_insert, INSERT, format!("INSERT INTO HISTORY{n} VALUES (?,?,?,?,?,?)")),
            (
                self.parts.update,
                UPDATE,
                format!(
                    "UPDATE HISTORY{n} SET REF_STAT=?, BEGIN_DATE=?, END_DATE=?, NOTE=? WHERE REF_OBJECT=? AND HORDER=?"
                ),
            ),
        ];
        all.into_iter().filter(|(wanted, ..)| *wanted).map(|(_, kind, text)| (kind, text)).collect()
    }

    /// How its tables are made and filled.
    pub fn load_plan(&self, seed: u64) -> LoadPlan {
        let mut plan = LoadPlan { seed, ..LoadPlan::default() };
        for set in 0..self.sets {
            let n = self.suffix(set);
            let tail = format!("ENGINE={} DEFAULT CHARSET=latin1", self.engine);
            let unique = if self.hpk { "UNIQUE " } else { "" };
            plan.before.extend([
                format!("CREATE TABLE ZONE{n} (REF CHAR(2) NOT NULL, NAME CHAR(40) NOT NULL) {tail}"),
                format!(
                    "CREATE TABLE SECTION{n} (REF CHAR(2) NOT NULL, REF_ZONE CHAR(2) NOT NULL, NAME CHAR(40) NOT \
                        NULL) {tail}"
                ),
                format!(
                    "CREATE TABLE STAT{n} (REF CHAR(3) NOT NULL, NAME CHAR(40) NOT NULL, NUMB INT NOT NULL) \
                        {tail}"
                ),
                format!(
                    "CREATE TABLE OBJECT{n} (REF CHAR(10) NOT NULL, REF_SECTION CHAR(2) NOT NULL, NAME CHAR(30) NOT \
                     NULL, \
                     CREATE_DATE CHAR(12) NOT NULL, NOTE CHAR(100)) {tail}"
                ),
                format!(
                    "CREATE TABLE HISTORY{n} (REF_OBJECT CHAR(10) NOT NULL, HORDER INT NOT NULL, REF_STAT CHAR(3) \
                     NOT NULL, \
                     BEGIN_DATE CHAR(12) NOT NULL, END_DATE CHAR(12), NOTE CHAR(100)) {tail}"
                ),
                format!("CREATE UNIQUE INDEX zone_ref_idx ON ZONE{n}(REF)"),
                format!("CREATE UNIQUE INDEX stat_ref_idx ON STAT{n}(REF)"),
                format!("CREATE UNIQUE INDEX section_ref_idx ON SECTION{n}(REF)"),
                format!("CREATE UNIQUE INDEX object_ref_idx ON OBJECT{n}(REF)"),
                format!("CREATE {unique}INDEX history_ref_idx ON HISTORY{n}(REF_OBJECT, HORDER)"),
            ]);
            let mut fill = |table: &str, rows: u64, piece: u64, make: fn(u64) -> String| {
                plan.fillings.push(Filling {
                    head: format!("INSERT INTO {table}{n} VALUES "),
                    rows: 0..rows,
                    make: Box::new(move |_, row, to| to.extend_from_slice(make(row).as_bytes())),
                    piece,
                });
            };
            fill("ZONE", 10, 10, |z| format!("('{z:02}','Zone {z:02} {}')", &FILL[..32]));
            fill("SECTION", 100, 100, |s| format!("('{s:02}','{:02}','Section {s:02} {}')", s % 10, &FILL[..29]));
            fill("STAT", 1000, 1000, |t| format!("('{t:03}','Status {t:03} {}',0)", &FILL[..29]));
            fill("OBJECT", self.objects, 10_000, object_row);
            fill("HISTORY", self.objects * HISTORY_PER_OBJECT, 20_000, |number| {
                history_row(number / HISTORY_PER_OBJECT, number % HISTORY_PER_OBJECT)
            });
        }
        plan
    }

    /// Its tables.
    pub fn tables(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.sets).flat_map(|set| {
            ["ZONE", "SECTION", "STAT", "OBJECT", "HISTORY"].map(|table| format!("{table}{}", self.suffix(set)))
        })
    }

    /// Statements that drop its tables.
    pub fn cleanup(&self) -> Vec<String> {
        self.tables().chain(["lab_load".to_owned()]).map(|table| format!("DROP TABLE IF EXISTS {table}")).collect()
    }

    /// Statements that read its tables.
    pub fn prewarm(&self) -> Vec<String> {
        let analyze = self.tables().map(|table| format!("ANALYZE TABLE {table}"));
        let read = self.tables().map(|table| format!("SELECT COUNT(*) FROM {table} WHERE NAME_OR_NOTE LIKE '%0%'"));
        let read = read.map(|text| {
            let column = if text.contains("HISTORY") || text.contains("OBJECT") { "NOTE" } else { "NAME" };
            text.replace("NAME_OR_NOTE", column)
        });
        analyze.chain(read).collect()
    }

    /// What must give no row after a run without errors.
    pub fn checks(&self) -> Vec<(String, String)> {
        let mut checks = Vec::new();
        for set in 0..self.sets {
            let n = self.suffix(set);
            for (table, rows) in [("OBJECT", self.objects), ("HISTORY", self.objects * HISTORY_PER_OBJECT)] {
                checks.push((
                    format!("{table}{n} has {rows} rows"),
                    format!("SELECT COUNT(*) FROM {table}{n} HAVING COUNT(*) <> {rows}"),
                ));
            }
        }
        checks
    }

    /// Its name in reports.
    pub fn name(&self) -> String {
        let ratio = if self.rw_ratio == 1 { String::new() } else { format!(", rw {}", self.rw_ratio) };
        format!("dbSTRESS {}{ratio}", self.scenario)
    }
}

/// `dd/mm/19yy`, as a function of a number.
fn date(number: u64) -> String {
    format!("{:02}/{:02}/19{:02}", number % 28 + 1, number % 12 + 1, number % 100)
}

fn cut(text: &str, length: usize) -> &str {
    text.get(..length).unwrap_or(text)
}

fn object_row(i: u64) -> String {
    let name = format!("{i:010} NAME {FILL}");
    let note = format!("{i:010} NOTES {FILL}");
    format!("('{i:010}','{:02}','{}','{}','{}')", i % 100, cut(&name, 30), date(i), cut(&note, 90))
}

fn history_row(i: u64, j: u64) -> String {
    let note = format!("{i:010}_{j:02} HISTORY NOTES {FILL}");
    let date = date(i + j);
    format!("('{i:010}',{j},'{:03}','{date}','{date}','{}')", (i + 10 * j) % 1000, cut(&note, 90))
}

impl Workload for DbStress {
    type Session = DbStressSession;

    fn kinds(&self) -> Vec<Kind> {
        let kind = |(number, name): (usize, &&str)| {
            if number < READ { Kind::statement(name) } else { Kind::transaction(name) }
        };
        KINDS.iter().enumerate().map(kind).collect()
    }

    fn session(&self, client: usize, clients: usize, random: Random) -> DbStressSession {
        let statements = (0..self.sets)
            .map(|set| {
                let mut statements: [Option<Statement>; 5] = Default::default();
                for (kind, text) in self.texts(set) {
                    statements[kind] = Some(Statement::new(kind, &text));
                }
                statements
            })
            .collect();
        DbStressSession {
            options: self.clone(),
            distribution: Distribution::new(self.shape),
            random,
            statements,
            client,
            clients,
            count: 0,
            reference: String::new(),
            set: 0,
            note: String::new(),
        }
    }

    fn prepared_statements(&self) -> usize {
        self.sets * self.texts(0).len()
    }
}

/// A client.
#[derive(Debug)]
pub struct DbStressSession {
    options: DbStress,
    random: Random,
    distribution: Distribution,
    /// By set and kind.
    statements: Vec<[Option<Statement>; 5]>,
    client: usize,
    clients: usize,
    count: u64,
    /// The object of this event.
    reference: String,
    set: usize,
    note: String,
}

impl DbStressSession {
    fn draw(&mut self) {
        use std::fmt::Write;
        self.set = self.random.below(self.options.sets as u64) as usize;
        let objects = self.options.objects as i64;
        let number = if self.options.anti_dead {
            let (client, clients) = (self.client as i64, self.clients as i64);
            let (from, to) = (client * objects / clients, (client + 1) * objects / clients - 1);
            self.distribution.draw(&mut self.random, from, to.max(from).min(objects - 1).max(0))
        } else {
            self.distribution.draw(&mut self.random, 0, objects - 1)
        };
        self.reference.clear();
        // Writing to a string does not fail.
        let _ = write!(self.reference, "{number:010}");
    }

    /// Executes one statement, again after a deadlock or a lock wait that took too long.
    async fn run(
        &mut self,
        connection: &mut Connection,
        kind: usize,
        values: &[Parameter<'_>],
        rows: Option<u64>,
    ) -> Result<()> {
        let Some(statement) = &mut self.statements[self.set][kind] else { return Ok(()) };
        loop {
            match connection.run(statement, values).await {
                Err(Failure::Server { code: 1205 | 1213, .. }) if !self.options.in_transaction => (),
                Err(failure) => return Err(failure),
                Ok(reply) => {
                    return match rows {
                        Some(expected) if reply.rows != expected && !self.options.parts.delete_insert => {
                            let name = KINDS[kind];
                            Err(Failure::Unexpected(format!(
                                "{name} gave {} rows for {expected}: was the data loaded with the same --objects?",
                                reply.rows
                            )))
                        }
                        _ => Ok(()),
                    };
                }
            }
        }
    }

    async fn read(&mut self, connection: &mut Connection) -> Result<()> {
        let parts = self.options.parts;
        let reference = std::mem::take(&mut self.reference);
        let values = [text(reference.as_bytes())];
        if parts.sel1 {
            self.run(connection, SEL1, &values, Some(1)).await?;
        }
        self.reference = reference;
        if parts.sel1 && parts.sel2 && !self.options.same_ref {
            self.draw();
        }
        if parts.sel2 {
            let reference = std::mem::take(&mut self.reference);
            self.run(connection, SEL2, &[text(reference.as_bytes())], Some(HISTORY_PER_OBJECT)).await?;
            self.reference = reference;
        }
        Ok(())
    }

    async fn write(&mut self, connection: &mut Connection) -> Result<()> {
        use std::fmt::Write;
        if !self.options.same_ref {
            self.draw();
        }
        let order = self.random.between(0, HISTORY_PER_OBJECT as i64 - 1);
        let state = format!("{:03}", self.random.below(1000));
        let date = date(self.random.below(100));
        let mut note = std::mem::take(&mut self.note);
        note.clear();
        // Writing to a string does not fail.
        let _ = write!(note, "{date} {state} {} {order} {FILL}", self.reference);
        note.truncate(100);
        let reference = std::mem::take(&mut self.reference);
        let key = [text(reference.as_bytes()), int(order)];
        let (date, state) = (text(date.as_bytes()), text(state.as_bytes()));
        if self.options.parts.delete_insert {
            self.run(connection, DELETE, &key, None).await?;
            let row = [key[0], key[1], state, date, date, text(note.as_bytes())];
            self.run(connection, INSERT, &row, None).await?;
        }
        if self.options.parts.update {
            let values = [state, date, date, text(note.as_bytes()), key[0], key[1]];
            self.run(connection, UPDATE, &values, None).await?;
        }
        (self.note, self.reference) = (note, reference);
        Ok(())
    }
}

impl Session for DbStressSession {
    async fn start(&mut self, connection: &mut Connection) -> Result<()> {
        for statement in self.statements.iter_mut().flatten().flatten() {
            connection.prepare(statement).await?;
        }
        Ok(())
    }

    async fn event(&mut self, connection: &mut Connection) -> Result<()> {
        self.count += 1;
        self.draw();
        if self.options.in_transaction {
            connection.query(BEGIN, b"BEGIN").await?;
        }
        let parts = self.options.parts;
        let reads = parts.sel1 || parts.sel2;
        if reads {
            let begun = Instant::now();
            self.read(connection).await?;
            connection.count_transaction(READ, begun);
        }
        let ratio = if reads { self.options.rw_ratio } else { 1 };
        if (parts.update || parts.delete_insert) && ratio > 0 && self.count.is_multiple_of(ratio) {
            let begun = Instant::now();
            self.write(connection).await?;
            connection.count_transaction(WRITE, begun);
        }
        if self.options.in_transaction {
            connection.query(COMMIT, b"COMMIT").await?;
        }
        Ok(())
    }

    async fn before_retry(&mut self, connection: &mut Connection) -> Result<()> {
        if self.options.in_transaction {
            connection.query(COMMIT, b"ROLLBACK").await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_functions_of_their_numbers() {
        assert_eq!(date(0), "01/01/1900");
        assert_eq!(date(127), "16/08/1927");
        let object = object_row(1_234_567);
        assert!(object.starts_with("('0001234567','67','0001234567 NAME XXXXXXXXXXXXXX','"), "{object}");
        let history = history_row(7, 19);
        assert!(
            history.starts_with("('0000000007',19,'197','27/03/1926','27/03/1926','0000000007_19 HISTORY NOTES X"),
            "{history}"
        );
        assert_eq!(history.rsplit('\'').nth(1).map(str::len), Some(90));
    }

    #[test]
    fn statements_are_those_of_the_kit() {
        let texts = DbStress::default().texts(0);
        assert_eq!(texts.len(), 5);
        assert_eq!(texts[2].1, "DELETE FROM HISTORY WHERE REF_OBJECT=? AND HORDER=?");
        assert_eq!(texts[3].1, "INSERT INTO HISTORY VALUES (?,?,?,?,?,?)");
        let sets = DbStress { sets: 2, for_update: true, ..DbStress::default() };
        assert!(sets.texts(1)[1].1.ends_with(
            "FROM HISTORY2 H, STAT2 S WHERE S.REF = H.REF_STAT AND H.REF_OBJECT = ? ORDER BY H.HORDER FOR UPDATE"
        ));
    }

    #[test]
    fn clients_have_objects_of_their_own() {
        let options = DbStress { objects: 1000, ..DbStress::default() };
        for client in 0..7 {
            let mut session = options.session(client, 7, Random::new(1, client as u64));
            for _ in 0..200 {
                session.draw();
                let number: usize = session.reference.parse().unwrap();
                assert!((client * 1000 / 7..(client + 1) * 1000 / 7).contains(&number));
            }
        }
    }

    #[test]
    fn more_clients_than_objects_is_no_harm() {
        let options = DbStress { objects: 3, ..DbStress::default() };
        for client in 0..10 {
            let mut session = options.session(client, 10, Random::new(1, 0));
            session.draw();
            assert!(session.reference.parse::<u64>().unwrap() < 3);
        }
    }
}
