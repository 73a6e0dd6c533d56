//! Definitions against what MySQL answers: the cases of `tests/definition/*.test`, recorded by `record.py` there.
//!
//! Cases that are known to differ are listed in `known.txt`, by their first statement that differs; one that is listed and
//! does not differ fails the test too.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use meseta_engine::lock::{Mode, TableMode};
use meseta_engine::row::Value;
use meseta_engine::rows::RowChange;
use meseta_engine::{Engine, EngineOptions, Session};
use meseta_parser::{Arena, Options, parse};
use meseta_sim::SimDisk;
use meseta_sql::expression::NoHost;
use meseta_sql::schema::{MysqlCollations, NameStyle, StatisticsCache, TableCache, information::Cell};
use meseta_sql::statement::definition::{DefinitionContext, Expressions, Outcome, execute};
use meseta_storage::{Store, StoreOptions};
use meseta_types::{Collation, Context, SqlMode, Warning};

struct Server {
    _engine: Engine,
    session: Session,
    tables: TableCache,
    statistics: StatisticsCache,
    mode: SqlMode,
    foreign_key_checks: bool,
    no_engine_substitution: bool,
}

fn server() -> Server {
    let options = StoreOptions {
        memory_bytes: 8 << 20,
        log_bytes: 8 << 20,
        log_buffer_bytes: 512 << 10,
        max_data_bytes: 256 << 20,
        node_capacity: 2048,
        ..StoreOptions::default()
    };
    let store = Store::open_on(Arc::new(SimDisk::new(1)), options).unwrap();
    let engine_options = EngineOptions { collations: Arc::new(MysqlCollations), slots: 4, lock_shards: 8 };
    let engine = Engine::open(store, engine_options).unwrap();
    let session = engine.session().unwrap();
    Server {
        _engine: engine,
        session,
        tables: TableCache::default(),
        statistics: StatisticsCache::default(),
        mode: SqlMode::DEFAULT,
        foreign_key_checks: true,
        no_engine_substitution: true,
    }
}

fn line(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\0', "\\0")
}

fn shown(cell: &Cell) -> String {
    match cell {
        Cell::Null => "NULL".into(),
        Cell::Signed(number) => number.to_string(),
        Cell::Unsigned(number) => number.to_string(),
        Cell::Text(text) => line(text),
        Cell::DateTime(_) => "a moment".into(),
    }
}

impl Server {
    /// What a statement answers, and its warnings.
    fn run(&mut self, statement: &str) -> (Result<Outcome, meseta_sql::Error>, Vec<Warning>) {
        let mut context = Context::new(self.mode);
        self.session.set_checks_foreign_keys(self.foreign_key_checks);
        let mut host = NoHost;
        let mut expressions = Expressions::new(&mut host);
        let mut definition = DefinitionContext {
            engine: &mut self.session,
            tables: &self.tables,
            statistics: &self.statistics,
            database: Some("definition"),
            account: ("bench", "%"),
            server_collation: Collation::Utf8mb4_0900AiCi,
            connection_collation: Collation::Utf8mb4_0900AiCi,
            foreign_key_checks: self.foreign_key_checks,
            no_engine_substitution: self.no_engine_substitution,
            real_as_float: false,
            names: NameStyle::USUAL,
            now: 0,
            context: &mut context,
            expressions: Some(&mut expressions),
        };
        let arena = Arena::new();
        let text = statement.as_bytes();
        let outcome = match parse(&arena, text, 0, Options::default()) {
            Ok(parsed) => execute(&parsed.statement, text, &mut definition),
            Err(error) => Err(error.into()),
        };
        (outcome, context.warnings.kept().to_vec())
    }

    /// `INSERT INTO t VALUES (1, NULL, 'x')`, which is not a definition: rows for those that need some.
    fn insert(&mut self, statement: &str) {
        let (name, values) = statement.strip_prefix("INSERT INTO ").unwrap().split_once(" VALUES (").unwrap();
        let schema = Arc::clone(self.session.schema());
        let id = schema.table_named("definition", name).unwrap().id();
        let values: Vec<Value<'_>> = values
            .trim_end_matches(')')
            .split(", ")
            .map(|value| match value {
                "NULL" => Value::Null,
                text if text.starts_with('\'') => Value::Bytes(text.trim_matches('\'').as_bytes()),
                number => Value::Signed(number.parse().unwrap()),
            })
            .collect();
        let table = self.session.use_table(id, TableMode::Write).unwrap().unwrap();
        assert_eq!(self.session.insert_row(&table, &values, Mode::Shared).unwrap(), RowChange::Done);
        self.session.commit().unwrap();
    }

