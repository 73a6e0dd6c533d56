//! Our client against a real server: `MESETA_PEER=host:port:user:password cargo test -p meseta-protocol --test peer`.
//!
//! Without the variable there is nothing to test, and the tests say so. With it they run statements of text and
//! prepared ones, of all types, with and without DEPRECATE_EOF and compression, and make, use and drop a database of
//! their own.

use std::io::{Read, Write};
use std::net::TcpStream;

use meseta_protocol::auth::Password;
use meseta_protocol::auth::client::ClientOptions;
use meseta_protocol::client::{Client, Event};
use meseta_protocol::flags::{Capabilities, CursorFlags, StatusFlags};
use meseta_protocol::reply::SessionChange;
use meseta_protocol::value::{DateTime, Time, Value};

/// A value that outlives its packet.
#[derive(Debug, Clone, PartialEq)]
enum Owned {
    Null,
    Int(i64),
    UInt(u64),
    Double(f64),
    Text(String),
    DateTime(DateTime),
    Time(Time),
}

impl From<Value<'_>> for Owned {
    fn from(value: Value<'_>) -> Owned {
        match value {
            Value::Null => Owned::Null,
            Value::Int(value) => Owned::Int(value),
            Value::UInt(value) => Owned::UInt(value),
            Value::Float(value) => Owned::Double(f64::from(value)),
            Value::Double(value) => Owned::Double(value),
            Value::Bytes(bytes) => Owned::Text(String::from_utf8_lossy(bytes).into_owned()),
            Value::DateTime(value) => Owned::DateTime(value),
            Value::Time(value) => Owned::Time(value),
        }
    }
}

/// What came of a command.
#[derive(Debug, Default)]
struct Outcome {
    rows: Vec<Vec<Owned>>,
    names: Vec<String>,
    results: usize,
    affected: u64,
    status: StatusFlags,
    error: Option<(u16, String, String)>,
    statement: u32,
    parameters: usize,
    schema: Option<String>,
    text: String,
}

struct Connection {
    stream: TcpStream,
    client: Client,
    events: usize,
}

struct Peer {
    address: String,
    user: String,
    password: String,
}

fn peer() -> Option<Peer> {
    let Ok(peer) = std::env::var("MESETA_PEER") else {
        eprintln!("MESETA_PEER is not set: nothing to test");
        return None;
    };
    let parts: Vec<&str> = peer.splitn(4, ':').collect();
    let [host, port, user, password] = parts[..] else { panic!("MESETA_PEER is host:port:user:password") };
    Some(Peer { address: format!("{host}:{port}"), user: user.into(), password: password.into() })
}

impl Peer {
    fn options(&self, without: Capabilities, with: Capabilities) -> ClientOptions {
        let usual = ClientOptions::default();
        ClientOptions {
            user: self.user.clone().into_bytes(),
            password: Password::new(self.password.clone().into_bytes()),
            capabilities: usual.capabilities.with(with).without(without),
            allow_public_key: true,
            ..usual
        }
    }

    fn connect(&self, options: ClientOptions) -> Result<Connection, Box<Outcome>> {
        let stream = TcpStream::connect(&self.address).expect("the peer is there");
        let mut connection = Connection { stream, client: Client::connect(options, 64 << 20), events: 0 };
        let outcome = connection.run();
        if outcome.error.is_some() { Err(Box::new(outcome)) } else { Ok(connection) }
    }
}

