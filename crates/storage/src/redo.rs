//! Page operations: the one way in which pages change, and what the log says of it.
//!
//! An operation is applied by [`Op::apply`] when it is done and again, by the same code, when it is redone. So redo
//! cannot differ from do.
//!
//! A record's body is a list of operations, applied whole or not at all:
//!
//! ```text
//!   operation u8 | page u32 | len u32 | body of `len` bytes      (page 0 and operation 9: a note, for no page)
//! ```
//!
//! # Invariants
//! 1. An operation changes one page and depends on nothing but that page's bytes.
//! 2. It is applied to a page whose LSN is not above the record's start, in the order of the log.
//! 3. Decoding and applying never panic and never leave the page, whatever the bytes: a record that does not suit
//!    its page is an error, since log or page must then be damaged.

use crate::ids::{Lsn, PageNo};
use crate::page::bytes::{PageBuffer, PageMut, PageRef};
use crate::page::node::{Node, NodeMut};
use crate::page::space_map::{self, Entry};
use crate::page::{PAGE_SIZE, PageKind, node, overflow};

/// A change to one page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op<'a> {
    /// Make the page anew from two stretches of bytes; everything else is zero.
    Image {
        /// Offset and bytes of each stretch.
        stretches: [(u16, &'a [u8]); 2],
    },
    /// Insert an entry before `index`; the suffix is the key without the node's prefix.
    Insert {
        /// Slot.
        index: u16,
        /// The value is a reference to overflow pages.
        overflow: bool,
        /// Key without prefix.
        suffix: &'a [u8],
        /// Value or reference.
        value: &'a [u8],
    },
    /// Remove an entry.
    Remove {
        /// Slot.
        index: u16,
    },
    /// Remove entries that lie side by side, none of which has overflow pages.
    RemoveRange {
        /// The first one's slot.
        index: u16,
        /// How many.
        count: u16,
    },
    /// Give an entry another value.
    Replace {
        /// Slot.
        index: u16,
        /// The value is a reference to overflow pages.
        overflow: bool,
        /// Value or reference.
        value: &'a [u8],
    },
    /// Overwrite a stretch of a value.
    Patch {
        /// Slot.
        index: u16,
        /// Offset in the value.
        offset: u16,
        /// New bytes.
        bytes: &'a [u8],
    },
    /// Keep the first entries; the rest has moved to a new page.
    Truncate {
        /// Entries that stay.
        keep: u16,
        /// The new upper fence.
        upper: &'a [u8],
    },
    /// Take over the range of an empty node beside this one.
    Widen {
        /// The new lower fence.
        lower: &'a [u8],
        /// The new upper fence; `None` at the right edge of the tree.
        upper: Option<&'a [u8]>,
    },
    /// Set an entry of a space map.
    SetExtent {
        /// Entry.
        index: u16,
        /// Owner and pages in use.
        entry: Entry,
    },
    /// Change what the page is for.
    SetKind {
        /// The new kind.
        kind: PageKind,
    },
    /// Not a page's business: bytes of the layer above, handed back during recovery.
    Note {
        /// Its own encoding.
        bytes: &'a [u8],
    },
}

const HEADER_LEN: usize = 9;
const OVERFLOW: u8 = 0x80;

/// A bad record, in a sentence.
type Problem = String;

impl<'a> Op<'a> {
    /// The image of a page made in private memory.
    pub fn image(page: PageRef<'_>, scratch: &'a mut Vec<u8>) -> Op<'a> {
        let (first, second) = match page.kind() {
            Some(PageKind::Node | PageKind::DroppedRoot) => {
                let [first, second] = node::occupied(Node(page));
                (first, second)
            }
            Some(PageKind::Overflow) => {
                let [first, second] = overflow::occupied(page);
                (first, second)
            }
            _ => (space_map::occupied(), (PAGE_SIZE, 0)),
        };
        scratch.clear();
        page.append_to(first.0, first.1, scratch);
        if second.1 > 0 {
            page.append_to(second.0, second.1, scratch);
        }
        let (head, tail) = scratch.split_at(first.1);
        Op::Image { stretches: [(first.0 as u16, head), (second.0 as u16, tail)] }
    }

    /// Appends the operation to a record's body.
    pub fn encode(&self, page: PageNo, out: &mut Vec<u8>) {
        let start = out.len();
        let mut number = self.number();
        if let Op::Insert { overflow: true, .. } | Op::Replace { overflow: true, .. } = self {
            number |= OVERFLOW;
        }
        out.push(number);
        out.extend_from_slice(&page.0.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        match *self {
            Op::Image { stretches: [(first_at, first), (second_at, second)] } => {
                for word in [first_at, first.len() as u16, second_at] {
                    out.extend_from_slice(&word.to_le_bytes());
                }
                out.extend_from_slice(first);
                out.extend_from_slice(second);
            }
            Op::Insert { index, suffix, value, .. } => {
                out.extend_from_slice(&index.to_le_bytes());
                out.extend_from_slice(&(suffix.len() as u16).to_le_bytes());
                out.extend_from_slice(suffix);
                out.extend_from_slice(value);
            }
            Op::Remove { index } => out.extend_from_slice(&index.to_le_bytes()),
            Op::RemoveRange { index, count } => {
                out.extend_from_slice(&index.to_le_bytes());
                out.extend_from_slice(&count.to_le_bytes());
            }
            Op::Replace { index, value, .. } => {
                out.extend_from_slice(&index.to_le_bytes());
                out.extend_from_slice(value);
            }
            Op::Patch { index, offset, bytes } => {
                out.extend_from_slice(&index.to_le_bytes());
                out.extend_from_slice(&offset.to_le_bytes());
                out.extend_from_slice(bytes);
            }
            Op::Truncate { keep, upper } => {
                out.extend_from_slice(&keep.to_le_bytes());
                out.extend_from_slice(upper);
            }
            Op::Widen { lower, upper } => {
                for word in [lower.len() as u16, u16::from(upper.is_some())] {
                    out.extend_from_slice(&word.to_le_bytes());
                }
                out.extend_from_slice(lower);
                out.extend_from_slice(upper.unwrap_or_default());
            }
            Op::SetExtent { index, entry } => {
                out.extend_from_slice(&index.to_le_bytes());
                out.extend_from_slice(&entry.owner.to_le_bytes());
                out.push(entry.used);
            }
            Op::SetKind { kind } => out.push(kind as u8),
            Op::Note { bytes } => out.extend_from_slice(bytes),
        }
        let len = (out.len() - start - HEADER_LEN) as u32;
        out[start + 5..start + 9].copy_from_slice(&len.to_le_bytes());
    }

    fn number(&self) -> u8 {
        match self {
            Op::Image { .. } => 1,
            Op::Insert { .. } => 2,
            Op::Remove { .. } => 3,
            Op::Replace { .. } => 4,
            Op::Patch { .. } => 5,
            Op::Truncate { .. } => 6,
            Op::SetExtent { .. } => 7,
            Op::SetKind { .. } => 8,
            Op::Note { .. } => 9,
            Op::RemoveRange { .. } => 10,
            Op::Widen { .. } => 11,
        }
    }

    /// Decodes the first operation of a body; returns it, its page, and the rest.
    pub fn decode(body: &'a [u8]) -> Result<(PageNo, Op<'a>, &'a [u8]), Problem> {
        let header = body.first_chunk::<HEADER_LEN>().ok_or("operation header is cut off")?;
        let page = PageNo(u32::from_le_bytes(header[1..5].try_into().expect("four bytes")));
        let len = u32::from_le_bytes(header[5..9].try_into().expect("four bytes")) as usize;
        let rest = &body[HEADER_LEN..];
        if len > rest.len() {
            return Err(format!("operation of {len} bytes is cut off after {}", rest.len()));
        }
        let (mut body, rest) = rest.split_at(len);
        let overflow = header[0] & OVERFLOW != 0;
        let mut word = |what| match body.split_first_chunk::<2>() {
            Some((word, rest)) => {
                body = rest;
                Ok(u16::from_le_bytes(*word))
            }
            None => Err(format!("operation ends before its {what}")),
        };
        let op = match header[0] & !OVERFLOW {
            1 => {
                let (first_at, first_len, second_at) = (word("offset")?, word("length")?, word("offset")?);
                if usize::from(first_len) > body.len() {
                    return Err("image is cut off".into());
                }
                let (first, second) = body.split_at(usize::from(first_len));
                Op::Image { stretches: [(first_at, first), (second_at, second)] }
            }
            2 => {
                let (index, suffix_len) = (word("slot")?, word("length")?);
                if usize::from(suffix_len) > body.len() {
                    return Err("key is cut off".into());
                }
                let (suffix, value) = body.split_at(usize::from(suffix_len));
                Op::Insert { index, overflow, suffix, value }
            }
            3 => Op::Remove { index: word("slot")? },
            4 => Op::Replace { index: word("slot")?, overflow, value: body },
            5 => Op::Patch { index: word("slot")?, offset: word("offset")?, bytes: body },
            6 => Op::Truncate { keep: word("count")?, upper: body },
            7 => {
                let index = word("entry")?;
                let (owner, used) = match *body {
                    [a, b, c, d, used] => (u32::from_le_bytes([a, b, c, d]), used),
                    _ => return Err("space map entry has a wrong length".into()),
                };
                Op::SetExtent { index, entry: Entry { owner, used } }
            }
            8 => match body {
                [kind] => Op::SetKind { kind: PageKind::from_u8(*kind).ok_or("unknown page kind")? },
                _ => return Err("page kind has a wrong length".into()),
            },
            9 => Op::Note { bytes: body },
            10 => Op::RemoveRange { index: word("slot")?, count: word("count")? },
            11 => {
                let (lower_len, has_upper) = (word("length")?, word("fence")?);
                let (lower, upper) = body.split_at_checked(usize::from(lower_len)).ok_or("fence is cut off")?;
                match (has_upper, upper) {
                    (0, []) => Op::Widen { lower, upper: None },
                    (1, upper) => Op::Widen { lower, upper: Some(upper) },
                    _ => return Err("upper fence is and is not there".into()),
                }
            }
            unknown => return Err(format!("unknown operation {unknown}")),
        };
        Ok((page, op, rest))
    }

    /// Whether the operation makes its page anew, so that its old content is not needed.
    pub fn makes_page(&self) -> bool {
        matches!(self, Op::Image { .. })
    }

    /// Carries the operation out again, from the log. Besides what [`Op::apply`] does, an image is looked at: pages made
    /// by redo are as sound as those read from disk.
    pub fn redo(&self, page_no: PageNo, page: &mut PageMut<'_>) -> Result<(), Problem> {
        if self.makes_page() {
            let mut image = PageBuffer::boxed();
            self.apply(page_no, &mut PageMut::of(&mut image))?;
            crate::page::check_structure(PageRef::of(&image))?;
        }
        self.apply(page_no, page)
    }

    /// Carries the operation out.
    ///
    /// Errors: a sentence; the page is unchanged. When doing (not redoing) that is a bug.
    #[inline]
    pub fn apply(&self, page_no: PageNo, page: &mut PageMut<'_>) -> Result<(), Problem> {
        self.check_against(page.view())?;
        match *self {
            Op::Image { stretches } => {
                static ZEROES: [u8; PAGE_SIZE] = [0; PAGE_SIZE];
                let [(first_at, first), (second_at, second)] = stretches.map(|(at, bytes)| (usize::from(at), bytes));
                // The LSN stays: it must not fall, and the mini-transaction sets the new one.
                let lsn = page.view().page_lsn();
                page.write(0, &ZEROES[..first_at]);
                page.write(first_at, first);
                page.write(first_at + first.len(), &ZEROES[..second_at - first_at - first.len()]);
                page.write(second_at, second);
                page.write(second_at + second.len(), &ZEROES[..PAGE_SIZE - second_at - second.len()]);
                page.set_number(page_no);
                page.set_page_lsn(lsn);
            }
            Op::Insert { index, overflow, suffix, value } => {
                NodeMut(page).insert(usize::from(index), suffix, value, overflow);
            }
            Op::Remove { index } => NodeMut(page).remove(usize::from(index)),
            Op::RemoveRange { index, count } => {
                NodeMut(page).remove_range(usize::from(index)..usize::from(index) + usize::from(count));
            }
            Op::Replace { index, overflow, value } => NodeMut(page).replace(usize::from(index), value, overflow),
            Op::Patch { index, offset, bytes } => NodeMut(page).patch(usize::from(index), usize::from(offset), bytes),
            Op::Truncate { keep, upper } => NodeMut(page).truncate(usize::from(keep), upper),
            Op::Widen { lower, upper } => NodeMut(page).widen(lower, upper),
            Op::SetExtent { index, entry } => space_map::set_entry(page, index, entry),
            Op::SetKind { kind } => page.set_kind(kind),
            Op::Note { .. } => {}
        }
        Ok(())
    }

    /// Invariant 3: everything that `apply` relies on.
    #[inline]
    fn check_against(&self, page: PageRef<'_>) -> Result<(), Problem> {
        let node = || match page.kind() {
            Some(PageKind::Node) => Ok(Node(page)),
            kind => Err(format!("a node's operation meets a page of kind {kind:?}")),
        };
        let slot = |node: Node<'_>, index: u16, limit: usize| {
            if usize::from(index) < limit { Ok(()) } else { Err(format!("slot {index} of a node of {}", node.count())) }
        };
        let room = |needed: usize, free: usize| {
            if needed <= free { Ok(()) } else { Err(format!("{needed} bytes wanted in a node with {free} free")) }
        };
        match *self {
            Op::Image { stretches: [(first_at, first), (second_at, second)] } => {
                let first_end = usize::from(first_at) + first.len();
                let second_end = usize::from(second_at) + second.len();
                if first_at < 16 || first_end > usize::from(second_at) || second_end > PAGE_SIZE {
                    return Err(format!("image of {first_at}..{first_end} and {second_at}..{second_end}"));
                }
                Ok(())
            }
            Op::Insert { index, suffix, value, .. } => {
                let node = node()?;
                slot(node, index, node.count() + 1)?;
                room(node.entry_len(node.prefix_len() + suffix.len(), value.len()), node.free_len())
            }
            Op::Remove { index } => {
                let node = node()?;
                slot(node, index, node.count())
            }
            Op::RemoveRange { index, count } => {
                let node = node()?;
                let end = usize::from(index) + usize::from(count);
                if count == 0 || end > node.count() {
                    return Err(format!("slots {index}..{end} of a node of {}", node.count()));
                }
                Ok(())
            }
            Op::Replace { index, value, .. } => {
                let node = node()?;
                slot(node, index, node.count())?;
                room(value.len(), node.free_len() + node.value_at(usize::from(index)).len)
            }
            Op::Patch { index, offset, bytes } => {
                let node = node()?;
                slot(node, index, node.count())?;
                room(usize::from(offset) + bytes.len(), node.value_at(usize::from(index)).len)
            }
            Op::Truncate { keep, upper } => {
                let node = node()?;
                slot(node, keep, node.count() + 1)?;
                if node.upper_fence().is_some_and(|old| old.as_slice() < upper)
                    || node.lower_fence().as_slice() >= upper
                {
                    return Err("truncation to a fence outside the node's fences".into());
                }
                let mut key = Vec::new();
                for index in 0..usize::from(keep) {
                    key.clear();
                    node.append_key(index, &mut key);
                    if key.as_slice() >= upper || !node.covers(&key) {
                        return Err("truncation to a fence below the entries that stay".into());
                    }
                }
                if !node::left_fits(node, usize::from(keep), upper) {
                    return Err("truncation to a fence that does not fit".into());
                }
                Ok(())
            }
            Op::Widen { lower, upper } => {
                let node = node()?;
                let is_above = match (upper, node.upper_fence()) {
                    (None, _) => true,
                    (Some(_), None) => false,
                    (Some(upper), Some(old)) => *upper >= *old,
                };
                if *lower > *node.lower_fence() || !is_above {
                    return Err("widening to a fence inside the node's fences".into());
                }
                if node.level() > 0 || !node::widened_fits(node, lower, upper) {
                    return Err("widening to fences that do not fit".into());
                }
                Ok(())
            }
            Op::SetExtent { index, .. } => match page.kind() {
                Some(PageKind::SpaceMap) if u32::from(index) < space_map::REGION_EXTENTS => Ok(()),
                kind => Err(format!("space map entry {index} set in a page of kind {kind:?}")),
            },
            Op::SetKind { kind: PageKind::Free | PageKind::DroppedRoot } => node().map(|_| ()),
            Op::SetKind { kind } => Err(format!("a page is made {kind:?} without a content")),
            Op::Note { .. } => Ok(()),
        }
    }
}

