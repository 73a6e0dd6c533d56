#!/usr/bin/env python3
"""Writes system_tables.tsv: columns of performance_schema, and of the tables of information_schema that tell of a server.

usage: record_system_tables.py HOST PORT USER PASSWORD > system_tables.tsv
"""
import sys

import pymysql

host, port, user, password = sys.argv[1:5]
connection = pymysql.connect(host=host, port=int(port), user=user, password=password)
cursor = connection.cursor()
cursor.execute("SELECT VERSION()")
version = cursor.fetchone()[0]
print(f"# Columns of system tables, by record_system_tables.py from MySQL {version}.")
print("# schema.table, column, type, NULL")
cursor.execute(
    "SELECT LOWER(table_schema), table_name, column_name, column_type, is_nullable FROM information_schema.columns"
    " WHERE table_schema = 'performance_schema' OR table_schema = 'information_schema' AND table_name IN"
    " ('PROCESSLIST', 'INNODB_TRX', 'INNODB_METRICS', 'INNODB_BUFFER_POOL_STATS')"
    " ORDER BY 1, 2, ordinal_position"
)
for schema, table, column, kind, null in cursor.fetchall():
    kind = kind if isinstance(kind, str) else kind.decode()
    if kind.startswith(("enum", "set")):
        members = kind[kind.index("(") + 1 : -1].split(",")
        longest = max(len(member) - 2 for member in members)
        kind = f"varchar({longest if kind.startswith('enum') else sum(map(len, members))})"
    print(f"{schema}.{table}\t{column}\t{kind}\t{null}")
