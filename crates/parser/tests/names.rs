//! What unaliased columns are called: recorded from MySQL 9.7. And trees of statements, by their parts.

use meseta_parser::ast::*;
use meseta_parser::{Arena, Options, Parsed, parse};

fn read<'a>(arena: &'a Arena, text: &'a str) -> Parsed<'a> {
    parse(arena, text.as_bytes(), 0, Options::default()).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

#[test]
fn columns_are_named_by_their_text() {
    for (list, names) in [
        ("1 /* a */ +   1", &["1 /* a */ +   1"][..]),
        (" /* x */ 1 /* y */, 2", &["1", "2"]),
        ("'a' 'b'", &["a"]),
        ("  ( 1 )", &["1"]),
        ("!1+1, -9223372036854775808", &["!1+1", "-9223372036854775808"]),
        ("@a:=1 -- foo\n", &["@a:=1"]),
        ("'  abc', '\\n a'", &["abc", "a"]),
        ("N'a', n'b', x'4142', 0x41", &["a", "b", "x'4142'", "0x41"]),
        ("1 AS 'a '", &["a "]),
        ("a, t.b, `c`", &["a", "b", "c"]),
        ("true, TRUE, ( False ), null, (Null)", &["true", "TRUE", "( False )", "NULL", "NULL"]),
        ("+1, + (+ a), +'a' 'b', +null", &["1", "a", "a", "NULL"]),
        ("+-1, -+1, +true, +(1+2), +b'1'", &["+-1", "-+1", "+true", "+(1+2)", "+b'1'"]),
        ("(a + 1), COUNT( * )", &["(a + 1)", "COUNT( * )"]),
    ] {
        let text = format!("SELECT {list}");
        let arena = Arena::new();
        let parsed = read(&arena, &text);
        let Statement::Query(Query { body: QueryBody::Select(select), .. }) = parsed.statement else {
            panic!("{text}")
        };
        let found: Vec<_> =
            select.items.iter().map(|item| String::from_utf8_lossy(item.name(text.as_bytes()).unwrap())).collect();
        assert_eq!(found, names, "{text}");
    }
}

#[test]
fn statements_follow_each_other() {
    let options = Options { multi_statements: true, ..Options::default() };
    let text = b"SELECT 1; INSERT INTO t VALUES (?, ?) ; BEGIN;";
    let (mut start, mut kinds) = (0, Vec::new());
    let arena = Arena::new();
    loop {
        let parsed = parse(&arena, text, start, options).unwrap();
        kinds.push((std::mem::discriminant(&parsed.statement), parsed.parameters));
        match parsed.next {
            Some(next) => start = next,
            None => break,
        }
    }
    assert_eq!(kinds.iter().map(|kind| kind.1).collect::<Vec<_>>(), [0, 2, 0]);
    assert_eq!(parse(&arena, b"SELECT 1; SELECT 2", 0, Options::default()).unwrap_err().near, b"SELECT 2");
}

#[test]
fn joins_without_conditions_lean_to_the_left() {
    fn shape(reference: &TableReference<'_>) -> String {
        match reference {
            TableReference::Table(table) => String::from_utf8_lossy(&table.name.name.text).into_owned(),
            TableReference::Join(join) => {
                let on = if matches!(join.condition, JoinCondition::None) { "" } else { "*" };
                format!("({} {}{on})", shape(&join.left), shape(&join.right))
            }
            _ => "?".to_string(),
        }
    }
    for (from, expected) in [
        ("a JOIN b JOIN c ON 1", "((a b) c*)"),
        ("a JOIN b JOIN c ON 1 ON 2", "(a (b c*)*)"),
        ("a JOIN b ON 1 JOIN c ON 2", "((a b*) c*)"),
        ("a JOIN b JOIN c JOIN d", "(((a b) c) d)"),
        ("a LEFT JOIN b JOIN c ON 1 ON 2", "(a (b c*)*)"),
        ("a JOIN (b JOIN c ON 1)", "(a (b c*))"),
        ("a NATURAL JOIN b STRAIGHT_JOIN c", "((a b) c)"),
    ] {
        let text = format!("SELECT 1 FROM {from}");
        let arena = Arena::new();
        let parsed = read(&arena, &text);
        let Statement::Query(Query { body: QueryBody::Select(select), .. }) = parsed.statement else {
            panic!("{text}")
        };
        assert_eq!(shape(&select.from[0]), expected, "{from}");
    }
}

#[test]
fn an_insert_has_its_rows() {
    let arena = Arena::new();
    let parsed =
        read(&arena, "INSERT IGNORE INTO d.t (a, b) VALUES (1, DEFAULT), (-2, 'x') AS n ON DUPLICATE KEY UPDATE a=n.a");
    let Statement::Insert(insert) = parsed.statement else { panic!() };
    assert!(insert.ignore && !insert.replace && insert.row_alias.is_some());
    assert_eq!((insert.columns.unwrap().len(), insert.on_duplicate.len()), (2, 1));
    let InsertSource::Rows(rows) = insert.source else { panic!() };
    assert!(matches!(rows[0][1].kind, ExpressionKind::Default));
    assert_eq!(rows[1][0].as_integer(), Some(-2));
    let text = "SELECT -9223372036854775808";
    let parsed = read(&arena, text);
    let Statement::Query(Query { body: QueryBody::Select(select), .. }) = parsed.statement else { panic!() };
    let SelectItem::Expression { expression, .. } = select.items[0] else { panic!() };
    assert_eq!(expression.as_integer(), Some(i128::from(i64::MIN)));
}
