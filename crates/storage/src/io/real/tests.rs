//! The same checks for both engines, on a temporary directory.

use std::io::ErrorKind;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, mpsc};

use tempfile::TempDir;

use super::*;
use crate::io::{AlignedBuffer, IO_ALIGN, IoMemory};

/// The engines that this kernel offers. The thread pool is always there.
fn engines() -> Vec<BatchEngine> {
    let mut engines = vec![BatchEngine::ThreadPool];
    match RealDisk::new(std::env::temp_dir(), BatchEngine::Aio) {
        Ok(_) => engines.push(BatchEngine::Aio),
        Err(error) => eprintln!("asynchronous I/O is not tested: {error}"),
    }
    engines
}

/// Runs a check on a fresh disk of each engine.
fn with_each_engine(check: impl Fn(RealDisk, &TempDir)) {
    for engine in engines() {
        let directory = TempDir::new().expect("a temporary directory");
        check(RealDisk::new(directory.path(), engine).expect("a disk"), &directory);
    }
}

/// A block whose bytes tell which it is.
fn fill_block(block: &mut [u8], number: usize) {
    block.fill((number % 251) as u8 + 1);
    block[..8].copy_from_slice(&(number as u64).to_le_bytes());
}

/// Each block of a buffer as a place for I/O.
///
/// # Safety
/// As for [`AlignedBuffer::io_memory`], for the whole buffer.
unsafe fn blocks_of(buffer: &mut AlignedBuffer) -> Vec<IoMemory> {
    let starts = (0..buffer.len()).step_by(IO_ALIGN);
    // SAFETY: the caller's promise; the blocks do not overlap.
    starts.map(|start| unsafe { buffer.io_memory(start..start + IO_ALIGN) }).collect()
}

/// Numbers `0..count` in an order that is neither ascending nor descending.
fn scattered(count: usize) -> Vec<usize> {
    let step = 389; // a prime, so every number comes once unless it divides `count`
    assert!(!count.is_multiple_of(step));
    (0..count).map(|index| index * step % count).collect()
}

/// Submits what moves block `number` of the buffer to or from `number * IO_ALIGN`, for all `numbers`, as one batch of which that
/// eventfd is told; the outcomes come by the channel.
///
/// # Safety
/// The buffer is not touched until all completions have come in.
unsafe fn submit_batch(
    file: &Arc<dyn DiskFile>,
    operation: Operation,
    buffer: &mut AlignedBuffer,
    numbers: &[usize],
    told: Option<&OwnedFd>,
) -> mpsc::Receiver<(usize, io::Result<()>)> {
    // SAFETY: the caller's promise.
    let blocks = unsafe { blocks_of(buffer) };
    let (sender, outcomes) = mpsc::channel();
    let tell = told.map(AsRawFd::as_raw_fd);
    let batch = numbers.iter().map(|&number| {
        let sender = sender.clone();
        let done = Box::new(move |outcome| sender.send((number, outcome)).expect("the test waits"));
        Request { operation, offset: (number * IO_ALIGN) as u64, memory: blocks[number], done, tell }
    });
    file.submit(batch.collect());
    // (With the last sender gone a completion that is dropped uncalled ends the wait, and fails the count.)
    outcomes
}

/// As [`submit_batch`], and waits.
fn run_batch(
    file: &Arc<dyn DiskFile>,
    operation: Operation,
    buffer: &mut AlignedBuffer,
    numbers: &[usize],
    told: Option<&OwnedFd>,
) -> Vec<(usize, io::Result<()>)> {
    // SAFETY: `buffer` is borrowed until all completions have come in, below.
    let outcomes: Vec<_> = unsafe { submit_batch(file, operation, buffer, numbers, told) }.iter().collect();
    assert_eq!(outcomes.len(), numbers.len(), "each completion is called once");
    outcomes
}

#[test]
fn a_batch_larger_than_what_may_be_in_flight_arrives_whole_and_in_place() {
    with_each_engine(|disk, _| {
        let count = 1000;
        let file = disk.create("pages").unwrap();
        let mut written = AlignedBuffer::new(count * IO_ALIGN);
        for (number, block) in written.chunks_mut(IO_ALIGN).enumerate() {
            fill_block(block, number);
        }
        for (number, outcome) in run_batch(&file, Operation::Write, &mut written, &scattered(count), None) {
            outcome.unwrap_or_else(|error| panic!("block {number}: {error}"));
        }
        assert_eq!(file.len().unwrap(), (count * IO_ALIGN) as u64);
        file.sync().unwrap();

        let mut single = AlignedBuffer::new(count * IO_ALIGN);
        file.read_exact_at(&mut single, 0).unwrap();
        assert!(single[..] == written[..], "single reads see what the batch wrote");
        let mut batched = AlignedBuffer::new(count * IO_ALIGN);
        for (number, outcome) in run_batch(&file, Operation::Read, &mut batched, &scattered(count), None) {
            outcome.unwrap_or_else(|error| panic!("block {number}: {error}"));
        }
        assert!(batched[..] == written[..], "batched reads see what the batch wrote");
    });
}

