//! One connection at a time: logging in by every way, every command, time-outs, KILL, panics, and the end.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;

use common::*;
use meseta_protocol::auth::client::ClientOptions;
use meseta_protocol::flags::Capabilities;
use meseta_server::backend::{End, Reason};
use meseta_server::clock::Clock;
use meseta_server::{Server, blocking};

#[test]
fn accounts_prove_themselves_by_both_plugins() {
    let running = start(|options| options.caching_sha2_password_auto_generate_rsa_keys = true);
    for (user, password, right) in [
        ("anybody", "", true),
        ("native", "secret", true),
        ("native", "wrong", false),
        ("sha2", "wrong", false),
        // The slow way, by the RSA key; then by the digest in the cache.
        ("sha2", "secret", true),
        ("sha2", "secret", true),
        ("nobody", "secret", false),
        ("nobody", "", false),
    ] {
        let connected = running.connect_as(user, password);
        match connected {
            Ok(mut connection) => {
                assert!(right, "{user} {password}");
                assert_eq!(connection.query("who").value, format!("{user}@localhost clear"));
            }
            Err(answer) => {
                assert!(!right, "{user} {password}: {answer:?}");
                let using = if password.is_empty() { "NO" } else { "YES" };
                let text = format!("Access denied for user '{user}'@'localhost' (using password: {using})");
                assert_eq!(answer.error, Some((1045, text)));
            }
        }
    }
    eventually("four are counted", || running.server.handle().totals().aborted_connects == 4);
    assert!(running.directory.path().join("private_key.pem").exists());
}

#[test]
fn a_database_that_is_not_there_is_refused() {
    let running = start(|_| {});
    let mut options = options("anybody", "", Capabilities::NONE);
    options.database = b"nowhere".to_vec();
    let answer = running.connect_with(options).err().unwrap();
    assert_eq!(answer.error, Some((1049, "Unknown database 'nowhere'".to_owned())));
}

/// The transports: in the clear, TLS, Unix socket, compressed, and together.
fn every_way(running: &Running, check: impl Fn(&str, &mut Connection)) {
    for (name, tls, more) in [
        ("clear", false, Capabilities::NONE),
        ("tls", true, Capabilities::NONE),
        ("zlib", false, Capabilities::COMPRESS),
        ("zstd", false, Capabilities::ZSTD_COMPRESSION),
        ("tls and zlib", true, Capabilities::COMPRESS),
    ] {
        let more = more.with(Capabilities::LOCAL_FILES);
        let options = ClientOptions { tls, ..options("sha2", "secret", more) };
        // (With TLS the password itself may be sent.)
        let mut connection = running.connect_with(options).unwrap_or_else(|answer| panic!("{name}: {answer:?}"));
        check(name, &mut connection);
    }
    let stream = UnixStream::connect(running.server.socket_path().unwrap()).unwrap();
    let options = ClientOptions { secure: true, ..options("sha2", "secret", Capabilities::LOCAL_FILES) };
    let mut connection = Connection::begin(Stream::Unix(stream), options).unwrap_or_else(|answer| panic!("{answer:?}"));
    check("unix", &mut connection);
}

/// A compressed packet whose content is as it is, and has this number.
fn framed(number: u8, content: &[u8]) -> Vec<u8> {
    let [a, b, c, _] = (content.len() as u32).to_le_bytes();
    [&[a, b, c, number, 0, 0, 0], content].concat()
}

/// A packet with this number.
fn packet(number: u8, payload: &[u8]) -> Vec<u8> {
    let [a, b, c, _] = (payload.len() as u32).to_le_bytes();
    [&[a, b, c, number], payload].concat()
}

/// The payload of the next packet.
fn payload(stream: &mut TcpStream) -> Vec<u8> {
    let mut header = [0; 4];
    stream.read_exact(&mut header).unwrap();
    header[3] = 0;
    let mut payload = vec![0; u32::from_le_bytes(header) as usize];
    stream.read_exact(&mut payload).unwrap();
    payload
}

/// The number of the next compressed packet, and of the first packet in it.
fn numbers(stream: &mut TcpStream) -> (u8, u8) {
    let mut header = [0; 7];
    stream.read_exact(&mut header).unwrap();
    assert_eq!(header[4..], [0; 3], "what is short is not compressed");
    let mut content = vec![0; usize::from(header[0]) | usize::from(header[1]) << 8];
    stream.read_exact(&mut content).unwrap();
    (header[3], content[3])
}

