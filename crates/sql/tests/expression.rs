//! Evaluates what `expression/cases.tsv` recorded from a real MySQL, and compares values, conditions and types.
//!
//! `expression/known.txt` says of which expressions (by their first word) how many differ: in their values, in their
//! conditions only, in the announced type only. A difference beyond these fails the test; so does an expression that is
//! right now and was not before, since the list is to be true.
//!
//! With MESETA_SHOW_DIFFERENCES set, all differences are printed; with MESETA_WRITE_KNOWN set, the list is written anew.

use std::collections::BTreeMap;

use bumpalo::Bump;
use meseta_parser::{Options, ast, first_expression};
use meseta_sql::expression::{
    BindFacts, BoundSubquery, Env, Expr, ExprKind, Host, NoHost, ResolvedColumn, Scope, SystemVariable, bind,
};
use meseta_sql::{Error, Result};
use meseta_types::datatype::Number;
use meseta_types::{
    Charset, Collation, Context, DataType, Datum, Decimal, IntegerSize, Members, SqlMode, TextSize, Zone,
};

const COLLATION: Collation = Collation::Utf8mb4_0900AiCi;

/// The table `t` of the recorded results: names and types, and its one row.
struct Table {
    columns: Vec<(&'static str, DataType, bool)>,
}

impl Table {
    fn new() -> Table {
        let integer = |size, unsigned| DataType::Integer {
            size,
            number: Number { unsigned, zerofill: false },
            display_width: None,
        };
        let members =
            |names: &[&str]| std::sync::Arc::new(Members::new(names.iter().map(|name| name.as_bytes()), COLLATION));
        let columns = vec![
            ("i", integer(IntegerSize::Int, false), true),
            ("u", integer(IntegerSize::Int, true), true),
            ("b", integer(IntegerSize::Big, false), true),
            ("bu", integer(IntegerSize::Big, true), true),
            ("ti", integer(IntegerSize::Tiny, false), false),
            ("n", integer(IntegerSize::Int, false), true),
            ("d", DataType::decimal(10, 2), true),
            ("f", DataType::Float { digits: None, number: Number::default() }, true),
            ("r", DataType::DOUBLE, true),
            ("s", DataType::varchar(20, COLLATION), true),
            ("c", DataType::Char { length: 5, collation: Collation::Latin1SwedishCi }, true),
            ("x", DataType::varchar(10, Collation::Binary), true),
            ("te", DataType::Text { size: TextSize::Normal, collation: COLLATION }, true),
            ("bi", DataType::varchar(10, Collation::Utf8mb4Bin), true),
            ("da", DataType::Date, true),
            ("ts", DataType::DateTime { decimals: 3 }, true),
            ("tm", DataType::Time { decimals: 0 }, true),
            ("y", DataType::Year, true),
            ("e", DataType::Enum(members(&["red", "green"])), true),
            ("se", DataType::Set(members(&["a", "b", "c"])), true),
            ("bt", DataType::Bit { width: 10 }, true),
            ("j", DataType::Json, true),
        ];
        Table { columns }
    }

