//! The latch, the log buffer and the dirty word under every interleaving that loom can find, with every value that
//! the memory model lets a relaxed load return.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p meseta-storage --release --test loom
//! ```
//!
//! Threads are preempted at most [`PREEMPTIONS`] times an execution, or `LOOM_MAX_PREEMPTIONS` times. Where a page's
//! bytes are read while they may change, they are relaxed atomics here too; where a latch has to keep others out
//! altogether, they are loom cells, which report any access that is not ordered.
//!
//! What loom cannot show: a store never overtakes a load that precedes it (no load buffering), and stores to one word
//! take effect in the order in which they were carried out.
//!
//! Each model was tried on a broken engine: without a fence, with a weaker order, without the new version, without the
//! wake-up, without the zeroes, and so on, forty-odd in all. What no model notices is what costs nothing but a little
//! time, or what another fence makes up for (that of `load_to_exclusive`, since `try_begin_load` has one).
#![cfg(loom)]

use std::collections::BTreeMap;

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use meseta_storage::Lsn;
use meseta_storage::buffer::Frame;
use meseta_storage::latch::{Blocked, Latch};
use meseta_storage::log::buffer::{LogBuffer, body_len, header_word};
use meseta_storage::page::sectors::Sectors;

/// Enough for every known mistake in these protocols; each step more costs about ten times the time.
const PREEMPTIONS: usize = 3;

/// What one thread does.
type Step<T> = std::sync::Arc<dyn Fn(&T) + Send + Sync>;

fn step<T>(does: impl Fn(&T) + Send + Sync + 'static) -> Step<T> {
    std::sync::Arc::new(does)
}

/// Runs the steps at the same time, each on a thread of its own, on what `make` makes; then `after`, alone.
///
/// Each step is the main thread's once. That is not for symmetry's sake: loom remembers only the last access to an
/// atomic, and so does not always see that a thread's write, preceded by a read of its own, could have come before
/// another thread's read. Begun in another order, it sees it.
fn check<T: Send + Sync + 'static>(
    make: impl Fn() -> T + Clone + Send + Sync + 'static,
    mut steps: Vec<Step<T>>,
    after: impl Fn(&T) + Clone + Send + Sync + 'static,
) {
    for _ in 0..steps.len() {
        steps.rotate_left(1);
        let (make, steps, after) = (make.clone(), steps.clone(), after.clone());
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound.get_or_insert(PREEMPTIONS);
        builder.max_branches = 20_000;
        builder.check(move || {
            let subject = Arc::new(make());
            let (last, others) = steps.split_last().expect("at least one step");
            let threads: Vec<_> = others
                .iter()
                .map(|step| {
                    let (step, subject) = (std::sync::Arc::clone(step), Arc::clone(&subject));
                    thread::spawn(move || step(&subject))
                })
                .collect();
            last(&subject);
            for thread in threads {
                thread.join().unwrap();
            }
            after(&subject);
        });
    }
}

fn nothing<T>(_: &T) {}

// ---- the latch ------------------------------------------------------------------------------------------------------

/// A page of two words that are always equal while nobody changes them.
struct Page {
    latch: Latch,
    words: [AtomicU64; 2],
}

impl Page {
    /// A page in memory, full of `value`.
    fn loaded(value: u64) -> Self {
        let page = Self::evicted();
        assert!(page.latch.try_begin_load());
        page.fill(value);
        page.latch.finish_load();
        page
    }

    fn evicted() -> Self {
        Self { latch: Latch::new(), words: [AtomicU64::new(0), AtomicU64::new(0)] }
    }

    fn fill(&self, value: u64) {
        for word in &self.words {
            word.store(value, Ordering::Relaxed);
        }
    }

    /// One optimistic read; `None` if it has to be repeated.
    fn read(&self) -> Option<u64> {
        let version = self.latch.optimistic().ok()?;
        let [first, second] = self.words.each_ref().map(|word| word.load(Ordering::Relaxed));
        if !self.latch.is_unchanged(version) {
            return None;
        }
        assert_eq!(first, second, "a torn page was taken for a whole one");
        Some(first)
    }

    fn write(&self, value: u64) {
        exclusive(&self.latch);
        self.fill(value);
        self.latch.unlock_exclusive();
    }

