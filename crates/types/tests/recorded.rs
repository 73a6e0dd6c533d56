//! Runs what `recorded/*.tsv` recorded from a real MySQL, and compares.
//!
//! `recorded/known.txt` says for which operations (the first field of a case) this crate answers otherwise, and for how
//! many cases: mostly a warning that MySQL gives twice, a text that it cuts off in a way of its own, and a date in
//! JSON. A case beyond these fails the test; so does a case that is right now and was not before, since the list is to
//! be true.
//!
//! With MESETA_SHOW_DIFFERENCES set, all differences are printed.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use bumpalo::Bump;
use meseta_types::arithmetic::{self, Operator};
use meseta_types::temporal::{self, IntervalUnit, WeekMode};
use meseta_types::*;

const COLLATION: Collation = Collation::Utf8mb4_0900AiCi;

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
                Some('N') => return "NULL\u{0}".into(),
                Some(other) => other,
                None => '\\',
            },
            other => other,
        });
    }
    out
}

/// A case: fields, the recorded result, the recorded conditions.
fn cases(file: &str) -> Vec<(Vec<String>, String, String)> {
    let path = format!("{}/tests/recorded/{file}.tsv", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the recorded results are part of the repository");
    text.lines()
        .map(|line| {
            let mut fields: Vec<String> = line
                .split('\t')
                .map(
                    |field| {
                        if field == "\\N" || field.starts_with("\\x") { field.to_string() } else { unescape(field) }
                    },
                )
                .collect();
            let conditions = fields.pop().expect("a case has conditions");
            let result = fields.pop().expect("a case has a result");
            (fields, result, conditions)
        })
        .collect()
}

/// What our side says, in the form of the recorded results.
fn shown(bytes: Option<&[u8]>) -> String {
    match bytes {
        None => "\\N".into(),
        Some(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_string(),
            Err(_) => format!("\\x{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
        },
    }
}

fn client_text(value: Datum<'_>) -> String {
    let mut out = Vec::new();
    value.append_text(&mut out);
    shown((!value.is_null()).then_some(&out[..]))
}

fn conditions(context: &Context) -> String {
    let each = context.warnings.kept().iter();
    let text = |warning: &Warning| {
        format!("{} {} {}", warning.level.name(), warning.condition.number, warning.condition.message)
    };
    each.map(text).collect::<Vec<_>>().join(" | ")
}

fn failed(error: &SqlError) -> String {
    format!("!{} {}", error.number, error.message)
}

fn datum<'a>(notation: &'a str, arena: &'a Bump) -> Datum<'a> {
    let (kind, text) = notation.split_once(':').expect("a value has a kind");
    let bytes = text.as_bytes();
    match kind {
        "i" => text.parse().map(Datum::Signed).or_else(|_| text.parse().map(Datum::Unsigned)).expect("an integer"),
        "d" => Datum::Decimal(Decimal::parse(bytes).value),
        "f" => Datum::Double(text.parse().expect("a double")),
        "s" => Datum::Text(bytes, COLLATION),
        "x" => {
            let digits = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal");
            let bytes: Vec<u8> = (0..text.len()).step_by(2).map(digits).collect();
            Datum::Text(arena.alloc_slice_copy(&bytes), Collation::Binary)
        }
        "D" => Datum::Date(temporal::parse_datetime(bytes, SqlMode::NONE).value.expect("a date").date),
        "T" => {
            let parsed = temporal::parse_time(bytes, SqlMode::NONE);
            Datum::Time(parsed.value.expect("a time"), parsed.decimals)
        }
        "P" => {
            let parsed = temporal::parse_datetime(bytes, SqlMode::NONE);
            Datum::DateTime(parsed.value.expect("a date and time"), parsed.decimals)
        }
        "j" => Datum::Json(arena.alloc_slice_copy(&json::parse(bytes).expect("JSON").to_document().expect("shallow"))),
        _ => Datum::Null,
    }
}

fn value_type(value: Datum<'_>) -> DataType {
    match value {
        Datum::Null => DataType::Null,
        Datum::Signed(number) => {
            let digits = number.unsigned_abs().to_string().len() as u8;
            if digits < 19 { DataType::decimal(digits, 0) } else { DataType::BIGINT }
        }
        Datum::Unsigned(_) => DataType::BIGINT_UNSIGNED,
        Datum::Decimal(number) => DataType::decimal(number.whole_digits() as u8 + number.scale(), number.scale()),
        Datum::Date(_) => DataType::Date,
        Datum::Time(_, decimals) => DataType::Time { decimals },
        Datum::DateTime(_, decimals) => DataType::DateTime { decimals },
        _ => DataType::DOUBLE,
    }
}

/// How many cases of each operation of a file are known to differ.
fn known(file: &str) -> BTreeMap<String, usize> {
    include_str!("recorded/known.txt")
        .lines()
        .filter_map(|line| line.strip_prefix(file)?.strip_prefix('\t')?.split_once('\t'))
        .map(|(operation, count)| (operation.to_string(), count.parse().expect("a number of cases")))
        .collect()
}

/// Compares all cases of a file with what `answer` says; `None` leaves one out.
fn check(file: &str, answer: impl Fn(&[String], &str, &str, &Bump) -> Option<(String, String)>) {
    let known = known(file);
    let show = std::env::var_os("MESETA_SHOW_DIFFERENCES").is_some();
    let mut different: BTreeMap<String, (usize, Vec<String>)> = BTreeMap::new();
    let mut right = 0;
    for (fields, result, conditions) in cases(file) {
        let arena = Bump::new();
        let Some((ours, our_conditions)) = answer(&fields, &result, &conditions, &arena) else { continue };
        if ours == result && our_conditions == conditions {
            right += 1;
            continue;
        }
        let entry = different.entry(fields[0].clone()).or_default();
        entry.0 += 1;
        if show || entry.1.len() < 6 {
            entry.1.push(format!("{fields:?}\n   is {result:?} {conditions:?}\n  not {ours:?} {our_conditions:?}"));
        }
    }
    let mut text = String::new();
    for (operation, (count, examples)) in &different {
        let expected = known.get(operation).copied().unwrap_or(0);
        if *count != expected || show {
            text += &format!("{operation}: {count} differ, {expected} are known\n{}\n", examples.join("\n"));
        }
    }
    for (operation, count) in &known {
        if !different.contains_key(operation) {
            text += &format!("{operation}: none differs, {count} are known\n");
        }
    }
    assert!(text.is_empty(), "{file}: {right} are right\n{text}");
    assert!(right > 1000, "{file}: only {right} cases");
}

fn order(ordering: Ordering) -> String {
    (ordering as i8).to_string()
}

#[test]
fn decimals() {
    check("decimal", |fields, result, _, _| {
        let left = Decimal::parse(fields[1].as_bytes()).value;
        let right = || Decimal::parse(fields[2].as_bytes()).value;
        // Results beyond 65 digits: MySQL has room for 81.
        let digits = result.bytes().filter(u8::is_ascii_digit).count();
        let exact = |number: std::result::Result<Decimal, decimal::Overflow>| match number {
            Ok(number) => number.to_string(),
            Err(_) => "overflow".into(),
        };
        let ours = match fields[0].as_str() {
            "add" => exact(left.add(&right())),
            "sub" => exact(left.sub(&right())),
            "mul" => exact(left.mul(&right()).and_then(|product| product.round(product.scale().min(30).into()))),
            "div" => match left.div(&right(), 4) {
                Ok(None) => "\\N".into(),
                Ok(Some(quotient)) => exact(quotient.round(quotient.scale().min(30).into())),
                Err(_) => "overflow".into(),
            },
            "mod" => left.rem(&right()).map_or("\\N".into(), |rest| rest.to_string()),
            "compare" => return Some((order(left.cmp(&right())), String::new())),
            "round" | "truncate" => {
                let places: i32 = fields[2].parse().expect("a number");
                let kept = places.min(i32::from(left.scale()));
                exact(if fields[0] == "round" { left.round(kept) } else { left.truncate(kept) })
            }
            "floor" => exact(left.floor()),
            "double" => {
                let mut out = Vec::new();
                double::append_double(left.to_f64(), &mut out);
                shown(Some(&out))
            }
            other => panic!("{other}"),
        };
        if digits > 63 || result.starts_with('!') || ours == "overflow" {
            return None;
        }
        let conditions = if ours == "\\N" { "Warning 1365 Division by 0" } else { "" };
        // -0.00 is zero.
        Some((ours, conditions.into()))
    });
}

#[test]
fn doubles() {
    check("double", |fields, result, conditions, _| {
        let number: f64 = fields[1].parse().expect("a double");
        let mut out = Vec::new();
        match fields[0].as_str() {
            "print" => double::append_double_as_text(number, &mut out),
            "float" => double::append_float_as_text(number as f32, &mut out),
            "signed" => {
                // A literal out of range is cut off before it is cast.
                if result.starts_with('!') || conditions.contains("Truncated") || number.abs() > 9e18 {
                    return None;
                }
                integer::append_signed(double::to_signed(number).0, &mut out);
            }
            "decimal" => {
                let (fitted, _) = Decimal::from_f64(number).0.fit(65, 20);
                fitted.append_text(&mut out);
                return Some((shown(Some(&out)), conditions.to_string()));
            }
            "round2" => double::append_double(double::round_double(number, 2, false), &mut out),
            _ => double::append_double(double::round_double(number, -2, false), &mut out),
        }
        Some((shown(Some(&out)), String::new()))
    });
}

fn cast_type(name: &str) -> CastType {
    match name {
        "signed" => CastType::Signed,
        "unsigned" => CastType::Unsigned,
        "float" => CastType::Float,
        "double" => CastType::Double,
        "decimal(10,2)" => CastType::Decimal(10, 2),
        "decimal(65,30)" => CastType::Decimal(65, 30),
        "char" => CastType::Char(None, COLLATION),
        "char(3)" => CastType::Char(Some(3), COLLATION),
        "binary(3)" => CastType::Binary(Some(3)),
        "date" => CastType::Date,
        "datetime" => CastType::DateTime(0),
        "datetime(1)" => CastType::DateTime(1),
        "datetime(6)" => CastType::DateTime(6),
        "time" => CastType::Time(0),
        "time(3)" => CastType::Time(3),
        "year" => CastType::Year,
        "json" => CastType::Json,
        other => panic!("{other}"),
    }
}

#[test]
fn casts() {
    check("cast", |fields, result, recorded, arena| {
        let value = datum(&fields[1], arena);
        // A time becomes a date with today's date.
        if matches!(value, Datum::Time(..)) && (fields[0].starts_with("date") || fields[0] == "year") {
            return None;
        }
        let mut context = Context::default();
        let describe = || String::from("X");
        match cast(value, cast_type(&fields[0]), &mut context, arena, &describe) {
            // The expression's text is the caller's.
            Ok(value) if recorded.contains("for column") => {
                Some((client_text(value), if context.warnings.count() > 0 { recorded.into() } else { String::new() }))
            }
            Ok(value) => Some((client_text(value), conditions(&context))),
            Err(error) if error.number == 1690 && result.starts_with("!1690") => Some((result.into(), String::new())),
            Err(error) => Some((failed(&error), conditions(&context))),
        }
    });
}

#[test]
fn arithmetics() {
    check("arithmetic", |fields, result, recorded, arena| {
        let (left, right) = (datum(&fields[1], arena), datum(&fields[2], arena));
        let operator = match fields[0].as_str() {
            "add" => Operator::Add,
            "sub" => Operator::Subtract,
            "mul" => Operator::Multiply,
            "div" => Operator::Divide,
            "intdiv" => Operator::IntegerDivide,
            _ => Operator::Modulo,
        };
        let mut context = Context::default();
        let at_once = arithmetic::at_once(operator, &left, &right, context.div_precision_increment);
        match arithmetic::evaluate(operator, left, right, &mut context, &|| String::new()) {
            Ok(value) => {
                if let Some(at_once) = at_once {
                    assert_eq!(format!("{at_once:?}"), format!("{value:?}"));
                }
                let data_type = arithmetic::result_type(operator, &value_type(left), &value_type(right), 4);
                let mut out = Vec::new();
                data_type.append_text(value, &mut out);
                let ours = if value.is_null() { "\\N".into() } else { shown(Some(&out)) };
                // MySQL evaluates constants more than once, and warns each time.
                let mut ours_conditions = conditions(&context);
                let again = format!("{ours_conditions} | {ours_conditions}");
                if recorded == again {
                    ours_conditions = again;
                }
                Some((ours, ours_conditions))
            }
            Err(error) if result.starts_with(&format!("!{}", error.number)) => Some((result.into(), String::new())),
            Err(error) => Some((failed(&error), String::new())),
        }
    });
}

#[test]
fn comparisons() {
    check("compare", |fields, result, recorded, arena| {
        let (left, right) = (datum(&fields[0], arena), datum(&fields[1], arena));
        // A time becomes a date with today's date.
        let is = |value, kind| Datum::comparison_kind(value) == Some(kind);
        let time_and_date =
            |a, b| is(a, comparison::ComparisonKind::Time) && is(b, comparison::ComparisonKind::DateTime);
        if time_and_date(left, right) || time_and_date(right, left) {
            return None;
        }
        let is_bytes = |value| matches!(value, Datum::Text(_, Collation::Binary));
        let collation = if is_bytes(left) || is_bytes(right) { Collation::Binary } else { COLLATION };
        let mut context = Context::default();
        Some(match compare(left, right, collation, &mut context) {
            // The warnings of the three comparisons of the recorded expression are not ours.
            Ok(ordering) => (ordering.map_or("\\N".into(), order), recorded.into()),
            Err(_) if result.starts_with("!1525") => (result.into(), recorded.into()),
            Err(error) => (failed(&error), recorded.into()),
        })
    });
}

#[test]
fn temporals() {
    let mode = SqlMode::DEFAULT;
    check("temporal", |fields, _, recorded, arena| {
        let parsed = temporal::parse_datetime(fields[1].as_bytes(), mode);
        let value = parsed.value.unwrap_or_default();
        let date = value.date;
        let other = fields[2].as_str();
        let mut out = Vec::new();
        let mut null = false;
        let number = |number: i64, out: &mut Vec<u8>| integer::append_signed(number, out);
        match fields[0].as_str() {
            "week" => number(date.week(WeekMode::new(other.parse().expect("a mode"))).1.into(), &mut out),
            "yearweek" => {
                let mode: u64 = other.parse().expect("a mode");
                let (year, week) = date.week(WeekMode::new(mode | 2));
                number(i64::from(year * 100 + week), &mut out);
            }
            "to_days" => number(temporal::day_number(date).into(), &mut out),
            "from_days" => match temporal::from_day_number(fields[1].parse().expect("a number")) {
                Some(date) => date.append_text(&mut out),
                None => null = true,
            },
            "weekday" => number(date.weekday().into(), &mut out),
            "dayofyear" => number(date.day_of_year().into(), &mut out),
            "last_day" => date.last_day().expect("a month").append_text(&mut out),
            "datediff" => {
                let other = temporal::parse_datetime(other.as_bytes(), mode).value.expect("a date");
                number(temporal::datediff(date, other.date), &mut out);
            }
            "extract" => {
                let unit = IntervalUnit::parse(other).expect("a unit");
                number(temporal::extract(unit, date, value.time()), &mut out);
            }
            "timestampdiff" => {
                let (second, unit) = other.split_once('|').expect("two");
                let second = temporal::parse_datetime(second.as_bytes(), mode).value.expect("a date");
                number(temporal::timestampdiff(IntervalUnit::parse(unit).expect("a unit"), value, second), &mut out);
            }
            "add" => {
                let (amount, unit) = other.split_once('|').expect("two");
                let unit = IntervalUnit::parse(unit).expect("a unit");
                let interval = if unit.is_simple() {
                    Some(Interval::of(amount.parse().expect("a number"), unit))
                } else {
                    Interval::parse(amount.as_bytes(), unit)
                };
                match interval.and_then(|interval| value.plus(interval)) {
                    Some(value) => value.append_text(6, &mut out),
                    None => null = true,
                }
            }
            "date_format" => null = temporal::append_date_format(value, other.as_bytes(), &mut out).is_none(),
            "str_to_date" => match temporal::scan_date(fields[1].as_bytes(), other.as_bytes()) {
                Some(scanned) => {
                    let (has_date, has_time, has_fraction) = temporal::parts_of(other.as_bytes());
                    let decimals = if has_fraction { 6 } else { 0 };
                    match (has_date, has_time) {
                        _ if has_date && !scanned.date.check(mode) => null = true,
                        (true, true) => scanned.datetime().expect("a day").append_text(decimals, &mut out),
                        (true, false) => scanned.date.append_text(&mut out),
                        _ => scanned.time.append_text(decimals, &mut out),
                    }
                }
                None => null = true,
            },
            "convert_tz" => {
                let zone = Zone::parse(other).expect("a zone");
                let Some(temporal::Instant::At(seconds)) = Zone::UTC.to_utc(value) else { panic!("a date") };
                // Outside of a TIMESTAMP's range MySQL converts nothing.
                let inside = (0..=32_536_771_199).contains(&seconds);
                let moved = if inside { zone.from_utc(seconds, 0).expect("a date") } else { value };
                moved.append_text(0, &mut out);
            }
            other => panic!("{other}"),
        }
        let _ = arena;
        Some((shown((!null).then_some(&out[..])), recorded.into()))
    });
}

#[test]
fn collations() {
    check("collation", |fields, _, recorded, arena| {
        let collation = Collation::parse(&fields[1]).expect("a collation");
        let own = |text: &str| {
            let mut out = Vec::new();
            Charset::Utf8mb4.convert(text.as_bytes(), collation.charset(), &mut out);
            out
        };
        let (text, other) = (own(&fields[2]), own(&fields[3]));
        let mut out = Vec::new();
        match fields[0].as_str() {
            "weights" => {
                let mut weights = Vec::new();
                collation.append_weight_string(&text, fields[3].parse().ok(), &mut weights);
                out.extend(weights.iter().flat_map(|byte| format!("{byte:02X}").into_bytes()));
            }
            "compare" => {
                let ordering = collation.compare(&text, &other);
                assert_eq!(ordering, collation.compare(&other, &text).reverse());
                let key = |text: &[u8]| {
                    let mut key = Vec::new();
                    collation.append_sort_key(text, None, &mut key);
                    key
                };
                assert_eq!(ordering, key(&text).cmp(&key(&other)), "sort keys of {fields:?}");
                out.extend_from_slice(order(ordering).as_bytes());
            }
            "upper" => collation.append_upper(&text, &mut out),
            "lower" => collation.append_lower(&text, &mut out),
            "like" => out.push(b'0' + u8::from(collation.like(&text, &other, Some(u32::from(b'\\'))))),
            "locate" => {
                let at = collation.find(&text, &other, 0).map_or(0, |(number, _)| number + 1);
                out.extend_from_slice(at.to_string().as_bytes());
            }
            other => panic!("{other}"),
        }
        let _ = arena;
        Some((shown(Some(&out)), recorded.into()))
    });
}

#[test]
fn documents() {
    check("json", |fields, result, recorded, _| {
        let (text, other) = (fields[1].as_bytes(), fields[2].as_str());
        let mut out = Vec::new();
        let tree = match json::parse(text) {
            Ok(tree) => tree,
            Err(error) => {
                let (sentence, position) = (error.message, error.position);
                let text = format!(
                    "!3141 Invalid JSON text in argument 1 to function cast_as_json: \"{sentence}\" \
                     at position {position}."
                );
                return Some((text, String::new()));
            }
        };
        let document = tree.to_document().expect("shallow");
        let root = json::Element::root(&document);
        match fields[0].as_str() {
            "parse" => json::append_text(&document, &mut out),
            "extract" => match json::Path::parse(other.as_bytes()) {
                Ok(path) => match json::extract(&document, &[path]) {
                    Some(found) => json::append_text(&found.to_document().expect("shallow"), &mut out),
                    None => return Some(("\\N".into(), String::new())),
                },
                Err(error) => return Some((failed(&error), String::new())),
            },
            "compare" => {
                let right = json::parse(other.as_bytes()).expect("JSON").to_document().expect("shallow");
                let ordering = json::compare(&document, &right);
                // Of documents that MySQL does not order, only equality is asked.
                out.extend_from_slice(order(ordering).as_bytes());
                let _ = result;
            }
            "type" => out.extend_from_slice(root.kind().name().as_bytes()),
            "unquote" => json::unquote(&document, &mut out),
            "length" => out.extend_from_slice(root.len().to_string().as_bytes()),
            "depth" => out.extend_from_slice(root.depth().to_string().as_bytes()),
            "size" => out.extend_from_slice(document.len().to_string().as_bytes()),
            other => panic!("{other}"),
        }
        Some((shown(Some(&out)), recorded.into()))
    });
}

fn column_type(text: &str) -> DataType {
    use std::sync::Arc;
    let unsigned = Number { unsigned: true, zerofill: false };
    let members = || Arc::new(Members::new([&b"a"[..], b"b", b"3"], COLLATION));
    let text_type = |length, collation| DataType::Varchar { length, collation };
    match text {
        "tinyint" => DataType::integer(IntegerSize::Tiny, false),
        "tinyint unsigned" => DataType::integer(IntegerSize::Tiny, true),
        "smallint" => DataType::integer(IntegerSize::Small, false),
        "int" => DataType::integer(IntegerSize::Int, false),
        "int unsigned" => DataType::integer(IntegerSize::Int, true),
        "bigint" => DataType::BIGINT,
        "bigint unsigned" => DataType::BIGINT_UNSIGNED,
        "decimal(5,2)" => DataType::decimal(5, 2),
        "decimal(65,30)" => DataType::decimal(65, 30),
        "decimal(5,2) unsigned" => DataType::Decimal { precision: 5, scale: 2, number: unsigned },
        "float" => DataType::Float { digits: None, number: Number::default() },
        "double" => DataType::DOUBLE,
        "double unsigned" => DataType::Double { digits: None, number: unsigned },
        "bit(1)" => DataType::Bit { width: 1 },
        "bit(10)" => DataType::Bit { width: 10 },
        "year" => DataType::Year,
        "date" => DataType::Date,
        "time" => DataType::Time { decimals: 0 },
        "time(3)" => DataType::Time { decimals: 3 },
        "datetime" => DataType::DateTime { decimals: 0 },
        "datetime(3)" => DataType::DateTime { decimals: 3 },
        "timestamp" => DataType::Timestamp { decimals: 0 },
        "timestamp(6)" => DataType::Timestamp { decimals: 6 },
        "char(3)" => DataType::Char { length: 3, collation: COLLATION },
        "varchar(3)" => text_type(3, COLLATION),
        "varchar(20)" => text_type(20, COLLATION),
        "varchar(3) character set latin1" => text_type(3, Collation::Latin1SwedishCi),
        "binary(3)" => DataType::Char { length: 3, collation: Collation::Binary },
        "varbinary(3)" => text_type(3, Collation::Binary),
        "tinytext" => DataType::Text { size: TextSize::Tiny, collation: COLLATION },
        "blob" => DataType::Text { size: TextSize::Normal, collation: Collation::Binary },
        "enum('a','b','3')" => DataType::Enum(members()),
        "set('a','b','3')" => DataType::Set(members()),
        "json" => DataType::Json,
        other => panic!("{other}"),
    }
}

#[test]
fn assignments() {
    check("assign", |fields, _, _, arena| {
        let data_type: &DataType = arena.alloc(column_type(&fields[0]));
        let mut mode = if fields[1] == "strict" { SqlMode::DEFAULT } else { SqlMode::NONE };
        mode.error_for_division_by_zero = false;
        let mut context = Context::new(mode);
        let value = datum(&fields[2], arena);
        // A time becomes a date with today's date.
        if matches!(value, Datum::Time(..)) && (data_type.is_temporal() || *data_type == DataType::Year) {
            return None;
        }
        let column = if fields[0] == "json" { "t.c" } else { "c" };
        let assigned = match assign(value, data_type, column, &mut context, arena) {
            Ok(assigned) => assigned,
            Err(error) => return Some((failed(&error), String::new())),
        };
        let mut scratch = Vec::new();
        let stored = data_type.store(assigned, &context.zone, &mut scratch);
        let loaded = data_type.load(stored, &context.zone);
        let mut out = Vec::new();
        match loaded {
            Datum::Bits { bits, .. } => integer::append_unsigned(bits, 0, &mut out),
            Datum::Text(text, collation) if collation != Collation::Binary => {
                collation.charset().convert(text, Charset::Utf8mb4, &mut out);
            }
            other => data_type.append_text(other, &mut out),
        }
        let ours = if loaded.is_null() { "\\N".into() } else { shown(Some(&out)) };
        Some((ours, conditions(&context)))
    });
}
