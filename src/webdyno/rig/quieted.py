"""Quieted: a machine whose settings are set for a while, and put back however that ends.

What is to be set is written down before the first of it is, with what was there, so that the next webdyno can put it
back for one that was killed. The file lies in ``/run``, where only root can write, as only root can set what it names;
a boot ends both. A value that is neither what was set nor what was there before is somebody else's, and stays.
"""

from __future__ import annotations

import contextlib
import os
import resource
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from webdyno.model.errors import MachineError
from webdyno.rig.process import boot_id, is_running, read_stat
from webdyno.rig.quiet import OPEN_FILES, Seen, value

JOURNAL = Path("/run/webdyno/quiet.json")
UNDO = "as root: webdyno doctor --quiet --undo"


class Change(msgspec.Struct, frozen=True):
    """One file, its value before and the one it gets."""

    name: str
    file: str
    before: str
    after: str


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """The journal's content."""

    owner: int
    owner_start: int
    boot: str
    changes: list[Change]


def holder(journal: Path = JOURNAL) -> int | None:
    """The process that lives and holds this machine quiet; None: nobody does."""
    held = _read(journal)
    return held.owner if held is not None and _lives(held) else None


def was_left(journal: Path = JOURNAL) -> bool:
    """Whether a webdyno was killed while it held this machine quiet, and nothing was put back since."""
    held = _read(journal)
    return held is not None and held.boot == boot_id() and not _lives(held)


def put_back_left(journal: Path = JOURNAL) -> list[str]:
    """Put back what a killed webdyno had set; a sentence on each thing worth knowing. Call it under the machine's
    lock: another one may be measuring.
    """
    held = _read(journal)
    if held is None or _lives(held):
        return []
    if held.boot != boot_id():  # a boot ended what was set
        _forget(journal)
        return []
    return [f"after a webdyno that was killed (pid {held.owner}): {each}" for each in _put_back(held, journal)]


@contextlib.contextmanager
def held_quiet(seen: Sequence[Seen], say: Callable[[str], None], journal: Path = JOURNAL) -> Iterator[None]:
    """Set what would change, and put it back at the end. What cannot be set, or put back, is said.

    MachineError, before anything is set, where the journal cannot be written. No signal may interrupt it: see
    ``in_front.py``. Call it under the machine's lock, which may be given back inside.
    """
    changes = [Change(it.name, it.file, it.now or "", it.quiet or "") for it in seen if it.would_change and it.file]
    us = read_stat(os.getpid())
    held = Held(owner=os.getpid(), owner_start=us.start_ticks if us else 0, boot=boot_id(), changes=changes)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    told: list[str] = []
    if changes:
        _write(held, journal)
    try:
        failed = [why for change in changes if (why := _set(change))]
        if any(it.name == "open-files" and it.would_change for it in seen):
            failed += _raise_open_files()
        for sentence in failed:
            say(sentence)
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        if changes:
            told = _put_back(held, journal)
        for sentence in told:
            say(sentence)


def _set(change: Change) -> str | None:
    """Why it could not be set; then it is as it was."""
    try:
        _put(change.file, change.after)
    except OSError as error:
        with contextlib.suppress(OSError):  # a kernel that made something else of it
            _put(change.file, change.before)
        return f"{change.name} could not be set to {change.after} ({_reason(error)}): {change.file} is as it was"
    return None


def _put(file: str, wanted: str) -> None:
    """OSError where it is not what the file says afterwards."""
    path = Path(file)
    path.write_text(wanted)
    if (now := value(path.read_text())) != wanted:
        raise OSError(0, f"it is {now} now")


def _raise_open_files() -> list[str]:
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
    except (OSError, ValueError) as error:
        return [f"open-files could not be set to {OPEN_FILES} ({error})"]
    return []


def _put_back(held: Held, journal: Path) -> list[str]:
    """Last first. What cannot be put back stays in the journal, for another try."""
    left: list[Change] = []
    told: list[str] = []
    back: dict[str, None] = {}
    for change in reversed(held.changes):
        try:
            now = value(Path(change.file).read_text())
            if now == change.after:
                _put(change.file, change.before)
                back[f"{change.name} {change.before}"] = None
            elif now != change.before:
                told.append(
                    f"{change.name} stays {now}, because somebody else changed it in the meantime: it was "
                    f"{change.before}, and "
                    f"webdyno had set {change.after} ({change.file})"
                )
        except FileNotFoundError:  # a core that was taken out has no clock to set
            continue
        except OSError as error:
            left.append(change)
            told.append(
                f"{change.name} could not be put back to {change.before} ({_reason(error)}; {change.file}); {UNDO}"
            )
    if left:
        with contextlib.suppress(MachineError):  # as it was, it names what is back already too, which harms nothing
            _write(msgspec.structs.replace(held, changes=left[::-1]), journal)
    else:
        _forget(journal)
    return [*([f"put back: {', '.join(reversed(back))}"] if back else []), *told]


def _forget(journal: Path) -> None:
    """Where it is root's and we are not, root's next webdyno does it."""
    with contextlib.suppress(OSError):
        journal.unlink()


def _lives(held: Held) -> bool:
    return held.boot == boot_id() and is_running(held.owner, held.owner_start)


def _read(journal: Path) -> Held | None:
    """None where there is none that only root or we can have written."""
    try:
        opened = os.open(journal, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(opened, "rb") as file:
        it = os.fstat(opened)
        trusted = stat.S_ISREG(it.st_mode) and it.st_uid in (0, os.geteuid()) and not it.st_mode & 0o022
        content = file.read() if trusted else b""
    try:
        return msgspec.json.decode(content, type=Held)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _write(held: Held, journal: Path) -> None:
    draft = journal.with_suffix(".draft")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        journal.parent.mkdir(mode=0o755, exist_ok=True)
        with open(draft, "wb", opener=lambda path, _: os.open(path, flags, 0o644)) as file:
            file.write(msgspec.json.encode(held))
        draft.replace(journal)
    except OSError as error:
        raise MachineError(
            f"{journal}, where webdyno records what to restore, cannot be written ({_reason(error)}): nothing was "
            "set; make that possible, or set by hand what webdyno doctor --quiet shows"
        ) from None


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
