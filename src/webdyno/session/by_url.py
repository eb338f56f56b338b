"""Trials of a server that runs already and is not ours: asked by its URL, written down like any other Run."""

from __future__ import annotations

import datetime
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from webdyno.conduct.together import GONE
from webdyno.design import Block
from webdyno.load.driver import DRIVERS, Event, Order, Tls, Way
from webdyno.model.contender import App, Contender, Runtime
from webdyno.model.errors import ContenderError, WebdynoError
from webdyno.model.load import Load
from webdyno.model.rig import Fingerprint, Rig
from webdyno.model.run import Outcome, Run
from webdyno.model.trial import Plan, Trial, trial_of
from webdyno.model.workload import Request, Workload
from webdyno.rig.ask import asker
from webdyno.rig.cores import usable_cores
from webdyno.rig.fingerprint import read_fingerprint
from webdyno.rig.here import Here
from webdyno.rig.lock import Waiting, machine_lock
from webdyno.rig.quieted import put_back_left
from webdyno.session.ceilings import with_ceilings
from webdyno.session.engine import Loaded, carry_out
from webdyno.session.folders import cache_folder, new_folder
from webdyno.session.listeners import Beside, Kept, Listener, Listeners
from webdyno.session.loop import Loop
from webdyno.session.resuming import note_machine, refuse_another_machine
from webdyno.session.saying import note
from webdyno.session.target import Target
from webdyno.session.trust import remember_plan
from webdyno.store import Store

DRIVER = "engine"
_SETTLE_S = 10.0
"""How long a server may take to work off what a trial left in its queue."""
_SETTLE_REQUESTS = 10


def url_plan(study: str, target: Target, requests: list[Request], title: str, question: str, seed: int = 1) -> Plan:
    """A plan about one URL: its contender is the server behind it, of which nothing is known."""
    name = re.sub(r"[^a-z0-9.-]+", "-", f"{target.host}-{target.port}".lower()).strip("-.") or "url"
    unknown = "unknown: asked by its URL"
    contender = Contender(
        name=name, app="url", runtime="url", server=unknown, model=unknown, serve=[], because="given", author="user"
    )
    return Plan(
        study=study,
        title=title,
        question=question,
        seed=seed,
        rounds=1,
        trials=[],
        skipped=[],
        contenders={name: contender},
        apps={"url": App(name="url", language=unknown, interface=unknown, framework=unknown, answers=["url"])},
        runtimes={
            "url": Runtime(name="url", kind="native", language=unknown, find=[], version=[], install="it runs already")
        },
        workloads={"url": Workload(name="url", title=target.url, kind="cpu", requests=requests)},
        memory_bytes=None,
        estimate="mean",
        seconds=0.0,
    )


@dataclass(frozen=True, kw_only=True)
class Far:
    """How the server is reached, and when it counts as idle again."""

    target: Target
    requests: list[Request]
    verify: bool
    idle_ns: float
    """Median latency below which one client finds it idle; infinite: any answer will do."""
    notes: Sequence[str] = ()
    """What there is to say of its first answers."""

    def order(self, load: Load) -> Order:
        """``load`` on this server, from every core there is."""
        tls = Tls(verify=self.verify) if self.target.tls else None
        return Order(
            host=self.target.host,
            port=self.target.port,
            requests=self.requests,
            load=load,
            cores=tuple(usable_cores()),
            way=Way(tls=tls),
        )


@contextmanager
def url_at_work(
    plan: Plan,
    far: Far,
    folder: Path,
    interrupted: threading.Event,
    listeners: Sequence[Listener] = (),
    waiting: Waiting | None = None,
) -> Iterator[Loop]:
    """The loop over a server that runs already, into a new results folder. MachineError."""
    with machine_lock(waiting):
        note(put_back_left())
        fingerprint = with_ceilings(read_fingerprint(), cache_folder())
        remember_plan(plan, folder)
        with Store.create(folder, plan, fingerprint) as store, Beside(folder, None, set()) as beside:
            yield _loop(store, far, interrupted, Listeners([Kept(store.refuse_moved), beside, *listeners]))


@contextmanager
def url_at_work_again(
    store: Store,
    far: Far,
    interrupted: threading.Event,
    listeners: Sequence[Listener] = (),
    waiting: Waiting | None = None,
) -> Iterator[Loop]:
    """As ``url_at_work``, into the folder of ``store``. UsageError on another machine."""
    with machine_lock(waiting), Beside(store.folder, None, store.done()) as beside:
        note(put_back_left())
        here = read_fingerprint()
        refuse_another_machine(store.plan(), store.folder, store.fingerprint(), here)
        note_machine(store, here)
        yield _loop(store, far, interrupted, Listeners([Kept(store.refuse_moved), beside, *listeners]))


def _loop(store: Store, far: Far, interrupted: threading.Event, told: Listeners) -> Loop:
    version = DRIVERS[DRIVER]().version(asker(Here()))

    def conduct(block: Block) -> list[Run]:
        return [_run(trial, far, version, interrupted, told.event) for trial in block]

    return Loop(store.plan(), store, conduct, told, interrupted)


