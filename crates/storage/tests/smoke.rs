//! One store, the whole way: create, fill, close, open, check.

use meseta_storage::{Durability, Portion, Store, StoreOptions};

#[test]
fn a_store_keeps_what_it_was_given() {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions { log_bytes: 64 << 20, ..StoreOptions::default() };
    let store = Store::open(directory.path(), options.clone()).unwrap();
    assert!(store.recovery().was_closed, "a new store was not left in disorder");
    let tree = store.create_tree().unwrap();
    let id = tree.id();
    let mut last = None;
    for n in 0..100_000u64 {
        let key = (n.wrapping_mul(0x9E37_79B9_7F4A_7C15)).to_be_bytes();
        last = Some(tree.insert(&key, &[n as u8; 100]).unwrap());
    }
    store.commit(last.unwrap(), Durability::Flush).unwrap();
    let report = store.check().unwrap();
    assert_eq!(report.problems, []);
    assert_eq!(report.entries, 100_000);
    store.close().unwrap();

    let store = Store::open(directory.path(), options).unwrap();
    let tree = store.open_tree(id).unwrap();
    let mut cursor = tree.cursor();
    let mut count = 0;
    let mut on = cursor.seek_first().unwrap();
    let mut previous = Vec::new();
    while on {
        assert!(cursor.key() > previous.as_slice() || count == 0);
        previous = cursor.key().to_vec();
        count += 1;
        on = cursor.next().unwrap();
    }
    assert_eq!(count, 100_000);
    for n in 0..100_000u64 {
        let key = (n.wrapping_mul(0x9E37_79B9_7F4A_7C15)).to_be_bytes();
        assert_eq!(tree.get(&key, |value| value[0]).unwrap(), Some(n as u8));
        assert!(tree.remove(&key).unwrap().is_some());
    }
    assert_eq!(store.check().unwrap().problems, []);
    // What is left is a root and a leaf: one that has had a leaf keeps it.
    assert_eq!(tree.height().unwrap(), 1);
    store.close().unwrap();
}

/// Of a long value whose front is changed, the front is written, and logged, and nothing else.
#[test]
fn the_rest_of_a_long_value_is_written_once() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), StoreOptions::default()).unwrap();
    let tree = store.create_tree().unwrap();
    let mut value: Vec<u8> = (0..100_000u32).map(|n| (n % 251) as u8).collect();
    let mut last = tree.insert(b"key", &value).unwrap();
    let logged = |value: &[u8], last: &mut meseta_storage::Lsn| {
        let before = std::mem::replace(last, tree.put(b"key", value).unwrap());
        assert_eq!(tree.get(b"key", |found| found == value).unwrap(), Some(true));
        last.0 - before.0
    };
    for n in 0..100u8 {
        value[30] = n.wrapping_mul(97);
        assert!(logged(&value, &mut last) < 200);
    }
    // Longer, shorter.
    value.splice(20..21, [9; 50]);
    assert!(logged(&value, &mut last) < 2_000);
    value.drain(5..200);
    assert!(logged(&value, &mut last) < 2_000);
    // Behind the front: all of it.
    value[50_000] ^= 1;
    assert!(logged(&value, &mut last) > 100_000);
    let report = store.check().unwrap();
    assert_eq!((report.problems, report.long_values), (vec![], 1));
    // Who wants no more has the front alone.
    tree.put(b"other", b"short").unwrap();
    let mut cursor = tree.cursor();
    cursor.leave_out_rests();
    assert!(cursor.seek_first().unwrap() && value.starts_with(cursor.value()));
    assert!((400..1000).contains(&cursor.value().len()), "{}", cursor.value().len());
    assert!(cursor.portion() == Portion::Front && cursor.next().unwrap());
    assert_eq!((cursor.portion(), cursor.value()), (Portion::Whole, &b"short"[..]));
    let mut found = Vec::new();
    for (is_enough, portion) in [(true, Portion::Front), (false, Portion::Whole)] {
        let mut shown = 0;
        let mut look = |front: &[u8]| {
            assert!(value.starts_with(front) && (400..1000).contains(&front.len()));
            shown += 1;
            is_enough
        };
        assert_eq!(tree.get_front_into(b"key", &mut found, &mut look).unwrap(), Some(portion));
        assert!(value.starts_with(&found) && (found.len() == value.len()) == (portion == Portion::Whole));
        assert_eq!(tree.get_front_into(b"other", &mut found, &mut look).unwrap(), Some(Portion::Whole));
        assert_eq!(tree.get_front_into(b"none", &mut found, &mut look).unwrap(), None);
        assert_eq!(shown, 1, "short values have no front");
    }
    tree.remove(b"key").unwrap();
    store.close().unwrap();
}