    /// What the eviction clock does with a page that nobody touches.
    fn evict(&self) {
        if self.latch.mark() && self.latch.is_marked() && self.latch.try_evict() {
            self.latch.finish_evict();
        }
    }
}

fn exclusive(latch: &Latch) {
    while latch.try_exclusive(None).is_err() {
        latch.wait(true);
    }
}

fn shared(latch: &Latch) {
    while latch.try_shared().is_err() {
        latch.wait(false);
    }
}

#[test]
fn a_reader_that_finds_the_version_unchanged_saw_one_page() {
    let write_twice = step(|page: &Page| {
        page.write(2);
        page.write(3);
    });
    check(|| Page::loaded(1), vec![write_twice, step(|page: &Page| _ = page.read())], nothing);
}

#[test]
fn two_writers_and_a_reader_see_each_other_s_pages_whole() {
    let steps =
        vec![step(|page: &Page| page.write(2)), step(|page: &Page| page.write(3)), step(|page: &Page| _ = page.read())];
    check(|| Page::loaded(1), steps, |page| assert!(matches!(page.read(), Some(2 | 3))));
}

#[test]
fn readers_do_not_go_back_in_time() {
    let read_twice = step(|page: &Page| {
        if page.read() == Some(2) {
            assert_ne!(page.read(), Some(1));
        }
    });
    check(|| Page::loaded(1), vec![step(|page: &Page| page.write(2)), read_twice], nothing);
}

#[test]
fn an_exclusive_latch_taken_by_version_loses_no_change() {
    fn add_one(page: &Page) {
        loop {
            let Ok(version) = page.latch.optimistic() else {
                page.latch.wait(false);
                continue;
            };
            let value = page.words[0].load(Ordering::Relaxed);
            if page.latch.try_exclusive(Some(version)).is_ok() {
                page.fill(value + 1);
                page.latch.unlock_exclusive();
                return;
            }
            page.latch.wait(true);
        }
    }
    check(|| Page::loaded(1), vec![step(add_one), step(add_one)], |page| assert_eq!(page.read(), Some(3)));
}

/// A page that only those who hold the latch may look at: loom reports whoever else does.
struct Guarded {
    latch: Latch,
    value: UnsafeCell<u64>,
}

// SAFETY: the value is reached only through the latch, and loom checks that this is true.
unsafe impl Send for Guarded {}
// SAFETY: as above.
unsafe impl Sync for Guarded {}

impl Guarded {
    fn loaded() -> Self {
        let page = Self::evicted();
        assert!(page.latch.try_begin_load());
        page.latch.finish_load();
        page
    }

    fn evicted() -> Self {
        Self { latch: Latch::new(), value: UnsafeCell::new(0) }
    }

    fn add_one(&self) {
        exclusive(&self.latch);
        self.change();
        self.latch.unlock_exclusive();
    }

    /// On entry: the latch is held exclusively.
    fn change(&self) {
        // SAFETY: the latch is exclusive; loom's cell panics if that does not suffice.
        self.value.with_mut(|value| unsafe { *value += 1 });
    }

    fn look(&self) -> u64 {
        shared(&self.latch);
        let value = self.value();
        self.latch.unlock_shared();
        value
    }

    /// On entry: the latch is held, shared at least, or nobody else is left.
    fn value(&self) -> u64 {
        // SAFETY: nobody changes the value meanwhile; loom's cell panics if that is not so.
        self.value.with(|value| unsafe { *value })
    }
}

#[test]
fn writers_exclude_each_other_and_nobody_sleeps_for_ever() {
    let steps = vec![step(Guarded::add_one), step(Guarded::add_one), step(Guarded::add_one)];
    check(Guarded::loaded, steps, |page| assert_eq!(page.look(), 3));
}

#[test]
fn sharers_exclude_a_writer_and_nobody_sleeps_for_ever() {
    let look = step(|page: &Guarded| assert!(page.look() <= 1));
    check(Guarded::loaded, vec![look.clone(), look, step(Guarded::add_one)], |page| assert_eq!(page.look(), 1));
}

