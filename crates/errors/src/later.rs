//! Errors 3000 to 4999: what came with MySQL 5.7, 8 and 9.
//!
//! One entry: the number, its SQLSTATE, its name, its text. In ascending order of numbers: the lookup is a binary
//! search, and a test looks. Numbers, names and states are those that a MySQL 9.7 server reports about itself;
//! `%s` stands for text, `%d` for a number.

use crate::{ErrorCode, ErrorInfo, errors};

errors! {
    3000 "HY000" ER_FILE_CORRUPT
        "File %s is corrupted";
    3003 "HY000" ER_STORAGE_ENGINE_NOT_LOADED
        "Storage engine for table '%s'.'%s' is not loaded.";
    3007 "HY000" ER_CANNOT_DISCARD_TEMPORARY_TABLE
        "Cannot DISCARD/IMPORT tablespace associated with temporary table";
    3008 "HY000" ER_FK_DEPTH_EXCEEDED
        "Foreign key cascade delete/update exceeds max depth of %d.";
    3009 "HY000" ER_COL_COUNT_DOESNT_MATCH_PLEASE_UPDATE_V2
        "The column count of %s.%s is wrong. Expected %d, found %d. Created with MySQL %d, now running %d. Please \
         perform the MySQL upgrade procedure.";
    3010 "HY000" ER_WARN_TRIGGER_DOESNT_HAVE_CREATED
        "Trigger %s.%s.%s does not have CREATED attribute.";
    3011 "HY000" ER_REFERENCED_TRG_DOES_NOT_EXIST
        "Referenced trigger '%s' for the given action time and event type does not exist.";
    3012 "HY000" ER_EXPLAIN_NOT_SUPPORTED
        "EXPLAIN FOR CONNECTION command is supported only for SELECT/UPDATE/INSERT/DELETE/REPLACE";
    3013 "HY000" ER_INVALID_FIELD_SIZE
        "Invalid size for column '%s'.";
    3015 "HY000" ER_ENGINE_OUT_OF_MEMORY
        "Out of memory in storage engine '%s'.";
    3020 "2201E" ER_INVALID_ARGUMENT_FOR_LOGARITHM
        "Invalid argument for logarithm";
    3022 "HY000" ER_WARN_OPEN_TEMP_TABLES_MUST_BE_ZERO
        "This operation may not be safe when the replica has temporary tables. The tables will be kept open until \
         the server restarts or until the tables are deleted by any replicated DROP statement. Suggest to wait \
         until replica_open_temp_tables = 0.";
    3024 "HY000" ER_QUERY_TIMEOUT
        "Query execution was interrupted, maximum statement execution time exceeded";
    3025 "HY000" ER_NON_RO_SELECT_DISABLE_TIMER
        "Select is not a read only statement, disabling timer";
    3026 "HY000" ER_DUP_LIST_ENTRY
        "Duplicate entry '%s'.";
    3028 "HY000" ER_AGGREGATE_ORDER_FOR_UNION
        "Expression #%d of ORDER BY contains aggregate function and applies to a UNION, EXCEPT or INTERSECT";
    3029 "HY000" ER_AGGREGATE_ORDER_NON_AGG_QUERY
        "Expression #%d of ORDER BY contains aggregate function and applies to the result of a non-aggregated query";
    3057 "42000" ER_USER_LOCK_WRONG_NAME
        "Incorrect user-level lock name '%s'. The name is empty, NULL, or can not be expressed in the current \
         character-set.";
    3058 "HY000" ER_USER_LOCK_DEADLOCK
        "Deadlock found when trying to get user-level lock; try rolling back transaction/releasing locks and \
         restarting lock acquisition.";
    3059 "HY000" ER_REPLACE_INACCESSIBLE_ROWS
        "REPLACE cannot be executed as it requires deleting rows that are not in the view";
    3061 "42000" ER_ILLEGAL_USER_VAR
        "User variable name '%s' is illegal";
    3064 "HY000" ER_INCORRECT_TYPE
        "Incorrect type for argument %s in function %s.";
    3065 "HY000" ER_FIELD_IN_ORDER_NOT_SELECT
        "Expression #%d of ORDER BY clause is not in SELECT list, references column '%s' which is not in SELECT \
         list; this is incompatible with %s";
    3066 "HY000" ER_AGGREGATE_IN_ORDER_NOT_SELECT
        "Expression #%d of ORDER BY clause is not in SELECT list, contains aggregate function; this is incompatible \
         with %s";
    3068 "08S01" ER_NET_OK_PACKET_TOO_LARGE
        "OK packet too large";
    3069 "HY000" ER_INVALID_JSON_DATA
        "Invalid JSON data provided to function %s: %s";
    3073 "HY000" ER_DIMENSION_UNSUPPORTED
        "Unsupported number of coordinate dimensions in function %s: Found %d, expected %d";
    3087 "HY000" ER_WRONG_FIELD_WITH_GROUP_V2
        "Expression #%d of %s is not in GROUP BY clause and contains nonaggregated column '%s' which is not \
         functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by";
    3088 "HY000" ER_MIX_OF_GROUP_FUNC_AND_FIELDS_V2
        "In aggregated query without GROUP BY, expression #%d of %s contains nonaggregated column '%s'; this is \
         incompatible with sql_mode=only_full_group_by";
    3098 "HY000" ER_BEFORE_DML_VALIDATION_ERROR
        "The table does not comply with the requirements by an external plugin.";
    3100 "HY000" ER_RUN_HOOK_ERROR
        "Error on observer while running replication hook '%s'.";
    3101 "40000" ER_TRANSACTION_ROLLBACK_DURING_COMMIT
        "Plugin instructed the server to rollback the current transaction.";
    3102 "HY000" ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED
        "Expression of generated column '%s' contains a disallowed function.";
    3103 "HY000" ER_UNSUPPORTED_ALTER_INPLACE_ON_VIRTUAL_COLUMN
        "INPLACE ADD or DROP of virtual columns cannot be combined with other ALTER TABLE actions";
    3104 "HY000" ER_WRONG_FK_OPTION_FOR_GENERATED_COLUMN
        "Cannot define foreign key with %s clause on a generated column.";
    3105 "HY000" ER_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN
        "The value specified for generated column '%s' in table '%s' is not allowed.";
    3106 "HY000" ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN
        "'%s' is not supported for generated columns.";
    3107 "HY000" ER_GENERATED_COLUMN_NON_PRIOR
        "Generated column can refer only to generated columns defined prior to it.";
    3108 "HY000" ER_DEPENDENT_BY_GENERATED_COLUMN
        "Column '%s' has a generated column dependency.";
    3109 "HY000" ER_GENERATED_COLUMN_REF_AUTO_INC
        "Generated column '%s' cannot refer to auto-increment column.";
    3110 "HY000" ER_FEATURE_NOT_AVAILABLE
        "The '%s' feature is not available; you need to remove '%s' or use MySQL built with '%s'";
    3118 "HY000" ER_ACCOUNT_HAS_BEEN_LOCKED
        "Access denied for user '%s'@'%s'. Account is locked.";
    3121 "HY000" ER_WRONG_FILE_NAME
        "Incorrect File Name '%s'.";
    3123 "HY000" ER_WARN_OPTIMIZER_HINT_SYNTAX_ERROR
        "Optimizer hint syntax error";
    3124 "HY000" ER_WARN_BAD_MAX_EXECUTION_TIME
        "Unsupported MAX_EXECUTION_TIME";
    3125 "HY000" ER_WARN_UNSUPPORTED_MAX_EXECUTION_TIME
        "MAX_EXECUTION_TIME hint is supported by top-level standalone SELECT statements only";
    3126 "HY000" ER_WARN_CONFLICTING_HINT
        "Hint %s is ignored as conflicting/duplicated";
    3127 "HY000" ER_WARN_UNKNOWN_QB_NAME
        "Query block name %s is not found for %s hint";
    3128 "HY000" ER_UNRESOLVED_HINT_NAME
        "Unresolved name %s for %s hint";
    3135 "HY000" ER_SQL_MODE_MERGED
        "'NO_ZERO_DATE', 'NO_ZERO_IN_DATE' and 'ERROR_FOR_DIVISION_BY_ZERO' sql modes should be used with strict \
         mode. They will be merged with strict mode in a future release.";
    3140 "22032" ER_INVALID_JSON_TEXT
        "Invalid JSON text: \"%s\" at position %d in value for column '%s'.";
    3141 "22032" ER_INVALID_JSON_TEXT_IN_PARAM
        "Invalid JSON text in argument %d to function %s: \"%s\" at position %d.%s";
    3142 "HY000" ER_INVALID_JSON_BINARY_DATA
        "The JSON binary value contains invalid data.";
    3143 "42000" ER_INVALID_JSON_PATH
        "Invalid JSON path expression. The error is around character position %d.%s";
    3144 "22032" ER_INVALID_JSON_CHARSET
        "Cannot create a JSON value from a string with CHARACTER SET '%s'.";
    3145 "22032" ER_INVALID_JSON_CHARSET_IN_FUNCTION
        "Invalid JSON character data provided to function %s: '%s'; utf8 is required.";
    3146 "22032" ER_INVALID_TYPE_FOR_JSON
        "Invalid data type for JSON data in argument %d to function %s; a JSON string or JSON type is required.";
    3147 "22032" ER_INVALID_CAST_TO_JSON
        "Cannot CAST value to JSON.";
    3148 "42000" ER_INVALID_JSON_PATH_CHARSET
        "A path expression must be encoded in the utf8 character set. The path expression '%s' is encoded in \
         character set '%s'.";
    3149 "42000" ER_INVALID_JSON_PATH_WILDCARD
        "In this situation, path expressions may not contain the * and ** tokens or an array range.";
    3150 "22032" ER_JSON_VALUE_TOO_BIG
        "The JSON value is too big to be stored in a JSON column.";
    3151 "22032" ER_JSON_KEY_TOO_BIG
        "The JSON object contains a key name that is too long.";
    3152 "42000" ER_JSON_USED_AS_KEY
        "JSON column '%s' supports indexing only via generated columns on a specified JSON path.";
    3153 "42000" ER_JSON_VACUOUS_PATH
        "The path expression '$' is not allowed in this context.";
    3154 "42000" ER_JSON_BAD_ONE_OR_ALL_ARG
        "The oneOrAll argument to %s may take these values: 'one' or 'all'.";
    3155 "22003" ER_NUMERIC_JSON_VALUE_OUT_OF_RANGE
        "Out of range JSON value for CAST to %s%s from column %s at row %d";
    3156 "22018" ER_INVALID_JSON_VALUE_FOR_CAST
        "Invalid JSON value for CAST to %s%s from column %s at row %d";
    3157 "22032" ER_JSON_DOCUMENT_TOO_DEEP
        "The JSON document exceeds the maximum depth.";
    3158 "22032" ER_JSON_DOCUMENT_NULL_KEY
        "JSON documents may not contain NULL member names.";
    3159 "HY000" ER_SECURE_TRANSPORT_REQUIRED
        "Connections using insecure transport are prohibited while --require_secure_transport=ON.";
    3160 "HY000" ER_NO_SECURE_TRANSPORTS_CONFIGURED
        "No secure transports (SSL or Shared Memory) are configured, unable to set --require_secure_transport=ON.";
    3161 "HY000" ER_DISABLED_STORAGE_ENGINE
        "Storage engine %s is disabled (Table creation is disallowed).";
    3162 "HY000" ER_USER_DOES_NOT_EXIST
        "Authorization ID %s does not exist.";
    3163 "HY000" ER_USER_ALREADY_EXISTS
        "Authorization ID %s already exists.";
    3165 "42000" ER_INVALID_JSON_PATH_ARRAY_CELL
        "A path expression is not a path to a cell in an array.";
    3167 "HY000" ER_FEATURE_DISABLED_SEE_DOC
        "The '%s' feature is disabled; see the documentation for '%s'";
    3168 "HY000" ER_SERVER_ISNT_AVAILABLE
        "Server isn't available";
    3169 "HY000" ER_SESSION_WAS_KILLED
        "Session was killed";
    3170 "HY000" ER_CAPACITY_EXCEEDED
        "Memory capacity of %d bytes for '%s' exceeded. %s";
    3171 "HY000" ER_CAPACITY_EXCEEDED_IN_RANGE_OPTIMIZER
        "Range optimization was not done for this query.";
    3174 "HY000" ER_CANNOT_ADD_FOREIGN_BASE_COL_VIRTUAL
        "Cannot add foreign key on the base column of indexed virtual column.";
    3175 "HY000" ER_CANNOT_CREATE_VIRTUAL_INDEX_CONSTRAINT
        "Cannot create index on virtual column whose base column has foreign constraint.";
    3177 "HY000" ER_LOCK_REFUSED_BY_ENGINE
        "Lock acquisition refused by storage engine.";
    3178 "HY000" ER_UNSUPPORTED_ALTER_ONLINE_ON_VIRTUAL_COLUMN
        "ADD COLUMN col...VIRTUAL, ADD INDEX(col)";
    3185 "HY000" ER_CANNOT_FIND_KEY_IN_KEYRING
        "Can't find master key from keyring, please check in the server log if a keyring is loaded and initialized \
         successfully.";
    3186 "HY000" ER_CAPACITY_EXCEEDED_IN_PARSER
        "Parser bailed out for this query.";
    3189 "HY000" ER_USER_COLUMN_OLD_LENGTH
        "It seems that your db schema is old. The %s column is 77 characters long and should be 93 characters long. \
         Please perform the MySQL upgrade procedure.";
    3192 "HY000" ER_CANNOT_ADD_FOREIGN_BASE_COL_STORED
        "Cannot add foreign key on the base column of stored column. ";
    3193 "HY000" ER_TABLE_REFERENCED
        "Cannot complete the operation because table is referenced by another connection.";
    3197 "HY000" ER_XA_RETRY
        "The resource manager is not able to commit the transaction branch at this time. Please retry later.";
    3231 "HY000" ER_WRITE_SET_EXCEEDS_LIMIT
        "The size of writeset data for the current transaction exceeds a limit imposed by an external component. If \
         using Group Replication check 'group_replication_transaction_size_limit'.";
    3500 "HY000" ER_UNSUPPORT_COMPRESSED_TEMPORARY_TABLE
        "CREATE TEMPORARY TABLE is not allowed with ROW_FORMAT=COMPRESSED or KEY_BLOCK_SIZE.";
    3502 "HY000" ER_UNSUPPORTED_INDEX_ALGORITHM
        "This storage engine does not support the %s index algorithm, storage engine default was used instead.";
    3503 "42Y07" ER_NO_SUCH_DB
        "Database '%s' doesn't exist";
    3504 "HY000" ER_TOO_BIG_ENUM
        "Too many enumeration values for column %s.";
    3505 "HY000" ER_TOO_LONG_SET_ENUM_VALUE
        "Too long enumeration/set value for column %s.";
    3511 "HY000" ER_TOO_LONG_ROUTINE_COMMENT
        "Comment for routine '%s' is too long (max = %d)";
    3512 "HY000" ER_SP_LOAD_FAILED
        "Failed to load routine '%s'.";
    3513 "HY000" ER_INVALID_BITWISE_OPERANDS_SIZE
        "Binary operands of bitwise operators must be of equal length";
    3514 "HY000" ER_INVALID_BITWISE_AGGREGATE_OPERANDS_SIZE
        "Aggregate bitwise functions cannot accept arguments longer than 511 bytes; consider using the SUBSTRING() \
         function";
    3515 "HY000" ER_WARN_UNSUPPORTED_HINT
        "Hints aren't supported in %s";
    3522 "HY000" ER_PK_INDEX_CANT_BE_INVISIBLE
        "A primary key index cannot be invisible";
    3523 "HY000" ER_UNKNOWN_AUTHID
        "Unknown authorization ID `%s`@`%s`";
    3524 "HY000" ER_FAILED_ROLE_GRANT
        "Failed to grant %s` to %s";
    3525 "HY000" ER_OPEN_ROLE_TABLES
        "Failed to open the security system tables";
    3526 "HY000" ER_FAILED_DEFAULT_ROLES
        "Failed to set default roles";
    3530 "HY000" ER_ROLE_NOT_GRANTED
        "`%s`@`%s` is not granted to `%s`@`%s`";
    3531 "HY000" ER_FAILED_REVOKE_ROLE
        "Could not revoke role from `%s`@`%s`";
    3532 "HY000" ER_RENAME_ROLE
        "Renaming of a role identifier is forbidden";
    3542 "HY000" ER_WARN_UNLOAD_THE_NOT_PERSISTED
        "The Persistent Dynamic Loader was used to unload a component '%s', but it was not used to load that \
         component before.";
    3547 "HY000" ER_CANNOT_LOCK_USER_MANAGEMENT_CACHES
        "Can not lock user management caches for processing.";
    3549 "HY000" ER_VARIABLE_NOT_PERSISTED
        "Variables cannot be persisted. Please retry.";
    3550 "HY000" ER_IS_QUERY_INVALID_CLAUSE
        "Information schema queries do not support the '%s' clause.";
    3551 "HY000" ER_UNABLE_TO_STORE_STATISTICS
        "Unable to store dynamic %s statistics into data dictionary.";
    3554 "HY000" ER_NO_SYSTEM_TABLE_ACCESS
        "Access to %s '%s.%s' is rejected.";
    3555 "HY000" ER_NO_SYSTEM_TABLE_ACCESS_FOR_DICTIONARY_TABLE
        "data dictionary table";
    3556 "HY000" ER_NO_SYSTEM_TABLE_ACCESS_FOR_SYSTEM_TABLE
        "system table";
    3557 "HY000" ER_NO_SYSTEM_TABLE_ACCESS_FOR_TABLE
        "table";
    3558 "22023" ER_INVALID_OPTION_KEY
        "Invalid option key '%s' in function %s.";
    3559 "22023" ER_INVALID_OPTION_VALUE
        "Invalid value '%s' for option '%s' in function '%s'.";
    3560 "22023" ER_INVALID_OPTION_KEY_VALUE_PAIR
        "The string '%s' is not a valid key %s value pair in function %s.";
    3561 "22023" ER_INVALID_OPTION_START_CHARACTER
        "The options argument in function %s starts with the invalid character '%s'.";
    3562 "22023" ER_INVALID_OPTION_END_CHARACTER
        "The options argument in function %s ends with the invalid character '%s'.";
    3563 "22023" ER_INVALID_OPTION_CHARACTERS
        "The options argument in function %s contains the invalid character sequence '%s'.";
    3564 "22023" ER_DUPLICATE_OPTION_KEY
        "Duplicate option key '%s' in funtion '%s'.";
    3566 "HY000" ER_NO_ACCESS_TO_NATIVE_FCT
        "Access to native function '%s' is rejected.";
    3568 "HY000" ER_UNRESOLVED_TABLE_LOCK
        "Unresolved table name %s in locking clause.";
    3569 "HY000" ER_DUPLICATE_TABLE_LOCK
        "Table %s appears in multiple locking clauses.";
    3572 "HY000" ER_LOCK_NOWAIT
        "Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.";
    3573 "HY000" ER_CTE_RECURSIVE_REQUIRES_UNION
        "Recursive Common Table Expression '%s' should contain a UNION";
    3574 "HY000" ER_CTE_RECURSIVE_REQUIRES_NONRECURSIVE_FIRST
        "Recursive Common Table Expression '%s' should have one or more non-recursive query blocks followed by one \
         or more recursive ones";
    3575 "HY000" ER_CTE_RECURSIVE_FORBIDS_AGGREGATION
        "Recursive Common Table Expression '%s' can contain neither aggregation nor window functions in recursive \
         query block";
    3576 "HY000" ER_CTE_RECURSIVE_FORBIDDEN_JOIN_ORDER
        "In recursive query block of Recursive Common Table Expression '%s', the recursive table must neither be in \
         the right argument of a LEFT JOIN, nor be forced to be non-first with join order hints";
    3577 "HY000" ER_CTE_RECURSIVE_REQUIRES_SINGLE_REFERENCE
        "In recursive query block of Recursive Common Table Expression '%s', the recursive table must be referenced \
         only once, and not in any subquery";
    3578 "HY000" ER_SWITCH_TMP_ENGINE
        "'%s' requires @@internal_tmp_disk_storage_engine=InnoDB";
    3579 "HY000" ER_WINDOW_NO_SUCH_WINDOW
        "Window name '%s' is not defined.";
    3580 "HY000" ER_WINDOW_CIRCULARITY_IN_WINDOW_GRAPH
        "There is a circularity in the window dependency graph.";
    3581 "HY000" ER_WINDOW_NO_CHILD_PARTITIONING
        "A window which depends on another cannot define partitioning.";
    3582 "HY000" ER_WINDOW_NO_INHERIT_FRAME
        "Window '%s' has a frame definition, so cannot be referenced by another window.";
    3583 "HY000" ER_WINDOW_NO_REDEFINE_ORDER_BY
        "Window '%s' cannot inherit '%s' since both contain an ORDER BY clause.";
    3584 "HY000" ER_WINDOW_FRAME_START_ILLEGAL
        "Window '%s': frame start cannot be UNBOUNDED FOLLOWING.";
    3585 "HY000" ER_WINDOW_FRAME_END_ILLEGAL
        "Window '%s': frame end cannot be UNBOUNDED PRECEDING.";
    3586 "HY000" ER_WINDOW_FRAME_ILLEGAL
        "Window '%s': frame start or end is negative, NULL or of non-integral type";
    3587 "HY000" ER_WINDOW_RANGE_FRAME_ORDER_TYPE
        "Window '%s' with RANGE N PRECEDING/FOLLOWING frame requires exactly one deterministic ORDER BY expression, \
         of numeric or temporal type";
    3588 "HY000" ER_WINDOW_RANGE_FRAME_TEMPORAL_TYPE
        "Window '%s' with RANGE frame has ORDER BY expression of datetime type. Only INTERVAL bound value allowed.";
    3589 "HY000" ER_WINDOW_RANGE_FRAME_NUMERIC_TYPE
        "Window '%s' with RANGE frame has ORDER BY expression of numeric type, INTERVAL bound value not allowed.";
    3590 "HY000" ER_WINDOW_RANGE_BOUND_NOT_CONSTANT
        "Window '%s' has a non-constant frame bound.";
    3591 "HY000" ER_WINDOW_DUPLICATE_NAME
        "Window '%s' is defined twice.";
    3592 "HY000" ER_WINDOW_ILLEGAL_ORDER_BY
        "Window '%s': ORDER BY or PARTITION BY uses legacy position indication which is not supported, use \
         expression.";
    3593 "HY000" ER_WINDOW_INVALID_WINDOW_FUNC_USE
        "You cannot use the window function '%s' in this context.'";
    3594 "HY000" ER_WINDOW_INVALID_WINDOW_FUNC_ALIAS_USE
        "You cannot use the alias '%s' of an expression containing a window function in this context.'";
    3595 "HY000" ER_WINDOW_NESTED_WINDOW_FUNC_USE_IN_WINDOW_SPEC
        "You cannot nest a window function in the specification of window '%s'.";
    3596 "HY000" ER_WINDOW_ROWS_INTERVAL_USE
        "Window '%s': INTERVAL can only be used with RANGE frames.";
    3598 "HY000" ER_WINDOW_EXPLAIN_JSON
        "To get information about window functions use EXPLAIN FORMAT=JSON";
    3599 "HY000" ER_WINDOW_FUNCTION_IGNORES_FRAME
        "Window function '%s' ignores the frame clause of window '%s' and aggregates over the whole partition";
    3601 "HY000" ER_INVALID_NO_OF_ARGS
        "Too many arguments for function %s: %d; maximum allowed is %s.";
    3602 "HY000" ER_FIELD_IN_GROUPING_NOT_GROUP_BY
        "Argument #%d of GROUPING function is not in GROUP BY";
    3604 "HY000" ER_ENGINE_CANT_DROP_TABLE
        "Storage engine can't drop table '%s'";
    3605 "HY000" ER_ENGINE_CANT_DROP_MISSING_TABLE
        "Storage engine can't drop table '%s' because it is missing. Use DROP TABLE IF EXISTS to remove it from \
         data-dictionary.";
    3607 "HY000" ER_DB_DROP_RMDIR2
        "Problem while dropping database. Can't remove database directory (%s). Please remove it manually.";
    3614 "HY000" ER_WARN_INVALID_HINT
        "Invalid number of arguments for hint %s";
    3615 "HY000" ER_VAR_DOES_NOT_EXIST
        "Variable %s does not exist in persisted config file";
    3619 "HY000" ER_ILLEGAL_PRIVILEGE_LEVEL
        "Illegal privilege level specified for %s";
    3620 "HY000" ER_NO_SYSTEM_VIEW_ACCESS
        "Access to system view INFORMATION_SCHEMA.'%s' is rejected.";
    3622 "HY000" ER_PART_EXPR_TOO_LONG
        "Partitioning expression is too long.";
    3627 "HY000" ER_UNABLE_TO_BUILD_HISTOGRAM
        "Unable to build histogram statistics for column '%s' in table '%s'.'%s'";
    3628 "HY000" ER_MANDATORY_ROLE
        "The role %s is a mandatory role and can't be revoked or dropped. The restriction can be lifted by \
         excluding the role identifier from the global variable mandatory_roles.";
    3630 "42000" ER_PERSIST_ONLY_ACCESS_DENIED_ERROR
        "Access denied; you need %s privileges for this operation";
    3632 "HY000" ER_PATH_IN_DATADIR
        "Path is within the current data directory '%s'";
    3635 "HY000" ER_APPLIER_LOG_EVENT_VALIDATION_ERROR
        "The table in transaction %s does not comply with the requirements by an external plugin.";
    3636 "HY000" ER_CTE_MAX_RECURSION_DEPTH
        "Recursive query aborted after %d iterations. Try increasing @@cte_max_recursion_depth to a larger value.";
    3637 "HY000" ER_NOT_HINT_UPDATABLE_VARIABLE
        "Variable %s cannot be set using SET_VAR hint.";
    3640 "HY000" ER_CLIENT_DOES_NOT_SUPPORT
        "The client doesn't support %s";
    3648 "HY000" ER_COULD_NOT_APPLY_JSON_DIFF
        "Could not apply JSON diff in table %s, column %s.";
    3649 "HY000" ER_CORRUPTED_JSON_DIFF
        "Corrupted JSON diff for table %s, column %s.";
    3655 "HY000" ER_DISALLOWED_OPERATION
        "%s operation is disallowed on %s";
    3658 "HY000" ER_FEATURE_UNSUPPORTED
        "Feature %s is unsupported (%s).";
    3662 "HY000" ER_INVALID_USE_OF_FORCE_OPTION
        "Option FORCE invalid as DISABLE option is not specified.";
    3665 "22035" ER_MISSING_JSON_TABLE_VALUE
        "Missing value for JSON_TABLE column '%s'";
    3666 "2203F" ER_WRONG_JSON_TABLE_VALUE
        "Can't store an array or an object in the scalar JSON_TABLE column '%s'";
    3667 "42000" ER_TF_MUST_HAVE_ALIAS
        "Every table function must have an alias";
    3668 "HY000" ER_TF_FORBIDDEN_JOIN_TYPE
        "INNER or LEFT JOIN must be used for LATERAL references made by '%s'";
    3669 "22003" ER_JT_VALUE_OUT_OF_RANGE
        "Value is out of range for JSON_TABLE's column '%s'";
    3670 "42000" ER_JT_MAX_NESTED_PATH
        "More than supported %d NESTED PATHs were found in JSON_TABLE '%s'";
    3671 "HY000" ER_PASSWORD_EXPIRATION_NOT_SUPPORTED_BY_AUTH_METHOD
        "The selected authentication method %s does not support password expiration";
    3673 "23000" ER_BAD_NULL_ERROR_NOT_IGNORED
        "Column '%s' cannot be null";
    3675 "HY000" ER_DISK_FULL_NOWAIT
        "Create table/tablespace '%s' failed, as disk is full";
    3676 "HY000" ER_PARSE_ERROR_IN_DIGEST_FN
        "Could not parse argument to digest function: \"%s\".";
    3677 "HY000" ER_UNDISCLOSED_PARSE_ERROR_IN_DIGEST_FN
        "Could not parse argument to digest function.";
    3684 "HY000" ER_REGEXP_BUFFER_OVERFLOW
        "The result string is larger than the result buffer.";
    3685 "HY000" ER_REGEXP_ILLEGAL_ARGUMENT
        "Illegal argument to a regular expression.";
    3686 "HY000" ER_REGEXP_INDEX_OUTOFBOUNDS_ERROR
        "Index out of bounds in regular expression search.";
    3687 "HY000" ER_REGEXP_INTERNAL_ERROR
        "Internal error in the regular expression library.";
    3688 "HY000" ER_REGEXP_RULE_SYNTAX
        "Syntax error in regular expression on line %d, character %d.";
    3689 "HY000" ER_REGEXP_BAD_ESCAPE_SEQUENCE
        "Unrecognized escape sequence in regular expression.";
    3690 "HY000" ER_REGEXP_UNIMPLEMENTED
        "The regular expression contains a feature that is not implemented in this library version.";
    3691 "HY000" ER_REGEXP_MISMATCHED_PAREN
        "Mismatched parenthesis in regular expression.";
    3692 "HY000" ER_REGEXP_BAD_INTERVAL
        "Incorrect description of a {min,max} interval.";
    3693 "HY000" ER_REGEXP_MAX_LT_MIN
        "The maximum is less than the minumum in a {min,max} interval.";
    3694 "HY000" ER_REGEXP_INVALID_BACK_REF
        "Invalid back-reference in regular expression.";
    3695 "HY000" ER_REGEXP_LOOK_BEHIND_LIMIT
        "The look-behind assertion exceeds the limit in regular expression.";
    3696 "HY000" ER_REGEXP_MISSING_CLOSE_BRACKET
        "The regular expression contains an unclosed bracket expression.";
    3697 "HY000" ER_REGEXP_INVALID_RANGE
        "The regular expression contains an [x-y] character range where x comes after y.";
    3698 "HY000" ER_REGEXP_STACK_OVERFLOW
        "Overflow in the regular expression backtrack stack.";
    3699 "HY000" ER_REGEXP_TIME_OUT
        "Timeout exceeded in regular expression match.";
    3700 "HY000" ER_REGEXP_PATTERN_TOO_BIG
        "The regular expression pattern exceeds limits on size or complexity.";
    3701 "HY000" ER_CANT_SET_ERROR_LOG_SERVICE
        "Value for %s got confusing at or around \"%s\". Syntax may be wrong, component may not be INSTALLed, or a \
         component that does not support instances may be listed more than once.";
    3702 "HY000" ER_EMPTY_PIPELINE_FOR_ERROR_LOG_SERVICE
        "Setting an empty %s pipeline disables error logging!";
    3707 "HY000" ER_RESTART_SERVER_FAILED
        "Restart server failed (%s).";
    3719 "HY000" ER_DEPRECATED_UTF8_ALIAS
        "'utf8' is currently an alias for the character set UTF8MB3, but will be an alias for UTF8MB4 in a future \
         release. Please consider using UTF8MB4 in order to be unambiguous.";
    3720 "HY000" ER_DEPRECATED_NATIONAL
        "NATIONAL/NCHAR/NVARCHAR implies the character set UTF8MB3, which will be replaced by UTF8MB4 in a future \
         release. Please consider using CHAR(x) CHARACTER SET UTF8MB4 in order to be unambiguous.";
    3721 "HY000" ER_INVALID_DEFAULT_UTF8MB4_COLLATION
        "Invalid default collation %s: utf8mb4_0900_ai_ci or utf8mb4_general_ci expected";
    3722 "HY000" ER_UNABLE_TO_COLLECT_LOG_STATUS
        "Unable to collect information for column '%s': %s.";
    3724 "HY000" ER_UNABLE_TO_SET_OPTION
        "This option cannot be set %s.";
    3730 "HY000" ER_FK_CANNOT_DROP_PARENT
        "Cannot drop table '%s' referenced by a foreign key constraint '%s' on table '%s'.";
    3733 "HY000" ER_FK_CANNOT_USE_VIRTUAL_COLUMN
        "Foreign key '%s' uses virtual column '%s' which is not supported.";
    3734 "HY000" ER_FK_NO_COLUMN_PARENT
        "Failed to add the foreign key constraint. Missing column '%s' for constraint '%s' in the referenced table \
         '%s'";
    3750 "HY000" ER_TABLE_WITHOUT_PK
        "Unable to create or change a table without a primary key, when the system variable \
         'sql_require_primary_key' is set. Add a primary key to the table or unset this variable to avoid this \
         message. Note that tables without a primary key can cause performance problems in row-based replication, \
         so please consult your DBA before changing this setting.";
    3751 "01000" ER_WARN_DATA_TRUNCATED_FUNCTIONAL_INDEX
        "Data truncated for functional index '%s' at row %d";
    3752 "22003" ER_WARN_DATA_OUT_OF_RANGE_FUNCTIONAL_INDEX
        "Value is out of range for functional index '%s' at row %d";
    3754 "HY000" ER_FUNCTIONAL_INDEX_REF_AUTO_INCREMENT
        "Functional index '%s' cannot refer to an auto-increment column.";
    3755 "HY000" ER_CANNOT_DROP_COLUMN_FUNCTIONAL_INDEX
        "Cannot drop column '%s' because it is used by a functional index. In order to drop the column, you must \
         remove the functional index.";
    3756 "HY000" ER_FUNCTIONAL_INDEX_PRIMARY_KEY
        "The primary key cannot be a functional index";
    3757 "HY000" ER_FUNCTIONAL_INDEX_ON_LOB
        "Cannot create a functional index on an expression that returns a BLOB or TEXT. Please consider using CAST.";
    3758 "HY000" ER_FUNCTIONAL_INDEX_FUNCTION_IS_NOT_ALLOWED
        "Expression of functional index '%s' contains a disallowed function.";
    3759 "HY000" ER_FULLTEXT_FUNCTIONAL_INDEX
        "Fulltext functional index is not supported.";
    3761 "HY000" ER_WRONG_KEY_COLUMN_FUNCTIONAL_INDEX
        "The used storage engine cannot index the expression '%s'.";
    3762 "HY000" ER_FUNCTIONAL_INDEX_ON_FIELD
        "Functional index on a column is not supported. Consider using a regular index instead.";
    3763 "HY000" ER_GENERATED_COLUMN_NAMED_FUNCTION_IS_NOT_ALLOWED
        "Expression of generated column '%s' contains a disallowed function: %s.";
    3764 "HY000" ER_GENERATED_COLUMN_ROW_VALUE
        "Expression of generated column '%s' cannot refer to a row value.";
    3765 "HY000" ER_GENERATED_COLUMN_VARIABLES
        "Expression of generated column '%s' cannot refer user or system variables.";
    3766 "HY000" ER_DEPENDENT_BY_DEFAULT_GENERATED_VALUE
        "Column '%s' of table '%s' has a default value expression dependency and cannot be dropped or renamed.";
    3767 "HY000" ER_DEFAULT_VAL_GENERATED_NON_PRIOR
        "Default value expression of column '%s' cannot refer to a column defined after it if that column is a \
         generated column or has an expression as default value.";
    3768 "HY000" ER_DEFAULT_VAL_GENERATED_REF_AUTO_INC
        "Default value expression of column '%s' cannot refer to an auto-increment column.";
    3769 "HY000" ER_DEFAULT_VAL_GENERATED_FUNCTION_IS_NOT_ALLOWED
        "Default value expression of column '%s' contains a disallowed function.";
    3770 "HY000" ER_DEFAULT_VAL_GENERATED_NAMED_FUNCTION_IS_NOT_ALLOWED
        "Default value expression of column '%s' contains a disallowed function: %s.";
    3771 "HY000" ER_DEFAULT_VAL_GENERATED_ROW_VALUE
        "Default value expression of column '%s' cannot refer to a row value.";
    3772 "HY000" ER_DEFAULT_VAL_GENERATED_VARIABLES
        "Default value expression of column '%s' cannot refer user or system variables.";
    3773 "HY000" ER_DEFAULT_AS_VAL_GENERATED
        "DEFAULT function cannot be used with default value expressions";
    3774 "HY000" ER_UNSUPPORTED_ACTION_ON_DEFAULT_VAL_GENERATED
        "'%s' is not supported for default value expressions.";
    3776 "HY000" ER_FK_CANNOT_CHANGE_ENGINE
        "Cannot change table's storage engine because the table participates in a foreign key constraint.";
    3778 "HY000" ER_WARN_DEPRECATED_UTF8MB3_COLLATION
        "'%s' is a collation of the deprecated character set UTF8MB3. Please consider using UTF8MB4 with an \
         appropriate collation instead.";
    3780 "HY000" ER_FK_INCOMPATIBLE_COLUMNS
        "Referencing column '%s' and referenced column '%s' in foreign key constraint '%s' are incompatible.";
    3795 "HY000" ER_SLOW_LOG_MODE_IGNORED_WHEN_NOT_LOGGING_TO_FILE
        "slow query log file format changed as requested, but setting will have no effect when not actually logging \
         to a file.";
    3800 "HY000" ER_FUNCTIONAL_INDEX_ROW_VALUE_IS_NOT_ALLOWED
        "Expression of functional index '%s' cannot refer to a row value.";
    3812 "HY000" ER_NON_BOOLEAN_EXPR_FOR_CHECK_CONSTRAINT
        "An expression of non-boolean type specified to a check constraint '%s'.";
    3813 "HY000" ER_COLUMN_CHECK_CONSTRAINT_REFERENCES_OTHER_COLUMN
        "Column check constraint '%s' references other column.";
    3814 "HY000" ER_CHECK_CONSTRAINT_NAMED_FUNCTION_IS_NOT_ALLOWED
        "An expression of a check constraint '%s' contains disallowed function: %s.";
    3815 "HY000" ER_CHECK_CONSTRAINT_FUNCTION_IS_NOT_ALLOWED
        "An expression of a check constraint '%s' contains disallowed function.";
    3816 "HY000" ER_CHECK_CONSTRAINT_VARIABLES
        "An expression of a check constraint '%s' cannot refer to a user or system variable.";
    3817 "HY000" ER_CHECK_CONSTRAINT_ROW_VALUE
        "Check constraint '%s' cannot refer to a row value.";
    3818 "HY000" ER_CHECK_CONSTRAINT_REFERS_AUTO_INCREMENT_COLUMN
        "Check constraint '%s' cannot refer to an auto-increment column.";
    3819 "HY000" ER_CHECK_CONSTRAINT_VIOLATED
        "Check constraint '%s' is violated.";
    3820 "HY000" ER_CHECK_CONSTRAINT_REFERS_UNKNOWN_COLUMN
        "Check constraint '%s' refers to non-existing column '%s'.";
    3821 "HY000" ER_CHECK_CONSTRAINT_NOT_FOUND
        "Check constraint '%s' is not found in the table.";
    3822 "HY000" ER_CHECK_CONSTRAINT_DUP_NAME
        "Duplicate check constraint name '%s'.";
    3823 "HY000" ER_CHECK_CONSTRAINT_CLAUSE_USING_FK_REFER_ACTION_COLUMN
        "Column '%s' cannot be used in a check constraint '%s': needed in a foreign key constraint '%s' referential \
         action.";
    3834 "HY000" ER_INVALID_MULTIPLE_CLAUSES
        "Multiple %s clauses";
    3835 "HY000" ER_UNSUPPORTED_USE_OF_GRANT_AS
        "GRANT ... AS is currently supported only for global privileges.";
    3836 "HY000" ER_UKNOWN_AUTH_ID_OR_ACCESS_DENIED_FOR_GRANT_AS
        "Either some of the authorization IDs in the AS clause are invalid or the current user lacks privileges to \
         execute the statement.";
    3837 "HY000" ER_DEPENDENT_BY_FUNCTIONAL_INDEX
        "Column '%s' has a functional index dependency and cannot be dropped or renamed.";
    3853 "22032" ER_INVALID_JSON_TYPE
        "Invalid JSON type in argument %d to function %s; an %s is required.";
    3854 "HY000" ER_CANNOT_CONVERT_STRING
        "Cannot convert string '%s' from %s to %s";
    3855 "HY000" ER_DEPENDENT_BY_PARTITION_FUNC
        "Column '%s' has a partitioning function dependency and cannot be dropped or renamed.";
    3878 "HY000" ER_SECOND_PASSWORD_CANNOT_BE_EMPTY
        "Empty password can not be retained as second password for user '%s'@'%s'.";
    3879 "HY000" ER_DB_ACCESS_DENIED
        "Access denied for AuthId `%s`@`%s` to database '%s'.";
    3884 "HY000" ER_NO_SESSION_TEMP
        "Storage engine could not allocate temporary tablespace for this session.";
    3886 "HY000" ER_COLUMN_CHANGE_SIZE
        "Could not change column '%s' of table '%s'. The resulting size of index '%s' would exceed the max key \
         length of %d bytes.";
    3887 "HY000" ER_REGEXP_INVALID_CAPTURE_GROUP_NAME
        "A capture group has an invalid name.";
    3891 "HY000" ER_INCORRECT_CURRENT_PASSWORD
        "Incorrect current password. Specify the correct password which has to be replaced.";
    3892 "HY000" ER_MISSING_CURRENT_PASSWORD
        "Current password needs to be specified in the REPLACE clause in order to change it.";
    3893 "HY000" ER_CURRENT_PASSWORD_NOT_REQUIRED
        "Do not specify the current password while changing it for other users.";
    3895 "HY000" ER_CURRENT_PASSWORD_CANNOT_BE_RETAINED
        "Current password can not be retained for user '%s'@'%s' because new password is empty.";
    3896 "HY000" ER_PARTIAL_REVOKES_EXIST
        "At least one partial revoke exists on a database. The system variable '@@partial_revokes' must be set to \
         ON.";
    3897 "HY000" ER_CANNOT_GRANT_SYSTEM_PRIV_TO_MANDATORY_ROLE
        "AuthId `%s`@`%s` is set as mandatory_roles. Cannot grant the '%s' privilege.";
    3899 "HY000" ER_UNSUPPORTED_SQL_MODE
        "sql_mode=0x%s is not supported.";
    3900 "HY000" ER_REGEXP_INVALID_FLAG
        "Invalid match mode flag in regular expression.";
    3901 "HY000" ER_PARTIAL_REVOKE_AND_DB_GRANT_BOTH_EXISTS
        "'%s' privilege for database '%s' exists both as partial revoke and mysql.db simultaneously. It could mean \
         that the 'mysql' schema is corrupted.";
    3902 "SU001" ER_UNIT_NOT_FOUND
        "There's no unit of measure named '%s'.";
    3903 "22018" ER_INVALID_JSON_VALUE_FOR_FUNC_INDEX
        "Invalid JSON value for CAST for functional index '%s'.";
    3904 "22003" ER_JSON_VALUE_OUT_OF_RANGE_FOR_FUNC_INDEX
        "Out of range JSON value for CAST for functional index '%s'.";
    3905 "HY000" ER_EXCEEDED_MV_KEYS_NUM
        "Exceeded max number of values per record for multi-valued index '%s' by %d value(s).";
    3906 "HY000" ER_EXCEEDED_MV_KEYS_SPACE
        "Exceeded max total length of values per record for multi-valued index '%s' by %d bytes.";
    3907 "22001" ER_FUNCTIONAL_INDEX_DATA_IS_TOO_LONG
        "Data too long for functional index '%s'.";
    3908 "HY000" ER_WRONG_MVI_VALUE
        "Cannot store an array or an object in a scalar key part of the index '%s'.";
    3909 "HY000" ER_WARN_FUNC_INDEX_NOT_APPLICABLE
        "Cannot use functional index '%s' due to type or collation conversion.";
    3912 "HY000" ER_GROUPING_ON_TIMESTAMP_IN_DST
        "Grouping on temporal is non-deterministic for timezones having DST. Please consider switching to UTC for \
         this query.";
    3913 "HY000" ER_TABLE_NAME_CAUSES_TOO_LONG_PATH
        "Long database name and identifier for object resulted in a path length too long for table '%s'. Please \
         check the path limit for your OS.";
    3917 "HY000" ER_SYSVAR_CHANGE_DURING_QUERY
        "A plugin was loaded or unloaded during a query, a system variable table was changed.";
    3918 "HY000" ER_GLOBSTAT_CHANGE_DURING_QUERY
        "A plugin was loaded or unloaded during a query, a global status variable was changed.";
    3922 "HY000" ER_WRONG_COMPRESSION_ALGORITHM_CLIENT
        "Invalid compression algorithm '%s'.";
    3923 "HY000" ER_WRONG_COMPRESSION_LEVEL_CLIENT
        "Invalid zstd compression level for algorithm '%s'.";
    3934 "HY000" ER_JSON_SCHEMA_VALIDATION_ERROR_WITH_DETAILED_REPORT
        "%s.";
    3939 "HY000" ER_MULTIPLE_CONSTRAINTS_WITH_SAME_NAME
        "Table has multiple constraints with the name '%s'. Please use constraint specific '%s' clause.";
    3940 "HY000" ER_CONSTRAINT_NOT_FOUND
        "Constraint '%s' does not exist.";
    3941 "HY000" ER_ALTER_CONSTRAINT_ENFORCEMENT_NOT_SUPPORTED
        "Altering constraint enforcement is not supported for the constraint '%s'. Enforcement state alter is not \
         supported for the PRIMARY, UNIQUE and FOREIGN KEY type constraints.";
    3942 "HY000" ER_TABLE_VALUE_CONSTRUCTOR_MUST_HAVE_COLUMNS
        "Each row of a VALUES clause must have at least one column, unless when used as source in an INSERT \
         statement.";
    3943 "HY000" ER_TABLE_VALUE_CONSTRUCTOR_CANNOT_HAVE_DEFAULT
        "A VALUES clause cannot use DEFAULT values, unless used as a source in an INSERT statement.";
    3944 "HY000" ER_CLIENT_QUERY_FAILURE_INVALID_NON_ROW_FORMAT
        "The query does not comply with variable require_row_format restrictions.";
    3945 "HY000" ER_REQUIRE_ROW_FORMAT_INVALID_VALUE
        "The requested value %s is invalid for REQUIRE_ROW_FORMAT, must be either 0 or 1.";
    3946 "HY000" ER_FAILED_TO_DETERMINE_IF_ROLE_IS_MANDATORY
        "Failed to acquire lock on user management service, unable to determine if role `%s`@`%s` is mandatory";
    3947 "HY000" ER_FAILED_TO_FETCH_MANDATORY_ROLE_LIST
        "Failed to acquire lock on user management service, unable to fetch mandatory role list";
    3948 "42000" ER_CLIENT_LOCAL_FILES_DISABLED
        "Loading local data is disabled; this must be enabled on both the client and server sides";
    3953 "HY000" ER_MULTIPLE_INTO_CLAUSES
        "Multiple INTO clauses in one query block.";
    3954 "HY000" ER_MISPLACED_INTO
        "Misplaced INTO clause, INTO is not allowed inside subqueries, and must be placed at end of UNION clauses.";
    3955 "HY000" ER_USER_ACCESS_DENIED_FOR_USER_ACCOUNT_BLOCKED_BY_PASSWORD_LOCK
        "Access denied for user '%s'@'%s'. Account is blocked for %s day(s) (%s day(s) remaining) due to %d \
         consecutive failed logins.";
    3959 "HY000" ER_DEPENDENT_BY_CHECK_CONSTRAINT
        "Check constraint '%s' uses column '%s', hence column cannot be dropped or renamed.";
    3966 "22035" ER_MISSING_JSON_VALUE
        "No value was found by '%s' on the specified path.";
    3967 "22034" ER_MULTIPLE_JSON_VALUES
        "More than one value was found by '%s' on the specified path.";
    3968 "HY000" ER_HOSTNAME_TOO_LONG
        "Hostname cannot be longer than %d characters.";
    3973 "HY000" ER_SUBQUERY_TRANSFORM_REJECTED
        "Statement requires a transform of a subquery to a non-SET operation (like IN2EXISTS, or \
         subquery-to-LATERAL-derived-table). This is not allowed with optimizer switch 'subquery_to_derived' on.";
    3976 "HY000" ER_WRONG_VALUE_FOR_VAR_PLUS_ACTIONABLE_PART
        "Variable '%s' cannot be set to the value of '%s'. %s";
    3977 "HY000" ER_STATEMENT_NOT_ALLOWED_AFTER_START_TRANSACTION
        "Only BINLOG INSERT, COMMIT and ROLLBACK statements are allowed after CREATE TABLE with START TRANSACTION \
         statement.";
    3978 "HY000" ER_FOREIGN_KEY_WITH_ATOMIC_CREATE_SELECT
        "Foreign key creation is not allowed with CREATE TABLE as SELECT and CREATE TABLE with START TRANSACTION \
         statement.";
    3979 "HY000" ER_NOT_ALLOWED_WITH_START_TRANSACTION
        "START TRANSACTION clause cannot be used %s";
    3980 "HY000" ER_INVALID_JSON_ATTRIBUTE
        "Invalid json attribute, error: \"%s\" at pos %d: '%s'";
    3981 "HY000" ER_ENGINE_ATTRIBUTE_NOT_SUPPORTED
        "Storage engine '%s' does not support ENGINE_ATTRIBUTE.";
    3982 "HY000" ER_INVALID_USER_ATTRIBUTE_JSON
        "The user attribute must be a valid JSON object";
    3985 "HY000" ER_MDL_OUT_OF_RESOURCES
        "Not enough resources to complete lock request.";
    3986 "HY000" ER_IMPLICIT_COMPARISON_FOR_JSON
        "Evaluating a JSON value in SQL boolean context does an implicit comparison against JSON integer 0; if this \
         is not what you want, consider converting JSON to a SQL numeric type with JSON_VALUE RETURNING";
    3987 "HY000" ER_FUNCTION_DOES_NOT_SUPPORT_CHARACTER_SET
        "The function %s does not support the character set '%s'.";
    3988 "HY000" ER_IMPOSSIBLE_STRING_CONVERSION
        "Conversion from collation %s into %s impossible for %s";
    3989 "HY000" ER_SCHEMA_READ_ONLY
        "Schema '%s' is in read only mode.";
    4005 "HY000" ER_USER_REFERENCED_AS_DEFINER
        "User %s is referenced as a definer account in %s.";
    4006 "HY000" ER_CANNOT_USER_REFERENCED_AS_DEFINER
        "Operation %s failed for %s as it is referenced as a definer account in %s.";
    4007 "HY000" ER_REGEX_NUMBER_TOO_BIG
        "Decimal number in regular expression is too large.";
    4008 "HY000" ER_SPVAR_NONINTEGER_TYPE
        "The variable \"%s\" has a non-integer based type";
    4021 "HY000" ER_CANT_USE_SAME_UUID_AS_GROUP_NAME
        "CHANGE REPLICATION SOURCE TO ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS = <UUID> cannot be executed because \
         the UUID value is equal to the group_replication_group_name.";
    4026 "HY000" ER_CANNOT_USE_AUTOEXTEND_SIZE_CLAUSE
        "AUTOEXTEND_SIZE clause is not valid for %s tablespace.";
    4027 "HY000" ER_ROLE_GRANTED_TO_ITSELF
        "User account %s is directly or indirectly granted to the role %s. The GRANT would create a loop";
    4028 "HY000" ER_TABLE_MUST_HAVE_A_VISIBLE_COLUMN
        "A table must have at least one visible column.";
    4030 "HY000" ER_WARN_ASYNC_CONN_FAILOVER_NETWORK_NAMESPACE
        "The parameter network_namespace is reserved for future use. Please use the CHANGE REPLICATION SOURCE \
         command to set channel network_namespace parameter.";
    4031 "HY000" ER_CLIENT_INTERACTION_TIMEOUT
        "The client was disconnected by the server because of inactivity. See wait_timeout and interactive_timeout \
         for configuring this behavior.";
    4039 "HY000" ER_CANT_USE_SAME_UUID_AS_VIEW_CHANGE_UUID
        "CHANGE REPLICATION SOURCE TO ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS = <UUID> cannot be executed because \
         the UUID value is equal to the group_replication_view_change_uuid.";
    4042 "HY000" ER_WARN_ADUIT_LOG_MAX_SIZE_AND_PRUNE_SECONDS
        "Both audit_log_max_size and audit_log_prune_seconds are set to non-zero. audit_log_max_size takes \
         precedence and audit_log_prune_seconds is ignored";
    4044 "HY000" ER_KERBEROS_CREATE_USER
        "Create/Alter user has failed, Configured user realm as authentication string is empty, Please make sure to \
         configure authentication string as user realm.";
    4048 "42000" ER_INVALID_ASSIGNMENT_TARGET
        "Invalid target for assignment in INSERT or UPDATE statement '%s'.";
    4053 "HY000" ER_IDENTIFIED_BY_UNSUPPORTED
        "IDENTIFIED BY clause during \"%s\" not supported for plugin \"%s\".";
    4074 "HY000" ER_VALUE_OUT_OF_RANGE
        "%s=%d is outside the valid range [%d,%d]. %d will be used.";
    4075 "HY000" ER_FULLTEXT_WITH_ROLLUP
        "MATCH does not support ROLLUP columns.";
    4076 "HY000" ER_REGEXP_MISSING_RESOURCE
        "Missing locale resource in regular expression library.";
    4077 "HY000" ER_WARN_REGEXP_USING_DEFAULT
        "Regular expression library used default (root) locale.";
    4078 "HY000" ER_REGEXP_MISSING_FILE
        "Missing data file in regular expression library.";
    4080 "HY000" ER_CONCURRENT_PROCEDURE_USAGE
        "The %s was called when there was already another concurrent call to this procedure. No action was taken. \
         Wait for other calls to %s to finish before retrying.";
    4086 "HY000" ER_TOO_MANY_WINDOWS
        "Too many windows in SELECT: %d. Maximum allowed is %d. Use named windows to share windows between window \
         functions.";
    4087 "HY000" ER_MYSQLBACKUP_CLIENT_MSG
        "%s";
    4088 "HY000" ER_COMMENT_CONTAINS_INVALID_STRING
        "Comment for %s '%s' contains an invalid %s character string: '%s'.";
    4089 "HY000" ER_DEFINITION_CONTAINS_INVALID_STRING
        "Definition of %s '%s.%s' contains an invalid %s character string: '%s'.";
    4091 "HY000" ER_XA_TEMP_TABLE
        "XA: Temporary tables cannot be accessed inside XA transactions when xa_detach_on_prepare=ON";
    4094 "HY000" ER_OPERATION_NOT_ALLOWED_WHILE_PRIMARY_CHANGE_IS_RUNNING
        "All queries have been blocked while function 'group_replication_set_as_primary()' is executing. Please \
         refer timeout parameter of function 'group_replication_set_as_primary()'.";
    4097 "HY000" ER_CANNOT_PERSIST_SENSITIVE_VARIABLES
        "Cannot persist SENSITIVE system variable '%s' because keyring component support is unavailable.";
    4098 "HY000" ER_WARN_CANNOT_SECURELY_PERSIST_SENSITIVE_VARIABLES
        "SENSITIVE system variable '%s' was persisted without encryption. Consider restarting server with keyring \
         component support to persist SENSITIVE variables securely.";
    4099 "HY000" ER_WARN_TRG_ALREADY_EXISTS
        "Trigger '%s' already exists on the table '%s'.'%s'.";
    4100 "HY000" ER_IF_NOT_EXISTS_UNSUPPORTED_TRG_EXISTS_ON_DIFFERENT_TABLE
        "Trigger '%s'.'%s' already exists on a different table. The 'IF NOT EXISTS' clause is only supported for \
         triggers associated with the same table.";
    4108 "HY000" ER_GIPK_COLUMN_EXISTS
        "Failed to generate invisible primary key. Column 'my_row_id' already exists.";
    4109 "HY000" ER_GIPK_FAILED_AUTOINC_COLUMN_EXISTS
        "Failed to generate invisible primary key. Auto-increment column already exists.";
    4110 "HY000" ER_GIPK_COLUMN_ALTER_NOT_ALLOWED
        "Altering generated invisible primary key column 'my_row_id' is not allowed.";
    4111 "HY000" ER_DROP_PK_COLUMN_TO_DROP_GIPK
        "Please drop primary key column to be able to drop generated invisible primary key.";
    4114 "HY000" ER_CTE_RECURSIVE_NOT_UNION
        "Recursive table reference in EXCEPT or INTERSECT operand is not allowed.";
    4115 "HY000" ER_COMMAND_BACKEND_FAILED_TO_FETCH_SECURITY_CTX
        "Error when trying to fetch information from security context object, when trying to connect the server.";
    4116 "HY000" ER_COMMAND_SERVICE_BACKEND_FAILED
        "Error in command service backend interface, because of : \"%s\"";
    4120 "HY000" ER_INTERSECT_ALL_MAX_DUPLICATES_EXCEEDED
        "Max number of duplicate rows in INTERSECT ALL exceeded.";
    4122 "HY000" ER_BAD_TIMESTAMP_FORMAT
        "Invalid timestamp format in %s udf";
    4129 "HY000" ER_TABLE_NOT_EMPTY
        "Table '%s' is not empty.";
    4130 "HY000" ER_TABLE_NO_PRIMARY_KEY
        "Table '%s' has no primary key.";
    4132 "HY000" ER_INDEX_OTHER_THAN_PK
        "Table '%s' has indexes other than primary key.";
    4156 "HY000" ER_CANT_CHANGE_SYS_VAR_IN_READ_ONLY_MODE
        "Cannot change the '%s' system variable in read-only mode.";
    4159 "HY000" ER_CANT_SET_PERSISTED
        "Failed to set persisted options.";
    4163 "42000" ER_USER_LOCK_OVERLONG_NAME
        "User-level lock name '%s' should not exceed %d characters.";
    4164 "HY000" ER_WARN_NO_SPACE_VERSION_COMMENT
        "Immediately starting the version comment after the version number is deprecated and may change behavior in \
         a future release. Please insert a white-space character after the version number.";
    4167 "HY000" ER_CANT_RUN_COMMAND_SERVICES_RECURSIVELY
        "Running recursive calls to SQL execution service is not supported";
    4169 "HY000" ER_CTE_EXPANSION_LIMIT_EXCEEDED
        "Common table expression expansion exceeded an implementation limit. Simplify the query.";
}
