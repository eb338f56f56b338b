"""Bodies: nouns as JSON in a results file, and what of them is believed when they are read back.

A noun of the right types is not yet one: a Trial may be of a contender that its plan does not have, a duration be
negative, a summary be as deep as the stack, a second have a histogram of senseless settings. All that judges and
reports takes what it is given for what was measured, so what cannot have been is found here, once.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import chain
from operator import attrgetter
from typing import Any, TypeVar

import msgspec

from webdyno.depth import DEEPEST, is_deep
from webdyno.histogram import checked
from webdyno.model.errors import UsageError
from webdyno.model.rig import Fingerprint, Rig
from webdyno.model.run import Run
from webdyno.model.sample import Reading, Route, Slice
from webdyno.model.trial import Plan, Trial

T = TypeVar("T")

_LARGEST_BYTES: dict[type, int] = {Plan: 64 << 20, Slice: 16 << 20}
_LARGEST_OTHER_BYTES = 1 << 20
"""Small JSON can be thirty times as large in memory; a Slice holds histograms, which cannot."""
_LARGEST_NUMBER = 1 << 64
_PLAIN, _NUMBERS = frozenset({str, bool, type(None)}), frozenset({int, float})
_DECODERS: dict[type, msgspec.json.Decoder[Any]] = {
    kind: msgspec.json.Decoder(kind) for kind in (Plan, Fingerprint, Run, Slice, Reading)
}
"""Made once: ten thousands of bodies are of one kind."""
_HISTOGRAMS = {
    kind: attrgetter(*[name for name in kind.__struct_fields__ if name.endswith("_hdr")]) for kind in (Slice, Route)
}
_ROUTES = attrgetter("routes")
_YEARS = range(1970, 9000)
_NOWHERE = Rig(
    contender_cores=(), driver_cores=(), control_cores=(), service_cores=(), memory_bytes=None, cgroup="none"
)


class UnbelievableError(ValueError):
    """A body is not what it says it is; its text is half a sentence."""


class _Thread(msgspec.Struct, frozen=True):
    cpu_share: float | None = None


class _Started(msgspec.Struct, frozen=True):
    wait: str = ""


class _Points(msgspec.Struct, frozen=True, rename={"p99_9": "p99.9"}):
    mean: float | None = None
    p50: float | None = None
    p75: float | None = None
    p90: float | None = None
    p99: float | None = None
    p99_9: float | None = None
    max: float | None = None


class _Summary(msgspec.Struct, frozen=True):
    """What is read of a driver's last word, which is kept as it gave it."""

    offered: int | None = None
    ok: int = 0
    duration_ns: int = 0
    errors: dict[str, int] = {}
    latency_ns: _Points | None = None
    response_ns: _Points | None = None
    threads: list[_Thread] = []
    started: _Started | int = _Started()
    """Of h2load it is how many requests it began."""


def read(body: object, kind: type[T]) -> T:
    """The noun that stands in a body, which should be bytes; UnbelievableError when it is none."""
    if not isinstance(body, bytes):
        raise UnbelievableError("there is no text")
    if len(body) > _LARGEST_BYTES.get(kind, _LARGEST_OTHER_BYTES):
        raise UnbelievableError(f"it is of {len(body):,} bytes")
    if is_deep(body):
        raise UnbelievableError("it is too deep")
    try:
        noun: T = _DECODERS[kind].decode(body)
        if kind not in (Slice, Reading):  # whose numbers are of a kind that is
            _refuse_numbers(msgspec.structs.replace(noun, seed=0) if isinstance(noun, Plan) else noun)
    except (msgspec.MsgspecError, ValueError, OverflowError) as error:
        raise UnbelievableError(str(error)) from None
    except RecursionError:
        raise UnbelievableError("it is too deep") from None
    return noun


