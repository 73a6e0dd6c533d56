//! Expressions as SHOW CREATE TABLE prints them: every operation in parentheses, names in backquotes, words in lower case.
//!
//! # Invariants
//! 1. The text can be read again and means the same.
//! 2. It is at most as deep as what was read, which the parser limits.

use std::fmt::Write as _;

use meseta_errors::*;
use meseta_parser::ast::{
    self, BinaryOperator, CallExtra, Cast, CastType, ExpressionKind, IsTest, Literal, TrimSide, UnaryOperator,
};

use super::{DefinitionContext, name};
use crate::error::{Error, Result};
use crate::schema::{append_quoted, append_quoted_name, quoted_name};

/// Functions that may not stand in any definition.
const NEVER: [&str; 17] = [
    "benchmark",
    "found_rows",
    "get_lock",
    "icu_version",
    "is_free_lock",
    "is_used_lock",
    "json_merge",
    "last_insert_id",
    "load_file",
    "name_const",
    "release_all_locks",
    "release_lock",
    "row_count",
    "sleep",
    "source_pos_wait",
    "updatexml",
    "version",
];
/// Functions that may stand in a default alone: they do not have one value for ever.
const CHANGING: [&str; 16] = [
    "connection_id",
    "curdate",
    "current_role",
    "current_user",
    "curtime",
    "database",
    "etag",
    "now",
    "rand",
    "roles_graphml",
    "user",
    "utc_date",
    "utc_time",
    "utc_timestamp",
    "uuid",
    "uuid_short",
];

/// Where an expression stands: which errors it can cause.
pub enum Purpose {
    /// DEFAULT (...), by its column's name.
    Default(String),
    /// GENERATED ALWAYS AS (...), by its column's name.
    Generated(String),
    /// CHECK (...), by its name.
    Check(String),
}

/// An expression that was printed.
pub struct Printed {
    /// Its text.
    pub text: String,
    /// The columns that it names.
    pub columns: Vec<String>,
}

struct Printer<'p> {
    out: String,
    columns: Vec<String>,
    purpose: &'p Purpose,
    /// The character set of literals.
    charset: &'static str,
    text: &'p [u8],
    /// How many `!` there were: each is worth a warning.
    exclamations: u32,
}

impl DefinitionContext<'_> {
    /// An expression as text. Errors: what may not stand there.
    pub(super) fn print_expression(
        &mut self,
        expression: &ast::Expression<'_>,
        text: &[u8],
        purpose: &Purpose,
    ) -> Result<Printed> {
        if matches!(expression.kind, ExpressionKind::Row(_)) {
            return Err(match purpose {
                Purpose::Default(column) => Error::new(ER_DEFAULT_VAL_GENERATED_ROW_VALUE, &[column]),
                Purpose::Generated(column) => Error::new(ER_GENERATED_COLUMN_ROW_VALUE, &[column]),
                Purpose::Check(name) => Error::new(ER_CHECK_CONSTRAINT_ROW_VALUE, &[name]),
            });
        }
        let charset = self.connection_collation.charset().name();
        let mut printer = Printer { out: String::new(), columns: Vec::new(), purpose, charset, text, exclamations: 0 };
        printer.expression(expression)?;
        for _ in 0..printer.exclamations {
            self.warn(ER_WARN_DEPRECATED_SYNTAX, &[&"!", &"NOT"]);
        }
        Ok(Printed { text: printer.out, columns: printer.columns })
    }
}

