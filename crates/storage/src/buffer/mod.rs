//! Buffer pool: keeps pages in memory and decides which ones leave.
//!
//! Above: `btree`, `space` and `mtr` ask for pages by number. Below: `io` moves them. Beside: `log`, because a page
//! may not reach disk before the log that describes it, and `cleaner`, which writes pages back.
//!
//! ```text
//!                |--> frames | latch, dirty | latch, dirty | ..
//!   page number -|
//!                '--> | 1 | - | 0 | ..
//!                       |
//!              blocks | bytes | bytes | bytes |      as many as memory may have
//! ```
//!
//! One array has a [`Frame`] for each page that there may be, by its number, with its latch, and one the block of memory that the page is in
//! (`blocks`). So there is no table to search and none to lock. Reading in is a read into a free block, evicting is giving the block
//! back. There is no list of pages by age: a clock hand walks a bitmap of the pages in memory (`clock`). Who need not wait for a page
//! is called when it has come (`callbacks`).
//!
//! # Words
//! *Resident*: in memory. *Permit*: the right to make one more page resident, and the block for it.
//!
//! # Invariants
//! 1. There are as many blocks as the limit says: the memory limit is hard. (`take_permit`)
//! 2. A page is resident, loading, or on its way out exactly while it has a block.
//! 3. Nobody waits for the disk, or for memory, while holding a latch: under latches a page that is not resident
//!    is a [`Restart::NotResident`], and new pages bring a permit taken beforehand. (rank check in `load`)
//! 4. What was read from disk is visible only after checksum, identity, LSN and layout were checked. (`read_in`)
//! 5. A page leaves memory only when marked, unlatched and clean (`frame`, invariant 2).
//!
//! # When things fail
//! A failed or corrupt read gives the block back, leaves the page out of memory, and is the caller's error: other
//! pages are not affected. When nothing can leave because everything is latched, `MemoryExhausted`; a page on its way
//! in or out is not latched, it is waited for.
//!
//! # Sources
//! Leis et al., "Virtual-Memory Assisted Buffer Management" (SIGMOD 2023). We differ: pages are in blocks and not at addresses of their
//! own, which would have the system take each page's memory back and provide it again
//! (docs/decisions/2026-12-01-memory-in-blocks.md); a bitmap instead of a hash table of resident pages (a scan of it is 64 pages a
//! word), dirty state beside the latch, sleeping waiters, and a cleaner that copies pages before it writes them, so that no latch is
//! held during I/O.

mod blocks;
mod callbacks;
mod clock;
mod frame;
mod guard;
mod huge;
pub mod memory;

use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::Waker;
use std::time::Instant;

use crossbeam_utils::CachePadded;
use parking_lot::{Condvar, Mutex};

use blocks::{Block, Blocks};
use callbacks::Callbacks;
use clock::Cold;
pub use frame::Frame;
pub use guard::{Exclusive, Optimistic, Restart, Shared};
use memory::ZeroedArray;

use crate::error::{ErrorKind, Result, StorageError};
use crate::health::Health;
use crate::ids::{Lsn, PageNo};
use crate::io::{DiskFile, IoMemory, Operation, Request};
use crate::latch::Blocked;
use crate::page::bytes::PageRef;
use crate::page::node::Node;
use crate::page::{self, PAGE_SIZE};
use crate::rank::{self, Rank};
use crate::wait::{WaitEvent, WaitEvents};

/// The data file's name.
pub const DATA_FILE: &str = "meseta.data";

/// The pages in memory.
pub struct Pool {
    blocks: Blocks,
    frames: ZeroedArray<Frame>,
    resident: ZeroedArray<AtomicU64>,
    file: Arc<dyn DiskFile>,
    /// Pages in the data file; a page number at or beyond it is never read.
    file_pages: AtomicUsize,
    /// The log's end as far as a page from disk may have seen it.
    log_end: Arc<dyn Fn() -> Lsn + Send + Sync>,
    /// Pages on their way in or out: they will be of use to those who wait for memory without anybody's help.
    moving: CachePadded<AtomicUsize>,
    /// Who is called when a page has come.
    callbacks: Callbacks,
    /// Threads that found no page to evict and want to hear when one has moved.
    starved: CachePadded<AtomicUsize>,
    hand: CachePadded<AtomicUsize>,
    cold: Mutex<Cold>,
    progress: Progress,
    relief: Mutex<Option<Arc<dyn Relief>>>,
    health: Arc<Health>,
    waits: Arc<WaitEvents>,
    reads: CachePadded<AtomicU64>,
    evictions: CachePadded<AtomicU64>,
}

