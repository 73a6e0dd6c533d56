#!/usr/bin/env python3
"""Records variables.txt: SET and SELECT @@ of system variables.

    variables.py SOCKET > variables.txt

The server must be fresh and nobody else's: global variables are set, and set back.
"""
import os, sys
import pymysql
from recorder import run, escape

connection = pymysql.connect(unix_socket=sys.argv[1], user="root", autocommit=True, charset="utf8mb4")
cursor = connection.cursor()
here = os.path.dirname(os.path.abspath(__file__))
rows = [line.rstrip("\n").split("\t") for line in open(os.path.join(here, "../../data/variables.tsv"))
        if not line.startswith("#")]
out = []


def fresh():
    """COM_RESET_CONNECTION."""
    connection._execute_command(0x1F, b"")
    connection._read_ok_packet()


def case(*statements):
    fresh()
    out.append("")
    for statement in statements:
        run(cursor, statement, out)


# Those whose change would cost, cut off the recorder, or depends on the machine.
LEAVE = set("""offline_mode innodb_buffer_pool_size read_only super_read_only innodb_redo_log_capacity
require_secure_transport innodb_io_capacity innodb_io_capacity_max gtid_mode gtid_purged innodb_fast_shutdown
innodb_tmpdir init_file secure_file_priv event_scheduler tls_version tls_ciphersuites ssl_cipher ssl_ca ssl_cert ssl_key
ssl_capath ssl_crl ssl_crlpath innodb_undo_tablespaces innodb_log_writer_threads keyring_operations gtid_executed
general_log_file slow_query_log_file log_error_services innodb_monitor_enable innodb_monitor_disable
innodb_monitor_reset innodb_monitor_reset_all innodb_log_checkpoint_now innodb_checkpoint_disabled
admin_ssl_ca admin_ssl_cert admin_ssl_key admin_ssl_cipher admin_tls_version admin_tls_ciphersuites admin_ssl_capath
admin_ssl_crl admin_ssl_crlpath mysql_firewall_mode performance_schema_show_processlist rbr_exec_mode
group_replication_consistency enforce_gtid_consistency replication_optimize_for_static_plugin_config
binlog_transaction_dependency_history_size innodb_ft_aux_table innodb_ft_user_stopword_table tmpdir
innodb_ft_server_stopword_table innodb_buffer_pool_load_now innodb_buffer_pool_dump_now innodb_buffer_pool_load_abort
server_uuid gtid_next debug_sync innodb_log_buffer_size innodb_buffer_pool_filename log_error_suppression_list
max_connections innodb_ddl_threads innodb_parallel_read_threads partial_revokes schema_definition_cache
table_open_cache table_definition_cache tablespace_definition_cache stored_program_definition_cache
host_cache_size connection_memory_limit global_connection_memory_limit mandatory_roles
select_into_buffer_size xa_detach_on_prepare key_buffer_size innodb_max_dirty_pages_pct
performance_schema_max_digest_sample_age pseudo_thread_id innodb_thread_concurrency original_server_version
immediate_server_version version_tokens_session server_id sql_require_primary_key
temptable_max_ram temptable_max_mmap authentication_policy innodb_doublewrite""".split())
for name, scope, access, kind, detail, default, flags, effect in rows:
    if "hidden" in flags or "alias" in flags or name.startswith(("admin_", "ssl_", "innodb_monitor", "mysqlx")):
        continue
    word = {"G": "GLOBAL", "B": "SESSION", "S": "SESSION"}[scope]
    at = word.lower()
    if access == "ro":
        case(f"SET {word} {name} = 1", f"SET @@{name} = DEFAULT")
        continue
    if name in LEAVE or name.startswith(("gtid_", "innodb_redo", "innodb_undo", "innodb_log_", "performance_schema")):
        continue
    short = effect == "ignored"
    if kind == "bool":
        values = ["1", "off", "2", "'ON'"] if short else [
            "0", "1", "2", "-1", "on", "OFF", "'ON'", "'off'", "'1'", "'x'", "''", "NULL", "1.0", "0.5", "TRUE", "FALSE",
            "1e0", "0x1", "b'1'", "DEFAULT", "maybe"]
    elif kind in ("int", "uint"):
        low, high = map(int, detail.split("/")[0].split(".."))
        block = int(detail.split("/")[1]) if "/" in detail else 1
        numbers = {low - 1, high + 1, low, low + 1, int(default), high} if not short else {low - 1, high + 1, low}
        if block > 1:
            numbers |= {low + block - 1, low + block, low + block + 1, low + 3 * block // 2}
        if name.startswith(("innodb", "max_")) or word == "GLOBAL":
            numbers = {number for number in numbers if number <= 10**7 or number == high + 1}
        values = [str(number) for number in sorted(numbers)]
        values += ["'5'", "NULL"] if short else [
            "'5'", "1.5", "5.0", "1e3", "NULL", "ON", "DEFAULT", "abc", "99999999999999999999", "-99999999999999999999",
            "TRUE", "0x10", "-9223372036854775808", "-9223372036854775809"]
        if word == "GLOBAL" and kind == "uint" and high > 10**9:
            values = [value for value in values if not value.isdigit() or int(value) < 10**7]
    elif kind == "double":
        values = ["0", "1", "-1", "1.5", "1e3", "'5'", "NULL", "DEFAULT", "ON", "0.0000015", "200"]
    elif kind == "enum":
        names = detail.split(",")
        values = [f"'{member}'" for member in names[:4]] + ["0", "1", "100", "-1", "NULL", "'x'", "''", "1.5"]
        values += [names[-1].lower().replace("-", "_"), f"'{names[0].lower()}'", "DEFAULT", f"{len(names) - 1}",
                   f"{len(names)}", f"' {names[0]}'", "TRUE", "ON"]
    elif kind == "set":
        names = detail.split(",")
        values = [f"'{names[0]}'", f"'{detail}'", "0", "1", "-1", "NULL", "'x'", "''", "1.5", "DEFAULT",
                  f"'{names[0].lower()},{names[0]}'", f"',{names[0]}'", f"'{names[0]},x'", "4611686018427387904"]
    elif kind == "flags":
        names = detail.split(",")
        values = [f"'{names[0]}=off'", f"'{names[0]}=on,{names[-1]}=off'", "'default'", "''", "'x=on'", "NULL", "0", "1",
                  f"'{names[0]}'", f"'{names[0]}=maybe'", f"'{names[0]}=off,{names[0]}=on'", "DEFAULT",
                  f"'{names[0].upper()}=OFF'", f"'{names[0]}=default'", f"'default,{names[0]}=off'", "1.5", "-1",
                  f"'{names[0]}=o'", f"'{names[0]} = off'"]
    else:
        values = ["1", "NULL"] if short else ["1", "NULL", "''", "1.5", "DEFAULT"]
    original = None
    if word == "GLOBAL":
        cursor.execute(f"select @@global.{name}")
        original = cursor.fetchall()[0][0]
    for value in values:
        case(f"SET {word} {name} = {value}", f"SELECT @@{at}.{name}")
        if word == "GLOBAL":
            cursor.execute(f"set global {name} = %s", (original,))
    if scope == "G":
        case(f"SET SESSION {name} = DEFAULT", f"SET {name} = DEFAULT", f"SELECT @@session.{name}")
    if scope == "S":
        case(f"SET GLOBAL {name} = 1", f"SELECT @@global.{name}")

MODES = """REAL_AS_FLOAT PIPES_AS_CONCAT ANSI_QUOTES IGNORE_SPACE NOT_USED ONLY_FULL_GROUP_BY NO_UNSIGNED_SUBTRACTION
NO_DIR_IN_CREATE ANSI NO_AUTO_VALUE_ON_ZERO NO_BACKSLASH_ESCAPES STRICT_TRANS_TABLES STRICT_ALL_TABLES NO_ZERO_IN_DATE
NO_ZERO_DATE ALLOW_INVALID_DATES ERROR_FOR_DIVISION_BY_ZERO TRADITIONAL HIGH_NOT_PRECEDENCE NO_ENGINE_SUBSTITUTION
PAD_CHAR_TO_FULL_LENGTH TIME_TRUNCATE_FRACTIONAL INTERPRET_UTF8_AS_UTF8MB4 POSTGRESQL ORACLE MSSQL DB2 MAXDB
NO_KEY_OPTIONS NO_TABLE_OPTIONS NO_FIELD_OPTIONS MYSQL323 MYSQL40 NO_AUTO_CREATE_USER""".split()
for mode in MODES:
    case(f"SET sql_mode = '{mode}'", "SELECT @@sql_mode", f"SET sql_mode = {mode.lower()}")
for bit in range(35):
    case(f"SET sql_mode = {1 << bit}", "SELECT @@sql_mode")
for value in ["'ANSI,TRADITIONAL'", "'STRICT_TRANS_TABLES,NO_ZERO_DATE'", "'NO_ZERO_DATE,STRICT_ALL_TABLES'",
              "'NO_ZERO_DATE,NO_ZERO_IN_DATE'", "'STRICT_TRANS_TABLES, NO_ZERO_DATE'", "'a,b'", "'ANSI_QUOTES,nonsense'",
              "CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')", "'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE'",
              "'NO_ENGINE_SUBSTITUTION,'", "'ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO'", "'TRADITIONAL '", "3", "''"]:
    if "CONCAT" not in value:
        case(f"SET SESSION sql_mode = {value}", "SELECT @@sql_mode")
for zone in ["'SYSTEM'", "'system'", "'+00:00'", "'+02:00'", "'-13:59'", "'-14:00'", "'+14:00'", "'+14:01'", "'+2:00'",
             "'+02:0'", "'nowhere'", "''", "NULL", "1", "DEFAULT", "'+5:30'", "'05:30'"]:
    case(f"SET time_zone = {zone}", "SELECT @@time_zone")
CHARSETS = ["'utf8mb4'", "latin1", "ascii", "binary", "'LATIN1'", "'nope'", "NULL", "1", "8", "DEFAULT", "255", "63",
            "1.5", "''", "'latin1 '", "9999"]
for name in ["character_set_client", "character_set_connection", "character_set_results", "character_set_database",
             "character_set_server", "character_set_filesystem"]:
    for value in CHARSETS:
        case(f"SET {name} = {value}", f"SELECT @@{name}", "SELECT @@collation_connection, @@collation_server, "
             "@@collation_database, @@character_set_client, @@character_set_results, @@character_set_connection")
for name in ["collation_connection", "collation_server", "collation_database", "default_collation_for_utf8mb4"]:
    for value in ["'utf8mb4_general_ci'", "latin1_swedish_ci", "'latin1_bin'", "binary", "'nope'", "NULL", "8", "63",
                  "DEFAULT", "1.5", "'UTF8MB4_BIN'", "''", "utf8mb4_0900_ai_ci", "9999"]:
        case(f"SET {name} = {value}", f"SELECT @@{name}", "SELECT @@character_set_connection, @@character_set_server, "
             "@@character_set_database, @@character_set_client, @@character_set_results")
READ = ("SELECT @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection,"
        " @@character_set_server")
for text in ["NAMES utf8mb4", "NAMES 'latin1'", "NAMES latin1 COLLATE latin1_bin", "NAMES latin1 COLLATE utf8mb4_bin",
             "NAMES nope", "NAMES utf8mb4 COLLATE nope", "NAMES DEFAULT", "CHARACTER SET latin1", "CHARSET utf8mb4",
             "CHARACTER SET DEFAULT", "CHARACTER SET nope", "NAMES binary", "NAMES utf8mb4 COLLATE utf8mb4_general_ci",
             "NAMES ascii", "NAMES 'utf8mb4' COLLATE 'utf8mb4_bin'"]:
    case(f"SET {text}", READ)
ISOLATION = "SELECT @@transaction_isolation, @@transaction_read_only, @@global.transaction_isolation"
for text in ["TRANSACTION ISOLATION LEVEL READ COMMITTED", "SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
             "TRANSACTION READ ONLY", "SESSION TRANSACTION READ ONLY", "SESSION TRANSACTION READ WRITE",
             "SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED, READ ONLY", "LOCAL TRANSACTION READ ONLY"]:
    case(f"SET {text}", ISOLATION)
case("SET transaction_isolation = 'SERIALIZABLE'", ISOLATION)
case("SET @@transaction_isolation = 'SERIALIZABLE'", ISOLATION)
case("SET @@session.transaction_isolation = 'SERIALIZABLE'", ISOLATION)
case("SET LOCAL transaction_isolation = 'READ-COMMITTED'", ISOLATION)
case("SET autocommit = 0, sql_safe_updates = 5", "SELECT @@autocommit")
case("SET autocommit = 0, nonsense = 5", "SELECT @@autocommit")
case("SET autocommit = 0, sql_safe_updates = 1", "SELECT @@autocommit, @@sql_safe_updates")
case("SET SESSION autocommit = 0, sql_safe_updates = 1", "SELECT @@autocommit, @@local.sql_safe_updates")
case("SET @@session.autocommit = 0, @@sql_safe_updates = 1", "SELECT @@session.autocommit, @@sql_safe_updates")
case("SET nonsense = 1", "SELECT @@nonsense", "SELECT @@global.nonsense", "SET GLOBAL nonsense = 1",
     "SET @@session.nonsense = 1", "SET PERSIST nonsense = 1")
case("SET tx_isolationx = 1", "SELECT @@query_cache_sizes", "SELECT @@have_ssl", "SELECT @@have_query_cache")
case("SET last_insert_id = 7", "SELECT @@last_insert_id, @@identity")
case("SET identity = 9", "SELECT @@last_insert_id, @@identity")
case("SET insert_id = 9", "SELECT @@insert_id")
case("SET timestamp = 1000000000", "SELECT @@timestamp")
case("SET timestamp = 1000000000.5", "SELECT @@timestamp")
case("SET timestamp = -1")
case("SET timestamp = 1e20")
case("SET rand_seed1 = 10, rand_seed2 = 20", "SELECT @@rand_seed1, @@rand_seed2")
case("SET GLOBAL wait_timeout = 100", "SELECT @@wait_timeout, @@global.wait_timeout", "SET GLOBAL wait_timeout = DEFAULT",
     "SET wait_timeout = 5", "SET wait_timeout = DEFAULT", "SELECT @@wait_timeout")
case("SET sql_select_limit = 10", "SELECT @@sql_select_limit", "SET sql_select_limit = DEFAULT", "SELECT @@sql_select_limit")
case("SET default_storage_engine = InnoDB", "SELECT @@default_storage_engine")
for engine in ["'innodb'", "'MyISAM'", "MEMORY", "'nope'", "NULL", "1", "''", "heap", "CSV", "DEFAULT", "blackhole"]:
    case(f"SET default_storage_engine = {engine}", "SELECT @@default_storage_engine")
    case(f"SET default_tmp_storage_engine = {engine}", "SELECT @@default_tmp_storage_engine")
for locale in ["'en_US'", "'de_DE'", "'DE_de'", "'xx_XX'", "NULL", "0", "4", "500", "''", "ja_JP", "1.5", "DEFAULT", "'pt_BR'"]:
    case(f"SET lc_time_names = {locale}", "SELECT @@lc_time_names")
case("SET max_allowed_packet = 1", "SET SESSION max_allowed_packet = 1024", "SET @@max_allowed_packet = DEFAULT")
case("SET GLOBAL max_allowed_packet = 1500", "SELECT @@global.max_allowed_packet, @@max_allowed_packet",
     "SET GLOBAL max_allowed_packet = DEFAULT")
for value in ["'time_zone'", "'*'", "''", "'autocommit,nonsense'", "'time_zone, autocommit'", "NULL", "1", "DEFAULT", "'nonsense'"]:
    case(f"SET session_track_system_variables = {value}", "SELECT @@session_track_system_variables")
print("# Recorded by variables.py from MySQL 9.7.")
print("\n".join(out))
