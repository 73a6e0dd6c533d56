//! SET in its forms.

use super::*;

#[derive(Clone, Copy, Debug)]
pub enum SetItem<'a> {
    /// `SET @x = value`.
    User { name: Text<'a>, value: Expression<'a> },
    /// `SET [GLOBAL] name = value`, `SET @@global.name = value`, `SET local = value`.
    ///
    /// A word alone (`ON`, `utf8mb4`) arrives as a column; `DEFAULT` as [`ExpressionKind::Default`]; the reserved words
    /// `ALL`, `BINARY`, `ROW`, `SYSTEM`, `ON` as strings.
    System { variable: SystemVariable<'a>, at_signs: bool, value: Expression<'a> },
    /// `SET NEW.column = value`, in a trigger.
    TriggerRow { column: ColumnName<'a>, value: Expression<'a> },
    /// `SET NAMES charset COLLATE collation`; None is DEFAULT.
    Names { character_set: Option<CharacterSetName<'a>>, collation: Option<CharacterSetName<'a>> },
    /// `SET CHARACTER SET charset`; None is DEFAULT.
    CharacterSet(Option<CharacterSetName<'a>>),
}

/// `SET [scope] TRANSACTION ..`.
#[derive(Clone, Copy, Debug)]
pub struct SetTransaction {
    /// None: the next transaction only.
    pub scope: Option<VariableScope>,
    pub isolation: Option<IsolationLevel>,
    pub read_only: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsolationLevel {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// `SET PASSWORD [FOR account] = 'text' ..`.
#[derive(Clone, Copy, Debug)]
pub struct SetPassword<'a> {
    pub account: Option<AccountName<'a>>,
    /// None is `TO RANDOM`.
    pub password: Option<Text<'a>>,
    /// `REPLACE 'current'`.
    pub current: Option<Text<'a>>,
    pub retain_current: bool,
}

/// `SET ROLE ..`.
#[derive(Clone, Copy, Debug)]
pub enum SetRole<'a> {
    Default,
    None,
    All,
    AllExcept(List<'a, AccountName<'a>>),
    Roles(List<'a, AccountName<'a>>),
}