    fn row<'v>(&'v self, arena: &'v Bump) -> Vec<Datum<'v>> {
        let date = meseta_types::Date { year: 2020, month: 2, day: 29 };
        let member = |column: usize, number: u64, set: bool| match &self.columns[column].1 {
            DataType::Enum(members) | DataType::Set(members) => Datum::Member { number, members, set },
            _ => Datum::Null,
        };
        let document = meseta_types::json::parse(br#"{"a": [1, 2, {"b": null}], "c": "x"}"#).expect("it is JSON");
        vec![
            Datum::Signed(-7),
            Datum::Unsigned(7),
            Datum::Signed(i64::MAX),
            Datum::Unsigned(u64::MAX),
            Datum::Signed(1),
            Datum::Null,
            Datum::Decimal(Decimal::parse(b"123.45").value),
            Datum::Float(1.5),
            Datum::Double(-2.25),
            Datum::Text(b"Abc", COLLATION),
            Datum::Text(b"xy", Collation::Latin1SwedishCi),
            Datum::Text(b"\0a\xff", Collation::Binary),
            Datum::Text(b"2020-02-29", COLLATION),
            Datum::Text(b"Abc", Collation::Utf8mb4Bin),
            Datum::Date(date),
            Datum::DateTime(meseta_types::DateTime { date, hour: 10, minute: 11, second: 12, micros: 345_000 }, 3),
            Datum::Time(meseta_types::Time::from_micros(-(10 * 3600 + 11 * 60 + 12) * 1_000_000).0, 0),
            Datum::Unsigned(2024),
            member(18, 2, false),
            member(19, 5, true),
            Datum::Bits { bits: 5, width: 10 },
            Datum::Json(arena.alloc_slice_copy(&document.to_document().expect("it is not deep"))),
        ]
    }
}

struct Columns<'t>(&'t Table);

impl Scope for Columns<'_> {
    fn column(&mut self, name: &ast::ColumnName<'_>) -> Result<ResolvedColumn> {
        let column = String::from_utf8_lossy(name.column.text.0).to_lowercase();
        let table = name.table.as_ref().map(|table| String::from_utf8_lossy(table.text.0).into_owned());
        let found = self.0.columns.iter().position(|(own, ..)| *own == column);
        match found {
            Some(at) if table.as_deref().is_none_or(|table| table == "t") => Ok(ResolvedColumn {
                kind: ExprKind::Column(at as u32),
                data_type: self.0.columns[at].1.clone(),
                nullable: self.0.columns[at].2,
                collated: None,
            }),
            _ => {
                let written = table.map_or(String::new(), |table| table + ".") + &column;
                Err(Error::new(meseta_errors::ErrorCode(1054), &[&written, &"field list"]))
            }
        }
    }

    fn column_text(&self, name: &ast::ColumnName<'_>) -> Option<String> {
        Some(format!("`meseta_expression_record`.`t`.`{}`", String::from_utf8_lossy(name.column.text.0)))
    }

    fn aggregate(&mut self, _aggregate: &ast::Aggregate<'_>) -> Result<Expr> {
        Err(Error::not_yet("aggregates"))
    }

    fn subquery(&mut self, _query: &ast::Query<'_>) -> Result<BoundSubquery> {
        Err(Error::not_yet("subqueries"))
    }

    fn default_value(&mut self, _column: Option<&ast::ColumnName<'_>>) -> Result<Expr> {
        Err(Error::not_yet("DEFAULT"))
    }

    fn inserted_value(&mut self, _column: &ast::ColumnName<'_>) -> Result<Expr> {
        Err(Error::not_yet("VALUES"))
    }
}

#[derive(Default)]
struct Session {
    random: Option<meseta_sql::expression::random::Random>,
}

