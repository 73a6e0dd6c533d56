//! A user's own workload: a TOML file of SQL with parameters and weights.
//!
//! ```toml
//! name = "shop"
//!
//! [parameters]
//! user = { from = 1, to = 100000, distribution = "zipfian" }   # a whole number
//! note = { letters = 40 }                                      # text
//! kind = { choice = ["book", "toy"] }                          # one of these
//!
//! [[table]]
//! create = "CREATE TABLE users (id INT PRIMARY KEY, note VARCHAR(40))"
//! insert = "INSERT INTO users (id, note) VALUES"
//! values = "(:row, :note)"                                     # :row is 1, 2, 3 ..
//! rows = 100000
//! after = ["CREATE INDEX n ON users (note)"]
//!
//! [[transaction]]
//! name = "browse"
//! weight = 9
//! statements = ["SELECT note FROM users WHERE id = :user"]
//!
//! [[transaction]]
//! name = "change"
//! statements = ["BEGIN", "UPDATE users SET note = :note WHERE id = :user", "COMMIT"]
//! ```
//!
//! A parameter is drawn once for each transaction: the same name is the same value in all of its statements. A name
//! with
//! digits after an underscore (`:user_2`) is drawn by the rule of the name without them, for itself.
//!
//! When it fails: what is wrong with the file is one line that names the place. A failed transaction is rolled back
//! before it is tried again.

use std::collections::BTreeMap;
use std::time::Instant;

use meseta_protocol::value::Value;
use serde::Deserialize;

use crate::generator::connection::Connection;
use crate::generator::statement::{Parameter, Statement, put_literal};
use crate::generator::{Kind, Result, Session, Workload};
use crate::load::{Filling, LoadPlan};
use crate::random::{Distribution, Random, Shape};
use crate::text::nearest;

/// How a parameter is drawn.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ParameterRule {
    from: Option<i64>,
    to: Option<i64>,
    distribution: Option<String>,
    exponent: Option<f64>,
    letters: Option<usize>,
    choice: Option<Vec<String>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct TableRule {
    create: String,
    #[serde(default)]
    insert: String,
    #[serde(default)]
    values: String,
    #[serde(default)]
    rows: u64,
    #[serde(default)]
    after: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct TransactionRule {
    name: String,
    #[serde(default = "one")]
    weight: f64,
    statements: Vec<String>,
}

fn one() -> f64 {
    1.0
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    #[serde(default)]
    parameters: BTreeMap<String, ParameterRule>,
    #[serde(default)]
    table: Vec<TableRule>,
    #[serde(default)]
    cleanup: Vec<String>,
    #[serde(default)]
    prewarm: Vec<String>,
    transaction: Vec<TransactionRule>,
}

/// What a parameter is drawn from.
#[derive(Debug, Clone)]
enum Source {
    Number { from: i64, to: i64, distribution: Distribution },
    Letters(usize),
    Choice(Vec<String>),
    Row,
}

/// A value that was drawn.
#[derive(Debug, Clone)]
enum Drawn {
    Number(i64),
    Text(String),
}

impl Drawn {
    fn value(&self) -> Value<'_> {
        match self {
            Drawn::Number(number) => Value::Int(*number),
            Drawn::Text(text) => Value::Bytes(text.as_bytes()),
        }
    }
}

/// A text with its parameters: `?` in place of each, and which they are.
#[derive(Debug, Clone)]
struct Template {
    text: String,
    parameters: Vec<usize>,
}

#[derive(Debug, Clone)]
struct TransactionOf {
    name: String,
    /// The sum of the weights up to and with this one.
    until: f64,
    statements: Vec<Template>,
}

/// The workload.
#[derive(Debug, Clone)]
pub struct Custom {
    file: File,
    /// Names and sources of parameters.
    sources: Vec<(String, Source)>,
    transactions: Vec<TransactionOf>,
}

