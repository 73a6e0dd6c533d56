//! The log: what makes changes durable and repeatable. One log, one order.
//!
//! Above: `mtr` appends the redo of atomic page changes; committers wait for positions. Below: `io`.
//!
//! # Life of a record
//!
//! ```text
//!   reserve --> copy, publish --> written (in the file) --> durable (synced) --> behind the checkpoint, reused
//!   [buffer]                      [Log::step]               [Log::step]          [checkpoint]
//! ```
//!
//! # Words
//! *Reserved*: the end of the last record begun. *Written*: everything before it has been handed to the files.
//! *Durable*: everything before it is synced. *Checkpoint*: redo starts there; everything before it may be
//! overwritten. `checkpoint <= durable <= written <= reserved`.
//!
//! # Invariants
//! 1. Records reach the files in the order of their reservation, without gaps.
//! 2. A block is overwritten only when it lies wholly before the checkpoint. A writer asks for `mtr::admit` before
//!    it latches its first page, and is kept out while the ring is more than seven eighths full; the last eighth is
//!    for those already in. Should it not suffice, the engine stops; it never overwrites. (`Log::step`)
//! 3. A failed write or sync stops the engine; a sync is never repeated and called success.
//! 4. A log at rest says how far it is durable, in a block of its own, so that damage to any block of the last sync is
//!    told from a torn tail. (`voucher`)
//!
//! # Sources
//! The reserve/publish/write split is that of Jung et al., "Scalable database logging for multicores" (VLDB 2017),
//! and of MySQL 8's log; here the record's own header is the publication mark, so there is no second structure.

pub mod block;
pub mod buffer;
pub mod files;
mod gathering;
pub mod mapped;
pub mod reader;
#[cfg(test)]
mod tests;
mod voucher;
pub mod waiters;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::time::{Duration, Instant};

use block::{BLOCK_HEADER_LEN, BLOCK_LEN, BLOCK_PAYLOAD, BlockHeader, block_of, block_start};
use buffer::LogBuffer;
use crossbeam_utils::CachePadded;
use files::{FILL_LEN, LogFiles};
use gathering::Gathering;
use parking_lot::{Condvar, Mutex};
use smallvec::SmallVec;
use waiters::{Callback, Waiters};

use crate::error::{ErrorKind, Result};
use crate::health::Health;
use crate::ids::Lsn;
use crate::io::{AlignedBuffer, IO_ALIGN};
use crate::rank::{self, Rank, RankedGuard, RankedMutex};
use crate::wait::{WaitEvent, WaitEvents};

/// Bytes of blocks that one write carries at most.
const WRITE_LEN_MAX: usize = 1 << 20;
/// How often one who waits for a write looks again, or tries to do it, before falling asleep.
const TURNS: u32 = 32;
/// Bytes ahead of a log that has caught up with what fills its ring that are left to it.
const LEFT_TO_THE_LOG: u64 = 64 << 20;
/// Blocks in the stretch that direct I/O moves at once.
const BLOCKS_PER_ALIGN: u64 = (IO_ALIGN / BLOCK_LEN) as u64;

/// Figures for reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LogFigures {
    /// Writes to the log files.
    pub writes: u64,
    /// Syncs of the log files.
    pub flushes: u64,
    /// Commits that a sync has answered.
    pub commits: u64,
    /// Bytes of blocks written.
    pub bytes_written: u64,
}

/// Where a log continues.
#[derive(Clone, Copy, Debug)]
pub struct Resume {
    /// The end of the last record that counts.
    pub start: Lsn,
    /// The end of the last record before `start`: less, where `start` was rounded up to a block.
    pub recovered: Lsn,
    /// Where redo would start.
    pub checkpoint: Lsn,
    /// The opening of the store, for the blocks that are written from here on.
    pub epoch: u32,
    /// There is no writer thread: whoever waits does the writing.
    pub inline: bool,
}

/// The log of an open store.
pub struct Log {
    buffer: LogBuffer,
    files: LogFiles,
    writer: RankedMutex<Writer>,
    /// Held while [`Writer::filling`] is written.
    filling: RankedMutex<()>,
    /// Held by the one who syncs.
    flusher: RankedMutex<()>,
    written: Waiters,
    durable: Waiters,
    checkpoint: CachePadded<AtomicU64>,
    /// Up to where somebody wants the log synced: who moves it rings the bell.
    flush_wanted: CachePadded<AtomicU64>,
    /// Commits that want so too, and will say so together.
    gathering: CachePadded<Gathering>,
    opened: Instant,
    bell: Bell,
    capacity: u64,
    start: Lsn,
    recovered: Lsn,
    /// There is no writer thread: whoever waits does the writing.
    inline: bool,
    health: Arc<Health>,
    waits: Arc<WaitEvents>,
    figures: Figures,
}

