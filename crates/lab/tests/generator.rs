//! The client loop against a server of this process: what it sends, what it counts, and what it does when things fail.

mod scripted;

use std::sync::Arc;
use std::time::Duration;

use meseta_lab::admin::Admin;
use meseta_lab::generator::reactor::Waiting;
use meseta_lab::generator::run::{Ended, Ignore, Measured, Plan, run};
use meseta_lab::generator::target::Target;
use meseta_lab::generator::{Kind, Workload};
use meseta_lab::measure::process::own_usage;
use meseta_lab::measure::server::{change, look};
use meseta_lab::random::Random;
use meseta_lab::workload::classic::{Classic, Mode};
use meseta_lab::workload::dbstress::DbStress;
use meseta_lab::workload::sysbench::{Sysbench, TESTS, Test};
use scripted::{Answer, Server};

fn target(server: &Server) -> Target {
    Target {
        host: "127.0.0.1".to_owned(),
        port: server.port,
        user: "ann".to_owned(),
        password: "pw".to_owned(),
        ..Target::default()
    }
}

fn plan(clients: usize, events: u64) -> Plan {
    Plan {
        clients,
        workers: 1,
        warm_up: Duration::ZERO,
        time: None,
        events: Some(events),
        rate: None,
        think: None,
        ignore: Ignore::These(vec![1213, 1020, 1205]),
        prepares: true,
        seed: 1,
        waiting: Waiting::Best,
    }
}

fn measure<W: Workload>(workload: W, server: &Server, plan: &Plan) -> Measured {
    run(Arc::new(workload), &target(server), plan, &mut ()).unwrap()
}

fn usual() -> Server {
    Server::start(|_, _| Answer::Usual)
}

/// Numbers of tables and values in text are drawn at random: they are not compared.
fn normal(text: &str) -> String {
    let mut normal = text.replace("sbtest1", "sbtest#").replace("sbtest2", "sbtest#").replace('\n', "\\n");
    if let Some((head, rows)) = text.split_once("VALUES(") {
        let (first, last) = (rows.find(')').unwrap(), rows.rfind('(').unwrap());
        let head = head.replace("sbtest1", "sbtest#");
        return format!("{head}VALUES({}..{}, {} bytes", &rows[..=first], &rows[last..], text.len());
    }
    if normal.starts_with("INSERT") && !normal.contains('?') {
        let values = normal.find("VALUES (").unwrap() + "VALUES (".len();
        let mut quoted = false;
        let kept: String = normal[values..]
            .split('\'')
            .map(|part| {
                quoted = !quoted;
                if quoted { part.to_owned() } else { "'?'".to_owned() }
            })
            .collect();
        let (id, rest) = kept.split_once(", ").unwrap();
        let (_, rest) = rest.split_once(',').unwrap();
        normal = format!("{}{id}, ?,{rest}", &normal[..values]);
    }
    normal
}

#[test]
fn statements_are_those_that_sysbench_sends() {
    let recorded = include_str!("data/sysbench-1.0.20.txt");
    let mut compared = 0;
    for section in recorded.split("== ").skip(1) {
        let (name, lines) = section.split_once('\n').unwrap();
        let test = TESTS.iter().find(|(known, _)| *known == name).unwrap().1;
        let tables = if matches!(test, Test::RandomPoints | Test::RandomRanges) { 1 } else { 2 };
        let server = usual();
        let workload = Sysbench { test, tables, table_size: 1000, ..Sysbench::default() };
        let events = if test == Test::BulkInsert { 60_000 } else { 2 };
        let measured = measure(workload, &server, &plan(1, events));
        assert_eq!(measured.totals.events.len(), events, "{name}");
        let of = |kind: &str| -> Vec<String> {
            lines.lines().filter_map(|line| line.strip_prefix(kind)).map(str::to_owned).collect()
        };
        let sorted = |mut texts: Vec<String>| {
            texts.sort();
            texts
        };
        let prepared: Vec<String> = server.prepared().iter().map(|text| normal(text)).collect();
        assert_eq!(sorted(prepared), sorted(of("prepare ")), "{name}");
        let runs: Vec<String> = server.runs().iter().map(|text| normal(text)).collect();
        assert_eq!(runs, of("run "), "{name}");
        compared += 1;
    }
    assert_eq!(compared, TESTS.len());
}

