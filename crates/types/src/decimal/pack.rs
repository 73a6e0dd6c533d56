//! How a DECIMAL column is stored: bytes that `memcmp` orders as the numbers are ordered.
//!
//! ```text
//! DECIMAL(p, s): the integer value * 10^s, big-endian, in two's complement, its sign bit turned over
//! ```
//!
//! All values of a column have one scale, so that the integers order as the numbers do. MySQL packs nine digits into
//! four bytes; the integer is as short or shorter (28 bytes against 30 for 65 digits), and needs no division.

use super::wide::Wide;
use super::{Decimal, Sign};

/// Bytes of a column of so many digits (1 to 65).
pub const fn packed_len(precision: u8) -> usize {
    // ceil(log2(10) * digits) bits, and one for the sign. 3402/1024 is a little above log2(10).
    (precision as usize * 3402 / 1024 + 1 + 1).div_ceil(8)
}

impl Decimal {
    /// Appends the stored form of a value that [`Decimal::fit`] has fitted into DECIMAL(`precision`, its scale).
    pub fn append_packed(&self, precision: u8, out: &mut Vec<u8>) {
        let len = packed_len(precision);
        let mut limbs = [self.limbs[0], self.limbs[1], self.limbs[2], u64::from(self.high)];
        if self.is_negative() {
            let mut carry = true;
            for limb in &mut limbs {
                (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
            }
        }
        let start = out.len();
        let mut bytes = [0; 32];
        for (to, limb) in bytes.chunks_exact_mut(8).zip(limbs.iter().rev()) {
            to.copy_from_slice(&limb.to_be_bytes());
        }
        out.extend_from_slice(&bytes[32 - len..]);
        out[start] ^= 0x80;
    }
}

/// Reads the stored form of a column with so many digits after the point. Any bytes name some number.
pub fn unpack(bytes: &[u8], scale: u8) -> Decimal {
    let bytes = &bytes[..bytes.len().min(28)];
    let Some(first) = bytes.first() else { return Decimal::ZERO };
    let negative = first & 0x80 == 0;
    let mut full = [if negative { 0xff } else { 0 }; 32];
    let start = 32 - bytes.len();
    full[start..].copy_from_slice(bytes);
    full[start] ^= 0x80;
    let mut limbs = [0u64; 4];
    for (limb, from) in limbs.iter_mut().rev().zip(full.chunks_exact(8)) {
        *limb = from.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    }
    if negative {
        let mut carry = true;
        for limb in &mut limbs {
            (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
        }
    }
    let scale = scale.min(Decimal::MAX_SCALE);
    if limbs[2] == 0 && limbs[3] == 0 {
        return Decimal::small(u128::from(limbs[0]) | u128::from(limbs[1]) << 64, scale, negative);
    }
    let wide = Wide([limbs[0], limbs[1], limbs[2], limbs[3], 0, 0, 0, 0]);
    let sign = if negative { Sign::Minus } else { Sign::Plus };
    Decimal::from_wide(wide, scale.into(), sign == Sign::Minus).unwrap_or(Decimal::limit(65, scale, negative))
}
