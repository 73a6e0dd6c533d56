//! The compressed protocol: the stream of packets, cut anywhere, in compressed packets.
//!
//! ```text
//! length3 sequence1 plain3 | zlib or zstd, `length` bytes, of `plain` bytes
//!                   000000 | `length` bytes as they are: what is short is not worth it
//! ```
//!
//! It begins with the packet after the handshake's OK. The states of the algorithms are large (some 300 KiB) and keep
//! nothing between packets; they are in a [`Codec`] of which a worker has one. What a connection has of its own,
//! [`CompressedSender`] and [`CompressedReceiver`], is a few bytes.
//!
//! ```text
//! socket -> CompressedReceiver::feed(bytes, codec, receiver) -> Receiver::next_packet
//! PacketWriter::bytes -> CompressedSender::compress(bytes, codec, out) -> socket
//! ```
//!
//! Invariants:
//! 1. What comes out is exactly as long as the header promised, or the stream is refused. Memory is taken as bytes
//!    come out, not as a header promises.
//! 2. A promise beyond what `max_allowed_packet` can need is refused before anything is decompressed.
//!
//! When it fails: error 1157 (or 1156, 1153), and the connection ends.
//!
//! Source: "Compression" of the MySQL source documentation; RFC 1950 and 8878 by way of the libraries.

use flate2::{Compress, Compression as Level, Decompress, FlushCompress, FlushDecompress, Status};
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use crate::error::{ProtocolError, Result};
use crate::receive::{PART_BYTES, Receiver};

const HEADER_BYTES: usize = 7;
/// Less than this is sent as it is.
const WORTH_BYTES: usize = 50;
/// What a compressed packet may have beyond `max_allowed_packet`: headers, and small packets before a large one.
const SLACK_BYTES: usize = 1 << 20;
/// The largest window of zstd that is followed: a compressed packet cannot need more.
const WINDOW_LOG: u32 = 24;

/// How a connection compresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// zlib, at its usual level.
    Zlib,
    /// zstd at a level of 1 to 22.
    Zstd(u8),
}

/// The states of the algorithms. Made when first needed; one for each worker.
#[derive(Default)]
pub struct Codec {
    deflate: Option<Compress>,
    inflate: Option<Decompress>,
    zstd_compress: Option<(u8, zstd::bulk::Compressor<'static>)>,
    zstd_decompress: Option<Decoder<'static>>,
    scratch: Vec<u8>,
}

impl std::fmt::Debug for Codec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Codec").finish_non_exhaustive()
    }
}

impl Codec {
    /// Nothing allocated yet.
    pub fn new() -> Codec {
        Codec::default()
    }

    /// Leaves `plain` compressed in `scratch`; returns whether that made it shorter.
    fn compress(&mut self, algorithm: Algorithm, plain: &[u8]) -> bool {
        self.scratch.clear();
        // What does not fit is not shorter: sent as it is.
        self.scratch.reserve(plain.len());
        match algorithm {
            Algorithm::Zlib => {
                let deflate = self.deflate.get_or_insert_with(|| Compress::new(Level::default(), true));
                deflate.reset();
                let status = deflate.compress_vec(plain, &mut self.scratch, FlushCompress::Finish);
                matches!(status, Ok(Status::StreamEnd)) && self.scratch.len() < plain.len()
            }
            Algorithm::Zstd(level) => {
                if self.zstd_compress.as_ref().is_none_or(|(made, _)| *made != level) {
                    let level_in_range = i32::from(level).clamp(1, 22);
                    let Ok(compressor) = zstd::bulk::Compressor::new(level_in_range) else { return false };
                    self.zstd_compress = Some((level, compressor));
                }
                let Some((_, compressor)) = &mut self.zstd_compress else { return false };
                compressor.compress_to_buffer(plain, &mut self.scratch).is_ok() && self.scratch.len() < plain.len()
            }
        }
    }

    /// Decompresses `from` to exactly `length` bytes of `to`.
    fn decompress(&mut self, algorithm: Algorithm, from: &[u8], length: usize, to: &mut Receiver) -> Result<()> {
        match algorithm {
            Algorithm::Zlib => self.inflate(from, length, to),
            Algorithm::Zstd(_) => self.decompress_zstd(from, length, to),
        }
    }