#[derive(Default)]
struct Figures {
    writes: AtomicU64,
    flushes: AtomicU64,
    commits: AtomicU64,
    bytes: AtomicU64,
}

/// Wakes the thread that writes the log. Ringing it costs a load when the writer is awake.
#[derive(Default)]
struct Bell {
    asleep: AtomicBool,
    lock: Mutex<()>,
    rung: Condvar,
}

/// What has been written since the last sync.
#[derive(Default)]
struct Unsynced {
    /// Numbers of the files written to.
    files: SmallVec<[usize; 2]>,
    /// How long that took.
    wrote_for: Duration,
}

/// What the one who writes needs.
struct Writer {
    epoch: u32,
    /// Blocks about to be written, beginning with those since the last alignment boundary.
    out: AlignedBuffer,
    unsynced: Unsynced,
    /// Bytes of the ring that are being filled with zeroes, or were the last to be.
    filling: Range<u64>,
    rest: voucher::Rest,
}

impl Log {
    /// A log that continues where `resume` says, with what is in the buffer.
    pub fn new(
        files: LogFiles,
        buffer: LogBuffer,
        resume: Resume,
        health: Arc<Health>,
        waits: Arc<WaitEvents>,
    ) -> Result<Self> {
        let Resume { start, recovered, checkpoint, epoch, inline } = resume;
        let capacity = files.payload_capacity();
        let mut out = AlignedBuffer::new(WRITE_LEN_MAX + IO_ALIGN);
        // What lies before `start`, up to the alignment boundary, is written again with the first write: unchanged.
        let first = block_of(start) / BLOCKS_PER_ALIGN * BLOCKS_PER_ALIGN;
        let in_block = (start.0 - block_start(block_of(start)).0) as usize;
        let payload_before = if in_block > 0 { BLOCK_HEADER_LEN + in_block } else { 0 };
        let kept = (block_of(start) - first) as usize * BLOCK_LEN + payload_before;
        if kept > 0 {
            files
                .read(first, &mut out[..IO_ALIGN])
                .map_err(ErrorKind::setup("reading the end of the log, meseta.log.*"))?;
            out[kept..IO_ALIGN].fill(0);
        }
        if !buffer.outlives_process() {
            files.use_page_cache().map_err(ErrorKind::setup("preparing to write the log, meseta.log.*"))?;
        }
        Ok(Self {
            buffer,
            files,
            writer: RankedMutex::new(
                Rank::LogWriter,
                Writer { epoch, out, unsynced: Unsynced::default(), filling: 0..0, rest: voucher::Rest::default() },
            ),
            filling: RankedMutex::new(Rank::LogFilling, ()),
            flusher: RankedMutex::new(Rank::LogFlusher, ()),
            written: Waiters::new(start),
            durable: Waiters::new(start),
            checkpoint: CachePadded::new(AtomicU64::new(checkpoint.0)),
            flush_wanted: CachePadded::default(),
            gathering: CachePadded::default(),
            opened: Instant::now(),
            bell: Bell::default(),
            capacity,
            start,
            recovered,
            inline,
            health,
            waits,
            figures: Figures::default(),
        })
    }

    /// The end of the last record begun.
    pub fn reserved(&self) -> Lsn {
        self.buffer.reserved()
    }

    /// Everything before this survives power loss.
    pub fn durable(&self) -> Lsn {
        self.durable.reached()
    }

    /// Where redo would start.
    pub fn checkpoint(&self) -> Lsn {
        Lsn(self.checkpoint.load(Ordering::Acquire))
    }

    /// Payload bytes that the ring of files holds.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Payload bytes between the checkpoint and the log's end.
    pub fn age(&self) -> u64 {
        self.reserved().0.saturating_sub(self.checkpoint().0)
    }

    /// Figures for reports.
    pub fn figures(&self) -> LogFigures {
        let load = |figure: &AtomicU64| figure.load(Ordering::Relaxed);
        LogFigures {
            writes: load(&self.figures.writes),
            flushes: load(&self.figures.flushes),
            commits: load(&self.figures.commits),
            bytes_written: load(&self.figures.bytes),
        }
    }

    // ---- appending ----------------------------------------------------------------------------------------------

