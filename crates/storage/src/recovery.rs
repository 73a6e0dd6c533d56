//! After a crash: from the files as they are to a store as it was when the last durable record was written.
//!
//! # The steps
//!
//! 1. The doublewrite area repairs pages that a power loss tore.
//! 2. *Scan*: the log is read from the checkpoint to its end, every block checked. Nothing is changed yet; damage to
//!    what was durable ends it with an error.
//! 3. *Redo*: the records are read again, a stretch at a time. Their operations are dealt to workers by page, so
//!    each page sees its operations in the order of the log, and different pages are redone in parallel. Notes of
//!    the layer above are handed to it, in order.
//! 4. The space map is read, and drops that were cut off are finished (`store`).
//! 5. The layer above rolls back what was not committed, in the open store (`Store::open` returns when all else is done; what was not committed it learns from notes and trees).
//!
//! # Invariants
//! 1. An operation is applied if and only if its page has not seen it: page LSN at or below the record's start.
//! 2. Doing it again after a second crash gives the same result: redo changes pages only, and is idempotent.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::buffer::{DATA_FILE, Pool};
use crate::control::Control;
use crate::error::{ErrorKind, Result, StorageError};
use crate::ids::{Lsn, PageNo};
use crate::log::block::block_of;
use crate::log::files::{LogFiles, file_name};
use crate::log::reader::{LogReader, Record, Stretch};
use crate::page::space_map::{Entry, ExtentNo, REGION_EXTENTS};
use crate::rank::Rank;
use crate::redo::{self, Op};

/// Bytes of log redone at a time.
const STRETCH_LEN: usize = 32 << 20;

/// Pages that a worker has read ahead of those that it redoes: it waits for the device less often, and the device sees
/// neighbouring reads together.
const READ_AHEAD: usize = 16;

/// The layer above, as far as the log concerns it. Notes travel in the same records as the changes they describe.
pub trait LogParticipant: Send + Sync {
    /// A note that was logged since the last checkpoint, in the order of the log.
    fn redo_note(&self, end: Lsn, note: &[u8]) -> Result<()>;
}

/// What recovery found and did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RecoveryFigures {
    /// The store had been closed in order, or is new: the log holds nothing to repeat.
    pub was_closed: bool,
    /// Redo began here.
    pub checkpoint: Lsn,
    /// The log ended here.
    pub end: Lsn,
    /// Whole records in between.
    pub records: u64,
    /// Operations that their pages had not seen yet.
    pub applied: u64,
    /// Operations that their pages had seen.
    pub skipped: u64,
    /// Pages repaired from the doublewrite area.
    pub repaired_pages: u64,
    /// Drops finished that a crash had cut off.
    pub finished_drops: u64,
    /// How long it took.
    pub elapsed: Duration,
}

/// Where the log ends, from the scan.
#[derive(Clone, Copy, Debug)]
pub struct LogEnd {
    /// The position behind the last whole record.
    pub end: Lsn,
    /// The first block that may be written.
    pub next_block: u64,
}

fn reader<'f>(files: &'f LogFiles, control: &Control) -> LogReader<'f> {
    LogReader::new(files, control.checkpoint, control.checkpoint_epoch..=control.epoch)
}

/// What redo would do to pages, without doing it.
#[derive(Default)]
pub struct Outlook {
    /// Every page that redo changes; true if it makes the page anew first, whatever the disk holds.
    pub pages: BTreeMap<PageNo, bool>,
    /// What the log says of extents last.
    pub extents: BTreeMap<ExtentNo, Entry>,
}

impl Outlook {
    /// Whether redo makes the page anew.
    pub fn makes(&self, page: PageNo) -> bool {
        self.pages.get(&page) == Some(&true)
    }

    fn add(&mut self, page: PageNo, op: Op<'_>) {
        match op {
            Op::Note { .. } => return,
            Op::SetExtent { index, entry } => {
                let first = ExtentNo::of(page).0 / REGION_EXTENTS * REGION_EXTENTS;
                self.extents.insert(ExtentNo(first + u32::from(index)), entry);
            }
            _ => {}
        }
        self.pages.entry(page).or_insert(op.makes_page());
    }
}

/// Step 2: finds the end of the log.
pub fn scan(files: &LogFiles, control: &Control, buffer_len: usize) -> Result<LogEnd> {
    scan_with(files, control, buffer_len, |_| Ok(()))
}

/// Finds the end of the log, and what redo would do. After an error `outlook` holds what was readable.
pub fn foresee(files: &LogFiles, control: &Control, buffer_len: usize, outlook: &mut Outlook) -> Result<LogEnd> {
    scan_with(files, control, buffer_len, |stretch| {
        for &record in &stretch.records {
            let mut body = stretch.body(record);
            while !body.is_empty() {
                let (page, op, rest) = Op::decode(body).map_err(|problem| corrupt_record(files, record, problem))?;
                body = rest;
                outlook.add(page, op);
            }
        }
        Ok(())
    })
}

fn scan_with(
    files: &LogFiles,
    control: &Control,
    buffer_len: usize,
    mut each: impl FnMut(&Stretch) -> Result<()>,
) -> Result<LogEnd> {
    let mut reader = reader(files, control);
    loop {
        let stretch = reader.next_stretch(1 << 20)?;
        if stretch.records.is_empty() {
            break;
        }
        each(&stretch)?;
    }
    // Between two syncs at most two buffers' worth is written, and blocks carry a little more than their payload.
    reader.check_end(control.checkpoint, 4 * buffer_len.max(1 << 20))?;
    Ok(LogEnd { end: reader.position(), next_block: reader.next_free_block() })
}

