//! Holds engines that read through the page cache to the memory they were given.
//!
//! LMDB's only cache is the page cache, and redb and fjall have it behind their
//! own. On a machine with memory to spare it would hold all the data, and "a
//! cache of one eighth" would mean nothing. A memory control group would limit
//! it, but needs rights and a kernel set-up that a benchmark cannot count on.
//! So a thread does it from inside: it asks the kernel how many pages of the
//! engine's files are cached (`cachestat`) and drops random stretches of them
//! while that is too many. For random accesses that keeps as much of the data
//! at hand as any other replacement would.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::rng::Rng;

/// How often the thread looks.
const TICK: Duration = Duration::from_millis(10);

/// How often it looks for new files: LSM trees write them all the time.
const RELIST: Duration = Duration::from_millis(250);

/// What is dropped at once: at least the largest unit the page cache manages,
/// which is only dropped as a whole.
const STRETCH: u64 = 4 << 20;

/// `cachestat`, the same number on every architecture; since Linux 6.5.
const SYS_CACHESTAT: libc::c_long = 451;

const PAGE: u64 = 4096;

/// Keeps the page cache of one directory small until it is dropped.
pub struct PageCacheLimit {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl PageCacheLimit {
    /// Holds the files in `dir` to `bytes` of page cache; none if this kernel
    /// cannot tell how much they use.
    pub fn hold(dir: &Path, bytes: u64) -> Option<Self> {
        let files = Cached::list(dir);
        cached_bytes(&files.first()?.file, 0, STRETCH).ok()?;
        let over = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let (over, dir) = (over.clone(), dir.to_owned());
            move || keep_below(&dir, bytes, &over)
        });
        Some(PageCacheLimit { over, thread: Some(thread) })
    }
}

impl Drop for PageCacheLimit {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Drops all cached pages of the files in `dir`, for a cold start. What is not
/// yet written stays; engines are synced before.
pub fn drop_all(dir: &Path) {
    for file in Cached::list(dir) {
        file.evict(0, file.bytes);
    }
}

fn keep_below(dir: &Path, limit: u64, over: &AtomicBool) {
    let mut rng = Rng::new(1);
    let mut files = Cached::list(dir);
    let mut listed = Instant::now();
    while !over.load(Ordering::Relaxed) {
        thread::sleep(TICK);
        if listed.elapsed() > RELIST {
            files = Cached::list(dir);
            listed = Instant::now();
        }
        let used: u64 = files.iter().map(|file| file.cached(0, file.bytes)).sum();
        let mut excess = used.saturating_sub(limit);
        // Random stretches, larger files more often. Dirty pages don't go at
        // once, so the tries are bounded; the next tick goes on.
        let stretches: u64 = files.iter().map(|file| file.bytes.div_ceil(STRETCH)).sum();
        for _ in 0..stretches {
            if excess == 0 || over.load(Ordering::Relaxed) {
                break;
            }
            let mut pick = rng.below(stretches);
            for file in &files {
                let own = file.bytes.div_ceil(STRETCH);
                if pick < own {
                    let offset = pick * STRETCH;
                    let before = file.cached(offset, STRETCH);
                    file.evict(offset, STRETCH);
                    excess = excess.saturating_sub(before - file.cached(offset, STRETCH).min(before));
                    break;
                }
                pick -= own;
            }
        }
    }
}

/// A file whose pages may be cached, and where it is mapped if it is.
struct Cached {
    file: File,
    bytes: u64,
    mapped_at: Option<usize>,
}

impl Cached {
    /// The files below `dir`.
    fn list(dir: &Path) -> Vec<Cached> {
        let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let mut files = Vec::new();
        let mut dirs: Vec<PathBuf> = vec![dir.to_owned()];
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                let path = entry.path();
                match entry.metadata() {
                    Ok(found) if found.is_dir() => dirs.push(path),
                    Ok(found) if found.is_file() => {
                        let Ok(file) = File::open(&path) else { continue };
                        let mapped_at = mapping(&maps, &path);
                        files.push(Cached { file, bytes: found.len(), mapped_at });
                    }
                    _ => {}
                }
            }
        }
        files
    }

    fn cached(&self, offset: u64, bytes: u64) -> u64 {
        cached_bytes(&self.file, offset, bytes).unwrap_or(0)
    }

    /// Drops what is clean and starts writing what is not.
    fn evict(&self, offset: u64, bytes: u64) {
        let bytes = bytes.min(self.bytes - offset.min(self.bytes));
        if bytes == 0 {
            return;
        }
        if let Some(base) = self.mapped_at {
            let address = (base + offset as usize) as *mut libc::c_void;
            // SAFETY: MADV_PAGEOUT changes no memory's contents. Should the
            // engine have unmapped this meanwhile, the call fails or pages out
            // something else, which is then read back.
            unsafe { libc::madvise(address, bytes as usize, libc::MADV_PAGEOUT) };
        }
        // SAFETY: the descriptor is open, and the advice changes no contents.
        unsafe {
            libc::posix_fadvise(
                self.file.as_raw_fd(),
                offset as libc::off_t,
                bytes as libc::off_t,
                libc::POSIX_FADV_DONTNEED,
            )
        };
    }
}

/// Where a file is mapped from its beginning, by the process's list of mappings.
fn mapping(maps: &str, path: &Path) -> Option<usize> {
    let path = fs::canonicalize(path).ok()?;
    let line = maps.lines().find(|line| {
        line.ends_with(path.to_str().unwrap_or("\0"))
            && line.split_whitespace().nth(2).is_some_and(|offset| offset.trim_start_matches('0').is_empty())
    })?;
    usize::from_str_radix(line.split('-').next()?, 16).ok()
}

/// How many bytes of a part of a file the page cache holds.
fn cached_bytes(file: &File, offset: u64, bytes: u64) -> io::Result<u64> {
    #[repr(C)]
    struct Range {
        offset: u64,
        bytes: u64,
    }
    #[repr(C)]
    #[derive(Default)]
    struct Stat {
        cached: u64,
        dirty: u64,
        writeback: u64,
        evicted: u64,
        recently_evicted: u64,
    }
    let range = Range { offset, bytes };
    let mut stat = Stat::default();
    // SAFETY: both structures are as the kernel declares them and outlive the call.
    let result = unsafe { libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut stat, 0) };
    if result != 0 { Err(io::Error::last_os_error()) } else { Ok(stat.cached * PAGE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_found_by_path() {
        let maps = "7f00a000-7f00b000 rw-s 00001000 fe:00 7   /proc/version\n\
                    7f00c000-7f00d000 rw-s 00000000 fe:00 7   /proc/version\n";
        assert_eq!(mapping(maps, Path::new("/proc/version")), Some(0x7f00_c000));
        assert_eq!(mapping(maps, Path::new("/proc/uptime")), None);
    }

    #[test]
    fn a_file_is_held_to_its_limit() {
        let dir = std::env::temp_dir().join(format!("meseta-bench-{}-cache", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let path = dir.join("data");
        fs::write(&path, vec![1; 16 << 20]).unwrap();
        let file = File::open(&path).unwrap();
        file.sync_all().unwrap();
        // Not every kernel or file system can tell; then nothing is held.
        if let (Ok(before), Some(limit)) = (cached_bytes(&file, 0, 16 << 20), PageCacheLimit::hold(&dir, 4 << 20))
            && before > 8 << 20
        {
            thread::sleep(Duration::from_secs(1));
            drop(limit);
            assert!(cached_bytes(&file, 0, 16 << 20).unwrap() <= 4 << 20);
        }
        fs::remove_dir_all(&dir).unwrap();
    }
}
