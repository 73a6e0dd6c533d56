//! The way in: bytes as they come, packets as they are whole.
//!
//! ```text
//! buffer:   |....taken....|len3 seq payload|len3 seq pay........|
//!                         ^start            ^next               ^end
//!
//! a packet of 16 MiB and more comes in parts, each FF FF FF long but the last:
//!           |FFFFFF 0 payload|FFFFFF 1 payload|000002 2 xx|
//!     joined in place:       |payload payload xx|
//! ```
//!
//! The caller reads from its socket into [`Receiver::room`] and says how much came ([`Receiver::filled`]); then it
//! takes packets until there is none. A packet is borrowed from the buffer: nothing is copied, except that the parts of
//! a large one are moved together.
//!
//! **Memory.** A receiver without bytes needs no buffer. A server with many idle connections lends one
//! ([`Receiver::lend`]) before it reads and takes it back ([`Receiver::reclaim`]) when all that came was whole packets.
//! A buffer grows as bytes come, to four times its length, and from [`LARGE_BYTES`] on to twice; never because a header promises
//! much. What grew beyond [`KEPT_BYTES`] is given back when it is empty.
//!
//! Invariants:
//! 1. `start <= joined payload <= scan <= end <= buffer.len()`; bytes from `end` on are garbage.
//! 2. A packet is refused as soon as a header says that it would exceed `max_allowed_packet`, before its bytes come.
//! 3. Sequence numbers are checked, modulo 256, over the parts of packets too (not within compressed packets).
//!
//! When it fails: the stream is out of step for good. The caller answers with the error's number and closes.
//!
//! Source: "MySQL Packets" of the MySQL source documentation.

use crate::error::{ProtocolError, Result};

/// The longest payload of one part; a part of this length is followed by another.
pub const PART_BYTES: usize = 0xFF_FFFF;
/// The header of a part: three bytes of length, one of sequence number.
pub const HEADER_BYTES: usize = 4;
/// What a buffer begins with.
pub const FIRST_BYTES: usize = 8 << 10;
/// A buffer that is larger is given back as soon as it is empty.
pub const KEPT_BYTES: usize = 64 << 10;

/// A buffer of so many bytes grows by doubling: what is zeroed and copied is little beside what comes, and memory is too.
pub const LARGE_BYTES: usize = 1 << 20;

/// A packet, joined of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<'a> {
    /// What is in it.
    pub payload: &'a [u8],
    /// The sequence number that its answer begins with: one more than its last part's.
    pub answer_sequence: u8,
}

/// Takes in bytes, gives out packets.
#[derive(Debug)]
pub struct Receiver {
    buffer: Vec<u8>,
    /// Where the next packet begins.
    start: usize,
    /// How much of the packet at `start` (after its first header) has been joined.
    joined: usize,
    /// Where the next header is; `start` unless parts have been joined.
    scan: usize,
    /// Where the bytes that came end.
    end: usize,
    sequence: u8,
    sequence_is_checked: bool,
    max_allowed_packet: usize,
}

impl Receiver {
    /// A receiver that refuses packets larger than `max_allowed_packet` bytes. It has no buffer yet.
    pub fn new(max_allowed_packet: usize) -> Receiver {
        Receiver {
            buffer: Vec::new(),
            start: 0,
            joined: 0,
            scan: 0,
            end: 0,
            sequence: 0,
            sequence_is_checked: true,
            max_allowed_packet,
        }
    }

    /// Changes the limit from the next header on.
    pub fn set_max_allowed_packet(&mut self, bytes: usize) {
        self.max_allowed_packet = bytes;
    }

    /// The sequence number that is due.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Says which sequence number is due: 0 before a command, the writer's next one within an exchange.
    pub fn expect_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// Whether sequence numbers are checked. They are not within compressed packets, which have numbers of their own:
    /// MySQL's ends let the inner ones run out of step.
    pub fn set_sequence_checked(&mut self, checked: bool) {
        self.sequence_is_checked = checked;
    }

    /// The limit.
    pub fn max_allowed_packet(&self) -> usize {
        self.max_allowed_packet
    }

    /// Whether bytes are here that no packet has taken yet.
    pub fn has_bytes(&self) -> bool {
        self.start < self.end
    }

