//! What wire and scheduler cost alone: a server that answers every statement with the same row of 120 bytes.
//!
//! ```text
//! cargo run --release -p meseta-server --example floor -- --port=3998 --max-connections=20000
//! ```
//!
//! Nothing is parsed or looked up. What a client measures is the client, the kernel, and this crate; what the process
//! prints when it stops is its own share: processor time for each statement, and memory for each connection.

use std::sync::Arc;

use meseta_protocol::auth::Plugin;
use meseta_protocol::auth::server::Account;
use meseta_protocol::auth::verifier::Verifier;
use meseta_protocol::column::{ColumnDefinition, ColumnType, write_column_count};
use meseta_protocol::execute::{Execute, Query};
use meseta_protocol::flags::{CursorFlags, StatusFlags};
use meseta_protocol::reply::{EofPacket, OkPacket, PrepareOk};
use meseta_protocol::row::{BinaryRow, TextRow};
use meseta_server::backend::{Claim, End, Opening, Refusal};
use meseta_server::{Backend, Clock, Outcome, Reply, Server, Session, options, signals};

struct Floor;
struct FloorSession {
    statements: u32,
}

impl Backend for Floor {
    fn version(&self) -> String {
        "9.7.0-floor".to_owned()
    }

    fn default_plugin(&self) -> Plugin {
        Plugin::NativePassword
    }

    fn account(&self, _: &Claim<'_>) -> Option<Account> {
        // The password of the peers' user, so that the same command line measures all.
        let verifier = Verifier::of_password(Plugin::NativePassword, b"bench", [b'a'; 20], 5000);
        Some(Account { plugin: Plugin::NativePassword, verifier, cached: None })
    }

    fn proved(&self, _: &Claim<'_>, _: [u8; 32]) {}

    fn open(&self, _: Opening<'_>) -> Result<Box<dyn Session>, Refusal> {
        Ok(Box::new(FloorSession { statements: 0 }))
    }
}

const VALUE: [u8; 120] = [b'x'; 120];

fn begin(reply: &mut Reply<'_>) {
    let capabilities = reply.capabilities();
    let writer = reply.writer();
    write_column_count(writer, capabilities, 1, true);
    let column = ColumnDefinition {
        schema: b"sbtest",
        table: b"sbtest1",
        original_table: b"sbtest1",
        name: b"c",
        original_name: b"c",
        length: 480,
        column_type: ColumnType::String,
        ..ColumnDefinition::default()
    };
    column.write(writer);
    EofPacket { status: StatusFlags::AUTOCOMMIT, warnings: 0 }.write_end_of_columns(writer, capabilities);
}

fn end(reply: &mut Reply<'_>) -> Outcome {
    let capabilities = reply.capabilities();
    let ok = OkPacket { status: StatusFlags::AUTOCOMMIT, ..OkPacket::default() };
    ok.write_end_of_rows(reply.writer(), capabilities);
    Outcome::Done
}

impl Session for FloorSession {
    fn status(&self) -> StatusFlags {
        StatusFlags::AUTOCOMMIT
    }

    fn query(&mut self, query: &Query<'_>, reply: &mut Reply<'_>) -> Outcome {
        if !query.text.first_chunk::<6>().is_some_and(|word| word.eq_ignore_ascii_case(b"select")) {
            return self.ping(reply);
        }
        begin(reply);
        let mut row = TextRow::new(reply.writer());
        row.bytes(&VALUE);
        row.end();
        end(reply)
    }

    fn prepare(&mut self, text: &[u8], reply: &mut Reply<'_>) -> Outcome {
        self.statements += 1;
        let parameters = text.iter().filter(|&&byte| byte == b'?').count() as u16;
        let capabilities = reply.capabilities();
        let ok =
            PrepareOk { statement_id: self.statements, columns: 1, parameters, warnings: 0, with_definitions: true };
        ok.write(reply.writer(), capabilities);
        let column = ColumnDefinition { name: b"?", column_type: ColumnType::VarString, ..Default::default() };
        for _ in 0..parameters {
            column.write(reply.writer());
        }
        if parameters > 0 {
            EofPacket::default().write_end_of_columns(reply.writer(), capabilities);
        }
        column.write(reply.writer());
        EofPacket::default().write_end_of_columns(reply.writer(), capabilities);
        Outcome::Done
    }

    fn execute(&mut self, execute: Execute<'_>, reply: &mut Reply<'_>) -> Outcome {
        let _no_cursor: CursorFlags = execute.cursor;
        begin(reply);
        let mut row = BinaryRow::new(reply.writer(), 1);
        row.bytes(&VALUE);
        row.end();
        end(reply)
    }

    fn fetch(&mut self, _: u32, _: u32, reply: &mut Reply<'_>) -> Outcome {
        self.ping(reply)
    }

    fn send_long_data(&mut self, _: u32, _: u16, _: &[u8]) {}

    fn close_statement(&mut self, _: u32) {}

    fn reset_statement(&mut self, _: u32, reply: &mut Reply<'_>) -> Outcome {
        self.ping(reply)
    }

    fn init_db(&mut self, _: &[u8], reply: &mut Reply<'_>) -> Outcome {
        self.ping(reply)
    }

    fn field_list(&mut self, _: &[u8], _: &[u8], reply: &mut Reply<'_>) -> Outcome {
        EofPacket::default().write(reply.writer());
        Outcome::Done
    }

    fn set_multi_statements(&mut self, _: bool) {}

    fn reset_connection(&mut self, reply: &mut Reply<'_>) -> Outcome {
        self.ping(reply)
    }

    fn change_user(&mut self, _: Opening<'_>) -> Result<(), Refusal> {
        Ok(())
    }

    fn kill(&mut self, _: u32, reply: &mut Reply<'_>) -> Outcome {
        self.ping(reply)
    }

    fn close(self: Box<Self>, _: End) {}
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let parsed = options::parse(std::env::args().skip(1))?;
    meseta_server::log::to_stderr(parsed.options.log_error_verbosity);
    parsed.notes.iter().for_each(|note| tracing::info!("{note}"));
    let mut options = parsed.options;
    let directory = tempfile::tempdir()?;
    options.datadir = directory.path().to_owned();
    let server = Server::start(&options, Arc::new(Floor), Clock::System)?;
    let handle = server.handle();
    signals::heed(handle.clone(), || {})?;
    eprintln!("{:?}, ready after {:?}", server.addresses(), server.start_time());
    meseta_server::notify::ready("ready");
    let before = processor_seconds();
    server.wait();
    let totals = handle.totals();
    let used = processor_seconds() - before;
    let statements = totals.commands[3] + totals.commands[0x17];
    println!(
        "{statements} statements, {:.2} us each in user and kernel; {} connections at most; {} in memory at most",
        used * 1e6 / statements.max(1) as f64,
        totals.max_used_connections,
        memory("VmHWM:"),
    );
    Ok(())
}

/// User and kernel time of this process.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks: f64 = fields.iter().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / 100.0
}

/// A line of what the kernel says about this process' memory.
fn memory(line: &str) -> String {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    text.lines().find_map(|found| found.strip_prefix(line)).unwrap_or("").trim().to_owned()
}
