//! Fields and lines of a text: what LOAD DATA reads and INTO OUTFILE writes.
//!
//! ```text
//!   bytes in pieces --Reader--> one field after the other, each with what ended it: a field's end, a line's, the file's
//! ```
//!
//! # Invariants
//! 1. A reader keeps one piece and one field. A field longer than [`FIELD_LIMIT`] is an error.
//!
//! # Source
//! The manual, "LOAD DATA Statement", "Field and Line Handling"; what it does not say, by experiment.

use meseta_errors::{ER_NET_PACKET_TOO_LARGE, ER_WRONG_FIELD_TERMINATORS};
use meseta_parser::ast;

use crate::error::{Error, Result};

/// The longest field: as long as the longest value.
pub const FIELD_LIMIT: usize = 1 << 30;

/// A file in pieces.
pub trait PieceSource {
    /// The next piece; nothing at the end.
    fn next_piece(&mut self) -> Result<Option<&[u8]>>;
}

/// FIELDS and LINES.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Format {
    /// TERMINATED BY.
    pub field_end: Vec<u8>,
    /// ENCLOSED BY.
    pub quote: Option<u8>,
    /// OPTIONALLY: numbers are not enclosed.
    pub optionally: bool,
    /// ESCAPED BY.
    pub escape: Option<u8>,
    /// LINES TERMINATED BY.
    pub line_end: Vec<u8>,
    /// LINES STARTING BY.
    pub line_start: Vec<u8>,
}

impl Format {
    /// Reads the clauses. Error 1083: more than one character where one is wanted.
    pub fn new(written: &ast::FileFormat<'_>) -> Result<Self> {
        let text =
            |text: Option<ast::Text<'_>>, usual: &[u8]| text.map_or_else(|| usual.to_vec(), |text| text.0.to_vec());
        let one = |text: Option<ast::Text<'_>>, usual: Option<u8>| match text.map(|text| text.0) {
            None => Ok(usual),
            Some([]) => Ok(None),
            Some(&[byte]) => Ok(Some(byte)),
            Some(_) => Err(Error::new(ER_WRONG_FIELD_TERMINATORS, &[])),
        };
        let format = Self {
            field_end: text(written.fields_terminated, b"\t"),
            quote: one(written.fields_enclosed, None)?,
            optionally: written.optionally_enclosed,
            escape: one(written.fields_escaped, Some(b'\\'))?,
            line_end: text(written.lines_terminated, b"\n"),
            line_start: text(written.lines_starting, b""),
        };
        if format.field_end.is_empty() {
            return Err(Error::not_yet("rows of fixed size (FIELDS TERMINATED BY '')"));
        }
        Ok(format)
    }
}

/// What ended a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// Another field follows in the line.
    Field,
    /// It was the line's last.
    Line,
    /// It was the file's last.
    File,
}

/// What was read in front of something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FieldRead {
    /// What ended it.
    pub ended: Ended,
    /// It is NULL: `\N`, or the word where fields may be enclosed and it is not.
    pub is_null: bool,
    /// There was nothing at all: the file has ended.
    pub is_nothing: bool,
}

/// Reads fields.
pub struct Reader<'s> {
    source: &'s mut dyn PieceSource,
    format: &'s Format,
    piece: Vec<u8>,
    at: usize,
    has_ended: bool,
    /// The field that was read.
    pub field: Vec<u8>,
}

impl<'s> Reader<'s> {
    /// A reader at the beginning of a file.
    pub fn new(source: &'s mut dyn PieceSource, format: &'s Format) -> Self {
        Self { source, format, piece: Vec::new(), at: 0, has_ended: false, field: Vec::new() }
    }

    /// The next byte, which stays where it is.
    fn peek(&mut self) -> Result<Option<u8>> {
        while self.at == self.piece.len() {
            if self.has_ended {
                return Ok(None);
            }
            match self.source.next_piece()? {
                None => self.has_ended = true,
                Some(piece) => {
                    self.piece.clear();
                    self.piece.extend_from_slice(piece);
                    self.at = 0;
                }
            }
        }
        Ok(Some(self.piece[self.at]))
    }

    fn take(&mut self) -> Result<Option<u8>> {
        let byte = self.peek()?;
        self.at += usize::from(byte.is_some());
        Ok(byte)
    }

