//! The numbers that name things: pages, trees, and positions in the log. Each has its own type, so that none
//! can be passed for another.

use std::fmt;

/// A page's number: its offset in the data file is `number * PAGE_SIZE`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PageNo(pub u32);

impl PageNo {
    /// The page's offset in the data file, in bytes.
    pub fn offset(self) -> u64 {
        u64::from(self.0) * crate::page::PAGE_SIZE as u64
    }

    /// As an index into arrays that have one entry a page.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for PageNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "page {}", self.0)
    }
}

/// A tree's name: the number of its root page, which never moves while the tree lives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TreeId(pub u32);

impl TreeId {
    /// Owner of the pages that describe the file itself; page 0 is the first of them, so no tree has this name.
    pub const SYSTEM: TreeId = TreeId(u32::MAX);

    /// The root page.
    pub fn root(self) -> PageNo {
        PageNo(self.0)
    }
}

impl fmt::Display for TreeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == TreeId::SYSTEM { f.write_str("the system") } else { write!(f, "tree {}", self.0) }
    }
}

/// A position in the log: the number of payload bytes before it since the store was created.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Lsn(pub u64);

impl Lsn {
    /// The log's first byte. A page that carries it has never been changed by a logged operation.
    pub const ZERO: Lsn = Lsn(0);
}

impl fmt::Display for Lsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LSN {}", self.0)
    }
}
