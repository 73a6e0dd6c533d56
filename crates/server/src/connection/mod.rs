//! A connection: a task with a turn for each command.
//!
//! ```text
//!   Opening  --accepted-->  Open  --COM_CHANGE_USER-->  Open, with a handshake in it
//!      |                     |
//!      +---------> over <----+
//!
//! a turn:   events -> send what is pending -> over? waiting? -> a packet -> one command -> send -> rest
//! ```
//!
//! - [`transport`]: bytes between the socket and packets.
//! - [`opening`]: the handshake, and who it is.
//! - [`command`]: one command. It may leave something behind that waits, without a thread: its reply (for the log), or itself
//!   (for a row lock), to be run again.
//! - [`reply`]: what its answer is written to. [`interrupt`]: that it is to stop. [`handle`]: what a session may do.
//!
//! **Memory.** An idle connection has this struct, its socket and its session. Buffers belong to threads (`Scratch`)
//! and are lent for a turn; a connection keeps one only while a packet is half here, or a reply half sent.
//!
//! **Time-outs.** One deadline: `connect_timeout` until the session is open; `wait_timeout` (or `interactive_timeout`)
//! while no command is here; `net_read_timeout` while half of one is; `net_write_timeout` while the client does not
//! read. Between the beginning of a command and its answer there is none.
//!
//! Invariants:
//! 1. `inner` is locked by the thread that has the turn only: it is never contended.
//! 2. What is pending leaves before anything else happens: a client that does not read is not served.
//! 3. A session's last call is its `close`, except after a panic in it.
//!
//! When it fails: a panic anywhere in a turn is logged as a defect and ends this connection; the thread goes on.

pub mod command;
pub mod handle;
pub mod interrupt;
pub mod opening;
pub mod reply;
pub mod transport;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use meseta_errors as errors;
use meseta_prefetch::Whereabouts;
use meseta_protocol::error::ProtocolError;
use meseta_protocol::flags::Capabilities;
use meseta_protocol::receive::{Packet, Receiver};
use meseta_protocol::reply::{ErrPacket, write_error};
use meseta_protocol::send::PacketWriter;
use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::backend::{End, Peer, Refusal, Session};
use crate::blocking;
use crate::clock::NEVER;
use crate::counters::{Shown, ThreadCounters};
use crate::scheduler::task::notify;
use crate::scheduler::{Events, Soon, Task, TaskState, Turn};
use crate::server::Shared;
use interrupt::{Interrupt, Reason};
use opening::Handshake;
use transport::{Outgoing, Received, Traffic, Transport};

/// How much of a statement's text SHOW PROCESSLIST can show.
const SHOWN_BYTES: usize = 64 << 10;
/// A thread's write buffer that has grown beyond this is given back.
const KEPT_BYTES: usize = 1 << 20;

/// What a thread lends to the turns that it runs.
pub(crate) struct Scratch {
    pub(crate) writer: PacketWriter,
    pub(crate) outgoing: Outgoing,
    /// To receive into.
    buffer: Option<Vec<u8>>,
    pub(crate) counters: Arc<ThreadCounters>,
}

impl Scratch {
    pub(crate) fn new(counters: Arc<ThreadCounters>) -> Scratch {
        Scratch { writer: PacketWriter::new(), outgoing: Outgoing::new(), buffer: None, counters }
    }
}

/// A connection.
pub(crate) struct Connection {
    state: TaskState<Scratch>,
    pub(crate) id: u32,
    pub(crate) peer: Peer,
    pub(crate) socket: OwnedFd,
    pub(crate) server: Arc<Shared>,
    pub(crate) me: Weak<Connection>,
    pub(crate) interrupt: Interrupt,
    pub(crate) facts: Facts,
    pub(crate) limits: Limits,
    /// Bytes that came and went.
    pub(crate) traffic: Arc<Traffic>,
    /// A thread waits for the socket in the middle of a statement: to end that, the socket is shut down.
    waits_for_socket: AtomicBool,
    /// What a parked reply is to be replaced by.
    parked_refusal: Mutex<Option<Box<Refusal>>>,
    inner: Mutex<Inner>,
    /// Where the session is: asked for before the turn, without `inner`.
    session_is: Whereabouts,
}