/// What a driver checks that sees compressed packets and those in them: go-sql-driver complained of commands in several
/// compressed packets, and of files.
#[test]
fn an_answer_in_compressed_packets_begins_with_the_number_that_is_due() {
    let running = start_every_way();
    let options = options("sha2", "secret", Capabilities::COMPRESS.with(Capabilities::LOCAL_FILES));
    let Some(Stream::Tcp(mut stream)) = running.connect_with(options).unwrap().stream.take() else { unreachable!() };
    // A command in three compressed packets, then one in one: each begins anew.
    let command = packet(0, b"\x03literal 7");
    for (number, part) in command.chunks(command.len().div_ceil(3)).enumerate() {
        stream.write_all(&framed(number as u8, part)).unwrap();
    }
    assert_eq!(numbers(&mut stream), (3, 3));
    stream.write_all(&framed(0, &packet(0, b"\x0E"))).unwrap();
    assert_eq!(numbers(&mut stream), (1, 1));
    // A file: three packets of it in two compressed ones.
    stream.write_all(&framed(0, &packet(0, b"\x03file x"))).unwrap();
    assert_eq!(numbers(&mut stream), (1, 1));
    stream.write_all(&framed(2, &[packet(2, b"abc"), packet(3, b"de")].concat())).unwrap();
    stream.write_all(&framed(3, &packet(4, b""))).unwrap();
    assert_eq!(numbers(&mut stream), (4, 4));
    stream.write_all(&framed(0, &packet(0, b"\x0E"))).unwrap();
    assert_eq!(numbers(&mut stream), (1, 1));
}

fn start_every_way() -> Running {
    let socket = tempfile::tempdir().unwrap().keep();
    start(|options| {
        options.caching_sha2_password_auto_generate_rsa_keys = true;
        options.socket = Some(socket.join("s.sock"));
    })
}

#[test]
fn every_transport_carries_everything() {
    let running = start_every_way();
    every_way(&running, |name, connection| {
        assert_eq!(connection.query("literal 7").value, "7", "{name}");
        let answer = connection.query("rows 3000 1000");
        assert_eq!((answer.rows, answer.bytes), (3000, 3_000_000), "{name}");
        // Beyond 16 MiB, both ways.
        let long = format!("long {}", "y".repeat(17 << 20));
        assert_eq!(connection.query(&long).value, long.len().to_string(), "{name}");
        let answer = connection.query("rows 1 17000000");
        assert_eq!(answer.bytes, 17_000_000, "{name}");
        connection.file = vec![b'z'; 1_000_000];
        let answer = connection.query("file x.csv");
        assert_eq!((answer.affected, answer.error), (1_000_000, None), "{name}");
        assert_eq!(connection.query("file empty").affected, 0, "{name}");
        // Two commands in one go, of which the first has no answer.
        connection.client.close_statement(1);
        assert_eq!(connection.query("literal after").value, "after", "{name}");
        connection.client.ping();
        assert_eq!(connection.run().error, None);
        connection.client.statistics();
        assert_eq!(connection.run().error, None);
        connection.client.init_db(b"shop");
        assert_eq!(connection.run().error, None);
        connection.client.reset_connection();
        assert_eq!(connection.run().error, None);
        connection.client.set_multi_statements(true);
        assert_eq!(connection.run().error, None);
        connection.client.prepare(b"x");
        assert_eq!(connection.run().error, None);
        connection.client.command(0x1D, b"");
        assert_eq!(connection.run().error, Some((1047, "Unknown command".to_owned())), "{name}");
        assert_eq!(connection.query("nonsense").error.unwrap().0, 1064);
        assert_eq!(connection.query("park-done").error, None);
        let who = connection.query("who").value;
        assert_eq!(who.contains("TLSv1.3"), name.starts_with("tls"), "{name} {who}");
        connection.client.change_user(options("native", "secret", Capabilities::NONE));
        assert_eq!(connection.run().error, None, "{name}");
        assert_eq!(connection.query("who").value, "native@changed", "{name}");
        connection.client.quit();
        connection.send();
        connection.wait_for_end();
    });
    eventually("sessions are closed", || running.backend.open.load(Ordering::SeqCst) == 0);
    assert!(running.backend.ends.lock().unwrap().iter().all(|end| *end == End::Quit));
    let totals = running.server.handle().totals();
    assert_eq!((totals.aborted_clients, totals.aborted_connects, totals.connections), (0, 0, 6));
    assert!(totals.bytes_sent > 50_000_000 && totals.bytes_received > 50_000_000, "{totals:?}");
}

