//! All workloads against a real server: `MESETA_PEER=host:port:user:password cargo test -p meseta-lab --test peer`.
//!
//! Without the variable there is nothing to test, and the tests say so. With it they make, use and drop databases of
//! their own.

use std::sync::atomic::AtomicBool;

use meseta_lab::admin::Admin;
use meseta_lab::build::{plan, workload};
use meseta_lab::commands::check;
use meseta_lab::generator::target::Target;
use meseta_lab::load::load;
use meseta_lab::options::Options;

fn peer(database: &str) -> Option<Target> {
    let Ok(peer) = std::env::var("MESETA_PEER") else {
        println!("MESETA_PEER is not set: nothing is tested");
        return None;
    };
    let parts: Vec<&str> = peer.split(':').collect();
    let target = Target {
        host: parts[0].to_owned(),
        port: parts[1].parse().unwrap(),
        user: parts[2].to_owned(),
        password: parts[3].to_owned(),
        database: String::new(),
        ..Target::default()
    };
    let mut admin = Admin::connect(&target).unwrap();
    admin.execute(&format!("DROP DATABASE IF EXISTS {database}")).unwrap();
    admin.execute(&format!("CREATE DATABASE {database}")).unwrap();
    Some(Target { database: database.to_owned(), ..target })
}

/// Loads, runs, checks. Returns what was measured.
fn all_of(database: &str, name: &str, options: &str) {
    let Some(target) = peer(database) else { return };
    let options = Options::parse(options.split_whitespace()).unwrap();
    let workload = workload(name, &options).unwrap();
    let loaded = load(&target, workload.load_plan(1), 4, &AtomicBool::new(false), &mut |_, _| ()).unwrap();
    println!("{loaded:?}");
    let measured = workload.run(&target, &plan(&options).unwrap(), &mut ()).unwrap();
    assert_eq!(measured.ended, None);
    assert!(!measured.totals.events.is_empty());
    assert_eq!(check(&workload, &target).unwrap(), 0);
    let mut admin = Admin::connect(&target).unwrap();
    for statement in workload.prewarm().iter().chain(&workload.cleanup()) {
        admin.execute(statement).unwrap();
    }
    assert!(admin.query("SHOW TABLES").unwrap().is_empty());
    admin.execute(&format!("DROP DATABASE {database}")).unwrap();
}

#[test]
fn sysbench_runs() {
    for (name, _) in meseta_lab::workload::sysbench::TESTS {
        let tables = if name.starts_with("select") { 1 } else { 2 };
        all_of(
            "lab_peer_sysbench",
            name,
            &format!("--tables={tables} --table-size=2000 --threads=4 --events=200 --time=0"),
        );
    }
}

#[test]
fn sysbench_0_4_runs() {
    for options in
        ["", "--oltp-test-mode=simple", "--oltp-read-only", "--oltp-test-mode=nontrx --oltp-nontrx-mode=delete"]
    {
        all_of("lab_peer_classic", "oltp", &format!("--test=oltp --num-threads=4 --max-requests=200 {options}"));
    }
}

#[test]
fn dbstress_runs_and_keeps_its_rows() {
    for scenario in meseta_lab::workload::dbstress::SCENARIOS {
        all_of(
            "lab_peer_dbstress",
            &format!("dbstress:{}", scenario.0),
            "--objects=500 --threads=8 --events=400 --time=0",
        );
    }
}

#[test]
fn tpcc_runs_and_stays_consistent() {
    all_of("lab_peer_tpcc", "tpcc", "--warehouses=1 --threads=4 --events=400 --time=0");
}
