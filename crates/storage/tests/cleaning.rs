//! When pages are written back.

mod common;

use common::*;
use meseta_sim::SimDisk;
use meseta_storage::{Durability, StoreOptions};

/// A store with room for all of its pages, and a log that is turned over by a few thousand changes.
fn roomy() -> StoreOptions {
    StoreOptions { memory_bytes: 2048 << 14, batch_pages: 64, ..tiny() }
}

/// Pages that were changed all at once are not written all at once when they are due, but one after the other before.
#[test]
fn pages_that_grow_old_together_are_written_one_after_the_other() {
    const ENTRIES: u32 = 2000;
    const STRETCH: u64 = 16 << 10;
    let store = try_open(&SimDisk::new(1), &roomy()).unwrap();
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

/// How many pages are dirty is known when they have been looked through.
#[test]
fn dirty_pages_are_counted() {
    let store = try_open(&SimDisk::new(1), &roomy()).unwrap();
    let tree = store.root_tree();
    for n in 0..2000_u32 {
        tree.insert(&n.to_be_bytes(), &[0; 200]).unwrap();
    }
    let dirty = || store.figures().cleaner.dirty_pages;
    store.clean().unwrap();
    assert!(dirty() > 200, "as many as 400 KB of entries fill: {}", dirty());
    store.checkpoint().unwrap();
    assert_eq!(dirty(), 0);
    // A store that is idle for a round looks for what it could write, writes it, and finds nothing the next time.
    tree.patch(&7_u32.to_be_bytes(), 0, &[1]).unwrap();
    let rounds = [(); 3].map(|()| {
        store.clean().unwrap();
        dirty()
    });
    assert_eq!(rounds, [0, 1, 0]);
    store.close().unwrap();
}

/// What is written twice of a page that hardly changed is hardly anything; of one made anew it is all.
#[test]
fn of_a_page_the_sectors_that_changed_are_written_twice() {
    const PAGES: u32 = 40;
    /// Entries that fill a page.
    const ENTRIES: u32 = 30;
    let options = StoreOptions { node_capacity: PAGE as usize, ..roomy() };
    let disk = SimDisk::new(1);
    let store = try_open(&disk, &options).unwrap();
    let tree = store.root_tree();
    // The bytes of the segment of the last batch: its header says how many, and which batch it is.
    let last_batch = || {
        let segment = disk.file_len("meseta.doublewrite").unwrap() / 4;
        let headers = (0..4).map(|index| disk.read_raw("meseta.doublewrite", index * segment, 16));
        let newest = headers.max_by_key(|header| u64::from_le_bytes(header[8..16].try_into().unwrap())).unwrap();
        u32::from_le_bytes(newest[4..8].try_into().unwrap())
    };
    for n in 0..PAGES * ENTRIES {
        tree.insert(&n.to_be_bytes(), &[0; 500]).unwrap();
    }
    store.checkpoint().unwrap();
    let made = last_batch();
    assert!(made > PAGES * 8 * 1024, "pages made anew: {made} bytes");
    for n in (0..PAGES * ENTRIES).step_by(ENTRIES as usize) {
        tree.patch(&n.to_be_bytes(), 7, &[1; 20]).unwrap();
    }
    store.checkpoint().unwrap();
    let patched = last_batch();
    assert!((PAGES * 512..=PAGES * 4 * 512).contains(&patched), "{PAGES} pages with a patch each: {patched} bytes");
    store.close().unwrap();
}
