"""What a type cannot say about a noun: references, rules, placeholders, exact pins, numbers out of range.

One generator of Faults per noun, and nothing raised: where a Fault stands in the file is not known here. What must hold
between the parts of one answer is in check_answer.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from itertools import chain

from webdyno.model.catalogue import Catalogue
from webdyno.model.contender import App, Contender, Runtime
from webdyno.model.pattern import is_pattern, matching
from webdyno.model.placeholder import PLACEHOLDERS, placeholders
from webdyno.model.rule import evaluate
from webdyno.model.study import Study, StudyLoad
from webdyno.model.way import LEAST_CPUS, MOST_CPUS
from webdyno.model.workload import Request, Workload
from webdyno.read.check_answer import answer_faults
from webdyno.read.check_pairs import pairs_faults
from webdyno.read.lines import Key
from webdyno.read.source import suggest

Fault = tuple[Key, str]

PINNED: dict[str, tuple[str, str]] = {
    "python": (r"[A-Za-z0-9][\w.-]*(\[[\w.,-]+\])?==[A-Za-z0-9][\w.!+-]*", "gunicorn==27.0.1"),
    "python-2": (r"[A-Za-z0-9][\w.-]*==[A-Za-z0-9][\w.!+-]*", "CherryPy==3.8.2"),
    "node": (r"(@[\w.-]+/)?[\w.-]+@\d+\.\d+\.\d+[\w.+-]*", "express@5.3.0"),
    "go": (r"[\w./~-]+@v\d+\.\d+\.\d+[\w.+-]*", "github.com/go-chi/chi/v5@v5.5.0"),
    "rust": (r"[\w-]+@\d+\.\d+\.\d+[\w.+-]*", "axum@0.8.9"),
    "jvm": (r"[\w.-]+:[\w.-]+:\d[\w.-]*", "io.netty:netty-codec-http:4.1.118.Final"),
    "ruby": (r"[\w-]+:\d[\w.-]*", "puma:5.6.5"),
    "native": (r"[\w.+-]+=\d[\w.+~:-]*", "nginx=1.22.1"),
}
"""How each kind of runtime writes one exact version, and an example of it."""

RULE_CORES = (1, 2, 3, 4, 8, 64)
"""Numbers of cores a rule is tried with."""
HTTP_VERSIONS = ("1.0", "1.1")
MOST_PER_S = 1e7
MOST_DRIVERS = 1024
"""As many parts as the engine knows a load to have."""


def contender_faults(it: Contender, catalogue: Catalogue) -> Iterator[Fault]:
    """Faults of a contender, its references looked up in ``catalogue``."""
    yield from _reference(("app",), it.app, "app", catalogue.apps)
    yield from _reference(("runtime",), it.runtime, "runtime", catalogue.runtimes)
    if runtime := catalogue.runtimes.get(it.runtime):
        yield from pins(it.requires, [runtime.kind])
        yield from _python_only(it, runtime)
    yield from chain.from_iterable(
        _reference(("beside", at), name, "runtime", catalogue.runtimes) for at, name in enumerate(it.beside)
    )
    yield from _twice(("beside",), it.beside)
    yield from _command(("serve",), it.serve)
    yield from chain.from_iterable(_placeholders(key, text) for key, text in _told(it))
    if not {"bind", "port"} & {word for _, text in _told(it) for word in placeholders(text)}:
        yield ("serve",), "never says {bind} or {port}, so the contender would not know where to listen"
    yield from _rule(("workers",), it.workers)
    yield from _rule(("threads",), it.threads)
    yield from _pool(it)
    yield from _sweep(it)
    if it.answers is not None:
        yield from _answers(it.answers, catalogue)
        if app := catalogue.apps.get(it.app):
            for at, name in enumerate(it.answers):
                if name not in app.answers:
                    yield ("answers", at), f'app "{app.name}" does not answer "{name}"; {suggest(name, app.answers)}'
    yield from text_faults(it, ("server", "model", "because", "author"))
    if it.needs is not None:
        yield from text_faults(it, ("needs",))
    elif it.looks_for:
        yield ("looks_for",), "has no needs beside it; say there what to install, in one line for a person"
    if it.recommended is not None and not it.recommended.startswith(("https://", "http://")):
        yield ("recommended",), "must be a link that begins with https://"
    yield from _patience(it)


def _python_only(it: Contender, runtime: Runtime) -> Iterator[Fault]:
    for key, requirements in (("overrides", it.overrides), ("build_with", it.build_with)):
        if requirements and runtime.kind != "python":
            yield (key,), f"is for Python contenders only, and {runtime.name} is of kind {runtime.kind}"
        else:
            yield from pins(requirements, ["python"], key)


def _patience(it: Contender) -> Iterator[Fault]:
    yield from _above(("ready_s",), it.ready_s, 0)
    if it.warmup_s is not None:
        yield from _above(("warmup_s",), it.warmup_s, 0)
    if it.warmup_requests is not None:
        yield from _at_least(("warmup_requests",), it.warmup_requests, 1)
        if it.warmup_s is None:
            yield ("warmup_requests",), "needs warmup_s beside it: a warm-up takes three times as long at most"
    yield from _at_least(("stop_s",), it.stop_s, 0)


def app_faults(it: App, catalogue: Catalogue) -> Iterator[Fault]:
    """Faults of an app."""
    yield from text_faults(it, ("language", "interface", "framework"))
    yield from pins(it.requires, PINNED)
    yield from _answers(it.answers, catalogue)
    yield from chain.from_iterable(_command(("build", at), command) for at, command in enumerate(it.build))


def runtime_faults(it: Runtime, _: Catalogue) -> Iterator[Fault]:
    """Faults of a runtime."""
    yield from text_faults(it, ("language", "install"))
    if not it.find:
        yield ("find",), "must name at least one program or version"
    if it.minimum is not None and not re.fullmatch(r"\d+(\.\d+)*", it.minimum):
        yield ("minimum",), f'"{it.minimum}" is not a version; write numbers and dots, such as "18.0"'
    if it.package is not None:
        if it.kind != "node":
            yield ("package",), f'only kind "node" has one: npm cannot bring a runtime of kind "{it.kind}"'
        pattern, example = PINNED["node"]
        if not re.fullmatch(pattern, it.package):
            yield ("package",), f'"{it.package}" is not one exact version; write it like "{example}"'


def workload_faults(it: Workload, catalogue: Catalogue) -> Iterator[Fault]:
    """Faults of a workload, its references looked up in ``catalogue``."""
    yield from text_faults(it, ("title",))
    if it.service is not None:
        yield from _reference(("service",), it.service, "service", catalogue.services)
    if it.like is None:
        yield from request_faults(it.requests)
    yield from _at_least(("service_floor_ms",), it.service_floor_ms, 0)
    yield from _at_least(("delay_ms",), it.delay_ms, 0)
    ways = catalogue.services[it.service].ways if it.service in catalogue.services else []
    if it.delay_ms and not any(way.delays for way in ways):
        yield ("delay_ms",), f"there is no way to delay the answers of {it.service or 'it, which has no service'}"


def request_faults(requests: list[Request]) -> Iterator[Fault]:
    """Faults of requests, under the key ``requests``."""
    if not requests:
        yield ("requests",), "must hold at least one request"
    yield from _twice(("requests",), [request.name for request in requests])
    for at, request in enumerate(requests):
        key = ("requests", at)
        if not request.path.startswith("/"):
            yield (*key, "path"), f'"{request.path}" must begin with a slash'
        if not re.fullmatch(r"[A-Z]+", request.method):
            yield (*key, "method"), f'"{request.method}" is not a method; write it in capitals, such as "GET"'
        yield from _at_least((*key, "weight"), request.weight, 1)
        yield from (((*key, "expect", *inner), problem) for inner, problem in answer_faults(request))


def study_faults(it: Study, catalogue: Catalogue) -> Iterator[Fault]:
    """Faults of a study, its references looked up in ``catalogue``."""
    yield from text_faults(it, ("title", "question"))
    yield from _contenders(it.contenders, catalogue)
    yield from names_faults(("workloads",), it.workloads, "workload", catalogue.workloads)
    if not it.loads:
        yield ("loads",), "must hold at least one load"
    for at, load in enumerate(it.loads):
        yield from (((("loads", at, *inner)), problem) for inner, problem in load_faults(load))
    yield from _at_least(("rounds",), it.rounds, 1)
    yield from _at_least(("seed",), it.seed, 0)
    if it.memory_mb is not None:
        yield from _at_least(("memory_mb",), it.memory_mb, 1)
    if it.cores is not None:
        yield from _at_least(("cores",), it.cores, 1)
    if it.cpus is not None and not LEAST_CPUS <= it.cpus <= MOST_CPUS:
        yield ("cpus",), f"must be from {LEAST_CPUS:g} to {MOST_CPUS}"


def _contenders(names: list[str], catalogue: Catalogue) -> Iterator[Fault]:
    patterns = [name for name in names if is_pattern(name)]
    for at, name in enumerate(names):
        if name in patterns and not matching(name, catalogue):
            yield ("contenders", at), f'no contender matches "{name}"; webdyno list shows their names'
        if name in catalogue.excluded and name not in catalogue.contenders:
            yield ("contenders", at), f'"{name}" is {catalogue.excluded[name]}'
    yield from names_faults(("contenders",), names, "contender", [*catalogue.contenders, *patterns])


def load_faults(it: StudyLoad) -> Iterator[Fault]:
    """Faults of one of a study's loads."""
    if not it.connections:
        yield ("connections",), "must hold at least one number"
    yield from chain.from_iterable(_at_least(("connections", at), n, 1) for at, n in enumerate(it.connections))
    yield from _open(it)
    yield from pairs_faults(it)
    if (it.duration_s is None) == (it.count is None):
        both = "both are" if it.count is not None else "neither is"
        yield (), f"exactly one of duration_s and count must be given, and {both}"
    if it.duration_s is not None:
        yield from _above(("duration_s",), it.duration_s, 0)
    if it.count is not None:
        yield from _at_least(("count",), it.count, 1)
    yield from _at_least(("warmup_s",), it.warmup_s, 0)
    if not 0 <= it.opening_s <= it.warmup_s:
        yield ("opening_s",), f"must be from 0 to warmup_s, which is {it.warmup_s:g}, but is {it.opening_s:g}"
    elif it.opening_s and (it.rate_per_s or it.pair_every_s is not None):
        yield ("opening_s",), "goes with a closed load: at a rate, connections are open from the start"
    yield from _above(("timeout_s",), it.timeout_s, 0)
    yield from _drivers(it)
    if it.http not in HTTP_VERSIONS:
        yield ("http",), f'"{it.http}" is not a choice; {suggest(it.http, HTTP_VERSIONS)}'


