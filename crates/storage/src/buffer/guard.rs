//! Three ways to hold a page, as types: [`Optimistic`] holds nothing and checks afterwards, [`Shared`] and
//! [`Exclusive`] hold the latch until dropped.

use super::Pool;
use super::blocks::Block;
use crate::ids::PageNo;
use crate::latch::Version;
use crate::page::PAGE_SIZE;
use crate::page::bytes::{PageMut, PageRef};
use crate::page::sectors::Sectors;
use crate::rank::{self, Rank};

/// Why an attempt on a page has to begin again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Restart {
    /// Somebody changed or holds the page. Nobody waits here; the caller tries again from its start.
    Changed,
    /// The page is not in memory, and the caller holds latches: it drops them, has the page loaded, and tries again.
    NotResident(PageNo),
}

/// A page that may change while it is being read.
pub struct Optimistic<'p> {
    pool: &'p Pool,
    page: PageNo,
    block: Block,
    version: Version,
}

impl<'p> Optimistic<'p> {
    /// On entry: the version has been taken from the page's latch.
    pub(super) fn new(pool: &'p Pool, page: PageNo, version: Version) -> Self {
        Self { pool, page, block: pool.blocks.of(page), version }
    }

    /// The page's number.
    pub fn page_no(&self) -> PageNo {
        self.page
    }

    /// The version that reads are checked against.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Runs `read` on the page and keeps its answer only if no writer came by.
    ///
    /// `read` may see nonsense: it must end, have no side effects that outlive a restart, and use what it saw to
    /// reach nothing outside this page.
    #[inline]
    pub fn read<T>(&self, read: impl FnOnce(PageRef<'_>) -> T) -> Result<T, Restart> {
        let answer = read(self.pool.view(self.block));
        self.check()?;
        Ok(answer)
    }

    /// Whether everything read so far is one consistent page.
    #[inline]
    pub fn check(&self) -> Result<(), Restart> {
        if self.pool.frame(self.page).latch.is_unchanged(self.version) { Ok(()) } else { Err(Restart::Changed) }
    }

    /// Takes the exclusive latch if the page is unchanged and free; never waits.
    pub fn try_upgrade(self, rank: Rank) -> Result<Exclusive<'p>, Restart> {
        match self.pool.frame(self.page).latch.try_exclusive(Some(self.version)) {
            Ok(()) => Ok(Exclusive::acquired(self.pool, self.page, rank)),
            Err(_) => Err(Restart::Changed),
        }
    }
}

/// A page that nobody changes while this lives.
pub struct Shared<'p> {
    pool: &'p Pool,
    page: PageNo,
    block: Block,
    rank: Rank,
}

impl<'p> Shared<'p> {
    /// On entry: one share of the page's latch has just been taken.
    pub(super) fn acquired(pool: &'p Pool, page: PageNo, rank: Rank) -> Self {
        rank::acquired(rank);
        Self { pool, page, block: pool.blocks.of(page), rank }
    }

    /// The page's bytes.
    pub fn view(&self) -> PageRef<'_> {
        self.pool.view(self.block)
    }

    /// Whether the page is unchanged since an optimistic read saw this version of it.
    pub fn is_at(&self, version: Version) -> bool {
        self.pool.frame(self.page).latch.is_unchanged(version)
    }

    /// The page's bytes, as they are while this lives.
    pub fn bytes(&self) -> &[u8; PAGE_SIZE] {
        // SAFETY: the page is mapped for the pool's life. The shared latch keeps every writer out while `self` is
        // borrowed: nobody changes these bytes, and the page cannot leave memory.
        unsafe { &*self.pool.address(self.block).cast_const().cast::<[u8; PAGE_SIZE]>() }
    }
}

impl Drop for Shared<'_> {
    fn drop(&mut self) {
        rank::released(self.rank);
        self.pool.frame(self.page).latch.unlock_shared();
    }
}

/// A page that only this thread reads or changes while this lives.
pub struct Exclusive<'p> {
    pool: &'p Pool,
    page: PageNo,
    block: Block,
    rank: Rank,
    /// Sectors changed through this guard, for the frame.
    changed: Sectors,
}

impl<'p> Exclusive<'p> {
    /// On entry: the page's latch has just been taken exclusively.
    pub(super) fn acquired(pool: &'p Pool, page: PageNo, rank: Rank) -> Self {
        rank::acquired(rank);
        Self { pool, page, block: pool.blocks.of(page), rank, changed: Sectors::NONE }
    }

    /// The same, of a page that has a block which another had before, and nothing to do with what the disk holds: it is zeroes.
    pub(super) fn acquired_fresh(pool: &'p Pool, page: PageNo, rank: Rank) -> Self {
        let mut new = Self::acquired(pool, page, rank);
        new.bytes_mut().write(0, &[0; PAGE_SIZE]);
        new
    }

    /// The page's number.
    pub fn page_no(&self) -> PageNo {
        self.page
    }

    /// The page's bytes.
    pub fn view(&self) -> PageRef<'_> {
        self.pool.view(self.block)
    }

    /// The page's bytes, to change. Changes belong into a mini-transaction (`mtr`), which logs them.
    pub fn bytes_mut(&mut self) -> PageMut<'_> {
        // SAFETY: the page's memory is mapped for the pool's life, and this guard is the exclusive latch.
        unsafe { PageMut::new(self.pool.address(self.block), &mut self.changed) }
    }

    pub(crate) fn frame(&self) -> &super::Frame {
        self.pool.frame(self.page)
    }
}

impl Drop for Exclusive<'_> {
    fn drop(&mut self) {
        rank::released(self.rank);
        let frame = self.pool.frame(self.page);
        frame.add_changed(self.changed);
        frame.latch.unlock_exclusive();
    }
}
