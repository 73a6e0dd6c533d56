//! What a sweep shows meanwhile: on a terminal a few lines that change each second, and a line for each point that stays.
//!
//! ```text
//! [##########....................]  12/36 points, round 1 of 3, 96 s to go
//! meseta  oltp_read_write  64 clients, second 3 of 6
//!   12,345/s ▂▅▆▆▇   p50 1.20  p95 3.40  p99 5.60 ms   0 errors
//!   waits: io/redo 61 %, lock/page 12 %, lock/index 4 %
//! ```
//!
//! Of a pipe's reader that has gone nothing is said: the sweep goes on.

use std::io::{IsTerminal, Write};
use std::time::Instant;

use crate::generator::recorder::Second;
use crate::measure::server::Wait;
use crate::record::{Key, Point};
use crate::text::number;

/// How many seconds have a bar.
const BARS: usize = 40;

/// The view of a sweep.
#[derive(Debug)]
pub struct View {
    /// Whether there is a terminal, to draw on.
    pub is_terminal: bool,
    begun: Instant,
    total: usize,
    rounds: u64,
    /// How long a point is, in seconds; 0 if nobody knows.
    seconds: u64,
    /// Lines that are on the screen and will be overwritten.
    drawn: usize,
    rates: Vec<f64>,
}

impl View {
    /// A view of so many points.
    pub fn new(total: usize, rounds: u64, seconds: u64) -> View {
        let is_terminal = std::io::stdout().is_terminal();
        View { is_terminal, begun: Instant::now(), total, rounds, seconds, drawn: 0, rates: Vec::new() }
    }

    fn left(&self, done: usize) -> String {
        if done == 0 || done >= self.total {
            return String::new();
        }
        let each = self.begun.elapsed().as_secs_f64() / done as f64;
        format!(", {} to go", time(each * (self.total - done) as f64))
    }

    /// A second of point number `done` (from 0 on) is over.
    pub fn second(&mut self, done: usize, key: &Key, second: &Second, waits: &[Wait]) {
        if !self.is_terminal {
            return;
        }
        if second.number == 0 {
            self.rates.clear();
        }
        self.rates.push(second.events as f64);
        let lines = self.lines(done, key, second, waits);
        self.erase();
        print!("{}", lines.join("\n") + "\n");
        self.drawn = lines.len();
        let _ = std::io::stdout().flush();
    }

    fn lines(&self, done: usize, key: &Key, second: &Second, waits: &[Wait]) -> Vec<String> {
        let bar = "#".repeat(30 * done / self.total.max(1));
        let of = if self.seconds > 0 { format!(" of {}", self.seconds) } else { String::new() };
        let at = |quantile| number(second.histogram.value_at_quantile(quantile) as f64 / 1e6);
        let mut lines = vec![
            format!(
                "[{bar:.<30}]  {}/{} points, round {} of {}{}",
                done + 1,
                self.total,
                key.round,
                self.rounds,
                self.left(done)
            ),
            format!("{}  {}  {} clients, second {}{of}", key.line(), key.workload, key.clients, second.number + 1),
            format!(
                "  {}/s {}   p50 {}  p95 {}  p99 {} ms   {} errors",
                number(second.events as f64),
                bars(&self.rates[self.rates.len().saturating_sub(BARS)..]),
                at(0.5),
                at(0.95),
                at(0.99),
                second.errors
            ),
        ];
        if !waits.is_empty() {
            // A client that waits all the time waits a second a second.
            let name = |wait: &Wait| wait.name.strip_prefix("wait/").unwrap_or(&wait.name).to_owned();
            let share = |wait: &Wait| wait.seconds * 100.0 / key.clients.max(1) as f64;
            let shown = waits.iter().take(3).map(|wait| match wait.seconds > 0.0 {
                true => format!("{} {:.0} %", name(wait), share(wait)),
                false => format!("{} {} times", name(wait), number(wait.count)),
            });
            lines.push(format!("  waits: {}", shown.collect::<Vec<_>>().join(", ")));
        }
        lines
    }

    fn erase(&mut self) {
        if self.drawn > 0 {
            print!("\x1b[{}A\x1b[J", self.drawn);
            self.drawn = 0;
        }
    }

    /// Something that is to stay.
    pub fn say(&mut self, text: &str) {
        self.erase();
        println!("{text}");
    }

    /// Point number `done` (from 0 on) is over.
    pub fn point(&mut self, done: usize, point: &Point) {
        let server = point.change.server.map_or("-".to_owned(), |usage| number(point.cpu_us(usage.cpu())));
        let wait = point.change.waits.first().map_or(String::new(), |wait| format!(", most waited for: {}", wait.name));
        self.say(&format!(
            "{}/{} {:<12} {:<24} {:>5} clients {:>10}/s  p99 {:>8} ms  server {server} us/query{wait}{}{}",
            done + 1,
            self.total,
            point.key.line(),
            point.key.workload,
            point.key.clients,
            number(point.throughput()),
            number(point.events.percentile(99.0)),
            point.ended.as_ref().map_or(String::new(), |why| format!("  ended early: {why}")),
            self.left(done + 1)
        ));
    }
}

/// Seconds, for people.
pub fn time(seconds: f64) -> String {
    match seconds.ceil() as u64 {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A bar for each value, in a line.
fn bars(values: &[f64]) -> String {
    let most = values.iter().copied().fold(0.0, f64::max);
    let bar = |value: &f64| if most > 0.0 { (value / most * 7.0).round() as u32 } else { 0 };
    values.iter().filter_map(|value| char::from_u32(0x2581 + bar(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_is_a_few_lines() {
        let mut view = View::new(4, 2, 6);
        view.rates = vec![1.0, 5.0, 10.0];
        let key = Key { server: "here".to_owned(), workload: "w".to_owned(), clients: 8, round: 1, ..Key::default() };
        let mut second = Second::new(2, 0);
        second.events = 10;
        let wait = |name: &str, seconds| Wait { name: name.to_owned(), count: 5.0, seconds };
        let lines = view.lines(2, &key, &second, &[wait("wait/io/redo", 4.0), wait("mutex", 0.0)]);
        assert!(lines[0].starts_with("[###############...............]  3/4 points, round 1 of 2, "), "{}", lines[0]);
        assert_eq!(lines[1], "here  w  8 clients, second 3 of 6");
        assert_eq!(lines[2], "  10.0/s ▂▅█   p50 0  p95 0  p99 0 ms   0 errors");
        assert_eq!(lines[3], "  waits: io/redo 50 %, mutex 5.00 times");
        assert_eq!(view.lines(2, &key, &second, &[]).len(), 3);
    }

    #[test]
    fn times_are_for_people() {
        assert_eq!([0.2, 119.0, 600.0, 8000.0].map(time), ["1 s", "119 s", "10 min", "2 h 13 min"]);
    }
}