#[test]
fn a_user_may_not_become_another_without_proof() {
    let running = start(|_| {});
    let mut connection = running.connect();
    connection.client.change_user(options("native", "wrong", Capabilities::NONE));
    assert_eq!(connection.run().error.unwrap().0, 1045);
    assert_eq!(connection.wait_for_end(), b"");
}

#[test]
fn secure_transport_may_be_required() {
    let running = start(|options| options.require_secure_transport = true);
    assert_eq!(running.connect_as("anybody", "").err().unwrap().error.unwrap().0, 3159);
    let tls = ClientOptions { tls: true, ..options("anybody", "", Capabilities::NONE) };
    assert_eq!(running.connect_with(tls).unwrap().query("who").value, "anybody@localhost TLSv1.3");
}

#[test]
fn a_panic_costs_its_connection_only() {
    let running = start(|_| {});
    let mut other = running.connect();
    let mut connection = running.connect();
    assert_eq!(connection.query("panic").error.unwrap().0, 1105);
    assert_eq!(connection.wait_for_end(), b"");
    assert_eq!(other.query("literal 7").value, "7");
    assert_eq!(running.connect().query("literal 8").value, "8");
    assert_eq!(running.server.handle().totals().defects, 1);
}

#[test]
fn time_outs_close_what_is_idle() {
    let (clock, time) = Clock::manual();
    let running = start_with(clock, |options| {
        options.wait_timeout = 100;
        options.interactive_timeout = 1000;
    });
    let mut short = running.connect();
    let mut interactive = running.connect_with(options("anybody", "", Capabilities::INTERACTIVE)).unwrap();
    let mut changed = running.connect();
    assert_eq!(changed.query("wait_timeout 10").error, None);
    // One that never says who it is.
    let mut silent = std::net::TcpStream::connect(("127.0.0.1", running.port)).unwrap();
    // One that stops in the middle of a command.
    let mut half = running.connect();
    let before = running.server.handle().totals().bytes_received;
    if let Some(Stream::Tcp(stream)) = &mut half.stream {
        std::io::Write::write_all(stream, &[50, 0, 0, 0, 3, b'x']).unwrap();
    }
    eventually("half a command is here", || running.server.handle().totals().bytes_received == before + 6);
    assert_eq!(running.connect().query("literal 1").value, "1");
    time.advance(9_000);
    assert_eq!(changed.query("literal 7").value, "7");
    time.advance(11_000);
    let said = changed.wait_for_end();
    assert_eq!(said[4], 0xFF);
    assert_eq!(u16::from_le_bytes([said[5], said[6]]), 4031);
    let mut all = Vec::new();
    std::io::Read::read_to_end(&mut silent, &mut all).unwrap();
    assert_eq!(short.query("literal 7").value, "7");
    time.advance(31_000);
    half.wait_for_end();
    assert_eq!(short.query("literal 7").value, "7");
    time.advance(101_000);
    short.wait_for_end();
    assert_eq!(interactive.query("literal 7").value, "7");
    time.advance(1_001_000);
    interactive.wait_for_end();
    eventually("all are closed", || running.backend.open.load(Ordering::SeqCst) == 0);
}

#[test]
fn a_statement_may_take_longer_than_a_time_out_for_idleness() {
    let (clock, time) = Clock::manual();
    let running = start_with(clock, |options| options.wait_timeout = 100);
    let mut connection = running.connect();
    assert_eq!(connection.query("literal 7").value, "7");
    connection.client.query(b"block");
    connection.send();
    running.backend.gate.wait_for(1);
    // It is told of its old deadline while it has a turn; when the turn is over it has another.
    time.advance(101_000);
    let mut other = running.connect();
    assert_eq!(other.query("literal 8").value, "8");
    running.backend.gate.open();
    assert_eq!(connection.run().error, None);
    assert_eq!(connection.query("literal 9").value, "9");
    time.advance(101_000);
    connection.wait_for_end();
}

