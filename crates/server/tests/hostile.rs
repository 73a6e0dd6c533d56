//! Any bytes on the port: an error or a closed connection, and everybody else goes on.

mod common;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::OnceLock;

use common::*;
use proptest::prelude::*;

/// One server for all cases: what one case broke, the next would see.
fn running() -> &'static Running {
    static RUNNING: OnceLock<Running> = OnceLock::new();
    RUNNING.get_or_init(|| start(|options| options.max_allowed_packet = 1 << 20))
}

/// A connection past its handshake, as a bare socket.
fn logged_in() -> TcpStream {
    let Some(Stream::Tcp(stream)) = running().connect().stream.take() else { unreachable!() };
    stream
}

/// Sends, says that no more comes, and reads what there is.
fn throw(mut stream: TcpStream, bytes: &[u8]) {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut reading = stream.try_clone().unwrap();
    let reader = std::thread::spawn(move || {
        let mut all = Vec::new();
        // A reset is as good as an end; a time-out is not.
        match reading.read_to_end(&mut all) {
            Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
            Ok(_) => true,
        }
    });
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    assert!(reader.join().unwrap(), "the server neither answers nor closes");
}

fn still_well() {
    assert_eq!(running().connect().query("literal 7").value, "7");
    assert_eq!(running().server.handle().totals().defects, 0);
}

/// Packets whose headers are right and whose contents are not.
fn packets() -> impl Strategy<Value = Vec<u8>> {
    let command = prop_oneof![
        // (Statements that wait, or panic on purpose, are not what is looked for here.)
        Just(b"\x03literal 1".to_vec()),
        Just(b"\x03file x".to_vec()),
        Just(b"\x03rows 10 10".to_vec()),
        (0u8..40, proptest::collection::vec(any::<u8>(), 0..40)).prop_map(|(byte, rest)| {
            let mut packet = vec![byte];
            packet.extend(rest);
            packet
        }),
        proptest::collection::vec(any::<u8>(), 0..200),
    ];
    proptest::collection::vec((command, 0u8..3), 1..8).prop_map(|commands| {
        let mut all = Vec::new();
        for (payload, sequence) in commands {
            all.extend_from_slice(&(payload.len() as u32).to_le_bytes()[..3]);
            all.push(if sequence == 2 { 1 } else { 0 });
            all.extend_from_slice(&payload);
        }
        all
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn bytes_before_the_handshake(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        throw(TcpStream::connect(("127.0.0.1", running().port)).unwrap(), &bytes);
        still_well();
    }

    #[test]
    fn bytes_after_the_handshake(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        throw(logged_in(), &bytes);
        still_well();
    }

    #[test]
    fn packets_of_nonsense(bytes in packets()) {
        throw(logged_in(), &bytes);
        still_well();
    }

    #[test]
    fn handshakes_of_nonsense(bytes in proptest::collection::vec(any::<u8>(), 0..300), tls in any::<bool>()) {
        let mut all = Vec::new();
        let head: &[u8] = &[0x05, 0xA6, if tls { 0x0F } else { 0x07 }, 0, 0, 0, 0, 1, 255];
        if tls {
            all.extend_from_slice(&[32, 0, 0, 1, 0x05, 0xAE, 0x0F, 0, 0, 0, 0, 1, 255]);
            all.extend_from_slice(&[0; 23]);
            all.extend_from_slice(&bytes);
        } else {
            let length = head.len() + 23 + bytes.len();
            all.extend_from_slice(&(length as u32).to_le_bytes()[..3]);
            all.push(1);
            all.extend_from_slice(head);
            all.extend_from_slice(&[0; 23]);
            all.extend_from_slice(&bytes);
        }
        throw(TcpStream::connect(("127.0.0.1", running().port)).unwrap(), &all);
        still_well();
    }
}

#[test]
fn a_packet_that_promises_too_much_is_refused_at_once() {
    let mut stream = logged_in();
    stream.write_all(&[0xFF, 0xFF, 0xFF, 0]).unwrap();
    stream.write_all(&[3; 1000]).unwrap();
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said);
    assert_eq!(u16::from_le_bytes([said[5], said[6]]), 1153);
    still_well();
}
