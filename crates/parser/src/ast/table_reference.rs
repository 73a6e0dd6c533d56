//! What stands behind FROM.

use super::*;

#[derive(Clone, Copy, Debug)]
pub enum TableReference<'a> {
    Table(&'a Table<'a>),
    Derived(&'a Derived<'a>),
    Join(&'a Join<'a>),
    /// `(t1, t2)`: joined by commas inside of parentheses. One alone is not wrapped.
    Parenthesised(List<'a, TableReference<'a>>),
    JsonTable(&'a JsonTable<'a>),
}

#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    pub name: ObjectName<'a>,
    pub partitions: List<'a, Identifier<'a>>,
    pub alias: Option<Identifier<'a>>,
    pub index_hints: List<'a, IndexHint<'a>>,
    /// `TABLESAMPLE SYSTEM (10)`: whether BERNOULLI, and the percentage.
    pub sample: Option<(bool, Expression<'a>)>,
}

#[derive(Clone, Copy, Debug)]
pub struct IndexHint<'a> {
    pub action: IndexHintAction,
    pub scope: IndexHintScope,
    /// `PRIMARY` is a name like others. Empty in `USE INDEX ()`.
    pub indexes: List<'a, Identifier<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexHintAction {
    Use,
    Ignore,
    Force,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexHintScope {
    All,
    Join,
    OrderBy,
    GroupBy,
}

#[derive(Clone, Copy, Debug)]
pub struct Derived<'a> {
    pub lateral: bool,
    pub query: &'a Query<'a>,
    pub alias: Option<Identifier<'a>>,
    pub columns: List<'a, Identifier<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub struct Join<'a> {
    pub kind: JoinKind,
    pub natural: bool,
    pub left: TableReference<'a>,
    pub right: TableReference<'a>,
    pub condition: JoinCondition<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    /// `JOIN`, `INNER JOIN`, `CROSS JOIN`.
    Inner,
    Straight,
    Left,
    Right,
}

#[derive(Clone, Copy, Debug)]
pub enum JoinCondition<'a> {
    None,
    On(Expression<'a>),
    Using(List<'a, Identifier<'a>>),
}

/// `JSON_TABLE(document, path COLUMNS (...)) AS alias`.
#[derive(Clone, Copy, Debug)]
pub struct JsonTable<'a> {
    pub document: Expression<'a>,
    pub path: Text<'a>,
    pub columns: List<'a, JsonTableColumn<'a>>,
    /// The binder wants one.
    pub alias: Option<Identifier<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub enum JsonTableColumn<'a> {
    Ordinality(Identifier<'a>),
    Path {
        name: Identifier<'a>,
        data_type: &'a DataType<'a>,
        collation: Option<Text<'a>>,
        /// `EXISTS PATH`.
        exists: bool,
        path: Text<'a>,
        on_empty: Option<JsonFallback<'a>>,
        on_error: Option<JsonFallback<'a>>,
    },
    Nested {
        path: Text<'a>,
        columns: List<'a, JsonTableColumn<'a>>,
    },
}
