//! Privileges: the static ones as bits, the dynamic ones by name.
//!
//! # Source
//! The manual's "Privileges Provided by MySQL"; SHOW PRIVILEGES of a server of 9.7.

/// A set of static privileges. Bits are in the order in which SHOW GRANTS lists them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Privileges(u32);

macro_rules! privileges {
    ($($name:ident $text:literal)*) => { privileges!(@bits 0_u32; $($name $text)*); };
    (@bits $bit:expr; $($name:ident $text:literal)*) => {
        #[derive(Clone, Copy)]
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Bit { $($name),* }
        /// The privileges by name.
        #[allow(missing_docs)]
        impl Privileges { $(pub const $name: Privileges = Privileges(1 << Bit::$name as u32);)* }
        const NAMES: &[&str] = &[$($text),*];
    };
}

privileges! {
    SELECT "SELECT" INSERT "INSERT" UPDATE "UPDATE" DELETE "DELETE" CREATE "CREATE" DROP "DROP" RELOAD "RELOAD"
    SHUTDOWN "SHUTDOWN" PROCESS "PROCESS" FILE "FILE" REFERENCES "REFERENCES" INDEX "INDEX" ALTER "ALTER"
    SHOW_DATABASES "SHOW DATABASES" SUPER "SUPER" CREATE_TEMPORARY_TABLES "CREATE TEMPORARY TABLES"
    LOCK_TABLES "LOCK TABLES" EXECUTE "EXECUTE" REPLICATION_SLAVE "REPLICATION SLAVE"
    REPLICATION_CLIENT "REPLICATION CLIENT" CREATE_VIEW "CREATE VIEW" SHOW_VIEW "SHOW VIEW"
    CREATE_ROUTINE "CREATE ROUTINE" ALTER_ROUTINE "ALTER ROUTINE" CREATE_USER "CREATE USER" EVENT "EVENT"
    TRIGGER "TRIGGER" CREATE_TABLESPACE "CREATE TABLESPACE" CREATE_ROLE "CREATE ROLE" DROP_ROLE "DROP ROLE"
    GRANT "GRANT OPTION"
}

/// The dynamic privileges, in the order of their names.
pub const DYNAMIC_PRIVILEGES: &[&str] = &[
    "ALLOW_NONEXISTENT_DEFINER",
    "APPLICATION_PASSWORD_ADMIN",
    "AUDIT_ABORT_EXEMPT",
    "AUDIT_ADMIN",
    "AUTHENTICATION_POLICY_ADMIN",
    "BACKUP_ADMIN",
    "BINLOG_ADMIN",
    "BINLOG_ENCRYPTION_ADMIN",
    "CLONE_ADMIN",
    "CONNECTION_ADMIN",
    "CREATE_SPATIAL_REFERENCE_SYSTEM",
    "ENCRYPTION_KEY_ADMIN",
    "FIREWALL_EXEMPT",
    "FLUSH_OPTIMIZER_COSTS",
    "FLUSH_PRIVILEGES",
    "FLUSH_STATUS",
    "FLUSH_TABLES",
    "FLUSH_USER_RESOURCES",
    "GROUP_REPLICATION_ADMIN",
    "GROUP_REPLICATION_STREAM",
    "INNODB_REDO_LOG_ARCHIVE",
    "INNODB_REDO_LOG_ENABLE",
    "MANAGE_DATA_MASKING_POLICY",
    "OPTIMIZE_LOCAL_TABLE",
    "PASSWORDLESS_USER_ADMIN",
    "PERSIST_RO_VARIABLES_ADMIN",
    "REPLICATION_APPLIER",
    "REPLICATION_SLAVE_ADMIN",
    "RESOURCE_GROUP_ADMIN",
    "RESOURCE_GROUP_USER",
    "ROLE_ADMIN",
    "SENSITIVE_VARIABLES_OBSERVER",
    "SERVICE_CONNECTION_ADMIN",
    "SESSION_VARIABLES_ADMIN",
    "SET_ANY_DEFINER",
    "SHOW_ROUTINE",
    "SYSTEM_USER",
    "SYSTEM_VARIABLES_ADMIN",
    "TABLE_ENCRYPTION_ADMIN",
    "TELEMETRY_LOG_ADMIN",
    "TRANSACTION_GTID_TAG",
    "XA_RECOVER_ADMIN",
];

/// The dynamic privileges that SUPER stands for.
pub(super) const OF_SUPER: &[&str] = &[
    "ALLOW_NONEXISTENT_DEFINER",
    "BINLOG_ADMIN",
    "BINLOG_ENCRYPTION_ADMIN",
    "CONNECTION_ADMIN",
    "CREATE_SPATIAL_REFERENCE_SYSTEM",
    "ENCRYPTION_KEY_ADMIN",
    "GROUP_REPLICATION_ADMIN",
    "PERSIST_RO_VARIABLES_ADMIN",
    "REPLICATION_APPLIER",
    "REPLICATION_SLAVE_ADMIN",
    "ROLE_ADMIN",
    "SERVICE_CONNECTION_ADMIN",
    "SESSION_VARIABLES_ADMIN",
    "SET_ANY_DEFINER",
    "SYSTEM_VARIABLES_ADMIN",
    "TABLE_ENCRYPTION_ADMIN",
];

