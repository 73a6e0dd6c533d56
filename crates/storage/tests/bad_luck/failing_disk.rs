//! A disk that fails: reads, writes, growth and syncs.

use std::sync::{Arc, Mutex};

use meseta_sim::{Call, Effect, Fault, SimDisk};
use meseta_storage::{Durability, ErrorKind, LogParticipant, Lsn, Result, StorageError, Store, StoreOptions};

use crate::common::*;
use crate::story::Story;
use crate::tools::*;

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