/// What SHOW PROCESSLIST shows.
pub(crate) struct Facts {
    /// The command that runs: its byte; [`SLEEP`] for none, [`CONNECT`] before the first.
    pub(crate) command: AtomicU8,
    /// When it began, or ended.
    pub(crate) since: AtomicU64,
    /// What the statement waits for; empty for nothing.
    pub(crate) state: Mutex<&'static str>,
    /// The statement, while it is suspended.
    pub(crate) suspended: Mutex<Option<Box<Shown>>>,
    pub(crate) names: Mutex<Names>,
}

/// No command runs.
pub(crate) const SLEEP: u8 = 0;
/// The session is not open yet.
pub(crate) const CONNECT: u8 = 0xFF;

#[derive(Default)]
pub(crate) struct Names {
    pub(crate) user: Box<str>,
    pub(crate) database: Option<Box<str>>,
}

/// Time-outs, which a session may change.
pub(crate) struct Limits {
    pub(crate) wait_timeout_seconds: AtomicU32,
    pub(crate) net_read_timeout_seconds: AtomicU32,
    pub(crate) net_write_timeout_seconds: AtomicU32,
}

impl Limits {
    fn wait_timeout(&self) -> Duration {
        Duration::from_secs(self.wait_timeout_seconds.load(Ordering::Relaxed).into())
    }

    pub(crate) fn net_read_timeout(&self) -> Duration {
        Duration::from_secs(self.net_read_timeout_seconds.load(Ordering::Relaxed).into())
    }

    pub(crate) fn net_write_timeout(&self) -> Duration {
        Duration::from_secs(self.net_write_timeout_seconds.load(Ordering::Relaxed).into())
    }
}

/// What only the turn touches.
struct Inner {
    transport: Transport,
    receiver: Receiver,
    phase: Phase,
    /// The socket may have bytes.
    readable: bool,
    /// The other end writes no more: after its last bytes comes the end, which no event will tell.
    hung_up: bool,
    /// It is to end, once what is pending has left.
    ending: Option<End>,
    /// What is left of the last command.
    waiting: Option<Waiting>,
}

impl Inner {
    /// Whether others may wait for what its session has, or will have when it goes on.
    fn holds_up_others(&self) -> bool {
        match &self.phase {
            Phase::Open(Open { session: Some(session), .. }) => {
                session.holds_locks() || matches!(self.waiting, Some(Waiting::Command(_)))
            }
            _ => false,
        }
    }
}

/// What waits of a command without a thread.
enum Waiting {
    /// Its reply, for the log.
    Reply(Box<ParkedReply>),
    /// All of it, for a row lock.
    Command(Box<SuspendedCommand>),
}

/// A command that is to be run again.
struct SuspendedCommand {
    payload: Box<[u8]>,
    /// The sequence number of its answer's first packet.
    sequence: u8,
}

struct ParkedReply {
    bytes: Vec<u8>,
    /// The sequence number of its first packet.
    sequence: u8,
}

enum Phase {
    Opening(Box<Handshake>),
    Open(Open),
    Over,
}

/// A session, and what is needed to serve it.
struct Open {
    /// None once it has panicked.
    session: Option<Box<dyn Session>>,
    capabilities: Capabilities,
    collation: u16,
    zstd_level: u8,
    /// COM_CHANGE_USER goes on.
    change: Option<Box<Handshake>>,
}

/// What a packet led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Served {
    /// Answered, or asked back.
    Done,
    /// TLS begins with what is in the receiver.
    StartTls,
    /// The session is open.
    Opened,
    /// To end, after what was written.
    End(End),
}

impl Connection {
    /// A connection that will greet in its first turn.
    pub(crate) fn new(
        server: Arc<Shared>,
        id: u32,
        socket: OwnedFd,
        peer: Peer,
        state: TaskState<Scratch>,
    ) -> Arc<Connection> {
        let limits = server.limits();
        let now = server.clock.now();
        let transport = Transport::default();
        Arc::new_cyclic(|me| Connection {
            state,
            id,
            peer,
            socket,
            me: me.clone(),
            interrupt: Interrupt::default(),
            facts: Facts {
                command: AtomicU8::new(CONNECT),
                since: AtomicU64::new(now),
                state: Mutex::new(""),
                suspended: Mutex::default(),
                names: Mutex::new(Names { user: "unauthenticated user".into(), database: None }),
            },
            limits: Limits {
                wait_timeout_seconds: AtomicU32::new(limits.wait_timeout_seconds),
                net_read_timeout_seconds: AtomicU32::new(limits.net_read_timeout_seconds),
                net_write_timeout_seconds: AtomicU32::new(limits.net_write_timeout_seconds),
            },
            traffic: Arc::clone(&transport.traffic),
            waits_for_socket: AtomicBool::new(false),
            parked_refusal: Mutex::new(None),
            session_is: Whereabouts::default(),
            inner: Mutex::new(Inner {
                transport,
                receiver: Receiver::new(limits.max_allowed_packet),
                phase: Phase::Opening(Box::new(Handshake::new(&server, matches!(peer, Peer::Unix { .. })))),
                readable: false,
                hung_up: false,
                ending: None,
                waiting: None,
            }),
            server,
        })
    }

