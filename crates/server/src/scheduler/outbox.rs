//! The answers that a worker's turns have left to be sent: many sockets, one system call.
//!
//! ```text
//! turn of A ... turn of H     each leaves an answer: its task and the bytes          Outbox::add
//!        |                    MOST of them, the round is over, or a turn takes long
//!        v
//! io_uring_enter              a send of each, none of which waits                    Outbox::send
//!        |
//!        v
//! Task::sent of A ... H       what the socket did not take the task keeps; its turn is over
//! ```
//!
//! A client on this machine that waits for its answer is woken by the send, and as a rule runs at once, in the sender's
//! place: it reads one answer, asks again, and sleeps. That is two switches of threads a statement and cold caches on both
//! sides. In one call all answers leave before anybody else runs, and the client finds many.
//!
//! # Invariants
//! 1. No request outlives `Outbox::send`: none waits (`MSG_DONTWAIT`), and each has its completion before the call
//!    returns. Where that cannot be had, the ring is given up, and the bytes are not freed.
//! 2. A task is here once at most: its turn is not over (`Task::sent`).
//!
//! When it fails: without io_uring, or where the system does not let us use it, each answer is a system call. A ring that fails
//! is given up; the connections whose answers it did not say that it had sent are over, since it may have.
//!
//! Source: io_uring_prep_send(3), io_uring_enter(2).

use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;

use io_uring::types::Fd;
use io_uring::{IoUring, opcode};
use rustix::io::Errno;
use rustix::net::SendFlags;

use super::task::Turn;
use super::worker::TaskRef;
use crate::counters::ThreadCounters;

/// So many answers are held back at most: the first waits for seven turns. (Sixteen brought no more.)
const MOST: usize = 8;
/// A task sends itself what is longer.
pub(crate) const ANSWER_BYTES: usize = 16 << 10;

/// What turns have left.
pub(crate) struct Outbox<S: 'static> {
    ring: Option<IoUring>,
    answers: Vec<Answer<S>>,
    /// Buffers for the next ones.
    spare: Vec<Vec<u8>>,
    counters: Arc<ThreadCounters>,
}

struct Answer<S: 'static> {
    task: TaskRef<S>,
    turn: Turn,
    bytes: Vec<u8>,
    /// How many of them were sent; `None` as long as that is not known.
    sent: Option<io::Result<usize>>,
}

impl<S> Outbox<S> {
    /// Empty. What it sends is counted in `counters`, where nobody else does.
    pub(crate) fn new(counters: Arc<ThreadCounters>) -> Outbox<S> {
        let ring = IoUring::builder().setup_coop_taskrun().build(MOST as u32);
        if let Err(error) = &ring {
            tracing::debug!(%error, "answers are sent one by one");
        }
        Outbox { ring: ring.ok(), answers: Vec::with_capacity(MOST), spare: Vec::new(), counters }
    }

    /// Takes the answer that a turn has left, and leaves an empty buffer; whether more can be added before all are sent.
    pub(crate) fn add(&mut self, task: TaskRef<S>, turn: Turn, answer: &mut Vec<u8>) -> bool {
        let bytes = std::mem::replace(answer, self.spare.pop().unwrap_or_default());
        self.answers.push(Answer { task, turn, bytes, sent: None });
        self.answers.len() < MOST
    }

    /// Sends all. `over` is called for each task: its turn is over, and what it said of it; or there is more to do.
    pub(crate) fn send(&mut self, mut over: impl FnMut(TaskRef<S>, Turn)) {
        match &mut self.ring {
            Some(ring) if self.answers.len() > 1 => {
                // (More than MOST where a turn that has lost its worker ends just when another fills the outbox.)
                if let Err(error) = self.answers.chunks_mut(MOST).try_for_each(|some| send_together(ring, some)) {
                    tracing::error!(%error, "io_uring does not send any more: answers are sent one by one");
                    self.ring = None;
                    // Invariant 1.
                    let unknown = self.answers.iter_mut().filter(|answer| answer.sent.is_none());
                    unknown.for_each(|answer| std::mem::forget(std::mem::take(&mut answer.bytes)));
                }
            }
            _ => self.answers.iter_mut().for_each(|answer| answer.sent = Some(send_alone(answer))),
        }
        for Answer { task, turn, mut bytes, sent } in self.answers.drain(..) {
            let sent = sent.unwrap_or_else(|| Err(io::ErrorKind::BrokenPipe.into()));
            self.counters.sent(*sent.as_ref().unwrap_or(&0));
            let more = task.sent(&bytes, sent);
            over(task, if more { Turn::Again } else { turn });
            bytes.clear();
            self.spare.push(bytes);
        }
    }
}

