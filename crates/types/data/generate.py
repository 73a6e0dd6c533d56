#!/usr/bin/env python3
"""Makes the tables of this folder.

    generate.py --allkeys allkeys.txt [--host 127.0.0.1 --port 3306 --user root --password ""]

`--allkeys` is DUCET of UCA 9.0.0 (https://www.unicode.org/Public/UCA/9.0.0/allkeys.txt). The weights of
utf8mb4_0900_ai_ci come from it alone; the thirteen code points at which MySQL differs are in EXCEPTIONS. The older
collations (general_ci, unicode_ci, the latin1 ones) and the case mappings have no published table that a server follows
to the letter, so their facts are asked of a running MySQL: WEIGHT_STRING(), UPPER() and LOWER() of each code point.
So are those of unicode_520_ci, which compares all of Unicode.
Needs PyMySQL for that part.

Each paged table is a file of little-endian 16-bit words:

    pages of index (n) | index[n]: number of a page, 0xffff for none | pages of 256 words | the rest

In a table of weights a word below 0x8000 is the only weight, 0 none at all, 0xffff "by rule", and any other one says
where in the rest (word - 0x8000) there is a count followed by so many weights.
"""
import argparse
import struct
import unicodedata

ABSENT = 0xFFFF


def paged(entries, default, rest=()):
    """Words of a paged table; `default(code_point)` fills the holes of a page."""
    numbers = sorted({code_point >> 8 for code_point in entries})
    index = [ABSENT] * (numbers[-1] + 1)
    words = []
    for page_number, page in enumerate(numbers):
        index[page] = page_number
        words += [entries.get(code_point, default(code_point)) for code_point in range(page << 8, (page + 1) << 8)]
    return [len(index)] + index + words + list(rest)


def write(name, words):
    with open(name, "wb") as file:
        file.write(struct.pack("<%dH" % len(words), *words))
    print(name, 2 * len(words), "bytes")


def weights_table(weights):
    entries, rest, known = {}, [], {}
    for code_point, list_ in sorted(weights.items()):
        if len(list_) == 0:
            entries[code_point] = 0
        elif len(list_) == 1 and list_[0] < 0x8000:
            entries[code_point] = list_[0]
        else:
            key = tuple(list_)
            if key not in known:
                known[key] = len(rest)
                rest += [len(list_), *list_]
            entries[code_point] = 0x8000 + known[key]
            assert entries[code_point] < ABSENT
    return paged(entries, lambda _: ABSENT, rest)


def read_allkeys(path):
    weights = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.split("#")[0].strip()
            if not line or line.startswith("@"):
                continue
            left, right = line.split(";")
            code_points = [int(each, 16) for each in left.split()]
            if len(code_points) > 1:
                continue  # MySQL's root collation has no contractions.
            elements = right.strip().replace("][", " ").strip("[]").split()
            primaries = [int(each[1:].split(".")[0], 16) for each in elements]
            weights[code_points[0]] = [each for each in primaries if each][:8]
    for jamo in range(0xD7A4, 0xD7B0):  # EXCEPTIONS: composed as if they were syllables.
        weights[jamo] = weights[0x1112] + weights[0x1175] + ([] if jamo == 0xD7A4 else weights[0x11C3 + jamo - 0xD7A5])
    return weights


