#!/usr/bin/env python3
"""Records what a MySQL server answers to the statements of *.test in this folder, as *.result.

    record.py [--host 127.0.0.1] [--port 3306] [--user root] [--password ''] [NAME ...]        needs PyMySQL

A .test file:

    # a comment
    --each                       the paragraph that begins so is run, unseen, in front of each case of the file
    CREATE TABLE t (a int)

    INSERT INTO t VALUES (1),    a case: a paragraph; one statement a line, or more lines
      (2)                        of which those behind the first begin with a space
    --connection two             the statements behind it are run by another session
    SELECT * FROM t

Each case begins in an empty database `suite` with fresh sessions in UTC. A statement without ORDER BY has its rows sorted
as text, here and in the test, so that it may be answered in any order. For time_zones.test the server needs the time zones
that it names (mysql_tzinfo_to_sql). `../recorded/recorder.py` says what a .result file looks like. The database `suite`
is dropped before and after.
"""
import argparse
import os
import pathlib
import re
import sys

import pymysql

here = pathlib.Path(__file__).parent
sys.path.insert(0, str(here.parent / "recorded"))
from recorder import escape, run_fully  # noqa: E402


def paragraphs(text):
    """The cases of a file: lists of (session, statement)."""
    for paragraph in re.split(r"\n[ \t]*\n", text):
        steps, who, is_each = [], "", False
        for line in paragraph.split("\n"):
            if line.startswith("#") or not line.strip():
                continue
            if line == "--each":
                is_each = True
            elif line.startswith("--connection "):
                who = line.split(" ", 1)[1].strip().replace("default", "")
            elif line.startswith(" ") and steps:
                steps[-1] = (steps[-1][0], steps[-1][1] + "\n" + line)
            else:
                steps.append((who, line))
        if steps:
            yield is_each, steps


def main():
    options = argparse.ArgumentParser(description="records the suite from a MySQL server")
    options.add_argument("--host", default="127.0.0.1")
    options.add_argument("--port", type=int, default=3306)
    options.add_argument("--user", default="root")
    options.add_argument("--password", default="")
    options.add_argument("names", nargs="*")
    options = options.parse_args()

    def session(database=None):
        connection = pymysql.connect(host=options.host, port=options.port, user=options.user,
                                     password=options.password, autocommit=True, charset="utf8mb4", conv={},
                                     database=database, local_infile=True)
        cursor = connection.cursor()
        cursor.execute("SET time_zone = '+00:00'")
        return cursor

    os.chdir(here)  # files of LOAD DATA LOCAL are named from here
    keeper = session()
    for test in sorted(here.glob("*.test")):
        if options.names and test.stem not in options.names:
            continue
        out, each = ["# Recorded by record.py from MySQL 9.7."], []
        for is_each, steps in paragraphs(test.read_text()):
            if is_each:
                each = steps
                continue
            keeper.execute("DROP DATABASE IF EXISTS suite")
            keeper.execute("CREATE DATABASE suite CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci")
            sessions = {}
            out.append("")
            for at, (who, statement) in enumerate(each + steps):
                if who not in sessions:
                    sessions[who] = session("suite")
                prefix = f"[{who}] " if who else ""
                try:
                    if at < len(each):
                        out.append(f"+ {prefix}{escape(statement)}")
                        sessions[who].execute(statement)
                    else:
                        run_fully(sessions[who], statement, out, prefix)
                except pymysql.Error as error:
                    sys.exit(f"{test.name}: {statement}: {error}")
            for cursor in sessions.values():
                cursor.connection.close()
        test.with_suffix(".result").write_text("\n".join(out) + "\n")
    keeper.execute("DROP DATABASE IF EXISTS suite")


main()