    /// Whether a writer may begin to change pages (invariant 2). Two loads, as long as there is room for a whole buffer.
    pub fn may_admit(&self) -> bool {
        let (limit, checkpoint) = (self.capacity / 8 * 7, self.checkpoint().0);
        // The log's end moves with each change, from core to core. It is asked only where the end of the buffer, which those
        // already in do not fill beyond before it has been written, would be too far.
        let buffer_end = self.buffer.consumed().0 + self.buffer.len() as u64;
        buffer_end.saturating_sub(checkpoint) < limit || self.age() < limit
    }

    /// Appends a record and returns its end. `stamp` runs between reservation and publication with the record's
    /// end; it must not fail, and gives back the latches of the pages that the record changes.
    ///
    /// Waits when the buffer is full, for the writer, which needs nothing that the caller may hold.
    pub fn append(&self, body: &[u8], stamp: impl FnOnce(Lsn)) -> Lsn {
        let (start, end) = self.buffer.reserve(body.len());
        stamp(end);
        if !self.buffer.has_room(end) && self.wait_for_room(end).is_err() {
            // The engine has stopped: nothing behind the last written record will ever count.
            return end;
        }
        self.buffer.publish(start, body);
        // An eighth is half a megabyte or more: worth a write of its own, long before the ring is full.
        if end.0.saturating_sub(self.buffer.consumed().0) > self.buffer.len() as u64 / 8 {
            self.ring();
        }
        end
    }

    #[cold]
    fn wait_for_room(&self, end: Lsn) -> Result<()> {
        // Space is given back just before `written` moves. The writer needs nothing that the caller may hold.
        self.wait_for(&self.written, Lsn(end.0 - self.buffer.len() as u64), WaitEvent::LogBufferSpace)
    }

    /// Bytes of the largest body that a record may have: a few of them fit into the buffer at once.
    pub fn body_len_max(&self) -> usize {
        self.buffer.len() / 4
    }

    // ---- waiting ------------------------------------------------------------------------------------------------

    /// Waits until the log up to `lsn` survives a crash of the process: at once if the buffer does, else when it is
    /// written to its files.
    ///
    /// Writing is a copy to the page cache then: whoever comes first does it, for all who are ready, instead of waking a
    /// thread for it.
    pub fn wait_written(&self, lsn: Lsn) -> Result<()> {
        if self.buffer.outlives_process() {
            // Published is as good as written. Who is not ready yet is about to be: only a copy is left to do.
            if !self.buffer.is_published(lsn) {
                let _waiting = self.waits.begin(WaitEvent::LogWritten);
                while !self.buffer.is_published(lsn) {
                    self.health.check()?;
                    std::thread::yield_now();
                }
            }
            return self.health.check();
        }
        if self.written.reached() >= lsn {
            return Ok(());
        }
        for _ in 0..TURNS {
            if let Some(mut writer) = self.writer.try_lock() {
                self.stopping_on_error(self.write_published(&mut writer))?;
            }
            if self.written.reached() >= lsn {
                return Ok(());
            }
            // Somebody else writes, perhaps for us, and will have done so in a few microseconds.
            let _waiting = self.waits.begin(WaitEvent::LogWritten);
            std::thread::yield_now();
        }
        self.wait_for(&self.written, lsn, WaitEvent::LogWritten)
    }

    /// Has the log made durable up to `lsn` before long, for a caller that will wait for it later.
    pub fn want_durable(&self, lsn: Lsn) {
        if self.durable.reached() < lsn {
            self.flush_wanted.fetch_max(lsn.0, Ordering::SeqCst);
            self.ring();
        }
    }

    /// Waits until the log is durable up to `lsn`.
    pub fn wait_durable(&self, lsn: Lsn) -> Result<()> {
        if self.try_durable(lsn)? {
            return Ok(());
        }
        self.want_durable(lsn);
        self.wait_for(&self.durable, lsn, WaitEvent::LogDurable)
    }

    /// If nobody is syncing the log, and nobody else waits, makes it durable up to `lsn`: the caller does that itself
    /// instead of waking a thread for it. Whether it is durable up to there.
    ///
    /// Those who come meanwhile gather, and the writer's thread syncs for them: it goes first when there are more threads
    /// than cores, and is the sooner back at the device.
    pub fn try_durable(&self, lsn: Lsn) -> Result<bool> {
        if self.durable.reached() >= lsn {
            return Ok(true);
        }
        let Some(flushing) = self.durable.is_empty().then(|| self.flusher.try_lock()).flatten() else {
            return Ok(false);
        };
        self.stopping_on_error(self.write_published(&mut self.writer.lock()))?;
        self.stopping_on_error(self.flush_written(flushing))?;
        let is_durable = self.durable.reached() >= lsn;
        self.figures.commits.fetch_add(is_durable.into(), Ordering::Relaxed);
        Ok(is_durable)
    }

