//! The only door to the disk: every byte that the engine reads or writes passes through these two traits.
//!
//! Above: `buffer` moves pages, `log` writes blocks, `doublewrite`, `control` and `space` keep their files.
//! Below: [`RealDisk`] (direct I/O on a directory, with asynchronous I/O or a thread pool for batches), or a simulated
//! disk that forgets, tears and reorders what was not synced, or answers with errors, at a seeded point.
//!
//! # Words
//! A *batch* is a list of requests handed over at once; each request's completion is called exactly once, on
//! any thread, in any order. To be *told* of a request is to be rung for by an eventfd when it may be ended. *Durable*: survives power loss. Only what was written before a successful
//! [`DiskFile::sync`] on the same file is durable; see docs/media.md for what we assume of the device.
//!
//! # Invariants
//! 1. A request transfers all of its bytes or reports an error; a short transfer is never reported as success.
//!    (The single-shot `read_at` and `write_at` may be short; `read_exact_at` and `write_all_at` are not.)
//! 2. Memory named by a request stays valid and unaliased until its completion has been called. The caller
//!    owes this: see [`IoMemory`].
//! 3. Nobody retries a failed `sync` and calls the data durable; callers stop the engine instead.
//!
//! # Deliberately absent
//! Descriptors of files, paths, and errno outside this module. Page numbers, LSNs and checksums inside it.

mod aligned;
mod real;
mod shared;

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;

pub use aligned::AlignedBuffer;
pub use real::{BatchEngine, RealDisk};
pub use shared::SharedMemory;

/// Direct I/O moves memory, offsets and lengths that are multiples of this many bytes.
pub const IO_ALIGN: usize = 4096;

/// A directory of files, held by one process at a time.
pub trait Disk: Send + Sync + 'static {
    /// Takes the directory for this process until the guard is dropped.
    ///
    /// Errors: `WouldBlock` when another process (or another store in this one) holds it.
    fn lock(&self) -> io::Result<Box<dyn DirectoryLock>>;

    /// Opens an existing file. Errors: `NotFound`.
    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;

    /// Creates an empty file that must not exist yet. Durable only after [`Disk::sync_directory`].
    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>>;

    /// Creates an empty file that has no name, and is gone when its last handle is: nothing of it survives a crash. What is
    /// written there is soon read again, so it is in the page cache.
    fn create_temporary(&self) -> io::Result<Arc<dyn DiskFile>>;

    /// Atomically gives `from` the name `to`, replacing it. Durable only after [`Disk::sync_directory`].
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file. Durable only after [`Disk::sync_directory`].
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Names of all files, sorted.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Makes creations, renames and removals durable.
    fn sync_directory(&self) -> io::Result<()>;

    /// Names this run of the machine: what mapped memory holds is as it was left if and only if this is unchanged.
    /// `None` where nobody can tell.
    fn boot_id(&self) -> Option<[u8; 16]> {
        None
    }

    /// What a person would call this place: a path, or "simulated disk".
    fn describe(&self) -> String;
}

/// Proof that this process holds the directory; released on drop.
pub trait DirectoryLock: Send + Sync {}

/// One file. All offsets and lengths are bytes.
#[allow(clippy::len_without_is_empty)] // nobody asks whether a file is empty
pub trait DiskFile: Send + Sync {
    /// Reads at `offset` once; returns the bytes read, fewer than asked at the end of the file (or by bad luck).
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes at `offset` once; returns the bytes written.
    fn write_at(&self, buffer: &[u8], offset: u64) -> io::Result<usize>;

    /// Makes every completed write of this file durable (fdatasync).
    fn sync(&self) -> io::Result<()>;

    /// The file's length in bytes.
    fn len(&self) -> io::Result<u64>;

    /// Extends the file to at least `len` bytes with space reserved on the device, so that later writes below
    /// `len` cannot run out of space. New bytes read as zero. Errors: `StorageFull`, and then nothing changed.
    fn allocate(&self, len: u64) -> io::Result<()>;

