//! Wait events: every place where a thread can wait has a name, a count and a total time.
//!
//! The path that does not wait pays nothing: a site is entered only once waiting is certain. Counters are plain
//! atomics on their own cache lines; two threads that wait at the same site at the same time may meet there,
//! which is nothing beside the wait itself.
//!
//! A server that has only as many running threads as cores must know when one of them is about to sleep: a [`WaitHook`] is
//! called around every wait but those for a latch, which are over before another thread could be put in its place.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;

macro_rules! wait_events {
    ($($variant:ident = $name:literal, $help:literal;)*) => {
        /// A place where threads wait.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum WaitEvent { $(#[doc = $help] $variant,)* }

        impl WaitEvent {
            /// Every event, in the order of their numbers.
            pub const ALL: &'static [WaitEvent] = &[$(WaitEvent::$variant,)*];

            /// The event's name, as reports show it.
            pub fn name(self) -> &'static str {
                match self { $(WaitEvent::$variant => $name,)* }
            }

            /// What is waited for, in one sentence.
            pub fn help(self) -> &'static str {
                match self { $(WaitEvent::$variant => $help,)* }
            }
        }
    };
}

wait_events! {
    LatchTree = "latch/tree_page", "Another thread changes the tree page that this one needs.";
    LatchSpaceMap = "latch/space_map_page", "Another thread changes the space map page that this one needs.";
    LatchSpace = "latch/space", "Another thread allocates or frees pages.";
    LatchCleaner = "latch/page_cleaner", "Another thread writes pages back.";
    PageLoad = "io/data/load_by_other", "Another thread reads the page that this one needs.";
    DataRead = "io/data/read", "A page is read from the data file.";
    DataWrite = "io/data/write", "Pages are written to the data file.";
    DataSync = "io/data/sync", "The data file is synced.";
    DataExtend = "io/data/extend", "The data file grows.";
    DoublewriteWrite = "io/doublewrite/write", "Pages are written to the doublewrite area.";
    DoublewriteSync = "io/doublewrite/sync", "The doublewrite area is synced.";
    LogWrite = "io/log/write", "Log blocks are written.";
    LogSync = "io/log/sync", "The log is synced.";
    ControlSync = "io/control/sync", "The control file is written and synced.";
    FrameFree = "memory/free_page", "All memory is in use, and a page has to leave first.";
    LogBufferSpace = "log/buffer_space", "The log buffer is full.";
    LogCapacity = "log/capacity", "The log files are full until a checkpoint frees space.";
    LogWritten = "log/written", "A commit waits until its log is written.";
    LogDurable = "log/durable", "A commit waits until its log is synced.";
}

/// How long a wait takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    /// It is over before another thread could take the place of the one that waits.
    Moment,
    /// As long as a device takes to read a page.
    Brief,
    /// Nobody knows.
    Long,
}

impl WaitEvent {
    fn length(self) -> Length {
        use WaitEvent::{DataRead, LatchCleaner, LatchSpace, LatchSpaceMap, LatchTree, PageLoad};
        match self {
            LatchTree | LatchSpaceMap | LatchSpace | LatchCleaner => Length::Moment,
            DataRead | PageLoad => Length::Brief,
            _ => Length::Long,
        }
    }
}

/// What is called when a thread is about to wait, and when it has waited. None of it fails or panics; calls may nest.
#[derive(Clone, Copy, Debug)]
pub struct WaitHook {
    /// Before the wait.
    pub before: fn(),
    /// Before one that is known to be short.
    pub before_brief: fn(),
    /// After it.
    pub after: fn(),
    /// Whether the thread may as well make a short wait as be called back from it.
    pub keeps: fn() -> bool,
    /// An eventfd to ring when a read has ended that this thread does not wait for: whoever hears it calls
    /// [`crate::Store::reap_reads`].
    pub bell: fn() -> Option<RawFd>,
}

impl Default for WaitHook {
    /// Nobody wants to know.
    fn default() -> Self {
        Self { before: || {}, before_brief: || {}, after: || {}, keeps: || false, bell: || None }
    }
}

impl WaitHook {
    /// Between this and its drop, the thread waits.
    pub fn enter(&self) -> Hooked {
        (self.before)();
        Hooked { after: self.after }
    }

    /// As [`WaitHook::enter`], for a short wait.
    fn enter_brief(&self) -> Hooked {
        (self.before_brief)();
        Hooked { after: self.after }
    }
}

/// A wait that somebody has been told of.
#[must_use = "the wait ends when this is dropped"]
pub struct Hooked {
    after: fn(),
}

impl Drop for Hooked {
    fn drop(&mut self) {
        (self.after)();
    }
}

#[derive(Default)]
struct Site {
    count: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Site {
    fn count(&self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.count.fetch_add(1, Ordering::Relaxed);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }
}

/// The counters of one store.
pub struct WaitEvents {
    sites: Box<[CachePadded<Site>]>,
    hook: WaitHook,
}

impl Default for WaitEvents {
    fn default() -> Self {
        Self::new(WaitHook::default())
    }
}

/// One event's figures at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitFigures {
    /// Which event.
    pub event: WaitEvent,
    /// Waits that have ended.
    pub count: u64,
    /// Their total time.
    pub total: Duration,
}

impl WaitEvents {
    /// All at zero; the hook is called around waits.
    pub fn new(hook: WaitHook) -> Self {
        Self { sites: WaitEvent::ALL.iter().map(|_| CachePadded::default()).collect(), hook }
    }

    /// What is called around waits.
    pub fn hook(&self) -> WaitHook {
        self.hook
    }

    /// Counts one wait at `event` for as long as the answer lives.
    pub fn begin(&self, event: WaitEvent) -> Waiting<'_> {
        let hooked = match event.length() {
            Length::Moment => None,
            Length::Brief => Some(self.hook.enter_brief()),
            Length::Long => Some(self.hook.enter()),
        };
        Waiting { site: &self.sites[event as usize], since: Instant::now(), _hooked: hooked }
    }

    /// Counts a wait that no thread has waited.
    pub fn note(&self, event: WaitEvent, time: Duration) {
        self.sites[event as usize].count(time);
    }

    /// All events' figures, in the order of [`WaitEvent::ALL`].
    pub fn snapshot(&self) -> Vec<WaitFigures> {
        WaitEvent::ALL
            .iter()
            .map(|&event| {
                let site = &self.sites[event as usize];
                WaitFigures {
                    event,
                    count: site.count.load(Ordering::Relaxed),
                    total: Duration::from_nanos(site.nanoseconds.load(Ordering::Relaxed)),
                }
            })
            .collect()
    }

    /// Sets every figure to zero. Waits under way count into the new figures when they end.
    pub fn reset(&self) {
        for site in &self.sites {
            site.count.store(0, Ordering::Relaxed);
            site.nanoseconds.store(0, Ordering::Relaxed);
        }
    }
}

/// A wait under way; ends when dropped.
pub struct Waiting<'w> {
    site: &'w Site,
    since: Instant,
    _hooked: Option<Hooked>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.site.count(self.since.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_counted_when_it_ends_and_reset_forgets_it() {
        let events = WaitEvents::default();
        let waiting = events.begin(WaitEvent::LogSync);
        let count = |events: &WaitEvents| events.snapshot()[WaitEvent::LogSync as usize].count;
        assert_eq!(count(&events), 0);
        drop(waiting);
        assert_eq!(count(&events), 1);
        assert_eq!(events.snapshot().iter().map(|f| f.count).sum::<u64>(), 1);
        events.reset();
        assert_eq!(count(&events), 0);
    }
}
