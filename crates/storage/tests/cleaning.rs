//! When pages are written back.

mod common;

use common::*;
use meseta_sim::SimDisk;
use meseta_storage::{Durability, Store, StoreOptions};

/// A store with room for all of its pages, and a log that is turned over by a few thousand changes.
fn roomy() -> Store {
    let options = StoreOptions { memory_bytes: 2048 << 14, batch_pages: 64, ..tiny() };
    try_open(&SimDisk::new(1), &options).unwrap()
}

/// Pages that were changed all at once are not written all at once when they are due, but one after the other before.
#[test]
fn pages_that_grow_old_together_are_written_one_after_the_other() {
    const ENTRIES: u32 = 2000;
    const STRETCH: u64 = 16 << 10;
    let store = roomy();
    let tree = store.root_tree();
    for n in 0..ENTRIES {
        tree.insert(&n.to_be_bytes(), &[0; 200]).unwrap();
    }
    store.checkpoint().unwrap();
    let before = store.figures().cleaner.pages_written;
    for n in 0..ENTRIES {
        tree.patch(&n.to_be_bytes(), 0, &[1]).unwrap();
    }
    let start = store.log_end();
    let capacity = tiny().log_bytes;
    let mut written = vec![before];
    while store.log_end().0 - start.0 < capacity * 3 / 4 {
        let from = store.log_end();
        while store.log_end().0 - from.0 < STRETCH {
            tree.put(b"hot", &[2; 250]).unwrap();
        }
        store.commit(store.log_end(), Durability::Flush).unwrap();
        store.clean().unwrap();
        written.push(store.figures().cleaner.pages_written);
    }
    let steps: Vec<u64> = written.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let all: u64 = steps.iter().sum();
    assert!(all > 400, "all of them are written: {steps:?}");
    assert!(steps.iter().all(|&step| step <= all / 8), "a wave: {steps:?}");
    store.close().unwrap();
}