#[test]
fn kill_reaches_what_waits_and_what_idles() {
    let running = start(|_| {});
    let mut killer = running.connect();
    let (mut query, mut connection, mut idle) = (running.connect(), running.connect(), running.connect());
    for victim in [&mut query, &mut connection] {
        victim.client.query(b"block");
        victim.send();
    }
    running.backend.gate.wait_for(2);
    let processes = running.server.handle().processes();
    let row = processes.iter().find(|process| process.id == query.id()).unwrap();
    assert_eq!((row.command, row.state, row.user.as_str()), ("Query", "Waiting for the gate", "anybody"));
    assert_eq!(row.info.as_deref(), Some(&b"block"[..]));
    let row = processes.iter().find(|process| process.id == idle.id()).unwrap();
    assert_eq!((row.command, row.info.clone()), ("Sleep", None));
    assert_eq!(killer.query(&format!("kill query {}", query.id())).error, None);
    assert_eq!(query.run().error.unwrap().0, 1317);
    assert_eq!(query.query("literal 7").value, "7");
    // Of an idle connection KILL QUERY kills nothing, the next statement neither.
    assert_eq!(killer.query(&format!("kill query {}", idle.id())).error, None);
    assert_eq!(idle.query("literal 7").value, "7");
    for victim in [&mut connection, &mut idle] {
        assert_eq!(killer.query(&format!("kill connection {}", victim.id())).error, None);
    }
    assert_eq!(connection.run().error.unwrap().0, 1317);
    connection.wait_for_end();
    assert!(idle.query("literal 7").ended);
    assert_eq!(killer.query("kill connection 4000000000").error.unwrap().0, 1094);
    let own = killer.id();
    killer.client.command(0x0C, &own.to_le_bytes());
    killer.run();
    killer.wait_for_end();
}

#[test]
fn a_client_that_goes_ends_its_statement() {
    let running = start(|_| {});
    let mut gone = running.connect();
    gone.client.query(b"block");
    gone.send();
    running.backend.gate.wait_for(1);
    drop(gone);
    eventually("the statement ends", || running.backend.open.load(Ordering::SeqCst) == 0);
    assert_eq!(running.backend.ends.lock().unwrap()[..], [End::Lost]);
    assert_eq!(running.server.handle().totals().aborted_clients, 1);
}

#[test]
fn a_parked_reply_leaves_when_it_is_completed() {
    let running = start(|_| {});
    let mut all: Vec<Connection> = (0..20).map(|_| running.connect()).collect();
    for connection in &mut all {
        connection.client.query(b"park");
        connection.send();
    }
    let parked = running.backend.take_parked(20);
    // No thread waits for them: others are served, by as many threads as ever.
    assert_eq!(running.connect().query("literal 7").value, "7");
    assert!(running.server.handle().thread_count() <= 4);
    let log = std::thread::spawn(move || parked.into_iter().for_each(|parked| parked.complete(Ok(()))));
    for connection in &mut all {
        assert_eq!(connection.run().error, None);
        assert_eq!(connection.query("literal 7").value, "7");
    }
    log.join().unwrap();
    // One that is dropped, and so never becomes durable.
    all[0].client.query(b"park");
    all[0].send();
    drop(running.backend.take_parked(1));
    assert_eq!(all[0].run().error.unwrap().0, 1105);
    assert_eq!(all[0].query("literal 7").value, "7");
}

#[test]
fn a_suspended_statement_is_executed_again_when_it_is_called_back() {
    let running = start(|options| options.max_connections = 300);
    let mut all: Vec<Connection> = (0..200).map(|_| running.connect()).collect();
    for connection in &mut all {
        connection.client.query(b"suspend");
        connection.send();
    }
    // No thread waits for them: others are served, by as many threads as ever.
    let wakers = running.backend.take_suspended(200);
    let mut other = running.connect();
    assert_eq!(other.query("literal 7").value, "7");
    assert!(running.server.handle().thread_count() <= 4);
    eventually("all are suspended", || running.server.handle().totals().threads_running == 200);
    let processes = running.server.handle().processes();
    let row = processes.iter().find(|process| process.id == all[9].id()).unwrap();
    assert_eq!((row.command, row.state, row.info.as_deref()), ("Query", "being patient", Some(&b"suspend"[..])));
    let backend = running.backend.clone();
    let waking = std::thread::spawn(move || backend.call_back(wakers));
    for connection in &mut all {
        assert_eq!(connection.run().value, "called back");
        assert_eq!(connection.query("literal 7").value, "7");
    }
    waking.join().unwrap();
    assert_eq!(running.server.handle().totals().threads_running, 0);
    // It counts as one command; a waker that comes late wakes nobody.
    assert_eq!(running.server.handle().totals().commands[3], 401);
    all[0].client.query(b"suspend");
    all[0].send();
    let late = running.backend.take_suspended(1);
    running.backend.call_back(late.clone());
    assert_eq!(all[0].run().value, "called back");
    running.backend.call_back(late);
    assert_eq!(all[0].query("literal 7").value, "7");
}

