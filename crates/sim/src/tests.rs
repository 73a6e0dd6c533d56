//! What the simulated disk promises: what survives, what need not, and that faults fire exactly as told.

use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex};

use meseta_storage::io::{AlignedBuffer, Disk, DiskFile, IO_ALIGN, Operation, Request};

use crate::image::SECTOR;
use crate::{Call, Effect, Fault, SeededRandom, SimDisk, TEMPORARY_FILE};

const BLOCK: u64 = IO_ALIGN as u64;

/// Blocks filled with one byte.
fn blocks(count: usize, byte: u8) -> AlignedBuffer {
    let mut buffer = AlignedBuffer::new(count * IO_ALIGN);
    buffer.fill(byte);
    buffer
}

fn write(file: &Arc<dyn DiskFile>, block: u64, count: usize, byte: u8) {
    file.write_all_at(&blocks(count, byte), block * BLOCK).unwrap();
}

/// A disk with a durable file of `count` blocks of ones.
fn disk_with_file(seed: u64, name: &str, count: usize) -> (SimDisk, Arc<dyn DiskFile>) {
    let disk = SimDisk::new(seed);
    let file = disk.create(name).unwrap();
    write(&file, 0, count, 1);
    file.sync().unwrap();
    disk.sync_directory().unwrap();
    (disk, file)
}

/// The byte that fills each sector. Panics when a sector is not all of one byte: then it was torn.
fn sectors(disk: &SimDisk, name: &str) -> Vec<u8> {
    let bytes = disk.read_raw(name, 0, disk.file_len(name).unwrap() as usize);
    let uniform = |sector: &[u8]| {
        assert!(sector.iter().all(|&byte| byte == sector[0]), "a torn sector");
        sector[0]
    };
    bytes.chunks(SECTOR).map(uniform).collect()
}