/// How the pool asks for pages to be written back (the cleaner's side of it).
pub trait Relief: Send + Sync {
    /// The clock has met cold pages that are dirty: they should be written soon. Called with no latch held; does not
    /// wait for another thread.
    fn want(&self);
    /// Nothing can be evicted: has cold pages written, and returns when something has moved.
    fn relieve(&self) -> Result<()>;
}

/// Counts the times that pages became clean or free, so that those who wait for memory can sleep.
#[derive(Default)]
struct Progress {
    turns: Mutex<u64>,
    changed: Condvar,
}

/// The right to make one page resident, and the block for it.
pub struct Permit<'p> {
    pool: &'p Pool,
    block: Block,
}

impl Permit<'_> {
    /// The block goes to a page.
    fn into_block(self) -> Block {
        std::mem::ManuallyDrop::new(self).block
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.pool.blocks.give_back(&[self.block]);
    }
}

/// Figures for reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PoolFigures {
    /// Pages read from disk.
    pub reads: u64,
    /// Pages evicted.
    pub evictions: u64,
    /// Pages in memory.
    pub resident_pages: usize,
    /// Pages that may be in memory.
    pub limit_pages: usize,
}

impl Pool {
    /// A pool of at most `limit` resident pages over a data file of `file_pages` pages and at most `max_pages`.
    pub fn new(
        file: Arc<dyn DiskFile>,
        file_pages: usize,
        max_pages: usize,
        limit: usize,
        log_end: Arc<dyn Fn() -> Lsn + Send + Sync>,
        health: Arc<Health>,
        waits: Arc<WaitEvents>,
    ) -> Result<Self> {
        let setup = ErrorKind::setup("reserving address space for memory and the data file's pages");
        Ok(Self {
            blocks: Blocks::reserve(limit, max_pages).map_err(&setup)?,
            frames: ZeroedArray::reserve(max_pages).map_err(&setup)?,
            resident: ZeroedArray::reserve(max_pages.div_ceil(64)).map_err(&setup)?,
            file,
            file_pages: AtomicUsize::new(file_pages),
            log_end,
            moving: CachePadded::default(),
            callbacks: Callbacks::default(),
            starved: CachePadded::default(),
            hand: CachePadded::default(),
            cold: Mutex::default(),
            progress: Progress::default(),
            relief: Mutex::default(),
            health,
            waits,
            reads: CachePadded::default(),
            evictions: CachePadded::default(),
        })
    }

    /// Names the one to ask for clean pages (the cleaner, which is made after the pool).
    pub fn set_relief(&self, relief: Option<Arc<dyn Relief>>) {
        *self.relief.lock() = relief;
    }

    #[inline(always)]
    fn address(&self, block: Block) -> *mut u8 {
        self.blocks.address(block)
    }