impl Connection {
    /// Sends what there is and takes events until the client is idle.
    fn run(&mut self) -> Outcome {
        let mut outcome = Outcome::default();
        loop {
            while !self.client.output().is_empty() {
                let count = self.stream.write(self.client.output()).unwrap();
                self.client.sent(count);
            }
            let mut progress = false;
            while let Some(event) = self.client.next_event().unwrap() {
                progress = true;
                self.events += 1;
                let mut file_wanted = false;
                match event {
                    Event::Nothing | Event::StartTls => {}
                    Event::Connected(ok) => outcome.status = ok.status,
                    Event::Ok(ok) | Event::EndOfRows(ok) => {
                        outcome.results += 1;
                        outcome.affected += ok.affected_rows;
                        outcome.status = ok.status;
                        for change in SessionChange::iterate(ok.session) {
                            if let SessionChange::Schema(name) = change.unwrap() {
                                outcome.schema = Some(String::from_utf8_lossy(name).into_owned());
                            }
                        }
                    }
                    Event::Error(error) => {
                        let state = String::from_utf8_lossy(&error.sqlstate).into_owned();
                        let message = String::from_utf8_lossy(error.message).into_owned();
                        outcome.error = Some((error.code.number(), state, message));
                    }
                    Event::Columns(_) => outcome.names.clear(),
                    Event::Column(column) => outcome.names.push(String::from_utf8_lossy(column.name).into_owned()),
                    Event::Parameter(_) => outcome.parameters += 1,
                    Event::Row(row) => outcome.rows.push(row.values().map(|value| value.unwrap().into()).collect()),
                    Event::Prepared(prepared) => outcome.statement = prepared.statement_id,
                    Event::LocalInfile(name) => {
                        assert_eq!(name, b"numbers.txt");
                        file_wanted = true;
                    }
                    Event::Text(text) => outcome.text = String::from_utf8_lossy(text).into_owned(),
                }
                if file_wanted {
                    self.client.send_file(b"1\tone\n2\ttwo\n");
                    self.client.send_file(b"3\tthree\n");
                    self.client.end_file();
                }
            }
            if self.client.is_idle() && self.client.output().is_empty() {
                return outcome;
            }
            if progress && !self.client.output().is_empty() {
                continue;
            }
            let count = self.stream.read(self.client.room()).unwrap();
            assert!(count > 0, "the peer has closed the connection");
            self.client.filled(count);
        }
    }

    fn query(&mut self, text: &str) -> Outcome {
        self.client.query(text.as_bytes());
        self.run()
    }

    fn prepare(&mut self, text: &str) -> Outcome {
        self.client.prepare(text.as_bytes());
        self.run()
    }

