//! Which kind of statement requires what.

use meseta_parser::ast::{
    self, AdministrationKind, AlterAction, CreateTableSource, ExplainTarget, FlushWhat, MaintenanceKind, ObjectName,
    ProgramAction, ProgramKind, ShowWhat, Statement, TableConstraint, TableElement,
};

use super::collect::{Collector, text};
use super::{Extent, Requirement, Requirements, changes_password};
use crate::account::accounts::RoutineKind;
use crate::account::privilege::Privileges as P;
use crate::error::Result;

/// What a statement requires of a session that has this database. Account statements, SET and KILL look themselves at what
/// depends on more than their text. Error 1436 if it nests too deep.
pub fn requirements_of(statement: &Statement<'_>, database: Option<&str>) -> Result<Requirements> {
    let mut collector = Collector::new(database);
    collector.statement(statement);
    collector.finish(changes_password(statement))
}

/// All that a table can have: whoever has one of them sees it.
const SOMETHING: P = P::OF_TABLE;

impl Collector<'_> {
    fn statement(&mut self, statement: &Statement<'_>) {
        match statement {
            Statement::Query(query) => self.query(query),
            Statement::Insert(insert) => self.insert(insert),
            Statement::Update(update) => self.update(update),
            Statement::Delete(delete) => self.delete(delete),
            Statement::Load(load) => self.load(load),
            Statement::Handler(handler) => {
                if let ast::Handler::Open { table, .. } = handler {
                    self.table(table, P::SELECT, Extent::Table);
                }
            }
            Statement::Call(call) => {
                if let Some(database) = self.database_of(&call.name) {
                    self.routine(RoutineKind::Procedure, database, text(call.name.name.text.0), P::EXECUTE);
                }
                self.expressions(call.arguments);
            }
            Statement::Do(expressions) => self.expressions(expressions),
            Statement::CreateTable(create) => self.create_table(create),
            Statement::AlterTable(alter) => self.alter_table(alter),
            Statement::DropTables(drop) if drop.temporary => {}
            Statement::DropTables(drop) => self.tables(drop.tables, P::DROP),
            Statement::RenameTables(pairs) => {
                for (from, to) in pairs.iter() {
                    self.table(from, P::ALTER.and(P::DROP), Extent::Table);
                    self.table(to, P::CREATE.and(P::INSERT), Extent::Table);
                }
            }
            Statement::Truncate(name) => self.tables(&[*name], P::DROP),
            Statement::CreateIndex(create) => self.tables(&[create.table], P::INDEX),
            Statement::DropIndex(drop) => self.tables(&[drop.table], P::INDEX),
            Statement::CreateView(create) => {
                let replaces = create.alter || create.or_replace;
                self.tables(&[create.name], if replaces { P::CREATE_VIEW.and(P::DROP) } else { P::CREATE_VIEW });
                self.query(create.query);
            }
            Statement::DropViews(drop) => self.tables(drop.views, P::DROP),
            Statement::CreateDatabase(create) => {
                if let Some(name) = create.name {
                    self.database(&text(name.text.0), if create.alter { P::ALTER } else { P::CREATE });
                } else if let Some(name) = self.current() {
                    self.database(&name, P::ALTER);
                }
            }
            Statement::DropDatabase { name, .. } => self.database(&text(name.text.0), P::DROP),
            Statement::Tablespace(_) => self.one_of(&["CREATE TABLESPACE"], "CREATE TABLESPACE"),
            Statement::Set(items) => self.set(items),
            Statement::SetResourceGroup { .. } => {
                let names = &["RESOURCE_GROUP_ADMIN", "RESOURCE_GROUP_USER"];
                self.one_of(names, "RESOURCE_GROUP_ADMIN OR RESOURCE_GROUP_USER");
            }
            Statement::Show(show) => {
                self.show(&show.what);
                if let Some(ast::ShowFilter::Where(condition)) = &show.filter {
                    self.expression(condition);
                }
            }
            Statement::Kill(kill) => self.expression(&kill.id),
            Statement::LockTables(locks) => {
                for lock in locks.iter() {
                    self.locked(&[lock.table]);
                }
            }
            Statement::LockInstance | Statement::UnlockInstance => self.one_of(&["BACKUP_ADMIN"], "BACKUP_ADMIN"),
            Statement::Xa(ast::Xa::Recover { .. }) => self.push(Requirement::XaRecover, P::NOBODYS),
            Statement::Explain(explain) => match &explain.target {
                ExplainTarget::Table { name, .. } => self.seen_table(name),
                ExplainTarget::Statement(statement) => self.statement(statement),
                ExplainTarget::Connection(_) => {}
            },
            Statement::Maintenance(maintenance) => {
                let (privileges, extent) = match maintenance.kind {
                    MaintenanceKind::Check => (P::OF_COLUMN, Extent::Seen),
                    MaintenanceKind::Checksum => (P::SELECT, Extent::SomeColumn),
                    _ => (P::SELECT.and(P::INSERT), Extent::SomeColumn),
                };
                for name in maintenance.tables {
                    self.table(name, privileges, extent);
                }
            }
            Statement::Flush(flush) => self.flush(flush),
            Statement::StoredProgram(program) => self.program(program),
            Statement::Administration(administration) => self.administration(administration.kind),
            Statement::Empty
            | Statement::Use(_)
            | Statement::SetTransaction(_)
            | Statement::SetPassword(_)
            | Statement::SetRole(_)
            | Statement::SetDefaultRole { .. }
            | Statement::Transaction(_)
            | Statement::UnlockTables
            | Statement::Xa(_)
            | Statement::Prepare { .. }
            | Statement::Execute { .. }
            | Statement::Deallocate(_)
            | Statement::CreateUser(_)
            | Statement::CreateRole { .. }
            | Statement::DropAccounts(_)
            | Statement::RenameUsers(_)
            | Statement::Grant(_)
            | Statement::Program => {}
        }
    }

    fn tables(&mut self, names: &[ObjectName<'_>], privileges: P) {
        for name in names {
            self.table(name, privileges, Extent::Table);
        }
    }

    /// Something in a column of it: SHOW COLUMNS and its like.
    fn seen_table(&mut self, name: &ObjectName<'_>) {
        self.table(name, P::OF_COLUMN, Extent::Seen);
    }

    fn create_table(&mut self, create: &ast::CreateTable<'_>) {
        let CreateTableSource::Definition { elements, query, .. } = &create.source else {
            self.created(create, P::CREATE);
            if let CreateTableSource::Like(source) = &create.source {
                self.table(source, P::SELECT, Extent::Table);
            }
            return;
        };
        self.created(create, if query.is_some() { P::CREATE.and(P::INSERT) } else { P::CREATE });
        elements.iter().for_each(|element| self.element(element));
        query.iter().for_each(|query| self.query(query));
    }

    fn created(&mut self, create: &ast::CreateTable<'_>, privileges: P) {
        if !create.temporary {
            return self.tables(&[create.name], privileges);
        }
        if let Some(database) = self.database_of(&create.name) {
            self.database(&database, P::CREATE_TEMPORARY_TABLES);
        }
    }

    fn element(&mut self, element: &TableElement<'_>) {
        match element {
            TableElement::Column(column) => self.column_references(column),
            TableElement::Constraint(constraint) => self.constraint(constraint),
        }
    }

    fn column_references(&mut self, column: &ast::ColumnDefinition<'_>) {
        for attribute in column.attributes {
            if let ast::ColumnAttribute::References(references) = attribute {
                self.referenced(&references.table);
            }
        }
    }

    fn constraint(&mut self, constraint: &TableConstraint<'_>) {
        if let TableConstraint::ForeignKey { references, .. } = constraint {
            self.referenced(&references.table);
        }
    }

    fn alter_table(&mut self, alter: &ast::AlterTable<'_>) {
        use AlterAction as A;
        let mut privileges = P::ALTER;
        for action in alter.actions {
            match action {
                A::Rename(_) | A::DropPartitions(_) => privileges = privileges.and(P::DROP),
                A::Partitions { action: ast::PartitionAction::Truncate, .. } => privileges = privileges.and(P::DROP),
                A::ExchangePartition { .. } => privileges = privileges.and(P::DROP).and(P::INSERT).and(P::CREATE),
                _ => {}
            }
        }
        self.tables(&[alter.name], privileges);
        for action in alter.actions {
            match action {
                A::Rename(to) => self.tables(&[*to], P::CREATE.and(P::INSERT)),
                A::ExchangePartition { table, .. } => {
                    self.tables(&[*table], P::ALTER.and(P::DROP).and(P::INSERT).and(P::CREATE));
                }
                A::AddColumn { column, .. } | A::ChangeColumn { column, .. } | A::ModifyColumn { column, .. } => {
                    self.column_references(column);
                }
                A::AddElements(elements) => elements.iter().for_each(|element| self.element(element)),
                A::AddConstraint(constraint) => self.constraint(constraint),
                _ => {}
            }
        }
    }

    fn set(&mut self, items: &[ast::SetItem<'_>]) {
        for item in items {
            match item {
                ast::SetItem::User { value, .. }
                | ast::SetItem::System { value, .. }
                | ast::SetItem::TriggerRow { value, .. } => self.expression(value),
                ast::SetItem::Names { .. } | ast::SetItem::CharacterSet(_) => {}
            }
        }
    }

    /// The database of a SHOW, which must be seen.
    fn shown_database(&mut self, schema: Option<ast::Identifier<'_>>) {
        if let Some(name) = schema.map(|schema| text(schema.text.0)).or_else(|| self.current()) {
            self.see(&name, false);
        }
    }

    fn show(&mut self, what: &ShowWhat<'_>) {
        const REPLICATION: &[&str] = &["SUPER", "REPLICATION CLIENT"];
        match what {
            ShowWhat::Tables { schema, .. } | ShowWhat::TableStatus { schema } | ShowWhat::Triggers { schema, .. } => {
                self.shown_database(*schema);
            }
            ShowWhat::Events { schema } => {
                if let Some(name) = schema.map(|schema| text(schema.text.0)).or_else(|| self.current())
                    && !name.eq_ignore_ascii_case("information_schema")
                {
                    self.database(&name, P::EVENT);
                }
            }
            ShowWhat::CreateDatabase { name, .. } => self.see(&text(name.text.0), true),
            ShowWhat::Columns { table, .. } | ShowWhat::Indexes { table, .. } => self.seen_table(table),
            ShowWhat::CreateTable(name) => {
                self.table(name, SOMETHING, Extent::OneOf { columns: false, shown: "SHOW" });
            }
            ShowWhat::CreateView(name) => self.tables(&[*name], P::SELECT),
            ShowWhat::Engine { .. } => self.one_of(&["PROCESS"], "PROCESS"),
            ShowWhat::BinaryLogs | ShowWhat::BinaryLogStatus | ShowWhat::ReplicaStatus { .. } => {
                self.one_of(REPLICATION, "SUPER, REPLICATION CLIENT");
            }
            ShowWhat::BinlogEvents { .. } | ShowWhat::RelaylogEvents { .. } | ShowWhat::Replicas => {
                self.one_of(&["REPLICATION SLAVE"], "REPLICATION SLAVE");
            }
            _ => {}
        }
    }

    fn flush(&mut self, flush: &ast::Flush<'_>) {
        let FlushWhat::Options(options) = flush.what else {
            if let FlushWhat::Tables { tables, mode } = flush.what {
                self.one_of(&["RELOAD", "FLUSH_TABLES"], "RELOAD or FLUSH_TABLES");
                if mode != ast::FlushTablesMode::Close {
                    self.locked(tables);
                }
            }
            return;
        };
        for option in options {
            match option.0 {
                b"PRIVILEGES" => self.one_of(&["RELOAD", "FLUSH_PRIVILEGES"], "RELOAD or FLUSH_PRIVILEGES"),
                b"STATUS" => self.one_of(&["RELOAD", "FLUSH_STATUS"], "RELOAD or FLUSH_STATUS"),
                b"USER_RESOURCES" => {
                    self.one_of(&["RELOAD", "FLUSH_USER_RESOURCES"], "RELOAD or FLUSH_USER_RESOURCES");
                }
                b"OPTIMIZER_COSTS" => {
                    self.one_of(&["RELOAD", "FLUSH_OPTIMIZER_COSTS"], "RELOAD or FLUSH_OPTIMIZER_COSTS");
                }
                _ => self.one_of(&["RELOAD"], "RELOAD"),
            }
        }
    }

    /// LOCK TABLES, FLUSH TABLES .. WITH READ LOCK.
    fn locked(&mut self, tables: &[ObjectName<'_>]) {
        for table in tables {
            let database = self.database_of(table);
            if let Some(database) = database.filter(|name| !name.eq_ignore_ascii_case("information_schema")) {
                self.database(&database, P::LOCK_TABLES);
            }
            self.table(table, P::SELECT, Extent::Table);
        }
    }

    fn program(&mut self, program: &ast::StoredProgram<'_>) {
        let Some(database) = self.database_of(&program.name) else { return };
        let name = text(program.name.name.text.0);
        let creates = program.action == ProgramAction::Create;
        match program.kind {
            ProgramKind::Procedure | ProgramKind::Function | ProgramKind::Library if creates => {
                self.database(&database, P::CREATE_ROUTINE);
            }
            ProgramKind::Procedure => self.routine(RoutineKind::Procedure, database, name, P::ALTER_ROUTINE),
            ProgramKind::Function | ProgramKind::Library => {
                self.routine(RoutineKind::Function, database, name, P::ALTER_ROUTINE);
            }
            ProgramKind::Event => self.database(&database, P::EVENT),
            // Of which table a trigger is that is dropped, the catalog will say, when there are triggers.
            ProgramKind::Trigger => match &program.table {
                Some(table) => self.tables(&[*table], P::TRIGGER),
                None => self.database(&database, P::TRIGGER),
            },
            ProgramKind::LoadableFunction => self.database("mysql", P::INSERT),
        }
    }

    fn administration(&mut self, kind: AdministrationKind) {
        use AdministrationKind as K;
        match kind {
            K::Shutdown | K::Restart => self.one_of(&["SHUTDOWN"], "SHUTDOWN"),
            K::PurgeLogs => self.one_of(&["SUPER", "BINLOG_ADMIN"], "SUPER or BINLOG_ADMIN"),
            K::Reset => self.one_of(&["RELOAD", "FLUSH_TABLES"], "RELOAD or FLUSH_TABLES"),
            K::ResetPersist { .. } => {
                self.one_of(&["SUPER", "SYSTEM_VARIABLES_ADMIN"], "SYSTEM_VARIABLES_ADMIN or SUPER");
            }
            K::ChangeReplicationSource
            | K::ChangeReplicationFilter
            | K::StartReplica
            | K::StopReplica
            | K::GroupReplication => {
                self.one_of(&["SUPER", "REPLICATION_SLAVE_ADMIN"], "SUPER or REPLICATION_SLAVE_ADMIN");
            }
            K::Clone => self.one_of(&["BACKUP_ADMIN"], "BACKUP_ADMIN"),
            K::ResourceGroup => self.one_of(&["RESOURCE_GROUP_ADMIN"], "RESOURCE_GROUP_ADMIN"),
            K::Server => self.one_of(&["SUPER"], "SUPER"),
            K::SpatialReferenceSystem => {
                self.one_of(&["SUPER", "CREATE_SPATIAL_REFERENCE_SYSTEM"], "SUPER or CREATE_SPATIAL_REFERENCE_SYSTEM");
            }
            K::Install | K::Uninstall => self.database("mysql", P::INSERT),
            K::BinlogReplay => self.one_of(&["SUPER", "BINLOG_ADMIN"], "SUPER, BINLOG_ADMIN or REPLICATION_APPLIER"),
            K::CacheIndex
            | K::LoadIndex
            | K::Diagnostics
            | K::Help
            | K::ImportTable
            | K::Instance
            | K::MaskingPolicy
            | K::Signal => {}
        }
    }
}
