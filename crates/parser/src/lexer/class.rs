//! What a byte can begin, and which words are character sets.

/// What a byte begins.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    Blank,
    Letter,
    Digit,
    Quote,
    Other,
}

pub(super) static CLASS: [Class; 256] = {
    let mut table = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b' ' | 9..=13 => Class::Blank,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | 0x80..=0xFF => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            b'\'' | b'"' | b'`' => Class::Quote,
            _ => Class::Other,
        };
        byte += 1;
    }
    table
};

/// A byte of an unquoted identifier.
pub(super) fn is_word_byte(byte: u8) -> bool {
    matches!(CLASS[byte as usize], Class::Letter | Class::Digit)
}

/// A blank between tokens.
pub(super) fn is_blank(byte: u8) -> bool {
    CLASS[byte as usize] == Class::Blank
}

/// Whether `_` and this word are an introducer.
pub(crate) fn is_character_set(word: &[u8]) -> bool {
    CHARACTER_SETS.iter().any(|name| name.as_bytes().eq_ignore_ascii_case(word))
}

const CHARACTER_SETS: &[&str] = &[
    "utf8mb4", "binary", "utf8mb3", "utf8", "latin1", "ascii", "armscii8", "big5", "cp1250", "cp1251", "cp1256",
    "cp1257", "cp850", "cp852", "cp866", "cp932", "dec8", "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "geostd8",
    "greek", "hebrew", "hp8", "keybcs2", "koi8r", "koi8u", "latin2", "latin5", "latin7", "macce", "macroman", "sjis",
    "swe7", "tis620", "ucs2", "ujis", "utf16", "utf16le", "utf32",
];
