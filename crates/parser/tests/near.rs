//! Where reading stops, and MySQL's words about it. `data/near.txt` was recorded from MySQL 9.7: a statement, with
//! `\n` for a newline, a tab, and the near text, a tab, and the line.

use meseta_parser::{Arena, Options, parse};

#[test]
fn near_texts_are_those_of_the_server() {
    let mut wrong = Vec::new();
    for line in include_str!("data/near.txt").lines() {
        let mut fields = line.split('\t').map(|field| field.replace("\\n", "\n"));
        let (statement, near, number) =
            (fields.next().unwrap(), fields.next().unwrap(), fields.next().unwrap().parse::<u32>().unwrap());
        let arena = Arena::new();
        match parse(&arena, statement.as_bytes(), 0, Options::default()) {
            Ok(_) => wrong.push(format!("{statement}: read")),
            Err(error) => {
                let found = String::from_utf8_lossy(&error.near).into_owned();
                if (error.code(), found.as_str(), error.line) != (1064, near.as_str(), number) {
                    wrong.push(format!("{statement}: {error:?} in place of {near:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn errors_have_their_own_numbers_and_words() {
    let long = "t".repeat(65);
    for (statement, code, words) in [
        ("", 1065, "Query was empty".to_string()),
        (";", 1065, "Query was empty".to_string()),
        ("SELECT 1 FROM `a `", 1103, "Incorrect table name 'a '".to_string()),
        ("SELECT 1 FROM ``", 1103, "Incorrect table name ''".to_string()),
        ("USE `a `", 1102, "Incorrect database name 'a '".to_string()),
        (&format!("SELECT * FROM {long}"), 1059, format!("Identifier name '{long}' is too long")),
        (
            "SELECT FROM t",
            1064,
            "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version \
             for the right syntax to use near 'FROM t' at line 1"
                .to_string(),
        ),
    ] {
        let arena = Arena::new();
        let error = parse(&arena, statement.as_bytes(), 0, Options::default()).unwrap_err();
        assert_eq!((error.code(), error.to_string()), (code, words), "{statement}");
        assert_eq!(error.sqlstate(), "42000");
    }
}
