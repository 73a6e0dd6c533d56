//! Attributes: what the engine keeps for us of a column, an index, a table or a database, as bytes.
//!
//! ```text
//!   version (1)  | tag  length  bytes | tag  length  bytes | ...        length: LEB128
//! ```
//!
//! A field that is not there has its usual value; a tag that is not known is passed over. So fields can come later, and an
//! older program reads what a newer one wrote, as long as the version stays.
//!
//! # Invariants
//! 1. Any bytes can be read: what makes no sense is [`Damaged`].

use std::fmt;

/// The version that is written.
const VERSION: u8 = 1;

/// Bytes that make no sense.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Damaged(pub &'static str);

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "attributes are damaged: {}", self.0)
    }
}

impl std::error::Error for Damaged {}

/// Appends a number: seven bits a byte, the lowest first.
fn append_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number off the front.
fn take_number(bytes: &mut &[u8]) -> Result<u64, Damaged> {
    let mut number = 0u64;
    for at in 0..10 {
        let (&byte, rest) = bytes.split_first().ok_or(Damaged("a number ends early"))?;
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        if at == 9 && part > 1 {
            break;
        }
        number |= part << (7 * at);
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(Damaged("a number is too large"))
}

/// Fields under way.
#[derive(Clone, Debug)]
pub struct Writer(Vec<u8>);

impl Default for Writer {
    fn default() -> Self {
        Self(vec![VERSION])
    }
}

impl Writer {
    /// A field of bytes.
    pub fn bytes(&mut self, tag: u8, bytes: &[u8]) -> &mut Self {
        self.0.push(tag);
        append_number(bytes.len() as u64, &mut self.0);
        self.0.extend_from_slice(bytes);
        self
    }

    /// A field of bytes, unless there are none.
    pub fn some_bytes(&mut self, tag: u8, bytes: &[u8]) -> &mut Self {
        if bytes.is_empty() { self } else { self.bytes(tag, bytes) }
    }

    /// A number.
    pub fn number(&mut self, tag: u8, number: u64) -> &mut Self {
        let mut bytes = Vec::new();
        append_number(number, &mut bytes);
        self.bytes(tag, &bytes)
    }

    /// A number, unless it is 0.
    pub fn some_number(&mut self, tag: u8, number: u64) -> &mut Self {
        if number == 0 { self } else { self.number(tag, number) }
    }

    /// A list of numbers.
    pub fn numbers(&mut self, tag: u8, numbers: impl IntoIterator<Item = u64>) -> &mut Self {
        let mut bytes = Vec::new();
        numbers.into_iter().for_each(|number| append_number(number, &mut bytes));
        self.bytes(tag, &bytes)
    }

    /// All of it.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// A field.
#[derive(Clone, Copy, Debug)]
pub struct Field<'a> {
    /// Which.
    pub tag: u8,
    /// What it holds.
    pub bytes: &'a [u8],
}

impl Field<'_> {
    /// Its number.
    pub fn number(self) -> Result<u64, Damaged> {
        let mut bytes = self.bytes;
        let number = take_number(&mut bytes)?;
        if bytes.is_empty() { Ok(number) } else { Err(Damaged("a number is followed by something")) }
    }

    /// Its number, if it has a place in a smaller type.
    pub fn small<T: TryFrom<u64>>(self) -> Result<T, Damaged> {
        T::try_from(self.number()?).map_err(|_| Damaged("a number is out of range"))
    }

    /// Its text.
    pub fn text(self) -> Result<String, Damaged> {
        String::from_utf8(self.bytes.to_vec()).map_err(|_| Damaged("a text is not UTF-8"))
    }

    /// Its list of numbers.
    pub fn numbers(self) -> Result<Vec<u64>, Damaged> {
        let mut bytes = self.bytes;
        let mut numbers = Vec::new();
        while !bytes.is_empty() {
            numbers.push(take_number(&mut bytes)?);
        }
        Ok(numbers)
    }
}

/// The fields of some attributes, in the order in which they were written. No bytes at all are no fields.
pub fn fields(bytes: &[u8]) -> Result<Vec<Field<'_>>, Damaged> {
    let Some((&version, mut rest)) = bytes.split_first() else { return Ok(Vec::new()) };
    if version != VERSION {
        return Err(Damaged("they are of another version"));
    }
    let mut fields = Vec::new();
    while let Some((&tag, behind)) = rest.split_first() {
        rest = behind;
        let len = usize::try_from(take_number(&mut rest)?).map_err(|_| Damaged("a field is too long"))?;
        let bytes = rest.get(..len).ok_or(Damaged("a field ends early"))?;
        rest = &rest[len..];
        fields.push(Field { tag, bytes });
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut writer = Writer::default();
        writer.number(1, 0).number(2, u64::MAX).bytes(3, b"abc").some_bytes(4, b"").numbers(5, [1, 300, 0]);
        let bytes = writer.finish();
        let fields = fields(&bytes).unwrap();
        assert_eq!(fields.iter().map(|field| field.tag).collect::<Vec<_>>(), [1, 2, 3, 5]);
        assert_eq!((fields[0].number(), fields[1].number()), (Ok(0), Ok(u64::MAX)));
        assert_eq!(fields[1].small::<u8>(), Err(Damaged("a number is out of range")));
        assert_eq!((fields[2].text(), fields[3].numbers()), (Ok("abc".into()), Ok(vec![1, 300, 0])));
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_read(bytes: Vec<u8>) {
            for field in fields(&[&[VERSION][..], &bytes].concat()).unwrap_or_default() {
                let _ = (field.number(), field.text(), field.numbers());
            }
        }
    }
}
