//! Requests by the kernel's asynchronous I/O (`io_submit(2)`): who submits a transfer starts it, and another thread ends it.
//!
//! # Life of a transfer
//!
//! ```text
//!            fewer than ENTRIES in flight                        rings the bell: ours, or the one that the request names
//! submit --> start ----------------------------> kernel -------> reap_all --> done()
//!     \                         ^                        \         (our thread, or whoever was told)
//!      `--> waiting             |                         `------> left over: for our thread
//!              as others have ended
//! ```
//!
//! # Why not io_uring
//! The kernel ends a request of a ring in the thread that submitted it, so a ring needs a thread of its own, which is woken to
//! submit and once more to end; and many containers forbid it. This may be submitted by any thread and ended by any other, and the
//! interrupt itself wakes who is to end it (docs/decisions/2026-11-26-asynchronous-reads.md).
//!
//! # Who ends it
//! Whoever calls [`Aio::reap`] ends all that the kernel has completed. A request may name an eventfd of somebody who will do so soon
//! (a server's worker, between two turns). He may be busy, or gone: so while there are such requests our thread looks every [`TICK`].
//!
//! # Invariants
//! 1. At most [`ENTRIES`] transfers are in flight, but for those that our thread starts itself: the kernel has room for twice as
//!    many. (`begin`)
//! 2. A transfer given to the kernel is a box that nobody else has until its event comes, which is once; so its memory, by the
//!    promise made to `IoMemory::new`, and its descriptor stay valid. (`start`, `reap_all`)
//! 3. The thread leaves only with nothing in flight, nothing waiting and nothing left over.
//! 4. `Inbox::dozes` is true only if our thread sleeps until its bell rings. Who begins a transfer that somebody else is told of
//!    while it is true clears it and rings. (`begin`)
//!
//! # When things fail
//! A request's error goes to its completion. Reads are not to wait in `io_submit` (`RWF_NOWAIT`): what would have to, what the
//! kernel refuses to start, what was interrupted or is short is left to our thread, which may. An error of the context itself, once
//! it has been set up and tried, is a bug, and panics, which aborts.

use std::cell::Cell;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use parking_lot::{Mutex, MutexGuard};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use smallvec::SmallVec;

use super::{AbortOnPanic, Transfer, directory};
use crate::io::{AlignedBuffer, IO_ALIGN, Operation};

/// The most transfers in flight: as many as a device's queue takes, as a rule, before who adds one must wait.
const ENTRIES: usize = 256;
/// How many events are taken at a time.
const EVENTS: usize = 64;
/// How long nobody looks, at most, for what somebody else was told of.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };
/// The most bytes that one entry asks the kernel to move; it moves no more than 2 GiB. The rest is "short".
const ENTRY_LEN_MAX: usize = 1 << 30;

thread_local! {
    /// This thread is calling completions.
    static ENDING: Cell<bool> = const { Cell::new(false) };
}

/// The context and its thread. Dropping it waits until all that was submitted has ended.
pub(super) struct Aio {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    context: Context,
    /// Innermost of all locks; no system call and no completion under it.
    inbox: Mutex<Inbox>,
    /// An eventfd of our thread.
    bell: OwnedFd,
    /// Those in flight whose requests name somebody else. (Of `Inbox`, for who wants to know whether there are any.)
    told: AtomicUsize,
}

#[derive(Default)]
struct Inbox {
    waiting: VecDeque<Transfer>,
    /// Our thread finishes them.
    left_over: Vec<LeftOver>,
    in_flight: usize,
    /// Some that name somebody else have begun since our thread looked last.
    told_lately: bool,
    /// See invariant 4.
    dozes: bool,
    closed: bool,
}

/// A transfer that did not go the usual way, and what is left to do.
struct LeftOver {
    transfer: Transfer,
    rest: Rest,
}

enum Rest {
    /// It may take its time to start.
    Start,
    /// All but so many bytes is to be moved by blocking calls.
    Finish(usize),
}

impl Aio {
    /// Starts the thread, of this name. Errors: the kernel, or the directory's file system, does not let us use it.
    pub(super) fn start(name: &'static str, directory: &File) -> io::Result<Aio> {
        let context = Context::new()?;
        context.try_out(directory)?;
        let shared = Arc::new(Shared {
            context,
            inbox: Mutex::default(),
            bell: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            told: AtomicUsize::new(0),
        });
        let mine = Arc::clone(&shared);
        let thread = crate::thread::spawn(name, move || mine.run())?;
        Ok(Aio { shared, thread: Some(thread) })
    }

