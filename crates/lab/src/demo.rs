//! The demonstration: one command that ends with a report.
//!
//! ```text
//! this program serves, on a free port, in a directory for the time being | or a server that the options name
//!   --> a small data set --> three workloads, 1 to 256 clients --> report.html
//! ```
//!
//! What is left is the report's folder. The server and its data go when the lab does, however it ends; on a server of
//! the user's, the database that was made is dropped.

use std::io::IsTerminal;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::admin::Admin;
use crate::commands::{self, Interrupt};
use crate::generator::target::Target;
use crate::grid::Grid;
use crate::launch::Scratch;
use crate::options::Options;
use crate::{build, record, sweep};

/// The database of the demonstration.
const DATABASE: &str = "meseta_lab_demo";

/// For newcomers: loads a little, sweeps for two minutes, reports, and leaves nothing else.
///
/// # Errors
/// One line.
pub fn run(options: &Options, words: &[String], interrupted: &Interrupt) -> Result<u8, String> {
    if let [_, word, ..] = &options.words[..] {
        return Err(format!("{word:?}: the demonstration takes options only"));
    }
    let names_server = ["mysql-host", "mysql-port", "mysql-socket", "server"].iter().any(|name| options.is_given(name));
    let directory = match options.text("dir") {
        "" => format!("lab-demo-{}", record::now()),
        given => given.to_owned(),
    };
    let mut options = options.with("mysql-db", DATABASE).with("dir", &directory);
    options.words = vec!["sweep".to_owned()];
    for (name, value) in [
        ("workload", "oltp_point_select,oltp_read_only,oltp_read_write"),
        ("clients", "1,2,4..256"),
        ("time", "3"),
        ("warmup-time", "1"),
        ("pause", "0"),
        ("table-size", "50000"),
        ("title", "A first look"),
    ] {
        if !options.is_given(name) {
            options = options.with(name, value);
        }
    }
    let done = if names_server {
        on_a_server(&options, words, interrupted)
    } else {
        let scratch = Scratch::new()?;
        let data = scratch.path.to_string_lossy().into_owned();
        let mut options = options.with("data-dir", &data);
        if !options.is_given("start") {
            println!("a Meseta of its own serves on a free port; its data is in {data} for the time being");
            options = options.with("start", "meseta");
        }
        sweep::run(&options, words, interrupted)
    };
    let page = Path::new(&directory).join("report.html");
    if done.is_ok() && options.switch("open") {
        show(&page);
    }
    done
}

/// On a server that runs: in a database of its own.
fn on_a_server(options: &Options, words: &[String], interrupted: &Interrupt) -> Result<u8, String> {
    Grid::of(options)?;
    let target = commands::target(options)?;
    let nowhere = Target { database: String::new(), ..target.clone() };
    let mut admin = Admin::connect(&nowhere).map_err(|failure| nowhere.explain(&failure))?;
    let mut execute = |text: String| admin.execute(&text).map_err(|failure| nowhere.explain(&failure));
    execute(format!("DROP DATABASE IF EXISTS {DATABASE}"))?;
    execute(format!("CREATE DATABASE {DATABASE}"))?;
    let done = build::workload("oltp_read_write", options)
        .and_then(|workload| commands::prepare(&workload, &target, options, interrupted))
        .and_then(|_| sweep::run(options, words, interrupted));
    execute(format!("DROP DATABASE {DATABASE}"))?;
    done
}

/// Opens the report where there is a screen; says nothing where there is none.
fn show(page: &Path) {
    let has_screen = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    if has_screen && std::io::stdout().is_terminal() {
        // (Its path has been printed: a machine without the program misses nothing.)
        let _ = Command::new("xdg-open").arg(page).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    }
}
