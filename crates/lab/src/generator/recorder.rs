//! What is counted: each statement by kind and by result, each event, each error by number, second by second and in
//! all.
//!
//! ```text
//! worker:  statement(kind, time, class), event(..), error(code) -> Recorder -- take_second() --> Second (each second)
//! run:     merge(Recorder) of all workers at the end; Second of all workers, each second
//! ```
//!
//! Times are nanoseconds, in histograms of three significant digits from half a microsecond to 1,000 seconds; a longer
//! one is counted as the longest. Classes are those of sysbench: what came back decides, not the text.
//!
//! Invariants:
//! 1. Nothing is counted while the recorder is closed: during warm-up, and after the end.
//! 2. Merging is the same in any order: counts are added, histograms too.
//!
//! Source: G. Tene's HdrHistogram.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;

/// The longest time that is told apart.
pub const LONGEST_NS: u64 = 1_000_000_000_000;

/// An empty histogram of nanoseconds.
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1_000, LONGEST_NS, 3).expect("the bounds are constants that the crate accepts")
}

/// What a statement was, by what came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A result with columns.
    Read,
    /// No result, and rows were changed.
    Write,
    /// No result, and none were: BEGIN, COMMIT, an UPDATE that found nothing.
    Other,
}

/// What is known of one kind.
#[derive(Debug, Clone)]
pub struct KindRecord {
    /// Times of those that succeeded.
    pub histogram: Histogram<u64>,
    /// Rows that came back.
    pub rows: u64,
    /// Those that failed.
    pub errors: u64,
}

/// One second of one worker, or of all.
#[derive(Debug, Clone)]
pub struct Second {
    /// Its number, from 0 on, counted from the end of the warm-up.
    pub number: u64,
    /// Events that ended in it.
    pub events: u64,
    /// Statements that ended in it, by class.
    pub classes: [u64; 3],
    /// Statements and transactions that ended in it, by kind.
    pub kinds: Vec<u64>,
    /// Errors in it.
    pub errors: u64,
    /// Events that wait for a client, at its end (open loop only).
    pub queued: u64,
    /// Clients that were within an event, at its end.
    pub active: u64,
    /// Times of its events.
    pub histogram: Histogram<u64>,
}

impl Second {
    /// An empty one.
    pub fn new(number: u64, kinds: usize) -> Second {
        Second {
            number,
            events: 0,
            classes: [0; 3],
            kinds: vec![0; kinds],
            errors: 0,
            queued: 0,
            active: 0,
            histogram: histogram(),
        }
    }

    /// Adds another's counts.
    pub fn merge(&mut self, other: &Second) {
        self.events += other.events;
        for (to, from) in self.classes.iter_mut().zip(other.classes) {
            *to += from;
        }
        for (to, from) in self.kinds.iter_mut().zip(&other.kinds) {
            *to += from;
        }
        self.errors += other.errors;
        self.queued += other.queued;
        self.active += other.active;
        add(&mut self.histogram, &other.histogram);
    }

    /// Statements, of all classes.
    pub fn statements(&self) -> u64 {
        self.classes.iter().sum()
    }
}

fn add(to: &mut Histogram<u64>, from: &Histogram<u64>) {
    to.add(from).expect("both have the same bounds");
}

/// What one worker counts, or all of them.
#[derive(Debug)]
pub struct Recorder {
    /// Whether it counts.
    pub is_open: bool,
    /// By kind.
    pub kinds: Vec<KindRecord>,
    /// Times of events: from the intended start, retries included.
    pub events: Histogram<u64>,
    /// Times of events from their real start; of an open loop only.
    pub service: Histogram<u64>,
    /// Statements by class.
    pub classes: [u64; 3],
    /// Errors by number.
    pub errors: BTreeMap<u16, u64>,
    /// Events by client, and the sum of their times: for fairness.
    pub clients: Vec<(u64, Duration)>,
    /// The second that has not been taken yet.
    second: Second,
}

impl Recorder {
    /// An empty one.
    pub fn new(kinds: usize, clients: usize) -> Recorder {
        let kind = || KindRecord { histogram: histogram(), rows: 0, errors: 0 };
        Recorder {
            is_open: false,
            kinds: (0..kinds).map(|_| kind()).collect(),
            events: histogram(),
            service: histogram(),
            classes: [0; 3],
            errors: BTreeMap::new(),
            clients: vec![(0, Duration::ZERO); clients],
            second: Second::new(0, kinds),
        }
    }

    /// Counts a statement that succeeded.
    #[inline]
    pub fn statement(&mut self, kind: usize, time: Duration, class: Class, rows: u64) {
        if !self.is_open {
            return;
        }
        self.classes[class as usize] += 1;
        self.second.classes[class as usize] += 1;
        if let Some(record) = self.kinds.get_mut(kind) {
            record.histogram.saturating_record(time.as_nanos() as u64);
            record.rows += rows;
            self.second.kinds[kind] += 1;
        }
    }

