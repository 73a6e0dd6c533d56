//! Which lines are drawn.
//!
//! For each workload: throughput against clients, with the range of the rounds; percentiles against clients; throughput
//! second by second, of each server at its best number of clients; CPU a query, and what else a transaction costs;
//! waits, stacked, for each server that tells of any; and, of servers on several numbers of processors, how they scale.
//! A server has one colour in all of them. A chart is data; the page's script draws it.

use serde::Serialize;

use super::Data;
use super::stats::{Scalability, mean};
use crate::record::Point;

/// How a chart is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// Lines.
    Line,
    /// Areas, one on another.
    Stack,
}

/// A line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// A value for each x; null where there is none.
    pub y: Vec<Option<f64>>,
    /// The least of the rounds, where there are several.
    pub low: Vec<Option<f64>>,
    /// The greatest.
    pub high: Vec<Option<f64>>,
    /// Which of the page's colours it has: lines of one server have one.
    pub colour: usize,
    /// How it is drawn: 0 whole; from 1 on in pieces, of which there are a few kinds.
    pub dash: usize,
}

/// A chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// Its heading.
    pub title: String,
    /// What is along x.
    pub x_label: String,
    /// What is along y.
    pub y_label: String,
    /// How it is drawn.
    pub style: Style,
    /// Whether x may be logarithmic.
    pub can_be_logarithmic: bool,
    /// The values of x.
    pub x: Vec<f64>,
    /// The lines.
    pub series: Vec<Series>,
}

impl Chart {
    fn new(title: String, x_label: &str, y_label: &str, x: Vec<f64>) -> Chart {
        Chart {
            title,
            x_label: x_label.to_owned(),
            y_label: y_label.to_owned(),
            style: Style::Line,
            can_be_logarithmic: matches!(x_label, "clients" | "cores"),
            x,
            series: Vec::new(),
        }
    }

    /// Appends a line in a colour of its own.
    fn push(&mut self, name: String, y: Vec<Option<f64>>) {
        self.push_drawn(name, y, self.series.len(), 0);
    }

    fn push_drawn(&mut self, name: String, y: Vec<Option<f64>>, colour: usize, dash: usize) {
        if y.iter().any(Option::is_some) {
            self.series.push(Series { name, y, low: Vec::new(), high: Vec::new(), colour, dash });
        }
    }
}

/// How many waits have an area of their own.
const WAITS: usize = 8;

/// All charts of a workload.
pub fn of_workload(data: &Data, workload: &str) -> Vec<Chart> {
    let clients = data.clients(workload);
    let x: Vec<f64> = clients.iter().map(|clients| *clients as f64).collect();
    let mut charts = vec![throughput(data, workload, &clients, &x)];
    charts.extend(scaling(data, workload));
    charts.push(percentiles(data, workload, &clients, &x));
    charts.push(over_time(data, workload, &clients));
    let mut cpu = Chart::new("CPU a query".to_owned(), "clients", "µs", x.clone());
    for (colour, server) in data.servers().iter().enumerate() {
        let mut push = |whose: &str, dash, value: fn(&Point) -> Option<f64>| {
            let y = averages(data, server, workload, &clients, value);
            cpu.push_drawn(format!("{server}: {whose}"), y, colour, dash);
        };
        push("server", 0, |point| point.change.server.map(|usage| point.cpu_us(usage.cpu())));
        push("lab", 1, |point| (point.change.client.cpu() > 0.0).then(|| point.cpu_us(point.change.client.cpu())));
    }
    charts.push(cpu);
    charts.extend(costs(data, workload, &clients, &x));
    for server in &data.servers() {
        charts.push(waits(data, server, workload, &clients, &x));
    }
    charts.retain(|chart| !chart.series.is_empty());
    charts
}

/// A counter of the server's: one that has not changed is not kept, and is zero.
fn counted(point: &Point, value: Option<f64>) -> Option<f64> {
    value.or((!point.change.status.is_empty()).then_some(0.0))
}

