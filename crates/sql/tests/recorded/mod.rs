//! Reads what the scripts of this folder recorded from a MySQL server; `recorder.py` says what it looks like.

#![allow(dead_code)] // each test program uses its own part

/// A statement and what a server answered.
#[derive(Debug, Default, Clone)]
pub struct Step {
    /// Who runs it; empty for the administrator.
    pub who: String,
    pub statement: String,
    pub answer: Answer,
    /// It is run in front of a case, and its answer is not looked at.
    pub is_unseen: bool,
    /// The answer as it was written down.
    pub lines: Vec<String>,
}

#[derive(Debug, Default, Clone, PartialEq)]
pub struct Answer {
    /// Number and text.
    pub error: Option<(u16, String)>,
    /// As `Warning 1292 text`.
    pub warnings: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

/// The cases: steps that share a session.
pub fn cases(text: &str) -> Vec<Vec<Step>> {
    let mut cases: Vec<Vec<Step>> = vec![];
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((mark, rest)) = line.split_once(' ') else {
            cases.push(vec![]);
            continue;
        };
        if mark == ">" || mark == "+" {
            let (who, statement) = match rest.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
                Some((who, statement)) => (who.to_owned(), statement),
                None => (String::new(), rest),
            };
            let statement = unescape(statement);
            let step = Step { who, statement, is_unseen: mark == "+", ..Step::default() };
            cases.last_mut().expect("a case begins with an empty line").push(step);
            continue;
        }
        let step = cases.last_mut().and_then(|case| case.last_mut()).expect("an answer follows a step");
        step.lines.push(line.to_owned());
        let answer = &mut step.answer;
        match mark {
            "!" => {
                let (number, text) = rest.split_once(' ').unwrap_or((rest, ""));
                answer.error = Some((number.parse().expect("a number"), unescape(text)));
            }
            "~" => answer.warnings.push(unescape(rest)),
            // Columns, and what was changed: whoever wants to know reads the lines.
            ":" | "." => {}
            "=" => answer.rows.push(rest.split('\t').map(unescape).collect()),
            _ => panic!("{line} is of no kind"),
        }
    }
    cases.retain(|case| !case.is_empty());
    cases
}

pub fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        out.push(match character {
            '\\' => match characters.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                other => other.unwrap_or('\\'),
            },
            other => other,
        });
    }
    out
}

/// The text on one line, as `recorder.py` writes it.
pub fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}
