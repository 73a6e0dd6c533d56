//! Reports: what runs found, as one HTML page, Markdown, CSV or JSON.
//!
//! ```text
//! folders, files of --json, sysbench's own output --read--> Data --charts, tables--> html | markdown | csv | json
//! ```
//!
//! | module | what it answers |
//! |---|---|
//! | [`stats`] | How sure is a mean? Do two differ? How does it scale? |
//! | [`charts`] | Which lines are drawn? |
//! | [`tables`] | Which rows are shown? |
//! | [`html`] | How does the page look? |
//! | [`sysbench_output`] | What did sysbench print? |
//!
//! Invariant: a report is a function of its inputs, byte for byte.

pub mod charts;
pub mod html;
pub mod stats;
pub mod sysbench_output;
pub mod tables;

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::record::{self, Key, Point, Run, Single};

/// What a report is made of.
#[derive(Debug, Clone, Default)]
pub struct Data {
    /// Its title.
    pub title: String,
    /// The runs.
    pub runs: Vec<Run>,
    /// Their points, in the order in which they were measured.
    pub points: Vec<Point>,
    /// What the reader should know of the inputs.
    pub notes: Vec<String>,
}

impl Data {
    /// The workloads, in order of appearance.
    pub fn workloads(&self) -> Vec<&str> {
        in_order(self.points.iter().map(|point| point.key.workload.as_str()))
    }

    /// The servers, each configuration and number of processors for itself, in order of appearance.
    pub fn servers(&self) -> Vec<String> {
        in_order(self.points.iter().map(|point| point.key.line()))
    }

    /// The servers and configurations that were measured on several numbers of processors, with those numbers.
    pub fn on_cores(&self, workload: &str) -> Vec<(String, Vec<usize>)> {
        let points = || self.points.iter().filter(|point| point.key.workload == workload && point.seconds > 0.0);
        let settings = in_order(points().filter(|point| point.key.cores.is_some()).map(|point| point.key.setting()));
        let cores = |setting: &String| {
            let of = points().filter(|point| point.key.setting() == *setting).filter_map(|point| point.key.cores);
            of.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>()
        };
        let all = settings.into_iter().map(|setting| {
            let cores = cores(&setting);
            (setting, cores)
        });
        all.filter(|(_, cores)| cores.len() > 1).collect()
    }

    /// The numbers of clients of a workload.
    pub fn clients(&self, workload: &str) -> Vec<usize> {
        let of = self.points.iter().filter(|point| point.key.workload == workload).map(|point| point.key.clients);
        of.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The points of a server, a workload and a number of clients: one for each round. Those that failed before they
    /// measured anything are left out.
    pub fn rounds(&self, server: &str, workload: &str, clients: usize) -> Vec<&Point> {
        let is_it = |point: &&Point| {
            point.key.line() == server
                && point.key.workload == workload
                && point.key.clients == clients
                && point.seconds > 0.0
        };
        self.points.iter().filter(is_it).collect()
    }
}

fn in_order<T: PartialEq>(names: impl Iterator<Item = T>) -> Vec<T> {
    let mut found: Vec<T> = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// Reads runs.
///
/// # Errors
/// One line, if there is nothing to report of.
pub fn read(paths: &[PathBuf], title: &str) -> Result<Data, String> {
    let mut data = Data { title: title.to_owned(), ..Data::default() };
    for path in paths {
        let (mut runs, mut points) = (Vec::new(), Vec::new());
        if path.is_dir() {
            runs.push(crate::sweep::read_run(path)?);
            let (read, broken) = record::read_lines::<Point>(&path.join("points.jsonl"))?;
            points = read;
            if broken > 0 {
                data.notes.push(format!("{}: {broken} lines could not be read and are left out", path.display()));
            }
        } else {
            match record::read_lines::<Single>(path)? {
                (singles, 0) if !singles.is_empty() => {
                    for single in singles {
                        runs.push(single.run);
                        points.push(single.point);
                    }
                }
                _ => points.push(sysbench_output::read(path)?),
            }
        }
        // The same server in two runs is two lines: a comparison of a server with itself, changed.
        let suffix =
            paths.len() > 1 && points.iter().any(|point| data.points.iter().any(|other| other.key == point.key));
        for mut point in points {
            if suffix {
                let name = path.file_stem().map_or(String::new(), |name| name.to_string_lossy().into_owned());
                point.key.server = format!("{} ({name})", point.key.server);
            }
            data.points.push(point);
        }
        data.runs.extend(runs);
    }
    // A point that ended early and was measured again counts once.
    let whole: Vec<Key> =
        data.points.iter().filter(|point| point.ended.is_none()).map(|point| point.key.clone()).collect();
    data.points.retain(|point| point.ended.is_none() || !whole.contains(&point.key));
    if data.points.is_empty() {
        return Err("there is no point in these runs".to_owned());
    }
    for point in &data.points {
        if let Some(why) = &point.ended {
            data.notes.push(format!(
                "{}, {}, {} clients: ended early: {why}",
                point.key.line(),
                point.key.workload,
                point.key.clients
            ));
        }
    }
    let stolen = data.points.iter().map(|point| point.change.machine.stolen_share()).fold(0.0, f64::max);
    if stolen > 0.05 {
        data.notes.push(format!(
            "up to {:.0} % of this machine's processors were taken away by the machine that it is a guest of: \
             differences may be its",
            stolen * 100.0
        ));
    }
    if data.title.is_empty() {
        let given = data.runs.iter().map(|run| run.title.clone()).find(|title| !title.is_empty());
        data.title = given.unwrap_or_else(|| data.workloads().join(", "));
    }
    Ok(data)
}

/// Renders a report.
///
/// # Errors
/// One line, if there is no such format.
pub fn render(data: &Data, format: &str) -> Result<String, String> {
    match format {
        "html" => Ok(html::page(data)),
        "markdown" | "md" => Ok(tables::all(data).iter().map(tables::Table::markdown).collect::<Vec<_>>().join("\n")),
        "csv" => Ok(tables::raw(data).csv()),
        "json" => serde_json::to_string_pretty(
            &serde_json::json!({ "title": data.title, "runs": data.runs, "points": data.points }),
        )
        .map_err(|error| error.to_string()),
        other => Err(format!("--format={other}: html, markdown, csv or json")),
    }
}
