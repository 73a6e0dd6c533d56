//! The `meseta` program.
//!
//! | command | what it does | exit status |
//! |---|---|---|
//! | `meseta check DIR` | reads every page of a closed store and says what is wrong | 0 sound, 1 problems, 2 not opened |
//! | `meseta demo` | fills a store, kills itself, and shows that nothing was lost | 0 all well, 1 not, 2 failed |
//! | `meseta serve ..` | serves MySQL's clients until SIGTERM | 0 ended as it was told, 2 failed |
//! | `meseta lab ..` | drives and measures servers, and reports | 0 done, 1 ended early or a check failed, 2 failed |
//!
//! Results go to standard output. An error is one line on standard error that begins with `meseta:`.

mod check;
mod crash;
mod demo;
mod serve;
mod text;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A MySQL-compatible OLTP server, and the load lab that measures it
#[derive(Parser)]
#[command(version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check every page and every tree of a store that nobody has open
    ///
    /// A store that was not closed is recovered first, as any opening would. Where damage keeps a store from opening, all
    /// of its pages are looked at without changing anything, and each damaged one is named. Exit status: 0 when the store
    /// is sound, 1 when problems were found, 2 when it could not be opened or read.
    Check {
        /// The data directory
        #[arg(value_name = "DIR")]
        directory: PathBuf,
        /// Memory for pages: bytes, or a number with K, M or G
        #[arg(long, default_value = "128M", value_parser = text::parse_bytes)]
        memory: usize,
    },
    /// Show the storage engine at work: load, update, commit, crash for real, recover
    Demo {
        /// The data directory: missing, empty, or a store
        #[arg(long = "dir", value_name = "DIR", default_value = "data/demo")]
        directory: PathBuf,
        /// Rows to load
        #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..))]
        rows: u64,
    },
    /// Drive and measure any server that speaks MySQL's protocol: workloads, sweeps, reports
    #[command(disable_help_flag = true)]
    Lab {
        /// As `meseta lab help` says
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Serve MySQL's clients
    ///
    /// Takes MySQL's own options: --datadir, --port, --socket, --innodb-buffer-pool-size, --defaults-file and so on.
    #[command(disable_help_flag = true)]
    Serve {
        /// MySQL's options
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
        options: Vec<String>,
    },
    /// The process that the demonstration kills
    #[command(hide = true)]
    DemoWorker {
        #[arg(long = "dir")]
        directory: PathBuf,
    },
}

/// Why the program ends early: one line for standard error. Exit status 2.
type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Check { directory, memory } => check::run(&directory, memory),
        Command::Demo { directory, rows } => demo::run(&directory, rows),
        Command::Lab { words } => return ExitCode::from(meseta_lab::run(&words)),
        Command::DemoWorker { directory } => crash::work(&directory).map(|()| true),
        Command::Serve { options } => serve::run(options).map(|()| true),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("meseta: {error}");
            ExitCode::from(2)
        }
    }
}
