//! A connection's bytes, between its socket and its packets: in the clear or by TLS, compressed or not.
//!
//! ```text
//! in:   socket -> [TLS] -> [compressed packets, one at a time] -> Receiver
//! out:  PacketWriter -> [compress] -> answer -> (the worker, for many turns at once) -> socket
//!                       [compress] -> [TLS] -> socket
//!                                              what it does not take: pending
//! ```
//!
//! Nothing here waits. What the socket does not take is kept, and the caller sees `Transport::has_pending`. A short answer is left
//! to be sent when the turn is over (`scheduler::outbox`); a long one, or one by TLS, is sent at once.
//!
//! **Memory.** In the clear a connection that is idle has no buffer here. With TLS it has rustls' state and its buffers,
//! with compression the beginning of a compressed packet.
//!
//! Invariants:
//! 1. Bytes leave in the order in which they were given: pending ones, then the answer's, of which there are none while some
//!    are pending.
//! 2. Compressed packets are unwrapped one at a time, and only when the packets of the last are used up: so the sequence
//!    number begins anew with each command, even where a client sends the next before the answer.

use std::io::{self, Read, Write};
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use meseta_protocol::compress::{Algorithm, Codec, CompressedReceiver, CompressedSender};
use meseta_protocol::receive::Receiver;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use rustls::{ServerConfig, ServerConnection};

use crate::backend::TlsFacts;
use crate::certificate::{Certificate, cipher_name};
use crate::counters::ThreadCounters;
use crate::scheduler::outbox::ANSWER_BYTES;

/// How much of compressed packets is read at a time.
const RAW_BYTES: usize = 8 << 10;
/// A buffer that is larger is given back when it is empty.
const KEPT_BYTES: usize = 16 << 10;

/// What a read brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    /// Bytes, and perhaps there are more.
    Some,
    /// Bytes, and no more for now.
    Last,
    /// None for now.
    Nothing,
    /// The other end writes no more.
    End,
}

/// How many bytes came and went: written by the thread that has the turn, read by whoever asks.
#[derive(Default)]
pub(crate) struct Traffic {
    received: AtomicU64,
    sent: AtomicU64,
}

impl Traffic {
    fn add(counter: &AtomicU64, bytes: usize) {
        counter.store(counter.load(Ordering::Relaxed).wrapping_add(bytes as u64), Ordering::Relaxed);
    }

    /// Bytes received and sent.
    pub(crate) fn totals(&self) -> (u64, u64) {
        (self.received.load(Ordering::Relaxed), self.sent.load(Ordering::Relaxed))
    }
}

/// What is on its way out, and what it is compressed with: lent by a thread to the turns that it runs.
pub(crate) struct Outgoing {
    /// What is to be sent when the turn is over.
    pub(crate) answer: Vec<u8>,
    pub(crate) codec: Codec,
    /// For packets that have been compressed.
    wire: Vec<u8>,
}

impl Outgoing {
    pub(crate) fn new() -> Outgoing {
        Outgoing { answer: Vec::new(), codec: Codec::new(), wire: Vec::new() }
    }
}

/// The state between socket and packets.
#[derive(Default)]
pub(crate) struct Transport {
    tls: Option<Box<ServerConnection>>,
    compressed: Option<Box<Compressed>>,
    /// What the socket has not taken yet. (With TLS, rustls has it.)
    pending: Vec<u8>,
    sent: usize,
    pub(crate) traffic: Arc<Traffic>,
}

struct Compressed {
    sender: CompressedSender,
    receiver: CompressedReceiver,
    /// What came and is not unwrapped.
    raw: Vec<u8>,
    taken: usize,
}

/// A socket, as the standard library's traits have it.
struct Stream<'a> {
    descriptor: BorrowedFd<'a>,
    counters: &'a ThreadCounters,
    traffic: &'a Traffic,
}