#[test]
fn writers_wait_for_a_sharer_and_for_each_other() {
    let look = step(|page: &Guarded| assert!(page.look() <= 2));
    let steps = vec![look, step(Guarded::add_one), step(Guarded::add_one)];
    check(Guarded::loaded, steps, |page| assert_eq!(page.look(), 2));
}

#[test]
fn a_clock_that_marks_pages_does_not_disturb_their_latches() {
    let clock = step(|page: &Guarded| {
        page.latch.mark();
        if page.latch.is_marked() && page.latch.try_evict() {
            page.change();
            page.latch.abort_evict();
        }
    });
    let look = step(|page: &Guarded| assert!(page.look() <= 2));
    check(Guarded::loaded, vec![step(Guarded::add_one), clock, look], nothing);
}

#[test]
fn a_page_is_loaded_once_and_whoever_waited_for_it_finds_it() {
    fn load_or_wait(page: &Guarded) {
        loop {
            match page.latch.try_shared() {
                Ok(()) => break,
                Err(Blocked::Evicted) => {
                    if page.latch.try_begin_load() {
                        page.change();
                        page.latch.finish_load();
                    }
                }
                Err(Blocked::Loading | Blocked::Held) => page.latch.wait(false),
            }
        }
        assert_eq!(page.value(), 1);
        page.latch.unlock_shared();
    }
    check(Guarded::evicted, vec![step(load_or_wait), step(load_or_wait)], nothing);
}

#[test]
fn a_load_that_fails_wakes_those_who_wait_and_leaves_no_page() {
    let fail = step(|page: &Guarded| {
        if page.latch.try_begin_load() {
            page.change();
            page.latch.abort_load();
        }
    });
    let make_anew = step(|page: &Guarded| {
        if page.latch.try_begin_load() {
            page.change();
            page.latch.load_to_exclusive();
            page.change();
            page.latch.unlock_exclusive();
        } else {
            page.latch.wait(false);
        }
    });
    check(Guarded::evicted, vec![fail, make_anew, step(|page: &Guarded| page.latch.wait(true))], |page| {
        let only_failed = page.value() == 1;
        assert_eq!(page.latch.is_evicted(), only_failed);
    });
}

#[test]
fn a_page_being_loaded_is_not_taken_for_a_whole_one() {
    let load = step(|page: &Page| {
        if page.latch.try_begin_load() {
            page.fill(5);
            page.latch.finish_load();
        }
    });
    let make_anew = step(|page: &Page| {
        if page.latch.try_begin_load() {
            page.fill(1);
            page.latch.load_to_exclusive();
            page.fill(6);
            page.latch.unlock_exclusive();
        }
    });
    let read = step(|page: &Page| assert!(matches!(page.read(), None | Some(5 | 6))));
    check(Page::evicted, vec![load, make_anew, read], nothing);
}

/// Two pages that are full of their numbers, and two blocks that they may be in, as in `buffer`.
struct Blocks {
    latches: [Latch; 2],
    block_of: [AtomicUsize; 2],
    bytes: [[AtomicU64; 2]; 2],
    free: Mutex<Vec<usize>>,
}

impl Blocks {
    /// Page 0 is in block 0, page 1 is not in memory; block 1 is free, or does not exist.
    fn new(one_is_free: bool) -> Self {
        let blocks = Self {
            latches: [Latch::new(), Latch::new()],
            block_of: [AtomicUsize::new(0), AtomicUsize::new(0)],
            bytes: [[AtomicU64::new(0), AtomicU64::new(0)], [AtomicU64::new(9), AtomicU64::new(9)]],
            free: Mutex::new(if one_is_free { vec![1] } else { vec![] }),
        };
        assert!(blocks.latches[0].try_begin_load());
        blocks.latches[0].finish_load();
        blocks
    }

    fn load(&self, page: usize) {
        let Some(block) = self.free.lock().unwrap().pop() else { return };
        if !self.latches[page].try_begin_load() {
            return self.free.lock().unwrap().push(block);
        }
        self.block_of[page].store(block, Ordering::Relaxed);
        self.bytes[block].iter().for_each(|word| word.store(page as u64, Ordering::Relaxed));
        self.latches[page].finish_load();
    }