impl Custom {
    /// Reads a file's text.
    ///
    /// # Errors
    /// One line.
    pub fn parse(text: &str) -> std::result::Result<Custom, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string().replace('\n', " "))?;
        if file.transaction.is_empty() {
            return Err("there is no [[transaction]]".to_owned());
        }
        let mut custom = Custom { sources: vec![("row".to_owned(), Source::Row)], transactions: Vec::new(), file };
        let mut until = 0.0;
        for rule in custom.file.transaction.clone() {
            if !(rule.weight > 0.0 && rule.weight.is_finite()) {
                return Err(format!("transaction {:?}: its weight must be greater than 0", rule.name));
            }
            if rule.statements.is_empty() {
                return Err(format!("transaction {:?} has no statements", rule.name));
            }
            until += rule.weight;
            let statements =
                rule.statements.iter().map(|text| custom.template(text)).collect::<std::result::Result<_, _>>();
            let statements = statements.map_err(|error| format!("transaction {:?}: {error}", rule.name))?;
            custom.transactions.push(TransactionOf { name: rule.name, until, statements });
        }
        for table in custom.file.table.clone() {
            custom.template(&table.values)?;
        }
        Ok(custom)
    }

    /// Replaces `:name` by `?`, outside of quotes.
    fn template(&mut self, text: &str) -> std::result::Result<Template, String> {
        let mut template = Template { text: String::with_capacity(text.len()), parameters: Vec::new() };
        let mut quote = None;
        let mut rest = text;
        while let Some(character) = rest.chars().next() {
            let after = &rest[character.len_utf8()..];
            let name_length = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
            match quote {
                Some(open) if open == character => quote = None,
                Some(_) => (),
                None if matches!(character, '\'' | '"' | '`') => quote = Some(character),
                None if character == ':' && after.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                    template.parameters.push(self.source(&after[..name_length])?);
                    template.text.push('?');
                    rest = &after[name_length..];
                    continue;
                }
                None => (),
            }
            template.text.push(character);
            rest = after;
        }
        Ok(template)
    }

    fn source(&mut self, name: &str) -> std::result::Result<usize, String> {
        if let Some(known) = self.sources.iter().position(|(known, _)| known == name) {
            return Ok(known);
        }
        let rules = &self.file.parameters;
        let base = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
        let Some(rule) = rules.get(name).or_else(|| rules.get(base)) else {
            let hint = nearest(name, rules.keys().map(String::as_str));
            let hint = hint.map_or(String::new(), |nearest| format!("; did you mean :{nearest}?"));
            return Err(format!("there is no parameter :{name}{hint}"));
        };
        let source = match rule {
            ParameterRule { from: Some(from), to: Some(to), letters: None, choice: None, .. } if from <= to => {
                let exponent = rule.exponent.unwrap_or(0.8);
                let shape = match rule.distribution.as_deref().unwrap_or("uniform") {
                    "uniform" => Shape::Uniform,
                    "gaussian" => Shape::Gaussian { iterations: 12 },
                    "special" => Shape::Special { iterations: 12, percent: 1.0, hot: 75.0 },
                    "pareto" => Shape::Pareto { h: 0.2 },
                    "zipfian" if exponent.is_finite() && exponent >= 0.0 => Shape::Zipfian { exponent },
                    other => return Err(format!("parameter {name}: there is no distribution {other:?}")),
                };
                Source::Number { from: *from, to: *to, distribution: Distribution::new(shape) }
            }
            ParameterRule { letters: Some(letters), from: None, choice: None, .. } => {
                Source::Letters((*letters).min(1 << 20))
            }
            ParameterRule { choice: Some(choice), from: None, letters: None, .. } if !choice.is_empty() => {
                Source::Choice(choice.clone())
            }
            _ => return Err(format!("parameter {name}: it needs from and to (from <= to), or letters, or choice")),
        };
        self.sources.push((name.to_owned(), source));
        Ok(self.sources.len() - 1)
    }

    /// How its tables are made and filled.
    pub fn load_plan(&self, seed: u64) -> LoadPlan {
        let mut plan = LoadPlan { seed, ..LoadPlan::default() };
        for table in &self.file.table {
            plan.before.push(table.create.clone());
            plan.after.extend(table.after.iter().cloned());
            let mut reader = self.clone();
            // (It was read once already, when the file was.)
            let Ok(template) = reader.template(&table.values) else { continue };
            let sources = reader.sources;
            if table.rows > 0 {
                plan.fillings.push(Filling {
                    head: format!("{} ", table.insert),
                    rows: 1..table.rows + 1,
                    make: Box::new(move |random, row, to| {
                        let mut parameters = template.parameters.iter();
                        for piece in template.text.split_inclusive('?') {
                            let Some(piece) = piece.strip_suffix('?') else {
                                to.extend_from_slice(piece.as_bytes());
                                continue;
                            };
                            to.extend_from_slice(piece.as_bytes());
                            if let Some(&parameter) = parameters.next() {
                                let drawn = draw(&mut sources[parameter].1.clone(), random, row as i64);
                                put_literal(&drawn.value(), to);
                            }
                        }
                    }),
                    piece: 10_000,
                });
            }
        }
        plan
    }

    /// The file's statements to clean up.
    pub fn cleanup(&self) -> Vec<String> {
        self.file.cleanup.iter().cloned().chain(["DROP TABLE IF EXISTS lab_load".to_owned()]).collect()
    }

    /// The file's statements to warm up.
    pub fn prewarm(&self) -> Vec<String> {
        self.file.prewarm.clone()
    }

    /// Its name.
    pub fn name(&self) -> String {
        self.file.name.clone()
    }
}

fn draw(source: &mut Source, random: &mut Random, row: i64) -> Drawn {
    match source {
        Source::Row => Drawn::Number(row),
        Source::Number { from, to, distribution } => Drawn::Number(distribution.draw(random, *from, *to)),
        Source::Letters(count) => Drawn::Text((0..*count).map(|_| char::from(b'a' + random.below(26) as u8)).collect()),
        Source::Choice(choice) => Drawn::Text(choice[random.below(choice.len() as u64) as usize].clone()),
    }
}

impl Workload for Custom {
    type Session = CustomSession;

    fn kinds(&self) -> Vec<Kind> {
        let statements = self.transactions.iter().flat_map(|transaction| {
            (1..=transaction.statements.len()).map(|number| Kind::statement(&format!("{} {number}", transaction.name)))
        });
        statements.chain(self.transactions.iter().map(|transaction| Kind::transaction(&transaction.name))).collect()
    }

