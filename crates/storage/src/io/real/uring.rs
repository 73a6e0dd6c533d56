//! Requests by io_uring: a ring, and one thread that alone touches it.
//!
//! # Life of a transfer
//!
//! ```text
//! submit --> Inbox::waiting --start--> slot, submission queue --> kernel --> completion queue --end--> done()
//!   (any thread, one short lock)       (the ring thread, from here to the end)
//! ```
//!
//! Submitting means to append to the inbox and, if the ring thread sleeps, to ring its *doorbell*: a pipe that the
//! ring always has a read pending on, so that one system call waits for work and for completions alike. A batch
//! costs at most one such wake-up, and one `io_uring_enter` starts all of it.
//!
//! # Why a thread of its own, and not one lock around the ring
//! The kernel finishes a request in the context of the thread that submitted it: it would interrupt a submitter
//! that waits or computes once per page, and it cancels queued requests when a submitter exits. With one
//! submitter that sleeps in `io_uring_enter` anyway, completions arrive many at a time (`DEFER_TASKRUN`), and
//! nobody else is disturbed.
//!
//! # Invariants
//! 1. Transfers in flight, and the doorbell's read, together number at most [`ENTRIES`]: the submission queue is
//!    never full when we push, and the completion queue (twice as long) never overflows. (`take_waiting`)
//! 2. A transfer given to the kernel stays in its slot until its completion arrives, so its memory, by the promise
//!    made to `IoMemory::new`, and its descriptor stay valid. (`slots`)
//! 3. The ring thread leaves only with no slot in use, nothing waiting, and the doorbell's read ended, so the kernel
//!    holds none of our addresses when the ring, and the doorbell's buffer, go. (`take_waiting`)
//! 4. `Inbox::asleep` is false only if the ring thread will look at the inbox again before it sleeps, or will be
//!    woken by a completion. Who appends while it is true clears it and rings. (`submit`)
//!
//! # When things fail
//! A request's error goes to its completion. `EAGAIN`, `EINTR` and `ECANCELED`, and short transfers, are no answer:
//! the rest is done with blocking calls, here (rare, so the ring may stand still meanwhile). An error of the ring
//! itself, once it has started, is a bug, and panics, which aborts.

use std::collections::VecDeque;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use io_uring::{IoUring, Probe, opcode, squeue, types};
use parking_lot::Mutex;
use rustix::io::Errno;

use super::{AbortOnPanic, Transfer};
use crate::io::Operation;

/// Entries of the submission queue.
const ENTRIES: usize = 256;

/// The doorbell's place in `user_data`, where transfers have their slot.
const DOORBELL: u64 = u64::MAX;

/// The most bytes that one entry asks the kernel to move; it moves no more than 2 GiB. The rest is "short".
const ENTRY_LEN_MAX: usize = 1 << 30;

/// The ring thread's handle. Dropping it waits until all that was submitted has ended.
pub(super) struct Ring {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    /// Innermost of all locks; no system call and no completion under it.
    inbox: Mutex<Inbox>,
    doorbell: PipeWriter,
    /// The doorbell's other end. Kept here, and not by the ring thread, because that may see `closed` and leave before
    /// the bell has been rung for it: the pipe must not break under the hand.
    bell: PipeReader,
}

struct Inbox {
    waiting: VecDeque<Transfer>,
    /// See invariant 4.
    asleep: bool,
    closed: bool,
}

impl Ring {
    /// Starts the ring thread, of this name. Errors: the kernel has no io_uring, or does not let us use it.
    pub(super) fn start(name: &'static str) -> io::Result<Ring> {
        let (bell, doorbell) = io::pipe()?;
        let inbox = Mutex::new(Inbox { waiting: VecDeque::new(), asleep: false, closed: false });
        let shared = Arc::new(Shared { inbox, doorbell, bell });
        // The ring belongs to the thread that creates it (`SINGLE_ISSUER`), so that thread reports how it went.
        let (report, started) = mpsc::channel();
        let driver_shared = Arc::clone(&shared);
        let run = move || match Driver::new(driver_shared) {
            Ok(driver) => {
                let _ = report.send(Ok(()));
                driver.run();
            }
            Err(error) => {
                let _ = report.send(Err(error));
            }
        };
        let thread = crate::thread::spawn(name, run)?;
        started.recv().expect("the ring thread reports before anything else")?;
        Ok(Ring { shared, thread: Some(thread) })
    }

