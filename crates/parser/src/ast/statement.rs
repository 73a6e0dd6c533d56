//! The root of the tree.

use super::*;

/// A statement.
#[derive(Clone, Copy, Debug)]
pub enum Statement<'a> {
    /// Nothing but comments.
    Empty,
    Query(&'a Query<'a>),
    Insert(&'a Insert<'a>),
    Update(&'a Update<'a>),
    Delete(&'a Delete<'a>),
    Load(&'a Load<'a>),
    Handler(&'a Handler<'a>),
    Call(&'a CallProcedure<'a>),
    Do(List<'a, Expression<'a>>),
    CreateTable(&'a CreateTable<'a>),
    AlterTable(&'a AlterTable<'a>),
    DropTables(&'a DropTables<'a>),
    RenameTables(List<'a, (ObjectName<'a>, ObjectName<'a>)>),
    Truncate(ObjectName<'a>),
    CreateIndex(&'a CreateIndex<'a>),
    DropIndex(&'a DropIndex<'a>),
    CreateView(&'a CreateView<'a>),
    DropViews(&'a DropViews<'a>),
    CreateDatabase(&'a CreateDatabase<'a>),
    DropDatabase {
        if_exists: bool,
        name: Identifier<'a>,
    },
    Tablespace(&'a Tablespace<'a>),
    Use(Identifier<'a>),
    Set(List<'a, SetItem<'a>>),
    SetTransaction(SetTransaction),
    SetPassword(&'a SetPassword<'a>),
    SetRole(SetRole<'a>),
    SetDefaultRole {
        roles: SetRole<'a>,
        accounts: List<'a, AccountName<'a>>,
    },
    SetResourceGroup {
        name: Identifier<'a>,
        threads: List<'a, Text<'a>>,
    },
    Show(&'a Show<'a>),
    Transaction(Transaction<'a>),
    LockTables(List<'a, LockTable<'a>>),
    UnlockTables,
    LockInstance,
    UnlockInstance,
    Xa(Xa<'a>),
    Prepare {
        name: Identifier<'a>,
        source: PrepareSource<'a>,
    },
    /// The variables behind USING.
    Execute {
        name: Identifier<'a>,
        using: List<'a, Text<'a>>,
    },
    Deallocate(Identifier<'a>),
    Explain(&'a Explain<'a>),
    Maintenance(&'a Maintenance<'a>),
    CreateUser(&'a CreateUser<'a>),
    CreateRole {
        if_not_exists: bool,
        roles: List<'a, AccountName<'a>>,
    },
    DropAccounts(&'a DropAccounts<'a>),
    RenameUsers(List<'a, (AccountName<'a>, AccountName<'a>)>),
    Grant(&'a Grant<'a>),
    Kill(&'a Kill<'a>),
    Flush(&'a Flush<'a>),
    StoredProgram(&'a StoredProgram<'a>),
    Administration(Administration<'a>),
    /// A statement that only stored programs have (compound statements, cursors, RETURN ...), inside of one.
    Program,
}
