//! How long the two shortest ways take: a reply of one row, and a COM_STMT_EXECUTE.
//!
//! `cargo run --release -p meseta-protocol --example speed`. Each figure is the best of ten rounds of a million.

use std::hint::black_box;
use std::time::Instant;

use meseta_protocol::column::{ColumnDefinition, ColumnType, write_column_count};
use meseta_protocol::command::Command;
use meseta_protocol::execute::{ParameterTypes, put_execute};
use meseta_protocol::flags::{Capabilities, CursorFlags, StatusFlags};
use meseta_protocol::receive::Receiver;
use meseta_protocol::reply::OkPacket;
use meseta_protocol::row::{BinaryRow, TextRow};
use meseta_protocol::send::PacketWriter;
use meseta_protocol::value::Value;

const CAPABILITIES: Capabilities = Capabilities(Capabilities::DEPRECATE_EOF.0 | Capabilities::SESSION_TRACK.0);
const COUNT: u32 = 1_000_000;

fn best(what: &str, mut once: impl FnMut()) {
    let nanoseconds = (0..10)
        .map(|_| {
            let start = Instant::now();
            (0..COUNT).for_each(|_| once());
            start.elapsed().as_secs_f64() * 1e9 / f64::from(COUNT)
        })
        .fold(f64::INFINITY, f64::min);
    println!("{nanoseconds:7.1} ns  {what}");
}

fn main() {
    let text = [b'x'; 120];
    let column = ColumnDefinition {
        schema: b"sbtest",
        table: b"sbtest1",
        original_table: b"sbtest1",
        name: b"c",
        original_name: b"c",
        collation: 255,
        length: 480,
        column_type: ColumnType::String,
        ..ColumnDefinition::default()
    };
    let end = OkPacket { status: StatusFlags::AUTOCOMMIT, ..OkPacket::default() };

    let mut writer = PacketWriter::new();
    best("a result of one row of text with 120 bytes: count, definition, row, end", || {
        writer.set_sequence(1);
        write_column_count(&mut writer, CAPABILITIES, 1, true);
        black_box(&column).write(&mut writer);
        let mut row = TextRow::new(&mut writer);
        row.bytes(black_box(&text));
        row.end();
        end.write_end_of_rows(&mut writer, CAPABILITIES);
        let count = black_box(writer.bytes()).len();
        writer.sent(count);
    });
    best("the same, binary", || {
        writer.set_sequence(1);
        write_column_count(&mut writer, CAPABILITIES, 1, true);
        black_box(&column).write(&mut writer);
        let mut row = BinaryRow::new(&mut writer, 1);
        row.bytes(black_box(&text));
        row.end();
        end.write_end_of_rows(&mut writer, CAPABILITIES);
        let count = black_box(writer.bytes()).len();
        writer.sent(count);
    });

    let mut payload = Vec::new();
    put_execute(&mut payload, CAPABILITIES, 1, CursorFlags::NONE, &[(b"", Value::Int(42))], true);
    let mut types = ParameterTypes::default();
    best("a COM_STMT_EXECUTE with one integer, from its payload", || {
        if let Ok(Command::Execute(execute)) = Command::parse(black_box(&payload), CAPABILITIES) {
            let parameters = execute.parameters(CAPABILITIES, 1, &mut types, None);
            for parameter in parameters.into_iter().flatten() {
                let _ = black_box(parameter);
            }
        }
    });
    let mut packet = PacketWriter::new();
    packet.packet(|to| to.extend_from_slice(&payload));
    let mut receiver = Receiver::new(64 << 20);
    best("the same, with the packet from the receive buffer", || {
        receiver.expect_sequence(0);
        let room = receiver.room();
        room[..packet.bytes().len()].copy_from_slice(packet.bytes());
        receiver.filled(packet.bytes().len());
        if let Ok(Some(packet)) = receiver.next_packet()
            && let Ok(Command::Execute(execute)) = Command::parse(packet.payload, CAPABILITIES)
        {
            let parameters = execute.parameters(CAPABILITIES, 1, &mut types, None);
            for parameter in parameters.into_iter().flatten() {
                let _ = black_box(parameter);
            }
        }
    });
}