#[test]
fn reads_see_the_newest_bytes() {
    let disk = SimDisk::new(1);
    let file = disk.create("a").unwrap();
    write(&file, 0, 2, 1);
    file.sync().unwrap();
    write(&file, 1, 1, 2);
    write(&file, 4, 1, 3); // leaves a hole
    assert_eq!(file.len().unwrap(), 5 * BLOCK);
    let mut read = AlignedBuffer::new(6 * IO_ALIGN);
    read.fill(9);
    assert_eq!(file.read_at(&mut read, 0).unwrap(), 5 * IO_ALIGN);
    for (block, byte) in [1, 2, 0, 0, 3, 9].into_iter().enumerate() {
        assert!(read[block * IO_ALIGN..(block + 1) * IO_ALIGN].iter().all(|&b| b == byte), "block {block}");
    }
    assert_eq!(disk.open("a").unwrap().read_at(&mut read, 5 * BLOCK).unwrap(), 0);
    let error = file.read_exact_at(&mut read, 0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
}

#[test]
fn misaligned_calls_are_refused() {
    let (_disk, file) = disk_with_file(1, "a", 2);
    let mut buffer = blocks(2, 0);
    for outcome in [
        file.read_at(&mut buffer[1..IO_ALIGN + 1], 0),
        file.read_at(&mut buffer[..SECTOR], 0),
        file.read_at(&mut buffer[..IO_ALIGN], 512),
        file.write_at(&buffer[1..IO_ALIGN + 1], 0),
        file.write_at(&buffer[..SECTOR], 0),
        file.write_at(&buffer[..IO_ALIGN], 512),
    ] {
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}

#[test]
fn what_was_synced_survives_and_what_was_not_is_old_or_new_by_sector() {
    let (mut all_old, mut all_new, mut torn, mut reordered, mut superseded) = (0, 0, 0, 0, 0);
    for seed in 0..1000 {
        let (disk, file) = disk_with_file(seed, "a", 8);
        write(&file, 2, 2, 2);
        write(&file, 4, 2, 3);
        write(&file, 4, 2, 4);
        disk.power_cycle(seed);

        let found = sectors(&disk, "a");
        assert_eq!(found.len(), 8 * 8, "seed {seed}");
        let (before, rest) = found.split_at(2 * 8);
        let (first, rest) = rest.split_at(2 * 8);
        let (second, after) = rest.split_at(2 * 8);
        assert!(before.iter().chain(after).all(|&byte| byte == 1), "seed {seed}: synced bytes have changed");
        assert!(first.iter().all(|byte| [1, 2].contains(byte)), "seed {seed}: {first:?}");
        assert!(second.iter().all(|byte| [1, 3, 4].contains(byte)), "seed {seed}: {second:?}");

        all_old += usize::from(found.iter().all(|&byte| byte == 1));
        all_new += usize::from(first.iter().all(|&byte| byte == 2) && second.iter().all(|&byte| byte == 4));
        torn += usize::from(first.contains(&1) && first.contains(&2));
        reordered += usize::from(first.iter().all(|&byte| byte == 1) && second.contains(&4));
        superseded += usize::from(second.contains(&3));
    }
    // Each outcome that a device may show must come often enough for a test to meet it.
    for (count, what) in [
        (all_old, "nothing survived"),
        (all_new, "everything survived"),
        (torn, "a write was torn"),
        (reordered, "a later write survived without an earlier one"),
        (superseded, "an older version of a sector survived a newer one"),
    ] {
        assert!(count >= 30, "{what}: {count} of 1000");
    }
}

#[test]
fn a_second_crash_takes_nothing_more() {
    for seed in 0..100 {
        let (disk, file) = disk_with_file(seed, "a", 4);
        write(&file, 0, 6, 2);
        disk.power_cycle(seed);
        let after_first = sectors(&disk, "a");
        disk.power_cycle(seed + 1);
        assert_eq!(sectors(&disk, "a"), after_first, "seed {seed}");
    }
}

#[test]
fn a_name_is_durable_only_after_a_sync_of_the_directory() {
    let (mut kept, mut lost) = (0, 0);
    for seed in 0..200 {
        let disk = SimDisk::new(seed);
        disk.create("durable").unwrap();
        disk.sync_directory().unwrap();
        let file = disk.create("pending").unwrap();
        write(&file, 0, 1, 1);
        file.sync().unwrap();
        disk.power_cycle(seed);
        disk.open("durable").expect("its name was synced");
        match disk.list().unwrap().contains(&"pending".to_owned()) {
            true => {
                kept += 1;
                assert_eq!(sectors(&disk, "pending"), [1; 8], "seed {seed}: its bytes were synced");
            }
            false => lost += 1,
        }
    }
    assert!(kept >= 20 && lost >= 20, "kept {kept}, lost {lost}");
}

#[test]
fn a_rename_is_atomic() {
    let (mut old, mut new) = (0, 0);
    for seed in 0..200 {
        let (disk, _) = disk_with_file(seed, "a", 1);
        let file = disk.create("a.new").unwrap();
        write(&file, 0, 1, 2);
        file.sync().unwrap();
        disk.rename("a.new", "a").unwrap();
        assert_eq!(disk.list().unwrap(), ["a"]);
        disk.power_cycle(seed);
        match sectors(&disk, "a")[..] {
            [1, ..] => old += 1,
            [2, ..] => {
                new += 1;
                assert_eq!(disk.list().unwrap(), ["a"], "seed {seed}");
            }
            _ => panic!("seed {seed}: neither the old file nor the new"),
        }
    }
    assert!(old >= 20 && new >= 20, "old {old}, new {new}");

    for seed in 0..200 {
        let (disk, _) = disk_with_file(seed, "a", 1);
        disk.rename("a", "b").unwrap();
        disk.sync_directory().unwrap();
        disk.power_cycle(seed);
        assert_eq!(disk.list().unwrap(), ["b"], "seed {seed}: a synced rename is durable");
    }
}

#[test]
fn a_length_is_durable_only_after_a_sync_of_the_file() {
    let (mut kept, mut lost) = (0, 0);
    for seed in 0..200 {
        let (disk, file) = disk_with_file(seed, "a", 1);
        file.allocate(1 << 30).unwrap();
        file.sync().unwrap();
        file.allocate(1 << 31).unwrap();
        disk.power_cycle(seed);
        match disk.file_len("a").unwrap() {
            len if len == 1 << 30 => lost += 1,
            len if len == 1 << 31 => kept += 1,
            len => panic!("seed {seed}: {len} bytes"),
        }
        assert_eq!(disk.read_raw("a", 0, IO_ALIGN), [1; IO_ALIGN]);
        assert_eq!(disk.read_raw("a", (1 << 30) - 100, 100), [0; 100]);
    }
    assert!(kept >= 20 && lost >= 20, "kept {kept}, lost {lost}");
}

#[test]
fn a_full_disk_refuses_growth_and_changes_nothing() {
    let (disk, file) = disk_with_file(1, "a", 2);
    disk.set_capacity(4 * BLOCK);
    file.allocate(3 * BLOCK).unwrap();
    for outcome in [file.allocate(5 * BLOCK), file.write_all_at(&blocks(2, 2), 3 * BLOCK)] {
        let error = outcome.unwrap_err();
        assert_eq!((error.kind(), error.raw_os_error()), (ErrorKind::StorageFull, Some(28)));
        assert_eq!(file.len().unwrap(), 3 * BLOCK);
    }
    write(&file, 2, 1, 2); // below the length, space is there
    file.allocate(4 * BLOCK).unwrap();
    let other = disk.create("b").unwrap();
    assert_eq!(other.allocate(BLOCK).unwrap_err().kind(), ErrorKind::StorageFull);
    disk.remove("a").unwrap();
    other.allocate(BLOCK).unwrap();
}

/// Nine operations, each of its own kind where there is one.
fn story(disk: &SimDisk) -> io::Result<()> {
    let file = disk.create("new")?;
    file.allocate(8 * BLOCK)?;
    file.write_all_at(&blocks(2, 1), 0)?;
    file.sync()?;
    disk.rename("new", "file")?;
    disk.sync_directory()?;
    file.write_all_at(&blocks(1, 2), BLOCK)?;
    disk.create("other")?;
    disk.remove("other")
}

#[test]
fn power_goes_at_the_operation_told() {
    let whole = SimDisk::new(1);
    story(&whole).unwrap();
    assert_eq!(whole.operations(), 9);
    assert!(!whole.is_off());
    for operations in 0..9 {
        let disk = SimDisk::new(operations);
        disk.power_off_after(operations);
        assert_eq!(story(&disk).unwrap_err().to_string(), "power is off");
        assert!(disk.is_off());
        assert_eq!(disk.operations(), operations + 1, "the one that was cut counts, and no other");

        let calls = Call::ALL.map(|call| disk.calls(call));
        let refused = [
            disk.lock().map(|_| ()),
            disk.open("file").map(|_| ()),
            disk.create("x").map(|_| ()),
            disk.rename("file", "x"),
            disk.remove("file"),
            disk.list().map(|_| ()),
            disk.sync_directory(),
        ];
        for outcome in refused {
            assert_eq!(outcome.unwrap_err().to_string(), "power is off");
        }
        assert_eq!(Call::ALL.map(|call| disk.calls(call)), calls);
        disk.power_cycle(operations);
        assert!(!disk.is_off());
        if operations >= 6 {
            assert_eq!(sectors(&disk, "file")[..8], [1; 8], "synced before operation 6");
        }
        disk.list().unwrap();
    }
    let disk = SimDisk::new(1);
    disk.power_off_after(9);
    story(&disk).expect("nine operations fit");
    assert!(!disk.is_off());
}

#[test]
fn files_opened_before_a_power_cycle_are_dead() {
    let (disk, file) = disk_with_file(1, "a", 1);
    disk.power_off();
    let mut buffer = blocks(1, 7);
    assert!(file.read_at(&mut buffer, 0).is_err());
    disk.power_cycle(1);
    for outcome in [
        file.read_at(&mut buffer, 0).map(|_| ()),
        file.write_at(&buffer, 0).map(|_| ()),
        file.sync(),
        file.len().map(|_| ()),
        file.allocate(1 << 20),
    ] {
        assert!(outcome.unwrap_err().to_string().contains("since this file was opened"));
    }
    disk.open("a").unwrap().read_exact_at(&mut buffer, 0).unwrap();
    assert!(buffer.iter().all(|&byte| byte == 1));
}

#[test]
fn the_operation_at_the_cut_may_be_carried_out() {
    let (mut none, mut all, mut part) = (0, 0, 0);
    for seed in 0..400 {
        let (disk, file) = disk_with_file(seed, "a", 4);
        disk.power_off_after(0);
        assert!(file.write_at(&blocks(4, 2), 0).is_err());
        disk.power_cycle(seed);
        let found = sectors(&disk, "a");
        match found.iter().filter(|&&byte| byte == 2).count() {
            0 => none += 1,
            count if count == found.len() => all += 1,
            _ => part += 1,
        }
    }
    assert!(none >= 20 && all >= 20 && part >= 20, "none {none}, all {all}, part {part}");
}

#[test]
fn faults_fire_exactly_as_told() {
    let (disk, file) = disk_with_file(1, "data-1", 1);
    let other = disk.create("log").unwrap();
    disk.inject(Fault::new(Call::Sync, Effect::DeviceError).on("data").nth(2));
    disk.inject(Fault::new(Call::Allocate, Effect::DiskFull).nth(3).forever());
    disk.inject(Fault::new(Call::Rename, Effect::Error(ErrorKind::PermissionDenied)).on("target"));

    let syncs: Vec<_> = (0..4).map(|_| (other.sync().is_ok(), file.sync().err())).collect();
    for (turn, (other_is_ok, error)) in syncs.into_iter().enumerate() {
        assert!(other_is_ok, "the rule is for names that start with `data`");
        assert_eq!(error.map(|error| error.raw_os_error()), (turn == 1).then_some(Some(5)), "sync {turn}");
    }
    let full: Vec<bool> = (1..6).map(|blocks| file.allocate(blocks * BLOCK).is_err()).collect();
    assert_eq!(full, [false, false, true, true, true]);
    assert_eq!(file.len().unwrap(), 2 * BLOCK);
    disk.rename("log", "elsewhere").unwrap();
    assert_eq!(disk.rename("elsewhere", "target").unwrap_err().kind(), ErrorKind::PermissionDenied);
    assert_eq!(disk.list().unwrap(), ["data-1", "elsewhere"]);
    disk.rename("elsewhere", "target").unwrap();

    disk.clear_faults();
    file.allocate(9 * BLOCK).unwrap();
}

#[test]
fn failing_each_call_in_turn_reaches_every_call_site() {
    let whole = SimDisk::new(1);
    story(&whole).unwrap();
    let mut failed = 0;
    for call in Call::ALL {
        for nth in 1..=whole.calls(call) {
            let disk = SimDisk::new(1);
            disk.inject(Fault::new(call, Effect::DeviceError).nth(nth));
            assert_eq!(story(&disk).unwrap_err().raw_os_error(), Some(5), "{call:?} {nth}");
            assert_eq!(disk.calls(call), nth, "the story stops at the call that fails");
            failed += 1;
        }
        let disk = SimDisk::new(1);
        disk.inject(Fault::new(call, Effect::DeviceError).nth(whole.calls(call) + 1));
        story(&disk).expect("a rule for a call that does not come");
    }
    assert_eq!(failed, 9);
}

#[test]
#[should_panic(expected = "Sync cannot end in FlipBit")]
fn impossible_faults_are_refused() {
    let _ = Fault::new(Call::Sync, Effect::FlipBit);
}

#[test]
fn a_failed_sync_may_lose_bytes_that_a_later_sync_does_not_save() {
    let (mut saved, mut lost) = (0, 0);
    for seed in 0..200 {
        let (disk, file) = disk_with_file(seed, "a", 1);
        write(&file, 0, 1, 2);
        disk.inject(Fault::new(Call::Sync, Effect::DeviceError));
        file.sync().unwrap_err();
        assert_eq!(sectors(&disk, "a"), [2; 8], "reads still see the new bytes");
        file.sync().unwrap();
        disk.power_cycle(seed);
        match sectors(&disk, "a") == [2; 8] {
            true => saved += 1,
            false => lost += 1,
        }
    }
    assert!(saved >= 20 && lost >= 20, "saved {saved}, lost {lost}");
}

#[test]
fn what_a_failed_sync_lost_is_seen_in_the_page_cache_alone() {
    let first_byte = |file: &Arc<dyn DiskFile>, block: u64| {
        let mut buffer = blocks(1, 0);
        file.read_exact_at(&mut buffer, block * IO_ALIGN as u64).unwrap();
        buffer[0]
    };
    let mut lost = 0;
    for seed in 0..100 {
        let (disk, file) = disk_with_file(seed, "a", 2);
        let cached = disk.open("a").unwrap();
        cached.use_page_cache().unwrap();
        let synced = first_byte(&file, 0);
        write(&cached, 0, 1, 9);
        assert_eq!((first_byte(&file, 0), first_byte(&cached, 0)), (9, 9), "dirty pages are written back first");
        disk.inject(Fault::new(Call::Sync, Effect::DeviceError));
        cached.sync().unwrap_err();
        assert_eq!(first_byte(&cached, 0), 9);
        let truth = first_byte(&disk.open("a").unwrap(), 0);
        assert!(truth == 9 || truth == synced);
        lost += u32::from(truth != 9);
        // What is written from here on is seen by both, and saved by a sync.
        write(&cached, 1, 1, 8);
        assert_eq!((first_byte(&file, 1), first_byte(&cached, 1)), (8, 8));
        cached.sync().unwrap();
        disk.power_cycle(seed);
        let file = disk.open("a").unwrap();
        assert_eq!((first_byte(&file, 0), first_byte(&file, 1)), (truth, 8), "the device's word was true");
    }
    assert!((10..90).contains(&lost), "lost {lost}");
}

#[test]
fn flipped_bits_pass_or_stay() {
    let (disk, file) = disk_with_file(1, "a", 1);
    let wrong_bits = |file: &Arc<dyn DiskFile>| -> u32 {
        let mut buffer = blocks(1, 0);
        file.read_exact_at(&mut buffer, 0).unwrap();
        buffer.iter().map(|&byte| (byte ^ 1).count_ones()).sum()
    };
    disk.inject(Fault::new(Call::Read, Effect::FlipBit));
    assert_eq!(wrong_bits(&file), 1);
    assert_eq!(wrong_bits(&file), 0, "only what was returned was wrong");

    disk.flip_bit("a", 17, 3);
    assert_eq!(disk.read_raw("a", 17, 1), [1 ^ 8]);
    assert_eq!(wrong_bits(&file), 1);
    file.sync().unwrap();
    disk.power_cycle(1);
    let file = disk.open("a").unwrap();
    assert_eq!(wrong_bits(&file), 1, "it is on the disk");

    // Also in versions that are still pending.
    write(&file, 0, 1, 1);
    disk.overwrite("a", 100, &[7, 7]);
    file.sync().unwrap();
    disk.power_cycle(1);
    assert_eq!(disk.read_raw("a", 99, 4), [1, 7, 7, 1]);
}

#[test]
fn short_transfers_are_whole_blocks_and_can_be_continued() {
    let (disk, file) = disk_with_file(1, "a", 8);
    disk.inject(Fault::new(Call::Read, Effect::Short));
    disk.inject(Fault::new(Call::Write, Effect::Short));
    let mut buffer = blocks(8, 5);
    let count = file.write_at(&buffer, 0).unwrap();
    assert!(count > 0 && count < buffer.len() && count.is_multiple_of(IO_ALIGN), "{count}");
    assert_eq!(sectors(&disk, "a").iter().filter(|&&byte| byte == 5).count() * SECTOR, count);
    let count = file.read_at(&mut buffer, 0).unwrap();
    assert!(count > 0 && count < buffer.len() && count.is_multiple_of(IO_ALIGN), "{count}");

    disk.inject(Fault::new(Call::Write, Effect::Short));
    let calls = disk.calls(Call::Write);
    file.write_all_at(&blocks(8, 6), 0).unwrap();
    assert_eq!(sectors(&disk, "a"), [6; 64]);
    assert_eq!(disk.calls(Call::Write), calls + 2);

    // A device that never gives the last block is an error, not an endless loop.
    disk.inject(Fault::new(Call::Read, Effect::Short).forever());
    assert_eq!(file.read_exact_at(&mut buffer, 0).unwrap_err().kind(), ErrorKind::UnexpectedEof);
}

/// Submits one request for each block, and returns the order in which they ended, and how.
fn run_batch(file: &Arc<dyn DiskFile>, operation: Operation, buffer: &mut AlignedBuffer) -> Vec<(u64, io::Result<()>)> {
    let ended = Arc::new(Mutex::new(Vec::new()));
    let batch = (0..buffer.len() as u64 / BLOCK).map(|number| {
        let start = number as usize * IO_ALIGN;
        // SAFETY: the simulated disk ends all requests before `submit` returns, and `buffer` is borrowed until then.
        let memory = unsafe { buffer.io_memory(start..start + IO_ALIGN) };
        let ended = Arc::clone(&ended);
        let done = Box::new(move |outcome| ended.lock().unwrap().push((number, outcome)));
        Request { operation, offset: number * BLOCK, memory, done, tell: None }
    });
    file.submit(batch.collect());
    std::mem::take(&mut ended.lock().unwrap())
}

#[test]
fn a_batch_moves_all_blocks_in_an_order_of_the_seed() {
    let order = |seed| {
        let disk = SimDisk::new(seed);
        let file = disk.create("a").unwrap();
        let mut buffer = AlignedBuffer::new(20 * IO_ALIGN);
        SeededRandom::new(seed).fill(&mut buffer);
        disk.inject(Fault::new(Call::Write, Effect::Short).nth(3));
        let written = run_batch(&file, Operation::Write, &mut buffer);
        assert_eq!(disk.read_raw("a", 0, 1 << 20).len(), 20 * IO_ALIGN);

        let mut read = AlignedBuffer::new(20 * IO_ALIGN);
        for (_, outcome) in run_batch(&file, Operation::Read, &mut read) {
            outcome.unwrap();
        }
        // The short write moved nothing of its one block, so that block, and only that, failed.
        let mut order = Vec::new();
        for (index, (number, outcome)) in written.into_iter().enumerate() {
            assert_eq!(outcome.is_err(), index == 2);
            let range = number as usize * IO_ALIGN..(number as usize + 1) * IO_ALIGN;
            assert_eq!(read[range.clone()] == buffer[range], index != 2, "block {number}");
            order.push(number);
        }
        order
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
    assert!(!order(1).is_sorted());
    let mut sorted = order(1);
    sorted.sort_unstable();
    assert_eq!(sorted, (0..20).collect::<Vec<_>>());
}

#[test]
fn power_can_go_in_the_middle_of_a_batch() {
    let (disk, file) = disk_with_file(1, "a", 10);
    disk.power_off_after(4);
    let outcomes = run_batch(&file, Operation::Write, &mut blocks(10, 2));
    let ended_well = outcomes.iter().filter(|(_, outcome)| outcome.is_ok()).count();
    assert_eq!((outcomes.len(), ended_well), (10, 4));
}

#[test]
fn completions_may_use_the_disk() {
    let (disk, file) = disk_with_file(1, "a", 2);
    let mut buffer = blocks(2, 3);
    let ended = Arc::new(Mutex::new(Vec::new()));
    // SAFETY: all requests end before `submit` returns, and `buffer` outlives it.
    let (first, second) = unsafe { (buffer.io_memory(0..IO_ALIGN), buffer.io_memory(IO_ALIGN..2 * IO_ALIGN)) };
    let (inner_file, inner_ended, inner_disk) = (Arc::clone(&file), Arc::clone(&ended), disk.clone());
    let done = Box::new(move |outcome: io::Result<()>| {
        outcome.unwrap();
        inner_file.sync().unwrap();
        inner_disk.create("b").unwrap();
        let done = Box::new(move |outcome: io::Result<()>| inner_ended.lock().unwrap().push(outcome.is_ok()));
        inner_file.submit(vec![Request {
            operation: Operation::Write,
            offset: BLOCK,
            memory: second,
            done,
            tell: None,
        }]);
    });
    file.submit(vec![Request { operation: Operation::Write, offset: 0, memory: first, done, tell: None }]);
    assert_eq!(*ended.lock().unwrap(), [true]);
    assert_eq!(sectors(&disk, "a"), [3; 16]);
}

#[test]
fn a_file_without_a_name_is_gone_when_the_power_was_off() {
    let disk = SimDisk::new(1);
    let file = disk.create_temporary().unwrap();
    write(&file, 0, 2, 7);
    file.sync().unwrap();
    disk.sync_directory().unwrap();
    assert_eq!((file.len().unwrap(), disk.list().unwrap()), (2 * BLOCK, vec![]));
    disk.inject(Fault::new(Call::Write, Effect::DiskFull).on(TEMPORARY_FILE));
    assert_eq!(file.write_at(&blocks(1, 1), 0).unwrap_err().kind(), ErrorKind::StorageFull);
    disk.power_cycle(1);
    file.len().unwrap_err();
    assert_eq!(disk.list().unwrap(), Vec::<String>::new());
}

/// Random calls; what is left after a crash at a random place.
fn random_story(seed: u64) -> Vec<(String, Vec<u8>)> {
    let disk = SimDisk::new(seed);
    let mut random = SeededRandom::new(seed);
    disk.power_off_after(random.range(20..60));
    disk.inject(Fault::new(Call::Write, Effect::DeviceError).nth(random.range(1..30)));
    let mut files: Vec<Arc<dyn DiskFile>> = Vec::new();
    while !disk.is_off() {
        match random.below(8) {
            0 => files.extend(disk.create(&format!("file-{}", files.len()))),
            1 => drop(disk.sync_directory()),
            _ if files.is_empty() => {}
            2 => drop(random.pick(&files).sync()),
            3 => drop(random.pick(&files).allocate(random.below(10) * BLOCK)),
            _ => {
                let mut buffer = AlignedBuffer::new(random.range(1..5) as usize * IO_ALIGN);
                random.fill(&mut buffer);
                let _ = random.pick(&files).write_all_at(&buffer, random.below(10) * BLOCK);
            }
        }
    }
    disk.power_cycle(seed);
    let read = |name: String| {
        let bytes = disk.read_raw(&name, 0, 1 << 20);
        (name, bytes)
    };
    disk.list().unwrap().into_iter().map(read).collect()
}

#[test]
fn a_seed_repeats_the_whole_story() {
    for seed in 0..50 {
        assert!(random_story(seed) == random_story(seed), "seed {seed}");
    }
    assert!(random_story(1) != random_story(2));
}

#[test]
fn one_store_at_a_time_holds_the_disk() {
    let disk = SimDisk::new(1);
    let old = disk.lock().unwrap();
    assert_eq!(disk.clone().lock().err().unwrap().kind(), ErrorKind::WouldBlock);
    disk.power_cycle(1);
    let new = disk.lock().expect("a power cycle frees the lock");
    drop(old);
    assert_eq!(disk.lock().err().expect("still held by `new`").kind(), ErrorKind::WouldBlock);
    drop(new);
    disk.lock().unwrap();
}

#[test]
fn names_that_are_missing_or_taken() {
    let (disk, _file) = disk_with_file(1, "a", 1);
    assert_eq!(disk.create("a").err().unwrap().kind(), ErrorKind::AlreadyExists);
    assert_eq!(disk.open("b").err().unwrap().kind(), ErrorKind::NotFound);
    assert_eq!(disk.rename("b", "c").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(disk.remove("b").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(disk.file_len("b"), None);
}

#[test]
fn a_fork_goes_its_own_way() {
    let (disk, file) = disk_with_file(1, "a", 1);
    write(&file, 0, 1, 2);
    let _lock = disk.lock().unwrap();
    let mut ends = Vec::new();
    for seed in 0..50 {
        let fork = disk.fork(seed);
        fork.power_cycle(seed);
        fork.lock().expect("a fork is not locked");
        ends.push(sectors(&fork, "a"));
        fork.open("a").unwrap().write_all_at(&blocks(1, 9), 0).unwrap();
    }
    assert_eq!(sectors(&disk, "a"), [2; 8], "the original has not changed");
    ends.sort();
    ends.dedup();
    assert!(ends.len() > 5, "one moment, {} ends", ends.len());
    file.sync().expect("the original still runs");
}

#[test]
fn truncation_from_outside_is_durable() {
    for seed in 0..50 {
        let (disk, file) = disk_with_file(seed, "a", 4);
        write(&file, 0, 4, 2);
        disk.truncate_file("a", BLOCK + 100);
        assert_eq!(file.len().unwrap(), BLOCK + 100);
        let mut buffer = blocks(3, 0);
        assert_eq!(file.read_exact_at(&mut buffer, 0).unwrap_err().kind(), ErrorKind::UnexpectedEof);
        let fork = disk.fork(seed);
        fork.power_cycle(seed);
        assert_eq!(fork.file_len("a"), Some(BLOCK + 100));

        // The bytes that were cut off do not come back with the length.
        file.allocate(2 * BLOCK).unwrap();
        file.sync().unwrap();
        disk.power_cycle(seed);
        assert_eq!(disk.file_len("a"), Some(2 * BLOCK));
        assert_eq!(disk.read_raw("a", BLOCK, 100), [2; 100], "seed {seed}");
        assert!(disk.read_raw("a", BLOCK + 100, IO_ALIGN).iter().all(|&byte| byte == 0), "seed {seed}");
    }
}

#[test]
fn removal_from_outside_is_durable() {
    for seed in 0..50 {
        let (disk, _) = disk_with_file(seed, "a", 1);
        disk.create("b").unwrap();
        disk.rename("b", "a").unwrap();
        disk.remove_file("a");
        disk.power_cycle(seed);
        assert_eq!(disk.list().unwrap(), Vec::<String>::new(), "seed {seed}: nor the one that it replaced");
    }
}
