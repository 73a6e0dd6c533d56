//! What is kept of a run: every raw number, as JSON.
//!
//! ```text
//! DIR/run.json       the machine, the servers and their variables, the command: a line for each server, when it is met
//! DIR/points.jsonl   a line for each point, appended when it is measured: a sweep goes on after the last
//! FILE.json          (--json) machine, server and point in one line
//! ```
//!
//! Histograms are kept whole, as pairs of a time (the upper end of a bucket, in nanoseconds) and a count: they add up
//! across runs, and any percentile can be computed later.
//!
//! Invariant: a line that cannot be read (the last one, of a disk that was full) is left out and said so; the others
//! are used.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::Path;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::generator::Span;
use crate::generator::recorder::{self, Second};
use crate::generator::run::{Ended, Measured};
use crate::measure::machine::Machine;
use crate::measure::server::{Change, ServerFacts};

/// The format's number: a change that old readers would misread makes it greater.
pub const FORMAT: u32 = 1;

/// What was the same for all points of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// [`FORMAT`].
    pub format: u32,
    /// Its title.
    pub title: String,
    /// The command line, without passwords.
    pub command: Vec<String>,
    /// When it began, in seconds since 1970.
    pub started: u64,
    /// The machine of the generator's.
    pub machine: Machine,
    /// The servers.
    pub servers: Vec<ServerFacts>,
}

/// Which point of a grid.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// The server's name.
    pub server: String,
    /// Its configuration's, where the lab has started it in several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub config: String,
    /// On how many processors, where the lab has started it on so many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<usize>,
    /// The workload's.
    pub workload: String,
    /// Clients.
    pub clients: usize,
    /// The round, from 1 on.
    pub round: u64,
}

impl Key {
    /// The server and its configuration.
    pub fn setting(&self) -> String {
        format!("{} {}", self.server, self.config).trim_end().to_owned()
    }

    /// The server, its configuration and its processors: a line in a chart.
    pub fn line(&self) -> String {
        match self.cores {
            None => self.setting(),
            Some(1) => format!("{}, 1 core", self.setting()),
            Some(cores) => format!("{}, {cores} cores", self.setting()),
        }
    }
}

/// Times of many things.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// How many.
    pub count: u64,
    /// The sum's share of each, in milliseconds.
    pub mean_ms: f64,
    /// The least, in milliseconds.
    pub min_ms: f64,
    /// The greatest.
    pub max_ms: f64,
    /// Nanoseconds and counts.
    pub histogram: Vec<(u64, u64)>,
}

impl Times {
    /// From a histogram of nanoseconds.
    pub fn of(histogram: &Histogram<u64>) -> Times {
        if histogram.is_empty() {
            return Times::default();
        }
        Times {
            count: histogram.len(),
            mean_ms: histogram.mean() / 1e6,
            min_ms: histogram.min() as f64 / 1e6,
            max_ms: histogram.max() as f64 / 1e6,
            histogram: histogram
                .iter_recorded()
                .map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
                .collect(),
        }
    }

    /// A percentile (0 to 100), in milliseconds.
    pub fn percentile(&self, percentile: f64) -> f64 {
        let wanted = (percentile / 100.0 * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for &(value, count) in &self.histogram {
            seen += count;
            if seen >= wanted {
                return (value as f64 / 1e6).min(self.max_ms);
            }
        }
        self.max_ms
    }

    /// As a histogram again, to add to others.
    pub fn to_histogram(&self) -> Histogram<u64> {
        let mut histogram = recorder::histogram();
        for &(value, count) in &self.histogram {
            // Values beyond the bounds are counted as the greatest, as when they were recorded.
            histogram.saturating_record_n(value, count);
        }
        histogram
    }
}

/// What is known of one kind of statement or transaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KindResult {
    /// Its name.
    pub name: String,
    /// What it is.
    pub span: Span,
    /// Those that failed.
    pub errors: u64,
    /// Rows that came back.
    pub rows: u64,
    /// Times of those that succeeded.
    pub times: Times,
}