/// What a transaction costs, in each currency that was counted. One that next to none costs anything in (a byte, a call in a
/// thousand) is left out: what a server does besides, divided by the transactions, says nothing of them.
fn costs(data: &Data, workload: &str, clients: &[usize], x: &[f64]) -> Vec<Chart> {
    type Cost = fn(&Point) -> Option<f64>;
    let kinds: [(&str, &str, Cost); 5] = [
        ("Context switches a transaction", "switches", |point| {
            point.change.server.map(|usage| (usage.voluntary_switches + usage.involuntary_switches) as f64)
        }),
        ("System calls a transaction", "calls", |point| point.change.system_calls.map(|calls| calls as f64)),
        ("Redo a transaction", "bytes", |point| {
            counted(point, point.change.status.get("Innodb_os_log_written").copied())
        }),
        ("fsyncs a transaction", "fsyncs", |point| counted(point, point.fsyncs())),
        ("Written a transaction", "bytes", |point| point.change.server.map(|usage| usage.written_bytes as f64)),
    ];
    let mut charts = Vec::new();
    for (title, label, of) in kinds {
        let mut chart = Chart::new(title.to_owned(), "clients", label, x.to_vec());
        for (colour, server) in data.servers().iter().enumerate() {
            let each = |point: &Point| of(point).map(|value| value / point.events.count.max(1) as f64);
            chart.push_drawn(server.clone(), averages(data, server, workload, clients, each), colour, 0);
        }
        let least = if label == "bytes" { 1.0 } else { 0.001 };
        if chart.series.iter().any(|series| series.y.iter().flatten().any(|value| *value >= least)) {
            charts.push(chart);
        }
    }
    charts
}

fn averages(
    data: &Data,
    server: &str,
    workload: &str,
    clients: &[usize],
    value: impl Fn(&Point) -> Option<f64>,
) -> Vec<Option<f64>> {
    let at = |clients: &usize| {
        let values: Vec<f64> = data.rounds(server, workload, *clients).into_iter().filter_map(&value).collect();
        mean(&values).map(|mean| mean.mean)
    };
    clients.iter().map(at).collect()
}

fn throughput(data: &Data, workload: &str, clients: &[usize], x: &[f64]) -> Chart {
    let mut chart = Chart::new("Throughput".to_owned(), "clients", "transactions/s", x.to_vec());
    for (colour, server) in data.servers().into_iter().enumerate() {
        let rounds: Vec<Vec<f64>> = clients
            .iter()
            .map(|clients| data.rounds(&server, workload, *clients).iter().map(|point| point.throughput()).collect())
            .collect();
        let y: Vec<Option<f64>> = rounds.iter().map(|rounds| mean(rounds).map(|mean| mean.mean)).collect();
        if y.iter().all(Option::is_none) {
            continue;
        }
        let many = rounds.iter().any(|rounds| rounds.len() > 1);
        let edge = |pick: fn(f64, f64) -> f64| {
            let of = |rounds: &Vec<f64>| rounds.iter().copied().reduce(pick);
            if many { rounds.iter().map(of).collect() } else { Vec::new() }
        };
        chart.series.push(Series { name: server, low: edge(f64::min), high: edge(f64::max), y, colour, dash: 0 });
    }
    chart
}

/// Throughput of a setting on so many processors, at the number of clients at which it is best.
fn best_on(data: &Data, workload: &str, setting: &str, cores: usize) -> Option<f64> {
    let of = data.points.iter().find(|point| point.key.setting() == setting && point.key.cores == Some(cores))?;
    let clients = data.clients(workload);
    let rates = averages(data, &of.key.line(), workload, &clients, |point| Some(point.throughput()));
    rates.into_iter().flatten().reduce(f64::max)
}

/// Throughput against processors: each server with the ideal line through its first point, and the fitted law.
fn scaling(data: &Data, workload: &str) -> Option<Chart> {
    let settings = data.on_cores(workload);
    let mut all: Vec<usize> = settings.iter().flat_map(|(_, cores)| cores.clone()).collect();
    all.sort_unstable();
    all.dedup();
    let x: Vec<f64> = all.iter().map(|cores| *cores as f64).collect();
    let title = "Scaling with cores, each at its best number of clients".to_owned();
    let mut chart = Chart::new(title, "cores", "transactions/s", x.clone());
    for (colour, (setting, _)) in settings.iter().enumerate() {
        let y: Vec<Option<f64>> = all.iter().map(|cores| best_on(data, workload, setting, *cores)).collect();
        let first = x.iter().zip(&y).find_map(|(x, y)| Some((*x, (*y)?)));
        chart.push_drawn(setting.clone(), y, colour, 0);
        if let Some((cores, rate)) = first {
            let y = x.iter().map(|x| Some(rate * x / cores)).collect();
            chart.push_drawn(format!("{setting}: ideal"), y, colour, 1);
        }
        if let Some((law, _)) = core_scalability(data, setting, workload) {
            let y = x.iter().map(|x| Some(law.at(*x))).collect();
            chart.push_drawn(format!("{setting}: fitted law"), y, colour, 2);
        }
    }
    (!chart.series.is_empty()).then_some(chart)
}