/// The log's writer once began by asking the cleaner a question, while the closing held the cleaner and waited for the
/// log: a store that was closed at once after its creation sometimes hung.
#[test]
fn a_store_can_be_closed_at_once() {
    let options = StoreOptions { log_bytes: 1 << 20, log_buffer_bytes: 256 << 10, ..StoreOptions::default() };
    for _ in 0..100 {
        let directory = tempfile::tempdir().unwrap();
        Store::open(directory.path(), options.clone()).unwrap().close().unwrap();
    }
}

#[test]
fn a_scan_shows_what_a_cursor_finds() {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions { log_bytes: 64 << 20, node_capacity: 1280, ..StoreOptions::default() };
    let store = Store::open(directory.path(), options).unwrap();
    let tree = store.create_tree().unwrap();
    for n in 0..3_000u32 {
        // Every hundredth value is long.
        let value = vec![n as u8; if n % 100 == 0 { 40_000 } else { 20 }];
        tree.insert(&(n * 2).to_be_bytes(), &value).unwrap();
    }
    let mut cursor = tree.cursor();
    let mut on = cursor.seek(&501u32.to_be_bytes()).unwrap();
    let mut count = 0;
    tree.scan(&501u32.to_be_bytes(), |key, value| {
        assert!(on);
        assert_eq!((key, value), (cursor.key(), cursor.value()));
        on = cursor.next().unwrap();
        count += 1;
        true
    })
    .unwrap();
    assert!(!on);
    assert_eq!(count, 3_000 - 251);
    let mut few = Vec::new();
    tree.scan(&[], |key, _| {
        few.push(key.to_vec());
        few.len() < 3
    })
    .unwrap();
    assert_eq!(few, [0u32, 2, 4].map(|n| n.to_be_bytes().to_vec()));
}

/// Through leaves and long values, while others change the leaf that it stands in: what it stands on is then found by its key,
/// which nobody was shown.
#[test]
fn a_cursor_without_keys_comes_by_the_same_values() {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions { log_bytes: 64 << 20, ..StoreOptions::default() };
    let store = Store::open(directory.path(), options).unwrap();
    let tree = store.create_tree().unwrap();
    let value = |number: u32| vec![number as u8; if number.is_multiple_of(50) { 20_000 } else { 100 }];
    for number in (0..2_000u32).map(|step| step * 7 % 2_000) {
        tree.insert(&number.to_be_bytes(), &value(number)).unwrap();
    }
    let mut cursor = tree.cursor();
    cursor.leave_out_keys();
    let (mut on, mut number, mut key) = (cursor.seek_first().unwrap(), 0, Vec::new());
    while on {
        assert_eq!(cursor.value(), value(number), "{number}");
        cursor.copy_key(&mut key);
        assert_eq!(key, number.to_be_bytes());
        if number % 10 == 5 {
            // Shifts what is behind it in its leaf.
            tree.remove(&(number - 1).to_be_bytes()).unwrap();
        }
        number += 1;
        on = cursor.next().unwrap();
    }
    assert_eq!(number, 2_000);
    assert!(cursor.seek_last().unwrap() && cursor.value() == value(1_999));
    assert!(cursor.prev().unwrap() && cursor.value() == value(1_998));
    assert!(cursor.next().unwrap() && cursor.value() == value(1_999));
    store.close().unwrap();
}

