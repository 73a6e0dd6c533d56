//! The tables of weights and of upper and lower case, as `data/generate.py` makes them.
//!
//! A paged table is 16-bit words: how many pages the index has; the index (0xffff: no such page); pages of 256 words;
//! the rest. What the words mean is said by whoever reads them.
//!
//! # Source
//! The weights of UCA 9.0.0 are from the Unicode Character Database, see `data/LICENSE-UNICODE`.

/// A paged table.
#[derive(Clone, Copy)]
pub(super) struct Paged {
    words: &'static [u16],
    /// Where the rest begins.
    rest: usize,
}

const ABSENT: u16 = 0xffff;

impl Paged {
    const fn new(words: &'static [u16]) -> Self {
        let pages = words[0] as usize;
        let (mut page, mut present) = (0, 0);
        while page < pages {
            present += (words[1 + page] != ABSENT) as usize;
            page += 1;
        }
        Self { words, rest: 1 + pages + present * 256 }
    }

    /// The word of a code point, if its page is there.
    #[inline]
    pub fn get(self, code_point: u32) -> Option<u16> {
        let pages = usize::from(self.words[0]);
        let page = (code_point >> 8) as usize;
        if page >= pages || self.words[1 + page] == ABSENT {
            return None;
        }
        self.words.get(1 + pages + usize::from(self.words[1 + page]) * 256 + (code_point & 255) as usize).copied()
    }

    /// The first 128 words, each of which is a weight.
    const fn ascii(self) -> Ascii {
        let first = 1 + self.words[0] as usize + self.words[1] as usize * 256;
        let mut weights = [0; 128];
        let mut i = 0;
        while i < weights.len() {
            weights[i] = self.words[first + i];
            assert!(weights[i] < 0x8000);
            i += 1;
        }
        weights
    }

    /// The list that begins at this place of the rest: a count, and so many words.
    fn list(self, place: usize) -> &'static [u16] {
        let start = self.rest + place;
        let count = self.words.get(start).copied().unwrap_or(0);
        self.words.get(start + 1..start + 1 + usize::from(count)).unwrap_or_default()
    }
}

const fn words<const N: usize>(bytes: &[u8]) -> [u16; N] {
    let mut words = [0; N];
    let mut i = 0;
    while i < N {
        words[i] = bytes[2 * i] as u16 | (bytes[2 * i + 1] as u16) << 8;
        i += 1;
    }
    words
}

macro_rules! paged {
    ($name:ident, $file:literal) => {
        pub(super) static $name: Paged = {
            static WORDS: [u16; include_bytes!($file).len() / 2] = words(include_bytes!($file));
            Paged::new(&WORDS)
        };
    };
}

paged!(WEIGHTS_0900, "../../data/weights_0900.bin");
paged!(WEIGHTS_0520, "../../data/weights_0520.bin");
paged!(WEIGHTS_0400, "../../data/weights_0400.bin");
paged!(WEIGHTS_GENERAL, "../../data/weights_general.bin");
paged!(UPPER_0900, "../../data/upper_0900.bin");
paged!(LOWER_0900, "../../data/lower_0900.bin");
paged!(UPPER_0520, "../../data/upper_0520.bin");
paged!(LOWER_0520, "../../data/lower_0520.bin");
paged!(UPPER_GENERAL, "../../data/upper_general.bin");
paged!(LOWER_GENERAL, "../../data/lower_general.bin");

static LATIN1: &[u8; 2048] = include_bytes!("../../data/latin1.bin");
/// Unicode of each byte of latin1, which is cp1252 with the five holes as control characters.
pub(super) static LATIN1_UNICODE: [u16; 256] = words(include_bytes!("../../data/latin1_unicode.bin"));

/// Something of each byte: its weight, or another case of it.
pub(super) type ByteTable = [u8; 256];

const fn latin1(number: usize) -> &'static ByteTable {
    &LATIN1.as_chunks().0[number]
}

pub(super) static UPPER_LATIN1: &ByteTable = latin1(0);
pub(super) static LOWER_LATIN1: &ByteTable = latin1(1);
pub(super) static LATIN1_SWEDISH: &ByteTable = latin1(2);
pub(super) static LATIN1_GENERAL: &ByteTable = latin1(3);
pub(super) static LATIN1_GENERAL_CS: &ByteTable = latin1(4);
pub(super) static LATIN1_GERMAN1: &ByteTable = latin1(5);
pub(super) static LATIN1_DANISH: &ByteTable = latin1(6);
pub(super) static LATIN1_SPANISH: &ByteTable = latin1(7);

const fn each_byte(in_upper_case: bool) -> ByteTable {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = if in_upper_case { (byte as u8).to_ascii_uppercase() } else { byte as u8 };
        byte += 1;
    }
    table
}

/// Each byte weighs what it is,
pub(super) static BYTES: ByteTable = each_byte(false);
/// or what it is in upper case.
pub(super) static ASCII_UPPER: ByteTable = each_byte(true);

