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


def shown_fully(value):
    """NULL is a word, bytes that are no UTF-8 are hexadecimal digits."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        try:
            value = value.decode("utf-8")
        except UnicodeDecodeError:
            return "0x" + value.hex().upper()
    return "\\NULL" if value == "NULL" else escape(value)


def run_fully(cursor, statement, out, prefix=""):
    """Runs one by a cursor that converts nothing, and appends all that it answered, types and counts too.

    : name type length decimals flags collation     for each column, tabs between them, as the protocol announces them
    = value<TAB>value                               sorted as text without ORDER BY
    . affected insert_id info                       of a statement that has no rows

    A statement behind `+` in place of `>` is run in front of a case, unseen.
    """
    out.append(f"> {prefix}{escape(statement)}")
    failed, warnings = None, 1
    try:
        cursor.execute(statement)
        result = cursor._result
        warnings = result.warning_count
        if result.description:
            out.append(": " + "\t".join(f"{escape(field.name)} {field.type_code} {field.length} {field.scale} "
                                        f"{field.flags} {field.charsetnr}" for field in result.fields))
            rows = ["= " + "\t".join(map(shown_fully, row)) for row in cursor.fetchall()]
            out += rows if " order by " in statement.lower().replace("\n", " ") else sorted(rows)
        else:
            # Its length is in front of it.
            message = result.message[1:].decode("utf-8") if result.message else ""
            out.append(f". {result.affected_rows} {result.insert_id} {escape(message)}".rstrip())
    except pymysql.Error as error:
        failed = error.args[0]
        out.append(f"! {failed} {escape(str(error.args[1]))}")
    if warnings and not statement.upper().startswith("SHOW "):
        cursor.execute("show warnings")
        for level, number, text in cursor.fetchall():
            if level != "Error" or number != str(failed):
                out.append(f"~ {level} {number} {escape(text)}")
