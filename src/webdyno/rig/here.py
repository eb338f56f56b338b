"""Here: this machine as a Host. Works bare (no lock, no cores, no cgroup: for builds and for asking versions) and
strapped.

Each start goes through launch.py, so it returns when the command is executing and raises when it cannot be. A child
dies with the THREAD that started it (that is how the kernel's parent-death signal works): start what is to live long
from a thread that lives longer.
"""

from __future__ import annotations

import errno
import itertools
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Literal

from webdyno.model.errors import MachineError, StartError
from webdyno.rig import launch
from webdyno.rig.adopted import end_stowaways, marks, orphans, start
from webdyno.rig.cgroup import Cgroup
from webdyno.rig.cgroup_way import Cgroups
from webdyno.rig.contained import Contained
from webdyno.rig.flooding import Flooding
from webdyno.rig.group import Group
from webdyno.rig.host import PIPE, STDOUT, Command
from webdyno.rig.ledger import Ledger
from webdyno.rig.network import INSTEAD
from webdyno.rig.process import MARK, all_stats, children, read_stat
from webdyno.rig.throwaway import ThrowawayUsers

MOST_PROCESSES = 16_384
"""Of a contender, its threads among them: half of what the kernel has numbers for where nobody raised them, and three
times what the largest of the catalogue start. Most memory limits end a bomb of processes sooner.
"""
_LAUNCHER = [sys.executable, "-I", "-S", str(Path(launch.__file__))]


