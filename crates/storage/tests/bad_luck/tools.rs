//! What the tests of this folder are told with.

use meseta_sim::SimDisk;
use meseta_storage::{ErrorKind, Lsn, Result, StorageError, Store, TreeId};

use crate::common::*;

pub const CONTROL: &str = "meseta.control";
pub const DATA: &str = "meseta.data";
pub const DOUBLEWRITE: &str = "meseta.doublewrite";
pub const LOG: &str = "meseta.log.";

/// Bytes of one of the control file's two slots; its checksum is in the last four.
pub const SLOT: u64 = 4096;

/// The error of an opening that must fail.
#[track_caller]
pub fn refused(outcome: Result<Store>) -> StorageError {
    match outcome {
        Ok(_) => panic!("the store was opened"),
        Err(error) => {
            assert_eq!(error.effect(), meseta_storage::Effect::Open, "{error:?}");
            error
        }
    }
}

/// The error's sentence contains all of these.
#[track_caller]
pub fn assert_says(error: &StorageError, words: &[&str]) {
    let sentence = error.to_string();
    for word in words {
        assert!(sentence.contains(word), "expected {word:?} in: {sentence}");
    }
}

#[track_caller]
pub fn assert_corrupt_page(error: &StorageError, page: u64, context: &str) {
    assert!(
        matches!(error.kind(), ErrorKind::CorruptPage { page: named, .. } if u64::from(named.0) == page),
        "{context}: {error:?}"
    );
    let sentence = error.to_string();
    let place = format!("{DATA}, page {page} (byte {})", page * PAGE);
    assert!(sentence.contains(&place), "{context}: expected {place:?} in: {sentence}");
}

/// What a store must hold.
pub struct Expected {
    pub trees: Vec<(TreeId, Model)>,
}

impl Expected {
    #[track_caller]
    pub fn assert_in(&self, store: &Store) {
        for (id, model) in &self.trees {
            assert_same(&content(&store.open_tree(*id).unwrap()), model, id);
        }
        assert_sound(store);
    }
}

/// A store with two trees: many short values, and some long ones.
pub fn some_store(disk: &SimDisk) -> (Store, Expected) {
    let store = open(disk);
    let mut trees = Vec::new();
    for (version, tree) in [store.root_tree(), store.create_tree().unwrap()].into_iter().enumerate() {
        let mut end = Lsn::ZERO;
        for n in 0..250u32 {
            let key = (n.wrapping_mul(0x9E37_79B9)).to_be_bytes();
            let len = if n % 10 == 0 { 5_000 + 100 * n as usize } else { 100 + n as usize };
            end = tree.insert(&key, &value_of(&key, version as u64, len)).unwrap();
        }
        commit(&store, end);
        trees.push((tree.id(), content(&tree)));
    }
    (store, Expected { trees })
}

/// ... closed in order.
pub fn closed_store() -> (SimDisk, Expected) {
    let disk = SimDisk::new(1);
    let (store, expected) = some_store(&disk);
    store.close().unwrap();
    (disk, expected)
}

/// ... that lost its power when all had been acknowledged.
pub fn crashed_store() -> (SimDisk, Expected) {
    let disk = SimDisk::new(2);
    let (store, expected) = some_store(&disk);
    drop(store);
    disk.power_cycle(2);
    (disk, expected)
}

/// The pages that the space map calls used, without its own extent's unwritten ones.
pub fn pages_in_use(disk: &SimDisk) -> Vec<u64> {
    let disk = disk.fork(0);
    let store = open(&disk);
    store.checkpoint().unwrap();
    let map = disk.read_raw(DATA, 0, PAGE as usize);
    let mut pages = vec![0];
    for extent in 1..(PAGE as usize - 32) / 8 {
        let used = map[32 + extent * 8 + 4];
        pages.extend((0..8).filter(|bit| used & (1 << bit) != 0).map(|bit| extent as u64 * 8 + bit));
    }
    pages
}

/// The log's block that holds the position before `lsn`; see `log/block.rs`.
pub fn block_of(lsn: Lsn) -> u64 {
    (lsn.0 - 1) / 480
}

/// Where a block lives in a ring of two files of half a megabyte.
pub fn place(block: u64) -> (String, u64) {
    let at = block * 512 % (1 << 20);
    (format!("{LOG}{:02}", at / (1 << 19)), at % (1 << 19))
}

/// Turns of the log's writer, as if seconds went by in which nobody does anything.
pub fn rest(store: &Store) {
    for _ in 0..4 {
        store.write_log(true).unwrap();
    }
}

/// Where the log's end may lie in the payload of 4 KiB: the voucher comes behind it in the same 4 KiB, in its own
/// block's place, in the next 4 KiB, and there in its own block's place.
pub const PLACES_TO_REST: [u64; 4] = [1000, 960, 3600, 0];

/// Fills the log, with notes and durably, until it ends there.
pub fn fill_log_to(store: &Store, residue: u64) {
    let before = store.log_end().0;
    store.log_note(&[0; 16]).unwrap();
    let after = store.log_end().0;
    let mut missing = (residue + 2 * 3840 - after % 3840) % 3840;
    if missing < after - before {
        missing += 3840;
    }
    let end = store.log_note(&vec![0; (missing - (after - before) + 16) as usize]).unwrap();
    assert_eq!(end.0 % 3840, residue, "the log ends where it should");
    commit(store, end);
}

/// The most memory that this process has had so far.
pub fn memory_peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
