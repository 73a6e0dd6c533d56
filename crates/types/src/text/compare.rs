//! Order, equality and sort key of texts under a collation.
//!
//! ```text
//! sort key, NO PAD      the weights, big-endian
//! sort key, PAD SPACE   the weights; each run of blanks as: blank, what follows, how many
//!                       what follows: 1 something below a blank, 2 the end, 3 something above it
//! ```
//!
//! A text of a PAD SPACE collation is compared as if it went on in blanks for ever. In the key a run of blanks says at
//! once whether the text leaves it downwards, never, or upwards; the longer run is the larger in the first case and the
//! smaller in the last.
//!
//! # Invariants
//! 1. `compare(a, b)` is the order of the bytes of the sort keys of `a` and `b`.
//! 2. Bytes that are no character weigh more than any character, in the order of the bytes.
//!
//! # Source
//! Unicode Technical Standard 10; MySQL Reference Manual, "The binary Collation Compared to _bin Collations" (for
//! blanks).

use std::cmp::Ordering;
use std::io;

use super::charset::Charset;
use super::collation::{Collation, Method, Pad};
use super::table::{ASCII_0900, ASCII_GENERAL, Ascii, ByteTable, Uca, Weights, general_weight, uca_weights};

/// The weights of a text, one after the other.
struct Stream<'a> {
    text: &'a [u8],
    charset: Charset,
    method: Method,
    ascii: Option<&'static Ascii>,
    current: Weights,
    at: usize,
}

impl<'a> Stream<'a> {
    fn new(collation: Collation, text: &'a [u8]) -> Self {
        let method = collation.method();
        Self { text, charset: collation.charset(), method, ascii: method.ascii(), current: Weights::one(0), at: 0 }
    }

    /// Whether all weights of the characters before `text` have been taken.
    fn is_between_characters(&self) -> bool {
        self.at >= self.current.as_slice().len()
    }
}

/// The weights of the character at the front of a text, and its length.
#[inline]
pub(super) fn character_weights(charset: Charset, method: Method, text: &[u8]) -> (Weights, usize) {
    let first = text[0];
    match method {
        Method::Bytes => (Weights::one(u16::from(first) + 1), 1),
        Method::ByteTable(weights) => (Weights::one(u16::from(weights[usize::from(first)]) + 1), 1),
        Method::General if first < 0x80 => (Weights::one_or_zero(ASCII_GENERAL[usize::from(first)]), 1),
        Method::General => match charset.decode(text) {
            (Some(code_point), len) => (Weights::one_or_zero(general_weight(code_point)), len),
            (None, len) => (Weights::one(0xff00 + u16::from(first)), len.max(1)),
        },
        Method::Uca(uca) if first < 0x80 => (Weights::one(uca.ascii()[usize::from(first)]), 1),
        Method::Uca(uca) => match charset.decode(text) {
            (Some(code_point), len) => (uca_weights(uca, code_point), len),
            (None, len) => (Weights::one(0xff00 + u16::from(first)), len.max(1)),
        },
    }
}

impl Iterator for Stream<'_> {
    type Item = u16;

    #[inline]
    fn next(&mut self) -> Option<u16> {
        loop {
            if let Some(weight) = self.current.as_slice().get(self.at) {
                self.at += 1;
                return Some(*weight);
            }
            let (first, rest) = self.text.split_first()?;
            if let Some(weight) =
                self.ascii.and_then(|weights| weights.get(usize::from(*first))).filter(|weight| **weight != 0)
            {
                self.text = rest;
                return Some(*weight);
            }
            let (weights, len) = character_weights(self.charset, self.method, self.text);
            self.text = &self.text[len..];
            self.current = weights;
            self.at = 0;
        }
    }
}

