//! What the server says of itself: version, variables, status counters and wait events, before a load and after it.
//!
//! Waits come from `performance_schema` where its instruments are on; from `SHOW ENGINE INNODB MUTEX` on old servers,
//! whose counts are of operating-system waits and have no time. The lab turns nothing on: it would change what is
//! measured. `Questions` of the lab's own connection are among the status counters (four a point).
//!
//! When it fails: a server without one of these (or an account that may not see it) gives an empty table.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::machine::{Busy, busy};
use super::process::{Usage, own_usage, usage};
use crate::admin::Admin;
use crate::generator::target::Target;

/// What does not change while a server runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerFacts {
    /// Its name in the report.
    pub name: String,
    /// Where it is.
    pub place: String,
    /// Its version.
    pub version: String,
    /// What it says the version is of.
    pub comment: String,
    /// All of its global variables.
    pub variables: BTreeMap<String, String>,
    /// Its process, if it is known.
    pub pid: Option<u32>,
}

/// A wait event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Wait {
    /// Its name.
    pub name: String,
    /// How often.
    pub count: f64,
    /// How long in all, in seconds; 0 where the server does not say.
    pub seconds: f64,
}

/// Waits since the server began: how often, and how long in seconds, by name.
pub type Waits = BTreeMap<String, (f64, f64)>;

/// One look at all that changes.
#[derive(Debug, Clone, Default)]
pub struct Look {
    status: BTreeMap<String, f64>,
    waits: Waits,
    server: Option<Usage>,
    client: Usage,
    machine: Busy,
}

/// What changed between two looks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Status counters that differ.
    pub status: BTreeMap<String, f64>,
    /// Waits, the longest (or most frequent) first.
    pub waits: Vec<Wait>,
    /// What the server's process used.
    pub server: Option<Usage>,
    /// What the lab used.
    pub client: Usage,
    /// What all the machine did.
    pub machine: Busy,
    /// System calls of the server's process, where they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_calls: Option<u64>,
}

/// Reads the facts.
///
/// # Errors
/// One line.
pub fn facts(admin: &mut Admin, target: &Target, pid: Option<u32>) -> Result<ServerFacts, String> {
    let rows = admin.query("SHOW GLOBAL VARIABLES").map_err(|failure| target.explain(&failure))?;
    let variables: BTreeMap<String, String> = rows
        .iter()
        .filter_map(|row| Some((row.text(0)?.to_owned(), row.text(1).unwrap_or_default().to_owned())))
        .collect();
    Ok(ServerFacts {
        name: target.name.clone(),
        place: target.place(),
        version: admin.server_version(),
        comment: variables.get("version_comment").cloned().unwrap_or_default(),
        variables,
        pid,
    })
}

/// Looks. At what the kernel says first: a server under load may take seconds to answer.
pub fn look(admin: &mut Admin, pid: Option<u32>) -> Look {
    let (server, client, machine) = (pid.and_then(usage), own_usage(), busy());
    let rows = admin.query("SHOW GLOBAL STATUS").unwrap_or_default();
    let status = rows.iter().filter_map(|row| Some((row.text(0)?.to_owned(), row.number(1)?))).collect();
    Look { status, waits: waits(admin), server, client, machine }
}

/// Reads the waits.
pub fn waits(admin: &mut Admin) -> Waits {
    const EVENTS: &str = "SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT / 1e12 \
                          FROM performance_schema.events_waits_summary_global_by_event_name WHERE COUNT_STAR > 0";
    let rows = admin.query(EVENTS).unwrap_or_default();
    let named = rows.iter().filter_map(|row| {
        let name = row.text(0)?;
        (name != "idle").then(|| (name.to_owned(), (row.number(1).unwrap_or(0.0), row.number(2).unwrap_or(0.0))))
    });
    let found: Waits = named.collect();
    if !found.is_empty() {
        return found;
    }
    let mut mutexes = Waits::new();
    for row in admin.query("SHOW ENGINE INNODB MUTEX").unwrap_or_default() {
        let (Some(name), Some(status)) = (row.text(1), row.text(2)) else { continue };
        let number = |key: &str| {
            status.split(',').find_map(|part| part.trim().strip_prefix(key)?.strip_prefix('=')?.parse::<f64>().ok())
        };
        mutexes.entry(name.to_owned()).or_default().0 += number("os_waits").or(number("waits")).unwrap_or(0.0);
    }
    mutexes
}

/// What was waited for between two looks: the longest (or most frequent) first.
pub fn differences(before: &Waits, after: &Waits) -> Vec<Wait> {
    let mut waits: Vec<Wait> = after
        .iter()
        .filter_map(|(name, (count, seconds))| {
            let (count_before, seconds_before) = before.get(name).copied().unwrap_or_default();
            let wait = Wait { name: name.clone(), count: count - count_before, seconds: seconds - seconds_before };
            (wait.count > 0.0).then_some(wait)
        })
        .collect();
    waits.sort_by(|a, b| b.seconds.total_cmp(&a.seconds).then(b.count.total_cmp(&a.count)));
    waits
}

/// What changed.
pub fn change(before: &Look, after: &Look) -> Change {
    let status = after.status.iter().filter_map(|(name, value)| {
        let change = value - before.status.get(name).copied().unwrap_or(0.0);
        (change != 0.0).then(|| (name.clone(), change))
    });
    Change {
        status: status.collect(),
        waits: differences(&before.waits, &after.waits),
        server: after.server.zip(before.server).map(|(after, before)| after.since(&before)),
        client: after.client.since(&before.client),
        machine: after.machine.since(&before.machine),
        system_calls: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_what_differs() {
        let mut before = Look::default();
        before.status.insert("Questions".to_owned(), 10.0);
        before.status.insert("Uptime".to_owned(), 5.0);
        before.waits.insert("a".to_owned(), (5.0, 1.0));
        let mut after = before.clone();
        after.status.insert("Questions".to_owned(), 25.0);
        after.waits.insert("a".to_owned(), (6.0, 1.5));
        after.waits.insert("b".to_owned(), (7.0, 2.0));
        let change = change(&before, &after);
        assert_eq!(change.status.into_iter().collect::<Vec<_>>(), [("Questions".to_owned(), 15.0)]);
        let waits: Vec<_> = change.waits.iter().map(|wait| (wait.name.as_str(), wait.count, wait.seconds)).collect();
        assert_eq!(waits, [("b", 7.0, 2.0), ("a", 1.0, 0.5)]);
    }
}
