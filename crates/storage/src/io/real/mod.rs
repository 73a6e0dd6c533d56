//! A directory on a real file system: direct I/O, one at a time or in batches.
//!
//! Above: everything, through [`Disk`] and [`DiskFile`]. Below: the kernel. This folder is the only part of the
//! storage engine that makes system calls for data.
//!
//! # The pieces
//!
//! ```text
//! RealDisk --open--> RealFile --submit--> Engine, a side each for reads and for writes: either
//!    |                  |                   Aio (aio.rs)              the kernel's asynchronous I/O, a thread that ends it
//!    |                  |                   Pool (pool.rs)            some threads, pread or pwrite
//! directory.rs       file.rs: one blocking pread or pwrite on the caller's thread
//! names, the lock
//! ```
//!
//! A single page is best moved by [`DiskFile::read_at`]: one system call, no thread to wake. A batch goes to the
//! engine, which all files of the disk share. The engine lives as long as the disk or any of its files.
//!
//! # The two engines behave the same
//! - Every completion is called exactly once, on an engine thread or in [`DiskFile::reap`], with no engine lock held, so it may
//!   submit.
//! - A request moves all of its bytes, or ends with an error that names the file. What the kernel leaves undone (a
//!   short transfer, an interruption) is finished by the very code that the thread pool runs.
//! - There is no limit on what may wait. Neither engine promises an order, not even within a batch.
//! - Dropping the last handle waits until all that was submitted has ended. (A completion that itself drops the
//!   last handle does not wait for its own thread, which ends a moment later.)
//! - A panic in a completion aborts the process: the other requests' memory is promised only until *their*
//!   completions, which could then never come.
//!
//! # Direct I/O
//! Files bypass the page cache (`O_DIRECT`) where the file system allows it: the buffer pool is the cache, and a
//! write that has ended is on the device, if perhaps in its volatile cache. Where it is refused we use the page
//! cache; `sync` means the same either way. Alignment is demanded in both cases, so that code which works on one
//! file system works on all.
//!
//! # Invariants
//! 1. A file descriptor stays open until every transfer that names it has ended. (`Transfer::file`)
//! 2. A completion runs after the last access to its request's memory. (`Transfer::end`)
//! 3. No completion is called with a lock of this module held.
//! 4. Every error names the file, and keeps its `ErrorKind` and the system's text. (`OpenFile::named`)
//!
//! # When things fail
//! Errors are passed on, not retried, except `EINTR` and its like. A failed `sync` is reported once: the kernel
//! forgets it, so a second, successful `sync` would prove nothing.
//!
//! # Tests
//! `tests.rs` runs the same checks on both engines.

mod aio;
mod directory;
mod file;
mod pool;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::slice;
use std::sync::Arc;
use std::thread;

use super::{DirectoryLock, Disk, DiskFile, Operation, Request};
use aio::Aio;
use file::OpenFile;
use pool::Pool;

/// Threads of the pools. Statements wait for reads, as many as the device can do at a time; writes are the cleaner's.
const READ_THREADS: usize = 32;
const WRITE_THREADS: usize = 8;

/// Which engine carries out batches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BatchEngine {
    /// The kernel's asynchronous I/O where it and the file system allow it, else threads.
    Auto,
    /// The kernel's asynchronous I/O, or an error.
    Aio,
    /// Threads that call `pread` and `pwrite`.
    ThreadPool,
}

/// A directory of a real file system.
pub struct RealDisk {
    path: PathBuf,
    directory: File,
    engine: Arc<Engine>,
}

impl RealDisk {
    /// Opens the directory `path`, creating it (durably) when it is missing, and starts the engine for batches.
    ///
    /// Errors: `Unsupported` when asynchronous I/O was asked for by name and is not to be had.
    pub fn new(path: impl Into<PathBuf>, engine: BatchEngine) -> io::Result<RealDisk> {
        let path = path.into();
        let directory = directory::open_or_create(&path)?;
        let engine = Arc::new(Engine::start(engine, &directory)?);
        Ok(RealDisk { path, directory, engine })
    }

    fn file(&self, file: OpenFile) -> Arc<dyn DiskFile> {
        Arc::new(RealFile { file: Arc::new(file), engine: Arc::clone(&self.engine) })
    }
}

impl Disk for RealDisk {
    fn lock(&self) -> io::Result<Box<dyn DirectoryLock>> {
        Ok(Box::new(directory::lock(&self.directory, &self.path)?))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.file(directory::open_file(&self.directory, name)?))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.file(directory::create_file(&self.directory, name)?))
    }

    fn create_temporary(&self) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.file(directory::create_temporary(&self.directory)?))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        directory::rename(&self.directory, from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        directory::remove(&self.directory, name)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        directory::list(&self.path)
    }

    fn boot_id(&self) -> Option<[u8; 16]> {
        let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
        u128::from_str_radix(&digits, 16).ok().map(u128::to_le_bytes)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.directory.sync_all().map_err(|error| named(&self.path.display(), error))
    }

    fn describe(&self) -> String {
        self.path.display().to_string()
    }
}

/// One open file, and the engine for its batches.
struct RealFile {
    file: Arc<OpenFile>,
    engine: Arc<Engine>,
}

