"""Metrics: OpenMetrics of one results folder, or of the newest of every study.

A Prometheus asks every few seconds, and hardly anything is new then: a store is read again only when it has changed,
and of a Run the lines are made once, as text.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence

from webdyno.analyse.blocks import alone
from webdyno.analyse.doubts import about_study
from webdyno.analyse.table import Evidence, Table, tables
from webdyno.analyse.verdict import judged_tables
from webdyno.report.openmetrics import (
    CONTENT_TYPE,
    Families,
    about_run,
    about_tables,
    add,
    add_all,
    head,
    load_names,
    told,
)
from webdyno.store.bodies import uncollected
from webdyno.view.shelf import Entry, Shelf
from webdyno.view.shell import Reply
from webdyno.wal import Signature

MOST_LINES = 200_000
"""Kept for the next scrape, of all folders together: some 60 MB, as much as 7,000 Runs have."""
_Key = tuple[str, str, bool]
"""Trial, begin of the Run, and whether its figures count."""


class Metrics:
    """What a Prometheus takes. Of a run in progress only what was counted: an analysis would disturb it each time."""

    def __init__(self, shelf: Shelf, most_lines: int = MOST_LINES) -> None:
        self._shelf, self._most_lines = shelf, most_lines
        self._folders: OrderedDict[str, tuple[tuple[str, Signature], Families]] = OrderedDict()
        self._runs: dict[str, dict[_Key, Families]] = {}
        self._working = threading.Lock()

    def reply(self, entries: Iterable[Entry], *, lenient: bool = False) -> Reply:
        """The exposition of ``entries``; ``lenient``: one that cannot be read is left out, and does not silence the
        rest.
        """
        whole: Families = {}
        for entry in entries:
            try:
                add_all(whole, self._of(entry))
            except Exception:  # a file somebody mailed may hold anything
                if not lenient:
                    raise
        return Reply(200, CONTENT_TYPE, told(whole).encode())

    def newest(self, entries: Iterable[Entry]) -> list[Entry]:
        """The newest of every study: its series go on from sitting to sitting. Entries come newest first."""
        found: dict[str, Entry] = {}
        for entry in entries:
            if entry.state != "unreadable":
                found.setdefault(entry.study, entry)
        return list(found.values())

    def _of(self, entry: Entry) -> Families:
        """Of one folder: as it was, or read anew when it is not as it was."""
        name, now = entry.name, (entry.state, entry.seen)
        with self._working:
            before = self._folders.get(name)
            if before is not None and before[0] == now:
                self._folders.move_to_end(name)
                return before[1]
            fresh = self._fresh(name, analysed=entry.state != "in progress")
            self._folders[name] = (now, fresh)
            self._folders.move_to_end(name)
            while len(self._folders) > 1 and sum(_lines(each) for _, each in self._folders.values()) > self._most_lines:
                self._folders.popitem(last=False)
        return fresh

    def _fresh(self, name: str, *, analysed: bool) -> Families:
        """Claims, curves and laws are in no metric, and would take as long as all the rest."""
        found: Families = {}
        with uncollected():
            evidence = self._shelf.evidence(name, checked=analysed)
            add(found, head(evidence.plan, evidence.fingerprint))
            read = tables(evidence) if analysed and evidence.runs else []
            self._add_runs(found, name, evidence, read)
            if read:
                verdicts = [each.verdict for each in judged_tables(evidence, read)]
                add(found, about_tables(evidence.plan, verdicts, about_study(evidence)))
        return found

    def _add_runs(self, found: Families, name: str, evidence: Evidence, read: Sequence[Table]) -> None:
        """``read``: its tables, where they are needed anyway."""
        windows = {window.run.trial.id: window for table in read for window in alone(table.windows)}
        before, now = self._runs.get(name, {}), {}
        names = load_names(evidence.plan)
        last = {run.trial.id: number for number, run in enumerate(evidence.runs)}
        for number, run in enumerate(evidence.runs):
            counts = last[run.trial.id] == number
            key = (run.trial.id, run.started_at, counts)
            now[key] = before.get(key) or {}
            if not now[key]:
                add(now[key], about_run(evidence.plan, names, run, counts=counts, read=windows.get(run.trial.id)))
            add_all(found, now[key])
        self._runs = {name: now}  # of one folder at a time: the one that grows


def _lines(families: Families) -> int:
    return sum(map(len, families.values()))
