//! From bytes to tokens.
//!
//! ```text
//!   SELECT a.1b, 'it''s' /*!50000 , 2 */ # end
//!   Word   Word Dot Word Comma String Comma Integer End
//! ```
//!
//! 1. A token is a kind and a span: nothing is copied or decoded here (`literal` does that).
//! 2. A word directly behind a dot is an identifier, whatever it spells: `a.select`, `a.1b`.
//! 3. The text between `/*!` and `*/` is part of the statement when the version in front of it is not above ours.
//! 4. Bytes from 0x80 on are letters. A client's character set whose characters can have ASCII bytes inside (sjis, gbk,
//!    big5, gb18030, cp932) must have been converted before.
//! 5. Every call moves forward or gives `End`; `Invalid` is a token like others, which no rule of the grammar takes.
//!
//! Sources: the manual's "Literal Values", "Schema Object Names", "Comments".

mod class;
mod comment;
mod number;

use memchr::memchr2;

use crate::keyword::Keyword;
use crate::options::Options;
use crate::token::{Token, TokenKind};
use class::{CLASS, Class, is_blank, is_word_byte};

/// Where the lexer is. Copying it is how the parser looks ahead.
#[derive(Clone, Copy)]
pub struct Lexer<'a> {
    text: &'a [u8],
    position: usize,
    options: Options,
    /// Between `/*!` and its `*/`.
    in_version_comment: bool,
    /// Where a dot would be that belongs to the identifier before it.
    dot_of_identifier: usize,
    /// The next word is an identifier.
    behind_dot: bool,
    /// The next comment may be a hint.
    hints_allowed: bool,
}

/// What begins with `$`.
enum Dollar {
    /// A text in dollar quotes; one behind its end.
    Quoted(usize),
    Unclosed,
    /// A word.
    None,
}