def _drivers(it: StudyLoad) -> Iterator[Fault]:
    """Each of several drivers has a connection, and with a count a request, of its own."""
    most = min([*it.connections, it.count or MOST_DRIVERS, MOST_DRIVERS])
    if it.drivers != 1 and not 1 <= it.drivers <= most:
        yield ("drivers",), f"must be from 1 to {most}, because each has its own connection, but is {it.drivers}"
    elif it.drivers > 1 and it.pair_every_s is not None:
        yield ("drivers",), "must be 1 with pairs, which are of one driver"
    elif it.drivers > 1 and it.driver not in (None, "engine"):
        yield ("drivers",), f"must be 1 with {it.driver}: only our own engine shares a load"


def _open(it: StudyLoad) -> Iterator[Fault]:
    """What makes a load open, and what means nothing without it."""
    for at, rate in enumerate(it.rate_per_s):
        if not 0 < rate <= MOST_PER_S:
            yield ("rate_per_s", at), f"must be above 0 and up to 10,000,000, but is {rate:g}"
    if it.poisson and not it.rate_per_s:
        yield ("poisson",), "needs rate_per_s: without it the load is closed"
    if not it.rate_per_s and it.pair_every_s is None:
        if it.max_connections is not None:
            yield ("max_connections",), "needs rate_per_s: without it the load is closed"
    elif it.max_connections is not None and it.connections and it.max_connections < max(it.connections):
        yield ("max_connections",), f"must be at least connections, of which there are {max(it.connections)}"


