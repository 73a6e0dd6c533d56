//! Entries of an index in the order of their keys, however many: sorted in memory as far as that goes, then merged.
//!
//! ```text
//!   caller       push --> a run in memory --full--+                                       +--> shown in order
//!   a thread                                      +--> sorted, into a temporary file      |
//!   a thread                                           runs --> merged, in batches -------+
//! ```
//!
//! A run that memory has no more room for goes to a temporary file. A thread does that while the next run is gathered, and
//! another merges while the caller does something with what has been merged. The file is in the system's page cache as far as
//! there is room: nobody waits for it to be on the device.
//!
//! # Invariants
//! 1. Entries are shown in the order of their keys; those of one key one after the other.
//! 2. One thread is at work at the most, so there are two runs in memory; none is when the runs are dropped.
//!
//! # When things fail
//! An error of the thread is that of the next call. The file is gone with the runs, or with the process.
//!
//! # Source
//! D. E. Knuth, The Art of Computer Programming, vol. 3, 5.4.1: multiway merging.

mod run;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::mem::{replace, take};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender};
use std::thread::{self, JoinHandle};

use meseta_storage::{Store, TemporaryFile};

use self::run::{Run, SpilledReader, SpilledRun, head_of, order_of};
use crate::error::{EngineError, Result};

/// Bytes of entries that are merged before they are handed on.
const BATCH_BYTES: usize = 64 << 10;
/// So many batches may wait.
const BATCHES: usize = 4;

/// A run that has gone to the file, and its memory, for the next one.
struct Spilled {
    run: SpilledRun,
    empty: Run,
}

/// Sorts a run and writes it to the file.
fn spill(mut run: Run, file: Arc<TemporaryFile>) -> Result<Spilled> {
    run.sort();
    let spilled = SpilledRun::write(&run, file)?;
    run.clear();
    Ok(Spilled { run: spilled, empty: run })
}

/// Entries that are to be sorted.
pub struct SortedRuns {
    store: Store,
    run: Run,
    /// Bytes of a run in memory.
    limit: usize,
    /// Once there is more than one run.
    file: Option<Arc<TemporaryFile>>,
    /// The last run is on its way into the file.
    spilling: Option<JoinHandle<Result<Spilled>>>,
    spilled: Vec<SpilledRun>,
}

impl SortedRuns {
    /// None yet; `limit` is how many bytes of them are kept in memory.
    pub fn new(store: &Store, limit: usize) -> Self {
        let store = store.clone();
        Self { store, run: Run::default(), limit: limit / 2, file: None, spilling: None, spilled: Vec::new() }
    }

    /// Adds an entry.
    pub fn push(&mut self, key: &[u8], payload: &[u8]) -> Result<()> {
        self.run.push(key, payload);
        if self.run.len_in_memory() >= self.limit { self.spill() } else { Ok(()) }
    }

    /// The run goes to the file, and another begins.
    fn spill(&mut self) -> Result<()> {
        let empty = self.settle()?;
        let file = match &self.file {
            Some(file) => Arc::clone(file),
            None => Arc::clone(self.file.insert(Arc::new(self.store.create_temporary_file()?))),
        };
        let run = replace(&mut self.run, empty);
        let sorter = thread::Builder::new().name("meseta-sorter".to_owned());
        self.spilling = Some(sorter.spawn(move || spill(run, file)).map_err(no_thread)?);
        Ok(())
    }

    /// Waits for the run that is on its way into the file. Returns one without entries.
    fn settle(&mut self) -> Result<Run> {
        let Some(thread) = self.spilling.take() else { return Ok(Run::default()) };
        let Spilled { run, empty } = thread.join().unwrap_or_else(|panic| resume_unwind(panic))?;
        self.spilled.push(run);
        Ok(empty)
    }

