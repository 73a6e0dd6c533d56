//! What a disk does by name: create, open, rename, remove, list, and the lock that keeps others out.
//!
//! Everything but `list` goes through the directory's descriptor, so a directory that somebody moves while we run
//! stays ours.
//!
//! # The lock
//! An exclusive `flock` on the file [`LOCK_NAME`], which also holds the owner's process id for whoever finds the
//! door shut. The kernel drops the lock with its last descriptor, so a crash leaves none behind. It belongs to the
//! open file, not to the process: two stores in one process exclude each other too. The file is never removed:
//! between an `open` and a `flock` on it somebody else could remove it and lock a new one.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::file::OpenFile;
use super::named;
use crate::io::DirectoryLock;

/// The file that holds the lock; not one of the disk's files.
const LOCK_NAME: &str = "meseta.lock";

/// Opens a directory; creates it, with those above it, when it is missing.
pub(super) fn open_or_create(path: &Path) -> io::Result<File> {
    create_durably(path).map_err(|error| named(&path.display(), error))?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| named(&path.display(), error))?;
    Ok(File::from(directory))
}

/// Creates a directory that survives power loss: its entry in the directory above is synced too.
fn create_durably(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    create_durably(parent)?;
    match fs::create_dir(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => {}
        outcome => outcome?,
    }
    File::open(parent)?.sync_all()
}

/// Opens an existing file.
pub(super) fn open_file(directory: &File, name: &str) -> io::Result<OpenFile> {
    open_with(directory, name, OFlags::empty())
}

/// Creates an empty file that must not exist yet.
pub(super) fn create_file(directory: &File, name: &str) -> io::Result<OpenFile> {
    open_with(directory, name, OFlags::CREATE | OFlags::EXCL)
}

/// What a file without a name is called in errors.
pub(super) const TEMPORARY_NAME: &str = "meseta.temporary";

/// Creates an empty file without a name, in the page cache.
pub(super) fn create_temporary(directory: &File) -> io::Result<OpenFile> {
    let file = create_nameless(directory).map_err(|error| named(&TEMPORARY_NAME, error))?;
    Ok(OpenFile::new(file, TEMPORARY_NAME))
}

/// Creates an empty file without a name for direct I/O. Errors: the file system does not allow it.
pub(super) fn create_direct_temporary(directory: &File) -> io::Result<File> {
    let file = create_nameless(directory)?;
    bypass_page_cache(&file)?;
    Ok(file)
}

fn create_nameless(directory: &File) -> rustix::io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::TMPFILE;
    match rustix::fs::openat(directory, ".", flags, Mode::RUSR | Mode::WUSR) {
        // The file system, or the kernel, knows no such thing.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => create_and_unlink(directory),
        created => created.map(File::from),
    }
}

/// Creates a file, and takes its name away.
pub(super) fn create_and_unlink(directory: &File) -> rustix::io::Result<File> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::CREATE | OFlags::EXCL;
    loop {
        let name = format!("{TEMPORARY_NAME}.{}", NEXT.fetch_add(1, Ordering::Relaxed));
        match rustix::fs::openat(directory, &name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => {
                rustix::fs::unlinkat(directory, &name, AtFlags::empty())?;
                return Ok(File::from(file));
            }
            // A name is used once by this process, and the directory is ours: a crash in between has left it.
            Err(Errno::EXIST) => rustix::fs::unlinkat(directory, &name, AtFlags::empty())?,
            Err(error) => return Err(error),
        }
    }
}

/// Has a file read and written by direct I/O. Errors: `INVAL`: its file system has none.
fn bypass_page_cache(file: impl AsFd) -> rustix::io::Result<()> {
    rustix::fs::fcntl_setfl(&file, rustix::fs::fcntl_getfl(&file)? | OFlags::DIRECT)
}

fn open_with(directory: &File, name: &str, how: OFlags) -> io::Result<OpenFile> {
    check_name(name)?;
    let open = || -> rustix::io::Result<File> {
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP;
        let descriptor = rustix::fs::openat(directory, name, OFlags::RDWR | OFlags::CLOEXEC | how, mode)?;
        // Asked for in a second step, because an `open` that creates the file and then refuses direct I/O
        // leaves the file behind.
        match bypass_page_cache(&descriptor) {
            Ok(()) | Err(Errno::INVAL) => Ok(File::from(descriptor)),
            Err(error) => Err(error),
        }
    };
    Ok(OpenFile::new(open().map_err(|error| named(&name, error))?, name))
}

/// Gives `from` the name `to`, replacing it.
pub(super) fn rename(directory: &File, from: &str, to: &str) -> io::Result<()> {
    check_name(from)?;
    check_name(to)?;
    rustix::fs::renameat(directory, from, directory, to)
        .map_err(|error| named(&format_args!("{from}: rename to {to}"), error))
}

/// Removes a file.
pub(super) fn remove(directory: &File, name: &str) -> io::Result<()> {
    check_name(name)?;
    rustix::fs::unlinkat(directory, name, AtFlags::empty()).map_err(|error| named(&name, error))
}

/// Names of the files, sorted: not the lock, no directories, and nothing we could not have named.
pub(super) fn list(path: &Path) -> io::Result<Vec<String>> {
    let read = || -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            if let Ok(name) = entry.file_name().into_string()
                && name != LOCK_NAME
                && entry.file_type()?.is_file()
            {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    };
    read().map_err(|error| named(&path.display(), error))
}

/// A name is one component of a path, and not the lock's.
fn check_name(name: &str) -> io::Result<()> {
    if name.is_empty() || name == "." || name == ".." || name == LOCK_NAME || name.contains(['/', '\0']) {
        return Err(io::Error::new(ErrorKind::InvalidInput, format!("{name:?} is no name for a file of the engine")));
    }
    Ok(())
}

/// Closing the file releases the lock.
pub(super) struct Lock {
    file: File,
}

impl DirectoryLock for Lock {}

impl Drop for Lock {
    fn drop(&mut self) {
        // A stale number would only mislead a person; the lock itself is released by the close that follows.
        let _ = self.file.set_len(0);
    }
}

/// Takes the lock, or says who has it.
pub(super) fn lock(directory: &File, path: &Path) -> io::Result<Lock> {
    let fail = |error: io::Error| named(&path.join(LOCK_NAME).display(), error);
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
    let descriptor = rustix::fs::openat(directory, LOCK_NAME, flags, Mode::RUSR | Mode::WUSR | Mode::RGRP)
        .map_err(|error| fail(error.into()))?;
    let file = File::from(descriptor);
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => {
            let message = format!("{} is in use by {}", path.display(), owner(&file));
            return Err(io::Error::new(ErrorKind::WouldBlock, message));
        }
        Err(error) => return Err(fail(error.into())),
    }
    let write_owner = || -> io::Result<()> {
        file.set_len(0)?;
        file.write_all_at(format!("{}\n", std::process::id()).as_bytes(), 0)
    };
    write_owner().map_err(fail)?;
    Ok(Lock { file })
}

/// Who wrote the lock file; the owner may not have come to write it yet.
fn owner(file: &File) -> String {
    let mut text = [0; 32];
    let len = file.read_at(&mut text, 0).unwrap_or(0);
    match str::from_utf8(&text[..len]).map(|text| text.trim().parse::<u32>()) {
        Ok(Ok(process)) => format!("process {process}"),
        _ => "another process".to_owned(),
    }
}
