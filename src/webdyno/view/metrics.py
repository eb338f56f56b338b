"""Metrics: OpenMetrics of one results folder, or of the newest of every study, each line made once for its Run."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator

from webdyno.analyse import analyse
from webdyno.analyse.table import Evidence
from webdyno.report.openmetrics import CONTENT_TYPE, Sample, about_analysis, about_run, head, load_names, text
from webdyno.view.shelf import Entry, Shelf
from webdyno.view.shell import Reply

_Key = tuple[str, str, bool]
"""Trial, begin of the Run, and whether its figures count."""


class Metrics:
    """What a Prometheus takes. Of a run in progress only what was counted: an analysis would disturb it each time."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._runs: dict[str, dict[_Key, list[Sample]]] = {}
        self._working = threading.Lock()

    def reply(self, entries: Iterable[Entry], *, lenient: bool = False) -> Reply:
        """The exposition of ``entries``; ``lenient``: one that cannot be read is left out, and does not silence the
        rest.
        """
        samples: list[Sample] = []
        for entry in entries:
            try:
                samples += self._samples(entry)
            except Exception:  # a file somebody mailed may hold anything
                if not lenient:
                    raise
        return Reply(200, CONTENT_TYPE, text(samples).encode())

    def newest(self, entries: Iterable[Entry]) -> list[Entry]:
        """The newest of every study: its series go on from sitting to sitting. Entries come newest first."""
        found: dict[str, Entry] = {}
        for entry in entries:
            if entry.state != "unreadable":
                found.setdefault(entry.study, entry)
        return list(found.values())

    def _samples(self, entry: Entry) -> list[Sample]:
        written = entry.state == "in progress"
        with self._working:
            return self._shelf.made(
                ("metrics", entry.name, written),
                entry.name,
                lambda: list(self._fresh(entry.name, analysed=not written)),
            )

    def _fresh(self, name: str, *, analysed: bool) -> Iterator[Sample]:
        evidence = self._shelf.evidence(name, checked=analysed)
        yield from head(evidence.plan, evidence.fingerprint)
        yield from self._about_runs(name, evidence)
        if analysed and evidence.runs:
            yield from about_analysis(evidence.plan, analyse(evidence.plan, evidence.fingerprint, evidence.runs))

    def _about_runs(self, name: str, evidence: Evidence) -> Iterator[Sample]:
        before, now = self._runs.get(name, {}), {}
        names = load_names(evidence.plan)
        last = {run.trial.id: number for number, run in enumerate(evidence.runs)}
        for number, run in enumerate(evidence.runs):
            counts = last[run.trial.id] == number
            key = (run.trial.id, run.started_at, counts)
            now[key] = before.get(key) or list(about_run(evidence.plan, names, run, counts=counts))
        self._runs = {name: now}  # of one folder at a time: the one that grows
        for samples in now.values():
            yield from samples
