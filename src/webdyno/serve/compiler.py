"""Which compilers a running contender carries in it: they make it faster for as long as they find something to compile.

The kernel tells what a process has mapped (proc(5), maps), so what its command is called does not matter, nor whether
it runs in a container.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

_MOST_PROCESSES = 8
"""Looked at: workers are alike, and a JVM has thousands of mappings."""
_KNOWN = {
    "HotSpot": re.compile(r"/libjvm\.so$"),
    "OpenJ9": re.compile(r"/libj9vm\d*\.so$"),
    ".NET": re.compile(r"/libclrjit\.so$"),
    "PyPy": re.compile(r"/(libpypy[\w.-]*|pypy[\d.]*)$"),
    "GraalVM": re.compile(r"/lib(jvmcicompiler|polyglot|graalpy[\w.-]*)\.so$"),
    "V8": re.compile(r"/(node|nodejs|deno)$"),
}
"""By the file that is mapped; V8 is a part of its program. Not JavaScriptCore: Bun's rate was seen to hold at once."""


def compilers(pids: Iterable[int], proc: Path = Path("/proc")) -> list[str]:
    """Names of those that some of these processes have mapped, each once; who has ended has none."""
    files = {file for pid in islice(pids, _MOST_PROCESSES) for file in _mapped(proc / str(pid) / "maps")}
    return [name for name, pattern in _KNOWN.items() if any(pattern.search(file) for file in files)]


def _mapped(maps: Path) -> set[str]:
    try:
        lines = maps.read_text(errors="replace").splitlines()
    except OSError:  # it has ended, or is not ours to look into
        return set()
    paths = (parts[5] for line in lines if len(parts := line.split(maxsplit=5)) == 6)
    return {path.removesuffix(" (deleted)") for path in paths}
