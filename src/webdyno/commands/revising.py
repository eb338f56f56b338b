"""The flags of ``webdyno compare`` that make two revisions of a repository servers, and what they lead to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from webdyno.commands.loading.targets import Asking, header_of
from webdyno.commands.options import flag
from webdyno.model.again import Again
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import UsageError
from webdyno.model.paired import Revisions
from webdyno.model.workload import Workload
from webdyno.session.target import one_server

if TYPE_CHECKING:
    from webdyno.rig.strap import Strapped
    from webdyno.session.ready import Ready
    from webdyno.session.revisions import Revision


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Revising:
    """The flags that make two revisions of a repository servers."""

    rev: Annotated[
        list[str] | None,
        flag("--rev", help="A revision (give two, base first). Each is checked out separately and built."),
    ] = None
    repo: Annotated[Path, flag("--repo", help="The git repository of --rev.")] = Path()
    cmd: Annotated[
        str | None,
        flag("--cmd", help="Command that serves a revision, in its top folder: 'python app.py {port}'. No shell."),
    ] = None
    build: Annotated[
        list[str] | None,
        flag("--build", help="Command that builds a revision, in its top folder, run by sh (repeatable)."),
    ] = None
    env: Annotated[list[str] | None, flag("--env", help="NAME=VALUE for --cmd and --build (repeatable).")] = None
    contender_file: Annotated[
        Path | None, flag("--contender-file", help="Instead of --cmd: a contender's file in the repository.")
    ] = None
    path: Annotated[str | None, flag("--path", help="With --cmd: the path to request. [default: /]")] = None
    method: Annotated[
        str | None, flag("--method", "-m", "-X", help="With --cmd: GET, or POST when there is a body.")
    ] = None
    header: Annotated[
        list[str] | None, flag("--header", "-H", help="With --cmd: a header, 'Name: value' (repeatable).")
    ] = None
    body: Annotated[
        str | None, flag("--body", "-b", help="With --cmd: body of the request; @FILE reads it from a file.")
    ] = None
    expect: Annotated[
        list[str] | None, flag("--expect", help="With --cmd: what a correct answer is, as for webdyno load.")
    ] = None

    def check(self, names: Sequence[str] = ()) -> list[str]:
        """The two revisions; UsageError for flags that contradict each other, or ``names`` beside them. None given: an
        empty list.
        """
        if self.rev is None:
            alone = {"--cmd": self.cmd, "--contender-file": self.contender_file, **self._of_a_command()}
            for name, value in alone.items():
                if value is not None:
                    raise UsageError(f"{name} needs two revisions: --rev BASE --rev HEAD")
            return []
        self._check_how()
        if len(self.rev) != 2:
            raise UsageError(f"--rev is given {len(self.rev)} times: give base and head, as in --rev main --rev HEAD")
        if names:
            raise UsageError(f"{names[0]}: --rev names what is compared; leave out folders and contenders")
        return self.rev

    def _of_a_command(self) -> dict[str, object]:
        """What goes with --cmd alone, by flag."""
        return {"--build": self.build, "--env": self.env, **self._of_a_request()}

    def _of_a_request(self) -> dict[str, object]:
        """What says what a command is asked, by flag."""
        asked = {"--path": self.path, "--method": self.method, "--header": self.header, "--body": self.body}
        return {**asked, "--expect": self.expect}

    def _check_how(self) -> None:
        if (self.cmd is None) == (self.contender_file is None):
            raise UsageError("--rev needs either --cmd 'SERVER ... {port}' or --contender-file FILE: how is it served?")
        for name, value in self._of_a_command().items():
            if self.contender_file is not None and value is not None:
                raise UsageError(f"{name} needs --cmd: a contender's file already has it")
        _ = self.environment

    def made(self, commits: list[str]) -> Revisions:
        """What the two revisions are made of."""
        return Revisions(
            repository=str(self.repo.absolute()),
            revs=self.rev or [],
            commits=commits,
            cmd=self.cmd,
            builds=self.build or [],
            variables=list(self.environment),
            contender_file=None if self.contender_file is None else str(self.contender_file),
        )

    @property
    def environment(self) -> dict[str, str]:
        """What --env gives, by name; UsageError."""
        for pair in self.env or []:
            if not pair.partition("=")[0] or "=" not in pair:
                name = pair.partition("=")[0]  # the rest may be secret
                raise UsageError(f"--env {name}: write it as NAME=VALUE")
        return dict(pair.split("=", 1) for pair in self.env or [])

    @property
    def again(self) -> Again:
        """What no results file keeps; UsageError."""
        return Again(headers=[header_of(line) for line in self.header or []], variables=self.environment)

    @property
    def gives_again(self) -> bool:
        """Nothing is given but what no results file keeps."""
        return replace(self, env=None, header=None) == Revising()

    def ready(
        self,
        made: Revisions,
        workload: str | None,
        known: Catalogue,
        strapped: Strapped,
        **about: str | float | None,
    ) -> Ready:
        """Both revisions checked out and built. RevisionError, UsageError."""
        from webdyno.session.revisions import check_out_both

        base, head = revisions = check_out_both(made, strapped)
        about |= {"name": "compare", "title": f"{head.named} against {base.named}"}
        about |= {"question": f"Is {head.rev} slower than {base.rev}?"}
        make = self._by_command if self.cmd is not None else self._by_file
        return make(revisions, workload, known, strapped, **about)

    def _by_command(
        self,
        revisions: list[Revision],
        workload: str | None,
        known: Catalogue,
        strapped: Strapped,
        **about: str | float | None,
    ) -> Ready:
        from webdyno.session.lookup import driver_versions
        from webdyno.session.ready import Ready, question_plan
        from webdyno.session.revisions import by_command, catalogue_by_command, say_what_builds_see

        asked = self.workload(workload, known)
        say_what_builds_see(self.build or [])
        made = [
            by_command(revision, self.cmd or "", self.build or [], self.environment, asked.name, strapped)
            for revision in reversed(revisions)  # a head that does not build is the answer, whatever base does
        ][::-1]
        known = catalogue_by_command(known, {contender.name: contender for contender, _ in made}, asked)
        plan = question_plan(known, [contender.name for contender, _ in made], asked.name, {}, **about)
        drivers = driver_versions(["engine"], strapped)
        built = {built.contender: built for _, built in made}
        return Ready(plan=plan, built=built, found={}, servers={}, drivers=drivers)

    def workload(self, name: str | None, known: Catalogue) -> Workload:
        """What a command is asked: a workload of the catalogue, or one path."""
        if name is None:
            path = self.path or "/"
            if not path.startswith("/"):
                raise UsageError(f"--path {path}: give a path that begins with a slash")
            asking = Asking(method=self.method, header=self.header, body=self.body, expect=self.expect)
            (request,) = asking.requests(one_server((f"http://127.0.0.1{path}",)))
            return Workload(name=request.name, title=request.name, kind="cpu", requests=[request])
        for flag_, value in self._of_a_request().items():
            if value is not None:
                raise UsageError(f"--workload and {flag_} exclude each other: both define the requests")
        if name not in known.workloads:
            raise UsageError(f"--workload {name}: there is no such workload; see: webdyno list workloads")
        if known.workloads[name].service is not None:
            raise UsageError(f"--workload {name}: it needs {known.workloads[name].service}, give --contender-file")
        return known.workloads[name]

    def _by_file(
        self,
        revisions: list[Revision],
        workload: str | None,
        known: Catalogue,
        strapped: Strapped,
        **about: str | float | None,
    ) -> Ready:
        from webdyno.analyse.versus import BASE, HEAD
        from webdyno.session.ready import ready_from_catalogue, workload_of
        from webdyno.session.revisions import catalogue_by_file, refuse_failed_builds

        known = catalogue_by_file(known, revisions, self.contender_file or Path())
        asked = workload_of(known, [BASE, HEAD], workload)
        ready = ready_from_catalogue(known, [BASE, HEAD], asked, strapped, **about)
        refuse_failed_builds(ready.built, revisions)
        return ready
