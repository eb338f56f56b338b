"""Calls of webdyno without the half second of imports that each would begin with: one process imports, and forks.

Every call is still a process of its own, with its own environment, folder, streams and end; what no fork can be asked
for (``kill -9``, a signal at some moment, another affinity) is started by ``subprocess`` where it is tried.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from webdyno.commands import _FUNCTIONS, COMMANDS, main

_IMPORTED = [
    __name__,
    *(f"webdyno.commands.{_FUNCTIONS.get(name, name).partition(':')[0]}" for name in COMMANDS),
    "webdyno.analyse.verdict",
    "webdyno.report.html",
    "webdyno.report.terminal",
    "scipy.special",
]
_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(_IMPORTED)


def call(
    arguments: Sequence[str], *, cwd: Path, environment: Mapping[str, str], streams: Path, timeout_s: float
) -> subprocess.CompletedProcess[str]:
    """What ``subprocess.run`` would say of ``webdyno`` with these arguments; its output passes by ``streams``."""
    out, err = streams / "out", streams / "err"
    process = _SERVER.Process(target=_webdyno, args=(list(arguments), cwd, dict(environment), out, err))
    process.start()
    process.join(timeout_s)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise subprocess.TimeoutExpired(list(arguments), timeout_s, out.read_bytes(), err.read_bytes())
    return subprocess.CompletedProcess(
        list(arguments), process.exitcode, out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8")
    )


def _webdyno(arguments: list[str], cwd: Path, environment: dict[str, str], out: Path, err: Path) -> None:
    """In the fork: become the program that was called."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for number, path, flags in (
        (0, Path(os.devnull), os.O_RDONLY),
        (1, out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        (2, err, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
    ):
        opened = os.open(path, flags, 0o644)
        os.dup2(opened, number)
        os.close(opened)
    sys.argv = ["webdyno", *arguments]
    main()