#[test]
fn statements_are_counted_as_sysbench_counts_them() {
    for (test, classes) in [
        (Test::ReadOnly, [14, 0, 2]),
        (Test::ReadWrite, [14, 4, 2]),
        (Test::WriteOnly, [0, 4, 2]),
        (Test::PointSelect, [1, 0, 0]),
        (Test::UpdateIndex, [0, 1, 0]),
        (Test::Insert, [0, 1, 0]),
        (Test::RandomRanges, [1, 0, 0]),
    ] {
        for prepares in [true, false] {
            let server = usual();
            let measured =
                measure(Sysbench { test, ..Sysbench::default() }, &server, &Plan { prepares, ..plan(3, 50) });
            assert_eq!(measured.totals.events.len(), 50);
            assert_eq!(measured.totals.classes, classes.map(|count| count * 50), "{test:?} {prepares}");
            assert_eq!(server.prepared().is_empty(), !prepares || test == Test::Insert);
            assert!(server.runs().iter().all(|text| prepares || !text.contains('?')));
        }
    }
}

#[test]
fn the_floor_answers_all_that_sysbench_asks() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let target = Target {
        host: "127.0.0.1".to_owned(),
        port: listener.local_addr().unwrap().port(),
        user: "anybody".to_owned(),
        ..Target::default()
    };
    let threads = meseta_lab::floor::start(listener, 2).unwrap();
    for prepares in [true, false] {
        for (name, test) in TESTS {
            let workload = Sysbench { test, tables: 8, ..Sysbench::default() };
            let plan = Plan { prepares, ..plan(8, 100) };
            let measured = run(Arc::new(workload), &target, &plan, &mut ()).unwrap();
            assert_eq!((measured.totals.events.len(), measured.totals.errors.len()), (100, 0), "{name}");
        }
    }
    let read_write = Sysbench { test: Test::ReadWrite, ..Sysbench::default() };
    let measured = run(Arc::new(read_write), &target, &plan(3, 50), &mut ()).unwrap();
    assert_eq!(measured.totals.classes, [14 * 50, 4 * 50, 2 * 50]);
    assert!(threads.iter().all(|thread| !thread.is_finished()));
}

#[test]
fn a_request_of_0_4_has_21_statements() {
    let measured = measure(Classic::default(), &usual(), &plan(2, 100));
    assert_eq!(measured.totals.classes, [1400, 500, 200]);
    let simple = Classic { mode: Mode::Simple, simple_update: true, ..Classic::default() };
    assert_eq!(measure(simple, &usual(), &plan(2, 100)).totals.classes, [100, 100, 0]);
}

#[test]
fn a_deadlock_is_tried_again_with_new_ids_or_the_same() {
    let server =
        Server::start(
            |number, text| {
                if number == 4 && text.starts_with("UPDATE") { Answer::Error(1213) } else { Answer::Usual }
            },
        );
    let measured = measure(
        Sysbench { test: Test::UpdateIndex, ..Sysbench::default() },
        &server,
        &Plan { prepares: false, ..plan(1, 10) },
    );
    assert_eq!((measured.totals.events.len(), measured.ended), (10, None));
    assert_eq!(measured.totals.errors.into_iter().collect::<Vec<_>>(), [(1213, 1)]);
    let runs = server.runs();
    assert_eq!(runs.len(), 11);
    assert_ne!(runs[4], runs[5]);

    let server = Server::start(|number, _| if number == 30 { Answer::Error(1205) } else { Answer::Usual });
    let measured = measure(Classic::default(), &server, &Plan { prepares: false, ..plan(1, 2) });
    assert_eq!(measured.totals.events.len(), 2);
    let runs = server.runs();
    // The second request begins at 21, fails at 30, and begins again at 31.
    assert_eq!(runs[21..30], runs[31..40]);
}

#[test]
fn another_error_ends_the_run_with_what_there_is() {
    let server = Server::start(|number, _| if number == 7 { Answer::Error(1146) } else { Answer::Usual });
    let measured = measure(Sysbench { test: Test::PointSelect, ..Sysbench::default() }, &server, &plan(1, 100));
    assert_eq!(measured.totals.events.len(), 7);
    let Some(Ended::Failed(why)) = measured.ended else { panic!("{:?}", measured.ended) };
    assert!(why.contains("load the data first"), "{why}");
}

#[test]
fn a_lost_server_ends_the_run_with_what_there_is() {
    let server = Server::start(|number, _| if number >= 50 { Answer::Close } else { Answer::Usual });
    let plan = Plan { time: Some(Duration::from_secs(60)), events: None, ..plan(8, 0) };
    let measured = measure(Sysbench { test: Test::PointSelect, ..Sysbench::default() }, &server, &plan);
    assert_eq!(measured.totals.events.len(), 50);
    let Some(Ended::Failed(why)) = measured.ended else { panic!("{:?}", measured.ended) };
    assert!(why.contains("cannot be reached"), "{why}");
    assert!(measured.time < Duration::from_secs(30));
}