    fn inflate(&mut self, from: &[u8], length: usize, to: &mut Receiver) -> Result<()> {
        let inflate = self.inflate.get_or_insert_with(|| Decompress::new(true));
        inflate.reset(true);
        let (mut taken, mut made) = (0, 0);
        loop {
            let room = to.room();
            // One byte more than is due has room, so that a stream that goes on is seen to.
            let limit = room.len().min(length - made + 1);
            let (taken_before, made_before) = (inflate.total_in(), inflate.total_out());
            let status = inflate
                .decompress(&from[taken..], &mut room[..limit], FlushDecompress::None)
                .map_err(|_| ProtocolError::Decompress)?;
            let now_taken = (inflate.total_in() - taken_before) as usize;
            let now_made = (inflate.total_out() - made_before) as usize;
            taken += now_taken;
            made += now_made;
            if made > length {
                return Err(ProtocolError::Decompress);
            }
            to.filled(now_made);
            if status == Status::StreamEnd {
                let exact = made == length && taken == from.len();
                return if exact { Ok(()) } else { Err(ProtocolError::Decompress) };
            }
            if now_taken == 0 && now_made == 0 {
                return Err(ProtocolError::Decompress);
            }
        }
    }

    fn decompress_zstd(&mut self, from: &[u8], length: usize, to: &mut Receiver) -> Result<()> {
        if self.zstd_decompress.is_none() {
            let mut decoder = Decoder::new().map_err(|_| ProtocolError::Decompress)?;
            decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG)).map_err(|_| ProtocolError::Decompress)?;
            self.zstd_decompress = Some(decoder);
        }
        let Some(decoder) = &mut self.zstd_decompress else { return Err(ProtocolError::Decompress) };
        decoder.reinit().map_err(|_| ProtocolError::Decompress)?;
        let mut input = InBuffer::around(from);
        let mut made = 0;
        loop {
            let room = to.room();
            let limit = room.len().min(length - made + 1);
            let taken_before = input.pos();
            let mut output = OutBuffer::around(&mut room[..limit]);
            let hint = decoder.run(&mut input, &mut output).map_err(|_| ProtocolError::Decompress)?;
            let now_made = output.pos();
            made += now_made;
            if made > length {
                return Err(ProtocolError::Decompress);
            }
            to.filled(now_made);
            if hint == 0 {
                let exact = made == length && input.pos() == from.len();
                return if exact { Ok(()) } else { Err(ProtocolError::Decompress) };
            }
            if now_made == 0 && input.pos() == taken_before {
                return Err(ProtocolError::Decompress);
            }
        }
    }
}

/// Wraps what is sent.
#[derive(Debug, Clone)]
pub struct CompressedSender {
    algorithm: Algorithm,
    sequence: u8,
}

impl CompressedSender {
    /// A sender whose first compressed packet has number 0.
    pub fn new(algorithm: Algorithm) -> CompressedSender {
        CompressedSender { algorithm, sequence: 0 }
    }

    /// The number of the next compressed packet.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Sets the number of the next compressed packet: 0 before a command, else one more than the last that came.
    pub fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// Appends `plain` (packets, or pieces of them) to `out` in compressed packets.
    pub fn compress(&mut self, plain: &[u8], codec: &mut Codec, out: &mut Vec<u8>) {
        for plain in plain.chunks(PART_BYTES) {
            let shorter = plain.len() >= WORTH_BYTES && codec.compress(self.algorithm, plain);
            let (body, plain_length) = if shorter { (&codec.scratch[..], plain.len()) } else { (plain, 0) };
            let [a, b, c, _] = (body.len() as u32).to_le_bytes();
            let [d, e, f, _] = (plain_length as u32).to_le_bytes();
            out.extend_from_slice(&[a, b, c, self.sequence, d, e, f]);
            out.extend_from_slice(body);
            self.sequence = self.sequence.wrapping_add(1);
        }
        if codec.scratch.capacity() > SLACK_BYTES {
            codec.scratch = Vec::new();
        }
    }
}

/// Unwraps what comes.
#[derive(Debug)]
pub struct CompressedReceiver {
    algorithm: Algorithm,
    sequence: u8,
    /// The beginning of a compressed packet that is not whole yet.
    partial: Vec<u8>,
}

impl CompressedReceiver {
    /// A receiver that waits for compressed packet 0. The [`Receiver`] behind it is to check no sequence numbers.
    pub fn new(algorithm: Algorithm) -> CompressedReceiver {
        CompressedReceiver { algorithm, sequence: 0, partial: Vec::new() }
    }

    /// The number of the next compressed packet.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Says which number is due.
    pub fn expect_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// Unwraps whole compressed packets into `receiver` and keeps the beginning of one that is not.
    ///
    /// # Errors
    /// [`ProtocolError::OutOfOrder`], [`ProtocolError::PacketTooLarge`], [`ProtocolError::Decompress`].
    pub fn feed(&mut self, bytes: &[u8], codec: &mut Codec, receiver: &mut Receiver) -> Result<()> {
        if self.partial.is_empty() {
            let taken = self.take_whole(bytes, codec, receiver)?;
            self.partial.extend_from_slice(&bytes[taken..]);
            return Ok(());
        }
        let mut partial = std::mem::take(&mut self.partial);
        partial.extend_from_slice(bytes);
        let taken = self.take_whole(&partial, codec, receiver)?;
        if taken < partial.len() {
            partial.drain(..taken);
            self.partial = partial;
        }
        Ok(())
    }