/// The rows of SHOW PRIVILEGES of the static ones.
pub(super) const SHOWN: &[(&str, &str, &str)] = &[
    ("Alter", "Tables", "To alter the table"),
    ("Alter routine", "Functions,Procedures", "To alter or drop stored functions/procedures"),
    ("Create", "Databases,Tables,Indexes", "To create new databases and tables"),
    ("Create routine", "Databases", "To use CREATE FUNCTION/PROCEDURE"),
    ("Create role", "Server Admin", "To create new roles"),
    ("Create temporary tables", "Databases", "To use CREATE TEMPORARY TABLE"),
    ("Create view", "Tables", "To create new views"),
    ("Create user", "Server Admin", "To create new users"),
    ("Delete", "Tables", "To delete existing rows"),
    ("Drop", "Databases,Tables", "To drop databases, tables, and views"),
    ("Drop role", "Server Admin", "To drop roles"),
    ("Event", "Server Admin", "To create, alter, drop and execute events"),
    ("Execute", "Functions,Procedures", "To execute stored routines"),
    ("File", "File access on server", "To read and write files on the server"),
    ("Grant option", "Databases,Tables,Functions,Procedures", "To give to other users those privileges you possess"),
    ("Index", "Tables", "To create or drop indexes"),
    ("Insert", "Tables", "To insert data into tables"),
    ("Lock tables", "Databases", "To use LOCK TABLES (together with SELECT privilege)"),
    ("Process", "Server Admin", "To view the plain text of currently executing queries"),
    ("Proxy", "Server Admin", "To make proxy user possible"),
    ("References", "Databases,Tables", "To have references on tables"),
    ("Reload", "Server Admin", "To reload or refresh tables, logs and privileges"),
    ("Replication client", "Server Admin", "To ask where the slave or master servers are"),
    ("Replication slave", "Server Admin", "To read binary log events from the master"),
    ("Select", "Tables", "To retrieve rows from table"),
    ("Show databases", "Server Admin", "To see all databases with SHOW DATABASES"),
    ("Show view", "Tables", "To see views with SHOW CREATE VIEW"),
    ("Shutdown", "Server Admin", "To shut down the server"),
    ("Super", "Server Admin", "To use KILL thread, SET GLOBAL, CHANGE REPLICATION SOURCE, etc."),
    ("Trigger", "Tables", "To use triggers"),
    ("Create tablespace", "Server Admin", "To create/alter/drop tablespaces"),
    ("Update", "Tables", "To update existing rows"),
    ("Usage", "Server Admin", "No privileges - allow connect only"),
];

impl Privileges {
    /// None.
    pub const NONE: Privileges = Privileges(0);
    /// All, GRANT OPTION included.
    pub const EVERYTHING: Privileges = Privileges((1 << NAMES.len()) - 1);
    /// One that nobody has, whatever he was granted.
    pub(super) const NOBODYS: Privileges = Privileges(1 << 31);
    /// All, as `GRANT ALL` gives them.
    pub const ALL: Privileges = Self::EVERYTHING.without(Self::GRANT);
    /// Those that a column can have.
    pub const OF_COLUMN: Privileges = Self::SELECT.and(Self::INSERT).and(Self::UPDATE).and(Self::REFERENCES);
    /// Those that a table can have, with GRANT OPTION; here and below.
    pub const OF_TABLE: Privileges = Self::OF_COLUMN
        .and(Self::DELETE)
        .and(Self::CREATE)
        .and(Self::DROP)
        .and(Self::INDEX)
        .and(Self::ALTER)
        .and(Self::CREATE_VIEW)
        .and(Self::SHOW_VIEW)
        .and(Self::TRIGGER)
        .and(Self::GRANT);
    /// Those that a routine can have.
    pub const OF_ROUTINE: Privileges = Self::EXECUTE.and(Self::ALTER_ROUTINE).and(Self::GRANT);
    /// Those that a database can have.
    pub const OF_DATABASE: Privileges = Self::OF_TABLE
        .and(Self::OF_ROUTINE)
        .and(Self::CREATE_TEMPORARY_TABLES)
        .and(Self::LOCK_TABLES)
        .and(Self::CREATE_ROUTINE)
        .and(Self::EVENT);

    /// The union.
    pub const fn and(self, other: Privileges) -> Privileges {
        Privileges(self.0 | other.0)
    }

    /// The difference.
    pub const fn without(self, other: Privileges) -> Privileges {
        Privileges(self.0 & !other.0)
    }

    /// The intersection.
    pub const fn within(self, other: Privileges) -> Privileges {
        Privileges(self.0 & other.0)
    }

    /// Whether all of these are in it.
    #[inline]
    pub const fn has(self, other: Privileges) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether there is none.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) const fn bits(self) -> u32 {
        self.0
    }

    pub(super) const fn of_bits(bits: u32) -> Privileges {
        Privileges(bits).within(Self::EVERYTHING)
    }

    /// The static privilege of that name, in upper case; `USAGE` is none of them. `None` for every other name.
    pub fn parse(name: &str) -> Option<Privileges> {
        match name {
            "USAGE" => Some(Self::NONE),
            "ALL" | "ALL PRIVILEGES" => Some(Self::ALL),
            name => NAMES.iter().position(|known| *known == name).map(|at| Privileges(1 << at)),
        }
    }

    /// Each privilege in it, with its name.
    pub fn names(self) -> impl Iterator<Item = (Privileges, &'static str)> {
        let each = NAMES.iter().enumerate().map(|(at, name)| (Privileges(1 << at), *name));
        each.filter(move |(privilege, _)| self.has(*privilege))
    }

    /// As the errors about denied commands list them: `SELECT, GRANT`.
    pub(super) fn denied(self) -> String {
        let names = self.names().map(|(_, name)| if name == "GRANT OPTION" { "GRANT" } else { name });
        names.collect::<Vec<_>>().join(", ")
    }
}
