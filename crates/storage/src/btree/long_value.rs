//! Long values: their heads are in the leaf, the rest is written to pages of its own before the leaf refers to them, and read
//! without a latch.
//!
//! The pages are reserved in memory, made and logged one by one, and published in the mini-transaction that puts
//! the reference into the leaf. A crash before that leaves them free: the map never heard of them.
//!
//! A reader takes the reference from the leaf and then walks the pages. If the value is replaced meanwhile its pages
//! may already belong to another; the checksum in the reference tells, and the reader asks the leaf again.
//!
//! A value that replaces one with the same rest keeps its pages: a row with a long text of which a number is changed is changed in the
//! leaf, and logs that number.

use super::{Portion, Tree};
use crate::buffer::DATA_FILE;
use crate::error::{ErrorKind, Result};
use crate::ids::PageNo;
use crate::mtr::Mtr;
use crate::page::node::{Node, inline_len_max};
use crate::page::overflow::{self, HEAD_LEN, PIECE_LEN_MAX, REFERENCE_LEN, Reference};
use crate::page::space_map::EXTENT_PAGES;
use crate::page::{PageKind, crc32c};
use crate::rank::Rank;
use crate::space::Reserved;

/// How many pages of a value are read ahead.
const READ_AHEAD: u32 = 32;

/// What is behind the head of a long value, in its pages, not yet linked.
pub(super) struct Prepared<'s> {
    head_len: usize,
    reference: Reference,
    pub pages: Vec<Reserved<'s>>,
}

impl Prepared<'_> {
    /// What is to stand in the leaf for this value; `None` if these are not its pages.
    pub fn stored(&self, value: &[u8]) -> Option<Vec<u8>> {
        let (head, rest) = value.split_at_checked(self.head_len)?;
        let is_rest = self.reference.len as usize == rest.len() && self.reference.crc == crc32c(rest);
        is_rest.then(|| self.reference.behind(head))
    }

    pub fn page_numbers(&self) -> Vec<PageNo> {
        self.pages.iter().map(Reserved::page_no).collect()
    }
}

/// A long value that was read.
pub(super) struct LongValue {
    /// What stands in the leaf for it.
    pub stored: Vec<u8>,
    pub pages: Vec<PageNo>,
    pub bytes: Vec<u8>,
}

impl LongValue {
    /// What is to stand in a leaf of this capacity for a value that has the same pages, beside a key of this length; `None` if it has
    /// others.
    pub fn with_same_pages(&self, value: &[u8], key_len: usize, capacity: usize) -> Option<Vec<u8>> {
        let (_, reference) = split_off(&self.stored);
        let (old_rest, rest_len) = (self.bytes.as_slice(), reference.len as usize);
        let (head, rest) = value.split_at_checked(value.len().checked_sub(rest_len)?)?;
        let fits = key_len + head.len() + REFERENCE_LEN <= inline_len_max(capacity);
        (fits && old_rest.ends_with(rest)).then(|| reference.behind(head))
    }
}

fn split_off(stored: &[u8]) -> (&[u8], Reference) {
    Reference::split_off(stored).expect("the layout was checked when the page was read")
}

/// What an entry holds instead of a long value.
pub(super) fn stored_at(node: Node<'_>, index: usize) -> Vec<u8> {
    let mut stored = Vec::new();
    node.append_value(index, &mut stored);
    stored
}

impl Tree {
    /// Writes what is behind a value's head to reserved pages. Called with no latch held.
    pub(super) fn write_pages(&self, key: &[u8], value: &[u8]) -> Result<Prepared<'_>> {
        let core = &*self.core;
        let head_len = HEAD_LEN.min(self.inline_len_max().saturating_sub(key.len() + REFERENCE_LEN));
        let rest = &value[head_len..];
        let pieces: Vec<&[u8]> = rest.chunks(PIECE_LEN_MAX).collect();
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
        let reference = Reference { first: pages[0].page_no(), len: rest.len() as u32, crc: crc32c(rest) };
        Ok(Prepared { head_len, reference, pages })
    }

    /// Reads the long value that belongs to `key`, of which `out` has what stood in a leaf for it a moment ago: as it is there, or now.
    /// False if the key has gone.
    pub(super) fn read_long(&self, key: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        let mut failed = None;
        loop {
            // (Some hundred bytes; `out` may have room for megabytes, and keeps it.)
            let stored = out.clone();
            if self.read_pages(&stored, out)?.is_some() {
                return Ok(true);
            }
            let (_, reference) = split_off(&stored);
            // The same reference failed twice, and the leaf still says so: nobody replaced it.
            if failed.replace(reference) == Some(reference) {
                return Err(self.corrupt_value(reference));
            }
            match self.copy_stored(key, out)? {
                None => return Ok(false),
                Some(false) => return Ok(true),
                Some(true) => {}
            }
        }
    }

    /// As [`Tree::read_long`], unless what the leaf has in front is enough: then that is left in `out`.
    #[cold]
    pub(super) fn read_long_unless(
        &self,
        is_enough: &mut dyn FnMut(&[u8]) -> bool,
        key: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Portion>> {
        let (head, _) = split_off(out);
        let head_len = head.len();
        if is_enough(head) {
            out.truncate(head_len);
            return Ok(Some(Portion::Front));
        }
        Ok(self.read_long(key, out)?.then_some(Portion::Whole))
    }

    fn corrupt_value(&self, reference: Reference) -> crate::error::StorageError {
        let problem = format!(
            "the rest of a value, {} bytes, which begins here does not have checksum {:#010x}",
            reference.len, reference.crc
        );
        ErrorKind::CorruptPage { file: DATA_FILE.into(), page: reference.first, problem }.into()
    }

    /// Reads the value that this stands in a leaf for; returns the numbers of its pages, or `None` if they do not hold its rest (any
    /// more).
    pub(super) fn read_pages(&self, stored: &[u8], out: &mut Vec<u8>) -> Result<Option<Vec<PageNo>>> {
        let pool = &self.core.pool;
        let (head, reference) = split_off(stored);
        out.clear();
        out.reserve(head.len() + reference.len as usize);
        out.extend_from_slice(head);
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
        let rest = &out[head.len()..];
        let whole = rest.len() == reference.len as usize && crc32c(rest) == reference.crc;
        Ok(whole.then_some(pages))
    }

    /// The reference that an entry of a leaf holds, for checks.
    pub(crate) fn reference_in(node: Node<'_>, index: usize) -> Option<Reference> {
        node.value_at(index).overflow.then(|| split_off(&stored_at(node, index)).1)
    }
}
