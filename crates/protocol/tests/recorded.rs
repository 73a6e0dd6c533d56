//! What a MySQL 9.7 server sent, byte for byte: what we write in its place is the same, and what we read of it is
//! right.
//!
//! The bytes are in `data/mysql-9.7.4.txt`, with what each answers.

use meseta_errors::{ER_DUP_ENTRY, ER_PARSE_ERROR, ER_SYNTAX_ERROR, ER_UNKNOWN_COM_ERROR};
use meseta_protocol::auth::CACHING_SHA2_PASSWORD;
use meseta_protocol::column::{ColumnDefinition, ColumnType, write_column_count};
use meseta_protocol::execute::Query;
use meseta_protocol::flags::{Capabilities, ColumnFlags, StatusFlags};
use meseta_protocol::greeting::Greeting;
use meseta_protocol::receive::Receiver;
use meseta_protocol::reply::{EofPacket, ErrPacket, OkPacket, PrepareOk, SessionChange, SessionChanges, write_error};
use meseta_protocol::row::{BinaryRow, ColumnKind, Row, TextRow};
use meseta_protocol::send::PacketWriter;
use meseta_protocol::value::{DateTime, Time, Value};

const OLD: Capabilities = Capabilities::NONE;
const NEW: Capabilities = Capabilities(
    Capabilities::DEPRECATE_EOF.0 | Capabilities::SESSION_TRACK.0 | Capabilities::OPTIONAL_RESULTSET_METADATA.0,
);

fn recorded(name: &str) -> Vec<u8> {
    let mut lines = include_str!("data/mysql-9.7.4.txt").lines().skip_while(|line| *line != name).skip(2);
    let text: String = lines.by_ref().take_while(|line| !line.is_empty()).collect();
    assert!(!text.is_empty(), "{name} is not there");
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Payloads, with their framing checked.
fn payloads(name: &str, first_sequence: u8) -> Vec<Vec<u8>> {
    let mut receiver = Receiver::new(1 << 20);
    receiver.expect_sequence(first_sequence);
    receiver.feed(&recorded(name));
    let mut all = Vec::new();
    while let Some(packet) = receiver.next_packet().unwrap() {
        all.push(packet.payload.to_vec());
    }
    assert!(!receiver.has_bytes());
    all
}

#[track_caller]
fn same(name: &str, write: impl FnOnce(&mut PacketWriter)) {
    let mut writer = PacketWriter::new();
    writer.set_sequence(1);
    write(&mut writer);
    let (ours, theirs) = (writer.bytes(), recorded(name));
    assert_eq!(String::from_utf8_lossy(ours), String::from_utf8_lossy(&theirs), "{name}");
    assert!(ours == theirs, "{name}\n ours {ours:02x?}\ntheirs {theirs:02x?}");
}

fn ok(status: StatusFlags) -> OkPacket<'static> {
    OkPacket { status, ..OkPacket::default() }
}

fn column(name: &'static [u8], column_type: ColumnType, length: u32, flags: u16) -> ColumnDefinition<'static> {
    ColumnDefinition {
        schema: b"meseta_protocol_rec",
        table: b"t",
        original_table: b"t",
        name,
        original_name: name,
        length,
        column_type,
        flags: ColumnFlags(flags),
        ..ColumnDefinition::default()
    }
}

fn expression(name: &'static [u8], length: u32, flags: ColumnFlags) -> ColumnDefinition<'static> {
    ColumnDefinition { name, length, column_type: ColumnType::LongLong, flags, ..ColumnDefinition::default() }
}

fn id() -> ColumnDefinition<'static> {
    let flags = ColumnFlags::NOT_NULL | ColumnFlags::PRIMARY_KEY | ColumnFlags::AUTO_INCREMENT | ColumnFlags::PART_KEY;
    column(b"id", ColumnType::Long, 11, flags.0)
}

fn n() -> ColumnDefinition<'static> {
    let flags = ColumnFlags::NOT_NULL | ColumnFlags::NO_DEFAULT_VALUE;
    ColumnDefinition { collation: 255, ..column(b"n", ColumnType::VarString, 480, flags.0) }
}

fn k() -> ColumnDefinition<'static> {
    column(b"k", ColumnType::Long, 11, (ColumnFlags::MULTIPLE_KEY | ColumnFlags::PART_KEY).0)
}

#[test]
fn the_greeting() {
    let payload = &payloads("GREETING", 0)[0];
    let greeting = Greeting::parse(payload).unwrap();
    assert_eq!((greeting.version, greeting.plugin), (&b"9.7.4-2"[..], CACHING_SHA2_PASSWORD));
    assert_eq!((greeting.collation, greeting.status), (255, StatusFlags::AUTOCOMMIT));
    assert!(greeting.capabilities.has(NEW | Capabilities::SSL | Capabilities::ZSTD_COMPRESSION));
    let mut writer = PacketWriter::new();
    greeting.write(&mut writer);
    assert_eq!(writer.bytes(), recorded("GREETING"));
}

