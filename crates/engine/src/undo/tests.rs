//! The undo trees: what is found after a crash, and how long a first record may be.

use std::sync::Arc;

use meseta_sim::SimDisk;
use meseta_storage::{Background, Store, StoreOptions};

use super::*;
use crate::ids::IndexId;
use crate::row::VersionHeader;

fn store(disk: &SimDisk) -> Store {
    let options = StoreOptions {
        memory_bytes: 4 << 20,
        log_bytes: 1 << 20,
        log_buffer_bytes: 256 << 10,
        background: Background::Inline,
        ..StoreOptions::default()
    };
    Store::open_on(Arc::new(disk.clone()), options).unwrap()
}

/// Two slots in trees of a store, and the trees' names, to find them again.
fn slots(store: &Store) -> (Slots, Vec<meseta_storage::TreeId>) {
    let trees = vec![store.create_tree().unwrap(), store.create_tree().unwrap()];
    let ids = trees.iter().map(meseta_storage::Tree::id).collect();
    (Slots::new(trees), ids)
}

fn record(fate: Fate, key: &[u8], delta: Option<&[u8]>) -> Vec<u8> {
    let mut record = Vec::new();
    begin_record(fate, &mut record);
    let before = delta.map(|delta| Before { header: VersionHeader::BUILT, payload: Delta::of(delta) });
    append_change(&EntryChange { index: IndexId(5), key, before, deletes: before.is_some() }, &mut record);
    record
}

const FIRST: SlotNo = SlotNo(0);
const SECOND: SlotNo = SlotNo(1);

#[test]
fn what_was_appended_is_read_until_it_is_removed() {
    let store = store(&SimDisk::new(1));
    let (slots, _) = slots(&store);
    let [one, two] = [TransactionId(1), TransactionId(2)];
    let mut out = Vec::new();
    for id in [one, two] {
        for number in 0..3 {
            let key = format!("{id:?} {number}");
            slots.append(FIRST, id, number, &record(Fate::Active, key.as_bytes(), None)).unwrap();
        }
    }
    assert!(slots.read(FIRST, two, 1, &mut out).unwrap());
    assert_eq!(out, record(Fate::Active, b"TransactionId(2) 1", None));
    assert!(!slots.read(SECOND, two, 1, &mut out).unwrap());
    slots.remove(FIRST, two, 1).unwrap();
    assert!(!slots.read(FIRST, two, 1, &mut out).unwrap());
    assert!(slots.read(FIRST, one, 1, &mut out).unwrap());
}

#[test]
fn what_remains_after_a_crash_is_found_with_its_fate() {
    let disk = SimDisk::new(2);
    let trees = {
        let store = store(&disk);
        let (slots, trees) = slots(&store);
        let some = |fate| record(fate, b"key", Some(&[7; 40]));
        for (slot, id, last) in [(FIRST, 10, 0), (FIRST, 11, 300), (SECOND, 12, 2), (SECOND, 13, 1)] {
            for number in 0..=last {
                slots.append(slot, TransactionId(id), number, &some(Fate::Active)).unwrap();
            }
        }
        slots.decide(FIRST, TransactionId(11), Fate::Committed).unwrap();
        slots.name(SECOND, TransactionId(12), b"xid").unwrap();
        slots.decide(SECOND, TransactionId(12), Fate::Prepared).unwrap();
        // Purge was at it: the fate is gone, the rest is not.
        slots.decide(SECOND, TransactionId(13), Fate::Committed).unwrap();
        slots.remove(SECOND, TransactionId(13), 0).unwrap();
        let end = store.log_end();
        store.commit(end, meseta_storage::Durability::Flush).unwrap();
        trees
    };
    disk.power_cycle(2);
    let store = store(&disk);
    let slots = Slots::new(trees.into_iter().map(|id| store.open_tree(id).unwrap()).collect());
    let remains = |slot, id, fate, last, name: Option<&[u8]>| Remains {
        slot,
        transaction: TransactionId(id),
        fate,
        last,
        name: name.map(<[u8]>::to_vec),
    };
    assert_eq!(
        slots.remains().unwrap(),
        [
            remains(FIRST, 10, Fate::Active, 0, None),
            remains(FIRST, 11, Fate::Committed, 300, None),
            remains(SECOND, 12, Fate::Prepared, 2, Some(b"xid")),
            remains(SECOND, 13, Fate::Committed, 1, None),
        ]
    );
}

#[test]
fn the_longest_first_record_can_be_decided() {
    let store = store(&SimDisk::new(3));
    let (slots, _) = slots(&store);
    let id = TransactionId(1);
    let fits = (1..20_000).rev().find(|&len| slots.may_be_first(FIRST, len)).unwrap();
    let mut long = vec![0; fits];
    slots.append(FIRST, id, 0, &long).unwrap();
    slots.decide(FIRST, id, Fate::Committed).unwrap();
    long[0] = Fate::Committed as u8;
    let mut out = Vec::new();
    assert!(slots.read(FIRST, id, 0, &mut out).unwrap());
    assert_eq!(out, long);
    assert!(slots.append(FIRST, TransactionId(2), 0, &vec![0; fits + 1]).is_ok());
    assert!(slots.decide(FIRST, TransactionId(2), Fate::Committed).is_err(), "which is why one asks before");
}

#[test]
fn a_slot_that_there_is_not_is_damage() {
    let store = store(&SimDisk::new(4));
    let (slots, _) = slots(&store);
    let read = slots.read(SlotNo(2), TransactionId(1), 0, &mut Vec::new());
    assert!(matches!(read, Err(UndoError::Corrupt { problem: Corrupt::Slot, .. })));
}
