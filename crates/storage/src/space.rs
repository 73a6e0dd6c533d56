//! Which pages are whose: allocation, and the growth of the data file.
//!
//! The truth is the space map in the pages themselves (`page::space_map`), changed only inside mini-transactions
//! together with the link to the page, so that after a crash every page is owned exactly once. Beside it a copy in
//! memory decides quickly what is free.
//!
//! # Words
//! *Reserve*: take a page out of the free ones in memory; nothing is on disk yet, and dropping the [`Reserved`]
//! gives it back. *Publish*: set its bit in the map, in the mini-transaction that links it. *Extent*: eight pages
//! with one owner.
//!
//! # Invariants
//! 1. In memory a page is free only if it is free in the map, and stays taken until the mini-transaction that frees
//!    it has its place in the log: so a page's next owner is logged after the last one.
//! 2. The file is extended with space reserved on the device before any of its new pages is handed out: a page that
//!    was allocated can always be written back. `DiskFull` is met here, when nothing has been changed yet.
//! 3. No I/O happens under the `Space` mutex; the file grows under `Extend`, where no latch is held.
//! 4. A region's map page is formatted, and logged, before any other page of the region is handed out.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use smallvec::SmallVec;

use crate::buffer::{DATA_FILE, Pool, Restart};
use crate::error::{ErrorKind, Result};
use crate::health::Health;
use crate::ids::{PageNo, TreeId};
use crate::log::Log;
use crate::mtr::Mtr;
use crate::page::space_map::{self, EXTENT_PAGES, Entry, ExtentNo, REGION_EXTENTS, REGION_PAGES, page_bit};
use crate::page::{PAGE_SIZE, PageKind};
use crate::rank::{Rank, RankedMutex};
use crate::redo::Op;
use crate::wait::{WaitEvent, WaitEvents};

/// The file grows by this many extents at least.
const GROWTH_EXTENTS_MIN: u32 = 16;
/// ... and by this many at most: 64 MiB.
const GROWTH_EXTENTS_MAX: u32 = 512;

/// The allocator.
pub struct Space {
    pool: Arc<Pool>,
    log: Arc<Log>,
    state: RankedMutex<State>,
    extend: RankedMutex<()>,
    health: Arc<Health>,
    waits: Arc<WaitEvents>,
}

/// What is free, in memory.
#[derive(Default)]
struct State {
    /// Every extent in the file: owner (0 is free) and the pages taken, published or only reserved.
    extents: Vec<Entry>,
    free: BTreeSet<u32>,
    trees: HashMap<u32, TreeExtents>,
}

#[derive(Default)]
struct TreeExtents {
    extents: BTreeSet<u32>,
    /// Those with a page left.
    partial: BTreeSet<u32>,
}

/// A page taken in memory only; given back when dropped, unless it was published.
pub struct Reserved<'s> {
    space: &'s Space,
    page: PageNo,
    published: bool,
}

impl Reserved<'_> {
    /// The page.
    pub fn page_no(&self) -> PageNo {
        self.page
    }

    /// The page has been published: it stays taken.
    fn keep(mut self) {
        self.published = true;
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        if !self.published {
            self.space.state.lock().give_back(self.page);
        }
    }
}

impl State {
    fn add_extent(&mut self, entry: Entry) {
        let number = self.extents.len() as u32;
        self.extents.push(entry);
        if entry.owner == 0 {
            self.free.insert(number);
        } else if entry.owner != TreeId::SYSTEM.0 {
            let tree = self.trees.entry(entry.owner).or_default();
            tree.extents.insert(number);
            if entry.used != u8::MAX {
                tree.partial.insert(number);
            }
        }
    }

    fn take_from(&mut self, owner: u32, extent: u32) -> PageNo {
        let entry = &mut self.extents[extent as usize];
        let position = entry.used.trailing_ones();
        entry.used |= 1 << position;
        let tree = self.trees.entry(owner).or_default();
        if entry.used == u8::MAX {
            tree.partial.remove(&extent);
        } else {
            tree.partial.insert(extent);
        }
        ExtentNo(extent).page(position)
    }

    fn take(&mut self, tree: TreeId) -> Option<PageNo> {
        if let Some(&extent) = self.trees.get(&tree.0).and_then(|tree| tree.partial.first()) {
            return Some(self.take_from(tree.0, extent));
        }
        let extent = self.free.pop_first()?;
        self.extents[extent as usize] = Entry { owner: tree.0, used: 0 };
        self.trees.entry(tree.0).or_default().extents.insert(extent);
        Some(self.take_from(tree.0, extent))
    }