def of_server(arguments):
    import pymysql

    connection = pymysql.connect(
        host=arguments.host, port=arguments.port, user=arguments.user, password=arguments.password, charset="utf8mb4"
    )
    cursor = connection.cursor()
    cursor.execute("SET cte_max_recursion_depth = 2000000")
    general, unicode_, unicode_520, cases = {}, {}, {}, [{}, {}, {}, {}, {}, {}]

    def split(weights):
        return [weights[i] << 8 | weights[i + 1] for i in range(0, len(weights), 2)]

    def implicit(code_point, last_compatible):
        base = 0xFBC0
        if 0x4E00 <= code_point <= 0x9FA5 or 0xFA0E <= code_point <= last_compatible:
            base = 0xFB40
        elif 0x3400 <= code_point <= 0x4DB5:
            base = 0xFB80
        return [base + (code_point >> 15), code_point & 0x7FFF | 0x8000]

    for low in range(0, 0x110000, 0x4000):
        cursor.execute(
            f"""WITH RECURSIVE n(i) AS (SELECT {low} UNION ALL SELECT i + 1 FROM n WHERE i < {low + 0x3fff}),
            s AS (SELECT i, CONVERT(CHAR(i USING utf32) USING utf8mb4) c FROM n WHERE i NOT BETWEEN 55296 AND 57343)
            SELECT i, WEIGHT_STRING(c COLLATE utf8mb4_general_ci), WEIGHT_STRING(c COLLATE utf8mb4_unicode_ci),
              CAST(UPPER(c COLLATE utf8mb4_0900_ai_ci) AS BINARY), CAST(LOWER(c COLLATE utf8mb4_0900_ai_ci) AS BINARY),
              CAST(UPPER(c COLLATE utf8mb4_general_ci) AS BINARY), CAST(LOWER(c COLLATE utf8mb4_general_ci) AS BINARY),
              CAST(UPPER(c COLLATE utf8mb4_unicode_520_ci) AS BINARY), CAST(LOWER(c COLLATE utf8mb4_unicode_520_ci) AS BINARY),
              WEIGHT_STRING(c COLLATE utf8mb4_unicode_520_ci)
            FROM s"""
        )
        for code_point, by_general, by_unicode, *mapped, by_520 in cursor.fetchall():
            if code_point < 0x10000:
                if split(by_general) != [code_point]:
                    general[code_point] = split(by_general)[0]
                if split(by_unicode) != implicit(code_point, 0xFA2F):
                    unicode_[code_point] = split(by_unicode)
            if split(by_520) != implicit(code_point, 0xFA2D):
                unicode_520[code_point] = split(by_520)
            for number, text in enumerate(mapped):
                text = text.decode()
                if not text:  # The server drops a character whose other case is longer. We do not.
                    text = (unicodedata.normalize("NFC", chr(code_point).upper()), chr(code_point).lower())[number & 1]
                if len(text) == 1 and ord(text) != code_point:
                    cases[number][code_point] = (ord(text) - code_point) & 0xFFFF
    write("weights_general.bin", paged(general, lambda code_point: code_point))
    write("weights_0400.bin", weights_table(unicode_))
    write("weights_0520.bin", weights_table(unicode_520))
    names = ("upper_0900", "lower_0900", "upper_general", "lower_general", "upper_0520", "lower_0520")
    for name, entries in zip(names, cases):
        write(f"{name}.bin", paged(entries, lambda _: 0))

    columns = []
    for collation in ("swedish_ci", "general_ci", "general_cs", "german1_ci", "danish_ci", "spanish_ci"):
        one = f"CONVERT(CHAR(i) USING latin1) COLLATE latin1_{collation}"
        cursor.execute(
            f"""WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 255)
            SELECT WEIGHT_STRING({one}), CAST(UPPER({one}) AS BINARY), CAST(LOWER({one}) AS BINARY),
              CONVERT(CONVERT({one} USING utf8mb4) USING utf16) FROM n ORDER BY i"""
        )
        rows = cursor.fetchall()
        if not columns:
            columns = [[row[1][0] for row in rows], [row[2][0] for row in rows]]
            write("latin1_unicode.bin", [ord(row[3]) if isinstance(row[3], str) else row[3][0] << 8 | row[3][1] for row in rows])
        columns.append([row[0][0] for row in rows])
    with open("latin1.bin", "wb") as file:
        file.write(b"".join(bytes(column) for column in columns))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--allkeys", required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=3306)
    parser.add_argument("--user", default="root")
    parser.add_argument("--password", default="")
    arguments = parser.parse_args()
    write("weights_0900.bin", weights_table(read_allkeys(arguments.allkeys)))
    of_server(arguments)


main()
