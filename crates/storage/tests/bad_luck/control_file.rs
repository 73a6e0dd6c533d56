//! The control file: of another format, torn, or rotten.

use meseta_sim::{Call, Effect, Fault, SimDisk};
use meseta_storage::ErrorKind;
use meseta_storage::page::crc32c;

use crate::common::*;
use crate::story::Story;
use crate::tools::*;

/// Makes both slots say something else at `at`, with a checksum that suits.
fn forge(disk: &SimDisk, at: usize, word: u32) {
    for slot in 0..2 {
        let mut bytes = disk.read_raw(CONTROL, slot * SLOT, SLOT as usize);
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        let crc = crc32c(&bytes[..SLOT as usize - 4]);
        bytes[SLOT as usize - 4..].copy_from_slice(&crc.to_le_bytes());
        disk.overwrite(CONTROL, slot * SLOT, &bytes);
    }
}

#[test]
fn a_store_of_another_format_is_refused() {
    for (at, name) in [(8, "format version"), (12, "page size")] {
        let (disk, expected) = closed_store();
        let before = file(&disk, CONTROL);
        forge(&disk, at, 77);
        let foreign = files(&disk);
        let error = refused(try_open(&disk, &tiny()));
        assert!(matches!(error.kind(), ErrorKind::WrongFormat { found: 77, .. }), "{error:?}");
        assert_says(&error, &[CONTROL, name, "77"]);
        assert_eq!(files(&disk), foreign, "what cannot be read must not be changed");
        restore(&disk, CONTROL, &before);
        expected.assert_in(&open(&disk));
    }
}

/// The first version had whole pages in its doublewrite area, which this one cannot read: it needs none after a close. What the second
/// one left is read in any case.
#[test]
fn a_store_of_a_version_before_is_opened_if_it_was_closed() {
    let (disk, expected) = closed_store();
    for version in [1, 2] {
        forge(&disk, 8, version);
        drop(open(&disk));
        disk.power_cycle(1);
        assert_eq!(disk.read_raw(CONTROL, 8, 4), 3u32.to_le_bytes(), "from here on it is one of this version");
        let store = open(&disk);
        expected.assert_in(&store);
        store.close().unwrap();
    }

    drop(open(&disk));
    disk.power_cycle(1);
    forge(&disk, 8, 1);
    let error = refused(try_open(&disk, &tiny()));
    assert!(matches!(error.kind(), ErrorKind::WrongFormat { found: 1, expected: 3, .. }), "{error:?}");
    assert_says(&error, &[CONTROL, "not closed"]);
    forge(&disk, 8, 2);
    expected.assert_in(&open(&disk));
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
