//! Who is called when a page has come from disk: waits without a thread.
//!
//! ```text
//!   add(page, waker)    the page is loading, or will be; if it turns out that it is not, remove
//!   load ends, then call(page)                       each waker that was added is called once
//! ```
//!
//! # Invariants
//! 1. A load ends before `call` looks for wakers, and whoever has added one looks afterwards whether the page still loads, and if not,
//!    whether the waker is still there. So either the one is called, or the other sees that he will not be.
//! 2. No waker is called with a lock of this module held.

use std::task::Waker;

use crossbeam_utils::CachePadded;
use parking_lot::Mutex;
use smallvec::SmallVec;

use crate::ids::PageNo;

/// Pages are spread over so many lists.
const LISTS: usize = 64;

type List = Vec<(PageNo, Waker)>;

/// Wakers by page.
pub(super) struct Callbacks {
    lists: Box<[CachePadded<Mutex<List>>]>,
}

impl Default for Callbacks {
    fn default() -> Self {
        Self { lists: (0..LISTS).map(|_| CachePadded::default()).collect() }
    }
}

impl Callbacks {
    fn list(&self, page: PageNo) -> &Mutex<List> {
        &self.lists[page.index() % LISTS]
    }

    /// To be called when the page has come.
    pub fn add(&self, page: PageNo, waker: &Waker) {
        self.list(page).lock().push((page, waker.clone()));
    }

    /// Not to be called any more; whether it was still to be.
    pub fn remove(&self, page: PageNo, waker: &Waker) -> bool {
        let mut list = self.list(page).lock();
        let before = list.len();
        list.retain(|(of, other)| *of != page || !other.will_wake(waker));
        list.len() < before
    }

    /// The page has come, or will not: calls who waits for it.
    pub fn call(&self, page: PageNo) {
        let wakers: SmallVec<[(PageNo, Waker); 4]> =
            self.list(page).lock().extract_if(.., |(of, _)| *of == page).collect();
        wakers.into_iter().for_each(|(_, waker)| waker.wake());
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    /// Counts its wakes.
    #[derive(Default)]
    pub struct Called(AtomicUsize);

    impl Called {
        pub fn times(&self) -> usize {
            self.0.load(Ordering::Relaxed)
        }
    }

    impl Wake for Called {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn each_is_called_once_for_its_page() {
        let callbacks = Callbacks::default();
        let called: [Arc<Called>; 3] = Default::default();
        let wakers = called.clone().map(Waker::from);
        let times = || called.each_ref().map(|called| called.times());
        // Of these pages the first and the last share a list.
        let pages = [PageNo(1), PageNo(2), PageNo(1 + LISTS as u32)];
        pages.iter().zip(&wakers).for_each(|(&page, waker)| callbacks.add(page, waker));
        callbacks.add(pages[0], &wakers[1]);
        callbacks.add(pages[0], &wakers[2]);
        assert!(callbacks.remove(pages[0], &wakers[1]));
        assert!(!callbacks.remove(pages[0], &wakers[1]));
        callbacks.call(pages[0]);
        assert_eq!(times(), [1, 0, 1]);
        callbacks.call(pages[0]);
        callbacks.call(pages[2]);
        assert_eq!(times(), [1, 0, 2]);
        callbacks.call(pages[1]);
        assert_eq!(times(), [1, 1, 2]);
    }
}
