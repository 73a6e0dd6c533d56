//! Statements of each family that are read, and some that are refused. `data/valid.sql` and `data/invalid.sql` have one
//! a line; each was tried on MySQL 9.7.

use meseta_parser::{Arena, Options, parse};

#[test]
fn valid_statements_are_read() {
    let mut wrong = Vec::new();
    for statement in include_str!("data/valid.sql").lines().filter(|line| !line.is_empty()) {
        let arena = Arena::new();
        if let Err(error) = parse(&arena, statement.as_bytes(), 0, Options::default()) {
            wrong.push(format!("{statement}\n  {error:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn invalid_statements_are_refused() {
    for statement in include_str!("data/invalid.sql").lines().filter(|line| !line.is_empty()) {
        let arena = Arena::new();
        let error = parse(&arena, statement.as_bytes(), 0, Options::default()).expect_err(statement);
        assert_eq!(error.code(), 1064, "{statement}");
    }
}