    fn execute(&mut self, statement: u32, cursor: CursorFlags, values: &[Value<'_>], with_types: bool) -> Outcome {
        let parameters: Vec<(&[u8], Value<'_>)> = values.iter().map(|value| (&b""[..], *value)).collect();
        self.client.execute(statement, cursor, &parameters, with_types);
        self.run()
    }
}

fn text(value: &str) -> Owned {
    Owned::Text(value.into())
}

fn all_of_it(peer: &Peer, without: Capabilities, with: Capabilities, database: &str) {
    let mut connection = peer.connect(peer.options(without, with)).unwrap();
    assert_eq!(connection.query(&format!("DROP DATABASE IF EXISTS {database}")).error, None);
    assert_eq!(connection.query(&format!("CREATE DATABASE {database}")).error, None);
    connection.client.init_db(database.as_bytes());
    let outcome = connection.run();
    assert_eq!(outcome.error, None);

    // Text, of all types.
    let created = connection.query(
        "CREATE TABLE t (a TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT, d INT, e BIGINT UNSIGNED, f FLOAT, g DOUBLE, \
         h DECIMAL(10,3), i DATE, j DATETIME(6), k TIMESTAMP NULL, l TIME(3), m YEAR, n CHAR(5), o VARBINARY(9), \
         p TEXT, q ENUM('x','y'), r SET('s','t'), s BIT(9), t JSON)",
    );
    assert_eq!(created.error, None);
    let inserted = connection.query(
        "INSERT INTO t VALUES (-5, 65535, -8388608, -2147483648, 18446744073709551615, 1.5, -2.25, 12.345, \
         '2026-11-21', '2026-11-21 01:02:03.000004', '2026-11-21 01:02:03', '-838:59:59', 2026, 'char', 'bin', \
         'text', 'y', 's,t', b'100000001', '{\"a\": 1}'), \
         (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
         NULL, NULL)",
    );
    assert_eq!((inserted.error, inserted.affected), (None, 2));
    let rows = connection.query("SELECT * FROM t").rows;
    assert_eq!(rows.len(), 2);
    let as_text = [
        "-5",
        "65535",
        "-8388608",
        "-2147483648",
        "18446744073709551615",
        "1.5",
        "-2.25",
        "12.345",
        "2026-11-21",
        "2026-11-21 01:02:03.000004",
        "2026-11-21 01:02:03",
        "-838:59:59.000",
        "2026",
        "char",
        "bin",
        "text",
        "y",
        "s,t",
        "\u{1}\u{1}",
        "{\"a\": 1}",
    ];
    assert_eq!(rows[0], as_text.map(text));
    assert_eq!(rows[1], vec![Owned::Null; 20]);

    // The same, prepared.
    let moment = DateTime { hour: 1, minute: 2, second: 3, ..DateTime::date(2026, 11, 21) };
    let prepared = connection.prepare("SELECT * FROM t WHERE a = ? OR ? IS NULL");
    assert_eq!((prepared.parameters, prepared.names.len()), (2, 20));
    let rows = connection.execute(prepared.statement, CursorFlags::NONE, &[Value::Int(-5), Value::Int(0)], true).rows;
    let as_values = [
        Owned::Int(-5),
        Owned::UInt(65535),
        Owned::Int(-8_388_608),
        Owned::Int(-2_147_483_648),
        Owned::UInt(u64::MAX),
        Owned::Double(1.5),
        Owned::Double(-2.25),
        text("12.345"),
        Owned::DateTime(DateTime::date(2026, 11, 21)),
        Owned::DateTime(DateTime { microsecond: 4, ..moment }),
        Owned::DateTime(moment),
        Owned::Time(Time { negative: true, days: 34, hour: 22, minute: 59, second: 59, microsecond: 0 }),
        Owned::UInt(2026),
        text("char"),
        text("bin"),
        text("text"),
        text("y"),
        text("s,t"),
        text("\u{1}\u{1}"),
        text("{\"a\": 1}"),
    ];
    assert_eq!(rows, [as_values.to_vec()]);
    let again = connection.execute(prepared.statement, CursorFlags::NONE, &[Value::Int(7), Value::Int(0)], false);
    assert!(again.rows.is_empty() && again.error.is_none());
    let again = connection.execute(prepared.statement, CursorFlags::NONE, &[Value::Int(7), Value::Null], true);
    assert_eq!(again.rows.len(), 2);
    assert_eq!(again.rows[1], vec![Owned::Null; 20]);

    // Parameters of all types come back as what they are.
    let prepared = connection.prepare("SELECT ?, ?, ?, ?, ?, ?, ?");
    let span = Time { days: 2, hour: 3, minute: 4, second: 5, microsecond: 6, negative: true };
    let values = [
        Value::Int(i64::MIN),
        Value::UInt(u64::MAX),
        Value::Double(0.1),
        Value::Bytes("naïve".as_bytes()),
        Value::DateTime(DateTime { microsecond: 7, ..moment }),
        Value::Time(span),
        Value::Null,
    ];
    let rows = connection.execute(prepared.statement, CursorFlags::NONE, &values, true).rows;
    assert_eq!(rows[0], values.map(Owned::from));

    // Long data, reset, a cursor, close.
    let prepared = connection.prepare("SELECT LENGTH(?), ?");
    connection.client.send_long_data(prepared.statement, 0, &[b'x'; 70_000]);
    connection.run();
    connection.client.send_long_data(prepared.statement, 0, &[b'y'; 30_000]);
    connection.run();
    connection.client.reset_statement(prepared.statement);
    assert_eq!(connection.run().error, None);
    let statement = connection.prepare("SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3").statement;
    let opened = connection.execute(statement, CursorFlags::READ_ONLY, &[], true);
    assert!(opened.rows.is_empty() && opened.status.has(StatusFlags::CURSOR_EXISTS), "{opened:?}");
    connection.client.fetch(statement, 2);
    assert_eq!(connection.run().rows, [[Owned::Int(1)], [Owned::Int(2)]]);
    connection.client.fetch(statement, 2);
    let last = connection.run();
    assert_eq!(last.rows, [[Owned::Int(3)]]);
    assert!(last.status.has(StatusFlags::LAST_ROW_SENT));
    connection.client.close_statement(statement);
    connection.run();
    let (code, ..) = connection.execute(statement, CursorFlags::NONE, &[], true).error.unwrap();
    assert_eq!(code, 1243);

    // Errors, many results, many rows, a large row, the small commands.
    let (code, state, _) = connection.query("SELECT * FROM none_such").error.unwrap();
    assert_eq!((code, &state[..]), (1146, "42S02"));
    connection.client.set_multi_statements(true);
    assert_eq!(connection.run().error, None);
    let many = connection.query("SELECT 1; SELECT 2, 3; DO 0");
    assert_eq!((many.results, many.rows.len(), many.error), (3, 2, None));
    let rows = connection
        .query(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) \
             SELECT i, REPEAT('z', i) FROM n",
        )
        .rows;
    assert_eq!((rows.len(), &rows[999][0]), (1000, &text("1000")));
    let large = connection.query("SELECT REPEAT('q', 17000000)");
    if let Some((code, ..)) = large.error {
        panic!("{code}");
    }
    assert!(matches!(&large.rows[0][0], Owned::Text(q) if q.len() == 17_000_000) || large.rows[0][0] == Owned::Null);
    connection.client.ping();
    assert_eq!(connection.run().error, None);
    connection.client.statistics();
    assert!(connection.run().text.starts_with("Uptime"));
    connection.client.command(0x30, b"");
    assert_eq!(connection.run().error.unwrap().0, 1047);

