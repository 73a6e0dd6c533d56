//! The cleaner: writes dirty pages back and moves the checkpoint, so that the log never has to stop.
//!
//! # What is written when
//!
//! ```text
//!   checkpoint                                                    log's end
//!       |--------------------- age -----------------------------------|
//!       |=== too old: written now ===|--- young enough: left alone ----|
//!                                    ^ end - capacity / 2
//! ```
//!
//! Each round writes the pages whose recovery LSN is older than half the log's capacity. But pages grow old together: a
//! large statement, or many clients whose keys are anywhere, change all of them within a short stretch of the log, and half
//! a log later all would be due at once. So some are written before, the oldest first: as many as it takes to have written,
//! at an even pace, those of each age when they come to be due. ([`Ages::pace`]) With them go those of the same extents that
//! are at least half as old.
//!
//! Besides, pages that the eviction clock found cold are written so that they can leave, and an idle store writes what is
//! left at leisure.
//!
//! # Life of a batch
//!
//! 1. Copy each page under its shared latch; its frame says *flushing* from here on. ([`Cleaner::copy`])
//! 2. Make the log durable up to the newest page LSN among them. ([`Cleaner::send`])
//! 3. Write what has changed in them to a doublewrite segment; sync it.
//! 4. Write each copy to its place, as one asynchronous batch, with one request for pages that lie side by side.
//! 5. The frames are clean, unless changed meanwhile. ([`Cleaner::receive`])
//!
//! Up to three batches are on their way at once, each a step behind the one before it, so that the device is not idle
//! while the log is synced, and neither is while pages are copied:
//!
//! ```text
//!   batch 1:   copy  send  receive
//!   batch 2:         copy  send     receive
//!   batch 3:               copy     send     receive
//! ```
//!
//! # Invariants
//! 1. A page reaches disk only after the log that describes it is durable (step 2 before 3).
//! 2. While the log is being redone the checkpoint does not move. Afterwards it is at most the recovery LSN of any dirty page and of any page in a batch, and at most the
//!    log's end as read before looking at the pages.
//! 3. No latch is held during I/O: only copies travel.
//!
//! # When things fail
//! A failed write or sync stops the engine: nobody knows which pages are on disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::buffer::{DATA_FILE, Pool, Relief};
use crate::control::{CONTROL_FILE, ControlFile};
use crate::doublewrite::{DOUBLEWRITE_FILE, Doublewrite};
use crate::error::Result;
use crate::health::Health;
use crate::ids::{Lsn, PageNo};
use crate::io::{AlignedBuffer, IoMemory, Operation, Request};
use crate::log::Log;
use crate::page::sectors::Sectors;
use crate::page::space_map::{EXTENT_PAGES, ExtentNo};
use crate::page::{self, PAGE_SIZE};
use crate::rank::{Rank, RankedMutex};
use crate::wait::{WaitEvent, WaitEvents};

/// How long an idle cleaner sleeps.
const NAP: Duration = Duration::from_millis(100);
/// By how much longer it has no time for huge pages than it has for them. Where memory is short, or is the host's to give,
/// one may take milliseconds, and a load of rows is an occasion for thousands.
const HUGE_PAGES_PAUSE: u32 = 9;
/// A checkpoint is written when it gains this much time ...
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(1);
/// ... or this share of the log's capacity.
const CHECKPOINT_SHARE: u64 = 32;

/// Ages of dirty pages are told apart by so many steps, up to half the log.
const AGES: usize = 64;
/// Dirty pages are looked through when the log has moved by such a part of half of it: many times a step of age, so that an even
/// pace stays one.
const LOOKS: u64 = 16 * AGES as u64;
/// Below this share of them a page is young: it is changed again before long.
const YOUNG: usize = 8;

/// Figures for reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CleanerFigures {
    /// Pages written to their places.
    pub pages_written: u64,
    /// Batches.
    pub batches: u64,
    /// Checkpoints written to the control file.
    pub checkpoints: u64,
    /// Dirty pages in memory, when they were last looked through: about a second ago at most, while anything is changed.
    pub dirty_pages: u64,
}

