//! From what was read and written to the order of each key's versions, and which of them each read saw.
//!
//! ```text
//!   lists       the longest list that anybody read is the order; every other must be its beginning (Elle)
//!   registers   the order in which rows were locked and written; each write was told what it replaced
//! ```
//!
//! What is wrong with a single read or write is found here: that its value was undone (G1a) or not the last one of its
//! writer (G1b), that lists contradict each other, that a write replaced something else than what was there.
//!
//! # What is not known
//! A register that is not there has no value that would tell who deleted it. Of all its absences those are left out that
//! came later than the read, and those that had ended before the read's view was taken. If several are left, the read
//! says nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::checker::{Finding, Phenomenon};
use crate::history::{Fate, History, Key, Kind, Read, Transaction, Value, Write, name_of};

/// A version of a key that came to stay.
#[derive(Clone, Copy, Debug)]
pub struct Version {
    /// Who wrote it; nobody wrote the first.
    pub writer: Option<usize>,
    pub value: Option<Value>,
    at: u64,
}

/// A read saw a version that its own transaction had not written.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub reader: usize,
    pub key: Key,
    pub version: usize,
    pub view: Option<u32>,
}

pub struct Orders<'h> {
    history: &'h History,
    /// Who wrote each value.
    writers: HashMap<(Key, Value), usize>,
    pub versions: BTreeMap<Key, Vec<Version>>,
    pub seen: Vec<Seen>,
    pub findings: Vec<Finding>,
}

impl<'h> Orders<'h> {
    pub fn recover(history: &'h History) -> Orders<'h> {
        let mut writers = HashMap::new();
        for (number, transaction) in history.transactions.iter().enumerate() {
            for write in transaction.writes() {
                if let Some(value) = write.value {
                    let other = writers.insert((write.key, value), number);
                    assert!(other.is_none(), "{value} is written to {} twice", name_of(write.key));
                }
            }
        }
        let (versions, seen, findings) = Default::default();
        let mut orders = Orders { history, writers, versions, seen, findings };
        orders.check_replaced();
        match history.kind {
            Kind::Lists => orders.order_lists(),
            Kind::Registers => orders.order_registers(),
        }
        for (number, transaction) in history.transactions.iter().enumerate() {
            for read in transaction.reads() {
                orders.resolve(number, transaction, read);
            }
        }
        orders
    }

    fn find(&mut self, phenomenon: Phenomenon, story: String) {
        self.findings.push(Finding { phenomenon, story });
    }

    /// Whether its writes count: it has committed, or somebody who has saw that it must have.
    pub fn counts(&self, number: usize) -> bool {
        let transaction = &self.history.transactions[number];
        match transaction.fate {
            Fate::Committed => true,
            Fate::Aborted => false,
            Fate::Unknown => {
                self.history.transactions.iter().filter(|other| other.fate == Fate::Committed).any(|other| {
                    let is_its = |key, value| self.writers.get(&(key, value)) == Some(&number);
                    other.reads().any(|read| read.found.iter().any(|&value| is_its(read.key, value)))
                        || other.writes().any(|write| write.replaced.iter().any(|&value| is_its(write.key, value)))
                })
            }
        }
    }

    // ---- orders -----------------------------------------------------------------------------------------------------

    /// Every write, in the order in which rows were locked, replaced what was there; and in the end the rest is there.
    fn check_replaced(&mut self) {
        let mut by_key: BTreeMap<Key, Vec<(usize, &Write)>> = BTreeMap::new();
        for (number, transaction) in self.history.transactions.iter().enumerate() {
            for write in transaction.writes() {
                by_key.entry(write.key).or_default().push((number, write));
            }
        }
        for (key, mut writes) in by_key {
            writes.sort_by_key(|(_, write)| write.at);
            // What nobody knows the end of may be there and may be not.
            if writes.iter().any(|&(number, _)| self.history.transactions[number].fate == Fate::Unknown) {
                continue;
            }
            let (key_name, before) = (name_of(key), |count| writes[..count].iter().map(|&(_, write)| write));
            for (count, (number, write)) in writes.iter().enumerate() {
                let expected = self.history.content(before(count), write.at);
                if write.replaced != expected {
                    let (name, replaced) = (&self.history.transactions[*number].name, &write.replaced);
                    let story = format!("{name} wrote {key_name} over {replaced:?}, but {expected:?} was there");
                    self.find(Phenomenon::Replaced, story);
                }
            }
            let expected = self.history.content(before(writes.len()), u64::MAX);
            if let Some(last) = &self.history.last {
                let found = last.get(&key).cloned().unwrap_or_default();
                if found != expected {
                    let story = format!("in the end {key_name} is {found:?}, and should be {expected:?}");
                    self.find(Phenomenon::Lost, story);
                }
            }
        }
    }

    fn order_lists(&mut self) {
        let mut longest: BTreeMap<Key, &[Value]> = BTreeMap::new();
        let mut offer = |key, list: &'h [Value]| {
            let known = longest.entry(key).or_default();
            if list.len() > known.len() {
                *known = list;
            }
        };
        for (number, transaction) in self.history.transactions.iter().enumerate() {
            if transaction.fate == Fate::Committed {
                transaction.reads().for_each(|read| offer(read.key, self.without_own(number, read)));
                // (One that was undone may have replaced something else that was.)
                let stayed = transaction.writes().filter(|write| write.undone_at.is_none());
                stayed.for_each(|write| offer(write.key, &write.replaced));
            }
        }
        self.history.last.iter().flatten().for_each(|(&key, list)| offer(key, list));
        for (key, list) in longest {
            let version = |&value: &Value| {
                let writer = self.writers.get(&(key, value)).copied();
                Version { writer, value: Some(value), at: 0 }
            };
            let versions = list.iter().map(version);
            self.versions.insert(key, std::iter::once(Version::FIRST).chain(versions).collect());
        }
    }