/// One second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SecondResult {
    /// Events that ended in it.
    pub events: u64,
    /// Statements.
    pub statements: u64,
    /// Errors.
    pub errors: u64,
    /// Events waiting for a client at its end.
    pub queued: u64,
    /// Clients within an event at its end.
    pub active: u64,
    /// Percentiles of events' times: 50, 95, 99, 100, in milliseconds.
    pub percentiles_ms: [f64; 4],
}

impl SecondResult {
    fn of(second: &Second) -> SecondResult {
        let at = |quantile| second.histogram.value_at_quantile(quantile) as f64 / 1e6;
        SecondResult {
            events: second.events,
            statements: second.statements(),
            errors: second.errors,
            queued: second.queued,
            active: second.active,
            percentiles_ms: [at(0.5), at(0.95), at(0.99), at(1.0)],
        }
    }
}

/// A measured point.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// [`FORMAT`].
    pub format: u32,
    /// Which.
    pub key: Key,
    /// When it began, in seconds since 1970.
    pub started: u64,
    /// The options that were given.
    pub options: BTreeMap<String, String>,
    /// Where chance began.
    pub seed: u64,
    /// The measured time in seconds.
    pub seconds: f64,
    /// Why it ended early.
    pub ended: Option<String>,
    /// Statements that read, wrote, and did neither.
    pub classes: [u64; 3],
    /// Errors by number.
    pub errors: BTreeMap<u16, u64>,
    /// Times of events, from their intended start.
    pub events: Times,
    /// Times of events, from their real start; of an open loop only.
    pub service: Option<Times>,
    /// By kind.
    pub kinds: Vec<KindResult>,
    /// Second by second.
    pub per_second: Vec<SecondResult>,
    /// What the server, the lab and the machine did meanwhile.
    pub change: Change,
    /// Events and seconds of each client: mean and deviation of both.
    pub fairness: [f64; 4],
}

impl Point {
    /// From a measurement.
    pub fn of(key: Key, measured: &Measured, change: Change, is_open_loop: bool) -> Point {
        let totals = &measured.totals;
        let kinds = measured
            .kinds
            .iter()
            .zip(&totals.kinds)
            .filter(|(_, record)| !record.histogram.is_empty() || record.errors > 0);
        let spread = |values: Vec<f64>| {
            let count = values.len().max(1) as f64;
            let mean = values.iter().sum::<f64>() / count;
            (mean, (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt())
        };
        let events = spread(totals.clients.iter().map(|(events, _)| *events as f64).collect());
        let times = spread(totals.clients.iter().map(|(_, time)| time.as_secs_f64()).collect());
        Point {
            format: FORMAT,
            key,
            started: now(),
            seconds: measured.time.as_secs_f64(),
            ended: measured.ended.as_ref().map(|ended| match ended {
                Ended::Interrupted => "interrupted".to_owned(),
                Ended::Failed(why) => why.clone(),
            }),
            classes: totals.classes,
            errors: totals.errors.clone(),
            events: Times::of(&totals.events),
            service: is_open_loop.then(|| Times::of(&totals.service)),
            kinds: kinds
                .map(|(kind, record)| KindResult {
                    name: kind.name.clone(),
                    span: kind.span,
                    errors: record.errors,
                    rows: record.rows,
                    times: Times::of(&record.histogram),
                })
                .collect(),
            per_second: measured.seconds.iter().map(SecondResult::of).collect(),
            change,
            fairness: [events.0, events.1, times.0, times.1],
            ..Point::default()
        }
    }

    /// Events a second.
    pub fn throughput(&self) -> f64 {
        if self.seconds > 0.0 { self.events.count as f64 / self.seconds } else { 0.0 }
    }

    /// Statements, of all classes.
    pub fn statements(&self) -> u64 {
        self.classes.iter().sum()
    }

    /// fsyncs of the server's, as it counts them.
    pub fn fsyncs(&self) -> Option<f64> {
        let counters = ["Innodb_data_fsyncs", "Innodb_os_log_fsyncs"];
        counters.into_iter().filter_map(|name| self.change.status.get(name).copied()).reduce(f64::max)
    }

    /// A process's CPU for each statement, in microseconds.
    pub fn cpu_us(&self, seconds: f64) -> f64 {
        seconds * 1e6 / self.statements().max(1) as f64
    }
}

/// Seconds since 1970.
pub fn now() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// A run and its points, as a file of `--json` has them in each line.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Single {
    /// The run.
    pub run: Run,
    /// The point.
    pub point: Point,
}