    pub(super) fn submit(&self, transfers: impl Iterator<Item = Transfer>) {
        let mut inbox = self.shared.inbox.lock();
        let mut rings = false;
        for transfer in transfers {
            if transfer.check_aligned().is_ok() {
                inbox.waiting.push_back(transfer);
            } else {
                // Our thread is to say so.
                inbox.left_over.push(LeftOver { transfer, rest: Rest::Finish(0) });
                rings = true;
            }
        }
        self.shared.begin(inbox, rings);
    }

    /// Ends what the kernel has completed, if there is something that somebody was told of; does not wait.
    pub(super) fn reap(&self) {
        if self.shared.told.load(Ordering::Relaxed) > 0 {
            self.shared.reap_all();
        }
    }
}

impl Drop for Aio {
    fn drop(&mut self) {
        self.shared.inbox.lock().closed = true;
        self.shared.ring();
        let thread = self.thread.take().expect("taken only here");
        // A completion may drop the last handle, and what it is of cannot end before it.
        if !ENDING.get() {
            let _ = thread.join(); // it cannot have panicked: that would have aborted the process
        }
    }
}

impl Shared {
    fn ring(&self) {
        // Fails only if the count is full: then it rings already.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }

    /// Starts as many of those that wait as may be in flight besides those that are. Rings for our thread if that is to hear of it,
    /// or if it `rings` anyway.
    fn begin(&self, mut inbox: MutexGuard<'_, Inbox>, rings: bool) {
        let count = inbox.waiting.len().min(ENTRIES.saturating_sub(inbox.in_flight));
        let starting: SmallVec<[Transfer; 4]> = inbox.waiting.drain(..count).collect();
        inbox.in_flight += count;
        let told = starting.iter().filter(|transfer| transfer.request.tell.is_some()).count();
        self.told.fetch_add(told, Ordering::Relaxed);
        inbox.told_lately |= told > 0;
        let rings = rings || told > 0 && std::mem::take(&mut inbox.dozes);
        drop(inbox);
        self.start(starting);
        if rings {
            self.ring();
        }
    }

    /// Gives transfers that have begun to the kernel. What it refuses is left to our thread, and so are those that wait then.
    fn start(&self, starting: SmallVec<[Transfer; 4]>) {
        let boxed = starting.into_iter().map(|transfer| Box::into_raw(Box::new(transfer)));
        let mut entries: SmallVec<[libc::iocb; 4]> = boxed.map(|boxed| self.entry_of(boxed)).collect();
        self.start_entries(&mut entries);
    }

    fn start_entries(&self, entries: &mut [libc::iocb]) {
        let pointers: SmallVec<[*mut libc::iocb; 4]> = entries.iter_mut().map(ptr::from_mut).collect();
        let mut left = &pointers[..];
        while !left.is_empty() {
            // SAFETY: each names a box, which keeps memory and descriptor valid until its event comes (invariant 2).
            let count = unsafe { self.context.submit(left) }.unwrap_or(0);
            if count == 0 {
                // SAFETY: the entry is one of those above, and the kernel has not taken the box that it names.
                let transfer = unsafe { self.take_back((*left[0]).aio_data) };
                self.leave_over(transfer, Rest::Finish(0), 1);
            }
            left = &left[count.max(1)..];
        }
    }

    /// Takes a transfer out of its box. Nobody is told of it any more.
    ///
    /// # Safety
    /// It is the address of one that `start` has made, and that the kernel does not have.
    unsafe fn take_back(&self, boxed: u64) -> Transfer {
        // SAFETY: the caller's promise.
        let mut transfer = *unsafe { Box::from_raw(boxed as *mut Transfer) };
        if transfer.request.tell.take().is_some() {
            self.told.fetch_sub(1, Ordering::Relaxed);
        }
        transfer
    }

    /// The entry that names this box.
    fn entry_of(&self, boxed: *mut Transfer) -> libc::iocb {
        // SAFETY: made a moment ago by `Box::into_raw`; nobody else has it.
        let Transfer { file, request } = unsafe { &*boxed };
        let memory = request.memory;
        let mut entry = entry(request.operation, file.as_raw_fd(), memory.pointer(), memory.len(), request.offset);
        entry.aio_data = boxed as u64;
        entry.aio_flags = IOCB_FLAG_RESFD;
        entry.aio_resfd = request.tell.unwrap_or(self.bell.as_raw_fd()) as u32;
        entry
    }

    /// Leaves the rest of a transfer to our thread, and the room of so many that are not in flight.
    fn leave_over(&self, transfer: Transfer, rest: Rest, not_in_flight: usize) {
        let mut inbox = self.inbox.lock();
        inbox.left_over.push(LeftOver { transfer, rest });
        inbox.in_flight -= not_in_flight;
        drop(inbox);
        self.ring();
    }

    /// So many have left the kernel: others may begin.
    fn have_ended(&self, count: usize) {
        let mut inbox = self.inbox.lock();
        inbox.in_flight -= count;
        let is_closed = inbox.closed;
        self.begin(inbox, is_closed);
    }

    /// Ends all that the kernel has completed; does not wait.
    fn reap_all(&self) {
        let mut events = [Event::default(); EVENTS];
        while self.context.may_have_events() {
            let count = self.context.events(&mut events, false).expect("the context is ours");
            if count == 0 {
                return;
            }
            let _abort = AbortOnPanic;
            let nested = ENDING.replace(true);
            for event in &events[..count] {
                // SAFETY: an entry of ours named it, and its event comes once: the kernel has it no more (invariant 2).
                let transfer = unsafe { self.take_back(event.data) };
                self.end(transfer, event.result);
            }
            ENDING.set(nested);
            self.have_ended(count);
        }
    }

    fn end(&self, transfer: Transfer, result: i64) {
        match errno(result) {
            None if result as usize == transfer.request.memory.len() => transfer.end(Ok(())),
            None => self.leave_over(transfer, Rest::Finish(result as usize), 0),
            Some(Errno::AGAIN) => self.leave_over(transfer, Rest::Start, 0),
            Some(Errno::INTR | Errno::CANCELED) => self.leave_over(transfer, Rest::Finish(0), 0),
            Some(errno) => {
                let error = transfer.file.named(errno);
                transfer.end(Err(error));
            }
        }
    }

    fn run(&self) {
        let _abort = AbortOnPanic;
        while let Some(left_over) = self.next() {
            let had_any = !left_over.is_empty();
            left_over.into_iter().for_each(|left_over| self.finish(left_over));
            self.reap_all();
            if had_any {
                // Some may have left room.
                self.have_ended(0);
            }
        }
    }

    /// Does what was left of a transfer, and may wait.
    fn finish(&self, LeftOver { transfer, rest }: LeftOver) {
        match rest {
            Rest::Start => {
                self.inbox.lock().in_flight += 1;
                let mut entry = self.entry_of(Box::into_raw(Box::new(transfer)));
                entry.aio_rw_flags = 0;
                self.start_entries(&mut [entry]);
            }
            Rest::Finish(done) => {
                ENDING.set(true);
                transfer.finish_blocking(done);
                ENDING.set(false);
            }
        }
    }

    /// Waits until there may be something for our thread; gives it what was left over. `None`: there will never be more.
    fn next(&self) -> Option<Vec<LeftOver>> {
        let limit = {
            let mut inbox = self.inbox.lock();
            let is_over =
                inbox.closed && inbox.in_flight == 0 && inbox.waiting.is_empty() && inbox.left_over.is_empty();
            if is_over {
                return None;
            }
            let told_lately = std::mem::take(&mut inbox.told_lately);
            inbox.dozes = !told_lately && self.told.load(Ordering::Relaxed) == 0;
            if inbox.dozes { None } else { Some(&TICK) }
        };
        match poll(&mut [PollFd::new(&self.bell, PollFlags::IN)], limit) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => panic!("an eventfd cannot be waited for: {error}"),
        }
        let _ = rustix::io::read(&self.bell, &mut [0; 8]);
        let mut inbox = self.inbox.lock();
        inbox.dozes = false;
        Some(std::mem::take(&mut inbox.left_over))
    }
}

