//! Sending and receiving by io_uring: many sockets, one system call for all that is due.
//!
//! ```text
//! send(task, bytes)    copied to the task's place -> submission queue  (a success has no completion)
//! submit()             now, so that what is sent past the ring comes after it
//! arm(task, socket)    a receive that goes on for as long as the socket does, into buffers of the ring's
//! wait(patience)       submit, wait -> completions -> each task's inbox -> tasks to poll
//! take(task, room)     from the inbox to the reader; the buffer goes back to the kernel
//! ```
//!
//! So a statement costs two entries of queues and a share of one system call, where `epoll` needs a send, a receive and
//! a share of a wait. At most `ENTRIES` sends are held back before they are submitted: with many clients, the first
//! does not wait for the last.
//!
//! Invariants:
//! 1. All memory that the kernel was told of is this ring's, and is freed only after every request has been cancelled
//!    and has ended (`drop`); where that cannot be had, it is not freed at all.
//! 2. A buffer is either the kernel's (in `buffers`' ring) or in exactly one inbox.
//! 3. A task has one socket at a time, and what it sends next goes to its place only after what was there has been
//!    submitted, which sends it: a client has one statement on its way. (If a socket is full by then, bytes of the next
//!    one may be sent in place of the last one's: memory stays valid, and the server says what it thinks of it.)
//!
//! When it fails: [`Ring::new`] fails where the kernel has no io_uring, or does not let us use it, and the reactor uses
//! `epoll`. A socket's error is what its reader takes next.
//!
//! Source: io_uring(7), io_uring_register_buf_ring(3), io_uring_prep_recv_multishot(3).

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use io_uring::types::{BufRingEntry, CancelBuilder, Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use rustix::io::Errno;
use rustix::net::SendFlags;

use super::reactor::TaskId;

/// Entries of the submission queue: when so many sends are waiting, they go.
const ENTRIES: u32 = 32;
/// How much one send may have; more goes another way.
pub const SEND_BYTES: usize = 1024;
/// The size of a buffer that the kernel receives into.
const BUFFER_BYTES: usize = 16 << 10;
/// The group of those buffers.
const GROUP: u16 = 0;
/// Send all of it, however long that takes: as for `recv`, and io_uring knows it for sends too.
const ALL: i32 = 0x100;

/// What a completion is of: the upper half of its `user_data`; the lower one is the task.
const RECEIVED: u64 = 1 << 32;
const SENT: u64 = 2 << 32;
const WRITABLE: u64 = 3 << 32;

/// Memory that the kernel knows of.
struct Memory {
    start: NonNull<u8>,
    layout: Layout,
}

impl Memory {
    fn new(bytes: usize) -> io::Result<Memory> {
        let layout = Layout::from_size_align(bytes.max(1), 4096).map_err(io::Error::other)?;
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Memory { start, layout })
    }

    /// Where byte number `offset` is; it must be one of these.
    fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset < self.layout.size());
        // SAFETY: within the allocation, as was just asserted.
        unsafe { self.start.as_ptr().add(offset) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated so, once, in `new`.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

/// What has come for a task and has not been taken.
#[derive(Default)]
struct Inbox {
    socket: Option<RawFd>,
    /// Buffers and how many bytes are in each.
    ready: VecDeque<(u16, usize)>,
    /// How much of the first has been taken.
    taken: usize,
    /// How the socket ended: 0 when the other end closed it.
    ended: Option<i32>,
}

/// The ring of one thread.
pub struct Ring {
    uring: RefCell<IoUring>,
    /// The ring of buffers that the kernel may fill: entries, and the tail in the first one's reserved field.
    entries: ManuallyDrop<Memory>,
    buffers: ManuallyDrop<Memory>,
    count: u16,
    tail: Cell<u16>,
    /// A place for each task's send.
    places: ManuallyDrop<Memory>,
    /// How often requests have been submitted, and when each task's place was written.
    submissions: Cell<u64>,
    written: Vec<Cell<u64>>,
    inboxes: RefCell<Vec<Inbox>>,
    /// Tasks whose receive ended for want of a buffer.
    starved: RefCell<Vec<TaskId>>,
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring").field("buffers", &self.count).finish_non_exhaustive()
    }
}