    /// The block that has become free is the last to be taken again.
    fn evict(&self, page: usize) {
        let latch = &self.latches[page];
        if latch.mark() && latch.is_marked() && latch.try_evict() {
            let block = self.block_of[page].load(Ordering::Relaxed);
            latch.finish_evict();
            self.free.lock().unwrap().insert(0, block);
        }
    }

    fn read(&self, page: usize) {
        let Ok(version) = self.latches[page].optimistic() else { return };
        let block = self.block_of[page].load(Ordering::Relaxed);
        let words = self.bytes[block].each_ref().map(|word| word.load(Ordering::Relaxed));
        if self.latches[page].is_unchanged(version) {
            assert_eq!(words, [page as u64; 2], "block {block} was taken for that of page {page}");
        }
    }
}

#[test]
fn a_reader_does_not_take_what_is_in_a_block_now_for_the_page_that_was_there() {
    let steps = vec![
        step(|blocks: &Blocks| blocks.evict(0)),
        step(|blocks: &Blocks| blocks.load(1)),
        step(|blocks: &Blocks| blocks.read(0)),
    ];
    check(|| Blocks::new(false), steps, nothing);
}

#[test]
fn a_reader_does_not_look_for_a_page_in_a_block_that_it_was_in_before() {
    let evict_and_load = step(|blocks: &Blocks| {
        blocks.evict(0);
        blocks.load(0);
    });
    let steps = vec![evict_and_load, step(|blocks: &Blocks| blocks.load(1)), step(|blocks: &Blocks| blocks.read(0))];
    check(|| Blocks::new(true), steps, |blocks| blocks.read(0));
}

#[test]
fn a_reader_does_not_take_a_page_for_one_that_was_there_before() {
    let load = step(|page: &Page| {
        if page.latch.try_begin_load() {
            page.fill(8);
            page.latch.finish_load();
        }
    });
    let read = step(|page: &Page| assert!(matches!(page.read(), None | Some(7 | 8))));
    check(|| Page::loaded(7), vec![step(Page::evict), load, read], nothing);
}

#[test]
fn a_touched_page_stays() {
    let evict_if_still_marked = step(|page: &Page| {
        if page.latch.is_marked() && page.latch.try_evict() {
            page.fill(0);
            page.latch.finish_evict();
        }
    });
    let touch = step(|page: &Page| {
        if page.latch.optimistic().is_ok() {
            // Either this took the mark away, or the page was on its way out before: not the one and then the other.
            let version = page.latch.optimistic();
            assert!(!page.latch.is_marked());
            assert!(version.is_err() || page.latch.optimistic().is_ok());
        }
    });
    let marked = || {
        let page = Page::loaded(7);
        assert!(page.latch.mark());
        page
    };
    check(marked, vec![evict_if_still_marked, touch], nothing);
}

// ---- the log buffer -------------------------------------------------------------------------------------------------

/// Where the ring begins: in its middle, so that records wrap around.
const LOG_START: Lsn = Lsn(480);

/// The ring, and where those sleep who wait for room. (`log::waiters` in the engine.)
struct Ring {
    buffer: LogBuffer,
    written: Mutex<()>,
    advanced: Condvar,
    /// Bytes in records whose bodies were complete, by position: what really happened, which loom must not see.
    complete: std::sync::Mutex<BTreeMap<u64, u64>>,
}

impl Ring {
    fn new() -> Self {
        Self {
            buffer: LogBuffer::new(64, LOG_START),
            written: Mutex::new(()),
            advanced: Condvar::new(),
            complete: Default::default(),
        }
    }

    fn append(&self, body_words: usize) {
        let (start, end) = self.buffer.reserve(8 * body_words);
        if !self.buffer.has_room(end) {
            let mut written = self.written.lock().unwrap();
            while !self.buffer.has_room(end) {
                written = self.advanced.wait(written).unwrap();
            }
        }
        // Each word of the body would pass for a header, so what is left behind of it is found.
        let word = |index: usize| header_word(8) + start.0 + index as u64;
        let body: Vec<u8> = (0..body_words).flat_map(|index| word(index).to_le_bytes()).collect();
        self.buffer.fill(start.0 + 8, &body);
        self.complete.lock().unwrap().insert(start.0, end.0 - start.0);
        self.buffer.publish_header(start, body.len());
    }

