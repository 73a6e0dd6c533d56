//! Which rows are shown, and as what: HTML, Markdown, CSV.

use super::Data;
use super::charts::{core_scalability, scalability};
use super::stats::{Scalability, compare, mean};
use crate::generator::Span;
use crate::record::Point;
use crate::text::{escape_html, number, thousands};

/// A table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Its heading.
    pub title: String,
    /// Names of columns.
    pub head: Vec<String>,
    /// Rows.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    fn new(title: &str, head: &[&str]) -> Table {
        Table { title: title.to_owned(), head: head.iter().map(|name| (*name).to_owned()).collect(), rows: Vec::new() }
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let row = |cells: &[String]| {
            format!("| {} |\n", cells.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>().join(" | "))
        };
        let mut text = format!("## {}\n\n{}|{}\n", self.title, row(&self.head), "---|".repeat(self.head.len()));
        for cells in &self.rows {
            text.push_str(&row(cells));
        }
        text
    }

    /// As CSV.
    pub fn csv(&self) -> String {
        let cell = |cell: &String| {
            if cell.contains([',', '"', '\n']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.clone() }
        };
        let mut text = String::new();
        for row in std::iter::once(&self.head).chain(&self.rows) {
            text.push_str(&row.iter().map(cell).collect::<Vec<_>>().join(","));
            text.push('\n');
        }
        text
    }

    /// As HTML.
    pub fn html(&self) -> String {
        let mut text = format!("<h3>{}</h3><div class=scroll><table><thead><tr>", escape_html(&self.title));
        for name in &self.head {
            text.push_str(&format!("<th>{}</th>", escape_html(name)));
        }
        text.push_str("</tr></thead><tbody>");
        for row in &self.rows {
            text.push_str("<tr>");
            for cell in row {
                text.push_str(&format!("<td>{}</td>", escape_html(cell)));
            }
            text.push_str("</tr>");
        }
        text.push_str("</tbody></table></div>");
        text
    }
}

/// Throughput of all servers at each number of clients, compared with the first server.
pub fn comparison(data: &Data, workload: &str) -> Table {
    let servers = data.servers();
    let mut head = vec!["clients".to_owned()];
    for (index, server) in servers.iter().enumerate() {
        head.push(format!("{server}, transactions/s"));
        if index > 0 {
            head.push(format!("{server} against {}", servers[0]));
        }
    }
    let mut table = Table { title: "Throughput".to_owned(), head, rows: Vec::new() };
    for clients in data.clients(workload) {
        let mut row = vec![clients.to_string()];
        let values = |server: &str| {
            let rounds: Vec<f64> =
                data.rounds(server, workload, clients).iter().map(|point| point.throughput()).collect();
            mean(&rounds)
        };
        let first = values(&servers[0]);
        for (index, server) in servers.iter().enumerate() {
            let value = values(server);
            row.push(value.map_or("-".to_owned(), |value| match value.half {
                Some(half) => format!("{} ± {}", number(value.mean), number(half)),
                None => number(value.mean),
            }));
            if index > 0 {
                row.push(value.zip(first).map_or("-".to_owned(), |(value, first)| compare(&value, &first).to_string()));
            }
        }
        table.rows.push(row);
    }
    table
}

/// Percentiles of events, of each server and number of clients.
pub fn percentiles(data: &Data, workload: &str) -> Table {
    let mut table = Table::new(
        "Response time in ms",
        &["server", "clients", "transactions", "mean", "p50", "p95", "p99", "p99.9", "p99.99", "max", "errors"],
    );
    for point in data.points.iter().filter(|point| point.key.workload == workload && point.seconds > 0.0) {
        let t = &point.events;
        let mut row = vec![point.key.line(), point.key.clients.to_string(), thousands(t.count), number(t.mean_ms)];
        row.extend([50.0, 95.0, 99.0, 99.9, 99.99].map(|percentile| number(t.percentile(percentile))));
        let errors: Vec<String> = point.errors.iter().map(|(code, count)| format!("{code}: {count}")).collect();
        row.extend([number(t.max_ms), errors.join(", ")]);
        table.rows.push(row);
    }
    table
}

