//! Errors 1004 to 1999: what MySQL 5 and its ancestors already raised.
//!
//! One entry: the number, its SQLSTATE, its name, its text. In ascending order of numbers: the lookup is a binary
//! search, and a test looks. Numbers, names and states are those that a MySQL 9.7 server reports about itself;
//! `%s` stands for text, `%d` for a number.

use crate::{ErrorCode, ErrorInfo, errors};

errors! {
    1004 "HY000" ER_CANT_CREATE_FILE
        "Can't create file '%s' (errno: %d - %s)";
    1005 "HY000" ER_CANT_CREATE_TABLE
        "Can't create table '%s' (errno: %d - %s)";
    1006 "HY000" ER_CANT_CREATE_DB
        "Can't create database '%s' (errno: %d - %s)";
    1007 "HY000" ER_DB_CREATE_EXISTS
        "Can't create database '%s'; database exists";
    1008 "HY000" ER_DB_DROP_EXISTS
        "Can't drop database '%s'; database doesn't exist";
    1010 "HY000" ER_DB_DROP_RMDIR
        "Error dropping database (can't rmdir '%s', errno: %d - %s)";
    1012 "HY000" ER_CANT_FIND_SYSTEM_REC
        "Can't read record in system table";
    1013 "HY000" ER_CANT_GET_STAT
        "Can't get status of '%s' (errno: %d - %s)";
    1015 "HY000" ER_CANT_LOCK
        "Can't lock file (errno: %d - %s)";
    1016 "HY000" ER_CANT_OPEN_FILE
        "Can't open file: '%s' (errno: %d - %s)";
    1017 "HY000" ER_FILE_NOT_FOUND
        "Can't find file: '%s' (errno: %d - %s)";
    1018 "HY000" ER_CANT_READ_DIR
        "Can't read dir of '%s' (errno: %d - %s)";
    1020 "HY000" ER_CHECKREAD
        "Record has changed since last read in table '%s'";
    1022 "23000" ER_DUP_KEY
        "Can't write; duplicate key in table '%s'";
    1024 "HY000" ER_ERROR_ON_READ
        "Error reading file '%s' (errno: %d - %s)";
    1025 "HY000" ER_ERROR_ON_RENAME
        "Error on rename of '%s' to '%s' (errno: %d - %s)";
    1026 "HY000" ER_ERROR_ON_WRITE
        "Error writing file '%s' (errno: %d - %s)";
    1027 "HY000" ER_FILE_USED
        "'%s' is locked against change";
    1030 "HY000" ER_GET_ERRNO
        "Got error %d - '%s' from storage engine";
    1031 "HY000" ER_ILLEGAL_HA
        "Table storage engine for '%s' doesn't have this option";
    1032 "HY000" ER_KEY_NOT_FOUND
        "Can't find record in '%s'";
    1033 "HY000" ER_NOT_FORM_FILE
        "Incorrect information in file: '%s'";
    1034 "HY000" ER_NOT_KEYFILE
        "Incorrect key file for table '%s'; try to repair it";
    1035 "HY000" ER_OLD_KEYFILE
        "Old key file for table '%s'; repair it!";
    1036 "HY000" ER_OPEN_AS_READONLY
        "Table '%s' is read only";
    1037 "HY001" ER_OUTOFMEMORY
        "Out of memory; restart server and try again (needed %d bytes)";
    1038 "HY001" ER_OUT_OF_SORTMEMORY
        "Out of sort memory, consider increasing server sort buffer size";
    1040 "08004" ER_CON_COUNT_ERROR
        "Too many connections";
    1041 "HY000" ER_OUT_OF_RESOURCES
        "Out of memory; check if mysqld or some other process uses all available memory; if not, you may have to \
         use 'ulimit' to allow mysqld to use more memory or you can add more swap space";
    1042 "08S01" ER_BAD_HOST_ERROR
        "Can't get hostname for your address";
    1043 "08S01" ER_HANDSHAKE_ERROR
        "Bad handshake";
    1044 "42000" ER_DBACCESS_DENIED_ERROR
        "Access denied for user '%s'@'%s' to database '%s'";
    1045 "28000" ER_ACCESS_DENIED_ERROR
        "Access denied for user '%s'@'%s' (using password: %s)";
    1046 "3D000" ER_NO_DB_ERROR
        "No database selected";
    1047 "08S01" ER_UNKNOWN_COM_ERROR
        "Unknown command";
    1048 "23000" ER_BAD_NULL_ERROR
        "Column '%s' cannot be null";
    1049 "42000" ER_BAD_DB_ERROR
        "Unknown database '%s'";
    1050 "42S01" ER_TABLE_EXISTS_ERROR
        "Table '%s' already exists";
    1051 "42S02" ER_BAD_TABLE_ERROR
        "Unknown table '%s'";
    1052 "23000" ER_NON_UNIQ_ERROR
        "Column '%s' in %s is ambiguous";
    1053 "08S01" ER_SERVER_SHUTDOWN
        "Server shutdown in progress";
    1054 "42S22" ER_BAD_FIELD_ERROR
        "Unknown column '%s' in '%s'";
    1055 "42000" ER_WRONG_FIELD_WITH_GROUP
        "'%s' isn't in GROUP BY";
    1056 "42000" ER_WRONG_GROUP_FIELD
        "Can't group on '%s'";
    1057 "42000" ER_WRONG_SUM_SELECT
        "Statement has sum functions and columns in same statement";
    1058 "21S01" ER_WRONG_VALUE_COUNT
        "Column count doesn't match value count";
    1059 "42000" ER_TOO_LONG_IDENT
        "Identifier name '%s' is too long";
    1060 "42S21" ER_DUP_FIELDNAME
        "Duplicate column name '%s'";
    1061 "42000" ER_DUP_KEYNAME
        "Duplicate key name '%s'";
    1062 "23000" ER_DUP_ENTRY
        "Duplicate entry '%s' for key '%s'";
    1063 "42000" ER_WRONG_FIELD_SPEC
        "Incorrect column specifier for column '%s'";
    1064 "42000" ER_PARSE_ERROR
        "%s near '%s' at line %d";
    1065 "42000" ER_EMPTY_QUERY
        "Query was empty";
    1066 "42000" ER_NONUNIQ_TABLE
        "Not unique table/alias: '%s'";
    1067 "42000" ER_INVALID_DEFAULT
        "Invalid default value for '%s'";
    1068 "42000" ER_MULTIPLE_PRI_KEY
        "Multiple primary key defined";
    1069 "42000" ER_TOO_MANY_KEYS
        "Too many keys specified; max %d keys allowed";
    1070 "42000" ER_TOO_MANY_KEY_PARTS
        "Too many key parts specified; max %d parts allowed";
    1071 "42000" ER_TOO_LONG_KEY
        "Specified key was too long; max key length is %d bytes";
    1072 "42000" ER_KEY_COLUMN_DOES_NOT_EXITS
        "Key column '%s' doesn't exist in table";
    1073 "42000" ER_BLOB_USED_AS_KEY
        "BLOB column '%s' can't be used in key specification with the used table type";
    1074 "42000" ER_TOO_BIG_FIELDLENGTH
        "Column length too big for column '%s' (max = %d); use BLOB or TEXT instead";
    1075 "42000" ER_WRONG_AUTO_KEY
        "Incorrect table definition; there can be only one auto column and it must be defined as a key";
    1080 "08S01" ER_FORCING_CLOSE
        "%s: Forcing close of thread %d  user: '%s'";
    1082 "42S12" ER_NO_SUCH_INDEX
        "Table '%s' has no index like the one used in CREATE INDEX; recreate the table";
    1083 "42000" ER_WRONG_FIELD_TERMINATORS
        "Field separator argument is not what is expected; check the manual";
    1084 "42000" ER_BLOBS_AND_NO_TERMINATED
        "You can't use fixed rowlength with BLOBs; please use 'fields terminated by'";
    1085 "HY000" ER_TEXTFILE_NOT_READABLE
        "The file '%s' must be in the database directory or be readable by all";
    1086 "HY000" ER_FILE_EXISTS_ERROR
        "File '%s' already exists";
    1087 "HY000" ER_LOAD_INFO
        "Records: %d  Deleted: %d  Skipped: %d  Warnings: %d";
    1088 "HY000" ER_ALTER_INFO
        "Records: %d  Duplicates: %d";
    1089 "HY000" ER_WRONG_SUB_KEY
        "Incorrect prefix key; the used key part isn't a string, the used length is longer than the key part, or \
         the storage engine doesn't support unique prefix keys";
    1090 "42000" ER_CANT_REMOVE_ALL_FIELDS
        "You can't delete all columns with ALTER TABLE; use DROP TABLE instead";
    1091 "42000" ER_CANT_DROP_FIELD_OR_KEY
        "Can't DROP '%s'; check that column/key exists";
    1092 "HY000" ER_INSERT_INFO
        "Records: %d  Duplicates: %d  Warnings: %d";
    1093 "HY000" ER_UPDATE_TABLE_USED
        "You can't specify target table '%s' for update in FROM clause";
    1094 "HY000" ER_NO_SUCH_THREAD
        "Unknown thread id: %d";
    1095 "HY000" ER_KILL_DENIED_ERROR
        "You are not owner of thread %d";
    1096 "HY000" ER_NO_TABLES_USED
        "No tables used";
    1097 "HY000" ER_TOO_BIG_SET
        "Too many strings for column %s and SET";
    1099 "HY000" ER_TABLE_NOT_LOCKED_FOR_WRITE
        "Table '%s' was locked with a READ lock and can't be updated";
    1100 "HY000" ER_TABLE_NOT_LOCKED
        "Table '%s' was not locked with LOCK TABLES";
    1101 "42000" ER_BLOB_CANT_HAVE_DEFAULT
        "BLOB, TEXT, GEOMETRY or JSON column '%s' can't have a default value";
    1102 "42000" ER_WRONG_DB_NAME
        "Incorrect database name '%s'";
    1103 "42000" ER_WRONG_TABLE_NAME
        "Incorrect table name '%s'";
    1104 "42000" ER_TOO_BIG_SELECT
        "The SELECT would examine more than MAX_JOIN_SIZE rows; check your WHERE and use SET SQL_BIG_SELECTS=1 or \
         SET MAX_JOIN_SIZE=# if the SELECT is okay";
    1105 "HY000" ER_UNKNOWN_ERROR
        "Unknown error";
    1106 "42000" ER_UNKNOWN_PROCEDURE
        "Unknown procedure '%s'";
    1107 "42000" ER_WRONG_PARAMCOUNT_TO_PROCEDURE
        "Incorrect parameter count to procedure '%s'";
    1108 "HY000" ER_WRONG_PARAMETERS_TO_PROCEDURE
        "Incorrect parameters to procedure '%s'";
    1109 "42S02" ER_UNKNOWN_TABLE
        "Unknown table '%s' in %s";
    1110 "42000" ER_FIELD_SPECIFIED_TWICE
        "Column '%s' specified twice";
    1111 "HY000" ER_INVALID_GROUP_FUNC_USE
        "Invalid use of group function";
    1112 "42000" ER_UNSUPPORTED_EXTENSION
        "Table '%s' uses an extension that doesn't exist in this MySQL version";
    1113 "42000" ER_TABLE_MUST_HAVE_COLUMNS
        "A table must have at least 1 column";
    1114 "HY000" ER_RECORD_FILE_FULL
        "The table '%s' is full";
    1115 "42000" ER_UNKNOWN_CHARACTER_SET
        "Unknown character set: '%s'";
    1116 "HY000" ER_TOO_MANY_TABLES
        "Too many tables; MySQL can only use %d tables in a join";
    1117 "HY000" ER_TOO_MANY_FIELDS
        "Too many columns";
    1118 "42000" ER_TOO_BIG_ROWSIZE
        "Row size too large. The maximum row size for the used table type, not counting BLOBs, is %d. This includes \
         storage overhead, check the manual. You have to change some columns to TEXT or BLOBs";
    1119 "HY000" ER_STACK_OVERRUN
        "Thread stack overrun:  Used: %d of a %d stack.  Use 'mysqld --thread_stack=#' to specify a bigger stack if \
         needed";
    1121 "42000" ER_NULL_COLUMN_IN_INDEX
        "Table handler doesn't support NULL in given index. Please change column '%s' to be NOT NULL or use another \
         handler";
    1126 "HY000" ER_CANT_OPEN_LIBRARY
        "Can't open shared library '%s' (errno: %d %s)";
    1127 "HY000" ER_CANT_FIND_DL_ENTRY
        "Can't find symbol '%s' in library";
    1128 "HY000" ER_FUNCTION_NOT_DEFINED
        "Function '%s' is not defined";
    1129 "HY000" ER_HOST_IS_BLOCKED
        "Host '%s' is blocked because of many connection errors; unblock with 'mysqladmin flush-hosts'";
    1130 "HY000" ER_HOST_NOT_PRIVILEGED
        "Host '%s' is not allowed to connect to this MySQL server";
    1132 "42000" ER_PASSWORD_NOT_ALLOWED
        "You must have privileges to update tables in the mysql database to be able to change passwords for others";
    1133 "42000" ER_PASSWORD_NO_MATCH
        "Can't find any matching row in the user table";
    1134 "HY000" ER_UPDATE_INFO
        "Rows matched: %d  Changed: %d  Warnings: %d";
    1135 "HY000" ER_CANT_CREATE_THREAD
        "Can't create a new thread (errno %d); if you are not out of available memory, you can consult the manual \
         for a possible OS-dependent bug";
    1136 "21S01" ER_WRONG_VALUE_COUNT_ON_ROW
        "Column count doesn't match value count at row %d";
    1137 "HY000" ER_CANT_REOPEN_TABLE
        "Can't reopen table: '%s'";
    1138 "22004" ER_INVALID_USE_OF_NULL
        "Invalid use of NULL value";
    1139 "42000" ER_REGEXP_ERROR
        "Got error '%s' from regexp";
    1140 "42000" ER_MIX_OF_GROUP_FUNC_AND_FIELDS
        "Mixing of GROUP columns (MIN(),MAX(),COUNT(),...) with no GROUP columns is illegal if there is no GROUP BY \
         clause";
    1141 "42000" ER_NONEXISTING_GRANT
        "There is no such grant defined for user '%s' on host '%s'";
    1142 "42000" ER_TABLEACCESS_DENIED_ERROR
        "%s command denied to user '%s'@'%s' for table '%s'";
    1143 "42000" ER_COLUMNACCESS_DENIED_ERROR
        "%s command denied to user '%s'@'%s' for column '%s' in table '%s'";
    1144 "42000" ER_ILLEGAL_GRANT_FOR_TABLE
        "Illegal GRANT/REVOKE command; please consult the manual to see which privileges can be used";
    1145 "42000" ER_GRANT_WRONG_HOST_OR_USER
        "The host or user argument to GRANT is too long";
    1146 "42S02" ER_NO_SUCH_TABLE
        "Table '%s.%s' doesn't exist";
    1147 "42000" ER_NONEXISTING_TABLE_GRANT
        "There is no such grant defined for user '%s' on host '%s' on table '%s'";
    1148 "42000" ER_NOT_ALLOWED_COMMAND
        "The used command is not allowed with this MySQL version";
    1149 "42000" ER_SYNTAX_ERROR
        "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for \
         the right syntax to use";
    1152 "08S01" ER_ABORTING_CONNECTION
        "Aborted connection %d to db: '%s' user: '%s' (%s)";
    1153 "08S01" ER_NET_PACKET_TOO_LARGE
        "Got a packet bigger than 'max_allowed_packet' bytes";
    1156 "08S01" ER_NET_PACKETS_OUT_OF_ORDER
        "Got packets out of order";
    1157 "08S01" ER_NET_UNCOMPRESS_ERROR
        "Couldn't uncompress communication packet";
    1158 "08S01" ER_NET_READ_ERROR
        "Got an error reading communication packets";
    1159 "08S01" ER_NET_READ_INTERRUPTED
        "Got timeout reading communication packets";
    1160 "08S01" ER_NET_ERROR_ON_WRITE
        "Got an error writing communication packets";
    1161 "08S01" ER_NET_WRITE_INTERRUPTED
        "Got timeout writing communication packets";
    1162 "42000" ER_TOO_LONG_STRING
        "Result string is longer than 'max_allowed_packet' bytes";
    1163 "42000" ER_TABLE_CANT_HANDLE_BLOB
        "The used table type doesn't support BLOB/TEXT columns";
    1164 "42000" ER_TABLE_CANT_HANDLE_AUTO_INCREMENT
        "The used table type doesn't support AUTO_INCREMENT columns";
    1166 "42000" ER_WRONG_COLUMN_NAME
        "Incorrect column name '%s'";
    1167 "42000" ER_WRONG_KEY_COLUMN
        "The used storage engine can't index column '%s'";
    1169 "23000" ER_DUP_UNIQUE
        "Can't write, because of unique constraint, to table '%s'";
    1170 "42000" ER_BLOB_KEY_WITHOUT_LENGTH
        "BLOB/TEXT column '%s' used in key specification without a key length";
    1171 "42000" ER_PRIMARY_CANT_HAVE_NULL
        "All parts of a PRIMARY KEY must be NOT NULL; if you need NULL in a key, use UNIQUE instead";
    1172 "42000" ER_TOO_MANY_ROWS
        "Result consisted of more than one row";
    1173 "42000" ER_REQUIRES_PRIMARY_KEY
        "This table type requires a primary key";
    1175 "HY000" ER_UPDATE_WITHOUT_KEY_IN_SAFE_MODE
        "You are using safe update mode and you tried to update a table without a WHERE that uses a KEY column. %s";
    1176 "42000" ER_KEY_DOES_NOT_EXITS
        "Key '%s' doesn't exist in table '%s'";
    1177 "42000" ER_CHECK_NO_SUCH_TABLE
        "Can't open table";
    1178 "42000" ER_CHECK_NOT_IMPLEMENTED
        "The storage engine for the table doesn't support %s";
    1179 "25000" ER_CANT_DO_THIS_DURING_AN_TRANSACTION
        "You are not allowed to execute this command in a transaction";
    1180 "HY000" ER_ERROR_DURING_COMMIT
        "Got error %d - '%s' during COMMIT";
    1181 "HY000" ER_ERROR_DURING_ROLLBACK
        "Got error %d - '%s' during ROLLBACK";
    1182 "HY000" ER_ERROR_DURING_FLUSH_LOGS
        "Got error %d during FLUSH_LOGS";
    1184 "08S01" ER_NEW_ABORTING_CONNECTION
        "Aborted connection %d to db: '%s' user: '%s' host: '%s' (%s)";
    1192 "HY000" ER_LOCK_OR_ACTIVE_TRANSACTION
        "Can't execute the given command because you have active locked tables or an active transaction";
    1193 "HY000" ER_UNKNOWN_SYSTEM_VARIABLE
        "Unknown system variable '%s'";
    1194 "HY000" ER_CRASHED_ON_USAGE
        "Table '%s' is marked as crashed and should be repaired";
    1195 "HY000" ER_CRASHED_ON_REPAIR
        "Table '%s' is marked as crashed and last (automatic?) repair failed";
    1196 "HY000" ER_WARNING_NOT_COMPLETE_ROLLBACK
        "Some non-transactional changed tables couldn't be rolled back";
    1197 "HY000" ER_TRANS_CACHE_FULL
        "Multi-statement transaction required more than 'max_binlog_cache_size' bytes of storage; increase this \
         mysqld variable and try again";
    1201 "HY000" ER_CONNECTION_METADATA
        "Could not initialize connection metadata structure; more error messages can be found in the MySQL error log";
    1203 "42000" ER_TOO_MANY_USER_CONNECTIONS
        "User %s already has more than 'max_user_connections' active connections";
    1204 "HY000" ER_SET_CONSTANTS_ONLY
        "You may only use constant expressions with SET";
    1205 "HY000" ER_LOCK_WAIT_TIMEOUT
        "Lock wait timeout exceeded; try restarting transaction";
    1206 "HY000" ER_LOCK_TABLE_FULL
        "The total number of locks exceeds the lock table size";
    1207 "25000" ER_READ_ONLY_TRANSACTION
        "Update locks cannot be acquired during a READ UNCOMMITTED transaction";
    1210 "HY000" ER_WRONG_ARGUMENTS
        "Incorrect arguments to %s";
    1211 "42000" ER_NO_PERMISSION_TO_CREATE_USER
        "'%s'@'%s' is not allowed to create new users";
    1213 "40001" ER_LOCK_DEADLOCK
        "Deadlock found when trying to get lock; try restarting transaction";
    1215 "HY000" ER_CANNOT_ADD_FOREIGN
        "Cannot add foreign key constraint";
    1216 "23000" ER_NO_REFERENCED_ROW
        "Cannot add or update a child row: a foreign key constraint fails";
    1217 "23000" ER_ROW_IS_REFERENCED
        "Cannot delete or update a parent row: a foreign key constraint fails";
    1220 "HY000" ER_ERROR_WHEN_EXECUTING_COMMAND
        "Error when executing command %s: %s";
    1221 "HY000" ER_WRONG_USAGE
        "Incorrect usage of %s and %s";
    1222 "21000" ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT
        "The used SELECT statements have a different number of columns";
    1223 "HY000" ER_CANT_UPDATE_WITH_READLOCK
        "Can't execute the query because you have a conflicting read lock";
    1224 "HY000" ER_MIXING_NOT_ALLOWED
        "Mixing of transactional and non-transactional tables is disabled";
    1225 "HY000" ER_DUP_ARGUMENT
        "Option '%s' used twice in statement";
    1226 "42000" ER_USER_LIMIT_REACHED
        "User '%s' has exceeded the '%s' resource (current value: %d)";
    1227 "42000" ER_SPECIFIC_ACCESS_DENIED_ERROR
        "Access denied; you need (at least one of) the %s privilege(s) for this operation";
    1228 "HY000" ER_LOCAL_VARIABLE
        "Variable '%s' is a SESSION variable and can't be used with SET GLOBAL";
    1229 "HY000" ER_GLOBAL_VARIABLE
        "Variable '%s' is a GLOBAL variable and should be set with SET GLOBAL";
    1230 "42000" ER_NO_DEFAULT
        "Variable '%s' doesn't have a default value";
    1231 "42000" ER_WRONG_VALUE_FOR_VAR
        "Variable '%s' can't be set to the value of '%s'";
    1232 "42000" ER_WRONG_TYPE_FOR_VAR
        "Incorrect argument type to variable '%s'";
    1233 "HY000" ER_VAR_CANT_BE_READ
        "Variable '%s' can only be set, not read";
    1234 "42000" ER_CANT_USE_OPTION_HERE
        "Incorrect usage/placement of '%s'";
    1235 "42000" ER_NOT_SUPPORTED_YET
        "This version of MySQL doesn't yet support '%s'";
    1238 "HY000" ER_INCORRECT_GLOBAL_LOCAL_VAR
        "Variable '%s' is a %s variable";
    1239 "42000" ER_WRONG_FK_DEF
        "Incorrect foreign key definition for '%s': %s";
    1240 "HY000" ER_KEY_REF_DO_NOT_MATCH_TABLE_REF
        "Key reference and table reference don't match";
    1241 "21000" ER_OPERAND_COLUMNS
        "Operand should contain %d column(s)";
    1242 "21000" ER_SUBQUERY_NO_1_ROW
        "Subquery returns more than 1 row";
    1243 "HY000" ER_UNKNOWN_STMT_HANDLER
        "Unknown prepared statement handler (%s) given to %s";
    1244 "HY000" ER_CORRUPT_HELP_DB
        "Help database is corrupt or does not exist";
    1246 "HY000" ER_AUTO_CONVERT
        "Converting column '%s' from %s to %s";
    1247 "42S22" ER_ILLEGAL_REFERENCE
        "Reference '%s' not supported (%s)";
    1248 "42000" ER_DERIVED_MUST_HAVE_ALIAS
        "Every derived table must have its own alias";
    1249 "01000" ER_SELECT_REDUCED
        "Select %d was reduced during optimization";
    1250 "42000" ER_TABLENAME_NOT_ALLOWED_HERE
        "Table '%s' from one of the SELECTs cannot be used in %s";
    1251 "08004" ER_NOT_SUPPORTED_AUTH_MODE
        "Client does not support authentication protocol requested by server; consider upgrading MySQL client";
    1253 "42000" ER_COLLATION_CHARSET_MISMATCH
        "COLLATION '%s' is not valid for CHARACTER SET '%s'";
    1256 "HY000" ER_TOO_BIG_FOR_UNCOMPRESS
        "Uncompressed data size too large; the maximum size is %d (probably, length of uncompressed data was \
         corrupted)";
    1257 "HY000" ER_ZLIB_Z_MEM_ERROR
        "ZLIB: Not enough memory";
    1258 "HY000" ER_ZLIB_Z_BUF_ERROR
        "ZLIB: Not enough room in the output buffer (probably, length of uncompressed data was corrupted)";
    1259 "HY000" ER_ZLIB_Z_DATA_ERROR
        "ZLIB: Input data corrupted";
    1260 "HY000" ER_CUT_VALUE_GROUP_CONCAT
        "Row %d was cut by GROUP_CONCAT()";
    1261 "01000" ER_WARN_TOO_FEW_RECORDS
        "Row %d doesn't contain data for all columns";
    1262 "01000" ER_WARN_TOO_MANY_RECORDS
        "Row %d was truncated; it contained more data than there were input columns";
    1263 "22004" ER_WARN_NULL_TO_NOTNULL
        "Column set to default value; NULL supplied to NOT NULL column '%s' at row %d";
    1264 "22003" ER_WARN_DATA_OUT_OF_RANGE
        "Out of range value for column '%s' at row %d";
    1265 "01000" WARN_DATA_TRUNCATED
        "Data truncated for column '%s' at row %d";
    1266 "HY000" ER_WARN_USING_OTHER_HANDLER
        "Using storage engine %s for table '%s'";
    1267 "HY000" ER_CANT_AGGREGATE_2COLLATIONS
        "Illegal mix of collations (%s,%s) and (%s,%s) for operation '%s'";
    1269 "HY000" ER_REVOKE_GRANTS
        "Can't revoke all privileges for one or more of the requested users";
    1270 "HY000" ER_CANT_AGGREGATE_3COLLATIONS
        "Illegal mix of collations (%s,%s), (%s,%s), (%s,%s) for operation '%s'";
    1271 "HY000" ER_CANT_AGGREGATE_NCOLLATIONS
        "Illegal mix of collations for operation '%s'";
    1272 "HY000" ER_VARIABLE_IS_NOT_STRUCT
        "Variable '%s' is not a variable component (can't be used as XXXX.variable_name)";
    1273 "HY000" ER_UNKNOWN_COLLATION
        "Unknown collation: '%s'";
    1276 "HY000" ER_WARN_FIELD_RESOLVED
        "Field or reference '%s%s%s%s%s' of SELECT #%d was resolved in SELECT #%d";
    1279 "HY000" ER_UNTIL_COND_IGNORED
        "SQL thread is not to be started so UNTIL options are ignored";
    1280 "42000" ER_WRONG_NAME_FOR_INDEX
        "Incorrect index name '%s'";
    1281 "42000" ER_WRONG_NAME_FOR_CATALOG
        "Incorrect catalog name '%s'";
    1284 "HY000" ER_UNKNOWN_KEY_CACHE
        "Unknown key cache '%s'";
    1285 "HY000" ER_WARN_HOSTNAME_WONT_WORK
        "MySQL is started in --skip-name-resolve mode; you must restart it without this switch for this grant to \
         work";
    1286 "42000" ER_UNKNOWN_STORAGE_ENGINE
        "Unknown storage engine '%s'";
    1287 "HY000" ER_WARN_DEPRECATED_SYNTAX
        "'%s' is deprecated and will be removed in a future release. Please use %s instead";
    1288 "HY000" ER_NON_UPDATABLE_TABLE
        "The target table %s of the %s is not updatable";
    1289 "HY000" ER_FEATURE_DISABLED
        "The '%s' feature is disabled; you need MySQL built with '%s' to have it working";
    1290 "HY000" ER_OPTION_PREVENTS_STATEMENT
        "The MySQL server is running with the %s option so it cannot execute this statement";
    1291 "HY000" ER_DUPLICATED_VALUE_IN_TYPE
        "Column '%s' has duplicated value '%s' in %s";
    1292 "22007" ER_TRUNCATED_WRONG_VALUE
        "Truncated incorrect %s value: '%s'";
    1294 "HY000" ER_INVALID_ON_UPDATE
        "Invalid ON UPDATE clause for '%s' column";
    1295 "HY000" ER_UNSUPPORTED_PS
        "This command is not supported in the prepared statement protocol yet";
    1296 "HY000" ER_GET_ERRMSG
        "Got error %d '%s' from %s";
    1297 "HY000" ER_GET_TEMPORARY_ERRMSG
        "Got temporary error %d '%s' from %s";
    1298 "HY000" ER_UNKNOWN_TIME_ZONE
        "Unknown or incorrect time zone: '%s'";
    1299 "HY000" ER_WARN_INVALID_TIMESTAMP
        "Invalid TIMESTAMP value in column '%s' at row %d";
    1300 "HY000" ER_INVALID_CHARACTER_STRING
        "Invalid %s character string: '%s'";
    1301 "HY000" ER_WARN_ALLOWED_PACKET_OVERFLOWED
        "Result of %s() was larger than max_allowed_packet (%d) - truncated";
    1302 "HY000" ER_CONFLICTING_DECLARATIONS
        "Conflicting declarations: '%s%s' and '%s%s'";
    1303 "2F003" ER_SP_NO_RECURSIVE_CREATE
        "Can't create a %s from within another stored routine";
    1304 "42000" ER_SP_ALREADY_EXISTS
        "%s %s already exists";
    1305 "42000" ER_SP_DOES_NOT_EXIST
        "%s %s does not exist";
    1306 "HY000" ER_SP_DROP_FAILED
        "Failed to DROP %s %s";
    1307 "HY000" ER_SP_STORE_FAILED
        "Failed to CREATE %s %s";
    1308 "42000" ER_SP_LILABEL_MISMATCH
        "%s with no matching label: %s";
    1309 "42000" ER_SP_LABEL_REDEFINE
        "Redefining label %s";
    1310 "42000" ER_SP_LABEL_MISMATCH
        "End-label %s without match";
    1311 "01000" ER_SP_UNINIT_VAR
        "Referring to uninitialized variable %s";
    1312 "0A000" ER_SP_BADSELECT
        "PROCEDURE %s can't return a result set in the given context";
    1313 "42000" ER_SP_BADRETURN
        "RETURN is only allowed in a FUNCTION";
    1314 "0A000" ER_SP_BADSTATEMENT
        "%s is not allowed in stored procedures";
    1317 "70100" ER_QUERY_INTERRUPTED
        "Query execution was interrupted";
    1318 "42000" ER_SP_WRONG_NO_OF_ARGS
        "Incorrect number of arguments for %s %s; expected %d, got %d";
    1319 "42000" ER_SP_COND_MISMATCH
        "Undefined CONDITION: %s";
    1320 "42000" ER_SP_NORETURN
        "No RETURN found in FUNCTION %s";
    1321 "2F005" ER_SP_NORETURNEND
        "FUNCTION %s ended without RETURN";
    1322 "42000" ER_SP_BAD_CURSOR_QUERY
        "Cursor statement must be a SELECT";
    1323 "42000" ER_SP_BAD_CURSOR_SELECT
        "Cursor SELECT must not have INTO";
    1324 "42000" ER_SP_CURSOR_MISMATCH
        "Undefined CURSOR: %s";
    1325 "24000" ER_SP_CURSOR_ALREADY_OPEN
        "Cursor is already open";
    1326 "24000" ER_SP_CURSOR_NOT_OPEN
        "Cursor is not open";
    1327 "42000" ER_SP_UNDECLARED_VAR
        "Undeclared variable: %s";
    1328 "HY000" ER_SP_WRONG_NO_OF_FETCH_ARGS
        "Incorrect number of FETCH variables";
    1329 "02000" ER_SP_FETCH_NO_DATA
        "No data - zero rows fetched, selected, or processed";
    1330 "42000" ER_SP_DUP_PARAM
        "Duplicate parameter: %s";
    1331 "42000" ER_SP_DUP_VAR
        "Duplicate variable: %s";
    1332 "42000" ER_SP_DUP_COND
        "Duplicate condition: %s";
    1333 "42000" ER_SP_DUP_CURS
        "Duplicate cursor: %s";
    1334 "HY000" ER_SP_CANT_ALTER
        "Failed to ALTER %s %s";
    1335 "0A000" ER_SP_SUBSELECT_NYI
        "Subquery value not supported";
    1336 "0A000" ER_STMT_NOT_ALLOWED_IN_SF_OR_TRG
        "%s is not allowed in stored function or trigger";
    1337 "42000" ER_SP_VARCOND_AFTER_CURSHNDLR
        "Variable or condition declaration after cursor or handler declaration";
    1338 "42000" ER_SP_CURSOR_AFTER_HANDLER
        "Cursor declaration after handler declaration";
    1339 "20000" ER_SP_CASE_NOT_FOUND
        "Case not found for CASE statement";
    1345 "HY000" ER_VIEW_NO_EXPLAIN
        "EXPLAIN/SHOW can not be issued; lacking privileges for underlying table";
    1347 "HY000" ER_WRONG_OBJECT
        "'%s.%s' is not %s";
    1348 "HY000" ER_NONUPDATEABLE_COLUMN
        "Column '%s' is not updatable";
    1350 "HY000" ER_VIEW_SELECT_CLAUSE
        "View's SELECT contains a '%s' clause";
    1351 "HY000" ER_VIEW_SELECT_VARIABLE
        "View's SELECT contains a variable or parameter";
    1352 "HY000" ER_VIEW_SELECT_TMPTABLE
        "View's SELECT refers to a temporary table '%s'";
    1353 "HY000" ER_VIEW_WRONG_LIST
        "In definition of view, derived table or common table expression, SELECT list and column names list have \
         different column counts";
    1355 "HY000" ER_WARN_VIEW_WITHOUT_KEY
        "View being updated does not have complete key of underlying table in it";
    1356 "HY000" ER_VIEW_INVALID
        "View '%s.%s' references invalid table(s) or column(s) or function(s) or definer/invoker of view lack \
         rights to use them";
    1357 "HY000" ER_SP_NO_DROP_SP
        "Can't drop or alter a %s from within another stored routine";
    1359 "HY000" ER_TRG_ALREADY_EXISTS
        "Trigger already exists";
    1360 "HY000" ER_TRG_DOES_NOT_EXIST
        "Trigger does not exist";
    1361 "HY000" ER_TRG_ON_VIEW_OR_TEMP_TABLE
        "Trigger's '%s' is view or temporary table";
    1362 "HY000" ER_TRG_CANT_CHANGE_ROW
        "Updating of %s row is not allowed in %strigger";
    1363 "HY000" ER_TRG_NO_SUCH_ROW_IN_TRG
        "There is no %s row in %s trigger";
    1364 "HY000" ER_NO_DEFAULT_FOR_FIELD
        "Field '%s' doesn't have a default value";
    1365 "22012" ER_DIVISION_BY_ZERO
        "Division by 0";
    1366 "HY000" ER_TRUNCATED_WRONG_VALUE_FOR_FIELD
        "Incorrect %s value: '%s' for column '%s' at row %d";
    1367 "22007" ER_ILLEGAL_VALUE_FOR_TYPE
        "Illegal %s '%s' value found during parsing";
    1368 "HY000" ER_VIEW_NONUPD_CHECK
        "CHECK OPTION on non-updatable view '%s.%s'";
    1369 "HY000" ER_VIEW_CHECK_FAILED
        "CHECK OPTION failed '%s.%s'";
    1370 "42000" ER_PROCACCESS_DENIED_ERROR
        "%s command denied to user '%s'@'%s' for routine '%s'";
    1374 "HY000" ER_IO_ERR_LOG_INDEX_READ
        "I/O error reading log index file";
    1376 "HY000" ER_FSEEK_FAIL
        "Failed on fseek()";
    1378 "HY000" ER_LOG_IN_USE
        "A purgeable log is in use, will not purge";
    1381 "HY000" ER_NO_BINARY_LOGGING
        "You are not using binary logging";
    1382 "HY000" ER_RESERVED_SYNTAX
        "The '%s' syntax is reserved for purposes internal to the MySQL server";
    1390 "HY000" ER_PS_MANY_PARAM
        "Prepared statement contains too many placeholders";
    1391 "HY000" ER_KEY_PART_0
        "Key part '%s' length cannot be 0";
    1392 "HY000" ER_VIEW_CHECKSUM
        "View text checksum failed";
    1393 "HY000" ER_VIEW_MULTIUPDATE
        "Can not modify more than one base table through a join view '%s.%s'";
    1394 "HY000" ER_VIEW_NO_INSERT_FIELD_LIST
        "Can not insert into join view '%s.%s' without fields list";
    1396 "HY000" ER_CANNOT_USER
        "Operation %s failed for %s";
    1397 "XAE04" ER_XAER_NOTA
        "XAER_NOTA: Unknown XID";
    1398 "XAE05" ER_XAER_INVAL
        "XAER_INVAL: Invalid arguments (or unsupported command)";
    1399 "XAE07" ER_XAER_RMFAIL
        "XAER_RMFAIL: The command cannot be executed when global transaction is in the  %s state";
    1400 "XAE09" ER_XAER_OUTSIDE
        "XAER_OUTSIDE: Some work is done outside global transaction";
    1401 "XAE03" ER_XAER_RMERR
        "XAER_RMERR: Fatal error occurred in the transaction branch - check your data for consistency";
    1402 "XA100" ER_XA_RBROLLBACK
        "XA_RBROLLBACK: Transaction branch was rolled back";
    1403 "42000" ER_NONEXISTING_PROC_GRANT
        "There is no such grant defined for user '%s' on host '%s' on routine '%s'";
    1404 "HY000" ER_PROC_AUTO_GRANT_FAIL
        "Failed to grant EXECUTE and ALTER ROUTINE privileges";
    1405 "HY000" ER_PROC_AUTO_REVOKE_FAIL
        "Failed to revoke all privileges to dropped routine";
    1406 "22001" ER_DATA_TOO_LONG
        "Data too long for column '%s' at row %d";
    1407 "42000" ER_SP_BAD_SQLSTATE
        "Bad SQLSTATE: '%s'";
    1408 "HY000" ER_STARTUP
        "%s: ready for connections. Version: '%s'  socket: '%s'  port: %d  %s";
    1409 "HY000" ER_LOAD_FROM_FIXED_SIZE_ROWS_TO_VAR
        "Can't load value from file with fixed size rows to variable";
    1410 "42000" ER_CANT_CREATE_USER_WITH_GRANT
        "You are not allowed to create a user with GRANT";
    1411 "HY000" ER_WRONG_VALUE_FOR_TYPE
        "Incorrect %s value: '%s' for function %s";
    1412 "HY000" ER_TABLE_DEF_CHANGED
        "Table definition has changed, please retry transaction";
    1413 "42000" ER_SP_DUP_HANDLER
        "Duplicate handler declared in the same block";
    1414 "42000" ER_SP_NOT_VAR_ARG
        "OUT or INOUT argument %d for routine %s is not a variable or NEW pseudo-variable in BEFORE trigger";
    1415 "0A000" ER_SP_NO_RETSET
        "Not allowed to return a result set from a %s";
    1418 "HY000" ER_BINLOG_UNSAFE_ROUTINE
        "This function has none of DETERMINISTIC, NO SQL, or READS SQL DATA in its declaration and binary logging \
         is enabled (you *might* want to use the less safe log_bin_trust_function_creators variable)";
    1421 "HY000" ER_STMT_HAS_NO_OPEN_CURSOR
        "The statement (%d) has no open cursor.";
    1422 "HY000" ER_COMMIT_NOT_ALLOWED_IN_SF_OR_TRG
        "Explicit or implicit commit is not allowed in stored function or trigger.";
    1423 "HY000" ER_NO_DEFAULT_FOR_VIEW_FIELD
        "Field of view '%s.%s' underlying table doesn't have a default value";
    1424 "HY000" ER_SP_NO_RECURSION
        "Recursive stored functions and triggers are not allowed.";
    1425 "42000" ER_TOO_BIG_SCALE
        "Too big scale %d specified for column '%s'. Maximum is %d.";
    1426 "42000" ER_TOO_BIG_PRECISION
        "Too-big precision %d specified for '%s'. Maximum is %d.";
    1427 "42000" ER_M_BIGGER_THAN_D
        "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '%s').";
    1428 "HY000" ER_WRONG_LOCK_OF_SYSTEM_TABLE
        "You can't combine write-locking of system tables with other tables or lock types";
    1435 "HY000" ER_TRG_IN_WRONG_SCHEMA
        "Trigger in wrong schema";
    1436 "HY000" ER_STACK_OVERRUN_NEED_MORE
        "Thread stack overrun:  %d bytes used of a %d byte stack, and %d bytes needed.  Use 'mysqld \
         --thread_stack=#' to specify a bigger stack.";
    1437 "42000" ER_TOO_LONG_BODY
        "Routine body for '%s' is too long";
    1439 "42000" ER_TOO_BIG_DISPLAYWIDTH
        "Display width out of range for column '%s' (max = %d)";
    1440 "XAE08" ER_XAER_DUPID
        "XAER_DUPID: The XID already exists";
    1441 "22008" ER_DATETIME_FUNCTION_OVERFLOW
        "Datetime function: %s field overflow";
    1442 "HY000" ER_CANT_UPDATE_USED_TABLE_IN_SF_OR_TRG
        "Can't update table '%s' in stored function/trigger because it is already used by statement which invoked \
         this stored function/trigger.";
    1443 "HY000" ER_VIEW_PREVENT_UPDATE
        "The definition of table '%s' prevents operation %s on table '%s'.";
    1444 "HY000" ER_PS_NO_RECURSION
        "The prepared statement contains a stored routine call that refers to that same statement. It's not allowed \
         to execute a prepared statement in such a recursive manner";
    1445 "HY000" ER_SP_CANT_SET_AUTOCOMMIT
        "Not allowed to set autocommit from a stored function or trigger";
    1447 "HY000" ER_VIEW_FRM_NO_USER
        "View '%s'.'%s' has no definer information (old table format). Current user is used as definer. Please \
         recreate the view!";
    1448 "HY000" ER_VIEW_OTHER_USER
        "You need the SUPER privilege for creation view with '%s'@'%s' definer";
    1449 "HY000" ER_NO_SUCH_USER
        "The user specified as a definer ('%s'@'%s') does not exist";
    1450 "HY000" ER_FORBID_SCHEMA_CHANGE
        "Changing schema from '%s' to '%s' is not allowed.";
    1451 "23000" ER_ROW_IS_REFERENCED_2
        "Cannot delete or update a parent row: a foreign key constraint fails%s";
    1452 "23000" ER_NO_REFERENCED_ROW_2
        "Cannot add or update a child row: a foreign key constraint fails%s";
    1453 "42000" ER_SP_BAD_VAR_SHADOW
        "Variable '%s' must be quoted with `...`, or renamed";
    1454 "HY000" ER_TRG_NO_DEFINER
        "No definer attribute for trigger '%s'.'%s'. It's disallowed to create trigger without definer.";
    1455 "HY000" ER_OLD_FILE_FORMAT
        "'%s' has an old format, you should re-create the '%s' object(s)";
    1456 "HY000" ER_SP_RECURSION_LIMIT
        "Recursive limit %d (as set by the max_sp_recursion_depth variable) was exceeded for routine %s";
    1458 "42000" ER_SP_WRONG_NAME
        "Incorrect routine name '%s'";
    1459 "HY000" ER_TABLE_NEEDS_UPGRADE
        "Table upgrade required. Please do \"REPAIR TABLE `%s`\" or dump/reload to fix it!";
    1460 "42000" ER_SP_NO_AGGREGATE
        "AGGREGATE is not supported for stored functions";
    1461 "42000" ER_MAX_PREPARED_STMT_COUNT_REACHED
        "Can't create more than max_prepared_stmt_count statements (current value: %d)";
    1462 "HY000" ER_VIEW_RECURSIVE
        "`%s`.`%s` contains view recursion";
    1463 "42000" ER_NON_GROUPING_FIELD_USED
        "Non-grouping field '%s' is used in %s clause";
    1464 "HY000" ER_TABLE_CANT_HANDLE_SPKEYS
        "The used table type doesn't support SPATIAL indexes";
    1466 "HY000" ER_REMOVED_SPACES
        "Leading spaces are removed from name '%s'";
    1467 "HY000" ER_AUTOINC_READ_FAILED
        "Failed to read auto-increment value from storage engine";
    1468 "HY000" ER_USERNAME
        "user name";
    1469 "HY000" ER_HOSTNAME
        "host name";
    1470 "HY000" ER_WRONG_STRING_LENGTH
        "String '%s' is too long for %s (should be no longer than %d)";
    1471 "HY000" ER_NON_INSERTABLE_TABLE
        "The target table %s of the %s is not insertable-into";
    1473 "HY000" ER_TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT
        "Too high level of nesting for select";
    1474 "HY000" ER_NAME_BECOMES_EMPTY
        "Name '%s' has become ''";
    1475 "HY000" ER_AMBIGUOUS_FIELD_TERM
        "First character of the FIELDS TERMINATED string is ambiguous; please use non-optional and non-empty FIELDS \
         ENCLOSED BY";
    1476 "HY000" ER_FOREIGN_SERVER_EXISTS
        "The foreign server, %s, you are trying to create already exists.";
    1478 "HY000" ER_ILLEGAL_HA_CREATE_OPTION
        "Table storage engine '%s' does not support the create option '%s'";
    1479 "HY000" ER_PARTITION_REQUIRES_VALUES_ERROR
        "Syntax error: %s PARTITIONING requires definition of VALUES %s for each partition";
    1480 "HY000" ER_PARTITION_WRONG_VALUES_ERROR
        "Only %s PARTITIONING can use VALUES %s in partition definition";
    1481 "HY000" ER_PARTITION_MAXVALUE_ERROR
        "MAXVALUE can only be used in last partition definition";
    1484 "HY000" ER_PARTITION_WRONG_NO_PART_ERROR
        "Wrong number of partitions defined, mismatch with previous setting";
    1485 "HY000" ER_PARTITION_WRONG_NO_SUBPART_ERROR
        "Wrong number of subpartitions defined, mismatch with previous setting";
    1486 "HY000" ER_WRONG_EXPR_IN_PARTITION_FUNC_ERROR
        "Constant, random or timezone-dependent expressions in (sub)partitioning function are not allowed";
    1488 "HY000" ER_FIELD_NOT_FOUND_PART_ERROR
        "Field in list of fields for partition function not found in table";
    1490 "HY000" ER_INCONSISTENT_PARTITION_INFO_ERROR
        "The partition info in the frm file is not consistent with what can be written into the frm file";
    1491 "HY000" ER_PARTITION_FUNC_NOT_ALLOWED_ERROR
        "The %s function returns the wrong type";
    1492 "HY000" ER_PARTITIONS_MUST_BE_DEFINED_ERROR
        "For %s partitions each partition must be defined";
    1493 "HY000" ER_RANGE_NOT_INCREASING_ERROR
        "VALUES LESS THAN value must be strictly increasing for each partition";
    1494 "HY000" ER_INCONSISTENT_TYPE_OF_FUNCTIONS_ERROR
        "VALUES value must be of same type as partition function";
    1495 "HY000" ER_MULTIPLE_DEF_CONST_IN_LIST_PART_ERROR
        "Multiple definition of same constant in list partitioning";
    1496 "HY000" ER_PARTITION_ENTRY_ERROR
        "Partitioning can not be used stand-alone in query";
    1497 "HY000" ER_MIX_HANDLER_ERROR
        "The mix of handlers in the partitions is not allowed in this version of MySQL";
    1498 "HY000" ER_PARTITION_NOT_DEFINED_ERROR
        "For the partitioned engine it is necessary to define all %s";
    1499 "HY000" ER_TOO_MANY_PARTITIONS_ERROR
        "Too many partitions (including subpartitions) were defined";
    1500 "HY000" ER_SUBPARTITION_ERROR
        "It is only possible to mix RANGE/LIST partitioning with HASH/KEY partitioning for subpartitioning";
    1501 "HY000" ER_CANT_CREATE_HANDLER_FILE
        "Failed to create specific handler file";
    1502 "HY000" ER_BLOB_FIELD_IN_PART_FUNC_ERROR
        "A BLOB field is not allowed in partition function";
    1503 "HY000" ER_UNIQUE_KEY_NEED_ALL_FIELDS_IN_PF
        "A %s must include all columns in the table's partitioning function (prefixed columns are not considered).";
    1504 "HY000" ER_NO_PARTS_ERROR
        "Number of %s = 0 is not an allowed value";
    1505 "HY000" ER_PARTITION_MGMT_ON_NONPARTITIONED
        "Partition management on a not partitioned table is not possible";
    1506 "HY000" ER_FOREIGN_KEY_ON_PARTITIONED
        "Foreign keys are not yet supported in conjunction with partitioning";
    1507 "HY000" ER_DROP_PARTITION_NON_EXISTENT
        "Error in list of partitions to %s";
    1508 "HY000" ER_DROP_LAST_PARTITION
        "Cannot remove all partitions, use DROP TABLE instead";
    1512 "HY000" ER_ONLY_ON_RANGE_LIST_PARTITION
        "%s PARTITION can only be used on RANGE/LIST partitions";
    1513 "HY000" ER_ADD_PARTITION_SUBPART_ERROR
        "Trying to Add partition(s) with wrong number of subpartitions";
    1514 "HY000" ER_ADD_PARTITION_NO_NEW_PARTITION
        "At least one partition must be added";
    1517 "HY000" ER_SAME_NAME_PARTITION
        "Duplicate partition name %s";
    1521 "HY000" ER_PARTITION_FUNCTION_FAILURE
        "Partition function not supported in this version for this handler";
    1523 "HY000" ER_LIMITED_PART_RANGE
        "The %s handler only supports 32 bit integers in VALUES";
    1524 "HY000" ER_PLUGIN_IS_NOT_LOADED
        "Plugin '%s' is not loaded";
    1525 "HY000" ER_WRONG_VALUE
        "Incorrect %s value: '%s'";
    1526 "HY000" ER_NO_PARTITION_FOR_GIVEN_VALUE
        "Table has no partition for value %s";
    1531 "HY000" ER_WRONG_SIZE_NUMBER
        "A size parameter was incorrectly specified, either number or on the form 10M";
    1532 "HY000" ER_SIZE_OVERFLOW_ERROR
        "The size number was correct but we don't allow the digit part to be more than 2 billion";
    1537 "HY000" ER_EVENT_ALREADY_EXISTS
        "Event '%s' already exists";
    1539 "HY000" ER_EVENT_DOES_NOT_EXIST
        "Unknown event '%s'";
    1542 "HY000" ER_EVENT_INTERVAL_NOT_POSITIVE_OR_TOO_BIG
        "INTERVAL is either not positive or too big";
    1543 "HY000" ER_EVENT_ENDS_BEFORE_STARTS
        "ENDS is either invalid or before STARTS";
    1544 "HY000" ER_EVENT_EXEC_TIME_IN_THE_PAST
        "Event execution time is in the past. Event has been disabled";
    1551 "HY000" ER_EVENT_SAME_NAME
        "Same old and new event name";
    1553 "HY000" ER_DROP_INDEX_FK
        "Cannot drop index '%s': needed in a foreign key constraint";
    1558 "HY000" ER_COL_COUNT_DOESNT_MATCH_PLEASE_UPDATE
        "The column count of mysql.%s is wrong. Expected %d, found %d. Created with MySQL %d, now running %d. \
         Please perform the MySQL upgrade procedure.";
    1562 "HY000" ER_PARTITION_NO_TEMPORARY
        "Cannot create temporary table with partitions";
    1563 "HY000" ER_PARTITION_CONST_DOMAIN_ERROR
        "Partition constant is out of partition function domain";
    1564 "HY000" ER_PARTITION_FUNCTION_IS_NOT_ALLOWED
        "This partition function is not allowed";
    1566 "HY000" ER_NULL_IN_VALUES_LESS_THAN
        "Not allowed to use NULL value in VALUES LESS THAN";
    1567 "HY000" ER_WRONG_PARTITION_NAME
        "Incorrect partition name";
    1568 "25001" ER_CANT_CHANGE_TX_CHARACTERISTICS
        "Transaction characteristics can't be changed while a transaction is in progress";
    1569 "HY000" ER_DUP_ENTRY_AUTOINCREMENT_CASE
        "ALTER TABLE causes auto_increment resequencing, resulting in duplicate entry '%s' for key '%s'";
    1571 "HY000" ER_EVENT_SET_VAR_ERROR
        "Error during starting/stopping of the scheduler. Error code %d";
    1575 "HY000" ER_BASE64_DECODE_ERROR
        "Decoding of base64 string failed";
    1576 "HY000" ER_EVENT_RECURSION_FORBIDDEN
        "Recursion of EVENT DDL statements is forbidden when body is present";
    1578 "HY000" ER_ONLY_INTEGERS_ALLOWED
        "Only integers allowed as number here";
    1580 "HY000" ER_BAD_LOG_STATEMENT
        "You cannot '%s' a log table if logging is enabled";
    1582 "42000" ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT
        "Incorrect parameter count in the call to native function '%s'";
    1583 "42000" ER_WRONG_PARAMETERS_TO_NATIVE_FCT
        "Incorrect parameters in the call to native function '%s'";
    1584 "42000" ER_WRONG_PARAMETERS_TO_STORED_FCT
        "Incorrect parameters in the call to stored function %s";
    1585 "HY000" ER_NATIVE_FCT_NAME_COLLISION
        "This function '%s' has the same name as a native function";
    1586 "23000" ER_DUP_ENTRY_WITH_KEY_NAME
        "Duplicate entry '%s' for key '%s'";
    1588 "HY000" ER_EVENT_CANNOT_CREATE_IN_THE_PAST
        "Event execution time is in the past and ON COMPLETION NOT PRESERVE is set. The event was dropped \
         immediately after creation.";
    1589 "HY000" ER_EVENT_CANNOT_ALTER_IN_THE_PAST
        "Event execution time is in the past and ON COMPLETION NOT PRESERVE is set. The event was not changed. \
         Specify a time in the future.";
    1591 "HY000" ER_NO_PARTITION_FOR_GIVEN_VALUE_SILENT
        "Table has no partition for some existing values";
    1599 "HY000" ER_VIEW_NO_CREATION_CTX
        "View `%s`.`%s` has no creation context";
    1600 "HY000" ER_VIEW_INVALID_CREATION_CTX
        "Creation context of view `%s`.`%s' is invalid";
    1602 "HY000" ER_TRG_CORRUPTED_FILE
        "Corrupted TRG file for table `%s`.`%s`";
    1603 "HY000" ER_TRG_NO_CREATION_CTX
        "Triggers for table `%s`.`%s` have no creation context";
    1604 "HY000" ER_TRG_INVALID_CREATION_CTX
        "Trigger creation context of table `%s`.`%s` is invalid";
    1605 "HY000" ER_EVENT_INVALID_CREATION_CTX
        "Creation context of event `%s`.`%s` is invalid";
    1606 "HY000" ER_TRG_CANT_OPEN_TABLE
        "Cannot open table for trigger `%s`.`%s`";
    1613 "XA106" ER_XA_RBTIMEOUT
        "XA_RBTIMEOUT: Transaction branch was rolled back: took too long";
    1614 "XA102" ER_XA_RBDEADLOCK
        "XA_RBDEADLOCK: Transaction branch was rolled back: deadlock was detected";
    1615 "HY000" ER_NEED_REPREPARE
        "Prepared statement needs to be re-prepared";
    1617 "HY000" WARN_NO_CONNECTION_METADATA
        "The connection metadata structure does not exist";
    1618 "HY000" WARN_OPTION_IGNORED
        "<%s> option ignored";
    1621 "HY000" ER_VARIABLE_IS_READONLY
        "%s variable '%s' is read-only. Use SET %s to assign the value";
    1622 "HY000" ER_WARN_ENGINE_TRANSACTION_ROLLBACK
        "Storage engine %s does not support rollback for this statement. Transaction rolled back and must be \
         restarted";
    1628 "HY000" ER_TOO_LONG_TABLE_COMMENT
        "Comment for table '%s' is too long (max = %d)";
    1629 "HY000" ER_TOO_LONG_FIELD_COMMENT
        "The maximum supported character limit for the field, '%s', has been exceeded (max = %d)";
    1630 "42000" ER_FUNC_INEXISTENT_NAME_COLLISION
        "FUNCTION %s does not exist. Check the 'Function Name Parsing and Resolution' section in the Reference \
         Manual";
    1631 "HY000" ER_DATABASE_NAME
        "Database";
    1632 "HY000" ER_TABLE_NAME
        "Table";
    1633 "HY000" ER_PARTITION_NAME
        "Partition";
    1635 "HY000" ER_TEMPORARY_NAME
        "Temporary";
    1636 "HY000" ER_RENAMED_NAME
        "Renamed";
    1637 "HY000" ER_TOO_MANY_CONCURRENT_TRXS
        "Too many active concurrent transactions";
    1638 "HY000" WARN_NON_ASCII_SEPARATOR_NOT_IMPLEMENTED
        "Non-ASCII separator arguments are not fully supported";
    1641 "42000" ER_DUP_SIGNAL_SET
        "Duplicate condition information item '%s'";
    1642 "01000" ER_SIGNAL_WARN
        "Unhandled user-defined warning condition";
    1643 "02000" ER_SIGNAL_NOT_FOUND
        "Unhandled user-defined not found condition";
    1644 "HY000" ER_SIGNAL_EXCEPTION
        "Unhandled user-defined exception condition";
    1645 "0K000" ER_RESIGNAL_WITHOUT_ACTIVE_HANDLER
        "RESIGNAL when handler not active";
    1646 "HY000" ER_SIGNAL_BAD_CONDITION_TYPE
        "SIGNAL/RESIGNAL can only use a CONDITION defined with SQLSTATE";
    1647 "HY000" WARN_COND_ITEM_TRUNCATED
        "Data truncated for condition item '%s'";
    1648 "HY000" ER_COND_ITEM_TOO_LONG
        "Data too long for condition item '%s'";
    1652 "HY000" ER_SAME_NAME_PARTITION_FIELD
        "Duplicate partition field name '%s'";
    1653 "HY000" ER_PARTITION_COLUMN_LIST_ERROR
        "Inconsistency in usage of column lists for partitioning";
    1654 "HY000" ER_WRONG_TYPE_COLUMN_VALUE_ERROR
        "Partition column values of incorrect type";
    1655 "HY000" ER_TOO_MANY_PARTITION_FUNC_FIELDS_ERROR
        "Too many fields in '%s'";
    1656 "HY000" ER_MAXVALUE_IN_VALUES_IN
        "Cannot use MAXVALUE as value in VALUES IN";
    1657 "HY000" ER_TOO_MANY_VALUES_ERROR
        "Cannot have more than one value for this type of %s partitioning";
    1658 "HY000" ER_ROW_SINGLE_PARTITION_FIELD_ERROR
        "Row expressions in VALUES IN only allowed for multi-field column partitioning";
    1659 "HY000" ER_FIELD_TYPE_NOT_ALLOWED_AS_PARTITION_FIELD
        "Field '%s' is of a not allowed type for this type of partitioning";
    1660 "HY000" ER_PARTITION_FIELDS_TOO_LONG
        "The total length of the partitioning fields is too large";
    1676 "HY000" ER_MESSAGE_AND_STATEMENT
        "%s Statement: %s";
    1680 "HY000" ER_PATH_LENGTH
        "The path specified for %s is too long.";
    1681 "HY000" ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT
        "'%s' is deprecated and will be removed in a future release.";
    1682 "HY000" ER_WRONG_NATIVE_TABLE_STRUCTURE
        "Native table '%s'.'%s' has the wrong structure";
    1688 "HY000" ER_TOO_LONG_INDEX_COMMENT
        "Comment for index '%s' is too long (max = %d)";
    1689 "HY000" ER_LOCK_ABORTED
        "Wait on a lock was aborted due to a pending exclusive lock";
    1690 "22003" ER_DATA_OUT_OF_RANGE
        "%s value is out of range in '%s'";
    1694 "HY000" ER_INSIDE_TRANSACTION_PREVENTS_SWITCH_SQL_LOG_BIN
        "Cannot modify @@session.sql_log_bin inside a transaction";
    1695 "HY000" ER_STORED_FUNCTION_PREVENTS_SWITCH_SQL_LOG_BIN
        "Cannot change the sql_log_bin inside a stored function or trigger";
    1696 "HY000" ER_FAILED_READ_FROM_PAR_FILE
        "Failed to read from the .par file";
    1697 "HY000" ER_VALUES_IS_NOT_INT_TYPE_ERROR
        "VALUES value for partition '%s' must have type INT";
    1698 "28000" ER_ACCESS_DENIED_NO_PASSWORD_ERROR
        "Access denied for user '%s'@'%s'";
    1701 "42000" ER_TRUNCATE_ILLEGAL_FK
        "Cannot truncate a table referenced in a foreign key constraint (%s)";
    1705 "HY000" ER_STMT_CACHE_FULL
        "Multi-row statements required more than 'max_binlog_stmt_cache_size' bytes of storage; increase this \
         mysqld variable and try again";
    1707 "HY000" ER_TABLE_NEEDS_REBUILD
        "Table rebuild required. Please do \"ALTER TABLE `%s` FORCE\" or dump/reload to fix it!";
    1708 "HY000" WARN_OPTION_BELOW_LIMIT
        "The value of '%s' should be no less than the value of '%s'";
    1709 "HY000" ER_INDEX_COLUMN_TOO_LONG
        "Index column size too large. The maximum column size is %d bytes.";
    1710 "HY000" ER_ERROR_IN_TRIGGER_BODY
        "Trigger '%s' has an error in its body: '%s'";
    1711 "HY000" ER_ERROR_IN_UNKNOWN_TRIGGER_BODY
        "Unknown trigger has an error in its body: '%s'";
    1712 "HY000" ER_INDEX_CORRUPT
        "Index %s is corrupted";
    1725 "HY000" ER_TABLE_IN_FK_CHECK
        "Table is being used in foreign key check.";
    1726 "HY000" ER_UNSUPPORTED_ENGINE
        "Storage engine '%s' does not support system tables. [%s.%s]";
    1728 "HY000" ER_CANNOT_LOAD_FROM_TABLE_V2
        "Cannot load from %s.%s. The table is probably corrupted";
    1735 "HY000" ER_UNKNOWN_PARTITION
        "Unknown partition '%s' in table '%s'";
    1736 "HY000" ER_TABLES_DIFFERENT_METADATA
        "Tables have different definitions";
    1737 "HY000" ER_ROW_DOES_NOT_MATCH_PARTITION
        "Found a row that does not match the partition";
    1739 "HY000" ER_WARN_INDEX_NOT_APPLICABLE
        "Cannot use %s access on index '%s' due to type or collation conversion on field '%s'";
    1746 "HY000" ER_CANT_UPDATE_TABLE_IN_CREATE_TABLE_SELECT
        "Can't update table '%s' while '%s' is being created.";
    1747 "HY000" ER_PARTITION_CLAUSE_ON_NONPARTITIONED
        "PARTITION () clause on non partitioned table";
    1748 "HY000" ER_ROW_DOES_NOT_MATCH_GIVEN_PARTITION_SET
        "Found a row not matching the given partition set";
    1751 "HY000" ER_WARNING_NOT_COMPLETE_ROLLBACK_WITH_CREATED_TEMP_TABLE
        "The creation of some temporary tables could not be rolled back.";
    1752 "HY000" ER_WARNING_NOT_COMPLETE_ROLLBACK_WITH_DROPPED_TEMP_TABLE
        "Some temporary tables were dropped, but these operations could not be rolled back.";
    1757 "HY000" ER_FULLTEXT_NOT_SUPPORTED_WITH_PARTITIONING
        "FULLTEXT index is not supported for partitioned tables.";
    1759 "HY000" ER_INSECURE_PLAIN_TEXT
        "Sending passwords in plain text without SSL/TLS is extremely insecure.";
    1761 "23000" ER_FOREIGN_DUPLICATE_KEY_WITH_CHILD_INFO
        "Foreign key constraint for table '%s', record '%s' would lead to a duplicate entry in table '%s', key '%s'";
    1762 "23000" ER_FOREIGN_DUPLICATE_KEY_WITHOUT_CHILD_INFO
        "Foreign key constraint for table '%s', record '%s' would lead to a duplicate entry in a child table";
    1765 "HY000" ER_VARIABLE_NOT_SETTABLE_IN_SF_OR_TRIGGER
        "The system variable %s cannot be set in stored functions or triggers.";
    1766 "HY000" ER_VARIABLE_NOT_SETTABLE_IN_TRANSACTION
        "The system variable %s cannot be set when there is an ongoing transaction.";
    1769 "HY000" ER_SET_STATEMENT_CANNOT_INVOKE_FUNCTION
        "The statement 'SET %s' cannot invoke a stored function.";
    1791 "HY000" ER_UNKNOWN_EXPLAIN_FORMAT
        "Unknown EXPLAIN format name: '%s'";
    1792 "25006" ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
        "Cannot execute statement in a READ ONLY transaction.";
    1793 "HY000" ER_TOO_LONG_TABLE_PARTITION_COMMENT
        "Comment for table partition '%s' is too long (max = %d)";
    1800 "HY000" ER_UNKNOWN_ALTER_ALGORITHM
        "Unknown ALGORITHM '%s'";
    1801 "HY000" ER_UNKNOWN_ALTER_LOCK
        "Unknown LOCK type '%s'";
    1805 "HY000" ER_COL_COUNT_DOESNT_MATCH_CORRUPTED_V2
        "Column count of %s.%s is wrong. Expected %d, found %d. The table is probably corrupted";
    1807 "HY000" ER_DISCARD_FK_CHECKS_RUNNING
        "There is a foreign key check running on table '%s'. Cannot discard the table.";
    1808 "HY000" ER_TABLE_SCHEMA_MISMATCH
        "Schema mismatch (%s)";
    1810 "HY000" ER_IO_READ_ERROR
        "IO Read error: (%d, %s) %s";
    1811 "HY000" ER_IO_WRITE_ERROR
        "IO Write error: (%d, %s) %s";
    1815 "HY000" ER_INTERNAL_ERROR
        "Internal error: %s";
    1818 "HY000" ER_INVALID_YEAR_COLUMN_LENGTH
        "Invalid display width. Use YEAR instead.";
    1819 "HY000" ER_NOT_VALID_PASSWORD
        "Your password does not satisfy the current policy requirements";
    1820 "HY000" ER_MUST_CHANGE_PASSWORD
        "You must reset your password using ALTER USER statement before executing this statement.";
    1821 "HY000" ER_FK_NO_INDEX_CHILD
        "Failed to add the foreign key constraint. Missing index for constraint '%s' in the foreign table '%s'";
    1822 "HY000" ER_FK_NO_INDEX_PARENT
        "Failed to add the foreign key constraint. Missing index for constraint '%s' in the referenced table '%s'";
    1823 "HY000" ER_FK_FAIL_ADD_SYSTEM
        "Failed to add the foreign key constraint '%s' to system tables";
    1824 "HY000" ER_FK_CANNOT_OPEN_PARENT
        "Failed to open the referenced table '%s'";
    1825 "HY000" ER_FK_INCORRECT_OPTION
        "Failed to add the foreign key constraint on table '%s'. Incorrect options in FOREIGN KEY constraint '%s'";
    1826 "HY000" ER_FK_DUP_NAME
        "Duplicate foreign key constraint name '%s'";
    1827 "HY000" ER_PASSWORD_FORMAT
        "The password hash doesn't have the expected format.";
    1828 "HY000" ER_FK_COLUMN_CANNOT_DROP
        "Cannot drop column '%s': needed in a foreign key constraint '%s'";
    1829 "HY000" ER_FK_COLUMN_CANNOT_DROP_CHILD
        "Cannot drop column '%s': needed in a foreign key constraint '%s' of table '%s'";
    1830 "HY000" ER_FK_COLUMN_NOT_NULL
        "Column '%s' cannot be NOT NULL: needed in a foreign key constraint '%s' SET NULL";
    1831 "HY000" ER_DUP_INDEX
        "Duplicate index '%s' defined on the table '%s.%s'. This is deprecated and will be disallowed in a future \
         release.";
    1832 "HY000" ER_FK_COLUMN_CANNOT_CHANGE
        "Cannot change column '%s': used in a foreign key constraint '%s'";
    1833 "HY000" ER_FK_COLUMN_CANNOT_CHANGE_CHILD
        "Cannot change column '%s': used in a foreign key constraint '%s' of table '%s'";
    1835 "HY000" ER_MALFORMED_PACKET
        "Malformed communication packet.";
    1836 "HY000" ER_READ_ONLY_MODE
        "Running in read-only mode";
    1838 "HY000" ER_VARIABLE_NOT_SETTABLE_IN_SP
        "The system variable %s cannot be set in stored procedures.";
    1845 "0A000" ER_ALTER_OPERATION_NOT_SUPPORTED
        "%s is not supported for this operation. Try %s.";
    1846 "0A000" ER_ALTER_OPERATION_NOT_SUPPORTED_REASON
        "%s is not supported. Reason: %s. Try %s.";
    1847 "HY000" ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_COPY
        "COPY algorithm requires a lock";
    1848 "HY000" ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_PARTITION
        "Partition specific operations do not yet support LOCK/ALGORITHM";
    1849 "HY000" ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_FK_RENAME
        "Columns participating in a foreign key are renamed";
    1850 "HY000" ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_COLUMN_TYPE
        "Cannot change column type INPLACE";
    1851 "HY000" ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_FK_CHECK
        "Adding foreign keys needs foreign_key_checks=OFF";
    1853 "HY000" ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_NOPK
        "Dropping a primary key is not allowed without also adding a new primary key";
    1854 "HY000" ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_AUTOINC
        "Adding an auto-increment column requires a lock";
    1859 "23000" ER_DUP_UNKNOWN_IN_INDEX
        "Duplicate entry for key '%s'";
    1860 "HY000" ER_IDENT_CAUSES_TOO_LONG_PATH
        "Long database name and identifier for object resulted in path length exceeding %d characters. Path: '%s'.";
    1861 "HY000" ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_NOT_NULL
        "cannot silently convert NULL values, as required in this SQL_MODE";
    1862 "HY000" ER_MUST_CHANGE_PASSWORD_LOGIN
        "Your password has expired. To log in you must change it using a client that supports expired passwords.";
    1863 "HY000" ER_ROW_IN_WRONG_PARTITION
        "Found a row in wrong partition %s";
    1873 "28000" ER_ACCESS_DENIED_CHANGE_USER_ERROR
        "Access denied trying to change to user '%s'@'%s' (using password: %s). Disconnecting.";
    1877 "HY000" ER_TABLE_CORRUPT
        "Operation cannot be performed. The table '%s.%s' is missing, corrupt or contains bad data.";
    1878 "HY000" ER_TEMP_FILE_WRITE_FAILURE
        "Temporary file write failure.";
    1886 "HY000" ER_MISSING_KEY
        "The table '%s.%s' does not have the necessary key(s) defined on it. Please check the table definition and \
         create index(s) accordingly.";
}

/// What is said of a number that has no entry: the entry of `ER_UNKNOWN_ERROR`.
pub(crate) static UNKNOWN: ErrorInfo =
    ErrorInfo { number: 1105, sqlstate: "HY000", name: "ER_UNKNOWN_ERROR", format: "Unknown error" };