def _reference(key: Key, name: str, kind: str, known: Iterable[str]) -> Iterator[Fault]:
    if name not in (names := list(known)):
        yield key, f'there is no {kind} "{name}"; {suggest(name, names)}'


def names_faults(key: Key, names: list[str], kind: str, known: Iterable[str]) -> Iterator[Fault]:
    """Faults of a list of names: none at all, unknown ones, the same twice."""
    if not names:
        yield key, f"must name at least one {kind}"
    for at, name in enumerate(names):
        yield from _reference((*key, at), name, kind, known)
    yield from _twice(key, names)


def _answers(names: list[str], catalogue: Catalogue) -> Iterator[Fault]:
    yield from names_faults(("answers",), names, "workload", catalogue.workloads)


def _twice(key: Key, names: list[str]) -> Iterator[Fault]:
    for at, name in enumerate(names):
        if name in names[:at]:
            yield (*key, at), f'"{name}" is named twice'


def pins(requires: list[str], kinds: Iterable[str], key: str = "requires") -> Iterator[Fault]:
    """Faults of requirements, under ``key``, that are not exact versions as one of these kinds of runtime has them."""
    ways = [PINNED[kind] for kind in kinds]
    for at, requirement in enumerate(requires):
        if not any(re.fullmatch(pattern, requirement) for pattern, _ in ways):
            yield (key, at), f'"{requirement}" is not one exact version; write it like "{ways[0][1]}"'


