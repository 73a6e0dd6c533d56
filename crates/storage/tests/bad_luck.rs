//! What goes wrong in the world, one test for each misfortune: a directory in use, a foreign or missing or damaged
//! file, a full disk, a failing one, power that goes at the worst moment.
//!
//! Each test asks the same three things. Does the error say which file, where in it, and what was expected? Is
//! everything still there once the cause has been removed? And is nothing ever wrong in silence?

mod common;

use std::collections::BTreeSet;
use std::sync::{Arc, Barrier, Mutex};

use common::*;
use meseta_sim::{Call, Effect, Fault, SeededRandom, SimDisk};
use meseta_storage::io::Disk;
use meseta_storage::page::crc32c;
use meseta_storage::{
    Change, Durability, ErrorKind, LogParticipant, Lsn, Result, StorageError, Store, StoreOptions, Tree, TreeId,
};

const CONTROL: &str = "meseta.control";
const DATA: &str = "meseta.data";
const DOUBLEWRITE: &str = "meseta.doublewrite";
const LOG: &str = "meseta.log.";

/// Bytes of one of the control file's two slots; its checksum is in the last four.
const SLOT: u64 = 4096;

// ---- the directory --------------------------------------------------------------------------------------------------

#[test]
fn a_directory_in_use_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), tiny()).unwrap();
    store.root_tree().put(b"key", b"value").unwrap();
    let error = refused(Store::open(directory.path(), tiny()));
    assert!(matches!(error.kind(), ErrorKind::InUse { .. }), "{error:?}");
    assert_says(&error, &[directory.path().to_str().unwrap(), "in use", &std::process::id().to_string()]);
    store.close().unwrap();

    let store = Store::open(directory.path(), tiny()).unwrap();
    assert_eq!(store.root_tree().get(b"key", <[u8]>::to_vec).unwrap().as_deref(), Some(&b"value"[..]));
}

#[test]
fn a_directory_with_other_things_in_it_is_refused() {
    let disk = SimDisk::new(1);
    disk.create("holiday.jpg").unwrap();
    let before = files(&disk);
    let error = refused(try_open(&disk, &tiny()));
    assert!(matches!(error.kind(), ErrorKind::NotAStore { .. }), "{error:?}");
    assert_says(&error, &["simulated disk", "not empty", CONTROL]);
    assert_eq!(files(&disk), before);
    disk.remove_file("holiday.jpg");
    open(&disk);
}

