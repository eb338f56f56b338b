"""Launcher: the few lines that run between "webdyno starts a command" and the command itself. Run with ``python -I
-S``.

It joins the cgroups, takes its cores and limits, its own session (a Ctrl-C on the terminal must not reach it) and all
the open files it may have, asks to die with webdyno, and then becomes the command. This is a program of its own and not
a function run after fork, because webdyno has threads and Python code between fork and exec may deadlock then. What
fails is written to the report descriptor, which closes by itself when the command executes. It imports little (no
json, no signal): every start waits for it.

    launch.py REPORT_FD PARENT_PID CORES KEEPS PROCESSES NETWORK_FD N_JOIN JOIN... N_ASIDE ASIDE... ENVIRONMENT_FD
        ARGV...

CORES are joined by commas; KEEPS is 1 for a command that adopts the orphans of its own tree (exec keeps that, its
children do not inherit it); PROCESSES is how many its user may have in all, 0 for as many as before; NETWORK_FD is the
network namespace to go to, 0 for none; ASIDE is what aside.py does for a command with a user of its own. ``encode``
below writes such a line, beside the code that reads it. The environment of the command comes by a descriptor, as
NAME=VALUE with NUL between them: a command line may be read by everybody, and there may be secrets in it.
"""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from collections.abc import Sequence

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _SIGKILL, _SIGSYS = 1, 36, 9, 31
_NEW_NETWORK = 0x40000000

_MOST_FILES = 1 << 20
"""Some containers give a hard limit of a billion, and servers that size tables or close descriptors by it then choke.
"""


def encode(
    report: int,
    parent: int,
    cores: list[int],
    join: list[str],
    environment: int,
    argv: list[str],
    *,
    keeps: bool = False,
    processes: int = 0,
    network: int = 0,
    aside: Sequence[str] = (),
) -> list[str]:
    """Arguments for this program; ``report``, ``environment`` and ``network`` are descriptors."""
    head = [str(report), str(parent), ",".join(map(str, cores)), str(int(keeps)), str(processes), str(network)]
    return [*head, str(len(join)), *join, str(len(aside)), *aside, str(environment), *argv]


def variables(environment: dict[str, str]) -> bytes:
    """What the descriptor of the environment holds; ValueError for what no environment can hold."""
    items = [f"{name}={value}" for name, value in environment.items()]
    if any("\0" in item for item in items):
        raise ValueError("a variable of the environment has a NUL in it")
    return os.fsencode("\0".join(items))


def launch(arguments: list[str]) -> None:
    """Become the command; returns only by ending the process when that fails."""
    report, parent, cores, keeps, processes, network, *rest = arguments
    join, rest = _counted(rest)
    aside, rest = _counted(rest)
    environment, argv = int(rest[0]), rest[1:]
    stage = "prepare"
    try:
        os.set_inheritable(int(report), False)
        with open(environment, "rb") as file:  # closes it: the command must not find it
            items = [item for item in file.read().split(b"\0") if item]
        libc = ctypes.CDLL(None)
        _die_with(libc, int(parent))
        libc.prctl(_PR_SET_CHILD_SUBREAPER, int(keeps), 0, 0, 0)
        os.setsid()
        stage = "cgroup"
        for path in join:
            with open(path, "w") as procs:  # noqa: PTH123  (pathlib would double the time this takes)
                procs.write("0")
        stage = "cores"
        if cores:
            os.sched_setaffinity(0, [int(core) for core in cores.split(",")])
        stage = "files"
        _set_limits(int(processes))
        if int(network):
            stage = "network"
            _enter(libc, int(network))
        if aside:
            stage = "aside"
            _step_aside(aside)
            _die_with(libc, int(parent))  # a change of user takes that back
        for number in range(1, _SIGSYS + 1):  # Python ignores SIGPIPE, a shell's background jobs SIGINT and SIGQUIT
            libc.signal(number, None)
        stage = "execute"
        os.execvpe(argv[0], argv, dict(item.split(b"=", 1) for item in items))  # noqa: S606
    except OSError as error:
        os.write(int(report), f"{stage}\n{error.errno}\n{error.strerror}".encode())
    os._exit(127)


def _counted(words: list[str]) -> tuple[list[str], list[str]]:
    """As many as the first one says, and the rest."""
    end = 1 + int(words[0])
    return words[1:end], words[end:]


def _die_with(libc: ctypes.CDLL, parent: int) -> None:
    libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # webdyno died before it could be asked to be told
        os._exit(127)


def _set_limits(processes: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    if processes:
        _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
        most = processes if hard == resource.RLIM_INFINITY else min(hard, processes)
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))


def _enter(libc: ctypes.CDLL, network: int) -> None:
    if libc.setns(network, _NEW_NETWORK):
        raise OSError(0, "its network namespace could not be entered")
    os.close(network)


def _step_aside(words: list[str]) -> None:
    sys.path.append(os.path.dirname(__file__))  # noqa: PTH120  (isolated, it finds only Python's own)
    __import__("warnings")  # os.execvpe wants it, and this Python may be hidden by then
    __import__("aside").step_aside(words)


if __name__ == "__main__":
    launch(sys.argv[1:])