    fn wait_for(&self, waiters: &Waiters, lsn: Lsn, event: WaitEvent) -> Result<()> {
        self.health.check()?;
        let Some(place) = waiters.enter(lsn) else { return Ok(()) };
        if self.health.is_stopped() {
            // Stopped between the check and the queue: the failing thread may have looked before we were in.
            self.fail_waiters();
        }
        if self.inline {
            self.step(false)?;
        }
        self.ring();
        let _waiting = self.waits.begin(event);
        place.wait()
    }

    /// Calls `callback` once the log is durable up to `lsn`, on the thread that made it so. Whoever calls this calls
    /// [`Log::flush_gathered`] before it rests.
    pub fn on_durable_gathered(&self, lsn: Lsn, callback: Callback) {
        self.durable.call(lsn, callback);
        self.gathering.add(lsn, self.seen_to(), || self.opened.elapsed());
        if self.health.is_stopped() {
            self.fail_waiters();
        }
    }

    /// Up to where the log is durable, or has been asked to be.
    fn seen_to(&self) -> Lsn {
        self.durable.reached().max(Lsn(self.flush_wanted.load(Ordering::Relaxed)))
    }

    /// Has the log made durable before long for all who have gathered. Three loads if that has been asked for.
    pub fn flush_gathered(&self) {
        self.flush_gathered_if(|| true);
    }

    /// As [`Log::flush_gathered`], where one of these two is called again soon: some who have gathered only now may wait for
    /// others.
    pub fn flush_gathered_if_due(&self) {
        self.flush_gathered_if(|| self.gathering.are_due(self.opened.elapsed()));
    }

    fn flush_gathered_if(&self, are_due: impl FnOnce() -> bool) {
        let gathered = self.gathering.all();
        if self.seen_to() >= gathered || !are_due() {
            return;
        }
        self.want_durable(gathered);
        if self.inline && self.step(false).is_err() {
            self.fail_waiters();
        }
    }

    fn fail_waiters(&self) {
        if let Err(error) = self.health.check() {
            self.written.fail(&error);
            self.durable.fail(&error);
        }
    }

    /// The store is given up: nobody will work on what is still waited for.
    pub fn abandon(&self, error: &crate::error::StorageError) {
        self.written.fail(error);
        self.durable.fail(error);
    }

    /// Wakes the writer if it sleeps.
    pub fn ring(&self) {
        // The work that we ring for was stored before; the writer stores `asleep` and then looks for work. Both in
        // one total order, so one of the two sees the other.
        fence(Ordering::SeqCst);
        if self.bell.asleep.load(Ordering::SeqCst) {
            let _guard = self.bell.lock.lock();
            self.bell.asleep.store(false, Ordering::SeqCst);
            self.bell.rung.notify_one();
        }
    }

    /// Wakes the writer even if it is about to fall asleep: to see that the store is being closed.
    pub fn ring_loudly(&self) {
        let _guard = self.bell.lock.lock();
        self.bell.asleep.store(false, Ordering::SeqCst);
        self.bell.rung.notify_one();
    }

    /// Sleeps until somebody rings, there is work, or `limit` has passed. For the writer's thread only.
    pub fn wait_for_bell(&self, limit: Duration) {
        let mut guard = self.bell.lock.lock();
        self.bell.asleep.store(true, Ordering::SeqCst);
        if self.has_work() {
            self.bell.asleep.store(false, Ordering::SeqCst);
            return;
        }
        while self.bell.asleep.load(Ordering::SeqCst) {
            if self.bell.rung.wait_for(&mut guard, limit).timed_out() {
                break;
            }
        }
        self.bell.asleep.store(false, Ordering::SeqCst);
    }

    /// Whether there is reason to write now: somebody waits, or an eighth of the buffer has gathered. Smaller writes would
    /// only be more of them.
    pub fn has_work(&self) -> bool {
        // `consumed` may move between the two loads.
        let backlog = self.reserved().0.saturating_sub(self.buffer.consumed().0);
        self.is_flush_due() || backlog > self.buffer.len() as u64 / 8 || !self.written.is_empty()
    }

    // ---- writing ------------------------------------------------------------------------------------------------

