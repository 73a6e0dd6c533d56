//! Which system variables there are.
//!
//! ```text
//! name  scope  access  type  detail  default  flags  effect         a line of data/variables.tsv
//!       G|B|S  rw|ro   bool int uint double enum set flags text
//! ```
//! Scope: global only, both, session only. Detail: `low..high/block` of numbers, the members of enum, set and flags.
//! Default: as SHOW VARIABLES prints it, `\N` for none. Flags: `hint` (SET_VAR takes it), `nodefault` (error 1230),
//! `global` (the session's is read-only), `super admin applier file` (who may set it for a session),
//! `old[=new]` (warning 1287), `hidden`, `alias=name`.
//!
//! # Invariants
//! 1. The table is in ascending order of names. (A test looks, and that each line is understood.)
//!
//! Effect: `works` (somebody here obeys it), `fixed` (it says what is so), `ignored` (accepted, and means nothing here:
//! it tunes machinery of MySQL that is not here).
//!
//! Five names are not of 9.7 and are here, hidden from SHOW, since clients of older servers and of MariaDB read or set
//! them without asking for a version first: tx_isolation, tx_read_only, storage_engine, query_cache_size,
//! query_cache_type. All other names that 9.7 does not have are unknown: error 1193.

use std::sync::LazyLock;

use super::value::Value;

static TABLE: &str = include_str!("../../data/variables.tsv");
static REGISTRY: LazyLock<Vec<Definition>> = LazyLock::new(|| rows().filter_map(Definition::parse).collect());

fn rows() -> impl Iterator<Item = &'static str> {
    TABLE.lines().filter(|line| !line.starts_with('#') && !line.is_empty())
}

/// Where a variable has values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// One for the server.
    Global,
    /// One for the server, with which each session begins.
    Both,
    /// One a session.
    Session,
}

/// What a variable may be.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// ON or OFF; 0 and 1.
    Boolean,
    /// An integer. Values are cut to the range, and down to a multiple of the block.
    Integer {
        /// Whether it is i64, else u64.
        signed: bool,
        /// From.
        low: i128,
        /// To, inclusive.
        high: i128,
        /// 1, or what it is a multiple of.
        block: u64,
    },
    /// A double with six decimals.
    Double {
        /// From.
        low: f64,
        /// To, inclusive.
        high: f64,
    },
    /// One of these.
    Enumeration(Vec<&'static str>),
    /// Any of these.
    Set(Vec<&'static str>),
    /// Each of these on or off: `a=on,b=off`.
    Flags(Vec<&'static str>),
    /// A text.
    Text,
}

/// Who may set a session's value, if not everybody.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guard {
    /// Everybody.
    Open,
    /// SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN.
    Super,
    /// SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN.
    Admin,
    /// As `Super`, or REPLICATION_APPLIER.
    Applier,
    /// FILE.
    File,
}

/// What setting it does here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Something obeys it.
    Works,
    /// It says what is so, and cannot be set.
    Fixed,
    /// It is remembered, and means nothing.
    Ignored,
}

/// The type of `@@name` in a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultType {
    /// BIGINT, of one digit.
    Boolean,
    /// BIGINT.
    Signed,
    /// BIGINT UNSIGNED.
    Unsigned,
    /// DOUBLE, with six decimals.
    Double,
    /// VARCHAR in utf8mb4.
    Text,
}

/// What is known of a variable.
#[derive(Clone, PartialEq, Debug)]
pub struct Definition {
    /// In lower case.
    pub name: &'static str,
    /// Where it has values.
    pub scope: Scope,
    /// Whether SET can set it.
    pub writable: bool,
    /// What it may be.
    pub kind: Kind,
    /// The server's default.
    pub default: Value,
    /// Whether the SET_VAR hint takes it.
    pub hint: bool,
    /// Whether there is no `SET x = DEFAULT`: error 1230.
    pub no_default: bool,
    /// Whether the session's value can only be read: error 1621.
    pub session_read_only: bool,
    /// Who may set a session's value.
    pub guard: Guard,
    /// Deprecated (warning 1287), and the name to use instead, if there is one.
    pub old: Option<Option<&'static str>>,
    /// Whether SHOW VARIABLES leaves it out.
    pub hidden: bool,
    /// Another name of this one.
    pub alias: Option<&'static str>,
    /// What it does here.
    pub effect: Effect,
}

