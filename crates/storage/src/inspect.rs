//! Looks at a store from outside, when opening it would fail: every page, and what is wrong with the other files.
//!
//! `Store::check` needs an open store, and opening needs the control file, the log, the space map, the root of every
//! tree and each page that redo changes. So [`Store::open_or_inspect`] first reads just these, as opening would. If they
//! are whole it opens the store; if not, it leaves it alone, reads the whole data file, and says all that it can find.
//!
//! # Words
//! *Obstacle*: damage that keeps the store from opening. *Place*: where a page lives in the data file. *Copy*: the one in
//! the doublewrite area. *Outlook*: what the log would do to pages (`recovery`).
//!
//! # Invariants
//! 1. Nothing is written, but for what the lock writes, unless no obstacle was found.
//! 2. A page counts as damaged only if nothing that opening would use holds it whole: not its place; not its copy, where
//!    the store was not closed (only then are copies used); not the log, where redo would make it anew.
//! 3. Memory does not grow with the data file: it is read in batches, and findings are handed out one by one. (It grows
//!    with the pages that the log to be redone names, and with the trees.)
//!
//! # When an obstacle is overlooked
//! Two are: a log record that does not suit its page, and a page that only records in `meseta.log.buffer` need, which are
//! not in the files yet. Then opening fails by itself, after it may have written what any opening writes, and the look
//! from outside comes afterwards: `Inspection::untouched` is false.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::buffer::DATA_FILE;
use crate::control::{CONTROL_FILE, Control, ControlFile};
use crate::doublewrite::{Doublewrite, PageCopy};
use crate::error::{ErrorKind, Result, StorageError};
use crate::ids::{Lsn, PageNo, TreeId};
use crate::io::{AlignedBuffer, Disk, DiskFile};
use crate::log::block::{block_start, round_up};
use crate::log::files::LogFiles;
use crate::opening;
use crate::options::StoreOptions;
use crate::page::bytes::{PageBuffer, PageRef};
use crate::page::space_map::{self, EXTENT_PAGES, Entry, ExtentNo, REGION_EXTENTS, REGION_PAGES};
use crate::page::{self, PAGE_SIZE};
use crate::recovery::{self, Outlook};
use crate::store::Store;
use crate::verify::Problem;

/// Pages read at once: 1 MiB.
const BATCH_PAGES: u32 = (1 << 20) / PAGE_SIZE as u32;

/// Something that is not as it should be, in a store that is not open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finding {
    /// A page of the data file.
    Page(Problem),
    /// Another file, or the data file as a whole: a sentence that names it.
    File(String),
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::Page(problem) => problem.fmt(f),
            Finding::File(what) => f.write_str(what),
        }
    }
}

/// What a look from outside came to.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// What keeps the store from opening.
    pub reason: StorageError,
    /// Pages of the data file that were looked at.
    pub pages: u64,
    /// Findings handed out.
    pub findings: u64,
    /// Opening was not tried, and nothing was written.
    pub untouched: bool,
}

impl Store {
    /// Opens a store that exists; or, if damage keeps it from opening, hands everything that is damaged to `found`, one
    /// finding at a time, and leaves the store alone.
    ///
    /// Errors: as for [`Store::open`], where they are not about damage. No store is created.
    pub fn open_or_inspect(
        directory: impl AsRef<Path>,
        options: StoreOptions,
        found: &mut dyn FnMut(Finding),
    ) -> Result<Result<Store, Inspection>> {
        Self::open_or_inspect_on(opening::real_disk(directory.as_ref(), &options)?, options, found)
    }

    /// The same on any disk.
    pub fn open_or_inspect_on(
        disk: Arc<dyn Disk>,
        options: StoreOptions,
        found: &mut dyn FnMut(Finding),
    ) -> Result<Result<Store, Inspection>> {
        open_or_inspect(disk, options, found).map_err(StorageError::of_opening)
    }
}