impl DiskFile for RealFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buffer, offset)
    }

    fn write_at(&self, buffer: &[u8], offset: u64) -> io::Result<usize> {
        self.file.write_at(buffer, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn first_unwritten(&self, from: u64) -> io::Result<Option<u64>> {
        self.file.first_unwritten(from)
    }

    fn use_page_cache(&self) -> io::Result<()> {
        self.file.use_page_cache()
    }

    fn map(&self, len: usize) -> io::Result<Option<crate::io::SharedMemory>> {
        self.file.map(len).map(Some)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        self.file.allocate(len)
    }

    fn submit(&self, batch: Vec<Request>) {
        self.engine.submit(batch, &self.file);
    }

    fn is_asynchronous(&self) -> bool {
        self.engine.is_asynchronous()
    }

    fn reap(&self) {
        self.engine.reap();
    }
}

/// Carries out batches: reads, and writes, neither of which waits behind hundreds of the other. Dropping it waits for what is under
/// way.
struct Engine {
    reads: Side,
    writes: Side,
}

enum Side {
    Aio(Aio),
    Pool(Pool),
}

impl Engine {
    fn start(kind: BatchEngine, directory: &File) -> io::Result<Engine> {
        match kind {
            BatchEngine::ThreadPool => Engine::pools(),
            BatchEngine::Aio => {
                let explain = |error| {
                    io::Error::new(
                        io::ErrorKind::Unsupported,
                        format!("no asynchronous I/O is to be had here: {error}"),
                    )
                };
                Engine::asynchronous(directory).map_err(explain)
            }
            // Whatever keeps it from starting (an old kernel, a file system, a container's filter, a limit on how much of it
            // there may be), threads are the answer.
            BatchEngine::Auto => Engine::asynchronous(directory).or_else(|_| Engine::pools()),
        }
    }

    fn asynchronous(directory: &File) -> io::Result<Engine> {
        let start = |name| Aio::start(name, directory).map(Side::Aio);
        Ok(Engine { reads: start("meseta-reads")?, writes: start("meseta-writes")? })
    }

    fn pools() -> io::Result<Engine> {
        let start = |name, threads| Pool::start(name, threads).map(Side::Pool);
        Ok(Engine { reads: start("meseta-reads", READ_THREADS)?, writes: start("meseta-writes", WRITE_THREADS)? })
    }

    fn is_asynchronous(&self) -> bool {
        matches!(self.reads, Side::Aio(_))
    }

    fn submit(&self, batch: Vec<Request>, file: &Arc<OpenFile>) {
        let (to_read, to_write) = batch.into_iter().partition(|request| request.operation == Operation::Read);
        self.reads.submit(to_read, file);
        self.writes.submit(to_write, file);
    }

    fn reap(&self) {
        if let Side::Aio(aio) = &self.reads {
            aio.reap();
        }
    }
}

impl Side {
    fn submit(&self, requests: Vec<Request>, file: &Arc<OpenFile>) {
        if requests.is_empty() {
            return;
        }
        let transfers = requests.into_iter().map(|request| Transfer { file: Arc::clone(file), request });
        match self {
            Side::Aio(aio) => aio.submit(transfers),
            Side::Pool(pool) => pool.submit(transfers),
        }
    }
}

/// A request and the file it is for.
///
/// It keeps the descriptor open (invariant 1), but not the engine, whose threads hold transfers: or else the
/// engine would be kept alive by itself.
struct Transfer {
    file: Arc<OpenFile>,
    request: Request,
}

impl Transfer {
    /// See [`OpenFile::check_aligned`].
    fn check_aligned(&self) -> io::Result<()> {
        let Request { memory, offset, .. } = &self.request;
        self.file.check_aligned(memory.pointer(), memory.len(), *offset)
    }

    /// Moves what is left after the first `done` bytes, on this thread, and ends.
    fn finish_blocking(self, done: usize) {
        if let Err(error) = self.check_aligned() {
            return self.end(Err(error));
        }
        let Request { operation, offset, memory, .. } = self.request;
        // In both cases: the one engine thread that has taken this transfer carries it out, after the kernel is
        // through with the memory, and the completion comes below, in `end`.
        let outcome = match operation {
            Operation::Read => {
                // SAFETY: see above; called once.
                let buffer = unsafe { memory.as_mut_slice() };
                self.file.read_rest(buffer, offset, done)
            }
            Operation::Write => {
                // Not `&mut`: others may read, and even write to disk, the same bytes at the same time.
                // SAFETY: see above; allocated, and changed by nobody, by the promise made to `IoMemory::new`.
                let buffer = unsafe { slice::from_raw_parts(memory.pointer(), memory.len()) };
                self.file.write_rest(buffer, offset, done)
            }
        };
        self.end(outcome);
    }

    /// Reports the outcome. The memory is the caller's again (invariant 2).
    fn end(self, outcome: io::Result<()>) {
        (self.request.done)(outcome);
    }
}

/// Lives on every engine thread, and turns a panic there into an abort: see the module's header.
struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("an I/O thread has panicked, and others wait for its work: aborting");
            std::process::abort();
        }
    }
}

/// The same error with the name of what it is about (invariant 4).
fn named(name: &impl std::fmt::Display, error: impl Into<io::Error>) -> io::Error {
    let error = error.into();
    io::Error::new(error.kind(), format!("{name}: {error}"))
}