    fn take_root(&mut self) -> Option<PageNo> {
        let extent = self.free.pop_first()?;
        let owner = extent * EXTENT_PAGES;
        self.extents[extent as usize] = Entry { owner, used: 0 };
        self.trees.entry(owner).or_default().extents.insert(extent);
        Some(self.take_from(owner, extent))
    }

    fn give_back(&mut self, page: PageNo) {
        let extent = ExtentNo::of(page).0;
        let entry = &mut self.extents[extent as usize];
        let owner = entry.owner;
        entry.used &= !page_bit(page);
        let tree = self.trees.get_mut(&owner).expect("a page that is taken has an owner");
        if entry.used == 0 {
            entry.owner = 0;
            tree.partial.remove(&extent);
            tree.extents.remove(&extent);
            if tree.extents.is_empty() {
                self.trees.remove(&owner);
            }
            self.free.insert(extent);
        } else {
            tree.partial.insert(extent);
        }
    }
}

impl Space {
    /// An allocator that knows of no extents yet; see [`Space::load`].
    pub fn new(pool: Arc<Pool>, log: Arc<Log>, health: Arc<Health>, waits: Arc<WaitEvents>) -> Self {
        Self {
            pool,
            log,
            state: RankedMutex::new(Rank::Space, State::default()).counted(&waits, WaitEvent::LatchSpace),
            extend: RankedMutex::new(Rank::Extend, ()),
            health,
            waits,
        }
    }

    /// Reads the space map of an existing file. `new` says that no checkpoint has ever been taken, so that there may
    /// not even be a first region yet.
    ///
    /// Errors: a map page is damaged; the file is shorter than the map says.
    pub fn load(&self, new: bool) -> Result<()> {
        let file_extents = self.pool.file_pages() as u32 / EXTENT_PAGES;
        let mut state = State::default();
        let mut last_owned = None;
        for region in 0.. {
            let map = PageNo(region * REGION_PAGES);
            if map.index() >= self.pool.file_pages() {
                break;
            }
            // A crash may come between the file's growth and the first log of a new region's map: then the region
            // does not exist yet, and nothing in it has ever been written.
            if (region > 0 || new) && self.is_unwritten(map)? {
                break;
            }
            let page = self.pool.shared(map, Rank::SpaceMapPage)?;
            space_map::check(page.view()).map_err(|problem| ErrorKind::CorruptPage {
                file: DATA_FILE.into(),
                page: map,
                problem,
            })?;
            for index in 0..REGION_EXTENTS {
                let number = region * REGION_EXTENTS + index;
                let entry = space_map::entry(page.view(), index as u16);
                if entry.owner != 0 {
                    last_owned = Some(ExtentNo(number));
                }
                if number < file_extents {
                    state.add_extent(entry);
                }
            }
            if (region + 1) * REGION_EXTENTS >= file_extents {
                break;
            }
        }
        if let Some(last) = last_owned.filter(|last| last.0 >= file_extents) {
            return Err(ErrorKind::Truncated {
                file: DATA_FILE.into(),
                found: self.pool.file_pages() as u64 * PAGE_SIZE as u64,
                expected: last.page(EXTENT_PAGES).offset(),
            }
            .into());
        }
        *self.state.lock() = state;
        Ok(())
    }

    /// Whether a region's map, and the pages behind it that would be handed out first, hold only zeroes.
    fn is_unwritten(&self, map: PageNo) -> Result<bool> {
        const LOOKED_AT: u32 = 8 * EXTENT_PAGES;
        let mut bytes = crate::io::AlignedBuffer::new(PAGE_SIZE);
        for page in (map.0..map.0 + LOOKED_AT).map(PageNo) {
            if page.index() >= self.pool.file_pages() {
                break;
            }
            if self.pool.is_resident(page) {
                return Ok(false);
            }
            let what = || format!("{DATA_FILE}, {page}");
            self.pool
                .file()
                .read_exact_at(&mut bytes, page.offset())
                .map_err(|error| ErrorKind::Read { what: what(), error })?;
            if bytes.iter().any(|&byte| byte != 0) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Takes a page for `tree`, extending the file if need be. Called with no latch held.
    ///
    /// Errors: `DiskFull`.
    pub fn reserve(&self, tree: TreeId) -> Result<Reserved<'_>> {
        self.reserve_with(|state| state.take(tree))
    }

    /// Takes a page that will be the root of a new tree, alone in its extent.
    pub fn reserve_root(&self) -> Result<Reserved<'_>> {
        self.reserve_with(State::take_root)
    }