    fn order_registers(&mut self) {
        for (number, transaction) in self.history.transactions.iter().enumerate() {
            if !self.counts(number) {
                continue;
            }
            // The last that it wrote to a key.
            let live = transaction.writes().filter(|write| write.undone_at.is_none());
            for (key, write) in live.map(|write| (write.key, write)).collect::<BTreeMap<_, _>>() {
                let versions = self.versions.entry(key).or_insert_with(|| vec![Version::FIRST]);
                versions.push(Version { writer: Some(number), value: write.value, at: write.at });
            }
        }
        self.versions.values_mut().for_each(|versions| versions.sort_by_key(|version| version.at));
    }

    // ---- reads ------------------------------------------------------------------------------------------------------

    /// What a read found but for what its own transaction had put behind it.
    fn without_own(&self, reader: usize, read: &'h Read) -> &'h [Value] {
        let is_own = |value: &&Value| self.writers.get(&(read.key, **value)) == Some(&reader);
        let own = read.found.iter().rev().take_while(is_own).count();
        &read.found[..read.found.len() - own]
    }

    fn resolve(&mut self, reader: usize, transaction: &'h Transaction, read: &'h Read) {
        let (name, key, found) = (&transaction.name, name_of(read.key), &read.found);
        let before = |write: &&Write| write.key == read.key && write.at < read.at;
        let has_written =
            transaction.writes().filter(before).any(|write| write.undone_at.is_none_or(|at| at > read.at));
        let own = self.history.content(transaction.writes().filter(before), read.at);
        let (others, is_as_written) = match self.history.kind {
            Kind::Lists => {
                let others = self.without_own(reader, read);
                (others, found[others.len()..] == own)
            }
            Kind::Registers => (found.as_slice(), !has_written || *found == own),
        };
        if !is_as_written {
            return self.find(Phenomenon::Internal, format!("{name} read {key} as {found:?}, and had written {own:?}"));
        }
        if has_written && self.history.kind == Kind::Registers {
            return;
        }
        if self.is_dirty(reader, transaction, read, others) {
            return;
        }
        let versions: &[Version] = self.versions.get(&read.key).map_or(&[Version::FIRST], Vec::as_slice);
        let candidates = match (self.history.kind, others) {
            (Kind::Lists, list) => {
                let order: Vec<Value> = versions.iter().filter_map(|version| version.value).collect();
                if !order.starts_with(list) {
                    let story = format!("{name} read {key} as {list:?}, somebody else as {order:?}");
                    return self.find(Phenomenon::Incompatible, story);
                }
                vec![list.len()]
            }
            (Kind::Registers, &[value, ..]) => {
                let writer = self.writers.get(&(read.key, value));
                versions.iter().position(|version| version.writer.as_ref() == writer).into_iter().collect()
            }
            (Kind::Registers, []) => {
                let absent = |&version: &usize| versions[version].value.is_none() && versions[version].at < read.at;
                (0..versions.len()).filter(absent).collect()
            }
        };
        let is_over = |&version: &usize| {
            let next = versions.get(version + 1).and_then(|next| next.writer);
            next.is_some_and(|writer| self.history.transactions[writer].ended < read.since)
        };
        let (over, possible): (Vec<usize>, Vec<usize>) = candidates.into_iter().partition(is_over);
        match possible[..] {
            // It put a row where there was none, and saw that. If it is undone, nothing is left to be locked.
            [0] if has_written => {}
            [version] => {
                // Who has written a row has locked it.
                let view = read.view.filter(|_| !has_written);
                self.seen.push(Seen { reader, key: read.key, version, view });
            }
            [] if !over.is_empty() => {
                let story = format!("{name} read {key} as {found:?}, which was over before it looked");
                self.find(Phenomenon::Stale, story);
            }
            _ => {}
        }
    }

    /// Whether a read saw what nobody wrote, or what did not come to stay.
    fn is_dirty(&mut self, reader: usize, transaction: &Transaction, read: &Read, others: &[Value]) -> bool {
        let (name, key) = (&transaction.name, name_of(read.key));
        let mut newest = BTreeSet::new();
        for &value in others.iter().rev() {
            let Some(&writer) = self.writers.get(&(read.key, value)) else {
                self.find(
                    Phenomenon::G1a,
                    format!("{name} read {value} in {key}, which no statement wrote that ended well"),
                );
                return true;
            };
            let author = &self.history.transactions[writer];
            let its = || author.writes().filter(|write| write.key == read.key);
            let undone = its().any(|write| write.value == Some(value) && write.undone_at.is_some());
            if undone || author.fate == Fate::Aborted {
                let story = format!("{name} read {value} in {key}, which {} wrote and undid", author.name);
                self.find(Phenomenon::G1a, story);
                return true;
            }
            // Of a list, what the writer put behind it must be there as well.
            let last = its().filter(|write| write.undone_at.is_none()).last();
            let is_last = last.is_some_and(|write| write.value == Some(value));
            if newest.insert(writer) && writer != reader && !is_last {
                let story = format!("{name} read {value} in {key}, which was not the last that {} wrote", author.name);
                self.find(Phenomenon::G1b, story);
                return true;
            }
        }
        false
    }
}

impl Version {
    const FIRST: Version = Version { writer: None, value: None, at: 0 };
}
