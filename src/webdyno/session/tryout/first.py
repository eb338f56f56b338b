"""The first answers: one server is started, everything is asked once, and what is wrong is said before any sweep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean

import msgspec

from webdyno.model.built import Built
from webdyno.model.contender import Contender
from webdyno.model.errors import AnswerError, UsageError
from webdyno.model.secret import asked, hidden_line
from webdyno.model.workload import Expectation, Request, Workload
from webdyno.rig.strap import Strapped
from webdyno.serve.ask import Answer, NoAnswer, ask
from webdyno.serve.first_answer import first_answer
from webdyno.serve.serving import Served, serve
from webdyno.serve.verify import Asker, wrong
from webdyno.session.tryout.schema import SCHEMAS, routes_of
from webdyno.session.tryout.task import Questions, workload_of

ANSWER_S = 10.0
"""How long a single answer may take while nothing else is asked."""
_ANY = Expectation(statuses=list(range(100, 600)))


@dataclass(frozen=True)
class First:
    """What was asked, each path proven to be answered correctly, and the time the server took to be ready."""

    workload: Workload
    ready_s: float
    slowest_s: float
    """The longest of the answers."""
    alone_s: float
    """What a request takes while nothing else is asked: the mean, by their weights."""
    notes: list[str]
    compilers: list[str] = field(default_factory=list)
    """As in a Run."""


def first_answers(
    contender: Contender,
    built: Built,
    asked: Questions,
    strapped: Strapped,
    log: Path,
    clock: Callable[[], float],
) -> First:
    """Ask everything once. StartError, AnswerError, KeyboardInterrupt, and UsageError for what the call has wrong."""

    def watch() -> None:
        if strapped.interrupted.is_set():
            raise KeyboardInterrupt

    requests = list(asked.requests)
    any_answer = [msgspec.structs.replace(request, expect=_ANY) for request in requests]
    begun = clock()
    with serve(contender, workload_of(any_answer), built, strapped, log) as served:
        ready_s = clock() - begun
        notes: list[str] = []
        asker = partial(_answer, served=served, watch=watch)
        if asked.by_schema:
            requests = _routes(asked, asker, notes)
        took: list[float] = []
        for request in requests:
            before = clock()
            said = check(request, asker(request), served.log_tail, judged=asked.is_unsaid)
            notes += [said] if said else []
            took.append(clock() - before)
        compilers = served.compilers()
    alone_s = fmean(took, [request.weight for request in requests])
    return First(workload_of(requests), ready_s, max(took), alone_s, notes, compilers)


def _answer(request: Request, served: Served, watch: Callable[[], None]) -> Answer:
    try:
        return ask(served.host, served.port, request, ANSWER_S, watch)
    except NoAnswer as reason:
        text = f"{asked(request)}: the app should answer, but {reason}"
        raise AnswerError(text, served.log_tail()) from None


def check(request: Request, answer: Answer, log_tail: Callable[[], str], *, judged: bool) -> str | None:
    """What is to be noted of a correct answer, mostly nothing; what is wrong is raised.

    ``judged``: nobody said what a correct answer is, so one that is hardly meant is refused as well.
    """
    what = asked(request)
    suspicious = first_answer(answer.status, answer.headers, answer.body) if judged else None
    if suspicious is not None and answer.status >= 300:
        raise UsageError(f"{what}: {suspicious}")
    problem = wrong(answer, request.expect)
    if problem is None:
        return suspicious and f"{what}: {suspicious}"
    if answer.status == 404:
        raise UsageError(
            f"{what}: the app answers 404; name an existing path with --path, or give --expect 'status==404'"
        )
    if answer.status >= 500:
        raise AnswerError(f"{what}: the app itself answers {answer.status}; see its output", log_tail())
    if answer.status >= 400:
        raise UsageError(
            f"{what}: the app answers {answer.status}; send what it requires with -H, -m and -b, or accept the "
            f"status: --expect 'status=={answer.status}'"
        )
    raise AnswerError(f"{what}: {problem}", log_tail())


def _routes(asked: Questions, asker: Asker, notes: list[str]) -> list[Request]:
    """The GET routes of the schema that are answered correctly; those that are not are noted. UsageError for none."""
    refused = UsageError(f"--openapi: the app has no schema (asked for {', '.join(SCHEMAS)}); name paths with --path")
    for path in SCHEMAS:
        answer = asker(Request(name=path, path=path, headers=[("Accept", "application/json")]))
        if answer.status != 200:
            continue
        try:
            routes = routes_of(answer.body)
            break
        except UsageError as error:  # an app may have a page for every path; the next one may be the schema
            refused = error
    else:
        raise refused
    if not routes:
        raise UsageError(f"--openapi: {path} has no GET route without required parameters; name paths with --path")
    kept = []
    for request in asked.of_routes(routes):
        answer = asker(request)
        hardly_meant = asked.is_unsaid and first_answer(answer.status, answer.headers, answer.body) is not None
        if answer.status in request.expect.statuses and not hardly_meant:
            kept.append(request)
        else:
            notes.append(f"{hidden_line(request.path)} is left out: it answers {answer.status}")
    if not kept:
        raise UsageError("--openapi: none of its GET routes is answered correctly; name paths with --path")
    return kept
