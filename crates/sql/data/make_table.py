#!/usr/bin/env python3
"""Makes variables.tsv and status.txt from the facts that record_variables.py recorded.

    make_table.py < facts.json

What a variable does here is not MySQL's to say: it is the list WORKS below.
"""
import json, os, sys

# Those that something here obeys, or that say what is so.
WORKS = set("""
auto_increment_increment auto_increment_offset autocommit big_tables bind_address block_encryption_mode
character_set_client character_set_connection character_set_database character_set_filesystem character_set_results
character_set_server character_set_system collation_connection collation_database collation_server completion_type
connect_timeout cte_max_recursion_depth datadir default_collation_for_utf8mb4 default_storage_engine
default_week_format div_precision_increment error_count explicit_defaults_for_timestamp external_user
foreign_key_checks group_concat_max_len have_compress hostname identity init_connect innodb_buffer_pool_size
innodb_flush_log_at_trx_commit innodb_lock_wait_timeout innodb_page_size innodb_read_only innodb_rollback_on_timeout
innodb_strict_mode insert_id interactive_timeout last_insert_id lc_time_names license local_infile lock_wait_timeout
long_query_time lower_case_file_system lower_case_table_names mandatory_roles max_allowed_packet max_connections
max_error_count max_execution_time max_join_size max_prepared_stmt_count max_sort_length max_user_connections
net_read_timeout net_write_timeout activate_all_roles_on_login authentication_policy password_history
password_require_current password_reuse_interval default_password_lifetime partial_revokes persisted_globals_load
pid_file port protocol_version proxy_user pseudo_thread_id rand_seed1 rand_seed2 read_only super_read_only
require_secure_transport secure_file_priv session_track_gtids session_track_schema session_track_state_change
session_track_system_variables session_track_transaction_info resultset_metadata server_uuid show_create_table_verbosity
skip_name_resolve socket sql_auto_is_null sql_big_selects sql_mode sql_notes sql_quote_show_create
sql_require_primary_key sql_safe_updates sql_select_limit sql_warnings ssl_ca ssl_cert ssl_key system_time_zone
table_definition_cache thread_handling time_zone timestamp tls_version tmpdir transaction_isolation transaction_read_only
unique_checks version version_comment version_compile_machine version_compile_os wait_timeout warning_count
offline_mode general_log slow_query_log caching_sha2_password_digest_rounds check_constraint_checks statement_id
print_identified_with_as_hex select_into_buffer_size default_table_encryption sort_buffer_size join_buffer_size
tmp_table_size max_heap_table_size generated_random_password_length
""".split())
# What belongs to the machine and not to MySQL: the server fills it in.
OURS = {"version_comment": "Meseta", "hostname": "localhost", "version_compile_machine": "x86_64",
        "version": "9.7.4", "innodb_version": "9.7.4", "version_compile_os": "Linux", "system_time_zone": "UTC",
        "license": "Apache-2.0", "port": "3306", "report_port": "3306", "server_uuid": "", "datadir": "", "basedir": "",
        "character_sets_dir": "", "lc_messages_dir": "", "plugin_dir": "", "tmpdir": "/tmp", "socket": "",
        "log_bin": "OFF", "log_bin_basename": "\\N", "log_bin_index": "\\N", "performance_schema": "OFF",
        "innodb_buffer_pool_size": "134217728", "version_compile_zlib": "", "statement_id": "0", "mysqlx_socket": "",
        "build_id": "", "secure_file_priv": "\\N", "version_tokens_session": "\\N", "server_id": "1", "timestamp": "0", "pseudo_thread_id": "0"}
PATHS = ("/vardata", "vm", "/var/run/mysqld", "/usr")
# Where the recorder's guess of a block is none: seeds, powers of two.
NO_BLOCK = {"rand_seed1", "rand_seed2", "innodb_log_write_ahead_size", "innodb_fsync_threshold"}
# Read-only, and deprecated.
OLD = {'have_profiling': '', 'have_query_cache': '', 'log_slave_updates': 'log_replica_updates', 'skip_slave_start': 'skip_replica_start', 'slave_load_tmpdir': 'replica_load_tmpdir', 'slave_skip_errors': 'replica_skip_errors'}
ALIASES = [("tx_isolation", "transaction_isolation"), ("tx_read_only", "transaction_read_only"),
           ("storage_engine", "default_storage_engine")]
