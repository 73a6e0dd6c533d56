//! What a command's answer is written to.
//!
//! ```text
//! writer()            packets, appended to the thread's buffer
//! flush_if_full()     64 KiB are enough for a system call: send them
//!                        the socket takes all:    go on
//!                        the client does not read: the thread counts as waiting, until net_write_timeout
//! (end of the call)   the rest is sent; what the socket does not take then waits without a thread
//! ```
//!
//! Invariants:
//! 1. Once the client has gone, everything that is written is thrown away, and flushing says so.
//! 2. [`Parked`] is completed once, by whoever has it, or by its drop (as a failure): no connection waits for ever.

use std::os::fd::AsFd;
use std::sync::Arc;

use meseta_errors::{self as errors, ErrorCode};
use meseta_protocol::flags::{Capabilities, StatusFlags};
use meseta_protocol::receive::Receiver;
use meseta_protocol::reply::{OkPacket, write_error, write_local_infile_request};
use meseta_protocol::send::PacketWriter;
use rustix::event::PollFlags;

use super::interrupt::{Interrupt, Reason};
use super::transport::{Received, Transport};
use super::{Connection, Scratch};
use crate::backend::Refusal;
use crate::scheduler::Events;
use crate::scheduler::task::notify;

/// Nobody is there to hear the rest: the statement may as well stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the client has gone")]
pub struct Disconnected;

/// Where a command's answer goes.
pub struct Reply<'a> {
    pub(super) connection: &'a Connection,
    pub(super) transport: &'a mut Transport,
    pub(super) scratch: &'a mut Scratch,
    pub(super) capabilities: Capabilities,
    /// What came after a file, of the next command.
    pub(super) file_rest: Vec<u8>,
    pub(super) parked: bool,
    pub(super) gone: bool,
}

impl std::fmt::Debug for Reply<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reply").field("connection", &self.connection.id).finish_non_exhaustive()
    }
}

impl Reply<'_> {
    /// Where packets are appended. Its sequence numbers are right already.
    #[inline]
    pub fn writer(&mut self) -> &mut PacketWriter {
        &mut self.scratch.writer
    }

    /// What both ends can do: how packets are to be written.
    #[inline]
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// The connection's kill flags.
    #[inline]
    pub fn interrupt(&self) -> &Interrupt {
        &self.connection.interrupt
    }

    /// Writes an OK packet.
    pub fn ok(&mut self, ok: &OkPacket<'_>) {
        ok.write(&mut self.scratch.writer, self.capabilities);
    }

    /// Writes an error of the table, with its arguments.
    pub fn error(&mut self, code: ErrorCode, arguments: &[&dyn std::fmt::Display]) {
        self.scratch.writer.abandon();
        write_error(&mut self.scratch.writer, code, arguments);
    }

    /// Writes the error that says why the statement was interrupted: 1053 if the server stops, else 1317.
    pub fn interrupted(&mut self) {
        match self.interrupt().reason() {
            Some(Reason::Shutdown) => self.error(errors::ER_SERVER_SHUTDOWN, &[]),
            _ => self.error(errors::ER_QUERY_INTERRUPTED, &[]),
        }
    }

    /// To be called after each row: if the buffer is full, sends it. Waits while the client does not read.
    ///
    /// # Errors
    /// The client has gone, or did not read for `net_write_timeout`.
    #[inline]
    pub fn flush_if_full(&mut self) -> Result<(), Disconnected> {
        if self.scratch.writer.is_full() { self.flush() } else { Ok(()) }
    }

    /// Sends what was written. Waits while the client does not read.
    ///
    /// # Errors
    /// The client has gone, or did not read for `net_write_timeout`.
    #[cold]
    pub fn flush(&mut self) -> Result<(), Disconnected> {
        let Scratch { writer, outgoing, counters, .. } = &mut *self.scratch;
        if !self.gone {
            let socket = self.connection.socket.as_fd();
            let sent = self
                .transport
                .send(socket, writer.bytes(), outgoing, counters)
                .and_then(|()| self.transport.send_answer(socket, &mut outgoing.answer, counters));
            self.gone = sent.is_err();
        }
        writer.sent(usize::MAX);
        while !self.gone && self.transport.has_pending() {
            let limit = self.connection.limits.net_write_timeout();
            let ready = self.connection.wait_for_socket(PollFlags::OUT, limit);
            let counters = &self.scratch.counters;
            self.gone = !ready || self.transport.drain(self.connection.socket.as_fd(), counters).is_err();
        }
        if self.gone {
            self.connection.interrupt.raise(Reason::ClientGone);
            return Err(Disconnected);
        }
        Ok(())
    }

    /// For LOAD DATA LOCAL: asks the client for a file. What was written before is sent as well.
    ///
    /// # Errors
    /// The client has gone. (Whether it said that it sends files, [`Capabilities::LOCAL_FILES`], and whether
    /// `local_infile` is on, the caller has looked.)
    pub fn request_file(&mut self, name: &[u8]) -> Result<LocalFile<'_>, Disconnected> {
        write_local_infile_request(&mut self.scratch.writer, name);
        self.flush()?;
        let mut receiver = Receiver::new(self.connection.server.limits().max_allowed_packet);
        receiver.expect_sequence(self.scratch.writer.sequence());
        receiver.set_sequence_checked(!self.transport.is_compressed());
        Ok(LocalFile { ended: false, piece: Vec::new(), reply: self.shorter(), receiver })
    }

    /// The same, borrowed.
    fn shorter<'b>(&'b mut self) -> FileReply<'b> {
        FileReply {
            connection: self.connection,
            transport: self.transport,
            scratch: self.scratch,
            file_rest: &mut self.file_rest,
            gone: &mut self.gone,
        }
    }

    /// Keeps the reply until [`Parked::complete`]: to be followed by [`crate::backend::Outcome::Parked`]. What was flushed
    /// before has left already.
    pub fn park(&mut self) -> Parked {
        self.parked = true;
        Parked { connection: self.connection.me.upgrade() }
    }

    /// What the statement is doing, for SHOW PROCESSLIST.
    pub fn set_state(&mut self, state: &'static str) {
        self.scratch.counters.shown.lock().state = state;
    }

    /// The statement's text, for SHOW PROCESSLIST, where it is not that of a COM_QUERY.
    pub fn set_info(&mut self, text: &[u8]) {
        super::show(&self.scratch.counters, self.connection.id, text);
    }

    /// An OK packet of that status.
    pub(super) fn plain_ok(&mut self, status: StatusFlags) {
        self.ok(&OkPacket { status, ..OkPacket::default() });
    }
}