/// The weights of one character.
#[derive(Clone, Copy)]
pub(super) struct Weights {
    words: [u16; 4],
    rest: &'static [u16],
    len: u8,
}

impl Weights {
    #[inline]
    pub const fn one(weight: u16) -> Self {
        Self { words: [weight, 0, 0, 0], rest: &[], len: if weight == 0 { 0 } else { 1 } }
    }

    /// One weight, even if it is zero.
    #[inline]
    pub const fn one_or_zero(weight: u16) -> Self {
        Self { words: [weight, 0, 0, 0], rest: &[], len: 1 }
    }

    const fn two(first: u16, second: u16) -> Self {
        Self { words: [first, second, 0, 0], rest: &[], len: 2 }
    }

    #[inline]
    pub fn as_slice(&self) -> &[u16] {
        if self.rest.is_empty() { &self.words[..usize::from(self.len)] } else { self.rest }
    }
}

/// Which edition of the Unicode Collation Algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Uca {
    /// 4.0.0, the Basic Multilingual Plane: utf8mb4_unicode_ci.
    V400,
    /// 5.2.0, all of Unicode: utf8mb4_unicode_520_ci.
    V520,
    /// 9.0.0: utf8mb4_0900_ai_ci.
    V900,
}

/// The weights of ASCII, one each; 0 for a character that does not count.
pub(super) type Ascii = [u16; 128];

pub(super) static ASCII_0900: Ascii = WEIGHTS_0900.ascii();
static ASCII_0520: Ascii = WEIGHTS_0520.ascii();
static ASCII_0400: Ascii = WEIGHTS_0400.ascii();
pub(super) static ASCII_GENERAL: Ascii = WEIGHTS_GENERAL.ascii();

impl Uca {
    #[inline]
    pub const fn ascii(self) -> &'static Ascii {
        match self {
            Uca::V400 => &ASCII_0400,
            Uca::V520 => &ASCII_0520,
            Uca::V900 => &ASCII_0900,
        }
    }
}

/// The primary weights of a code point.
#[inline]
pub(super) fn uca_weights(uca: Uca, code_point: u32) -> Weights {
    let table = match uca {
        Uca::V900 => WEIGHTS_0900,
        Uca::V520 => WEIGHTS_0520,
        Uca::V400 if code_point > 0xffff => return Weights::one(0xfffd),
        Uca::V400 => WEIGHTS_0400,
    };
    match table.get(code_point) {
        Some(weight) if weight < 0x8000 => Weights::one(weight),
        None | Some(ABSENT) => implicit(uca, code_point),
        Some(place) => Weights { words: [0; 4], rest: table.list(usize::from(place - 0x8000)), len: 0 },
    }
}

fn implicit(uca: Uca, code_point: u32) -> Weights {
    let base = match (uca, code_point) {
        (Uca::V900, 0xac00..=0xd7a3) => return hangul(code_point - 0xac00),
        (Uca::V900, 0x17000..=0x18aff) => return Weights::two(0xfb00, (code_point - 0x17000) as u16 | 0x8000),
        (
            Uca::V900,
            0x4e00..=0x9fd5 | 0xfa0e | 0xfa0f | 0xfa11 | 0xfa13 | 0xfa14 | 0xfa1f | 0xfa21 | 0xfa23 | 0xfa24,
        )
        | (Uca::V900, 0xfa27..=0xfa29)
        | (Uca::V400 | Uca::V520, 0x4e00..=0x9fa5 | 0xfa0e..=0xfa2d)
        | (Uca::V400, 0xfa2e | 0xfa2f) => 0xfb40,
        (_, 0x3400..=0x4db5)
        | (Uca::V900, 0x20000..=0x2a6d6 | 0x2a700..=0x2b734 | 0x2b740..=0x2b81d | 0x2b820..=0x2cea1) => 0xfb80,
        _ => 0xfbc0,
    };
    Weights::two(base + (code_point >> 15) as u16, (code_point & 0x7fff) as u16 | 0x8000)
}

/// A syllable weighs what its letters weigh.
fn hangul(syllable: u32) -> Weights {
    let letters = [0x1100 + syllable / 588, 0x1161 + syllable % 588 / 28, 0x11a7 + syllable % 28];
    let mut weights = Weights { words: [0; 4], rest: &[], len: 0 };
    let present = if syllable.is_multiple_of(28) { 2 } else { 3 };
    for letter in &letters[..present] {
        weights.words[usize::from(weights.len)] = WEIGHTS_0900.get(*letter).unwrap_or(0);
        weights.len += 1;
    }
    weights
}

/// The weight of a code point in general_ci.
#[inline]
pub(super) fn general_weight(code_point: u32) -> u16 {
    match u16::try_from(code_point) {
        Ok(own) => WEIGHTS_GENERAL.get(code_point).unwrap_or(own),
        Err(_) => 0xfffd,
    }
}
