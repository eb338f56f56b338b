"""Secrets: what a request must carry and a results file must not. Results are mailed, committed and shown in tickets.

``hidden`` gives a noun as it may be stored and shown: values of headers that let somebody in are stars, in requests, in
the commands of load tools, and in what a server answered (it sets cookies), and so are passwords in URLs. Names are
judged by their words, so that X-My-Token is one too: rather too much is hidden than too little.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from functools import singledispatch
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from webdyno.model.catalogue import Catalogue
from webdyno.model.contender import Contender
from webdyno.model.errors import UsageError
from webdyno.model.paired import Paired
from webdyno.model.run import Run
from webdyno.model.service import without_password
from webdyno.model.trial import Plan
from webdyno.model.tried import Tried
from webdyno.model.workload import Request, Workload

Noun = TypeVar("Noun", Workload, Contender)

STARS = "***"
_SECRET = re.compile(
    r"auth|cookie|token|jwt|secret|passw|(api|access|private)[-_]?key|credential|session|signature|[cx]srf",
    re.IGNORECASE,
)
_FIELD = re.compile(r"^(?P<name>[\w.-]+)(?P<colon>:[ \t]*)(?P<value>.*\S)", re.MULTILINE)
_IN_LINE = re.compile(r"(?P<name>[\w-]+): +[^'\"\n]+")
"""A header within a line: its value ends where the quotes do."""
_WORD = re.compile(r"^(?P<begin>(?:-H|--[\w-]+=)?)(?P<name>[\w.-]+)(?P<colon>: )(?P<value>.*)", re.DOTALL)
"""A header as a word of a command. With its space: ``auth:app`` is where a server finds its application."""


def is_secret(name: str) -> bool:
    """Whether a header of that name may hold what lets somebody in."""
    return _SECRET.search(name) is not None


def hidden_block(block: str) -> str:
    """A header block with stars for the values that are secret."""
    return _FIELD.sub(
        lambda line: f"{line['name']}{line['colon']}{STARS}" if is_secret(line["name"]) else line[0], block
    )


def hidden_words(argv: Sequence[str]) -> list[str]:
    """A command with stars for the values of secret headers, and for passwords in URLs."""

    def hide(word: re.Match[str]) -> str:
        return f"{word['begin']}{word['name']}: {STARS}" if is_secret(word["name"]) else word[0]

    return [without_password(_WORD.sub(hide, word)) for word in argv]


def hidden_line(line: str) -> str:
    """A command as it was typed, or a sentence that has it in it, with the same stars."""

    def hide(header: re.Match[str]) -> str:
        return f"{header['name']}: {STARS}" if is_secret(header["name"]) else header[0]

    line = _IN_LINE.sub(hide, line)
    try:
        words = shlex.split(line)
    except ValueError:  # no command, but a sentence: rather too much is hidden than too little
        return without_password(line)
    for word in words:
        line = line.replace(word, without_password(word))
    return line


def hidden_summary(summary: dict[str, Any]) -> dict[str, Any]:
    """A driver's last word over a load, as it may be stored and shown."""
    head = summary.get("first_answer")
    return {**summary, "first_answer": hidden_block(head)} if isinstance(head, str) else summary


@singledispatch
def hidden(noun: Any) -> Any:
    """``noun`` as it may be stored and shown; the same object where it holds nothing to hide."""
    return noun


@hidden.register
def _(request: Request) -> Request:
    headers = [(name, STARS if is_secret(name) else value) for name, value in request.headers]
    return request if headers == request.headers else msgspec.structs.replace(request, headers=headers)


@hidden.register
def _(workload: Workload) -> Workload:
    return msgspec.structs.replace(workload, requests=[hidden(request) for request in workload.requests])


@hidden.register
def _(contender: Contender) -> Contender:
    environment = {name: without_password(value) for name, value in contender.environment.items()}
    lines = {"serve": hidden_words(contender.serve), "because": hidden_line(contender.because)}
    return msgspec.structs.replace(contender, environment=environment, **lines)