    /// As one who has appended a record and asks whether it would survive.
    fn append_and_ask(&self, body_words: usize) {
        self.append(body_words);
        let end = self.buffer.reserved();
        if self.buffer.is_published(end) {
            let complete: u64 = self.complete.lock().unwrap().range(..end.0).map(|(_, len)| len).sum();
            assert_eq!(complete, end.0 - LOG_START.0, "a record before {end} is not complete");
        }
    }

    /// The writer: takes records until the log has reached `end`, at most `limit` bytes at once.
    fn drain(&self, end: Lsn, limit: u64) {
        let mut at = LOG_START;
        while at < end {
            let to = self.buffer.published_end(at, limit);
            if to == at {
                thread::yield_now();
                continue;
            }
            let mut bytes = vec![0; (to.0 - at.0) as usize];
            self.buffer.copy_out(at, &mut bytes);
            self.buffer.consume(to);
            {
                let _written = self.written.lock().unwrap();
                self.advanced.notify_all();
            }
            assert_whole_records(at, &bytes);
            at = to;
        }
        assert_eq!(self.buffer.consumed(), end);
    }
}

/// Everything in `bytes` is as [`Ring::append`] makes it.
fn assert_whole_records(at: Lsn, bytes: &[u8]) {
    let words: Vec<u64> = bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
    let mut next = 0;
    while next < words.len() {
        let start = at.0 + 8 * next as u64;
        let body_words = body_len(words[next]).expect("a header stands where the last record ended") / 8;
        for (index, &found) in words[next + 1..][..body_words].iter().enumerate() {
            assert_eq!(found, header_word(8) + start + index as u64, "word {index} of the record at {start}");
        }
        next += 1 + body_words;
    }
}