    /// One turn of the writer: writes what has been published, and syncs it when asked to or when somebody waits. If
    /// asked to and there is nothing to do, the log may be at rest: see `voucher`. Returns whether it did anything.
    ///
    /// Errors: a write or sync failed, and the engine has stopped.
    pub fn step(&self, flush: bool) -> Result<bool> {
        let wrote = self.stopping_on_error(self.write_published(&mut self.writer.lock()))?;
        let due = flush || self.is_flush_due();
        let flushed = due && self.stopping_on_error(self.flush_written(self.flusher.lock()))?;
        let vouched = flush && !wrote && !flushed && self.stopping_on_error(self.vouch_if_at_rest())?;
        Ok(wrote || flushed || vouched)
    }

    /// Whether somebody waits for a sync, or so much has been written since the last one that damage to it could no longer
    /// be told from a torn tail (`recovery::scan` looks only so far ahead).
    fn is_flush_due(&self) -> bool {
        let durable = self.durable.reached();
        self.flush_wanted.load(Ordering::SeqCst) > durable.0
            || self.written.reached().0.saturating_sub(durable.0) >= self.buffer.len() as u64
    }

    /// After a failure the engine has stopped: whoever waits must hear of it.
    fn stopping_on_error<T>(&self, outcome: Result<T>) -> Result<T> {
        if outcome.is_err() {
            self.fail_waiters();
        }
        outcome
    }

    /// Writes what has been published by now. What comes meanwhile can wait: else this would go on, in ever smaller
    /// pieces, for as long as others append.
    fn write_published(&self, writer: &mut Writer) -> Result<bool> {
        self.health.check()?;
        let goal = self.reserved();
        let mut worked = false;
        loop {
            let from = self.written.reached();
            if from >= goal {
                return Ok(worked);
            }
            let to = self.buffer.published_end(from, (WRITE_LEN_MAX / BLOCK_LEN * BLOCK_PAYLOAD / 2) as u64);
            if to == from {
                return Ok(worked);
            }
            let began = Instant::now();
            self.write_blocks(writer, from, to)?;
            writer.unsynced.wrote_for += began.elapsed();
            worked = true;
            self.buffer.consume(to);
            self.written.advance(to);
        }
    }

    /// Syncs everything that has been written. Others may write meanwhile, but not sync: whoever finds nothing to sync may
    /// only say so once the sync before it has succeeded.
    fn flush_written(&self, _flushing: RankedGuard<'_, ()>) -> Result<bool> {
        self.health.check()?;
        let (written, unsynced) = {
            let mut writer = self.writer.lock();
            (self.written.reached(), std::mem::take(&mut writer.unsynced))
        };
        if self.durable.reached() >= written {
            return Ok(false);
        }
        let began = Instant::now();
        self.sync_files(&unsynced)?;
        self.gathering.synced_in(unsynced.wrote_for + began.elapsed());
        let answered = self.durable.advance(written);
        self.figures.commits.fetch_add(answered as u64, Ordering::Relaxed);
        Ok(true)
    }

