"""Containers: every contender in a container of its own, of podman or docker.

Nothing is pulled: the image is made here, of nothing but places to mount on and the links at the top of the file
system. The folders of this machine are mounted there, read-only, so a contender finds what was built for it where it
was built; it may write into its own folder, its log, and what is forgotten with the container (/tmp, /run). The network
is this machine's: what an engine puts between would be measured with the server. The limits are the engine's.

An engine that runs containers may still ignore their limits (podman does, of a user without cgroup v2), so one is
started first, and asked what it was given.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from webdyno.model.errors import MachineError
from webdyno.model.rig import CgroupKind
from webdyno.rig.engines import ANSWER_S, LABEL, Answered, Ask, Engine, find_engines, ulimits
from webdyno.rig.here import Here
from webdyno.rig.host import Command
from webdyno.rig.process import MARK

_INSTEAD = "choose another way: --way cgroup or bare"
_NOT_MOUNTED = {"boot", "dev", "lost+found", "media", "mnt", "proc", "run", "srv", "sys", "tmp", "var"}
"""Of the folders at the top: the kernel's, what is not the container's business, and what it has of its own."""
_OF_CLIENT = ("HOME", "PATH", "LANG", "TMPDIR", "DBUS_SESSION_BUS_ADDRESS")
"""Variables that an engine's client goes by, beside those that begin as in ``_CLIENTS``."""
_CLIENTS = ("DOCKER_", "CONTAINER", "XDG_")
_AS_USER = {"podman": "--userns=keep-id", "docker": f"--user={os.getuid()}:{os.getgid()}"}
"""What makes a container of an ordinary user's run as that user; of root's it runs as root."""
_TO_LOG = 'exec "$@" >>"$0" 2>&1'
"""Straight into the file: the engine's client and its monitor copy nothing while the contender is measured."""
_TOLD = (
    """cd /sys/fs/cgroup; cat memory.max 2>/dev/null && echo v2 || { cat memory/memory.limit_in_bytes && echo v1; }"""
)
"""Asks a container for its memory limit, and which kind of cgroup holds it."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Of each container."""

    cores: tuple[int, ...]
    cpus: float
    memory_bytes: int | None

    @property
    def flags(self) -> list[str]:
        """As both engines take them."""
        flags = [f"--cpuset-cpus={','.join(map(str, self.cores))}", f"--cpus={self.cpus:g}"]
        limit = self.memory_bytes
        return flags if limit is None else [*flags, f"--memory={limit}", f"--memory-swap={limit}"]


@dataclass(frozen=True, kw_only=True)
class Containers:
    """The way into a container on this machine."""

    engine: Engine
    image: str
    limits: Limits
    token: str
    cache: Path
    """Where what was built lies."""
    kind: CgroupKind = "none"
    """Of the cgroups that the engine makes."""

    @property
    def version(self) -> str:
        """Of the engine."""
        return f"{self.engine.name} {self.engine.version}"

    def wrapped(self, command: Command, processes: int) -> Command:
        """The client's command that starts ``command`` in a container of at most this many ``processes``.

        Values of variables stand in no command line but those that are the client's own too, HOME and PATH.
        """
        inside, client = command.environment, dict(_of_client())
        named = [f"--env={name}={text}" if name in client else f"--env={name}" for name, text in inside.items()]
        log = command.stdout if isinstance(command.stdout, Path) else Path(os.devnull)
        cwd = command.cwd.absolute()
        argv = [self.engine.program, "run", "--rm", "--pull=never", "--network=host", "--log-driver=none"]
        argv += [f"--label={LABEL}={self.token}", "--security-opt=label=disable", *_as_user(self.engine.name)]
        argv += [*self.limits.flags, f"--pids-limit={processes}", *ulimits()]
        read = [self.cache, *_links(self.cache), cwd, *_programs(command)]
        argv += [*_mounts(read, [Path(inside["HOME"]), log.absolute()]), f"--workdir={cwd}"]
        argv += [f"--env={MARK}", *named]
        argv += [self.image, "/bin/sh", "-c", _TO_LOG, str(log.absolute()), *command.argv]
        return msgspec.structs.replace(command, argv=argv, environment={**inside, **client}, contained=True)

    def close(self) -> None:
        """Remove what is left of this rig's, whatever the engine believes it to do."""
        self.engine.remove(self.token)


def find_containers(host: Here, cache: Path, limits: Limits, path: str | None = None) -> Containers:
    """What is proven to work here, by a container that was started; MachineError with one sentence where nothing is.

    What a killed webdyno left with an engine is removed. ``path``: where engines are looked for.
    """
    refused = []
    for engine in find_engines(asking(host), path, "--way container", _INSTEAD):
        engine.clear()
        try:
            found = Containers(
                engine=engine, image=_image(engine, host), limits=limits, token=host.token, cache=cache.absolute()
            )
            return _proven(found, host)
        except MachineError as error:
            refused.append(str(error))
    raise MachineError(f"--way container: {'; '.join(refused)}; {_INSTEAD}")


