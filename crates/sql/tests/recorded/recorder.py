"""Records what a MySQL server answers to statements, as text that the tests read.

    > statement                a blank line in front begins a new case: a fresh session
    ! 1231 message             its error
    ~ Warning 1292 message     its warnings
    = value<TAB>value          its rows; N is NULL, I9 an integer, D1.5 a number with a point, Tabc text
"""
import decimal
import pymysql


def escape(text):
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def shown(value):
    if value is None:
        return "N"
    if isinstance(value, int):
        return f"I{value}"
    if isinstance(value, (float, decimal.Decimal)):
        return f"D{value}"
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return "T" + escape(str(value))


def run(cursor, statement, out, prefix=""):
    """Runs one, and appends what it answered."""
    out.append(f"> {prefix}{escape(statement)}")
    try:
        cursor.execute(statement)
        for row in cursor.fetchall():
            out.append("= " + "\t".join(map(shown, row)))
        failed = False
    except pymysql.Error as error:
        out.append(f"! {error.args[0]} {escape(str(error.args[1]))}")
        failed = True
    if not statement.upper().startswith(("SHOW WARNINGS", "SELECT @@ERROR", "SELECT @@WARN")):
        cursor.execute("show warnings")
        rows = cursor.fetchall()
        for level, number, text in rows:
            if not failed or level != "Error":
                out.append(f"~ {level} {number} {escape(text)}")