/// Step 3: repeats everything between the checkpoint and the end.
pub fn redo(
    pool: &Arc<Pool>,
    files: &LogFiles,
    control: &Control,
    log: LogEnd,
    workers: usize,
    participant: Option<&dyn LogParticipant>,
) -> Result<RecoveryFigures> {
    let began = Instant::now();
    let applied = AtomicU64::new(0);
    let skipped = AtomicU64::new(0);
    let mut reader = reader(files, control);
    let mut records = 0;
    let mut next = |workers| -> Result<(Stretch, Vec<Share>)> {
        let stretch = reader.next_stretch(STRETCH_LEN)?;
        let shares = deal(files, &stretch, workers, participant)?;
        Ok((stretch, shares))
    };
    // Two stretches at a time: one is redone while the next is read and dealt.
    let (mut stretch, mut shares) = next(workers)?;
    while !stretch.records.is_empty() {
        records += stretch.records.len() as u64;
        let following = std::thread::scope(|scope| {
            let handles: Vec<_> = shares
                .into_iter()
                .map(|share| {
                    let (stretch, applied, skipped) = (&stretch, &applied, &skipped);
                    scope.spawn(move || redo_share(pool, stretch, share, applied, skipped))
                })
                .collect();
            let following = next(workers);
            for handle in handles {
                handle.join().expect("a redo worker does not panic")?;
            }
            following
        })?;
        (stretch, shares) = following;
    }
    Ok(RecoveryFigures {
        checkpoint: control.checkpoint,
        end: log.end,
        records,
        applied: applied.into_inner(),
        skipped: skipped.into_inner(),
        elapsed: began.elapsed(),
        ..RecoveryFigures::default()
    })
}

/// Where an operation of a stretch is.
#[derive(Clone, Copy)]
struct Place {
    page: PageNo,
    /// Byte of the record's body.
    at: u32,
    /// The record's place in the stretch.
    record: u32,
}

/// The operations that one worker carries out: all of its pages.
type Share = Vec<Place>;

fn deal(
    files: &LogFiles,
    stretch: &Stretch,
    workers: usize,
    participant: Option<&dyn LogParticipant>,
) -> Result<Vec<Share>> {
    let mut shares: Vec<Share> = (0..workers.max(1)).map(|_| Share::new()).collect();
    for (index, &record) in stretch.records.iter().enumerate() {
        let body = stretch.body(record);
        let mut rest = body;
        while !rest.is_empty() {
            let at = body.len() - rest.len();
            let (page, op, behind) = Op::decode(rest).map_err(|problem| corrupt_record(files, record, problem))?;
            rest = behind;
            if let Op::Note { bytes } = op {
                if let Some(participant) = participant {
                    participant.redo_note(record.end, bytes)?;
                }
                continue;
            }
            // Neighbouring pages to the same worker: their reads lie close together.
            let worker = (page.0 / 16) as usize % shares.len();
            shares[worker].push(Place { page, at: at as u32, record: index as u32 });
        }
    }
    Ok(shares)
}

fn corrupt_record(files: &LogFiles, record: Record, problem: String) -> StorageError {
    let (file, offset) = files.place(block_of(record.start));
    ErrorKind::CorruptLog { file: file_name(file), offset, lsn: record.start, problem }.into()
}

fn redo_share(
    pool: &Arc<Pool>,
    stretch: &Stretch,
    mut share: Share,
    applied: &AtomicU64,
    skipped: &AtomicU64,
) -> Result<()> {
    share.sort_unstable_by_key(|place| (place.page, place.record, place.at));
    let decode = |place: &Place| {
        let record = stretch.records[place.record as usize];
        let (_, op, _) = Op::decode(&stretch.body(record)[place.at as usize..]).expect("decoded when it was dealt");
        (record, op)
    };
    let pages = || share.chunk_by(|a, b| a.page == b.page);
    let mut to_read = pages().filter(|places| !decode(&places[0]).1.makes_page()).map(|places| places[0].page);
    for (turn, places) in pages().enumerate() {
        let page = places[0].page;
        if turn % READ_AHEAD == 0 {
            // At the start two helpings, so that there is always one under way.
            let helpings = if turn == 0 { 2 } else { 1 };
            pool.read_ahead(&to_read.by_ref().take(helpings * READ_AHEAD).collect::<Vec<_>>());
        }
        if page.index() >= pool.file_pages() {
            let found = pool.file_pages() as u64 * crate::page::PAGE_SIZE as u64;
            let expected = page.offset() + crate::page::PAGE_SIZE as u64;
            return Err(ErrorKind::Truncated { file: DATA_FILE.into(), found, expected }.into());
        }
        // A page that begins with an image is made from it, whatever the disk holds: perhaps nothing yet. If the disk
        // holds something newer, the log leads there again.
        let mut latched = if decode(&places[0]).1.makes_page() && !pool.is_resident(page) {
            let permit = pool.take_permit()?;
            pool.fresh(page, permit, Rank::TreePage)
        } else {
            pool.exclusive(page, Rank::TreePage)?
        };
        // A record may have several operations for the page: seen or not seen, they share one answer.
        for step in places.chunk_by(|a, b| a.record == b.record) {
            let record = stretch.records[step[0].record as usize];
            if !redo::needs(latched.view(), record.start) {
                skipped.fetch_add(step.len() as u64, Ordering::Relaxed);
                continue;
            }
            latched.frame().set_dirty(|| record.start);
            for place in step {
                decode(place).1.redo(page, &mut latched.bytes_mut()).map_err(|problem| ErrorKind::CorruptPage {
                    file: DATA_FILE.into(),
                    page,
                    problem: format!("the log record at {} does not suit the page: {problem}", record.start),
                })?;
            }
            latched.bytes_mut().set_page_lsn(record.end);
            applied.fetch_add(step.len() as u64, Ordering::Relaxed);
        }
    }
    Ok(())
}