    /// The first byte from `from` on that has space and was never written, where the file system tells: it is read as zero,
    /// and the sync after the first write there has metadata to change. `None`: there is none.
    fn first_unwritten(&self, _from: u64) -> io::Result<Option<u64>> {
        Ok(None)
    }

    /// From here on the file is read and written through the operating system's page cache: for a file that is written
    /// in small pieces, each of which is to survive a crash of the process at once. Durability still takes `sync`.
    ///
    /// Reads show then what was written, also what a sync has failed to write. Before, and for whoever has opened the
    /// file anew, they show what is on the device, after what is still to be written there has been written.
    fn use_page_cache(&self) -> io::Result<()> {
        Ok(())
    }

    /// Maps the first `len` bytes (the file has them) as memory shared with the operating system; `None` where that is
    /// not to be had.
    fn map(&self, _len: usize) -> io::Result<Option<SharedMemory>> {
        Ok(None)
    }

    /// Starts all requests of a batch and returns without waiting for them.
    fn submit(&self, batch: Vec<Request>);

    /// Whether the system carries out batches by itself, and no thread waits for each request.
    fn is_asynchronous(&self) -> bool {
        false
    }

    /// Ends requests that the system has completed, if somebody was told of any: calls their completions; does not wait. Nobody need
    /// call it: it is sooner so.
    fn reap(&self) {}
}

/// What a request does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Fill the memory from the file.
    Read,
    /// Write the memory to the file.
    Write,
}

/// A stretch of memory that a request reads into or writes from: aligned and a multiple of [`IO_ALIGN`] long.
///
/// It is a raw pointer because the target is usually a page in the buffer pool, whose bytes no Rust reference
/// covers while the I/O is under way.
#[derive(Clone, Copy, Debug)]
pub struct IoMemory {
    pointer: *mut u8,
    len: usize,
}

// SAFETY: `IoMemory` is an address; who may touch it, and when, is the promise made to `IoMemory::new`.
unsafe impl Send for IoMemory {}

impl IoMemory {
    /// Names `len` bytes at `pointer`.
    ///
    /// # Safety
    /// Until the request's completion has been called, the memory must stay allocated; for a read nobody else
    /// may access it, and for a write nobody may change it (invariant 2).
    pub unsafe fn new(pointer: *mut u8, len: usize) -> Self {
        debug_assert!((pointer as usize).is_multiple_of(IO_ALIGN) && len.is_multiple_of(IO_ALIGN));
        Self { pointer, len }
    }

    /// The first byte's address.
    pub fn pointer(&self) -> *mut u8 {
        self.pointer
    }

    /// Bytes.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The memory as bytes to fill.
    ///
    /// # Safety
    /// Only the one who carries out the request may call this, once, before its completion.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn as_mut_slice(&self) -> &mut [u8] {
        // SAFETY: allocated and unaliased until the completion, by the promise made to `new`.
        unsafe { std::slice::from_raw_parts_mut(self.pointer, self.len) }
    }
}

/// Called once when a request has ended, with its outcome.
pub type Completion = Box<dyn FnOnce(io::Result<()>) + Send>;

/// One read or write of a batch.
pub struct Request {
    /// Read or write.
    pub operation: Operation,
    /// Where in the file, in bytes.
    pub offset: u64,
    /// Where in memory.
    pub memory: IoMemory,
    /// Called once with the outcome: all bytes transferred, or the error.
    pub done: Completion,
    /// An eventfd of somebody who, when it is rung, will soon call [`DiskFile::reap`]. A disk need not ring it.
    pub tell: Option<RawFd>,
}

impl dyn DiskFile + '_ {
    /// Fills `buffer` from `offset`. Errors: `UnexpectedEof` when the file ends first.
    pub fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < buffer.len() {
            match self.read_at(&mut buffer[done..], offset + done as u64) {
                Ok(0) => {
                    return Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        format!("the file ends at byte {}", offset + done as u64),
                    ));
                }
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes all of `buffer` at `offset`.
    pub fn write_all_at(&self, buffer: &[u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < buffer.len() {
            match self.write_at(&buffer[done..], offset + done as u64) {
                Ok(0) => return Err(io::Error::new(io::ErrorKind::WriteZero, "the device took no bytes")),
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
