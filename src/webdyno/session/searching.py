"""Searches for a capacity: of a contender that is started here, or of a server that runs already; begun, or gone on
with where they were stopped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from webdyno.analyse.objectives import LATENCIES, Objective
from webdyno.design.rate_search import search_of
from webdyno.load.driver import Tls
from webdyno.model.again import Again
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import ContenderError, UsageError
from webdyno.model.place import Cluster
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.model.workload import Request
from webdyno.serve.ask import NoAnswer, Refused
from webdyno.session import odd_answers
from webdyno.session.by_url import Far, url_at_work_again
from webdyno.session.interrupts import listening_for_interrupts
from webdyno.session.lines import RateLines
from webdyno.session.listeners import Beside
from webdyno.session.loop import Loop, at_work
from webdyno.session.ready import build
from webdyno.session.resuming import agreed, is_by_url, on_its_machine, recall, there_again, with_definitions_of
from webdyno.session.target import Target, one_server
from webdyno.session.trust import Agree, refuse
from webdyno.session.waiting import waiting
from webdyno.store import Store


def is_open(plan: Plan, runs: Sequence[Run], wanted: Sequence[Objective]) -> bool:
    """Whether a search has a rate left to ask for."""
    return plan.sought is not None and bool(search_of(plan, plan.sought, wanted)(runs))


@contextmanager
def at_work_again(
    store: Store,
    known: Catalogue,
    again: Again,
    wanted: Sequence[Objective],
    *,
    wait: bool = False,
    agree: Agree = refuse,
    far: Cluster | None = None,
) -> Iterator[Loop]:
    """The loop over what the search of a results folder is of. Any WebdynoError."""
    agreed(store, known, agree)
    recall(store, known, again)
    plan = store.plan()
    if is_by_url(plan):
        server = far_of(plan, wanted)
        with listening_for_interrupts() as interrupted:
            turn = waiting(wait, interrupted)
            with url_at_work_again(store, server, interrupted, [RateLines(wanted)], turn) as loop:
                yield loop
        return
    known = with_definitions_of(plan, known)
    with on_its_machine(store, wait=wait, far=far) as (strapped, drivers):
        plan = store.plan()  # as it is by now: another webdyno may have gone on with it meanwhile
        ready = build(known, plan, there_again(known, plan, store.folder, strapped), drivers, strapped)
        with (
            Beside(store.folder, None, store.done()) as beside,
            at_work(ready, strapped, store, [beside, RateLines(wanted)]) as loop,
        ):
            yield loop


def far_of(plan: Plan, wanted: Sequence[Objective]) -> Far:
    """How the server of a plan by URL is reached, asked once before. UsageError, ContenderError."""
    workload = plan.workloads["url"]
    verify = plan.sought is None or plan.sought.verify
    (target,) = one_server((workload.title,))
    return Far(
        target=target,
        requests=workload.requests,
        verify=verify,
        idle_ns=min((each.bound for each in wanted if each.what in LATENCIES), default=float("inf")),
        notes=_first_answers(target, workload.requests, Tls(verify=verify) if target.tls else None),
    )


def _first_answers(target: Target, requests: list[Request], tls: Tls | None) -> list[str]:
    """What is to be read beside the figures. UsageError for a first answer that is hardly meant, ContenderError where
    nobody listens; one that does not come is the search's to tell."""
    try:
        found = odd_answers.judged(target.host, target.port, requests, tls)
    except Refused:
        raise ContenderError(
            f"{target.url}: the connection was refused: nothing listens there; start the server first"
        ) from None
    except NoAnswer:
        return []
    for status, sentence in found:
        if status >= 300:
            raise UsageError(sentence)
    return [sentence for _, sentence in found]
