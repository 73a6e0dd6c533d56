//! Runs what `recorded/variables.txt` recorded of SET and SELECT @@, and compares.
//!
//! `recorded/variables.known.txt` lists the cases that are answered otherwise here, by their first statement, and why
//! (variables of machinery that is not here, character sets that are not). With MESETA_SHOW_DIFFERENCES set, all
//! differences are printed.

mod recorded;

use std::sync::Arc;

use meseta_parser::ast::{QueryBody, SelectItem, SetItem, Statement};
use meseta_parser::{Arena, Options, ast::ExpressionKind, parse};
use meseta_sql::variable::*;
use meseta_sql::{Error, Result};
use meseta_types::Warnings;
use proptest::prelude::*;
use recorded::{Answer, cases};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "N".into(),
        Value::Signed(number) => format!("I{number}"),
        Value::Unsigned(number) => format!("I{number}"),
        Value::Double(number) => format!("D{number:?}"),
        Value::Text(text) => format!("T{text}"),
    }
}

/// As a session would.
fn execute(session: &mut SessionVariables, statement: &str, warnings: &mut Warnings) -> Result<Vec<Vec<String>>> {
    let arena = Arena::new();
    let parsed = parse(&arena, statement.as_bytes(), 0, Options::default()).map_err(Error::from)?;
    match parsed.statement {
        Statement::Set(items) => {
            let mut all = Vec::new();
            for item in items.iter() {
                match item {
                    SetItem::System { variable, at_signs, value } => {
                        let input = Input::of_expression(value).unwrap_or(Input::Null);
                        let mut context = SetContext { may: &|_| true, warnings };
                        let name = text(variable.name.text.0);
                        all.push(check_set(session, variable.scope, *at_signs, &name, input, &mut context)?);
                    }
                    SetItem::Names { character_set, collation } => {
                        let (set, collation) =
                            (character_set.map(|set| text(set.0)), collation.map(|name| text(name.0)));
                        all.extend(check_names(session, true, set.as_deref(), collation.as_deref())?);
                    }
                    SetItem::CharacterSet(set) => {
                        let set = set.map(|set| text(set.0));
                        all.extend(check_names(session, false, set.as_deref(), None)?);
                    }
                    _ => return Err(Error::not_yet("this")),
                }
            }
            // As a session does it: what is to be remembered is so before it is in force.
            session.globals().persist(&all, "root", 0)?;
            for assignment in all {
                assignment.apply(session);
            }
            Ok(vec![])
        }
        Statement::SetTransaction(statement) => {
            let mut context = SetContext { may: &|_| true, warnings };
            for assignment in check_transaction(session, &statement, &mut context)? {
                assignment.apply(session);
            }
            Ok(vec![])
        }
        Statement::Query(query) => {
            let QueryBody::Select(select) = query.body else { return Err(Error::not_yet("this")) };
            let mut row = vec![];
            for item in select.items.iter() {
                let SelectItem::Expression { expression, .. } = item else { return Err(Error::not_yet("this")) };
                let ExpressionKind::SystemVariable(variable) = expression.kind else {
                    return Err(Error::not_yet("this"));
                };
                let name = text(variable.name.text.0);
                row.push(shown(&session.get(variable.scope.into(), &name, warnings)?.1));
            }
            Ok(vec![row])
        }
        _ => Err(Error::not_yet("this")),
    }
}

fn answer(session: &mut SessionVariables, statement: &str) -> Answer {
    let mut warnings = Warnings::default();
    let result = execute(session, statement, &mut warnings);
    let kept = warnings.kept().iter();
    let warnings = kept
        .map(|warning| format!("{} {} {}", warning.level.name(), warning.condition.number, warning.condition.message));
    let warnings = warnings.collect();
    match result {
        Ok(rows) => Answer { rows, warnings, error: None },
        Err(error) => Answer { error: Some((error.code.0, error.message)), warnings, rows: vec![] },
    }
}

#[test]
fn set_and_select_answer_as_recorded() {
    let known: Vec<&str> =
        include_str!("recorded/variables.known.txt").lines().filter(|l| !l.starts_with('#')).collect();
    let (mut right, mut wrong) = (0, vec![]);
    let cases = cases(include_str!("recorded/variables.txt"));
    for case in &cases {
        let mut session = SessionVariables::new(Arc::new(Globals::new()));
        let mut differences = vec![];
        for step in case {
            let ours = answer(&mut session, &step.statement);
            if ours != step.answer {
                differences.push(format!("{}\n   theirs {:?}\n   ours   {ours:?}", step.statement, step.answer));
            }
        }
        match differences.is_empty() {
            true => right += 1,
            false => wrong.push((case[0].statement.as_str(), differences)),
        }
    }
    if std::env::var_os("MESETA_SHOW_DIFFERENCES").is_some() {
        wrong.iter().for_each(|(first, _)| println!("known: {first}"));
        for (_, differences) in &wrong {
            println!("{}", differences.join("\n"));
        }
    }
    let new: Vec<_> = wrong.iter().filter(|(first, _)| !known.contains(first)).collect();
    let first = new.iter().take(5).map(|(_, differences)| differences.join("\n")).collect::<Vec<_>>().join("\n");
    println!("{right} of {} cases as recorded", cases.len());
    assert!(new.is_empty(), "{} cases differ that did not:\n{first}", new.len());
    let healed: Vec<_> = known.iter().filter(|known| !wrong.iter().any(|(first, _)| first == *known)).collect();
    assert!(healed.is_empty(), "cases are right now, and still on the list: {healed:?}");
}