    fn answer(&mut self, statement: &str, out: &mut String) {
        writeln!(out, "> {statement}").unwrap();
        if statement.starts_with("INSERT") {
            self.insert(statement);
            return out.push_str("ok\n");
        }
        if let Some(set) = statement.strip_prefix("SET ") {
            match set {
                "foreign_key_checks = 0" => self.foreign_key_checks = false,
                "foreign_key_checks = 1" => self.foreign_key_checks = true,
                "sql_mode = ''" => (self.mode, self.no_engine_substitution) = (SqlMode::NONE, false),
                other => panic!("SET {other}"),
            }
            return out.push_str("ok\n");
        }
        let (outcome, warnings) = self.run(statement);
        match outcome {
            Ok(Outcome::Rows(rows)) => {
                out.push_str("ok\n");
                for row in &rows.rows {
                    let cells: Vec<String> = row.iter().map(shown).collect();
                    writeln!(out, "| {}", cells.join(" | ")).unwrap();
                }
            }
            Ok(_) => out.push_str("ok\n"),
            Err(error) => writeln!(out, "error {} {}", error.code.0, line(&error.message)).unwrap(),
        }
        for warning in warnings {
            let condition = warning.condition;
            writeln!(out, "{} {} {}", warning.level.name(), condition.number, line(&condition.message)).unwrap();
        }
    }

    /// The tables that are left.
    fn tables(&mut self, out: &mut String) {
        let schema = Arc::clone(self.session.schema());
        for name in schema.databases["definition"].tables.keys() {
            match self.run(&format!("SHOW CREATE TABLE `{name}`")).0 {
                Ok(Outcome::Rows(rows)) => writeln!(out, "= {}", shown(&rows.rows[0][1])).unwrap(),
                other => writeln!(out, "= {other:?}").unwrap(),
            }
        }
    }
}

/// A case's answers: each statement with what came of it, then the tables.
fn answers(statements: &[&str]) -> String {
    let mut server = server();
    server.run("CREATE DATABASE definition").0.unwrap();
    let mut out = String::new();
    statements.iter().for_each(|statement| server.answer(statement, &mut out));
    server.tables(&mut out);
    out
}

/// The first part of two texts that differs: a statement with its answers, or the tables.
fn difference<'t>(theirs: &'t str, ours: &'t str) -> Option<(&'t str, &'t str)> {
    let parts = |text: &'t str| {
        let mut starts: Vec<usize> = text.match_indices("> ").map(|(at, _)| at).collect();
        starts.retain(|&at| at == 0 || text.as_bytes()[at - 1] == b'\n');
        starts.push(text.find("\n= ").map_or(text.len(), |at| at + 1));
        starts.push(text.len());
        starts.windows(2).map(|pair| &text[pair[0]..pair[1].max(pair[0])]).collect::<Vec<_>>()
    };
    parts(theirs).into_iter().zip(parts(ours)).find(|(theirs, ours)| theirs != ours)
}

#[test]
fn definitions_are_as_in_mysql() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/definition");
    let known = std::fs::read_to_string(folder.join("known.txt")).unwrap();
    let known: BTreeSet<&str> = known.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let (mut cases, mut statements) = (0, 0);
    let mut differences = BTreeSet::new();
    let mut report = String::new();
    for name in ["alter", "expressions", "foreign", "keys", "tables", "types"] {
        let recorded = std::fs::read_to_string(folder.join(format!("{name}.result"))).unwrap();
        for theirs in recorded.split("\n\n").filter(|case| !case.trim().is_empty()) {
            let theirs = format!("{}\n", theirs.trim_end_matches('\n'));
            let asked: Vec<&str> = theirs.lines().filter_map(|line| line.strip_prefix("> ")).collect();
            cases += 1;
            statements += asked.len();
            let ours = answers(&asked);
            if let Some((wanted, got)) = difference(&theirs, &ours) {
                let first = wanted.lines().next().unwrap_or_default().trim_start_matches("> ").to_owned();
                let key = if first.starts_with("= ") { format!("tables of: {}", asked[0]) } else { first };
                if !known.contains(key.as_str()) {
                    writeln!(report, "--- MySQL\n{wanted}+++ here\n{got}").unwrap();
                }
                differences.insert(key);
            }
        }
    }
    println!("{cases} cases of {statements} statements, {} differ", differences.len());
    let vanished: Vec<_> = known.iter().filter(|key| !differences.contains(**key)).collect();
    assert!(report.is_empty(), "\n{report}");
    assert!(vanished.is_empty(), "listed in known.txt, and as in MySQL now: {vanished:#?}");
}