/// Whether a page is too old for a record, so that the record must be applied to it (invariant 2).
pub fn needs(page: PageRef<'_>, record_start: Lsn) -> bool {
    page.page_lsn() <= record_start
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ids::TreeId;

    fn round_trip(op: Op<'_>) {
        let mut body = Vec::new();
        op.encode(PageNo(42), &mut body);
        body.push(99);
        assert_eq!(Op::decode(&body), Ok((PageNo(42), op, &[99][..])));
        for cut in 0..body.len() - 1 {
            assert!(Op::decode(&body[..cut]).is_err(), "{op:?} cut at {cut}");
        }
    }

    #[test]
    fn every_operation_comes_back() {
        round_trip(Op::Insert { index: 1, overflow: true, suffix: b"key", value: b"value" });
        round_trip(Op::Insert { index: 1, overflow: false, suffix: b"", value: b"" });
        round_trip(Op::Remove { index: 7 });
        round_trip(Op::RemoveRange { index: 7, count: 300 });
        round_trip(Op::Replace { index: 2, overflow: false, value: b"v" });
        round_trip(Op::Patch { index: 2, offset: 3, bytes: b"xyz" });
        round_trip(Op::Truncate { keep: 4, upper: b"fence" });
        round_trip(Op::Widen { lower: b"lower", upper: Some(b"upper") });
        round_trip(Op::Widen { lower: b"", upper: Some(b"u") });
        round_trip(Op::SetExtent { index: 9, entry: Entry { owner: 5, used: 3 } });
        round_trip(Op::SetKind { kind: PageKind::Free });
        round_trip(Op::Note { bytes: b"begin" });
        round_trip(Op::Image { stretches: [(16, b"abc"), (100, b"de")] });
    }

    #[test]
    fn an_image_makes_the_same_page() {
        let image = node::empty_root(TreeId(8), PAGE_SIZE);
        let mut scratch = Vec::new();
        let op = Op::image(PageRef::of(&image), &mut scratch);
        let mut target = PageBuffer::boxed();
        target.bytes_mut().fill(0xAA);
        PageMut::of(&mut target).set_page_lsn(Lsn(5));
        op.apply(PageNo(8), &mut PageMut::of(&mut target)).unwrap();
        assert_eq!(PageRef::of(&target).page_lsn(), Lsn(5));
        PageMut::of(&mut target).set_page_lsn(Lsn(0));
        assert_eq!(target.bytes()[4..], image.bytes()[4..]);
    }

    proptest! {
        #[test]
        fn any_record_meets_any_page_without_harm(
            body in prop::collection::vec(any::<u8>(), 0..100),
            number in 1u8..13,
            page_bytes in prop::collection::vec(any::<u8>(), 100),
        ) {
            let mut image = PageBuffer::boxed();
            let mut page = PageMut::of(&mut image);
            page.write(20, &page_bytes);
            page.set_kind(PageKind::Node);
            if node::check(page.view()).is_err() {
                image = node::empty_root(TreeId(8), PAGE_SIZE);
            }
            let mut record = vec![number, 8, 0, 0, 0];
            record.extend((body.len() as u32).to_le_bytes());
            record.extend(&body);
            if let Ok((page_no, op, _)) = Op::decode(&record) {
                let _ = op.apply(page_no, &mut PageMut::of(&mut image));
            }
        }
    }
}
