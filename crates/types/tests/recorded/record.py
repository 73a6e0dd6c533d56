#!/usr/bin/env python3
"""Records what a real MySQL answers, into the .tsv files of this folder.

    record.py --host 127.0.0.1 --port 3306 --user root --password ""

Needs PyMySQL, and the right to create and drop the database `meseta_types_record`. One case a line, fields separated by
tabs: the operation, its arguments, the result, the conditions ("level number message", joined by " | "). Arguments are
values in a small notation: i:1 integer, d:1.5 decimal, f:1.5 double, s:text, x:hex bytes, D:date, T:time, P:date and time,
j:json, n: NULL. A result is text; NULL is \\N; an error is "!number message".
"""
import argparse
import itertools
import random

import pymysql

random.seed(7)


def literal(value):
    kind, text = value.split(":", 1)
    quoted = "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
    return {
        "i": text if not text.startswith("-") else f"({text})",
        "d": text if not text.startswith("-") else f"({text})",
        "f": f"(0e0 + {text}e0)" if "e" not in text else f"(0e0 + {text})",
        "s": quoted,
        "x": f"_binary x'{text}'" if text else "_binary ''",
        "D": f"DATE {quoted}",
        "T": f"TIME {quoted}",
        "P": f"TIMESTAMP {quoted}",
        "j": f"CAST({quoted} AS JSON)",
        "n": "NULL",
    }[kind]


def escape(text):
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r").replace("\0", "\\0")


def shown(value):
    if value is None:
        return "\\N"
    if isinstance(value, bytes):
        try:
            value = value.decode("utf-8")
        except UnicodeDecodeError:
            return "\\x" + value.hex()
    return escape(str(value))


class Recorder:
    def __init__(self, arguments):
        self.connection = pymysql.connect(
            host=arguments.host, port=arguments.port, user=arguments.user, password=arguments.password,
            charset="utf8mb4", conv={}, autocommit=True,
        )
        self.cursor = self.connection.cursor()
        for statement in (
            "SET collation_connection = utf8mb4_0900_ai_ci, max_error_count = 64, time_zone = '+00:00'",
            "DROP DATABASE IF EXISTS meseta_types_record",
            "CREATE DATABASE meseta_types_record",
            "USE meseta_types_record",
        ):
            self.cursor.execute(statement)

    def conditions(self):
        self.cursor.execute("SHOW WARNINGS")
        rows = self.cursor.fetchall()
        return " | ".join(escape(f"{level} {number} {message}") for level, number, message in rows)

    def ask(self, expression):
        try:
            self.cursor.execute("SELECT " + expression)
            value = self.cursor.fetchall()[0][0]
            return shown(value), self.conditions()
        except pymysql.MySQLError as error:
            return f"!{error.args[0]} {escape(str(error.args[1]))}", ""

    def write(self, name, cases):
        """Each case: (fields, expression)."""
        seen = set()
        with open(name + ".tsv", "w", encoding="utf-8") as file:
            count = 0
            for fields, expression in cases:
                line = "\t".join(escape(field) for field in fields)
                if line in seen:
                    continue
                seen.add(line)
                result, conditions = self.ask(expression)
                file.write(f"{line}\t{result}\t{conditions}\n")
                count += 1
        print(name, count)

    def write_assignments(self, types, values):
        count = 0
        with open("assign.tsv", "w", encoding="utf-8") as file:
            for type_ in types:
                self.cursor.execute("DROP TABLE IF EXISTS t")
                self.cursor.execute(f"CREATE TABLE t (c {type_} NULL)")
                for mode in ("strict", "loose"):
                    setting = "STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE" if mode == "strict" else ""
                    self.cursor.execute(f"SET sql_mode = '{setting}'")
                    for value in values:
                        self.cursor.execute("DELETE FROM t")
                        try:
                            self.cursor.execute(f"INSERT INTO t VALUES ({literal(value)})")
                            conditions = self.conditions()
                            self.cursor.execute("SELECT c FROM t")
                            result = self.cursor.fetchall()[0][0]
                            if type_.startswith("bit"):
                                self.cursor.execute("SELECT c + 0 FROM t")
                                result = self.cursor.fetchall()[0][0]
                            result = shown(result)
                        except pymysql.MySQLError as error:
                            result, conditions = f"!{error.args[0]} {escape(str(error.args[1]))}", ""
                        file.write("\t".join(map(escape, (type_, mode, value))) + f"\t{result}\t{conditions}\n")
                        count += 1
        self.cursor.execute("SET sql_mode = DEFAULT")
        print("assign", count)