    /// Whether these bytes are next; if so, they are taken.
    fn take_all(&mut self, wanted: &[u8]) -> Result<bool> {
        if wanted.is_empty() || self.peek()? != Some(wanted[0]) {
            return Ok(false);
        }
        // What is wanted may be cut by the end of a piece.
        while self.piece.len() - self.at < wanted.len() && !self.has_ended {
            match self.source.next_piece()? {
                None => self.has_ended = true,
                Some(piece) => {
                    self.piece.drain(..self.at);
                    self.at = 0;
                    self.piece.extend_from_slice(piece);
                }
            }
        }
        let is_it = self.piece[self.at..].starts_with(wanted);
        self.at += if is_it { wanted.len() } else { 0 };
        Ok(is_it)
    }

    /// Takes the bytes that are nothing but a part of the field, as far as they are there: up to one that an end may begin with, or that
    /// may quote or escape.
    fn take_ordinary(&mut self, quote: Option<u8>) {
        let format = self.format;
        let [one, other] = match quote {
            Some(quote) => [quote; 2],
            None => [format.field_end[0], format.line_end.first().copied().unwrap_or(format.field_end[0])],
        };
        let rest = &self.piece[self.at..];
        let len = memchr::memchr3(one, other, format.escape.unwrap_or(one), rest).unwrap_or(rest.len());
        self.field.extend_from_slice(&rest[..len]);
        self.at += len;
    }

    fn take_line_end(&mut self) -> Result<bool> {
        let format = self.format;
        self.take_all(&format.line_end)
    }

    /// Passes over what is left of a line; false at the end of the file.
    pub fn skip_line(&mut self) -> Result<bool> {
        loop {
            if self.take_line_end()? {
                return Ok(true);
            }
            match self.take()? {
                None => return Ok(false),
                Some(byte) if Some(byte) == self.format.escape => drop(self.take()?),
                Some(_) => {}
            }
        }
    }

    /// Passes over what is in front of a line, its beginning included; false if there is no line any more.
    pub fn begin_line(&mut self) -> Result<bool> {
        let format = self.format;
        if format.line_start.is_empty() {
            return Ok(self.peek()?.is_some());
        }
        loop {
            if self.take_all(&format.line_start)? {
                return Ok(true);
            }
            if self.take()?.is_none() {
                return Ok(false);
            }
        }
    }

    /// Reads a field into `field`. Error 1153: it is too long.
    pub fn read(&mut self) -> Result<FieldRead> {
        let format = self.format;
        self.field.clear();
        let is_nothing = self.peek()?.is_none();
        let mut was_null = false;
        let quote = match format.quote {
            Some(quote) if self.peek()? == Some(quote) => self.take()?,
            _ => None,
        };
        let done = |field: &[u8], ended: Ended, was_null: bool| {
            let is_word = quote.is_none() && format.quote.is_some() && field == b"NULL";
            let is_null = is_word || (quote.is_none() && was_null && field == b"N");
            Ok(FieldRead { ended, is_null, is_nothing })
        };
        loop {
            self.take_ordinary(quote);
            if quote.is_none() {
                if self.take_line_end()? {
                    return done(&self.field, Ended::Line, was_null);
                }
                if self.take_all(&format.field_end)? {
                    return done(&self.field, Ended::Field, was_null);
                }
            }
            let Some(byte) = self.take()? else {
                // A quote that is not closed was none.
                if let Some(quote) = quote {
                    self.field.insert(0, quote);
                }
                return done(&self.field, Ended::File, was_null);
            };
            if Some(byte) == format.escape && (format.escape != format.quote || quote.is_none()) {
                match self.take()? {
                    None => self.field.push(byte),
                    Some(next) => {
                        was_null |= next == b'N';
                        self.field.push(unescaped(next));
                    }
                }
            } else if Some(byte) == quote {
                if self.peek()? == Some(byte) {
                    self.take()?;
                    self.field.push(byte);
                } else if self.peek()?.is_none() {
                    return done(&self.field, Ended::File, false);
                } else if self.take_line_end()? {
                    return done(&self.field, Ended::Line, false);
                } else if self.take_all(&format.field_end)? {
                    return done(&self.field, Ended::Field, false);
                } else {
                    self.field.push(byte);
                }
            } else {
                self.field.push(byte);
            }
            if self.field.len() > FIELD_LIMIT {
                return Err(Error::new(ER_NET_PACKET_TOO_LARGE, &[]));
            }
        }
    }
}