fn open_or_inspect(
    disk: Arc<dyn Disk>,
    options: StoreOptions,
    found: &mut dyn FnMut(Finding),
) -> Result<Result<Store, Inspection>> {
    options.check()?;
    if !opening::list(&*disk)?.iter().any(|name| name == CONTROL_FILE) {
        return Err(ErrorKind::NotAStore { directory: disk.describe(), missing: CONTROL_FILE }.into());
    }
    let lock = opening::lock(&*disk)?;
    let buffer_len = options.log_buffer_bytes;
    let inspector = Inspector::new(&*disk, buffer_len)?;
    if let Some(reason) = inspector.reason.clone() {
        return Ok(Err(inspector.inspect(reason, true, found)));
    }
    drop(inspector);
    match Store::open_locked(Arc::clone(&disk), lock, options) {
        Ok(store) => Ok(Ok(store)),
        Err(error) if is_damage(&error) => {
            let _lock = opening::lock(&*disk)?;
            Ok(Err(Inspector::new(&*disk, buffer_len)?.inspect(error, false, found)))
        }
        Err(error) => Err(error),
    }
}

/// Whether an error says that files are damaged; the others say that it cannot be told.
fn is_damage(error: &StorageError) -> bool {
    matches!(
        error.kind(),
        ErrorKind::CorruptPage { .. }
            | ErrorKind::CorruptLog { .. }
            | ErrorKind::CorruptFile { .. }
            | ErrorKind::MissingFile { .. }
            | ErrorKind::Truncated { .. }
            | ErrorKind::Read { .. }
    )
}

/// What is known of a store's files before its pages are looked at one by one.
#[derive(Default)]
struct Inspector {
    control: Option<Control>,
    data: Option<Arc<dyn DiskFile>>,
    /// Whole pages in the data file.
    pages: u32,
    /// What the doublewrite area has of pages, if opening would use it.
    copies: HashMap<PageNo, PageCopy>,
    outlook: Outlook,
    /// No page may be newer; the highest there is, if the log's end is not known.
    log_end: Lsn,
    /// The first obstacle, in the order in which opening would meet them.
    reason: Option<StorageError>,
    /// Files that are damaged, in sentences.
    files: Vec<String>,
    /// Pages that opening would read and that hold only zeroes: elsewhere that may be right.
    empty: BTreeSet<PageNo>,
}

impl Inspector {
    /// Reads what opening reads, as far as it can be read, and finds the obstacles.
    fn new(disk: &dyn Disk, buffer_len: usize) -> Result<Self> {
        let mut new = Self { log_end: Lsn(u64::MAX), ..Self::default() };
        let control_file = ControlFile::open(disk);
        if let Some(control_file) = new.note(control_file)? {
            new.control = Some(*control_file.current());
            new.files.extend(control_file.damaged_slot());
        }
        new.read_log(disk, buffer_len)?;
        let data = opening::open_data(disk);
        if let Some((file, len)) = new.note(data)? {
            new.pages = u32::try_from(len / PAGE_SIZE as u64).unwrap_or(u32::MAX);
            new.data = Some(file);
            let checked = new.control.as_ref().map_or(Ok(()), |control| opening::check_data_len(control, len));
            new.note(checked)?;
            new.read_copies(disk, len)?;
            new.find_obstacles();
        }
        Ok(new)
    }

