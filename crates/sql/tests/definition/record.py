#!/usr/bin/env python3
"""Records what a MySQL server answers to the definitions in *.test, as *.result.

usage: record.py [HOST [PORT [USER [PASSWORD]]]]        needs PyMySQL

A .test file has cases with blank lines between them, one statement a line. Each case begins in an empty database
`definition`. A .result file repeats each statement, and what came of it:

    > CREATE TABLE t (a int)
    ok | error NUMBER MESSAGE
    LEVEL NUMBER MESSAGE            for each warning
    | VALUE | VALUE                 for each row of a result; line feeds are written \\n, NULL is NULL

At the end of a case each table that there is is shown as SHOW CREATE TABLE shows it, behind `= `.
"""
import pathlib
import re
import sys

import pymysql


def line(text):
    return str(text).replace("\\", "\\\\").replace("\n", "\\n").replace("\0", "\\0")


def value(item):
    return "NULL" if item is None else line(item.decode("utf8", "replace") if isinstance(item, bytes) else item)


def main():
    host, port, user, password = (sys.argv[1:] + ["127.0.0.1", "3306", "root", ""][len(sys.argv) - 1:])[:4]
    connection = pymysql.connect(host=host, port=int(port), user=user, password=password, autocommit=True)
    cursor = connection.cursor()
    for test in sorted(pathlib.Path(__file__).parent.glob("*.test")):
        out = []
        for case in re.split(r"\n\s*\n", test.read_text()):
            statements = [text for text in case.split("\n") if text.strip() and not text.startswith("#")]
            if not statements:
                continue
            for database in ("definition", "other"):
                cursor.execute(f"DROP DATABASE IF EXISTS {database}")
            cursor.execute("CREATE DATABASE definition CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci")
            cursor.execute("USE definition")
            cursor.execute("SET foreign_key_checks = 1, sql_mode = DEFAULT")
            for statement in statements:
                out.append("> " + statement)
                rows = []
                try:
                    cursor.execute(statement)
                    rows = cursor.fetchall()
                    out.append("ok")
                except pymysql.err.MySQLError as error:
                    out.append(f"error {error.args[0]} {line(error.args[1])}")
                out += ["| " + " | ".join(value(item) for item in row) for row in rows]
                cursor.execute("SHOW WARNINGS")
                out += [f"{w[0]} {w[1]} {line(w[2])}" for w in cursor.fetchall() if w[0] != "Error"]
            cursor.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = 'definition' "
                           "ORDER BY CAST(table_name AS BINARY)")
            for (table,) in cursor.fetchall():
                cursor.execute(f"SHOW CREATE TABLE `{table}`")
                out.append("= " + line(cursor.fetchone()[1]))
            out.append("")
        test.with_suffix(".result").write_text("\n".join(out))
    for database in ("definition", "other"):
        cursor.execute(f"DROP DATABASE IF EXISTS {database}")


main()