impl Definition {
    fn parse(line: &'static str) -> Option<Definition> {
        let mut fields = line.split('\t');
        let mut next = || fields.next();
        let name = next()?;
        let scope = match next()? {
            "G" => Scope::Global,
            "B" => Scope::Both,
            _ => Scope::Session,
        };
        let writable = next()? == "rw";
        let (kind, detail) = (next()?, next()?);
        let members = || detail.split(',').filter(|member| !member.is_empty()).collect();
        let kind = match kind {
            "bool" => Kind::Boolean,
            "int" | "uint" => {
                let (range, block) = detail.split_once('/').unwrap_or((detail, "1"));
                let (low, high) = range.split_once("..")?;
                let signed = kind == "int";
                Kind::Integer { signed, low: low.parse().ok()?, high: high.parse().ok()?, block: block.parse().ok()? }
            }
            "double" => {
                let (low, high) = detail.split_once("..")?;
                Kind::Double { low: low.parse().ok()?, high: high.parse().ok()? }
            }
            "enum" => Kind::Enumeration(members()),
            "set" => Kind::Set(members()),
            "flags" => Kind::Flags(members()),
            "text" => Kind::Text,
            _ => return None,
        };
        let default = kind.read(next()?)?;
        let mut definition = Definition {
            name,
            scope,
            writable,
            kind,
            default,
            hint: false,
            no_default: false,
            session_read_only: false,
            guard: Guard::Open,
            old: None,
            hidden: false,
            alias: None,
            effect: Effect::Ignored,
        };
        for flag in next()?.split(',').filter(|flag| !flag.is_empty()) {
            match flag.split_once('=').unwrap_or((flag, "")) {
                ("hint", _) => definition.hint = true,
                ("nodefault", _) => definition.no_default = true,
                ("global", _) => definition.session_read_only = true,
                ("super", _) => definition.guard = Guard::Super,
                ("admin", _) => definition.guard = Guard::Admin,
                ("applier", _) => definition.guard = Guard::Applier,
                ("file", _) => definition.guard = Guard::File,
                ("old", "") => definition.old = Some(None),
                ("old", new) => definition.old = Some(Some(new)),
                ("hidden", _) => definition.hidden = true,
                ("alias", name) => (definition.hidden, definition.alias) = (true, Some(name)),
                _ => return None,
            }
        }
        definition.effect = match next()? {
            "works" => Effect::Works,
            "fixed" => Effect::Fixed,
            "ignored" => Effect::Ignored,
            _ => return None,
        };
        Some(definition)
    }

    /// The type of `@@name`.
    pub fn result_type(&self) -> ResultType {
        match self.kind {
            Kind::Boolean => ResultType::Boolean,
            Kind::Integer { signed: true, .. } => ResultType::Signed,
            Kind::Integer { .. } => ResultType::Unsigned,
            Kind::Double { .. } => ResultType::Double,
            _ => ResultType::Text,
        }
    }

    /// The name that errors about values use: of a deprecated name, the one to use instead.
    pub(super) fn new_name(&self) -> &'static str {
        self.old.flatten().unwrap_or(self.name)
    }

    /// As SHOW VARIABLES prints a value.
    pub fn shown(&self, value: &Value) -> String {
        match (&self.kind, value) {
            (Kind::Boolean, value) => if value.is_true() { "ON" } else { "OFF" }.to_owned(),
            (_, Value::Null) => String::new(),
            (_, Value::Signed(number)) => number.to_string(),
            (_, Value::Unsigned(number)) => number.to_string(),
            (_, Value::Double(number)) => format!("{number:.6}"),
            (_, Value::Text(text)) => text.to_string(),
        }
    }
}

impl Kind {
    /// A value as SHOW VARIABLES prints it, and as the table and option files have it. `\N` is NULL.
    pub(super) fn read(&self, text: &str) -> Option<Value> {
        if text == "\\N" {
            return Some(Value::Null);
        }
        Some(match self {
            Kind::Boolean => match text {
                "ON" | "on" | "1" | "TRUE" | "true" => Value::Signed(1),
                "OFF" | "off" | "0" | "FALSE" | "false" => Value::Signed(0),
                _ => return None,
            },
            Kind::Integer { signed: true, .. } => Value::Signed(text.parse().ok()?),
            Kind::Integer { .. } => Value::Unsigned(text.parse().ok()?),
            Kind::Double { .. } => Value::Double(text.parse().ok()?),
            Kind::Enumeration(_) | Kind::Set(_) | Kind::Flags(_) => Value::text(text),
            Kind::Text => Value::Text(unescape(text).into()),
        })
    }
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        out.push(match character {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                other => other.unwrap_or('\\'),
            },
            other => other,
        });
    }
    out
}

/// A variable, by its place in the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Variable(pub(super) u16);

impl Variable {
    /// The one with this name, in any case; of an alias, the one that it stands for.
    pub fn find(name: &str) -> Option<Variable> {
        let compare = |definition: &Definition| {
            let lower = name.bytes().map(|byte| byte.to_ascii_lowercase());
            definition.name.bytes().cmp(lower)
        };
        let at = REGISTRY.binary_search_by(compare).ok()?;
        match REGISTRY[at].alias {
            Some(name) => Self::find(name),
            None => Some(Variable(at as u16)),
        }
    }

    /// What is known of it.
    pub fn definition(self) -> &'static Definition {
        &REGISTRY[usize::from(self.0)]
    }

    /// All there are, in the order of their names.
    pub fn all() -> impl Iterator<Item = Variable> {
        (0..REGISTRY.len()).map(|at| Variable(at as u16))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_understood() {
        let unknown: Vec<_> = rows().filter(|line| Definition::parse(line).is_none()).collect();
        assert!(unknown.is_empty(), "{unknown:#?}");
        assert!(REGISTRY.len() > 600 && REGISTRY.windows(2).all(|pair| pair[0].name < pair[1].name));
        for definition in REGISTRY.iter() {
            assert_eq!(definition.alias.is_some(), definition.alias.and_then(Variable::find).is_some());
            assert!(definition.writable || definition.effect != Effect::Ignored, "{}", definition.name);
        }
    }

    #[test]
    fn a_variable_is_found_in_any_case_and_by_its_old_name() {
        let variable = Variable::find("AutoCommit").unwrap();
        assert_eq!(variable.definition().name, "autocommit");
        assert_eq!(Variable::find("tx_isolation"), Variable::find("transaction_isolation"));
        assert_eq!(Variable::find("tx_isolationx"), None);
        assert_eq!(Variable::find(""), None);
    }
}
