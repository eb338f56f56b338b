"""Answers: the sentence each results folder comes to, worked out one after the other, and never while a run goes on.

An analysis takes about a second of a processor. A list of many folders must not make anyone wait for all of them, and
must not put that load beside a measurement on the same machine.
"""

from __future__ import annotations

import threading

from webdyno.analyse import analyse
from webdyno.analyse.race_end import race_end
from webdyno.analyse.table import Evidence
from webdyno.model.errors import WebdynoError
from webdyno.model.trial import Plan
from webdyno.view.shelf import Entry, Shelf
from webdyno.wal import Signature

PATIENCE_S = 1.5
"""How long the list waits for answers that are being worked out."""


class Answers:
    """Asked for the answers of some folders; works out those it lacks in a thread that ends when all are there."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._known: dict[str, tuple[Signature, str]] = {}
        self._news = threading.Condition()
        self._wanted: list[str] = []
        self._thread: threading.Thread | None = None

    def ask(self, entries: list[Entry], *, paused: bool = False, patience_s: float = PATIENCE_S) -> dict[str, str]:
        """Sentences of those of ``entries`` that are known, after at most ``patience_s``; ``paused``: none is made."""
        now = {entry.name: entry.seen for entry in entries}
        with self._news:
            unknown = [name for name in now if name not in self._known or self._known[name][0] != now[name]]
            self._wanted = [] if paused else list(unknown)
            if self._wanted and self._thread is None:
                self._thread = threading.Thread(target=self._work, name="answers", daemon=True)
                self._thread.start()
            if self._wanted:
                self._news.wait_for(lambda: not self._wanted, patience_s)
            return {
                name: self._known[name][1] for name in now if name in self._known and self._known[name][0] == now[name]
            }

    def _work(self) -> None:
        while True:
            measuring = any(entry.state == "in progress" for entry in self._shelf.entries())
            with self._news:
                if measuring:
                    self._wanted = []
                    self._news.notify_all()
                if not self._wanted:
                    self._thread = None
                    return
                name = self._wanted[0]
            known = self._answer(name)
            with self._news:
                self._known[name] = known
                self._wanted = [other for other in self._wanted if other != name]
                self._news.notify_all()

    def _answer(self, name: str) -> tuple[Signature, str]:
        """When it was looked at, and the sentence; empty when nothing can be said."""
        now: Signature = ()
        try:
            now = self._shelf.changed(name)
            evidence = self._shelf.evidence(name)
            if not evidence.runs:
                return now, ""
            raced = race_end(evidence)
            return now, f"{raced}. {_told(evidence)}" if raced else _told(evidence)
        except WebdynoError as error:
            return now, f"cannot be analysed: {error}"
        except Exception as error:  # a file somebody mailed may hold anything; the list must stand all the same
            return now, f"cannot be analysed ({type(error).__name__}: {error})"


def _told(evidence: Evidence) -> str:
    """What the report opens with: the answer, and where there is one table alone, its verdict."""
    plan = evidence.plan
    analysis = analyse(plan, evidence.fingerprint, evidence.runs)
    sentences = [analysis.sentence, *[verdict.sentence for verdict in analysis.verdicts if len(analysis.verdicts) == 1]]
    return " ".join(f"{_begun(plan, sentence)}." for sentence in sentences)


def _begun(plan: Plan, sentence: str) -> str:
    """A capital at the beginning, unless a contender's name stands there."""
    word = sentence.split(" ", 1)[0].rstrip(",:")
    return sentence if word in plan.contenders else sentence[:1].upper() + sentence[1:]