/// Each appender appends records with bodies of so many words.
fn check_log(appenders: &[&'static [usize]], limit: u64) {
    let words: usize = appenders.concat().iter().map(|words| 1 + words).sum();
    let end = Lsn(LOG_START.0 + 8 * words as u64);
    let mut steps: Vec<Step<Ring>> = Vec::new();
    for &bodies in appenders {
        steps.push(step(move |ring: &Ring| bodies.iter().for_each(|&words| ring.append(words))));
    }
    steps.push(step(move |ring: &Ring| ring.drain(end, limit)));
    check(Ring::new, steps, move |ring| assert_eq!(ring.buffer.reserved(), end));
}

#[test]
fn records_come_out_whole_and_in_order() {
    check_log(&[&[2], &[1, 1]], 1000);
}

#[test]
fn records_come_out_one_by_one() {
    check_log(&[&[2], &[1]], 8);
}

#[test]
fn records_of_two_threads_wait_for_room() {
    check_log(&[&[4], &[3]], 1000);
}

#[test]
fn records_of_one_thread_go_round_and_round() {
    check_log(&[&[4, 2, 0, 4, 3]], 1000);
}

#[test]
fn what_is_published_has_no_gaps() {
    let end = Lsn(LOG_START.0 + 24 + 16);
    let steps = vec![
        step(|ring: &Ring| ring.append(2)),
        step(|ring: &Ring| ring.append_and_ask(1)),
        step(move |ring: &Ring| ring.drain(end, 8)),
    ];
    check(Ring::new, steps, nothing);
}

#[test]
fn what_is_published_has_no_gaps_where_the_ring_begins_anew() {
    let end = Lsn(LOG_START.0 + 40 + 32 + 8);
    let append = step(|ring: &Ring| {
        ring.append(4);
        ring.append_and_ask(3);
        ring.append_and_ask(0);
    });
    check(Ring::new, vec![append, step(move |ring: &Ring| ring.drain(end, 1000))], nothing);
}

// ---- the dirty word -------------------------------------------------------------------------------------------------

/// A frame, the log's end, and what a cleaner has done: `buffer::frame` and `cleaner` without their disks.
struct Engine {
    frames: [Frame; 2],
    /// Each page's LSN, in memory.
    pages: [AtomicU64; 2],
    log: LogBuffer,
    /// The records made: page, start and end, packed. Each writer has its place.
    records: [AtomicU64; 2],
    /// Each page's LSN, on disk, and the checkpoint. The cleaner's alone.
    disk: [AtomicU64; 2],
    /// Each page's sectors that were taken for the disk. The cleaner's alone.
    sectors: [AtomicU64; 2],
    checkpoint: AtomicU64,
}

impl Engine {
    fn new() -> Self {
        let zero = || AtomicU64::new(0);
        let engine = Self {
            frames: [Frame::new(), Frame::new()],
            pages: [zero(), zero()],
            log: LogBuffer::new(64, LOG_START),
            records: [zero(), zero()],
            disk: [zero(), zero()],
            sectors: [zero(), zero()],
            checkpoint: zero(),
        };
        for frame in &engine.frames {
            assert!(frame.latch.try_begin_load());
            frame.latch.finish_load();
        }
        engine
    }

    /// `mtr`: latch, mark dirty, reserve, stamp, unlatch. Each writer changes a sector of its own.
    fn change(&self, page: usize, writer: usize) {
        let frame = &self.frames[page];
        exclusive(&frame.latch);
        frame.set_dirty(|| self.log.reserved());
        let (start, end) = self.log.reserve(8);
        self.pages[page].store(end.0, Ordering::Relaxed);
        frame.add_changed(Sectors::from_bits(1 << writer));
        frame.latch.unlock_exclusive();
        self.records[writer].store(start.0, Ordering::Relaxed);
    }

    /// `Cleaner::flush` of one page.
    fn flush(&self, page: usize) {
        let frame = &self.frames[page];
        shared(&frame.latch);
        let sectors = frame.begin_flush();
        let copy = self.pages[page].load(Ordering::Relaxed);
        frame.latch.unlock_shared();
        if let Some(sectors) = sectors {
            let before = self.sectors[page].load(Ordering::Relaxed);
            self.sectors[page].store(before | u64::from(sectors.bits()), Ordering::Relaxed);
            self.disk[page].store(copy, Ordering::Relaxed);
            frame.end_flush();
        }
    }

    /// `Cleaner::oldest_recovery_lsn`.
    fn take_checkpoint(&self) {
        let mut oldest = self.log.reserved();
        for frame in &self.frames {
            if let Some(lsn) = frame.recovery_lsn() {
                oldest = oldest.min(lsn);
            }
        }
        self.checkpoint.store(oldest.0, Ordering::Relaxed);
    }

    /// Redo from the checkpoint finds every change that the disk lacks, and of those that it has the sectors were taken.
    fn assert_recoverable(&self, pages_of_writers: [usize; 2]) {
        let checkpoint = self.checkpoint.load(Ordering::Relaxed);
        for (writer, page) in pages_of_writers.into_iter().enumerate() {
            let start = self.records[writer].load(Ordering::Relaxed);
            let on_disk = self.disk[page].load(Ordering::Relaxed) > start;
            assert!(
                start == 0 || on_disk || checkpoint <= start,
                "the change at {start} is lost: redo starts at {checkpoint}"
            );
            let taken = self.sectors[page].load(Ordering::Relaxed) & (1 << writer) != 0;
            assert!(
                start == 0 || taken == on_disk,
                "the change at {start}: on disk {on_disk}, its sector taken {taken}"
            );
        }
    }
}

#[test]
fn a_checkpoint_is_not_beyond_a_change_that_is_only_in_memory() {
    let steps = vec![
        step(|engine: &Engine| engine.change(0, 0)),
        step(|engine: &Engine| engine.change(1, 1)),
        step(Engine::take_checkpoint),
    ];
    check(Engine::new, steps, |engine| engine.assert_recoverable([0, 1]));
}

#[test]
fn a_change_during_a_flush_keeps_the_checkpoint_back() {
    let change_twice = step(|engine: &Engine| {
        engine.change(0, 0);
        engine.change(0, 1);
    });
    let clean = step(|engine: &Engine| {
        engine.flush(0);
        engine.take_checkpoint();
    });
    check(Engine::new, vec![change_twice, clean], |engine| {
        engine.assert_recoverable([0, 0]);
        // Afterwards the page is clean exactly if the disk has what memory has.
        let current = engine.disk[0].load(Ordering::Relaxed) == engine.pages[0].load(Ordering::Relaxed);
        assert_eq!(engine.frames[0].is_clean(), current);
    });
}