/// Times by kind, of each server at its greatest number of clients.
pub fn kinds(data: &Data, workload: &str) -> Table {
    let mut table = Table::new(
        "By kind, in ms",
        &["server", "clients", "kind", "of", "count", "mean", "p50", "p95", "p99", "p99.9", "max", "errors"],
    );
    for server in &data.servers() {
        let Some(clients) = data
            .clients(workload)
            .into_iter()
            .rev()
            .find(|clients| !data.rounds(server, workload, *clients).is_empty())
        else {
            continue;
        };
        for point in data.rounds(server, workload, clients).into_iter().take(1) {
            for kind in &point.kinds {
                let t = &kind.times;
                let of = if kind.span == Span::Statement { "statement" } else { "transaction" };
                let mut row = vec![
                    server.clone(),
                    clients.to_string(),
                    kind.name.clone(),
                    of.to_owned(),
                    thousands(t.count),
                    number(t.mean_ms),
                ];
                row.extend([50.0, 95.0, 99.0, 99.9].map(|percentile| number(t.percentile(percentile))));
                row.extend([number(t.max_ms), kind.errors.to_string()]);
                table.rows.push(row);
            }
        }
    }
    table
}

/// What a transaction costs.
pub fn costs(data: &Data, workload: &str) -> Table {
    let mut table = Table::new(
        "Costs",
        &[
            "server",
            "clients",
            "queries/s",
            "server CPU µs/query",
            "server CPU µs/transaction",
            "of that system",
            "switches/transaction",
            "forced",
            "system calls/transaction",
            "read B/transaction",
            "written B/transaction",
            "redo B/transaction",
            "fsyncs/transaction",
            "lab CPU µs/query",
            "machine idle",
        ],
    );
    for point in data.points.iter().filter(|point| point.key.workload == workload && point.seconds > 0.0) {
        table.rows.push(cost_row(point));
    }
    table
}

fn cost_row(point: &Point) -> Vec<String> {
    let events = point.events.count.max(1) as f64;
    let each = |value: f64| number(value / events);
    let change = &point.change;
    let status = |name: &str| change.status.get(name).copied();
    let of_server = |value: &dyn Fn(&crate::measure::process::Usage) -> String| {
        change.server.as_ref().map_or("-".to_owned(), value)
    };
    let machine = change.machine;
    let all = machine.user + machine.system + machine.idle + machine.waiting;
    vec![
        point.key.line(),
        point.key.clients.to_string(),
        number(point.statements() as f64 / point.seconds),
        of_server(&|usage| number(point.cpu_us(usage.cpu()))),
        of_server(&|usage| each(usage.cpu() * 1e6)),
        of_server(&|usage| format!("{:.0} %", usage.system * 100.0 / usage.cpu().max(1e-9))),
        of_server(&|usage| each(usage.voluntary_switches as f64)),
        of_server(&|usage| each(usage.involuntary_switches as f64)),
        change.system_calls.map_or("-".to_owned(), |calls| each(calls as f64)),
        of_server(&|usage| each(usage.read_bytes as f64)),
        of_server(&|usage| each(usage.written_bytes as f64)),
        status("Innodb_os_log_written").map_or("-".to_owned(), each),
        point.fsyncs().map_or("-".to_owned(), each),
        number(point.cpu_us(change.client.cpu())),
        if all > 0.0 { format!("{:.0} %", (machine.idle + machine.waiting) * 100.0 / all) } else { "-".to_owned() },
    ]
}

/// The fitted law of each server.
pub fn laws(data: &Data, workload: &str) -> Table {
    let mut table = Table::new(
        "Universal Scalability Law",
        &[
            "server",
            "fitted to",
            "of one, transactions/s",
            "sigma (contention)",
            "kappa (coherency)",
            "peak at",
            "peak, transactions/s",
            "misses by up to",
        ],
    );
    let mut push = |server: &str, to: &str, fit: Option<(Scalability, f64)>| {
        if let Some((law, miss)) = fit {
            let peak = law.peak();
            table.rows.push(vec![
                server.to_owned(),
                to.to_owned(),
                number(law.lambda),
                format!("{:.4}", law.sigma),
                format!("{:.6}", law.kappa),
                peak.map_or("none".to_owned(), |peak| format!("{peak:.0}")),
                peak.map_or("-".to_owned(), |peak| number(law.at(peak))),
                format!("{:.0} %", miss * 100.0),
            ]);
        }
    };
    for server in &data.servers() {
        push(server, "clients", scalability(data, server, workload));
    }
    for (setting, _) in data.on_cores(workload) {
        push(&setting, "cores", core_scalability(data, &setting, workload));
    }
    table
}

