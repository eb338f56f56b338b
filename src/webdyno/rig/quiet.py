"""Quiet: the settings of a machine that move figures, as they are here and as they should be while it measures.

One table says all of it. Looking only reads; who sets them, and puts them back, is ``quieted.py``. The root is an
argument, so that tests can lay out any machine in a folder.
"""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

OPEN_FILES = 65_536
"""At least; an engine that opens 30,000 connections, and a server that answers them by proxy, stay below it."""
_NO_CPUFREQ = "this kernel does not set the clock (no cpufreq), as in most virtual machines"
_CAP_SYS_RESOURCE = 1 << 24
_CPU = "sys/devices/system/cpu"


class Place(NamedTuple):
    """Where a setting may lie."""

    files: str
    """A pattern below the root; all that are there are set."""
    quiet: Callable[[str], str]
    """From the value that is there to the one that should be; the same, where that will do."""
    choices: str = ""
    """A file beside it that lists the values which it takes."""


class Setting(NamedTuple):
    """One row of the table."""

    name: str
    places: tuple[Place, ...]
    """The first one that is there counts."""
    why: str
    absent: str
    """What it means that none is there."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A setting as it is here, and as it would be; of several files of one setting, each is Seen."""

    name: str
    file: str = ""
    """Empty for the limit of open files, which is ours and not the machine's, and where there is none."""
    now: str | None
    """None: not available here, and ``obstacle`` says why."""
    quiet: str | None
    obstacle: str = ""
    """Why it stays as it is, though it should be another."""
    why: str

    @property
    def would_change(self) -> bool:
        """Whether it should be another and can be."""
        return self.now != self.quiet and not self.obstacle


def _always(value: str) -> Callable[[str], str]:
    return lambda _: value


def _at_least(least: int) -> Callable[[str], str]:
    return lambda now: str(max(int(now), least))


def _wider(now: str) -> str:
    """Ours begins above 16,384, for the ports that webdyno gives to servers lie outside of it."""
    low, high = map(int, now.split())
    return f"{min(low, 16_384)} {max(high, 65_535)}"


SETTINGS = (
    Setting(
        "governor",
        (Place(f"{_CPU}/cpufreq/policy*/scaling_governor", _always("performance"), "scaling_available_governors"),),
        "a clock that follows the load makes each server slow at first, and lightly loaded servers slow throughout",
        _NO_CPUFREQ,
    ),
    Setting(
        "turbo",
        (
            Place(f"{_CPU}/intel_pstate/no_turbo", _always("1")),
            Place(f"{_CPU}/cpufreq/boost", _always("0")),
        ),
        "its height depends on heat and on the number of busy cores; when off, rates are lower and more stable",
        _NO_CPUFREQ,
    ),
    Setting(
        "huge-pages",
        (Place("sys/kernel/mm/transparent_hugepage/enabled", lambda now: "madvise" if now == "always" else now),),
        "with 'always' the kernel merges pages of a server during the load, and counts memory that it never used",
        "this kernel has no transparent huge pages",
    ),
    Setting(
        "somaxconn",
        (Place("proc/sys/net/core/somaxconn", _at_least(4096)),),
        "the longest queue of new connections that a server gets; those that do not fit wait for a second or more",
        "it cannot be read here",
    ),
    Setting(
        "port-range",
        (Place("proc/sys/net/ipv4/ip_local_port_range", _wider),),
        "each connection to a server takes a port, and may hold it for a minute after its end",
        "it cannot be read here",
    ),
)
WHY_OPEN_FILES = "each connection is an open file, of the load tool and of the server"
NAMES = (*(setting.name for setting in SETTINGS), "open-files")


def look(root: Path = Path("/"), keep: Collection[str] = ()) -> list[Seen]:
    """All settings, in the order of the table; those named in ``keep`` stay as they are."""
    found = [seen for setting in SETTINGS for seen in _look_at(setting, root)]
    found.append(_look_at_open_files(root))
    return [_kept(seen) if seen.name in keep and seen.would_change else seen for seen in found]


def value(text: str) -> str:
    """Of a file: the one in brackets, where it lists all; blanks are single."""
    chosen = re.search(r"\[(\S+)\]", text)
    return chosen[1] if chosen else " ".join(text.split())


def _kept(seen: Seen) -> Seen:
    return msgspec.structs.replace(seen, obstacle="kept unchanged, as requested")


def _look_at(setting: Setting, root: Path) -> Iterator[Seen]:
    for place in setting.places:
        if files := sorted(root.glob(place.files)):
            for file in files:
                yield _look_at_file(setting, place, file)
            return
    yield Seen(name=setting.name, now=None, quiet=None, obstacle=setting.absent, why=setting.why)


def _look_at_file(setting: Setting, place: Place, file: Path) -> Seen:
    try:
        now = value(file.read_text())
        quiet = place.quiet(now)
    except (OSError, ValueError):
        return Seen(name=setting.name, now=None, quiet=None, obstacle=f"{file} cannot be read", why=setting.why)
    obstacle = "" if now == quiet else _obstacle(file, place, quiet)
    return Seen(name=setting.name, file=str(file), now=now, quiet=quiet, obstacle=obstacle, why=setting.why)


def _obstacle(file: Path, place: Place, quiet: str) -> str:
    """Why ``quiet`` cannot be written there; empty: it can, as far as can be known before."""
    if place.choices and file.with_name(place.choices).is_file():
        choices = file.with_name(place.choices).read_text().split()
        if quiet not in choices:
            return f"its driver knows only {', '.join(choices)}"
    if os.access(file, os.W_OK):
        return ""
    return "that needs root" if os.geteuid() else "it is read-only here, as in a container"


def _look_at_open_files(root: Path) -> Seen:
    """The hard limit of this process, which what it starts inherits."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    now = "unlimited" if hard == resource.RLIM_INFINITY else str(hard)
    if now == "unlimited" or hard >= OPEN_FILES:
        return Seen(name="open-files", now=now, quiet=now, why=WHY_OPEN_FILES)
    obstacle = "" if _may_raise_limits(root) else "that needs root, with CAP_SYS_RESOURCE"
    return Seen(name="open-files", now=now, quiet=str(OPEN_FILES), obstacle=obstacle, why=WHY_OPEN_FILES)


def _may_raise_limits(root: Path) -> bool:
    found = re.search(r"^CapEff:\s*([0-9a-f]+)$", (root / "proc/self/status").read_text(), re.M)
    return found is not None and bool(int(found[1], 16) & _CAP_SYS_RESOURCE)
