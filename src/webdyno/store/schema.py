"""Schema: the tables of a results file, in every version there was, and how one becomes the next.

What a file holds is compared with it word by word before anything in it is read: a view instead of a table, a trigger,
a column that is computed or an index over an expression is SQL of somebody else's, run with our rights.
"""

from __future__ import annotations

import re
import sqlite3

SCHEMA = 2
# History, one line per schema; each step up has its SQL in UPGRADES.
#   1  first: meta, fingerprint, plan, trial, run, slice, reading; view rate
#      (fingerprint had a column ``at`` for some hours)
#      (rate: of turns where there are any; without a step, for what had the older view has none)
#   2  run.service; a Run may hold the service behind it, a Reading be of role service, an outcome be service-failed
UPGRADES: dict[int, str] = {1: "ALTER TABLE run ADD COLUMN service TEXT"}
"""SQL from schema n to schema n + 1. A new field with a default needs no step: a body may lack it."""

APPLICATION = int.from_bytes(b"wdyn", "big")
"""Marks the file as ours (``file results.sqlite`` shows it)."""

RATE = """coalesce(sum(CASE phase WHEN 'turn' THEN ok END) * 1e9 / sum(CASE phase WHEN 'turn' THEN duration_ns END),
                    sum(ok) * 1e9 / sum(duration_ns))"""
TABLES = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE fingerprint (
    number INTEGER PRIMARY KEY, hostname TEXT, cpu_model TEXT, kernel TEXT, body TEXT NOT NULL);
CREATE TABLE plan (study TEXT, title TEXT, seed INTEGER, rounds INTEGER, body TEXT NOT NULL);
CREATE TABLE trial (
    position INTEGER PRIMARY KEY, id TEXT, contender TEXT, workload TEXT, load TEXT, driver TEXT, round INTEGER);
CREATE TABLE run (
    number INTEGER PRIMARY KEY AUTOINCREMENT, trial TEXT NOT NULL, fingerprint INTEGER NOT NULL, contender TEXT,
    workload TEXT, load TEXT, driver TEXT, round INTEGER, outcome TEXT, message TEXT, started_at TEXT, seconds REAL,
    memory_peak_bytes INTEGER, body TEXT NOT NULL, service TEXT);
CREATE INDEX run_of_trial ON run (trial);
CREATE TABLE slice (
    run INTEGER, position INTEGER, phase TEXT, start_ns INTEGER, duration_ns INTEGER, offered INTEGER, ok INTEGER,
    errors INTEGER, body TEXT NOT NULL, PRIMARY KEY (run, position)) WITHOUT ROWID;
CREATE TABLE reading (
    run INTEGER, position INTEGER, at_ns INTEGER, role TEXT, cpu_user_ns INTEGER, cpu_system_ns INTEGER,
    rss_bytes INTEGER, pss_bytes INTEGER, body TEXT NOT NULL, PRIMARY KEY (run, position)) WITHOUT ROWID;
CREATE VIEW rate AS
    SELECT number AS run, contender, workload, load, round, outcome, sum(ok) AS ok, sum(slice.errors) AS errors,
           {RATE} AS ok_per_s
    FROM run JOIN slice ON slice.run = number WHERE phase NOT IN ('warmup', 'lead') GROUP BY number;
"""  # noqa: S608 - our own text

_BEFORE = {1: [(", body TEXT NOT NULL, service TEXT)", ", body TEXT NOT NULL)")], SCHEMA: []}
"""By schema: what its tables said instead of today's."""
_AT_TIMES: list[tuple[str, str]] = [
    ("PRIMARY KEY, hostname", "PRIMARY KEY, at TEXT, hostname"),
    ("phase NOT IN ('warmup', 'lead')", "phase <> 'warmup'"),
    (f"{RATE} AS ok_per_s", "sum(ok) * 1e9 / sum(duration_ns) AS ok_per_s"),
    ("phase <> 'warmup'", "phase = 'steady'"),
]
"""What they said for a while, without a step; each after those before it."""
_LONGEST_NAME = 60
_SQLITES_OWN = {
    ("table", "sqlite_sequence", "sqlite_sequence", "CREATE TABLE sqlite_sequence(name,seq)"),
    ("index", "sqlite_autoindex_meta_1", "meta", ""),
}


def foreign(connection: sqlite3.Connection, schema: int) -> str | None:
    """What a file of that schema holds that webdyno did not make, or lacks; None: it is as we make them."""
    asked = "SELECT type, name, tbl_name, CAST(coalesce(sql, '') AS TEXT) FROM sqlite_master"
    there = [(kind, name, of, _plain(sql)) for kind, name, of, sql in connection.execute(asked)]
    ours = _ours(schema)
    for each in there:
        if each not in ours:
            return f"its {each[0]} {str(each[1])[:_LONGEST_NAME]!r} is not webdyno's"
    lacking = {name for _, name, _, _ in ours} - {name for _, name, _, _ in there}
    return f"it has no {min(lacking)}" if lacking else None


def _ours(schema: int) -> set[tuple[str, str, str, str]]:
    texts = [_plain(TABLES)]
    for now, before in _BEFORE.get(schema, []):
        texts = [_replaced(text, now, before) for text in texts]
    for now, before in _AT_TIMES:
        texts += [_replaced(texts[-1], now, before)]
    return _SQLITES_OWN | {_row(sql) for text in texts for sql in text.split(";") if sql.strip()}


def _replaced(text: str, now: str, before: str) -> str:
    return text.replace(_plain(now), _plain(before))


def _row(sql: str) -> tuple[str, str, str, str]:
    """As it stands in sqlite_master."""
    sql = sql.strip()
    _, kind, name, *rest = sql.split()
    return kind.lower(), name, rest[1] if kind == "INDEX" else name, sql


def _plain(sql: str) -> str:
    return re.sub(r"\s+", " ", sql)