#[test]
fn long_requests_move_all_their_bytes() {
    with_each_engine(|disk, _| {
        let file = disk.create("log").unwrap();
        let mut buffer = AlignedBuffer::new(8 << 20);
        for (number, block) in buffer.chunks_mut(IO_ALIGN).enumerate() {
            fill_block(block, number);
        }
        for operation in [Operation::Write, Operation::Read] {
            let (sender, outcome) = mpsc::channel();
            // SAFETY: `buffer` is not touched until the completion has come in.
            let memory = unsafe { buffer.io_memory(0..8 << 20) };
            let done = Box::new(move |outcome| sender.send(outcome).expect("the test waits"));
            file.submit(vec![Request { operation, offset: 0, memory, done, tell: None }]);
            outcome.recv().expect("the completion is called").unwrap();
            for (number, block) in buffer.chunks_mut(IO_ALIGN).enumerate() {
                let mut expected = [0; IO_ALIGN];
                fill_block(&mut expected, number);
                assert!(*block == expected, "block {number} after {operation:?}");
                if operation == Operation::Write {
                    block.fill(0);
                }
            }
        }
    });
}

#[test]
fn reading_past_the_end_is_an_error_for_that_request_alone() {
    with_each_engine(|disk, directory| {
        let file = disk.create("short").unwrap();
        let mut buffer = AlignedBuffer::new(4 * IO_ALIGN);
        buffer.fill(3);
        file.write_all_at(&buffer[..3 * IO_ALIGN], 0).unwrap();
        // Ends in the middle of block 2, as a file that was damaged might.
        let outside = File::options().write(true).open(directory.path().join("short")).unwrap();
        outside.set_len(2 * IO_ALIGN as u64 + 100).unwrap();

        for (number, outcome) in run_batch(&file, Operation::Read, &mut buffer, &[3, 0, 2, 1], None) {
            match number {
                0 | 1 => outcome.unwrap(),
                _ => {
                    let error = outcome.expect_err("the file ends before or in this block");
                    assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{error}");
                    assert!(error.to_string().starts_with("short: "), "{error}");
                }
            }
        }
        assert_eq!(file.read_at(&mut buffer, 0).unwrap(), 2 * IO_ALIGN + 100);
        assert_eq!(file.read_at(&mut buffer, 4 * IO_ALIGN as u64).unwrap(), 0);
        let error = file.read_exact_at(&mut buffer, 0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{error}");
    });
}

#[test]
fn misaligned_transfers_are_refused() {
    with_each_engine(|disk, _| {
        let file = disk.create("pages").unwrap();
        let mut buffer = AlignedBuffer::new(4 * IO_ALIGN);
        file.write_all_at(&buffer, 0).unwrap();
        let refused = |outcome: io::Result<usize>| {
            let error = outcome.expect_err("misaligned");
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
        };
        refused(file.read_at(&mut buffer[1..IO_ALIGN + 1], 0));
        refused(file.read_at(&mut buffer[..512], 0));
        refused(file.read_at(&mut buffer[..IO_ALIGN], 512));
        refused(file.write_at(&buffer[1..IO_ALIGN + 1], 0));
        refused(file.write_at(&buffer[..512], 0));
        refused(file.write_at(&buffer[..IO_ALIGN], 512));
        assert_eq!(file.read_at(&mut [], 0).unwrap(), 0);
        assert_eq!(file.write_at(&[], 0).unwrap(), 0);

        // SAFETY: `buffer` is not touched until both completions have come in.
        let blocks = unsafe { blocks_of(&mut buffer) };
        for operation in [Operation::Read, Operation::Write] {
            let (sender, outcome) = mpsc::channel();
            let done = Box::new(move |outcome| sender.send(outcome).expect("the test waits"));
            file.submit(vec![Request { operation, offset: 512, memory: blocks[0], done, tell: None }]);
            refused(outcome.recv().expect("the completion is called").map(|()| 0));
        }
    });
}

/// Writes block `next`, and from its completion the one after it, until all are written.
fn write_chain(file: Arc<dyn DiskFile>, blocks: Vec<IoMemory>, next: usize, sender: mpsc::Sender<usize>) {
    let again = Arc::clone(&file);
    let memory = blocks[next];
    let done = Box::new(move |outcome: io::Result<()>| {
        outcome.expect("a write to a healthy disk");
        if next + 1 < blocks.len() {
            write_chain(again, blocks, next + 1, sender);
        } else {
            sender.send(next + 1).expect("the test waits");
        }
    });
    let request = Request { operation: Operation::Write, offset: (next * IO_ALIGN) as u64, memory, done, tell: None };
    file.submit(vec![request]);
}

#[test]
fn completions_may_submit() {
    with_each_engine(|disk, _| {
        // More chains than the ring has slots, so that completions submit while it is full.
        let (chains, links) = (300, 4);
        let file = disk.create("pages").unwrap();
        let mut buffer = AlignedBuffer::new(links * IO_ALIGN);
        for (number, block) in buffer.chunks_mut(IO_ALIGN).enumerate() {
            fill_block(block, number);
        }
        // SAFETY: `buffer` stays, unchanged, until all chains have reported; writes share it by reading only.
        let blocks = unsafe { blocks_of(&mut buffer) };
        let (sender, reports) = mpsc::channel();
        for _ in 0..chains {
            write_chain(Arc::clone(&file), blocks.clone(), 0, sender.clone());
        }
        drop(sender);
        assert_eq!(reports.iter().sum::<usize>(), chains * links);
        let mut read = AlignedBuffer::new(links * IO_ALIGN);
        file.read_exact_at(&mut read, 0).unwrap();
        assert!(read[..] == buffer[..]);
    });
}

#[test]
fn many_threads_share_one_engine() {
    with_each_engine(|disk, _| {
        let (threads, rounds, count) = (4, 20, 40);
        let start = Barrier::new(threads);
        thread::scope(|scope| {
            for index in 0..threads {
                let file = disk.create(&format!("file-{index}")).unwrap();
                let start = &start;
                scope.spawn(move || {
                    let mut buffer = AlignedBuffer::new(count * IO_ALIGN);
                    start.wait();
                    for round in 0..rounds {
                        for (number, block) in buffer.chunks_mut(IO_ALIGN).enumerate() {
                            fill_block(block, index * 1000 + round * 100 + number);
                        }
                        let order = scattered(count);
                        for (_, outcome) in run_batch(&file, Operation::Write, &mut buffer, &order, None) {
                            outcome.unwrap();
                        }
                        let mut read = AlignedBuffer::new(count * IO_ALIGN);
                        for (_, outcome) in run_batch(&file, Operation::Read, &mut read, &order, None) {
                            outcome.unwrap();
                        }
                        assert!(read[..] == buffer[..], "thread {index}, round {round}");
                    }
                });
            }
        });
    });
}

/// A file of so many blocks, and room to read them.
fn filled(disk: &RealDisk, count: usize) -> (Arc<dyn DiskFile>, AlignedBuffer) {
    let file = disk.create("pages").unwrap();
    let mut written = AlignedBuffer::new(count * IO_ALIGN);
    written.chunks_mut(IO_ALIGN).enumerate().for_each(|(number, block)| fill_block(block, number));
    file.write_all_at(&written, 0).unwrap();
    (file, AlignedBuffer::new(count * IO_ALIGN))
}

fn are_filled(buffer: &AlignedBuffer) -> bool {
    let mut expected = [0; IO_ALIGN];
    buffer.chunks(IO_ALIGN).enumerate().all(|(number, block)| {
        fill_block(&mut expected, number);
        *block == expected
    })
}

fn eventfd() -> OwnedFd {
    rustix::event::eventfd(0, rustix::event::EventfdFlags::empty()).unwrap()
}

#[test]
fn who_is_told_is_rung_for_and_may_end_it() {
    with_each_engine(|disk, _| {
        let (file, mut buffer) = filled(&disk, 1);
        let told = eventfd();
        for _ in 0..100 {
            buffer.fill(0);
            // SAFETY: `buffer` is not touched until the completion has come in.
            let outcomes = unsafe { submit_batch(&file, Operation::Read, &mut buffer, &[0], Some(&told)) };
            if file.is_asynchronous() {
                let mut count = [0; 8];
                rustix::io::read(&told, &mut count).expect("it rings");
                assert_eq!(u64::from_ne_bytes(count), 1);
            }
            file.reap();
            outcomes.recv().expect("the completion is called").1.unwrap();
            assert!(are_filled(&buffer));
        }
    });
}

#[test]
fn what_nobody_ends_who_was_told_is_ended() {
    with_each_engine(|disk, _| {
        let (file, mut buffer) = filled(&disk, 600);
        let (told, numbers) = (eventfd(), scattered(600));
        for _ in 0..2 {
            buffer.fill(0);
            let outcomes = run_batch(&file, Operation::Read, &mut buffer, &numbers, Some(&told));
            assert!(outcomes.iter().all(|(_, outcome)| outcome.is_ok()));
            assert!(are_filled(&buffer));
        }
        buffer.fill(0);
        // SAFETY: `buffer` is not touched until the drop has waited for all completions.
        let outcomes = unsafe { submit_batch(&file, Operation::Read, &mut buffer, &numbers, Some(&told)) };
        drop((disk, file));
        assert_eq!(outcomes.try_iter().filter(|(_, outcome)| outcome.is_ok()).count(), 600);
        assert!(are_filled(&buffer));
    });
}

/// The page cache has none of it, so a read that must not wait is refused at first.
#[test]
fn what_would_have_to_wait_is_read_all_the_same() {
    with_each_engine(|disk, _| {
        let (file, mut buffer) = filled(&disk, 300);
        file.use_page_cache().unwrap();
        let told = eventfd();
        // SAFETY: `buffer` is not touched until all completions have come in.
        let outcomes = unsafe { submit_batch(&file, Operation::Read, &mut buffer, &scattered(300), Some(&told)) };
        file.reap();
        assert_eq!(outcomes.iter().filter(|(_, outcome)| outcome.is_ok()).count(), 300);
        assert!(are_filled(&buffer));
    });
}

#[test]
fn what_was_told_of_and_fails_is_an_error_for_that_request_alone() {
    with_each_engine(|disk, _| {
        let (file, _) = filled(&disk, 2);
        let mut buffer = AlignedBuffer::new(3 * IO_ALIGN);
        let outcomes = run_batch(&file, Operation::Read, &mut buffer, &[0, 1, 2], Some(&eventfd()));
        assert_eq!(outcomes.iter().filter(|(_, outcome)| outcome.is_ok()).count(), 2);
        let error = outcomes.into_iter().find_map(|(_, outcome)| outcome.err()).expect("the third is beyond the end");
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{error}");
    });
}

#[test]
fn dropping_the_last_handle_waits_for_what_is_under_way() {
    with_each_engine(|disk, _| {
        let count = 700;
        let file = disk.create("pages").unwrap();
        let mut buffer = AlignedBuffer::new(count * IO_ALIGN);
        // SAFETY: `buffer` stays until the drop below has waited for all completions.
        let blocks = unsafe { blocks_of(&mut buffer) };
        let ended = Arc::new(AtomicUsize::new(0));
        let batch = blocks.iter().enumerate().map(|(number, &memory)| {
            let ended = Arc::clone(&ended);
            let done = Box::new(move |outcome: io::Result<()>| {
                outcome.expect("a write to a healthy disk");
                ended.fetch_add(1, Ordering::Relaxed); // the join in `drop` publishes it
            });
            Request { operation: Operation::Write, offset: (number * IO_ALIGN) as u64, memory, done, tell: None }
        });
        file.submit(batch.collect());
        drop(disk);
        drop(file);
        assert_eq!(ended.load(Ordering::Relaxed), count);
    });
}

/// Again and again, because once upon a time an engine that was dropped before its thread had first slept broke its pipe.
#[test]
fn an_engine_may_be_dropped_at_once() {
    let directory = TempDir::new().unwrap();
    for engine in engines() {
        for _ in 0..50 {
            let disk = RealDisk::new(directory.path(), engine).unwrap();
            drop(disk);
        }
    }
}

#[test]
fn a_completion_may_drop_the_last_handle() {
    with_each_engine(|disk, _| {
        let file = disk.create("pages").unwrap();
        drop(disk);
        let mut buffer = AlignedBuffer::new(IO_ALIGN);
        // SAFETY: `buffer` is not touched until the completion has come in.
        let memory = unsafe { buffer.io_memory(0..IO_ALIGN) };
        let (sender, outcome) = mpsc::channel();
        let (hand_over, handle) = mpsc::channel::<Arc<dyn DiskFile>>();
        let done = Box::new(move |result: io::Result<()>| {
            drop(handle.recv().expect("the test hands over the last handle"));
            sender.send(result).expect("the test waits");
        });
        file.submit(vec![Request { operation: Operation::Write, offset: 0, memory, done, tell: None }]);
        hand_over.send(file).expect("the completion waits");
        outcome.recv().expect("dropping the engine on its own thread comes back").unwrap();
    });
}

#[test]
fn one_store_at_a_time_holds_the_directory() {
    let directory = TempDir::new().unwrap();
    let first = RealDisk::new(directory.path(), BatchEngine::ThreadPool).unwrap();
    let second = RealDisk::new(directory.path(), BatchEngine::ThreadPool).unwrap();
    let held = first.lock().unwrap();
    for other in [&first, &second] {
        let error = other.lock().err().expect("the directory is taken");
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        let text = error.to_string();
        assert!(text.contains(&format!("in use by process {}", std::process::id())), "{text}");
        assert!(text.contains(&first.describe()), "{text}");
    }
    drop(held);
    drop(second.lock().expect("the lock is free again"));
}

#[test]
fn names_lead_to_files() {
    with_each_engine(|disk, directory| {
        let _lock = disk.lock().unwrap();
        std::fs::create_dir(directory.path().join("subdirectory")).unwrap();
        assert_eq!(disk.list().unwrap(), Vec::<String>::new());
        for name in ["b", "a", "c"] {
            let file = disk.create(name).unwrap();
            let mut block = AlignedBuffer::new(IO_ALIGN);
            block.fill(name.as_bytes()[0]);
            file.write_all_at(&block, 0).unwrap();
        }
        assert_eq!(disk.list().unwrap(), ["a", "b", "c"]);
        assert_eq!(disk.create("a").err().unwrap().kind(), ErrorKind::AlreadyExists);

        disk.rename("a", "c").unwrap();
        disk.remove("b").unwrap();
        disk.sync_directory().unwrap();
        assert_eq!(disk.list().unwrap(), ["c"]);
        let mut block = AlignedBuffer::new(IO_ALIGN);
        disk.open("c").unwrap().read_exact_at(&mut block, 0).unwrap();
        assert!(block.iter().all(|&byte| byte == b'a'));

        for outcome in [disk.open("a").map(|_| ()), disk.rename("a", "b"), disk.remove("a")] {
            let error = outcome.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound);
            assert!(error.to_string().starts_with("a: "), "{error}");
        }
        for name in ["", ".", "..", "x/y", "../x", "meseta.lock", "x\0"] {
            assert_eq!(disk.create(name).err().unwrap().kind(), ErrorKind::InvalidInput, "{name:?}");
            assert_eq!(disk.remove(name).unwrap_err().kind(), ErrorKind::InvalidInput, "{name:?}");
        }
    });
}

