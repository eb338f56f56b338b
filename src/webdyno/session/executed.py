"""What a plan, a try or a catalogue has executed, as lines: for people to judge, and for a hash of what was agreed to.

A line has all of a definition that leads to a process, to something that is installed, or to requests to a server that
webdyno did not start. Its words are quoted as a shell wants them, so no two definitions share a line, and only what is
known to execute nothing (a reason, an author, a limit of time) may differ without a question.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from webdyno.model.catalogue import Catalogue
from webdyno.model.contender import App, Contender, Runtime
from webdyno.model.outward import clean
from webdyno.model.paired import Revisions
from webdyno.model.secret import hidden
from webdyno.model.service import Service, Way
from webdyno.model.trial import Plan
from webdyno.model.tried import Tried
from webdyno.model.workload import Request, Workload

HARMLESS = {
    Contender: "name server model needs looks_for workers threads pool answers because recommended author sweep ready_s"
    " warmup_s stop_s",
    App: "name language interface framework answers",
    Runtime: "name language minimum install",
    Service: "name title genuine most_cores install ready_s stop_s",
    Way: "delays warm_s",
}
"""Fields that no line has. Any other that is set stands in it, so a field that is added here or there is not missed."""


def lines_of(them: Plan | Catalogue) -> list[str]:
    """A line for each definition that has something executed, contenders first."""
    lines = [_contender(name, hidden(it)) for name, it in them.contenders.items() if it.serve]
    lines += [_app(name, it) for name, it in them.apps.items() if it.requires or it.build]
    lines += [_runtime(name, it) for name, it in them.runtimes.items() if it.find or it.package]
    return lines + [_service(name, it) for name, it in them.services.items()]


def lines_of_plan(plan: Plan) -> list[str]:
    """Those of its definitions, and of what it does beside: revisions that are built, a URL that is loaded."""
    made = None if plan.paired is None else hidden(plan.paired).revisions
    lines = lines_of(plan) + ([] if made is None else list(_revisions(made)))
    if any(contender.serve for contender in plan.contenders.values()):
        return lines
    return lines + list(_asked(plan.workloads))


def lines_of_try(tried: Tried) -> list[str]:
    """What a try starts beside servers of the catalogue, and which files of the user it takes for that."""
    it = hidden(tried)
    where = _part("in", [it.folder]) + _part("with the variables of", [it.env_file] if it.env_file else [])
    python = _part("by", [it.python] if it.python else [])
    lines = [f"application{_part('', [it.app])}{python}{where}"] if it.app else []
    lines += [f"command{_part('', [line])}{python}{where}" for line in [it.current, *it.commands] if line]
    port = _part("port", [str(it.container_port)] if it.container_port else [])
    return lines + [f"image{_part('', [name])}{port}{where}" for name in it.images]


def visible(text: str) -> str:
    """``text`` clean, and on one line: a command that breaks it would look like two."""
    return clean(text.replace("\r\n", "\\r\\n").replace("\n", "\\n").replace("\t", "\\t"))


def _part(label: str, words: Sequence[str]) -> str:
    """``; label words``: no word holds a semicolon that is not quoted."""
    return f"{';' if label else ''} {label}{' ' if label else ''}{shlex.join(words)}" if words else ""


def _more(it: msgspec.Struct, said: str) -> str:
    """What else is set than what was ``said``, as JSON."""
    names = {*said.split(), *HARMLESS[type(it)].split()}
    found = ((field, getattr(it, field.name)) for field in msgspec.structs.fields(it) if field.name not in names)
    return "".join(
        _part(field.name, [msgspec.json.encode(value, order="sorted").decode()])
        for field, value in found
        if value not in (field.default, None, [], {})
    )


def _contender(name: str, it: Contender) -> str:
    command = shlex.join([*(f"{key}={value}" for key, value in it.environment.items()), *it.serve])
    versions = _part("installs", it.requires) + _part("overrides", it.overrides) + _part("built with", it.build_with)
    said = f"{command}{_part('app', [it.app])}{_part('on', it.runtimes)}{versions}"
    more = _more(it, "environment serve app runtime beside requires overrides build_with")
    return f"contender {shlex.quote(name)}: {said}{more}"


def _app(name: str, it: App) -> str:
    built = _part("installs", it.requires) + "".join(_part("builds by", one) for one in it.build)
    return f"app {shlex.quote(name)}{built}{_more(it, 'requires build')}"


def _runtime(name: str, it: Runtime) -> str:
    asked = _part("asked by", it.version) + _part("npm brings", [it.package] if it.package else [])
    more = _more(it, "kind find version package")
    return f"runtime {shlex.quote(name)}: {it.kind}{_part('one of', it.find)}{asked}{more}"


def _service(name: str, it: Service) -> str:
    given = f"{it.protocol}{_part('given by', [it.variable])}{_part('at', [it.url])}"
    given += _more(it, "protocol variable url ways")
    return " | ".join([f"service {shlex.quote(name)}: {given}", *map(_way, it.ways)])


def _way(way: Way) -> str:
    found = _part("one of", way.find) + _part("on", [way.runtime] if way.runtime else [])
    built = _part("installs", way.requires) + "".join(_part("builds by", one) for one in way.build)
    said = f"{way.kind}{found}{built}{_part('starts', way.serve)}"
    return said + _more(way, "kind find runtime requires build serve")


def _revisions(made: Revisions) -> Iterator[str]:
    yield f"git clone {shlex.quote(made.repository)}{_part('at', made.commits)}"
    yield from (f"build: sh -c {shlex.quote(line)}" for line in made.builds)
    if made.cmd is not None:
        yield f"serve: {shlex.quote(made.cmd)}"
    if made.contender_file is not None:
        yield f"contender of the repository: {shlex.quote(made.contender_file)}"


def _asked(workloads: Mapping[str, Workload]) -> Iterator[str]:
    for workload in workloads.values():
        requests = "".join(_part("asks", _words(hidden(request))) for request in workload.requests)
        yield f"load on {shlex.quote(workload.title)}{requests}"


def _words(request: Request) -> list[str]:
    headers = [word for name, text in request.headers for word in ("-H", f"{name}: {text}")]
    return [request.method, request.path, *headers, *([] if request.body is None else ["-b", request.body])]
