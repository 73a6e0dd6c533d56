//! The log: one place, the standard error output, a line an event, with the time in UTC.
//!
//! ```text
//! 2026-11-21T20:54:28.123456Z  INFO meseta_server::server: ready for connections on 127.0.0.1:3306
//! ```
//!
//! As MySQL's `log_error_verbosity` has it: 1 errors; 2 warnings as well; 3 notes as well.

use tracing::level_filters::LevelFilter;

/// Sends what is logged to the standard error output. Of effect once in a process.
pub fn to_stderr(verbosity: u32) {
    let level = match verbosity {
        0 | 1 => LevelFilter::ERROR,
        2 => LevelFilter::WARN,
        3 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    let subscriber =
        tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(false).with_max_level(level).finish();
    // A second call finds one there, and leaves it.
    let _ = tracing::subscriber::set_global_default(subscriber);
}
