//! Power that goes at the worst moment.

use std::collections::BTreeSet;

use meseta_sim::{SeededRandom, SimDisk};
use meseta_storage::io::Disk;
use meseta_storage::{Durability, Lsn, Result, StoreOptions};

use crate::common::*;
use crate::tools::*;

/// The power goes during the creation of a store, at every operation of it: afterwards the directory can be opened,
/// and what the creation acknowledged is there.
#[test]
fn a_store_whose_creation_was_cut_off_can_be_opened() {
    for cut in 0.. {
        let disk = SimDisk::new(cut);
        disk.power_off_after(cut);
        let acknowledged = try_open(&disk, &tiny()).is_ok_and(|store| {
            let tree = store.root_tree();
            tree.put(b"first", b"entry").and_then(|lsn| store.commit(lsn, Durability::Flush)).is_ok()
        });
        let went_off = disk.is_off();
        for seed in 0..3 {
            let disk = disk.fork(seed);
            disk.power_cycle(seed);
            let store = match try_open(&disk, &tiny()) {
                Ok(store) => store,
                Err(error) => panic!("cut at operation {cut}, seed {seed}: {error}"),
            };
            let found = store.root_tree().contains(b"first").unwrap();
            assert!(found || !acknowledged, "cut at operation {cut}, seed {seed}: the first entry is lost");
            assert_sound(&store);
        }
        if !went_off {
            assert!(acknowledged && cut > 10);
            break;
        }
    }
}

/// The log ended inside a block, so the next opening began at the block after it. The power went before the first sync
/// of that opening: its first block was torn, its second arrived. Nothing was lost, yet the store refused to open: the
/// second block vouched for everything before the first, and so for the rest of the block in which the log had ended,
/// where no record ever was.
#[test]
fn a_torn_first_block_of_an_opening_costs_nothing() {
    let disk = SimDisk::new(1);
    let store = open(&disk);
    commit(&store, store.root_tree().put(b"before", b"acknowledged").unwrap());
    let (ended, expected) = (store.log_end(), content(&store.root_tree()));
    assert_ne!(ended.0 % 480, 0, "the log ends inside a block");
    drop(store);
    disk.power_cycle(1);

    let store = open(&disk);
    let began = store.log_end();
    assert_eq!(began.0, ended.0.next_multiple_of(480), "the opening begins at the next block");
    let (name, offset) = place(began.0 / 480);
    let before = disk.read_raw(&name, offset, 512);
    for n in 0..4u32 {
        store.root_tree().put(&n.to_be_bytes(), &[7; 250]).unwrap();
    }
    assert!(store.log_end().0 > began.0 + 2 * 480, "two blocks and more");
    // All of it reaches the device; then the first sector is as if it had not.
    store.write_log(false).unwrap();
    disk.open(&name).unwrap().sync().unwrap();
    assert_eq!(store.durable_lsn(), began, "the store itself has not synced");
    drop(store);
    disk.power_cycle(2);
    assert_ne!(disk.read_raw(&name, offset, 512), before);
    disk.overwrite(&name, offset, &before);

    let store = open(&disk);
    assert_same(&content(&store.root_tree()), &expected, "after the torn block");
    commit(&store, store.root_tree().put(b"after", b"acknowledged").unwrap());
    let expected = content(&store.root_tree());
    drop(store);
    disk.power_cycle(3);
    assert_same(&content(&open(&disk).root_tree()), &expected, "after going on");
}