/// The servers and machines.
pub fn facts(data: &Data) -> Table {
    let mut table = Table::new(
        "What was measured",
        &["server", "where", "version", "machine", "processors", "memory", "kernel", "lab"],
    );
    for run in &data.runs {
        let machine = &run.machine;
        for server in &run.servers {
            table.rows.push(vec![
                server.name.clone(),
                server.place.clone(),
                format!("{} {}", server.version, server.comment),
                machine.processor.clone(),
                machine.processors.to_string(),
                format!("{:.1} GiB", machine.memory_bytes as f64 / (1u64 << 30) as f64),
                machine.kernel.clone(),
                machine.lab.clone(),
            ]);
        }
    }
    table.rows.dedup();
    table
}

/// Variables that tell one server from another, and those that everybody asks for.
pub fn variables(data: &Data) -> Table {
    const ALWAYS: [&str; 12] = [
        "innodb_buffer_pool_size",
        "innodb_flush_log_at_trx_commit",
        "innodb_flush_method",
        "innodb_redo_log_capacity",
        "innodb_log_file_size",
        "innodb_doublewrite",
        "innodb_adaptive_hash_index",
        "sync_binlog",
        "log_bin",
        "transaction_isolation",
        "max_connections",
        "performance_schema",
    ];
    let mut servers: Vec<_> = data.runs.iter().flat_map(|run| &run.servers).collect();
    servers.dedup_by(|a, b| a.name == b.name && a.variables == b.variables);
    let mut table = Table::new("Variables", &["variable"]);
    table.head.extend(servers.iter().map(|server| server.name.clone()));
    for name in ALWAYS {
        let values: Vec<String> = servers
            .iter()
            .map(|server| server.variables.get(name).cloned().unwrap_or_else(|| "-".to_owned()))
            .collect();
        if values.iter().any(|value| value != "-") {
            table.rows.push([vec![name.to_owned()], values].concat());
        }
    }
    table
}

/// Each point, for spreadsheets.
pub fn raw(data: &Data) -> Table {
    let mut table = Table::new(
        "Points",
        &[
            "server",
            "config",
            "cores",
            "workload",
            "clients",
            "round",
            "seconds",
            "transactions",
            "transactions_per_s",
            "queries",
            "queries_per_s",
            "mean_ms",
            "p50_ms",
            "p95_ms",
            "p99_ms",
            "p99_9_ms",
            "max_ms",
            "errors",
            "server_cpu_us_per_query",
            "lab_cpu_us_per_query",
            "ended",
        ],
    );
    for point in &data.points {
        let t = &point.events;
        let plain = |value: f64| format!("{value:.3}");
        let mut row = vec![
            point.key.server.clone(),
            point.key.config.clone(),
            point.key.cores.map_or(String::new(), |cores| cores.to_string()),
            point.key.workload.clone(),
            point.key.clients.to_string(),
            point.key.round.to_string(),
            plain(point.seconds),
            t.count.to_string(),
            plain(point.throughput()),
            point.statements().to_string(),
            plain(point.statements() as f64 / point.seconds.max(1e-9)),
            plain(t.mean_ms),
        ];
        row.extend([50.0, 95.0, 99.0, 99.9].map(|percentile| plain(t.percentile(percentile))));
        row.extend([
            plain(t.max_ms),
            point.errors.values().sum::<u64>().to_string(),
            point.change.server.map_or(String::new(), |usage| plain(point.cpu_us(usage.cpu()))),
            plain(point.cpu_us(point.change.client.cpu())),
            point.ended.clone().unwrap_or_default(),
        ]);
        table.rows.push(row);
    }
    table
}

/// The tables of a workload that have rows.
pub fn of_workload(data: &Data, workload: &str) -> Vec<Table> {
    let mut tables = vec![
        comparison(data, workload),
        percentiles(data, workload),
        kinds(data, workload),
        costs(data, workload),
        laws(data, workload),
    ];
    tables.retain(|table| !table.rows.is_empty());
    tables
}

/// All tables.
pub fn all(data: &Data) -> Vec<Table> {
    let mut tables = vec![facts(data), variables(data)];
    for workload in data.workloads() {
        tables.extend(
            of_workload(data, workload)
                .into_iter()
                .map(|table| Table { title: format!("{workload}: {}", table.title), ..table }),
        );
    }
    tables.retain(|table| !table.rows.is_empty());
    tables
}
