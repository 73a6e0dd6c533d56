//! The columns of a query's result.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::OnceLock;

use meseta_types::{Charset, Collated, DataType};

use crate::expression::{Expr, QueryColumn};

/// The columns of a result, with what a client is told of them: a plan that runs often says the same each time.
#[derive(Clone, Debug, Default)]
pub struct OutputColumns {
    columns: Vec<OutputColumn>,
    /// As it was told first: for clients who want texts in this character set.
    told: OnceLock<(Option<Charset>, Box<[u8]>)>,
}

impl OutputColumns {
    /// What clients are told who want texts in this character set: made by `encode`, unless it is known.
    pub fn told(
        &self,
        results: Option<Charset>,
        encode: impl Fn(&[OutputColumn], Option<Charset>) -> Vec<u8>,
    ) -> Cow<'_, [u8]> {
        let (known, told) = self.told.get_or_init(|| (results, encode(&self.columns, results).into()));
        if *known == results { Cow::Borrowed(told) } else { Cow::Owned(encode(&self.columns, results)) }
    }
}

impl From<Vec<OutputColumn>> for OutputColumns {
    fn from(columns: Vec<OutputColumn>) -> Self {
        Self { columns, told: OnceLock::new() }
    }
}

impl Deref for OutputColumns {
    type Target = [OutputColumn];

    fn deref(&self) -> &[OutputColumn] {
        &self.columns
    }
}

/// A column of a result, as a client is told of it.
#[derive(Clone, Debug)]
pub struct OutputColumn {
    /// The alias, the column's name, or the source text.
    pub name: Box<[u8]>,
    /// The database, table's alias, table and column that it comes from; empty for what is computed.
    pub origin: Option<Origin>,
    /// Its type.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// How firmly it holds its collation, if not as a column of a table does: what a literal yields gives way.
    pub collated: Option<Collated>,
}

impl OutputColumn {
    /// One that is made for the occasion.
    pub fn new(name: &str, data_type: DataType, nullable: bool) -> Self {
        Self { name: name.as_bytes().into(), origin: None, data_type, nullable, collated: None }
    }

    /// An expression's, under this name.
    pub fn of(value: &Expr, name: Box<[u8]>) -> Self {
        let (data_type, nullable) = (value.data_type.clone(), value.nullable);
        Self { name, origin: None, data_type, nullable, collated: Some(value.collated) }
    }

    /// As a column of a query inside of an expression.
    pub fn of_query(&self) -> QueryColumn {
        QueryColumn { data_type: self.data_type.clone(), nullable: self.nullable, collated: self.collated }
    }
}

/// Where a column of a result comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The database.
    pub database: Box<str>,
    /// The table's alias.
    pub alias: Box<str>,
    /// The table.
    pub table: Box<str>,
    /// The column's number in the table.
    pub column: usize,
    /// The column's name in the table.
    pub name: Box<str>,
    /// What a client is told of it beside its type: keys, defaults.
    pub flags: u16,
}

impl Origin {
    /// That of a value which was computed and kept.
    pub fn nowhere() -> Self {
        let nothing = || Box::from("");
        Self { database: nothing(), alias: nothing(), table: nothing(), column: 0, name: nothing(), flags: 0 }
    }
}