def _run(trial: Trial, far: Far, version: str, interrupted: threading.Event, watch: Callable[[Event], None]) -> Run:
    started_at = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
    clock = time.monotonic()
    if trial.round > 1:
        _settle(far, interrupted)
    loaded: Loaded | None = None
    message = ""
    try:
        loaded = carry_out(far.order(trial.load), _ended_by(interrupted, watch))
    except _Stopped:
        pass  # what that means is told below
    except WebdynoError as error:
        message = str(error)
    run = _as_run(trial, loaded or Loaded(far.order(trial.load)), version, far.notes, far.target.url, started_at)
    if message:
        run = msgspec.structs.replace(run, outcome="driver-failed", message=message)
    if interrupted.is_set():
        run = msgspec.structs.replace(run, outcome="interrupted", message="stopped by the user")
    return msgspec.structs.replace(run, seconds=time.monotonic() - clock)


def _as_run(trial: Trial, loaded: Loaded, version: str, notes: Sequence[str], url: str, started_at: str) -> Run:
    """What the engine said of a server that we did not start, as a Run like any other; its length is yet unknown."""
    outcome: Outcome = "ok"
    message = ""
    if loaded.summary.get("ended") == "unreachable":
        outcome, message = "never-ready", f"{url} cannot be reached"
    elif loaded.summary.get("ended") == "interrupted":
        outcome, message = "interrupted", "stopped by the user"
    elif loaded.summary.get("ended") == "abandoned":
        outcome, message = "interrupted", GONE
    elif not loaded.ok:
        outcome, message = "no-success", "no request was answered correctly during the steady phase"
    return Run(
        trial=trial,
        outcome=outcome,
        message=message,
        started_at=started_at,
        seconds=0.0,
        rig=_unknown_rig(loaded.order.cores, loaded.hosts),
        driver_version=version,
        driver_can=DRIVERS[DRIVER]().can,
        summary=loaded.summary,
        slices=loaded.slices,
        notes=list(notes),
    )


def keep_load(results: Path, target: Target, fingerprint: Fingerprint, loaded: Loaded, notes: Sequence[str]) -> Path:
    """Write a load that is over into a new results folder; that folder. ``fingerprint`` is from before it."""
    seconds = (datetime.datetime.now(datetime.UTC) - loaded.started_at).total_seconds()
    load, requests = loaded.order.load, loaded.order.requests
    plan = url_plan("load", target, requests, f"Load of {target.url}", "How does it answer under this load?")
    (contender,) = plan.contenders
    trial = trial_of(plan, contender, load, 1)
    version = DRIVERS[DRIVER]().version(asker(Here()))
    started_at = loaded.started_at.isoformat(timespec="milliseconds")
    run = _as_run(trial, loaded, version, notes, target.url, started_at)
    folder = new_folder(results, "load")
    with Store.create(folder, plan, with_ceilings(fingerprint, cache_folder())) as store:
        store.grow([trial])
        store.append(msgspec.structs.replace(run, seconds=seconds))
    return folder


def _unknown_rig(driver_cores: tuple[int, ...], hosts: Sequence[str]) -> Rig:
    """Of a server that we did not place: it may share its cores with the driver. ``hosts``: as of ``Loaded``."""
    return Rig(
        contender_cores=(),
        driver_cores=driver_cores,
        driver_host=", ".join(hosts),
        control_cores=tuple(usable_cores()),
        service_cores=(),
        memory_bytes=None,
        cgroup="none",
        cgroup_reason="the server was not started by webdyno",
    )


class _Stopped(Exception):  # noqa: N818  (the user's wish, not an error)
    """The user asked for the end of a trial."""


def _ended_by(interrupted: threading.Event, watch: Callable[[Event], None]) -> Callable[[Event], None]:
    """``watch``, and an end to the load at the next event after ``interrupted`` was set."""

    def look(event: Event) -> None:
        watch(event)
        if interrupted.is_set():
            raise _Stopped

    return look


def _settle(far: Far, interrupted: threading.Event) -> None:
    """Wait until one client finds the server as quick as the objective: queues carry over from trial to trial.

    ContenderError when that takes longer than ten seconds.
    """
    deadline = time.monotonic() + _SETTLE_S
    load = Load(connections=1, count=_SETTLE_REQUESTS, warmup_s=0.0, timeout_s=2.0)
    while not interrupted.is_set():
        try:
            loaded = carry_out(far.order(load), _ended_by(interrupted, lambda _: None))
        except _Stopped:
            return
        points = loaded.summary.get("latency_ns")
        if loaded.ok and points and points["p50"] < far.idle_ns:
            return
        if time.monotonic() > deadline:
            raise ContenderError(
                f"{far.target.url} has not recovered {_SETTLE_S:.0f} s after a trial: a single client is not "
                "answered within the objective; earlier findings are kept"
            )