/// The one who writes pages back.
pub struct Cleaner {
    pool: Arc<Pool>,
    log: Arc<Log>,
    work: RankedMutex<Work>,
    bell: Mutex<bool>,
    rung: Condvar,
    /// Somebody waits for memory: cold pages first.
    memory_wanted: AtomicBool,
    /// The log is still being redone: pages may be written back, but the checkpoint must stay where redo began. That the
    /// log does not grow meanwhile does not mean that the store is idle.
    recovering: AtomicBool,
    /// There is no cleaner thread: whoever waits does the work.
    inline: bool,
    health: Arc<Health>,
    waits: Arc<WaitEvents>,
    pages_written: AtomicU64,
    batches: AtomicU64,
    checkpoints: AtomicU64,
    dirty_pages: AtomicU64,
}

struct Work {
    control: ControlFile,
    doublewrite: Doublewrite,
    /// Buffers that no batch uses.
    spare: Vec<AlignedBuffer>,
    last_checkpoint: Instant,
    /// The log's end in the last round; unchanged means idle.
    last_end: Lsn,
    /// What it was when dirty pages were last looked through; `None`: some of those that were found due are still to be written.
    looked_at: Option<Lsn>,
    /// How old dirty pages were then.
    ages: Ages,
    /// Pages to be written for the log to have moved so far; below zero if neighbours went ahead.
    owed: f64,
    /// The log's end when it was last asked where a checkpoint could be.
    sought_at: Lsn,
}

/// How many dirty pages there are, by their age: how much the log has moved since their recovery LSN.
struct Ages {
    /// Half the log's capacity.
    half: u64,
    counts: [usize; AGES],
}

impl Ages {
    fn new(half: u64) -> Self {
        Self { half, counts: [0; AGES] }
    }

    /// The age at which a step begins.
    fn beginning(&self, step: usize) -> u64 {
        self.half / AGES as u64 * step as u64
    }

    fn add(&mut self, age: u64) {
        let step = age / (self.half / AGES as u64).max(1);
        self.counts[(step as usize).min(AGES - 1)] += 1;
    }

    fn total(&self) -> usize {
        self.counts.iter().sum()
    }

    /// How many to write for each byte that the log moves, so that all are written before they are as old as half the log:
    /// whatever the age, those that are older have the rest of the half.
    fn pace(&self) -> f64 {
        let (mut older, mut pace) = (0, 0.0f64);
        for step in (AGES / YOUNG..AGES).rev() {
            older += self.counts[step];
            pace = pace.max(older as f64 / (self.half - self.beginning(step)).max(1) as f64);
        }
        pace
    }

    /// An age that at least so many have, unless there are fewer in all.
    fn of_oldest(&self, count: usize) -> u64 {
        let mut found = 0;
        let step = (0..AGES).rev().find(|&step| {
            found += self.counts[step];
            found >= count
        });
        step.map_or(0, |step| self.beginning(step))
    }
}

/// What pages are written for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    /// They are to leave memory.
    Memory,
    /// The log is to be free of them.
    Log,
}

/// Pages copied, on their way to disk.
struct Batch {
    pages: Vec<PageNo>,
    /// Where each differs from what is in its place.
    changed: Vec<Sectors>,
    what_for: For,
    newest: Lsn,
    /// The pages, side by side.
    copies: AlignedBuffer,
}

/// A batch whose pages are being written to their places.
struct Sent {
    // Before the batch: dropped first, it waits until the device has done with the copies.
    outcomes: Outcomes,
    batch: Batch,
}

/// How the requests of a batch end, of which all are waited for.
struct Outcomes(Arc<Ends>);

#[derive(Default)]
struct Ends {
    left: Mutex<Left>,
    /// There are none: told once, since the cleaner would be woken for each otherwise.
    none_left: Condvar,
}

#[derive(Default)]
struct Left {
    requests: usize,
    /// The first that failed: its first page, and why.
    failed: Option<(PageNo, std::io::Error)>,
}

impl Cleaner {
    /// A cleaner over the files of a store that is being recovered; see [`Cleaner::end_recovery`].
    pub fn new(
        pool: Arc<Pool>,
        log: Arc<Log>,
        control: ControlFile,
        doublewrite: Doublewrite,
        inline: bool,
        health: Arc<Health>,
        waits: Arc<WaitEvents>,
    ) -> Self {
        let work = Work {
            control,
            doublewrite,
            spare: Vec::new(),
            last_checkpoint: Instant::now(),
            last_end: Lsn::ZERO,
            looked_at: None,
            ages: Ages::new(log.capacity() / 2),
            owed: 0.0,
            sought_at: Lsn::ZERO,
        };
        Self {
            pool,
            log,
            work: RankedMutex::new(Rank::Cleaner, work).counted(&waits, WaitEvent::LatchCleaner),
            bell: Mutex::new(false),
            rung: Condvar::new(),
            memory_wanted: AtomicBool::new(false),
            recovering: AtomicBool::new(true),
            inline,
            health,
            waits,
            pages_written: AtomicU64::new(0),
            batches: AtomicU64::new(0),
            checkpoints: AtomicU64::new(0),
            dirty_pages: AtomicU64::new(0),
        }
    }

