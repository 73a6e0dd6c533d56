#!/usr/bin/env python3
"""Records what a real MySQL answers to expressions, into `cases.tsv` beside this file.

    record.py --host 127.0.0.1 --port 3306 --user root --password ""

Needs PyMySQL, and the right to create and drop the database `meseta_expression_record`. One case a line, fields separated
by tabs: the expression; the number of the result's type, its length, decimals, flags (N not NULL, U unsigned), and the
number of its collation; the value (text, NULL is \\N, bytes that are no UTF-8 \\x...); the conditions ("level number
message", joined by " | "). An error is "!number message" in place of the value, the type empty. Expressions that name
columns are of the one row of the table `t`.
"""
import argparse
import itertools
import os
import random
import re

import pymysql

random.seed(7)

COLUMNS = {
    "i": ("INT", "-7"), "u": ("INT UNSIGNED", "7"), "b": ("BIGINT", "9223372036854775807"),
    "bu": ("BIGINT UNSIGNED", "18446744073709551615"), "ti": ("TINYINT NOT NULL", "1"), "n": ("INT", "NULL"),
    "d": ("DECIMAL(10,2)", "123.45"), "f": ("FLOAT", "1.5"), "r": ("DOUBLE", "-2.25"),
    "s": ("VARCHAR(20)", "'Abc'"), "c": ("CHAR(5) CHARACTER SET latin1", "'xy'"), "x": ("VARBINARY(10)", "x'0061ff'"),
    "te": ("TEXT", "'2020-02-29'"), "bi": ("VARCHAR(10) COLLATE utf8mb4_bin", "'Abc'"),
    "da": ("DATE", "'2020-02-29'"), "ts": ("DATETIME(3)", "'2020-02-29 10:11:12.345'"), "tm": ("TIME", "'-10:11:12'"),
    "y": ("YEAR", "2024"), "e": ("ENUM('red','green')", "'green'"), "se": ("SET('a','b','c')", "'a,c'"),
    "bt": ("BIT(10)", "b'101'"), "j": ("JSON", "'{\"a\": [1, 2, {\"b\": null}], \"c\": \"x\"}'"),
}

NUMBERS = ["0", "1", "-1", "2.5", "-0.5", "123.456", "1e0", "-1.5e10", "9223372036854775807", "18446744073709551615"]
TEXTS = ["''", "'a'", "'Abc def'", "'12abc'", "' 7 '", "'äöü€'", "'2020-01-31'", "'10:11:12'", "'2020-01-31 10:11:12.5'"]
OTHERS = ["NULL", "TRUE", "x'4142'", "DATE'2020-02-29'", "TIME'10:11:12.25'", "TIMESTAMP'2020-12-31 23:59:59.5'",
          "CAST('[1,\"a\"]' AS JSON)"]
VALUES = NUMBERS + TEXTS + OTHERS
DATES = ["'2020-01-31'", "'2020-02-29 23:59:59.999999'", "20200131", "20200131101112", "'0000-00-00'", "'2020-00-10'",
         "'2020-13-01'", "'abc'", "NULL", "DATE'2019-12-31'", "TIMESTAMP'2021-01-03 12:34:56.789'", "TIME'10:11:12'",
         "'10:11:12'", "'1-1-1'", "''", "0", "1.5", "'9999-12-31'"]
TIMES = ["'10:11:12'", "'-10:11:12.5'", "'838:59:59'", "'900:00:00'", "101112", "10.5", "NULL", "'abc'", "TIME'01:02:03.25'",
         "TIMESTAMP'2021-01-03 12:34:56.789'", "DATE'2020-01-01'", "'2020-01-31 10:11:12'", "''", "'12'"]
DOCUMENTS = ["'{\"a\": 1, \"b\": [1, 2, {\"c\": \"x\"}], \"d\": null}'", "'[1, 2.5, \"x\", true, null]'", "'\"text\"'", "'1'",
             "'{}'", "'[]'", "NULL", "'{bad'", "CAST('{\"k\": [1, [2, 3]]}' AS JSON)", "1"]
PATHS = ["'$'", "'$.a'", "'$.b[1]'", "'$[0]'", "'$.b[*]'", "'$**.c'", "'$[last]'", "NULL", "'bad'", "'$.k[1][0]'"]
UNITS = """MICROSECOND SECOND MINUTE HOUR DAY WEEK MONTH QUARTER YEAR SECOND_MICROSECOND MINUTE_MICROSECOND MINUTE_SECOND
HOUR_MICROSECOND HOUR_SECOND HOUR_MINUTE DAY_MICROSECOND DAY_SECOND DAY_MINUTE DAY_HOUR YEAR_MONTH""".split()


def some(values, count):
    return values if len(values) <= count else random.sample(values, count)


def product(name, *lists, limit=40):
    cases = list(itertools.product(*lists))
    for arguments in some(cases, limit):
        yield f"{name}({', '.join(arguments)})"


