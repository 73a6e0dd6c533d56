"""PyMySQL: every type there and back, errors by number, transactions, several statements at once, large values; over
TCP with and without TLS, and over the Unix socket.

PyMySQL writes parameters into the statement's text; it has no prepared statements of its own, so PREPARE and EXECUTE
are used as statements.
"""

import functools
import json
import os
import pathlib
import ssl
import struct
import sys

import pymysql
from pymysql.constants import CLIENT

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from values import SENT, fails_with, read_types, same, wanted  # noqa: E402

DATABASE = "clients_pymysql"


def connect(tls, **more):
    where = {"host": os.environ["HOST"], "port": int(os.environ["PORT"])}
    if tls == "socket":
        where = {"unix_socket": os.environ["SOCKET"]}
    elif tls == "tls":
        context = ssl.create_default_context()
        # The certificate is the server's own.
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        where["ssl"] = context
    else:
        where["ssl_disabled"] = True
    options = {"user": os.environ["USER"], "password": os.environ["PASSWORD"], "charset": "utf8mb4"}
    options["init_command"] = "SET time_zone = '+00:00'"
    return pymysql.connect(**where, **{**options, **more})


def sent(kind, text):
    """A parameter. (PyMySQL 1.1 writes a time below zero wrongly, whatever server it is for.)"""
    return text if kind == "time" and text.startswith("-") else SENT[kind](text)


def seen(kind, value):
    """What came, in a form that can be compared with what was sent."""
    match kind:
        case "float":
            return struct.pack("<f", value)
        case "bit":
            return int.from_bytes(value, "big")
        case "json":
            return json.loads(value)
    return value


fails = functools.partial(fails_with, pymysql.MySQLError)


def every_type(connection, columns):
    cursor = connection.cursor()
    names = ", ".join(f"c{n} {column_type}" for n, (_, column_type, _) in enumerate(columns))
    cursor.execute(f"CREATE TABLE types (id INT PRIMARY KEY, {names})")
    count = max(len(values) for _, _, values in columns)
    places = ", ".join(["%s"] * (1 + len(columns)))
    for row in range(count):
        parameters = [sent(kind, values[row % len(values)]) for kind, _, values in columns]
        same(cursor.execute(f"INSERT INTO types VALUES ({places})", [row, *parameters]), 1, "rows inserted")
    cursor.execute(f"INSERT INTO types VALUES ({places})", [count] + [None] * len(columns))
    # As text; and by a statement that is prepared by name, whose rows are text as well.
    cursor.execute("PREPARE all_of_them FROM 'SELECT * FROM types WHERE id < ? ORDER BY id'")
    cursor.execute("SET @limit = 1000")
    for statement in ["SELECT * FROM types ORDER BY id", "EXECUTE all_of_them USING @limit"]:
        same(cursor.execute(statement), count + 1, "rows")
        for row, (number, *got) in enumerate(cursor):
            same(number, row, "id")
            for (kind, column_type, values), value in zip(columns, got):
                where = f"{statement}: {column_type}, row {row}"
                if row == count:
                    same(value, None, where)
                else:
                    same(seen(kind, value), wanted(kind, values[row % len(values)]), where)
    cursor.execute("DEALLOCATE PREPARE all_of_them")
    # A value is found by what it is.
    for n, (kind, column_type, values) in enumerate(columns):
        if kind not in ("float", "json"):
            cursor.execute(f"SELECT COUNT(*) FROM types WHERE c{n} = %s AND id = 0", [sent(kind, values[0])])
            same(cursor.fetchone(), (1,), f"{column_type} found")
    cursor.execute("DROP TABLE types")