#[test]
fn oks_and_errors() {
    let done = ok(StatusFlags::AUTOCOMMIT);
    same("PING_OK", |writer| done.write(writer, OLD));
    same("INSERT_OK", |writer| {
        let info = b"Records: 2  Duplicates: 0  Warnings: 0";
        OkPacket { affected_rows: 2, last_insert_id: 1, info, ..done }.write(writer, OLD);
    });
    let status = StatusFlags::AUTOCOMMIT;
    same("UPDATE_OK", |writer| {
        let info = b"Rows matched: 1  Changed: 1  Warnings: 0";
        OkPacket { affected_rows: 1, info, status, ..done }.write(writer, OLD);
    });
    same("UPDATE_TRACKED", |writer| {
        OkPacket { info: b"Rows matched: 1  Changed: 0  Warnings: 0", ..done }.write(writer, NEW);
    });
    same("USE_TRACKED", |writer| {
        let mut changes = SessionChanges::new();
        changes.push(SessionChange::Schema(b"meseta_protocol_rec"));
        OkPacket { session: changes.bytes(), ..done }.write(writer, NEW);
    });
    same("SET_TRACKED", |writer| {
        let mut changes = SessionChanges::new();
        changes.push(SessionChange::SystemVariable { name: b"autocommit", value: b"ON" });
        OkPacket { session: changes.bytes(), ..done }.write(writer, NEW);
    });
    same("SET_OPTION_EOF", |writer| EofPacket { status, warnings: 0 }.write(writer));
    same("DUP_ERR", |writer| write_error(writer, ER_DUP_ENTRY, &[&1, &"t.PRIMARY"]));
    same("SYNTAX_ERR", |writer| {
        write_error(writer, ER_PARSE_ERROR, &[&ER_SYNTAX_ERROR.message(&[]), &"selec", &1]);
    });
    same("UNKNOWN_COMMAND", |writer| write_error(writer, ER_UNKNOWN_COM_ERROR, &[]));
    let payload = &payloads("DUP_ERR", 1)[0];
    assert_eq!(ErrPacket::parse(payload).unwrap().code, ER_DUP_ENTRY);
}

#[test]
fn rows_of_text() {
    // The optimiser read the whole table without an index, or with one: the status says so, the rows do not care.
    for (name, capabilities) in [("SELECT_EOF", OLD), ("SELECT_OK", NEW)] {
        let last = payloads(name, 1).pop().unwrap();
        let status = if capabilities == OLD {
            EofPacket::parse(&last).unwrap().status
        } else {
            OkPacket::parse(&last, capabilities).unwrap().status
        };
        assert_eq!(status, StatusFlags::AUTOCOMMIT);
        same(name, |writer| {
            write_column_count(writer, capabilities, 3, true);
            [id(), n(), k()].iter().for_each(|column| column.write(writer));
            EofPacket { status, warnings: 0 }.write_end_of_columns(writer, capabilities);
            for (id, n, k) in [(1, "a", Some(3)), (2, "b", None)] {
                let mut row = TextRow::new(writer);
                row.int(id);
                row.bytes(n.as_bytes());
                k.map_or_else(|| row.null(), |_| ());
                if let Some(k) = k {
                    row.uint(k);
                }
                row.end();
            }
            ok(status).write_end_of_rows(writer, capabilities);
        });
    }
    same("MULTI", |writer| {
        let more = StatusFlags::AUTOCOMMIT | StatusFlags::MORE_RESULTS;
        write_column_count(writer, OLD, 1, true);
        expression(b"1", 2, ColumnFlags::NOT_NULL | ColumnFlags::BINARY).write(writer);
        EofPacket { status: more, warnings: 0 }.write_end_of_columns(writer, OLD);
        let mut row = TextRow::new(writer);
        row.int(1);
        row.end();
        ok(more).write_end_of_rows(writer, OLD);
        ok(StatusFlags::AUTOCOMMIT).write(writer, OLD);
    });
    same("FIELD_LIST", |writer| {
        k().write_with_default(writer, None);
        ok(StatusFlags::AUTOCOMMIT).write_end_of_rows(writer, OLD);
    });
}

