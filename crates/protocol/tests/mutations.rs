//! Bytes that nobody should send: every parser is given valid packets that were changed, cut and joined, and bytes of
//! no meaning at all. It may refuse them or read something; it may not panic, loop, or take much memory.

use meseta_protocol::auth::Plugin;
use meseta_protocol::auth::client::{ClientHandshake, ClientOptions, ServerFacts};
use meseta_protocol::auth::server::{Account, ServerHandshake};
use meseta_protocol::auth::verifier::Verifier;
use meseta_protocol::client::{Client, Event};
use meseta_protocol::column::{ColumnDefinition, ColumnType, parse_column_count};
use meseta_protocol::command::Command;
use meseta_protocol::compress::{Algorithm, Codec, CompressedReceiver, CompressedSender};
use meseta_protocol::execute::{LongData, ParameterTypes, put_execute, put_query};
use meseta_protocol::flags::{Capabilities, ColumnFlags, CursorFlags, StatusFlags};
use meseta_protocol::greeting::{Attributes, ClientAnswer, Greeting, HandshakeResponse, parse_auth_switch};
use meseta_protocol::receive::Receiver;
use meseta_protocol::reply::{EofPacket, ErrPacket, OkPacket, PrepareOk, SessionChange};
use meseta_protocol::row::{ColumnKind, Row};
use meseta_protocol::send::PacketWriter;
use meseta_protocol::value::{DateTime, Time, Value};
use proptest::prelude::*;

const ALL: [Capabilities; 3] = [Capabilities::NONE, Capabilities(0x0FFF_FFFF), Capabilities(!0)];

fn kinds() -> Vec<ColumnKind> {
    (0..=255u8)
        .filter_map(ColumnType::from_byte)
        .map(|column_type| ColumnKind { column_type, flags: ColumnFlags(u16::from(column_type as u8) << 5) })
        .collect()
}

/// Everything that takes a payload takes this one.
fn read_all(payload: &[u8]) {
    for capabilities in ALL {
        let _ = Greeting::parse(payload);
        let _ = ClientAnswer::parse(payload, capabilities);
        let _ = parse_auth_switch(payload);
        let _ = Attributes::parse(payload).map(|attributes| attributes.iter().count());
        let _ = OkPacket::parse(payload, capabilities).map(|ok| SessionChange::iterate(ok.session).count());
        let _ = SessionChange::iterate(payload).count();
        let _ = ErrPacket::parse(payload);
        let _ = EofPacket::parse(payload);
        let _ = PrepareOk::parse(payload, capabilities);
        let _ = ColumnDefinition::parse(payload);
        let _ = parse_column_count(payload, capabilities);
        let kinds = kinds();
        for columns in [0, 1, 3, kinds.len()] {
            let _ = Row::text(payload, &kinds[..columns]).values().count();
            let _ = Row::binary(payload, &kinds[..columns]).values().count();
        }
        let mut long = LongData::default();
        long.append(1, payload, 1 << 20);
        match Command::parse(payload, capabilities) {
            Ok(Command::Execute(execute)) => {
                for count in [0, 1, 9, 65535] {
                    for long in [None, Some(&long)] {
                        let mut types = ParameterTypes::default();
                        if let Ok(parameters) = execute.parameters(capabilities, count, &mut types, long) {
                            assert!(parameters.count() <= payload.len() * 8);
                        }
                    }
                }
            }
            Ok(Command::Query(query)) => {
                assert!(query.text.len() <= payload.len());
                assert!(query.attributes.inspect(|attribute| assert!(attribute.is_ok())).count() <= payload.len());
            }
            _ => {}
        }
        let mut server = ServerHandshake::new(capabilities, false);
        let mut writer = PacketWriter::new();
        let _ = server.on_packet(payload, None, &mut writer);
        let verifier = Verifier::of_password(Plugin::NativePassword, b"pw", [1; 20], 1000);
        let _ =
            server.account(Some(Account { plugin: Plugin::CachingSha2Password, verifier, cached: None }), &mut writer);
        let _ = server.on_packet(payload, None, &mut writer);
        let _ = ClientHandshake::new(ClientOptions::default()).on_packet(payload, &mut writer);
        let facts = ServerFacts { capabilities, ..ServerFacts::default() };
        let _ =
            ClientHandshake::change_user(ClientOptions::default(), &facts, &mut writer).on_packet(payload, &mut writer);
    }
    for plugin in [Plugin::NativePassword, Plugin::CachingSha2Password] {
        let _ = Verifier::parse(plugin, payload);
    }
}

