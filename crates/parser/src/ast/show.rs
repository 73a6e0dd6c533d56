//! SHOW in its forms.

use super::*;

#[derive(Clone, Copy, Debug)]
pub struct Show<'a> {
    pub what: ShowWhat<'a>,
    pub filter: Option<ShowFilter<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub enum ShowFilter<'a> {
    Like(Text<'a>),
    Where(Expression<'a>),
}

#[derive(Clone, Copy, Debug)]
pub enum ShowWhat<'a> {
    Databases,
    Tables {
        extended: bool,
        full: bool,
        schema: Option<Identifier<'a>>,
    },
    OpenTables {
        schema: Option<Identifier<'a>>,
    },
    TableStatus {
        schema: Option<Identifier<'a>>,
    },
    Triggers {
        full: bool,
        schema: Option<Identifier<'a>>,
    },
    Events {
        schema: Option<Identifier<'a>>,
    },
    Columns {
        extended: bool,
        full: bool,
        table: ObjectName<'a>,
    },
    Indexes {
        extended: bool,
        table: ObjectName<'a>,
    },
    Variables {
        scope: Option<VariableScope>,
    },
    Status {
        scope: Option<VariableScope>,
    },
    ProcessList {
        full: bool,
    },
    Warnings {
        limit: Option<Limit<'a>>,
    },
    Errors {
        limit: Option<Limit<'a>>,
    },
    /// `SHOW COUNT(*) WARNINGS`.
    CountWarnings,
    CountErrors,
    Engines,
    /// `ENGINE name STATUS | MUTEX | LOGS`; no name is `ALL`.
    Engine {
        name: Option<Text<'a>>,
        topic: EngineTopic,
    },
    Plugins,
    Privileges,
    CharacterSet,
    Collation,
    Grants {
        account: Option<AccountName<'a>>,
        using: List<'a, AccountName<'a>>,
    },
    CreateTable(ObjectName<'a>),
    CreateView(ObjectName<'a>),
    CreateDatabase {
        if_not_exists: bool,
        name: Identifier<'a>,
    },
    CreateProcedure(ObjectName<'a>),
    CreateFunction(ObjectName<'a>),
    CreateTrigger(ObjectName<'a>),
    CreateEvent(ObjectName<'a>),
    CreateLibrary(ObjectName<'a>),
    CreateUser(AccountName<'a>),
    CreateMaskingPolicy(Identifier<'a>),
    ProcedureStatus,
    FunctionStatus,
    LibraryStatus,
    ProcedureCode(ObjectName<'a>),
    FunctionCode(ObjectName<'a>),
    BinaryLogs,
    BinaryLogStatus,
    BinlogEvents {
        log: Option<Text<'a>>,
        position: Option<Text<'a>>,
        limit: Option<Limit<'a>>,
    },
    RelaylogEvents {
        log: Option<Text<'a>>,
        position: Option<Text<'a>>,
        limit: Option<Limit<'a>>,
        channel: Option<Text<'a>>,
    },
    Replicas,
    ReplicaStatus {
        channel: Option<Text<'a>>,
    },
    Profiles,
    Profile {
        types: List<'a, Text<'a>>,
        query: Option<Text<'a>>,
        limit: Option<Limit<'a>>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineTopic {
    Status,
    Mutex,
    Logs,
}
