//! The program as a user runs it: what it prints, and how it ends.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Output};

use meseta_storage::{Durability, Store, StoreOptions};

fn meseta(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_meseta")).args(arguments).output().expect("the program starts")
}

fn check(directory: &Path) -> Output {
    meseta(&["check", directory.to_str().unwrap()])
}

/// Asserts how a run ended, and that each stream is as expected.
#[track_caller]
fn expect(run: &Output, status: i32, printed: &[&str], complained: &[&str]) {
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    let all = format!("status {:?}\n--- stdout\n{out}\n--- stderr\n{err}", run.status);
    assert_eq!(run.status.code(), Some(status), "{all}");
    for part in printed {
        assert!(out.contains(part), "{part:?} is not in stdout; {all}");
    }
    for part in complained {
        assert!(err.contains(part), "{part:?} is not in stderr; {all}");
    }
    // An error is one line, and without an error there is none.
    assert_eq!(err.lines().count(), usize::from(status == 2), "{all}");
    assert!(err.is_empty() || err.starts_with("meseta: "), "{all}");
}

fn options() -> StoreOptions {
    StoreOptions { memory_bytes: 8 << 20, log_bytes: 8 << 20, log_buffer_bytes: 1 << 20, ..StoreOptions::default() }
}

/// A store with one tree of 5,000 entries and a long value. Returns the first page of the tree's second extent: a leaf.
fn fill(store: &Store) -> u64 {
    let tree = store.create_tree().unwrap();
    let entries = (0..5_000u64).map(|n| (n.to_be_bytes(), [n as u8; 100]));
    tree.bulk_load(entries).unwrap();
    let end = tree.insert(b"\xFF a long value", &[7; 50_000]).unwrap();
    store.commit(end, Durability::Flush).unwrap();
    u64::from(tree.id().0) + 8
}

/// Twice the same page: nothing has changed.
fn flip_a_bit(directory: &Path, page: u64) {
    let data = OpenOptions::new().read(true).write(true).open(directory.join("meseta.data")).unwrap();
    let at = page * 16_384 + 10_000;
    let mut byte = [0];
    data.read_exact_at(&mut byte, at).unwrap();
    data.write_all_at(&[byte[0] ^ 0x10], at).unwrap();
}

/// Every file but the lock's.
fn contents(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .filter(|name| name != "meseta.lock")
        .map(|name| (name.clone(), fs::read(directory.join(name)).unwrap()))
        .collect()
}

#[test]
fn check_finds_a_closed_store_sound() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), options()).unwrap();
    fill(&store);
    store.close().unwrap();
    let run = check(directory.path());
    expect(
        &run,
        0,
        &["was closed in order; nothing to recover", "2 trees, 5,001 entries, 1 long values", "sound"],
        &[],
    );
}

#[test]
fn check_recovers_a_store_that_was_not_closed() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), options()).unwrap();
    fill(&store);
    drop(store);
    let run = check(directory.path());
    expect(&run, 0, &["was not closed; recovered:", "log records", "5,001 entries", "sound"], &[]);
    // It closed the store in order.
    expect(&check(directory.path()), 0, &["was closed in order; nothing to recover"], &[]);
    // Not closed, though nothing was done: still not the same as closed.
    drop(Store::open(directory.path(), options()).unwrap());
    expect(&check(directory.path()), 0, &["was not closed; nothing to recover", "sound"], &[]);
}

#[test]
fn check_names_file_and_page_of_a_flipped_byte() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), options()).unwrap();
    let page = fill(&store);
    store.close().unwrap();
    flip_a_bit(directory.path(), page);
    let run = check(directory.path());
    let place = format!("meseta.data, page {page} (byte {}), of tree ", page * 16_384);
    expect(&run, 1, &[&place, "checksum: the page says", "1 problem found"], &[]);
}

