//! A string of bytes inside a key, so that its end can be seen and the order stays.
//!
//! ```text
//!   byte 0x00  ->  01 01                 "a\0b"  ->  61 01 01 62 00
//!   byte 0x01  ->  01 02                 "a"     ->  61 00
//!   the end    ->  00                    ""      ->  00
//! ```
//!
//! Why the order stays: the end is below every byte that can stand in its place, so a string comes before those that it
//! is the beginning of; an escaped byte begins with 01, below every byte that is not escaped, and 00 and 01 keep their
//! order in its second byte.
//!
//! The usual way (00 -> 00 FF, the end 00 00) escapes one byte fewer and has an end of two bytes. Text has neither 00
//! nor 01, and weights have few: a short end is the better bargain. FoundationDB's (the end 00 alone) needs a next part
//! that never begins with FF; ours may.
//!
//! # Invariants
//! 1. 00 stands at the end only, so the end is the first 00.
//! 2. The escape of a beginning is a beginning of the escape.
//! 3. Every other way to write a string is refused, so equal strings are equal bytes.
//!
//! In a descending part every byte is inverted; *mask* (00 or FF) says so.

use super::error::Corrupt;

/// The end of a string.
pub(super) const END: u8 = 0;
const ESCAPE: u8 = 1;
const ONES: u64 = 0x0101_0101_0101_0101;
const TOP_BITS: u64 = 0x80 * ONES;

/// Appends the string without its end.
pub(super) fn append(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len() + 1);
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        if has_special(u64::from_le_bytes(*word)) { append_each(word, out) } else { out.extend_from_slice(word) }
    }
    append_each(rest, out);
}

fn append_each(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in bytes {
        if byte <= ESCAPE {
            out.extend_from_slice(&[ESCAPE, byte + 1]);
        } else {
            out.push(byte);
        }
    }
}

/// Whether one of eight bytes is 00 or 01: the one that borrows in the subtraction while its own top bit is not set.
fn has_special(word: u64) -> bool {
    word.wrapping_sub(2 * ONES) & !word & TOP_BITS != 0
}

/// Where a byte first is. Eight at a time: the way from a secondary key to its row begins with this.
fn find(byte: u8, bytes: &[u8]) -> Option<usize> {
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word) ^ (u64::from(byte) * ONES);
        // The lowest bit here is that of the first byte that is zero; above it there may be false ones.
        let zeros = word.wrapping_sub(ONES) & !word & TOP_BITS;
        if zeros != 0 {
            return Some(8 * index + zeros.trailing_zeros() as usize / 8);
        }
    }
    rest.iter().position(|&other| other == byte).map(|at| 8 * words.len() + at)
}

/// Splits what is escaped from what follows the end.
pub(super) fn split(key: &[u8], mask: u8) -> Result<(&[u8], &[u8]), Corrupt> {
    let end = find(END ^ mask, key).ok_or(Corrupt::Truncated)?;
    Ok((&key[..end], &key[end + 1..]))
}

/// Whether escaped bytes are the string itself.
pub(super) fn is_plain(escaped: &[u8], mask: u8) -> bool {
    mask == 0 && !escaped.contains(&ESCAPE)
}

/// Writes the string to the front of `to`, which is at least as long as what is escaped; returns its length.
pub(super) fn unescape(escaped: &[u8], mask: u8, to: &mut [u8]) -> Result<usize, Corrupt> {
    let mut bytes = escaped.iter().map(|byte| byte ^ mask);
    let mut len = 0;
    while let Some(byte) = bytes.next() {
        to[len] = match byte {
            ESCAPE => match bytes.next() {
                Some(1) => 0,
                Some(2) => 1,
                _ => return Err(Corrupt::Escape),
            },
            byte => byte,
        };
        len += 1;
    }
    Ok(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        append(bytes, &mut out);
        out.push(END);
        out
    }

    #[test]
    fn strings_keep_their_order_and_come_back() {
        let mut strings: Vec<Vec<u8>> = vec![vec![]];
        // All strings of up to four of the bytes that could go wrong.
        for _ in 0..4 {
            let longer = strings.iter().flat_map(|string| [0, 1, 2, 0xff].map(|byte| [&string[..], &[byte]].concat()));
            let longer: Vec<_> = longer.collect();
            strings.extend(longer);
        }
        strings.sort();
        strings.dedup();
        let keys: Vec<_> = strings.iter().map(|string| escaped(string)).collect();
        assert!(keys.is_sorted_by(|a, b| a < b));
        for (string, key) in strings.iter().zip(&keys) {
            for mask in [0, 0xff] {
                let key: Vec<u8> = key.iter().map(|byte| byte ^ mask).chain([7]).collect();
                let (inner, rest) = split(&key, mask).expect("it has an end");
                assert_eq!(rest, [7]);
                let mut to = vec![0; inner.len()];
                let len = unescape(inner, mask, &mut to).expect("it was escaped");
                assert_eq!(&to[..len], string);
                assert_eq!(is_plain(inner, mask), inner == string && mask == 0);
            }
        }
    }

    #[test]
    fn a_special_byte_is_seen_wherever_it_is_among_eight() {
        for byte in [0, 1, 2, 3, 0x7f, 0x80, 0x81, 0xff] {
            for other in [2, 3, 0x7f, 0x80, 0x81, 0xff] {
                for at in 0..8 {
                    let mut word = [other; 8];
                    word[at] = byte;
                    assert_eq!(has_special(u64::from_le_bytes(word)), byte <= 1, "{word:?}");
                    // Behind the place where it is, anything may be.
                    let bytes = [&word[..], &[byte, byte ^ 1, byte]].concat();
                    for wanted in [byte, byte ^ 1, other] {
                        let expected = bytes.iter().position(|&byte| byte == wanted);
                        assert_eq!(find(wanted, &bytes), expected, "{wanted} in {bytes:?}");
                        assert_eq!(find(wanted, &bytes[..8]), expected.filter(|&at| at < 8), "{wanted} in {word:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_never_written_is_refused() {
        assert_eq!(split(&[0x61, 0x62], 0), Err(Corrupt::Truncated));
        for escaped in [&[0x61, 1][..], &[1, 3], &[1, 0xff]] {
            assert_eq!(unescape(escaped, 0, &mut [0; 4]), Err(Corrupt::Escape));
        }
    }
}