impl Ring {
    /// A ring for `tasks` tasks, of the calling thread alone.
    ///
    /// # Errors
    /// The kernel has no io_uring, an older one (before 6.1), or does not let us use it.
    pub fn new(tasks: usize) -> io::Result<Ring> {
        let count = tasks.next_power_of_two().clamp(64, 4096) as u16;
        let uring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_submit_all()
            .setup_cqsize(2 * u32::from(count).max(ENTRIES))
            .build(ENTRIES)?;
        if !uring.params().is_feature_ext_arg() || !uring.params().is_feature_skip_cqe_on_success() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let ring = Ring {
            entries: ManuallyDrop::new(Memory::new(usize::from(count) * size_of::<BufRingEntry>())?),
            buffers: ManuallyDrop::new(Memory::new(usize::from(count) * BUFFER_BYTES)?),
            places: ManuallyDrop::new(Memory::new(tasks * SEND_BYTES)?),
            count,
            tail: Cell::new(0),
            submissions: Cell::new(1),
            written: vec![Cell::new(0); tasks],
            inboxes: RefCell::new((0..tasks).map(|_| Inbox::default()).collect()),
            starved: RefCell::default(),
            uring: RefCell::new(uring),
        };
        let address = ring.entries.at(0) as u64;
        // SAFETY: the entries' memory is of that size, is aligned to pages, and stays until the group is unregistered
        // (invariant 1).
        unsafe { ring.uring.borrow().submitter().register_buf_ring_with_flags(address, count, GROUP, 0)? };
        for buffer in 0..count {
            ring.give(buffer);
        }
        Ok(ring)
    }

    /// Gives a buffer to the kernel.
    fn give(&self, buffer: u16) {
        let tail = self.tail.get();
        let place = usize::from(tail & (self.count - 1)) * size_of::<BufRingEntry>();
        let entry = self.entries.at(place).cast::<BufRingEntry>();
        // SAFETY: an entry of the ring, which is zeroed or was written so; the kernel reads it only once the tail has
        // passed it. The first entry's last field is the tail: only the other three are written.
        unsafe {
            (*entry).set_addr(self.buffers.at(usize::from(buffer) * BUFFER_BYTES) as u64);
            (*entry).set_len(BUFFER_BYTES as u32);
            (*entry).set_bid(buffer);
        }
        self.tail.set(tail.wrapping_add(1));
        // SAFETY: the address of the first entry, which is initialised; the tail is an aligned 16-bit number that the
        // kernel reads, and nobody but this thread writes.
        let shared = unsafe { &*BufRingEntry::tail(self.entries.at(0).cast()).cast::<AtomicU16>() };
        shared.store(self.tail.get(), Ordering::Release);
    }

    /// Appends a request; what waits is submitted first if there is no place.
    fn push(&self, entry: &squeue::Entry) -> io::Result<()> {
        let mut uring = self.uring.borrow_mut();
        loop {
            // SAFETY: the addresses in it are of this ring's memory, which outlives the request (invariant 1).
            if unsafe { uring.submission().push(entry) }.is_ok() {
                return Ok(());
            }
            self.submissions.set(self.submissions.get() + 1);
            uring.submit()?;
        }
    }