def _refuse_numbers(value: Any) -> None:
    """Also what is nested deeper than anything of ours: what goes on from here goes down it once more. Of a Plan any
    seed is one."""
    level = [value]
    for _ in range(DEEPEST):
        items = [item for each in level for item in _within(each) if type(item) not in _PLAIN]
        numbers = [each for each in items if type(each) in _NUMBERS]
        if numbers and not -_LARGEST_NUMBER <= min(numbers) <= max(numbers) <= _LARGEST_NUMBER:
            raise UnbelievableError(f"a number is too {'low' if min(numbers) < -_LARGEST_NUMBER else 'high'}")
        level = [each for each in items if type(each) not in _NUMBERS and each]
        if not level:
            return
    raise UnbelievableError("it is too deep")


def _within(value: Any) -> Iterable[Any]:
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.astuple(value)
    return value.values() if type(value) is dict else value


@contextmanager
def uncollected() -> Iterator[None]:
    """Millions of objects are made, and none is garbage; Python's collector would look at all, again and again."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def believe_plan(plan: Plan) -> None:
    """UnbelievableError where its parts do not belong together."""
    for what in ("contenders", "apps", "runtimes", "workloads", "services"):
        for name, noun in getattr(plan, what).items():
            if noun.name != name:
                raise UnbelievableError(f"of its {what}, {name!r} calls itself {noun.name!r}")
    for contender in plan.contenders.values():
        if contender.app not in plan.apps or contender.runtime not in plan.runtimes:
            raise UnbelievableError(f"it lacks the app or the runtime of {contender.name}")
    for trial in plan.trials:
        if trial.contender not in plan.contenders or trial.workload not in plan.workloads:
            raise UnbelievableError(f"it lacks the contender or the workload of trial {trial.id}")
        if trial.id.startswith("/") or ".." in trial.id or "\0" in trial.id:  # logs are named after it
            raise UnbelievableError(f"a trial cannot be called {trial.id!r}")


def believe_run(run: Run, planned: Trial | None) -> None:
    """UnbelievableError where a Run says what none can; ``planned``: its Trial, if any."""
    if planned is not None and run.trial != planned:
        raise UnbelievableError("it is not of the trial that the plan has")
    if not _is_time(run.started_at):
        raise UnbelievableError(f"it began at {run.started_at!r}")
    try:
        msgspec.convert(run.summary, type=_Summary)
    except msgspec.ValidationError as error:
        raise UnbelievableError(f"its summary: {error}") from None
    found = set()
    for text in _histograms(run):
        try:
            found.add(checked(text))
        except UsageError:
            raise UnbelievableError(f"its histogram {text[:24]!r}... is damaged") from None
    if len(found) > 1:
        raise UnbelievableError("its histograms have different settings")


def unreadable(trial: Trial, began: object, why: str) -> Run:
    """What stands for a Run that cannot be read; ``began`` is what its row says."""
    began = began if isinstance(began, str) and _is_time(began) else ""
    return Run(trial=trial, outcome="unreadable", started_at=began, seconds=0.0, rig=_NOWHERE, message=why)


def _is_time(text: str) -> bool:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return False
    return time.tzinfo is not None and time.year in _YEARS


def _histograms(run: Run) -> set[str]:
    """At a closed pace three of a Slice are the same."""
    routes = chain.from_iterable(map(_ROUTES, run.slices))
    texts = chain(map(_HISTOGRAMS[Slice], run.slices), map(_HISTOGRAMS[Route], routes))
    found: set[str | None] = set(chain.from_iterable(texts))
    found.discard(None)
    return found  # type: ignore[return-value]


def as_json(noun: msgspec.Struct) -> str:
    """As JSON; bytes that were no UTF-8 where they came from (a log, an environment) must not cost the whole Run."""
    try:
        return msgspec.json.encode(noun).decode()
    except UnicodeEncodeError:
        return msgspec.json.encode(_readable(msgspec.to_builtins(noun))).decode()


def _readable(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case dict():
            return {_readable(key): _readable(item) for key, item in value.items()}
        case list() | tuple():
            return [_readable(item) for item in value]
    return value
