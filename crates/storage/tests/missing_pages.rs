//! Reads that do not wait for the disk: who reads is called when a page has come.

mod common;

use std::cell::Cell;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use common::*;
use meseta_sim::{Call, Effect, Fault, SimDisk};
use meseta_storage::{Background, ErrorKind, Store, StoreOptions, Tree, WaitHook};

/// Counts how often it was called.
#[derive(Default)]
struct Called(AtomicUsize);

impl Wake for Called {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Called {
    fn times(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

fn caller() -> (Arc<Called>, Waker) {
    let called = Arc::new(Called::default());
    (Arc::clone(&called), Waker::from(called))
}

/// Wakes a thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

thread_local! {
    /// What this thread sleeps by.
    static BELL: Cell<Option<RawFd>> = const { Cell::new(None) };
}

/// Rings a thread's bell.
struct Bell(OwnedFd);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        rustix::io::write(&self.0, &1u64.to_ne_bytes()).unwrap();
    }
}

const ENTRIES: u32 = 4000;

fn key(number: u32) -> [u8; 4] {
    number.to_be_bytes()
}

/// Asks for all of a value: whether there is one.
fn poll(tree: &Tree, key: &[u8], value: &mut Vec<u8>, waker: &Waker) -> Poll<bool> {
    tree.poll_get_front_into(key, value, |_| false, waker).unwrap().map(|found| found.is_some())
}

/// A store whose only tree is much larger than memory, and in which the first entries are on disk.
fn large(disk: &SimDisk) -> Store {
    let store = open(disk);
    let tree = store.root_tree();
    for number in 0..ENTRIES {
        tree.insert(&key(number), &[number as u8; 200]).unwrap();
    }
    store.checkpoint().unwrap();
    store
}

#[test]
fn a_missing_page_is_read_in_and_who_wants_it_is_called() {
    let disk = SimDisk::new(1);
    let store = large(&disk);
    let (tree, mut value) = (store.root_tree(), Vec::new());
    let (called, waker) = caller();
    let before = store.figures().pool.reads;
    let mut waits = 0;
    while poll(&tree, &key(3), &mut value, &waker).is_pending() {
        waits += 1;
        assert_eq!(called.times(), waits, "the simulated disk has read it before it returns");
    }
    assert_eq!(value, [3; 200]);
    assert!(waits > 0);
    assert_eq!(store.figures().pool.reads - before, waits as u64, "each page is read once");
    assert_eq!(poll(&tree, &key(4), &mut value, &waker), Poll::Ready(true));
    assert_eq!(poll(&tree, &[0, 0, 0, 4, 0], &mut value, &waker), Poll::Ready(false));
    assert_eq!(called.times(), waits);
    assert_sound(&store);
}

/// All entries, each asked for until it is there, with memory for a tenth of them.
#[test]
fn memory_that_is_full_is_enough() {
    let disk = SimDisk::new(2);
    let store = large(&disk);
    let (tree, mut value) = (store.root_tree(), Vec::new());
    let (_, waker) = caller();
    for number in (0..ENTRIES).step_by(7) {
        // Dirty pages have to be written first.
        tree.patch(&key(number), 0, &[number as u8]).unwrap();
        let other = (number * 31) % ENTRIES;
        while poll(&tree, &key(other), &mut value, &waker).is_pending() {}
        assert_eq!(value, [other as u8; 200]);
    }
    assert_sound(&store);
}

#[test]
fn a_page_that_cannot_be_read_calls_and_is_the_error_of_who_waits_for_it() {
    let disk = SimDisk::new(3);
    let store = large(&disk);
    let (tree, mut value) = (store.root_tree(), Vec::new());
    let (called, waker) = caller();
    disk.inject(Fault::new(Call::Read, Effect::DeviceError).on(meseta_storage::buffer::DATA_FILE).forever());
    for times in 1..4 {
        assert!(poll(&tree, &key(3), &mut value, &waker).is_pending());
        assert_eq!(called.times(), times);
    }
    let error = tree.get_into(&key(3), &mut value).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Read { .. }), "{error:?}");
    disk.clear_faults();
    while poll(&tree, &key(3), &mut value, &waker).is_pending() {}
    assert_eq!(value, [3; 200]);
    assert_sound(&store);
}

/// A thread in whose place nobody comes may as well wait.
#[test]
fn who_keeps_its_place_waits() {
    let disk = SimDisk::new(4);
    large(&disk).close().unwrap();
    let wait_hook = WaitHook { keeps: || true, ..WaitHook::default() };
    let store = try_open(&disk, &StoreOptions { wait_hook, ..tiny() }).unwrap();
    let (called, waker) = caller();
    let mut value = Vec::new();
    let (before, tree) = (store.figures().pool.reads, store.root_tree());
    assert_eq!(poll(&tree, &key(3), &mut value, &waker), Poll::Ready(true));
    assert!(store.figures().pool.reads > before);
    assert_eq!((value, called.times()), (vec![3; 200], 0));
}

/// A tree much larger than memory, on a real disk.
fn on_disk(wait_hook: WaitHook) -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions { background: Background::Threads, wait_hook, ..tiny() };
    let store = Store::open(directory.path(), options).unwrap();
    for number in 0..ENTRIES {
        store.root_tree().insert(&key(number), &[number as u8; 200]).unwrap();
    }
    (directory, store)
}

/// Reads many entries, and waits, where that is asked, as said.
fn read_many(store: &Store, waker: &Waker, wait: impl Fn()) {
    let (tree, mut value) = (store.root_tree(), Vec::new());
    for number in (0..ENTRIES).step_by(17) {
        while poll(&tree, &key(number), &mut value, waker).is_pending() {
            wait();
        }
        assert_eq!(value, [number as u8; 200]);
    }
}

/// On a real disk, where pages come while others ask for them: whoever is told to wait is called.
#[test]
fn of_many_who_want_the_same_pages_each_is_called() {
    let (_directory, store) = on_disk(WaitHook::default());
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                read_many(&store, &Waker::from(Arc::new(Unpark(thread::current()))), || {
                    let asleep = std::time::Instant::now();
                    thread::park_timeout(Duration::from_secs(60));
                    assert!(asleep.elapsed() < Duration::from_secs(60), "nobody has called");
                });
            });
        }
    });
    assert_sound(&store);
}

/// As a server's workers: each sleeps by its bell, which rings when what it has begun to read has come, and when it is called.
#[test]
fn who_is_told_of_reads_ends_them_for_all() {
    let (_directory, store) = on_disk(WaitHook { bell: || BELL.get(), ..WaitHook::default() });
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let eventfd = rustix::event::eventfd(0, rustix::event::EventfdFlags::empty()).unwrap();
                let bell = Arc::new(Bell(eventfd));
                BELL.set(Some(bell.0.as_raw_fd()));
                read_many(&store, &Waker::from(Arc::clone(&bell)), || {
                    rustix::io::read(&bell.0, &mut [0; 8]).unwrap();
                    store.reap_reads();
                });
            });
        }
    });
    assert_sound(&store);
}