#[test]
fn a_session_begins_with_the_values_of_the_server_and_keeps_its_own() {
    let globals = Arc::new(Globals::new());
    let mut first = SessionVariables::new(Arc::clone(&globals));
    assert!(answer(&mut first, "SET GLOBAL wait_timeout = 77, GLOBAL sql_mode = 'ANSI_QUOTES'").error.is_none());
    let mut second = SessionVariables::new(Arc::clone(&globals));
    assert_eq!(first.settings().wait_timeout, 28_800);
    assert_eq!(second.settings().wait_timeout, 77);
    assert!(
        second.settings().sql_mode.has(SqlModes::ANSI_QUOTES) && !first.settings().sql_mode.has(SqlModes::ANSI_QUOTES)
    );
    assert!(second.settings().parser_options(false).sql_mode.ansi_quotes);
    answer(&mut second, "SET wait_timeout = 5, character_set_client = latin1");
    assert_eq!(second.settings().wait_timeout, 5);
    second.reset();
    assert_eq!(second.settings().wait_timeout, 77);
    assert!(answer(&mut first, "SET PERSIST wait_timeout = 78").error.is_none());
    let persisted = globals.persisted();
    let persisted: Vec<_> = persisted.iter().map(|(name, value)| (name, &*value.value)).collect();
    assert_eq!(persisted, [("wait_timeout", "78")]);
    assert!(globals.forget_persisted(Some("WAIT_TIMEOUT")).unwrap() && globals.persisted().iter().count() == 0);
    assert!(!globals.forget_persisted(Some("WAIT_TIMEOUT")).unwrap());
}

#[test]
fn what_needs_a_privilege_is_refused_without_it() {
    let session = SessionVariables::new(Arc::new(Globals::new()));
    let mut warnings = Warnings::default();
    let mut context = SetContext { may: &|_| false, warnings: &mut warnings };
    let global = Some(meseta_parser::ast::VariableScope::Global);
    let refused = check_set(&session, global, false, "wait_timeout", Input::Signed(5), &mut context).unwrap_err();
    let text = "Access denied; you need (at least one of) the SUPER or SYSTEM_VARIABLES_ADMIN privilege(s) for this \
                operation";
    assert_eq!((refused.code.0, refused.message.as_str()), (1227, text));
    assert!(check_set(&session, None, false, "wait_timeout", Input::Signed(5), &mut context).is_ok());
    assert!(check_set(&session, None, false, "sql_log_bin", Input::Signed(0), &mut context).is_err());
}

#[test]
fn options_of_the_start_are_what_default_means() {
    let globals = Arc::new(Globals::new());
    let mut warnings = Warnings::default();
    globals.set_at_start("max_connections", "500", &mut warnings).unwrap();
    globals.set_at_start("datadir", "/data", &mut warnings).unwrap();
    globals.set_at_start("character_set_server", "latin1", &mut warnings).unwrap();
    assert_eq!(globals.set_at_start("nonsense", "1", &mut warnings).unwrap_err().code.0, 1193);
    let mut session = SessionVariables::new(globals);
    answer(&mut session, "SET GLOBAL max_connections = 7");
    answer(&mut session, "SET GLOBAL max_connections = DEFAULT");
    let rows = answer(&mut session, "SELECT @@max_connections, @@datadir, @@collation_server").rows;
    assert_eq!(rows, [["I500", "T/data", "Tlatin1_swedish_ci"]]);
}

#[test]
fn show_variables_has_every_variable_once_in_order() {
    let session = SessionVariables::new(Arc::new(Globals::new()));
    let rows = show_variables(&session, None, None);
    assert!(rows.len() > 620 && rows.windows(2).all(|pair| pair[0].0 < pair[1].0));
    let rows = show_variables(&session, None, Some(b"AUTO\\_INC%"));
    assert_eq!(rows, [("auto_increment_increment", "1".to_owned()), ("auto_increment_offset", "1".to_owned())]);
    assert!(show_variables(&session, None, Some(b"tx_isolation")).is_empty());
    assert_eq!(show_variables(&session, None, Some(b"long_query_time"))[0].1, "10.000000");
    assert_eq!(show_status(&NoStatus, None, Some(b"threads_c%")).len(), 3);
}

proptest! {
    #[test]
    fn no_value_is_too_strange(
        at in 0..700usize,
        bytes in proptest::collection::vec(any::<u8>(), 0..40),
        number in any::<i64>(),
        fraction in any::<f64>(),
        scope in 0..5usize,
    ) {
        use meseta_parser::ast::VariableScope::*;
        let mut session = SessionVariables::new(Arc::new(Globals::new()));
        let Some(variable) = Variable::all().nth(at) else { return Ok(()) };
        let name = variable.definition().name;
        let scope = [None, Some(Global), Some(Session), Some(Persist), Some(PersistOnly)][scope];
        for input in [Input::Text(&bytes), Input::Signed(number), Input::Fraction(fraction), Input::Null, Input::Default,
                      Input::Unsigned(number as u64 | 1 << 63)] {
            let mut warnings = Warnings::default();
            let mut context = SetContext { may: &|_| true, warnings: &mut warnings };
            if let Ok(assignment) = check_set(&session, scope, false, name, input, &mut context) {
                let assigned = assignment.apply(&mut session);
                let shown = assigned.variable.definition().shown(&assigned.now);
                prop_assert!(shown.len() <= 4096);
            }
        }
        show_variables(&session, None, Some(&bytes));
    }
}