def errors(connection):
    cursor = connection.cursor()
    run = lambda statement: lambda: cursor.execute(statement)
    cursor.execute("CREATE TABLE parent (id INT PRIMARY KEY, n TINYINT NOT NULL, s VARCHAR(3), UNIQUE (s))")
    cursor.execute("CREATE TABLE child (p INT, FOREIGN KEY (p) REFERENCES parent (id))")
    cursor.execute("INSERT INTO parent VALUES (1, 1, 'a')")
    for number, statement in [
        (1062, "INSERT INTO parent VALUES (1, 1, 'b')"),
        (1062, "INSERT INTO parent VALUES (2, 1, 'A')"),
        (1048, "INSERT INTO parent VALUES (2, NULL, 'b')"),
        (1264, "INSERT INTO parent VALUES (2, 128, 'b')"),
        (1406, "INSERT INTO parent VALUES (2, 1, 'long')"),
        (1366, "INSERT INTO parent VALUES (2, 'x', 'b')"),
        (1364, "INSERT INTO parent (id) VALUES (2)"),
        (1136, "INSERT INTO parent VALUES (2)"),
        (1452, "INSERT INTO child VALUES (7)"),
        (1146, "SELECT * FROM nowhere"),
        (1054, "SELECT nothing FROM parent"),
        (1064, "SELEKT 1"),
        (1049, "USE no_such_database"),
        (1050, "CREATE TABLE parent (id INT)"),
        (1007, f"CREATE DATABASE {DATABASE}"),
        (1051, "DROP TABLE nowhere"),
        (1305, "SELECT no_such_function(1)"),
        (1193, "SET no_such_variable = 1"),
        (1231, "SET sql_mode = 'NONSENSE'"),
        (1065, ""),
    ]:
        fails(number, run(statement))
    cursor.execute("INSERT INTO child VALUES (1)")
    fails(1451, run("DELETE FROM parent"))
    cursor.execute("INSERT IGNORE INTO parent VALUES (3, 1000, 'much too long')")
    same(cursor.warning_count, 2, "warnings")
    cursor.execute("SHOW WARNINGS")
    same([(level, number) for level, number, _ in cursor], [("Warning", 1264), ("Warning", 1265)], "SHOW WARNINGS")
    cursor.execute("DROP TABLE child, parent")


def transactions(connection, other):
    cursor, beside = connection.cursor(), other.cursor()
    cursor.execute("CREATE TABLE counted (id INT AUTO_INCREMENT PRIMARY KEY, n INT)")
    same(cursor.executemany("INSERT INTO counted (n) VALUES (%s)", [[1], [2], [3]]), 3, "rows of many")
    same(cursor.lastrowid, 1, "the first id of many")
    connection.commit()

    def count(cursor):
        cursor.execute("SELECT COUNT(*) FROM counted")
        return cursor.fetchone()[0]

    connection.begin()
    cursor.execute("INSERT INTO counted (n) VALUES (4)")
    same(cursor.lastrowid, 4, "the last id")
    same((count(cursor), count(beside)), (4, 3), "before the end")
    other.commit()
    cursor.execute("SAVEPOINT here")
    cursor.execute("DELETE FROM counted")
    cursor.execute("ROLLBACK TO here")
    same(count(cursor), 4, "after ROLLBACK TO")
    connection.rollback()
    same(count(cursor), 3, "after ROLLBACK")
    # A row that another one holds.
    connection.begin()
    cursor.execute("UPDATE counted SET n = 10 WHERE id = 1")
    fails(3572, lambda: beside.execute("SELECT * FROM counted WHERE id = 1 FOR UPDATE NOWAIT"))
    same(beside.execute("SELECT id FROM counted FOR UPDATE SKIP LOCKED"), 2, "rows that nobody holds")
    beside.execute("SET innodb_lock_wait_timeout = 1")
    fails(1205, lambda: beside.execute("UPDATE counted SET n = 11 WHERE id = 1"))
    other.rollback()
    connection.commit()
    same(cursor.execute("UPDATE counted SET n = 10 WHERE id IN (1, 2)"), 1, "rows changed")
    connection.commit()
    cursor.execute("DROP TABLE counted")