def expressions():
    yield from VALUES + ["FALSE", "-5", "+5", "- -5", "0.50", "00012", "1.", ".5", "12345678901234567890123", "-9223372036854775808",
        "1e-5", "0x41", "b'101'", "N'x'", "_latin1'a'", "_utf8mb4'ä' COLLATE utf8mb4_bin", "'a' 'b'", "\"q\"",
        "DATE'2020-13-01'", "TIME'xx'", "TIMESTAMP'2020-01-01'", "TIMESTAMP'2020-01-01 00:00:00'", "-TRUE", "-NULL", "-'5'", "-x'41'",
        "-2.50", "-1e0", "~0", "~5", "~NULL", "~'5'", "!0", "!5", "NOT NULL", "NOT 'a'", "BINARY 'a'", "-18446744073709551615"]
    for operator in ["+", "-", "*", "/", "DIV", "%"]:
        for a, b in itertools.product(VALUES, repeat=2):
            if random.random() < 0.3:
                yield f"{a} {operator} {b}"
    for operator in ["&", "|", "^", "<<", ">>"]:
        for a, b in some(list(itertools.product(VALUES, repeat=2)), 60):
            yield f"{a} {operator} {b}"
    yield from ["_binary'ab' & _binary'cd'", "_binary'ab' | _binary'c'", "_binary'ab' << 4", "x'4142' ^ x'0101'", "~_binary'a'",
                "BIT_COUNT(_binary'ab')", "1 << 64", "1 << 63", "-1 >> 1", "1 << -1"]
    for operator in ["=", "<=>", "<>", "<", ">="]:
        for a, b in itertools.product(VALUES, repeat=2):
            if random.random() < 0.3:
                yield f"{a} {operator} {b}"
    for operator in ["AND", "OR", "XOR"]:
        for a, b in itertools.product(["0", "1", "NULL", "'a'", "0.5", "'1'"], repeat=2):
            yield f"{a} {operator} {b}"
    for value in VALUES:
        for test in ["IS NULL", "IS NOT NULL", "IS TRUE", "IS NOT FALSE", "IS UNKNOWN"]:
            yield f"{value} {test}"
    for a, b, c in some(list(itertools.product(VALUES, repeat=3)), 120):
        yield f"{a} BETWEEN {b} AND {c}"
        yield f"{a} NOT BETWEEN {b} AND {c}"
        yield f"{a} IN ({b}, {c})"
        yield f"{a} NOT IN ({b}, {c})"
    yield from ["1 IN (1,2,3,4,5)", "6 IN (1,2,3,4,5)", "NULL IN (1,2,3,4)", "6 NOT IN (1,2,3,NULL,5)", "(1,2) IN ((1,2),(3,4))",
                "(1,NULL) IN ((1,2),(3,4))", "(1,2) = (1,2)", "(1,2) < (1,3)", "(1,NULL) <=> (1,NULL)", "(1,2) <> (1,NULL)",
                "(1,2) >= (1,2)", "(1,2) = (1,2,3)", "(1,2)", "ROW(1,2) > ROW(1,NULL)", "(1,(2,3)) = (1,(2,3))", "1 = 1 = 1", "3 > 2 > 1"]
    for a, b in itertools.product(["'abc'", "'ABC'", "''", "'a_c'", "'a%'", "'50%'", "NULL", "123", "'ä'", "1.50"],
                                  ["'abc'", "'a%'", "'%c'", "'a_c'", "'a\\\\_c'", "'%'", "''", "'_'", "NULL", "123", "'1%'", "'Ä'"]):
        yield f"{a} LIKE {b}"
    yield from ["'a%c' LIKE 'a|%c' ESCAPE '|'", "'a' LIKE 'a' ESCAPE 'ab'", "'a\\\\c' LIKE 'a\\\\c' ESCAPE ''", "'a' LIKE BINARY 'A'",
                "'a' LIKE 'A' COLLATE utf8mb4_bin", "'abc' NOT LIKE 'a%'", "'x' LIKE 'x' ESCAPE NULL"]
    # Control flow.
    for condition in ["1", "0", "NULL", "'a'", "0.4"]:
        for a, b in some(list(itertools.product(VALUES, repeat=2)), 40):
            yield f"IF({condition}, {a}, {b})"
    for a, b in some(list(itertools.product(VALUES, repeat=2)), 200):
        yield f"IFNULL({a}, {b})"
        yield f"NULLIF({a}, {b})"
        yield f"COALESCE(NULL, {a}, {b})"
        yield f"CASE WHEN {a} THEN {b} END"
        yield f"CASE {a} WHEN {b} THEN 'x' ELSE 5 END"
        yield f"GREATEST({a}, {b})"
        yield f"LEAST({a}, {b}, {a})"
        yield f"STRCMP({a}, {b})"
    yield from ["CASE 1 WHEN 1 THEN 'one' WHEN 2 THEN 'two' END", "CASE WHEN NULL THEN 1 ELSE 2.5 END", "ISNULL(NULL)", "ISNULL(1)",
                "INTERVAL(23, 1, 15, 17, 30, 44)", "INTERVAL(10, 1, 10, 100)", "INTERVAL(NULL, 1)", "INTERVAL(22, 23, 30)",
                "COALESCE()", "IF(1,2)", "NULLIF(1)", "nosuchfunction(1)", "ABS()", "ABS(1,2)", "CONCAT()"]
    # Numbers.
    for name in """ABS SIGN CEILING CEIL FLOOR ROUND SQRT EXP LN LOG LOG2 LOG10 SIN COS TAN COT ASIN ACOS ATAN DEGREES RADIANS
            CRC32 BIT_COUNT BIN OCT HEX ISNULL LENGTH CHAR_LENGTH BIT_LENGTH ASCII ORD LOWER UPPER REVERSE LTRIM RTRIM TRIM
            QUOTE SOUNDEX UNHEX TO_BASE64 FROM_BASE64 MD5 SHA1 SHA CHARSET COLLATION COERCIBILITY INET_NTOA INET_ATON
            INET6_ATON INET6_NTOA IS_IPV4 IS_IPV6 IS_UUID SPACE WEIGHT_STRING JSON_QUOTE JSON_VALID JSON_TYPE FORMAT_BYTES
            FORMAT_PICO_TIME ANY_VALUE CHAR TO_DAYS SEC_TO_TIME COMPRESS UNCOMPRESS UNCOMPRESSED_LENGTH""".split():
        for value in VALUES:
            yield f"{name}({value})"
    for value in ["2.5", "-2.5", "1234.5678", "1e10", "150", "-155", "'12.345'", "NULL", "1.005e0", "18446744073709551615",
                  "9223372036854775807", "0.5", "x'41'", "99999999999999999999.99"]:
        for places in ["0", "1", "2", "-1", "-2", "5", "40", "NULL", "'1'", "-30"]:
            yield f"ROUND({value}, {places})"
            yield f"TRUNCATE({value}, {places})"
            yield f"FORMAT({value}, {places})"
    for name in ["POW", "ATAN2", "ATAN", "LOG", "MOD"]:
        yield from product(name, VALUES, NUMBERS + ["NULL", "'a'", "'2'"], limit=60)
    yield from ["PI()", "RAND(0)", "RAND(1)", "RAND(NULL)", "RAND('3')", "CONV('ff', 16, 10)", "CONV(10, 10, 2)", "CONV('-17', 10, -18)",
                "CONV('zz', 36, 10)", "CONV(NULL, 10, 2)", "CONV('a', 37, 2)", "CONV('6E', 18, 8)", "CONV(-1, 10, 16)", "CONV('', 10, 2)",
                "CONV('99999999999999999999999', 10, 16)", "CONV(1.5, 10, 2)", "EXP(1000)", "POW(10, 400)", "COT(0)", "SQRT(-1)",
                "ABS(-9223372036854775808)", "FORMAT(1234567.891, 2, 'de_DE')", "FORMAT(1234567.891, 2, 'sv_SE')", "FORMAT('abc', 2)",
                "FORMAT(-1234.5, 0)", "FORMAT(999, 2)", "FORMAT(1e20, 3)", "9223372036854775807 + 1", "18446744073709551615 + 1", "1 - 18446744073709551615",
                "9223372036854775807 * 2", "-9223372036854775808 DIV -1", "1e308 * 10", "5 / 0", "5 % 0", "5 DIV 0", "1.5 / 0.3", "2 / 3",
                "1 / 3.000", "10 DIV 3", "-10 DIV 3", "10.5 DIV 0.7", "-7 % 3", "7.5 % 2", "1 + 2 * 3 - 4 / 2", "((1 + 2) * 3)"]
    # Texts.
    texts = ["'abc'", "'äöü€x'", "''", "NULL", "12345", "'a,b,c'", "x'616263'"]
    counts = ["0", "1", "2", "-1", "-2", "100", "NULL", "1.5", "'2'"]
    for name in ["LEFT", "RIGHT", "REPEAT", "SUBSTRING", "SUBSTR", "MID"]:
        yield from product(name, texts, counts, limit=63)
    yield from product("SUBSTRING", texts, counts, counts, limit=120)
    yield from product("LPAD", texts, ["0", "2", "5", "-1", "NULL"], ["'x'", "'xy'", "''", "NULL", "'ä'"], limit=60)
    yield from product("RPAD", texts, ["0", "2", "5", "-1", "NULL"], ["'x'", "'xy'", "''", "NULL", "'ä'"], limit=60)
    yield from product("REPLACE", texts, ["'b'", "'B'", "''", "NULL", "'ö'", "3"], ["'X'", "''", "NULL", "'long'"], limit=60)
    yield from product("INSERT", texts, ["0", "1", "2", "10", "-1", "NULL"], ["0", "1", "2", "100", "-1", "NULL"], ["'X'", "''", "NULL"], limit=80)
    yield from product("LOCATE", ["'b'", "'B'", "''", "NULL", "'€'", "'zz'"], texts, limit=42)
    yield from product("LOCATE", ["'b'", "'a'", "''", "NULL"], texts, ["0", "1", "2", "5", "-1", "NULL"], limit=60)
    yield from product("INSTR", texts, ["'b'", "'B'", "''", "NULL", "'€'"], limit=40)
    yield from product("FIND_IN_SET", ["'b'", "'B'", "''", "NULL", "'a,b'", "1"], ["'a,b,c'", "''", "NULL", "'1,2'", "','"], limit=40)
    yield from product("SUBSTRING_INDEX", ["'www.mysql.com'", "'a,b'", "''", "NULL"], ["'.'", "','", "''", "NULL", "'MYSQL'"],
                       ["0", "1", "2", "-1", "-2", "10", "NULL"], limit=80)
    yield from product("ELT", ["1", "2", "0", "3", "NULL", "'1'"], ["'a'", "NULL", "1"], ["'bb'", "2.5"], limit=36)
    yield from product("FIELD", ["'b'", "2", "NULL", "'B'", "2.5"], ["'a'", "1", "NULL"], ["'b'", "2", "2.5"], limit=45)
    yield from product("CONCAT", VALUES, VALUES, limit=80)
    yield from product("CONCAT_WS", ["','", "NULL", "''", "1"], VALUES, VALUES, limit=60)
    yield from product("MAKE_SET", ["0", "1", "3", "5", "NULL", "'2'"], ["'a'", "NULL"], ["'b'", "1"], ["'c'"], limit=24)
    yield from ["EXPORT_SET(5,'Y','N',',',4)", "EXPORT_SET(6,'1','0',',',10)", "EXPORT_SET(NULL,'Y','N')", "EXPORT_SET(5,'Y','N')",
                "TRIM(LEADING 'x' FROM 'xxbarxx')", "TRIM(BOTH 'x' FROM 'xxbarxx')", "TRIM(TRAILING 'xyz' FROM 'barxxyz')", "TRIM(NULL FROM 'a')",
                "TRIM('' FROM ' a ')", "TRIM('  a  ')", "CHAR(77,121,83,81,'76')", "CHAR(256)", "CHAR(65 USING utf8mb4)", "CHAR(NULL)",
                "CHAR(0xC3A4 USING utf8mb4)", "CHAR(255 USING utf8mb4)", "ASCII('€')", "ORD('€')", "HEX('€')", "HEX(255)", "HEX(-1)", "HEX(1.6)",
                "UNHEX('4D7953514C')", "UNHEX('GG')", "UNHEX('123')", "TO_BASE64(REPEAT('abc', 30))", "FROM_BASE64('YWJj')", "FROM_BASE64('YWJ')",
                "FROM_BASE64('####')", "SOUNDEX('Quadratically')", "SOUNDEX('hello world')", "'Robert' SOUNDS LIKE 'Rupert'", "SOUNDEX('')",
                "POSITION('b' IN 'abc')", "QUOTE('Don\\'t')", "QUOTE(NULL)", "QUOTE('a\\\\b')", "CONVERT('ä' USING latin1)", "CONVERT('€' USING ascii)",
                "CONVERT('abc' USING binary)", "CONVERT(x'ff' USING utf8mb4)", "'a' COLLATE utf8mb4_bin", "'a' COLLATE latin1_bin", "1 COLLATE utf8mb4_bin",
                "_latin1'a' = 'A'", "'a' = 'A' COLLATE utf8mb4_bin", "CONCAT('a', _latin1 x'e4')", "'a ' = 'a'", "'a ' = 'a' COLLATE utf8mb4_general_ci",
                "CONCAT('a' COLLATE utf8mb4_bin, 'b' COLLATE utf8mb4_general_ci)", "CHARSET(_latin1'a')", "COLLATION(CONVERT('a' USING latin1))",
                "COERCIBILITY('a' COLLATE utf8mb4_bin)", "COERCIBILITY(USER())", "COERCIBILITY(1)", "COERCIBILITY(NULL)", "COERCIBILITY('a')",
                "WEIGHT_STRING('ab' AS CHAR(4))", "WEIGHT_STRING('ab' AS BINARY(4))", "WEIGHT_STRING('ä')", "REPEAT('a', 100000000000)", "SPACE(5)", "SPACE(-1)"]
    # Casts.
    for value in VALUES:
        for target in ["SIGNED", "UNSIGNED", "CHAR", "CHAR(3)", "BINARY", "BINARY(4)", "DATE", "TIME", "TIME(3)", "DATETIME", "DATETIME(6)",
                       "DECIMAL", "DECIMAL(5,2)", "DOUBLE", "FLOAT", "YEAR", "JSON", "CHAR CHARACTER SET latin1"]:
            yield f"CAST({value} AS {target})"
    yield from ["CAST(1 AS DECIMAL(70,2))", "CAST(1 AS DECIMAL(5,31))", "CAST(1 AS DECIMAL(2,5))", "CAST(1 AS DATETIME(7))", "CONVERT('5', SIGNED)",
                "CAST('2020-01-01 10:00:00+02:00' AS DATETIME)", "CAST(1.555 AS DECIMAL(3,2))", "CAST(-1 AS UNSIGNED)", "CAST('x' AS NCHAR)"]
    # Dates and times.
    for name in """DATE YEAR MONTH DAY DAYOFMONTH DAYOFWEEK DAYOFYEAR WEEKDAY WEEK WEEKOFYEAR YEARWEEK QUARTER DAYNAME MONTHNAME LAST_DAY
            TO_DAYS TO_SECONDS UNIX_TIMESTAMP TIMESTAMP""".split():
        for value in DATES:
            yield f"{name}({value})"
    for name in ["TIME", "HOUR", "MINUTE", "SECOND", "MICROSECOND", "TIME_TO_SEC"]:
        for value in TIMES:
            yield f"{name}({value})"
    for mode in range(8):
        for value in ["'2008-02-20'", "'2000-01-01'", "'2020-12-31'", "'2019-12-30'"]:
            yield f"WEEK({value}, {mode})"
            yield f"YEARWEEK({value}, {mode})"
    for unit in UNITS:
        for value in ["'2020-02-29 10:11:12.345678'", "TIME'-30:11:12.5'", "DATE'2020-12-31'", "20200131", "'abc'", "NULL", "'10:11:12'"]:
            yield f"EXTRACT({unit} FROM {value})"
        for value in ["'2020-01-31'", "DATE'2020-01-31'", "TIMESTAMP'2020-12-31 23:59:59'", "TIME'10:00:00'", "'x'", "20200131101112"]:
            for amount in ["1", "'1:2'", "-1", "1.5"]:
                if random.random() < 0.5:
                    yield f"DATE_ADD({value}, INTERVAL {amount} {unit})"
                else:
                    yield f"{value} - INTERVAL {amount} {unit}"
    for unit in UNITS[:9]:
        for a, b in itertools.product(["'2020-01-31'", "'2021-03-01 10:00:00'", "DATE'2019-02-28'", "NULL", "TIME'10:00:00'"], repeat=2):
            if random.random() < 0.5:
                yield f"TIMESTAMPDIFF({unit}, {a}, {b})"
        yield f"TIMESTAMPADD({unit}, 3, '2020-01-31 10:00:00')"
        yield f"TIMESTAMPADD({unit}, 3, DATE'2020-01-31')"
    yield from ["DATE_ADD('9999-12-31', INTERVAL 1 DAY)", "DATE_ADD('2020-01-01', INTERVAL NULL DAY)", "DATE_SUB('0001-01-01', INTERVAL 2 YEAR)",
                "ADDDATE('2020-01-01', 31)", "SUBDATE('2020-01-01', 31)", "'2020-01-01' + INTERVAL 1 DAY", "INTERVAL 1 DAY + '2020-01-01'"]
    yield from product("DATEDIFF", DATES, DATES, limit=60)
    yield from product("TIMEDIFF", TIMES, TIMES, limit=80)
    yield from product("ADDTIME", TIMES + DATES, TIMES, limit=80)
    yield from product("SUBTIME", TIMES + DATES, TIMES, limit=60)
    yield from product("TIMESTAMP", DATES, TIMES, limit=40)
    yield from product("MAKEDATE", ["2020", "70", "69", "0", "NULL", "10000", "-1"], ["1", "366", "0", "-1", "NULL", "100000"], limit=42)
    yield from product("MAKETIME", ["12", "-1", "838", "900", "NULL"], ["0", "59", "60", "-1"], ["0", "59.5", "60", "NULL", "1.1234567", "'30'"], limit=60)
    yield from product("SEC_TO_TIME", ["0", "3661", "-3661.5", "NULL", "'12.5'", "1e10", "1.234567"])
    yield from product("PERIOD_ADD", ["202001", "2001", "7001", "0", "NULL", "202013"], ["1", "-1", "13", "NULL"])
    yield from product("PERIOD_DIFF", ["202001", "2001", "0", "NULL"], ["201912", "6912", "NULL"])
    yield from product("FROM_DAYS", ["0", "365", "366", "737425", "NULL", "-1", "99999999", "'737425'"])
    yield from product("FROM_UNIXTIME", ["0", "1", "1600000000", "1600000000.123456", "-1", "NULL", "'1600000000.5'", "32536771199", "32536771200", "1.5e9"])
    yield from product("FROM_UNIXTIME", ["1600000000", "NULL", "1600000000.5"], ["'%Y %D %M %h:%i:%s %x'", "'%f'", "NULL", "''"])
    formats = ["'%Y-%m-%d'", "'%W %M %e %y'", "'%H:%i:%s.%f'", "'%j %U %u %V %v %X %x %w'", "'%D %b %a %c %k %l %p %r %T'", "'%%x%'", "''", "NULL"]
    yield from product("DATE_FORMAT", DATES, formats, limit=90)
    yield from product("TIME_FORMAT", TIMES, ["'%H %k %h %I %l'", "'%i:%s.%f %p %r %T'", "'%Y'", "NULL", "'%M'"], limit=50)
    yield from ["STR_TO_DATE('01,5,2013','%d,%m,%Y')", "STR_TO_DATE('May 1, 2013','%M %d,%Y')", "STR_TO_DATE('a09:30:17','a%h:%i:%s')",
                "STR_TO_DATE('09:30:17a','%h:%i:%s')", "STR_TO_DATE('abc','abc')", "STR_TO_DATE('9','%m')", "STR_TO_DATE('2020-02-30','%Y-%m-%d')",
                "STR_TO_DATE('00/00/0000','%m/%d/%Y')", "STR_TO_DATE('200442 Monday', '%X%V %W')", "STR_TO_DATE('2020-01-01 10:11:12.5','%Y-%m-%d %H:%i:%s.%f')",
                "STR_TO_DATE(NULL,'%Y')", "STR_TO_DATE('2020',NULL)", "STR_TO_DATE('10:11 PM','%h:%i %p')", "STR_TO_DATE('x','%Y')",
                "GET_FORMAT(DATE,'EUR')", "GET_FORMAT(DATETIME,'USA')", "GET_FORMAT(TIME,'ISO')", "GET_FORMAT(DATE,'X')",
                "CONVERT_TZ('2004-01-01 12:00:00','+00:00','+10:00')", "CONVERT_TZ('2004-01-01 12:00:00.5','+00:00','-02:30')", "CONVERT_TZ('x','+00:00','+10:00')",
                "CONVERT_TZ(NULL,'+00:00','+10:00')", "CONVERT_TZ('2004-01-01 12:00:00','bad','+10:00')", "UNIX_TIMESTAMP('2020-01-01 00:00:00.25')",
                "NOW() IS NOT NULL", "LENGTH(NOW(6))", "NOW(7)", "UTC_DATE() = CURDATE()", "CURRENT_TIMESTAMP = NOW()", "LENGTH(CURTIME(3))"]
    # JSON.
    for name in ["JSON_TYPE", "JSON_VALID", "JSON_DEPTH", "JSON_LENGTH", "JSON_KEYS", "JSON_UNQUOTE", "JSON_QUOTE", "JSON_PRETTY", "JSON_STORAGE_SIZE"]:
        for document in DOCUMENTS:
            yield f"{name}({document})"
    for name in ["JSON_EXTRACT", "JSON_CONTAINS_PATH", "JSON_LENGTH", "JSON_KEYS", "JSON_REMOVE"]:
        for document, path in itertools.product(DOCUMENTS, PATHS):
            yield f"{name}({document}, {path})" if name != "JSON_CONTAINS_PATH" else f"{name}({document}, 'one', {path})"
    for name in ["JSON_SET", "JSON_INSERT", "JSON_REPLACE", "JSON_ARRAY_APPEND", "JSON_ARRAY_INSERT"]:
        yield from product(name, DOCUMENTS, PATHS, ["1", "'x'", "NULL", "TRUE", "CAST('[9]' AS JSON)"], limit=60)
    yield from product("JSON_CONTAINS", DOCUMENTS, ["'1'", "'{}'", "'[1]'", "NULL", "'{\"a\": 1}'", "'\"x\"'"], limit=60)
    yield from product("JSON_CONTAINS", DOCUMENTS, ["'1'", "'2'"], PATHS, limit=40)
    yield from product("JSON_MERGE_PATCH", DOCUMENTS, DOCUMENTS, limit=50)
    yield from product("JSON_MERGE_PRESERVE", DOCUMENTS, DOCUMENTS, limit=50)
    yield from product("JSON_OVERLAPS", DOCUMENTS, DOCUMENTS, limit=50)
    yield from product("JSON_SEARCH", DOCUMENTS, ["'one'", "'all'", "'x'"], ["'x'", "'%'", "NULL", "'te_t'"], limit=60)
    yield from product("JSON_VALUE", DOCUMENTS, ["'$.a'", "'$.b'", "'$[1]'", "'$'"], limit=40)
    for value in VALUES:
        yield f"JSON_ARRAY({value}, 1)"
        yield f"JSON_OBJECT('k', {value})"
        yield f"JSON_OBJECT({value}, 1)"
        yield f"{value} MEMBER OF ('[1, \"a\", 2.5, null, true]')"
    yield from ["JSON_ARRAY()", "JSON_OBJECT()", "JSON_OBJECT('a')", "JSON_ARRAY(1=1, NOT 1, 1 IS NULL)", "JSON_VALUE('{\"a\": 5}', '$.a' RETURNING SIGNED)",
                "JSON_VALUE('{\"a\": 5}', '$.b' DEFAULT 7 ON EMPTY)", "JSON_VALUE('{\"a\": \"x\"}', '$.a' RETURNING SIGNED)",
                "JSON_VALUE('{\"a\": 5}', '$.b' ERROR ON EMPTY)", "JSON_VALUE('{\"a\": \"x\"}', '$.a' RETURNING SIGNED ERROR ON ERROR)"]
    # Hashes, encryption, identifiers.
    for bits in ["0", "224", "256", "384", "512", "1", "NULL"]:
        for value in ["'abc'", "NULL", "''", "123"]:
            yield f"SHA2({value}, {bits})"
    yield from ["MD5('abc')", "SHA('abc')", "HEX(AES_ENCRYPT('text','key'))", "AES_DECRYPT(AES_ENCRYPT('text','key'),'key')", "AES_DECRYPT('x','key')",
                "AES_ENCRYPT(NULL,'k')", "LENGTH(COMPRESS('aaaaaaaaaaaaaaaaaaaaaaaaaa'))", "UNCOMPRESS(COMPRESS('any string'))", "UNCOMPRESS('x')",
                "LENGTH(RANDOM_BYTES(8))", "RANDOM_BYTES(0)", "UUID_TO_BIN('6ccd780c-baba-1026-9564-5b8c656024db')", "HEX(UUID_TO_BIN('6ccd780c-baba-1026-9564-5b8c656024db',1))",
                "BIN_TO_UUID(UNHEX('6CCD780CBABA102695645B8C656024DB'))", "BIN_TO_UUID(UNHEX('6CCD780CBABA102695645B8C656024DB'),1)", "BIN_TO_UUID('x')",
                "UUID_TO_BIN('x')", "IS_UUID('6ccd780c-baba-1026-9564-5b8c656024db')", "IS_UUID('{6ccd780c-baba-1026-9564-5b8c656024db}')", "IS_UUID('x')",
                "LENGTH(UUID())", "INET_ATON('10.0.5.9')", "INET_ATON('127.1')", "INET_ATON('1.2.3.256')", "INET_NTOA(167773449)", "INET_NTOA(4294967296)",
                "HEX(INET6_ATON('fdfe::5a55:caff:fefa:9089'))", "INET6_NTOA(UNHEX('FDFE0000000000005A55CAFFFEFA9089'))", "INET6_NTOA(INET6_ATON('::ffff:1.2.3.4'))",
                "INET6_NTOA(INET6_ATON('::1.2.3.4'))", "IS_IPV4('10.0.5.256')", "IS_IPV6('::1')", "IS_IPV4_COMPAT(INET6_ATON('::10.0.5.9'))",
                "IS_IPV4_MAPPED(INET6_ATON('::ffff:10.0.5.9'))", "SLEEP(0)", "SLEEP(-1)", "SLEEP(NULL)", "BENCHMARK(10, 1+1)", "BENCHMARK(-1, 1)",
                "STATEMENT_DIGEST('select 1') IS NOT NULL", "HEX(AES_ENCRYPT('text','a long key that is longer than sixteen bytes'))"]
    # Regular expressions.
    for pattern in ["'a'", "'^a.c$'", "'[[:alpha:]]+'", "'b|d'", "'('", "''", "NULL", "'A'", "'\\\\d+'", "'(a)(b)'", "'ä'"]:
        for text in ["'abc'", "'ABC def abc'", "''", "NULL", "'12 34'", "'äbc'"]:
            yield f"{text} REGEXP {pattern}"
            yield f"REGEXP_REPLACE({text}, {pattern}, 'X')"
            yield f"REGEXP_INSTR({text}, {pattern})"
            yield f"REGEXP_SUBSTR({text}, {pattern})"
    yield from ["REGEXP_LIKE('abc','ABC','c')", "REGEXP_LIKE('abc','ABC','i')", "REGEXP_LIKE('a\\nb','a.b','n')", "REGEXP_LIKE('a','a','z')",
                "REGEXP_REPLACE('abc def ghi','[a-z]+','X',1,3)", "REGEXP_REPLACE('abc def ghi','([a-z])','<$1>',5)", "REGEXP_INSTR('dog cat dog','dog',2)",
                "REGEXP_INSTR('aa aaa aaaa','a{4}')", "REGEXP_INSTR('dog cat dog','dog',1,2,1)", "REGEXP_SUBSTR('abc def ghi','[a-z]+',1,3)", "'a' RLIKE 'b'",
                "REGEXP_SUBSTR('abc','x')", "'Michael!' REGEXP '.*'", "'new*\\n*line' REGEXP 'new\\\\*.\\\\*line'", "REGEXP_REPLACE('a b c','b','X',10)"]
    # Columns.
    names = list(COLUMNS)
    for name in names:
        yield name
        for function in ["ABS", "ROUND", "FLOOR", "CEILING", "-", "LENGTH", "CHAR_LENGTH", "HEX", "UPPER", "REVERSE", "CONCAT", "CHARSET", "COLLATION",
                         "COERCIBILITY", "IFNULL", "COALESCE", "DATE", "TIME", "YEAR", "JSON_ARRAY", "SUM_", "QUOTE", "SIGN", "NOT ", "~", "MD5", "ANY_VALUE"]:
            if function == "IFNULL":
                yield f"IFNULL({name}, 'z')"
            elif function != "SUM_":
                yield f"{function}({name})"
        for target in ["SIGNED", "UNSIGNED", "CHAR", "BINARY", "DATE", "DATETIME", "TIME", "DECIMAL(12,3)", "DOUBLE", "JSON"]:
            yield f"CAST({name} AS {target})"
        yield f"{name} IS NULL"
    for a, b in itertools.product(names, repeat=2):
        yield f"{a} + {b}"
        yield f"{a} = {b}"
        yield f"{a} < {b}"
        if random.random() < 0.4:
            yield f"{a} - {b}"
            yield f"{a} * {b}"
            yield f"{a} / {b}"
            yield f"{a} DIV {b}"
            yield f"{a} % {b}"
            yield f"IF({a}, {a}, {b})"
            yield f"COALESCE({a}, {b})"
            yield f"GREATEST({a}, {b})"
            yield f"CONCAT({a}, {b})"
            yield f"{a} IN ({b}, 1, 'x')"
            yield f"{a} LIKE {b}"
    for name, value in itertools.product(names, VALUES):
        if random.random() < 0.5:
            yield f"{name} = {value}"
            yield f"{name} + {value}"
            yield f"{name} BETWEEN {value} AND 5"
            yield f"NULLIF({name}, {value})"
            yield f"CASE {name} WHEN {value} THEN 1 ELSE 2 END"
            yield f"IFNULL({name}, {value})"
    yield from ["j->'$.a'", "j->>'$.c'", "j->'$.a[2].b'", "JSON_EXTRACT(j, '$.a')", "e + 0", "se + 0", "e = 'GREEN'", "e = 2", "se = 'a,c'", "bt + 0",
                "s = c", "s = bi", "CONCAT(s, c)", "CONCAT(s, x)", "da + INTERVAL 1 MONTH", "ts - INTERVAL 1 SECOND", "tm + INTERVAL 1 HOUR", "da + 1",
                "DATEDIFF(ts, da)", "TIMEDIFF(ts, ts)", "nosuch", "t.i", "nosuch.i", "i = 1 OR n", "GROUP_CONCAT_(1)", "@@nosuch", "@nosuch"]


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
    return escape(value)