impl<'a> Lexer<'a> {
    /// Begins at `position`. The text must be shorter than 4 GiB.
    pub fn new(text: &'a [u8], position: usize, options: Options) -> Lexer<'a> {
        Lexer {
            text,
            position,
            options,
            in_version_comment: false,
            dot_of_identifier: usize::MAX,
            behind_dot: false,
            hints_allowed: false,
        }
    }

    fn byte(&self, position: usize) -> u8 {
        // No byte 0 is part of a token, so the end can be one.
        self.text.get(position).copied().unwrap_or(0)
    }

    fn token(&mut self, kind: TokenKind, start: usize, end: usize) -> Token {
        self.position = end;
        Token { kind, escaped: false, keyword: Keyword::None, start: start as u32, end: end as u32 }
    }

    /// The next token.
    pub fn next_token(&mut self) -> Token {
        let hints_allowed = std::mem::take(&mut self.hints_allowed);
        if std::mem::take(&mut self.behind_dot) {
            return self.word_behind_dot();
        }
        loop {
            let start = self.position;
            let Some(&byte) = self.text.get(start) else {
                // A version comment without its end is as wrong as any other comment without one.
                let kind = if self.in_version_comment { TokenKind::Invalid } else { TokenKind::End };
                self.in_version_comment = false;
                return self.token(kind, start, start);
            };
            match CLASS[byte as usize] {
                Class::Blank => self.position = start + 1,
                Class::Letter => return self.word(start),
                Class::Digit => return self.number(start),
                Class::Quote => return self.quoted(start, byte),
                Class::Other => match byte {
                    b'#' => self.skip_line(),
                    b'-' if self.byte(start + 1) == b'-' && self.is_blank_or_end(start + 2) => self.skip_line(),
                    b'/' if self.byte(start + 1) == b'*' => {
                        if let Some(token) = self.comment(start, hints_allowed) {
                            return token;
                        }
                    }
                    b'*' if self.in_version_comment && self.byte(start + 1) == b'/' => {
                        self.in_version_comment = false;
                        self.position = start + 2;
                    }
                    _ => return self.punctuation(start, byte),
                },
            }
        }
    }

    fn is_blank_or_end(&self, position: usize) -> bool {
        self.text.get(position).is_none_or(|byte| is_blank(*byte) || byte.is_ascii_control())
    }

    /// Whether a version comment is still open: its `*/` is to come.
    pub fn is_in_version_comment(&self) -> bool {
        self.in_version_comment
    }

    /// Says that hints may stand in front of the next token.
    pub fn allow_hints(&mut self) {
        self.hints_allowed = true;
    }

    /// Where the next look begins.
    pub fn position(&self) -> usize {
        self.position
    }

    fn word_end(&self, mut position: usize) -> usize {
        while self.text.get(position).is_some_and(|byte| is_word_byte(*byte)) {
            position += 1;
        }
        position
    }

    /// After an unquoted identifier: a dot that follows directly belongs to it if a word follows directly.
    fn note_dot(&mut self, end: usize) {
        if self.byte(end) == b'.' && is_word_byte(self.byte(end + 1)) {
            self.dot_of_identifier = end;
        }
    }

    fn word_behind_dot(&mut self) -> Token {
        let start = self.position;
        let end = self.word_end(start);
        self.note_dot(end);
        self.token(TokenKind::Word, start, end)
    }

    fn word(&mut self, start: usize) -> Token {
        let first = self.text[start];
        let next = self.byte(start + 1);
        if next == b'\'' {
            match first {
                b'x' | b'X' => return self.digits_in_quotes(start, TokenKind::HexString),
                b'b' | b'B' => return self.digits_in_quotes(start, TokenKind::BitString),
                b'n' | b'N' => {
                    let mut token = self.quoted(start + 1, b'\'');
                    token.start -= 1;
                    if token.kind == TokenKind::String {
                        token.kind = TokenKind::NationalString;
                    }
                    return token;
                }
                _ => {}
            }
        }
        if first == b'$' {
            match self.dollar_string_end(start) {
                Dollar::Quoted(end) => return self.token(TokenKind::DollarString, start, end),
                Dollar::Unclosed => return self.token(TokenKind::Invalid, start, self.text.len()),
                Dollar::None => {}
            }
        }
        let end = self.word_end(start + 1);
        self.note_dot(end);
        let mut token = self.token(TokenKind::Word, start, end);
        if self.dot_of_identifier == end {
            // `select.a` is as wrong as MySQL says: keywords in front of a dot are still keywords.
            token.keyword = Keyword::find(&self.text[start..end]);
            if token.keyword.is_function() {
                token.keyword = Keyword::None;
            }
            return token;
        }
        if first == b'_' && class::is_character_set(&self.text[start + 1..end]) {
            token.kind = TokenKind::Introducer;
            return token;
        }
        token.keyword = Keyword::find(&self.text[start..end]);
        if token.keyword.is_function() && !self.is_before_parenthesis(end) {
            token.keyword = Keyword::None;
        }
        token
    }

    fn is_before_parenthesis(&self, mut position: usize) -> bool {
        if self.options.sql_mode.ignore_space {
            while self.text.get(position).is_some_and(|byte| is_blank(*byte)) {
                position += 1;
            }
        }
        self.byte(position) == b'('
    }

    /// `$$ ... $$` or `$tag$ ... $tag$`: where it ends.
    fn dollar_string_end(&self, start: usize) -> Dollar {
        let mut tag_end = start + 1;
        while self.text.get(tag_end).is_some_and(|byte| is_word_byte(*byte) && *byte != b'$') {
            tag_end += 1;
        }
        if self.byte(tag_end) != b'$' {
            return Dollar::None;
        }
        let tag = &self.text[start..=tag_end];
        let body = tag_end + 1;
        match self.text[body..].windows(tag.len()).position(|window| window == tag) {
            Some(found) => Dollar::Quoted(body + found + tag.len()),
            None => Dollar::Unclosed,
        }
    }

    /// `'...'`, `"..."`, `` `...` ``; `start` is at the quote.
    fn quoted(&mut self, start: usize, quote: u8) -> Token {
        let is_identifier = quote == b'`' || (quote == b'"' && self.options.sql_mode.ansi_quotes);
        let backslashes = !is_identifier && !self.options.sql_mode.no_backslash_escapes;
        let mut position = start + 1;
        let mut escaped = false;
        let escape = if backslashes { b'\\' } else { quote };
        loop {
            let found = self.text.get(position..).and_then(|rest| memchr2(quote, escape, rest));
            let Some(found) = found else {
                return self.token(TokenKind::Invalid, start, self.text.len());
            };
            position += found + 1;
            if self.text[position - 1] == quote && self.byte(position) != quote {
                break;
            }
            escaped = true;
            position += 1;
        }
        let kind = if is_identifier { TokenKind::QuotedIdentifier } else { TokenKind::String };
        let mut token = self.token(kind, start, position);
        token.escaped = escaped;
        token
    }

    fn punctuation(&mut self, start: usize, byte: u8) -> Token {
        use TokenKind as T;
        let next = self.byte(start + 1);
        let (kind, length) = match byte {
            b'(' => (T::LeftParenthesis, 1),
            b')' => (T::RightParenthesis, 1),
            b',' => (T::Comma, 1),
            b';' => (T::Semicolon, 1),
            b'{' => (T::LeftBrace, 1),
            b'}' => (T::RightBrace, 1),
            b'=' | b'<' | b'>' | b'!' => self.comparison(start),
            b'.' => {
                if self.dot_of_identifier == start {
                    self.behind_dot = true;
                    (T::Dot, 1)
                } else if next.is_ascii_digit() {
                    return self.fraction(start, start + 1);
                } else {
                    self.behind_dot = is_word_byte(next);
                    (T::Dot, 1)
                }
            }
            b':' if next == b'=' => (T::Assign, 2),
            b':' => (T::Colon, 1),
            b'+' => (T::Plus, 1),
            b'-' if next == b'>' && self.byte(start + 2) == b'>' => (T::DoubleArrow, 3),
            b'-' if next == b'>' => (T::Arrow, 2),
            b'-' => (T::Minus, 1),
            b'*' => (T::Star, 1),
            b'/' => (T::Slash, 1),
            b'%' => (T::Percent, 1),
            b'^' => (T::Caret, 1),
            b'~' => (T::Tilde, 1),
            b'|' if next == b'|' => (T::PipePipe, 2),
            b'|' => (T::Pipe, 1),
            b'&' if next == b'&' => (T::AmpersandAmpersand, 2),
            b'&' => (T::Ampersand, 1),
            b'?' => (T::Parameter, 1),
            b'@' => return self.at(start, next),
            _ => (T::Invalid, 1),
        };
        self.token(kind, start, start + length)
    }

    /// Comparisons, shifts and `!`. MySQL takes as many of these characters as it can and then looks whether they are an
    /// operator, so `1=!0` is an error, and `!!0` is one `!`.
    fn comparison(&self, start: usize) -> (TokenKind, usize) {
        use TokenKind as T;
        let is_part = |byte: u8| matches!(byte, b'<' | b'=' | b'>' | b'!');
        let (first, second, third) = (self.byte(start), self.byte(start + 1), self.byte(start + 2));
        if !is_part(second) {
            return match first {
                b'=' => (T::Equal, 1),
                b'<' => (T::Less, 1),
                b'>' => (T::Greater, 1),
                _ => (T::Exclamation, 1),
            };
        }
        if first == b'<' && matches!(third, b'=' | b'>' | b'!') {
            return if (second, third) == (b'=', b'>') { (T::NullSafeEqual, 3) } else { (T::Invalid, 3) };
        }
        match (first, second) {
            (b'<', b'=') => (T::LessOrEqual, 2),
            (b'<', b'>') | (b'!', b'=') => (T::NotEqual, 2),
            (b'<', b'<') => (T::ShiftLeft, 2),
            (b'>', b'=') => (T::GreaterOrEqual, 2),
            (b'>', b'>') => (T::ShiftRight, 2),
            (b'!', _) => (T::Exclamation, 2),
            _ => (T::Invalid, 2),
        }
    }

    /// `@@`, `@name`, `@'name'`.
    fn at(&mut self, start: usize, next: u8) -> Token {
        match next {
            b'@' => self.token(TokenKind::AtAt, start, start + 2),
            b'\'' | b'"' | b'`' => {
                let mut token = self.quoted(start + 1, next);
                token.start = start as u32;
                if token.kind != TokenKind::Invalid {
                    token.kind = TokenKind::AtName;
                }
                token
            }
            _ => {
                let mut end = start + 1;
                while self.text.get(end).is_some_and(|byte| is_word_byte(*byte) || *byte == b'.') {
                    end += 1;
                }
                self.token(TokenKind::AtName, start, end)
            }
        }
    }
}

#[cfg(test)]
mod tests;