    pub(super) fn submit(&self, transfers: impl Iterator<Item = Transfer>) {
        let mut inbox = self.shared.inbox.lock();
        inbox.waiting.extend(transfers);
        let asleep = std::mem::take(&mut inbox.asleep);
        drop(inbox);
        if asleep {
            self.shared.ring_doorbell();
        }
    }
}

impl Shared {
    fn ring_doorbell(&self) {
        // The pipe cannot fill up: at most one byte for each time that the thread went to sleep, and it reads
        // them whenever it wakes.
        (&self.doorbell).write_all(&[1]).expect("we hold the pipe's other end ourselves");
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.shared.inbox.lock().closed = true;
        self.shared.ring_doorbell(); // whether it sleeps or not: the read must end (invariant 3)
        let thread = self.thread.take().expect("taken only here");
        // A completion may drop the last handle, and its thread cannot wait for itself.
        if thread.thread().id() != thread::current().id() {
            let _ = thread.join(); // it cannot have panicked: that would have aborted the process
        }
    }
}

/// What the ring thread owns.
struct Driver {
    shared: Arc<Shared>,
    ring: IoUring,
    /// Transfers that the kernel has, by slot (invariant 2).
    slots: Vec<Option<Transfer>>,
    /// Slots not in use.
    free: Vec<usize>,
    /// Where the doorbell's read puts its bytes, which nobody looks at. A pointer, because no Rust reference may
    /// cover memory that the kernel writes to; freed in `drop`.
    bell_bytes: *mut [u8; 64],
    /// The doorbell's read is pending.
    listening: bool,
}

