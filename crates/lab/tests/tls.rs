//! Connections by TLS and with compression against a real server:
//! `MESETA_PEER=host:port:user:password cargo test -p meseta-lab --test tls`.
//!
//! Without the variable there is nothing to test, and the test says so.

use meseta_lab::admin::Admin;
use meseta_lab::build::{plan, workload};
use meseta_lab::commands::target;
use meseta_lab::options::Options;

/// Runs point selects on a table that has none of them, in every way to connect.
#[test]
fn every_way_to_connect_runs() {
    let Ok(peer) = std::env::var("MESETA_PEER") else {
        println!("MESETA_PEER is not set: nothing is tested");
        return;
    };
    let parts: Vec<&str> = peer.split(':').collect();
    let place = format!(
        "--mysql-host={} --mysql-port={} --mysql-user={} --mysql-password={}",
        parts[0], parts[1], parts[2], parts[3]
    );
    let with = |more: &str| Options::parse(format!("{place} {more}").split_whitespace()).unwrap();
    let mut admin = Admin::connect(&target(&with("--mysql-db=")).unwrap()).unwrap();
    admin.execute("DROP DATABASE IF EXISTS lab_peer_tls").unwrap();
    admin.execute("CREATE DATABASE lab_peer_tls").unwrap();
    admin.execute("CREATE TABLE lab_peer_tls.sbtest1 (id INT PRIMARY KEY, c CHAR(120))").unwrap();
    for way in ["", "--mysql-ssl", "--mysql-compression", "--mysql-ssl=required --mysql-compression"] {
        for io in ["auto", "epoll"] {
            let line = format!("{way} --io={io} --mysql-db=lab_peer_tls --threads=4 --events=200 --time=0");
            let options = with(&line);
            let target = target(&options).unwrap();
            let workload = workload("oltp_point_select", &options).unwrap();
            let measured = workload.run(&target, &plan(&options).unwrap(), &mut ()).unwrap();
            assert_eq!((measured.ended, measured.totals.events.len()), (None, 200), "{line}");
            let cipher = Admin::connect(&target).unwrap().query("SHOW STATUS LIKE 'Ssl_cipher'").unwrap();
            assert_eq!(cipher[0].text(1).unwrap().is_empty(), !way.contains("ssl"), "{line}");
        }
    }
    admin.execute("DROP DATABASE lab_peer_tls").unwrap();
}