    pub(crate) fn as_task(self: &Arc<Connection>) -> Arc<dyn Task<Scratch>> {
        self.clone()
    }

    /// Has the connection, or its statement, stop. From any thread.
    pub(crate) fn stop(self: &Arc<Connection>, reason: Reason) {
        if reason == Reason::Query && matches!(self.facts.command.load(Ordering::Relaxed), SLEEP | CONNECT) {
            return;
        }
        self.interrupt.raise(reason);
        if reason != Reason::Query {
            if self.waits_for_socket.load(Ordering::SeqCst) {
                let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
            }
            notify(&self.as_task(), Events::INTERRUPTED);
        }
    }

    /// In the middle of a statement: waits until the socket is ready; whether it is. The thread's worker serves others
    /// meanwhile.
    fn wait_for_socket(&self, what: PollFlags, limit: Duration) -> bool {
        let _blocking = blocking::enter();
        // Whoever kills sees this and shuts the socket down, which ends the wait; or the reason is seen here.
        self.waits_for_socket.store(true, Ordering::SeqCst);
        let deadline = Instant::now() + limit;
        let ready = loop {
            if matches!(self.interrupt.reason(), Some(Reason::Connection | Reason::Shutdown)) {
                break false;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break false;
            }
            let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
            match poll(&mut [PollFd::new(&self.socket, what)], Some(&left)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => break true,
                Err(_) => break false,
            }
        };
        self.waits_for_socket.store(false, Ordering::SeqCst);
        ready
    }

    fn deadline_in(&self, time: Duration) {
        self.state.set_deadline(self.server.clock.now().saturating_add(time.as_millis() as u64));
    }

    /// Takes in what has happened.
    fn absorb(&self, events: Events, inner: &mut Inner, scratch: &mut Scratch) {
        inner.readable |= events.has(Events::READABLE);
        inner.hung_up |= events.has(Events::HANGUP);
        if events.has(Events::HANGUP) && matches!(inner.waiting, Some(Waiting::Command(_))) {
            // (Of a statement that has a thread, that is told beside the turn.)
            self.interrupt.raise(Reason::ClientGone);
        }
        if events.has(Events::STARTED)
            && let Phase::Opening(handshake) = &mut inner.phase
        {
            let seconds = self.server.limits().connect_timeout_seconds;
            self.deadline_in(Duration::from_secs(seconds.into()));
            scratch.writer.set_sequence(0);
            handshake.greet(self, &mut scratch.writer);
            inner.receiver.expect_sequence(scratch.writer.sequence());
            self.send(inner, scratch);
        }
        if events.has(Events::DURABLE)
            && let Some(Waiting::Reply(mut parked)) =
                inner.waiting.take_if(|waiting| matches!(waiting, Waiting::Reply(_)))
        {
            if let Some(refusal) = self.parked_refusal.lock().take() {
                scratch.writer.set_sequence(parked.sequence);
                ErrPacket::new(refusal.code, refusal.message.as_bytes()).write(&mut scratch.writer);
                parked.bytes = scratch.writer.bytes().to_vec();
                scratch.writer.sent(usize::MAX);
            }
            let Scratch { outgoing, counters, .. } = &mut *scratch;
            if inner.transport.send(self.socket.as_fd(), &parked.bytes, outgoing, counters).is_err() {
                inner.ending = Some(End::Lost);
            }
            self.command_is_over(inner);
        }
        // The turn before this one may have set another deadline after this one had come.
        let is_due = events.has(Events::DEADLINE) && self.state.deadline() <= self.server.clock.now();
        if is_due && inner.ending.is_none() && inner.waiting.is_none() {
            self.time_out(inner, scratch);
        }
        match self.interrupt.reason() {
            // Its statement fails first, and its client hears of that.
            _ if matches!(inner.waiting, Some(Waiting::Command(_))) => {}
            Some(Reason::Shutdown) if inner.ending.is_none() => inner.ending = Some(End::Shutdown),
            Some(Reason::Connection) if inner.ending.is_none() => inner.ending = Some(End::Killed),
            _ => {}
        }
    }

