//! What literals say: escapes undone, digits made bytes.
//!
//! A text without escapes is borrowed from the statement; else it is decoded into the arena.
//!
//! Source: the manual's "String Literals", "Hexadecimal Literals", "Bit-Value Literals".

use bumpalo::Bump;

/// The text between the quotes of `inner`, with doubled quotes and (if `backslashes`) escapes undone.
pub(crate) fn decode_string<'a>(arena: &'a Bump, inner: &[u8], quote: u8, backslashes: bool) -> &'a [u8] {
    let mut out = bumpalo::collections::Vec::with_capacity_in(inner.len(), arena);
    let mut bytes = inner.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte == quote {
            bytes.next();
            out.push(quote);
        } else if byte == b'\\' && backslashes {
            match bytes.next() {
                Some(b'n') => out.push(b'\n'),
                Some(b't') => out.push(b'\t'),
                Some(b'r') => out.push(b'\r'),
                Some(b'b') => out.push(8),
                Some(b'0') => out.push(0),
                Some(b'Z') => out.push(26),
                // These two keep their backslash, for patterns of LIKE.
                Some(wildcard @ (b'_' | b'%')) => out.extend_from_slice(&[b'\\', wildcard]),
                Some(other) => out.push(other),
                None => {}
            }
        } else {
            out.push(byte);
        }
    }
    out.into_bump_slice()
}

fn hex_digit(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        b'a'..=b'f' => byte - b'a' + 10,
        _ => byte.wrapping_sub(b'A').wrapping_add(10) & 15,
    }
}

/// Hexadecimal digits as bytes; an odd number of them begins with half a byte.
pub(crate) fn decode_hex<'a>(arena: &'a Bump, digits: &[u8]) -> &'a [u8] {
    let mut out = bumpalo::collections::Vec::with_capacity_in(digits.len().div_ceil(2), arena);
    let (odd, pairs) = digits.split_at(digits.len() % 2);
    out.extend(odd.iter().map(|digit| hex_digit(*digit)));
    out.extend(pairs.chunks_exact(2).map(|pair| hex_digit(pair[0]) << 4 | hex_digit(pair[1])));
    out.into_bump_slice()
}

/// Binary digits as bytes, filled with zeros at the left.
pub(crate) fn decode_bits<'a>(arena: &'a Bump, digits: &[u8]) -> &'a [u8] {
    let length = digits.len().div_ceil(8);
    let out = arena.alloc_slice_fill_copy(length, 0u8);
    for (place, digit) in digits.iter().rev().enumerate() {
        out[length - 1 - place / 8] |= (digit & 1) << (place % 8);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone_as_mysql_does() {
        let arena = Bump::new();
        for (inner, backslashes, expected) in [
            (&b"a\\nb"[..], true, &b"a\nb"[..]),
            (b"a\\nb", false, b"a\\nb"),
            (b"it''s", true, b"it's"),
            (b"\\%\\_\\x\\0\\Z\\\\", true, b"\\%\\_x\0\x1A\\"),
            (b"\\'", true, b"'"),
        ] {
            assert_eq!(decode_string(&arena, inner, b'\'', backslashes), expected);
        }
    }

    #[test]
    fn digits_become_bytes() {
        let arena = Bump::new();
        assert_eq!(decode_hex(&arena, b"4d4"), [0x04, 0xd4]);
        assert_eq!(decode_hex(&arena, b"4D"), [0x4d]);
        assert_eq!(decode_bits(&arena, b"100000001"), [1, 1]);
        assert_eq!(decode_bits(&arena, b""), [0u8; 0]);
    }
}
