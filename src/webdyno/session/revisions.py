"""Two revisions of a git repository as contenders: checked out apart, built, and served by one command or file.

Each revision is a clone of its own in a temporary folder (sharing the repository's objects, so that it costs only its
files), which the rig removes however webdyno ends. The repository itself is only read.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from webdyno.analyse.versus import BASE, HEAD
from webdyno.build.environment import said, user_caches, users_home
from webdyno.build.tool import Workshop, ask
from webdyno.model.built import Built
from webdyno.model.catalogue import Catalogue
from webdyno.model.contender import App, Contender, Runtime
from webdyno.model.errors import BuildError, UsageError
from webdyno.model.paired import Revisions
from webdyno.model.secret import hidden_line
from webdyno.model.workload import Workload
from webdyno.read import default_folder, read_catalogue
from webdyno.rig.strap import Strapped
from webdyno.session.saying import note

_BY_COMMAND = "revision"


class RevisionError(BuildError):
    """A revision that could not be checked out or built; ``side`` is base or head."""

    def __init__(self, revision: Revision, message: str, log_tail: str) -> None:
        super().__init__(f"{revision.named} does not build: {message}", log_tail)
        self.side = revision.side


@dataclass(frozen=True, kw_only=True)
class Revision:
    """One side, checked out."""

    side: str
    rev: str
    """As the user named it."""
    commit: str
    folder: Path

    @property
    def named(self) -> str:
        """``head (main, 1a2b3c4d)``."""
        return f"{self.side} ({self.rev}, {self.commit[:8]})"


def resolve(repository: Path, revs: list[str], strapped: Strapped) -> list[str]:
    """The commit of each of ``revs``; UsageError for what is no repository, or no revision of it."""
    if ask(strapped, ["git", "--version"]) is None:
        raise UsageError("git is not installed, and --rev needs it: apt-get install git")
    git = ["git", "-C", str(repository.absolute()), "rev-parse"]
    if ask(strapped, [*git, "--git-dir"], environment=users_home()) is None:
        raise UsageError(f"--repo {repository}: this is no git repository (or not yours to read)")
    commits = []
    for rev in revs:
        asked = [*git, "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}"]
        told = ask(strapped, asked, environment=users_home())
        if told is None:
            raise UsageError(f"--rev {rev}: {repository} has no such revision; see: git -C {repository} log --oneline")
        commits.append(told.strip())
    return commits


def check_out(repository: Path, side: str, rev: str, commit: str, strapped: Strapped) -> Revision:
    """``commit`` in a folder of its own; RevisionError with what git said."""
    folder = strapped.folder() / "tree"
    revision = Revision(side=side, rev=rev, commit=commit, folder=folder)
    source = str(repository.absolute())
    clone = ["git", "clone", "--quiet", "--shared", "--no-checkout", source, str(folder)]
    detach = ["git", "-c", "advice.detachedHead=false", "checkout", "--quiet", "--detach", commit]
    shop = _workshop(revision, strapped)
    with _named(revision):
        shop.run("clone the repository", clone, folder.parent, **users_home())
        shop.run("check it out", detach, folder, **users_home())
    return revision


def check_out_both(made: Revisions, strapped: Strapped) -> list[Revision]:
    """Base and head in folders of their own; RevisionError."""
    each = zip((BASE, HEAD), made.revs, made.commits, strict=True)
    return [check_out(Path(made.repository), side, rev, commit, strapped) for side, rev, commit in each]


@contextmanager
def _named(revision: Revision) -> Iterator[None]:
    """A BuildError becomes one that says of which revision."""
    try:
        yield
    except BuildError as error:
        raise RevisionError(revision, str(error), error.log_tail) from None


def _workshop(revision: Revision, strapped: Strapped) -> Workshop:
    """Where a revision's commands run; their log lies beside its files, in the temporary folder."""
    return Workshop(strapped, revision.folder.parent / "build.log", strapped.interrupted, variable="TMPDIR")