NUMBERS = """i:0 i:1 i:-1 i:7 i:127 i:128 i:-128 i:-129 i:255 i:256 i:32767 i:65536 i:8388608 i:2147483647 i:2147483648
i:-2147483649 i:4294967296 i:9223372036854775807 i:-9223372036854775808 i:18446744073709551615 d:1.5 d:2.5 d:-0.5 d:0.05
d:-1.55 d:99.995 d:123456.789 d:12345678901234567890123.5 d:0.000000000000000000000000000001 d:-99999.99 f:1.5 f:2.5
f:-0.5 f:1e10 f:1e20 f:-1e300 f:1.1 f:0.1 f:123456789.125 f:1e-7 i:2020 i:20200131 i:200131 i:20201301 i:101112 i:1960
i:20200131101112 i:69 i:70 i:1901 i:2155 i:2156 i:8385959 i:8390000 d:20200131101112.6 d:101112.55""".split()
TEXTS = ["s:" + text for text in (
    "", " ", "0", "1", "-1", "12abc", "abc", " 12 ", "1.5", "2.5", "-0.5", "1e3", "1e400", "1e-400", ".5", "5.", "+7", "--1", "1e",
    "127.5", "255", "256", "99999999999999999999", "-99999999999999999999", "123.456", "0.001", "12.345abc", "0x10",
    "2020-01-31", "2020-01-31 10:11:12", "2020-01-31 10:11:12.567", "2020-01-31 10:11:12.9999999", "2020-02-30",
    "2020-00-01", "0000-00-00", "20200131", "200131", "20-1-31", "2020-1-31x", "2020-13-01", "2020-01-31 25:00:00",
    "2020-01-31 10:11:12+02:00", "2020-01-31T10:11:12", "9999-12-31 23:59:59.9999999", "1960-01-01", "2040-01-01",
    "10:11:12", "10:11", "-10:11:12.5", "838:59:59", "839:00:00", "1 10:11:12", "10:60:00", "12", "101112", "101112.7",
    "abcdefghij", "abc   ", "ab", "häß", "日本語", "a", "b", "a,b", "b,a", "A", "a,x", "x", "3", "4", "[1, 2]", "{\"a\": 1}", "{a}", "null",
    "2020", "69", "70", "1900", "1901", "2156", "00", "000", "0000", "99", "100", "Smørrebrød",
)]
OTHERS = """x: x:00 x:61 x:ff x:616263 x:61626364656667 x:0102030405060708 x:010203040506070809 x:c3a4 x:f09f9880 D:2020-01-31
D:9999-12-31 D:1965-03-04 T:10:11:12 T:-10:11:12.567 T:838:59:59 T:00:00:00 P:2020-01-31~10:11:12 P:2020-01-31~10:11:12.999999
P:2038-01-19~03:14:08 j:1 j:-1.5 j:"abc" j:[1,2] j:true j:null j:{} j:"2020-01-31" n:""".replace("\n", " ").split(" ")
OTHERS = [value.replace("~", " ") for value in OTHERS if value]
VALUES = NUMBERS + TEXTS + OTHERS


def arithmetic_cases():
    operators = {"add": "+", "sub": "-", "mul": "*", "div": "/", "intdiv": "DIV", "mod": "MOD"}
    operands = """i:0 i:1 i:-1 i:7 i:-3 i:9223372036854775807 i:-9223372036854775808 i:18446744073709551615 i:3000000000
    d:0.0 d:1.5 d:-2.25 d:0.1 d:3.000 d:99999999999999999999.99 d:-0.0001 d:12345678901234567890123456789012345.6789 f:0.0
    f:1.5 f:-2.5 f:1e300 f:0.1 s:2 s:1.5x s:abc n: D:2020-01-31 T:10:11:12 P:2020-01-31~10:11:12.5""".split()
    operands = [value.replace("~", " ") for value in operands]
    for (name, operator), left, right in itertools.product(operators.items(), operands, operands):
        yield (name, left, right), f"{literal(left)} {operator} {literal(right)}"


