//! Many connections: nobody waits for those that wait, compute, do not read, or send too much.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering;

use common::*;
use meseta_protocol::client::Client;
use meseta_protocol::flags::Capabilities;
use meseta_server::clock::Clock;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// A COM_QUERY, for clients that send the next before they have read the answer.
fn packet(text: &str) -> Vec<u8> {
    [&[text.len() as u8 + 1, 0, 0, 0, 3], text.as_bytes()].concat()
}

/// Reads packets for as long as `more`, which is given their payloads, says so.
fn read_packets(stream: &mut TcpStream, mut more: impl FnMut(&[u8]) -> bool) {
    let mut receiver = meseta_protocol::receive::Receiver::new(1 << 20);
    receiver.set_sequence_checked(false);
    let mut room = vec![0; 1 << 16];
    let mut wanted = true;
    while wanted {
        let count = stream.read(&mut room).unwrap();
        assert!(count > 0, "there are to be more");
        receiver.feed(&room[..count]);
        while let Some(packet) = receiver.next_packet().unwrap() {
            wanted = more(packet.payload);
        }
    }
}

#[test]
fn a_thousand_connections_at_once() {
    let running = start(|options| options.max_connections = 1100);
    let mut all: Vec<Connection> = (0..1000).map(|_| running.connect()).collect();
    for round in 0..5 {
        for (number, connection) in all.iter_mut().enumerate() {
            connection.client.query(format!("literal {round}-{number}").as_bytes());
            connection.send();
        }
        for (number, connection) in all.iter_mut().enumerate() {
            assert_eq!(connection.run().value, format!("{round}-{number}"));
        }
    }
    let handle = running.server.handle();
    assert_eq!(handle.totals().threads_connected, 1000);
    assert!(handle.thread_count() <= 5, "{}", handle.thread_count());
    drop(all);
    eventually("all have left", || handle.totals().threads_connected == 0);
}

#[test]
fn statements_that_wait_keep_nobody_from_running() {
    let running = start(|_| {});
    let mut waiting: Vec<Connection> = (0..50).map(|_| running.connect()).collect();
    for connection in &mut waiting {
        connection.client.query(b"block");
        connection.send();
    }
    running.backend.gate.wait_for(50);
    let mut others: Vec<Connection> = (0..10).map(|_| running.connect()).collect();
    for number in 0..100 {
        assert_eq!(others[number % 10].query(&format!("literal {number}")).value, number.to_string());
    }
    let handle = running.server.handle();
    assert_eq!(handle.totals().threads_running, 50);
    // One for each that waits, one for each worker, and perhaps one that is between the two.
    assert!((52..=54).contains(&handle.thread_count()), "{}", handle.thread_count());
    running.backend.gate.open();
    for connection in &mut waiting {
        assert_eq!(connection.run().error, None);
        assert_eq!(connection.query("literal 7").value, "7");
    }
}

#[test]
fn statements_that_compute_for_long_keep_nobody_from_running() {
    let running = start(|_| {});
    let mut spinning: Vec<Connection> = (0..3).map(|_| running.connect()).collect();
    for connection in &mut spinning {
        connection.client.query(b"spin");
        connection.send();
    }
    eventually("all three compute on two workers", || running.backend.spinning.load(Ordering::SeqCst) == 3);
    let mut other = running.connect();
    assert_eq!(other.query("literal 7").value, "7");
    running.backend.stop_spinning.store(true, Ordering::SeqCst);
    for connection in &mut spinning {
        assert_eq!(connection.run().error, None);
    }
}

#[test]
fn a_client_that_does_not_read_keeps_nobody_from_running() {
    let running = start(|_| {});
    let mut lazy: Vec<Connection> = (0..8).map(|_| running.connect()).collect();
    for connection in &mut lazy {
        connection.client.query(b"rows 50000 1000");
        connection.send();
    }
    let mut other = running.connect();
    for number in 0..100 {
        assert_eq!(other.query(&format!("literal {number}")).value, number.to_string());
    }
    // And what it was sent is all there when it reads.
    for connection in &mut lazy {
        assert_eq!(connection.run().bytes, 50_000_000);
    }
}