/// Whether an expression is a condition: CHECK wants one.
pub fn is_condition(expression: &ast::Expression<'_>) -> bool {
    use BinaryOperator as B;
    match &expression.kind {
        ExpressionKind::Binary { operator, .. } => matches!(
            operator,
            B::Or
                | B::Xor
                | B::And
                | B::Equal
                | B::NullSafeEqual
                | B::NotEqual
                | B::Less
                | B::LessOrEqual
                | B::Greater
                | B::GreaterOrEqual
                | B::SoundsLike
        ),
        ExpressionKind::Unary { operator, .. } => matches!(operator, UnaryOperator::Not | UnaryOperator::Exclamation),
        ExpressionKind::Literal(literal) => matches!(literal, Literal::True | Literal::False),
        ExpressionKind::Is { .. }
        | ExpressionKind::Between(_)
        | ExpressionKind::In { .. }
        | ExpressionKind::Like(_)
        | ExpressionKind::Regexp { .. }
        | ExpressionKind::MemberOf { .. }
        | ExpressionKind::Exists(_) => true,
        ExpressionKind::Call(call) => {
            let name = call.name.name.text.to_ascii_lowercase();
            let names: [&[u8]; 8] = [
                b"json_valid",
                b"json_schema_valid",
                b"json_contains",
                b"json_contains_path",
                b"json_overlaps",
                b"isnull",
                b"regexp_like",
                b"is_uuid",
            ];
            names.contains(&&name[..])
        }
        _ => false,
    }
}

/// The condition that holds where another one does not, if one operator says so: `a <= 1` for `a > 1`.
fn opposite<'a>(condition: &ast::Expression<'a>) -> Option<ast::Expression<'a>> {
    use BinaryOperator as B;
    let kind = match condition.kind {
        ExpressionKind::Binary { operator, left, right } => {
            let operator = match operator {
                B::Equal => B::NotEqual,
                B::NotEqual => B::Equal,
                B::Less => B::GreaterOrEqual,
                B::LessOrEqual => B::Greater,
                B::Greater => B::LessOrEqual,
                B::GreaterOrEqual => B::Less,
                _ => return None,
            };
            ExpressionKind::Binary { operator, left, right }
        }
        ExpressionKind::Is { operand, negated, test } => ExpressionKind::Is { operand, negated: !negated, test },
        ExpressionKind::In { operand, negated, list } => ExpressionKind::In { operand, negated: !negated, list },
        _ => return None,
    };
    Some(ast::Expression { kind, span: condition.span })
}

