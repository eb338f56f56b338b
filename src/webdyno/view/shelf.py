"""Shelf: the results folders below one folder, read without a trace and only when they changed.

A results folder is known by its name as the folder lists it at that moment; what a browser asks for is looked up among
these names and never becomes a path by itself. Links are not followed, so nothing outside the folder is ever read.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from stat import S_ISREG
from typing import Literal, TypeVar

from webdyno.analyse.table import Evidence
from webdyno.model.errors import UsageError, WebdynoError
from webdyno.model.rig import Fingerprint
from webdyno.store import FILE, Store
from webdyno.wal import Signature, is_written, signature

T = TypeVar("T")
State = Literal["in progress", "done", "ended", "stopped", "unreadable"]
"""``ended`` is a race at rest: only its analysis knows whether it was over, so its answer says so (``answers``)."""
TRIES = 5
"""How often a store that changes in the moment it is read is read again."""


class GoneError(WebdynoError):
    """There is no results folder of that name (any more)."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One results folder in few words."""

    name: str
    state: State
    problem: str = ""
    """Why it cannot be read."""
    study: str = ""
    title: str = ""
    began: str = ""
    """UTC, ISO 8601; empty before the first Run."""
    machine: Fingerprint | None = None
    done: int = 0
    """Trials with a Run of any outcome but interrupted."""
    failed: int = 0
    rounds: int = 0
    """The last that has such a Run."""
    planned: int = 0
    race: bool = False
    seen: Signature = ()
    """Its store as it was then."""

    @property
    def is_answered(self) -> bool:
        """Whether an answer can be worked out."""
        return self.state in ("done", "ended", "stopped") and self.done > 0


class Shelf:
    """Results folders below ``root``; or, where that is one itself, this one."""

    def __init__(self, root: Path) -> None:
        """UsageError when there is no such folder."""
        if not root.is_dir():
            raise UsageError(f"{root}: there is no such folder; `webdyno run STUDY` makes results, or name another")
        self._only = root.resolve().name if _is_results(root) else None
        self.root = root.resolve().parent if self._only else root
        self._reading: dict[str, threading.Lock] = {}
        self._entries: dict[str, Entry] = {}

    def names(self) -> list[str]:
        """Of every results folder there is now."""
        try:
            with os.scandir(self.root) as found:
                names = [each.name for each in found if each.is_dir(follow_symlinks=False)]
        except OSError:
            return []
        return [name for name in names if self._only in (None, name) and _is_results(self.root / name)]

    def folder(self, name: str) -> Path:
        """Of one of the names; GoneError when it is none."""
        if self._only not in (None, name) or not self._is_listed(name) or not _is_results(self.root / name):
            raise GoneError(f"there is no results folder {name!r} in {self.root} (any more)")
        return self.root / name

    def _is_listed(self, name: str) -> bool:
        """Looked up in the listing, never opened as a path; and only this one is asked for its file."""
        try:
            with os.scandir(self.root) as found:
                return any(each.name == name and each.is_dir(follow_symlinks=False) for each in found)
        except OSError:
            return False

    def is_written(self, name: str) -> bool:
        """Whether a run is writing it at this moment."""
        return self._is_written(self.folder(name) / FILE)

    def _is_written(self, file: Path) -> bool:
        with self._alone(file):
            return is_written(file)

    def _alone(self, file: Path) -> threading.Lock:
        """One reader of a store at a time, and none beside ``is_written`` (wal.py says why)."""
        return self._reading.setdefault(str(file), threading.Lock())

    def changed(self, name: str) -> Signature:
        """Changes when the store does."""
        return signature(self.folder(name) / FILE)

    def read(self, name: str, of: Callable[[Store], T], *, checked: bool = False) -> T:
        """What ``of`` finds in the store; WebdynoError when it cannot be read.

        A writer that begins in between may show us half of what it writes: then the store has changed by the end, and
        is read again.
        """
        return self._read(self.folder(name) / FILE, of, checked=checked)

    def _read(self, file: Path, of: Callable[[Store], T], *, checked: bool = False) -> T:
        for last in [False] * (TRIES - 1) + [True]:
            with self._alone(file):
                before = signature(file)
                try:
                    with Store.peek(file.parent, checked=checked) as store:
                        found = of(store)
                except (WebdynoError, ValueError, IndexError) as error:
                    if not last and signature(file) != before:
                        continue
                    if isinstance(error, WebdynoError):
                        raise
                    raise UsageError(f"{file} holds no plan: it is only just made, or was never finished") from None
            if last or signature(file) == before:
                return found
        raise AssertionError("the last try returns or raises")

    def evidence(self, name: str, *, checked: bool = True) -> Evidence:
        """All of it; ``checked``: every page of the file is looked at first."""
        return self.read(name, lambda store: Evidence(store.plan(), store.fingerprint(), store.runs()), checked=checked)

    def entry(self, name: str) -> Entry:
        """One results folder in few words; what is wrong with it is said in it, not raised."""
        return self._entry(name, self.folder(name) / FILE)

    def _entry(self, name: str, file: Path) -> Entry:
        """Read only when its store, or whether it is written, has changed."""
        try:
            now, written = signature(file), self._is_written(file)
            kept = self._entries.get(name)
            if kept is None or kept.seen != now or (kept.state == "in progress") != written:
                kept = replace(self._read(file, lambda store: _entry(name, store, written)), seen=now)
                self._entries[name] = kept
        except WebdynoError as error:
            return Entry(name=name, state="unreadable", problem=str(error))
        except Exception as error:  # a file somebody mailed may hold anything; the list must stand all the same
            return Entry(name=name, state="unreadable", problem=f"{type(error).__name__}: {error}")
        return kept

    def entries(self) -> list[Entry]:
        """All of them, the newest first. The folder is listed once, however many there are."""
        found = [self._entry(name, self.root / name / FILE) for name in self.names()]
        self._entries = {each.name: each for each in found if each.state != "unreadable"}
        found = [each for each in found if each.state != "unreadable" or _is_results(self.root / each.name)]
        return sorted(found, key=lambda each: (_at(each), each.name), reverse=True)


def _entry(name: str, store: Store, written: bool) -> Entry:
    plan, machine = store.plan(), store.fingerprints()[-1]
    runs = [run for _, run in store.heads()]
    last = {run.trial.id: run for run in runs if run.outcome != "interrupted"}
    began = min((run.started_at for run in runs), default="")
    complete = len(last) >= len(plan.trials) if plan.race is None else bool(last)
    stopped = not complete or any(run.outcome == "interrupted" for run in runs[-1:])
    return Entry(
        name=name,
        state="in progress" if written else "stopped" if stopped else "ended" if plan.race is not None else "done",
        study=plan.study,
        title=plan.title,
        began=began,
        machine=machine,
        done=len(last),
        failed=sum(run.outcome != "ok" for run in last.values()),
        rounds=max((run.trial.round for run in last.values()), default=0),
        planned=plan.most_trials if written or stopped else len(last),
        race=plan.race is not None,
    )


def _at(entry: Entry) -> tuple[bool, str]:
    """The newest are those in progress, then by their begin; what cannot be read is the oldest."""
    return entry.state == "in progress", entry.began


def _is_results(folder: Path) -> bool:
    try:
        return S_ISREG((folder / FILE).lstat().st_mode)
    except OSError:
        return False