/// Packets of all kinds, sound.
fn sound() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let parameters: Vec<(&[u8], Value<'_>)> = vec![
        (b"", Value::Int(1)),
        (b"", Value::Null),
        (b"n", Value::Bytes(b"text")),
        (b"", Value::DateTime(DateTime { microsecond: 1, ..DateTime::date(2026, 11, 21) })),
        (b"", Value::Time(Time { days: 1, ..Time::default() })),
        (b"", Value::Double(1.0)),
    ];
    for capabilities in ALL {
        for with_types in [true, false] {
            let mut payload = Vec::new();
            put_execute(&mut payload, capabilities, 1, CursorFlags::NONE, &parameters, with_types);
            all.push(payload);
        }
        let mut payload = Vec::new();
        put_query(&mut payload, capabilities, b"SELECT 1", &parameters);
        all.push(payload);
        let mut writer = PacketWriter::new();
        let attributes = Attributes::parse(b"\x01a\x01b").unwrap();
        let response = HandshakeResponse {
            capabilities: capabilities.with(Capabilities::PROTOCOL_41),
            max_packet: 1 << 24,
            collation: 255,
            user: b"ann",
            auth_response: b"abcdefghijklmnopqrst",
            database: b"shop",
            plugin: b"mysql_native_password",
            attributes,
            zstd_level: 3,
        };
        response.write(&mut writer);
        all.push(writer.bytes()[4..].to_vec());
        let session = b"\x00\x0E\x0Aautocommit\x02ON\x01\x05\x04shop";
        let mut writer = PacketWriter::new();
        OkPacket { affected_rows: 1, info: b"info", session, ..OkPacket::default() }.write(&mut writer, capabilities);
        all.push(writer.bytes()[4..].to_vec());
    }
    let mut writer = PacketWriter::new();
    ServerHandshake::new(Capabilities(!0), false).greet(
        &mut writer,
        b"9.7.0",
        1,
        255,
        StatusFlags::AUTOCOMMIT,
        Plugin::CachingSha2Password,
    );
    all.push(writer.bytes()[4..].to_vec());
    let mut payload = Vec::new();
    ColumnDefinition { name: b"name", table: b"t", ..ColumnDefinition::default() }.encode(&mut payload);
    all.push(payload);
    all
}

fn changes() -> impl Strategy<Value = (usize, Vec<(usize, u8)>, usize)> {
    (any::<usize>(), prop::collection::vec((any::<usize>(), any::<u8>()), 0..6), any::<usize>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_packets_are_survived((which, edits, cut) in changes()) {
        let all = sound();
        let mut payload = all[which % all.len()].clone();
        for (at, byte) in edits {
            let length = payload.len();
            payload[at % length] = byte;
        }
        payload.truncate(payload.len().saturating_sub(cut % 4 * (cut % 7)));
        read_all(&payload);
    }

    #[test]
    fn bytes_of_no_meaning_are_survived(payload in prop::collection::vec(any::<u8>(), 0..80)) {
        read_all(&payload);
    }

    #[test]
    fn a_stream_of_no_meaning_is_survived(bytes in prop::collection::vec(any::<u8>(), 0..300), step in 1usize..50) {
        let mut receiver = Receiver::new(1 << 16);
        for part in bytes.chunks(step) {
            receiver.feed(part);
            while let Ok(Some(packet)) = receiver.next_packet() {
                prop_assert!(packet.payload.len() <= bytes.len());
            }
        }
    }

    #[test]
    fn a_compressed_stream_that_was_changed_is_survived(
        edits in prop::collection::vec((any::<usize>(), any::<u8>()), 0..5),
        zlib in any::<bool>(),
    ) {
        let algorithm = if zlib { Algorithm::Zlib } else { Algorithm::Zstd(1) };
        let mut codec = Codec::new();
        let mut stream = Vec::new();
        let plain: Vec<u8> = (0..3000).map(|i| (i / 7) as u8).collect();
        CompressedSender::new(algorithm).compress(&plain, &mut codec, &mut stream);
        for (at, byte) in edits {
            let length = stream.len();
            stream[at % length] = byte;
        }
        let mut receiver = Receiver::new(1 << 16);
        let _ = CompressedReceiver::new(algorithm).feed(&stream, &mut codec, &mut receiver);
        while let Ok(Some(_)) = receiver.next_packet() {}
    }

    #[test]
    fn a_client_survives_its_server(
        payloads in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..40),
                (0usize..20).prop_map(|which| sound()[which % sound().len()].clone()),
                Just(b"\xFE\0\0\x02\0\0\0".to_vec()),
                Just(b"\x02".to_vec()),
                Just(vec![0; 7]),
            ],
            1..12,
        ),
        command in 0..6,
        capabilities in any::<u32>(),
    ) {
        // The greeting offers what it likes, the rest is whatever comes.
        let mut writer = PacketWriter::new();
        ServerHandshake::new(Capabilities(capabilities & !0x0400_0020), false).greet(
            &mut writer, b"9.7.0", 1, 255, StatusFlags::NONE, Plugin::NativePassword,
        );
        let options = ClientOptions { capabilities: Capabilities(!0x800), ..ClientOptions::default() };
        let mut client = Client::connect(options, 1 << 20);
        client.room()[..writer.bytes().len()].copy_from_slice(writer.bytes());
        client.filled(writer.bytes().len());
        prop_assert!(matches!(client.next_event(), Ok(Some(Event::Nothing))));
        let mut writer = PacketWriter::new();
        writer.set_sequence(2);
        OkPacket::default().write(&mut writer, Capabilities::NONE);
        client.room()[..11].copy_from_slice(writer.bytes());
        client.filled(11);
        prop_assert!(matches!(client.next_event(), Ok(Some(Event::Connected(_)))));
        match command {
            0 => client.query(b"SELECT 1"),
            1 => client.prepare(b"SELECT 1"),
            2 => client.execute(1, CursorFlags::NONE, &[], true),
            3 => client.fetch(1, 1),
            4 => client.field_list(b"t", b""),
            _ => client.ping(),
        }
        let mut writer = PacketWriter::new();
        writer.set_sequence(1);
        for payload in payloads {
            writer.packet(|to| to.extend_from_slice(&payload));
        }
        let mut bytes = writer.bytes();
        while !bytes.is_empty() {
            let room = client.room();
            let count = room.len().min(bytes.len());
            room[..count].copy_from_slice(&bytes[..count]);
            client.filled(count);
            bytes = &bytes[count..];
        }
        while let Ok(Some(event)) = client.next_event() {
            if let Event::Row(row) = event {
                let _ = row.values().count();
            }
        }
    }
}
