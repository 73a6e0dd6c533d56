//! Sweeps: a grid of servers, workloads and numbers of clients, measured in rounds.
//!
//! ```text
//! for round { for workload { for clients { for server { measure, append to points.jsonl, pause } } } }
//! ```
//!
//! Servers alternate point by point, so that whatever drifts (a machine's heat, a neighbour) drifts for all alike. The
//! folder keeps each point as soon as it is measured; the same command again goes on with what is missing.
//!
//! When it fails: a point that fails is kept with its reason, and the sweep goes on; Ctrl-C ends it, and the report of
//! what there is is written.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::commands::{self, Interrupt, Subject, Watch};
use crate::generator::Kind;
use crate::generator::recorder::Second;
use crate::generator::target::Target;
use crate::options::{Options, parse_counts};
use crate::record::{self, Key, Point, Run};
use crate::report;
use crate::text::number;
use crate::workload::AnyWorkload;

/// Reads `NAME=HOST:PORT`, `NAME=/SOCKET` or `HOST:PORT`; what is missing is as the other options say.
///
/// # Errors
/// One line.
pub fn parse_server(text: &str, base: &Target) -> Result<Target, String> {
    let wrong = || format!("--server={text}: NAME=HOST:PORT or NAME=/SOCKET");
    let (name, place) = text.split_once('=').unwrap_or((text, text));
    let mut target = Target { name: name.to_owned(), ..base.clone() };
    // USER:PASSWORD@ before the place.
    let place = match place.rsplit_once('@') {
        Some((account, place)) => {
            let (user, password) = account.split_once(':').unwrap_or((account, ""));
            (target.user, target.password) = (user.to_owned(), password.to_owned());
            place
        }
        None => place,
    };
    if place.starts_with('/') {
        target.socket = Some(PathBuf::from(place));
    } else {
        let (host, port) = place.rsplit_once(':').ok_or_else(wrong)?;
        (target.host, target.port, target.socket) = (host.to_owned(), port.parse().map_err(|_| wrong())?, None);
    }
    if target.name.is_empty() { Err(wrong()) } else { Ok(target) }
}

/// The sweep that the options describe.
///
/// # Errors
/// One line, before any load.
pub fn run(options: &Options, words: &[String], interrupted: &Interrupt) -> Result<u8, String> {
    let directory = options.text("dir");
    if directory.is_empty() {
        return Err("a sweep needs a folder: --dir=DIR".to_owned());
    }
    let directory = PathBuf::from(directory);
    let base = commands::target(options)?;
    let mut targets = Vec::new();
    for server in options.all("server") {
        targets.push(parse_server(server, &base)?);
    }
    if targets.is_empty() {
        targets.push(Target { name: base.place(), ..base });
    }
    let mut names: Vec<&str> = options.all("workload").iter().flat_map(|names| names.split(',')).collect();
    names.extend(options.words[1..].iter().map(String::as_str).filter(|word| *word != "run"));
    if names.is_empty() {
        return Err("which workload? --workload=oltp_read_write".to_owned());
    }
    let workloads =
        names.iter().map(|name| commands::workload(name, options)).collect::<Result<Vec<AnyWorkload>, String>>()?;
    let counts = parse_counts(options.text("clients"))?;
    let rounds = options.number("rounds").clamp(1, 1000);

    let mut subjects = Vec::new();
    for target in targets {
        subjects.push(Subject::open(target, options)?);
    }
    let most = commands::plan(&options.with("threads", &counts.iter().max().copied().unwrap_or(1).to_string()))?;
    for subject in &subjects {
        for workload in &workloads {
            subject.check_limits(workload, &most)?;
        }
    }
    std::fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let (run_file, points_file) = (directory.join("run.json"), directory.join("points.jsonl"));
    let done = if run_file.exists() {
        let (points, _) =
            if points_file.exists() { record::read_lines::<Point>(&points_file)? } else { (Vec::new(), 0) };
        points.into_iter().filter(|point| point.ended.is_none()).map(|point| point.key).collect()
    } else {
        let facts = subjects.iter().map(|subject| subject.facts.clone()).collect();
        record::append(&run_file, &commands::describe(options, words, facts))?;
        BTreeSet::<Key>::new()
    };

    let mut grid = Vec::new();
    for round in 1..=rounds {
        for (number, workload) in workloads.iter().enumerate() {
            for &clients in &counts {
                for (server, subject) in subjects.iter().enumerate() {
                    let key = Key { server: subject.target.name.clone(), workload: workload.name(), clients, round };
                    if !done.contains(&key) {
                        grid.push((number, server, key));
                    }
                }
            }
        }
    }
    let each = options.number("time") + options.number("warmup-time") + options.number("pause") + 1;
    println!(
        "{} points to measure ({} are there), about {} minutes",
        grid.len(),
        done.len(),
        (grid.len() as u64 * each).div_ceil(60)
    );
    let view = View { is_terminal: std::io::stdout().is_terminal(), begun: Instant::now(), total: grid.len() };
    for (number, (workload, server, key)) in grid.into_iter().enumerate() {
        if interrupted.load(Ordering::Relaxed) {
            break;
        }
        let subject = &mut subjects[server];
        let point = measure(&workloads[workload], subject, options, &key, interrupted, &view, number)?;
        if interrupted.load(Ordering::Relaxed) && point.seconds < 1.0 {
            break;
        }
        record::append(&points_file, &point)?;
        view.line(number, &point);
        pause(Duration::from_secs(options.number("pause")), interrupted);
    }
    let data = report::read(std::slice::from_ref(&directory), options.text("title"))?;
    let out = directory.join("report.html");
    std::fs::write(&out, report::render(&data, "html")?).map_err(|error| format!("{}: {error}", out.display()))?;
    println!("{}", out.display());
    Ok(u8::from(interrupted.load(Ordering::Relaxed)))
}