/// Appends a line to a file, and makes sure that it is there.
///
/// # Errors
/// One line.
pub fn append(path: &Path, value: &impl Serialize) -> Result<(), String> {
    let mut line = serde_json::to_vec(value).map_err(|error| format!("{}: {error}", path.display()))?;
    line.push(b'\n');
    let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(|error| failed(path, &error))?;
    file.write_all(&line).and_then(|()| file.sync_data()).map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    let advice = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "; make room there, or name another place",
        _ => "",
    };
    format!("{}: {error}{advice}", path.display())
}

/// What a run keeps is less than this.
const ROOM: u64 = 16 << 20;

/// Makes sure that there is room for what a run keeps in a folder.
///
/// # Errors
/// One line.
pub fn has_room(directory: &Path) -> Result<(), String> {
    // (A file system that does not say has room.)
    let room = rustix::fs::statvfs(directory).map_or(u64::MAX, |facts| facts.f_bavail.saturating_mul(facts.f_frsize));
    if room >= ROOM {
        return Ok(());
    }
    Err(format!(
        "{}: the disk is full ({} MiB are left); make room there, or name another place",
        directory.display(),
        room >> 20
    ))
}

/// Makes sure, before there is any load, that a file can be written to.
///
/// # Errors
/// One line.
pub fn can_append(path: &Path) -> Result<(), String> {
    let opened = OpenOptions::new().create(true).append(true).open(path);
    opened.map(|_| ()).map_err(|error| failed(path, &error))?;
    has_room(path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")))
}

/// Reads the lines of a file that can be read; the others are counted.
///
/// # Errors
/// One line, if there is no such file.
pub fn read_lines<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<(Vec<T>, usize), String> {
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let (mut values, mut broken) = (Vec::new(), 0);
    for line in BufReader::new(file).split(b'\n') {
        let line = line.map_err(|error| format!("{}: {error}", path.display()))?;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice(&line) {
            Ok(value) => values.push(value),
            Err(_) => broken += 1,
        }
    }
    Ok((values, broken))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn histograms_survive_being_kept(values in prop::collection::vec(0u64..20_000_000_000, 1..200)) {
            let mut histogram = recorder::histogram();
            for value in &values {
                histogram.saturating_record(*value);
            }
            let times = Times::of(&histogram);
            prop_assert_eq!(&times.to_histogram(), &histogram);
            for percentile in [1.0, 50.0, 95.0, 99.9, 100.0] {
                let kept = times.percentile(percentile);
                let exact = histogram.value_at_quantile(percentile / 100.0) as f64 / 1e6;
                prop_assert!((kept - exact).abs() <= exact * 0.002 + 0.0006, "{} {}", kept, exact);
            }
        }
    }

    #[test]
    fn broken_lines_are_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("points.jsonl");
        let point = Point { seconds: 2.0, key: Key { clients: 8, ..Key::default() }, ..Point::default() };
        append(&path, &point).unwrap();
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"format\":1,\"key\"").unwrap();
        let (points, broken) = read_lines::<Point>(&path).unwrap();
        assert_eq!((points, broken), (vec![point], 1));
        assert!(read_lines::<Point>(&directory.path().join("none")).is_err());
    }

    #[test]
    fn nothing_has_no_percentile() {
        assert_eq!(Times::of(&recorder::histogram()), Times::default());
        assert_eq!(Times::default().percentile(99.0), 0.0);
    }
}
