//! Expressions as text with every grouping in parentheses: for tests, and for messages.
//!
//! `1 + 2 * 3` is printed as `(1+(2*3))`. The text can be read again and gives the same tree. Queries inside are printed
//! as `(query)` when their text is not given.

use crate::ast::*;
use crate::{Arena, Options, ParseError};
use std::fmt::{self, Display, Formatter};

/// An expression to be printed, with the statement's text, from which queries inside are copied.
#[derive(Clone, Copy)]
pub struct Parenthesised<'a, 'b>(pub &'b Expression<'a>, pub &'b [u8]);

/// The first expression of a SELECT's list, which is what tests of grouping look at.
///
/// # Errors
/// Those of [`parse`](crate::parse).
pub fn first_expression<'a>(
    arena: &'a Arena,
    text: &'a [u8],
    options: Options,
) -> Result<Option<Expression<'a>>, ParseError> {
    let parsed = crate::parse(arena, text, 0, options)?;
    let Statement::Query(Query { body: QueryBody::Select(select), .. }) = parsed.statement else { return Ok(None) };
    Ok(match select.items.first() {
        Some(SelectItem::Expression { expression, .. }) => Some(*expression),
        _ => None,
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn quoted(bytes: &[u8]) -> String {
    format!("'{}'", text(bytes).replace('\\', "\\\\").replace('\'', "''"))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl<'b> Parenthesised<'_, 'b> {
    fn list(&self, f: &mut Formatter<'_>, items: &[Expression<'_>]) -> fmt::Result {
        for (place, item) in items.iter().enumerate() {
            if place > 0 {
                f.write_str(",")?;
            }
            write!(f, "{}", Parenthesised(item, self.1))?;
        }
        Ok(())
    }

    fn query(&self, query: &Query<'_>) -> String {
        let source = query.span.of(self.1);
        if source.is_empty() { "(query)".to_string() } else { format!("({})", text(source)) }
    }

    fn not(negated: bool) -> &'static str {
        if negated { "not " } else { "" }
    }

    /// A chain that leans to the left: as many parentheses, and then each operator with its right side.
    fn chain(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut operators = Vec::new();
        let mut expression = self.0;
        while let ExpressionKind::Binary { operator, left, right } = expression.kind {
            operators.push((operator, right));
            expression = left;
        }
        f.write_str(&"(".repeat(operators.len()))?;
        write!(f, "{}", Parenthesised(expression, self.1))?;
        for (operator, right) in operators.into_iter().rev() {
            let symbol = operator.symbol();
            let right = Parenthesised(right, self.1);
            if symbol.as_bytes()[0].is_ascii_alphabetic() {
                write!(f, " {symbol} {right})")?;
            } else {
                write!(f, "{symbol}{right})")?;
            }
        }
        Ok(())
    }

    fn aggregate(&self, f: &mut Formatter<'_>, aggregate: &Aggregate<'_>) -> fmt::Result {
        write!(f, "{:?}({}", aggregate.function, if aggregate.distinct { "distinct " } else { "" })?;
        if aggregate.arguments.is_empty() {
            f.write_str("*")?;
        }
        self.list(f, aggregate.arguments)?;
        f.write_str(")")
    }
}

impl Display for Literal<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let introducer = |set: &Option<Text<'_>>| set.map(|set| format!("_{} ", text(&set))).unwrap_or_default();
        match self {
            Literal::Null => f.write_str("NULL"),
            Literal::True => f.write_str("TRUE"),
            Literal::False => f.write_str("FALSE"),
            Literal::Integer(digits) | Literal::Decimal(digits) | Literal::Float(digits) => f.write_str(&text(digits)),
            Literal::String(string) => write!(f, "{}{}", introducer(&string.character_set), quoted(&string.value)),
            Literal::Hexadecimal { character_set, bytes } => {
                write!(f, "{}x'{}'", introducer(character_set), hex(bytes))
            }
            Literal::Bit { character_set, bytes } => {
                let bits: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
                write!(f, "{}b'{bits}'", introducer(character_set))
            }
            Literal::Temporal { kind, value } => {
                write!(f, "{} {}", format!("{kind:?}").to_uppercase(), quoted(value))
            }
        }
    }
}