    /// Unwraps what is whole at the front; returns how much that was.
    fn take_whole(&mut self, bytes: &[u8], codec: &mut Codec, receiver: &mut Receiver) -> Result<usize> {
        let mut taken = 0;
        while let Some((&[a, b, c, sequence, d, e, f], rest)) = bytes[taken..].split_first_chunk::<HEADER_BYTES>() {
            let length = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
            let plain_length = usize::from(d) | usize::from(e) << 8 | usize::from(f) << 16;
            if sequence != self.sequence {
                return Err(ProtocolError::OutOfOrder { expected: self.sequence, got: sequence });
            }
            if length.max(plain_length) > receiver.max_allowed_packet().saturating_add(SLACK_BYTES) {
                return Err(ProtocolError::PacketTooLarge);
            }
            let Some(body) = rest.get(..length) else { break };
            if plain_length == 0 {
                receiver.feed(body);
            } else {
                codec.decompress(self.algorithm, body, plain_length, receiver)?;
            }
            self.sequence = sequence.wrapping_add(1);
            taken += HEADER_BYTES + length;
        }
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::send::PacketWriter;

    const BOTH: [Algorithm; 2] = [Algorithm::Zlib, Algorithm::Zstd(3)];

    fn receiver() -> Receiver {
        let mut receiver = Receiver::new(32 << 20);
        receiver.set_sequence_checked(false);
        receiver
    }

    #[test]
    fn packets_come_back() {
        for algorithm in BOTH {
            let mut codec = Codec::new();
            let mut writer = PacketWriter::new();
            let sent: Vec<Vec<u8>> = [0, 10, 49, 50, 51, 1000, 100_000, PART_BYTES + 5]
                .map(|length| (0..length).map(|i| (i % 251 * (i >> 12)) as u8).collect())
                .to_vec();
            for payload in &sent {
                writer.packet(|to| to.extend_from_slice(payload));
            }
            let mut sender = CompressedSender::new(algorithm);
            let mut out = Vec::new();
            for bytes in writer.bytes().chunks(PART_BYTES - 100) {
                sender.compress(bytes, &mut codec, &mut out);
            }
            assert!(out.len() < writer.bytes().len() / 2, "{}", out.len());
            let mut compressed = CompressedReceiver::new(algorithm);
            let mut receiver = receiver();
            let mut got = Vec::new();
            for bytes in out.chunks(70_001) {
                compressed.feed(bytes, &mut codec, &mut receiver).unwrap();
                while let Some(packet) = receiver.next_packet().unwrap() {
                    got.push(packet.payload.to_vec());
                }
            }
            assert!(got == sent);
            assert_eq!(compressed.sequence(), sender.sequence());
            assert!(compressed.partial.capacity() == 0 || compressed.partial.is_empty());
        }
    }

    #[test]
    fn lengths_that_lie_are_refused() {
        for algorithm in BOTH {
            let mut codec = Codec::new();
            let mut out = Vec::new();
            CompressedSender::new(algorithm).compress(&[7; 10_000], &mut codec, &mut out);
            for lie in [1u32, 9_999, 10_001, 0xFF_FFFF] {
                let mut wrong = out.clone();
                wrong[4..7].copy_from_slice(&lie.to_le_bytes()[..3]);
                let mut receiver = receiver();
                let refused = CompressedReceiver::new(algorithm).feed(&wrong, &mut codec, &mut receiver);
                assert_eq!(refused, Err(ProtocolError::Decompress), "{lie} {algorithm:?}");
            }
            let mut cut = out.clone();
            cut.pop();
            cut[0] -= 1;
            let refused = CompressedReceiver::new(algorithm).feed(&cut, &mut codec, &mut receiver());
            assert_eq!(refused, Err(ProtocolError::Decompress));
            let mut longer = out.clone();
            longer.push(0);
            longer[0] += 1;
            let refused = CompressedReceiver::new(algorithm).feed(&longer, &mut codec, &mut receiver());
            assert_eq!(refused, Err(ProtocolError::Decompress));
            // And the codec is of use afterwards.
            assert_eq!(CompressedReceiver::new(algorithm).feed(&out, &mut codec, &mut receiver()), Ok(()));
        }
    }

    #[test]
    fn a_bomb_is_refused_before_it_goes_off() {
        let mut codec = Codec::new();
        let mut out = Vec::new();
        CompressedSender::new(Algorithm::Zlib).compress(&vec![0; PART_BYTES], &mut codec, &mut out);
        assert!(out.len() < 100_000);
        let mut small = Receiver::new(1 << 20);
        let refused = CompressedReceiver::new(Algorithm::Zlib).feed(&out, &mut codec, &mut small);
        assert_eq!(refused, Err(ProtocolError::PacketTooLarge));
        assert!(!small.has_buffer());
    }
}