    /// Everything in the log has been redone: from here on the dirty pages tell where the checkpoint may be.
    pub fn end_recovery(&self) {
        self.recovering.store(false, Ordering::Release);
    }

    /// Figures for reports.
    pub fn figures(&self) -> CleanerFigures {
        CleanerFigures {
            pages_written: self.pages_written.load(Ordering::Relaxed),
            batches: self.batches.load(Ordering::Relaxed),
            checkpoints: self.checkpoints.load(Ordering::Relaxed),
            dirty_pages: self.dirty_pages.load(Ordering::Relaxed),
        }
    }

    /// The thread's body: rounds until `closing`.
    pub fn run(&self, closing: &AtomicBool) {
        let (mut looked, mut pause) = (Instant::now(), NAP);
        while !closing.load(Ordering::Acquire) && !self.health.is_stopped() {
            let Ok(busy) = self.round() else { return };
            if looked.elapsed() >= pause {
                let begun = Instant::now();
                self.pool.use_huge_pages();
                looked = Instant::now();
                pause = NAP.max((looked - begun) * HUGE_PAGES_PAUSE);
            }
            if !busy {
                let mut rung = self.bell.lock();
                if !*rung && !closing.load(Ordering::Acquire) {
                    self.rung.wait_for(&mut rung, NAP);
                }
                *rung = false;
            }
        }
    }

    /// Wakes the cleaner.
    pub fn ring(&self) {
        *self.bell.lock() = true;
        self.rung.notify_one();
    }

    /// Called, with no latch held, by writers that the log cannot admit: returns when it can.
    pub fn relieve_log(&self) -> Result<()> {
        let _waiting = self.waits.begin(WaitEvent::LogCapacity);
        while !self.log.may_admit() {
            self.health.check()?;
            if self.inline {
                self.round()?;
            } else {
                let turn = self.pool.progress();
                self.ring();
                self.pool.wait_progress(turn);
            }
        }
        Ok(())
    }

    /// One round: writes what is due, at most a batch of each kind, and moves the checkpoint. Returns whether there
    /// is more to do at once.
    pub fn round(&self) -> Result<bool> {
        let mut work = self.work.lock();
        self.health.check()?;
        let batch = work.doublewrite.segment_pages();
        let mut busy = false;
        if self.memory_wanted.swap(false, Ordering::AcqRel) {
            let mut cold = self.pool.take_cold();
            cold.sort_unstable();
            cold.dedup();
            let flushed = self.flush(&mut work, &cold, For::Memory, || true);
            self.pool.cold_is_written();
            flushed?;
        }
        let end = self.log.reserved();
        // No more than a few batches a round, so that memory gets its turn.
        let (pages, more) = self.old_pages(&mut work, end, 4 * batch);
        if !pages.is_empty() {
            // Who waits for memory waits no longer than for the batches that are on their way.
            busy = more | !self.flush(&mut work, &pages, For::Log, || !self.memory_wanted.load(Ordering::Acquire))?;
            work.looked_at = work.looked_at.filter(|_| !busy);
        } else if work.last_end == end && !self.recovering.load(Ordering::Acquire) {
            let (mut idle, _) = self.dirty_since(end, 0);
            idle.sort_unstable();
            let pages: Vec<PageNo> = idle.iter().take(batch).map(|&(_, page)| page).collect();
            if !pages.is_empty() {
                self.flush(&mut work, &pages, For::Log, || true)?;
                busy = idle.len() > batch;
            }
        }
        work.last_end = end;
        let pressed = !self.log.may_admit();
        self.checkpoint_if_worthwhile(&mut work, pressed)?;
        self.pool.wake_waiters();
        Ok(busy || pressed || self.memory_wanted.load(Ordering::Acquire))
    }

