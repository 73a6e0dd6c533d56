//! The log on disk: a row of blocks of 512 bytes, each checked on its own.
//!
//! ```text
//!   0        4       6     8          16            24      28    32
//!  +--------+-------+-----+----------+-------------+-------+-----+-------------------------+
//!  | crc32c | len   | (0) | number   | durable LSN | epoch | (0) | 480 bytes of payload    |
//!  +--------+-------+-----+----------+-------------+-------+-----+-------------------------+
//! ```
//!
//! An LSN counts payload bytes: position `lsn` is byte `lsn % 480` of block `lsn / 480`. The crc covers everything
//! after itself. *Number* is the block's own, so that a block of an earlier round of the ring is not mistaken for
//! a new one. *Epoch* grows with every opening of the store, so that blocks written before a crash, behind the
//! place where recovery stopped, are not mistaken for a continuation. *Durable LSN* is what was known to be synced
//! when the block was written: if a damaged block lies below it, the damage is no torn tail but corruption. A block of
//! length 0 exists only to say this, see `voucher`.
//!
//! A block is rewritten with more payload while it fills. Its earlier bytes do not change, so a device that writes
//! 512-byte sectors whole never loses what was durable (docs/media.md).

use crate::ids::Lsn;
use crate::page::crc32c;

/// Bytes of a block on disk: the smallest sector of the devices we know.
pub const BLOCK_LEN: usize = 512;
/// Bytes of a block's header.
pub const BLOCK_HEADER_LEN: usize = 32;
/// Bytes of log in a block.
pub const BLOCK_PAYLOAD: usize = BLOCK_LEN - BLOCK_HEADER_LEN;

// Record headers are words of eight bytes at multiples of eight, and never straddle blocks.
const _: () = assert!(BLOCK_PAYLOAD.is_multiple_of(8));

/// A block's header, without its checksum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockHeader {
    /// Payload bytes in use.
    pub len: usize,
    /// Which block this is.
    pub number: u64,
    /// What was durable when the block was written.
    pub durable: Lsn,
    /// The opening of the store that wrote it.
    pub epoch: u32,
}

/// The block that holds a position.
pub fn block_of(lsn: Lsn) -> u64 {
    lsn.0 / BLOCK_PAYLOAD as u64
}

/// The position of a block's first payload byte.
pub fn block_start(number: u64) -> Lsn {
    Lsn(number * BLOCK_PAYLOAD as u64)
}

/// The first block boundary at or after a position.
pub fn round_up(lsn: Lsn) -> Lsn {
    block_start(lsn.0.div_ceil(BLOCK_PAYLOAD as u64))
}

/// Writes header and checksum into a block whose payload is in place.
pub fn seal(block: &mut [u8], header: BlockHeader) {
    block[4..6].copy_from_slice(&(header.len as u16).to_le_bytes());
    block[6..8].fill(0);
    block[8..16].copy_from_slice(&header.number.to_le_bytes());
    block[16..24].copy_from_slice(&header.durable.0.to_le_bytes());
    block[24..28].copy_from_slice(&header.epoch.to_le_bytes());
    block[28..32].fill(0);
    let crc = crc32c(&block[4..BLOCK_LEN]);
    block[..4].copy_from_slice(&crc.to_le_bytes());
}

/// Reads and checks a block, whatever its bytes are; `None` if it is not a whole block.
pub fn open(block: &[u8]) -> Option<BlockHeader> {
    let word = |at: usize| u32::from_le_bytes(block[at..at + 4].try_into().expect("four bytes"));
    let long = |at: usize| u64::from_le_bytes(block[at..at + 8].try_into().expect("eight bytes"));
    if block.len() != BLOCK_LEN || word(0) != crc32c(&block[4..]) {
        return None;
    }
    let header = BlockHeader {
        len: usize::from(u16::from_le_bytes([block[4], block[5]])),
        number: long(8),
        durable: Lsn(long(16)),
        epoch: word(24),
    };
    (header.len <= BLOCK_PAYLOAD).then_some(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_comes_back_and_a_flipped_bit_does_not() {
        let mut block = [7; BLOCK_LEN];
        let header = BlockHeader { len: 480, number: 3, durable: Lsn(1000), epoch: 2 };
        seal(&mut block, header);
        assert_eq!(open(&block), Some(header));
        for bit in 0..BLOCK_LEN * 8 {
            block[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(open(&block), None, "bit {bit}");
            block[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn positions_agree() {
        assert_eq!(block_of(Lsn(479)), 0);
        assert_eq!(block_of(Lsn(480)), 1);
        assert_eq!(round_up(Lsn(481)), Lsn(960));
        assert_eq!(round_up(Lsn(960)), Lsn(960));
    }
}