fn flags() -> SendFlags {
    SendFlags::DONTWAIT | SendFlags::NOSIGNAL
}

fn send_alone<S>(answer: &Answer<S>) -> io::Result<usize> {
    Ok(rustix::io::retry_on_intr(|| rustix::net::send(answer.task.descriptor(), &answer.bytes, flags()))?)
}

/// Sends all of them, MOST at most, in one system call as a rule.
///
/// # Errors
/// The ring is of no more use. Some may have been sent; of which that is not known say so.
fn send_together<S>(ring: &mut IoUring, answers: &mut [Answer<S>]) -> io::Result<()> {
    for (place, answer) in answers.iter().enumerate() {
        let socket = Fd(answer.task.descriptor().as_raw_fd());
        let send = opcode::Send::new(socket, answer.bytes.as_ptr(), answer.bytes.len() as u32)
            .flags(flags().bits() as i32)
            .build()
            .user_data(place as u64);
        // SAFETY: the socket is the task's, which `answers` keeps; so are the bytes, which nobody changes or frees before this
        // request has ended: before we return, or never (invariant 1).
        unsafe { ring.submission().push(&send) }.map_err(io::Error::other)?;
    }
    let mut left = answers.len();
    while left > 0 {
        match ring.submit_and_wait(left) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        for completion in ring.completion() {
            let answer = answers.get_mut(completion.user_data() as usize).ok_or(io::ErrorKind::InvalidData)?;
            answer.sent = Some(match completion.result() {
                count @ 0.. => Ok(count as usize),
                error => Err(Errno::from_raw_os_error(-error).into()),
            });
            left -= 1;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::super::unrun::Unrun;
    use super::*;

    /// An outbox with a ring, where the system has one, and one without.
    fn each_outbox(check: impl Fn(Outbox<()>)) {
        let outbox = Outbox::new(Arc::default());
        if outbox.ring.is_none() {
            eprintln!("io_uring is not tested");
        }
        check(outbox);
        check(Outbox { ring: None, ..Outbox::new(Arc::default()) });
    }

    #[test]
    fn each_answer_goes_to_its_own_socket() {
        each_outbox(|mut outbox| {
            let without_ring = outbox.ring.is_none();
            let mut all: Vec<_> = (0..2 * MOST + 1).map(|_| Unrun::new(0)).collect();
            for round in 0..4 {
                // Of one answer, of two, of all that fit, and of more.
                let count = [1, 2, MOST, 2 * MOST + 1][round];
                for (number, (task, _)) in all[..count].iter().enumerate() {
                    let mut answer = format!("{round} to {number}").into_bytes();
                    let fits = outbox.add(task.clone(), Turn::Wait, &mut answer);
                    assert_eq!((fits, answer.len()), (number + 1 < MOST, 0));
                }
                let mut over = 0;
                outbox.send(|_, turn| {
                    assert_eq!(turn, Turn::Wait);
                    over += 1;
                });
                assert_eq!((over, without_ring), (count, outbox.ring.is_none()));
                for (number, (task, other)) in all[..count].iter_mut().enumerate() {
                    let expected = format!("{round} to {number}");
                    let mut got = vec![0; expected.len()];
                    other.read_exact(&mut got).unwrap();
                    assert_eq!(got, expected.as_bytes());
                    assert_eq!(std::mem::take(&mut *task.told.lock()), [Ok(expected.len())]);
                }
            }
            outbox.send(|_, _| unreachable!("nothing is left"));
        });
    }

    #[test]
    fn a_full_socket_and_a_closed_one_hold_up_nobody() {
        each_outbox(|mut outbox| {
            let (well, mut reads) = Unrun::new(0);
            let (full, _never_reads) = Unrun::new(0);
            full.socket.set_nonblocking(true).unwrap();
            while (&full.socket).write(&[0; 4096]).is_ok() {}
            full.socket.set_nonblocking(false).unwrap();
            let (gone, other) = Unrun::new(0);
            drop(other);
            for task in [&full, &gone, &well] {
                outbox.add(task.clone(), Turn::Wait, &mut b"answer".to_vec());
            }
            let mut turns = Vec::new();
            outbox.send(|_, turn| turns.push(turn));
            assert_eq!(turns, [Turn::Again, Turn::Again, Turn::Wait]);
            assert_eq!(*full.told.lock(), [Err(io::ErrorKind::WouldBlock)]);
            assert_eq!(*gone.told.lock(), [Err(io::ErrorKind::BrokenPipe)]);
            assert_eq!(*well.told.lock(), [Ok(6)]);
            let mut got = [0; 6];
            reads.read_exact(&mut got).unwrap();
            assert_eq!(&got, b"answer");
        });
    }
}
