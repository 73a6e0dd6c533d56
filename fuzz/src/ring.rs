//! A ring of log files in memory, with any content.

use std::io;
use std::sync::{Arc, Mutex};

use meseta_storage::io::{DirectoryLock, Disk, DiskFile, Request};
use meseta_storage::log::files::LogFiles;

/// Opens `bytes`, cut into `count` files of the same length, as a ring.
pub fn ring(bytes: &[u8], count: usize) -> LogFiles {
    let file_len = bytes.len() / count;
    let files = bytes.chunks(file_len).map(|file| Arc::new(File(Mutex::new(file.to_vec())))).collect();
    LogFiles::open(&Directory(files), count, file_len as u64).expect("files in memory open")
}

/// The files of a ring, by number.
struct Directory(Vec<Arc<File>>);

struct File(Mutex<Vec<u8>>);

fn nobody_asks<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

impl Disk for Directory {
    fn lock(&self) -> io::Result<Box<dyn DirectoryLock>> {
        nobody_asks()
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let index: usize =
            name.rsplit('.').next().and_then(|number| number.parse().ok()).ok_or(io::ErrorKind::NotFound)?;
        Ok(Arc::clone(self.0.get(index).ok_or(io::ErrorKind::NotFound)?) as Arc<dyn DiskFile>)
    }

    fn create(&self, _: &str) -> io::Result<Arc<dyn DiskFile>> {
        nobody_asks()
    }

    fn create_temporary(&self) -> io::Result<Arc<dyn DiskFile>> {
        nobody_asks()
    }

    fn rename(&self, _: &str, _: &str) -> io::Result<()> {
        nobody_asks()
    }

    fn remove(&self, _: &str) -> io::Result<()> {
        nobody_asks()
    }

    fn list(&self) -> io::Result<Vec<String>> {
        nobody_asks()
    }

    fn sync_directory(&self) -> io::Result<()> {
        nobody_asks()
    }

    fn describe(&self) -> String {
        "memory".into()
    }
}

impl DiskFile for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let file = self.0.lock().expect("nobody panics under this lock");
        let rest = file.get(offset as usize..).unwrap_or(&[]);
        let len = buffer.len().min(rest.len());
        buffer[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }

    fn write_at(&self, _: &[u8], _: u64) -> io::Result<usize> {
        nobody_asks()
    }

    fn sync(&self) -> io::Result<()> {
        nobody_asks()
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().expect("nobody panics under this lock").len() as u64)
    }

    fn allocate(&self, _: u64) -> io::Result<()> {
        nobody_asks()
    }

    fn submit(&self, _: Vec<Request>) {
        unreachable!("the log is read one stretch at a time")
    }
}
