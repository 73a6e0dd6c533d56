//! The guard: has a change made a server slower?
//!
//! ```text
//! a run of the server and of another beside it (the floor) --> for each round, workload and number of clients:
//!     its throughput as a share of the other's, its CPU a query as a multiple   --> compared with those of a baseline
//! ```
//!
//! What a machine does in a second moves by a third within minutes, and from machine to machine by more; the share of what
//! it can do at most, measured in the same minute, moves less. A figure is worse if the median of the rounds is, by the
//! tolerance, and the baseline is outside of its 95 % interval.
//!
//! When it fails: one line; what the baseline has and the run has not is one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use crate::options::Options;
use crate::record::Point;
use crate::report::stats::{Median, mean, median};
use crate::report::{self, Data};
use crate::text::thousands;

/// The head of a baseline's file.
const HEAD: &str = "server,workload,clients,throughput,cpu";

/// What is compared: a server, a workload, clients.
type Name = (String, String, usize);

/// A server beside the other.
#[derive(Debug, Clone)]
struct Beside {
    /// Its throughput by the other's.
    throughput: Median,
    /// Its CPU a query by the other's; `None` where that was not seen.
    cpu: Option<Median>,
    /// Its throughput itself, in the mean.
    rate: f64,
}

/// What a baseline says.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Before {
    throughput: f64,
    cpu: Option<f64>,
}

/// How a figure stands beside the baseline's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Better,
    AsBefore,
    Worse,
    /// The interval is wider than the tolerance.
    Noisy,
}

impl Verdict {
    /// `is_cost`: less of it is better.
    fn of(now: &Median, before: f64, tolerance: f64, is_cost: bool) -> Verdict {
        let half = now.half.unwrap_or(0.0);
        let change = if is_cost { before - now.median } else { now.median - before };
        let allowed = tolerance * before;
        if change.abs() <= half {
            return if half > allowed { Verdict::Noisy } else { Verdict::AsBefore };
        }
        match change.abs() < allowed {
            true => Verdict::AsBefore,
            false if change > 0.0 => Verdict::Better,
            false => Verdict::Worse,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::AsBefore => "as before",
            Verdict::Worse => "WORSE",
            Verdict::Noisy => "noisy",
        }
    }
}

/// All servers beside the one that is called `other`.
fn beside(data: &Data, other: &str) -> Result<BTreeMap<Name, Beside>, String> {
    let servers = data.servers();
    if !servers.iter().any(|server| server == other) {
        return Err(format!("--against={other}: there are {}", servers.join(", ")));
    }
    let cpu = |point: &Point| point.change.server.map(|usage| point.cpu_us(usage.cpu())).filter(|cpu| *cpu > 0.0);
    let mut found = BTreeMap::new();
    for server in servers.iter().filter(|server| *server != other) {
        for workload in data.workloads() {
            for clients in data.clients(workload) {
                let (own, others) = (data.rounds(server, workload, clients), data.rounds(other, workload, clients));
                let pairs: Vec<(&Point, &Point)> = own
                    .iter()
                    .filter_map(|own| Some((*own, *others.iter().find(|other| other.key.round == own.key.round)?)))
                    .collect();
                let shares: Vec<f64> = pairs.iter().map(|(own, other)| own.throughput() / other.throughput()).collect();
                let costs: Vec<f64> = pairs.iter().filter_map(|(own, other)| Some(cpu(own)? / cpu(other)?)).collect();
                let rates: Vec<f64> = own.iter().map(|point| point.throughput()).collect();
                if let (Some(throughput), Some(rate)) = (median(&shares), mean(&rates)) {
                    let name = (server.clone(), workload.to_owned(), clients);
                    found.insert(name, Beside { throughput, cpu: median(&costs), rate: rate.mean });
                }
            }
        }
    }
    Ok(found)
}

/// Reads a baseline: lines as [`HEAD`] says, and such as begin with `#`.
fn parse(text: &str) -> Result<BTreeMap<Name, Before>, String> {
    let mut baseline = BTreeMap::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#') && *line != HEAD) {
        let wrong = || format!("{line:?} is no line of a baseline: {HEAD}");
        let [server, workload, clients, throughput, cpu] = line.split(',').collect::<Vec<_>>()[..] else {
            return Err(wrong());
        };
        let cpu = if cpu.is_empty() { None } else { Some(cpu.parse().map_err(|_| wrong())?) };
        let before = Before { throughput: throughput.parse().map_err(|_| wrong())?, cpu };
        let clients = clients.parse().map_err(|_| wrong())?;
        baseline.insert((server.to_owned(), workload.to_owned(), clients), before);
    }
    Ok(baseline)
}

/// A baseline's text.
fn text(now: &BTreeMap<Name, Beside>) -> String {
    let mut text = format!("{HEAD}\n");
    for ((server, workload, clients), beside) in now {
        let cpu = beside.cpu.as_ref().map_or(String::new(), |cpu| format!("{:.3}", cpu.median));
        // Writing to a string does not fail.
        let _ = writeln!(text, "{server},{workload},{clients},{:.3},{cpu}", beside.throughput.median);
    }
    text
}

fn plus_minus(figure: &Median) -> String {
    match figure.half {
        Some(half) => format!("{:.3} ± {half:.3}", figure.median),
        None => format!("{:.3}", figure.median),
    }
}

