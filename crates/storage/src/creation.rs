//! Makes the files of a new store.
//!
//! # Invariants
//! 1. The control file is created last; a directory without one holds no store, at most the remains of a creation
//!    that was cut off, which the next one removes.
//! 2. A directory with files of somebody else's in it is left as it is.
//! 3. If it fails, for want of space say, the directory is left empty.

use crate::buffer::DATA_FILE;
use crate::control::{CONTROL_FILE, Control, ControlFile, FIRST_EPOCH, FORMAT_VERSION};
use crate::doublewrite::Doublewrite;
use crate::error::{ErrorKind, Result};
use crate::io::Disk;
use crate::log::block::block_start;
use crate::log::files::LogFiles;
use crate::options::StoreOptions;

/// Fails if the directory holds files, but neither a store nor only what is left of one.
pub(crate) fn refuse_foreign(disk: &dyn Disk, names: &[String]) -> Result<()> {
    let is_store = names.iter().any(|name| name == CONTROL_FILE);
    if !is_store && names.iter().any(|name| !name.starts_with("meseta.")) {
        return Err(ErrorKind::NotAStore { directory: disk.describe(), missing: CONTROL_FILE }.into());
    }
    Ok(())
}

/// Makes the files of a new store. Remains of a creation that was cut off are removed first.
pub(crate) fn create(disk: &dyn Disk, names: &[String], options: &StoreOptions) -> Result<()> {
    // Once more, now that nobody else can have put it there meanwhile.
    refuse_foreign(disk, names)?;
    if names.iter().any(|name| name == DATA_FILE) {
        // The data file is created empty and grows only once the store is open. If it has grown, this was a store.
        let len = disk.open(DATA_FILE).and_then(|file| file.len()).map_err(ErrorKind::setup("opening meseta.data"))?;
        if len > 0 {
            return Err(ErrorKind::MissingFile { directory: disk.describe(), file: CONTROL_FILE.into() }.into());
        }
    }
    for name in names {
        disk.remove(name).map_err(ErrorKind::setup("removing the remains of a creation that was cut off"))?;
    }
    let (log_files, log_file_len) = log_shape(options.log_bytes);
    let result = (|| {
        disk.create(DATA_FILE).map_err(ErrorKind::setup("creating meseta.data"))?;
        Doublewrite::create(disk, options.batch_pages)?;
        LogFiles::create(disk, log_files, log_file_len)?;
        let control = Control {
            format_version: FORMAT_VERSION,
            node_capacity: options.node_capacity as u32,
            epoch: FIRST_EPOCH,
            // Nothing has been logged: there is nothing to look for.
            clean: true,
            log_files: log_files as u32,
            log_file_len,
            batch_pages: options.batch_pages as u32,
            data_pages: 0,
            checkpoint: block_start(1),
            checkpoint_epoch: FIRST_EPOCH,
            epoch_start: block_start(1),
            sequence: 0,
            store_id: store_id(),
        };
        ControlFile::create(disk, control).map(|_| ())
    })();
    if result.is_err() {
        // Not enough space, say: leave the directory as it was found.
        for name in disk.list().unwrap_or_default() {
            let _ = disk.remove(&name);
        }
    }
    result
}

/// Number and length of the log files for a total: at most sixteen, so that there are files to fill ahead.
fn log_shape(total: u64) -> (usize, u64) {
    let count = (total >> 20).clamp(2, 16);
    let len = (total / count).next_multiple_of(crate::io::IO_ALIGN as u64);
    (count as usize, len)
}

fn store_id() -> [u8; 16] {
    use std::hash::{BuildHasher, RandomState};
    // The standard library's per-process random keys: unique is enough, secret is not needed.
    let (a, b) = (RandomState::new().hash_one(1), RandomState::new().hash_one(2));
    (u128::from(a) << 64 | u128::from(b)).to_le_bytes()
}
