"""Throw-away users: each command that is not trusted runs as a user whom nobody else is, and who owns only its home.

A number is enough for that, and no file of the system names it. What such a user sees of this machine's files is said
here, and brought about by aside.py: homes, temporary files and what else may be somebody's are hidden, and of them only
the build cache and the interpreters' folders are shown. Nothing that a contender's file says is shown for that, or it
could name a folder full of keys.
"""

from __future__ import annotations

import os
import pwd
import secrets
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

from webdyno.model.errors import MachineError
from webdyno.rig import aside
from webdyno.rig.host import Command

USERS = 1024
"""As many as are set apart for one webdyno, which has far fewer processes of its own at a time."""
_FIRST, _LAST = 2_001_000_000, 2_147_000_000
"""Where systemd, directories of users and container engines give out no numbers (systemd.io/UIDS-GIDS)."""
_NOBODY = 65_534
_HIDDEN = ("/boot", "/home", "/media", "/mnt", "/root", "/run", "/srv", "/var", *aside.SHARED)
_PARTS = ("apps", "environments", "packages", "runtimes")
"""Of the build cache, what is served from."""
_INTERPRETERS = ("python", "node")
"""Which builds link to from elsewhere."""


class ThrowawayUsers:
    """Those of one webdyno. ``cache``: where what was built lies."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache.absolute()
        self._first, self._turn = _unused(), 0
        self._taken: dict[str, int] = {}
        self._lock = threading.Lock()

    def take(self, mark: str, command: Command) -> list[str]:
        """A user for the command that bears ``mark``, who gets its home and log; the words for aside.py."""
        with self._lock:
            free = (self._first + (self._turn + step) % USERS for step in range(USERS))
            user = next(each for each in free if each not in self._taken.values())
            self._taken[mark], self._turn = user, user - self._first + 1
        home = Path(command.environment["HOME"])
        _give([home], user)
        if isinstance(command.stdout, Path):  # servers open it by its name too: /dev/stderr
            command.stdout.touch()
            os.chown(command.stdout, user, -1)
        shown = [path for path in (*_parts(self._cache), *folders_of(command.reads)) if path.is_dir()]
        hidden = hidden_from([home, command.cwd.absolute(), *shown])
        return aside.encode(user, str(home), [str(path) for path in hidden], [str(p) for p in _within(shown, hidden)])

    def give_back(self, mark: str, log: Path | str) -> None:
        """Once no process of it lives; what it wrote becomes the user's."""
        with self._lock:
            taken = self._taken.pop(mark, None)
        if taken is not None and isinstance(log, Path) and log.exists():
            os.chown(log, os.getuid(), -1, follow_symlinks=False)


def folders_of(reads: Iterable[Path]) -> list[Path]:
    """What must be shown for these folders to be of use: they, and those of the interpreters that they lead to."""
    found: list[Path] = []
    for folder in reads:
        found += [folder, *_installed(folder / "program")]
        found += [each for name in _INTERPRETERS for hop in _hops(folder / name) for each in _installed(hop)]
    return [path for path in dict.fromkeys(found) if not _is_private(path)]


def hidden_from(needed: Iterable[Path]) -> list[Path]:
    """Folders to hide, those above first: where a user's things lie, and what bars the way to what is ``needed``."""
    barred = {each for path in needed for each in path.parents if each.is_dir() and not each.stat().st_mode & 0o001}
    known = {Path(path).resolve() for path in (*_HIDDEN, Path.home()) if Path(path).is_dir()}
    return sorted(path for path in known | barred if path != Path("/"))


def _within(shown: Iterable[Path], hidden: Iterable[Path]) -> list[Path]:
    """Of ``shown`` what would be hidden, by its name or where that leads to, without what lies in another of them."""
    named = {each for path in shown for each in (path, path.resolve())}
    lost = {path for path in named if any(path.is_relative_to(each) for each in hidden)}
    return sorted(path for path in lost if not any(path != each and path.is_relative_to(each) for each in lost))


def _parts(cache: Path) -> Iterator[Path]:
    return (cache / name for name in _PARTS)


def _hops(path: Path) -> Iterator[Path]:
    """``path`` and each place that it leads to by links, the last one included."""
    for _ in range(40):
        if not os.path.lexists(path):
            return
        yield path
        if not path.is_symlink():
            yield path.resolve()
            return
        path = Path(os.path.normpath(path.parent / path.readlink()))


def _installed(program: Path) -> list[Path]:
    """The folder that ``program`` was installed into with all it needs, or at least its own."""
    folder = program.parent
    return [folder] if folder.name != "bin" or _is_private(folder.parent) else [folder.parent]


def _is_private(path: Path) -> bool:
    """Shown to nobody, whatever it is needed for: all that holds a home, and what stands hidden at the top of one."""
    home = Path.home().resolve()
    real = path.resolve()
    holds = any(each.is_relative_to(real) for each in (home, Path("/root"), Path("/home"), *map(Path, _HIDDEN)))
    return holds or (real.parent == home and real.name.startswith("."))


def _give(paths: Iterable[Path], user: int) -> None:
    """These folders, with what lies in them; nobody but us has had a hand in them."""
    for top in paths:
        for folder, _, files in os.walk(top):
            for path in (folder, *(os.path.join(folder, name) for name in files)):  # noqa: PTH118
                os.chown(path, user, user, follow_symlinks=False)


def _unused() -> int:
    """The first of USERS numbers in a row that are nobody's and own no process. MachineError where there are none."""
    if os.geteuid() != 0:
        raise MachineError(
            "--as-user needs root: only root may start a process as another user; run webdyno as root, or leave it out"
        )
    end = min(_end_of(Path("/proc/self/uid_map")), _end_of(Path("/proc/self/gid_map")))
    end = min(end, _LAST) if end > _FIRST + USERS else min(end, _NOBODY)
    begin = max(end - (_LAST - _FIRST), 1_000)
    known = {each.pw_uid for each in pwd.getpwall()} | _owners()
    for _ in range(100):
        first = begin + secrets.randbelow(max(1, end - USERS - begin))
        if first + USERS <= end and not any(first <= each < first + USERS for each in known):
            return first
    raise MachineError(f"--as-user finds no {USERS:,} users that are nobody's: this container maps too few (uid_map)")


def _end_of(table: Path) -> int:
    """Behind the highest number that the kernel knows in this user namespace."""
    lines = [line.split() for line in table.read_text().splitlines()]
    return max((int(inside) + int(count) for inside, _, count in lines), default=0)


def _owners() -> set[int]:
    """Users of all processes that can be seen."""
    found = set()
    for path in Path("/proc").iterdir():
        if path.name.isdecimal():
            try:
                found.add(path.stat().st_uid)
            except OSError:  # it has ended
                continue
    return found