fn unescaped(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'0' => 0,
        b'b' => 8,
        b'Z' => 26,
        other => other,
    }
}

/// Appends a field as INTO OUTFILE writes it; `None` is NULL.
pub fn append_field(value: Option<&[u8]>, is_text: bool, format: &Format, out: &mut Vec<u8>) {
    let Some(value) = value else {
        match format.escape {
            Some(escape) => out.extend([escape, b'N']),
            None => out.extend(b"NULL"),
        }
        return;
    };
    let quote = format.quote.filter(|_| is_text || !format.optionally);
    out.extend(quote);
    for &byte in value {
        let is_special = Some(byte) == format.escape
            || byte == 0
            || match format.quote {
                Some(quote) => byte == quote,
                None => format.field_end.first() == Some(&byte) || format.line_end.first() == Some(&byte),
            };
        match format.escape {
            Some(escape) if is_special => out.extend([escape, if byte == 0 { b'0' } else { byte }]),
            None if Some(byte) == quote => out.extend([byte, byte]),
            _ => out.push(byte),
        }
    }
    out.extend(quote);
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Pieces(Vec<Vec<u8>>);

    impl PieceSource for Pieces {
        fn next_piece(&mut self) -> Result<Option<&[u8]>> {
            if self.0.len() < 2 {
                return Ok(None);
            }
            self.0.remove(0);
            Ok(Some(&self.0[0]))
        }
    }

    /// Reads a text cut at every place into two pieces: the fields do not depend on it.
    fn fields(text: &[u8], format: &Format) -> Vec<(String, bool, Ended)> {
        let mut all: Option<Vec<(String, bool, Ended)>> = None;
        for cut in 0..=text.len() {
            let mut source = Pieces(vec![Vec::new(), text[..cut].to_vec(), text[cut..].to_vec()]);
            let mut reader = Reader::new(&mut source, format);
            let mut found = Vec::new();
            loop {
                let read = reader.read().unwrap();
                if read.is_nothing {
                    break;
                }
                found.push((String::from_utf8_lossy(&reader.field).into_owned(), read.is_null, read.ended));
            }
            assert!(all.as_ref().is_none_or(|all| *all == found), "cut at {cut}");
            all = Some(found);
        }
        all.unwrap()
    }

    fn format(field_end: &str, quote: Option<u8>, line_end: &str) -> Format {
        Format {
            field_end: field_end.into(),
            quote,
            optionally: false,
            escape: Some(b'\\'),
            line_end: line_end.into(),
            line_start: Vec::new(),
        }
    }

    #[test]
    fn fields_end_where_they_should() {
        let found = fields(b"a||b|\\N||\"x\"\"y\"||\"||\"\r\nNULL||\"open", &format("||", Some(b'"'), "\r\n"));
        let plain = |text: &str, ended| (text.to_owned(), false, ended);
        assert_eq!(
            found,
            [
                plain("a", Ended::Field),
                plain("b|N", Ended::Field),
                plain("x\"y", Ended::Field),
                plain("||", Ended::Line),
                ("NULL".to_owned(), true, Ended::Field),
                plain("\"open", Ended::File),
            ]
        );
    }

    #[test]
    fn what_is_written_is_read() {
        for quote in [None, Some(b'"')] {
            let format = format("\t", quote, "\n");
            let values: [Option<&[u8]>; 6] =
                [Some(b"plain"), None, Some(b""), Some(b"a\tb\nc\\d\"e"), Some(b"\0\x1a\r"), Some(b"\\N")];
            let mut text = Vec::new();
            for value in values {
                append_field(value, true, &format, &mut text);
                text.extend(&format.field_end);
            }
            let found = fields(&text, &format);
            for (value, (text, is_null, _)) in values.iter().zip(&found) {
                assert_eq!(value.is_none(), *is_null);
                if let Some(value) = value {
                    assert_eq!(text.as_bytes(), *value);
                }
            }
            assert_eq!(found.len(), values.len());
        }
    }
}
