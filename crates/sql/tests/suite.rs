//! The SQL suite: the statements of `suite/*.test`, whose answers `suite/record.py` recorded from MySQL 9.7, through
//! sessions on a simulated disk. Rows, columns' names and types, counts, errors and warnings are compared.
//!
//! To add a case, write it into a .test file, and run `record.py` against a MySQL server.
//!
//! Answers that are known to differ are listed in `suite/known.txt`: a line with the cause, `# ...`, and behind it those
//! statements. One that is listed and does not differ fails the test too. With MESETA_SHOW_DIFFERENCES=name (or `all`)
//! the differences of a file are printed, and with MESETA_WRITE_DIFFERENCES=path they are written as such a list.

mod recorded;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use meseta_sim::SimDisk;
use meseta_sql::query::{OutputColumn, OutputColumns};
use meseta_sql::session::{Answer, Done, Identity, Instance, Session, Status, Undisturbed};
use meseta_sql::statement::manipulation::PieceSource;
use meseta_sql::{Error, Result};
use meseta_storage::{Store, StoreOptions};
use meseta_types::{Charset, Collation, Datum};
use recorded::{Step, cases, escape};

/// What was answered, as `recorder.py` writes it down.
#[derive(Default)]
struct Written {
    lines: Vec<String>,
    rows: Vec<String>,
    failed: Option<u16>,
    warnings: u64,
}

fn shown(column: &OutputColumn, value: Datum<'_>) -> String {
    if value.is_null() {
        return "NULL".to_owned();
    }
    let mut text = Vec::new();
    column.data_type.append_text(value, &mut text);
    // As a client hears it who wants utf8mb4.
    if let Datum::Text(own, collation) = value
        && collation.charset() != Charset::Binary
    {
        text.clear();
        collation.charset().convert(own, Charset::Utf8mb4, &mut text);
    }
    match String::from_utf8(text) {
        Ok(text) if text == "NULL" => "\\NULL".to_owned(),
        Ok(text) => escape(&text),
        Err(error) => {
            let digits = error.as_bytes().iter().map(|byte| format!("{byte:02X}"));
            format!("0x{}", digits.collect::<String>())
        }
    }
}

impl Answer for Written {
    fn columns(&mut self, columns: &OutputColumns, _: Status) -> Result<()> {
        let columns = columns.iter().map(|column| {
            format!(
                "{} {} {} {} {} {}",
                escape(&String::from_utf8_lossy(&column.name)),
                column.data_type.type_code() as u8,
                column.length(Charset::Utf8mb4),
                column.decimals(),
                column.flags(),
                column.collation_number(Collation::Utf8mb4_0900AiCi)
            )
        });
        self.lines.push(format!(": {}", columns.collect::<Vec<_>>().join("\t")));
        Ok(())
    }

    fn row(&mut self, columns: &[OutputColumn], row: &[Datum<'_>]) -> Result<()> {
        let values: Vec<String> = columns.iter().zip(row).map(|(column, &value)| shown(column, value)).collect();
        self.rows.push(format!("= {}", values.join("\t")));
        Ok(())
    }

    fn end(&mut self, status: Status) -> Result<()> {
        self.warnings = status.warnings;
        Ok(())
    }

    fn done(&mut self, done: &Done, status: Status) -> Result<()> {
        let line = format!(". {} {} {}", done.affected, done.insert_id, escape(&done.info));
        self.lines.push(line.trim_end().to_owned());
        self.warnings = status.warnings;
        Ok(())
    }

    fn local_file(&mut self, name: &[u8]) -> Result<Box<dyn PieceSource + '_>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
        let content = std::fs::read(folder.join(std::str::from_utf8(name).unwrap())).unwrap();
        Ok(Box::new(InPieces { content, at: 0 }))
    }

    fn failed(&mut self, error: &Error, _: Status) -> Result<()> {
        self.lines.clear();
        self.rows.clear();
        self.lines.push(format!("! {} {}", error.code.0, escape(&error.message)));
        (self.failed, self.warnings) = (Some(error.code.0), 1);
        Ok(())
    }
}

/// A file in small pieces, of another size each.
struct InPieces {
    content: Vec<u8>,
    at: usize,
}

impl PieceSource for InPieces {
    fn next_piece(&mut self) -> Result<Option<&[u8]>> {
        let from = self.at;
        self.at = (from + 1 + from % 7).min(self.content.len());
        Ok((from < self.at).then(|| &self.content[from..self.at]))
    }
}

