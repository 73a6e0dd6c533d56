//! Long values: written to pages of their own before the leaf refers to them, read without a latch.
//!
//! The pages are reserved in memory, made and logged one by one, and published in the mini-transaction that puts
//! the reference into the leaf. A crash before that leaves them free: the map never heard of them.
//!
//! A reader takes the reference from the leaf and then walks the pages. If the value is replaced meanwhile its pages
//! may already belong to another; the checksum in the reference tells, and the reader asks the leaf again.

use super::Tree;
use crate::buffer::DATA_FILE;
use crate::error::{ErrorKind, Result};
use crate::ids::PageNo;
use crate::mtr::Mtr;
use crate::page::node::Node;
use crate::page::overflow::{self, PIECE_LEN_MAX, Reference};
use crate::page::space_map::EXTENT_PAGES;
use crate::page::{PageKind, crc32c};
use crate::rank::Rank;
use crate::space::Reserved;

/// How many pages of a value are read ahead.
const READ_AHEAD: u32 = 32;

/// A long value in its pages, not yet linked.
pub(super) struct Prepared<'s> {
    pub reference: Reference,
    pub pages: Vec<Reserved<'s>>,
}

impl Prepared<'_> {
    /// Whether these are the pages of this value.
    pub fn holds(&self, value: &[u8]) -> bool {
        self.reference.len as usize == value.len() && self.reference.crc == crc32c(value)
    }

    pub fn page_numbers(&self) -> Vec<PageNo> {
        self.pages.iter().map(Reserved::page_no).collect()
    }
}

/// The reference that an entry holds instead of its value.
pub(super) fn reference_at(node: Node<'_>, index: usize) -> Reference {
    let mut bytes = Vec::new();
    node.append_value(index, &mut bytes);
    Reference::decode(&bytes).expect("the layout was checked when the page was read")
}

impl Tree {
    /// Writes a value to reserved pages. Called with no latch held.
    pub(super) fn write_pages(&self, value: &[u8]) -> Result<Prepared<'_>> {
        let core = &*self.core;
        let pieces: Vec<&[u8]> = value.chunks(PIECE_LEN_MAX).collect();
        let pages = pieces.iter().map(|_| core.space.reserve(self.id)).collect::<Result<Vec<_>>>()?;
        for (index, piece) in pieces.iter().enumerate() {
            core.admit()?;
            let page = pages[index].page_no();
            let next = pages.get(index + 1).map(Reserved::page_no);
            let image = overflow::build(page, self.id, next, piece);
            let permit = core.pool.take_permit()?;
            let mut mtr = Mtr::begin(&core.log);
            let slot = mtr.add(core.pool.fresh(page, permit, Rank::TreePage));
            mtr.apply_image(slot, &image);
            mtr.commit();
        }
        let reference = Reference { first: pages[0].page_no(), len: value.len() as u32, crc: crc32c(value) };
        Ok(Prepared { reference, pages })
    }

    /// Reads the value that belongs to `key`, which was long a moment ago. False if the key has gone.
    pub(super) fn read_long(&self, key: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        let mut failed = None;
        loop {
            match self.copy_stored(key, out)? {
                None => return Ok(false),
                Some(false) => return Ok(true),
                Some(true) => {}
            }
            let reference = Reference::decode(out).expect("a validated leaf holds whole references");
            if self.read_pages(reference, out)?.is_some() {
                return Ok(true);
            }
            // The same reference failed twice, and the leaf still says so: nobody replaced it.
            if failed.replace(reference) == Some(reference) {
                return Err(self.corrupt_value(reference));
            }
        }
    }

    fn corrupt_value(&self, reference: Reference) -> crate::error::StorageError {
        let problem = format!(
            "the value of {} bytes that begins here does not have checksum {:#010x}",
            reference.len, reference.crc
        );
        ErrorKind::CorruptPage { file: DATA_FILE.into(), page: reference.first, problem }.into()
    }

    /// Reads a value's pages; returns their numbers, or `None` if they do not hold that value (any more).
    pub(super) fn read_pages(&self, reference: Reference, out: &mut Vec<u8>) -> Result<Option<Vec<PageNo>>> {
        let pool = &self.core.pool;
        out.clear();
        out.reserve(reference.len as usize);
        let mut pages = Vec::with_capacity(reference.page_count());
        let mut next = Some(reference.first);
        let mut ahead = 0;
        while let Some(page) = next.filter(|_| pages.len() < reference.page_count()) {
            if page.index() >= pool.file_pages() {
                return Ok(None);
            }
            if page.0 >= ahead && reference.page_count() > pages.len() + 1 {
                // Allocated in a row, as a rule: a wrong guess costs a read, not correctness.
                let left = (reference.page_count() - pages.len()) as u32;
                let end = page.0.saturating_add(left.min(READ_AHEAD)).next_multiple_of(EXTENT_PAGES);
                pool.read_ahead(&(page.0..end).map(PageNo).collect::<Vec<_>>());
                ahead = end;
            }
            let len_before = out.len();
            let step = self.core.retry(|| {
                out.truncate(len_before);
                let guard = pool.optimistic(page, Rank::TreePage)?;
                Ok(guard.read(|view| {
                    (view.kind() == Some(PageKind::Overflow) && view.tree() == self.id).then(|| {
                        overflow::append_piece(view, out);
                        overflow::next(view)
                    })
                })?)
            })?;
            let Some(following) = step else { return Ok(None) };
            pages.push(page);
            next = following;
        }
        let whole = out.len() == reference.len as usize && crc32c(out) == reference.crc;
        Ok(whole.then_some(pages))
    }

    /// The reference that an entry of a leaf holds, for checks.
    pub(crate) fn reference_in(node: Node<'_>, index: usize) -> Option<Reference> {
        node.value_at(index).overflow.then(|| reference_at(node, index))
    }
}