impl Driver {
    fn new(shared: Arc<Shared>) -> io::Result<Driver> {
        // The flags came with Linux 6.1 and save interruptions; an older kernel knows no such flags.
        let ring = match IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(ENTRIES as u32) {
            Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => IoUring::new(ENTRIES as u32)?,
            outcome => outcome?,
        };
        let mut probe = Probe::new();
        ring.submitter().register_probe(&mut probe)?;
        if !probe.is_supported(opcode::Read::CODE) || !probe.is_supported(opcode::Write::CODE) {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "the kernel's io_uring is too old"));
        }
        let slot_count = ENTRIES - 1; // one entry is the doorbell's
        Ok(Driver {
            shared,
            ring,
            slots: (0..slot_count).map(|_| None).collect(),
            free: (0..slot_count).collect(),
            bell_bytes: Box::into_raw(Box::new([0; 64])),
            listening: false,
        })
    }

    fn run(mut self) {
        // Dropped before `self`, so a panic aborts before the memory under the kernel's hands is freed.
        let _abort = AbortOnPanic;
        let mut starting = Vec::with_capacity(ENTRIES);
        let mut ended = Vec::with_capacity(2 * ENTRIES);
        while self.take_waiting(&mut starting) {
            for transfer in starting.drain(..) {
                self.start(transfer);
            }
            self.wait();
            ended.extend(self.ring.completion().map(|entry| (entry.user_data(), entry.result())));
            for (user_data, result) in ended.drain(..) {
                self.end(user_data, result);
            }
        }
    }

    /// Takes as many transfers from the inbox as there are free slots. False: there will never be more.
    fn take_waiting(&mut self, starting: &mut Vec<Transfer>) -> bool {
        let mut inbox = self.shared.inbox.lock();
        let count = inbox.waiting.len().min(self.free.len());
        starting.extend(inbox.waiting.drain(..count));
        // If some must wait, all slots are taken, and the next completion wakes us.
        inbox.asleep = inbox.waiting.is_empty();
        let closed = inbox.closed;
        drop(inbox);
        if !self.listening && !closed {
            self.listen();
        }
        // While `closed` is not seen, the read was just renewed; once it is, the bell is about to end it.
        !closed || self.listening || !starting.is_empty() || self.free.len() < self.slots.len()
    }

    /// Leaves a read of the doorbell pending.
    fn listen(&mut self) {
        let fd = types::Fd(self.shared.bell.as_raw_fd());
        let entry = opcode::Read::new(fd, self.bell_bytes.cast(), size_of::<[u8; 64]>() as u32).build();
        // SAFETY: the pipe and the buffer live until `drop`, which the read does not outlive (invariant 3).
        unsafe { self.push(entry.user_data(DOORBELL)) };
        self.listening = true;
    }

    /// Gives a transfer to the ring.
    fn start(&mut self, transfer: Transfer) {
        let (memory, offset) = (transfer.request.memory, transfer.request.offset);
        if let Err(error) = transfer.file.check_aligned(memory.pointer(), memory.len(), offset) {
            return transfer.end(Err(error));
        }
        let fd = types::Fd(transfer.file.as_raw_fd());
        let len = memory.len().min(ENTRY_LEN_MAX) as u32;
        let entry = match transfer.request.operation {
            Operation::Read => opcode::Read::new(fd, memory.pointer(), len).offset(offset).build(),
            Operation::Write => opcode::Write::new(fd, memory.pointer(), len).offset(offset).build(),
        };
        let slot = self.free.pop().expect("no more were taken than there are free slots");
        self.slots[slot] = Some(transfer);
        // SAFETY: the slot keeps memory and descriptor valid until the completion arrives (invariant 2).
        unsafe { self.push(entry.user_data(slot as u64)) };
    }

    /// Appends to the submission queue; the next `wait` hands it to the kernel.
    ///
    /// # Safety
    /// What the entry points to stays valid until its completion arrives.
    unsafe fn push(&mut self, entry: squeue::Entry) {
        // SAFETY: the caller's promise.
        unsafe { self.ring.submission().push(&entry) }.expect("invariant 1: the submission queue has room");
    }

    /// Hands over what was pushed, and sleeps until something has ended.
    fn wait(&mut self) {
        let Err(error) = self.ring.submit_and_wait(1) else { return };
        match Errno::from_io_error(&error) {
            Some(Errno::INTR) => {}
            // The kernel is short of memory, or wants completions to be collected first: the caller does that, and
            // what was not handed over stays in the queue.
            Some(Errno::AGAIN | Errno::BUSY) => thread::yield_now(),
            _ => panic!("io_uring has stopped working: {error}"),
        }
    }

    /// Deals with one completion.
    fn end(&mut self, user_data: u64, result: i32) {
        if user_data == DOORBELL {
            self.listening = false;
            assert!(result > 0 || is_no_answer(result), "the doorbell is broken: {result}");
            return;
        }
        let slot = user_data as usize;
        let transfer = self.slots[slot].take().expect("a completion comes once for each slot in use");
        self.free.push(slot);
        if result >= 0 && result as usize == transfer.request.memory.len() {
            transfer.end(Ok(()));
        } else if result >= 0 {
            transfer.finish_blocking(result as usize);
        } else if is_no_answer(result) {
            transfer.finish_blocking(0);
        } else {
            let error = transfer.file.named(io::Error::from_raw_os_error(-result));
            transfer.end(Err(error));
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        assert!(!self.listening && self.free.len() == self.slots.len(), "invariant 3: nothing is in flight");
        // SAFETY: made by `Box::into_raw` in `new`, freed only here, and the kernel is through with it (invariant 3).
        drop(unsafe { Box::from_raw(self.bell_bytes) });
    }
}

/// The kernel did not try, or did not finish: neither success nor the device's verdict.
fn is_no_answer(result: i32) -> bool {
    [Errno::INTR, Errno::AGAIN, Errno::CANCELED].iter().any(|errno| errno.raw_os_error() == -result)
}