    /// Has what comes from a socket received for `task`, from now on.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn arm(&self, task: TaskId, socket: BorrowedFd<'_>) -> io::Result<()> {
        if let Some(inbox) = self.inboxes.borrow_mut().get_mut(task as usize) {
            *inbox = Inbox { socket: Some(socket.as_raw_fd()), ..Inbox::default() };
        }
        self.receive(task, socket.as_raw_fd())
    }

    fn receive(&self, task: TaskId, socket: RawFd) -> io::Result<()> {
        self.push(&opcode::RecvMulti::new(Fd(socket), GROUP).build().user_data(RECEIVED | u64::from(task)))
    }

    /// The task's socket is about to be closed.
    pub fn forget(&self, task: TaskId) {
        if let Some(inbox) = self.inboxes.borrow_mut().get_mut(task as usize) {
            inbox.socket = None;
            for (buffer, _) in std::mem::take(&mut inbox.ready) {
                self.give(buffer);
            }
        }
    }

    /// Sends at most [`SEND_BYTES`] bytes, all of them, and does not wait. If that fails, the reader is told.
    ///
    /// # Errors
    /// What the kernel says.
    #[inline]
    pub fn send(&self, task: TaskId, socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<()> {
        assert!(bytes.len() <= SEND_BYTES);
        if let Some(written) = self.written.get(task as usize) {
            if written.get() == self.submissions.get() {
                self.submit()?;
            }
            written.set(self.submissions.get());
        }
        let place = self.places.at(task as usize * SEND_BYTES);
        // SAFETY: the task's place has that many bytes; `bytes` is somebody else's memory.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len()) };
        let flags = SendFlags::NOSIGNAL.bits() as i32 | ALL;
        let entry = opcode::Send::new(Fd(socket.as_raw_fd()), place, bytes.len() as u32).flags(flags).build();
        self.push(&entry.flags(squeue::Flags::SKIP_SUCCESS).user_data(SENT | u64::from(task)))
    }

    /// Submits what waits: what is sent in another way must not overtake it.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn submit(&self) -> io::Result<()> {
        self.submissions.set(self.submissions.get() + 1);
        self.uring.borrow().submit().map(|_| ())
    }

    /// Has the task polled once when its socket takes more.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn poll_writable(&self, task: TaskId, socket: BorrowedFd<'_>) -> io::Result<()> {
        const WRITES: u32 = 4;
        let entry = opcode::PollAdd::new(Fd(socket.as_raw_fd()), WRITES).build();
        self.push(&entry.user_data(WRITABLE | u64::from(task)))
    }

    /// Takes what has come for a task: how much, and 0 when the other end closed; nothing if it is still to come.
    #[inline]
    pub fn take(&self, task: TaskId, room: &mut [u8]) -> Option<Result<usize, Errno>> {
        let mut inboxes = self.inboxes.borrow_mut();
        let inbox = inboxes.get_mut(task as usize)?;
        let Some(&(buffer, length)) = inbox.ready.front() else {
            return inbox.ended.map(|ended| if ended == 0 { Ok(0) } else { Err(Errno::from_raw_os_error(-ended)) });
        };
        let count = room.len().min(length - inbox.taken);
        let from = self.buffers.at(usize::from(buffer) * BUFFER_BYTES + inbox.taken);
        // SAFETY: the kernel filled `length` bytes of this buffer and does not touch it until it is given back;
        // `room` is somebody else's memory.
        unsafe { std::ptr::copy_nonoverlapping(from, room.as_mut_ptr(), count) };
        inbox.taken += count;
        if inbox.taken == length {
            inbox.taken = 0;
            inbox.ready.pop_front();
            self.give(buffer);
        }
        Some(Ok(count))
    }

    /// Submits what is due, waits for what comes, `patience` at most, and appends the tasks that are to be polled.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn wait(&self, patience: Duration, tasks: &mut Vec<TaskId>) -> io::Result<()> {
        for task in std::mem::take(&mut *self.starved.borrow_mut()) {
            let socket = self.inboxes.borrow().get(task as usize).and_then(|inbox| inbox.socket);
            if let Some(socket) = socket {
                self.receive(task, socket)?;
            }
        }
        self.submissions.set(self.submissions.get() + 1);
        let mut uring = self.uring.borrow_mut();
        let patience = Timespec::new().sec(patience.as_secs()).nsec(patience.subsec_nanos());
        match uring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&patience)) {
            Ok(_) => (),
            Err(error) if error.raw_os_error() == Some(Errno::TIME.raw_os_error()) => (),
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::ResourceBusy) => (),
            Err(error) => return Err(error),
        }
        let mut inboxes = self.inboxes.borrow_mut();
        for completion in uring.completion() {
            let task = completion.user_data() as u32;
            let Some(inbox) = inboxes.get_mut(task as usize) else { continue };
            match completion.user_data() & !u64::from(u32::MAX) {
                RECEIVED => self.received(task, inbox, &completion),
                // (A success has no completion.)
                SENT => inbox.ended = Some(completion.result()),
                _ => (),
            }
            tasks.push(task);
        }
        Ok(())
    }

    #[inline]
    fn received(&self, task: TaskId, inbox: &mut Inbox, completion: &cqueue::Entry) {
        let (result, flags) = (completion.result(), completion.flags());
        if let Some(buffer) = cqueue::buffer_select(flags) {
            if inbox.socket.is_some() && result > 0 {
                inbox.ready.push_back((buffer, result as usize));
            } else {
                self.give(buffer);
            }
        }
        if cqueue::more(flags) {
            return;
        }
        let is_out_of_buffers = result == -Errno::NOBUFS.raw_os_error();
        if result > 0 || is_out_of_buffers {
            self.starved.borrow_mut().push(task);
        } else {
            inbox.ended = Some(result);
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let uring = self.uring.get_mut();
        let submitter = uring.submitter();
        let cancelled = match submitter.register_sync_cancel(None, CancelBuilder::any()) {
            Ok(()) => true,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        // (It is gone with the ring otherwise.)
        let unregistered = submitter.unregister_buf_ring(GROUP).is_ok();
        if cancelled && unregistered {
            // SAFETY: dropped here only, and not used afterwards; no request is left that knows of them (invariant 1).
            unsafe {
                ManuallyDrop::drop(&mut self.entries);
                ManuallyDrop::drop(&mut self.buffers);
                ManuallyDrop::drop(&mut self.places);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    /// A ring, or nothing where the kernel has none.
    fn ring(tasks: usize) -> Option<Ring> {
        let ring = Ring::new(tasks);
        if let Err(error) = &ring {
            println!("no io_uring here: {error}; nothing is tested");
        }
        ring.ok()
    }

    fn take_all(ring: &Ring, task: TaskId, wanted: usize) -> Vec<u8> {
        let (mut got, mut room, mut tasks) = (Vec::new(), [0; 1000], Vec::new());
        while got.len() < wanted {
            match ring.take(task, &mut room) {
                Some(Ok(0)) => break,
                Some(count) => got.extend_from_slice(&room[..count.unwrap()]),
                None => ring.wait(Duration::from_secs(5), &mut tasks).unwrap(),
            }
        }
        got
    }

    #[test]
    fn bytes_go_and_come() {
        let Some(ring) = ring(2) else { return };
        let (here, mut there) = UnixStream::pair().unwrap();
        ring.arm(1, here.as_fd()).unwrap();
        // Two in a row: the second waits until the first has left their place.
        ring.send(1, here.as_fd(), b"question").unwrap();
        ring.send(1, here.as_fd(), b" and another").unwrap();
        ring.wait(Duration::ZERO, &mut Vec::new()).unwrap();
        let mut came = [0; 20];
        there.read_exact(&mut came).unwrap();
        assert_eq!(&came, b"question and another");
        there.write_all(b"answer").unwrap();
        assert_eq!(take_all(&ring, 1, 6), b"answer");
        assert!(ring.take(1, &mut [0; 9]).is_none());
        drop(there);
        assert_eq!(take_all(&ring, 1, 1), b"");
    }

    #[test]
    fn more_than_all_buffers_hold_arrives_in_order() {
        let Some(ring) = ring(1) else { return };
        let (here, mut there) = UnixStream::pair().unwrap();
        ring.arm(0, here.as_fd()).unwrap();
        let sent: Vec<u8> = (0..3 * usize::from(ring.count) * BUFFER_BYTES).map(|at| (at / 7) as u8).collect();
        let expected = sent.clone();
        let writer = std::thread::spawn(move || there.write_all(&sent));
        // Nothing is taken until the kernel has no buffer left.
        let mut tasks = Vec::new();
        while ring.starved.borrow().is_empty() {
            ring.wait(Duration::from_secs(5), &mut tasks).unwrap();
        }
        assert!(take_all(&ring, 0, expected.len()) == expected);
        writer.join().unwrap().unwrap();
    }

    #[test]
    fn a_ring_goes_with_requests_in_flight() {
        let Some(ring) = ring(3) else { return };
        let pairs: Vec<_> = (0..3).map(|_| UnixStream::pair().unwrap()).collect();
        for (task, (here, _)) in pairs.iter().enumerate() {
            ring.arm(task as TaskId, here.as_fd()).unwrap();
        }
        ring.wait(Duration::ZERO, &mut Vec::new()).unwrap();
        ring.forget(0);
        drop(ring);
        for (_, mut there) in pairs {
            there.write_all(b"nobody reads it").unwrap();
        }
    }
}
