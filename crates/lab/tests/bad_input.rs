//! What somebody may get wrong: one line that says what to do, before any load is sent; and Ctrl-C.

mod scripted;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use meseta_lab::commands::execute;
use scripted::{Answer, Server};

/// Runs the lab with these words. The lab must not have sent any statement of the workload's.
fn refused(server: &Server, line: &str) -> String {
    let why = lab(server, line, &Arc::default()).unwrap_err();
    assert!(!why.contains('\n'), "{why}");
    assert!(server.prepared().is_empty(), "{line}: {why}");
    why
}

fn lab(server: &Server, line: &str, interrupted: &Arc<AtomicBool>) -> Result<u8, String> {
    let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let place = ["--mysql-host=127.0.0.1", "--mysql-user=ann", "--mysql-password=pw"].map(str::to_owned);
    words.splice(1..1, place);
    words.insert(1, format!("--mysql-port={}", server.port));
    execute(&words, interrupted)
}

fn usual() -> Server {
    Server::start(|_, _| Answer::Usual)
}

#[test]
fn what_is_misspelt_is_named_with_the_nearest() {
    let server = usual();
    for (line, hint) in [
        ("oltp_read_write --thread=4 run", "did you mean --threads?"),
        ("oltp_read_write --tabel-size=4 run", "did you mean --table-size?"),
        ("oltp_raed_write run", "did you mean oltp_read_write?"),
        ("oltp_read_write rum", "did you mean run?"),
        ("sweep --workload=tpc --dir=x", "did you mean tpcc?"),
        ("oltp_read_write --rand-type=normal run", "uniform, gaussian, special, pareto or zipfian"),
        ("oltp_read_write --mysql-ssl=perhaps run", "verify_identity"),
        ("oltp_read_write --report-checkpoints=soon run", "seconds, as in 60,120"),
        ("oltp_read_write --threads=0 run", "1 to 100,000"),
        ("demo --clients=1,,2", "1,2,4..1024"),
        ("oltp_read_write --lab-cpus=server run", "0,2,4-7"),
    ] {
        let why = refused(&server, line);
        assert!(why.contains(hint), "{line}: {why}");
    }
}

#[test]
fn who_is_not_let_in_is_told_where_to_look() {
    let server = usual();
    let why = refused(&server, "oltp_read_write --mysql-password=wrong run");
    assert!(why.contains("--mysql-user and --mysql-password"), "{why}");
    let why = refused(&server, "oltp_read_write --mysql-port=1 run");
    assert!(why.contains("127.0.0.1:1 cannot be reached") && why.contains("is the server running"), "{why}");
    let why = refused(&server, "oltp_read_write --mysql-host=no.such.host.invalid run");
    assert!(why.starts_with("the host \"no.such.host.invalid\" is not known"), "{why}");
    let why = refused(&server, "oltp_read_write --mysql-ssl=on run");
    assert!(why.contains("TLS"), "{why}");
}

#[test]
fn a_missing_table_is_found_before_the_load() {
    let of = |name: &'static str| {
        Server::start(move |_, text| if text.contains(name) { Answer::Error(1146) } else { Answer::Usual })
    };
    let why = refused(&of("sbtest2"), "oltp_read_write --tables=2 run");
    assert!(why.contains("the command prepare"), "{why}");
    let directory = tempfile::tempdir().unwrap();
    let line = format!("sweep --workload=dbstress:ro --dir={}/run", directory.path().display());
    let why = refused(&of("HISTORY"), &line);
    assert!(why.contains("the command prepare"), "{why}");
    assert!(!directory.path().join("run").exists());
}

#[test]
fn limits_of_the_server_are_read_before_the_load() {
    let of = |name: &'static str, value: &'static str| {
        Server::start(move |_, text| if text.contains("VARIABLES") { Answer::Pair(name, value) } else { Answer::Usual })
    };
    let why = refused(&of("max_connections", "100"), "oltp_read_write --threads=100 run");
    assert!(why.contains("raise max_connections to 110"), "{why}");
    let why = refused(&of("max_prepared_stmt_count", "1000"), "oltp_read_write --threads=100 run");
    assert!(why.contains("--db-ps-mode=disable"), "{why}");
    let directory = tempfile::tempdir().unwrap();
    let line = format!("sweep --workload=oltp_point_select --clients=1..200 --dir={}/x", directory.path().display());
    let why = refused(&of("max_connections", "100"), &line);
    assert!(why.contains("raise max_connections to 210"), "{why}");
}

#[test]
fn files_that_cannot_be_written_are_named_before_the_load() {
    let server = usual();
    let why = refused(&server, "oltp_read_write --json=/no/such/folder/file run");
    assert!(why.starts_with("/no/such/folder/file: "), "{why}");
    let why = refused(&server, "sweep --workload=oltp_read_write --dir=/proc/none");
    assert!(why.starts_with("/proc/none: "), "{why}");
    let why = refused(&server, "sweep --workload=oltp_read_write");
    assert!(why.contains("--dir=DIR"), "{why}");
    if Path::new("/dev/full").exists() {
        let why = lab(&server, "oltp_point_select --events=3 --json=/dev/full run", &Arc::default()).unwrap_err();
        assert!(why.contains("make room there"), "{why}");
    }
}

/// The line of `status`, proc(5), that says where a process may run.
const ALLOWED: &str = "Cpus_allowed_list:";

#[test]
fn a_server_that_a_sweep_starts_is_not_kept_to_the_processors_of_the_lab() {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let allowed = status.lines().find(|line| line.starts_with(ALLOWED)).unwrap();
    let one = allowed.rsplit(['\t', ',', '-']).next().unwrap();
    let directory = tempfile::tempdir().unwrap();
    // It says where it may run, and ends: that is what the lab says of it.
    let words = [
        "sweep".to_owned(),
        "--workload=oltp_point_select".to_owned(),
        format!("--start=server=grep {ALLOWED} /proc/self/status; exit 1"),
        format!("--lab-cpus={one}"),
        format!("--dir={}/run", directory.path().display()),
    ];
    let why = execute(&words, &Arc::default()).unwrap_err();
    assert!(why.contains(allowed), "{why} in place of {allowed}");
}

#[test]
fn ctrl_c_ends_a_sweep_with_its_report() {
    // The server itself presses Ctrl-C, when it has been asked a hundred times.
    let interrupted = Arc::new(AtomicBool::new(false));
    let button = interrupted.clone();
    let server = Server::start(move |number, _| {
        if number == 100 {
            button.store(true, Ordering::Relaxed);
        }
        Answer::Usual
    });
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("run");
    let line = format!(
        "sweep --workload=oltp_point_select --clients=2,4 --time=1 --rounds=2 --pause=0 --dir={}",
        folder.display()
    );
    // It may have been too early for a point that is worth keeping.
    let ended = lab(&server, &line, &interrupted);
    match &ended {
        Ok(status) => {
            assert_eq!(*status, 1);
            assert!(folder.join("report.html").exists());
        }
        Err(why) => assert!(why.contains("before a point was measured"), "{why}"),
    }
    // The same command goes on, and ends.
    assert_eq!(lab(&server, &line, &Arc::default()), Ok(0));
    let data = meseta_lab::report::read(std::slice::from_ref(&folder), "").unwrap();
    assert_eq!(data.points.iter().filter(|point| point.ended.is_none()).count(), 4);
    assert!(folder.join("report.html").exists());
    // And once more: there is nothing left to do.
    let asked = server.runs().len();
    assert_eq!(lab(&server, &line, &Arc::default()), Ok(0));
    assert!(server.runs().len() < asked + 20);
}