    /// Whether there is a buffer.
    pub fn has_buffer(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// Gives a buffer to read into. All its bytes, `buffer.len()`, are used. Of no effect if there is one already that
    /// has bytes.
    pub fn lend(&mut self, buffer: Vec<u8>) {
        if !self.has_bytes() {
            self.rewind();
            self.buffer = buffer;
        }
    }

    /// Takes the buffer, if nothing is in it that is still needed. (One that grew large is dropped instead.)
    pub fn reclaim(&mut self) -> Option<Vec<u8>> {
        if self.has_bytes() {
            return None;
        }
        self.rewind();
        let buffer = std::mem::take(&mut self.buffer);
        (!buffer.is_empty() && buffer.len() <= KEPT_BYTES).then_some(buffer)
    }

    /// Takes the bytes that no packet has taken, and leaves none. After an SSLRequest they are the beginning of TLS:
    /// they belong to whoever decrypts, and what is read as packets from then on must have come through it.
    pub fn take_rest(&mut self) -> Vec<u8> {
        let rest = self.buffer[self.start..self.end].to_vec();
        self.rewind();
        rest
    }

    fn rewind(&mut self) {
        (self.start, self.joined, self.scan, self.end) = (0, 0, 0, 0);
    }

    /// Where to read to: at least one byte, usually kilobytes. Moves what is left of the last packets to the front,
    /// and grows if that does not make enough room.
    pub fn room(&mut self) -> &mut [u8] {
        if self.start == self.end {
            self.rewind();
            if self.buffer.len() > KEPT_BYTES {
                self.buffer = Vec::new();
            }
        }
        if self.buffer.is_empty() {
            self.buffer = vec![0; FIRST_BYTES];
        }
        if self.buffer.len() - self.end < self.buffer.len() / 4 + 1 {
            if self.start >= self.buffer.len() / 2 {
                self.buffer.copy_within(self.start..self.end, 0);
                self.scan -= self.start;
                self.end -= self.start;
                self.start = 0;
            } else {
                let length = self.buffer.len();
                let factor = if length < LARGE_BYTES { 4 } else { 2 };
                self.buffer.resize(factor * length, 0);
            }
        }
        &mut self.buffer[self.end..]
    }

    /// Says that `bytes` bytes were read into [`Receiver::room`].
    pub fn filled(&mut self, bytes: usize) {
        self.end = (self.end + bytes).min(self.buffer.len());
    }

    /// Appends `bytes`, for callers that have them already.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = self.room();
            let count = room.len().min(bytes.len());
            room[..count].copy_from_slice(&bytes[..count]);
            self.filled(count);
            bytes = &bytes[count..];
        }
    }

    /// The next packet, if it is whole.
    ///
    /// # Errors
    /// [`ProtocolError::PacketTooLarge`], [`ProtocolError::OutOfOrder`]; the stream is of no use afterwards.
    #[inline]
    pub fn next_packet(&mut self) -> Result<Option<Packet<'_>>> {
        loop {
            let Some(&[a, b, c, sequence]) =
                self.buffer[..self.end].get(self.scan..).and_then(|rest| rest.first_chunk())
            else {
                return Ok(None);
            };
            let length = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
            if sequence != self.sequence && self.sequence_is_checked {
                return Err(ProtocolError::OutOfOrder { expected: self.sequence, got: sequence });
            }
            if self.joined + length > self.max_allowed_packet {
                return Err(ProtocolError::PacketTooLarge);
            }
            let from = self.scan + HEADER_BYTES;
            if self.end - from < length {
                return Ok(None);
            }
            self.sequence = sequence.wrapping_add(1);
            if self.joined > 0 {
                self.buffer.copy_within(from..from + length, self.start + HEADER_BYTES + self.joined);
            }
            self.joined += length;
            self.scan = from + length;
            if length < PART_BYTES {
                break;
            }
        }
        let payload = self.start + HEADER_BYTES..self.start + HEADER_BYTES + self.joined;
        self.start = self.scan;
        self.joined = 0;
        Ok(Some(Packet { payload: &self.buffer[payload], answer_sequence: self.sequence }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::send::PacketWriter;

    fn next(receiver: &mut Receiver) -> Result<Option<Vec<u8>>> {
        Ok(receiver.next_packet()?.map(|packet| packet.payload.to_vec()))
    }

    fn packets(receiver: &mut Receiver) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        while let Some(packet) = receiver.next_packet().unwrap() {
            all.push(packet.payload.to_vec());
        }
        all
    }

    #[test]
    fn packets_come_whole_however_the_bytes_come() {
        let mut writer = PacketWriter::new();
        let sent: Vec<Vec<u8>> = (0..300).map(|i| vec![i as u8; i * 7 % 9001]).collect();
        for payload in &sent {
            writer.packet(|to| to.extend_from_slice(payload));
        }
        for step in [1, 3, 1000, 100_000] {
            let mut receiver = Receiver::new(1 << 20);
            let mut got = Vec::new();
            for bytes in writer.bytes().chunks(step) {
                receiver.feed(bytes);
                got.extend(packets(&mut receiver));
            }
            assert!(got == sent, "in steps of {step}");
            assert!(!receiver.has_bytes());
        }
    }

    #[test]
    fn large_packets_are_split_and_joined() {
        for length in [PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 2 * PART_BYTES, 2 * PART_BYTES + 77] {
            let sent: Vec<u8> = (0..length).map(|i| (i * 31 / 8) as u8).collect();
            let mut writer = PacketWriter::new();
            writer.packet(|to| to.extend_from_slice(b"before"));
            writer.packet(|to| to.extend_from_slice(&sent));
            writer.packet(|to| to.extend_from_slice(b"after"));
            let parts = length / PART_BYTES + 1;
            assert_eq!(writer.bytes().len(), 4 + 6 + length + 4 * parts + 4 + 5);
            let mut receiver = Receiver::new(64 << 20);
            let mut got = Vec::new();
            for bytes in writer.bytes().chunks(1_000_003) {
                receiver.feed(bytes);
                got.extend(packets(&mut receiver));
            }
            assert!(got[0] == b"before" && got[1] == sent && got[2] == b"after" && got.len() == 3, "{length}");
            assert_eq!(receiver.sequence(), writer.sequence());
            receiver.room();
            assert!(receiver.buffer.len() <= KEPT_BYTES, "it gives back what it grew to");
        }
    }

    #[test]
    fn a_promise_of_much_is_refused_before_it_comes() {
        let mut receiver = Receiver::new(100);
        receiver.feed(&[101, 0, 0, 0]);
        assert_eq!(receiver.next_packet(), Err(ProtocolError::PacketTooLarge));
        let mut receiver = Receiver::new(PART_BYTES + 10);
        receiver.feed(&[0xFF, 0xFF, 0xFF, 0]);
        assert_eq!(receiver.next_packet(), Ok(None));
        assert!(receiver.buffer.len() <= FIRST_BYTES, "a header alone makes nothing grow");
        receiver.feed(&vec![0; PART_BYTES]);
        receiver.feed(&[11, 0, 0, 1]);
        assert_eq!(receiver.next_packet(), Err(ProtocolError::PacketTooLarge));
    }

    #[test]
    fn sequence_numbers_are_checked() {
        let mut receiver = Receiver::new(100);
        receiver.feed(&[1, 0, 0, 0, 9, 1, 0, 0, 2, 9]);
        assert_eq!(next(&mut receiver), Ok(Some(vec![9])));
        assert_eq!(receiver.next_packet(), Err(ProtocolError::OutOfOrder { expected: 1, got: 2 }));
    }

    #[test]
    fn an_idle_receiver_has_no_buffer() {
        let mut receiver = Receiver::new(100);
        assert_eq!(receiver.next_packet(), Ok(None));
        receiver.lend(vec![0; 4096]);
        receiver.room()[..6].copy_from_slice(&[1, 0, 0, 0, 9, 1]);
        receiver.filled(6);
        assert_eq!(next(&mut receiver), Ok(Some(vec![9])));
        assert_eq!(receiver.next_packet(), Ok(None));
        assert!(receiver.reclaim().is_none(), "a byte of the next packet is in it");
        receiver.feed(&[0, 0, 1, 9]);
        assert_eq!(next(&mut receiver), Ok(Some(vec![9])));
        assert_eq!(receiver.reclaim().map(|buffer| buffer.len()), Some(4096));
        assert!(!receiver.has_buffer() && std::mem::size_of::<Receiver>() <= 96);
    }
}
