//! What transactions did and saw: the material that the checker judges.
//!
//! A key holds either a *list*, to which transactions append, or a *register*, which they write and delete. Every value
//! is written once in a history. So a value that is read tells who wrote it; and a list tells who wrote before that.
//!
//! Histories are recorded by `workload`, or written by hand in the notation of the literature:
//!
//! ```text
//!   w1(x=5)       transaction 1 writes 5 to x, or appends it        c1   it commits
//!   w1(x=)        it deletes x                                      a1   it aborts
//!   r2(x=5,6)     2 reads x from its snapshot and finds 5, 6        ?1   nobody knows what became of it
//!   l2(x=5,6)     2 reads x and locks it                            u1   its writes so far are undone: a savepoint
//! ```
//!
//! # Invariants
//! 1. `at` orders the operations of a history. Of two writes of a key the one that came first has the smaller one: it
//!    is taken while the row's lock is held.
//! 2. A write's `undone_at` is taken before the undoing begins, a transaction's `ended` after its end.

use std::collections::BTreeMap;

pub type Key = u32;
pub type Value = u64;

/// What keys hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Lists,
    Registers,
}

/// What became of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Committed,
    Aborted,
    Unknown,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Read {
    pub key: Key,
    /// The list; or the register's value, nothing if it is not there.
    pub found: Vec<Value>,
    /// Which of the transaction's snapshots it saw; `None` if it saw the newest version and locked it.
    pub view: Option<u32>,
    /// What had been committed by then, it must see.
    pub since: u64,
    pub at: u64,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Write {
    pub key: Key,
    /// `None` deletes.
    pub value: Option<Value>,
    /// What was there, as the engine told the writer.
    pub replaced: Vec<Value>,
    pub at: u64,
    pub undone_at: Option<u64>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operation {
    Read(Read),
    Write(Write),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transaction {
    pub name: String,
    pub operations: Vec<Operation>,
    pub fate: Fate,
    pub ended: u64,
}

impl Transaction {
    pub fn reads(&self) -> impl Iterator<Item = &Read> {
        self.operations.iter().filter_map(|operation| match operation {
            Operation::Read(read) => Some(read),
            Operation::Write(_) => None,
        })
    }

    pub fn writes(&self) -> impl Iterator<Item = &Write> {
        self.operations.iter().filter_map(|operation| match operation {
            Operation::Read(_) => None,
            Operation::Write(write) => Some(write),
        })
    }

    /// Its writes so far, from the operation with this number on, are about to be undone.
    pub fn undo_from(&mut self, first: usize, at: u64) {
        for operation in &mut self.operations[first..] {
            if let Operation::Write(write) = operation {
                write.undone_at.get_or_insert(at);
            }
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct History {
    pub kind: Kind,
    pub transactions: Vec<Transaction>,
    /// What was there when all had ended, if somebody looked.
    pub last: Option<BTreeMap<Key, Vec<Value>>>,
}

impl History {
    /// What a key holds after these writes, which are in order; those that had been undone by then are not in it.
    pub fn content<'w>(&self, writes: impl Iterator<Item = &'w Write>, at: u64) -> Vec<Value> {
        let live = writes.filter(|write| write.undone_at.is_none_or(|undone| undone > at));
        match self.kind {
            Kind::Lists => live.filter_map(|write| write.value).collect(),
            Kind::Registers => live.last().and_then(|write| write.value).into_iter().collect(),
        }
    }

    /// A history written by hand. Writes replace what a store without mistakes would have there.
    pub fn parse(kind: Kind, text: &str) -> History {
        let mut history = History { kind, transactions: Vec::new(), last: None };
        for (step, at) in text.split_whitespace().zip(1..) {
            history.step(step, at).unwrap_or_else(|| panic!("what is '{step}'?"));
        }
        history
    }

    fn step(&mut self, step: &str, at: u64) -> Option<()> {
        let verb = step.chars().next()?;
        let (number, argument) = match step[verb.len_utf8()..].split_once('(') {
            Some((number, argument)) => (number, argument.strip_suffix(')')?.split_once('=')),
            None => (&step[verb.len_utf8()..], None),
        };
        let number: usize = number.parse().ok()?;
        while self.transactions.len() < number {
            let name = format!("T{}", self.transactions.len() + 1);
            let operations = Vec::new();
            self.transactions.push(Transaction { name, operations, fate: Fate::Unknown, ended: u64::MAX });
        }
        let operation = match argument {
            None => {
                let transaction = &mut self.transactions[number - 1];
                if matches!(verb, 'a' | 'u') {
                    transaction.undo_from(0, at);
                }
                match verb {
                    'c' => (transaction.fate, transaction.ended) = (Fate::Committed, at),
                    'a' => (transaction.fate, transaction.ended) = (Fate::Aborted, at),
                    'u' | '?' => {}
                    _ => return None,
                }
                return Some(());
            }
            Some((key, values)) => {
                let key = Key::from(key.bytes().next()?);
                let values: Vec<Value> = values.split(',').filter_map(|value| value.parse().ok()).collect();
                match verb {
                    'r' => Operation::Read(Read { key, found: values, view: Some(0), since: 0, at }),
                    'l' => Operation::Read(Read { key, found: values, view: None, since: 0, at }),
                    'w' => {
                        let all = self.transactions.iter().flat_map(Transaction::writes);
                        let mut before: Vec<_> = all.filter(|write| write.key == key).collect();
                        before.sort_by_key(|write| write.at);
                        let replaced = self.content(before.into_iter(), at);
                        let value = values.first().copied();
                        Operation::Write(Write { key, value, replaced, at, undone_at: None })
                    }
                    _ => return None,
                }
            }
        };
        self.transactions[number - 1].operations.push(operation);
        Some(())
    }
}

/// A key, as people read it: those that were written by hand are letters.
pub fn name_of(key: Key) -> String {
    match u8::try_from(key) {
        Ok(letter) if letter.is_ascii_lowercase() => char::from(letter).to_string(),
        _ => format!("k{key}"),
    }
}