    fn reserve_with(&self, mut take: impl FnMut(&mut State) -> Option<PageNo>) -> Result<Reserved<'_>> {
        loop {
            let (page, extents) = {
                let mut state = self.state.lock();
                (take(&mut state), state.extents.len())
            };
            if let Some(page) = page {
                return Ok(Reserved { space: self, page, published: false });
            }
            self.grow(extents)?;
        }
    }

    /// Makes the file longer, unless somebody else did so since it had `known` extents.
    fn grow(&self, known: usize) -> Result<()> {
        self.health.check()?;
        let _growing = self.extend.lock();
        if self.state.lock().extents.len() != known {
            return Ok(());
        }
        let known = known as u32;
        let growth = (known / 16).clamp(GROWTH_EXTENTS_MIN, GROWTH_EXTENTS_MAX);
        let limit = (self.pool.max_pages() as u32 / EXTENT_PAGES).min(u32::MAX / EXTENT_PAGES - 1);
        // Never past the end of a region: the next map page is formatted by the growth that reaches it.
        let region_end = (known / REGION_EXTENTS + 1) * REGION_EXTENTS;
        let extents = (known + growth).min(limit).min(region_end);
        let full = |bytes| ErrorKind::DiskFull { file: DATA_FILE.into(), bytes };
        let bytes = ExtentNo(extents).page(0).offset();
        if extents == known {
            return Err(full(bytes + 1).into());
        }
        let pages = (extents * EXTENT_PAGES) as usize;
        if pages > self.pool.file_pages() {
            let _waiting = self.waits.begin(WaitEvent::DataExtend);
            self.pool.file().allocate(bytes).map_err(|error| match error.kind() {
                std::io::ErrorKind::StorageFull => full(bytes).into(),
                _ => self.health.stop(format!("extending {DATA_FILE} to {bytes} bytes: {error}")),
            })?;
            // The new length must be durable before a page beyond the old one is: the map may say so soon.
            self.pool
                .file()
                .sync()
                .map_err(|error| self.health.stop(format!("syncing {DATA_FILE} after it grew: {error}")))?;
            self.pool.set_file_pages(pages);
        }
        if ExtentNo(known).is_map() {
            self.format_map(ExtentNo(known).map_page())?;
        }
        let mut state = self.state.lock();
        for number in known..extents {
            let own = Entry { owner: TreeId::SYSTEM.0, used: u8::MAX };
            state.add_extent(if ExtentNo(number).is_map() { own } else { Entry::default() });
        }
        Ok(())
    }

    fn format_map(&self, map: PageNo) -> Result<()> {
        let permit = self.pool.take_permit()?;
        let mut mtr = Mtr::begin(&self.log);
        let slot = mtr.add(self.pool.fresh(map, permit, Rank::SpaceMapPage));
        mtr.apply_image(slot, &space_map::build(map));
        mtr.commit();
        Ok(())
    }

    /// Publishes reserved pages in the mini-transaction that links them; [`Space::latch_maps`] latched their maps.
    pub fn publish<'p>(&self, mtr: &mut Mtr<'p>, maps: &mut Maps<'p>, pages: Vec<Reserved<'_>>) {
        for (extent, bits) in by_extent(pages.iter().map(Reserved::page_no)) {
            let owner = self.state.lock().extents[extent.0 as usize].owner;
            maps.change(mtr, extent, |entry| {
                debug_assert!(entry.owner == 0 || entry.owner == owner, "{extent:?} is published for two trees");
                debug_assert!(entry.used & bits == 0, "pages of {extent:?} are published twice");
                Entry { owner, used: entry.used | bits }
            });
        }
        pages.into_iter().for_each(Reserved::keep);
    }

    /// Frees published pages in the mini-transaction that unlinks them; [`Space::forget`] them after its commit.
    pub fn unpublish<'p>(&self, mtr: &mut Mtr<'p>, maps: &mut Maps<'p>, pages: &[PageNo]) {
        for (extent, bits) in by_extent(pages.iter().copied()) {
            maps.change(mtr, extent, |entry| {
                debug_assert!(entry.used & bits == bits, "pages of {extent:?} are freed twice");
                let used = entry.used & !bits;
                Entry { owner: if used == 0 { 0 } else { entry.owner }, used }
            });
        }
    }

    /// The mini-transaction that freed these pages has its place in the log: they may be taken again.
    pub fn forget(&self, pages: &[PageNo]) {
        let mut state = self.state.lock();
        for &page in pages {
            state.give_back(page);
        }
    }

    /// Latches the map pages that describe `pages`, in ascending order, behind all tree pages.
    ///
    /// Errors: a restart when one is not in memory.
    pub fn latch_maps<'p>(&self, pool: &'p Pool, pages: impl IntoIterator<Item = PageNo>) -> Result<Maps<'p>, Restart> {
        let mut pages = pages.into_iter().peekable();
        // Mostly there is none.
        if pages.peek().is_none() {
            return Ok(Maps::default());
        }
        let mut numbers: SmallVec<[PageNo; 4]> = pages.map(|page| ExtentNo::of(page).map_page()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut latched = Vec::with_capacity(numbers.len());
        for (index, number) in numbers.into_iter().enumerate() {
            // The first may be waited for. Others are peers of it: taken at once or not at all.
            let page = if index == 0 {
                pool.exclusive_resident(number, Rank::SpaceMapPage)?
            } else {
                pool.try_exclusive(number, Rank::SpaceMapPage)?
            };
            latched.push((number, MapPage::Latched(page)));
        }
        Ok(Maps { pages: latched })
    }

    /// The extents of a tree and the pages in use in each, for dropping it and for checks.
    pub fn extents_of(&self, tree: TreeId) -> Vec<(ExtentNo, u8)> {
        let state = self.state.lock();
        let Some(tree) = state.trees.get(&tree.0) else { return Vec::new() };
        tree.extents.iter().map(|&number| (ExtentNo(number), state.extents[number as usize].used)).collect()
    }

    /// Every tree that owns pages.
    pub fn trees(&self) -> Vec<TreeId> {
        let mut trees: Vec<_> = self.state.lock().trees.keys().map(|&number| TreeId(number)).collect();
        trees.sort_unstable();
        trees
    }

    /// Whether a tree of this name exists.
    pub fn has_tree(&self, tree: TreeId) -> bool {
        self.state.lock().trees.contains_key(&tree.0)
    }

    /// Pages in the file, and those of them that belong to nobody.
    pub fn page_counts(&self) -> (u64, u64) {
        let state = self.state.lock();
        let free: u64 = state.extents.iter().map(|entry| u64::from(entry.used.count_zeros())).sum();
        (state.extents.len() as u64 * u64::from(EXTENT_PAGES), free)
    }

    /// What the map in memory says of a page's extent.
    pub fn entry_of(&self, page: PageNo) -> Entry {
        self.state.lock().extents.get(ExtentNo::of(page).0 as usize).copied().unwrap_or_default()
    }

    /// What the map in memory says of each extent.
    pub fn extents(&self) -> Vec<Entry> {
        self.state.lock().extents.clone()
    }
}