def _command(key: Key, words: list[str]) -> Iterator[Fault]:
    if not words or not words[0]:
        yield key, "must begin with a program"


def _placeholders(key: Key, text: str) -> Iterator[Fault]:
    for word in placeholders(text):
        if word not in PLACEHOLDERS:
            yield key, f"{{{word}}} is no placeholder; {suggest(word, PLACEHOLDERS)}"


def _rule(key: Key, rule: int | str) -> Iterator[Fault]:
    if isinstance(rule, int):
        yield from _at_least(key, rule, 1)
        return
    try:
        for cores in RULE_CORES:
            evaluate(rule, cores)
    except ValueError as error:
        yield key, str(error)


def _pool(it: Contender) -> Iterator[Fault]:
    if it.pool is None:
        for key, text in _told(it):
            if "pool" in placeholders(text):
                yield key, "says {pool}, but the contender has no pool; give it the key pool"
    elif isinstance(it.pool, int):
        yield from _at_least(("pool",), it.pool, 1)
    else:
        try:
            for cores in RULE_CORES:
                evaluate(it.pool, cores, workers=cores)
        except ValueError as error:
            yield ("pool",), str(error)


def _told(it: Contender) -> Iterator[tuple[Key, str]]:
    """Every text that may hold placeholders, with its key."""
    yield from ((("serve", at), word) for at, word in enumerate(it.serve))
    yield from ((("environment", key), text) for key, text in it.environment.items())


def _sweep(it: Contender) -> Iterator[Fault]:
    for setting, values in it.sweep.items():
        if setting not in ("workers", "threads"):
            yield ("sweep", setting), f"cannot be varied; {suggest(setting, ('workers', 'threads'))}"
        elif not values:
            yield ("sweep", setting), "must hold at least one value"
        yield from chain.from_iterable(_rule(("sweep", setting, at), value) for at, value in enumerate(values))


def text_faults(it: object, names: Iterable[str]) -> Iterator[Fault]:
    """Faults of texts that must say something."""
    for name in names:
        if not getattr(it, name).strip():
            yield (name,), "must not be empty"


def _above(key: Key, number: float, limit: int) -> Iterator[Fault]:
    if not (math.isfinite(number) and number > limit):
        yield key, f"must be more than {limit}, but is {number}"


def _at_least(key: Key, number: float, limit: int) -> Iterator[Fault]:
    if not (math.isfinite(number) and number >= limit):
        yield key, f"must be {limit} or more, but is {number}"