    fn sync_files(&self, unsynced: &Unsynced) -> Result<()> {
        for &file in &unsynced.files {
            let _waiting = self.waits.begin(WaitEvent::LogSync);
            self.files
                .sync(file)
                .map_err(|error| self.health.stop(format!("syncing {}: {error}", files::file_name(file))))?;
            self.figures.flushes.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Whether the blocks up to this one may be written without overwriting any at or behind the checkpoint.
    fn has_room(&self, end_block: u64) -> bool {
        let oldest_kept = block_of(self.checkpoint()) / BLOCKS_PER_ALIGN * BLOCKS_PER_ALIGN;
        (end_block - oldest_kept) * BLOCK_LEN as u64 <= self.files.ring_len()
    }

    /// What a block written now says is durable. Blocks vouch for records. Before the first sync of this opening the
    /// last one ends where recovery found it, which may be short of `start`: a reader must not miss the bytes between.
    fn vouched_for(&self) -> Lsn {
        let durable = self.durable.reached();
        if durable <= self.start { self.recovered } else { durable }
    }

    /// Writes the payload `from..to`, together with what the first alignment unit already holds.
    fn write_blocks(&self, writer: &mut Writer, from: Lsn, to: Lsn) -> Result<()> {
        let first_block = block_of(from) / BLOCKS_PER_ALIGN * BLOCKS_PER_ALIGN;
        let last_block = block_of(Lsn(to.0 - 1));
        let end_block = (last_block + 1).next_multiple_of(BLOCKS_PER_ALIGN);
        if !self.has_room(end_block) {
            let reason = format!("the log files are too small: {to} would overwrite {}", self.checkpoint());
            return Err(self.health.stop(reason));
        }
        let bytes = first_block * BLOCK_LEN as u64..end_block * BLOCK_LEN as u64;
        if bytes.start < writer.filling.end && writer.filling.start < bytes.end {
            // The log has run into the zeroes: they are written first.
            drop(self.filling.lock());
        }
        let durable = self.vouched_for();
        for number in block_of(from)..=last_block {
            let start = block_start(number);
            let block = &mut writer.out[(number - first_block) as usize * BLOCK_LEN..][..BLOCK_LEN];
            let copy_from = from.max(start);
            let copy_to = to.min(block_start(number + 1));
            if copy_from == start {
                block.fill(0);
            }
            let at = BLOCK_HEADER_LEN + (copy_from.0 - start.0) as usize;
            self.buffer.copy_out(copy_from, &mut block[at..at + (copy_to.0 - copy_from.0) as usize]);
            let len = (copy_to.0 - start.0) as usize;
            block::seal(block, BlockHeader { len, number, durable, epoch: writer.epoch });
        }
        let len = (end_block - first_block) as usize * BLOCK_LEN;
        writer.out[(last_block + 1 - first_block) as usize * BLOCK_LEN..len].fill(0);
        self.hand_over(&mut writer.unsynced, first_block, &writer.out[..len])?;
        // The last alignment unit, if not full, is where the next write begins.
        let next_first = block_of(to) / BLOCKS_PER_ALIGN * BLOCKS_PER_ALIGN;
        let keep = (next_first - first_block) as usize * BLOCK_LEN;
        if keep < len {
            writer.out.copy_within(keep..keep + IO_ALIGN, 0);
        }
        Ok(())
    }

    /// Writes whole blocks to the files, and notes which of these have to be synced.
    fn hand_over(&self, unsynced: &mut Unsynced, first_block: u64, blocks: &[u8]) -> Result<()> {
        let touched = {
            let _waiting = self.waits.begin(WaitEvent::LogWrite);
            self.files.write(first_block, blocks).map_err(|error| {
                let (file, offset) = self.files.place(first_block);
                self.health.stop(format!("writing {}, byte {offset}: {error}", files::file_name(file)))
            })?
        };
        for file in touched {
            if !unsynced.files.contains(&file) {
                unsynced.files.push(file);
            }
        }
        self.figures.writes.fetch_add(1, Ordering::Relaxed);
        self.figures.bytes.fetch_add(blocks.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    // ---- checkpoints --------------------------------------------------------------------------------------------

    /// Redo will never start before `lsn` any more: the space before it may be overwritten.
    pub fn set_checkpoint(&self, lsn: Lsn) {
        let before = self.checkpoint.fetch_max(lsn.0, Ordering::AcqRel);
        debug_assert!(before <= lsn.0);
        rank::holds_nothing_from(Rank::LogWriter);
    }

    /// Fills the next stretch of the ring that was never written with zeroes, from `filled` on, ahead of the log's first round.
    /// For the writer's thread. Returns how many bytes the zeroes are ahead; none if there is nothing more to fill.
    ///
    /// The log goes on meanwhile, and waits for the zeroes only where it would write over them (`write_blocks`).
    pub fn fill_ahead(&self, filled: &mut u64) -> Result<Option<u64>> {
        let failed = |error| self.health.stop(format!("filling the log files: {error}"));
        let Some(from) = self.files.first_unwritten(*filled).map_err(failed)? else { return Ok(None) };
        let mut writer = self.writer.lock();
        let written = (block_of(self.written.reached()) + BLOCKS_PER_ALIGN) * BLOCK_LEN as u64;
        if from < written {
            // It has caught up. What it is about to reach it will have written before us; what is farther away it will not.
            *filled = (written + LEFT_TO_THE_LOG).next_multiple_of(IO_ALIGN as u64);
            return Ok(Some(LEFT_TO_THE_LOG));
        }
        writer.filling = from..from + FILL_LEN;
        let filling = self.filling.lock();
        drop(writer);
        let (next, file) = self.files.fill(from).map_err(failed)?;
        drop(filling);
        self.files.sync(file).map_err(failed)?;
        *filled = next;
        Ok(Some(next - written))
    }

    /// The ring.
    pub fn files(&self) -> &LogFiles {
        &self.files
    }
}