fn pause(time: Duration, interrupted: &AtomicBool) {
    let until = Instant::now() + time;
    while Instant::now() < until && !interrupted.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(50).min(until.saturating_duration_since(Instant::now())));
    }
}

fn measure(
    workload: &AnyWorkload,
    subject: &mut Subject,
    options: &Options,
    key: &Key,
    interrupted: &Interrupt,
    view: &View,
    number: usize,
) -> Result<Point, String> {
    let options = options.with("threads", &key.clients.to_string());
    let plan = commands::plan(&options)?;
    let target = subject.target.clone();
    let mut show = |second: &Second, _: &[Kind]| view.second(number, key, second);
    let mut watch = Watch::new(subject, interrupted, &mut show);
    let mut point = match workload.run(&target, &plan, &mut watch) {
        Ok(measured) => {
            let change = std::mem::take(&mut watch.change);
            Point::of(key.clone(), &measured, change, plan.rate.is_some())
        }
        // One point's failure is a result: this server does not bear so many clients, say.
        Err(why) => Point {
            format: record::FORMAT,
            key: key.clone(),
            started: record::now(),
            ended: Some(why),
            ..Point::default()
        },
    };
    (point.seed, point.options) = (plan.seed, options.given());
    Ok(point)
}

/// What is shown meanwhile: on a terminal a line that changes each second, and a line for each point that stays.
struct View {
    is_terminal: bool,
    begun: Instant,
    total: usize,
}

impl View {
    fn left(&self, number: usize) -> String {
        if number == 0 {
            return String::new();
        }
        let each = self.begun.elapsed().as_secs_f64() / number as f64;
        format!(", {:.0} s to go", each * (self.total - number) as f64)
    }

    fn second(&self, number: usize, key: &Key, second: &Second) {
        if self.is_terminal {
            let at = |quantile| number_of(second.histogram.value_at_quantile(quantile));
            print!(
                "\r\x1b[K{}/{} {} {} {} clients: {}/s, p50 {} p95 {} p99 {} ms, {} errors{}",
                number + 1,
                self.total,
                key.server,
                key.workload,
                key.clients,
                number_text(second.events as f64),
                at(0.5),
                at(0.95),
                at(0.99),
                second.errors,
                self.left(number)
            );
            // A reader of a pipe may have gone.
            let _ = std::io::stdout().flush();
        }
    }

    fn line(&self, number: usize, point: &Point) {
        if self.is_terminal {
            print!("\r\x1b[K");
        }
        let server = point.change.server.map_or("-".to_owned(), |usage| number_text(point.cpu_us(usage.cpu())));
        let wait = point.change.waits.first().map_or(String::new(), |wait| format!(", most waited for: {}", wait.name));
        println!(
            "{}/{} {:<12} {:<24} {:>5} clients {:>10}/s  p99 {:>8} ms  server {server} us/query{wait}{}{}",
            number + 1,
            self.total,
            point.key.server,
            point.key.workload,
            point.key.clients,
            number_text(point.throughput()),
            number_text(point.events.percentile(99.0)),
            point.ended.as_ref().map_or(String::new(), |why| format!("  ended early: {why}")),
            self.left(number + 1)
        );
    }
}

fn number_text(value: f64) -> String {
    number(value)
}

fn number_of(nanos: u64) -> String {
    number(nanos as f64 / 1e6)
}

/// A run that is there already, for those who add to it.
///
/// # Errors
/// One line.
pub fn read_run(directory: &std::path::Path) -> Result<Run, String> {
    let (runs, _) = record::read_lines::<Run>(&directory.join("run.json"))?;
    runs.into_iter().next().ok_or_else(|| format!("{}: there is no run in run.json", directory.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_named() {
        let base = Target { user: "u".to_owned(), ..Target::default() };
        let server = parse_server("mysql=10.0.0.1:3397", &base).unwrap();
        assert_eq!(
            (server.name.as_str(), server.host.as_str(), server.port, server.user.as_str()),
            ("mysql", "10.0.0.1", 3397, "u")
        );
        let server = parse_server("m=root:pw@/tmp/s.sock", &base).unwrap();
        assert_eq!((server.user.as_str(), server.password.as_str()), ("root", "pw"));
        assert_eq!(server.socket, Some(PathBuf::from("/tmp/s.sock")));
        assert_eq!(parse_server("db:3306", &base).unwrap().name, "db:3306");
        for wrong in ["", "name", "name=host", "name=host:port", "name=host:99999", "=h:1"] {
            assert!(parse_server(wrong, &base).is_err(), "{wrong}");
        }
    }
}
