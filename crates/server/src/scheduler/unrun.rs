//! A task for tests that do themselves what a worker's thread would: it has no turns.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::task::{Events, Task, TaskState, Turn};

pub(crate) struct Unrun {
    pub(crate) socket: UnixStream,
    pub(crate) state: TaskState<()>,
    /// What it was told of its answers.
    pub(crate) told: Mutex<Vec<Result<usize, io::ErrorKind>>>,
}

impl Unrun {
    /// One at the worker with this number, and the other end of its socket.
    pub(crate) fn new(worker: usize) -> (Arc<Unrun>, UnixStream) {
        let (socket, other) = UnixStream::pair().unwrap();
        (Arc::new(Unrun { socket, state: TaskState::new(Weak::new(), worker), told: Mutex::default() }), other)
    }
}

impl Task<()> for Unrun {
    fn state(&self) -> &TaskState<()> {
        &self.state
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn turn(&self, _: Events, _: &mut ()) -> Turn {
        unreachable!("it has none here")
    }

    fn answer<'a>(&self, _: &'a mut ()) -> &'a mut Vec<u8> {
        unreachable!("it has no turn")
    }

    fn sent(&self, answer: &[u8], sent: io::Result<usize>) -> bool {
        let sent = sent.map_err(|error| error.kind());
        self.told.lock().push(sent);
        sent != Ok(answer.len())
    }
}