    /// Pages that are due, or owed, at most so many, with their neighbours; and whether there are more. None, without a look at
    /// all that is in memory, as long as hardly any can have come to be due: a round may be for memory, and there are thousands a
    /// second where most of the data is on disk.
    fn old_pages(&self, work: &mut Work, end: Lsn, most: usize) -> (Vec<PageNo>, bool) {
        let half = self.log.capacity() / 2;
        let moved = if work.last_end == Lsn::ZERO { 0 } else { end.0 - work.last_end.0 };
        work.owed = (work.owed + work.ages.pace() * moved as f64).min(work.ages.total() as f64);
        // (While the log is redone, pages come to be due and it does not move.)
        let as_before = work.looked_at.is_some_and(|at| end.0 - at.0 < half / LOOKS);
        if as_before && self.log.may_admit() && !self.recovering.load(Ordering::Acquire) {
            return (Vec::new(), false);
        }
        work.looked_at = Some(end);
        let age = work.ages.of_oldest(work.owed as usize).clamp(half / YOUNG as u64, half);
        let (mut old, ages) = self.dirty_since(end, age);
        work.ages = ages;
        let due = old.iter().filter(|(lsn, _)| end.0 - lsn.0 >= half).count();
        let wanted = due.max(work.owed as usize).min(old.len());
        let count = wanted.min(most);
        if count == 0 {
            return (Vec::new(), false);
        }
        let (_, &mut (youngest, _), _) = old.select_nth_unstable(count - 1);
        let pages = self.with_neighbours(&old[..count], Lsn(end.0 - (end.0 - youngest.0) / 2));
        work.owed = (work.owed - pages.len() as f64).max(-8.0 * most as f64);
        (pages, count < wanted)
    }

    /// Dirty pages that have been so for this much of the log (0: all of them), and how old all are.
    fn dirty_since(&self, end: Lsn, age: u64) -> (Vec<(Lsn, PageNo)>, Ages) {
        let mut ages = Ages::new(self.log.capacity() / 2);
        let mut found = Vec::new();
        self.for_each_dirty(|page, lsn| {
            // A page may have been changed since the end was looked at.
            let here = end.0.saturating_sub(lsn.0);
            ages.add(here);
            if here >= age {
                found.push((lsn, page));
            }
        });
        (found, ages)
    }

    /// Looks through all that is in memory, and counts the pages that are dirty; `visit` is told their recovery LSNs.
    fn for_each_dirty(&self, mut visit: impl FnMut(PageNo, Lsn)) {
        let mut count = 0;
        self.pool.for_each_resident(|page, frame| {
            if let Some(lsn) = frame.recovery_lsn() {
                visit(page, lsn);
                count += 1;
            }
        });
        self.dirty_pages.store(count, Ordering::Relaxed);
    }

    /// The chosen pages and those of their extents that would be chosen before long (dirty since before `limit`), in
    /// order of page numbers: what lies side by side is written at once, and a device writes eight pages in one piece
    /// nearly as fast as one.
    fn with_neighbours(&self, chosen: &[(Lsn, PageNo)], limit: Lsn) -> Vec<PageNo> {
        let mut extents: Vec<ExtentNo> = chosen.iter().map(|&(_, page)| ExtentNo::of(page)).collect();
        extents.sort_unstable();
        extents.dedup();
        let is_due = |&page: &PageNo| self.pool.frame(page).recovery_lsn().is_some_and(|lsn| lsn < limit);
        extents
            .into_iter()
            .flat_map(|extent| (0..EXTENT_PAGES).map(move |index| extent.page(index)))
            .filter(is_due)
            .collect()
    }

    /// Invariant 2. The cleaner's mutex is held, so no batch is under way.
    fn oldest_recovery_lsn(&self) -> Lsn {
        let mut oldest = self.log.reserved();
        self.for_each_dirty(|_, lsn| oldest = oldest.min(lsn));
        oldest
    }

    fn checkpoint_if_worthwhile(&self, work: &mut Work, pressed: bool) -> Result<()> {
        if self.recovering.load(Ordering::Acquire) {
            return Ok(());
        }
        let (end, share) = (self.log.reserved(), self.log.capacity() / CHECKPOINT_SHARE);
        let at_once = pressed || work.last_checkpoint.elapsed() >= CHECKPOINT_INTERVAL;
        // (To know what it would gain is a look at all that is in memory.)
        if !at_once && end.0 - work.sought_at.0 < share {
            return Ok(());
        }
        work.sought_at = end;
        let oldest = self.oldest_recovery_lsn();
        let gain = oldest.0.saturating_sub(self.log.checkpoint().0);
        if gain == 0 || !(at_once || gain >= share) {
            return Ok(());
        }
        self.write_checkpoint(work, oldest, false)
    }