def asking(host: Here) -> Ask:
    """What runs one command of an engine with the user's environment. StartError, MachineError."""

    def ask(argv: Sequence[str], within_s: float | None = ANSWER_S) -> Answered:
        return _run(host, Command(argv=list(argv), cwd=Path("/"), environment=dict(os.environ), role="tool"), within_s)

    return ask


def _run(host: Here, command: Command, within_s: float | None) -> Answered:
    home = host.folder()
    out, err = home / "out", home / "err"
    try:
        with host.start(msgspec.structs.replace(command, stdout=out, stderr=err)) as group:
            status = group.wait(within_s)
        if status is None:
            raise MachineError(f"{' '.join(command.argv[:2])} did not answer within {within_s:g} s: does it hang?")
        return Answered(status, out.read_text(errors="replace"), err.read_text(errors="replace"))
    finally:
        host.drop(home)


def _image(engine: Engine, host: Here) -> str:
    """The name of one that holds places to mount on, made where the engine has none."""
    content = _archive()
    name = f"localhost/webdyno-places:{hashlib.sha256(content).hexdigest()[:12]}"
    if engine.ask([engine.program, "image", "inspect", name]).status == 0:
        return name
    folder = host.folder()
    try:
        (folder / "places.tar").write_bytes(content)
        made = engine.ask([engine.program, "import", str(folder / "places.tar"), name])
    finally:
        host.drop(folder)
    if made.status != 0:
        raise MachineError(f"{engine.name} could not make an image: {made.last}")
    return name


def _proven(found: Containers, host: Here) -> Containers:
    """One that was started holds its memory limit; MachineError."""
    home = host.folder()
    try:
        log = home / "log"
        log.touch()
        argv = ["/bin/sh", "-c", _TOLD]
        asked = Command(argv=argv, cwd=home, environment={"HOME": str(home)}, role="tool", stdout=log)
        answer = _run(host, msgspec.structs.replace(found.wrapped(asked, 64), contained=False), ANSWER_S)
        told = log.read_text(errors="replace").split()
    finally:
        host.drop(home)
    if answer.status != 0 or len(told) != 2:
        raise MachineError(f"{found.engine.name} could not run a container: {answer.last}")
    if found.limits.memory_bytes is not None and told[0] != str(found.limits.memory_bytes):
        raise MachineError(f"{found.engine.name} does not enforce a memory limit on its containers: {answer.last}")
    return replace(found, kind="v2" if told[1] == "v2" else "v1")


def _mounts(read: Sequence[Path], written: Sequence[Path]) -> list[str]:
    """Read-only all folders at the top that a container sees, and those of ``read`` that are not below them."""
    tops = [Path("/") / name for name, link in _top().items() if link is None and name not in _NOT_MOUNTED]
    more = [path for path in read if not any(path.is_relative_to(top) for top in (*tops, *written))]
    flags = [f"--mount=type=bind,source={path},target={path},readonly" for path in [*tops, *dict.fromkeys(more)]]
    fresh = [f"--tmpfs={path}:rw,exec,nosuid,nodev,mode=1777" for path in ("/tmp", "/run", "/var/tmp")]  # noqa: S108
    write = [f"--mount=type=bind,source={path},target={path}" for path in written if path != Path(os.devnull)]
    return ["--read-only", *fresh, *flags, *write]


def _links(cache: Path) -> Iterator[Path]:
    """Where links in it lead: to a larger disk, say."""
    return (path.resolve() for path in cache.iterdir() if path.is_symlink())


def _programs(command: Command) -> Iterator[Path]:
    """Folders of what it runs, and of interpreters on its PATH, as they are named and where their links lead."""
    search = command.environment.get("PATH", "")
    for name in (command.argv[0], "python", "node"):
        found = shutil.which(name, path=search)
        for path in (Path(found), Path(found).resolve()) if found else ():
            folder = path.parent.parent if path.parent.name == "bin" else path.parent
            if folder != folder.parent:  # not of /bin, which is everything
                yield folder


def _top() -> dict[str, str | None]:
    """Folders and links at the top of the file system, each link with where it leads."""
    tops = sorted(path for path in Path("/").iterdir() if path.is_dir())
    return {path.name: str(path.readlink()) if path.is_symlink() else None for path in tops}


def _archive() -> bytes:
    """The file system of the image, the same bytes wherever the top looks the same."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, link in _top().items():
            entry = tarfile.TarInfo(name)
            entry.mode = 0o755
            entry.type, entry.linkname = (tarfile.DIRTYPE, "") if link is None else (tarfile.SYMTYPE, link)
            archive.addfile(entry)
    return buffer.getvalue()


def _of_client() -> Iterator[tuple[str, str]]:
    return ((name, text) for name, text in os.environ.items() if name in _OF_CLIENT or name.startswith(_CLIENTS))


def _as_user(engine: str) -> list[str]:
    return [] if os.getuid() == 0 else [_AS_USER[engine]]