EXTRA = ["query_cache_size\tG\trw\tuint\t0..18446744073709551615/1024\t0\thidden\tignored",
         "query_cache_type\tB\trw\tenum\tOFF,ON,DEMAND\tOFF\thidden\tignored"]
MEMBERS = {"innodb_change_buffering": "none,inserts,deletes,changes,purges,all", "innodb_checksum_algorithm":
           "crc32,strict_crc32,innodb,strict_innodb,none,strict_none", "innodb_default_row_format":
           "redundant,compact,dynamic", "innodb_stats_method": "nulls_equal,nulls_unequal,nulls_ignored",
           "myisam_stats_method": "nulls_unequal,nulls_equal,nulls_ignored",
           "caching_sha2_password_storage_format": "CRYPT5,PBKDF2_SHA512",
           "transaction_isolation": "READ-UNCOMMITTED,READ-COMMITTED,REPEATABLE-READ,SERIALIZABLE",
           "resultset_metadata": "NONE,FULL", "rbr_exec_mode": "STRICT,IDEMPOTENT", "gtid_mode":
           "OFF,OFF_PERMISSIVE,ON_PERMISSIVE,ON", "binlog_row_value_options": "PARTIAL_JSON",
           "event_scheduler": "OFF,ON,DISABLED"}


def escape(text):
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


facts = json.load(sys.stdin)
rows = list(EXTRA)
for fact in facts["variables"]:
    name, kind = fact["name"], fact["kind"]
    value, shown = fact.get("value"), fact["global"] if fact["scope"] != "SESSION_ONLY" else fact["session"]
    default = "\\N" if value is None else escape(shown if shown is not None else str(value))
    if name in OURS:
        default = OURS[name]
    elif kind == "String" and (default.startswith(PATHS) or default.startswith("./")):
        default = ""
    flags, detail = [], ""
    if kind == "Integer":
        word = "uint" if fact["result"][1] else "int"
        detail = f'{fact["min"]}..{fact["max"]}'
        if fact.get("block", 1) > 1 and name not in NO_BLOCK:
            detail += f'/{fact["block"]}'
    elif kind == "Numeric":
        word, detail = "double", f'{fact["min"]}..{fact["max"]}'
    elif kind == "Boolean":
        word = "bool"
    elif kind == "String" and name not in MEMBERS:
        word = "text"
    else:
        members = [member for member in fact["members"] if member]
        word = "set" if kind == "Set" else "enum"
        if members and "=on" in members[0]:
            word, members = "flags", [pair.split("=")[0] for pair in members[0].split(",")]
        detail = MEMBERS.get(name) or ("" if name == "sql_mode" else ",".join(members)) or default
    if fact["hint"]:
        flags.append("hint")
    if (fact.get("default_error") or [0])[0] == 1230:
        flags.append("nodefault")
    limited = fact.get("limited_error") or [0, ""]
    if limited[0] == 1227:
        needs = ("file" if "FILE" in limited[1] else "applier" if "APPLIER" in limited[1] else
                 "super" if "SUPER" in limited[1] else "admin")
        flags.append(needs)
    if (fact.get("session_error") or [0])[0] == 1621:
        flags.append("global")
    for _, number, text in fact.get("warnings", []):
        if number == 1287:
            flag = "old"
            if "Please use " in text:
                flag += "=" + text.split("Please use ")[1].split(" ")[0]
            if flag not in flags:
                flags.append(flag)
    if name in OLD:
        flags.append("old" + ("=" + OLD[name] if OLD[name] else ""))
    scope = {"GLOBAL": "G", "SESSION": "B", "SESSION_ONLY": "S"}[fact["scope"]]
    row = [scope, "rw" if fact["dynamic"] else "ro", word, detail, default, ",".join(flags)]
    effect = "works" if name in WORKS or name.startswith("have_") else "ignored" if fact["dynamic"] else "fixed"
    rows.append("\t".join([name] + row + [effect]))
    for alias, target in ALIASES:
        if target == name:
            rows.append("\t".join([alias] + row[:-1] + ["alias=" + name, effect]))
here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "variables.tsv"), "w") as out:
    out.write("# The system variables, by make_table.py from the facts of MySQL " + facts["version"] + ".\n"
              "# name scope access type detail default flags effect; src/variable/registry.rs says what they are.\n")
    out.write("\n".join(sorted(rows)) + "\n")
with open(os.path.join(here, "status.txt"), "w") as out:
    out.write("# The status variables of MySQL " + facts["version"] + ".\n" + "\n".join(facts["status"]) + "\n")
