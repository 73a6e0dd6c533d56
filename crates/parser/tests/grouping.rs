//! How operators group. `data/grouping.txt` has an expression a line, a tab, and the same with all parentheses, or
//! `ERROR`. Each line was tried on MySQL 9.7: both sides have one value there, or it refuses the left side.

use meseta_parser::{Arena, Options, Parenthesised, SqlMode, first_expression};

fn grouped(expression: &str, options: Options) -> String {
    let text = format!("SELECT {expression}");
    let arena = Arena::new();
    match first_expression(&arena, text.as_bytes(), options) {
        Ok(Some(expression)) => Parenthesised(&expression, text.as_bytes()).to_string(),
        Ok(None) => "no expression".to_string(),
        Err(_) => "ERROR".to_string(),
    }
}

#[test]
fn pairs_of_operators_group_as_on_the_server() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in include_str!("data/grouping.txt").lines() {
        let (expression, expected) = line.split_once('\t').expect("a tab in each line");
        let found = grouped(expression, Options::default());
        if found != expected {
            wrong.push(format!("{expression}: {found} in place of {expected}"));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 1000);
}

#[test]
fn expressions_group_by_hand() {
    for (expression, expected) in [
        ("a = b BETWEEN 1 AND 2 + 3", "(`a`=(`b` between 1 and (2+3)))"),
        ("a BETWEEN 1 AND 2 AND b", "((`a` between 1 and 2) and `b`)"),
        ("NOT a IN (1) OR b", "((not (`a` in (1))) or `b`)"),
        ("a IS NULL = b", "((`a` is null)=`b`)"),
        ("- a COLLATE c", "(-(`a` collate c))"),
        ("BINARY a = b", "((binary `a`)=`b`)"),
        ("! a + b", "((!`a`)+`b`)"),
        ("a -> '$.x' = 1", "((`a`->'$.x')=1)"),
        ("a MEMBER OF (b) = c", "((`a` member of (`b`))=`c`)"),
        ("a + INTERVAL 1 DAY - INTERVAL b + 1 HOUR", "((`a`+interval 1 day)-interval (`b`+1) hour)"),
        ("INTERVAL 1 DAY + a", "(`a`+interval 1 day)"),
        ("INTERVAL(1,2,3) + 1", "(interval(1,2,3)+1)"),
        ("@a := 1 + 2", "(@'a':=(1+2))"),
        ("((SELECT 1)) + 1", "((SELECT 1)+1)"),
        ("((SELECT 1) UNION (SELECT 2)) = 3", "(((SELECT 1) UNION (SELECT 2))=3)"),
        ("(a, b) = (1, 2)", "(row(`a`,`b`)=row(1,2))"),
        ("-9223372036854775808", "(-9223372036854775808)"),
        ("a LIKE b ESCAPE '|' AND c", "((`a` like `b` escape '|') and `c`)"),
        ("a SOUNDS LIKE b = c", "((`a` sounds like `b`)=`c`)"),
        ("CASE a WHEN 1 THEN 2 ELSE 3 END + 1", "((case `a` when 1 then 2 else 3 end)+1)"),
    ] {
        assert_eq!(grouped(expression, Options::default()), expected, "{expression}");
    }
}

#[test]
fn modes_change_the_grouping() {
    let pipes = Options { sql_mode: SqlMode { pipes_as_concat: true, ..SqlMode::default() }, ..Options::default() };
    assert_eq!(grouped("a || b ^ c", pipes), "((`a`||`b`)^`c`)");
    assert_eq!(grouped("- a || b", pipes), "((-`a`)||`b`)");
    let not = Options { sql_mode: SqlMode { high_not_precedence: true, ..SqlMode::default() }, ..Options::default() };
    assert_eq!(grouped("NOT a BETWEEN 1 AND 2", not), "((not `a`) between 1 and 2)");
    assert_eq!(grouped("a NOT IN (1)", not), "(`a` not in (1))");
}