/// Answers are sent together when a round is over.
#[test]
fn an_answer_does_not_wait_for_a_turn_that_does() {
    let running = start(|options| options.worker_threads = 1);
    let mut all: Vec<Connection> = (0..6).map(|_| running.connect()).collect();
    let (last, others) = all.split_last_mut().unwrap();
    for round in 0..50 {
        let spins = round % 2 == 0;
        running.backend.stop_spinning.store(false, Ordering::SeqCst);
        last.client.query(if spins { b"spin" } else { b"block" });
        for (number, other) in others.iter_mut().enumerate() {
            other.client.query(format!("literal {round}-{number}").as_bytes());
            other.send();
        }
        last.send();
        for (number, other) in others.iter_mut().enumerate() {
            assert_eq!(other.run().value, format!("{round}-{number}"));
        }
        running.backend.stop_spinning.store(true, Ordering::SeqCst);
        if !spins {
            running.backend.gate.open();
        }
        assert_eq!(last.run().error, None);
        running.backend.gate.close();
    }
}

/// The answer to a commit leaves in the turn in which the next command, which is here already, begins.
#[test]
fn an_answer_does_not_wait_for_the_next_command_of_its_client() {
    let running = start(|options| options.worker_threads = 1);
    let mut connection = running.connect();
    let Some(Stream::Tcp(mut stream)) = connection.stream.take() else { unreachable!() };
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(&[packet("park"), packet("block")].concat()).unwrap();
    let parked = running.backend.take_parked(1);
    parked.into_iter().for_each(|parked| parked.complete(Ok(())));
    let mut answer = [0; 11];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer[..5], [7, 0, 0, 1, 0]);
    running.backend.gate.wait_for(1);
    running.backend.gate.open();
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer[..5], [7, 0, 0, 1, 0]);
}

#[test]
fn answers_that_a_client_reads_late_are_all_there() {
    const COMMANDS: usize = 600;
    let running = start(|options| options.worker_threads = 1);
    let mut all: Vec<Connection> = (0..4).map(|_| running.connect()).collect();
    let mut reading = Vec::new();
    for connection in &mut all {
        let Some(Stream::Tcp(mut stream)) = connection.stream.take() else { unreachable!() };
        reading.push(stream.try_clone().unwrap());
        // Some short and some long, and more of them than a socket takes.
        let packets: Vec<u8> =
            (0..COMMANDS).flat_map(|number| packet(&format!("rows {} 3000", 1 + number % 7))).collect();
        std::thread::spawn(move || stream.write_all(&packets));
    }
    for mut stream in reading {
        let (mut answers, mut rows) = (0, 0);
        read_packets(&mut stream, |payload| {
            rows += usize::from(payload.len() == 3003);
            if payload[0] == 0xFE {
                assert_eq!(rows, 1 + answers % 7);
                (answers, rows) = (answers + 1, 0);
            }
            answers < COMMANDS
        });
    }
}

#[test]
fn one_that_sends_without_end_does_not_starve_others() {
    let running = start(|options| options.worker_threads = 1);
    let mut greedy = running.connect();
    let packets = packet("literal 7").repeat(20_000);
    let Some(Stream::Tcp(stream)) = greedy.stream.take() else { unreachable!() };
    let mut reading = stream.try_clone().unwrap();
    let mut writing = stream;
    let sender = std::thread::spawn(move || writing.write_all(&packets));
    let mut other = running.connect();
    for number in 0..50 {
        assert_eq!(other.query(&format!("literal {number}")).value, number.to_string());
    }
    // All are answered, in order: an answer of four packets each, 43 bytes or so.
    let mut ends = 0;
    read_packets(&mut reading, |payload| {
        ends += usize::from(payload[0] == 0xFE);
        ends < 20_000
    });
    sender.join().unwrap().unwrap();
}

