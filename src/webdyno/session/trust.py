"""Whose commands these are: a results or catalogue folder is data, and no command that somebody else wrote into it runs
unless the user says so.

Nothing of a folder says reliably whose it is: what was downloaded belongs to who downloaded it, and a mark inside could
be copied. So what was begun here, and what was agreed to, is remembered by a hash of what it has executed, in a file of
the user's. Of catalogues, those that a person works on count as their own: ``is_own`` has the rule.
"""

from __future__ import annotations

import contextlib
import grp
import hashlib
import os
import pwd
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from webdyno.analyse.words import listing
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import UsageError
from webdyno.model.trial import Plan
from webdyno.model.tried import Tried
from webdyno.read import default_folder, read_catalogue
from webdyno.read.folders import KINDS, OTHER_FOLDERS
from webdyno.session.executed import lines_of, lines_of_plan, lines_of_try, visible
from webdyno.session.folders import state_folder

MEMORY = "trusted"
"""File in the folder of the user's state: a hash on each line, and what it was of."""
_AGREED = "agreed to: "
"""Before the place of what was not begun here."""
_SHOWN_CHARACTERS = 120
"""Of a command within a sentence."""


class Strange(NamedTuple):
    """What would be executed of folders that are somebody else's."""

    where: str
    lines: Sequence[str]

    @property
    def sentence(self) -> str:
        """Why it is not executed, for somebody who cannot be asked."""
        first, more = visible(self.lines[0]), len(self.lines) - 1
        cut = f"{first[:_SHOWN_CHARACTERS]}..." if len(first) > _SHOWN_CHARACTERS else first
        return (
            f"{visible(self.where)}: somebody else's, as far as webdyno can tell, and it would run commands ({cut}"
            f"{f'; and {more} more' if more else ''}): webdyno shows them on a terminal and asks; --trust (from "
            "Python trust=True) runs them without asking"
        )


Agree = Callable[[Strange], bool]
"""Whether it may be executed, as the user says; UsageError where nobody can be asked."""


def refuse(strange: Strange) -> bool:
    """Nobody can be asked. UsageError."""
    raise UsageError(strange.sentence)


def allow(_: Strange) -> bool:
    """The user trusts it, whatever it is."""
    return True


def ask_for_plan(plan: Plan, folder: Path, known: Catalogue, agree: Agree) -> None:
    """UsageError unless all that a stored plan has executed is in the catalogue, was begun here, or is agreed to."""
    lines, ours = lines_of_plan(plan), set(lines_of(known))
    strange = Strange(str(folder), [line for line in lines if line not in ours])
    _ask(strange, {_hash(lines): str(folder)}, agree)


def ask_for_try(tried: Tried, folder: Path, agree: Agree) -> None:
    """As for a plan: of a stored try, whose servers are the catalogue's and whose commands are its own."""
    lines = lines_of_try(tried)
    _ask(Strange(str(folder), lines), {_hash(lines): str(folder)}, agree)


def ask_for_catalogues(folders: Sequence[Path], known: Catalogue, agree: Agree) -> None:
    """UsageError unless each of the ``folders`` that ``known`` was read from is the user's own, or agreed to."""
    hashes = {content_of(folder): folder for folder in folders if not is_own(folder)}
    for hash_ in _memory().intersection(hashes):
        del hashes[hash_]
    if not hashes:
        return
    shipped = set(lines_of(read_catalogue([default_folder()])))
    where = listing([f"--catalogue {folder}" for folder in hashes.values()])
    strange = Strange(where, [line for line in lines_of(known) if line not in shipped])
    _ask(strange, {hash_: str(folder.resolve()) for hash_, folder in hashes.items()}, agree)


def throwaway(said: bool | None, folders: Sequence[Path], *, wanted: bool = False) -> bool:
    """Whether contenders run as throw-away users: as it was ``said``, else if a study ``wanted`` it, or if root is
    about to run those of a catalogue folder that is somebody else's, agreed to or not.
    """
    if said is not None:
        return said
    own = _begun()
    return wanted or (os.geteuid() == 0 and not all(is_own(each) or content_of(each) in own for each in folders))


def throwaway_for(plan: Plan) -> bool:
    """The same for a stored plan, whose own word counts only if it was begun here; webdyno's own commands are known."""
    lines = lines_of_plan(plan) if plan.tried is None else lines_of_try(plan.tried)
    if plan.as_user or os.geteuid() != 0 or _hash(lines) in _begun():
        return plan.as_user
    return not set(lines).issubset(lines_of(read_catalogue([default_folder()])))


