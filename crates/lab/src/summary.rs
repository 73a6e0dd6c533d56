//! The report of one run, as text: sysbench 1.0's, line for line, and then what sysbench does not say.

use std::fmt::Write;

use crate::generator::recorder::Second;
use crate::record::{Point, Times};
use crate::text::thousands;

/// A line of intermediate results, as sysbench prints it. `seconds` of them ended with this one.
pub fn interval_line(
    merged: &Second,
    end: u64,
    seconds: f64,
    clients: usize,
    percentile: f64,
    is_open_loop: bool,
) -> String {
    let rate = |count: u64| count as f64 / seconds;
    let at = merged.histogram.value_at_quantile(percentile / 100.0) as f64 / 1e6;
    let mut line = format!(
        "[ {end}s ] thds: {clients} tps: {:.2} qps: {:.2} (r/w/o: {:.2}/{:.2}/{:.2}) lat (ms,{percentile}%): {at:.2} \
         err/s: {:.2} reconn/s: 0.00",
        rate(merged.events),
        rate(merged.statements()),
        rate(merged.classes[0]),
        rate(merged.classes[1]),
        rate(merged.classes[2]),
        rate(merged.errors),
    );
    if is_open_loop {
        // Writing to a string does not fail.
        let _ = write!(line, "\n[ {end}s ] queue length: {}, concurrency: {}", merged.queued, merged.active);
    }
    line
}

/// The report of a checkpoint: of the seconds since the last one.
pub fn checkpoint(merged: &Second, seconds: f64, percentile: f64) -> String {
    let point = Point {
        seconds,
        classes: merged.classes,
        events: Times::of(&merged.histogram),
        errors: [(0, merged.errors)].into(),
        ..Point::default()
    };
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = put_statistics(&point, percentile, &mut text);
    text
}

/// The final report.
pub fn report(point: &Point, percentile: f64, with_histogram: bool) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = put_report(point, percentile, with_histogram, &mut text);
    text
}

fn put_report(point: &Point, percentile: f64, with_histogram: bool, to: &mut String) -> std::fmt::Result {
    if with_histogram {
        put_histogram(point, to)?;
    }
    put_statistics(point, percentile, to)?;
    let [events, events_deviation, busy, busy_deviation] = point.fairness;
    writeln!(to, "Threads fairness:")?;
    writeln!(to, "    {:<30} {events:.4}/{events_deviation:.2}", "events (avg/stddev):")?;
    writeln!(to, "    {:<30} {busy:.4}/{busy_deviation:.2}\n", "execution time (avg/stddev):")?;
    put_more(point, to)
}

/// Counts and times.
fn put_statistics(point: &Point, percentile: f64, to: &mut String) -> std::fmt::Result {
    let [reads, writes, others] = point.classes;
    let statements = point.statements();
    let rate = |count: u64| count as f64 / point.seconds.max(1e-9);
    let errors: u64 = point.errors.values().sum();
    writeln!(to, "SQL statistics:\n    queries performed:")?;
    for (name, count) in [("read:", reads), ("write:", writes), ("other:", others), ("total:", statements)] {
        writeln!(to, "        {name:<32} {count}")?;
    }
    writeln!(to, "    {:<36} {:<6} ({:.2} per sec.)", "transactions:", point.events.count, point.throughput())?;
    writeln!(to, "    {:<36} {statements:<6} ({:.2} per sec.)", "queries:", rate(statements))?;
    writeln!(to, "    {:<36} {errors:<6} ({:.2} per sec.)", "ignored errors:", rate(errors))?;
    writeln!(to, "    {:<36} {:<6} ({:.2} per sec.)\n", "reconnects:", 0, 0.0)?;
    writeln!(to, "General statistics:\n    {:<36} {:.4}s", "total time:", point.seconds)?;
    writeln!(to, "    {:<36} {}\n", "total number of events:", point.events.count)?;
    writeln!(to, "Latency (ms):")?;
    let times = &point.events;
    let sum = times.mean_ms * times.count as f64;
    let name = format!("{}th percentile:", percentile as u64);
    let at = if percentile > 0.0 { times.percentile(percentile) } else { 0.0 };
    for (name, value) in
        [("min:", times.min_ms), ("avg:", times.mean_ms), ("max:", times.max_ms), (name.as_str(), at), ("sum:", sum)]
    {
        writeln!(to, "         {name:<32}{value:>12.2}")?;
    }
    writeln!(to)
}