#[test]
fn connections_come_and_go_while_others_work() {
    let running = start(|options| options.max_connections = 500);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let running = &running;
            scope.spawn(move || {
                for number in 0..200 {
                    let more = if thread % 2 == 0 { Capabilities::NONE } else { Capabilities::COMPRESS };
                    let mut connection = running.connect_with(options("anybody", "", more)).unwrap();
                    assert_eq!(connection.query(&format!("literal {number}")).value, number.to_string());
                    if number % 3 == 0 {
                        connection.client.quit();
                        connection.send();
                    }
                }
            });
        }
    });
    let handle = running.server.handle();
    eventually("all have left", || handle.totals().threads_connected == 0);
    let totals = handle.totals();
    assert_eq!((totals.connections, totals.aborted_connects), (800, 0));
    assert_eq!(totals.commands[3], 800);
    let _unused: Option<Client> = None;
}

#[test]
fn who_has_a_worker_to_itself_is_told_so() {
    let running = start(|options| options.worker_threads = 1);
    let mut first = running.connect();
    assert_eq!(first.query("alone").value, "no", "the handshake was a few turns");
    // (A worker that passes to another thread, for a turn that was long, counts anew.)
    eventually("it is alone", || first.query("alone").value == "yes");
    let mut second = running.connect();
    for _ in 0..20 {
        assert_eq!(second.query("alone").value, "no");
        assert_eq!(first.query("alone").value, "no");
    }
    // A short wait gives the worker away only if there is somebody else: then the thread goes on without one.
    for _ in 0..20 {
        assert_eq!(second.query("processors briefly").error, None);
        assert_eq!(first.query("processors briefly").error, None);
    }
    // One who waits gives the worker away, alone or not: others are served meanwhile.
    (0..20).for_each(|_| drop(first.query("alone")));
    first.client.query(b"block");
    first.send();
    running.backend.gate.wait_for(1);
    assert_eq!(second.query("literal 5").value, "5");
    running.backend.gate.open();
    assert_eq!(first.run().error, None);
}

#[test]
fn one_who_waits_in_each_turn_may_run_anywhere() {
    let all = sched_getaffinity(None).unwrap().count();
    if all < 2 {
        return; // Nowhere else to run.
    }
    let running = start(|options| options.worker_threads = all);
    let mut client = running.connect();
    for waiting in ["processors waiting", "processors briefly"] {
        eventually("it stays on a processor", || client.query("processors working").value == "1");
        eventually("it runs anywhere", || client.query(waiting).value == all.to_string());
    }
}

#[test]
fn connections_move_to_where_they_come_in() {
    let allowed = sched_getaffinity(None).unwrap();
    let processors: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&processor| allowed.is_set(processor)).collect();
    if processors.len() < 2 {
        return; // Nowhere to move.
    }
    let (clock, time) = Clock::manual();
    let running = start_with(clock, |options| {
        options.worker_threads = processors.len() as u32;
        options.wait_timeout = 100;
    });
    // (Two are no crowd: they move whatever other processes do meanwhile.)
    let mut connections: Vec<Connection> = (0..2).map(|_| running.connect()).collect();
    let moved = || running.server.handle().totals().moved;
    let come_from = |processor: usize, connections: &mut Vec<Connection>| {
        let mut set = CpuSet::new();
        set.set(processor);
        sched_setaffinity(None, &set).unwrap();
        let before = moved();
        eventually("one has moved", || {
            for (number, connection) in connections.iter_mut().enumerate() {
                assert_eq!(connection.query(&format!("literal {number}")).value, number.to_string());
            }
            moved() > before
        });
    };
    for processor in [0, 1, 0, 1].map(|number| processors[number]) {
        come_from(processor, &mut connections);
    }
    // Whoever moved is still told of its deadline.
    time.advance(101_000);
    eventually("all are idle for too long", || running.server.handle().totals().threads_connected == 0);
}
