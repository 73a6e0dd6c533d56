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

/// Bytes of so many digits (0 to 9) in MySQL's packed form.
const DIGIT_BYTES: [usize; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];

impl Decimal {
    /// Appends MySQL's own packed form: nine digits in four bytes, the groups counted from the point. It has as many
    /// digits before the point as the number.
    pub(crate) fn append_mysql_packed(&self, out: &mut Vec<u8>) {
        let mut text = Vec::new();
        self.abs().append_text(&mut text);
        let (whole, fraction) = match text.iter().position(|byte| *byte == b'.') {
            Some(point) => (&text[..point], &text[point + 1..]),
            None => (&text[..], &[][..]),
        };
        let start = out.len();
        let mut group = |digits: &[u8]| {
            let number = digits.iter().fold(0u32, |sum, digit| sum * 10 + u32::from(digit - b'0'));
            let len = DIGIT_BYTES[digits.len()];
            out.extend_from_slice(&number.to_be_bytes()[4 - len..]);
        };
        let (first, rest) = whole.split_at(whole.len() % 9);
        group(first);
        rest.chunks(9).for_each(&mut group);
        fraction.chunks(9).for_each(&mut group);
        if self.is_negative() {
            out[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
        if let Some(byte) = out.get_mut(start) {
            *byte ^= 0x80;
        }
    }

    /// Reads precision, scale and MySQL's own packed form.
    pub(crate) fn read_mysql_packed(bytes: &[u8]) -> Option<Decimal> {
        let (&[precision, scale], packed) = bytes.split_first_chunk::<2>()?;
        let whole = usize::from(precision.checked_sub(scale)?);
        if precision > 81 {
            return None;
        }
        let negative = packed.first()? & 0x80 == 0;
        let mut text = Vec::with_capacity(90);
        if negative {
            text.push(b'-');
        }
        let mut at = 0;
        let mut group = |digits: usize, text: &mut Vec<u8>| {
            let len = DIGIT_BYTES[digits];
            let mut number = 0u32;
            for place in at..at + len {
                let mut byte = *packed.get(place)?;
                if place == 0 {
                    byte ^= 0x80;
                }
                number = number << 8 | u32::from(if negative { !byte } else { byte });
            }
            at += len;
            crate::integer::append_unsigned(number.into(), digits, text);
            Some(())
        };
        let fraction = usize::from(scale);
        if whole % 9 > 0 {
            group(whole % 9, &mut text)?;
        }
        (0..whole / 9).try_for_each(|_| group(9, &mut text))?;
        if whole == 0 {
            text.push(b'0');
        }
        if fraction > 0 {
            text.push(b'.');
            (0..fraction / 9).try_for_each(|_| group(9, &mut text))?;
            if fraction % 9 > 0 {
                group(fraction % 9, &mut text)?;
            }
        }
        Some(Decimal::parse(&text).value)
    }
}