    fn session(&self, _client: usize, _clients: usize, random: Random) -> CustomSession {
        let mut kind = 0;
        let statements = self.transactions.iter().map(|transaction| {
            let of = transaction.statements.iter().map(|template| {
                kind += 1;
                Statement::new(kind - 1, &template.text)
            });
            of.collect()
        });
        let statements: Vec<Vec<Statement>> = statements.collect();
        CustomSession {
            workload: self.clone(),
            statements,
            first_transaction: kind,
            random,
            drawn: Vec::new(),
            count: 0,
        }
    }

    fn prepared_statements(&self) -> usize {
        self.transactions.iter().map(|transaction| transaction.statements.len()).sum()
    }
}

/// A client.
#[derive(Debug)]
pub struct CustomSession {
    workload: Custom,
    statements: Vec<Vec<Statement>>,
    /// The kind of the first transaction.
    first_transaction: usize,
    random: Random,
    drawn: Vec<Drawn>,
    count: i64,
}

impl Session for CustomSession {
    async fn start(&mut self, connection: &mut Connection) -> Result<()> {
        for statement in self.statements.iter_mut().flatten() {
            connection.prepare(statement).await?;
        }
        Ok(())
    }

    async fn event(&mut self, connection: &mut Connection) -> Result<()> {
        self.count += 1;
        let (random, row) = (&mut self.random, self.count);
        let all = self.workload.transactions.last().map_or(0.0, |last| last.until);
        let pick = random.unit() * all;
        let number = self.workload.transactions.iter().position(|transaction| pick < transaction.until).unwrap_or(0);
        self.drawn.clear();
        self.drawn.extend(self.workload.sources.iter_mut().map(|(_, source)| draw(source, random, row)));
        let begun = Instant::now();
        for (at, statement) in self.statements[number].iter_mut().enumerate() {
            let template = &self.workload.transactions[number].statements[at];
            let values: Vec<Parameter<'_>> =
                template.parameters.iter().map(|&parameter| (&b""[..], self.drawn[parameter].value())).collect();
            connection.run(statement, &values).await?;
        }
        connection.count_transaction(self.first_transaction + number, begun);
        Ok(())
    }

    async fn before_retry(&mut self, connection: &mut Connection) -> Result<()> {
        connection.query(usize::MAX, b"ROLLBACK").await.map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SHOP: &str = r#"
        name = "shop"
        cleanup = ["DROP TABLE users"]
        [parameters]
        user = { from = 1, to = 100, distribution = "zipfian" }
        note = { letters = 4 }
        kind = { choice = ["book", "toy"] }
        [[table]]
        create = "CREATE TABLE users (id INT PRIMARY KEY, note VARCHAR(40), kind VARCHAR(9))"
        insert = "INSERT INTO users VALUES"
        values = "(:row, :note, :kind)"
        rows = 3
        [[transaction]]
        name = "browse"
        weight = 9
        statements = ["SELECT ':no', note FROM users WHERE id = :user"]
        [[transaction]]
        name = "change"
        statements = ["BEGIN", "UPDATE users SET note = :note WHERE id IN (:user, :user_2)", "COMMIT"]
    "#;

    #[test]
    fn a_file_is_understood() {
        let shop = Custom::parse(SHOP).unwrap();
        let kinds: Vec<String> = shop.kinds().into_iter().map(|kind| kind.name).collect();
        assert_eq!(kinds, ["browse 1", "change 1", "change 2", "change 3", "browse", "change"]);
        assert_eq!(shop.transactions[0].statements[0].text, "SELECT ':no', note FROM users WHERE id = ?");
        assert_eq!(shop.transactions[1].statements[1].parameters.len(), 3);
        assert_eq!(shop.transactions[1].until, 10.0);
        let plan = shop.load_plan(1);
        let mut row = Vec::new();
        (plan.fillings[0].make)(&mut Random::new(1, 1), 2, &mut row);
        let row = String::from_utf8(row).unwrap();
        assert!(row.starts_with("(2, '") && (row.ends_with("'book')") || row.ends_with("'toy')")), "{row}");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |from: &str, to: &str| Custom::parse(&SHOP.replace(from, to)).unwrap_err();
        assert_eq!(
            wrong("id = :user\"", "id = :usr\""),
            "transaction \"browse\": there is no parameter :usr; did you mean :user?"
        );
        assert!(wrong("zipfian", "normal").contains("there is no distribution \"normal\""));
        assert!(wrong("letters = 4", "letter = 4").contains("letter"));
        assert!(wrong("weight = 9", "weight = 0").contains("weight"));
        assert!(Custom::parse("name = 1").is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[a-z:'_ ?é\"`]{0,30}") {
            let file = SHOP.replace(":note, :kind", &text.replace(['"', '\\'], ""));
            if let Ok(custom) = Custom::parse(&file) {
                let plan = custom.load_plan(1);
                (plan.fillings[0].make)(&mut Random::new(1, 1), 2, &mut Vec::new());
            }
        }
    }
}