/// The request's completion is told by the eventfd `aio_resfd`. (linux/aio_abi.h, as all below.)
const IOCB_FLAG_RESFD: u32 = 1;
const IOCB_CMD_PREAD: u16 = 0;
const IOCB_CMD_PWRITE: u16 = 1;

/// `struct io_event`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Event {
    data: u64,
    entry: u64,
    result: i64,
    result2: i64,
}

/// An entry of which all is said but who is told.
fn entry(operation: Operation, fd: i32, pointer: *mut u8, len: usize, offset: u64) -> libc::iocb {
    // SAFETY: all of it is numbers.
    let mut entry: libc::iocb = unsafe { std::mem::zeroed() };
    (entry.aio_lio_opcode, entry.aio_rw_flags) = match operation {
        Operation::Read => (IOCB_CMD_PREAD, libc::RWF_NOWAIT),
        // Who writes is the cleaner, which may wait.
        Operation::Write => (IOCB_CMD_PWRITE, 0),
    };
    entry.aio_fildes = fd as u32;
    entry.aio_buf = pointer as u64;
    entry.aio_nbytes = len.min(ENTRY_LEN_MAX) as u64;
    entry.aio_offset = offset as i64;
    entry
}

/// What went wrong, of a result that is negative then.
fn errno(result: i64) -> Option<Errno> {
    (result < 0).then(|| Errno::from_raw_os_error(-result as i32))
}