    /// The deadline has come.
    fn time_out(&self, inner: &mut Inner, scratch: &mut Scratch) {
        if matches!(inner.phase, Phase::Open(_)) && !inner.transport.has_pending() && !inner.receiver.has_bytes() {
            scratch.writer.set_sequence(inner.transport.begin_answer(0));
            write_error(&mut scratch.writer, errors::ER_CLIENT_INTERACTION_TIMEOUT, &[]);
            self.send(inner, scratch);
        }
        inner.ending = Some(End::TimedOut);
    }

    /// Sends what the writer has, or leaves it to be sent when the turn is over.
    fn send(&self, inner: &mut Inner, scratch: &mut Scratch) {
        let Scratch { writer, outgoing, counters, .. } = &mut *scratch;
        if !writer.is_empty() {
            if inner.transport.send(self.socket.as_fd(), writer.bytes(), outgoing, counters).is_err() {
                inner.ending = Some(End::Lost);
            }
            let large = writer.bytes().len() > KEPT_BYTES;
            writer.sent(usize::MAX);
            if large {
                scratch.writer = PacketWriter::new();
            }
        }
    }

    /// The answer to a command is on its way.
    fn command_is_over(&self, inner: &mut Inner) {
        self.facts.command.store(SLEEP, Ordering::Relaxed);
        let now = self.server.clock.now();
        self.facts.since.store(now, Ordering::Relaxed);
        self.state.set_deadline(now.saturating_add(self.limits.wait_timeout().as_millis() as u64));
        if inner.ending.is_none() {
            inner.ending = match self.interrupt.reason() {
                Some(Reason::Connection) => Some(End::Killed),
                Some(Reason::Shutdown) => Some(End::Shutdown),
                Some(Reason::ClientGone) => Some(End::Lost),
                Some(Reason::Query) | None => None,
            };
        }
    }

    /// Goes on until there is nothing to do, or one packet was served.
    fn advance(&self, inner: &mut Inner, scratch: &mut Scratch) -> Turn {
        let mut served = false;
        loop {
            let has_more = inner.receiver.has_bytes() || inner.transport.has_received() || inner.readable;
            // Before it ends, and before a command that may wait.
            if !scratch.outgoing.answer.is_empty() && (inner.ending.is_some() || has_more && !served) {
                let Scratch { outgoing, counters, .. } = &mut *scratch;
                if inner.transport.send_answer(self.socket.as_fd(), &mut outgoing.answer, counters).is_err() {
                    inner.ending = Some(End::Lost);
                }
            }
            if inner.transport.has_pending() {
                match inner.transport.drain(self.socket.as_fd(), &scratch.counters) {
                    Err(_) => inner.ending = Some(End::Lost),
                    Ok(()) if inner.transport.has_pending() => {
                        // One that is to end anyway, and was waited for once, is not waited for again.
                        let lost = matches!(inner.ending, Some(End::Lost | End::TimedOut));
                        if !lost && self.watch_writable(true) {
                            self.deadline_in(self.limits.net_write_timeout());
                            return Turn::Wait;
                        }
                        inner.ending = Some(End::Lost);
                    }
                    Ok(()) => {
                        if self.state.watches_writable() {
                            self.watch_writable(false);
                            self.deadline_in(self.limits.wait_timeout());
                        }
                    }
                }
            }
            if let Some(end) = inner.ending {
                self.finish(inner, end, scratch);
                return Turn::Finished;
            }
            match &inner.waiting {
                Some(Waiting::Reply(_)) => {
                    self.state.set_deadline(NEVER);
                    return Turn::Wait;
                }
                Some(Waiting::Command(_)) if served => return Turn::Wait,
                Some(Waiting::Command(_)) => {
                    served = true;
                    self.resume(inner, scratch);
                    self.send(inner, scratch);
                    continue;
                }
                None => {}
            }
            if served {
                return if has_more { Turn::Again } else { Turn::Wait };
            }
            match self.receive(inner, scratch) {
                Ok(Some(Served::Done)) => served = true,
                Ok(Some(Served::End(end))) => inner.ending = Some(end),
                Ok(Some(Served::StartTls)) => {
                    let came = inner.receiver.take_rest();
                    let config = self.server.tls.clone();
                    let started = config.is_some_and(|config| inner.transport.start_tls(config, &came).is_ok());
                    if !started {
                        inner.ending = Some(End::Lost);
                    }
                }
                Ok(Some(Served::Opened)) => {
                    served = true;
                    if self.begin_session(inner, scratch).is_none() {
                        inner.ending = Some(End::Closed);
                    }
                }
                Ok(None) => {
                    if matches!(inner.phase, Phase::Open(_)) && inner.receiver.has_bytes() {
                        self.deadline_in(self.limits.net_read_timeout());
                    }
                    return Turn::Wait;
                }
                Err(error) => {
                    tracing::debug!(connection = self.id, %error, "not the protocol");
                    write_error(&mut scratch.writer, error.code(), &[]);
                    inner.ending = Some(End::Lost);
                }
            }
            self.send(inner, scratch);
        }
    }

