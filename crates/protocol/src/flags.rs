//! Sets of flags: what both ends can do, what state a session is in, what a column is, how a cursor reads.
//!
//! Each is a number with names for its bits. Bits without a name are kept: what a newer peer says passes through.
//!
//! Source: "Capabilities Flags", "SERVER_STATUS_flags_enum", "Column Definition Flags" of the MySQL source
//! documentation.

/// Makes a set of flags of an integer.
macro_rules! flags {
    ($(#[$about:meta])* $name:ident: $integer:ty { $($(#[$flag_about:meta])* $flag:ident = $bit:expr;)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
        pub struct $name(pub $integer);

        impl $name {
            /// The empty set.
            pub const NONE: $name = $name(0);
            $($(#[$flag_about])* pub const $flag: $name = $name($bit);)*

            const NAMES: &'static [(&'static str, $integer)] = &[$((stringify!($flag), $bit),)*];

            /// Whether all of `others` are set.
            #[inline]
            pub const fn has(self, others: $name) -> bool {
                self.0 & others.0 == others.0
            }

            /// These and `others`.
            #[inline]
            pub const fn with(self, others: $name) -> $name {
                $name(self.0 | others.0)
            }

            /// These without `others`.
            #[inline]
            pub const fn without(self, others: $name) -> $name {
                $name(self.0 & !others.0)
            }

            /// Those that are in both.
            #[inline]
            pub const fn both(self, others: $name) -> $name {
                $name(self.0 & others.0)
            }

            /// These, with `others` or without.
            #[inline]
            pub const fn set(self, others: $name, on: bool) -> $name {
                if on { self.with(others) } else { self.without(others) }
            }
        }

        impl std::ops::BitOr for $name {
            type Output = $name;
            fn bitor(self, others: $name) -> $name {
                self.with(others)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({:#x}", stringify!($name), self.0)?;
                for (name, bit) in Self::NAMES.iter().filter(|(_, bit)| self.0 & bit != 0) {
                    let _ = bit;
                    write!(f, " {name}")?;
                }
                write!(f, ")")
            }
        }
    };
}

flags! {
    /// What an end of a connection can do. Each end says its own; what both say holds.
    Capabilities: u32 {
        /// "Improved" passwords, from before 4.1 became the only way; always said.
        LONG_PASSWORD = 1;
        /// Affected rows are the rows found, not the rows changed.
        FOUND_ROWS = 1 << 1;
        /// Column flags have two bytes.
        LONG_FLAG = 1 << 2;
        /// The handshake response names a database.
        CONNECT_WITH_DB = 1 << 3;
        /// `db.table.column` is not allowed (of old ODBC).
        NO_SCHEMA = 1 << 4;
        /// zlib may be used.
        COMPRESS = 1 << 5;
        /// For ODBC; without meaning.
        ODBC = 1 << 6;
        /// `LOAD DATA LOCAL` may ask the client for a file.
        LOCAL_FILES = 1 << 7;
        /// Spaces before `(` are ignored.
        IGNORE_SPACE = 1 << 8;
        /// The protocol of 4.1. Without it we refuse.
        PROTOCOL_41 = 1 << 9;
        /// `interactive_timeout` holds in place of `wait_timeout`.
        INTERACTIVE = 1 << 10;
        /// TLS may be begun by an SSLRequest.
        SSL = 1 << 11;
        /// For the client library; without meaning.
        IGNORE_SIGPIPE = 1 << 12;
        /// Status flags are in OK and EOF packets.
        TRANSACTIONS = 1 << 13;
        /// Once 4.1; without meaning.
        RESERVED = 1 << 14;
        /// Authentication with 20 bytes of scramble (once `RESERVED2`).
        SECURE_CONNECTION = 1 << 15;
        /// A COM_QUERY may have many statements.
        MULTI_STATEMENTS = 1 << 16;
        /// A COM_QUERY may have many results.
        MULTI_RESULTS = 1 << 17;
        /// A COM_STMT_EXECUTE may have many results.
        PS_MULTI_RESULTS = 1 << 18;
        /// Authentication plugins have names.
        PLUGIN_AUTH = 1 << 19;
        /// The handshake response has connection attributes.
        CONNECT_ATTRS = 1 << 20;
        /// The authentication response may be longer than 255 bytes.
        PLUGIN_AUTH_LENENC = 1 << 21;
        /// An expired password does not end the connection.
        CAN_HANDLE_EXPIRED_PASSWORDS = 1 << 22;
        /// OK packets may tell of changes of the session's state.
        SESSION_TRACK = 1 << 23;
        /// An OK packet (with header FE) ends results in place of an EOF packet.
        DEPRECATE_EOF = 1 << 24;
        /// The client can do without column definitions if the server may leave them out.
        OPTIONAL_RESULTSET_METADATA = 1 << 25;
        /// zstd may be used.
        ZSTD_COMPRESSION = 1 << 26;
        /// Queries may have attributes.
        QUERY_ATTRIBUTES = 1 << 27;
        /// More than one authentication in a row.
        MULTI_FACTOR_AUTHENTICATION = 1 << 28;
        /// Kept for capabilities beyond 32 bits.
        CAPABILITY_EXTENSION = 1 << 29;
        /// For the client library.
        SSL_VERIFY_SERVER_CERT = 1 << 30;
        /// For the client library.
        REMEMBER_OPTIONS = 1 << 31;
    }
}

flags! {
    /// The state of a session, in OK and EOF packets and in the greeting.
    StatusFlags: u16 {
        /// A transaction is open.
        IN_TRANSACTION = 1;
        /// `autocommit` is on.
        AUTOCOMMIT = 1 << 1;
        /// Another result follows this one.
        MORE_RESULTS = 1 << 3;
        /// No good index was used.
        NO_GOOD_INDEX_USED = 1 << 4;
        /// No index was used.
        NO_INDEX_USED = 1 << 5;
        /// A cursor is open: rows come by COM_STMT_FETCH.
        CURSOR_EXISTS = 1 << 6;
        /// The cursor's last row was sent.
        LAST_ROW_SENT = 1 << 7;
        /// A database was dropped.
        DB_DROPPED = 1 << 8;
        /// `NO_BACKSLASH_ESCAPES` is in `sql_mode`: a client that quotes must know.
        NO_BACKSLASH_ESCAPES = 1 << 9;
        /// The prepared statement was prepared again, and its columns have changed.
        METADATA_CHANGED = 1 << 10;
        /// The statement was slow.
        QUERY_WAS_SLOW = 1 << 11;
        /// This result is the output parameters of a CALL.
        PS_OUT_PARAMS = 1 << 12;
        /// The open transaction is read only.
        IN_TRANSACTION_READONLY = 1 << 13;
        /// The OK packet tells of changes of the session's state.
        SESSION_STATE_CHANGED = 1 << 14;
    }
}

flags! {
    /// What a column is, in its definition.
    ColumnFlags: u16 {
        /// It cannot be NULL.
        NOT_NULL = 1;
        /// It is part of the primary key.
        PRIMARY_KEY = 1 << 1;
        /// It is part of a unique key.
        UNIQUE_KEY = 1 << 2;
        /// It is part of a key that is not unique.
        MULTIPLE_KEY = 1 << 3;
        /// It is a BLOB or TEXT.
        BLOB = 1 << 4;
        /// It is unsigned.
        UNSIGNED = 1 << 5;
        /// It is shown with zeros before it.
        ZEROFILL = 1 << 6;
        /// Its collation is binary.
        BINARY = 1 << 7;
        /// It is an ENUM.
        ENUM = 1 << 8;
        /// It counts by itself.
        AUTO_INCREMENT = 1 << 9;
        /// It is a TIMESTAMP.
        TIMESTAMP = 1 << 10;
        /// It is a SET.
        SET = 1 << 11;
        /// It has no default and must be given one.
        NO_DEFAULT_VALUE = 1 << 12;
        /// It takes the time of each update.
        ON_UPDATE_NOW = 1 << 13;
        /// It is part of some key.
        PART_KEY = 1 << 14;
        /// It is a number.
        NUMBER = 1 << 15;
    }
}

flags! {
    /// How COM_STMT_EXECUTE wants its rows.
    CursorFlags: u8 {
        /// Rows come by COM_STMT_FETCH.
        READ_ONLY = 1;
        /// A cursor that sees updates; MySQL has none.
        FOR_UPDATE = 1 << 1;
        /// A cursor that can go back; MySQL has none.
        SCROLLABLE = 1 << 2;
        /// The number of parameters is said, since query attributes are among them.
        PARAMETER_COUNT_AVAILABLE = 1 << 3;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_sets() {
        let some = Capabilities::SSL | Capabilities::PROTOCOL_41;
        assert!(some.has(Capabilities::SSL) && !some.has(Capabilities::SSL | Capabilities::COMPRESS));
        assert_eq!(some.without(Capabilities::SSL), Capabilities::PROTOCOL_41);
        assert_eq!(some.set(Capabilities::SSL, false), Capabilities::PROTOCOL_41);
        assert_eq!(format!("{:?}", StatusFlags(0x8003)), "StatusFlags(0x8003 IN_TRANSACTION AUTOCOMMIT)");
        assert_eq!(StatusFlags(0x8003).both(StatusFlags(0x8000)), StatusFlags(0x8000));
    }
}
