//! The key that follows: whoever changes an entry and asked for the next key is told the truth, and nobody inserts in
//! between before the change is made.
//!
//! Each decision takes a number from one counter while it sees both. Two decisions about the same place exclude each
//! other, so in the order of the numbers each must have seen what a map holds at that point.

mod common;

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

use common::*;
use meseta_sim::{SeededRandom, SimDisk};
use meseta_storage::{Background, Change, StoreOptions};

/// What a thread did, and what it saw.
#[derive(Debug)]
struct Event {
    number: u64,
    key: Vec<u8>,
    inserted: bool,
    successor: Option<Vec<u8>>,
}

/// Keys of which a leaf holds a few: most successors are in other leaves, and leaves come and go.
fn key(random: &mut SeededRandom) -> Vec<u8> {
    let mut key = (random.below(200) as u16).to_be_bytes().to_vec();
    key.resize(180, 7);
    key
}

fn crowd(seed: u64, threads: usize, steps: usize, memory_pages: usize) {
    let disk = SimDisk::new(seed);
    let options = StoreOptions { memory_bytes: memory_pages << 14, background: Background::Threads, ..tiny() };
    let store = try_open(&disk, &options).unwrap();
    let tree = store.root_tree();
    let (clock, start) = (AtomicU64::new(0), Barrier::new(threads));
    let mut events: Vec<Event> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|thread| {
                let (tree, clock, start) = (&tree, &clock, &start);
                scope.spawn(move || {
                    let mut random = SeededRandom::new(seed * 1000 + thread as u64);
                    let mut events = Vec::new();
                    start.wait();
                    for _ in 0..steps {
                        let key = key(&mut random);
                        let mut event = None;
                        tree.modify_beside(&key, &[], |value, successor| {
                            let inserted = value.is_none();
                            let number = clock.fetch_add(1, Ordering::Relaxed);
                            let (key, successor) = (key.clone(), successor.map(<[u8]>::to_vec));
                            event = Some(Event { number, key, inserted, successor });
                            Ok(if inserted { Change::Put(vec![1; 60].into()) } else { Change::Remove })
                        })
                        .unwrap();
                        events.extend(event);
                    }
                    events
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert_eq!(events.len(), threads * steps);
    events.sort_by_key(|event| event.number);
    let mut keys = BTreeSet::new();
    for event in &events {
        let next = keys.range((Bound::Excluded(event.key.clone()), Bound::Unbounded)).next();
        assert_eq!(event.successor.as_ref(), next, "seed {seed}, decision {}", event.number);
        let changed = if event.inserted { keys.insert(event.key.clone()) } else { keys.remove(&event.key) };
        assert!(changed, "seed {seed}, decision {}: the entry itself was not as shown", event.number);
    }
    let found: BTreeSet<_> = content(&tree).into_keys().collect();
    assert_eq!(found, keys, "seed {seed}");
    assert_sound(&store);
}

#[test]
fn one_thread_is_told_the_truth() {
    for seed in 0..20 {
        crowd(seed, 1, 400, 64);
    }
}

#[test]
fn many_threads_are_told_the_truth() {
    for seed in 20..28 {
        crowd(seed, 8, 500, 64);
    }
}

#[test]
fn and_so_they_are_with_little_memory() {
    for seed in 28..30 {
        crowd(seed, 4, 300, 24);
    }
}
