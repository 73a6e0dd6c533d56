//! Numbers as bytes, small ones as few: LEB128, seven bits a byte, the lowest first.
//!
//! Source: DWARF Debugging Information Format 5, 7.6 (unsigned).

use crate::row::Corrupt;

/// Appends a number.
#[inline]
pub fn append(mut number: usize, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number off the front. Errors: `Truncated`; `too_long`, if it has more bytes than any number.
#[inline]
pub fn take(bytes: &mut &[u8], too_long: Corrupt) -> Result<usize, Corrupt> {
    let mut number = 0;
    for shift in (0..usize::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or(Corrupt::Truncated)?;
        *bytes = rest;
        number |= usize::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(too_long)
}
