"""Runs made up from a seed: single ones to provoke a doubt with, and a whole study that looks like a real one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
import numpy as np

from webdyno.histogram import pack
from webdyno.model.contender import App, Contender, Runtime
from webdyno.model.load import Load
from webdyno.model.rig import Fingerprint, Rig
from webdyno.model.run import Probe, Run
from webdyno.model.sample import Reading, Slice
from webdyno.model.trial import Plan, Skipped, Trial
from webdyno.model.workload import Expectation, Request, Workload

SECOND = 1_000_000_000
START = 5_000 * SECOND
LOAD = Load(connections=64, duration_s=2.0)
RIG = Rig(
    contender_cores=(0,),
    driver_cores=(1,),
    control_cores=(1,),
    service_cores=(),
    memory_bytes=512 << 20,
    cgroup="v2",
)
PROBE = Probe(
    http_version="1.1",
    keep_alive=True,
    announces_close=False,
    framing="content-length",
    header="HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n",
    backlog=2048,
    ready_ns=320_000_000,
)
FINGERPRINT = Fingerprint(
    hostname="bench-1",
    cpu_model="Intel(R) Xeon(R) Platinum 8488C",
    architecture="x86_64",
    cores=2,
    cores_usable=2,
    threads_per_core=1,
    governor=None,
    turbo=None,
    memory_bytes=25_000_000_000,
    swap_bytes=0,
    kernel="6.1.0-44-amd64",
    distribution="Debian GNU/Linux 12",
    mitigations={"spectre_v2": "Mitigation: Enhanced IBRS", "meltdown": "Not affected"},
    virtualisation="kvm",
    cgroup="v2",
    clocksource="kvm-clock",
    open_files_limit=1_048_576,
    port_range=(32768, 60999),
    load_before=0.12,
    webdyno="0.1.0",
    python="3.11.2",
)


def histogram(values_ns: Sequence[float] | np.ndarray, times: int = 1) -> str:
    """HdrHistogram of ``values_ns``, each so many ``times``, as the engine writes it."""
    values = np.maximum(np.asarray(values_ns, dtype=np.int64), 1)
    bucket = np.maximum(np.floor(np.log2(values)).astype(np.int64) - 10, 0)
    places, counts = np.unique((bucket << 10) + (values >> bucket), return_counts=True)
    return pack((1, 3_600_000_000_000, 3), dict(zip(places.tolist(), (counts * times).tolist(), strict=True)))


def spread(rng: np.random.Generator, mean_ns: float, sigma: float, count: int) -> np.ndarray:
    """Latencies with a long right tail."""
    body = np.exp(rng.normal(0, sigma, count))
    slow = rng.random(count) < 0.004
    body[slow] *= 3 + rng.exponential(4, int(slow.sum()))
    return body * (mean_ns / body.mean())


def contender(name: str = "go", **changes: Any) -> Contender:
    base = Contender(
        name=name,
        app="bare",
        runtime="runtime",
        server=name,
        model="event loop",
        serve=[name, "--bind", "{bind}"],
        because="S0",
        author="webdyno",
    )
    return msgspec.structs.replace(base, **changes)


def workload(name: str = "hello", **changes: Any) -> Workload:
    base = Workload(
        name=name,
        title=f"GET /{name}",
        kind="cpu",
        requests=[Request(name=name, path=f"/{name}", expect=Expectation(body="Hello, World!"))],
    )
    return msgspec.structs.replace(base, **changes)


def trial(
    contender: str = "go", workload: str = "hello", round_: int = 1, load: Load = LOAD, driver: str = "engine"
) -> Trial:
    name = f"{contender}/{workload}/{load.connections}/{load.keep_alive}/{driver}/{round_}"
    return Trial(id=name, contender=contender, workload=workload, load=load, driver=driver, round=round_)


def plan(runs: Sequence[Run], **changes: Any) -> Plan:
    """The plan of which ``runs`` are the whole."""
    names = sorted({run.trial.contender for run in runs})
    works = dict.fromkeys(run.trial.workload for run in runs)
    base = Plan(
        study="fake",
        title="A made-up study",
        question="Which is fastest?",
        seed=7,
        rounds=max((run.trial.round for run in runs), default=1),
        trials=[run.trial for run in runs],
        skipped=[],
        contenders={name: contender(name) for name in names},
        apps={"bare": App(name="bare", language="Python", interface="wsgi", framework="none", answers=list(works))},
        runtimes={
            "runtime": Runtime(
                name="runtime", kind="python", language="Python", find=["3.11"], version=["--version"], install="apt"
            )
        },
        workloads={name: workload(name) for name in works},
        memory_bytes=512 << 20,
        estimate="mean",
        seconds=3.0 * len(runs),
    )
    return msgspec.structs.replace(base, **changes)


def slices(
    rates: Sequence[float], latency_ns: np.ndarray | None = None, *, opened: int = 64, times: int = 1
) -> list[Slice]:
    """A warm-up of half a second, then one Slice per rate; ``latency_ns`` is dealt over them."""
    made: list[Slice] = []
    parts = [None] * len(rates) if latency_ns is None else np.array_split(latency_ns, len(rates))
    for index, rate in enumerate([rates[0], *rates]):
        length = SECOND // 2 if index == 0 else SECOND
        answered = round(rate * length / SECOND)
        part = parts[max(index - 1, 0)]
        made.append(
            Slice(
                phase="steady" if index else "warmup",
                index=index,
                start_ns=START + (0 if index == 0 else SECOND // 2 + (index - 1) * SECOND),
                duration_ns=length,
                offered=answered,
                ok=answered,
                errors={},
                bytes_in=answered * 150,
                connections_opened=0 if index else opened,
                closes_announced=0,
                closes_silent=0,
                stale_retries=0,
                http10_answers=0,
                in_flight=None,
                latency_hdr=None if part is None else histogram(part, times),
                cpu_user_ns=round(0.2 * length),
                cpu_system_ns=round(0.3 * length),
            )
        )
    return made


def readings(
    seconds: float, *, contender: float = 0.9, driver: float = 0.5, host: float | None = None
) -> list[Reading]:
    """Counters that grow by so many cores' worth, looked at every half second."""
    made: list[Reading] = []
    total = contender + driver if host is None else host
    for step in range(round(seconds * 2) + 4):
        at = step * SECOND // 2
        for role, cores in (("contender", contender), ("driver", driver)):
            used = round(at * cores)
            made.append(
                Reading(
                    at_ns=START - SECOND // 2 + at,
                    role=role,  # type: ignore[arg-type]
                    cpu_user_ns=used // 2,
                    cpu_system_ns=used - used // 2,
                    rss_bytes=60_000_000 + step * 100_000,
                )
            )
        made.append(Reading(at_ns=START - SECOND // 2 + at, role="host", busy_ns=round(at * total), steal_ns=0))
    return made


def run(
    name: str = "go",
    *,
    workload: str = "hello",
    round_: int = 1,
    rate: float = 10_000.0,
    load: Load = LOAD,
    driver: str = "engine",
    latency_ns: np.ndarray | None = None,
    cpu: float = 0.9,
    **changes: Any,
) -> Run:
    """A good Run; ``changes`` replace its fields."""
    length = 2
    base = Run(
        trial=trial(name, workload, round_, load, driver),
        outcome="ok",
        started_at="2026-11-20T10:00:00Z",
        seconds=length + 1.0,
        rig=RIG,
        command=[f"/cache/{name}/bin/{name}", "--bind", "127.0.0.1:18080"],
        environment={"PYTHONUNBUFFERED": "1"},
        workers=1,
        threads=1,
        versions={"runtime": "Python 3.11.2", name: "1.2.3"},
        driver_version="webdyno-engine 0.1.0",
        driver_command=["webdyno-engine"],
        probe=PROBE,
        summary={"connections_unanswered": 0},
        steady_start_ns=START + SECOND // 2,
        steady_end_ns=START + SECOND // 2 + length * SECOND,
        memory_peak_bytes=61_000_000,
        slices=slices([rate] * length, latency_ns, opened=load.connections),
        readings=readings(length + 1, contender=cpu),
    )
    return msgspec.structs.replace(base, **changes)


def change_slices(of: Run, **changes: Any) -> Run:
    """``of`` with every steady Slice changed."""
    made = [msgspec.structs.replace(s, **changes) if s.phase == "steady" else s for s in of.slices]
    return msgspec.structs.replace(of, slices=made)


def robbed(of: Run, cores: float) -> Run:
    """``of`` where the hypervisor took so many cores' worth of the machine."""
    looks = [
        msgspec.structs.replace(each, steal_ns=round(each.at_ns * cores)) if each.role == "host" else each
        for each in of.readings
    ]
    return msgspec.structs.replace(of, readings=looks)


@dataclass(frozen=True)
class Rated:
    """What a contender of the made-up study is like."""

    name: str
    rate: float
    memory_mb: float
    language: str
    model: str
    workers: int = 1
    threads: int = 1
    sigma: float = 0.35
    noise: float = 0.012
    closes: bool = False
    http10: bool = False


FIELD = (
    Rated("go-nethttp", 48_200, 28, "Go", "goroutines"),
    Rated("node-http", 36_400, 71, "JavaScript", "event loop"),
    Rated("granian-wsgi", 24_700, 61, "Python", "Rust + threads", threads=2),
    Rated("granian-asgi", 24_500, 63, "Python", "Rust + event loop"),
    Rated("uvicorn", 15_900, 48, "Python", "event loop", sigma=0.5),
    Rated("gunicorn-gevent", 9_910, 66, "Python", "greenlets", sigma=0.6),
    Rated("gunicorn-gthread", 9_650, 58, "Python", "threads", threads=8, sigma=0.7),
    Rated("aiohttp", 9_640, 52, "Python", "event loop", noise=0.03),
    Rated("tornado", 7_880, 44, "Python", "event loop"),
    Rated("gunicorn-sync", 6_060, 49, "Python", "processes", workers=3, closes=True),
    Rated("cherrypy", 5_150, 40, "Python", "threads", threads=10),
    Rated("waitress", 5_090, 37, "Python", "threads", threads=4, sigma=0.9),
    Rated("twisted", 4_480, 46, "Python", "event loop"),
    Rated("wsgiref", 2_960, 24, "Python", "one at a time", closes=True, http10=True),
)
"""Fourteen contenders, some near each other, as the quickstart has them."""


@cache
@cache
def study(seed: int = 7, rounds: int = 3, seconds: int = 3) -> tuple[Plan, Fingerprint, list[Run]]:
    """A whole study: 14 contenders on 2 workloads, one that fails now and then, one that never starts, two skipped.

    It is the same object each time, to be looked at only.
    """
    rng = np.random.default_rng(seed)
    works = [
        workload("hello", title="GET / answers 13 bytes of text"),
        workload("json", title="GET /json answers 1.2 kB of JSON"),
    ]
    runs: list[Run] = []
    drift = {(work.name, r): rng.normal(0, 0.02) for work in works for r in range(1, rounds + 1)}
    for round_ in range(1, rounds + 1):
        for work in works:
            for at in rng.permutation(len(FIELD)):
                rated = FIELD[at]
                level = rated.rate * (0.72 if work.name == "json" else 1.0) * math.exp(drift[work.name, round_])
                runs.append(_study_run(rng, rated, work.name, round_, level, seconds))
            runs.append(_broken(work.name, round_))
    made = plan(
        runs,
        study="quickstart",
        title="Quickstart",
        question="Which Python web server is fastest on this machine, and how do Node and Go compare?",
        workloads={work.name: work for work in works},
        apps={
            name: App(name=name, language=name, interface="native", framework="none", answers=["hello", "json"])
            for name in ("Go", "JavaScript", "Python", "bare")
        },
        skipped=[
            Skipped(contender="actix", reason="needs cargo, which is not installed; get it from https://rustup.rs"),
            Skipped(contender="play-pekko", reason="needs java 17 or newer; install openjdk-17-jre-headless"),
        ],
        contenders={
            r.name: contender(r.name, app=r.language, model=r.model, workers=r.workers, threads=r.threads)
            for r in FIELD
        }
        | {"meinheld": contender("meinheld", model="greenlets", requires=["meinheld==1.0.2"])},
    )
    return made, FINGERPRINT, runs


def _broken(work: str, round_: int) -> Run:
    return run(
        "meinheld",
        workload=work,
        round_=round_,
        outcome="build-failed",
        message="uv pip install ended with status 1: failed to build meinheld==1.0.2",
        log_tail="meinheld/server/server.c:1203:5: error: too few arguments to function '_PyGen_Send'\n"
        "  1203 |     ret = _PyGen_Send(gen, Py_None);\nerror: command '/usr/bin/gcc' failed with exit code 1\n",
        slices=[],
        readings=[],
        versions={},
        command=[],
        probe=None,
        memory_peak_bytes=None,
    )


def _study_run(rng: np.random.Generator, rated: Rated, work: str, round_: int, level: float, seconds: int) -> Run:
    if rated.name == "cherrypy" and work == "json" and round_ == 2:
        return run(
            rated.name,
            workload=work,
            round_=round_,
            outcome="died",
            message="ended with status -11 (SIGSEGV) 1.2 s into the load",
            log_tail="Fatal Python error: Segmentation fault\n\nThread 0x00007f12 (most recent call first):\n"
            '  File "cheroot/server.py", line 1312 in communicate\n',
        )
    mine = level * math.exp(rng.normal(0, rated.noise))
    wobble = np.zeros(seconds)
    for second in range(seconds):
        wobble[second] = 0.5 * wobble[second - 1] * (second > 0) + rng.normal(0, 0.02)
    rates = [float(mine * math.exp(w)) for w in wobble]
    latency = spread(rng, 0.97 * 64 / mine * SECOND, rated.sigma, round(mine / 8) * seconds)
    made = run(rated.name, workload=work, round_=round_, rate=mine, workers=rated.workers, threads=rated.threads)
    parts = slices(rates, latency, times=8)
    parts = [_with_habits(rng, part, rated) for part in parts]
    cpu = min(0.99, 0.93 + rng.normal(0, 0.02))
    changes: dict[str, Any] = {
        "slices": parts,
        "readings": readings(seconds + 1, contender=cpu, driver=_busy(mine)),
        "steady_end_ns": START + SECOND // 2 + seconds * SECOND,
        "memory_peak_bytes": round(rated.memory_mb * 1e6 * math.exp(rng.normal(0, 0.02))),
    }
    if rated.http10:
        changes["probe"] = msgspec.structs.replace(PROBE, http_version="1.0", keep_alive=False, backlog=5)
    return msgspec.structs.replace(made, **changes)


def _busy(rate: float) -> float:
    """Cores' worth the load generator needs for a rate."""
    return 0.1 + 0.6 * rate / 50_000


def _with_habits(rng: np.random.Generator, part: Slice, rated: Rated) -> Slice:
    busy = _busy(part.ok / (part.duration_ns / SECOND))
    changes: dict[str, Any] = {
        "cpu_user_ns": round(busy * part.duration_ns / 3),
        "cpu_system_ns": round(busy * part.duration_ns * 2 / 3),
    }
    if rated.closes:
        changes |= {"connections_opened": part.ok, "closes_announced": part.ok}
    if rated.http10:
        changes["http10_answers"] = part.ok
    if rated.name == "waitress" and part.phase == "steady":
        wrong = int(rng.integers(3, 20))
        changes |= {"ok": part.ok - wrong, "errors": {"reset": wrong}}
    return msgspec.structs.replace(part, **changes)