/// Where two texts begin to differ.
#[inline]
fn common_bytes(left: &[u8], right: &[u8]) -> usize {
    let (left_words, right_words) = (left.as_chunks::<8>().0, right.as_chunks::<8>().0);
    let mut at = 0;
    for (a, b) in left_words.iter().zip(right_words) {
        let difference = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if difference != 0 {
            return at + difference.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at + left[at..].iter().zip(&right[at..]).take_while(|(a, b)| a == b).count()
}

/// The beginning of the character, in both, that the byte at this place is of.
#[inline]
fn back_to_character(charset: Charset, left: &[u8], right: &[u8], mut at: usize) -> usize {
    if charset.is_unicode() {
        let inside = |at: usize| {
            left.get(at).is_some_and(|byte| byte & 0xc0 == 0x80)
                || right.get(at).is_some_and(|byte| byte & 0xc0 == 0x80)
        };
        while at > 0 && inside(at) {
            at -= 1;
        }
    }
    at
}

/// The order of two texts whose bytes weigh so, as if both went on in blanks for ever.
#[inline]
fn compare_padded_bytes(weights: &ByteTable, left: &[u8], right: &[u8]) -> Ordering {
    let same = common_bytes(left, right);
    let (left, right) = (&left[same..], &right[same..]);
    let weight = |byte: u8| weights[usize::from(byte)];
    let mut orders = left.iter().zip(right).map(|(a, b)| weight(*a).cmp(&weight(*b)));
    orders.find(|order| order.is_ne()).unwrap_or_else(|| {
        let both = left.len().min(right.len());
        let beside_blanks = |rest: &[u8]| {
            let mut orders = rest.iter().map(|byte| weight(*byte).cmp(&weight(b' ')));
            orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        beside_blanks(&left[both..]).then(beside_blanks(&right[both..]).reverse())
    })
}

/// Writes the sort key of a text whose bytes weigh so, where blanks at the end do not count; ends early where no more is taken.
fn write_padded_bytes(weights: &ByteTable, text: &[u8], mut out: impl io::Write) -> io::Result<()> {
    let weight = |byte: u8| weights[usize::from(byte)];
    let blank = weight(b' ');
    let (mut rest, mut buffer) = (text, [0; 64]);
    loop {
        let word = rest.iter().position(|byte| weight(*byte) == blank).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(word);
        for part in word.chunks(buffer.len()) {
            buffer.iter_mut().zip(part).for_each(|(to, byte)| *to = weight(*byte));
            out.write_all(&buffer[..part.len()])?;
        }
        let Some(run) = behind.iter().position(|byte| weight(*byte) != blank) else {
            return out.write_all(&[blank, 2]);
        };
        rest = &behind[run..];
        out.write_all(&[blank])?;
        out.write_all(&end_of_blanks(run as u32, weight(rest[0]) < blank))?;
    }
}

/// What a sort key says behind the blank of a run of so many: what follows, and how many.
fn end_of_blanks(run: u32, is_left_downwards: bool) -> [u8; 5] {
    let (then, count) = if is_left_downwards { (1, run) } else { (3, !run) };
    let [a, b, c, d] = count.to_be_bytes();
    [then, a, b, c, d]
}

impl Collation {
    /// The order of two texts.
    #[inline]
    pub fn compare(self, left: &[u8], right: &[u8]) -> Ordering {
        let method = self.method();
        match (method.bytes(), self.pad()) {
            (Some(_), Pad::None) => return left.cmp(right),
            (Some(weights), Pad::Space) => return compare_padded_bytes(weights, left, right),
            _ => {}
        }
        let same = back_to_character(self.charset(), left, right, common_bytes(left, right));
        let (mut left, mut right) = (&left[same..], &right[same..]);
        if let Some(weights) = method.ascii() {
            // ASCII letter by letter: one weight each, so that both stay in step.
            while let (Some(&a), Some(&b)) = (left.first(), right.first()) {
                if (a | b) & 0x80 != 0 {
                    break;
                }
                let (x, y) = (weights[usize::from(a)], weights[usize::from(b)]);
                if x == 0 || y == 0 {
                    break;
                }
                if x != y {
                    return x.cmp(&y);
                }
                left = &left[1..];
                right = &right[1..];
            }
        }
        if left.is_empty() && right.is_empty() {
            return Ordering::Equal;
        }
        self.compare_streams(left, right)
    }

    fn compare_streams(self, left: &[u8], right: &[u8]) -> Ordering {
        let (mut left, mut right) = (Stream::new(self, left), Stream::new(self, right));
        let blank = self.blank();
        let rest = |first: u16, more: Stream<'_>| {
            if self.pad() == Pad::None {
                return Ordering::Greater;
            }
            std::iter::once(first)
                .chain(more)
                .map(|weight| weight.cmp(&blank))
                .find(|o| o.is_ne())
                .unwrap_or(Ordering::Equal)
        };
        loop {
            match (left.next(), right.next()) {
                (None, None) => return Ordering::Equal,
                (Some(a), Some(b)) if a == b => {}
                (Some(a), Some(b)) => return a.cmp(&b),
                (Some(a), None) => return rest(a, left),
                (None, Some(b)) => return rest(b, right).reverse(),
            }
        }
    }

    /// Whether two texts are equal.
    #[inline]
    pub fn equal(self, left: &[u8], right: &[u8]) -> bool {
        self.compare(left, right).is_eq()
    }

    /// The weight of a blank.
    fn blank(self) -> u16 {
        match self.method() {
            Method::Bytes => u16::from(b' ') + 1,
            Method::ByteTable(weights) => u16::from(weights[usize::from(b' ')]) + 1,
            Method::General => ASCII_GENERAL[usize::from(b' ')],
            Method::Uca(uca) => uca.ascii()[usize::from(b' ')],
        }
    }

    /// Appends the sort key of a text, or of so many characters at its beginning: bytes that `memcmp` orders.
    pub fn append_sort_key(self, text: &[u8], prefix: Option<usize>, out: &mut Vec<u8>) {
        let text = match prefix {
            Some(prefix) => &text[..self.charset().char_offset(text, prefix)],
            None => text,
        };
        match (self.method(), self.pad()) {
            (Method::Bytes, Pad::None) => out.extend_from_slice(text),
            (Method::Uca(Uca::V900), _) => append_weights_0900(text, out),
            _ => self.write_padded_sort_key(text, out).expect("memory takes all"),
        }
    }

    /// Writes the sort key of a collation that pads; ends early where no more is taken.
    fn write_padded_sort_key(self, text: &[u8], out: impl io::Write) -> io::Result<()> {
        match self.method().bytes() {
            Some(weights) => write_padded_bytes(weights, text, out),
            None => self.write_padded_words(text, out),
        }
    }

    /// The same, where characters have weights of two bytes.
    fn write_padded_words(self, text: &[u8], mut out: impl io::Write) -> io::Result<()> {
        let blank = self.blank();
        let (mut run, mut weights) = (0u32, Stream::new(self, text));
        loop {
            // (Nearly all of a text is words, and between them are single blanks.)
            if run == 0 && weights.is_between_characters() {
                let (word, rest) = weights.text.split_at(self.word_len(weights.text));
                self.write_word(word, &mut out)?;
                weights.text = rest;
            }
            let Some(weight) = weights.next() else { break };
            if weight == blank {
                run += 1;
                continue;
            }
            if run > 0 {
                out.write_all(&blank.to_be_bytes())?;
                out.write_all(&end_of_blanks(run, weight < blank))?;
                run = 0;
            }
            out.write_all(&weight.to_be_bytes())?;
        }
        out.write_all(&blank.to_be_bytes())?;
        out.write_all(&[2])
    }

    /// How many bytes at the beginning of a text are a character each, of one weight, that is no blank's.
    fn word_len(self, text: &[u8]) -> usize {
        let (Some(weights), blank) = (self.method().ascii(), self.blank()) else { return 0 };
        let ends_word =
            |byte: &u8| weights.get(usize::from(*byte)).is_none_or(|&weight| weight == 0 || weight == blank);
        text.iter().position(ends_word).unwrap_or(text.len())
    }

    /// Writes the weights of such characters.
    fn write_word(self, word: &[u8], mut out: impl io::Write) -> io::Result<()> {
        let Some(weights) = self.method().ascii() else { return Ok(()) };
        let mut buffer = [0; 64];
        for part in word.chunks(buffer.len() / 2) {
            for (to, byte) in buffer.chunks_exact_mut(2).zip(part) {
                to.copy_from_slice(&weights[usize::from(*byte)].to_be_bytes());
            }
            out.write_all(&buffer[..2 * part.len()])?;
        }
        Ok(())
    }

    /// The first sixteen bytes of the sort key as a number, with zeros behind a shorter one. `a < b` if that of `a` is less than
    /// that of `b`; where they are equal, it is open.
    pub fn sort_key_head(self, text: &[u8]) -> u128 {
        if let Some(head) = self.head_of_word(text) {
            return head;
        }
        let mut head = [0; 16];
        match (self.method(), self.pad()) {
            (Method::Bytes, Pad::None) => {
                let len = text.len().min(head.len());
                head[..len].copy_from_slice(&text[..len]);
            }
            (_, Pad::None) => {
                for (to, weight) in head.chunks_exact_mut(2).zip(Stream::new(self, text)) {
                    to.copy_from_slice(&weight.to_be_bytes());
                }
            }
            // (An error says that the bytes are full.)
            (_, Pad::Space) => drop(self.write_padded_sort_key(text, &mut head[..])),
        }
        u128::from_be_bytes(head)
    }

    /// The same, where that many bytes are of characters of one weight each, none of them a blank that is counted.
    #[inline]
    fn head_of_word(self, text: &[u8]) -> Option<u128> {
        let pads = self.pad() == Pad::Space;
        if let Some(weights) = self.method().bytes() {
            let first = text.first_chunk::<16>()?.map(|byte| weights[usize::from(byte)]);
            let has_blank = pads && first.contains(&weights[usize::from(b' ')]);
            return (!has_blank).then_some(u128::from_be_bytes(first));
        }
        let weights = self.method().ascii()?;
        let (len, mut head) = (text.len().min(8), 0);
        // (What has no weight is left out, and blanks are counted where the collation pads.)
        let blank = if pads { self.blank() } else { 0 };
        for byte in &text[..len] {
            let weight = weights.get(usize::from(*byte)).filter(|weight| **weight != 0 && **weight != blank)?;
            head = head << 16 | u128::from(*weight);
        }
        let end = [blank, 2 << 8, 0, 0, 0, 0, 0, 0];
        for weight in &end[..8 - len] {
            head = head << 16 | if pads { u128::from(*weight) } else { 0 };
        }
        Some(head)
    }

    /// Appends the weights as WEIGHT_STRING() shows them; with `length`, of exactly so many characters, filled up with
    /// blanks where the collation pads.
    pub fn append_weight_string(self, text: &[u8], length: Option<usize>, out: &mut Vec<u8>) {
        let charset = self.charset();
        let text = match length {
            Some(length) => &text[..charset.char_offset(text, length)],
            None => text,
        };
        let fill = match length {
            Some(length) if self.pad() == Pad::Space => length.saturating_sub(charset.char_count(text)),
            _ => 0,
        };
        match self.method() {
            Method::Bytes if charset.is_unicode() && self.pad() == Pad::Space => {
                let width = if charset == Charset::Utf8mb4 { 3 } else { 2 };
                let mut at = 0;
                while at < text.len() {
                    let (code_point, len) = charset.decode(&text[at..]);
                    out.extend_from_slice(&code_point.unwrap_or(0xffff).to_be_bytes()[4 - width..]);
                    at += len.max(1);
                }
                (0..fill).for_each(|_| out.extend_from_slice(&[0, 0, 0, b' '][4 - width..]));
            }
            Method::Bytes | Method::ByteTable(_) => {
                let blanks = std::iter::repeat_n(b' ', fill);
                for byte in text.iter().copied().chain(blanks) {
                    let weight = character_weights(charset, self.method(), &[byte]).0;
                    out.push((weight.as_slice()[0] - 1) as u8);
                }
            }
            Method::General | Method::Uca(_) => {
                let blanks = std::iter::repeat_n(self.blank(), fill);
                Stream::new(self, text).chain(blanks).for_each(|weight| out.extend_from_slice(&weight.to_be_bytes()));
            }
        }
    }
}

/// The weights of UCA 9.0.0, ASCII quickly.
fn append_weights_0900(text: &[u8], out: &mut Vec<u8>) {
    out.reserve(2 * text.len());
    let mut rest = text;
    while let Some(&first) = rest.first() {
        if first < 0x80 {
            // (Nearly always all of it is, and that is quickly seen.)
            let other = if rest.is_ascii() { None } else { rest.iter().position(|byte| *byte >= 0x80) };
            let ascii = other.unwrap_or(rest.len());
            let start = out.len();
            out.resize(start + 2 * ascii, 0);
            let mut least = u16::MAX;
            for (to, byte) in out[start..].chunks_exact_mut(2).zip(rest) {
                let weight = ASCII_0900[usize::from(byte & 0x7f)];
                least = least.min(weight);
                to.copy_from_slice(&weight.to_be_bytes());
            }
            if least == 0 {
                // Controls have no weight: once more without them.
                out.truncate(start);
                let weights = rest[..ascii].iter().map(|byte| ASCII_0900[usize::from(*byte)]);
                weights.filter(|weight| *weight != 0).for_each(|weight| out.extend_from_slice(&weight.to_be_bytes()));
            }
            rest = &rest[ascii..];
            continue;
        }
        let (weights, len) = character_weights(Charset::Utf8mb4, Method::Uca(Uca::V900), rest);
        weights.as_slice().iter().for_each(|weight| out.extend_from_slice(&weight.to_be_bytes()));
        rest = &rest[len..];
    }
}
