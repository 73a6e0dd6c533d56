"""What types.tsv says, in Python: columns, and values as they are sent and wanted back; and whether it is so."""

import datetime
import decimal
import json
import struct


def read_types(path):
    """Columns as (kind, type, values)."""
    with open(path, encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines if not line.startswith("#")]
    return [(kind, column_type, values) for kind, column_type, *values in rows]


def time_of(text):
    negative, text = text.startswith("-"), text.lstrip("-")
    hours, minutes, seconds = text.split(":")
    whole, _, fraction = seconds.partition(".")
    time = datetime.timedelta(
        hours=int(hours), minutes=int(minutes), seconds=int(whole), microseconds=int(fraction or "0")
    )
    return -time if negative else time


def datetime_of(text):
    return datetime.datetime.strptime(text, "%Y-%m-%d %H:%M:%S.%f" if "." in text else "%Y-%m-%d %H:%M:%S")


# What a value is in Python, as it is sent and as it is wanted back.
SENT = {
    "integer": int,
    "decimal": decimal.Decimal,
    "float": float,
    "double": float,
    "date": datetime.date.fromisoformat,
    "time": time_of,
    "datetime": datetime_of,
    "year": int,
    "bit": int,
    "text": str,
    "bytes": bytes.fromhex,
    "json": str,
}


def wanted(kind, text):
    """What is to come, in a form that can be compared with what has come."""
    value = SENT[kind](text)
    match kind:
        case "float":
            return struct.pack("<f", value)
        case "json":
            return json.loads(value)
    return value


def same(got, expected, where):
    if got != expected or type(got) is not type(expected):
        raise AssertionError(f"{where}: got {got!r}, expected {expected!r}")


def fails_with(error, number, run):
    """`error`: the driver's class, whose first argument is MySQL's number and the second its message."""
    try:
        run()
    except error as raised:
        same(raised.args[0], number, raised.args[1] if len(raised.args) > 1 else raised)
    else:
        raise AssertionError(f"error {number} did not come")
