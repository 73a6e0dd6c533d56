//! What is lifted and what stays; and that spans are those of the tree's literals.

use super::*;

fn shape(text: &str) -> String {
    let mut normaliser = Normaliser::new();
    let shape = normaliser.shape(text.as_bytes(), 0, Options::default());
    String::from_utf8_lossy(shape.text).replace('\0', "?")
}

#[test]
fn literals_that_are_only_values_are_lifted() {
    for (text, expected) in [
        ("SELECT c FROM t WHERE id=1", "SELECT c FROM t WHERE id=?i"),
        ("SELECT c FROM t WHERE id = -1 AND s='it''s'", "SELECT c FROM t WHERE id = -?i AND s=?s"),
        ("SELECT c FROM t WHERE a IN (1,2.50,3e0)", "SELECT c FROM t WHERE a IN (?i,?d2,?f)"),
        ("SELECT c FROM t WHERE a IN(1) LIMIT 5, 6", "SELECT c FROM t WHERE a IN(?i) LIMIT ?i, ?i"),
        ("INSERT INTO t VALUES (1,'x'),(2,NULL)", "INSERT INTO t VALUES (?i,?s),(?i,NULL)"),
        (
            "insert into t(a,b) values(1,2) on duplicate key update a=3",
            "insert into t(a,b) values(?i,?i) on duplicate key update a=?i",
        ),
        ("SELECT a FROM t WHERE b LIKE 'x%'", "SELECT a FROM t WHERE b LIKE ?s"),
        ("UPDATE t SET k=k+1 WHERE id=2", "UPDATE t SET k=k+?i WHERE id=?i"),
        ("DELETE FROM t WHERE d < x - INTERVAL 3 DAY", "DELETE FROM t WHERE d < x - INTERVAL ?i DAY"),
        ("SELECT a FROM t WHERE b=(SELECT 1 FROM u WHERE c=2)", "SELECT a FROM t WHERE b=(SELECT 1 FROM u WHERE c=?i)"),
        ("SELECT a FROM t WHERE b=1; SELECT 2", "SELECT a FROM t WHERE b=?i"),
    ] {
        assert_eq!(shape(text), expected, "{text}");
    }
}

#[test]
fn literals_that_mean_more_stay() {
    for text in [
        "SELECT 1, 'a', f(2) FROM t",
        "SELECT a FROM t GROUP BY 1 ORDER BY 2",
        "SELECT a FROM t ORDER BY (a + 1)",
        "SELECT a FROM t WHERE b = ROUND(c, 2)",
        "SELECT a FROM t WHERE b = CAST(c AS CHAR(10))",
        "SELECT a FROM t WHERE b = CONVERT(c, CHAR(10))",
        "SELECT a FROM t WHERE b -> '$.a' = c",
        "SELECT a FROM t WHERE b LIKE c ESCAPE '|'",
        "SELECT a FROM t WHERE b LIKE '%x' OR b NOT LIKE \"_y%\"",
        "SELECT a FROM t WHERE b = 'x' 'y'",
        "SELECT a FROM t WHERE b = _utf8mb4'x' OR b = N'x' OR b = x'41'",
        "SELECT a FROM t WHERE b = DATE '2026-01-01'",
        "SELECT a FROM t WHERE b = 9223372036854775808",
        "SELECT a FROM t WHERE b = /*!50000 1 + */ 2",
        "SELECT a FROM t WHERE b = NULL OR c = TRUE OR d = ?",
        "SELECT SUM(a) OVER (ORDER BY b ROWS 5 PRECEDING) FROM t",
        "SET @a = 1",
        "SELECT a FROM t WHERE b = 'x",
        "SELECT a FROM t LIMIT x) 1",
        "SELECT a FROM JSON_TABLE('[1]', '$' COLUMNS (a INT PATH '$.a')) AS j",
    ] {
        assert_eq!(shape(text), text);
    }
}

#[test]
fn types_make_shapes_differ_and_values_do_not() {
    let mut normaliser = Normaliser::new();
    let mut hash = |text: &str| normaliser.shape(text.as_bytes(), 0, Options::default()).hash(7);
    let one = hash("SELECT c FROM t WHERE id=1");
    assert_eq!(one, hash("SELECT c FROM t WHERE id=12345"));
    assert_ne!(one, hash("SELECT c FROM t WHERE id='1'"));
    assert_ne!(one, hash("SELECT c FROM t WHERE id=1.0"));
    assert_ne!(one, hash("SELECT c FROM t WHERE ie=1"));
    assert_ne!(hash("SELECT c FROM t WHERE id=1.0"), hash("SELECT c FROM t WHERE id=1.00"));
}

#[test]
fn spans_are_those_of_the_literals_in_the_text() {
    let text = b"SELECT 5 FROM t WHERE a='b' AND c=12 LIMIT 3";
    let mut normaliser = Normaliser::new();
    let shape = normaliser.shape(text, 0, Options::default());
    let found: Vec<_> = shape.literals.iter().map(|literal| literal.span.of(text)).collect();
    assert_eq!(found, [&b"'b'"[..], b"12", b"3"]);
}