/// The power goes while trees are created and dropped, at every operation: each tree is there whole or gone whole,
/// and no page is lost.
#[test]
fn a_tree_is_created_and_dropped_whole_or_not_at_all() {
    // Two trees: one will be dropped, one stays. The pages are spread over several extents.
    let disk = SimDisk::new(5);
    let store = open(&disk);
    let (doomed, kept) = (store.create_tree().unwrap(), store.create_tree().unwrap());
    for n in 0..150u32 {
        let key = n.to_be_bytes();
        doomed.insert(&key, &value_of(&key, 1, 200 + n as usize * 97 % 20_000)).unwrap();
        kept.insert(&key, &value_of(&key, 2, 200)).unwrap();
    }
    let (doomed, kept) = (doomed.id(), kept.id());
    let doomed_model = content(&store.open_tree(doomed).unwrap());
    let kept_model = content(&store.open_tree(kept).unwrap());
    store.close().unwrap();

    let mut fates = BTreeSet::new();
    for cut in 0.. {
        let disk = disk.fork(cut);
        let store = open(&disk);
        disk.power_off_after(cut);
        let mut created = None;
        let mut promised = (false, false);
        let _ = (|| -> Result<()> {
            let tree = store.create_tree()?;
            created = Some(tree.id());
            store.commit(store.log_end(), Durability::Flush)?;
            promised.0 = true;
            store.drop_tree(doomed)?;
            store.commit(store.log_end(), Durability::Flush)?;
            promised.1 = true;
            for n in 0..40u32 {
                tree.put(&n.to_be_bytes(), &[7; 300])?;
            }
            store.checkpoint()
        })();
        let went_off = disk.is_off();
        drop(store);
        for seed in 0..3 {
            let disk = disk.fork(cut * 3 + seed);
            disk.power_cycle(cut * 3 + seed);
            let store = open(&disk);
            let context = format!("cut at operation {cut}, seed {}", cut * 3 + seed);
            let trees = store.trees();
            let (is_created, is_kept) = (created.is_some_and(|id| trees.contains(&id)), trees.contains(&doomed));
            assert!(is_created || !promised.0, "{context}: the new tree is lost");
            assert!(!is_kept || !promised.1, "{context}: the dropped tree is back");
            assert_eq!(trees.len(), 2 + usize::from(is_created) + usize::from(is_kept), "{context}: {trees:?}");
            assert_same(&content(&store.open_tree(kept).unwrap()), &kept_model, &context);
            if is_kept {
                assert_same(&content(&store.open_tree(doomed).unwrap()), &doomed_model, &context);
            }
            if is_created {
                content(&store.open_tree(created.unwrap()).unwrap());
            }
            assert_sound(&store);
            fates.insert((is_created, is_kept, store.recovery().finished_drops > 0));
        }
        if !went_off {
            break;
        }
    }
    for fate in [(false, true, false), (true, true, false), (true, false, false)] {
        assert!(fates.contains(&fate), "{fate:?} never happened: {fates:?}");
    }
}

/// A drop is decided, and the power goes before it is finished: the opening finishes it. Then the power goes during
/// that, at every operation.
#[test]
fn a_drop_is_finished_however_often_it_is_cut_off() {
    let disk = SimDisk::new(9);
    let store = open(&disk);
    let doomed = store.create_tree().unwrap();
    for n in 0..300u32 {
        doomed.insert(&n.to_be_bytes(), &value_of(&n.to_be_bytes(), 0, 300)).unwrap();
    }
    store.checkpoint().unwrap();
    let free_before = store.figures();
    store.drop_tree(doomed.id()).unwrap();
    assert!(store.figures().free_pages > free_before.free_pages);
    // Only the decision becomes durable: the log is torn behind it.
    let id = doomed.id();
    commit(&store, store.log_end());
    drop((store, doomed));
    disk.power_cycle(9);
    for cut in 0.. {
        let disk = disk.fork(cut);
        disk.power_off_after(cut);
        let _ = try_open(&disk, &tiny()).and_then(|store| store.checkpoint());
        let went_off = disk.is_off();
        disk.power_cycle(cut);
        let store = open(&disk);
        assert!(!store.trees().contains(&id), "cut at operation {cut}: the tree is back");
        assert_sound(&store);
        if !went_off {
            break;
        }
    }
}