impl Printer<'_> {
    fn not_allowed(&self, what: &str) -> Error {
        match self.purpose {
            Purpose::Default(_) => Error::not_yet(&format!("{what} in a default")),
            Purpose::Generated(_) => Error::not_yet(&format!("{what} in a generated column")),
            Purpose::Check(_) => Error::not_yet(&format!("{what} in a check constraint")),
        }
    }

    /// A query, or something else that may not stand there.
    fn forbidden(&self) -> Error {
        match self.purpose {
            Purpose::Default(column) => Error::new(ER_DEFAULT_VAL_GENERATED_FUNCTION_IS_NOT_ALLOWED, &[column]),
            Purpose::Generated(column) => Error::new(ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED, &[column]),
            Purpose::Check(name) => Error::new(ER_CHECK_CONSTRAINT_FUNCTION_IS_NOT_ALLOWED, &[name]),
        }
    }

    fn forbidden_function(&self, function: &str) -> Error {
        match self.purpose {
            Purpose::Default(column) => {
                Error::new(ER_DEFAULT_VAL_GENERATED_NAMED_FUNCTION_IS_NOT_ALLOWED, &[column, &function])
            }
            Purpose::Generated(column) => {
                Error::new(ER_GENERATED_COLUMN_NAMED_FUNCTION_IS_NOT_ALLOWED, &[column, &function])
            }
            Purpose::Check(name) => Error::new(ER_CHECK_CONSTRAINT_NAMED_FUNCTION_IS_NOT_ALLOWED, &[name, &function]),
        }
    }

    /// Error if this function may not stand there: one whose value changes, or that does something.
    fn check_function(&self, name: &str, arguments: usize) -> Result<()> {
        let is_default = matches!(self.purpose, Purpose::Default(_));
        if NEVER.contains(&name) || (!is_default && CHANGING.contains(&name)) {
            let shown = if matches!(name, "version" | "icu_version") { format!("{name}()") } else { name.to_owned() };
            return Err(self.forbidden_function(&shown));
        }
        let is_generated = matches!(self.purpose, Purpose::Generated(_));
        if (name == "unix_timestamp" && arguments == 0 && !is_default)
            || (is_generated && matches!(name, "sysdate" | "random_bytes"))
        {
            return Err(self.forbidden_function(name));
        }
        if crate::expression::function::find(name).is_none() && !crate::expression::function::is_missing(name) {
            return Err(self.forbidden_function(&quoted_name(name)));
        }
        Ok(())
    }

    fn variable(&self) -> Error {
        match self.purpose {
            // MySQL says so of generated columns, too.
            Purpose::Default(column) | Purpose::Generated(column) => {
                Error::new(ER_DEFAULT_VAL_GENERATED_VARIABLES, &[column])
            }
            Purpose::Check(name) => Error::new(ER_CHECK_CONSTRAINT_VARIABLES, &[name]),
        }
    }

    fn list(&mut self, items: &[ast::Expression<'_>]) -> Result<()> {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            self.expression(item)?;
        }
        Ok(())
    }

    fn call(&mut self, name: &str, arguments: &[ast::Expression<'_>]) -> Result<()> {
        self.out += name;
        self.out.push('(');
        self.list(arguments)?;
        self.out.push(')');
        Ok(())
    }

    /// `(left word right)`.
    fn pair(&mut self, left: &ast::Expression<'_>, word: &str, right: &ast::Expression<'_>) -> Result<()> {
        self.out.push('(');
        self.expression(left)?;
        let _ = write!(self.out, " {word} ");
        self.expression(right)?;
        self.out.push(')');
        Ok(())
    }

    fn text_literal(&mut self, value: &[u8], character_set: Option<ast::Text<'_>>) {
        let introducer = character_set.map_or_else(|| self.charset.to_owned(), |set| name::text(set).to_lowercase());
        let _ = write!(self.out, "_{introducer}");
        append_quoted(&String::from_utf8_lossy(value), &mut self.out);
    }

    fn literal(&mut self, literal: &Literal<'_>) {
        match literal {
            Literal::Null => self.out += "NULL",
            Literal::True => self.out += "true",
            Literal::False => self.out += "false",
            Literal::Integer(digits) | Literal::Decimal(digits) | Literal::Float(digits) => {
                self.out += &String::from_utf8_lossy(digits);
            }
            Literal::String(string) => self.text_literal(&string.value, string.character_set),
            Literal::Hexadecimal { character_set, bytes } | Literal::Bit { character_set, bytes } => {
                if let Some(set) = character_set {
                    let _ = write!(self.out, "_{} ", name::text(*set).to_lowercase());
                }
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                let _ = write!(self.out, "0x{digits}");
            }
            Literal::Temporal { kind, value } => {
                let word = match kind {
                    ast::TemporalKind::Date => "DATE",
                    ast::TemporalKind::Time => "TIME",
                    ast::TemporalKind::Timestamp => "TIMESTAMP",
                };
                let _ = write!(self.out, "{word}");
                append_quoted(&String::from_utf8_lossy(value), &mut self.out);
            }
        }
    }

    fn column(&mut self, column: &ast::ColumnName<'_>) {
        let name = name::text(column.column.text);
        append_quoted_name(&name, &mut self.out);
        self.columns.push(name);
    }

    /// Chains of one operator lean to the left and can be long: printed in a loop. AND and OR are printed flat, as MySQL
    /// does it.
    fn binary(&mut self, expression: &ast::Expression<'_>) -> Result<()> {
        let mut chain = Vec::new();
        let mut first = expression;
        while let ExpressionKind::Binary { operator, left, right } = &first.kind {
            chain.push((*operator, *right));
            first = left;
        }
        chain.reverse();
        let is_flat = |at: usize, operator: BinaryOperator| {
            at > 0 && matches!(operator, BinaryOperator::And | BinaryOperator::Or) && chain[at - 1].0 == operator
        };
        let opened = chain.iter().enumerate().filter(|(at, (operator, _))| !is_flat(*at, *operator)).count();
        self.out += &"(".repeat(opened);
        match chain.first() {
            Some((operator, _)) => self.operand(*operator, first)?,
            None => self.expression(first)?,
        }
        for (at, (operator, right)) in chain.iter().enumerate() {
            let word = match operator {
                BinaryOperator::IntegerDivide => "DIV",
                operator => operator.symbol(),
            };
            let _ = write!(self.out, " {word} ");
            self.operand(*operator, right)?;
            let goes_on = chain.get(at + 1).is_some_and(|(next, _)| is_flat(at + 1, *next));
            if !goes_on {
                self.out.push(')');
            }
        }
        Ok(())
    }

    /// An operand: of AND, OR and XOR a condition, so that what is none is compared with 0.
    fn operand(&mut self, operator: BinaryOperator, operand: &ast::Expression<'_>) -> Result<()> {
        let wants_condition = matches!(operator, BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Xor);
        if !wants_condition || is_condition(operand) {
            return self.expression(operand);
        }
        self.out += "(0 <> ";
        self.expression(operand)?;
        self.out.push(')');
        Ok(())
    }

    fn expression(&mut self, expression: &ast::Expression<'_>) -> Result<()> {
        match &expression.kind {
            ExpressionKind::Literal(literal) => self.literal(literal),
            ExpressionKind::Column(column) => self.column(column),
            ExpressionKind::Parameter(_) => return Err(self.not_allowed("a parameter")),
            ExpressionKind::UserVariable(_) | ExpressionKind::SystemVariable(_) | ExpressionKind::Assign { .. } => {
                return Err(self.variable());
            }
            ExpressionKind::Unary { operator, operand } => self.unary(*operator, operand)?,
            ExpressionKind::Binary { .. } => self.binary(expression)?,
            ExpressionKind::Is { operand, negated, test } => {
                self.out.push('(');
                self.expression(operand)?;
                let not = if *negated { "not " } else { "" };
                let test = match test {
                    IsTest::Null => "null",
                    IsTest::True => "true",
                    IsTest::False => "false",
                    IsTest::Unknown => "null",
                };
                let _ = write!(self.out, " is {not}{test})");
            }
            ExpressionKind::Between(between) => {
                self.out.push('(');
                self.expression(&between.operand)?;
                self.out += if between.negated { " not between " } else { " between " };
                self.expression(&between.low)?;
                self.out += " and ";
                self.expression(&between.high)?;
                self.out.push(')');
            }
            ExpressionKind::In { operand, negated, list } => {
                self.out.push('(');
                self.expression(operand)?;
                self.out += if *negated { " not in (" } else { " in (" };
                self.list(list)?;
                self.out += "))";
            }
            ExpressionKind::Like(like) => {
                self.out += if like.negated { "(not((" } else { "(" };
                self.expression(&like.operand)?;
                self.out += " like ";
                self.expression(&like.pattern)?;
                if let Some(escape) = &like.escape {
                    self.out += " escape ";
                    self.expression(escape)?;
                }
                self.out += if like.negated { ")))" } else { ")" };
            }
            ExpressionKind::Regexp { operand, negated, pattern } => {
                self.out += if *negated { "(not(regexp_like(" } else { "regexp_like(" };
                self.expression(operand)?;
                self.out.push(',');
                self.expression(pattern)?;
                self.out += if *negated { ")))" } else { ")" };
            }
            ExpressionKind::MemberOf { value, array } => {
                self.expression(value)?;
                self.out += " member of (";
                self.expression(array)?;
                self.out.push(')');
            }
            ExpressionKind::Row(items) => {
                self.out.push('(');
                self.list(items)?;
                self.out.push(')');
            }
            ExpressionKind::Case(case) => {
                self.out += "(case ";
                if let Some(operand) = &case.operand {
                    self.expression(operand)?;
                    self.out.push(' ');
                }
                for (condition, result) in case.branches {
                    self.out += "when ";
                    self.expression(condition)?;
                    self.out += " then ";
                    self.expression(result)?;
                    self.out.push(' ');
                }
                if let Some(otherwise) = &case.otherwise {
                    self.out += "else ";
                    self.expression(otherwise)?;
                    self.out.push(' ');
                }
                self.out += "end)";
            }
            ExpressionKind::Cast(cast) => self.cast(cast)?,
            ExpressionKind::ConvertUsing { operand, character_set } => {
                self.out += "convert(";
                self.expression(operand)?;
                let _ = write!(self.out, " using {})", name::text(**character_set).to_lowercase());
            }
            ExpressionKind::Collate { operand, collation } => {
                self.out.push('(');
                self.expression(operand)?;
                let _ = write!(self.out, " collate {})", name::text(**collation).to_lowercase());
            }
            ExpressionKind::DateArithmetic(date) => {
                self.out.push('(');
                self.expression(&date.date)?;
                self.out += if date.subtract { " - interval " } else { " + interval " };
                self.expression(&date.amount)?;
                let _ = write!(self.out, " {})", date.unit.symbol());
            }
            ExpressionKind::Call(call) => self.function(call)?,
            ExpressionKind::JsonPath { column, path, unquote } => {
                self.out += if *unquote { "json_unquote(json_extract(" } else { "json_extract(" };
                self.column(column);
                self.out.push(',');
                self.text_literal(path, None);
                self.out += if *unquote { "))" } else { ")" };
            }
            ExpressionKind::DefaultOf(column) => {
                self.out += "default(";
                self.column(column);
                self.out.push(')');
            }
            ExpressionKind::InQuery { .. }
            | ExpressionKind::Quantified(_)
            | ExpressionKind::Subquery(_)
            | ExpressionKind::Exists(_) => return Err(self.forbidden()),
            ExpressionKind::Aggregate(_) | ExpressionKind::Window(_) => {
                return Err(Error::new(ER_INVALID_GROUP_FUNC_USE, &[]));
            }
            ExpressionKind::ValuesOf(_) => return Err(self.forbidden_function("values")),
            // Rare: kept as it was written.
            ExpressionKind::Match(_)
            | ExpressionKind::JsonValue(_)
            | ExpressionKind::Default
            | ExpressionKind::Odbc { .. } => {
                self.out += &String::from_utf8_lossy(expression.span.of(self.text));
            }
        }
        Ok(())
    }

    fn unary(&mut self, operator: UnaryOperator, operand: &ast::Expression<'_>) -> Result<()> {
        self.exclamations += u32::from(operator == UnaryOperator::Exclamation);
        match operator {
            UnaryOperator::Plus => self.expression(operand),
            UnaryOperator::Not | UnaryOperator::Exclamation if !is_condition(operand) => {
                self.out += "(0 = ";
                self.expression(operand)?;
                self.out.push(')');
                Ok(())
            }
            UnaryOperator::Not | UnaryOperator::Exclamation => match opposite(operand) {
                Some(opposite) => self.expression(&opposite),
                None => {
                    self.out += "(not(";
                    self.expression(operand)?;
                    self.out += "))";
                    Ok(())
                }
            },
            UnaryOperator::Minus => {
                self.out += "-(";
                self.expression(operand)?;
                self.out.push(')');
                Ok(())
            }
            UnaryOperator::BitNot => {
                self.out += "~(";
                self.expression(operand)?;
                self.out.push(')');
                Ok(())
            }
            UnaryOperator::Binary => {
                self.out += "cast(";
                self.expression(operand)?;
                self.out += " as char charset binary)";
                Ok(())
            }
        }
    }

    fn cast(&mut self, cast: &Cast<'_>) -> Result<()> {
        self.out += "cast(";
        self.expression(&cast.operand)?;
        self.out += " as ";
        let size = |length: Option<ast::Text<'_>>| length.map_or_else(String::new, |n| format!("({})", name::text(n)));
        let target = match cast.target {
            CastType::Binary { length } => format!("char{} charset binary", size(length)),
            CastType::Char { length, character_set, national, .. } => {
                let set = character_set.map(|set| name::text(set).to_lowercase());
                let set = set.unwrap_or_else(|| if national { "utf8mb3" } else { self.charset }.to_owned());
                format!("char{} charset {set}", size(length))
            }
            CastType::Signed => "signed".to_owned(),
            CastType::Unsigned => "unsigned".to_owned(),
            CastType::Date => "date".to_owned(),
            CastType::Year => "year".to_owned(),
            CastType::Time { precision } => format!("time{}", size(precision)),
            CastType::Datetime { precision } => format!("datetime{}", size(precision)),
            CastType::Decimal { precision, scale } => {
                let precision = precision.map_or_else(|| "10".to_owned(), name::text);
                let scale = scale.map_or_else(|| "0".to_owned(), name::text);
                format!("decimal({precision},{scale})")
            }
            CastType::Json => "json".to_owned(),
            CastType::Real | CastType::Double => "double".to_owned(),
            CastType::Float { .. } => "float".to_owned(),
            CastType::Vector { .. } => return Err(self.not_allowed("VECTOR")),
            CastType::Geometry(_) => return Err(self.not_allowed("a spatial type")),
        };
        self.out += &target;
        if cast.array {
            self.out += " array";
        }
        self.out.push(')');
        Ok(())
    }

    fn function(&mut self, call: &ast::Call<'_>) -> Result<()> {
        let given = name::text(call.name.name.text).to_lowercase();
        let name = match given.as_str() {
            "current_timestamp" | "localtime" | "localtimestamp" => "now",
            "current_date" => "curdate",
            "current_time" => "curtime",
            "substring" | "mid" => "substr",
            "character_length" => "char_length",
            "power" => "pow",
            "ceil" => "ceiling",
            "lcase" => "lower",
            "ucase" => "upper",
            "octet_length" => "length",
            "day" => "dayofmonth",
            "session_user" | "system_user" => "user",
            "schema" => "database",
            other => other,
        };
        if let Some(schema) = call.name.schema {
            let shown = format!("{}.{}", quoted_name(&name::text(schema.text)), quoted_name(&given));
            return Err(self.forbidden_function(&shown));
        }
        self.check_function(name, call.arguments.len())?;
        match call.extra {
            CallExtra::None | CallExtra::NoParentheses => {
                if name == "mod"
                    && let [left, right] = call.arguments
                {
                    return self.pair(left, "%", right);
                }
                self.call(name, call.arguments)
            }
            CallExtra::Unit(unit) => {
                let _ = write!(self.out, "{name}({}", unit.symbol());
                let is_extract = name == "extract";
                self.out += if is_extract { " from " } else { "," };
                self.list(call.arguments)?;
                self.out.push(')');
                Ok(())
            }
            CallExtra::Trim(side) => {
                let word = match side {
                    TrimSide::Both => "both ",
                    TrimSide::Leading => "leading ",
                    TrimSide::Trailing => "trailing ",
                };
                self.out += "trim(";
                match call.arguments {
                    [from, what] => {
                        self.out += word;
                        self.expression(what)?;
                        self.out += " from ";
                        self.expression(from)?;
                    }
                    other => self.list(other)?,
                }
                self.out.push(')');
                Ok(())
            }
            CallExtra::Using(set) => {
                let _ = write!(self.out, "{name}(");
                self.list(call.arguments)?;
                let _ = write!(self.out, " using {})", name::text(set).to_lowercase());
                Ok(())
            }
            CallExtra::FormatOf(_) | CallExtra::WeightString { .. } | CallExtra::Aliases(_) => {
                Err(self.not_allowed("this function"))
            }
        }
    }
}
