//! What the tests of this folder share: tiny stores on a simulated disk, where a few hundred entries make a tall tree
//! that hardly fits into memory, and what to compare them with.

#![allow(dead_code)] // each test program uses its own part

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use meseta_sim::SimDisk;
use meseta_storage::io::Disk;
use meseta_storage::{Background, Durability, Lsn, Result, Store, StoreOptions, Tree};

/// A tree's content, as it should be.
pub type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// Bytes in a page.
pub const PAGE: u64 = 16 << 10;

/// Options for a store in which everything happens all the time: splits, merges, eviction, write-back, checkpoints.
/// Keys up to 225 bytes; key and value beyond 320 bytes go to pages of their own.
pub fn tiny() -> StoreOptions {
    StoreOptions {
        memory_bytes: 64 << 14,
        log_bytes: 1 << 20,
        log_buffer_bytes: 256 << 10,
        max_data_bytes: 64 << 20,
        node_capacity: 1280,
        batch_pages: 8,
        background: Background::Inline,
        ..StoreOptions::default()
    }
}

/// Opens the store on a simulated disk.
pub fn try_open(disk: &SimDisk, options: &StoreOptions) -> Result<Store> {
    Store::open_on(Arc::new(disk.clone()), options.clone())
}

/// Opens the store on a simulated disk, which must work.
#[track_caller]
pub fn open(disk: &SimDisk) -> Store {
    match try_open(disk, &tiny()) {
        Ok(store) => store,
        Err(error) => panic!("opening the store: {error}"),
    }
}

/// Everything in a tree, by a walk from its first entry to its last.
#[track_caller]
pub fn content(tree: &Tree) -> Model {
    try_content(tree).unwrap_or_else(|error| panic!("walking {}: {error}", tree.id()))
}

/// Everything in a tree, or the first error.
pub fn try_content(tree: &Tree) -> Result<Model> {
    let mut found = Model::new();
    let mut cursor = tree.cursor();
    let mut on_entry = cursor.seek_first()?;
    while on_entry {
        let before = found.last_key_value().map(|(key, _)| key.as_slice());
        assert!(before.is_none_or(|before| before < cursor.key()), "a walk went from {before:?} to {:?}", cursor.key());
        found.insert(cursor.key().to_vec(), cursor.value().to_vec());
        on_entry = cursor.next()?;
    }
    Ok(found)
}

/// Fails unless the whole store is sound: every page, every link, every page owned once.
#[track_caller]
pub fn assert_sound(store: &Store) {
    let report = store.check().unwrap_or_else(|error| panic!("the check could not be carried out: {error}"));
    assert!(report.problems.is_empty(), "{}", lines(&report.problems));
}

fn lines(problems: &[impl ToString]) -> String {
    let shown: Vec<String> = problems.iter().take(8).map(ToString::to_string).collect();
    format!("{} problems:\n{}", problems.len(), shown.join("\n"))
}

/// Fails with the first difference only: whole trees are no use in a report.
#[track_caller]
pub fn assert_same(found: &Model, expected: &Model, when: impl Debug) {
    for (key, value) in expected {
        match found.get(key) {
            None => panic!("{when:?}: {key:02x?} is lost"),
            Some(other) if other != value => panic!("{when:?}: {key:02x?} has {}, not {}", brief(other), brief(value)),
            Some(_) => {}
        }
    }
    if let Some(key) = found.keys().find(|key| !expected.contains_key(*key)) {
        panic!("{when:?}: {key:02x?} should not be there");
    }
}

fn brief(value: &[u8]) -> String {
    format!("{} bytes beginning {:02x?}", value.len(), &value[..value.len().min(12)])
}

/// Commits what ends at `lsn`: it survives a loss of power from here on.
#[track_caller]
pub fn commit(store: &Store, lsn: Lsn) {
    store.commit(lsn, Durability::Flush).unwrap_or_else(|error| panic!("committing {lsn}: {error}"));
}

/// A value that tells whose it is: `len` bytes, all following from the key and `version`.
pub fn value_of(key: &[u8], version: u64, len: usize) -> Vec<u8> {
    let mut random =
        meseta_sim::SeededRandom::new(key.iter().fold(version, |sum, &b| sum.rotate_left(7) ^ u64::from(b)));
    random.bytes(len)
}

/// Every file of the disk as it is seen.
pub fn files(disk: &SimDisk) -> BTreeMap<String, Vec<u8>> {
    let names = disk.list().expect("the disk can be listed");
    names.into_iter().map(|name| (name.clone(), file(disk, &name))).collect()
}

/// One file's bytes.
pub fn file(disk: &SimDisk, name: &str) -> Vec<u8> {
    let len = disk.file_len(name).unwrap_or_else(|| panic!("no file {name}"));
    disk.read_raw(name, 0, len as usize)
}

/// Puts a file back as it was.
pub fn restore(disk: &SimDisk, name: &str, bytes: &[u8]) {
    if disk.file_len(name).is_none() {
        disk.create(name).expect("the file can be created");
        disk.sync_directory().expect("the directory can be synced");
    }
    disk.truncate_file(name, bytes.len() as u64);
    disk.overwrite(name, 0, bytes);
}