/// The kernel's side.
struct Context {
    id: libc::c_ulong,
    /// Its events can be looked for without a system call.
    has_known_ring: bool,
}

impl Context {
    /// `struct aio_ring`, which is where the context's number says: words of it, and what stands in one of them.
    const HEAD: usize = 2;
    const TAIL: usize = 3;
    const MAGIC: usize = 4;
    const IS_MAGIC: u32 = 0xa10a_10a1;

    fn new() -> io::Result<Context> {
        let mut id: libc::c_ulong = 0;
        // SAFETY: the kernel writes the number, and nothing else.
        if unsafe { libc::syscall(libc::SYS_io_setup, ENTRIES as libc::c_uint, &raw mut id) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let mut context = Context { id, has_known_ring: false };
        context.has_known_ring = context.word(Context::MAGIC).load(Ordering::Relaxed) == Context::IS_MAGIC;
        Ok(context)
    }

    /// Reads from an empty file as all are read. Errors: that is not to be had here.
    fn try_out(&self, directory: &File) -> io::Result<()> {
        let file = directory::create_direct_temporary(directory)?;
        let mut block = AlignedBuffer::new(IO_ALIGN);
        let mut entry = entry(Operation::Read, file.as_raw_fd(), block.as_mut_ptr(), IO_ALIGN, 0);
        // SAFETY: the block stays, untouched, until the event has come.
        unsafe { self.submit(&[&raw mut entry]) }?;
        let mut event = [Event::default()];
        while self.events(&mut event, true)? == 0 {}
        match errno(event[0].result) {
            // (That it would have had to wait is an answer too.)
            None | Some(Errno::AGAIN) => Ok(()),
            Some(errno) => Err(errno.into()),
        }
    }

    fn word(&self, index: usize) -> &AtomicU32 {
        debug_assert!(index <= Context::MAGIC);
        // SAFETY: the kernel has mapped a page or more there, readable, for the context's life; words are changed by it alone.
        unsafe { &*(self.id as *const AtomicU32).add(index) }
    }

    /// False: there are none.
    fn may_have_events(&self) -> bool {
        let [head, tail] = [Context::HEAD, Context::TAIL].map(|index| self.word(index).load(Ordering::Acquire));
        !self.has_known_ring || head != tail
    }

    /// Starts these; returns how many were, the first ones. Errors: what keeps the first from being started.
    ///
    /// # Safety
    /// What each names stays valid until its event comes.
    unsafe fn submit(&self, entries: &[*mut libc::iocb]) -> io::Result<usize> {
        let (count, first) = (entries.len(), entries.as_ptr());
        // SAFETY: the entries are there, and are copied; the rest is the caller's promise.
        let started = unsafe { libc::syscall(libc::SYS_io_submit, self.id, count, first) };
        usize::try_from(started).map_err(|_| io::Error::last_os_error())
    }

    /// Takes events that have come, or waits for one; returns how many.
    fn events(&self, events: &mut [Event], wait: bool) -> io::Result<usize> {
        let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let (least, limit) = if wait { (1, ptr::null()) } else { (0, &raw const at_once) };
        let (most, first) = (events.len(), events.as_mut_ptr());
        // SAFETY: there is room for so many.
        let count = unsafe { libc::syscall(libc::SYS_io_getevents, self.id, least, most, first, limit) };
        match usize::try_from(count) {
            Ok(count) => Ok(count),
            Err(_) => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => Ok(0),
                error => Err(error),
            },
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context is ours. (What is in flight, which is nothing, would be waited for.)
        unsafe { libc::syscall(libc::SYS_io_destroy, self.id) };
    }
}