def random_decimal():
    whole, fraction = random.choice([(3, 2), (18, 2), (10, 8), (30, 8), (40, 20), (5, 25), (60, 0), (35, 30)])
    digits = "".join(random.choice("0123456789") for _ in range(random.randint(1, whole))).lstrip("0") or "0"
    decimals = "".join(random.choice("0123456789") for _ in range(random.randint(0, fraction)))
    return random.choice(["", "-"]) + digits + ("." + decimals if decimals else "")


def decimal_cases():
    operators = {"add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "MOD"}
    for _ in range(1500):
        left, right = random_decimal(), random_decimal()
        for name, operator in operators.items():
            # Results of more than 65 digits are kept in another precision than MySQL's own.
            yield (name, left, right), f"({left}) {operator} ({right})"
        yield ("compare", left, right), f"IF(({left}) < ({right}), -1, ({left}) > ({right}))"
        places = random.randint(-5, 12)
        yield ("round", left, str(places)), f"ROUND({left}, {places})"
        yield ("truncate", left, str(places)), f"TRUNCATE({left}, {places})"
        yield ("floor", left, ""), f"FLOOR(CAST({left} AS DECIMAL(65, 20)))" if False else f"FLOOR({left})"
        yield ("double", left, ""), f"CAST({left} AS DOUBLE)"


def double_cases():
    numbers = [f"{sign}{mantissa}e{exponent}" for sign in ("", "-") for mantissa in
               ("1", "1.5", "9.999999", "1.2345678901234567", "123456789", "7.000001") for exponent in range(-24, 25)]
    numbers += [repr(random.uniform(-1, 1) * 10 ** random.randint(-30, 30)) for _ in range(600)]
    for number in numbers:
        if "e" not in number:
            number += "e0"
        yield ("print", number), f"CAST({number} AS CHAR)"
        yield ("float", number), f"CAST(CAST({number} AS FLOAT) AS CHAR)"
        yield ("signed", number), f"CAST({number} AS SIGNED)"
        yield ("decimal", number), f"CAST({number} AS DECIMAL(65,20))"
        yield ("round2", number), f"ROUND({number}, 2)"
        yield ("round-2", number), f"ROUND({number}, -2)"


def cast_cases():
    targets = ["signed", "unsigned", "double", "decimal(10,2)", "decimal(65,30)", "char", "char(3)", "binary(3)", "date", "datetime",
               "datetime(6)", "datetime(1)", "time", "time(3)", "year", "json", "float"]
    for target, value in itertools.product(targets, VALUES):
        yield (target, value), f"CAST({literal(value)} AS {target})"


def compare_cases():
    values = """i:0 i:1 i:-1 i:12 i:18446744073709551615 i:9223372036854775807 i:20200131 i:101112 d:1.0 d:1.5 d:-1.5
    d:18446744073709551615.5 f:1.0 f:1.5 f:1e30 s: s:a s:A s:a~ s:1 s:1.0 s:1x s:-1 s:2020-01-31 s:2020-1-31 s:10:11:12 s:abc
    s:9007199254740993 i:9007199254740993 x:61 x:31 D:2020-01-31 D:2020-02-01 T:10:11:12 P:2020-01-31~00:00:00 P:2020-01-31~10:11:12
    n: j:1 j:1.5 j:"a" j:"A" j:null j:[1] j:true j:"2020-01-31" """.split()
    values = [value.replace("~", " ") for value in values]
    for left, right in itertools.product(values, values):
        a, b = literal(left), literal(right)
        yield (left, right), f"CASE WHEN {a} < {b} THEN -1 WHEN {a} = {b} THEN 0 WHEN {a} > {b} THEN 1 END"


DATES = ["2020-01-01", "2020-02-29", "2019-12-29", "2019-12-30", "2019-12-31", "2021-01-03", "2021-01-04", "2000-01-01",
         "1999-12-31", "0001-01-01", "9999-12-31", "2024-06-15", "1970-01-01", "2016-01-03", "2017-01-01", "2018-12-31"]
DATES += [f"{random.randint(1, 9999):04}-{random.randint(1, 12):02}-{random.randint(1, 28):02}" for _ in range(60)]
CLOCKS = ["00:00:00", "23:59:59.999999", "12:00:00", "01:02:03.000004", "13:14:15.5"]
UNITS = ["MICROSECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "SECOND_MICROSECOND",
         "MINUTE_MICROSECOND", "MINUTE_SECOND", "HOUR_MICROSECOND", "HOUR_SECOND", "HOUR_MINUTE", "DAY_MICROSECOND",
         "DAY_SECOND", "DAY_MINUTE", "DAY_HOUR", "YEAR_MONTH"]


def temporal_cases():
    for date in DATES:
        for mode in range(8):
            yield ("week", date, str(mode)), f"WEEK('{date}', {mode})"
            yield ("yearweek", date, str(mode)), f"YEARWEEK('{date}', {mode})"
        yield ("to_days", date, ""), f"TO_DAYS('{date}')"
        yield ("weekday", date, ""), f"WEEKDAY('{date}')"
        yield ("dayofyear", date, ""), f"DAYOFYEAR('{date}')"
        yield ("last_day", date, ""), f"LAST_DAY('{date}')"
        other = random.choice(DATES)
        yield ("datediff", date, other), f"DATEDIFF('{date}', '{other}')"
        for clock in random.sample(CLOCKS, 2):
            stamp = f"{date} {clock}"
            second = f"{other} {random.choice(CLOCKS)}"
            for unit in UNITS:
                yield ("extract", stamp, unit), f"EXTRACT({unit} FROM CAST('{stamp}' AS DATETIME(6)))"
                amount = random.choice(["1", "-1", "40", "-400", "1:2", "3 4:5:6.7", "1.5", "-2-3", "10000", "x", "", "1:1:1:1:1:1"])
                if unit in UNITS[:9]:
                    amount = random.choice(["1", "-1", "13", "-400", "100000", "0"])
                yield ("add", stamp, f"{amount}|{unit}"), f"DATE_ADD(CAST('{stamp}' AS DATETIME(6)), INTERVAL '{amount}' {unit})"
                if unit in UNITS[:9]:
                    yield ("timestampdiff", stamp, f"{second}|{unit}"), f"TIMESTAMPDIFF({unit}, '{stamp}', '{second}')"
            for format_ in ("%Y %y %m %c %d %e %D %j", "%H %k %h %I %l %i %s %S %f %p %r %T", "%a %W %b %M %w",
                            "%U %u %V %v %X %x", "%% %q %", "ä%Y"):
                yield ("date_format", stamp, format_), f"DATE_FORMAT(CAST('{stamp}' AS DATETIME(6)), '{format_}')"
    for number in [1, 365, 366, 367, 700000, 730485, 3652424] + [random.randint(366, 3652424) for _ in range(50)]:
        yield ("from_days", str(number), ""), f"FROM_DAYS({number})"
    for text, format_ in [
        ("2020-01-31", "%Y-%m-%d"), ("31.01.20", "%d.%m.%y"), ("Jan 5 2020", "%b %e %Y"), ("January 5th 2020", "%M %D %Y"),
        ("10:11:12 PM", "%h:%i:%s %p"), ("10:11:12 PM", "%r"), ("13:11:12", "%T"), ("2020-01-31 10:11:12.5", "%Y-%m-%d %H:%i:%s.%f"),
        ("2020 60", "%Y %j"), ("Monday 2020 5", "%W %x %v"), ("2020-01-31x", "%Y-%m-%d"), ("x", "%Y"), ("2020-02-31", "%Y-%m-%d"),
        ("202001", "%Y%m"), ("abc2020", "abc%Y"), ("2020abc1", "%Y%@%m"), ("2020--1", "%Y%.%c"), ("99", "%m"), ("12", "%h"), ("0 AM", "%h %p"),
        ("Sunday 2020 1", "%W %X %V"), ("3 2019 52", "%w %Y %U"), (" 2020-01-02", "%Y-%m-%d"), ("5", "%d"),
    ]:
        yield ("str_to_date", text, format_), f"STR_TO_DATE('{text}', '{format_}')"
    zones = ["+02:00", "-03:30", "+14:00", "-13:59"]
    for date, zone in itertools.product(DATES[:8], zones):
        yield ("convert_tz", date + " 10:11:12", zone), f"CONVERT_TZ('{date} 10:11:12', '+00:00', '{zone}')"


WORDS = ["", " ", "a", "A", "b", "ä", "Ä", "ae", "æ", "ß", "ss", "SS", "ſ", "é", "e", "É", "z", "Z", "_", "%", "a ", "a  b", "a\t", "a!", "\t", "å", "Å", "ø",
         "o", "日本", "日", "本", "한국", "한", "ㅎ", "😀", "😁", "ﬁ", "fi", "ı", "i", "İ", "I", "к", "К", "ё", "е", "ﷺ", "-", "'", "1", "10", "9", "à́", "à", "a\u0001", "\u200d", "ñ", "n",
         "ç", "c", "Œ", "oe", "þ", "ð", "th", "½", "²", "2", "Ⅳ", "IV", "ｱ", "ア", "あ", "か", "が", "ก", "เก", "ا", "أ", "א", "ǆ", "Ǆ", "dž", "\ufffd", "ab ", "ab", "aB\t ", "ab  !"]


def collation_cases():
    unicode_collations = ["utf8mb4_0900_ai_ci", "utf8mb4_0900_bin", "utf8mb4_bin", "utf8mb4_general_ci", "utf8mb4_unicode_ci", "utf8mb4_unicode_520_ci"]
    quoted = lambda text: "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
    pairs = random.sample(list(itertools.product(WORDS, WORDS)), 1400)
    letters = "aAäbB sSß\téEoz"
    pairs += [("".join(random.choices(letters, k=random.randint(0, 5))), "".join(random.choices(letters, k=random.randint(0, 5)))) for _ in range(500)]
    for collation in unicode_collations:
        for a, b in pairs:
            x, y = (f"{quoted(word)} COLLATE {collation}" for word in (a, b))
            yield ("compare", collation, a, b), f"STRCMP({x}, {y})"
        for a in WORDS:
            x = f"{quoted(a)} COLLATE {collation}"
            yield ("weights", collation, a, ""), f"HEX(WEIGHT_STRING({x}))"
            yield ("weights", collation, a, "3"), f"HEX(WEIGHT_STRING({x} AS CHAR(3)))"
            yield ("upper", collation, a, ""), f"UPPER({x})"
            yield ("lower", collation, a, ""), f"LOWER({x})"
    for collation in ("latin1_swedish_ci", "latin1_general_ci", "latin1_bin", "latin1_german1_ci", "ascii_general_ci", "ascii_bin"):
        charset = collation.split("_")[0]
        words = [word for word in WORDS if word.encode("cp1252" if charset == "latin1" else "ascii", "ignore").decode("cp1252") == word]
        words += ["ÀÉ", "ÿ", "Ÿ", "÷", "×", "€"] if charset == "latin1" else []
        for a in words:
            x = f"CONVERT({quoted(a)} USING {charset}) COLLATE {collation}"
            yield ("weights", collation, a, ""), f"HEX(WEIGHT_STRING({x}))"
            for b in random.sample(words, 12):
                yield ("compare", collation, a, b), f"STRCMP({x}, CONVERT({quoted(b)} USING {charset}) COLLATE {collation})"
    patterns = ["%", "_", "a%", "%a", "a_", "_a", "%b%", "a\\%", "a\\_b", "\\", "ä%", "ss", "ß", "%ß%", "a%b%c", "__", "% ", "A", "%日%", "😀", "e", "\\\\"]
    texts = WORDS + ["abc", "aXbYc", "a%", "a_b", "axb", "straße", "STRASSE", "xäy", "a\\"]
    for collation in ("utf8mb4_0900_ai_ci", "utf8mb4_bin", "utf8mb4_general_ci", "utf8mb4_unicode_ci", "utf8mb4_unicode_520_ci"):
        for text, pattern in itertools.product(texts, patterns):
            yield ("like", collation, text, pattern), f"{quoted(text)} LIKE {quoted(pattern)} COLLATE {collation}"
        for text, wanted in itertools.product(["straße", "Äpfel", "xäy", "abcABC", "日本語", "", "ﬁn", "a b"], ["ss", "ß", "a", "B", "本", "", "fi", "i", "ä", " b", "zz"]):
            yield ("locate", collation, text, wanted), f"LOCATE({quoted(wanted)}, {quoted(text)} COLLATE {collation})"
    points = [random.randrange(1, 0x30000) for _ in range(2500)] + [random.randrange(1, 0x3000) for _ in range(500)]
    for point in points:
        if 0xD800 <= point < 0xE000:
            continue
        character = f"CONVERT(CHAR({point} USING utf32) USING utf8mb4)"
        for collation in ("utf8mb4_0900_ai_ci", "utf8mb4_general_ci", "utf8mb4_unicode_ci", "utf8mb4_unicode_520_ci"):
            yield ("weights", collation, chr(point), ""), f"HEX(WEIGHT_STRING({character} COLLATE {collation}))"


JSON = ["1", "-1", "0", "1.0", "1.5", "-0.0", "1e2", "1e20", "1.5e300", "18446744073709551615", "18446744073709551616", "-9223372036854775808", "\"a\"", "\"\"", "null", "true", "false", "[]", "{}",
        "[1, 2, 3]", "{\"b\": 1, \"a\": 2, \"cc\": 3, \"aa\": 4}", "{\"a\": 1, \"a\": 2}", "\"\\u00e4\\n\\t\\\"\\\\\\/\\u0001\"", "\"\\ud83d\\ude00\"", "[[1, [2, {\"x\": [3]}]], null]", " [ 1 ,2 ] ",
        "{\"a\": {\"b\": [1, 2, {\"c\": \"d\"}]}, \"e\": \"f\"}", "[1, \"a\", true, null, 1.5, {\"k\": []}]", "0.1", "123456789.123456789", "1E5", "\"日本\"", "[0.30000000000000004]"]
BAD_JSON = ["", "a", "[1", "{\"a\"}", "[1,]", "{\"a\": 1,}", "\"abc", "01", "1.", "nul", "{a: 1}", "[1] x", "\"\\x\"", "-", "1e", "'a'", "\"\\ud800\"", "{\"a\" 1}", "[1 2]", "tru", "\t", "{1: 2}"]
PATHS = ["$", "$.a", "$.b", "$.a.b", "$.a.b[0]", "$[0]", "$[1]", "$[last]", "$[last-1]", "$[1 to 2]", "$[*]", "$.*", "$**.c", "$**[0]", "$.\"cc\"", "$.a.b[2].c", "$[0][1]", "$[0][1][1].x[0]", "$[5]",
         "$.a[0]", "$[0][0]", "$**.x", "$.a.*", "$[last-5]"]
BAD_PATHS = ["", "a", "$.", "$[", "$[a]", "$**", "$[-1]", "$.a.", "$ .a", "$. a", "$[1 to]", "$.1a", "$.a b", "$..a"]


def json_cases():
    quoted = lambda text: "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
    for text in JSON + BAD_JSON:
        yield ("parse", text, ""), f"CAST({quoted(text)} AS JSON)"
    for text, path in itertools.product(JSON, PATHS):
        yield ("extract", text, path), f"JSON_EXTRACT({quoted(text)}, {quoted(path)})"
    for path in BAD_PATHS:
        yield ("extract", "[1]", path), f"JSON_EXTRACT('[1]', {quoted(path)})"
    for left, right in itertools.product(JSON, JSON):
        a, b = (f"CAST({quoted(text)} AS JSON)" for text in (left, right))
        yield ("compare", left, right), f"CASE WHEN {a} < {b} THEN -1 WHEN {a} = {b} THEN 0 ELSE 1 END"
    for text in JSON:
        yield ("type", text, ""), f"JSON_TYPE({quoted(text)})"
        yield ("unquote", text, ""), f"JSON_UNQUOTE(CAST({quoted(text)} AS JSON))"
        yield ("length", text, ""), f"JSON_LENGTH({quoted(text)})"
        yield ("depth", text, ""), f"JSON_DEPTH({quoted(text)})"
        yield ("size", text, ""), f"JSON_STORAGE_SIZE({quoted(text)})"


TYPES = ["tinyint", "tinyint unsigned", "smallint", "int", "int unsigned", "bigint", "bigint unsigned", "decimal(5,2)", "decimal(65,30)",
         "decimal(5,2) unsigned", "float", "double", "double unsigned", "bit(1)", "bit(10)", "year", "date", "time", "time(3)", "datetime", "datetime(3)",
         "timestamp", "timestamp(6)", "char(3)", "varchar(3)", "varchar(20)", "binary(3)", "varbinary(3)", "tinytext", "blob",
         "varchar(3) character set latin1", "enum('a','b','3')", "set('a','b','3')", "json"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=3306)
    parser.add_argument("--user", default="root")
    parser.add_argument("--password", default="")
    arguments = parser.parse_args()
    recorder = Recorder(arguments)
    recorder.write("cast", cast_cases())
    recorder.write("json", json_cases())
    recorder.write("arithmetic", arithmetic_cases())
    recorder.write("decimal", decimal_cases())
    recorder.write("double", double_cases())
    recorder.write("compare", compare_cases())
    recorder.write("temporal", temporal_cases())
    recorder.write("collation", collation_cases())
    recorder.write_assignments(TYPES, VALUES)
    recorder.cursor.execute("DROP DATABASE meseta_types_record")


main()