#[test]
fn a_suspended_statement_is_executed_again_after_its_time() {
    let running = start(|_| {});
    let mut connection = running.connect();
    assert_eq!(connection.query("suspend-for 1").value, "4");
    assert_eq!(connection.query("suspend-for 0").value, "4");
}

#[test]
fn what_a_client_sends_behind_a_suspended_statement_waits() {
    let running = start(|_| {});
    let mut connection = running.connect();
    connection.client.query(b"suspend");
    connection.send();
    let wakers = running.backend.take_suspended(1);
    let before = running.server.handle().totals().commands[3];
    let Some(Stream::Tcp(stream)) = &mut connection.stream else { unreachable!("it came by TCP") };
    stream.write_all(&packet(0, b"\x03literal 7")).unwrap();
    assert_eq!(running.connect().query("literal 8").value, "8");
    assert_eq!(running.server.handle().totals().commands[3], before + 1);
    running.backend.call_back(wakers);
    // Both answers may come by one read, which a client that has sent one command at a time would not understand: the packets are
    // read one by one. A row's value has its length before it.
    let Some(Stream::Tcp(stream)) = &mut connection.stream else { unreachable!("it came by TCP") };
    let mut payloads = Vec::new();
    while payloads.last().is_none_or(|last| last != b"\x017") {
        payloads.push(payload(stream));
    }
    assert!(payloads.contains(&b"\x0bcalled back".to_vec()));
}

#[test]
fn suspended_statements_are_killed_and_end_with_their_clients_and_the_server() {
    let running = start(|_| {});
    let mut killer = running.connect();
    let mut all: Vec<Connection> = (0..4).map(|_| running.connect()).collect();
    for connection in &mut all {
        connection.client.query(b"suspend");
        connection.send();
        running.backend.take_suspended(1);
    }
    let [mut query, mut connection, gone, mut last] = <[Connection; 4]>::try_from(all).ok().unwrap();
    assert_eq!(killer.query(&format!("kill query {}", query.id())).error, None);
    assert_eq!(query.run().error.unwrap().0, 1317);
    assert_eq!(query.query("literal 7").value, "7");
    assert_eq!(killer.query(&format!("kill connection {}", connection.id())).error, None);
    assert_eq!(connection.run().error.unwrap().0, 1317);
    connection.wait_for_end();
    drop(gone);
    eventually("it has gone", || running.server.handle().totals().aborted_clients == 2);
    assert_eq!(running.server.handle().totals().threads_running, 1);
    running.server.handle().shutdown();
    assert!(running.server.wait());
    assert_eq!(last.run().error.unwrap().0, 1053);
    last.wait_for_end();
}

/// As a device does when a read has ended: the worker sleeps, and is to see to something.
#[test]
fn a_worker_that_is_rung_for_sees_to_what_a_round_puts_off() {
    let running = start(|_| {});
    let (backend, mut connection) = (&running.backend, running.connect());
    assert_eq!((blocking::HOOK.bell)(), None, "this thread has no worker");
    for _ in 0..20 {
        connection.client.query(b"park-rung");
        connection.send();
        let parked = backend.take_parked(1);
        backend.parked_for_round.lock().unwrap().extend(parked);
        let bell = backend.bell.lock().unwrap().expect("it ran on a worker");
        // SAFETY: the worker, whose descriptor it is, is there as long as the server.
        let bell = unsafe { BorrowedFd::borrow_raw(bell) };
        rustix::io::write(bell, &1u64.to_ne_bytes()).unwrap();
        assert_eq!(connection.run().error, None);
    }
}