#[test]
fn check_names_everything_damaged_in_a_store_that_does_not_open() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), options()).unwrap();
    let leaf = fill(&store);
    let root = store.trees().last().unwrap().0.into();
    store.close().unwrap();
    let (map, of_system, of_tree) = (0, ", of the system: the map that says", format!(", of tree {root}"));
    let place = |page: u64| format!("meseta.data, page {page} (byte {})", page * 16_384);
    for (damaged, printed) in [
        (vec![map], vec![place(map) + of_system, "1 problem found".into()]),
        (vec![root], vec![place(root) + &of_tree + ": the tree's root: checksum", "1 problem found".into()]),
        (
            vec![root, leaf],
            vec![place(root) + &of_tree, place(leaf) + &of_tree + ": checksum", "2 problems found".into()],
        ),
        (vec![map, root, leaf], vec![place(map), place(root), place(leaf), "3 problems found".into()]),
    ] {
        damaged.iter().for_each(|&page| flip_a_bit(directory.path(), page));
        let before = contents(directory.path());
        let run = check(directory.path());
        let printed: Vec<&str> = printed.iter().map(String::as_str).chain(["nothing was written"]).collect();
        // The line on standard error says what keeps the store from opening.
        expect(&run, 2, &printed, &["cannot be opened: meseta.data, page", "checksum: the page says"]);
        assert!(contents(directory.path()) == before, "a damaged store was changed: {damaged:?}");
        damaged.iter().for_each(|&page| flip_a_bit(directory.path(), page));
    }
    expect(&check(directory.path()), 0, &["sound"], &[]);
}

#[test]
fn check_looks_at_pages_when_another_file_is_damaged() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), options()).unwrap();
    let leaf = fill(&store);
    store.close().unwrap();
    flip_a_bit(directory.path(), leaf);
    fs::remove_file(directory.path().join("meseta.log.03")).unwrap();
    let before = contents(directory.path());
    let place = format!("meseta.data, page {leaf} (byte {}), of tree ", leaf * 16_384);
    let missing = "the file meseta.log.03 is missing";
    expect(&check(directory.path()), 2, &[&place, missing, "2 problems found"], &[missing]);

    fs::write(directory.path().join("meseta.control"), [0; 8192]).unwrap();
    // Now nobody knows that the store was closed, and the doublewrite area may count: it holds the page.
    let slots = "neither of its two slots is whole";
    expect(&check(directory.path()), 2, &[slots, "1 problem found", "nothing was written"], &[slots]);
    fs::write(directory.path().join("meseta.doublewrite"), vec![0; before["meseta.doublewrite"].len()]).unwrap();
    expect(&check(directory.path()), 2, &[slots, &place, "2 problems found"], &[slots]);
    fs::write(directory.path().join("meseta.doublewrite"), &before["meseta.doublewrite"]).unwrap();
    fs::write(directory.path().join("meseta.control"), &before["meseta.control"]).unwrap();
    assert!(contents(directory.path()) == before, "a damaged store was changed");
}

#[test]
fn check_refuses_what_is_no_store_and_leaves_it_alone() {
    let directory = tempfile::tempdir().unwrap();
    expect(&check(directory.path()), 2, &[], &["is not a Meseta data directory", "meseta.control"]);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "nothing was created");

    fs::write(directory.path().join("letter.txt"), "dear reader").unwrap();
    expect(&check(directory.path()), 2, &[], &["is not a Meseta data directory"]);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);

    let missing = directory.path().join("missing");
    expect(&check(&missing), 2, &[], &["missing"]);
    assert!(!missing.exists());
}

#[test]
fn check_refuses_a_directory_in_use() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), options()).unwrap();
    expect(&check(directory.path()), 2, &[], &["is in use"]);
    store.close().unwrap();
}

#[test]
fn check_refuses_too_little_memory() {
    let directory = tempfile::tempdir().unwrap();
    Store::open(directory.path(), options()).unwrap().close().unwrap();
    let run = meseta(&["check", directory.path().to_str().unwrap(), "--memory", "1K"]);
    expect(&run, 2, &[], &["memory_bytes"]);
}

#[test]
fn the_demonstration_runs_and_runs_again() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("deep/demo");
    let run = meseta(&["demo", "--dir", place.to_str().unwrap(), "--rows", "20000"]);
    expect(&run, 0, &["killed after", "0 lost", "was not closed; recovered:", "sound", "All well"], &[]);
    // What it leaves behind is a store like any other ...
    expect(&check(&place), 0, &["nothing to recover", "3 trees", "sound"], &[]);
    // ... on which it can begin anew.
    let run = meseta(&["demo", "--dir", place.to_str().unwrap(), "--rows", "1000"]);
    expect(&run, 0, &["dropped the tables of an earlier run", "0 lost", "All well"], &[]);
}

#[test]
fn the_demonstration_leaves_other_directories_alone() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("letter.txt"), "dear reader").unwrap();
    let run = meseta(&["demo", "--dir", directory.path().to_str().unwrap()]);
    expect(&run, 2, &[], &["is not a Meseta data directory"]);
    // Not even a lock file is left there.
    let names = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["letter.txt"]);
}