#[test]
fn prepared_statements() {
    let status = StatusFlags::AUTOCOMMIT;
    let eof = EofPacket { status, warnings: 0 };
    let parameter = expression(b"?", 21, ColumnFlags::BINARY);
    same("PREPARE_EOF", |writer| {
        PrepareOk { statement_id: 1, columns: 2, parameters: 2, warnings: 0, with_definitions: true }
            .write(writer, OLD);
        [parameter, parameter].iter().for_each(|column| column.write(writer));
        eof.write_end_of_columns(writer, OLD);
        [id(), n()].iter().for_each(|column| column.write(writer));
        eof.write_end_of_columns(writer, OLD);
    });
    same("EXECUTE_EOF", |writer| {
        write_column_count(writer, OLD, 2, true);
        [id(), n()].iter().for_each(|column| column.write(writer));
        eof.write_end_of_columns(writer, OLD);
        let mut row = BinaryRow::new(writer, 2);
        row.int(ColumnType::Long, 1);
        row.bytes(b"a");
        row.end();
        ok(status).write_end_of_rows(writer, OLD);
    });
    let sum = expression(b"? + 1", 22, ColumnFlags::BINARY);
    same("PREPARE_OK", |writer| {
        PrepareOk { statement_id: 1, columns: 1, parameters: 1, warnings: 0, with_definitions: true }
            .write(writer, NEW);
        [parameter, sum].iter().for_each(|column| column.write(writer));
    });
    same("EXECUTE_OK", |writer| {
        write_column_count(writer, NEW, 1, true);
        sum.write(writer);
        let mut row = BinaryRow::new(writer, 1);
        row.int(ColumnType::LongLong, 42);
        row.end();
        ok(status).write_end_of_rows(writer, NEW);
    });
    // The command that QUERY_ATTRIBUTES answers.
    let query = Query::parse(b"\x01\x01\x00\x01\xFE\x00\x01a\x01bselect 7", Capabilities::QUERY_ATTRIBUTES).unwrap();
    assert_eq!(query.text, b"select 7");
    assert_eq!(query.attributes.map(|attribute| attribute.unwrap().name).collect::<Vec<_>>(), [b"a"]);
}

#[test]
fn values_of_all_types() {
    let text = payloads("TYPES_TEXT", 1);
    let binary = payloads("TYPES_BINARY", 1);
    assert_eq!((text.len(), binary.len()), (20, 20));
    assert_eq!(text[..17], binary[..17]);
    let columns: Vec<_> = text[1..17].iter().map(|payload| ColumnDefinition::parse(payload).unwrap()).collect();
    for (column, payload) in columns.iter().zip(&text[1..17]) {
        let mut ours = Vec::new();
        column.encode(&mut ours);
        assert_eq!(&ours, payload);
    }
    let kinds: Vec<_> =
        columns.iter().map(|column| ColumnKind { column_type: column.column_type, flags: column.flags }).collect();
    let values: Vec<_> = Row::binary(&binary[17], &kinds).values().map(|value| value.unwrap()).collect();
    let day = DateTime::date(2026, 11, 21);
    let second = DateTime { hour: 1, minute: 2, second: 3, ..day };
    let span = Time { negative: true, days: 34, hour: 22, minute: 59, second: 59, microsecond: 0 };
    let expected = [
        Value::Int(-5),
        Value::UInt(65535),
        Value::Int(-7),
        Value::UInt(u64::MAX),
        Value::Float(1.5),
        Value::Double(-2.25),
        Value::Bytes(b"12.345"),
        Value::DateTime(day),
        Value::DateTime(DateTime { microsecond: 4, ..second }),
        Value::DateTime(second),
        Value::Time(span),
        Value::UInt(2026),
        Value::Bytes(b"char"),
        Value::Bytes(b"blob"),
        Value::Bytes(b"[1]"),
        Value::Bytes(b"\x01\x01"),
    ];
    assert_eq!(values, expected);

    // The same rows, written by us.
    let (mut ours_text, mut ours_binary) = (PacketWriter::new(), PacketWriter::new());
    let mut text_row = TextRow::new(&mut ours_text);
    let mut binary_row = BinaryRow::new(&mut ours_binary, 16);
    for (value, column) in expected.iter().zip(&columns) {
        match *value {
            Value::Null => (text_row.null(), binary_row.null()),
            Value::Int(value) => (text_row.int(value), binary_row.int(column.column_type, value)),
            Value::UInt(value) => (text_row.uint(value), binary_row.int(column.column_type, value as i64)),
            Value::Float(value) => (text_row.bytes(value.to_string().as_bytes()), binary_row.float(value)),
            Value::Double(value) => (text_row.bytes(value.to_string().as_bytes()), binary_row.double(value)),
            Value::Bytes(bytes) => (text_row.bytes(bytes), binary_row.bytes(bytes)),
            Value::DateTime(value) if column.column_type == ColumnType::Date => {
                (text_row.date(&value), binary_row.datetime(&value))
            }
            Value::DateTime(value) => (text_row.datetime(&value, column.decimals), binary_row.datetime(&value)),
            Value::Time(value) => (text_row.time(&value, column.decimals), binary_row.time(&value)),
        };
    }
    text_row.end();
    binary_row.end();
    assert_eq!((&ours_text.bytes()[4..], &ours_binary.bytes()[4..]), (&text[17][..], &binary[17][..]));
    let mut nulls = BinaryRow::new(&mut ours_binary, 16);
    (0..16).for_each(|_| nulls.null());
    nulls.end();
    assert!(ours_binary.bytes().ends_with(&binary[18]));
}
