//! The lab's demonstration as a user runs it: with a server of its own, and nothing left but the report.

use std::path::PathBuf;
use std::process::Command;

/// Folders of the lab's for the time being.
fn scratch(temporary: &std::path::Path) -> Vec<PathBuf> {
    std::fs::read_dir(temporary).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn the_demonstration_serves_measures_reports_and_cleans_up() {
    let (directory, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let run = Command::new(env!("CARGO_BIN_EXE_meseta"))
        .args(["lab", "demo", "--clients=1,2", "--time=1", "--warmup-time=0", "--table-size=500", "--dir=first"])
        .current_dir(directory.path())
        .env("TMPDIR", temporary.path())
        .output()
        .expect("the program starts");
    let said = format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{said}");
    assert!(said.trim_end().ends_with("first/report.html"), "{said}");
    let report = std::fs::read_to_string(directory.path().join("first/report.html")).unwrap();
    for workload in ["oltp_point_select", "oltp_read_only", "oltp_read_write"] {
        assert!(report.contains(&format!("<h2>{workload}</h2>")), "{workload}");
    }
    assert_eq!(scratch(temporary.path()), [""; 0].map(PathBuf::from), "{said}");
}