/// The power goes during recovery, with so little memory that recovery itself writes pages back; and goes again
/// during the next one. A checkpoint must never overtake what has not been redone.
#[test]
fn recovery_may_be_cut_off_any_number_of_times() {
    let small = StoreOptions { memory_bytes: 16 << 14, log_bytes: 4 << 20, ..tiny() };
    let large = StoreOptions { memory_bytes: 1024 << 14, ..small.clone() };
    // Much log and no checkpoint: all pages fit into memory, and none has been written.
    let disk = SimDisk::new(11);
    let store = try_open(&disk, &large).unwrap();
    let tree = store.create_tree().unwrap();
    let mut random = SeededRandom::new(11);
    let mut model = Model::new();
    let mut end = Lsn::ZERO;
    for n in 0..2500u64 {
        let key = random.below(700).to_be_bytes().to_vec();
        let value = value_of(&key, n, 200);
        end = tree.put(&key, &value).unwrap();
        model.insert(key, value);
    }
    commit(&store, end);
    let id = tree.id();
    drop((store, tree));
    disk.power_cycle(11);
    let whole = {
        let disk = disk.fork(0);
        let before = disk.operations();
        let store = try_open(&disk, &small).unwrap();
        let whole = disk.operations() - before;
        assert_same(&content(&store.open_tree(id).unwrap()), &model, "not cut off");
        whole
    };
    assert!(whole > 50, "recovery writes pages back: {whole} operations");
    // At each operation of the beginning and the end, and at many in between.
    for cut in (0..whole).filter(|cut| *cut < 25 || cut % 4 == 0 || cut + 25 >= whole) {
        let disk = disk.fork(cut);
        for round in 0..2 {
            disk.power_off_after(cut);
            assert!(try_open(&disk, &small).is_err() || round > 0, "cut at {cut} of {whole}");
            disk.power_cycle(cut + round);
        }
        let store = match try_open(&disk, &small) {
            Ok(store) => store,
            Err(error) => panic!("cut at operation {cut} of {whole}: {error}"),
        };
        assert_same(&content(&store.open_tree(id).unwrap()), &model, format!("cut at operation {cut} of {whole}"));
        assert_sound(&store);
    }
}

/// A page is written three times, a few sectors of it changed each time, before the data file is synced. The power goes, and
/// each of its sectors is of any of the three. The doublewrite area has what the second and the third changed: that is enough,
/// whichever sectors they are.
#[test]
fn a_page_torn_between_three_versions_becomes_the_last_one() {
    let whole = StoreOptions { node_capacity: PAGE as usize, ..tiny() };
    let disk = SimDisk::new(1);
    let store = try_open(&disk, &whole).unwrap();
    let tree = store.root_tree();
    let page = u64::from(tree.id().0);
    for n in 0..50u32 {
        tree.insert(&n.to_be_bytes(), &[0; 250]).unwrap();
    }
    let mut versions = Vec::new();
    for version in 1..=3u8 {
        for n in (0..50u32).filter(|n| n % 11 == u32::from(version)) {
            tree.patch(&n.to_be_bytes(), 100, &[version; 3]).unwrap();
        }
        store.checkpoint().unwrap();
        versions.push(disk.read_raw(DATA, page * PAGE, PAGE as usize));
    }
    let expected = content(&tree);
    drop(store);
    disk.power_cycle(1);
    let differ =
        |a: usize, b: usize| versions[a].chunks(512).zip(versions[b].chunks(512)).filter(|(a, b)| a != b).count();
    assert!(differ(0, 1) > 3 && differ(1, 2) > 3 && differ(0, 2) > differ(1, 2) && differ(0, 2) < 24);
    let mut random = SeededRandom::new(1);
    for turn in 0..200 {
        let disk = disk.fork(turn);
        let torn: Vec<u8> = (0..PAGE as usize / 512)
            .flat_map(|sector| &versions[random.below(3) as usize][sector * 512..][..512])
            .copied()
            .collect();
        disk.overwrite(DATA, page * PAGE, &torn);
        let store = try_open(&disk, &whole).unwrap_or_else(|error| panic!("turn {turn}: {error}"));
        assert_eq!(store.recovery().repaired_pages, 1, "turn {turn}");
        assert_same(&content(&store.root_tree()), &expected, turn);
        assert_eq!(disk.read_raw(DATA, page * PAGE, PAGE as usize), versions[2], "turn {turn}");
    }
}
