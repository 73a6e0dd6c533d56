//! What sysbench 1.0 (or 0.4) printed, as a point: for comparisons with old runs.
//!
//! Found are the totals, the times and the lines of intervals; what is not printed (a histogram) is not made up: the
//! mean stands for it, with the printed percentile and maximum.

use std::path::Path;

use crate::record::{FORMAT, Key, Point, SecondResult, Times};

/// Reads a file.
///
/// # Errors
/// One line, if it is no output of sysbench's.
pub fn read(path: &Path) -> Result<Point, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let name = path.file_stem().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    parse(&String::from_utf8_lossy(&bytes), &name)
        .ok_or_else(|| format!("{}: neither a run of the lab's nor an output of sysbench's", path.display()))
}

/// Reads text.
pub fn parse(text: &str, name: &str) -> Option<Point> {
    let after = |label: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(label))?;
        line.trim_start().strip_prefix(label).map(str::trim)
    };
    let number = |label: &str| -> Option<f64> {
        let word = after(label)?.split_whitespace().next()?;
        word.trim_end_matches("ms").trim_end_matches('s').parse().ok().filter(|value: &f64| value.is_finite())
    };
    let clients = number("Number of threads:")?;
    let transactions = number("transactions:")?;
    let seconds = number("total time:").filter(|seconds| *seconds > 0.0)?;
    let percentile =
        text.lines().find_map(|line| line.trim().split_once(" percentile:")).map(|(_, value)| value.trim());
    let percentile = percentile.and_then(|value| value.trim_end_matches("ms").parse::<f64>().ok());
    let (mean, max) = (number("avg:").unwrap_or(0.0), number("max:").unwrap_or(0.0));
    let count = transactions as u64;
    // 95 % of what is printed as such; the mean for the rest below.
    let high = percentile.unwrap_or(max);
    let histogram = vec![
        ((mean * 1e6).round() as u64, count * 94 / 100),
        ((high * 1e6).round() as u64, count * 99 / 100 - count * 94 / 100),
        ((max * 1e6).round() as u64, count - count * 99 / 100),
    ];
    let times = Times { count, mean_ms: mean, min_ms: number("min:").unwrap_or(0.0), max_ms: max, histogram };
    let count_of = |label: &str| number(label).unwrap_or(0.0) as u64;
    Some(Point {
        format: FORMAT,
        key: Key {
            server: format!("sysbench: {name}"),
            workload: "sysbench".to_owned(),
            clients: clients as usize,
            round: 1,
            ..Key::default()
        },
        seconds,
        classes: [count_of("read:"), count_of("write:"), count_of("other:")],
        events: times,
        per_second: text.lines().filter_map(interval).collect(),
        ..Point::default()
    })
}

/// `[ 1s ] thds: 4 tps: 806.87 qps: 16201.31 (r/w/o: ..) lat (ms,95%): 10.09 err/s: 0.00 ..`
fn interval(line: &str) -> Option<SecondResult> {
    let rest = line.strip_prefix('[')?;
    let value = |label: &str| rest.split_once(label)?.1.split_whitespace().next()?.parse::<f64>().ok();
    Some(SecondResult {
        events: value(" tps: ")?.round() as u64,
        statements: value(" qps: ")?.round() as u64,
        percentiles_ms: [0.0, value("%): ").unwrap_or(0.0), 0.0, 0.0],
        ..SecondResult::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OUTPUT: &str = include_str!("../../tests/data/sysbench-output.txt");

    #[test]
    fn an_output_is_understood() {
        let point = parse(OUTPUT, "old").unwrap();
        assert_eq!((point.key.clients, point.events.count, point.classes), (4, 1397, [19600, 5594, 2797]));
        assert!((point.throughput() - 463.76).abs() < 1.0, "{}", point.throughput());
        assert_eq!(point.per_second.len(), 3);
        assert_eq!(point.events.percentile(95.0), 17.63);
        assert!(parse("nothing of the kind", "x").is_none());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(cut in 0..2000usize, with in "[a-z0-9 :.(-]{0,9}") {
            let cut = cut.min(OUTPUT.len());
            let text = format!("{}{with}{}", &OUTPUT[..cut], &OUTPUT[cut..]);
            let _ = parse(&text, "x");
        }
    }
}