#[test]
fn a_temporary_file_has_no_name_whatever_the_file_system_knows() {
    let directory = TempDir::new().unwrap();
    let opened = directory::open_or_create(directory.path()).unwrap();
    let descriptor_of = || directory::create_and_unlink(&opened).unwrap();
    let files = [descriptor_of(), descriptor_of()];
    // What a crash between the two steps has left, under the next name.
    for number in 0..64 {
        std::fs::write(directory.path().join(format!("{}.{number}", directory::TEMPORARY_NAME)), "left").unwrap();
    }
    let third = descriptor_of();
    assert_eq!(third.metadata().unwrap().len(), 0);
    std::os::unix::fs::FileExt::write_all_at(&files[0], b"one", 0).unwrap();
    assert_eq!(files[1].metadata().unwrap().len(), 0, "it is another file");
    assert!(
        std::fs::read_dir(directory.path()).unwrap().count() < 64,
        "what was left under a name that is used is gone"
    );

    let disk = RealDisk::new(directory.path().join("disk"), BatchEngine::ThreadPool).unwrap();
    let file = disk.create_temporary().unwrap();
    file.write_all_at(&AlignedBuffer::new(IO_ALIGN), 0).unwrap();
    assert_eq!((file.len().unwrap(), disk.list().unwrap().len()), (IO_ALIGN as u64, 0));
}