    /// Runs the command that was suspended again. It may be too early: then it is suspended once more.
    fn resume(&self, inner: &mut Inner, scratch: &mut Scratch) {
        let Inner { transport, phase, waiting, .. } = &mut *inner;
        let (Some(Waiting::Command(command)), Phase::Open(open)) = (waiting.take(), phase) else { return };
        self.resume_command(scratch);
        scratch.writer.set_sequence(command.sequence);
        let packet = Packet { payload: &command.payload, answer_sequence: command.sequence };
        let served = self.serve(open, packet, transport, scratch, waiting, &mut Vec::new());
        if waiting.is_none() {
            self.command_is_over(inner);
        }
        if let Served::End(end) = served {
            inner.ending = Some(end);
        }
    }

    /// Whether the epoll set does as asked.
    fn watch_writable(&self, on: bool) -> bool {
        self.state.watches_writable() == on || self.state.watch_writable(self.socket.as_fd(), on).is_ok()
    }

    /// Takes the next packet, reading if need be, and serves it. Nothing: none is whole.
    fn receive(&self, inner: &mut Inner, scratch: &mut Scratch) -> Result<Option<Served>, ProtocolError> {
        if !inner.receiver.has_buffer()
            && let Some(buffer) = scratch.buffer.take()
        {
            inner.receiver.lend(buffer);
        }
        loop {
            let Inner { receiver, transport, phase, waiting, readable, hung_up, .. } = &mut *inner;
            if let Some(packet) = receiver.next_packet()? {
                let packet = Packet { answer_sequence: transport.begin_answer(packet.answer_sequence), ..packet };
                scratch.writer.set_sequence(packet.answer_sequence);
                let mut file_rest = Vec::new();
                let served = match phase {
                    Phase::Opening(handshake) => handshake.on_packet(self, packet.payload, transport, scratch)?,
                    Phase::Open(open) if open.change.is_some() => {
                        self.on_change_packet(open, packet.payload, transport, scratch)?
                    }
                    Phase::Open(open) => {
                        self.begin_command(&packet, scratch);
                        self.serve(open, packet, transport, scratch, waiting, &mut file_rest)
                    }
                    Phase::Over => Served::End(End::Lost),
                };
                let in_handshake = match phase {
                    Phase::Opening(_) => served != Served::Opened,
                    Phase::Open(open) => open.change.is_some(),
                    Phase::Over => false,
                };
                receiver.expect_sequence(if in_handshake { scratch.writer.sequence() } else { 0 });
                receiver.feed(&file_rest);
                if waiting.is_none() && !in_handshake && matches!(phase, Phase::Open(_)) {
                    self.command_is_over(inner);
                }
                return Ok(Some(served));
            }
            let new_command = !receiver.has_bytes() && matches!(phase, Phase::Open(open) if open.change.is_none());
            if transport.unwrap_one(receiver, &mut scratch.outgoing.codec, new_command)? {
                continue;
            }
            if !*readable {
                return Ok(None);
            }
            match transport.receive(self.socket.as_fd(), receiver, &scratch.counters) {
                Ok(Received::Some) => {}
                Ok(Received::Last) => *readable = *hung_up,
                Ok(Received::Nothing) => {
                    *readable = false;
                    return Ok(None);
                }
                Ok(Received::End) | Err(_) => return Ok(Some(Served::End(End::Lost))),
            }
        }
    }