/// A reply that waits, for the log as a rule. May be completed by any thread; that costs it some hundred nanoseconds: a
/// worker sends.
pub struct Parked {
    connection: Option<Arc<Connection>>,
}

impl std::fmt::Debug for Parked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Parked").field(&self.connection.as_ref().map(|connection| connection.id)).finish()
    }
}

impl Parked {
    /// The reply may leave; or, if what it says did not come to be, an error in its place.
    pub fn complete(mut self, outcome: Result<(), Refusal>) {
        self.tell(outcome);
    }

    fn tell(&mut self, outcome: Result<(), Refusal>) {
        let Some(connection) = self.connection.take() else { return };
        if let Err(refusal) = outcome {
            *connection.parked_refusal.lock() = Some(Box::new(refusal));
        }
        notify(&connection.as_task(), Events::DURABLE);
    }
}

impl Drop for Parked {
    fn drop(&mut self) {
        self.tell(Err(Refusal::new(errors::ER_UNKNOWN_ERROR, &[])));
    }
}

/// The parts of a reply that a file needs.
struct FileReply<'a> {
    connection: &'a Connection,
    transport: &'a mut Transport,
    scratch: &'a mut Scratch,
    file_rest: &'a mut Vec<u8>,
    gone: &'a mut bool,
}

/// A file that the client sends, in pieces. Its drop takes what is left of it, so that the answer can follow.
pub struct LocalFile<'a> {
    reply: FileReply<'a>,
    receiver: Receiver,
    piece: Vec<u8>,
    ended: bool,
}

impl std::fmt::Debug for LocalFile<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalFile").field("ended", &self.ended).finish_non_exhaustive()
    }
}

impl LocalFile<'_> {
    /// The next piece; nothing at the end of the file. Waits for the client, `net_read_timeout` at most.
    ///
    /// # Errors
    /// The client has gone, or sent nothing for too long, or sent what is no protocol.
    pub fn next_piece(&mut self) -> Result<Option<&[u8]>, Disconnected> {
        if !self.ended {
            match self.read() {
                Ok(()) => {}
                Err(Disconnected) => {
                    self.ended = true;
                    *self.reply.gone = true;
                    self.reply.connection.interrupt.raise(Reason::ClientGone);
                    return Err(Disconnected);
                }
            }
        }
        if *self.reply.gone {
            return Err(Disconnected);
        }
        Ok((!self.ended).then_some(&self.piece[..]))
    }

    fn read(&mut self) -> Result<(), Disconnected> {
        let reply = &mut self.reply;
        loop {
            let packet = self.receiver.next_packet().map_err(|_| Disconnected)?;
            if let Some(packet) = packet {
                self.piece.clear();
                self.piece.extend_from_slice(packet.payload);
                let sequence = packet.answer_sequence;
                if self.piece.is_empty() {
                    self.ended = true;
                    *reply.file_rest = self.receiver.take_rest();
                    let sequence = reply.transport.begin_answer(sequence);
                    reply.scratch.writer.set_sequence(sequence);
                }
                return Ok(());
            }
            let codec = &mut reply.scratch.outgoing.codec;
            if reply.transport.unwrap_one(&mut self.receiver, codec, false).map_err(|_| Disconnected)? {
                continue;
            }
            let counters = reply.scratch.counters.clone();
            let socket = reply.connection.socket.as_fd();
            match reply.transport.receive(socket, &mut self.receiver, &counters) {
                Ok(Received::Some | Received::Last) => {}
                Ok(Received::Nothing) => {
                    let limit = reply.connection.limits.net_read_timeout();
                    if !reply.connection.wait_for_socket(PollFlags::IN, limit) {
                        return Err(Disconnected);
                    }
                }
                Ok(Received::End) | Err(_) => return Err(Disconnected),
            }
        }
    }
}

impl Drop for LocalFile<'_> {
    fn drop(&mut self) {
        while let Ok(Some(_)) = self.next_piece() {}
    }
}