def by_command(
    revision: Revision,
    cmd: str,
    builds: list[str],
    environment: dict[str, str],
    workload: str,
    strapped: Strapped,
) -> tuple[Contender, Built]:
    """The contender that ``cmd`` makes of a checked-out revision, built; ``environment`` is recorded nowhere.

    Builds are given it too, beside what every build sees. Build tools find the user's caches, also those that ``cmd``
    starts: a revision is a fresh folder each time. RevisionError, UsageError.
    """
    serve, caches = _words(cmd), user_caches(os.environ)
    shop = _workshop(revision, strapped)
    with _named(revision):
        for line in builds:
            shop.run(f"build it by {hidden_line(line)!r}", ["sh", "-c", line], revision.folder, **environment)
    contender = Contender(
        name=revision.side,
        app=_BY_COMMAND,
        runtime=_BY_COMMAND,
        server=Path(serve[0]).name,
        model="as its command says",
        serve=serve,
        answers=[workload],
        because=f"revision {revision.rev}",
        author="the repository's",
    )
    return contender, _built(revision, cmd, builds, {**caches, **environment}, shop.log)


def say_what_builds_see(builds: Sequence[str]) -> None:
    """One line, where there is something to be built by commands of the user's."""
    if builds:
        note([f"{said()}; pass anything else they need with --env"])


def _built(revision: Revision, cmd: str, builds: list[str], hidden: dict[str, str], log: Path) -> Built:
    return Built(
        contender=revision.side,
        key=hashlib.sha256("\0".join([revision.commit, cmd, *builds]).encode()).hexdigest()[:24],
        directory=str(revision.folder),
        environment={},
        hidden=hidden,
        versions={"revision": revision.commit},
        log=str(log),
        seconds=0.0,
    )


def _words(cmd: str) -> list[str]:
    """UsageError for a command that does not say where to listen, or that no shell would read either."""
    try:
        words = shlex.split(cmd)
    except ValueError as error:
        raise UsageError(f"--cmd {hidden_line(cmd)!r} cannot be read ({error}): write it as in a shell") from None
    if not words or not any("{port}" in word or "{bind}" in word for word in words):
        shown = hidden_line(cmd)
        raise UsageError(
            f"--cmd {shown!r} does not say {{port}} (or {{bind}}): the server needs to know where to listen"
        )
    return words


def catalogue_by_command(known: Catalogue, contenders: Mapping[str, Contender], workload: Workload) -> Catalogue:
    """The catalogue with two contenders that commands serve, and the workload they are asked."""
    app = App(name=_BY_COMMAND, language="any", interface="http", framework="its own", answers=[workload.name])
    runtime = Runtime(
        name=_BY_COMMAND, kind="native", language="any", find=["sh"], version=["-c", "echo"], install="is in --cmd"
    )
    return msgspec.structs.replace(
        known,
        contenders={**known.contenders, **contenders},
        apps={**known.apps, _BY_COMMAND: app},
        runtimes={**known.runtimes, _BY_COMMAND: runtime},
        workloads={**known.workloads, workload.name: workload},
    )


def catalogue_by_file(known: Catalogue, revisions: list[Revision], file: Path) -> Catalogue:
    """The catalogue with the contender that ``file`` describes in each revision, as ``base`` and ``head``."""
    for revision in revisions:
        described = revision.folder / file
        if not described.is_file():
            raise UsageError(f"--contender-file {file}: {revision.named} has no such file")
        if described.parent.name != "contenders":
            raise UsageError(f"--contender-file {file}: it must be in the folder contenders of a catalogue")
        own = read_catalogue([default_folder(), described.parent.parent])
        it = own.contenders[file.stem]
        app = f"{it.app}@{revision.side}"
        known = msgspec.structs.replace(
            known,
            contenders={**known.contenders, revision.side: msgspec.structs.replace(it, name=revision.side, app=app)},
            apps={**known.apps, app: msgspec.structs.replace(own.apps[it.app], name=app)},
            runtimes={**own.runtimes, **known.runtimes},
            workloads={**own.workloads, **known.workloads},
            services={**own.services, **known.services},
            app_directories={**known.app_directories, app: own.app_directories[it.app]},
            service_directories={**own.service_directories, **known.service_directories},
            locks={**known.locks, **({revision.side: own.locks[it.name]} if it.name in own.locks else {})},
        )
    return known


def refuse_failed_builds(built: Mapping[str, Built | BuildError], revisions: list[Revision]) -> None:
    """RevisionError when a side could not be built, head first; a note when both sides are the same thing."""
    keys = set()
    for revision in reversed(revisions):
        result = built[revision.side]
        if isinstance(result, BuildError):
            raise RevisionError(revision, str(result), result.log_tail)
        keys.add(result.key)
    if len(keys) == 1:
        note(["both revisions produce the same build, so the comparison measures the noise of this machine"])