#[test]
fn what_a_server_takes_to_tell_its_waits_is_not_left_out() {
    // The first answer takes this process 100 ms of CPU. What is used from the look on has them in it.
    let server = Server::start(|number, _| {
        let began = own_usage();
        while number == 0 && own_usage().since(&began).cpu() < 0.1 {}
        Answer::Usual
    });
    let mut admin = Admin::connect(&target(&server)).unwrap();
    let before = look(&mut admin, None);
    assert!(!server.runs().is_empty());
    assert!(change(&before, &look(&mut admin, None)).client.cpu() >= 0.09);
}

#[test]
fn nothing_begins_when_a_client_cannot_log_in() {
    let server = usual();
    let wrong = Target { password: "wrong".to_owned(), ..target(&server) };
    let error = run(Arc::new(Sysbench::default()), &wrong, &plan(4, 10), &mut ()).unwrap_err();
    assert!(error.contains("--mysql-password"), "{error}");
    assert!(server.runs().is_empty());
    let nobody = Target { port: 1, ..target(&server) };
    let error = run(Arc::new(Sysbench::default()), &nobody, &plan(4, 10), &mut ()).unwrap_err();
    assert!(error.contains("is the server running"), "{error}");
}

#[test]
fn many_clients_share_the_events() {
    let server = usual();
    let plan = Plan { workers: 2, ..plan(200, 4000) };
    let measured = measure(Sysbench { test: Test::PointSelect, ..Sysbench::default() }, &server, &plan);
    assert_eq!(measured.totals.events.len(), 4000);
    assert_eq!(measured.totals.clients.len(), 200);
    assert_eq!(measured.totals.clients.iter().map(|(events, _)| events).sum::<u64>(), 4000);
    assert_eq!(measured.seconds.iter().map(|second| second.events).sum::<u64>(), 4000);
    assert_eq!(server.runs().len(), 4000);
}

#[test]
fn an_open_loop_counts_from_the_intended_start() {
    // Every statement of the server's takes as long as its lock is held; one client cannot do 400 events in a second.
    let server = Server::start(|_, _| {
        let until = std::time::Instant::now() + Duration::from_millis(5);
        while std::time::Instant::now() < until {
            std::hint::spin_loop();
        }
        Answer::Usual
    });
    let plan = Plan { rate: Some(400.0), time: Some(Duration::from_secs(1)), events: None, ..plan(1, 0) };
    let measured = measure(Sysbench { test: Test::PointSelect, ..Sysbench::default() }, &server, &plan);
    let totals = &measured.totals;
    assert!((5..=210).contains(&totals.events.len()), "{}", totals.events.len());
    // Half of the events are late by then, and the last ones by half a second.
    assert!(
        totals.events.max() > 5 * totals.service.max().min(40_000_000),
        "{} {}",
        totals.events.max(),
        totals.service.max()
    );
    assert!(measured.seconds.last().unwrap().queued > 50);
}

#[test]
fn think_time_is_not_response_time() {
    let think = Some((Duration::from_millis(20), Duration::from_millis(20)));
    let measured =
        measure(Sysbench { test: Test::PointSelect, ..Sysbench::default() }, &usual(), &Plan { think, ..plan(1, 10) });
    assert!(measured.time >= Duration::from_millis(180));
    assert!(measured.totals.events.value_at_quantile(0.5) < 15_000_000);
}

#[test]
fn kinds_are_timed_for_themselves() {
    let workload = DbStress { objects: 100, ..DbStress::default() };
    // The server gives one row for SEL2, which has twenty: with DELETE and INSERT in the scenario that may be.
    let measured = measure(workload.clone(), &usual(), &plan(2, 40));
    let counts: Vec<(String, u64)> = measured
        .kinds
        .iter()
        .map(|Kind { name, .. }| name.clone())
        .zip(measured.totals.kinds.iter().map(|record| record.histogram.len()))
        .filter(|(_, count)| *count > 0)
        .collect();
    let expected = ["SEL1", "SEL2", "DELETE", "INSERT", "UPDATE", "READ", "WRITE"].map(|name| (name.to_owned(), 40));
    assert_eq!(counts, expected);
    let ratio = DbStress { rw_ratio: 10, ..workload };
    let measured = measure(ratio, &usual(), &plan(1, 40));
    assert_eq!(measured.totals.kinds[8].histogram.len(), 4);
}

#[test]
fn the_same_seed_sends_the_same() {
    let runs = |seed| {
        let server = usual();
        let plan = Plan { seed, prepares: false, ..plan(1, 20) };
        measure(Sysbench::default(), &server, &plan);
        server.runs()
    };
    assert_eq!(runs(5), runs(5));
    assert_ne!(runs(5), runs(6));
    let _ = Random::fresh_seed();
}
