//! Whatever the bytes are: an answer, no panic, no overflow of the stack.

use meseta_parser::{Arena, Normaliser, Options, Parenthesised, SqlMode, first_expression, parse};
use proptest::prelude::*;

fn read(bytes: &[u8], options: Options) -> Option<u16> {
    let arena = Arena::new();
    let shape_spans: Vec<_> =
        Normaliser::new().shape(bytes, 0, options).literals.iter().map(|literal| literal.span).collect();
    assert!(shape_spans.windows(2).all(|pair| pair[0].end <= pair[1].start));
    match parse(&arena, bytes, 0, options) {
        Ok(parsed) => {
            // Printing for a debugger walks the whole tree; long chains are too deep for that.
            if bytes.len() < 2000 {
                let _ = format!("{parsed:?}");
            }
            None
        }
        Err(error) => {
            assert!(error.near.len() <= 80 || error.code() != 1064);
            let _ = error.to_string();
            Some(error.code())
        }
    }
}

const STATEMENTS: &[&str] = &[
    "SELECT a, b+1 AS c, COUNT(*) FROM t1 AS x LEFT JOIN (t2, t3) ON x.a=t2.b WHERE a IN (1,2) GROUP BY a WITH ROLLUP",
    "INSERT INTO t (a,b) VALUES (1,'it''s'),(x'41',DEFAULT) ON DUPLICATE KEY UPDATE a=VALUES(a)+1",
    "CREATE TABLE t (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, KEY k (b(10) DESC)) ENGINE=InnoDB \
     PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE)",
    "ALTER TABLE t ADD COLUMN (a INT, b INT), DROP KEY k, RENAME TO u, ALGORITHM=INPLACE",
    "GRANT SELECT (a,b), INSERT ON db.* TO 'u'@'%' WITH GRANT OPTION",
    "CREATE PROCEDURE p(IN a INT) BEGIN DECLARE x INT DEFAULT 0; l: LOOP SET x=x+1; LEAVE l; END LOOP l; END",
    "SET @a := 1, GLOBAL max_connections = 10, NAMES utf8mb4 /*!50000 , @@session.x = 2 */",
    "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c) SELECT * FROM c WINDOW w AS (ORDER BY n ROWS 1 PRECEDING)",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        read(&bytes, Options::default());
    }

    #[test]
    fn random_words(words in proptest::collection::vec(prop::sample::select(vec![
        "SELECT", "FROM", "(", ")", ",", "t", "a.b", "1", "'x'", "WHERE", "AND", "IN", "UNION", "JOIN", "ON", "CASE",
        "WHEN", "END", "INTERVAL", "DAY", "+", "-", "NOT", "CREATE", "TABLE", "ALTER", "SET", "=", "@a", "@@b", "BEGIN",
        ";", "/*!50000", "*/", "VALUES", "ROW", "WITH", "AS", "LATERAL", "OVER", "PARTITION", "BY", "{", "}", "?", "`",
    ]), 0..40), ansi in any::<bool>()) {
        let sql_mode = SqlMode { ansi_quotes: ansi, high_not_precedence: ansi, ..SqlMode::default() };
        read(words.join(" ").as_bytes(), Options { sql_mode, multi_statements: ansi, ..Options::default() });
    }

    #[test]
    fn mutated_statements(
        which in 0..STATEMENTS.len(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..6),
    ) {
        let mut bytes = STATEMENTS[which].as_bytes().to_vec();
        for (place, byte, how) in changes {
            if bytes.is_empty() {
                break;
            }
            let place = place.index(bytes.len());
            match how {
                0 => bytes[place] = byte,
                1 => { bytes.remove(place); }
                2 => bytes.insert(place, byte),
                _ => bytes.truncate(place),
            }
        }
        read(&bytes, Options::default());
    }
}

#[test]
fn the_statements_that_are_mutated_are_read() {
    for statement in STATEMENTS {
        assert_eq!(read(statement.as_bytes(), Options::default()), None, "{statement}");
    }
}

/// Runs on a thread with the stack that servers give: 2 MiB.
fn on_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn nesting_ends_in_an_error_and_not_in_the_stack() {
    on_small_stack(|| {
        for (open, middle, close) in [
            ("(", "1", ")"),
            ("((", "SELECT 1", "))"),
            ("(SELECT ", "1", ")"),
            ("NOT ", "1", ""),
            ("- ", "1", ""),
            ("~", "1", ""),
            ("1 BETWEEN 1 AND ", "1", ""),
            ("CASE WHEN ", "1", " THEN 1 END"),
            ("f(", "1", ")"),
            ("IF(1, 2, ", "1", ")"),
            ("@a := ", "1", ""),
            ("1 IN (", "1", ")"),
            ("EXISTS (SELECT 1 FROM t WHERE ", "1", ")"),
            ("(SELECT 1 FROM (SELECT 1 WHERE 1 = ", "1", ") AS t)"),
            ("COUNT(", "1", ") OVER ()"),
            ("{d ", "1", "}"),
            ("CAST(", "1", " AS CHAR)"),
            ("d + INTERVAL ", "1", " DAY"),
        ] {
            for count in [20_000, 100] {
                let text = format!("SELECT {}{middle}{}", open.repeat(count), close.repeat(count));
                let code = read(text.as_bytes(), Options::default());
                if count > 1000 {
                    assert_eq!(code, Some(1436), "{open}");
                }
            }
        }
        for (open, middle, close) in [
            ("SELECT 1 FROM ", "t", ""),
            ("(", "SELECT 1", ")"),
            ("EXPLAIN ", "SELECT 1", ""),
            ("WITH a AS (", "SELECT 1", ") SELECT 1"),
            ("CREATE PROCEDURE p() ", "SELECT 1", ""),
        ] {
            let text = format!("{}{middle}{}", open.repeat(5000), close.repeat(5000));
            assert!(read(text.as_bytes(), Options::default()).is_some(), "{open}");
        }
        let joins = format!("SELECT 1 FROM {}t", "(t JOIN ".repeat(5000));
        assert_eq!(read(joins.as_bytes(), Options::default()), Some(1436));
        let blocks = format!("CREATE PROCEDURE p() {}", "BEGIN ".repeat(5000));
        assert_eq!(read(blocks.as_bytes(), Options::default()), Some(1436));
        let ifs = format!("CREATE PROCEDURE p() {}", "IF 1 THEN ".repeat(5000));
        assert_eq!(read(ifs.as_bytes(), Options::default()), Some(1436));
    });
}

#[test]
fn long_chains_are_read_and_printed() {
    on_small_stack(|| {
        for operator in ["+", "OR", "AND", "=", "DIV", "||", "^", "<<", "IS NULL OR", "XOR", "COLLATE x *"] {
            let text = format!("SELECT 1{}", format!(" {operator} 1").repeat(60_000));
            let arena = Arena::new();
            let expression = first_expression(&arena, text.as_bytes(), Options::default()).unwrap().unwrap();
            let _ = expression.as_integer();
            if operator != "=" && operator != "IS NULL OR" {
                assert!(Parenthesised(&expression, b"").to_string().starts_with('('));
            }
        }
        let unions = "SELECT 1".to_string() + &" UNION SELECT 1".repeat(20_000);
        assert_eq!(read(unions.as_bytes(), Options::default()), None);
        let joins = "SELECT 1 FROM t".to_string() + &" JOIN t ON 1".repeat(20_000);
        assert_eq!(read(joins.as_bytes(), Options::default()), Some(1116));
    });
}