impl Host for Session {
    fn subquery(
        &mut self,
        _number: u32,
        _rows: &[&[Datum<'_>]],
        _context: &mut Context,
        _show: &mut dyn FnMut(&[Datum<'_>]) -> Result<bool>,
    ) -> Result<()> {
        Err(Error::not_yet("subqueries"))
    }

    fn statement_time(&self) -> i64 {
        1_600_000_000_000_000
    }

    fn seeded_random(&mut self, _site: usize) -> Option<&mut Option<meseta_sql::expression::random::Random>> {
        self.random = None;
        Some(&mut self.random)
    }

    fn sleep(&mut self, _seconds: f64) -> Result<bool> {
        Ok(false)
    }

    fn user(&self) -> &str {
        "bench@localhost"
    }

    fn system_variable(&mut self, variable: &SystemVariable, _show: &mut dyn FnMut(Datum<'_>)) -> Result<()> {
        Err(Error::new(meseta_errors::ER_UNKNOWN_SYSTEM_VARIABLE, &[&variable.name]))
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r").replace('\0', "\\0")
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        out.push(match character {
            '\\' => match characters.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('0') => '\0',
                Some(other) => other,
                None => '\\',
            },
            other => other,
        });
    }
    out
}

struct Answer {
    value: String,
    conditions: String,
    kind: String,
}

fn conditions(context: &Context) -> String {
    let text = |warning: &meseta_types::Warning| {
        escape(&format!("{} {} {}", warning.level.name(), warning.condition.number, warning.condition.message))
    };
    context.warnings.kept().iter().map(text).collect::<Vec<_>>().join(" | ")
}

fn shown(expr: &Expr, value: Datum<'_>) -> String {
    if value.is_null() {
        return "\\N".into();
    }
    let mut text = Vec::new();
    expr.data_type.append_text(value, &mut text);
    if let Datum::Text(_, collation) = value
        && collation.charset() != Charset::Binary
    {
        let mut converted = Vec::new();
        collation.charset().convert(&text, Charset::Utf8mb4, &mut converted);
        text = converted;
    }
    match std::str::from_utf8(&text) {
        Ok(text) => escape(text),
        Err(_) => format!("\\x{}", text.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
    }
}

fn answer(expression: &str, table: &Table) -> Answer {
    let failed = |code: u16, message: &str| Answer {
        value: format!("!{code} {}", escape(message)),
        conditions: String::new(),
        kind: "\t\t\t\t".into(),
    };
    let arena = Bump::new();
    let statement = format!("SELECT {expression}");
    let parsed = match first_expression(&arena, statement.as_bytes(), Options::default()) {
        Ok(Some(parsed)) => parsed,
        Ok(None) => return failed(0, "no expression"),
        Err(error) => return failed(error.code(), &error.to_string()),
    };
    let facts = BindFacts { text: statement.as_bytes(), collation: COLLATION, ..BindFacts::default() };
    let expr = match bind(&parsed, &mut Columns(table), &facts) {
        Ok(expr) => expr,
        Err(error) => return failed(error.code.0, &error.message),
    };
    let values = Bump::new();
    let row = table.row(&values);
    // A SELECT is not strict.
    let mut context = Context::new(SqlMode { strict: false, ..SqlMode::DEFAULT });
    context.zone = Zone::UTC;
    context.today = meseta_types::Date { year: 2020, month: 9, day: 13 };
    let mut session = Session::default();
    let value = {
        let mut env = Env { arena: &values, context: &mut context, slots: &[], outer: &[], host: &mut session };
        expr.evaluate(&row, &mut env)
    };
    let value = match value {
        Ok(value) => shown(&expr, value),
        Err(error) => return failed(error.code.0, &error.message),
    };
    let flags =
        format!("{}{}", if expr.nullable { "" } else { "N" }, if expr.data_type.is_unsigned() { "U" } else { "" });
    let kind = format!(
        "{}\t{}\t{}\t{flags}\t{}",
        expr.data_type.type_code() as u8,
        expr.column_length(Charset::Utf8mb4),
        expr.column_decimals(),
        expr.column_charset(COLLATION)
    );
    Answer { value, conditions: conditions(&context), kind }
}

/// The first word of an expression, or what it begins with.
fn family(expression: &str) -> String {
    let word: String =
        expression.chars().take_while(|character| character.is_ascii_alphanumeric() || *character == '_').collect();
    let called = expression[word.len()..].starts_with('(');
    if called && word.len() > 1 { word.to_lowercase() } else { "operators".into() }
}

#[test]
fn recorded_expressions() {
    let folder = format!("{}/tests/expression", env!("CARGO_MANIFEST_DIR"));
    let cases =
        std::fs::read_to_string(format!("{folder}/cases.tsv")).expect("the recorded results are part of the tree");
    let table = Table::new();
    let show = std::env::var("MESETA_SHOW_DIFFERENCES").ok();
    let mut found: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    let mut total = 0;
    for line in cases.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [expression, kind @ .., value, conditions] = &fields[..] else { panic!("a case has eight fields: {line}") };
        let (expression, kind) = (unescape(expression), kind.join("\t"));
        let own = answer(&expression, &table);
        total += 1;
        let difference = if own.value != *value {
            0
        } else if own.conditions != *conditions {
            1
        } else if own.kind != kind {
            2
        } else {
            continue;
        };
        let family = family(&expression);
        if show.as_deref().is_some_and(|wanted| wanted.is_empty() || wanted == "1" || family == wanted) {
            let (is, should) =
                [(&own.value[..], *value), (&own.conditions, conditions), (&own.kind, &kind)][difference];
            println!("{}: {expression}\n     is {is}\n should {should}", ["VALUE", "CONDITION", "TYPE"][difference]);
        }
        found.entry(family).or_default()[difference] += 1;
    }
    let listed: String = found
        .iter()
        .map(|(family, [values, conditions, types])| format!("{family}\t{values}\t{conditions}\t{types}\n"))
        .collect();
    let sums = found.values().fold([0; 3], |sums, each| [sums[0] + each[0], sums[1] + each[1], sums[2] + each[2]]);
    println!("{total} expressions, {} values, {} conditions, {} types differ", sums[0], sums[1], sums[2]);
    let path = format!("{folder}/known.txt");
    if std::env::var_os("MESETA_WRITE_KNOWN").is_some() {
        std::fs::write(&path, &listed).expect("the list can be written");
    }
    let known = std::fs::read_to_string(&path).expect("the list is part of the tree");
    assert_eq!(listed, known, "differences: see MESETA_SHOW_DIFFERENCES");
}

#[test]
fn constants_need_no_session() {
    let arena = Bump::new();
    let parsed =
        first_expression(&arena, b"SELECT 1 + 2 * 3", Options::default()).expect("it parses").expect("it is there");
    let expr = bind(&parsed, &mut Columns(&Table::new()), &BindFacts::default()).expect("it binds");
    assert!(matches!(expr.as_constant(), Some(Datum::Signed(7))), "{expr:?}");
    let mut context = Context::default();
    let mut env = Env { arena: &arena, context: &mut context, slots: &[], outer: &[], host: &mut NoHost };
    assert!(expr.is_true(&[], &mut env).expect("it is a number"));
}

#[test]
fn long_chains_do_not_need_the_stack() {
    for (operator, operand) in [("+", "1"), ("AND", "1"), ("OR", "0"), ("|", "2"), ("XOR", "i"), ("+", "i")] {
        let mut text = format!("SELECT {operand}");
        for _ in 0..50_000 {
            text += &format!(" {operator} {operand}");
        }
        let arena = Bump::new();
        let parsed =
            first_expression(&arena, text.as_bytes(), Options::default()).expect("it parses").expect("it is there");
        let table = Table::new();
        let facts = BindFacts { text: text.as_bytes(), ..BindFacts::default() };
        let expr = bind(&parsed, &mut Columns(&table), &facts).expect("it binds");
        let row = table.row(&arena);
        let mut context = Context::default();
        let mut env = Env { arena: &arena, context: &mut context, slots: &[], outer: &[], host: &mut NoHost };
        assert!(!expr.clone().evaluate(&row, &mut env).expect("it has a value").is_null());
    }
}

/// What `docs/functions.md` says of differences that are meant.
const DIFFERENCES: &str = "
## Otherwise than in MySQL 9.7, on purpose

- MD5, SHA and SHA1 are there, as in MySQL 8.4; 9.7 has them in a component only.
- GREATEST and LEAST of dates and of what is no date: what is no date does not count. (MySQL answers 16383-15-31, or adds
  zeros to the fraction.)
- CAST(18446744073709551615 AS TIME) is NULL, out of range; MySQL takes it for -1. ROUND(x'41', -1) is 70, not 60.
- A text of a TEXT or BLOB column that is no number is warned of by DIV, the bit operators and functions of integers.
- Warnings for documents that are no numbers (3156) do not name the column.
- WEIGHT_STRING of numbers, dates and documents is NULL. Regular expressions have no look-around and no back references.
- JSON_SEARCH at other paths than `$` is error 1235.
";

/// `docs/functions.md` says which functions there are.
#[test]
fn functions_are_listed() {
    use meseta_sql::expression::function;
    let mut there: Vec<&str> = function::all().map(|function| function.name).collect();
    there.sort_unstable();
    let list = |names: &[&str]| names.iter().map(|name| format!("- {}\n", name.to_uppercase())).collect::<String>();
    let text = format!(
        "# Functions\n\nOf MySQL 9.7, by name. Aggregates, CASE, CAST, CONVERT and operators aside. A test compares this list with \
         the program.\n\n## There\n\n{}\n## Not there yet: error 1235\n\n{}- all of geometry: ST_*, MBR*\n{DIFFERENCES}",
        list(&there),
        list(function::MISSING)
    );
    let path = format!("{}/../../docs/functions.md", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("MESETA_WRITE_KNOWN").is_some() {
        std::fs::write(&path, &text).expect("the list can be written");
    }
    assert_eq!(std::fs::read_to_string(&path).expect("the list is part of the tree"), text);
    assert!(function::MISSING.is_sorted(), "it is searched");
    assert!(function::MISSING.iter().all(|name| function::find(name).is_none()), "what is there is not missing");
}

/// Functions of which it is said that they are NULL if an argument is.
#[test]
fn functions_of_null_are_null() {
    use meseta_sql::expression::function::{NULL_OF_NULL, find};
    assert!(NULL_OF_NULL.is_sorted(), "it is searched");
    let (table, others) = (Table::new(), ["2", "'a'", "da", "tm", "d", "j", "'$.a'", "'%Y'"]);
    for name in NULL_OF_NULL {
        let function = find(name).expect("it is there");
        let mut answered = 0;
        for count in 1.max(function.least)..=function.most.min(4) {
            let combinations = others.len().pow(u32::from(count) - 1);
            for (null, combination) in (0..count).flat_map(|null| (0..combinations).map(move |each| (null, each))) {
                let mut rest = combination;
                let mut argument = |at| {
                    if at == null {
                        return "n";
                    }
                    let other = others[rest % others.len()];
                    rest /= others.len();
                    other
                };
                let arguments: Vec<&str> = (0..count).map(&mut argument).collect();
                let call = match (*name, &arguments[..]) {
                    ("date_add" | "adddate" | "subdate", [date, interval]) => {
                        format!("{name}({date}, INTERVAL {interval} DAY)")
                    }
                    ("timestampadd" | "timestampdiff", [left, right]) => format!("{name}(DAY, {left}, {right})"),
                    ("extract", [date]) => format!("extract(YEAR FROM {date})"),
                    ("position", [part, text]) => format!("position({part} IN {text})"),
                    _ => format!("{name}({})", arguments.join(", ")),
                };
                let answer = answer(&call, &table);
                if !answer.value.starts_with('!') {
                    assert_eq!(answer.value, "\\N", "{call}");
                    answered += 1;
                }
            }
        }
        assert!(answered > 0, "{name} was called");
    }
}

mod random {
    use super::*;
    use proptest::prelude::*;

    fn operand() -> impl Strategy<Value = String> {
        let values = prop::sample::select(vec![
            "NULL",
            "0",
            "-1",
            "9223372036854775807",
            "18446744073709551615",
            "1e308",
            "-1e-300",
            "99999999999999999999.99",
            "''",
            "'abc'",
            "'9999-12-31'",
            "'838:59:59'",
            "x'ff00'",
            "DATE'9999-12-31'",
            "TIME'-838:59:59'",
            "TIMESTAMP'0001-01-01 00:00:00'",
            "CAST('[1]' AS JSON)",
            "i",
            "bu",
            "s",
            "x",
            "da",
            "ts",
            "tm",
            "e",
            "se",
            "bt",
            "j",
            "'%_'",
        ]);
        let leaf = values.prop_map(str::to_owned);
        leaf.prop_recursive(4, 24, 4, |inner| {
            let functions: Vec<&str> = meseta_sql::expression::function::all()
                .map(|function| function.name)
                .filter(|name| !["benchmark", "sleep", "member of", "repeat", "space"].contains(name))
                .collect();
            let operators = prop::sample::select(vec![
                "+", "-", "*", "/", "DIV", "%", "&", "|", "<<", "=", "<=>", "<", "AND", "OR", "XOR", "LIKE",
            ]);
            prop_oneof![
                (inner.clone(), operators, inner.clone()).prop_map(|(a, operator, b)| format!("({a} {operator} {b})")),
                (prop::sample::select(functions), prop::collection::vec(inner.clone(), 0..4))
                    .prop_map(|(name, arguments)| format!("{name}({})", arguments.join(", "))),
                (inner.clone(), inner.clone(), inner.clone())
                    .prop_map(|(a, b, c)| format!("({a} BETWEEN {b} AND {c})")),
                (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("CASE {a} WHEN {b} THEN {b} ELSE {a} END")),
                (
                    inner.clone(),
                    prop::sample::select(vec!["SIGNED", "CHAR(3)", "DATETIME(3)", "DECIMAL(65,30)", "JSON", "TIME"])
                )
                    .prop_map(|(a, target)| format!("CAST({a} AS {target})")),
                (inner.clone(), inner, prop::sample::select(vec!["SECOND", "YEAR_MONTH", "DAY_MICROSECOND", "MONTH"]))
                    .prop_map(|(a, b, unit)| format!("({a} + INTERVAL {b} {unit})")),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// Whatever is asked, there is a value or an error.
        #[test]
        fn expressions_do_not_panic(expression in operand()) {
            answer(&expression, &Table::new());
        }
    }
}

/// Aggregates over rows whose column `i` is 1, 2, 2, NULL and `s` is b, a, A, NULL.
#[test]
fn aggregates() {
    use meseta_sql::expression::aggregate::bind_aggregate;
    let table = Table::new();
    for (text, expected) in [
        ("COUNT(*)", "4"),
        ("COUNT(i)", "3"),
        ("COUNT(DISTINCT i)", "2"),
        ("COUNT(DISTINCT s)", "2"),
        ("SUM(i)", "5"),
        ("SUM(DISTINCT i)", "3"),
        ("AVG(i)", "1.6667"),
        ("MIN(i)", "1"),
        ("MAX(s)", "b"),
        ("SUM(n)", "\\N"),
        ("COUNT(n)", "0"),
        ("BIT_AND(n)", "18446744073709551615"),
        ("BIT_OR(i)", "3"),
        ("BIT_XOR(i)", "1"),
        ("VAR_POP(i)", "0.2222222222222222"),
        ("STDDEV_SAMP(n)", "\\N"),
        ("GROUP_CONCAT(s)", "b,a,A"),
        ("GROUP_CONCAT(DISTINCT s ORDER BY s DESC SEPARATOR '-')", "b-a"),
        ("GROUP_CONCAT(i, s ORDER BY 1 DESC)", "2a,2A,1b"),
        ("JSON_ARRAYAGG(i)", "[1, 2, 2, null]"),
        ("JSON_OBJECTAGG(COALESCE(s, 'z'), i)", "{\"A\": 2, \"a\": 2, \"b\": 1, \"z\": null}"),
    ] {
        let arena = Bump::new();
        let statement = format!("SELECT {text}");
        let parsed = first_expression(&arena, statement.as_bytes(), Options::default());
        let parsed = parsed.expect("it parses").expect("it is there");
        let ast::ExpressionKind::Aggregate(aggregate) = parsed.kind else { panic!("{text} is an aggregate") };
        let facts = BindFacts { text: statement.as_bytes(), ..BindFacts::default() };
        let call = bind_aggregate(aggregate, &mut Columns(&table), &facts).expect("it binds");
        let rows: Vec<Vec<Datum<'_>>> = [(Some(1), "b"), (Some(2), "a"), (Some(2), "A"), (None, "")]
            .into_iter()
            .map(|(number, name)| {
                let mut row = table.row(&arena);
                row[0] = number.map_or(Datum::Null, Datum::Signed);
                row[9] = if number.is_some() { Datum::Text(name.as_bytes(), COLLATION) } else { Datum::Null };
                row
            })
            .collect();
        let mut context = Context::default();
        let mut session = Session::default();
        let mut env = Env { arena: &arena, context: &mut context, slots: &[], outer: &[], host: &mut session };
        let mut accumulator = call.accumulator();
        for row in &rows {
            call.add_row(&mut accumulator, row, &mut env).expect("it is added");
        }
        let value = accumulator.finish(&call, &mut env).expect("it has a result");
        let mut shown = Vec::new();
        call.data_type.append_text(value, &mut shown);
        let shown = if value.is_null() { "\\N".into() } else { String::from_utf8_lossy(&shown).into_owned() };
        assert_eq!(shown, expected, "{text}");
    }
}

#[test]
fn keys_of_groups_are_equal_where_values_are() {
    use meseta_sql::expression::group::append_group_key;
    let key = |value: Datum<'_>| {
        let mut out = Vec::new();
        append_group_key(value, COLLATION, &mut out);
        out
    };
    let decimal = |text: &str| Datum::Decimal(Decimal::parse(text.as_bytes()).value);
    assert_eq!(key(Datum::text("Straße")), key(Datum::text("STRASSE")));
    assert_ne!(key(Datum::text("a")), key(Datum::text("a ")));
    assert_eq!(key(Datum::Signed(5)), key(Datum::Unsigned(5)));
    assert_ne!(key(Datum::Signed(-1)), key(Datum::Unsigned(u64::MAX)));
    assert_eq!(key(decimal("1.50")), key(decimal("1.5")));
    assert_eq!(key(Datum::Double(0.0)), key(Datum::Double(-0.0)));
    assert_ne!(key(Datum::Null), key(Datum::text("")));
}