    #[inline(always)]
    fn view(&self, block: Block) -> PageRef<'_> {
        // SAFETY: the address is mapped for the pool's life, with slack behind the last block; whoever reads through
        // it holds a guard of the page that is in the block, which is a latch or checks the version afterwards.
        unsafe { PageRef::new(self.address(block)) }
    }

    #[inline(always)]
    pub(crate) fn frame(&self, page: PageNo) -> &Frame {
        self.frames.get(page.index())
    }

    /// Whether a page is in memory (or on its way in or out).
    pub fn is_resident(&self, page: PageNo) -> bool {
        !self.frame(page).latch.is_evicted()
    }

    /// Pages in the data file.
    pub fn file_pages(&self) -> usize {
        self.file_pages.load(Ordering::Acquire)
    }

    /// The data file has grown.
    pub fn set_file_pages(&self, pages: usize) {
        self.file_pages.store(pages, Ordering::Release);
    }

    /// The most pages the data file may have.
    pub fn max_pages(&self) -> usize {
        self.frames.len()
    }

    /// The data file.
    pub fn file(&self) -> &Arc<dyn DiskFile> {
        &self.file
    }

    /// Figures for reports.
    pub fn figures(&self) -> PoolFigures {
        PoolFigures {
            reads: self.reads.load(Ordering::Relaxed),
            evictions: self.evictions.load(Ordering::Relaxed),
            resident_pages: self.blocks.taken(),
            limit_pages: self.blocks.limit(),
        }
    }

    // ---- holding pages ------------------------------------------------------------------------------------------

    /// Has what a search in a node begins with brought near, all of it at once: the version, the header and some slots. (A
    /// page that is not in memory stays where it is.) Returns where the page is, if it is in memory, for who asks for more of it.
    #[inline(always)]
    pub fn prefetch_node(&self, page: PageNo) -> Option<*const u8> {
        let page = (page.index() < self.file_pages()).then(|| self.view(self.blocks.of(page)))?;
        Node(page).prefetch_search();
        Some(page.address(0))
    }

    /// Begins an optimistic read, loading the page if need be. Waits while another thread changes the page.
    #[inline]
    pub fn optimistic(&self, page: PageNo, rank: Rank) -> Result<Optimistic<'_>> {
        self.check_in_file(page)?;
        loop {
            match self.frame(page).latch.optimistic() {
                Ok(version) => return Ok(Optimistic::new(self, page, version)),
                Err(blocked) => self.unblock(page, blocked, rank, false)?,
            }
        }
    }

    /// As [`Pool::optimistic`], of a page in memory: nobody waits for the disk.
    #[inline]
    pub fn optimistic_resident(&self, page: PageNo, rank: Rank) -> Result<Optimistic<'_>, Restart> {
        // (Whoever has it loaded looks whether there is such a page.)
        if page.index() >= self.file_pages() {
            return Err(Restart::NotResident(page));
        }
        loop {
            match self.frame(page).latch.optimistic() {
                Ok(version) => return Ok(Optimistic::new(self, page, version)),
                Err(Blocked::Held) => self.wait_latch(page, rank, false),
                Err(Blocked::Evicted | Blocked::Loading) => return Err(Restart::NotResident(page)),
            }
        }
    }

    /// Takes the shared latch, loading the page if need be.
    pub fn shared(&self, page: PageNo, rank: Rank) -> Result<Shared<'_>> {
        self.check_in_file(page)?;
        loop {
            match self.frame(page).latch.try_shared() {
                Ok(()) => return Ok(Shared::acquired(self, page, rank)),
                Err(blocked) => self.unblock(page, blocked, rank, false)?,
            }
        }
    }

    /// Takes the exclusive latch, loading the page if need be.
    pub fn exclusive(&self, page: PageNo, rank: Rank) -> Result<Exclusive<'_>> {
        self.check_in_file(page)?;
        loop {
            match self.frame(page).latch.try_exclusive(None) {
                Ok(()) => return Ok(Exclusive::acquired(self, page, rank)),
                Err(blocked) => self.unblock(page, blocked, rank, true)?,
            }
        }
    }

    /// Takes the exclusive latch of a resident page, waiting for other threads but never for the disk: for callers
    /// that hold latches of lower rank.
    pub fn exclusive_resident(&self, page: PageNo, rank: Rank) -> Result<Exclusive<'_>, Restart> {
        loop {
            match self.frame(page).latch.try_exclusive(None) {
                Ok(()) => return Ok(Exclusive::acquired(self, page, rank)),
                Err(Blocked::Held) => self.wait_latch(page, rank, true),
                Err(Blocked::Evicted | Blocked::Loading) => return Err(Restart::NotResident(page)),
            }
        }
    }

    /// Takes the exclusive latch if it can be had at once.
    pub fn try_exclusive(&self, page: PageNo, rank: Rank) -> Result<Exclusive<'_>, Restart> {
        match self.frame(page).latch.try_exclusive(None) {
            Ok(()) => Ok(Exclusive::acquired(self, page, rank)),
            Err(Blocked::Held) => Err(Restart::Changed),
            Err(Blocked::Evicted | Blocked::Loading) => Err(Restart::NotResident(page)),
        }
    }

    /// Takes a page whose content is about to be made anew: nothing is read from disk. It is what it was in an earlier life, if that is
    /// in memory yet, and else zeroes: its LSN is no later than what is about to be logged of it.
    ///
    /// On entry: the allocator gave the page to this thread, so nobody else wants it, except the cleaner for the
    /// moment of a copy and readers that will restart.
    pub fn fresh<'p>(&'p self, page: PageNo, permit: Permit<'p>, rank: Rank) -> Exclusive<'p> {
        assert!(page.index() < self.file_pages(), "{page} is beyond the data file");
        loop {
            match self.frame(page).latch.try_exclusive(None) {
                // Resident from an earlier life: the page has its own permit, and this one goes back.
                Ok(()) => return Exclusive::acquired(self, page, rank),
                Err(Blocked::Evicted) => {
                    if self.frame(page).latch.try_begin_load() {
                        self.blocks.put(page, permit.into_block());
                        self.set_resident(page, true);
                        self.frame(page).latch.load_to_exclusive();
                        return Exclusive::acquired_fresh(self, page, rank);
                    }
                }
                Err(Blocked::Held | Blocked::Loading) => self.frame(page).latch.wait(true),
            }
        }
    }

    /// Makes a page resident, for a caller that met [`Restart::NotResident`] and has dropped its latches.
    pub fn ensure_resident(&self, page: PageNo) -> Result<()> {
        self.optimistic(page, Rank::TreePage).map(|_| ())
    }

    fn check_in_file(&self, page: PageNo) -> Result<()> {
        if page.index() < self.file_pages() {
            return Ok(());
        }
        let problem = format!("a link leads to {page}, but the file has {} pages", self.file_pages());
        Err(ErrorKind::CorruptPage { file: DATA_FILE.into(), page, problem }.into())
    }

    #[cold]
    fn unblock(&self, page: PageNo, blocked: Blocked, rank: Rank, for_exclusive: bool) -> Result<()> {
        match blocked {
            Blocked::Evicted => self.load(page),
            Blocked::Loading => {
                let _waiting = self.waits.begin(WaitEvent::PageLoad);
                self.frame(page).latch.wait(for_exclusive);
                Ok(())
            }
            Blocked::Held => {
                self.wait_latch(page, rank, for_exclusive);
                Ok(())
            }
        }
    }

    fn wait_latch(&self, page: PageNo, rank: Rank, for_exclusive: bool) {
        rank::may_wait(rank);
        let event = if rank == Rank::SpaceMapPage { WaitEvent::LatchSpaceMap } else { WaitEvent::LatchTree };
        let _waiting = self.waits.begin(event);
        self.frame(page).latch.wait(for_exclusive);
    }

    // ---- loading ------------------------------------------------------------------------------------------------

    fn load(&self, page: PageNo) -> Result<()> {
        rank::holds_nothing_from(Rank::TreePage);
        self.health.check()?;
        let permit = self.take_permit()?;
        if !self.begin_load(page, permit) {
            return Ok(()); // another thread was faster; the caller looks again
        }
        let outcome = self.read_in(page);
        self.end_load(page, outcome.is_ok());
        outcome
    }

    /// Has the page have the permit's block, its latch loading and this thread alone in charge of its memory, until `end_load`.
    /// False, and the permit goes back, if it is not evicted any more.
    fn begin_load(&self, page: PageNo, permit: Permit<'_>) -> bool {
        self.begin_moving();
        let begun = self.frame(page).latch.try_begin_load();
        if begun {
            self.blocks.put(page, permit.into_block());
        } else {
            drop(permit);
            self.end_moving(1);
        }
        begun
    }

    /// Has a page that is missing read in, and the waker called when it is there, or cannot be read: whoever really wants it gets
    /// the error. Or the waker is called when memory has room for it: then this is to be called again. False, if nobody will call: it
    /// is there, nobody knows when there is room, or this thread may as well wait.
    ///
    /// # Errors
    /// There is no such page; the engine has stopped.
    pub fn call_when_loaded(self: &Arc<Self>, page: PageNo, waker: &Waker) -> Result<bool> {
        self.check_in_file(page)?;
        rank::holds_nothing_from(Rank::TreePage);
        self.health.check()?;
        if (self.waits.hook().keeps)() {
            return Ok(false);
        }
        self.callbacks.add(page, waker);
        self.begin_reads(&[page], (self.waits.hook().bell)());
        // By this thread or another; or it was, and he who had read it has called.
        if self.frame(page).latch.is_loading() || !self.callbacks.remove(page, waker) {
            return Ok(true);
        }
        Ok(!self.is_resident(page) && self.call_when_room(waker))
    }

    /// The page that `begin_load` was called for has been read, whole and checked; or not, and leaves memory.
    fn end_load(&self, page: PageNo, is_whole: bool) {
        let frame = self.frame(page);
        if is_whole {
            self.set_resident(page, true);
            frame.latch.finish_load();
        } else {
            let block = self.blocks.of(page);
            frame.latch.abort_load();
            self.blocks.give_back(&[block]);
        }
        self.end_moving(1);
        self.callbacks.call(page);
    }

    fn read_in(&self, page: PageNo) -> Result<()> {
        {
            let _waiting = self.waits.begin(WaitEvent::DataRead);
            // SAFETY: the page's latch is loading: this thread alone writes to its memory, which is mapped. Who still reads there has come
            // for a page that has left it, by loads that may meet anything (`page::bytes`), and finds its version changed.
            let bytes = unsafe { std::slice::from_raw_parts_mut(self.address(self.blocks.of(page)), PAGE_SIZE) };
            self.file.read_exact_at(bytes, page.offset()).map_err(|error| read_error(page, error))?;
        }
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.check_read(page)
    }

    /// Invariant 4. On entry: the page is loading, and its bytes are those from disk.
    fn check_read(&self, page: PageNo) -> Result<()> {
        let block = self.blocks.of(page);
        // SAFETY: loading: this thread alone writes to the page's memory.
        let bytes = unsafe { std::slice::from_raw_parts(self.address(block).cast_const(), PAGE_SIZE) };
        page::check_sealed(bytes, page, (self.log_end)())
            .and_then(|()| page::check_layout(self.view(block)))
            .map_err(|problem| ErrorKind::CorruptPage { file: DATA_FILE.into(), page, problem }.into())
    }

    /// Starts reading pages that will be wanted soon, as one batch. Skips what is resident and stops when no
    /// page can leave memory at once: reading ahead never waits.
    pub fn read_ahead(self: &Arc<Self>, pages: &[PageNo]) {
        self.begin_reads(pages, None);
    }

    fn begin_reads(self: &Arc<Self>, pages: &[PageNo], tell: Option<RawFd>) {
        let mut batch = Vec::new();
        for &page in pages {
            if page.index() >= self.file_pages() || !self.frame(page).latch.is_evicted() {
                continue;
            }
            let permit = self.try_take_permit().or_else(|| {
                self.evict_some();
                self.try_take_permit()
            });
            let Some(permit) = permit else { break };
            if self.begin_load(page, permit) {
                batch.push(self.read_request(page, tell));
            }
        }
        if !batch.is_empty() {
            self.file.submit(batch);
        }
    }

    /// The read of a page that `begin_load` was called for; ends its load when it is done.
    fn read_request(self: &Arc<Self>, page: PageNo, tell: Option<RawFd>) -> Request {
        let (pool, since) = (Arc::clone(self), Instant::now());
        let done = Box::new(move |outcome: std::io::Result<()>| {
            pool.waits.note(WaitEvent::DataRead, since.elapsed());
            pool.reads.fetch_add(1, Ordering::Relaxed);
            let checked = outcome.map_err(|error| read_error(page, error)).and_then(|()| pool.check_read(page));
            // Whoever really wants the page reads it again and gets the error.
            pool.end_load(page, checked.is_ok());
        });
        // SAFETY: the latch is loading until `done` runs, so nobody else writes to the memory (of who reads there: `read_in`), which
        // stays mapped because `done` keeps the pool alive.
        let memory = unsafe { IoMemory::new(self.address(self.blocks.of(page)), PAGE_SIZE) };
        Request { operation: Operation::Read, offset: page.offset(), memory, done, tell }
    }

    // ---- permits and eviction -----------------------------------------------------------------------------------

    fn try_take_permit(&self) -> Option<Permit<'_>> {
        self.blocks.take().map(|block| Permit { pool: self, block })
    }

    /// Takes the right to make one page resident, evicting others if need be.
    ///
    /// Errors: `MemoryExhausted` when everything in memory is latched; the engine has stopped.
    pub fn take_permit(&self) -> Result<Permit<'_>> {
        if let Some(permit) = self.try_take_permit() {
            return Ok(permit);
        }
        self.take_permit_by_eviction()
    }

    #[cold]
    fn take_permit_by_eviction(&self) -> Result<Permit<'_>> {
        const PATIENCE: u32 = 64;
        let mut fruitless = 0;
        let mut last_seen = (0, 0);
        loop {
            self.evict_some();
            if let Some(permit) = self.try_take_permit() {
                return Ok(permit);
            }
            // Others may have been faster to what left: only a standstill counts.
            let seen = (self.evictions.load(Ordering::Relaxed), self.progress());
            fruitless = if seen == last_seen && !self.wait_moving() { fruitless + 1 } else { 0 };
            last_seen = seen;
            if fruitless > 0 {
                if fruitless > PATIENCE {
                    return Err(self.exhausted());
                }
                self.health.check()?;
                let _waiting = self.waits.begin(WaitEvent::FrameFree);
                let relief = self.relief.lock().clone();
                if let Some(relief) = relief {
                    relief.relieve()?;
                }
            }
        }
    }

    /// A page may be about to come in, or to leave.
    fn begin_moving(&self) {
        self.moving.fetch_add(1, Ordering::SeqCst);
    }

    /// Pages have arrived, with their permits, where they will stay.
    fn end_moving(&self, pages: usize) {
        self.moving.fetch_sub(pages, Ordering::SeqCst);
        // Sequentially consistent, as in `wait_moving`: either this thread sees the waiter, or it saw that no page moves.
        if self.starved.load(Ordering::SeqCst) > 0 {
            self.note_progress();
        }
    }

    /// Waits until a page that is on its way has arrived. Returns whether there was one.
    fn wait_moving(&self) -> bool {
        self.starved.fetch_add(1, Ordering::SeqCst);
        let turn = self.progress();
        let moving = self.moving.load(Ordering::SeqCst) > 0;
        if moving {
            let _waiting = self.waits.begin(WaitEvent::FrameFree);
            self.wait_progress(turn);
        }
        self.starved.fetch_sub(1, Ordering::SeqCst);
        moving
    }

    /// The error of those who need a page more than memory holds.
    pub fn exhausted(&self) -> StorageError {
        let figures = self.figures();
        ErrorKind::MemoryExhausted { limit_pages: figures.limit_pages, latched_pages: figures.resident_pages }.into()
    }

    /// Waits until pages have become clean since `turn`, or a moment has passed.
    pub fn wait_progress(&self, turn: u64) {
        let mut turns = self.progress.turns.lock();
        if *turns == turn {
            self.progress.changed.wait_for(&mut turns, std::time::Duration::from_millis(50));
        }
    }

    /// How often pages have become clean; see [`Pool::wait_progress`].
    pub fn progress(&self) -> u64 {
        *self.progress.turns.lock()
    }

    /// Pages have become clean.
    pub fn note_progress(&self) {
        *self.progress.turns.lock() += 1;
        self.progress.changed.notify_all();
    }

    /// Something else that may be waited for has happened.
    pub fn wake_waiters(&self) {
        self.progress.changed.notify_all();
    }

    fn set_resident(&self, page: PageNo, resident: bool) {
        let (word, bit) = (self.resident.get(page.index() / 64), 1 << (page.index() % 64));
        if resident {
            word.fetch_or(bit, Ordering::AcqRel);
        } else {
            word.fetch_and(!bit, Ordering::AcqRel);
        }
    }

    /// Has the system keep some of the memory in huge pages of its own, more at each call.
    pub fn use_huge_pages(&self) {
        self.blocks.use_huge_pages();
    }

    /// Calls `visit` for every resident page, in order of page numbers.
    pub fn for_each_resident(&self, mut visit: impl FnMut(PageNo, &Frame)) {
        for index in 0..self.file_pages().div_ceil(64) {
            let mut word = self.resident.get(index).load(Ordering::Acquire);
            while word != 0 {
                let page = PageNo((index * 64) as u32 + word.trailing_zeros());
                word &= word - 1;
                visit(page, self.frame(page));
            }
        }
    }

    /// Takes a shared latch for a copy of a dirty page, if the page is resident and free at once.
    pub fn try_shared(&self, page: PageNo, rank: Rank) -> Option<Shared<'_>> {
        self.frame(page).latch.try_shared().ok().map(|()| Shared::acquired(self, page, rank))
    }

    /// Takes a shared latch for a copy of a resident page; waits for its writer. `None` when it is not resident.
    pub fn shared_if_resident(&self, page: PageNo, rank: Rank) -> Option<Shared<'_>> {
        loop {
            match self.frame(page).latch.try_shared() {
                Ok(()) => return Some(Shared::acquired(self, page, rank)),
                Err(Blocked::Held) => self.wait_latch(page, rank, false),
                Err(Blocked::Evicted | Blocked::Loading) => return None,
            }
        }
    }
}

fn read_error(page: PageNo, error: std::io::Error) -> StorageError {
    ErrorKind::Read { what: format!("{DATA_FILE}, {page} (byte {})", page.offset()), error }.into()
}
