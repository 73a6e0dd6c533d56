#!/usr/bin/env python3
"""Asks a MySQL server of its own for all that it says of its system and status variables, as JSON.

    record_variables.py SOCKET > facts.json

The server must be freshly initialised, started without options, and nobody else's: variables are set, to the values
that they have and to neighbours of these. `make_table.py` makes the tables of Rust from the facts.
"""
import json, sys
import pymysql

connect = lambda user="root": pymysql.connect(unix_socket=sys.argv[1], user=user, autocommit=True)
connection = connect()
cursor = connection.cursor()


def ask(sql, cursor=cursor):
    cursor.execute(sql)
    return cursor.fetchall()


def attempt(sql, cursor=cursor):
    """Number and text of the error, or None."""
    try:
        cursor.execute(sql)
        cursor.fetchall()
        return None
    except pymysql.Error as error:
        return list(error.args)


attempt("create user nobody@localhost")
limited = connect("nobody").cursor()

# Those that a careless value makes costly, or that cut the recorder off.
LEAVE = {"offline_mode", "innodb_buffer_pool_size", "read_only", "super_read_only", "innodb_buffer_pool_chunk_size",
         "innodb_redo_log_capacity", "innodb_temp_data_file_path", "require_secure_transport", "max_connections",
         "innodb_io_capacity", "gtid_mode", "transaction_isolation", "password_history", "innodb_fast_shutdown"}
shown = dict(ask("show global variables"))
shown_session = dict(ask("show session variables"))
facts = []
for name, scope, kind, low, high in ask(
        "select variable_name, variable_scope, data_type, min_value, max_value"
        " from performance_schema.variables_metadata order by 1"):
    fact = {"name": name, "scope": scope, "kind": kind, "min": low, "max": high,
            "global": shown.get(name), "session": shown_session.get(name)}
    at = "global" if scope != "SESSION_ONLY" else "session"
    cursor.execute(f"select @@{at}.{name}") if not attempt(f"select @@{at}.{name}") else None
    field = cursor._result.fields[0] if cursor._result and cursor._result.fields else None
    if field:
        fact["result"] = [field.type_code, field.flags & 32, field.length, field.scale, field.charsetnr]
        fact["value"] = cursor.fetchall()[0][0]
    error = attempt(f"set {at} {name} = @@{at}.{name}")
    fact["dynamic"] = error is None or error[0] != 1238
    fact["set_error"] = error
    if scope == "SESSION":
        fact["session_error"] = attempt(f"set session {name} = @@session.{name}")
    if scope != "GLOBAL":
        fact["limited_error"] = attempt(f"set session {name} = @@session.{name}", limited)
    if fact["dynamic"]:
        attempt(f"set {at} {name} = @@{at}.{name}")
        fact["warnings"] = [list(row) for row in ask("show warnings")]
        fact["default_error"] = attempt(f"set {at} {name} = default") if name not in LEAVE else None
        attempt(f"set {at} {name} = @@{at}.{name}")
    ask("select 1 /*+ */")
    hint = attempt(f"select /*+ set_var({name}=1) */ 1")
    fact["hint"] = not any("set_var" in row[2].lower() for row in ask("show warnings"))
    members = []
    if fact["dynamic"] and kind in ("Enumeration", "Set") and name not in LEAVE:
        old = ask(f"select @@{at}.{name}")[0][0]
        for index in range(64):
            number = index if kind == "Enumeration" else 1 << index
            if (error := attempt(f"set {at} {name} = {number}")) and error[0] == 1231:
                break
            members.append(ask(f"select @@{at}.{name}")[0][0] if not error else None)
        attempt(f"set {at} {name} = '{old}'")
    fact["members"] = members
    if fact["dynamic"] and kind == "Integer" and name not in LEAVE and "value" in fact and isinstance(fact["value"], int):
        block, old = 1, fact["value"]
        for value in (old + 1, old - 1):
            if not int(low or 0) <= value <= int(high or 0) or attempt(f"set {at} {name} = {value}"):
                continue
            now = ask(f"select @@{at}.{name}")[0][0]
            if now == value or not 0 < value - now < 2**25:
                break
            # The distance to the next value that is taken as it is.
            for block in (2, 4, 8, 10, 16, 32, 64, 100, 128, 256, 512, 1024, 4096, 8192, 16384, 65536, 1048576, 16777216):
                if not attempt(f"set {at} {name} = {now + block}") and ask(
                        f"select @@{at}.{name}")[0][0] == now + block:
                    break
            break
        attempt(f"set {at} {name} = {old}")
        fact["block"] = block
    facts.append(fact)
status = [row[0] for row in ask("show global status")]
print(json.dumps({"variables": facts, "status": status, "version": ask("select version()")[0][0]}, indent=1))
attempt("drop user nobody@localhost")
