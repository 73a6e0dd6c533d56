//! Statements that change rows: INSERT, REPLACE, UPDATE, DELETE, LOAD; and HANDLER, CALL, DO.

use super::*;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priority {
    #[default]
    Normal,
    Low,
    High,
    Delayed,
}

/// INSERT and REPLACE.
#[derive(Clone, Copy, Debug)]
pub struct Insert<'a> {
    pub replace: bool,
    pub hints: Option<Text<'a>>,
    pub priority: Priority,
    pub ignore: bool,
    pub table: ObjectName<'a>,
    pub partitions: List<'a, Identifier<'a>>,
    /// None: all of the table's columns. `INSERT .. SET` has its columns here.
    pub columns: Option<List<'a, ColumnName<'a>>>,
    pub source: InsertSource<'a>,
    /// `AS new(a, b)`.
    pub row_alias: Option<(Identifier<'a>, List<'a, Identifier<'a>>)>,
    pub on_duplicate: List<'a, Assignment<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub enum InsertSource<'a> {
    /// `VALUES (..), (..)`, `VALUES ROW(..)`, and `SET` as one row. `()` is an empty row.
    Rows(List<'a, List<'a, Expression<'a>>>),
    Query(&'a Query<'a>),
}

/// `column = value`; the value may be `DEFAULT`.
#[derive(Clone, Copy, Debug)]
pub struct Assignment<'a> {
    pub column: ColumnName<'a>,
    pub value: Expression<'a>,
}

#[derive(Clone, Copy, Debug)]
pub struct Update<'a> {
    pub with: Option<&'a With<'a>>,
    pub hints: Option<Text<'a>>,
    pub low_priority: bool,
    pub ignore: bool,
    /// One table, or several (and then neither ORDER BY nor LIMIT).
    pub tables: List<'a, TableReference<'a>>,
    pub assignments: List<'a, Assignment<'a>>,
    pub condition: Option<Expression<'a>>,
    pub order_by: List<'a, OrderItem<'a>>,
    pub limit: Option<Expression<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub struct Delete<'a> {
    pub with: Option<&'a With<'a>>,
    pub hints: Option<Text<'a>>,
    pub low_priority: bool,
    pub quick: bool,
    pub ignore: bool,
    pub target: DeleteTarget<'a>,
    pub condition: Option<Expression<'a>>,
    pub order_by: List<'a, OrderItem<'a>>,
    pub limit: Option<Expression<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub enum DeleteTarget<'a> {
    /// `DELETE FROM t [AS a] [PARTITION (..)]`.
    Single(&'a Table<'a>),
    /// `DELETE t1, t2 FROM ..`, `DELETE FROM t1, t2 USING ..`.
    Several { tables: List<'a, ObjectName<'a>>, from: List<'a, TableReference<'a>> },
}

/// LOAD DATA, LOAD XML.
#[derive(Clone, Copy, Debug)]
pub struct Load<'a> {
    pub xml: bool,
    pub priority: LoadPriority,
    pub local: bool,
    pub path: Text<'a>,
    pub duplicates: LoadDuplicates,
    pub table: ObjectName<'a>,
    pub partitions: List<'a, Identifier<'a>>,
    pub character_set: Option<CharacterSetName<'a>>,
    /// `ROWS IDENTIFIED BY '<row>'`.
    pub row_tag: Option<Text<'a>>,
    pub format: FileFormat<'a>,
    /// `IGNORE n LINES`.
    pub ignored_lines: Option<Text<'a>>,
    pub columns: List<'a, LoadColumn<'a>>,
    pub assignments: List<'a, Assignment<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadPriority {
    Normal,
    Low,
    Concurrent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadDuplicates {
    Error,
    Replace,
    Ignore,
}

#[derive(Clone, Copy, Debug)]
pub enum LoadColumn<'a> {
    Column(ColumnName<'a>),
    /// `@x`.
    Variable(Text<'a>),
}

#[derive(Clone, Copy, Debug)]
pub enum Handler<'a> {
    Open {
        table: ObjectName<'a>,
        alias: Option<Identifier<'a>>,
    },
    Close(Identifier<'a>),
    Read {
        table: Identifier<'a>,
        /// None: in the order of the rows.
        index: Option<Identifier<'a>>,
        position: HandlerPosition<'a>,
        condition: Option<Expression<'a>>,
        limit: Option<Limit<'a>>,
    },
}

#[derive(Clone, Copy, Debug)]
pub enum HandlerPosition<'a> {
    First,
    Next,
    Previous,
    Last,
    /// `index >= (values)`.
    Compare(BinaryOperator, List<'a, Expression<'a>>),
}

/// `CALL name(arguments)`.
#[derive(Clone, Copy, Debug)]
pub struct CallProcedure<'a> {
    pub name: ObjectName<'a>,
    pub arguments: List<'a, Expression<'a>>,
}