def remember_plan(plan: Plan, folder: Path) -> None:
    """It begins here, so going on with it is no question."""
    _remember(_hash(lines_of_plan(plan)), str(folder))


def remember_try(tried: Tried, folder: Path) -> None:
    """As a plan."""
    _remember(_hash(lines_of_try(tried)), str(folder))


def is_own(folder: Path) -> bool:
    """Whether a catalogue folder is one that the user works on: below where they are, and nobody else can write to it.

    Where they are is the git repository around the current folder, or else that folder, but none that holds the home
    folder; a repository inside that, which is how a stranger's arrives, is another place.
    """
    here, folder = Path.cwd(), folder.resolve()
    tree = _repository(here)
    around = tree or here
    if _repository(folder) != tree or not folder.is_relative_to(around) or _holds_home(around):
        return False
    above = [path for path in (folder, *folder.parents) if path.is_relative_to(around)]
    return all(_is_only_mine(path, around) for path in (*above, *(path for path, _ in _entries(folder))))


def content_of(folder: Path) -> str:
    """Hash of a catalogue folder: its definitions, its locks, and every file of its apps and services."""
    found = hashlib.sha256()
    for path, same in _entries(folder):
        found.update(f"{path.relative_to(folder)}\0{_content(path, same, folder)}\0".encode("utf-8", "surrogateescape"))
    return found.hexdigest()


def _ask(strange: Strange, hashes: Mapping[str, str], agree: Agree) -> None:
    """``hashes``: of what it is about, each with its place, for people who look at what is trusted."""
    if not strange.lines or _memory().issuperset(hashes):
        return
    if not agree(strange):
        raise UsageError(f"{visible(strange.where)}: none of its commands was run; --trust runs them without asking")
    for hash_, place in hashes.items():
        _remember(hash_, f"{_AGREED}{place}")


def _hash(lines: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def _memory() -> set[str]:
    """Hashes of what is trusted; a file that somebody else may have written says nothing."""
    return {line.partition(" ")[0] for line in _remembered()}


def _begun() -> set[str]:
    """Of those, what began here, and was not only agreed to."""
    lines = (line.partition(" ") for line in _remembered())
    return {hash_ for hash_, _, place in lines if not place.startswith(_AGREED)}


def _remembered() -> list[str]:
    path = state_folder() / MEMORY
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if _is_mine(path.stat()) else []
    except OSError:
        return []
    return lines


def _remember(hash_: str, place: str) -> None:
    """Where nothing can be written, the price is a question."""
    if hash_ in _memory():
        return
    path = state_folder() / MEMORY
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "a", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(f"{hash_} {visible(place)}\n")


def _repository(path: Path) -> Path | None:
    """The top of the git repository around ``path``; one that holds the home folder is none: all else lies in it."""
    top = next((each for each in (path, *path.parents) if (each / ".git").exists()), None)
    return None if top is None or _holds_home(top) else top


def _holds_home(path: Path) -> bool:
    return Path.home().resolve().is_relative_to(path)


def _entries(folder: Path) -> Iterator[tuple[Path, Path | None]]:
    """Folders and files in what is read of a catalogue, through links; with the place where it came before, if any."""
    seen: dict[str, Path] = {}
    for name in sorted({*(kind.folder for kind in KINDS.values()), *OTHER_FOLDERS}):
        for where, folders, files in os.walk(folder / name, followlinks=True):
            path, real = Path(where), os.path.realpath(where)
            yield path, seen.get(real)
            if real in seen:  # by a link: its files are known
                folders.clear()
                continue
            seen[real] = path
            folders.sort()
            yield from ((path / file, None) for file in sorted(files))


def _content(path: Path, same: Path | None, folder: Path) -> str:
    if same is not None:
        return str(same.relative_to(folder))
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        return str(error.errno)


def _is_only_mine(path: Path, around: Path) -> bool:
    """Whether it lies ``around`` here, links followed, and nobody but the user and root can write to it."""
    try:
        seen = path.stat()
    except OSError:
        return False
    shared = seen.st_mode & 0o002 or (seen.st_mode & 0o020 and not _is_private(seen.st_gid))
    return _is_mine(seen) and not shared and path.resolve().is_relative_to(around)


def _is_mine(seen: os.stat_result) -> bool:
    """Of the user, of root, or of the user who became root by sudo."""
    sudo = os.environ.get("SUDO_UID", "") if os.geteuid() == 0 else ""
    return str(seen.st_uid) in ("0", str(os.geteuid()), sudo)


def _is_private(group: int) -> bool:
    """Whether it is the group that many systems give each user, named as they are: it lets nobody else write."""
    try:
        name, it = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return it.gr_name == name and set(it.gr_mem) <= {name}