def several(tls):
    connection = connect(tls, database=DATABASE, client_flag=CLIENT.MULTI_STATEMENTS)
    cursor = connection.cursor()
    cursor.execute("SELECT 1; SET @a = 2; SELECT @a, 'x'; SELECT * FROM nowhere; SELECT 3")
    same(cursor.fetchall(), ((1,),), "the first")
    same(cursor.nextset(), True, "a second")
    same(cursor.nextset(), True, "a third")
    same(cursor.fetchall(), ((2, "x"),), "the third")
    fails(1146, cursor.nextset)
    same(cursor.execute("SELECT 4"), 1, "afterwards")
    connection.close()
    # Without the flag it is an error.
    connection = connect(tls)
    fails(1064, lambda: connection.cursor().execute("SELECT 1; SELECT 2"))
    # Rows as they come, and no more of them than are wanted.
    cursor = connection.cursor(pymysql.cursors.SSCursor)
    cursor.execute("WITH ten AS (" + " UNION ALL ".join(["SELECT 1 AS n"] * 10) + ") SELECT 7 FROM ten a, ten b, ten c")
    same([cursor.fetchone() for _ in range(3)], [(7,)] * 3, "the first three of 1000")
    cursor.close()
    connection.close()


def large(connection):
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE large (id INT PRIMARY KEY, b LONGBLOB, t LONGTEXT)")
    # A packet of the protocol takes 16 MiB less one byte; these take one more, and three.
    for number, size in enumerate([(1 << 24) - 1, 1 << 24, (17 << 20) + 3]):
        # No byte of it needs an escape: the statement is hardly larger than the value.
        value = bytes(range(128, 256)) * (size // 128) + b"x" * (size % 128)
        cursor.execute("INSERT INTO large VALUES (%s, %s, %s)", [number, value, "ä"])
        cursor.execute("SELECT b, LENGTH(b) FROM large WHERE id = %s", [number])
        got, length = cursor.fetchone()
        same(length, size, "length")
        if got != value:
            raise AssertionError(f"{size} bytes came back otherwise")
    cursor.execute("DROP TABLE large")


def encodings(tls):
    """Text in the connection's character set."""
    connection = connect(tls, database=DATABASE, charset="latin1")
    cursor = connection.cursor()
    cursor.execute("SELECT %s, HEX(%s), CHAR_LENGTH(%s)", ["ä", "ä", "ä"])
    same(cursor.fetchone(), ("ä", "E4", 1), "latin1")
    connection.close()


def facts(connection, tls):
    cursor = connection.cursor(pymysql.cursors.DictCursor)
    cursor.execute("SHOW STATUS LIKE 'Ssl_cipher'")
    same(bool(cursor.fetchone()["Value"]), tls == "tls", "whether it is encrypted")
    cursor.execute("SELECT CONNECTION_ID() AS id, DATABASE() AS d, @@version_comment IS NULL AS v")
    same(cursor.fetchone(), {"id": connection.thread_id(), "d": DATABASE, "v": 0}, "the session")
    connection.ping(reconnect=False)
    connection.select_db("information_schema")
    connection.select_db(DATABASE)
    same(connection.get_autocommit(), False, "autocommit")


def main():
    columns = read_types(sys.argv[1])
    ways = ["plain", "tls"] + (["socket"] if os.environ["SOCKET"] else [])
    for way in ways:
        with connect(way) as connection:
            connection.cursor().execute(f"DROP DATABASE IF EXISTS {DATABASE}")
            connection.cursor().execute(f"CREATE DATABASE {DATABASE}")
        connection, other = connect(way, database=DATABASE), connect(way, database=DATABASE)
        facts(connection, way)
        every_type(connection, columns)
        errors(connection)
        transactions(connection, other)
        several(way)
        encodings(way)
        large(connection)
        connection.cursor().execute(f"DROP DATABASE {DATABASE}")
        connection.close()
        other.close()
        print(f"PyMySQL {pymysql.__version__}, {way}: {len(columns)} types, errors, transactions, large values")


main()