impl Read for Stream<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            // (`read` comes to the same by way of the file that a socket is, which takes longer.)
            match rustix::net::recv(self.descriptor, &mut *into, RecvFlags::empty()) {
                Ok((count, _)) => {
                    self.counters.received(count);
                    Traffic::add(&self.traffic.received, count);
                    return Ok(count);
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Write for Stream<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match rustix::net::send(self.descriptor, bytes, SendFlags::NOSIGNAL) {
                Ok(count) => {
                    self.counters.sent(count);
                    Traffic::add(&self.traffic.sent, count);
                    return Ok(count);
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Transport {
    /// TLS begins, with bytes of it that came already.
    pub(crate) fn start_tls(&mut self, config: Arc<ServerConfig>, mut came: &[u8]) -> io::Result<()> {
        let mut tls = ServerConnection::new(config).map_err(io::Error::other)?;
        // What is sent at a time is bounded by who sends (`Reply::flush_if_full`), and is all or nothing here.
        tls.set_buffer_limit(None);
        while !came.is_empty() {
            tls.read_tls(&mut came)?;
            tls.process_new_packets().map_err(io::Error::other)?;
        }
        self.tls = Some(Box::new(tls));
        Ok(())
    }

    pub(crate) fn tls(&self) -> Option<TlsFacts> {
        let tls = self.tls.as_ref()?;
        let version = match tls.protocol_version()? {
            rustls::ProtocolVersion::TLSv1_3 => "TLSv1.3",
            _ => "TLSv1.2",
        };
        let suite = tls.negotiated_cipher_suite()?;
        Some(TlsFacts { version, cipher: cipher_name(suite.suite()) })
    }

    /// Whose the client's certificate is, if it sent one.
    pub(crate) fn certificate(&self) -> Option<Certificate> {
        Certificate::read(self.tls.as_ref()?.peer_certificates()?.first()?)
    }

    /// Packets are compressed from now on.
    pub(crate) fn start_compression(&mut self, algorithm: Algorithm) {
        self.compressed = Some(Box::new(Compressed {
            sender: CompressedSender::new(algorithm),
            receiver: CompressedReceiver::new(algorithm),
            raw: Vec::new(),
            taken: 0,
        }));
    }

    pub(crate) fn is_compressed(&self) -> bool {
        self.compressed.is_some()
    }

    /// What is sent next answers what came last, whose packets said that the answer begins with `sequence`. Returns with
    /// which it does: the packets in compressed ones begin with the number that the first compressed one has, as MySQL has
    /// it and drivers check it. (It is another where a command is not in one compressed packet, or a file came.)
    pub(crate) fn begin_answer(&mut self, sequence: u8) -> u8 {
        let Some(compressed) = &mut self.compressed else { return sequence };
        compressed.sender.set_sequence(compressed.receiver.sequence());
        compressed.sender.sequence()
    }

    /// Reads once, into `receiver` (or, of compressed packets, into a buffer that [`Transport::unwrap_one`] empties).
    pub(crate) fn receive(
        &mut self,
        descriptor: BorrowedFd<'_>,
        receiver: &mut Receiver,
        counters: &ThreadCounters,
    ) -> io::Result<Received> {
        let mut stream = Stream { descriptor, counters, traffic: &self.traffic };
        let Some(tls) = &mut self.tls else {
            return match &mut self.compressed {
                None => {
                    let (received, count) = read_into(receiver.room(), |into| stream.read(into))?;
                    receiver.filled(count);
                    Ok(received)
                }
                Some(compressed) => compressed.read(|into| stream.read(into)),
            };
        };
        loop {
            let received = match &mut self.compressed {
                None => {
                    let (received, count) = read_into(receiver.room(), |into| read_plain(tls, into))?;
                    receiver.filled(count);
                    received
                }
                Some(compressed) => compressed.read(|into| read_plain(tls, into))?,
            };
            match received {
                // What is in rustls' buffer does not show at the socket: ask again.
                Received::Some | Received::Last => return Ok(Received::Some),
                Received::End => return Ok(Received::End),
                Received::Nothing => {}
            }
            match tls.read_tls(&mut stream) {
                Ok(0) => return Ok(Received::End),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Received::Nothing),
                Err(error) => return Err(error),
            }
            let processed = tls.process_new_packets();
            while tls.wants_write() {
                match tls.write_tls(&mut stream) {
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error),
                }
            }
            processed.map_err(io::Error::other)?;
        }
    }

    /// Unwraps the next compressed packet, if it is whole; whether there was one. `new_command`: the receiver waits for
    /// a command, and numbers begin anew.
    pub(crate) fn unwrap_one(
        &mut self,
        receiver: &mut Receiver,
        codec: &mut Codec,
        new_command: bool,
    ) -> meseta_protocol::error::Result<bool> {
        let Some(compressed) = &mut self.compressed else { return Ok(false) };
        let rest = &compressed.raw[compressed.taken..];
        let Some(&[a, b, c]) = rest.first_chunk() else { return Ok(false) };
        let length = 7 + (usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16);
        if length > receiver.max_allowed_packet().saturating_add(1 << 20) {
            return Err(meseta_protocol::error::ProtocolError::PacketTooLarge);
        }
        let Some(whole) = rest.get(..length) else { return Ok(false) };
        if new_command {
            compressed.receiver.expect_sequence(0);
        }
        compressed.receiver.feed(whole, codec, receiver)?;
        compressed.taken += length;
        if compressed.taken == compressed.raw.len() {
            compressed.taken = 0;
            compressed.raw.clear();
            if compressed.raw.capacity() > RAW_BYTES {
                compressed.raw = Vec::new();
            }
        }
        Ok(true)
    }

    /// Whether bytes are here that were received and not given out.
    pub(crate) fn has_received(&self) -> bool {
        self.compressed.as_ref().is_some_and(|compressed| compressed.taken < compressed.raw.len())
    }

    /// Sends packets, or leaves them in `outgoing.answer`. What the socket does not take is kept.
    pub(crate) fn send(
        &mut self,
        descriptor: BorrowedFd<'_>,
        packets: &[u8],
        outgoing: &mut Outgoing,
        counters: &ThreadCounters,
    ) -> io::Result<()> {
        let Outgoing { answer, codec, wire } = outgoing;
        let bytes = match &mut self.compressed {
            None => packets,
            Some(compressed) => {
                wire.clear();
                compressed.sender.compress(packets, codec, wire);
                // If the client goes on with an exchange, its numbers follow ours.
                compressed.receiver.expect_sequence(compressed.sender.sequence());
                &wire[..]
            }
        };
        if let Some(tls) = &mut self.tls {
            tls.writer().write_all(bytes)?;
            return self.drain(descriptor, counters);
        }
        if !self.has_pending() && answer.len() + bytes.len() <= ANSWER_BYTES {
            answer.extend_from_slice(bytes);
            return Ok(());
        }
        self.send_answer(descriptor, answer, counters)?;
        self.send_now(descriptor, bytes, counters)
    }

    /// Sends what was left to be sent when the turn is over. What the socket does not take is kept.
    pub(crate) fn send_answer(
        &mut self,
        descriptor: BorrowedFd<'_>,
        answer: &mut Vec<u8>,
        counters: &ThreadCounters,
    ) -> io::Result<()> {
        let sent = self.send_now(descriptor, answer, counters);
        answer.clear();
        sent
    }

    /// Somebody else has sent so many bytes of `answer`: keeps the others. Fails as that has.
    pub(crate) fn answer_was_sent(&mut self, answer: &[u8], sent: io::Result<usize>) -> io::Result<()> {
        let count = match sent {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            sent => sent?,
        };
        Traffic::add(&self.traffic.sent, count);
        self.pending.extend_from_slice(&answer[count.min(answer.len())..]);
        Ok(())
    }

    fn send_now(&mut self, descriptor: BorrowedFd<'_>, bytes: &[u8], counters: &ThreadCounters) -> io::Result<()> {
        let mut at = 0;
        if !self.has_pending() {
            let mut stream = Stream { descriptor, counters, traffic: &self.traffic };
            while at < bytes.len() {
                match stream.write(&bytes[at..]) {
                    Ok(count) => at += count,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error),
                }
            }
        }
        self.pending.extend_from_slice(&bytes[at..]);
        Ok(())
    }

    /// Whether something is to be sent that the socket did not take.
    pub(crate) fn has_pending(&self) -> bool {
        self.sent < self.pending.len() || self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    /// Sends what is pending, as far as the socket takes it.
    pub(crate) fn drain(&mut self, descriptor: BorrowedFd<'_>, counters: &ThreadCounters) -> io::Result<()> {
        let mut stream = Stream { descriptor, counters, traffic: &self.traffic };
        while self.has_pending() {
            let written = match &mut self.tls {
                Some(tls) => tls.write_tls(&mut stream),
                None => stream.write(&self.pending[self.sent..]).inspect(|count| self.sent += count),
            };
            match written {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        self.pending.clear();
        self.sent = 0;
        if self.pending.capacity() > KEPT_BYTES {
            self.pending = Vec::new();
        }
        Ok(())
    }

    /// Says goodbye, where TLS has a word for it.
    pub(crate) fn close(&mut self, descriptor: BorrowedFd<'_>, counters: &ThreadCounters) {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
            let _ = self.drain(descriptor, counters);
        }
    }
}

impl Compressed {
    fn read(&mut self, read: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> io::Result<Received> {
        self.raw.drain(..self.taken);
        self.taken = 0;
        let length = self.raw.len();
        self.raw.resize(length + RAW_BYTES, 0);
        let result = read_into(&mut self.raw[length..], read);
        self.raw.truncate(length + result.as_ref().map_or(0, |(_, count)| *count));
        if self.raw.is_empty() {
            self.raw = Vec::new();
        }
        result.map(|(received, _)| received)
    }
}

fn read_plain(tls: &mut ServerConnection, into: &mut [u8]) -> io::Result<usize> {
    tls.reader().read(into)
}

/// Reads once; how much, and what that says of the socket.
fn read_into(into: &mut [u8], read: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> io::Result<(Received, usize)> {
    match read(into) {
        Ok(0) => Ok((Received::End, 0)),
        // A socket that gives less than was asked for is empty, and will tell when it is not.
        Ok(count) if count < into.len() => Ok((Received::Last, count)),
        Ok(count) => Ok((Received::Some, count)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok((Received::Nothing, 0)),
        Err(error) => Err(error),
    }
}
