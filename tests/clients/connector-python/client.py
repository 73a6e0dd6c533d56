"""MySQL Connector/Python, in Python alone: every type there and back, as text and by prepared statements, values sent in pieces,
query attributes, errors by number, transactions, several statements at once; over TCP with and without TLS, compressed, and
over the Unix socket.

(Its C library sends each number of a prepared statement as a FLOAT, and takes no large ones: it is not tested.)
"""

import functools
import io
import json
import os
import pathlib
import struct
import sys

import mysql.connector
from mysql.connector import errors

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from values import SENT, fails_with, read_types, same, wanted  # noqa: E402

DATABASE = "clients_connector_python"


def connect(way):
    where = {"host": os.environ["HOST"], "port": int(os.environ["PORT"])}
    if way == "socket":
        where = {"unix_socket": os.environ["SOCKET"]}
    # (The certificate is the server's own.)
    where |= {"ssl_disabled": way != "tls", "compress": way == "compressed"}
    options = {"user": os.environ["USER"], "password": os.environ["PASSWORD"], "use_pure": True, "time_zone": "+00:00"}
    return mysql.connector.connect(**where, **options)


def sent(kind, text):
    """A parameter. (Connector/Python 9.7 writes a time below zero, or of more than a day, wrongly, whatever server it is for.)"""
    return text if kind == "time" else SENT[kind](text)


def seen(kind, value):
    """What came, in a form that can be compared with what was sent."""
    match kind:
        case "float":
            return struct.pack("<f", value)
        case "json":
            return json.loads(value)
        case "bit" if isinstance(value, (bytes, bytearray)):
            return int.from_bytes(value, "big")
        case "text" if isinstance(value, set):
            return ",".join(sorted(value))
        case "text" if isinstance(value, (bytes, bytearray)):
            return value.decode()
        case "bytes":
            return bytes(value)
    return value


fails = functools.partial(fails_with, errors.Error)


def every_type(connection, columns):
    cursor, prepared = connection.cursor(), connection.cursor(prepared=True)
    names = ", ".join(f"c{n} {column_type}" for n, (_, column_type, _) in enumerate(columns))
    cursor.execute(f"CREATE TABLE types (id INT PRIMARY KEY, {names})")
    count = max(len(values) for _, _, values in columns)
    places = ", ".join(["%s"] * (1 + len(columns)))
    # By one statement, which is prepared once: what has changed of the parameters' types it says itself.
    for row in range(count):
        parameters = [sent(kind, values[row % len(values)]) for kind, _, values in columns]
        prepared.execute(f"INSERT INTO types VALUES ({places})", [row, *parameters])
        same(prepared.rowcount, 1, "rows inserted")
    prepared.execute(f"INSERT INTO types VALUES ({places})", [count] + [None] * len(columns))
    for reader in [cursor, prepared]:
        # (It cannot read times and years out of what a prepared statement shows, either.)
        shown = [n for n, (kind, _, _) in enumerate(columns) if reader is cursor or kind not in ("time", "year")]
        reader.execute(f"SELECT id, {', '.join(f'c{n}' for n in shown)} FROM types WHERE id >= %s ORDER BY id", [0])
        rows = reader.fetchall()
        same(len(rows), count + 1, "rows")
        for row, (number, *got) in enumerate(rows):
            same(number, row, "id")
            for n, value in zip(shown, got):
                kind, column_type, values = columns[n]
                where = f"{type(reader).__name__}: {column_type}, row {row}"
                expected = None if row == count else wanted(kind, values[row % len(values)])
                same(None if value is None else seen(kind, value), expected, where)
    # A value is found by what it is.
    for n, (kind, column_type, values) in enumerate(columns):
        if kind not in ("float", "json"):
            statement = f"SELECT COUNT(*) FROM types WHERE c{n} = %s AND id = 0"
            prepared.execute(statement, [sent(kind, values[0])])
            same(prepared.fetchone(), (1,), f"{column_type} found")
    for each in [cursor, prepared]:
        each.close()
    connection.cursor().execute("DROP TABLE types")


def pieces(connection):
    """Values that are sent before their statement, in pieces of 128 KiB."""
    connection.cursor().execute("CREATE TABLE pieces (id INT PRIMARY KEY, b LONGBLOB, n INT)")
    prepared = connection.cursor(prepared=True)
    for number, size in enumerate([0, 1, 131072, 131073, (1 << 20) + 7]):
        value = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
        given = io.BytesIO(value) if size else value
        prepared.execute("INSERT INTO pieces VALUES (%s, %s, %s)", [number, given, size])
        prepared.execute("SELECT b, n FROM pieces WHERE id = %s", [number])
        got, length = prepared.fetchone()
        same((len(got), length, bytes(got) == value), (size, size, True), "sent in pieces")
    prepared.close()
    connection.cursor().execute("DROP TABLE pieces")


