//! A socket that a client waits on: by io_uring where there is one, by `epoll` else.
//!
//! By `epoll`, after a send nothing is tried until the set tells: an answer is never there at once, and a `recv` for
//! nothing costs as much as one for something. A `recv` that did not fill its buffer has emptied the socket (the set
//! is edge-triggered), so the next wait is without a try either.
//!
//! To a server of this machine congestion is controlled by the simplest algorithm that there is: there is no network to
//! share, and one that paces what it sends sets a timer for each statement.
//!
//! When it fails: [`Failure::Lost`].

use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, Shutdown, SocketAddrUnix, SocketFlags, SocketType, recv, send, socket_with,
    sockopt,
};

use super::reactor::{Reactor, TaskId};
use super::ring::SEND_BYTES;
use super::target::Address;
use super::{Failure, Result};

/// A connected socket of one task.
#[derive(Debug)]
pub struct Socket {
    reactor: Rc<Reactor>,
    task: TaskId,
    descriptor: OwnedFd,
    /// Whether there may be bytes that no edge will tell of.
    may_have_more: bool,
}

impl Socket {
    /// Connects. The socket belongs to the task that is being polled.
    ///
    /// # Errors
    /// [`Failure::Lost`].
    pub async fn connect(reactor: Rc<Reactor>, address: &Address) -> Result<Socket> {
        let descriptor = open(address).map_err(|error| lost(&error))?;
        let task = reactor.current();
        let socket = Socket { reactor, task, descriptor, may_have_more: true };
        socket.establish(address).await?;
        if let Some(ring) = socket.reactor.ring() {
            // (The ring waits; a socket that does not would end its receives.)
            rustix::io::ioctl_fionbio(&socket.descriptor, false).map_err(|error| lost(&error))?;
            ring.arm(task, socket.descriptor.as_fd()).map_err(|error| lost(&error))?;
        }
        Ok(socket)
    }

    async fn establish(&self, address: &Address) -> Result<()> {
        loop {
            let begun = match address {
                Address::Internet(address) => rustix::net::connect(&self.descriptor, address),
                Address::Unix(path) => SocketAddrUnix::new(path.as_path())
                    .and_then(|address| rustix::net::connect(&self.descriptor, &address)),
            };
            match begun {
                Ok(()) => return self.reactor.register(&self.descriptor).map_err(|error| lost(&error)),
                Err(Errno::INPROGRESS) => break,
                // The queue of a Unix socket's listener is full.
                Err(Errno::AGAIN) => self.reactor.sleep_until(Instant::now() + Duration::from_millis(1)).await,
                Err(Errno::INTR) => (),
                Err(error) => return Err(lost(&error)),
            }
        }
        self.reactor.register(&self.descriptor).map_err(|error| lost(&error))?;
        loop {
            self.writable().await?;
            sockopt::socket_error(&self.descriptor).and_then(|error| error).map_err(|error| lost(&error))?;
            if rustix::net::getpeername(&self.descriptor).is_ok() {
                return Ok(());
            }
        }
    }

    /// Waits until it may take more. (Perhaps it does not yet.)
    async fn writable(&self) -> Result<()> {
        if let Some(ring) = self.reactor.ring() {
            ring.poll_writable(self.task, self.descriptor.as_fd()).map_err(|error| lost(&error))?;
        }
        self.reactor.park().await;
        Ok(())
    }

    /// Sends all of `bytes`.
    ///
    /// # Errors
    /// [`Failure::Lost`].
    #[inline]
    pub async fn send(&mut self, mut bytes: &[u8]) -> Result<()> {
        if let Some(ring) = self.reactor.ring() {
            if bytes.len() <= SEND_BYTES {
                return ring.send(self.task, self.descriptor.as_fd(), bytes).map_err(|error| lost(&error));
            }
            ring.submit().map_err(|error| lost(&error))?;
        }
        self.may_have_more = false;
        while !bytes.is_empty() {
            match send(&self.descriptor, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::AGAIN) => {
                    self.writable().await?;
                    // The edge may have told of an answer, too.
                    self.may_have_more = true;
                }
                Err(Errno::INTR) => (),
                Err(error) => return Err(lost(&error)),
            }
        }
        Ok(())
    }

    /// Sends what can be sent without waiting: a goodbye.
    pub fn send_now(&self, bytes: &[u8]) {
        let _ = send(&self.descriptor, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
    }

    /// Waits for bytes, and says how many came.
    ///
    /// # Errors
    /// [`Failure::Lost`], also when the other end closed it.
    #[inline]
    pub async fn receive(&mut self, room: &mut [u8]) -> Result<usize> {
        let ended = || Failure::Lost("the server closed it".to_owned());
        if self.reactor.ring().is_some() {
            loop {
                match self.reactor.ring().and_then(|ring| ring.take(self.task, room)) {
                    Some(Ok(0)) => return Err(ended()),
                    Some(Ok(count)) => return Ok(count),
                    Some(Err(error)) => return Err(lost(&error)),
                    None => self.reactor.park().await,
                }
            }
        }
        if !self.may_have_more {
            self.reactor.park().await;
        }
        loop {
            let length = room.len();
            match recv(&self.descriptor, &mut *room, RecvFlags::empty()) {
                Ok((0, _)) => return Err(ended()),
                Ok((count, _)) => {
                    self.may_have_more = count == length;
                    return Ok(count);
                }
                Err(Errno::AGAIN) => self.reactor.park().await,
                Err(Errno::INTR) => (),
                Err(error) => return Err(lost(&error)),
            }
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if let Some(ring) = self.reactor.ring() {
            ring.forget(self.task);
            // A receive that is in flight holds the socket open: this ends both.
            let _ = rustix::net::shutdown(&self.descriptor, Shutdown::Both);
        }
    }
}

/// A socket for that address, which waits for nothing.
fn open(address: &Address) -> rustix::io::Result<OwnedFd> {
    let family = match address {
        Address::Internet(address) if address.is_ipv6() => AddressFamily::INET6,
        Address::Internet(_) => AddressFamily::INET,
        Address::Unix(_) => AddressFamily::UNIX,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    if let Address::Internet(address) = address {
        sockopt::set_tcp_nodelay(&socket, true)?;
        if address.ip().is_loopback() {
            // (A kernel without it keeps its own.)
            let _ = sockopt::set_tcp_congestion(&socket, "reno");
        }
    }
    Ok(socket)
}

/// Why a socket is of no use.
fn lost(error: &impl ToString) -> Failure {
    Failure::Lost(error.to_string())
}