class Here:
    """``cores`` and ``cgroups`` come from strap(); a role without cores may run on all of them."""

    def __init__(
        self,
        *,
        token: str | None = None,
        cores: Mapping[str, tuple[int, ...]] | None = None,
        cgroups: Cgroups | None = None,
        memory_bytes: int | None = None,
        ledger: Ledger | None = None,
        owns_process: bool = False,
        cpus: float | None = None,
        contain: Callable[[Command, int], Command] | None = None,
        users: ThrowawayUsers | None = None,
        outside: int = 0,
    ) -> None:
        self.token = token or secrets.token_hex(4)
        self._cores, self._cgroups, self._memory_bytes = dict(cores or {}), cgroups, memory_bytes
        self._cpus, self._contain = cpus, contain
        self._users = users
        """For contenders and services; None: they run as we do."""
        self._outside = outside
        """The machine's network, a descriptor, where we are in one of our own; 0: we are in it."""
        self._ledger = ledger
        self._owns_process = owns_process
        self._besides = None if ledger is None else children()
        """Children that were there before; None: orphans do not come to us."""
        self._numbers = itertools.count(1)
        self._alive: set[Group] = set()
        self._folders: set[Path] = set()
        self._flooding = Flooding()
        self._lock = threading.Lock()

    @property
    def apart(self) -> bool:
        """Whether contenders are in a network of their own, and reach only what is started there."""
        return self._outside != 0

    def put(self, source: Path, target: Path) -> None:
        """Copy a file or folder."""
        if source.resolve() == target.resolve():
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
        else:
            shutil.copy2(source, target)

    def fetch(self, source: Path, target: Path) -> None:
        """The same as put: both ends are here."""
        self.put(source, target)

    def start(self, command: Command) -> Group:
        """Start ``command``; StartError when it cannot be executed, MachineError when the rig itself fails."""
        if self._contain is not None and command.role == "contender" and not command.contained:
            command = self._contain(command, MOST_PROCESSES)
        if command.contained:
            self._besides = None  # the monitor of a container is an orphan too, and ends by itself
        number = next(self._numbers)
        mark = f"{self.token}.{command.role}.{number}"
        cgroup = self._make_cgroup(command, f"webdyno-{self.token}-{number}-{command.role}")
        marks.add(mark)
        try:
            process = self._spawn(command, mark, cgroup)
        except BaseException:
            marks.discard(mark)
            self._give_back(mark, command)
            if cgroup is not None:
                cgroup.kill()
                cgroup.remove()
            raise
        kind, cores = Contained if command.contained else Group, self._cores.get(command.role, ())
        group = kind(process, mark, cgroup, partial(self._forget, command), cores)
        group.has_memory_limit = self._memory_bytes is not None
        with self._lock:
            self._alive.add(group)
        if self._ledger is not None and (stat := read_stat(group.pid)):
            self._ledger.add_session(group.pid, stat.start_ticks)
        if command.stdout != PIPE:
            self._hold_to_bound(group, Path(command.stdout))
        return group

    def folder(self) -> Path:
        """A fresh temporary folder that ends with this Host, or is swept up after it."""
        path = Path(tempfile.gettempdir()) / f"webdyno-{self.token}-{next(self._numbers)}"
        if self._ledger is not None:
            self._ledger.add_folder(path)
        path.mkdir(mode=0o700)
        self._folders.add(path)
        return path

    def drop(self, folder: Path) -> None:
        """Remove a folder got from ``folder``."""
        shutil.rmtree(folder, ignore_errors=True)
        self._folders.discard(folder)
        if self._ledger is not None and not folder.exists():
            self._ledger.drop_folder(folder)

    def end_all(self) -> list[str]:
        """End every Group still alive, at once and without grace, and remove the folders.

        What goes wrong with one (a full disk, a Ctrl-C) keeps none of the others; the first of it is raised at the end.
        """
        notes: list[str] = []
        failures: list[BaseException] = []
        for group in list(self._alive):
            try:
                notes += group.end(0.0)
            except BaseException as error:
                failures.append(error)
        for folder in list(self._folders):
            try:
                self.drop(folder)
            except BaseException as error:
                failures.append(error)
        notes += self._end_stowaways()
        if failures:
            raise failures[0]
        return notes

    def stowaways(self) -> list[int]:
        """Processes that came to us as orphans and that no group which lives knows as its own."""
        found = [] if self._besides is None else orphans(self._besides)
        if not found:  # as always
            return []
        with self._lock:
            groups = list(self._alive)
        known = {pid for group in groups for pid in group.members()}
        return [pid for pid in found if pid not in known]

    def _forget(self, command: Command, group: Group) -> list[str]:
        marks.discard(group.mark)
        self._give_back(group.mark, command)
        self._flooding.drop(group)
        with self._lock:
            self._alive.discard(group)
        if self._ledger is not None:
            self._ledger.drop_session(group.pid)
        return self._end_stowaways() if ".contender." in group.mark else []  # a load tool ends while one is looked at

    def _end_stowaways(self) -> list[str]:
        told = end_stowaways(self.stowaways, kill=self._owns_process)
        if self._besides is not None and told:
            self._besides += self.stowaways()  # which were left alone: once is enough
        return told

    def _give_back(self, mark: str, command: Command) -> None:
        if self._users is not None:
            self._users.give_back(mark, command.stdout)

    def _hold_to_bound(self, group: Group, log: Path) -> None:
        try:
            self._flooding.add(group, log)
        except BaseException:
            group.end(0.0)
            raise

    def _make_cgroup(self, command: Command, name: str) -> Cgroup | None:
        if self._cgroups is None or command.role not in ("contender", "driver", "service") or command.contained:
            return None  # an engine makes one for the container; its monitor must not end with ours
        is_contender = command.role == "contender"
        limit, most, cpus = (self._memory_bytes, MOST_PROCESSES, self._cpus) if is_contender else (None, None, None)
        try:
            return self._cgroups.make(name, self._cores.get(command.role, ()), limit, most, cpus)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise MachineError(
                f"the cgroup {error.filename or name} could not be set up: {reason}; see: webdyno doctor"
            ) from None

    def _spawn(self, command: Command, mark: str, cgroup: Cgroup | None) -> subprocess.Popen[bytes]:
        report, report_write = os.pipe()
        files: list[IO[bytes]] = []
        process: subprocess.Popen[bytes] | None = None
        try:
            aside = self._users.take(mark, command) if self._users and command.role in ("contender", "service") else []
            network = self._outside if command.role in ("build", "tool") else 0
            environment = _in_memory("environment", launch.variables({**command.environment, MARK: mark}), files)
            arguments = launch.encode(
                report_write,
                os.getpid(),
                list(self._cores.get(command.role, ())),
                [str(path) for path in cgroup.join_files] if cgroup else [],
                environment.fileno(),
                command.argv,
                keeps=command.role == "contender" and not command.contained,
                processes=_most_of_user(command, cgroup, own=bool(aside)),
                network=network,
                aside=aside,
            )
            handed = [report_write, environment.fileno(), *([network] if network else [])]
            process = _launched(command, arguments, handed, files)
            os.close(report_write)
            report_write = -1
            with open(report, "rb", closefd=False) as stream:
                failure = stream.read().decode(errors="replace")  # empty once the command executes
            if failure:
                raise _explain(command, failure, own=bool(aside))
        except BaseException:
            if process is not None:
                _abandon(process)
            raise
        finally:
            os.close(report)
            if report_write >= 0:
                os.close(report_write)
            for file in files:
                file.close()
        return process