/// What sysbench does not say.
fn put_more(point: &Point, to: &mut String) -> std::fmt::Result {
    writeln!(to, "By kind (ms):{:>27} {:>9} {:>9} {:>9} {:>9} {:>9}", "count", "mean", "p50", "p95", "p99", "p99.9")?;
    for kind in &point.kinds {
        let t = &kind.times;
        write!(to, "    {:<24} {:>11} {:>9.3}", kind.name, thousands(t.count), t.mean_ms)?;
        for percentile in [50.0, 95.0, 99.0, 99.9] {
            write!(to, " {:>9.3}", t.percentile(percentile))?;
        }
        writeln!(to)?;
    }
    if let Some(service) = &point.service {
        writeln!(
            to,
            "    service time, without waiting for a client: p50 {:.3} p99 {:.3} max {:.3}",
            service.percentile(50.0),
            service.percentile(99.0),
            service.max_ms
        )?;
    }
    for (code, count) in &point.errors {
        writeln!(to, "    error {code}: {count} times")?;
    }
    let client = point.change.client.cpu();
    writeln!(to, "\nCost:\n    {:<36} {:.2} us a query", "client CPU:", point.cpu_us(client))?;
    if let Some(server) = point.change.server {
        writeln!(to, "    {:<36} {:.2} us a query", "server CPU:", point.cpu_us(server.cpu()))?;
    }
    let stolen = point.change.machine.stolen_share();
    if stolen > 0.05 {
        writeln!(to, "    {:<36} {:.0} %", "taken away by the host:", stolen * 100.0)?;
    }
    if let Some(calls) = point.change.system_calls {
        let each = calls as f64 / point.statements().max(1) as f64;
        writeln!(to, "    {:<36} {each:.2} a query", "server system calls:")?;
    }
    for wait in point.change.waits.iter().take(5) {
        writeln!(to, "    wait {:<48} {:>12} times {:>9.3} s", wait.name, wait.count, wait.seconds)?;
    }
    writeln!(to, "    {:<36} {}", "seed:", point.seed)
}

fn put_histogram(point: &Point, to: &mut String) -> std::fmt::Result {
    // Buckets of about 10 %, so that a screen holds them.
    let mut buckets: Vec<(f64, u64)> = Vec::new();
    for &(nanos, count) in &point.events.histogram {
        let bucket = 1.1f64.powf((nanos.max(1) as f64).log(1.1).ceil()) / 1e6;
        match buckets.last_mut() {
            Some((last, sum)) if *last == bucket => *sum += count,
            _ => buckets.push((bucket, count)),
        }
    }
    let most = buckets.iter().map(|(_, count)| *count).max().unwrap_or(1).max(1);
    writeln!(
        to,
        "Latency histogram (values are in milliseconds)\n       value  ------------- distribution ------------- count"
    )?;
    for (value, count) in buckets {
        let stars = "*".repeat((40 * count / most) as usize);
        writeln!(to, "{value:>12.3} |{stars:<40} {count}")?;
    }
    writeln!(to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generator::recorder::histogram;

    #[test]
    fn the_report_is_read_by_those_who_read_sysbench() {
        let mut times = histogram();
        times.record_n(2_000_000, 990).unwrap();
        times.record_n(9_000_000, 10).unwrap();
        let point = Point {
            seconds: 10.0,
            classes: [14_000, 4_000, 2_000],
            events: Times::of(&times),
            errors: [(1213, 5)].into(),
            ..Point::default()
        };
        let text = report(&point, 95.0, true);
        for line in [
            "        read:                            14000\n",
            "    transactions:                        1000   (100.00 per sec.)\n",
            "    queries:                             20000  (2000.00 per sec.)\n",
            "    ignored errors:                      5      (0.50 per sec.)\n",
            "         95th percentile:                        2.00\n",
            "    error 1213: 5 times\n",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
        assert!(report(&Point::default(), 95.0, true).contains("queries:"));
    }

    #[test]
    fn interval_lines_are_those_of_sysbench() {
        let mut second = Second::new(0, 0);
        (second.events, second.classes) = (4, [56, 16, 8]);
        second.histogram.record(10_090_000).unwrap();
        assert_eq!(
            interval_line(&second, 1, 1.0, 4, 95.0, false),
            "[ 1s ] thds: 4 tps: 4.00 qps: 80.00 (r/w/o: 56.00/16.00/8.00) lat (ms,95%): 10.09 err/s: 0.00 reconn/s: \
             0.00"
        );
    }
}
