//! The way out: many packets in one buffer.
//!
//! ```text
//! begin        |0 0 0 0|                       room for the header
//! put_..       |0 0 0 0|payload.......
//! end          |len3 n |payload.......|        the header is filled in
//! ```
//!
//! A reply, whole, is one buffer and one `write`. A large one is not built whole: whoever appends rows looks at
//! [`PacketWriter::is_full`] after each, or passes a hook to [`PacketWriter::flush_if_full`], which writes what is
//! there and goes on.
//!
//! Invariants:
//! 1. Between `end` and `begin` the buffer is whole packets, and may be sent.
//! 2. At most one packet is open. `begin` throws away one that was not ended, and `abandon` does so by name: a row
//!    whose value could not be computed leaves nothing behind, and an ERR packet can follow.
//!
//! Source: "MySQL Packets" of the MySQL source documentation.

use crate::receive::{HEADER_BYTES, PART_BYTES};

/// When a buffer is full, unless said otherwise: as much as is worth one system call.
pub const FULL_BYTES: usize = 64 << 10;

/// Appends packets to a buffer.
#[derive(Debug)]
pub struct PacketWriter {
    bytes: Vec<u8>,
    /// How many bytes at the front have been sent.
    sent: usize,
    /// Where the open packet's header is.
    open: Option<usize>,
    sequence: u8,
    full: usize,
}

impl Default for PacketWriter {
    fn default() -> PacketWriter {
        PacketWriter::new()
    }
}

impl PacketWriter {
    /// A writer without a buffer yet; its first packet has the sequence number 0.
    pub fn new() -> PacketWriter {
        PacketWriter::with_buffer(Vec::new())
    }

    /// A writer that appends to `bytes`, for servers that have a buffer for each worker.
    pub fn with_buffer(bytes: Vec<u8>) -> PacketWriter {
        PacketWriter { bytes, sent: 0, open: None, sequence: 0, full: FULL_BYTES }
    }

    /// Changes from how many bytes on the buffer is full.
    pub fn set_full_bytes(&mut self, bytes: usize) {
        self.full = bytes;
    }

    /// The sequence number of the next packet.
    #[inline]
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Sets the sequence number of the next packet: one more than that of the packet that is answered.
    #[inline]
    pub fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// Opens a packet and returns the buffer that its payload is appended to.
    #[inline]
    pub fn begin(&mut self) -> &mut Vec<u8> {
        if self.open.is_some() {
            self.abandon();
        }
        self.open = Some(self.bytes.len());
        self.bytes.extend_from_slice(&[0; HEADER_BYTES]);
        &mut self.bytes
    }

    /// The buffer that the open packet's payload is appended to. What was there before must stay.
    #[inline]
    pub fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Where in the buffer the open packet's payload begins.
    #[inline]
    pub fn payload_start(&self) -> usize {
        self.open.map_or(self.bytes.len(), |at| at + HEADER_BYTES)
    }

    /// Closes the open packet. One that is too long for one part is split.
    #[inline]
    pub fn end(&mut self) {
        let Some(at) = self.open.take() else { return };
        let length = self.bytes.len() - at - HEADER_BYTES;
        if length < PART_BYTES {
            self.put_header(at, length);
        } else {
            self.split(at, length);
        }
    }

    #[inline]
    fn put_header(&mut self, at: usize, length: usize) {
        let [a, b, c, _] = (length as u32).to_le_bytes();
        self.bytes[at..at + HEADER_BYTES].copy_from_slice(&[a, b, c, self.sequence]);
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Moves the parts apart, the last one first, so that each has room for its header.
    #[cold]
    fn split(&mut self, at: usize, length: usize) {
        let parts = length / PART_BYTES + 1;
        self.bytes.resize(self.bytes.len() + (parts - 1) * HEADER_BYTES, 0);
        let payload = at + HEADER_BYTES;
        for part in (1..parts).rev() {
            let from = payload + part * PART_BYTES;
            let to = (from + PART_BYTES).min(payload + length);
            self.bytes.copy_within(from..to, from + part * HEADER_BYTES);
        }
        for part in 0..parts {
            let length = (length - part * PART_BYTES).min(PART_BYTES);
            self.put_header(at + part * (PART_BYTES + HEADER_BYTES), length);
        }
    }

    /// Throws the open packet away.
    pub fn abandon(&mut self) {
        if let Some(at) = self.open.take() {
            self.bytes.truncate(at);
        }
    }

    /// Appends a packet of what `payload` puts into the buffer.
    #[inline]
    pub fn packet(&mut self, payload: impl FnOnce(&mut Vec<u8>)) {
        payload(self.begin());
        self.end();
    }

    /// Appends packets that another writer made, each of one part: they get their sequence numbers here.
    pub fn packets(&mut self, packets: &[u8]) {
        self.abandon();
        let mut at = self.bytes.len();
        self.bytes.extend_from_slice(packets);
        while let Some([a, b, c, sequence]) = self.bytes[at..].first_chunk_mut() {
            *sequence = self.sequence;
            self.sequence = self.sequence.wrapping_add(1);
            at += HEADER_BYTES + u32::from_le_bytes([*a, *b, *c, 0]) as usize;
        }
    }

    /// The whole packets that have not been sent.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.sent..self.open.unwrap_or(self.bytes.len())]
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }

    /// Whether there is enough for a system call, and no more should be appended before it.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.bytes.len() - self.sent >= self.full
    }

    /// Says that the first `count` of [`PacketWriter::bytes`] were sent.
    pub fn sent(&mut self, count: usize) {
        self.sent += count.min(self.bytes().len());
        if self.sent == self.bytes.len() {
            self.bytes.clear();
            self.sent = 0;
        } else if self.sent > self.full {
            self.bytes.drain(..self.sent);
            self.open = self.open.map(|at| at - self.sent);
            self.sent = 0;
        }
    }

    /// If the buffer is full, has `flush` send some of it. `flush` returns how many bytes it sent.
    pub fn flush_if_full<E>(&mut self, flush: impl FnOnce(&[u8]) -> Result<usize, E>) -> Result<(), E> {
        if self.is_full() {
            let count = flush(self.bytes())?;
            self.sent(count);
        }
        Ok(())
    }

    /// How much is here, to come back to by [`PacketWriter::roll_back`]. Of use until something is sent.
    pub fn mark(&self) -> (usize, u8) {
        (self.open.unwrap_or(self.bytes.len()), self.sequence)
    }

    /// Throws away all packets since `mark`, unless they were sent.
    pub fn roll_back(&mut self, mark: (usize, u8)) {
        self.abandon();
        if mark.0 >= self.sent && mark.0 <= self.bytes.len() {
            self.bytes.truncate(mark.0);
            self.sequence = mark.1;
        }
    }

    /// Takes the buffer, with what was not sent, and leaves none.
    pub fn take(&mut self) -> Vec<u8> {
        self.abandon();
        let sent = std::mem::take(&mut self.sent);
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.drain(..sent);
        bytes
    }

    /// Takes the buffer if nothing is in it, so that an idle connection keeps none.
    pub fn reclaim(&mut self) -> Option<Vec<u8>> {
        if !self.bytes.is_empty() || self.bytes.capacity() == 0 {
            return None;
        }
        Some(std::mem::take(&mut self.bytes))
    }

    /// Gives a buffer to append to. Of no effect if there is one that has bytes.
    pub fn lend(&mut self, buffer: Vec<u8>) {
        if self.bytes.is_empty() {
            self.bytes = buffer;
            self.bytes.clear();
            self.sent = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_made_before_are_numbered_where_they_go() {
        let mut kept = PacketWriter::new();
        kept.packet(|to| to.extend_from_slice(b"abc"));
        kept.packet(|_| ());
        let mut writer = PacketWriter::new();
        writer.set_sequence(254);
        writer.packet(|to| to.push(b'x'));
        writer.packets(&kept.take());
        writer.packet(|to| to.push(b'y'));
        assert_eq!(writer.bytes(), b"\x01\0\0\xFEx\x03\0\0\xFFabc\0\0\0\0\x01\0\0\x01y");
    }

    #[test]
    fn headers_are_filled_in() {
        let mut writer = PacketWriter::new();
        writer.set_sequence(255);
        writer.packet(|to| to.extend_from_slice(b"ab"));
        writer.packet(|_| ());
        assert_eq!(writer.bytes(), b"\x02\0\0\xFFab\0\0\0\0");
    }

    #[test]
    fn an_open_packet_can_be_thrown_away() {
        let mut writer = PacketWriter::new();
        writer.packet(|to| to.push(1));
        let mark = writer.mark();
        writer.begin().push(2);
        assert_eq!(writer.bytes().len(), 5);
        writer.abandon();
        writer.begin().push(3);
        writer.begin().push(4);
        writer.end();
        assert_eq!(writer.bytes(), b"\x01\0\0\0\x01\x01\0\0\x01\x04");
        writer.roll_back(mark);
        assert_eq!((writer.bytes(), writer.sequence()), (&b"\x01\0\0\0\x01"[..], 1));
    }

    #[test]
    fn a_large_reply_is_sent_as_it_grows() {
        let mut writer = PacketWriter::new();
        writer.set_full_bytes(100);
        let mut sent = Vec::new();
        let mut largest = 0;
        for i in 0..1000u32 {
            writer.packet(|to| to.extend_from_slice(&i.to_le_bytes()));
            let flushed = writer.flush_if_full(|bytes| {
                let count = bytes.len().min(77);
                sent.extend_from_slice(&bytes[..count]);
                Ok::<_, ()>(count)
            });
            assert!(flushed.is_ok());
            largest = largest.max(writer.bytes().len());
        }
        sent.extend_from_slice(writer.bytes());
        assert!(largest < 200);
        let expected: Vec<u8> =
            (0..1000u32).flat_map(|i| [vec![4, 0, 0, i as u8], i.to_le_bytes().to_vec()].concat()).collect();
        assert!(sent == expected);
    }
}