    /// Counts a transaction of a kind that succeeded.
    #[inline]
    pub fn transaction(&mut self, kind: usize, time: Duration) {
        if !self.is_open {
            return;
        }
        if let Some(record) = self.kinds.get_mut(kind) {
            record.histogram.saturating_record(time.as_nanos() as u64);
            self.second.kinds[kind] += 1;
        }
    }

    /// Counts an error.
    pub fn error(&mut self, kind: Option<usize>, code: u16) {
        if !self.is_open {
            return;
        }
        *self.errors.entry(code).or_default() += 1;
        self.second.errors += 1;
        if let Some(record) = kind.and_then(|kind| self.kinds.get_mut(kind)) {
            record.errors += 1;
        }
    }

    /// Counts an event of the worker's client number `client`. In a closed loop the time of service is the response's,
    /// and is not kept.
    #[inline]
    pub fn event(&mut self, client: usize, response: Duration, service: Option<Duration>) {
        if !self.is_open {
            return;
        }
        let nanos = response.as_nanos() as u64;
        self.events.saturating_record(nanos);
        self.second.histogram.saturating_record(nanos);
        if let Some(service) = service {
            self.service.saturating_record(service.as_nanos() as u64);
        }
        self.second.events += 1;
        if let Some((count, sum)) = self.clients.get_mut(client) {
            *count += 1;
            *sum += response;
        }
    }

    /// Takes what was counted since the last call, as second number `number`.
    pub fn take_second(&mut self, number: u64, queued: u64, active: u64) -> Second {
        let mut second = std::mem::replace(&mut self.second, Second::new(0, self.kinds.len()));
        (second.number, second.queued, second.active) = (number, queued, active);
        second
    }

    /// Adds another worker's counts. Its clients come after those that are here.
    pub fn merge(&mut self, other: &Recorder) {
        for (to, from) in self.kinds.iter_mut().zip(&other.kinds) {
            add(&mut to.histogram, &from.histogram);
            to.rows += from.rows;
            to.errors += from.errors;
        }
        add(&mut self.events, &other.events);
        add(&mut self.service, &other.service);
        for (to, from) in self.classes.iter_mut().zip(other.classes) {
            *to += from;
        }
        for (&code, count) in &other.errors {
            *self.errors.entry(code).or_default() += count;
        }
        self.clients.extend_from_slice(&other.clients);
    }

    /// Statements of all classes.
    pub fn statements(&self) -> u64 {
        self.classes.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn recorded(times: &[(usize, u64)]) -> Recorder {
        let mut recorder = Recorder::new(2, 1);
        recorder.is_open = true;
        for &(kind, nanos) in times {
            let time = Duration::from_nanos(nanos);
            recorder.statement(kind, time, [Class::Read, Class::Write][kind], 1);
            recorder.event(0, time, Some(time));
            if nanos % 3 == 0 {
                recorder.error(Some(kind), (nanos % 5) as u16);
            }
        }
        recorder
    }

    proptest! {
        #[test]
        fn parts_merge_to_the_whole(
            first in prop::collection::vec((0..2usize, 0..10_000_000_000u64), 0..50),
            second in prop::collection::vec((0..2usize, 0..2_000_000_000_000u64), 0..50),
        ) {
            let whole = recorded(&[first.clone(), second.clone()].concat());
            let mut merged = Recorder::new(2, 0);
            merged.merge(&recorded(&second));
            merged.merge(&recorded(&first));
            prop_assert_eq!(&merged.events, &whole.events);
            prop_assert_eq!(&merged.errors, &whole.errors);
            prop_assert_eq!(merged.classes, whole.classes);
            for (merged, whole) in merged.kinds.iter().zip(&whole.kinds) {
                prop_assert_eq!(&merged.histogram, &whole.histogram);
                prop_assert_eq!((merged.rows, merged.errors), (whole.rows, whole.errors));
            }
        }
    }

    #[test]
    fn nothing_is_counted_while_closed() {
        let mut recorder = Recorder::new(1, 1);
        recorder.statement(0, Duration::from_micros(1), Class::Read, 1);
        recorder.event(0, Duration::from_micros(1), None);
        recorder.error(Some(0), 1213);
        recorder.transaction(0, Duration::ZERO);
        assert_eq!((recorder.statements(), recorder.events.len(), recorder.errors.len()), (0, 0, 0));
    }

    #[test]
    fn a_second_is_taken_once() {
        let mut recorder = recorded(&[(0, 1000), (1, 3000)]);
        let second = recorder.take_second(4, 2, 1);
        assert_eq!((second.number, second.events, second.classes, second.queued), (4, 2, [1, 1, 0], 2));
        assert_eq!((second.kinds.as_slice(), second.errors, second.active), (&[1, 1][..], 1, 1));
        assert_eq!(recorder.take_second(5, 0, 0).statements(), 0);
    }

    #[test]
    fn a_number_without_a_kind_is_counted_in_all_only() {
        let mut recorder = Recorder::new(1, 1);
        recorder.is_open = true;
        recorder.statement(7, Duration::from_micros(1), Class::Other, 0);
        assert_eq!(recorder.statements(), 1);
    }
}