    /// The end: the session is closed, the socket with the last who knows the connection.
    fn finish(&self, inner: &mut Inner, end: End, scratch: &mut Scratch) {
        let phase = std::mem::replace(&mut inner.phase, Phase::Over);
        self.forget_waiting(inner);
        if let Phase::Open(open) = phase {
            if end != End::Quit {
                self.server.counters.aborted_clients.fetch_add(1, Ordering::Relaxed);
            }
            self.facts.command.store(meseta_protocol::command::byte::QUIT, Ordering::Relaxed);
            let Open { session, .. } = open;
            if let Some(session) = session
                && catch_unwind(AssertUnwindSafe(|| session.close(end))).is_err()
            {
                self.defect("closing a session");
            }
        } else {
            self.server.counters.aborted_connects.fetch_add(1, Ordering::Relaxed);
        }
        inner.transport.close(self.socket.as_fd(), &scratch.counters);
        inner.receiver = Receiver::new(0);
        self.leave();
    }

    /// What is left of the last command is for nobody.
    fn forget_waiting(&self, inner: &mut Inner) {
        if let Some(Waiting::Command(_)) = inner.waiting.take() {
            self.note_resumed();
        }
    }

    /// The server forgets it, and the client is told.
    fn leave(&self) {
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
        self.server.forget(self.id);
    }

    /// A panic was contained.
    fn defect(&self, what: &str) {
        self.server.counters.defects.fetch_add(1, Ordering::Relaxed);
        tracing::error!(connection = self.id, "defect: a panic while {what}; the connection is closed");
    }
}

impl Task<Scratch> for Connection {
    fn state(&self) -> &TaskState<Scratch> {
        &self.state
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn comes_in_on(&self) -> Option<u32> {
        match self.peer {
            Peer::Unix { .. } => None,
            _ => rustix::net::sockopt::socket_incoming_cpu(&self.socket).ok(),
        }
    }

    fn answer<'a>(&self, scratch: &'a mut Scratch) -> &'a mut Vec<u8> {
        &mut scratch.outgoing.answer
    }

    fn sent(&self, answer: &[u8], sent: std::io::Result<usize>) -> bool {
        let mut inner = self.inner.lock();
        if inner.transport.answer_was_sent(answer, sent).is_err() {
            inner.ending = Some(End::Lost);
        }
        inner.ending.is_some() || inner.transport.has_pending()
    }

    fn prefetch(&self, soon: Soon) {
        match soon {
            Soon::AfterNext => meseta_prefetch::value(self),
            Soon::Next => {
                meseta_prefetch::value(&*self.traffic);
                self.session_is.prefetch();
            }
        }
    }

    fn hung_up(&self) {
        if !matches!(self.facts.command.load(Ordering::Relaxed), SLEEP | CONNECT) {
            self.interrupt.raise(Reason::ClientGone);
        }
    }

    fn turn(&self, events: Events, scratch: &mut Scratch) -> Turn {
        let turn = catch_unwind(AssertUnwindSafe(|| {
            let mut inner = self.inner.lock();
            if let Phase::Open(Open { session: Some(session), .. }) = &inner.phase {
                // It comes while the command is read.
                session.prefetch();
            }
            self.absorb(events, &mut inner, scratch);
            let turn = self.advance(&mut inner, scratch);
            self.state.set_urgent(inner.holds_up_others());
            if let Some(buffer) = inner.receiver.reclaim() {
                scratch.buffer = Some(buffer);
            }
            turn
        }));
        turn.unwrap_or_else(|_| {
            self.defect("serving a connection");
            scratch.writer = PacketWriter::new();
            scratch.outgoing.answer.clear();
            scratch.counters.command_ends();
            // What the turn left half done is dropped without another look; its drop may panic as well.
            let phase = {
                let mut inner = self.inner.lock();
                self.forget_waiting(&mut inner);
                std::mem::replace(&mut inner.phase, Phase::Over)
            };
            let _ = catch_unwind(AssertUnwindSafe(|| drop(phase)));
            self.leave();
            Turn::Finished
        })
    }
}

/// Says which statement a thread runs.
fn show(counters: &ThreadCounters, connection_id: u32, text: &[u8]) {
    let mut shown = counters.shown.lock();
    shown.connection_id = connection_id;
    shown.text.clear();
    shown.text.extend_from_slice(&text[..text.len().min(SHOWN_BYTES)]);
    shown.state = "";
}
