//! Demands that cannot be met.

use std::sync::Barrier;

use meseta_sim::SimDisk;
use meseta_storage::{Change, ErrorKind, Result, StoreOptions, Tree};

use crate::common::*;
use crate::tools::*;

#[test]
fn a_key_too_long_is_refused_everywhere() {
    let store = open(&SimDisk::new(1));
    let tree = store.root_tree();
    let longest = vec![b'k'; tree.key_len_max()];
    tree.insert(&longest, b"fits").unwrap();
    let too_long = vec![b'k'; tree.key_len_max() + 1];
    let outcomes: [Result<()>; 8] = [
        tree.insert(&too_long, b"").map(drop),
        tree.put(&too_long, b"").map(drop),
        tree.update(&too_long, b"").map(drop),
        tree.remove(&too_long).map(drop),
        tree.patch(&too_long, 0, b"").map(drop),
        tree.get(&too_long, |_| ()).map(drop),
        tree.contains(&too_long).map(drop),
        tree.bulk_load([(&too_long, b"")]).map(drop),
    ];
    for outcome in outcomes {
        let error = outcome.expect_err("a key beyond the limit");
        assert!(matches!(error.kind(), ErrorKind::KeyTooLong { len: 226, limit: 225 }), "{error:?}");
        assert_says(&error, &["226", "225"]);
    }
    assert_eq!(content(&tree).len(), 1);
    assert_sound(&store);
}

/// The length is looked at before anything else: the refusal of a gigabyte costs no memory and no time.
#[test]
fn a_value_too_long_is_refused_before_it_is_touched() {
    let store = open(&SimDisk::new(1));
    let tree = store.root_tree();
    let log_end = store.log_end();
    // Zeroed lazily: as long as nobody reads it, it takes no memory.
    let too_long = vec![0u8; (1 << 30) + 1];
    let before = memory_peak_kib();
    let outcomes: [Result<()>; 4] = [
        tree.insert(b"key", &too_long).map(drop),
        tree.put(b"key", &too_long).map(drop),
        tree.bulk_load([(b"key", &too_long)]).map(drop),
        tree.modify(b"key", b"", |_| Ok(Change::Put(too_long.as_slice().into()))).map(drop),
    ];
    for outcome in outcomes {
        let error = outcome.expect_err("a value beyond the limit");
        assert!(matches!(error.kind(), ErrorKind::ValueTooLong { len: 1_073_741_825, limit: 1_073_741_824 }));
        assert_says(&error, &["1073741825", "1073741824"]);
    }
    let grown = memory_peak_kib() - before;
    assert!(grown < 256 << 10, "refusing a value took {grown} KiB");
    assert_eq!(store.log_end(), log_end);
    assert_eq!(content(&tree).len(), 0);
    assert_sound(&store);
}

/// All of memory is latched: whoever needs one page more gets an error instead of waiting for ever, and goes on
/// when there is memory again.
#[test]
fn more_latched_pages_than_memory_is_an_error() {
    const PAGES: usize = 16;
    let disk = SimDisk::new(1);
    let options = StoreOptions { memory_bytes: PAGES << 14, ..tiny() };
    let store = try_open(&disk, &options).unwrap();
    // Trees of one page each: with its root latched, a tree needs no other page.
    let trees: Vec<Tree> = (0..PAGES + 4).map(|_| store.create_tree().unwrap()).collect();
    for tree in &trees {
        tree.insert(b"key", &value_of(b"key", tree.id().0.into(), 250)).unwrap();
    }
    store.checkpoint().unwrap();
    let (held, free) = trees.split_at(PAGES);
    let (all_hold, go_on) = (Barrier::new(PAGES + 1), Barrier::new(PAGES + 1));
    std::thread::scope(|scope| {
        for tree in held {
            let (all_hold, go_on) = (&all_hold, &go_on);
            scope.spawn(move || {
                let mut held = false;
                let outcome = tree.modify(b"key", b"", |_| {
                    if !std::mem::replace(&mut held, true) {
                        all_hold.wait();
                        go_on.wait();
                    }
                    Ok(Change::Keep)
                });
                if !held {
                    // Only so that the others do not wait for ever.
                    all_hold.wait();
                    go_on.wait();
                }
                assert_eq!(outcome.expect("there is memory for as many pages as threads"), None);
            });
        }
        all_hold.wait();
        let outcomes: Vec<_> = free
            .iter()
            .flat_map(|tree| [tree.get(b"key", |_| ()).map(drop), tree.put(b"key", b"no").map(drop)])
            .chain([store.create_tree().map(drop)])
            .collect();
        go_on.wait();
        for outcome in outcomes {
            let error = outcome.expect_err("a page was found with all of memory latched");
            assert!(matches!(error.kind(), ErrorKind::MemoryExhausted { limit_pages: PAGES, .. }), "{error:?}");
            assert_says(&error, &["memory limit", "16 pages"]);
        }
    });
    for tree in &trees {
        let expected = value_of(b"key", tree.id().0.into(), 250);
        assert_eq!(tree.get(b"key", <[u8]>::to_vec).unwrap(), Some(expected), "{}", tree.id());
    }
    assert_eq!(store.trees().len(), trees.len() + 1, "a tree that could not be created is there");
    assert_sound(&store);
}

/// As many threads as pages, and none holds two: for each there is a page to evict, or one on its way that it can wait
/// for.
#[test]
fn as_many_threads_as_pages_never_run_out_of_memory() {
    const PAGES: usize = 16;
    let store = try_open(&SimDisk::new(1), &StoreOptions { memory_bytes: PAGES << 14, ..tiny() }).unwrap();
    let trees: Vec<Tree> = (0..PAGES + 4).map(|_| store.create_tree().unwrap()).collect();
    for tree in &trees {
        tree.insert(b"key", b"value").unwrap();
    }
    store.checkpoint().unwrap();
    let all_hold = Barrier::new(PAGES);
    let in_round = |round: usize, thread: usize| {
        let mut held = false;
        let outcome = trees[(7 * round + thread) % trees.len()].modify(b"key", b"", |_| {
            if !std::mem::replace(&mut held, true) {
                all_hold.wait();
            }
            Ok(Change::Keep)
        });
        if !held {
            // Only so that the others do not wait for ever.
            all_hold.wait();
        }
        outcome.map(drop)
    };
    let outcomes: Vec<Result<()>> = std::thread::scope(|scope| {
        let in_round = &in_round;
        let in_all = |thread| move || (0..300).map(|round| in_round(round, thread)).collect::<Vec<_>>();
        let threads: Vec<_> = (0..PAGES).map(|thread| scope.spawn(in_all(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    for outcome in outcomes {
        outcome.expect("there is memory for as many pages as threads");
    }
}
