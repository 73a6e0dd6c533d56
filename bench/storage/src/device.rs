//! What the device gives threads that do nothing but read it.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::engine::Result;
use crate::rng::Rng;
use crate::runner::{drive, median};

/// A file as large as the data, for reading with no engine in between.
pub struct Device {
    path: PathBuf,
    blocks: u64,
    block_bytes: usize,
}

impl Device {
    /// Writes the file: with random bytes, since some devices don't read
    /// blocks of which they know that they are zero.
    pub fn create(dir: &Path, bytes: u64, block_bytes: usize) -> Result<Self> {
        let path = dir.join("device");
        let blocks = bytes.div_ceil(block_bytes as u64);
        let mut rng = Rng::new(bytes);
        let mut file = BufWriter::with_capacity(1 << 20, File::create(&path)?);
        for _ in 0..blocks * block_bytes as u64 / 8 {
            file.write_all(&rng.bits().to_le_bytes())?;
        }
        file.into_inner()?.sync_all()?;
        Ok(Device { path, blocks, block_bytes })
    }

    /// Blocks per second that this many threads read at random, each waiting
    /// for its block before it asks for the next, and past the page cache.
    pub fn random_reads(&self, threads: usize, duration: Duration) -> Result<f64> {
        let file = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(&self.path)?;
        let measured = drive(threads, duration, |number| {
            let mut buffer = Aligned::new(self.block_bytes);
            let mut rng = Rng::new(number as u64);
            let file = &file;
            move || {
                let offset = rng.below(self.blocks) * self.block_bytes as u64;
                Ok(file.read_exact_at(buffer.bytes(), offset)?)
            }
        })?;
        Ok(measured.rate())
    }

    /// Reads a random block fifty times a second until `stop`, and says what
    /// that took: the median of each second, in milliseconds. So few reads
    /// disturb nobody, and tell when the device itself is slow.
    pub fn probe(&self, stop: &AtomicBool) -> Result<Vec<f64>> {
        const PAUSE: Duration = Duration::from_millis(20);
        let file = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(&self.path)?;
        let mut buffer = Aligned::new(self.block_bytes);
        let mut rng = Rng::new(self.blocks);
        let (mut seconds, mut reads, began) = (Vec::new(), Vec::new(), Instant::now());
        while !stop.load(Ordering::Relaxed) {
            let start = Instant::now();
            file.read_exact_at(buffer.bytes(), rng.below(self.blocks) * self.block_bytes as u64)?;
            reads.push(start.elapsed().as_secs_f64() * 1e3);
            if began.elapsed().as_secs() > seconds.len() as u64 {
                seconds.push(median(std::mem::take(&mut reads)));
            }
            thread::sleep(PAUSE);
        }
        Ok(seconds)
    }

    /// Flushes per second that one thread gets for a block appended each time:
    /// the ceiling of an engine that shares no flush.
    pub fn flushes(&self, duration: Duration) -> Result<f64> {
        let path = self.path.with_extension("log");
        let file = File::create(&path)?;
        // Preallocated, as logs are, so that a flush writes no file sizes.
        file.write_all_at(&vec![1; 64 << 20], 0)?;
        file.sync_all()?;
        let began = Instant::now();
        let mut done = 0;
        while began.elapsed() < duration {
            file.write_all_at(&[2; 4096], done % (64 << 8) * 4096)?;
            file.sync_data()?;
            done += 1;
        }
        let rate = done as f64 / began.elapsed().as_secs_f64();
        fs::remove_file(&path)?;
        Ok(rate)
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// A buffer aligned as direct reads demand.
struct Aligned {
    start: *mut u8,
    layout: Layout,
}

impl Aligned {
    fn new(bytes: usize) -> Self {
        let layout = Layout::from_size_align(bytes, 4096).expect("a block size is small");
        // SAFETY: the layout is not empty, since a block has bytes.
        let start = unsafe { alloc_zeroed(layout) };
        assert!(!start.is_null(), "out of memory");
        Aligned { start, layout }
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: allocated with this size, initialised, and borrowed uniquely.
        unsafe { slice::from_raw_parts_mut(self.start, self.layout.size()) }
    }
}

impl Drop for Aligned {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.start, self.layout) };
    }
}