/// Read from what has been copied, skipped in part, stepped on or read on anew: all entries in order, both ways, through leaves and long values,
/// while others change the leaf.
#[test]
fn what_a_cursor_has_copied_is_what_it_comes_to() {
    const COUNT: u32 = 2_000;
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions { log_bytes: 64 << 20, ..StoreOptions::default() };
    let store = Store::open(directory.path(), options).unwrap();
    let tree = store.create_tree().unwrap();
    let value = |number: u32| vec![number as u8; if number.is_multiple_of(50) { 20_000 } else { 100 }];
    for number in (0..COUNT).map(|step| step * 7 % COUNT) {
        tree.insert(&number.to_be_bytes(), &value(number)).unwrap();
    }
    for forward in [true, false] {
        let number_at = |place: u32| if forward { place } else { COUNT - 1 - place };
        let mut cursor = if forward { tree.cursor().for_many() } else { tree.cursor() };
        let mut on = if forward { cursor.seek_first() } else { cursor.seek_last() }.unwrap();
        let (mut place, mut longest) = (0, 0);
        while on {
            assert_eq!(cursor.value(), value(number_at(place)));
            let mut copied = cursor.copied();
            let mut len = 1;
            while let Some(found) = copied.value(len) {
                assert_eq!(found, value(number_at(place + len as u32)));
                copied.prefetch();
                len += 1;
            }
            longest = longest.max(len);
            // All of them, or some.
            let steps = (len - 1).min(place as usize % 40);
            cursor.skip(steps);
            place += steps as u32;
            assert_eq!(
                (cursor.key(), cursor.value()),
                (&number_at(place).to_be_bytes()[..], &*value(number_at(place)))
            );
            if place % 10 == 5 {
                // Shifts what is behind it in its leaf.
                tree.put(&number_at(place - 1).to_be_bytes(), &value(number_at(place - 1))[1..]).unwrap();
                tree.put(&number_at(place - 1).to_be_bytes(), &value(number_at(place - 1))).unwrap();
            }
            place += 1;
            on = match forward {
                true if place % 3 == 1 => cursor.go_on_above(&(place - 1).to_be_bytes()),
                true => cursor.next(),
                false => cursor.prev(),
            }
            .unwrap();
        }
        assert_eq!((place, longest > 10), (COUNT, true));
    }
    store.close().unwrap();
}

/// Commit level 2: survives a crash of the process, with nothing written and nothing synced. The store is given up
/// without a turn of the log's writer, as a killed process would leave it: the log is in the shared buffer alone.
#[test]
fn a_written_commit_survives_the_process() {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions {
        log_bytes: 8 << 20,
        log_buffer_bytes: 256 << 10,
        background: meseta_storage::Background::Inline,
        ..StoreOptions::default()
    };
    let mut kept = 0u32;
    for round in 0..6 {
        let store = Store::open(directory.path(), options.clone()).unwrap();
        let tree = store.root_tree();
        for n in 0..kept {
            assert_eq!(tree.get(&n.to_be_bytes(), <[u8]>::len).unwrap(), Some(50), "round {round}: entry {n}");
        }
        // More than the ring holds, so that part of it has been written, and the ring has gone round.
        let more = [1, 700, 3, 2_500, 40, 5_000][round];
        for n in kept..kept + more {
            let end = tree.insert(&n.to_be_bytes(), &[7; 50]).unwrap();
            store.commit(end, Durability::Write).unwrap();
        }
        kept += more;
        assert_eq!(store.figures().log.commits, 0, "no commit has waited for a sync");
        drop(store);
    }
    let store = Store::open(directory.path(), options).unwrap();
    assert_eq!(store.check().unwrap().problems, []);
    assert_eq!(store.check().unwrap().entries, u64::from(kept));
}
