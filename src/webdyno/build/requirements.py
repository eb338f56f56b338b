"""Requirements files, as pip and uv read them: their lines, and the folders among what they install."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

_OPTION = re.compile(r"(-r|--requirement|-c|--constraint|-f|--find-links|-e|--editable)[ \t=]*(.+)")
_EDITABLE = ("-e", "--editable")
_COMMENT = re.compile(r"(^|\s)#.*")
_BEHIND = re.compile(r"\s+(;|--)")
"""A condition or an option behind what is required."""
_NAMED = re.compile(r"[A-Za-z0-9][\w.-]*\s*(?P<extras>\[[^\]]*\])?\s*@\s*(?P<place>.+)")
_PLACE = re.compile(r"(?P<place>.*?)\s*(?P<extras>\[[^\]]*\])?")


@dataclass(frozen=True, kw_only=True)
class Local:
    """A folder that is to be installed as it lies there; ``line`` asks for it."""

    line: str
    folder: Path
    extras: tuple[str, ...]

    @property
    def root(self) -> Path:
        """Where its modules are: in its ``src``, if it has one."""
        return source_root(self.folder)


def source_root(folder: Path) -> Path:
    """Where the modules of a project are, in the two layouts that are usual: in ``src``, or in its folder."""
    return folder / "src" if (folder / "src").is_dir() else folder


def lines_of(file: Path, seen: set[Path] | None = None) -> Iterator[str]:
    """Its lines with those of all files that it includes, each file once; paths beside the file are made absolute.

    A folder or a file that is required is named from the folder that uv works in, and stays as it is.
    """
    seen = set() if seen is None else seen
    seen.add(file)
    for text in file.read_text(encoding="utf-8", errors="replace").replace("\\\n", " ").splitlines():
        line = _COMMENT.sub("", text).strip()
        match = _OPTION.fullmatch(line)
        if match is None or match[1] in _EDITABLE:
            yield from [line] if line else []
            continue
        beside = _resolved(file.parent / match[2])
        if beside is None:
            yield line
        elif match[1] not in ("-r", "--requirement") or not beside.is_file():
            yield line if "://" in match[2] else f"{match[1]} {beside}"
        elif beside not in seen:
            yield from lines_of(beside, seen)


def _resolved(path: Path) -> Path | None:
    """Made absolute; None for what no file can be called, which a tool that installs refuses by its own sentence."""
    try:
        found = path.resolve()
        found.exists()
    except (OSError, ValueError):
        return None
    return found


def local_of(line: str, folder: Path) -> Local | None:
    """The folder that a line installs, named from ``folder``; None for a line that installs none."""
    option = _OPTION.fullmatch(line)
    editable = option is not None and option[1] in _EDITABLE
    if option is not None and not editable:
        return None
    text = _BEHIND.split(option[2] if option is not None else line, maxsplit=1)[0].strip()
    name, place = _NAMED.fullmatch(text), _PLACE.fullmatch(text)
    if place is None:
        return None
    path = name["place"] if name is not None else place["place"]
    extras = (name["extras"] if name is not None else place["extras"]) or ""
    path = path.replace("${PROJECT_ROOT}", str(folder))
    if path.startswith("file:"):
        path = unquote(urlsplit(path).path)
    elif not editable and name is None and not path.startswith(".") and "/" not in path:
        return None  # a package of an index, though a folder of its name lie here
    found = _resolved(folder / path)
    if "://" in path or found is None or not found.is_dir():
        return None
    return Local(line=line, folder=found, extras=tuple(re.findall(r"[^\[\],\s]+", extras)))