#[test]
fn a_missing_directory_is_created() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("one/two");
    let disk = RealDisk::new(&path, BatchEngine::ThreadPool).unwrap();
    disk.create("file").unwrap();
    assert!(path.join("file").is_file());

    let error = RealDisk::new(path.join("file"), BatchEngine::ThreadPool).err().expect("a file is no directory");
    assert!(error.to_string().contains("one/two/file"), "{error}");
}

#[test]
fn the_engine_is_the_one_asked_for() {
    let directory = TempDir::new().unwrap();
    let is_asynchronous = |engine| RealDisk::new(directory.path(), engine).map(|disk| disk.engine.is_asynchronous());
    assert!(!is_asynchronous(BatchEngine::ThreadPool).unwrap());
    match is_asynchronous(BatchEngine::Aio) {
        Ok(is) => assert!(is && is_asynchronous(BatchEngine::Auto).unwrap()),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(!is_asynchronous(BatchEngine::Auto).unwrap());
        }
    }
}

#[test]
fn what_was_written_is_never_said_to_be_unwritten() {
    with_each_engine(|disk, _| {
        let file = disk.create("space").unwrap();
        file.allocate(1 << 20).unwrap();
        let block = AlignedBuffer::new(IO_ALIGN);
        let mut at = 0;
        // (A file system that does not tell has none from the beginning.)
        while let Some(unwritten) = file.first_unwritten(at).unwrap() {
            assert!(unwritten >= at && unwritten < 1 << 20);
            file.write_all_at(&block, unwritten).unwrap();
            at = unwritten + IO_ALIGN as u64;
            assert_ne!(file.first_unwritten(unwritten).unwrap(), Some(unwritten));
        }
        assert_eq!(file.first_unwritten(0).unwrap(), None);
        assert_eq!(file.first_unwritten(2 << 20).unwrap(), None);
    });
}

