//! The pages that say whose each page is.
//!
//! The data file is a row of *regions*; the first page of each is its map. A region is cut into *extents* of
//! [`EXTENT_PAGES`] pages, each owned by one tree or free, with one bit a page for those in use.
//!
//! ```text
//!  24           32            40
//!  +------------+------------+------------+- - -        entry:  owner u32 | pages in use u8 | 0 0 0
//!  | (reserved) | extent 0   | extent 1   |
//!  +------------+------------+------------+- - -
//! ```
//!
//! The map page itself is page 0 of extent 0, which belongs to [`TreeId::SYSTEM`] with all of its pages.

use super::bytes::{PageBuffer, PageMut, PageRef};
use super::{PAGE_SIZE, PageKind};
use crate::ids::{PageNo, TreeId};

const ENTRIES: usize = 32;
const ENTRY_LEN: usize = 8;

/// Pages in an extent.
pub const EXTENT_PAGES: u32 = 8;

/// Extents that one map page describes.
pub const REGION_EXTENTS: u32 = ((PAGE_SIZE - ENTRIES) / ENTRY_LEN) as u32;

/// Pages in a region, the map included.
pub const REGION_PAGES: u32 = REGION_EXTENTS * EXTENT_PAGES;

/// An extent's number: its first page is `number * EXTENT_PAGES`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ExtentNo(pub u32);

impl ExtentNo {
    /// The extent that holds a page.
    pub fn of(page: PageNo) -> Self {
        Self(page.0 / EXTENT_PAGES)
    }

    /// The page with this position in the extent.
    pub fn page(self, position: u32) -> PageNo {
        PageNo(self.0 * EXTENT_PAGES + position)
    }

    /// The map page that describes this extent.
    pub fn map_page(self) -> PageNo {
        PageNo(self.0 / REGION_EXTENTS * REGION_PAGES)
    }

    /// The entry in that page.
    pub fn entry_index(self) -> u16 {
        (self.0 % REGION_EXTENTS) as u16
    }

    /// Whether the extent holds its region's map page.
    pub fn is_map(self) -> bool {
        self.0.is_multiple_of(REGION_EXTENTS)
    }
}

/// The bit of a page in its extent's entry.
pub fn page_bit(page: PageNo) -> u8 {
    1 << (page.0 % EXTENT_PAGES)
}

/// What the map says of one extent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Entry {
    /// The owner's tree number; zero when the extent is free.
    pub owner: u32,
    /// One bit a page: in use.
    pub used: u8,
}

/// Reads an entry.
pub fn entry(page: PageRef<'_>, index: u16) -> Entry {
    let at = ENTRIES + ENTRY_LEN * usize::from(index);
    Entry { owner: page.u32(at), used: page.u8(at + 4) }
}

/// Writes an entry.
pub fn set_entry(page: &mut PageMut<'_>, index: u16, entry: Entry) {
    let at = ENTRIES + ENTRY_LEN * usize::from(index);
    page.set_u32(at, entry.owner);
    page.set_u8(at + 4, entry.used);
}

/// A region's map with every extent free but its own.
pub fn build(page_no: PageNo) -> Box<PageBuffer> {
    let mut image = PageBuffer::boxed();
    let mut page = PageMut::of(&mut image);
    page.set_header(page_no, TreeId::SYSTEM, PageKind::SpaceMap, 0);
    set_entry(&mut page, 0, Entry { owner: TreeId::SYSTEM.0, used: u8::MAX });
    image
}

/// The stretch that carries information.
pub fn occupied() -> (usize, usize) {
    (super::TREE, PAGE_SIZE - super::TREE)
}

/// Checks what can be seen in one page.
pub fn check(page: PageRef<'_>) -> Result<(), String> {
    if !page.page_no().0.is_multiple_of(REGION_PAGES) {
        return Err(format!("space map at {}, which begins no region", page.page_no()));
    }
    let own = entry(page, 0);
    if own != (Entry { owner: TreeId::SYSTEM.0, used: u8::MAX }) {
        return Err(format!("space map: its own extent belongs to {own:?}"));
    }
    for index in 1..REGION_EXTENTS as u16 {
        let entry = entry(page, index);
        if (entry.owner == 0) != (entry.used == 0) {
            return Err(format!("space map entry {index}: {entry:?} is half free"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_agree() {
        let far = ExtentNo(REGION_EXTENTS + 3);
        assert_eq!(ExtentNo::of(far.page(7)), far);
        assert_eq!(far.map_page(), PageNo(REGION_PAGES));
        assert_eq!(far.entry_index(), 3);
        assert!(ExtentNo(REGION_EXTENTS).is_map() && !far.is_map());
        assert_eq!(ExtentNo::of(far.map_page()), ExtentNo(REGION_EXTENTS));
        check(PageRef::of(&build(PageNo(REGION_PAGES)))).unwrap();
    }
}