/// A table of all lines, and how many are worse.
fn table(now: &BTreeMap<Name, Beside>, baseline: &BTreeMap<Name, Before>, tolerance: f64) -> (String, usize) {
    let mut text = "| server | workload | clients | a second | share | before | | CPU | before | |\n\
                    |---|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    let mut worse = 0;
    for (name, beside) in now {
        let before = baseline.get(name);
        let mut cells = |now: Option<&Median>, before: Option<f64>, is_cost| match (now, before) {
            (Some(now), Some(before)) => {
                let verdict = Verdict::of(now, before, tolerance, is_cost);
                worse += usize::from(verdict == Verdict::Worse);
                format!("{} | {before:.3} | {}", plus_minus(now), verdict.text())
            }
            (Some(now), None) => format!("{} | | new", plus_minus(now)),
            (None, _) => " | |".to_owned(),
        };
        let throughput = cells(Some(&beside.throughput), before.map(|before| before.throughput), false);
        let cpu = cells(beside.cpu.as_ref(), before.and_then(|before| before.cpu), true);
        let (server, workload, clients) = name;
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "| {server} | {workload} | {clients} | {} | {throughput} | {cpu} |",
            thousands(beside.rate as u64)
        );
    }
    (text, worse)
}

/// Compares a run with a baseline, or writes one (`--record`). Exit status 1 if something is worse.
///
/// # Errors
/// One line.
pub fn run(options: &Options) -> Result<u8, String> {
    let runs: Vec<PathBuf> = options.words[1..].iter().map(PathBuf::from).collect();
    if runs.is_empty() {
        return Err("guard which run? guard DIR".to_owned());
    }
    let data = report::read(&runs, "")?;
    let now = beside(&data, options.text("against"))?;
    let path = options.text("baseline");
    if path.is_empty() {
        return Err("--baseline=FILE is compared with, or written with --record".to_owned());
    }
    if options.switch("record") {
        std::fs::write(path, text(&now)).map_err(|error| format!("{path}: {error}"))?;
        print!("{}", table(&now, &BTreeMap::new(), 0.0).0);
        println!("{path} has been written");
        return Ok(0);
    }
    let baseline = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let baseline = parse(&baseline).map_err(|why| format!("{path}: {why}"))?;
    let tolerance = options.real("tolerance");
    let (table, worse) = table(&now, &baseline, tolerance / 100.0);
    print!("{table}");
    if let Some((server, workload, clients)) = baseline.keys().find(|name| !now.contains_key(*name)) {
        return Err(format!("the run lacks {server}, {workload}, {clients} clients, which the baseline has"));
    }
    println!("{worse} of {} figures are worse by {tolerance} % or more", 2 * now.len());
    Ok(u8::from(worse > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Median {
        median(values).unwrap()
    }

    #[test]
    fn what_is_worse_by_the_tolerance_and_beyond_the_noise_is_told() {
        let verdict = |values: &[f64], before| Verdict::of(&of(values), before, 0.1, false);
        assert_eq!(verdict(&[0.50, 0.51, 0.49], 0.50), Verdict::AsBefore);
        assert_eq!(verdict(&[0.47, 0.46, 0.48], 0.50), Verdict::AsBefore);
        assert_eq!(verdict(&[0.44, 0.43, 0.45], 0.50), Verdict::Worse);
        assert_eq!(verdict(&[0.56, 0.57, 0.58], 0.50), Verdict::Better);
        assert_eq!(verdict(&[0.30, 0.60, 0.45], 0.50), Verdict::Noisy);
        assert_eq!(verdict(&[0.44], 0.50), Verdict::Worse);
        let cost = |values: &[f64], before| Verdict::of(&of(values), before, 0.1, true);
        assert_eq!(cost(&[2.3, 2.31, 2.29], 2.0), Verdict::Worse);
        assert_eq!(cost(&[1.7, 1.71, 1.69], 2.0), Verdict::Better);
    }

    #[test]
    fn a_baseline_is_read_as_it_was_written() {
        let name = ("meseta".to_owned(), "oltp_read_only".to_owned(), 8);
        let beside = |cpu| Beside { throughput: of(&[0.5, 0.25]), cpu, rate: 1.0 };
        let now = BTreeMap::from([(name.clone(), beside(Some(of(&[2.0]))))]);
        let read = parse(&format!("# a machine\n{}", text(&now))).unwrap();
        assert_eq!(read[&name], Before { throughput: 0.375, cpu: Some(2.0) });
        let without = parse(&text(&BTreeMap::from([(name.clone(), beside(None))]))).unwrap();
        assert_eq!(without[&name].cpu, None);
        for wrong in ["a,b,c", "a,b,1,x,", "a,b,x,1,", "a,b,1,1,x"] {
            assert!(parse(wrong).unwrap_err().contains("no line of a baseline"), "{wrong}");
        }
        let (shown, worse) = table(&now, &BTreeMap::from([(name, Before { throughput: 0.9, cpu: Some(1.0) })]), 0.1);
        assert_eq!(worse, 1, "{shown}");
        assert!(shown.contains("noisy") && shown.contains("WORSE"), "{shown}");
    }
}
