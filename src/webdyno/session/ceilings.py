"""Calibration: the most this machine's engine reaches, against a server that answers at once on the contenders' cores.

It is kept in the cache with the machine it was measured on, and goes into every Fingerprint of the same machine, so
that a rate near it can be doubted years later from the results alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from webdyno.load.driver import Order
from webdyno.load.engine import program
from webdyno.model.errors import MachineError
from webdyno.model.load import Load
from webdyno.model.rig import Ceiling, Fingerprint
from webdyno.model.workload import Expectation, Request
from webdyno.rig.fingerprint import read_fingerprint
from webdyno.rig.host import PIPE, Command
from webdyno.rig.strap import Strapped
from webdyno.session.engine import carry_out

PROGRAM = "webdyno-instant"
CONNECTIONS = (16, 64, 256)
ROUNDS = 5
_STEADY_S, _WARMUP_S = 0.4, 0.1
_LIFE_S = 120
_SAME = ("hostname", "cpu_model", "cores_usable", "kernel", "webdyno")
"""What must be alike for a ceiling to hold."""


class _Kept(msgspec.Struct, frozen=True):
    fingerprint: Fingerprint
    ceilings: list[Ceiling]


def calibrate(strapped: Strapped) -> list[Ceiling]:
    """A ceiling for each number of connections, in rounds, so that a drift falls on all alike.

    MachineError, and KeyboardInterrupt once ``strapped.interrupted`` is set.
    """
    from webdyno.analyse.estimate import fit
    from webdyno.analyse.generator import cpu_share

    rates: dict[tuple[str, int], float] = {}
    busy: dict[str, list[float]] = {str(connections): [] for connections in CONNECTIONS}
    cores = strapped.rig.driver_cores
    with _instant(strapped) as port:
        for round_ in range(1, ROUNDS + 1):
            for connections in CONNECTIONS:
                if strapped.interrupted.is_set():
                    raise KeyboardInterrupt
                loaded = carry_out(_order(port, connections, cores), lambda _: None, host=strapped)
                rates[str(connections), round_] = loaded.per_s
                busy[str(connections)].append(cpu_share(loaded.summary) or 0.0)
    fitted = fit(rates)
    if fitted is None:
        raise MachineError(f"{PROGRAM} answered nothing: run make setup again")
    return [
        Ceiling(
            connections=connections,
            threads=_order(0, connections, cores).most_threads,
            rate=fitted.estimate(str(connections), "per_s"),
            engine_busy=sum(busy[str(connections)]) / ROUNDS,
        )
        for connections in CONNECTIONS
    ]


def keep(cache: Path, fingerprint: Fingerprint, ceilings: list[Ceiling]) -> Path:
    """Write them into the cache folder; the file."""
    path = _file(cache)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(_Kept(fingerprint, ceilings))) + b"\n")
    return path


def known_ceilings(cache: Path, fingerprint: Fingerprint) -> list[Ceiling]:
    """Those kept for a machine like this one; none when it was never calibrated, or has changed since."""
    try:
        kept = msgspec.json.decode(_file(cache).read_bytes(), type=_Kept)
    except (
        OSError,
        msgspec.DecodeError,
        UnicodeDecodeError,
        RecursionError,
    ):  # an older webdyno's file is as good as none
        return []
    alike = all(getattr(kept.fingerprint, name) == getattr(fingerprint, name) for name in _SAME)
    return kept.ceilings if alike else []


def with_ceilings(fingerprint: Fingerprint, cache: Path) -> Fingerprint:
    """The fingerprint, with what calibration found on this machine; another one's engine has other ceilings."""
    if fingerprint.driver is not None:
        return fingerprint
    return msgspec.structs.replace(fingerprint, ceilings=known_ceilings(cache, fingerprint))


def known_ceiling(cache: Path, order: Order) -> float | None:
    """The ceiling for a load like this one, in requests per second; None when none is known."""
    if order.way.tls is not None or max(order.load.pipeline, order.load.streams, order.load.drivers) > 1:
        return None
    if not _file(cache).exists():
        return None
    from webdyno.analyse.doubts.driver import ceiling_at

    found = ceiling_at(known_ceilings(cache, read_fingerprint()), order.load.connections, order.most_threads)
    return None if found is None else found.rate.value


def _file(cache: Path) -> Path:
    return cache / "calibration.json"


def _order(port: int, connections: int, cores: tuple[int, ...]) -> Order:
    return Order(
        host="127.0.0.1",
        port=port,
        requests=[Request(name="instant", path="/", expect=Expectation(body_length=15))],
        load=Load(connections=connections, duration_s=_STEADY_S, warmup_s=_WARMUP_S),
        cores=cores,
    )


@contextmanager
def _instant(strapped: Strapped) -> Iterator[int]:
    """The server on the contenders' cores, a thread on each; its port."""
    group = strapped.start(
        Command(
            argv=[program(PROGRAM), "--seconds", str(_LIFE_S), "--threads", str(len(strapped.rig.contender_cores))],
            cwd=Path.cwd(),
            environment={"LC_ALL": "C"},
            role="contender",
            stdout=PIPE,
        )
    )
    try:
        said = group.stdout.readline().decode("utf-8", "replace").strip() if group.stdout else ""
        if not said.isdecimal():
            raise MachineError(f"{PROGRAM} did not print its port but {said!r}: run make setup again")
        yield int(said)
    finally:
        group.end(grace_s=0.0)
