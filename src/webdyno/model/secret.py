"""Secrets: what a request must carry and a results file must not. Results are mailed, committed and shown in tickets.

``hidden`` gives a noun as it may be stored and shown: values of headers that let somebody in are stars, in requests, in
commands, and in what a server answered (it sets cookies), and so are passwords and parameters of URLs, and variables
and flags. Names are judged by their words, so that X-My-Token is one too: rather too much is hidden than too little.
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
    r"auth(?!or)|authori[sz]|cookie|token(?!s\b)|jwt|secret|passw|passphrase|credential|session|signature|bearer|[cx]srf"
    r"|(api|access|private)[-_]?key|(^|[-_.])(pass|pwd|key|sig|sid|otp)$",
    re.IGNORECASE,
)
_ABOUT_ONE = re.compile(
    r"[-_](file|path|dir|type|name|class|backend|method|mode|scheme|timeout|ttl|age|size|length|limit|max|days|seconds)$",
    re.IGNORECASE,
)
"""Ends of names of settings that are about a secret, and none."""
_FIELD = re.compile(r"^(?P<name>[\w.-]{1,64})(?P<colon>:[ \t]*)(?P<value>.*\S)", re.MULTILINE)
_QUERY = re.compile(r"(?P<begin>[?&;](?P<name>[\w.-]{1,64})=)[^&;#\s\0'\"]+")
_SCHEME = re.compile(r"(?P<begin>\b(?:Bearer|Basic|Negotiate)\s+)(?=[\w.~+/:-]*[\d=])[\w.~+/:-]{6,}=*", re.IGNORECASE)
_USER = re.compile(r"(?<=://)[\w-]{16,}(?=@)")
"""A token that stands where a user's name does."""
_TYPED = re.compile(r"(?:[^\s'\"\\]|\\.|'[^']*'|\"(?:\\.|[^\"\\])*\")+", re.DOTALL)
"""A word as it was typed, with its quotes."""
_TOOL = re.compile(r"(?:^|/)(?:ab|curl|wget|oha|hey|http)$")
_LOGIN = re.compile(r"(?P<begin>\0(?:-[uUAPa]|--user|--proxy-user)\0?[^\0:]+:)[^\0]+")
"""A flag of theirs that takes ``name:password``."""


def _forms(gap: str, value: str, header: str) -> Sequence[re.Pattern[str]]:
    """What a secret looks like in a command: ``begin`` stays, and what follows is one where its ``name`` is.

    A header needs its space where no flag stands before it: ``auth:app`` is where a server finds its application.
    """
    nouns = (
        r"password|passwd|pwd|passphrase|secret|token|jwt|bearer|cookie|credentials?|(?:api|access|private|secret)-?key"
    )
    return [
        re.compile(pattern, re.IGNORECASE)
        for pattern in (
            rf"(?P<begin>(?P<name>[\w.-]{{1,64}}): +){header}",
            rf"(?P<begin>(?<![\w-])(?P<name>(?:proxy-)?authorization|(?:set-)?cookie|x-[\w-]{{1,60}}):[ \t]*){header}",
            rf"(?P<begin>(?:-H|--header)(?:=|{gap})?['\"]?(?P<name>[\w.-]{{1,64}}):[ \t]*){header}",
            rf"(?P<begin>--(?P<name>[\w.-]{{1,64}})=){value}",
            rf"(?P<begin>(?<![\w-])--?(?P<name>(?:[\w-]{{1,40}}-)?(?:{nouns})){gap})(?!-)(?![^\s\0]*{{){value}",
            rf"(?P<begin>(?<![\w.?&;/-])(?P<name>[a-z_]\w*)=)(?!=){value}",
        )
    ]


_IN_WORDS = _forms(r"\0", r"[^\0]+", r"[^\0]+")
"""Words parted by a zero."""
_IN_LINE = _forms(r"\s+", r"(?:'[^']*'|\"[^\"]*\"|[^\s'\"]+)", r"[^'\"\n]+")


def is_secret(name: str) -> bool:
    """Whether a header, a variable or a flag of that name may hold what lets somebody in."""
    return _SECRET.search(name) is not None and _ABOUT_ONE.search(name) is None


def hidden_block(block: str) -> str:
    """A header block with stars for the values that are secret."""
    return _FIELD.sub(
        lambda line: f"{line['name']}{line['colon']}{STARS}" if is_secret(line["name"]) else line[0], block
    )


def hidden_words(argv: Sequence[str]) -> list[str]:
    """A command with stars for what lets somebody in: secret headers, variables and flags, passwords and parameters of
    URLs.
    """
    if not argv:
        return []
    text = _starred("\0".join(argv), _IN_WORDS)
    if _TOOL.search(argv[0]):
        text = _LOGIN.sub(_star, text)
    return [without_password(word) for word in text.split("\0")]


