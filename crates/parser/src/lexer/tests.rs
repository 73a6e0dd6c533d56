//! Tables of texts and their tokens.

use super::*;
use crate::options::SqlMode;

fn kinds_with(text: &str, options: Options) -> String {
    let mut lexer = Lexer::new(text.as_bytes(), 0, options);
    let mut out = Vec::new();
    loop {
        let token = lexer.next_token();
        if token.kind == TokenKind::End {
            return out.join(" ");
        }
        let source = &text[token.start as usize..token.end as usize];
        out.push(format!("{:?}:{source}", token.kind));
        assert!(out.len() < 100);
    }
}

fn kinds(text: &str) -> String {
    kinds_with(text, Options::default())
}

#[test]
fn words_numbers_and_what_is_between() {
    for (text, expected) in [
        ("a.1b", "Word:a Dot:. Word:1b"),
        ("a.select", "Word:a Dot:. Word:select"),
        ("a .1", "Word:a Decimal:.1"),
        ("1st 1e 1e5 1e+5 1.5e-3 .5 5.", "Word:1st Word:1e Float:1e5 Float:1e+5 Float:1.5e-3 Decimal:.5 Decimal:5."),
        (
            "0x4D 0x4G 0b01 0b02 x'4D' b'1' N'a'",
            "HexNumber:0x4D Word:0x4G BitNumber:0b01 Word:0b02 HexString:x'4D' BitString:b'1' NationalString:N'a'",
        ),
        ("x'4'", "Invalid:x'4 Invalid:'"),
        ("_utf8'a' _foo'a'", "Introducer:_utf8 String:'a' Word:_foo String:'a'"),
        ("'a''b' 'a\\'b' `a``b`", "String:'a''b' String:'a\\'b' QuotedIdentifier:`a``b`"),
        ("'a", "Invalid:'a"),
        ("@a.b @'x y' @`x` @@x @", "AtName:@a.b AtName:@'x y' AtName:@`x` AtAt:@@ Word:x AtName:@"),
        (
            "a->'$.b' a->>'$' - -1",
            "Word:a Arrow:-> String:'$.b' Word:a DoubleArrow:->> String:'$' Minus:- Minus:- Integer:1",
        ),
        (
            "a<=>b<>c!=d<<e>>f:=g",
            "Word:a NullSafeEqual:<=> Word:b NotEqual:<> Word:c NotEqual:!= Word:d ShiftLeft:<< \
          Word:e ShiftRight:>> Word:f Assign::= Word:g",
        ),
    ] {
        assert_eq!(kinds(text), expected, "{text}");
    }
}

#[test]
fn comments() {
    for (text, expected) in [
        ("1 # x\n2", "Integer:1 Integer:2"),
        ("1 -- x\n2", "Integer:1 Integer:2"),
        ("1 --2", "Integer:1 Minus:- Minus:- Integer:2"),
        ("1 /* ' */ 2", "Integer:1 Integer:2"),
        ("1 /*!50000 2 */ 3", "Integer:1 Integer:2 Integer:3"),
        ("1 /*!99999 2 */ 3", "Integer:1 Integer:3"),
        ("1 /*!999999 2 /* x */ 2 */ 3", "Integer:1 Integer:3"),
        ("1 /*! 2 /* x */ */ 3", "Integer:1 Integer:2 Integer:3"),
        ("1 /* 2", "Integer:1 Invalid:/* 2"),
        ("1 /*! 2", "Integer:1 Integer:2 Invalid:"),
    ] {
        assert_eq!(kinds(text), expected, "{text}");
    }
}

#[test]
fn modes_change_quotes_and_functions() {
    let sql_mode = SqlMode { ansi_quotes: true, no_backslash_escapes: true, ignore_space: true, ..SqlMode::default() };
    let options = Options { sql_mode, ..Options::default() };
    assert_eq!(kinds_with(r#""a" 'a\' 'b'"#, options), r#"QuotedIdentifier:"a" String:'a\' String:'b'"#);
    let mut lexer = Lexer::new(b"count (1) count(1)", 0, options);
    assert_eq!(lexer.next_token().keyword, Keyword::COUNT);
    let mut lexer = Lexer::new(b"count (1) count(1)", 0, Options::default());
    assert_eq!(lexer.next_token().keyword, Keyword::None);
}