    fn write_checkpoint(&self, work: &mut Work, lsn: Lsn, clean: bool) -> Result<()> {
        // Redo must be able to start there: everything before it has to be readable.
        self.log.wait_durable(lsn)?;
        let data_pages = self.pool.file_pages() as u32;
        {
            let _waiting = self.waits.begin(WaitEvent::ControlSync);
            work.control
                .write(|control| {
                    control.set_checkpoint(lsn);
                    control.data_pages = data_pages;
                    control.clean = clean;
                })
                .map_err(|error| self.health.stop(format!("writing {CONTROL_FILE}: {error}")))?;
        }
        work.last_checkpoint = Instant::now();
        self.checkpoints.fetch_add(1, Ordering::Relaxed);
        self.log.set_checkpoint(lsn);
        Ok(())
    }

    /// Writes everything back and takes a checkpoint at the log's end. With `clean`, no log is needed any more: the
    /// caller promises that nothing is changed from here on.
    pub fn flush_all(&self, clean: bool) -> Result<()> {
        let mut work = self.work.lock();
        self.health.check()?;
        loop {
            let (dirty, _) = self.dirty_since(self.log.reserved(), 0);
            let mut dirty: Vec<PageNo> = dirty.into_iter().map(|(_, page)| page).collect();
            if dirty.is_empty() {
                break;
            }
            dirty.sort_unstable();
            self.flush(&mut work, &dirty, For::Log, || true)?;
            if !clean {
                break;
            }
        }
        self.sync_data(&mut work)?;
        let oldest = self.oldest_recovery_lsn();
        self.write_checkpoint(&mut work, oldest, clean)
    }

    /// Writes pages back, in order of their numbers, batch by batch while `goes_on`. Returns whether all were.
    fn flush(&self, work: &mut Work, pages: &[PageNo], what_for: For, goes_on: impl Fn() -> bool) -> Result<bool> {
        let mut chunks = pages.chunks(work.doublewrite.segment_pages());
        let (mut copied, mut sent) = (None, None);
        loop {
            let chunk = if goes_on() { chunks.next() } else { None };
            let next = chunk.map(|pages| self.copy(work, pages, what_for));
            if next.is_none() && copied.is_none() && sent.is_none() {
                return Ok(chunks.len() == 0);
            }
            let sending = copied.take().map(|batch| self.send(work, batch, &mut sent)).transpose()?;
            if let Some(sent) = sent.take() {
                self.receive(work, sent)?;
            }
            (copied, sent) = (next, sending);
        }
    }

    /// Step 1 of a batch, and the log is asked for step 2.
    fn copy(&self, work: &mut Work, pages: &[PageNo], what_for: For) -> Batch {
        let len = work.doublewrite.segment_pages() * PAGE_SIZE;
        let mut copies = work.spare.pop().unwrap_or_else(|| AlignedBuffer::new(len));
        let (mut copied, mut changed) = (Vec::with_capacity(pages.len()), Vec::with_capacity(pages.len()));
        let mut newest = Lsn::ZERO;
        for &page in pages {
            let Some(latched) = self.pool.shared_if_resident(page, Rank::TreePage) else { continue };
            let Some(sectors) = self.pool.frame(page).begin_flush() else { continue };
            latched.view().copy_to(0, &mut copies[copied.len() * PAGE_SIZE..][..PAGE_SIZE]);
            newest = newest.max(latched.view().page_lsn());
            copied.push(page);
            changed.push(sectors);
        }
        copies.chunks_exact_mut(PAGE_SIZE).take(copied.len()).for_each(page::seal);
        self.log.want_durable(newest);
        Batch { pages: copied, changed, what_for, newest, copies }
    }