def _launched(
    command: Command, arguments: list[str], descriptors: list[int], files: list[IO[bytes]]
) -> subprocess.Popen[bytes]:
    """The launcher at work, which becomes the command."""
    cwd, stdin, stdout = _existing(command.cwd), _stdin(command.stdin, files), command.stdout
    return start(
        lambda: subprocess.Popen(
            [*_LAUNCHER, *arguments],
            cwd=cwd,
            env={"LC_ALL": "C.UTF-8"},  # the launcher's own; what it becomes gets the command's
            stdin=stdin,
            stdout=subprocess.PIPE if stdout == PIPE else _append(stdout, files),
            stderr=subprocess.STDOUT if command.stderr == STDOUT else _append(command.stderr, files),
            pass_fds=descriptors,
        )
    )


def _most_of_user(command: Command, cgroup: Cgroup | None, *, own: bool) -> int:
    """RLIMIT_NPROC for a contender with a user of its ``own``, or whose cgroup does not count its processes, else 0.

    It counts every thread that the user has, so those that are there are added; root is not bound by it.
    """
    if own:
        return MOST_PROCESSES
    if command.role != "contender" or command.contained or os.getuid() == 0 or (cgroup and cgroup.limits_processes):
        return 0
    mine = (stat.threads for pid, stat in all_stats().items() if _owner(pid) == os.getuid())
    return MOST_PROCESSES + sum(mine)


def _owner(pid: int) -> int | None:
    try:
        return Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return None


def _abandon(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()


def _existing(folder: Path) -> Path:
    if not folder.is_dir():
        raise StartError(f"the folder to start in, {folder}, does not exist", exited=True)
    return folder


def _stdin(content: bytes | Literal["pipe"] | None, files: list[IO[bytes]]) -> int | IO[bytes]:
    if content == PIPE:
        return subprocess.PIPE
    return subprocess.DEVNULL if content is None else _in_memory("stdin", content, files)


def _in_memory(name: str, content: bytes, files: list[IO[bytes]]) -> IO[bytes]:
    """A file in memory: unlike a pipe it needs nobody to feed it."""
    file = os.fdopen(os.memfd_create(f"webdyno-{name}"), "w+b")
    files.append(file)
    file.write(content)
    file.seek(0)
    return file


def _append(path: Path | str, files: list[IO[bytes]]) -> IO[bytes]:
    file = Path(path).open("ab")  # noqa: SIM115  (the caller closes it)
    files.append(file)
    return file


def _explain(command: Command, failure: str, *, own: bool) -> StartError | MachineError:
    stage, number, text = failure.split("\n", 2)
    program = command.argv[0]
    if stage == "cgroup":
        return MachineError(f"{program} could not be put into its cgroup: {text}; try again without a memory limit")
    if stage == "cores":
        return MachineError(f"{program} could not be given its cores: {text}; see what webdyno doctor says about cores")
    if stage == "aside":
        return MachineError(f"--as-user is not possible here: {text}; {INSTEAD}")
    if stage != "execute":
        return MachineError(f"{program} could not be started: {text}")
    reason = {
        errno.ENOENT: "there is no such program (or the interpreter in its first line is missing)",
        errno.EACCES: "it is not executable, or only for some users (umask 022 lets all)"
        if own
        else "it is not executable",
        errno.ENOEXEC: "it is not a program this machine can execute",
    }.get(int(number), text.lower())
    where = "" if "/" in program else f" on PATH {command.environment.get('PATH', '(none)')}"
    return StartError(f"{program} could not be executed{where}: {reason}", exited=True)
