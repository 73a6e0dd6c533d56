//! What a session counts, and all sessions together: SHOW STATUS.
//!
//! ```text
//! session 1: [Com_select, Handler_read_next ..]   written by that session's thread only, no locked instruction
//! session 2: [ .. ]                               sum on read
//! ended:     [ .. ]                               what a session counted is added when it ends
//! ```
//!
//! # Invariants
//! 1. On the way of a statement no session writes where another does.
//! 2. What a session counted stays in the sums when it ends, and after FLUSH STATUS.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use meseta_parser::ast::{
    AdministrationKind, DeleteTarget, EngineTopic, GrantSubject, Handler, InsertSource, MaintenanceKind, ShowWhat,
    Statement, Transaction, Xa,
};

macro_rules! counters {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// What is counted. The names are those of status variables.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[allow(missing_docs)] // Each is the status variable of its name.
        pub enum Counter { $($(#[$doc])* $variant,)* }

        impl Counter {
            /// All of them.
            pub const ALL: &'static [Counter] = &[$(Counter::$variant,)*];

            /// The status variable's name.
            pub fn name(self) -> &'static str {
                match self { $(Counter::$variant => $name,)* }
            }
        }
    };
}

counters! {
    // What most statements count: side by side, so that it is two or three lines of a processor's cache and not ten.
    Questions = "Questions",
    ComStmtExecute = "Com_stmt_execute",
    ComSelect = "Com_select",
    HandlerReadKey = "Handler_read_key",
    HandlerReadNext = "Handler_read_next",
    InnodbRowsRead = "Innodb_rows_read",
    SelectRange = "Select_range",
    HandlerCommit = "Handler_commit",
    ComBegin = "Com_begin",
    ComCommit = "Com_commit",
    ComInsert = "Com_insert",
    ComUpdate = "Com_update",
    ComDelete = "Com_delete",
    HandlerWrite = "Handler_write",
    HandlerUpdate = "Handler_update",
    HandlerDelete = "Handler_delete",
    InnodbRowsInserted = "Innodb_rows_inserted",
    InnodbRowsUpdated = "Innodb_rows_updated",
    InnodbRowsDeleted = "Innodb_rows_deleted",
    SortRows = "Sort_rows",
    SortScan = "Sort_scan",
    // All others.
    ComAlterDb = "Com_alter_db",
    ComAlterTable = "Com_alter_table",
    ComAlterUser = "Com_alter_user",
    ComAlterUserDefaultRole = "Com_alter_user_default_role",
    ComAnalyze = "Com_analyze",
    ComCallProcedure = "Com_call_procedure",
    ComChangeDb = "Com_change_db",
    ComCheck = "Com_check",
    ComChecksum = "Com_checksum",
    ComCreateDb = "Com_create_db",
    ComCreateIndex = "Com_create_index",
    ComCreateRole = "Com_create_role",
    ComCreateTable = "Com_create_table",
    ComCreateUser = "Com_create_user",
    ComCreateView = "Com_create_view",
    ComDeallocSql = "Com_dealloc_sql",
    ComDeleteMulti = "Com_delete_multi",
    ComDo = "Com_do",
    ComDropDb = "Com_drop_db",
    ComDropIndex = "Com_drop_index",
    ComDropRole = "Com_drop_role",
    ComDropTable = "Com_drop_table",
    ComDropUser = "Com_drop_user",
    ComDropView = "Com_drop_view",
    ComEmptyQuery = "Com_empty_query",
    ComExecuteSql = "Com_execute_sql",
    ComExplainOther = "Com_explain_other",
    ComFlush = "Com_flush",
    ComGrant = "Com_grant",
    ComGrantRoles = "Com_grant_roles",
    ComHaClose = "Com_ha_close",
    ComHaOpen = "Com_ha_open",
    ComHaRead = "Com_ha_read",
    ComInsertSelect = "Com_insert_select",
    ComKill = "Com_kill",
    ComLoad = "Com_load",
    ComLockInstance = "Com_lock_instance",
    ComLockTables = "Com_lock_tables",
    ComOptimize = "Com_optimize",
    ComPrepareSql = "Com_prepare_sql",
    ComReleaseSavepoint = "Com_release_savepoint",
    ComRenameTable = "Com_rename_table",
    ComRenameUser = "Com_rename_user",
    ComRepair = "Com_repair",
    ComReplace = "Com_replace",
    ComReplaceSelect = "Com_replace_select",
    ComRevoke = "Com_revoke",
    ComRevokeAll = "Com_revoke_all",
    ComRevokeRoles = "Com_revoke_roles",
    ComRollback = "Com_rollback",
    ComRollbackToSavepoint = "Com_rollback_to_savepoint",
    ComSavepoint = "Com_savepoint",
    ComSetOption = "Com_set_option",
    ComSetPassword = "Com_set_password",
    ComSetRole = "Com_set_role",
    ComShowBinaryLogStatus = "Com_show_binary_log_status",
    ComShowBinlogEvents = "Com_show_binlog_events",
    ComShowBinlogs = "Com_show_binlogs",
    ComShowCharsets = "Com_show_charsets",
    ComShowCollations = "Com_show_collations",
    ComShowCreateDb = "Com_show_create_db",
    ComShowCreateEvent = "Com_show_create_event",
    ComShowCreateFunc = "Com_show_create_func",
    ComShowCreateProc = "Com_show_create_proc",
    ComShowCreateTable = "Com_show_create_table",
    ComShowCreateTrigger = "Com_show_create_trigger",
    ComShowCreateUser = "Com_show_create_user",
    ComShowDatabases = "Com_show_databases",
    ComShowEngineLogs = "Com_show_engine_logs",
    ComShowEngineMutex = "Com_show_engine_mutex",
    ComShowEngineStatus = "Com_show_engine_status",
    ComShowErrors = "Com_show_errors",
    ComShowEvents = "Com_show_events",
    ComShowFields = "Com_show_fields",
    ComShowFunctionStatus = "Com_show_function_status",
    ComShowGrants = "Com_show_grants",
    ComShowKeys = "Com_show_keys",
    ComShowLibraryStatus = "Com_show_library_status",
    ComShowOpenTables = "Com_show_open_tables",
    ComShowPlugins = "Com_show_plugins",
    ComShowPrivileges = "Com_show_privileges",
    ComShowProcedureStatus = "Com_show_procedure_status",
    ComShowProcesslist = "Com_show_processlist",
    ComShowProfile = "Com_show_profile",
    ComShowProfiles = "Com_show_profiles",
    ComShowRelaylogEvents = "Com_show_relaylog_events",
    ComShowReplicaStatus = "Com_show_replica_status",
    ComShowReplicas = "Com_show_replicas",
    ComShowStatus = "Com_show_status",
    ComShowStorageEngines = "Com_show_storage_engines",
    ComShowTableStatus = "Com_show_table_status",
    ComShowTables = "Com_show_tables",
    ComShowTriggers = "Com_show_triggers",
    ComShowVariables = "Com_show_variables",
    ComShowWarnings = "Com_show_warnings",
    ComAssignToKeycache = "Com_assign_to_keycache",
    ComReset = "Com_reset",
    ComGetDiagnostics = "Com_get_diagnostics",
    ComHelp = "Com_help",
    ComRestart = "Com_restart",
    ComShutdown = "Com_shutdown",
    ComStmtClose = "Com_stmt_close",
    ComStmtFetch = "Com_stmt_fetch",
    ComStmtPrepare = "Com_stmt_prepare",
    ComStmtReset = "Com_stmt_reset",
    ComStmtSendLongData = "Com_stmt_send_long_data",
    ComTruncate = "Com_truncate",
    ComUnlockInstance = "Com_unlock_instance",
    ComUnlockTables = "Com_unlock_tables",
    ComUpdateMulti = "Com_update_multi",
    ComXaCommit = "Com_xa_commit",
    ComXaEnd = "Com_xa_end",
    ComXaPrepare = "Com_xa_prepare",
    ComXaRecover = "Com_xa_recover",
    ComXaRollback = "Com_xa_rollback",
    ComXaStart = "Com_xa_start",
    CreatedTmpTables = "Created_tmp_tables",
    HandlerReadFirst = "Handler_read_first",
    HandlerReadLast = "Handler_read_last",
    HandlerReadPrev = "Handler_read_prev",
    HandlerReadRndNext = "Handler_read_rnd_next",
    HandlerRollback = "Handler_rollback",
    HandlerSavepoint = "Handler_savepoint",
    HandlerSavepointRollback = "Handler_savepoint_rollback",
    MaxExecutionTimeExceeded = "Max_execution_time_exceeded",
    MaxExecutionTimeSet = "Max_execution_time_set",
    SelectFullJoin = "Select_full_join",
    SelectFullRangeJoin = "Select_full_range_join",
    SelectScan = "Select_scan",
    SlowQueries = "Slow_queries",
}

/// How many there are.
pub const COUNTERS: usize = Counter::ALL.len();

/// What a statement is counted as, if it is.
pub fn counter_of(statement: &Statement<'_>) -> Option<Counter> {
    use Counter as C;
    use Statement as S;
    Some(match statement {
        S::Empty => C::ComEmptyQuery,
        S::Query(_) => C::ComSelect,
        S::Insert(insert) => match (insert.replace, insert.source) {
            (false, InsertSource::Rows(_)) => C::ComInsert,
            (false, InsertSource::Query(_)) => C::ComInsertSelect,
            (true, InsertSource::Rows(_)) => C::ComReplace,
            (true, InsertSource::Query(_)) => C::ComReplaceSelect,
        },
        S::Update(update) if update.tables.len() > 1 => C::ComUpdateMulti,
        S::Update(_) => C::ComUpdate,
        S::Delete(delete) => match delete.target {
            DeleteTarget::Single(_) => C::ComDelete,
            DeleteTarget::Several { .. } => C::ComDeleteMulti,
        },
        S::Load(_) => C::ComLoad,
        S::Handler(Handler::Open { .. }) => C::ComHaOpen,
        S::Handler(Handler::Close(_)) => C::ComHaClose,
        S::Handler(Handler::Read { .. }) => C::ComHaRead,
        S::Call(_) => C::ComCallProcedure,
        S::Do(_) => C::ComDo,
        S::CreateTable(_) => C::ComCreateTable,
        S::AlterTable(_) => C::ComAlterTable,
        S::DropTables(_) => C::ComDropTable,
        S::RenameTables(_) => C::ComRenameTable,
        S::Truncate(_) => C::ComTruncate,
        S::CreateIndex(_) => C::ComCreateIndex,
        S::DropIndex(_) => C::ComDropIndex,
        S::CreateView(_) => C::ComCreateView,
        S::DropViews(_) => C::ComDropView,
        S::CreateDatabase(_) => C::ComCreateDb,
        S::DropDatabase { .. } => C::ComDropDb,
        S::Use(_) => C::ComChangeDb,
        S::Set(_) | S::SetTransaction(_) => C::ComSetOption,
        S::SetPassword(_) => C::ComSetPassword,
        S::SetRole(_) => C::ComSetRole,
        S::SetDefaultRole { .. } => C::ComAlterUserDefaultRole,
        S::Show(show) => return counter_of_show(&show.what),
        S::Transaction(transaction) => match transaction {
            Transaction::Start { .. } => C::ComBegin,
            Transaction::Commit { .. } => C::ComCommit,
            Transaction::Rollback { .. } => C::ComRollback,
            Transaction::Savepoint(_) => C::ComSavepoint,
            Transaction::RollbackTo(_) => C::ComRollbackToSavepoint,
            Transaction::ReleaseSavepoint(_) => C::ComReleaseSavepoint,
        },
        S::LockTables(_) => C::ComLockTables,
        S::UnlockTables => C::ComUnlockTables,
        S::LockInstance => C::ComLockInstance,
        S::UnlockInstance => C::ComUnlockInstance,
        S::Xa(xa) => match xa {
            Xa::Start { .. } => C::ComXaStart,
            Xa::End { .. } => C::ComXaEnd,
            Xa::Prepare(_) => C::ComXaPrepare,
            Xa::Commit { .. } => C::ComXaCommit,
            Xa::Rollback(_) => C::ComXaRollback,
            Xa::Recover { .. } => C::ComXaRecover,
        },
        S::Prepare { .. } => C::ComPrepareSql,
        S::Execute { .. } => C::ComExecuteSql,
        S::Deallocate(_) => C::ComDeallocSql,
        S::Explain(_) => C::ComExplainOther,
        S::Maintenance(maintenance) => match maintenance.kind {
            MaintenanceKind::Analyze => C::ComAnalyze,
            MaintenanceKind::Check => C::ComCheck,
            MaintenanceKind::Checksum => C::ComChecksum,
            MaintenanceKind::Optimize => C::ComOptimize,
            MaintenanceKind::Repair => C::ComRepair,
        },
        S::CreateUser(user) if user.alter => C::ComAlterUser,
        S::CreateUser(_) => C::ComCreateUser,
        S::CreateRole { .. } => C::ComCreateRole,
        S::DropAccounts(drop) if drop.roles => C::ComDropRole,
        S::DropAccounts(_) => C::ComDropUser,
        S::RenameUsers(_) => C::ComRenameUser,
        S::Grant(grant) => match (grant.revoke, &grant.subject) {
            (false, GrantSubject::Roles(_)) => C::ComGrantRoles,
            (false, _) => C::ComGrant,
            (true, GrantSubject::Roles(_)) => C::ComRevokeRoles,
            (true, GrantSubject::AllAndGrantOption) => C::ComRevokeAll,
            (true, _) => C::ComRevoke,
        },
        S::Kill(_) => C::ComKill,
        S::Administration(administration) => match administration.kind {
            AdministrationKind::CacheIndex => C::ComAssignToKeycache,
            AdministrationKind::Diagnostics => C::ComGetDiagnostics,
            AdministrationKind::Help => C::ComHelp,
            AdministrationKind::Reset | AdministrationKind::ResetPersist { .. } => C::ComReset,
            AdministrationKind::Restart => C::ComRestart,
            AdministrationKind::Shutdown => C::ComShutdown,
            _ => return None,
        },
        S::Flush(_) => C::ComFlush,
        _ => return None,
    })
}

fn counter_of_show(what: &ShowWhat<'_>) -> Option<Counter> {
    use Counter as C;
    use ShowWhat as W;
    Some(match what {
        W::Databases => C::ComShowDatabases,
        W::Tables { .. } => C::ComShowTables,
        W::OpenTables { .. } => C::ComShowOpenTables,
        W::TableStatus { .. } => C::ComShowTableStatus,
        W::Triggers { .. } => C::ComShowTriggers,
        W::Events { .. } => C::ComShowEvents,
        W::Columns { .. } => C::ComShowFields,
        W::Indexes { .. } => C::ComShowKeys,
        W::Variables { .. } => C::ComShowVariables,
        W::Status { .. } => C::ComShowStatus,
        W::ProcessList { .. } => C::ComShowProcesslist,
        W::Warnings { .. } | W::CountWarnings => C::ComShowWarnings,
        W::Errors { .. } | W::CountErrors => C::ComShowErrors,
        W::Engines => C::ComShowStorageEngines,
        W::Engine { topic, .. } => match topic {
            EngineTopic::Status => C::ComShowEngineStatus,
            EngineTopic::Mutex => C::ComShowEngineMutex,
            EngineTopic::Logs => C::ComShowEngineLogs,
        },
        W::Plugins => C::ComShowPlugins,
        W::Privileges => C::ComShowPrivileges,
        W::CharacterSet => C::ComShowCharsets,
        W::Collation => C::ComShowCollations,
        W::Grants { .. } => C::ComShowGrants,
        W::CreateTable(_) | W::CreateView(_) => C::ComShowCreateTable,
        W::CreateDatabase { .. } => C::ComShowCreateDb,
        W::CreateProcedure(_) => C::ComShowCreateProc,
        W::CreateFunction(_) => C::ComShowCreateFunc,
        W::CreateTrigger(_) => C::ComShowCreateTrigger,
        W::CreateEvent(_) => C::ComShowCreateEvent,
        W::CreateUser(_) => C::ComShowCreateUser,
        W::ProcedureStatus => C::ComShowProcedureStatus,
        W::FunctionStatus => C::ComShowFunctionStatus,
        W::LibraryStatus => C::ComShowLibraryStatus,
        W::BinaryLogs => C::ComShowBinlogs,
        W::BinaryLogStatus => C::ComShowBinaryLogStatus,
        W::BinlogEvents { .. } => C::ComShowBinlogEvents,
        W::RelaylogEvents { .. } => C::ComShowRelaylogEvents,
        W::Replicas => C::ComShowReplicas,
        W::ReplicaStatus { .. } => C::ComShowReplicaStatus,
        W::Profiles => C::ComShowProfiles,
        W::Profile { .. } => C::ComShowProfile,
        _ => return None,
    })
}

/// What one session counts. Only its own thread writes.
#[derive(Debug)]
#[repr(C)]
pub struct SessionCounters {
    /// When the transaction began that is open, or the last: microseconds since 1970.
    transaction_since: AtomicI64,
    counts: [AtomicU64; COUNTERS],
}

impl Default for SessionCounters {
    fn default() -> Self {
        Self { transaction_since: AtomicI64::new(0), counts: [const { AtomicU64::new(0) }; COUNTERS] }
    }
}

impl SessionCounters {
    /// Counts.
    #[inline]
    pub fn add(&self, counter: Counter, amount: u64) {
        let count = &self.counts[counter as usize];
        count.store(count.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
    }

    /// How much was counted.
    pub fn get(&self, counter: Counter) -> u64 {
        self.counts[counter as usize].load(Ordering::Relaxed)
    }

    /// Adds what was counted to sums.
    pub fn add_to(&self, sums: &mut [u64]) {
        for (sum, count) in sums.iter_mut().zip(&self.counts) {
            *sum = sum.wrapping_add(count.load(Ordering::Relaxed));
        }
    }

    /// Says when the open transaction began.
    #[inline]
    pub fn set_transaction_since(&self, micros: i64) {
        self.transaction_since.store(micros, Ordering::Relaxed);
    }

    /// When the transaction began that is open, or the last.
    pub fn transaction_since(&self) -> i64 {
        self.transaction_since.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variable::status_names;

    #[test]
    fn every_counter_is_a_status_variable() {
        let names: std::collections::HashSet<_> = status_names().collect();
        let unknown: Vec<_> = Counter::ALL.iter().filter(|counter| !names.contains(counter.name())).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn what_is_counted_is_summed() {
        let (one, other) = (SessionCounters::default(), SessionCounters::default());
        one.add(Counter::ComSelect, 2);
        other.add(Counter::ComSelect, 3);
        let mut sums = vec![0; COUNTERS];
        one.add_to(&mut sums);
        other.add_to(&mut sums);
        assert_eq!(sums[Counter::ComSelect as usize], 5);
        assert_eq!(one.get(Counter::ComSelect), 2);
    }
}