    /// Notes damage, and goes on without what is damaged. Other errors are the caller's.
    fn note<T>(&mut self, outcome: Result<T>) -> Result<Option<T>> {
        match outcome {
            Ok(value) => Ok(Some(value)),
            Err(error) if is_damage(&error) => {
                self.files.push(error.to_string());
                self.reason.get_or_insert(error);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Finds out what redo would do, up to the log's end or the first damage.
    fn read_log(&mut self, disk: &dyn Disk, buffer_len: usize) -> Result<()> {
        let Some(control) = self.control else { return Ok(()) };
        let files = LogFiles::open(disk, control.log_files as usize, control.log_file_len);
        let Some(files) = self.note(files)? else { return Ok(()) };
        if control.clean {
            self.log_end = round_up(control.checkpoint);
            return Ok(());
        }
        let mut outlook = Outlook::default();
        let foreseen = recovery::foresee(&files, &control, buffer_len, &mut outlook);
        self.outlook = outlook;
        if let Some(end) = self.note(foreseen)? {
            self.log_end = block_start(end.next_block);
        }
        Ok(())
    }

    fn read_copies(&mut self, disk: &dyn Disk, data_len: u64) -> Result<()> {
        let opened = match &self.control {
            Some(control) => Doublewrite::open(disk, control.batch_pages as usize),
            None => Doublewrite::open_by_len(disk),
        };
        let Some(doublewrite) = self.note(opened)? else { return Ok(()) };
        if self.control.is_none_or(|control| !control.clean) {
            let copies = doublewrite.copies(data_len);
            self.copies = self.note(copies)?.unwrap_or_default();
        }
        Ok(())
    }

    // ---- what opening needs -----------------------------------------------------------------------------------------

    fn find_obstacles(&mut self) {
        let mut buffer = PageBuffer::boxed();
        let needed: Vec<PageNo> =
            self.outlook.pages.iter().filter(|&(_, &made)| !made).map(|(&page, _)| page).collect();
        for page in needed {
            self.need(page, page::check_layout, &mut buffer);
        }
        let mut roots = BTreeSet::new();
        for map in (0..self.pages).step_by(REGION_PAGES as usize).map(PageNo) {
            if self.outlook.makes(map) {
                buffer = space_map::build(map);
            } else if self.is_unwritten(map) {
                break;
            } else if !self.need(map, space_map::check, &mut buffer) {
                continue;
            }
            for index in 0..REGION_EXTENTS {
                let extent = ExtentNo(ExtentNo::of(map).0 + index);
                let owner = self.entry(&buffer, extent).owner;
                if owner == 0 || owner == TreeId::SYSTEM.0 {
                    continue;
                }
                if extent.0 < self.pages / EXTENT_PAGES {
                    roots.insert(PageNo(owner));
                } else {
                    self.obstacle(truncated(self.pages, extent.page(EXTENT_PAGES)));
                }
            }
        }
        for root in roots.into_iter().filter(|root| !self.outlook.pages.contains_key(root)).collect::<Vec<_>>() {
            self.need(root, page::check_layout, &mut buffer);
        }
    }

    fn obstacle(&mut self, error: ErrorKind) {
        self.reason.get_or_insert_with(|| error.into());
    }

    /// Looks at a page without which the store does not open. Whether `buffer` holds it now.
    fn need(&mut self, page: PageNo, check: Check, buffer: &mut PageBuffer) -> bool {
        if page.0 >= self.pages {
            self.obstacle(truncated(self.pages, PageNo(page.0.saturating_add(1))));
            return false;
        }
        let mut place = AlignedBuffer::new(PAGE_SIZE);
        if let Err(error) = self.read(&mut place, page) {
            self.obstacle(ErrorKind::Read { what: format!("{DATA_FILE}, {page} (byte {})", page.offset()), error });
            return false;
        }
        if let Err(problem) = self.sound(page, &place, check, buffer) {
            if is_zero(&place) {
                self.empty.insert(page);
            }
            self.obstacle(ErrorKind::CorruptPage { file: DATA_FILE.into(), page, problem });
            return false;
        }
        true
    }

    /// Whether a region has not been begun, as `Space::load` sees it.
    fn is_unwritten(&self, map: PageNo) -> bool {
        const LOOKED_AT: u32 = 8 * EXTENT_PAGES;
        let new = self.control.is_some_and(|control| control.data_pages == 0);
        let mut place = AlignedBuffer::new(PAGE_SIZE);
        (map.0 > 0 || new)
            && (map.0..self.pages.min(map.0 + LOOKED_AT)).map(PageNo).all(|page| {
                !self.outlook.pages.contains_key(&page) && self.read(&mut place, page).is_ok() && is_zero(&place)
            })
    }

    fn read(&self, bytes: &mut [u8], from: PageNo) -> std::io::Result<()> {
        let data = self.data.as_ref().expect("there are no pages without a data file");
        data.read_exact_at(bytes, from.offset())
    }

    /// Checks a page as opening would find it: its copy, where that is better than its place. Leaves it in `buffer`.
    ///
    /// Errors: a sentence about the place.
    fn sound(&self, page: PageNo, place: &[u8], check: Check, buffer: &mut PageBuffer) -> Result<(), String> {
        buffer.bytes_mut().copy_from_slice(place);
        if let Some(copy) = self.copies.get(&page) {
            copy.mend(page, buffer.bytes_mut(), self.log_end);
        }
        page::check_sealed(buffer.bytes(), page, self.log_end)?;
        check(PageRef::of(buffer))
    }

    /// What the map will say of an extent once the log has been redone.
    fn entry(&self, map: &PageBuffer, extent: ExtentNo) -> Entry {
        let on_disk = || space_map::entry(PageRef::of(map), extent.entry_index());
        self.outlook.extents.get(&extent).copied().unwrap_or_else(on_disk)
    }

    // ---- everything there is ----------------------------------------------------------------------------------------

    /// Hands out what is known of the files, then looks at every page.
    fn inspect(self, reason: StorageError, untouched: bool, found: &mut dyn FnMut(Finding)) -> Inspection {
        let reason = reason.of_opening();
        let mut inspection = Inspection { reason, pages: self.pages.into(), findings: 0, untouched };
        let mut found = |finding| {
            inspection.findings += 1;
            found(finding);
        };
        for what in &self.files {
            found(Finding::File(what.clone()));
        }
        let mut batch = AlignedBuffer::new(BATCH_PAGES as usize * PAGE_SIZE);
        let mut buffer = PageBuffer::boxed();
        // The map of the region at hand, if it can be believed.
        let mut map: Option<Box<PageBuffer>> = None;
        for first in (0..self.pages).step_by(BATCH_PAGES as usize) {
            let count = BATCH_PAGES.min(self.pages - first) as usize;
            let batch = &mut batch[..count * PAGE_SIZE];
            let is_read = self.read(batch, PageNo(first)).is_ok();
            for (number, place) in (first..).zip(batch.chunks_exact_mut(PAGE_SIZE)) {
                let page = PageNo(number);
                // One bad sector must not hide its neighbours.
                let read = if is_read { Ok(()) } else { self.read(place, page) };
                let outcome = match read {
                    Ok(()) => self.look(page, place, map.as_deref(), &mut buffer),
                    Err(error) => Err(format!("cannot be read: {error}")),
                };
                if number.is_multiple_of(REGION_PAGES) {
                    map = match &outcome {
                        Ok(true) => Some(std::mem::replace(&mut buffer, PageBuffer::boxed())),
                        Ok(false) => Some(space_map::build(page)),
                        Err(_) => None,
                    };
                }
                if let Err(problem) = outcome {
                    found(Finding::Page(self.problem(page, map.as_deref(), problem)));
                }
            }
        }
        inspection
    }

    /// Looks at one page. Whether `buffer` holds its content; if not, and there is no problem either, there is none on
    /// disk that matters.
    fn look(
        &self,
        page: PageNo,
        place: &[u8],
        map: Option<&PageBuffer>,
        buffer: &mut PageBuffer,
    ) -> Result<bool, String> {
        if self.outlook.makes(page) {
            return Ok(false);
        }
        let is_map = page.0.is_multiple_of(REGION_PAGES);
        if is_zero(place) && !self.empty.contains(&page) && !self.copies.contains_key(&page) {
            // Never written: right, unless the page is in use and nobody is going to write it.
            let entry = map.filter(|_| !is_map).map(|map| self.entry(map, ExtentNo::of(page))).unwrap_or_default();
            let in_use = entry.used & space_map::page_bit(page) != 0 && entry.owner != TreeId::SYSTEM.0;
            if !in_use || !self.control.is_some_and(|control| control.clean) {
                return Ok(false);
            }
        }
        self.sound(page, place, if is_map { space_map::check } else { page::check_structure }, buffer)?;
        Ok(true)
    }

    /// Says whose page it is, as far as known.
    fn problem(&self, page: PageNo, map: Option<&PageBuffer>, problem: String) -> Problem {
        if page.0.is_multiple_of(REGION_PAGES) {
            let last = PageNo(page.0.saturating_add(REGION_PAGES - 1).min(self.pages - 1));
            let what = format!("the map that says whose {page} to {last} are: {problem}");
            return Problem { page, owner: Some(TreeId::SYSTEM), what };
        }
        let entry = map.map(|map| self.entry(map, ExtentNo::of(page)));
        match entry {
            Some(entry) if entry.used & space_map::page_bit(page) == 0 => {
                Problem { page, owner: None, what: format!("{problem} (the page is free: nothing is lost)") }
            }
            Some(entry) if entry.owner == page.0 => {
                Problem { page, owner: Some(TreeId(entry.owner)), what: format!("the tree's root: {problem}") }
            }
            Some(entry) => Problem { page, owner: Some(TreeId(entry.owner)), what: problem },
            None => Problem { page, owner: None, what: problem },
        }
    }
}

/// How the content of a page is checked.
type Check = for<'p> fn(PageRef<'p>) -> Result<(), String>;

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

/// The data file has `pages` pages, but should reach to `end`.
fn truncated(pages: u32, end: PageNo) -> ErrorKind {
    ErrorKind::Truncated { file: DATA_FILE.into(), found: PageNo(pages).offset(), expected: end.offset() }
}
