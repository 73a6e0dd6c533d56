//! Mini-transaction: pages changed and logged as one atomic physical step.
//!
//! A caller latches the pages it is going to change, hands them in, and applies operations; each is carried out
//! and noted down at once. [`Mtr::commit`] appends what was noted as one log record, stamps the pages with its
//! position, and gives the latches back. Recovery repeats all of it or nothing.
//!
//! # Life of a change
//!
//! ```text
//!   admit -> latch -> check that everything fits -> add pages -> apply, apply -> commit: reserve, stamp, unlatch, publish
//!   (waits)           (may still fail or restart)               (nothing may fail from here on)
//! ```
//!
//! # Invariants
//! 1. `admit` comes before the first latch: it may wait for a checkpoint, which needs pages latched by nobody who
//!    waits.
//! 2. A page is marked dirty (with the log's end) before the record is reserved. (frame, invariant 1)
//! 3. Pages keep their latches until the record is reserved and they bear its LSN, and no longer: each page's LSNs grow
//!    in the order of its changes, and a page whose record is still being copied waits for it before it goes to disk,
//!    as any page waits for the log up to its LSN.
//! 4. A mini-transaction is smaller than a quarter of the log buffer.

use std::cell::Cell;

use smallvec::SmallVec;

use crate::buffer::Exclusive;
use crate::error::Result;
use crate::ids::{Lsn, PageNo};
use crate::log::Log;
use crate::page::bytes::{PageBuffer, PageRef};
use crate::redo::Op;

thread_local! {
    /// Bodies are built here: one buffer a thread, no allocation a change.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Waits until the log has room for another mini-transaction. Called with no latch held.
pub fn admit(log: &Log, make_room: impl Fn() -> Result<()>) -> Result<()> {
    if log.may_admit() { Ok(()) } else { make_room() }
}

/// A page's place in its mini-transaction.
#[derive(Clone, Copy, Debug)]
pub struct Slot(usize);

/// A mini-transaction under way.
pub struct Mtr<'p> {
    log: &'p Log,
    pages: SmallVec<[Exclusive<'p>; 4]>,
    body: Vec<u8>,
    finished: bool,
}

impl<'p> Mtr<'p> {
    /// Begins; nothing is changed yet.
    pub fn begin(log: &'p Log) -> Self {
        let mut body = SCRATCH.take();
        body.clear();
        Self { log, pages: SmallVec::new(), body, finished: false }
    }

    /// Takes over a latched page that is going to change.
    pub fn add(&mut self, page: Exclusive<'p>) -> Slot {
        page.frame().set_dirty(|| self.log.reserved());
        self.pages.push(page);
        Slot(self.pages.len() - 1)
    }

    /// Reads a page as changed so far.
    pub fn view(&self, slot: Slot) -> PageRef<'_> {
        self.pages[slot.0].view()
    }

    /// Carries out one operation and notes it down.
    ///
    /// On entry: it suits the page. If it does not, that is a bug, and a panic.
    pub fn apply(&mut self, slot: Slot, op: Op<'_>) {
        let page = &mut self.pages[slot.0];
        let number = page.page_no();
        op.encode(number, &mut self.body);
        if let Err(problem) = op.apply(number, &mut page.bytes_mut()) {
            panic!("a change to {number} does not suit it: {problem}");
        }
    }

    /// Makes a page anew from an image in private memory.
    pub fn apply_image(&mut self, slot: Slot, image: &PageBuffer) {
        let mut scratch = Vec::new();
        self.apply(slot, Op::image(PageRef::of(image), &mut scratch));
    }

    /// Adds bytes of the layer above: they are handed back during recovery exactly if the changes are redone.
    pub fn note(&mut self, bytes: &[u8]) {
        Op::Note { bytes }.encode(PageNo(0), &mut self.body);
    }

    /// Makes the step real and returns the position behind its record. The latches are given back as soon as the
    /// record has its place: while it is copied into the log, others may go on with the pages.
    pub fn commit(mut self) -> Lsn {
        self.finished = true;
        let body = std::mem::take(&mut self.body);
        assert!(body.len() <= self.log.body_len_max(), "a mini-transaction of {} bytes", body.len());
        let pages = &mut self.pages;
        let end = self.log.append(&body, |end| {
            for mut page in pages.drain(..) {
                page.bytes_mut().set_page_lsn(end);
            }
        });
        SCRATCH.set(body);
        end
    }
}

impl Drop for Mtr<'_> {
    fn drop(&mut self) {
        if !self.finished {
            // Begun but not carried out is fine; carried out in part would leave pages that redo cannot repeat.
            assert!(self.body.is_empty() || std::thread::panicking(), "a mini-transaction was dropped half done");
            SCRATCH.set(std::mem::take(&mut self.body));
        }
    }
}