#[test]
fn allocated_space_is_zero_and_never_shrinks() {
    with_each_engine(|disk, _| {
        let file = disk.create("space").unwrap();
        let mut block = AlignedBuffer::new(IO_ALIGN);
        block.fill(1);
        file.write_all_at(&block, 0).unwrap();
        file.allocate(1 << 20).unwrap();
        assert_eq!(file.len().unwrap(), 1 << 20);
        file.allocate(IO_ALIGN as u64).unwrap();
        assert_eq!(file.len().unwrap(), 1 << 20);
        let mut read = AlignedBuffer::new(1 << 20);
        file.read_exact_at(&mut read, 0).unwrap();
        assert!(read[..IO_ALIGN] == block[..]);
        assert!(read[IO_ALIGN..].iter().all(|&byte| byte == 0));
    });
}

#[test]
fn writing_zeros_keeps_what_is_there() {
    let directory = TempDir::new().unwrap();
    let disk = RealDisk::new(directory.path(), BatchEngine::ThreadPool).unwrap();
    let file = directory::create_file(&disk.directory, "space").unwrap();
    let mut block = AlignedBuffer::new(IO_ALIGN);
    block.fill(1);
    assert_eq!(file.write_at(&block, 0).unwrap(), IO_ALIGN);
    let outside = File::options().write(true).open(directory.path().join("space")).unwrap();
    outside.set_len(100).unwrap();

    file.write_zeros(100, 200).unwrap();
    assert_eq!(file.len().unwrap(), IO_ALIGN as u64, "the block that is there becomes part of the file");
    outside.set_len(100).unwrap();
    let len = 3 * (1 << 20) + 1;
    file.write_zeros(100, len).unwrap();
    let end = len.next_multiple_of(IO_ALIGN as u64);
    assert_eq!(file.len().unwrap(), end);
    let mut read = AlignedBuffer::new(end as usize);
    file.read_rest(&mut read, 0, 0).unwrap();
    assert!(read[..100].iter().all(|&byte| byte == 1));
    assert!(read[100..].iter().all(|&byte| byte == 0));
}

/// Only on tmpfs, which refuses what exceeds it without trying: elsewhere this would fill up somebody's disk.
#[test]
fn a_full_device_is_reported_and_nothing_changes() {
    const TMPFS_MAGIC: i128 = 0x0102_1994;
    let tmpfs = rustix::fs::statfs("/dev/shm").is_ok_and(|stat| stat.f_type as i128 == TMPFS_MAGIC);
    let Some(directory) = tmpfs.then(|| TempDir::new_in("/dev/shm").ok()).flatten() else {
        return eprintln!("not tested: /dev/shm is no tmpfs that we may write to");
    };
    let disk = RealDisk::new(directory.path(), BatchEngine::Auto).unwrap();
    let file = disk.create("space").unwrap();
    file.allocate(IO_ALIGN as u64).unwrap();
    let error = file.allocate(1 << 50).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
    assert!(error.to_string().starts_with("space: "), "{error}");
    assert_eq!(file.len().unwrap(), IO_ALIGN as u64);
}