/// Pages as extents with one bit each, in ascending order. Most changes of a tree have none.
fn by_extent(pages: impl Iterator<Item = PageNo>) -> SmallVec<[(ExtentNo, u8); 4]> {
    let mut extents: SmallVec<[(ExtentNo, u8); 4]> = pages.map(|page| (ExtentNo::of(page), page_bit(page))).collect();
    extents.sort_unstable();
    extents.dedup_by(|next, one| {
        let is_same = next.0 == one.0;
        if is_same {
            one.1 |= next.1;
        }
        is_same
    });
    extents
}

enum MapPage<'p> {
    Latched(crate::buffer::Exclusive<'p>),
    Added(crate::mtr::Slot),
    Moving,
}

/// Latched map pages, on their way into a mini-transaction. By default none: of a change that takes and frees no page.
#[derive(Default)]
pub struct Maps<'p> {
    pages: Vec<(PageNo, MapPage<'p>)>,
}

impl<'p> Maps<'p> {
    fn change(&mut self, mtr: &mut Mtr<'p>, extent: ExtentNo, change: impl FnOnce(Entry) -> Entry) {
        let map = extent.map_page();
        let (_, state) = self.pages.iter_mut().find(|(number, _)| *number == map).expect("the map page is latched");
        let slot = match std::mem::replace(state, MapPage::Moving) {
            MapPage::Latched(latched) => mtr.add(latched),
            MapPage::Added(slot) => slot,
            MapPage::Moving => unreachable!("a map page is moved once"),
        };
        *state = MapPage::Added(slot);
        debug_assert_eq!(mtr.view(slot).kind(), Some(PageKind::SpaceMap));
        let index = extent.entry_index();
        let entry = change(space_map::entry(mtr.view(slot), index));
        mtr.apply(slot, Op::SetExtent { index, entry });
    }
}
