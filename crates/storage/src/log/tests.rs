//! What waits for whom, in the log.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use parking_lot::Mutex;

use super::block::{BLOCK_LEN, block_start};
use super::buffer::LogBuffer;
use super::files::{FILL_LEN, LogFiles};
use super::{BLOCKS_PER_ALIGN, Log, Resume};
use crate::ids::Lsn;
use crate::io::{DiskFile, IO_ALIGN, Request};
use crate::options::{Background, StoreOptions};
use crate::store::Store;

/// Who finds somebody else syncing, and so gathers, has the log told.
#[test]
fn who_cannot_sync_itself_is_answered_when_those_who_gathered_are_flushed() {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions { background: Background::Inline, ..StoreOptions::default() };
    let store = Store::open(directory.path(), options).unwrap();
    let end = store.root_tree().put(b"key", b"value").unwrap();
    let log = &store.core().log;
    std::thread::scope(|scope| {
        let (held, is_held) = mpsc::channel();
        let (done, is_done) = mpsc::channel::<()>();
        let syncing = scope.spawn(move || {
            let _flushing = log.flusher.lock();
            held.send(()).unwrap();
            is_done.recv().unwrap();
        });
        is_held.recv().unwrap();
        assert!(!log.try_durable(end).unwrap());
        done.send(()).unwrap();
        syncing.join().unwrap();
    });
    let (answer, answered) = mpsc::channel();
    store.on_durable_gathered(end, move |outcome| drop(answer.send(outcome)));
    assert!(answered.try_recv().is_err());
    store.flush_gathered();
    answered.try_recv().unwrap().unwrap();
}

/// While there is other work a commit waits for others.
#[test]
fn who_has_gathered_only_now_waits_for_others_unless_the_caller_rests() {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions { background: Background::Inline, ..StoreOptions::default() };
    let store = Store::open(directory.path(), options).unwrap();
    let commit = || {
        let end = store.root_tree().put(b"key", b"value").unwrap();
        let (answer, answered) = mpsc::channel();
        store.on_durable_gathered(end, move |outcome| drop(answer.send(outcome)));
        (end, answered)
    };
    let gathering = &store.core().log.gathering;
    gathering.synced_in(Duration::from_secs(1));

    let ((end, first), (_, second)) = (commit(), commit());
    // As if the first came in an hour.
    gathering.add(end, gathering.all(), || Duration::from_secs(3600));
    store.flush_gathered_if_due();
    assert!(first.try_recv().is_err());
    store.flush_gathered();
    for answered in [first, second] {
        answered.try_recv().unwrap().unwrap();
    }

    gathering.synced_in(Duration::ZERO);
    let (_, third) = commit();
    store.flush_gathered_if_due();
    third.try_recv().unwrap().unwrap();
}

/// A file of zeroes that says when it is being synced, or a stretch of it filled, and goes on when it is told to.
struct SlowFile {
    slow: mpsc::Sender<Slow>,
    go_on: Mutex<mpsc::Receiver<()>>,
    is_filling: AtomicBool,
    /// A log's block was written while a stretch was being filled.
    is_disturbed: Arc<AtomicBool>,
}

#[derive(Debug, PartialEq)]
enum Slow {
    Fill,
    Sync,
}

impl SlowFile {
    fn wait(&self, at: Slow) -> io::Result<()> {
        self.slow.send(at).map_err(io::Error::other)?;
        self.go_on.lock().recv().map_err(io::Error::other)
    }
}

impl DiskFile for SlowFile {
    fn read_at(&self, buffer: &mut [u8], _: u64) -> io::Result<usize> {
        buffer.fill(0);
        Ok(buffer.len())
    }

    fn write_at(&self, buffer: &[u8], _: u64) -> io::Result<usize> {
        if buffer.len() as u64 == FILL_LEN {
            self.is_filling.store(true, Ordering::SeqCst);
            self.wait(Slow::Fill)?;
            self.is_filling.store(false, Ordering::SeqCst);
        } else if self.is_filling.load(Ordering::SeqCst) {
            self.is_disturbed.store(true, Ordering::SeqCst);
        }
        Ok(buffer.len())
    }

    fn sync(&self) -> io::Result<()> {
        self.wait(Slow::Sync)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(FILE_LEN)
    }