    /// Shows all entries, in the order of their keys, until one is answered with an error.
    pub fn for_each<E: From<EngineError>>(
        mut self,
        mut show: impl FnMut(&[u8], &[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        if self.file.is_none() {
            self.run.sort();
            return self.run.entries().try_for_each(|(key, payload)| show(key, payload));
        }
        self.spill()?;
        self.settle()?;
        thread::scope(|scope| {
            let (merged, batches) = mpsc::sync_channel(BATCHES);
            let runs = &self.spilled;
            let merger = thread::Builder::new().name("meseta-merger".to_owned());
            let merger = merger.spawn_scoped(scope, move || merge(runs, &merged)).map_err(no_thread)?;
            for batch in batches {
                batch.entries().try_for_each(|(key, payload)| show(key, payload))?;
            }
            merger.join().unwrap_or_else(|panic| resume_unwind(panic)).map_err(E::from)
        })
    }
}

/// Gives the entries of all runs in the order of their keys, until nobody wants more.
fn merge(runs: &[SpilledRun], merged: &SyncSender<Run>) -> Result<()> {
    let mut readers: Vec<SpilledReader<'_>> = runs.iter().map(SpilledRun::reader).collect();
    let mut next = BinaryHeap::new();
    for (number, reader) in readers.iter_mut().enumerate() {
        if reader.next()? {
            next.push(Reverse((order_of(head_of(reader.key())), reader.key().to_vec(), number)));
        }
    }
    let mut batch = Run::default();
    while let Some(mut first) = next.peek_mut() {
        let Reverse((head, key, number)) = &mut *first;
        let reader = &mut readers[*number];
        batch.push(key, reader.payload());
        if batch.len_in_memory() >= BATCH_BYTES && merged.send(take(&mut batch)).is_err() {
            return Ok(());
        }
        if reader.next()? {
            key.clear();
            key.extend_from_slice(reader.key());
            *head = order_of(head_of(key));
        } else {
            PeekMut::pop(first);
        }
    }
    // If nobody wants it, he has an error of his own.
    let _ = merged.send(batch);
    Ok(())
}

fn no_thread(error: std::io::Error) -> EngineError {
    EngineError::NoThread { errno: error.raw_os_error().unwrap_or(0) }
}

impl Drop for SortedRuns {
    fn drop(&mut self) {
        if let Some(thread) = self.spilling.take() {
            // What it has to say is about a run that goes.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use meseta_sim::{Call, Effect, Fault, SeededRandom, SimDisk, TEMPORARY_FILE};
    use meseta_storage::{Background, StoreOptions};

    use super::*;

    fn store_on(disk: &SimDisk) -> Store {
        let options = StoreOptions {
            memory_bytes: 4 << 20,
            log_bytes: 4 << 20,
            log_buffer_bytes: 256 << 10,
            background: Background::Inline,
            ..StoreOptions::default()
        };
        Store::open_on(Arc::new(disk.clone()), options).unwrap()
    }

    /// What `limit` bytes of memory make of these entries.
    fn sorted(limit: usize, entries: &[(Vec<u8>, Vec<u8>)]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut runs = SortedRuns::new(&store_on(&SimDisk::new(1)), limit);
        entries.iter().for_each(|(key, payload)| runs.push(key, payload).unwrap());
        let mut shown = Vec::new();
        runs.for_each(|key, payload| -> Result<()> {
            shown.push((key.to_vec(), payload.to_vec()));
            Ok(())
        })
        .unwrap();
        shown
    }

    /// Sorts four-byte numbers, with little memory.
    fn sort_numbers(disk: &SimDisk, store: &Store) -> Result<u32> {
        let mut runs = SortedRuns::new(store, 64 << 10);
        for number in 0..20_000_u32 {
            runs.push(&number.wrapping_mul(0x9e37_79b1).to_be_bytes(), &[])?;
        }
        assert!(disk.calls(Call::Write) > 0);
        let mut count = 0;
        runs.for_each(|_, _| -> Result<()> {
            count += 1;
            Ok(())
        })?;
        Ok(count)
    }

    #[test]
    fn what_the_disk_refuses_is_the_callers_error_and_nobody_elses() {
        let disk = SimDisk::new(1);
        let store = store_on(&disk);
        let faults = [
            Fault::new(Call::Create, Effect::DiskFull),
            Fault::new(Call::Write, Effect::DiskFull),
            Fault::new(Call::Write, Effect::DeviceError).nth(9),
            Fault::new(Call::Read, Effect::DeviceError).nth(3),
            Fault::new(Call::Read, Effect::FlipBit).nth(5),
        ];
        for fault in faults {
            disk.inject(fault.on(TEMPORARY_FILE));
            let error = sort_numbers(&disk, &store).unwrap_err();
            assert!(error.to_string().contains("temporary file"), "{error}");
            store.health().unwrap();
            disk.clear_faults();
            assert_eq!(sort_numbers(&disk, &store).unwrap(), 20_000);
        }
    }

    #[test]
    fn they_come_in_order_however_little_memory_there_is() {
        let mut random = SeededRandom::new(1);
        let entries: Vec<(Vec<u8>, Vec<u8>)> = (0..5000_u32)
            .map(|number| {
                // Keys that are beginnings of others, and such as differ behind the sixteenth byte.
                let mut key = vec![random.below(3) as u8; random.below(20) as usize];
                key.extend_from_slice(&number.to_be_bytes());
                (key, number.to_le_bytes().to_vec())
            })
            .collect();
        let mut expected = entries.clone();
        expected.sort();
        for limit in [usize::MAX, 64 << 10, 9 << 10] {
            assert!(sorted(limit, &entries) == expected, "limit {limit}");
        }
    }

    #[test]
    fn entries_of_one_key_are_all_shown() {
        let entries: Vec<(Vec<u8>, Vec<u8>)> =
            (0..900_u32).map(|number| ((number % 7).to_be_bytes().to_vec(), number.to_le_bytes().to_vec())).collect();
        for limit in [usize::MAX, 4 << 10] {
            let mut shown = sorted(limit, &entries);
            assert!(shown.is_sorted_by_key(|(key, _)| key.clone()), "limit {limit}");
            shown.sort();
            let mut expected = entries.clone();
            expected.sort();
            assert!(shown == expected, "limit {limit}");
        }
    }
}