/// One server for all cases.
struct Server {
    instance: Arc<Instance>,
}

impl Server {
    fn new() -> Self {
        let options = StoreOptions {
            memory_bytes: 32 << 20,
            log_bytes: 16 << 20,
            log_buffer_bytes: 1 << 20,
            max_data_bytes: 512 << 20,
            ..StoreOptions::default()
        };
        let store = Store::open_on(Arc::new(SimDisk::new(1)), options).unwrap();
        Server { instance: Instance::open(store).unwrap() }
    }

    fn session(&self) -> Session {
        let connection = self.instance.next_connection();
        let identity = Identity { connection, user: "root@localhost".into(), account: "root@localhost".into() };
        let mut session = Session::new(&self.instance, identity, Box::new(Undisturbed)).unwrap();
        run(&mut session, "SET time_zone = '+00:00'");
        session
    }
}

/// Runs a statement and writes its answer down.
fn run(session: &mut Session, statement: &str) -> Vec<String> {
    let mut written = Written::default();
    session.execute(statement.as_bytes(), false, &mut written).unwrap();
    let lower = statement.to_lowercase().replace('\n', " ");
    if !lower.contains(" order by ") {
        written.rows.sort();
    }
    let mut lines = written.lines;
    lines.append(&mut written.rows);
    if written.warnings > 0 && !lower.starts_with("show ") {
        let mut warnings = Written::default();
        session.execute(b"show warnings", false, &mut warnings).unwrap();
        let failed = written.failed.map(|number| format!("= Error\t{number}\t"));
        for row in warnings.rows {
            if failed.as_ref().is_none_or(|failed| !row.starts_with(failed.as_str())) {
                lines.push(format!("~ {}", row[2..].replace('\t', " ")));
            }
        }
    }
    lines
}

/// A step's answer as it is here.
fn answer(server: &Server, sessions: &mut HashMap<String, Session>, step: &Step) -> Vec<String> {
    let session = sessions.entry(step.who.clone()).or_insert_with(|| {
        let mut session = server.session();
        run(&mut session, "USE suite");
        session
    });
    run(session, &step.statement)
}

#[test]
fn statements_are_answered_as_in_mysql() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    let known = std::fs::read_to_string(folder.join("known.txt")).unwrap();
    let known: BTreeSet<&str> = known.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let wanted = std::env::var("MESETA_SHOW_DIFFERENCES").unwrap_or_default();
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "result"));
    files.sort();
    let (mut differences, mut report) = (BTreeSet::new(), String::new());
    let mut counts = BTreeMap::new();
    for path in files {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let (mut statements, mut differing) = (0, 0);
        let server = Server::new();
        let mut keeper = server.session();
        for case in cases(&text) {
            run(&mut keeper, "DROP DATABASE IF EXISTS suite");
            run(&mut keeper, "CREATE DATABASE suite CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci");
            let mut sessions = HashMap::new();
            for step in case {
                let ours = answer(&server, &mut sessions, &step);
                if step.is_unseen {
                    continue;
                }
                statements += 1;
                if ours == step.lines {
                    continue;
                }
                differing += 1;
                let key = format!("{name}: {}", escape(&step.statement));
                if wanted == name || wanted == "all" || (wanted.is_empty() && !known.contains(key.as_str())) {
                    writeln!(report, "> {}", step.statement).unwrap();
                    step.lines
                        .iter()
                        .filter(|line| !ours.contains(line))
                        .for_each(|line| writeln!(report, "  MySQL {line}").unwrap());
                    ours.iter()
                        .filter(|line| !step.lines.contains(line))
                        .for_each(|line| writeln!(report, "  here  {line}").unwrap());
                }
                differences.insert(key);
            }
            sessions.values_mut().for_each(Session::close);
        }
        counts.insert(name, (statements, differing));
    }
    for (name, (statements, differing)) in &counts {
        println!("{name}: {statements} statements, {differing} differ");
    }
    if let Ok(path) = std::env::var("MESETA_WRITE_DIFFERENCES") {
        std::fs::write(path, differences.iter().map(|key| format!("{key}\n")).collect::<String>()).unwrap();
    }
    let vanished: Vec<_> = known.iter().filter(|key| !differences.contains(**key)).collect();
    assert!(report.is_empty(), "\n{report}");
    assert!(vanished.is_empty(), "listed in known.txt, and as in MySQL now: {vanished:#?}");
}
