"""Ways to harm a results file, each with what a generator draws; for ``bench.hostile``."""

from __future__ import annotations

import base64
import json
import os
import sqlite3
import struct
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import Any

Way = Callable[[Path, Random], None]

_TABLES = ("plan", "fingerprint", "run", "slice", "reading")
_HEADER_FIELDS = [(16, 2), (18, 1), (19, 1), (20, 1), (24, 4), (28, 4), (32, 4), (36, 4), (40, 4), (44, 4), (48, 4)]
_HEADER_FIELDS += [(52, 4), (56, 4), (60, 4), (64, 4), (68, 4), (92, 4), (96, 4)]
_BESIDE = ("wal", "shm", "journal")
_FOREVER = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT"


def flip_bits(file: Path, chance: Random) -> None:
    raw = bytearray(file.read_bytes())
    for _ in range(chance.choice([1, 3, 30])):
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
    file.write_bytes(raw)


def write_numbers(file: Path, chance: Random) -> None:
    """Numbers that SQLite reads as pages, sizes and counts."""
    raw = bytearray(file.read_bytes())
    for _ in range(chance.choice([1, 2, 8])):
        number = chance.choice([0, 1, 2, 3, 7, 0x7FFFFFFF, 0xFFFFFFFF, chance.randrange(64)])
        page = 4096 * chance.randrange(len(raw) // 4096)
        struct.pack_into(">I", raw, page + chance.choice([0, 3, 8, 12, chance.randrange(4092)]), number)
    file.write_bytes(raw)


def change_header(file: Path, chance: Random) -> None:
    raw = bytearray(file.read_bytes())
    for _ in range(chance.choice([1, 1, 3])):
        at, length = chance.choice(_HEADER_FIELDS)
        raw[at : at + length] = chance.choice([b"\0" * length, b"\xff" * length, chance.randbytes(length)])
    file.write_bytes(raw)


def move_pages(file: Path, chance: Random) -> None:
    raw = bytearray(file.read_bytes())
    pages = len(raw) // 4096
    for _ in range(chance.choice([1, 4])):
        one, other = (4096 * chance.randrange(pages) for _ in range(2))
        raw[one : one + 4096] = raw[other : other + 4096]
    file.write_bytes(raw)


def cut(file: Path, chance: Random) -> None:
    os.truncate(file, chance.choice([0, 1, 99, 100, 4095, 4096, chance.randrange(file.stat().st_size), 1 << 36]))


def circles(file: Path, chance: Random) -> None:
    """Inner pages whose every child is the next of them: a tree as wide as the universe."""
    first, levels = file.stat().st_size // 4096 + 1, chance.choice([2, 6, 18])
    if chance.random() < 0.5:
        _sql(file, f"PRAGMA writable_schema=ON; UPDATE sqlite_master SET rootpage = {first} WHERE name = 'run'")
    raw = bytearray(file.read_bytes())
    for level in range(levels):
        page, below = bytearray(4096), first + (level + 1) % levels if chance.random() < 0.5 else first + level + 1
        cells = chance.choice([3, 300])
        struct.pack_into(">BHHHBI", page, 0, 5, 0, cells, 4096 - 8 * cells, 0, below)
        for cell in range(cells):
            at = 4096 - 8 * (cell + 1)
            struct.pack_into(">H", page, 12 + 2 * cell, at)
            struct.pack_into(">IB", page, at, below, cell % 127)
        raw += page
    raw += raw[4096:8192]
    struct.pack_into(">I", raw, 28, len(raw) // 4096)
    if chance.random() < 0.5:  # the schema's own tree
        raw[100:112] = struct.pack(">BHHHBI", 5, 0, 0, 4096, 0, first)
    file.write_bytes(raw)


def change_schema(file: Path, chance: Random) -> None:
    """SQL of somebody else's in the file; some of it is refused by SQLite itself."""
    table = chance.choice(["run", "slice", "reading", "plan", "fingerprint", "trial", "meta"])
    sql = f"SELECT sql FROM sqlite_master WHERE name = '{table}'"
    with closing(sqlite3.connect(file)) as there:
        [(made,)] = there.execute(sql).fetchall()
        columns = [row[1] for row in there.execute(f"PRAGMA table_info({table})")]
    number = chance.choice([-1, 0, 1, 3, 1 << 30])
    with suppress(sqlite3.Error):
        _sql(file, chance.choice([*_changes(table, made, columns), f"PRAGMA user_version={number}"]))


def _changes(table: str, made: str, columns: list[str]) -> list[str]:
    """Scripts that change the schema of a table with these columns, which was ``made`` so."""
    kept = f"ALTER TABLE {table} RENAME TO was;"
    computed = made.replace(f"CREATE TABLE {table} (", f"CREATE TABLE {table} (odd AS (randomblob(1 << 28)), ")
    rewrite = "PRAGMA writable_schema=ON; UPDATE sqlite_master SET {} WHERE name = '" + table + "'"
    return [
        f"{kept} CREATE VIEW {table} AS {_FOREVER} {', '.join(f'x AS {name}' for name in columns)} FROM n;",
        f"{kept} CREATE VIEW {table} AS SELECT a.* FROM was AS a, was AS b, was AS c, was AS d, was AS e, was AS f;",
        f"CREATE TRIGGER t AFTER INSERT ON {table} BEGIN DELETE FROM slice; DELETE FROM run; END;",
        "CREATE TRIGGER t INSTEAD OF INSERT ON rate BEGIN DELETE FROM run; END; DROP INDEX run_of_trial;",
        f"CREATE INDEX odd ON {table} (length(hex(zeroblob(1 << 26))));",
        f"CREATE INDEX odd ON {table} ({columns[0]}) WHERE {columns[-1]} LIKE '%%%%%%%%%%%%';",
        f"ALTER TABLE {table} ADD COLUMN odd AS (hex(zeroblob(1 << 28)));",
        "DROP VIEW rate; CREATE VIEW rate AS SELECT randomblob(1 << 29) AS run;",
        f"DROP VIEW rate; CREATE VIEW rate AS {_FOREVER} x AS run FROM n;",
        "CREATE TABLE sqlite_stat2 (a); CREATE TABLE more (a);",
        "CREATE VIRTUAL TABLE odd USING fts5(a);",
        f"DROP TABLE {table};",
        rewrite.format("sql = 'CREATE TABLE ' || name || '(a)'"),
        rewrite.format(f"sql = '{computed.replace(chr(39), chr(39) * 2)}'"),
        rewrite.format("sql = replace(sql, ' TEXT', ' TEXT CHECK (randomblob(1 << 28) IS NOT NULL)')"),
        rewrite.format("sql = replace(sql, ')', ') WITHOUT ROWID')"),
        rewrite.format(f"sql = '{'(' * 100_000}'"),
        rewrite.format("sql = zeroblob(1 << 20)"),
        rewrite.format("rootpage = 1"),
        rewrite.format("rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'plan')"),
        rewrite.format("rootpage = -1"),
        rewrite.format("type = 'view'"),
        rewrite.format("name = x'ff'"),
        rewrite.format("tbl_name = NULL"),
        "PRAGMA application_id=0",
        "VACUUM; PRAGMA encoding='UTF-16'; ANALYZE;",
    ]


def change_columns(file: Path, chance: Random) -> None:
    """Values of other kinds than their columns say."""
    table = chance.choice([*_TABLES, "trial", "meta"])
    with closing(sqlite3.connect(file)) as there:
        columns = [row[1] for row in there.execute(f"PRAGMA table_info({table})")]
    odd = ["x'ff00fe'", "CAST(x'ff41ff' AS TEXT)", "9e999", "-9e999", "1 << 62", "-5", "'é'", "''", "zeroblob(1 << 20)"]
    odd += ["NULL", "1.5", "CAST(zeroblob(100) AS TEXT)", "'9e99'", "hex(zeroblob(1 << 20))"]
    for _ in range(chance.choice([1, 3])):
        which = chance.choice(["", " LIMIT 1"])
        key = "run, position" if table in ("slice", "reading") else "rowid"
        where = f"({key}) IN (SELECT {key} FROM {table} ORDER BY random(){which})"
        with suppress(sqlite3.Error):
            _sql(file, f"UPDATE {table} SET {chance.choice(columns)} = {chance.choice(odd)} WHERE {where}")


def change_json(file: Path, chance: Random) -> None:
    """A value somewhere in a noun replaced by another; also what is no JSON."""
    for _ in range(chance.choice([1, 1, 4])):
        table = chance.choice(_TABLES)
        with closing(sqlite3.connect(file)) as there, there:
            rows = there.execute(f"SELECT body FROM {table}").fetchall()
            (body,) = chance.choice(rows)
            with suppress(ValueError, RecursionError):  # harmed before
                there.execute(f"UPDATE {table} SET body = ? WHERE body = ?", (_changed(body, chance), body))


def _changed(body: str, chance: Random) -> str:
    noun = json.loads(body)
    spot: Any = noun
    while True:
        keys = list(spot) if isinstance(spot, dict) else range(len(spot))
        key = chance.choice(list(keys))
        if isinstance(spot[key], dict | list) and spot[key] and chance.random() < 0.8:
            spot = spot[key]
            continue
        break
    if chance.random() < 0.1:
        del spot[key]
        return json.dumps(noun)
    spot[key] = "@@"
    if chance.random() < 0.1:
        return body[: chance.randrange(len(body))]
    deep = chance.choice([10, 50, 500, 5000, 200_000])
    numbers = [
        "0",
        "-1",
        "1",
        "1e308",
        "-1e308",
        "1e999",
        "NaN",
        "9" * 18,
        "9" * 30,
        "9" * 5000,
        "0.1",
        "1e-300",
        "1e5",
    ]
    texts = ['""', '"x"', '"\\ud800"', '"../../x"', '"' + "y" * 1_000_000 + '"', '"\\u0000"', '"2026-01-01"', '"go"']
    lists = ["[]", "{}", "[" * deep + "]" * deep, '{"a":' * deep + "1" + "}" * deep, "[" + "[]," * 300_000 + "[]]"]
    lists += ["[" + "0," * 100_000 + "0]", '["",[],{}]', '{"":1}', '{"a":null}', '{"wait":3}', '[{"cpu_share":1e9}]']
    value = chance.choice(chance.choice([numbers, numbers, texts, lists, ["null", "true", "false"]]))
    return json.dumps(noun).replace('"@@"', value)


def change_summary(file: Path, chance: Random) -> None:
    """A driver's last word that says anything."""
    keys = ["offered", "ok", "duration_ns", "errors", "latency_ns", "response_ns", "threads", "started", "anything"]
    keys += ["connections_unanswered", "Keep-Alive requests", "Complete requests", "latency_corrected"]
    values: list[Any] = [0, -1, 10**30, 1e300, None, "x", [], {}, [[]], [{}], {"p50": "x"}, {"wait": 1}, [1], True]
    with closing(sqlite3.connect(file)) as there, there:
        (body,) = chance.choice(there.execute("SELECT body FROM run").fetchall())
        noun = json.loads(body)
        noun["summary"] |= {chance.choice(keys): chance.choice(values) for _ in range(3)}
        there.execute("UPDATE run SET body = ? WHERE body = ?", (json.dumps(noun), body))


def change_histogram(file: Path, chance: Random) -> None:
    """Histograms that are large, of other settings, or of counts that nobody counted."""
    digits = chance.choice([3, 3, 0, 1, 2, 5, 6, 1 << 31])
    lowest = chance.choice([1, 1, 0, 2, 1 << 40, (1 << 64) - 1])
    highest = chance.choice([3_600_000_000_000, 3_600_000_000_000, 0, 2, 10_000, 1 << 62, (1 << 64) - 1])
    tiny = [b"", b"\x02" * 50, b"\x01\x02", b"\xff\xff\x03\x02", b"\x80" * 9, b"\xfe" + b"\xff" * 80]
    counts = chance.choice([*tiny, b"\x02" * 34_000, b"\x02" * 40_000, b"\x02" * 16_000_000, chance.randbytes(40)])
    length = chance.choice([len(counts), len(counts), 0, 0xFFFFFFFF])
    offset = chance.choice([0, 0, 0, 5, 0xFFFFFFFF])
    payload = struct.pack(">IIIIQQd", 0x1C849313, length, offset, digits, lowest, highest, 1.0) + counts
    packed = zlib.compress(payload)
    text = base64.b64encode(struct.pack(">II", 0x1C849314, len(packed)) + packed).decode()
    with closing(sqlite3.connect(file)) as there, there:
        rows = there.execute("SELECT run, position, body FROM slice WHERE phase = 'steady'").fetchall()
        for run, position, body in rows if chance.random() < 0.3 else [chance.choice(rows)]:
            field = chance.choice(["latency_hdr", "latency_hdr", "response_hdr", "unfinished_hdr", "ttfb_hdr"])
            noun = json.loads(body) | {field: text}
            there.execute("UPDATE slice SET body = ? WHERE run = ? AND position = ?", (json.dumps(noun), run, position))


def multiply(file: Path, chance: Random) -> None:
    """Many rows of what there is few of."""
    times = chance.choice([100, 2000])
    up_to = f"WITH RECURSIVE n(x) AS (SELECT 10 UNION ALL SELECT x + 1 FROM n WHERE x < {times})"
    scripts = [
        f"{up_to} INSERT INTO fingerprint SELECT x, hostname, cpu_model, kernel, body FROM fingerprint, n LIMIT 3000",
        f"{up_to} INSERT INTO reading SELECT run, position + 1000 * x, at_ns, role, 1, 1, 1, 1, body FROM reading, n "
        "LIMIT 3000",
        f"{up_to} INSERT INTO slice SELECT run, position + 1000 * x, phase, 1, 1, 1, 1, 0, body FROM slice, n "
        "LIMIT 500",
        f"{up_to} INSERT INTO run SELECT 5 * x + number, trial, 1, '', '', '', '', 1, outcome, '', '', 1, 1, body, '' "
        "FROM run, n LIMIT 500",
        "INSERT INTO plan SELECT * FROM plan; DELETE FROM fingerprint",
        "DELETE FROM plan",
        "DELETE FROM run",
    ]
    with suppress(sqlite3.Error):
        _sql(file, chance.choice(scripts))


def harm_log(file: Path, chance: Random) -> None:
    """The log beside the file, as a killed run leaves it: with its index or without, cut, flipped, or of many pages."""
    log, index = (file.with_name(file.name + end) for end in ("-wal", "-shm"))
    with closing(sqlite3.connect(file)) as there:
        there.executescript("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; UPDATE meta SET value = 'x'")
        there.execute("PRAGMA user_version=2")  # so that the first page is in it
        logged, indexed = log.read_bytes(), index.read_bytes()
    raw = bytearray(logged)
    way = chance.randrange(4)
    if way == 0:
        for _ in range(chance.choice([1, 20])):
            raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
    elif way == 1:
        raw = raw[: chance.randrange(len(raw))]
    elif way == 2:
        grow(raw, chance.choice([0, 1, 1 << 20, 0xFFFFFFFE]))
    log.write_bytes(chance.choice([raw, raw, raw, b"", chance.randbytes(4096)]))
    if chance.random() < 0.5:
        index.write_bytes(chance.choice([indexed, indexed, b"", chance.randbytes(32768)]))


def grow(raw: bytearray, pages: int) -> None:
    """Let the last frame say that the store has so many pages, with checksums that are right."""
    order = ">" if raw[3] & 1 else "<"

    def summed(part: bytes, one: int, two: int) -> tuple[int, int]:
        words = struct.unpack(f"{order}{len(part) // 4}I", part)
        for even, odd in zip(words[::2], words[1::2], strict=True):
            one = (one + even + two) & 0xFFFFFFFF
            two = (two + odd + one) & 0xFFFFFFFF
        return one, two

    page = struct.unpack_from(">I", raw, 8)[0]
    sums = summed(bytes(raw[:24]), 0, 0)
    for at in range(32, len(raw), 24 + page):
        if at + 24 + page >= len(raw):
            struct.pack_into(">I", raw, at + 4, pages)
        if struct.unpack_from(">I", raw, at)[0] == 1:  # whose head says it once more
            struct.pack_into(">I", raw, at + 24 + 28, pages)
        sums = summed(bytes(raw[at : at + 8]), *sums)
        sums = summed(bytes(raw[at + 24 : at + 24 + page]), *sums)
        struct.pack_into(">II", raw, at + 16, *sums)


def odd_files(file: Path, chance: Random) -> None:
    """Pipes, links, folders and journals in place of files or beside them."""
    path = file.with_name(chance.choice([file.name, "now.json", *(f"{file.name}-{end}" for end in _BESIDE)]))
    path.unlink(missing_ok=True)
    match chance.randrange(5):
        case 0:
            os.mkfifo(path)
        case 1:
            path.symlink_to(chance.choice(["/dev/zero", "/dev/tty", str(path), "/proc/self/mem", "nowhere"]))
        case 2:
            path.mkdir()
        case 3:
            path.write_bytes(chance.randbytes(chance.choice([10, 100_000])))
        case _:
            path.write_bytes(b"[" * 900_000 if path.name == "now.json" else b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" * 100)


def _sql(file: Path, script: str) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as there:
        there.executescript(script)


_WAYS: tuple[Way, ...] = (flip_bits, write_numbers, change_header, move_pages, cut, circles, change_schema)
_WAYS = (*_WAYS, change_columns, change_json, change_summary, change_histogram, multiply, harm_log, odd_files)
WAYS = {way.__name__: way for way in _WAYS}