@hidden.register
def _(plan: Plan) -> Plan:
    workloads = {name: hidden(workload) for name, workload in plan.workloads.items()}
    contenders = {name: hidden(contender) for name, contender in plan.contenders.items()}
    changed = {"arguments": hidden_words(plan.arguments), "paired": plan.paired and hidden(plan.paired)}
    changed |= {"title": hidden_line(plan.title), "tried": plan.tried and hidden(plan.tried)}
    return msgspec.structs.replace(plan, workloads=workloads, contenders=contenders, **changed)


@hidden.register
def _(paired: Paired) -> Paired:
    made = paired.revisions
    if made is None:
        return paired
    lines = {"cmd": made.cmd and without_password(made.cmd), "builds": hidden_words(made.builds)}
    return msgspec.structs.replace(paired, revisions=msgspec.structs.replace(made, **lines))


@hidden.register
def _(tried: Tried) -> Tried:
    requests = [hidden(request) for request in tried.requests]
    current, commands = tried.current and hidden_line(tried.current), [hidden_line(line) for line in tried.commands]
    return msgspec.structs.replace(tried, requests=requests, current=current, commands=commands)


@hidden.register
def _(run: Run) -> Run:
    probe = run.probe and msgspec.structs.replace(run.probe, header=hidden_block(run.probe.header))
    commands = {"command": hidden_words(run.command), "driver_command": hidden_words(run.driver_command)}
    environment = {name: without_password(value) for name, value in run.environment.items()}
    about = {"summary": hidden_summary(run.summary), "environment": environment}
    return msgspec.structs.replace(run, probe=probe, **about, **commands)


def withheld(workloads: Mapping[str, Workload]) -> list[str]:
    """Names of the headers of stored workloads whose values stand in no file, each as often as a request sends it."""
    requests = [request for workload in workloads.values() for request in workload.requests]
    return [name for request in requests for name, text in request.headers if text == STARS]


def filled_in(workload: Workload, values: Mapping[str, str]) -> Workload:
    """A stored workload with ``values``, by the names of headers in small letters, for those that were withheld."""

    def header(name: str, text: str) -> tuple[str, str]:
        return name, values.get(name.lower(), text) if text == STARS else text

    requests = [
        msgspec.structs.replace(request, headers=[header(*each) for each in request.headers])
        for request in workload.requests
    ]
    return msgspec.structs.replace(workload, requests=requests)


def with_secrets(plan: Plan, whole: Plan) -> Plan:
    """``plan`` with what ``whole`` asks and serves."""
    return msgspec.structs.replace(plan, workloads=whole.workloads, contenders=whole.contenders)


def recalled(plan: Plan, known: Catalogue | Plan, where: Path) -> Plan:
    """A stored plan with the secrets of its requests and commands from ``known``; UsageError for what lacks one and is
    not there as it was.

    ``where`` it is stored, for its sentence.
    """
    asked, served = {**plan.workloads}, {**plan.contenders}
    for name, workload in plan.workloads.items():
        if headers := withheld({name: workload}):
            lack = f"workload {name!r} sends the header {headers[0]}, whose value"
            asked[name] = _as_it_was(workload, known.workloads.get(name), f"{where}: {lack}")
    for name, contender in plan.contenders.items():
        if any(STARS in word for word in (*contender.serve, *contender.environment.values())):
            lack = f"the command of contender {name!r} holds a password, which"
            served[name] = _as_it_was(contender, known.contenders.get(name), f"{where}: {lack}")
    return msgspec.structs.replace(plan, workloads=asked, contenders=served)


def _as_it_was(stored: Noun, known: Noun | None, lack: str) -> Noun:
    if known is None or hidden(known) != stored:
        kind = type(stored).__name__.lower()
        raise UsageError(
            f"{lack} no results file keeps, and the catalogue does not have that {kind} as it was: put its file back, "
            "or begin anew"
        )
    return known