    // Another user, a session like new.
    connection.client.change_user(ClientOptions { database: database.into(), ..peer.options(without, with) });
    assert_eq!(connection.run().error, None);
    assert_eq!(connection.query("SELECT DATABASE()").rows, [[text(database)]]);
    connection.client.reset_connection();
    assert_eq!(connection.run().error, None);

    assert_eq!(connection.query(&format!("DROP DATABASE {database}")).error, None);
    connection.client.quit();
    let count = connection.client.output().len();
    connection.stream.write_all(connection.client.output()).unwrap();
    connection.client.sent(count);
    assert_eq!(connection.stream.read(&mut [0; 1]).unwrap(), 0);
}

#[test]
fn statements_of_all_types() {
    let Some(peer) = peer() else { return };
    all_of_it(&peer, Capabilities::NONE, Capabilities::MULTI_STATEMENTS, "meseta_protocol_a");
}

#[test]
fn statements_of_all_types_with_eof_packets() {
    let Some(peer) = peer() else { return };
    let without = Capabilities::DEPRECATE_EOF | Capabilities::SESSION_TRACK;
    all_of_it(&peer, without, Capabilities::NONE, "meseta_protocol_b");
}

#[test]
fn statements_of_all_types_with_attributes_and_optional_metadata() {
    let Some(peer) = peer() else { return };
    let with = Capabilities::QUERY_ATTRIBUTES | Capabilities::OPTIONAL_RESULTSET_METADATA;
    all_of_it(&peer, Capabilities::NONE, with, "meseta_protocol_c");
}

#[test]
fn statements_of_all_types_compressed() {
    let Some(peer) = peer() else { return };
    all_of_it(&peer, Capabilities::NONE, Capabilities::COMPRESS, "meseta_protocol_d");
    all_of_it(&peer, Capabilities::NONE, Capabilities::ZSTD_COMPRESSION, "meseta_protocol_e");
}

#[test]
fn what_is_wrong_is_refused() {
    let Some(peer) = peer() else { return };
    let options = ClientOptions {
        password: Password::new(b"wrong".to_vec()),
        ..peer.options(Capabilities::NONE, Capabilities::NONE)
    };
    let (code, state, _) = peer.connect(options).err().unwrap().error.unwrap();
    assert_eq!((code, &state[..]), (1045, "28000"));
    let options =
        ClientOptions { database: b"none_such".to_vec(), ..peer.options(Capabilities::NONE, Capabilities::NONE) };
    let (code, ..) = peer.connect(options).err().unwrap().error.unwrap();
    assert!(code == 1049 || code == 1044);
}

#[test]
fn the_session_tells_what_changed() {
    let Some(peer) = peer() else { return };
    let mut connection = peer.connect(peer.options(Capabilities::NONE, Capabilities::NONE)).unwrap();
    assert_eq!(connection.query("USE information_schema").schema.as_deref(), Some("information_schema"));
}