def hidden_line(line: str) -> str:
    """A command as it was typed, or a sentence that has it in it, with the same stars."""
    try:
        words = shlex.split(line)
    except ValueError:  # no command, but a sentence: rather too much is hidden than too little
        return without_password(_starred(line, _IN_LINE))
    said, bare = list(_TYPED.finditer(line)), hidden_words(words)
    if len(said) == len(words) == len(bare):
        for typed, word, shown in reversed(list(zip(said, words, bare, strict=True))):
            if word != shown:
                quote = next((sign for sign in typed[0] if sign in "'\""), "")
                quote = quote if typed[0][0] == quote or " " in shown else ""
                line = f"{line[: typed.start()]}{quote}{shown}{quote}{line[typed.end() :]}"
    return _starred(line, _IN_LINE)


def asked(request: Request) -> str:
    """What a request asks, as it may be shown: ``GET /items?token=***``."""
    return f"{request.method} {hidden_line(request.path)}"


def hidden_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Variables of an environment with the same stars."""
    return {name: STARS if is_secret(name) and text else hidden_line(text) for name, text in variables.items()}


def _starred(text: str, forms: Sequence[re.Pattern[str]]) -> str:
    for form in (*forms, _QUERY):
        text = form.sub(_star_if_secret, text)
    return _USER.sub(STARS, _SCHEME.sub(_star, text))


def _star(found: re.Match[str]) -> str:
    return f"{found['begin']}{STARS}"


def _star_if_secret(found: re.Match[str]) -> str:
    return _star(found) if is_secret(found["name"]) else found[0]


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
    lines = {"name": hidden_line(request.name), "path": hidden_line(request.path)}
    bare = msgspec.structs.replace(request, headers=headers, **lines)
    return request if bare == request else bare


@hidden.register
def _(workload: Workload) -> Workload:
    requests = [hidden(request) for request in workload.requests]
    return msgspec.structs.replace(workload, title=hidden_line(workload.title), requests=requests)


@hidden.register
def _(contender: Contender) -> Contender:
    environment = hidden_variables(contender.environment)
    lines = {"serve": hidden_words(contender.serve), "because": hidden_line(contender.because)}
    return msgspec.structs.replace(contender, environment=environment, **lines)


@hidden.register
def _(plan: Plan) -> Plan:
    workloads = {name: hidden(workload) for name, workload in plan.workloads.items()}
    contenders = {name: hidden(contender) for name, contender in plan.contenders.items()}
    changed = {"arguments": hidden_words(plan.arguments), "paired": plan.paired and hidden(plan.paired)}
    changed |= {"title": hidden_line(plan.title), "question": hidden_line(plan.question)}
    changed |= {"tried": plan.tried and hidden(plan.tried)}
    return msgspec.structs.replace(plan, workloads=workloads, contenders=contenders, **changed)


@hidden.register
def _(paired: Paired) -> Paired:
    made = paired.revisions
    if made is None:
        return paired
    lines = {"cmd": made.cmd and hidden_line(made.cmd), "builds": [hidden_line(line) for line in made.builds]}
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
    about = {"summary": hidden_summary(run.summary), "environment": hidden_variables(run.environment)}
    told = {"message": hidden_line(run.message), "notes": [hidden_line(note) for note in run.notes]}
    log = "\n".join(map(hidden_line, run.log_tail.split("\n")))
    losses = [msgspec.structs.replace(loss, line=hidden_line(loss.line)) for loss in run.losses]
    return msgspec.structs.replace(run, probe=probe, log_tail=log, losses=losses, **about, **commands, **told)


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
        headers = withheld({name: workload})
        if headers or any(STARS in request.path for request in workload.requests):
            lack = f"sends the header {headers[0]}, whose value" if headers else "asks a path with a secret, which"
            asked[name] = _as_it_was(workload, known.workloads.get(name), f"{where}: workload {name!r} {lack}")
    for name, contender in plan.contenders.items():
        if any(STARS in word for word in (*contender.serve, *contender.environment.values())):
            lack = f"the command of contender {name!r} holds a password, which"
            served[name] = _as_it_was(contender, known.contenders.get(name), f"{where}: {lack}")
    return msgspec.structs.replace(plan, workloads=asked, contenders=served)


def _as_it_was(stored: Noun, known: Noun | None, lack: str) -> Noun:
    if known is None or hidden(known) != stored or any(STARS in path for path in _paths(known)):
        kind = type(stored).__name__.lower()
        raise UsageError(
            f"{lack} no results file keeps, and the catalogue does not have that {kind} as it was: put its file back, "
            "or start over"
        )
    return known


def _paths(noun: Noun) -> list[str]:
    return [request.path for request in noun.requests] if isinstance(noun, Workload) else []
