//! Tokens: what the lexer makes of bytes.

use crate::keyword::Keyword;
use crate::span::Span;

/// The kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TokenKind {
    /// The end of the text. Its span is empty.
    End,
    /// An unquoted word; `Token::keyword` says which, if the language has it.
    Word,
    /// `` `x` ``, or `"x"` under ANSI_QUOTES.
    QuotedIdentifier,
    /// `'x'`, or `"x"` unless under ANSI_QUOTES.
    String,
    /// `N'x'`.
    NationalString,
    /// `x'4D'`.
    HexString,
    /// `b'01'`.
    BitString,
    /// `0x4D`.
    HexNumber,
    /// `0b01`.
    BitNumber,
    /// `12`.
    Integer,
    /// `1.2`, `.2`, `1.`.
    Decimal,
    /// `1e2`.
    Float,
    /// `_utf8mb4` where a string may follow (the parser decides whether it is a name).
    Introducer,
    /// `@x`, `` @`x` ``, `@'x'`: a user variable, or the host of an account.
    AtName,
    /// `@@`.
    AtAt,
    /// `?`.
    Parameter,
    /// `/*+ ... */` behind one of the words that take hints.
    Hint,
    /// `(`
    LeftParenthesis,
    /// `)`
    RightParenthesis,
    /// `{`
    LeftBrace,
    /// `}`
    RightBrace,
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// `.`
    Dot,
    /// `:`
    Colon,
    /// `:=`
    Assign,
    /// `=`
    Equal,
    /// `<=>`
    NullSafeEqual,
    /// `<>`, `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Star,
    /// `/`
    Slash,
    /// `%`
    Percent,
    /// `^`
    Caret,
    /// `~`
    Tilde,
    /// `!`
    Exclamation,
    /// `|`
    Pipe,
    /// `||`
    PipePipe,
    /// `&`
    Ampersand,
    /// `&&`
    AmpersandAmpersand,
    /// `->`
    Arrow,
    /// `->>`
    DoubleArrow,
    /// `$$ ... $$`, `$tag$ ... $tag$`: the text of a routine in another language.
    DollarString,
    /// Bytes that are no token: a quote without its end, a control character.
    Invalid,
}

/// A token: 12 bytes, no text of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// For quoted things: whether the text between the quotes has escapes or doubled quotes.
    pub escaped: bool,
    /// For words.
    pub keyword: Keyword,
    /// Its first byte.
    pub start: u32,
    /// One behind its last byte.
    pub end: u32,
}

impl Token {
    /// Where it is.
    pub fn span(&self) -> Span {
        Span::new(self.start, self.end)
    }
}
