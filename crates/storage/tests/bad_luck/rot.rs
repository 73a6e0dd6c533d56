//! Bits that rot: in pages, in the log, and on the way from the disk.

use meseta_sim::{Call, Effect, Fault, SeededRandom, SimDisk};
use meseta_storage::{ErrorKind, Result};

use crate::common::*;
use crate::story::Story;
use crate::tools::*;

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