    fn allocate(&self, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn first_unwritten(&self, from: u64) -> io::Result<Option<u64>> {
        Ok((from < FILE_LEN).then_some(from))
    }

    fn submit(&self, _: Vec<Request>) {
        unreachable!("the log writes by itself")
    }
}

const FILE_LEN: u64 = 256 << 20;

/// A log over a file that is slow when it is told to go on only later.
struct SlowLog {
    log: Log,
    slow: mpsc::Receiver<Slow>,
    go_on: mpsc::Sender<()>,
    is_disturbed: Arc<AtomicBool>,
}

fn slow_log(start: Lsn) -> SlowLog {
    let ((tell, slow), (go_on, told)) = (mpsc::channel(), mpsc::channel());
    let is_disturbed = Arc::<AtomicBool>::default();
    let file = Arc::new(SlowFile {
        slow: tell,
        go_on: Mutex::new(told),
        is_filling: AtomicBool::new(false),
        is_disturbed: is_disturbed.clone(),
    });
    let files = LogFiles::over(vec![file], FILE_LEN);
    let resume = Resume { start, recovered: start, checkpoint: start, epoch: 2, inline: true };
    let buffer = LogBuffer::new(1 << 20, start);
    let log = Log::new(files, buffer, resume, Arc::default(), Arc::default()).unwrap();
    SlowLog { log, slow, go_on, is_disturbed }
}

/// A log that is written faster than its ring is filled leaves what is far ahead to be filled.
#[test]
fn a_ring_is_filled_on_ahead_of_a_log_that_has_caught_up() {
    const REACHED: u64 = 20 << 20;
    let SlowLog { log, slow: _slow, go_on, .. } = slow_log(block_start(REACHED / BLOCK_LEN as u64));
    let mut filled = 8 << 20;
    assert!(log.fill_ahead(&mut filled).unwrap().is_some());
    assert!(filled > REACHED + (1 << 20) && filled < FILE_LEN);
    let skipped_to = filled;
    (0..2).for_each(|_| go_on.send(()).unwrap());
    let ahead = log.fill_ahead(&mut filled).unwrap().unwrap();
    assert!(filled > skipped_to && ahead > skipped_to - REACHED - (1 << 20));
    // At the ring's end it is done.
    filled = FILE_LEN;
    assert_eq!(log.fill_ahead(&mut filled).unwrap(), None);
}

/// A new ring is filled for seconds, at the first start and after it: no commit is to wait for that.
#[test]
fn the_log_may_be_written_while_its_ring_is_filled_and_synced() {
    let SlowLog { log, slow, go_on, .. } = slow_log(block_start(1));
    let mut filled = 8 << 20;
    std::thread::scope(|scope| {
        let filling = scope.spawn(|| log.fill_ahead(&mut filled).unwrap());
        for at in [Slow::Fill, Slow::Sync] {
            assert_eq!(slow.recv().unwrap(), at);
            log.append(&[1; 100], |_| {});
            let wrote = log.step(false).unwrap();
            go_on.send(()).unwrap();
            assert!(wrote);
        }
        assert!(filling.join().unwrap().is_some());
    });
    assert!(filled > 8 << 20);
}

/// What is being filled is not the log's yet: the zeroes may reach the device after whatever is written there meanwhile.
#[test]
fn the_log_waits_for_zeroes_that_it_would_write_over() {
    let SlowLog { log, slow, go_on, is_disturbed } = slow_log(block_start(BLOCKS_PER_ALIGN));
    // The next unit that can be written at once.
    let mut filled = 2 * IO_ALIGN as u64;
    std::thread::scope(|scope| {
        let filling = scope.spawn(|| log.fill_ahead(&mut filled).unwrap());
        assert_eq!(slow.recv().unwrap(), Slow::Fill);
        log.append(&[1; 2 * IO_ALIGN], |_| {});
        let writing = scope.spawn(|| log.step(false).unwrap());
        // It would be done soon if it did not wait.
        for _ in 0..10_000 {
            std::thread::yield_now();
        }
        (0..2).for_each(|_| go_on.send(()).unwrap());
        assert!(writing.join().unwrap());
        assert!(filling.join().unwrap().is_some());
    });
    assert!(!is_disturbed.load(Ordering::SeqCst));
    // Nothing stands in the way of the next.
    log.append(&[1; 100], |_| {});
    assert!(log.step(false).unwrap());
}