def attributes(connection):
    cursor, prepared = connection.cursor(), connection.cursor(prepared=True)
    for each in [cursor, prepared]:
        each.add_attribute("trace", "abc")
        each.add_attribute("number", 7)
    cursor.execute("SELECT 1")
    same(cursor.fetchall(), [(1,)], "a query with attributes")
    for value in [5, 6]:
        prepared.execute("SELECT %s + 1", [value])
        same(prepared.fetchall(), [(value + 1,)], "a prepared statement with attributes")
    prepared.execute("SELECT 8")
    same(prepared.fetchall(), [(8,)], "one without parameters")
    connection.query_attrs_clear()


def numbers(connection):
    """What errors and statements say of themselves."""
    cursor, prepared = connection.cursor(), connection.cursor(prepared=True)
    columns = "id INT PRIMARY KEY AUTO_INCREMENT, n TINYINT NOT NULL, s VARCHAR(3) UNIQUE, day DATE"
    cursor.execute(f"CREATE TABLE parent ({columns})")
    cursor.executemany("INSERT INTO parent (n, s, day) VALUES (%s, %s, %s)", [(1, "a", "2024-02-10"), (2, "b", None)])
    same((cursor.rowcount, cursor.lastrowid), (2, 1), "several rows in one statement")
    for number, statement, parameters in [
        (1062, "INSERT INTO parent (n, s) VALUES (%s, %s)", [1, "A"]),
        (1048, "INSERT INTO parent (n) VALUES (%s)", [None]),
        (1264, "INSERT INTO parent (n) VALUES (%s)", [128]),
        (1406, "INSERT INTO parent (n, s) VALUES (%s, %s)", [3, "long"]),
        (1366, "INSERT INTO parent (n) VALUES (%s)", ["x"]),
        (1146, "SELECT * FROM nowhere WHERE n = %s", [1]),
        (1054, "SELECT nothing FROM parent WHERE n = %s", [1]),
        (1064, "SELEKT %s", [1]),
    ]:
        for each in [cursor, prepared]:
            fails(number, lambda: each.execute(statement, parameters))
    # A text that is no date is nothing that a day can be.
    fails(1292, lambda: prepared.execute("DELETE FROM parent WHERE day = %s", ["no day"]))
    prepared.execute("SELECT id FROM parent WHERE day = %s", ["no day"])
    same(prepared.fetchall(), [], "a day that is none")
    prepared.execute("SELECT id FROM parent WHERE day = %s", ["2024-02-10"])
    same(prepared.fetchall(), [(1,)], "a day")
    prepared.execute("UPDATE parent SET n = %s WHERE id IN (%s, %s)", [1, 1, 2])
    same(prepared.rowcount, 1, "rows changed")
    # A number that is sent as a text counts rows, too.
    for statement in ["SELECT id FROM parent LIMIT %s", "SELECT id FROM parent LIMIT 5 OFFSET %s"]:
        prepared.execute(statement, ["1"])
        same(len(prepared.fetchall()), 1, statement)
    for statement in ["UPDATE parent SET n = n + 1 ORDER BY id LIMIT %s", "DELETE FROM parent ORDER BY id LIMIT %s"]:
        fails(1690, lambda: prepared.execute(statement, [-1]))
        prepared.execute(statement, ["1"])
        same(prepared.rowcount, 1, statement)
    connection.rollback()
    cursor.execute("SELECT COUNT(*) FROM parent")
    same(cursor.fetchone(), (0,), "after ROLLBACK")
    for each in [cursor, prepared]:
        each.close()
    connection.cursor().execute("DROP TABLE parent")


def several(connection):
    cursor = connection.cursor()
    cursor.execute("SELECT 1; SET @a = 2; SELECT @a, 'x'; SELECT 3 WHERE 0")
    results = []
    while True:
        results.append(cursor.fetchall() if cursor.with_rows else None)
        if not cursor.nextset():
            break
    same(results, [[(1,)], None, [(2, "x")], []], "several statements")
    cursor.close()
    rows = connection.cursor(dictionary=True, buffered=True)
    rows.execute("SELECT 1 AS one, NULL AS nothing")
    same(rows.fetchall(), [{"one": 1, "nothing": None}], "rows by name")
    rows.close()
    connection.cmd_reset_connection()
    connection.database = DATABASE
    cursor = connection.cursor()
    cursor.execute("SELECT @a, DATABASE(), CONNECTION_ID()")
    same(cursor.fetchone(), (None, DATABASE, connection.connection_id), "the session, begun anew")
    cursor.close()


def main():
    columns = read_types(sys.argv[1])
    ways = ["plain", "tls", "compressed"] + (["socket"] if os.environ["SOCKET"] else [])
    for way in ways:
        connection = connect(way)
        cursor = connection.cursor()
        cursor.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
        cursor.execute(f"CREATE DATABASE {DATABASE}")
        connection.database = DATABASE
        cursor.execute("SHOW STATUS LIKE 'Ssl_cipher'")
        same(bool(cursor.fetchone()[1]), way == "tls", "whether it is encrypted")
        every_type(connection, columns)
        pieces(connection)
        attributes(connection)
        numbers(connection)
        several(connection)
        connection.cursor().execute(f"DROP DATABASE {DATABASE}")
        connection.close()
        print(f"Connector/Python {mysql.connector.__version__}, {way}: {len(columns)} types, pieces, attributes, errors")


main()