/// The lock is a file, and a file in somebody else's directory is a trace: earlier versions left it there.
#[test]
fn a_directory_that_is_refused_is_left_without_a_trace() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("holiday.jpg"), "sunset").unwrap();
    let names = || {
        let entries = std::fs::read_dir(directory.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    let error = refused(Store::open(directory.path(), tiny()));
    assert!(matches!(error.kind(), ErrorKind::NotAStore { .. }), "{error:?}");
    assert_eq!(names(), ["holiday.jpg"]);
    let nonsense = StoreOptions { memory_bytes: 0, ..tiny() };
    assert!(matches!(refused(Store::open(directory.path(), nonsense)).kind(), ErrorKind::BadOption { .. }));
    assert_eq!(names(), ["holiday.jpg"]);
}

#[test]
fn options_that_make_no_sense_are_refused_by_name() {
    type Spoil = fn(&mut StoreOptions);
    let spoilt: [(&str, Spoil); 7] = [
        ("memory_bytes", |options| options.memory_bytes = 15 << 14),
        ("log_buffer_bytes", |options| options.log_buffer_bytes = 300_000),
        ("log_buffer_bytes", |options| options.log_buffer_bytes = 128 << 10),
        ("log_bytes", |options| options.log_bytes = 1 << 19),
        ("node_capacity", |options| options.node_capacity = 1279),
        ("batch_pages", |options| options.batch_pages = 0),
        ("max_data_bytes", |options| options.max_data_bytes = 1 << 19),
    ];
    for (name, spoil) in spoilt {
        let mut options = tiny();
        spoil(&mut options);
        let disk = SimDisk::new(1);
        let error = refused(try_open(&disk, &options));
        assert!(matches!(error.kind(), ErrorKind::BadOption { option, .. } if *option == name), "{error:?}");
        assert_says(&error, &[name]);
        assert!(files(&disk).is_empty(), "{name}: a store that was refused left files behind");
    }
}

// ---- the control file -----------------------------------------------------------------------------------------------

#[test]
fn a_store_of_another_format_is_refused() {
    for (at, name) in [(8, "format version"), (12, "page size")] {
        let (disk, expected) = closed_store();
        let before = file(&disk, CONTROL);
        for slot in 0..2 {
            let mut bytes = disk.read_raw(CONTROL, slot * SLOT, SLOT as usize);
            bytes[at..at + 4].copy_from_slice(&77u32.to_le_bytes());
            let crc = crc32c(&bytes[..SLOT as usize - 4]);
            bytes[SLOT as usize - 4..].copy_from_slice(&crc.to_le_bytes());
            disk.overwrite(CONTROL, slot * SLOT, &bytes);
        }
        let foreign = files(&disk);
        let error = refused(try_open(&disk, &tiny()));
        assert!(matches!(error.kind(), ErrorKind::WrongFormat { found: 77, .. }), "{error:?}");
        assert_says(&error, &[CONTROL, name, "77"]);
        assert_eq!(files(&disk), foreign, "what cannot be read must not be changed");
        restore(&disk, CONTROL, &before);
        expected.assert_in(&open(&disk));
    }
}

/// The newest slot is torn while it is written: the other one counts, and everything acknowledged is there.
#[test]
fn a_torn_control_slot_costs_nothing() {
    for seed in 0..20 {
        let disk = SimDisk::new(seed);
        let mut story = Story::begin(&disk, seed);
        story.go_on(40).unwrap();
        // The next write of the control file is torn, and the power goes with it.
        disk.inject(Fault::new(Call::Write, Effect::DeviceError).on(CONTROL));
        story.store().checkpoint().expect_err("the checkpoint met a failing device");
        story.crash_and_compare(&disk, seed);
    }
}

#[test]
fn a_control_file_with_no_whole_slot_is_refused() {
    let (disk, expected) = closed_store();
    let before = file(&disk, CONTROL);
    for slot in 0..2 {
        disk.flip_bit(CONTROL, slot * SLOT + 50, 3);
    }
    let error = refused(try_open(&disk, &tiny()));
    assert!(matches!(error.kind(), ErrorKind::CorruptFile { .. }), "{error:?}");
    assert_says(&error, &[CONTROL, "slots", "checksum"]);
    restore(&disk, CONTROL, &before);
    expected.assert_in(&open(&disk));
}

/// Bits rot in a slot that was whole and synced. The other slot is older: it may know an older checkpoint, or even
/// say that the store was closed in order. Whatever it says, nothing acknowledged may vanish in silence.
#[test]
fn a_rotten_control_slot_never_costs_acknowledged_work() {
    for seed in 0..40u64 {
        let (disk, _) = closed_store();
        let mut story = Story::begin(&disk, seed);
        // From a single commit after the opening to several checkpoints.
        story.go_on(1 + seed as usize * 5).unwrap();
        story.commit().unwrap();
        story.stop();
        disk.power_cycle(seed);
        for slot in 0..2 {
            let disk = disk.fork(seed);
            disk.flip_bit(CONTROL, slot * SLOT + 24, 0);
            match try_open(&disk, &tiny()) {
                Ok(store) => story.compare(&store, (seed, slot)),
                Err(error) => assert_says(&error, &["meseta."]),
            }
        }
    }
}

// ---- files that are missing or too short ----------------------------------------------------------------------------

#[test]
fn a_missing_file_is_named_and_nothing_is_touched() {
    for crashed in [false, true] {
        for name in [CONTROL, DATA, DOUBLEWRITE, "meseta.log.00", "meseta.log.01"] {
            let (disk, expected) = if crashed { crashed_store() } else { closed_store() };
            let bytes = file(&disk, name);
            disk.remove_file(name);
            let before = files(&disk);
            let error = refused(try_open(&disk, &tiny()));
            assert!(matches!(error.kind(), ErrorKind::MissingFile { file, .. } if file == name), "{name}: {error:?}");
            assert_says(&error, &["simulated disk", name, "missing"]);
            assert_eq!(files(&disk), before, "{name} was missing, and others were changed");
            restore(&disk, name, &bytes);
            expected.assert_in(&open(&disk));
        }
    }
}

#[test]
fn a_truncated_file_is_named_and_nothing_is_touched() {
    for crashed in [false, true] {
        for name in [CONTROL, DOUBLEWRITE, DATA, "meseta.log.00", "meseta.log.01"] {
            for keep in [0, 1, 2, 3] {
                let (disk, expected) = if crashed { crashed_store() } else { closed_store() };
                let bytes = file(&disk, name);
                disk.truncate_file(name, bytes.len() as u64 / 4 * keep);
                let before = files(&disk);
                // The data file may end in pages that nobody owns: then nothing is missing.
                let error = match try_open(&disk, &tiny()) {
                    Err(error) => error,
                    Ok(store) if name == DATA && keep == 3 => {
                        expected.assert_in(&store);
                        continue;
                    }
                    Ok(_) => panic!("{name} with {keep} quarters of its bytes was accepted, crashed: {crashed}"),
                };
                assert!(
                    matches!(error.kind(), ErrorKind::Truncated { file, .. } if file == name),
                    "{name}, {keep} quarters, crashed: {crashed}: {error:?}"
                );
                assert_says(&error, &[name, "truncated", &(bytes.len() as u64 / 4 * keep).to_string()]);
                if name != DATA {
                    assert_eq!(files(&disk), before, "{name} was truncated, and others were changed");
                }
                restore(&disk, name, &bytes);
                expected.assert_in(&open(&disk));
            }
        }
    }
}

// ---- bits that rot --------------------------------------------------------------------------------------------------

/// One bit of the data file is wrong. Whoever needs that page hears of it, with file and page; who does not, reads
/// what was written; and the check finds it.
#[test]
fn a_flipped_bit_in_a_page_is_found() {
    let (disk, expected) = closed_store();
    let used = pages_in_use(&disk);
    let mut random = SeededRandom::new(7);
    for turn in 0..150 {
        let page = *random.pick(&used);
        let (byte, bit) = (random.below(PAGE), random.below(8) as u32);
        let context = format!("turn {turn}, page {page}, byte {byte}, bit {bit}");
        let disk = disk.fork(turn);
        disk.flip_bit(DATA, page * PAGE + byte, bit);
        let store = match try_open(&disk, &tiny()) {
            Ok(store) => store,
            Err(error) => {
                assert_corrupt_page(&error, page, &context);
                assert_eq!(error.effect(), meseta_storage::Effect::Open, "{context}: {error:?}");
                disk.flip_bit(DATA, page * PAGE + byte, bit);
                expected.assert_in(&open(&disk));
                continue;
            }
        };
        let mut unreadable = 0;
        for (id, model) in &expected.trees {
            let tree = store.open_tree(*id).unwrap();
            for (key, value) in model {
                match tree.get(key, <[u8]>::to_vec) {
                    Ok(found) => assert_eq!(found.as_ref(), Some(value), "{context}: a wrong value in silence"),
                    Err(error) => {
                        unreadable += 1;
                        assert_corrupt_page(&error, page, &context);
                        assert_eq!(error.effect(), meseta_storage::Effect::Statement, "{context}: {error:?}");
                    }
                }
            }
            match try_content(&tree) {
                Ok(found) => assert_same(&found, model, &context),
                Err(error) => assert_corrupt_page(&error, page, &context),
            }
        }
        let entries: usize = expected.trees.iter().map(|(_, model)| model.len()).sum();
        let report = store.check().unwrap();
        assert!(report.problems.iter().any(|problem| u64::from(problem.page.0) == page), "{context}: not found");
        assert!(report.problems[0].to_string().contains(DATA), "{context}: {}", report.problems[0]);
        let is_root = expected.trees.iter().any(|(id, _)| u64::from(id.0) == page);
        assert!(is_root || unreadable < entries, "{context}: one page has made everything unreadable");
        drop(store);
        // The right bit again: nothing was lost meanwhile.
        disk.flip_bit(DATA, page * PAGE + byte, bit);
        expected.assert_in(&open(&disk));
    }
}

/// As above, but the store was not closed: the opening repairs pages from the doublewrite area. It may repair the
/// rotten one too, but only to what it was, never to what it had been some time before.
#[test]
fn a_flipped_bit_in_a_page_is_never_repaired_with_something_older() {
    for seed in 0..25u64 {
        let disk = SimDisk::new(seed);
        let mut story = Story::begin(&disk, seed);
        for _ in 0..12 {
            story.go_on(15).unwrap();
            story.store().checkpoint().unwrap();
            // Small batches: they fill a part of their segment only.
            story.put_one();
            story.store().checkpoint().unwrap();
        }
        story.commit().unwrap();
        story.stop();
        disk.power_cycle(seed);
        for page in pages_in_use(&disk) {
            let disk = disk.fork(seed);
            disk.flip_bit(DATA, page * PAGE + 1000, 1);
            let context = format!("seed {seed}, page {page}");
            let outcome = try_open(&disk, &tiny()).and_then(|store| {
                let found = try_content(&store.open_tree(story.tree)?)?;
                Ok((store, found))
            });
            match outcome {
                Ok((store, found)) => {
                    assert_same(&found, &story.model, &context);
                    drop(store);
                }
                Err(error) => assert_corrupt_page(&error, page, &context),
            }
        }
    }
}

/// A read returns a wrong bit once, though the disk holds the right one: an error or the right value, and the next
/// read is fine.
#[test]
fn a_wrong_bit_on_the_way_from_the_disk_is_found() {
    let (disk, expected) = closed_store();
    let (id, model) = &expected.trees[1];
    let reads = {
        let disk = disk.fork(0);
        let store = open(&disk);
        let before = disk.calls(Call::Read);
        content(&store.open_tree(*id).unwrap());
        disk.calls(Call::Read) - before
    };
    assert!(reads > 20, "the tree is read from disk");
    for nth in 1..=reads {
        let disk = disk.fork(nth);
        let store = open(&disk);
        let tree = store.open_tree(*id).unwrap();
        disk.inject(Fault::new(Call::Read, Effect::FlipBit).on(DATA).nth(nth));
        match try_content(&tree) {
            Ok(found) => assert_same(&found, model, nth),
            Err(error) => assert!(matches!(error.kind(), ErrorKind::CorruptPage { .. }), "read {nth}: {error:?}"),
        }
        assert_same(&content(&tree), model, nth);
    }
}

/// A bit of the durable log rots, and then the store is opened after a crash. The opening fails and names file and
/// byte, or everything acknowledged is there.
///
/// One thing cannot be told from a crash: damage in the blocks of the very last sync, which no later block vouches
/// for. Then the log ends before the damaged block, and everything that ended before it must be there. Once the log has
/// rested and a voucher is behind it, that can be told too.
#[test]
fn a_flipped_bit_in_the_log_never_costs_acknowledged_work() {
    for (seed, rested) in (0..6u64).flat_map(|seed| [(seed, false), (seed, true)]) {
        let disk = SimDisk::new(seed);
        let mut story = Story::begin(&disk, seed);
        story.go_on(150).unwrap();
        story.store().checkpoint().unwrap();
        let log_began = story.store().log_end();
        story.go_on(60).unwrap();
        story.commit().unwrap();
        let synced_before = story.store().durable_lsn();
        story.put_one();
        story.commit().unwrap();
        let log_ended = story.store().log_end();
        if rested {
            let writes = disk.calls(Call::Write);
            rest(story.store());
            assert_eq!(disk.calls(Call::Write), writes + 1, "seed {seed}: a voucher");
        }
        story.stop();
        disk.power_cycle(seed);
        let mut outcomes = [0; 3];
        let (first, last) = (block_of(log_began), block_of(log_ended));
        let mut random = SeededRandom::new(seed);
        for block in first.saturating_sub(2)..=last + 2 {
            let (byte, bit) = (random.below(512), random.below(8) as u32);
            let disk = disk.fork(seed);
            let (name, offset) = place(block);
            disk.flip_bit(&name, offset + byte, bit);
            let context = format!("seed {seed}, block {block} of {first}..={last}, byte {byte}, bit {bit}");
            match try_open(&disk, &tiny()) {
                Ok(store) => {
                    let found = content(&store.open_tree(story.tree).unwrap());
                    let must_be_there = if rested || block < block_of(synced_before) {
                        story.acknowledged
                    } else {
                        story.ends.iter().take_while(|end| end.0 <= block * 480).count()
                    };
                    let done = story.ops_in(&found, must_be_there, &context);
                    outcomes[usize::from(done < story.acknowledged)] += 1;
                    assert_sound(&store);
                }
                Err(error) => {
                    outcomes[2] += 1;
                    assert!(matches!(error.kind(), ErrorKind::CorruptLog { .. }), "{context}: {error:?}");
                    assert_says(&error, &[LOG, "byte", "durable"]);
                    disk.flip_bit(&name, offset + byte, bit);
                    story.compare(&open(&disk), &context);
                }
            }
        }
        println!("seed {seed}, {rested}: blocks {first}..={last}: whole, tail lost, refused: {outcomes:?}");
        assert!(outcomes[2] > 0, "seed {seed}: no damage was noticed");
    }
}

/// The log comes to rest, wherever in a block or in 4 KiB that is: one voucher is written, and from then on damage to
/// the last record is an error that names the file, even though nothing was ever written behind it. Damage to the
/// voucher itself costs nothing.
#[test]
fn a_log_at_rest_vouches_for_its_last_sync() {
    for residue in PLACES_TO_REST {
        let disk = SimDisk::new(1);
        let store = open(&disk);
        commit(&store, store.root_tree().put(b"key", b"acknowledged").unwrap());
        fill_log_to(&store, residue);
        let (end, expected) = (store.log_end(), content(&store.root_tree()));
        let calls = || (disk.calls(Call::Write), disk.calls(Call::Sync));
        let before = calls();
        rest(&store);
        assert_eq!(calls(), (before.0 + 1, before.1 + 1), "{residue}: one voucher, synced once");
        rest(&store);
        assert_eq!(calls(), (before.0 + 1, before.1 + 1), "{residue}: and no second one");
        assert_eq!(store.log_end(), end, "{residue}: it takes no position");
        drop(store);
        disk.power_cycle(1);

        let last = block_of(end);
        for byte in (0..512).step_by(37) {
            let disk = disk.fork(byte);
            let (name, offset) = place(last);
            disk.flip_bit(&name, offset + byte, 5);
            let error = refused(try_open(&disk, &tiny()));
            assert!(matches!(error.kind(), ErrorKind::CorruptLog { .. }), "{residue}, byte {byte}: {error:?}");
            assert_says(&error, &[&name, &offset.to_string(), "durable"]);
            disk.flip_bit(&name, offset + byte, 5);
            assert_same(&content(&open(&disk).root_tree()), &expected, (residue, byte));

            let (name, offset) = place(last + 1);
            disk.flip_bit(&name, offset + byte, 5);
            assert_same(&content(&open(&disk).root_tree()), &expected, (residue, byte));
        }
    }
}

/// The power goes at every operation from a voucher to the work after it, twice over, so that records and the next
/// opening overwrite vouchers, torn ones too: nothing acknowledged is lost, and nobody takes it for damage.
#[test]
fn a_torn_voucher_costs_nothing() {
    for (residue, cut) in PLACES_TO_REST.into_iter().flat_map(|residue| (0..9).map(move |cut| (residue, cut))) {
        for seed in 0..8 {
            let disk = SimDisk::new(seed);
            open(&disk);
            for round in 0..3u32 {
                disk.power_off_after(u64::MAX);
                let context = format!("log ends at {residue}, cut at operation {cut}, seed {seed}, round {round}");
                let store = match try_open(&disk, &tiny()) {
                    Ok(store) => store,
                    Err(error) => panic!("{context}: {error}"),
                };
                let tree = store.root_tree();
                let found = tree.get(b"round", <[u8]>::to_vec).unwrap();
                assert_eq!(found, (round > 0).then(|| round.to_be_bytes().to_vec()), "{context}");
                commit(&store, tree.put(b"round", &(round + 1).to_be_bytes()).unwrap());
                fill_log_to(&store, residue);
                disk.power_off_after(cut);
                let _ = (|| -> Result<()> {
                    for _ in 0..3 {
                        store.write_log(true)?;
                    }
                    store.log_note(&[1; 700])?;
                    store.write_log(false)?;
                    store.log_note(&[2; 7])?;
                    store.write_log(true)?;
                    for _ in 0..3 {
                        store.write_log(true)?;
                    }
                    Ok(())
                })();
                drop(store);
                disk.power_cycle(seed + 100 * u64::from(round));
            }
        }
    }
}

// ---- a full disk ----------------------------------------------------------------------------------------------------

/// The disk is full: what needs more of it fails, and everything else goes on. When there is space again, so do
/// writers; and a crash meanwhile costs nothing.
#[test]
fn a_full_disk_stops_nobody() {
    for crash in [false, true] {
        let disk = SimDisk::new(3);
        let store = open(&disk);
        let tree = store.create_tree().unwrap();
        let used: u64 = files(&disk).values().map(|bytes| bytes.len() as u64).sum();
        disk.set_capacity(used);
        let mut model = Model::new();
        let mut full = 0;
        for n in 0..4000u32 {
            let key = n.to_be_bytes().to_vec();
            let value = value_of(&key, 0, 300 + n as usize % 20_000);
            match tree.insert(&key, &value) {
                Ok(_) => {
                    model.insert(key, value);
                }
                Err(error) => {
                    full += 1;
                    assert!(matches!(error.kind(), ErrorKind::DiskFull { .. }), "{error:?}");
                    assert_says(&error, &[DATA, "no space left"]);
                    if full == 30 {
                        break;
                    }
                }
            }
        }
        assert_eq!(full, 30, "the disk never was full");
        assert!(!model.is_empty());
        store.health().unwrap();
        assert_same(&content(&tree), &model, "full");
        // What fits into the pages there are still works, and removing makes room.
        let (key, _) = model.pop_first().unwrap();
        commit(&store, tree.remove(&key).unwrap().unwrap());
        assert_sound(&store);

        let id = tree.id();
        let (store, tree) = if crash {
            drop((store, tree));
            disk.power_cycle(3);
            let store = open(&disk);
            (store.clone(), store.open_tree(id).unwrap())
        } else {
            (store, tree)
        };
        assert_same(&content(&tree), &model, crash);
        disk.set_capacity(u64::MAX);
        for n in 4000..4200u32 {
            let (key, value) = (n.to_be_bytes().to_vec(), value_of(b"more", 1, 1000));
            tree.insert(&key, &value).unwrap();
            model.insert(key, value);
        }
        assert_same(&content(&tree), &model, crash);
        assert_sound(&store);
    }
}

/// There is not enough space even for an empty store: the directory is left as it was.
#[test]
fn a_disk_too_small_for_a_store_stays_empty() {
    for capacity in [0, 100_000, 600_000, 1_500_000] {
        let disk = SimDisk::new(1);
        disk.set_capacity(capacity);
        let error = refused(try_open(&disk, &tiny()));
        assert!(matches!(error.kind(), ErrorKind::DiskFull { .. }), "{capacity}: {error:?}");
        assert_says(&error, &["meseta.", "no space left"]);
        assert!(files(&disk).is_empty(), "{capacity}: {:?}", disk.list());
        disk.set_capacity(u64::MAX);
        open(&disk);
    }
}

// ---- a failing disk -------------------------------------------------------------------------------------------------

/// Every write, sync and growth of a whole story fails once, in every way. The engine stops and says why, or the
/// failure was harmless; nothing is acknowledged afterwards; and after a restart everything acknowledged is there.
#[test]
fn every_failing_write_and_sync_stops_the_engine_and_costs_nothing_acknowledged() {
    let (start, expected) = crashed_store();
    let tell = |disk: &SimDisk| {
        let mut story = Story::try_begin(disk, 1)?;
        let outcome = story.go_on(60).and_then(|()| story.store().checkpoint());
        Ok::<_, StorageError>((story, outcome))
    };
    for (call, effect) in [
        (Call::Write, Effect::DeviceError),
        (Call::Write, Effect::DiskFull),
        (Call::Write, Effect::Short),
        (Call::Sync, Effect::DeviceError),
        (Call::Sync, Effect::DiskFull),
        (Call::Allocate, Effect::DeviceError),
    ] {
        let mut struck = 0;
        for name in [CONTROL, DATA, DOUBLEWRITE, LOG] {
            // Until the story has no such call any more. A short write is harmless, and tells nothing: a few of them.
            for nth in (1..).take_while(|&nth| effect != Effect::Short || nth < 40) {
                let disk = start.fork(nth);
                let context = format!("{call:?} {nth} on {name}: {effect:?}");
                disk.inject(Fault::new(call, effect).on(name).nth(nth));
                let (mut story, outcome) = match tell(&disk) {
                    Ok(told) => told,
                    Err(error) => {
                        struck += 1;
                        assert_says(&error, &[name]);
                        disk.clear_faults();
                        disk.power_cycle(nth);
                        expected.assert_in(&open(&disk));
                        continue;
                    }
                };
                let stopped = story.store().health();
                if let Err(error) = &stopped {
                    struck += 1;
                    assert!(outcome.is_err(), "{context}: stopped, and went on");
                    assert_says(error, &["stopped", name]);
                    let (end, durable) = (story.store().log_end(), story.store().durable_lsn());
                    story.change(false).expect_err("a change after the stop");
                    story.store().checkpoint().expect_err("a checkpoint after the stop");
                    story.store().commit(end, Durability::Lazy).expect_err("acknowledged after the stop");
                    assert!(end <= durable || story.store().commit(end, Durability::Flush).is_err(), "{context}");
                    assert_eq!(story.store().durable_lsn(), durable, "{context}: synced after the stop");
                } else if let Err(error) = outcome {
                    panic!("{context}: an error, and the engine goes on: {error}");
                }
                story.crash_and_compare(&disk, &context);
                if stopped.is_ok() && effect != Effect::Short {
                    break;
                }
            }
        }
        let disk = start.fork(0);
        let before = disk.calls(call);
        assert!(tell(&disk).is_ok_and(|(_, outcome)| outcome.is_ok()));
        let calls = disk.calls(call) - before;
        assert!(
            effect == Effect::Short || struck == calls,
            "{call:?}, {effect:?}: {struck} of {calls} stopped the engine"
        );
    }
}

/// A sync fails, the engine stops, and the store is opened again while the power stays on. Linux takes what the sync did
/// not write for written, and shows it as long as it is in the page cache: whoever believes that and goes on, builds on
/// something that a loss of power will take away, from under commits that were acknowledged since.
#[test]
fn what_a_failed_sync_lost_is_not_built_upon() {
    // Nothing is written back to make room: everything depends on the log for long.
    let roomy = StoreOptions { memory_bytes: 1024 << 14, ..tiny() };
    for name in [LOG, CONTROL, DATA, DOUBLEWRITE] {
        let mut struck = 0;
        for (seed, nth) in (0..12u64).flat_map(|seed| (1..=8u64).map(move |nth| (seed, nth))) {
            let context = format!("seed {seed}: sync {nth} of {name} fails");
            let disk = SimDisk::new(seed);
            let mut story = Story::begin(&disk, seed);
            story.go_on(40).unwrap();
            disk.inject(Fault::new(Call::Sync, Effect::DeviceError).on(name).nth(nth));
            // Each sync of the log is for many blocks, of which some may be lost.
            let _ = (|| {
                for _ in 0..10 {
                    (0..20).try_for_each(|_| story.change(false))?;
                    story.commit()?;
                }
                story.store().checkpoint()
            })();
            struck += u32::from(story.store().health().is_err());
            story.stop();
            disk.clear_faults();

            let mut next = match Story::try_begin_with(&disk, seed, &roomy) {
                Ok(next) => next,
                Err(error) => panic!("{context}: the store cannot be opened: {error}"),
            };
            // (Not `compare`, as a check takes a checkpoint.)
            story.ops_in(&next.base, story.acknowledged, &context);
            // From a single commit to enough for checkpoints.
            next.go_on(4 * (nth as usize - 1)).unwrap();
            next.put_one();
            next.commit().unwrap();
            next.crash_and_compare(&disk, &context);
        }
        assert!(struck > 10, "{name}: {struck} syncs failed");
    }
}

/// A failed sync has lost blocks of the log that had been taken out of the log buffer already, and then the process ends.
/// What the shared buffer still holds belongs behind them, and its ring has gone round: where the log ends now, there
/// lie records of one round later. They must not be taken for those that were lost.
#[test]
fn a_log_buffer_that_is_ahead_of_its_files_is_not_salvaged() {
    #[derive(Default)]
    struct Notes(Mutex<Vec<u32>>);
    impl LogParticipant for Notes {
        fn redo_note(&self, _: Lsn, note: &[u8]) -> Result<()> {
            self.0.lock().unwrap().push(u32::from_le_bytes(note[..4].try_into().unwrap()));
            Ok(())
        }
        fn redo_done(&self, _: &Store) -> Result<()> {
            Ok(())
        }
    }
    const RING: u64 = 256 << 10;
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions { log_bytes: 8 << 20, log_buffer_bytes: RING as usize, ..tiny() };
    let store = Store::open(directory.path(), options.clone()).unwrap();
    let mut noted = 0u32;
    // Records of 64 bytes: in the next round of the ring, records begin where they begin in this one.
    let mut note = |count: u64| {
        for _ in 0..count {
            let before = store.log_end();
            let end = store.log_note(&[noted.to_le_bytes(), [0; 4]].concat().repeat(5)).unwrap();
            assert_eq!(end.0 - before.0, 64);
            noted += 1;
        }
        noted
    };
    let durable = note(100);
    store.write_log(true).unwrap();
    let log_files: Vec<_> = (0..8).map(|n| directory.path().join(format!("{LOG}{n:02}"))).collect();
    let synced: Vec<_> = log_files.iter().map(|path| std::fs::read(path).unwrap()).collect();
    note(RING / 64 * 3 / 4);
    store.write_log(false).unwrap();
    note(RING / 64 / 2);
    drop(store);
    for (path, bytes) in log_files.iter().zip(synced) {
        std::fs::write(path, bytes).unwrap();
    }

    let notes = Arc::new(Notes::default());
    let store = Store::open(directory.path(), StoreOptions { participant: Some(notes.clone()), ..options }).unwrap();
    assert!(notes.0.lock().unwrap().iter().copied().eq(0..durable), "notes that were never there");
    assert_sound(&store);
}

/// Every read of a whole story fails once or is short: an error that says where, or success, and never wrong data.
/// The engine goes on.
#[test]
fn every_failing_read_is_an_error_or_harmless() {
    let (start, expected) = crashed_store();
    let (id, model) = &expected.trees[1];
    for effect in [Effect::DeviceError, Effect::Short] {
        let mut errors = 0;
        for nth in 1.. {
            let disk = start.fork(nth);
            let context = format!("read {nth}: {effect:?}");
            let before = disk.calls(Call::Read);
            disk.inject(Fault::new(Call::Read, effect).nth(nth));
            match try_open(&disk, &tiny()) {
                Err(error) => {
                    errors += 1;
                    assert_says(&error, &["read", "meseta."]);
                }
                Ok(store) => {
                    let tree = store.open_tree(*id).unwrap();
                    match try_content(&tree) {
                        Ok(found) => assert_same(&found, model, &context),
                        Err(error) => {
                            errors += 1;
                            assert!(matches!(error.kind(), ErrorKind::Read { .. }), "{context}: {error:?}");
                            assert_says(&error, &["reading", DATA, "page", "byte"]);
                            assert_eq!(effect, Effect::DeviceError, "{context}: a page is four blocks: {error}");
                        }
                    }
                    store.health().unwrap();
                    if disk.calls(Call::Read) - before < nth {
                        break;
                    }
                    disk.clear_faults();
                    assert_same(&content(&tree), model, &context);
                }
            }
            disk.clear_faults();
            expected.assert_in(&open(&disk));
        }
        assert!(errors > 0 || effect == Effect::Short, "no read of the story failed");
    }
}

// ---- demands that cannot be met -------------------------------------------------------------------------------------

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
        assert!(matches!(error.kind(), ErrorKind::KeyTooLong { len: 241, limit: 240 }), "{error:?}");
        assert_says(&error, &["241", "240"]);
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

// ---- power that goes at the worst moment ----------------------------------------------------------------------------

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

// ---- what the tests above are told with -----------------------------------------------------------------------------

/// The error of an opening that must fail.
#[track_caller]
fn refused(outcome: Result<Store>) -> StorageError {
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
fn assert_says(error: &StorageError, words: &[&str]) {
    let sentence = error.to_string();
    for word in words {
        assert!(sentence.contains(word), "expected {word:?} in: {sentence}");
    }
}

#[track_caller]
fn assert_corrupt_page(error: &StorageError, page: u64, context: &str) {
    assert!(
        matches!(error.kind(), ErrorKind::CorruptPage { page: named, .. } if u64::from(named.0) == page),
        "{context}: {error:?}"
    );
    let sentence = error.to_string();
    let place = format!("{DATA}, page {page} (byte {})", page * PAGE);
    assert!(sentence.contains(&place), "{context}: expected {place:?} in: {sentence}");
}

/// What a store must hold.
struct Expected {
    trees: Vec<(TreeId, Model)>,
}

impl Expected {
    #[track_caller]
    fn assert_in(&self, store: &Store) {
        for (id, model) in &self.trees {
            assert_same(&content(&store.open_tree(*id).unwrap()), model, id);
        }
        assert_sound(store);
    }
}

/// A store with two trees: many short values, and some long ones.
fn some_store(disk: &SimDisk) -> (Store, Expected) {
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
fn closed_store() -> (SimDisk, Expected) {
    let disk = SimDisk::new(1);
    let (store, expected) = some_store(&disk);
    store.close().unwrap();
    (disk, expected)
}

/// ... that lost its power when all had been acknowledged.
fn crashed_store() -> (SimDisk, Expected) {
    let disk = SimDisk::new(2);
    let (store, expected) = some_store(&disk);
    drop(store);
    disk.power_cycle(2);
    (disk, expected)
}

/// The pages that the space map calls used, without its own extent's unwritten ones.
fn pages_in_use(disk: &SimDisk) -> Vec<u64> {
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
fn block_of(lsn: Lsn) -> u64 {
    (lsn.0 - 1) / 480
}

/// Where a block lives in a ring of two files of half a megabyte.
fn place(block: u64) -> (String, u64) {
    let at = block * 512 % (1 << 20);
    (format!("{LOG}{:02}", at / (1 << 19)), at % (1 << 19))
}

/// Turns of the log's writer, as if seconds went by in which nobody does anything.
fn rest(store: &Store) {
    for _ in 0..4 {
        store.write_log(true).unwrap();
    }
}

/// Where the log's end may lie in the payload of 4 KiB: the voucher comes behind it in the same 4 KiB, in its own
/// block's place, in the next 4 KiB, and there in its own block's place.
const PLACES_TO_REST: [u64; 4] = [1000, 960, 3600, 0];

/// Fills the log, with notes and durably, until it ends there.
fn fill_log_to(store: &Store, residue: u64) {
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
fn memory_peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// One writer's life with one tree: a seeded sequence of changes, commits and checkpoints, and after each change the
/// content that the tree must have. Since the log has one order, what is found after a crash must be the content
/// after *some* number of changes, at least as many as were acknowledged.
struct Story {
    open: Option<Store>,
    tree: TreeId,
    random: SeededRandom,
    /// The content now.
    model: Model,
    /// What each change did: a key, and its value from then on.
    changes: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    base: Model,
    /// Changes that a commit has promised to keep.
    acknowledged: usize,
    /// Where each change ended in the log, as far as it was made.
    ends: Vec<Lsn>,
}

impl Story {
    #[track_caller]
    fn begin(disk: &SimDisk, seed: u64) -> Story {
        Self::try_begin(disk, seed).unwrap_or_else(|error| panic!("seed {seed}: {error}"))
    }

    fn try_begin(disk: &SimDisk, seed: u64) -> Result<Story> {
        Self::try_begin_with(disk, seed, &tiny())
    }

    fn try_begin_with(disk: &SimDisk, seed: u64, options: &StoreOptions) -> Result<Story> {
        let store = try_open(disk, options)?;
        let tree = store.root_tree();
        let base = try_content(&tree)?;
        Ok(Story {
            tree: tree.id(),
            open: Some(store),
            random: SeededRandom::new(seed),
            model: base.clone(),
            base,
            changes: Vec::new(),
            acknowledged: 0,
            ends: Vec::new(),
        })
    }

    fn store(&self) -> &Store {
        self.open.as_ref().expect("the store has not been given up")
    }

    fn tree(&self) -> Tree {
        self.store().open_tree(self.tree).expect("the story's tree")
    }

    /// Goes on for so many steps, or up to the first error.
    fn go_on(&mut self, steps: usize) -> Result<()> {
        for _ in 0..steps {
            match self.random.below(100) {
                0..60 => self.change(false)?,
                60..75 => self.change(true)?,
                75..97 => self.commit()?,
                _ => self.store().checkpoint()?,
            }
        }
        Ok(())
    }

    fn change(&mut self, remove: bool) -> Result<()> {
        let key = self.random.below(120).to_be_bytes().to_vec();
        let len = if self.random.chance(10) { self.random.below(40_000) } else { self.random.below(280) };
        let value = (!remove).then(|| self.random.bytes(len as usize));
        // Noted down first: a change that ends in an error may have been made.
        self.changes.push((key.clone(), value.clone()));
        match &value {
            Some(value) => self.tree().put(&key, value).map(drop)?,
            None => self.tree().remove(&key).map(drop)?,
        }
        self.ends.push(self.store().log_end());
        apply(&mut self.model, &key, value);
        Ok(())
    }

    #[track_caller]
    fn put_one(&mut self) {
        self.change(false).unwrap();
    }

    fn commit(&mut self) -> Result<()> {
        let done = self.ops_done();
        self.store().commit(self.store().log_end(), Durability::Flush)?;
        self.acknowledged = done;
        Ok(())
    }

    fn ops_done(&self) -> usize {
        self.changes.len()
    }

    /// Gives the store up without closing it.
    fn stop(&mut self) {
        self.open = None;
    }

    /// How many changes are in what was found. Fails if that is no moment of the story, or one before `at_least`.
    #[track_caller]
    fn ops_in(&self, found: &Model, at_least: usize, when: impl std::fmt::Debug) -> usize {
        let mut model = self.base.clone();
        let mut last_match = None;
        for done in 0..=self.changes.len() {
            if done > 0 {
                let (key, value) = &self.changes[done - 1];
                apply(&mut model, key, value.clone());
            }
            if model == *found {
                last_match = Some(done);
            }
            if done == at_least.max(self.changes.len()) && last_match.is_none() {
                assert_same(found, &model, format!("{when:?}: no moment of the story; the last one would be"));
            }
        }
        let done = last_match.expect("assert_same has told the difference");
        assert!(done >= at_least, "{when:?}: {done} changes are there, but {at_least} were acknowledged");
        done
    }

    /// Everything acknowledged is in the store, and the store is sound.
    #[track_caller]
    fn compare(&self, store: &Store, when: impl std::fmt::Debug) {
        self.ops_in(&content(&store.open_tree(self.tree).unwrap()), self.acknowledged, when);
        assert_sound(store);
    }

    /// Gives the store up, loses the power, and opens it again.
    #[track_caller]
    fn crash_and_compare(&mut self, disk: &SimDisk, when: impl std::fmt::Debug) {
        self.stop();
        disk.clear_faults();
        disk.power_cycle(self.random.next_u64());
        match try_open(disk, &tiny()) {
            Ok(store) => self.compare(&store, when),
            Err(error) => panic!("{when:?}: the store cannot be opened: {error}"),
        }
    }
}

fn apply(model: &mut Model, key: &[u8], value: Option<Vec<u8>>) {
    match value {
        Some(value) => model.insert(key.to_vec(), value),
        None => model.remove(key),
    };
}