/// The fit of a setting's throughput against processors, and by what share it misses a point at worst.
pub fn core_scalability(data: &Data, setting: &str, workload: &str) -> Option<(Scalability, f64)> {
    let cores = data.on_cores(workload).into_iter().find(|(name, _)| name == setting)?.1;
    let points: Vec<(f64, f64)> =
        cores.into_iter().filter_map(|cores| Some((cores as f64, best_on(data, workload, setting, cores)?))).collect();
    let law = Scalability::fit(&points)?;
    Some((law, law.worst_miss(&points)))
}

/// The fit of a server's throughput against clients, and by what share it misses a point at worst.
pub fn scalability(data: &Data, server: &str, workload: &str) -> Option<(Scalability, f64)> {
    let clients = data.clients(workload);
    let y = averages(data, server, workload, &clients, |point| Some(point.throughput()));
    let points: Vec<(f64, f64)> =
        clients.iter().zip(y).filter_map(|(clients, y)| Some((*clients as f64, y?))).collect();
    let law = Scalability::fit(&points)?;
    Some((law, law.worst_miss(&points)))
}

fn percentiles(data: &Data, workload: &str, clients: &[usize], x: &[f64]) -> Chart {
    let mut chart = Chart::new("Response time".to_owned(), "clients", "ms", x.to_vec());
    let servers = data.servers();
    let wanted: &[f64] = if servers.len() > 1 { &[50.0, 99.0] } else { &[50.0, 95.0, 99.0, 99.9] };
    for (number, server) in servers.iter().enumerate() {
        for (nth, &percentile) in wanted.iter().enumerate() {
            let y = averages(data, server, workload, clients, |point| Some(point.events.percentile(percentile)));
            let (colour, dash) = if servers.len() > 1 { (number, nth) } else { (nth, 0) };
            chart.push_drawn(format!("{server} p{percentile}"), y, colour, dash);
        }
    }
    chart
}

fn over_time(data: &Data, workload: &str, clients: &[usize]) -> Chart {
    let mut lines: Vec<(usize, String, Vec<Option<f64>>)> = Vec::new();
    for (colour, server) in data.servers().iter().enumerate() {
        let best = clients
            .iter()
            .filter_map(|clients| data.rounds(server, workload, *clients).into_iter().next())
            .max_by(|a, b| a.throughput().total_cmp(&b.throughput()));
        if let Some(point) = best
            && point.per_second.len() > 1
        {
            // (The last second may be shorter than one.)
            let whole = point.per_second.len().min(point.seconds as usize);
            let y = point.per_second[..whole].iter().map(|second| Some(second.events as f64)).collect();
            lines.push((colour, format!("{server}, {} clients", point.key.clients), y));
        }
    }
    let length = lines.iter().map(|(_, _, y)| y.len()).max().unwrap_or(0);
    let x = (1..=length).map(|second| second as f64).collect();
    let mut chart = Chart::new("Throughput, second by second".to_owned(), "second", "transactions/s", x);
    for (colour, name, mut y) in lines {
        y.resize(length, None);
        chart.push_drawn(name, y, colour, 0);
    }
    chart
}

fn waits(data: &Data, server: &str, workload: &str, clients: &[usize], x: &[f64]) -> Chart {
    let points: Vec<Option<&Point>> =
        clients.iter().map(|clients| data.rounds(server, workload, *clients).into_iter().next()).collect();
    // An old server counts its waits and does not time them.
    let timed = points.iter().flatten().any(|point| point.change.waits.iter().any(|wait| wait.seconds > 0.0));
    let (label, title) =
        if timed { ("seconds waited a second", "Waits") } else { ("waits a second", "Waits (counts)") };
    let mut chart = Chart::new(format!("{title}: {server}"), "clients", label, x.to_vec());
    chart.style = Style::Stack;
    let mut sums: Vec<(String, f64)> = Vec::new();
    let value = |point: &Point, name: &str| -> f64 {
        let of = |wait: &crate::measure::server::Wait| if timed { wait.seconds } else { wait.count };
        point.change.waits.iter().find(|wait| wait.name == name).map_or(0.0, of) / point.seconds.max(1e-9)
    };
    for point in points.iter().flatten() {
        for wait in &point.change.waits {
            let more = value(point, &wait.name);
            match sums.iter_mut().find(|(name, _)| *name == wait.name) {
                Some((_, sum)) => *sum += more,
                None => sums.push((wait.name.clone(), more)),
            }
        }
    }
    sums.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    for (name, _) in sums.iter().take(WAITS).filter(|(_, sum)| *sum > 0.0) {
        let short = name.strip_prefix("wait/").unwrap_or(name).to_owned();
        chart.push(short, points.iter().map(|point| point.map(|point| value(point, name))).collect());
    }
    chart
}