    /// Steps 2 to 4 of a batch. `before` is the batch before it, should that have to arrive first.
    fn send(&self, work: &mut Work, mut batch: Batch, before: &mut Option<Sent>) -> Result<Sent> {
        let ends = Arc::<Ends>::default();
        if batch.pages.is_empty() {
            return Ok(Sent { outcomes: Outcomes(ends), batch });
        }
        self.log.wait_durable(batch.newest)?;
        if work.doublewrite.must_sync_data() {
            if let Some(before) = before.take() {
                self.receive(work, before)?;
            }
            self.sync_data(work)?;
        }
        let failed = |what: &str, error: std::io::Error| self.health.stop(format!("{what}: {error}"));
        {
            let _waiting = self.waits.begin(WaitEvent::DoublewriteWrite);
            let copies = batch.copies.chunks_exact(PAGE_SIZE);
            work.doublewrite
                .write(copies.zip(batch.changed.iter().copied()))
                .map_err(|error| failed(&format!("writing {DOUBLEWRITE_FILE}"), error))?;
        }
        {
            let _waiting = self.waits.begin(WaitEvent::DoublewriteSync);
            work.doublewrite.sync().map_err(|error| failed(&format!("syncing {DOUBLEWRITE_FILE}"), error))?;
        }
        let Batch { pages, copies, .. } = &mut batch;
        let mut at = 0;
        // Pages side by side lie side by side among the copies too: one request.
        let requests: Vec<Request> = pages
            .chunk_by(|page, next| page.0 + 1 == next.0)
            .map(|run| {
                let (first, ends) = (run[0], Arc::clone(&ends));
                // SAFETY: the copies belong to the batch, which is kept, and its copies are not touched, until every
                // outcome has been received (`Sent`).
                let memory = unsafe { IoMemory::new(copies[at * PAGE_SIZE..].as_mut_ptr(), run.len() * PAGE_SIZE) };
                at += run.len();
                let done = Box::new(move |outcome| ends.one_ends(first, outcome));
                Request { operation: Operation::Write, offset: first.offset(), memory, done, tell: None }
            })
            .collect();
        ends.left.lock().requests = requests.len();
        self.pool.file().submit(requests);
        Ok(Sent { outcomes: Outcomes(ends), batch })
    }

    /// Waits until a batch has been written, and step 5.
    fn receive(&self, work: &mut Work, Sent { outcomes, batch }: Sent) -> Result<()> {
        {
            let _waiting = self.waits.begin(WaitEvent::DataWrite);
            outcomes
                .wait()
                .map_err(|(page, error)| self.health.stop(format!("writing {page} of {DATA_FILE}: {error}")))?;
        }
        for &page in &batch.pages {
            self.pool.frame(page).end_flush();
        }
        if batch.what_for == For::Memory {
            self.pool.let_leave(&batch.pages);
        }
        work.spare.push(batch.copies);
        if !batch.pages.is_empty() {
            self.pages_written.fetch_add(batch.pages.len() as u64, Ordering::Relaxed);
            self.batches.fetch_add(1, Ordering::Relaxed);
            self.pool.note_progress();
        }
        Ok(())
    }

    fn sync_data(&self, work: &mut Work) -> Result<()> {
        let _waiting = self.waits.begin(WaitEvent::DataSync);
        self.pool.file().sync().map_err(|error| self.health.stop(format!("syncing {DATA_FILE}: {error}")))?;
        work.doublewrite.data_synced();
        Ok(())
    }
}

impl Ends {
    /// A request has ended, that of the pages from this one on.
    fn one_ends(&self, first: PageNo, outcome: std::io::Result<()>) {
        let mut left = self.left.lock();
        left.requests -= 1;
        if let Err(error) = outcome {
            left.failed.get_or_insert((first, error));
        }
        if left.requests == 0 {
            self.none_left.notify_one();
        }
    }
}

impl Outcomes {
    /// Waits for all of them, also after an error. Returns the first error.
    fn wait(&self) -> Result<(), (PageNo, std::io::Error)> {
        let mut left = self.0.left.lock();
        self.0.none_left.wait_while(&mut left, |left| left.requests > 0);
        left.failed.take().map_or(Ok(()), Err)
    }
}

impl Drop for Outcomes {
    fn drop(&mut self) {
        // Given up after an error elsewhere, which has been reported.
        let _ = self.wait();
    }
}

impl Relief for Cleaner {
    fn want(&self) {
        if self.inline {
            // Nobody else would do it. A failure stops the engine, and the caller meets it at its next step.
            self.memory_wanted.store(true, Ordering::Release);
            let _ = self.round();
        } else if !self.memory_wanted.swap(true, Ordering::AcqRel) {
            self.ring();
        }
    }

    fn relieve(&self) -> Result<()> {
        self.memory_wanted.store(true, Ordering::Release);
        if self.inline {
            return self.round().map(|_| ());
        }
        let turn = self.pool.progress();
        self.ring();
        self.pool.wait_progress(turn);
        self.health.check()
    }
}
