//! Status variables: the names that there are, and where their values come from.
//!
//! ```text
//! SHOW STATUS -> each name of data/status.txt -> StatusProvider (server, engine) -> a value, else 0
//! ```

use std::sync::LazyLock;

static NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let lines = include_str!("../../data/status.txt").lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
});

/// Who knows values of status variables.
pub trait StatusProvider {
    /// The value of one, as SHOW STATUS prints it; `None` if this provider does not have it. `global`: the sum of all
    /// sessions rather than this session's. Names are as MySQL spells them: `Com_select`, `Threads_connected`.
    fn status(&self, name: &str, global: bool) -> Option<String>;
}

/// A provider of nothing: every value is 0.
pub struct NoStatus;

impl StatusProvider for NoStatus {
    fn status(&self, _name: &str, _global: bool) -> Option<String> {
        None
    }
}

/// The names of all status variables, in SHOW STATUS's order.
pub fn status_names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().copied()
}