#[test]
fn what_a_round_puts_off_is_done_after_it_though_others_of_it_wait_or_compute() {
    for other in ["literal 7", "block", "spin"] {
        let running = start(|options| options.worker_threads = 1);
        let mut all: Vec<Connection> = (0..20).map(|_| running.connect()).collect();
        let mut others: Vec<Connection> = (0..20).map(|_| running.connect()).collect();
        for (parking, beside) in all.iter_mut().zip(&mut others) {
            for (connection, text) in [(parking, "park-round"), (beside, other)] {
                connection.client.query(text.as_bytes());
                connection.send();
            }
        }
        for connection in &mut all {
            assert_eq!(connection.run().error, None, "beside {other}");
        }
        running.backend.gate.open();
        running.backend.stop_spinning.store(true, Ordering::SeqCst);
        for connection in &mut others {
            assert_eq!(connection.run().error, None);
        }
    }
}

#[test]
fn there_is_room_for_one_administrator_more() {
    let running = start(|options| options.max_connections = 3);
    let mut all: Vec<Connection> = (0..3).map(|_| running.connect()).collect();
    assert_eq!(running.connect_as("anybody", "").err().unwrap().error.unwrap().0, 1040);
    eventually("the fourth has left", || running.server.handle().totals().threads_connected == 3);
    let mut admin = running.connect_as("admin", "").unwrap();
    let mut fifth = std::net::TcpStream::connect(("127.0.0.1", running.port)).unwrap();
    let mut said = Vec::new();
    std::io::Read::read_to_end(&mut fifth, &mut said).unwrap();
    assert_eq!(&said[4..], b"\xFF\x10\x04#08004Too many connections");
    assert_eq!(admin.query("literal 7").value, "7");
    let totals = running.server.handle().totals();
    assert_eq!((totals.connection_errors_max_connections, totals.max_used_connections), (2, 4));
    drop(all.pop());
    drop(admin);
    eventually("two have left", || running.server.handle().totals().threads_connected == 2);
    running.connect();
}

#[test]
fn a_stop_lets_statements_end_and_interrupts_the_rest() {
    let Running { backend, server, directory, port } = start(|options| options.shutdown_timeout = 1);
    let running = |server: Server| Running { backend: backend.clone(), server, directory, port };
    let running = running(server);
    let mut idle = running.connect();
    let mut stuck = running.connect();
    stuck.client.query(b"block");
    stuck.send();
    backend.gate.wait_for(1);
    let handle = running.server.handle();
    handle.shutdown();
    assert!(running.server.wait());
    idle.wait_for_end();
    assert_eq!(stuck.run().error.unwrap().0, 1053);
    assert_eq!(backend.open.load(Ordering::SeqCst), 0);
    assert!(backend.ends.lock().unwrap().iter().all(|end| *end == End::Shutdown));
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
    assert!(!handle.kill(stuck.id(), Reason::Connection));
}

#[test]
fn a_socket_file_that_was_left_behind_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s.sock");
    let lock = directory.path().join("s.sock.lock");
    // As after kill -9: the file of the socket, and a lock of a process that is no more. (No process has this number.)
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    std::fs::write(&lock, "2147483647\n").unwrap();
    let with_socket = || start(|options| options.socket = Some(path.clone()));
    let running = with_socket();
    assert_eq!(std::fs::read_to_string(&lock).unwrap().trim(), std::process::id().to_string());
    let stream = UnixStream::connect(&path).unwrap();
    let mut connection = Connection::begin(Stream::Unix(stream), options("anybody", "", Capabilities::NONE)).unwrap();
    assert_eq!(connection.query("who").value, "anybody@localhost clear");
    drop(running);
    assert!(!path.exists() && !lock.exists());
    // One whose process lives (the first of all) keeps it.
    std::fs::write(&lock, "1\n").unwrap();
    let options = meseta_server::ServerOptions {
        port: 0,
        datadir: directory.path().to_owned(),
        socket: Some(path.clone()),
        caching_sha2_password_auto_generate_rsa_keys: false,
        ..Default::default()
    };
    let backend = std::sync::Arc::new(Shared(Default::default()));
    let refused = Server::start(&options, backend, Clock::System).err().unwrap().to_string();
    assert!(refused.contains("process 1 uses it"), "{refused}");
}
