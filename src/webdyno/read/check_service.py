"""What a type cannot say about a service: each way of it must have what its kind needs, and nothing of another kind."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from webdyno.model.catalogue import Catalogue
from webdyno.model.placeholder import placeholders
from webdyno.model.service import Service, Way
from webdyno.read.check import Fault, pins
from webdyno.read.lines import Key
from webdyno.read.source import suggest

NEEDS = {"url": (), "program": ("find", "serve"), "embedded": ("server", "runtime", "requires", "serve")}
"""Keys of a way that must be there, by its kind."""
MAY = {"url": (), "program": ("warm_s", "delays"), "embedded": ("build", "warm_s", "delays")}
WORDS = {"url": (), "program": ("program", "host", "port", "folder"), "embedded": ("host", "port", "folder")}
"""Placeholders of a way's command, by its kind."""


def service_faults(it: Service, catalogue: Catalogue) -> Iterator[Fault]:
    """Faults of a service, its references looked up in ``catalogue``."""
    for name in ("title", "variable", "genuine", "install"):
        if not getattr(it, name).strip():
            yield (name,), "must not be empty"
    yield from _placeholders(("url",), it.url, ("host", "port"))
    if "port" not in placeholders(it.url):
        yield ("url",), "never says {port}, so no contender could be given its address"
    if not it.ways:
        yield ("ways",), "must hold at least one way"
    for at, way in enumerate(it.ways):
        yield from ((("ways", at, *key), problem) for key, problem in _way(way, catalogue))
    if it.most_cores is not None and it.most_cores < 1:
        yield ("most_cores",), f"must be 1 or more, but is {it.most_cores}"
    if not (math.isfinite(it.ready_s) and it.ready_s > 0):
        yield ("ready_s",), f"must be more than 0, but is {it.ready_s}"
    if not (math.isfinite(it.stop_s) and it.stop_s >= 0):
        yield ("stop_s",), f"must be 0 or more, but is {it.stop_s}"


def _way(it: Way, catalogue: Catalogue) -> Iterator[Fault]:
    needs = NEEDS[it.kind]
    for name in needs:
        if not getattr(it, name):
            yield (name,), f"is missing, and a way of kind {it.kind} needs it"
    for name in ("find", "serve", "server", "runtime", "requires", "build", "warm_s", "delays"):
        if getattr(it, name) and name not in (*needs, *MAY[it.kind]):
            yield (name,), f"means nothing to a way of kind {it.kind}; remove it"
    for at, word in enumerate(it.serve):
        yield from _placeholders(("serve", at), word, WORDS[it.kind])
    if it.serve and not any("port" in placeholders(word) for word in it.serve):
        yield ("serve",), "never says {port}, so it would not know where to listen"
    if not (math.isfinite(it.warm_s) and it.warm_s >= 0):
        yield ("warm_s",), f"must be 0 or more, but is {it.warm_s}"
    if it.runtime is not None:
        if runtime := catalogue.runtimes.get(it.runtime):
            yield from pins(it.requires, [runtime.kind])
        else:
            yield ("runtime",), f'there is no runtime "{it.runtime}"; {suggest(it.runtime, catalogue.runtimes)}'


def _placeholders(key: Key, text: str, known: Iterable[str]) -> Iterator[Fault]:
    for word in placeholders(text):
        if word not in known:
            yield key, f"{{{word}}} is no placeholder here; {suggest(word, known)}"