def main():
    parser = argparse.ArgumentParser()
    for name, default in (("host", "127.0.0.1"), ("port", 3306), ("user", "root"), ("password", "")):
        parser.add_argument("--" + name, default=default, type=type(default))
    arguments = parser.parse_args()
    connection = pymysql.connect(host=arguments.host, port=arguments.port, user=arguments.user,
                                 password=arguments.password, charset="utf8mb4", conv={}, autocommit=True, use_unicode=False)
    cursor = connection.cursor()
    columns = ", ".join(f"{name} {kind}" for name, (kind, _) in COLUMNS.items())
    values = ", ".join(value for _, value in COLUMNS.values())
    for statement in (
        "SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci", "SET max_error_count = 64, time_zone = '+00:00', timestamp = 1600000000",
        "DROP DATABASE IF EXISTS meseta_expression_record", "CREATE DATABASE meseta_expression_record",
        "USE meseta_expression_record", f"CREATE TABLE t ({columns})", f"INSERT INTO t VALUES ({values})",
    ):
        cursor.execute(statement)
    names = re.compile(r"(?<![\w@'.$\"])(?:t\.)?(?:" + "|".join(COLUMNS) + r")(?![\w'\"(])")
    seen = set()
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases.tsv")
    with open(path, "w", encoding="utf-8") as file:
        for expression in expressions():
            if expression in seen:
                continue
            seen.add(expression)
            bare = re.sub(r"'(?:[^'\\]|\\.)*'", "''", expression)
            source = " FROM t" if names.search(bare) or "nosuch" in bare else ""
            try:
                cursor.execute("SELECT " + expression + source)
                value = shown(cursor.fetchall()[0][0])
                field = cursor._result.fields[0]
                flags = ("N" if field.flags & 1 else "") + ("U" if field.flags & 32 else "")
                kind = [str(field.type_code), str(field.length), str(field.scale), flags, str(field.charsetnr)]
                cursor.execute("SHOW WARNINGS")
                conditions = " | ".join(escape(b" ".join(map(lambda part: part if isinstance(part, bytes) else str(part).encode(), row)).decode("utf-8", "replace"))
                                        for row in cursor.fetchall())
            except pymysql.MySQLError as error:
                message = error.args[1]
                value, kind, conditions = f"!{error.args[0]} {escape(str(message))}", [""] * 5, ""
            if len(value) < 1000:
                file.write("\t".join([escape(expression), *kind, value, conditions]) + "\n")
    print("expressions", len(seen))
    cursor.execute("DROP DATABASE meseta_expression_record")


main()
