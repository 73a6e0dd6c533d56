//! Checks a whole store, page by page, and says what is wrong and where: `meseta check`.
//!
//! # What is checked
//! 1. Every page in use: checksum, identity, LSN, and everything that can be seen in the page itself.
//! 2. Every tree: each child's level, owner and fences are what its parent says; keys ascend across pages.
//! 3. Every long value: its pages, its length, its checksum.
//! 4. Every page belongs to exactly one owner: the space map and the links agree, nothing is used twice, nothing is
//!    lost.
//!
//! Pages are read from disk, not from memory, after everything has been written back.

use std::collections::HashMap;
use std::fmt;

use crate::btree::Tree;
use crate::buffer::DATA_FILE;
use crate::error::Result;
use crate::ids::{Lsn, PageNo, TreeId};
use crate::io::AlignedBuffer;
use crate::page::bytes::{PageBuffer, PageRef};
use crate::page::node::Node;
use crate::page::space_map::{self, EXTENT_PAGES, ExtentNo};
use crate::page::{self, PAGE_SIZE, PageKind, crc32c, overflow};
use crate::store::Store;

/// Something that is not as it should be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The page concerned.
    pub page: PageNo,
    /// Whose page it is, as far as known.
    pub owner: Option<TreeId>,
    /// Expected and found.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{DATA_FILE}, {} (byte {})", self.page, self.page.offset())?;
        if let Some(owner) = self.owner {
            write!(f, ", of {owner}")?;
        }
        write!(f, ": {}", self.what)
    }
}

/// What a check saw.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Pages read.
    pub pages: u64,
    /// Trees walked.
    pub trees: u64,
    /// Entries in leaves.
    pub entries: u64,
    /// Long values read.
    pub long_values: u64,
    /// What is wrong; empty for a sound store.
    pub problems: Vec<Problem>,
}

impl Store {
    /// Writes everything back, then checks every page and every tree. Nobody may change the store meanwhile.
    ///
    /// Errors: the disk cannot be read or written; damage is in the report, not an error.
    pub fn check(&self) -> Result<Report> {
        self.checkpoint()?;
        let mut check = Check {
            store: self,
            report: Report::default(),
            claimed: HashMap::new(),
            buffer: AlignedBuffer::new(PAGE_SIZE),
        };
        let extents = self.core().space.extents();
        for region in 0..(extents.len() as u32).div_ceil(space_map::REGION_EXTENTS) {
            let map = ExtentNo(region * space_map::REGION_EXTENTS).map_page();
            check.read(map, TreeId::SYSTEM, PageKind::SpaceMap);
        }
        for tree in self.trees() {
            check.report.trees += 1;
            check.node(tree, tree.root(), None, &[], None);
        }
        for (number, entry) in extents.iter().enumerate() {
            let extent = ExtentNo(number as u32);
            if extent.is_map() || entry.owner == 0 {
                continue;
            }
            for position in (0..EXTENT_PAGES).filter(|bit| entry.used & (1 << bit) != 0) {
                let page = extent.page(position);
                if !check.claimed.contains_key(&page) {
                    let what = "in use according to the space map, but nothing leads to it".into();
                    check.problem(page, Some(TreeId(entry.owner)), what);
                }
            }
        }
        Ok(check.report)
    }
}

struct Check<'s> {
    store: &'s Store,
    report: Report,
    /// Pages that a link leads to, with their owners.
    claimed: HashMap<PageNo, TreeId>,
    buffer: AlignedBuffer,
}

impl Check<'_> {
    fn problem(&mut self, page: PageNo, owner: Option<TreeId>, what: String) {
        self.report.problems.push(Problem { page, owner, what });
    }

    /// Reads a page from disk and checks everything but its links. `None`, and a problem noted, if it is not sound.
    fn read(&mut self, page_no: PageNo, owner: TreeId, kind: PageKind) -> Option<Box<PageBuffer>> {
        let read = self.try_read(page_no, owner, kind);
        self.report.pages += 1;
        match read {
            Ok(buffer) => Some(buffer),
            Err(what) => {
                self.problem(page_no, Some(owner), what);
                None
            }
        }
    }

    fn try_read(&mut self, page_no: PageNo, owner: TreeId, kind: PageKind) -> Result<Box<PageBuffer>, String> {
        let core = self.store.core();
        if page_no.index() >= core.pool.file_pages() {
            return Err(format!("a link leads there, but the file has {} pages", core.pool.file_pages()));
        }
        if let Some(other) = self.claimed.insert(page_no, owner) {
            return Err(format!("links lead there twice, the other time from {other}"));
        }
        let entry = core.space.entry_of(page_no);
        if entry.owner != owner.0 || entry.used & space_map::page_bit(page_no) == 0 {
            return Err(format!("the space map says {entry:?} of its extent"));
        }
        let file = core.pool.file();
        file.read_exact_at(&mut self.buffer, page_no.offset()).map_err(|error| error.to_string())?;
        page::check_sealed(&self.buffer, page_no, core.log.reserved().max(Lsn::ZERO))?;
        let mut buffer = PageBuffer::boxed();
        buffer.bytes_mut().copy_from_slice(&self.buffer);
        let view = PageRef::of(&buffer);
        page::check_structure(view)?;
        if view.kind() != Some(kind) || view.tree() != owner {
            return Err(format!("expected a {kind:?} page of {owner}, found {:?} of {}", view.kind(), view.tree()));
        }
        Ok(buffer)
    }

    /// Walks a subtree. `level` is `None` for a root.
    fn node(&mut self, tree: TreeId, page_no: PageNo, level: Option<u8>, lower: &[u8], upper: Option<&[u8]>) {
        let Some(buffer) = self.read(page_no, tree, PageKind::Node) else { return };
        let node = Node(PageRef::of(&buffer));
        if let Some(level) = level.filter(|&level| level != node.level()) {
            self.problem(page_no, Some(tree), format!("level {} below a node of level {}", node.level(), level + 1));
            return;
        }
        if node.lower_fence() != lower || node.upper_fence().as_deref() != upper {
            let what = format!(
                "fences {:02x?}..{:02x?}, but its parent says {:02x?}..{:02x?}",
                node.lower_fence(),
                node.upper_fence(),
                lower,
                upper
            );
            self.problem(page_no, Some(tree), what);
        }
        if node.level() == 0 {
            self.report.entries += node.count() as u64;
            for index in 0..node.count() {
                if let Some(reference) = Tree::reference_in(node, index) {
                    self.long_value(tree, reference);
                }
            }
            return;
        }
        for index in 0..node.count() {
            let child_upper =
                if index + 1 < node.count() { Some(node.key(index + 1)) } else { upper.map(<[u8]>::to_vec) };
            self.node(tree, node.child(index), Some(node.level() - 1), &node.key(index), child_upper.as_deref());
        }
    }

    fn long_value(&mut self, tree: TreeId, reference: overflow::Reference) {
        self.report.long_values += 1;
        let mut value = Vec::new();
        let mut next = Some(reference.first);
        for _ in 0..reference.page_count() {
            let Some(page_no) = next else { break };
            let Some(buffer) = self.read(page_no, tree, PageKind::Overflow) else { return };
            overflow::append_piece(PageRef::of(&buffer), &mut value);
            next = overflow::next(PageRef::of(&buffer));
        }
        if next.is_some() || value.len() != reference.len as usize || crc32c(&value) != reference.crc {
            let what = format!(
                "a long value: expected {} bytes with checksum {:#010x}, found {} with {:#010x}",
                reference.len,
                reference.crc,
                value.len(),
                crc32c(&value)
            );
            self.problem(reference.first, Some(tree), what);
        }
    }
}