impl Display for Parenthesised<'_, '_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        use ExpressionKind as E;
        let of = |expression| Parenthesised(expression, self.1);
        match &self.0.kind {
            E::Literal(literal) => write!(f, "{literal}"),
            E::Parameter(_) => f.write_str("?"),
            E::Column(name) => write!(f, "{name}"),
            E::UserVariable(name) => write!(f, "@{}", quoted(name)),
            E::SystemVariable(variable) => {
                f.write_str("@@")?;
                if let Some(scope) = variable.scope {
                    write!(f, "{}.", format!("{scope:?}").to_lowercase())?;
                }
                if let Some(prefix) = variable.prefix {
                    write!(f, "{prefix}.")?;
                }
                write!(f, "{}", variable.name)
            }
            E::Assign { variable, value } => write!(f, "(@{}:={})", quoted(variable), of(value)),
            E::Unary { operator, operand } => write!(f, "({}{})", operator.symbol(), of(operand)),
            E::Binary { .. } => self.chain(f),
            E::Is { operand, negated, test } => {
                let test = format!("{test:?}").to_lowercase();
                write!(f, "({} is {}{test})", of(operand), Self::not(*negated))
            }
            E::Between(between) => {
                let Between { operand, negated, low, high } = between;
                write!(f, "({} {}between {} and {})", of(operand), Self::not(*negated), of(low), of(high))
            }
            E::In { operand, negated, list } => {
                write!(f, "({} {}in (", of(operand), Self::not(*negated))?;
                self.list(f, list)?;
                f.write_str("))")
            }
            E::InQuery { operand, negated, query } => {
                write!(f, "({} {}in {})", of(operand), Self::not(*negated), self.query(query))
            }
            E::Like(like) => {
                write!(f, "({} {}like {}", of(&like.operand), Self::not(like.negated), of(&like.pattern))?;
                if let Some(escape) = &like.escape {
                    write!(f, " escape {}", of(escape))?;
                }
                f.write_str(")")
            }
            E::Regexp { operand, negated, pattern } => {
                write!(f, "({} {}regexp {})", of(operand), Self::not(*negated), of(pattern))
            }
            E::MemberOf { value, array } => write!(f, "({} member of ({}))", of(value), of(array)),
            E::Quantified(quantified) => {
                let word = if quantified.all { "all" } else { "any" };
                let symbol = quantified.operator.symbol();
                write!(f, "({}{symbol}{word} {})", of(&quantified.left), self.query(quantified.query))
            }
            E::Row(items) => {
                f.write_str("row(")?;
                self.list(f, items)?;
                f.write_str(")")
            }
            E::Subquery(query) => f.write_str(&self.query(query)),
            E::Exists(query) => write!(f, "exists {}", self.query(query)),
            E::Case(case) => {
                f.write_str("(case")?;
                if let Some(operand) = &case.operand {
                    write!(f, " {}", of(operand))?;
                }
                for (condition, result) in case.branches {
                    write!(f, " when {} then {}", of(condition), of(result))?;
                }
                if let Some(otherwise) = &case.otherwise {
                    write!(f, " else {}", of(otherwise))?;
                }
                f.write_str(" end)")
            }
            E::Cast(cast) => write!(f, "cast({} as {:?})", of(&cast.operand), cast.target),
            E::ConvertUsing { operand, character_set } => {
                write!(f, "convert({} using {})", of(operand), text(character_set))
            }
            E::Collate { operand, collation } => write!(f, "({} collate {})", of(operand), text(collation)),
            E::DateArithmetic(node) => {
                let sign = if node.subtract { '-' } else { '+' };
                write!(f, "({}{sign}interval {} {})", of(&node.date), of(&node.amount), node.unit.symbol())
            }
            E::Call(call) => {
                write!(f, "{}(", text(&call.name.name.text).to_lowercase())?;
                self.list(f, call.arguments)?;
                f.write_str(")")
            }
            E::Aggregate(aggregate) => self.aggregate(f, aggregate),
            E::Window(window) => match window.function {
                WindowFunction::Aggregate(aggregate) => {
                    self.aggregate(f, aggregate)?;
                    f.write_str(" over")
                }
                WindowFunction::Named { function, arguments, .. } => {
                    write!(f, "{function:?}(")?;
                    self.list(f, arguments)?;
                    f.write_str(") over")
                }
            },
            E::Match(node) => write!(f, "match against ({})", of(&node.against)),
            E::JsonPath { column, path, unquote } => {
                write!(f, "({column}{}{})", if *unquote { "->>" } else { "->" }, quoted(path))
            }
            E::JsonValue(node) => write!(f, "json_value({},{})", of(&node.document), quoted(&node.path)),
            E::DefaultOf(name) => write!(f, "default({name})"),
            E::Default => f.write_str("default"),
            E::ValuesOf(name) => write!(f, "values({name})"),
            E::Odbc { name, operand } => write!(f, "{{{name} {}}}", of(operand)),
        }
    }
}
