"""Together: several engines that say what a script says, and what becomes of the Trial."""

from __future__ import annotations

import io
import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.analyse import fakes
from tests.conduct.test_trial import BUILT, STEADY, Bed
from webdyno.conduct import conduct
from webdyno.conduct.together import GONE, Post, together
from webdyno.load.driver import Event, Fault, Order, Summary
from webdyno.model.errors import MachineError
from webdyno.model.load import Load
from webdyno.model.share import Offset
from webdyno.model.workload import Request
from webdyno.rig.daemons import Daemons

LOAD = Load(connections=4, count=8, drivers=2)
FAR_NS = 10**15


class Scripted:
    """A group whose input is kept and whose output is known before, or said when it is asked to end."""

    lost = ""

    def __init__(self, said: bytes, *, waits: bool = False) -> None:
        self.stdin, self.ended, self._said = io.BytesIO(), False, said
        reading, self._writing = os.pipe()
        self.stdout = os.fdopen(reading, "rb")
        if not waits:
            self.terminate()

    def terminate(self) -> None:
        """It says all it has to say."""
        if self._writing >= 0:
            os.write(self._writing, self._said)
            os.close(self._writing)
            self._writing = -1

    def end(self, grace_s: float) -> list[str]:
        self.terminate()
        self.stdout.close()
        self.ended = True
        return []


class Far:
    """A Host of two engines, whose clock is far from ours."""

    def __init__(self, *engines: Callable[[], Scripted], clock: bytes = b"%d\n" % FAR_NS) -> None:
        self._engines, self._clock = iter(engines), clock
        self.groups: list[Scripted] = []

    def start(self, command: Any) -> Scripted:
        group = Scripted(self._clock * 40) if command.argv[1:] == ["--clock"] else next(self._engines)()
        self.groups.append(group)
        return group


def lines(*events: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def engine(ok: int, ended: str = "count", **changes: Any) -> bytes:
    golden = json.loads((Path(__file__).parent.parent / "golden/engine/by-hand.ok.txt").read_text().splitlines()[-1])
    zeros = dict.fromkeys(golden["errors"], 0)
    told = golden | {"ended": ended, "offered": ok, "ok": ok, "errors": zeros, "start_late_ns": 7} | changes
    return lines({"event": "started", "schema": 5}, told)


def events_of(host: Far, stop: Callable[[], bool] = lambda: False) -> list[Event]:
    order = Order(host="h", port=1, requests=[Request(name="r", path="/")], load=LOAD, cores=())
    far: Any = host
    posts = [Post(name=f"driver {n}", host=far, cwd=Path(), stderr=Path(os.devnull)) for n in (1, 2)]
    return list(together(order, posts, stop))


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("webdyno.conduct.together", "webdyno.load.several"):
        monkeypatch.setattr(f"{module}.program", lambda: "engine")


def test_each_is_told_its_part_and_one_instant_by_its_own_clock_and_all_is_ended() -> None:
    host = Far(lambda: Scripted(engine(5)), lambda: Scripted(engine(3)))
    *_, last = events_of(host)
    assert isinstance(last, Summary)
    assert (last.fields["ok"], [share["ok"] for share in last.fields["drivers"]]) == (8, [5, 3])
    offset = msgspec.convert(last.fields["drivers"][0]["before"], Offset)
    assert abs(offset.ns - FAR_NS) < 10**15 / 2
    orders = [json.loads(group.stdin.getvalue().splitlines()[0] or b"null") for group in host.groups[1::2]]
    assert [order["part"] for order in orders] == [{"index": 0, "of": 2}, {"index": 1, "of": 2}]
    starts = [order["start_at_ns"] for order in orders]
    assert all(FAR_NS < start < FAR_NS + 10**10 for start in starts)
    assert all(group.ended for group in host.groups)


def test_one_that_fails_is_named_and_the_others_are_ended() -> None:
    fault = lines({"event": "fault", "exit": 3, "key": "", "message": "too few files"})
    host = Far(lambda: Scripted(engine(5), waits=True), lambda: Scripted(fault))
    assert events_of(host)[-1] == Fault("driver 2 of 2: too few files", 3)
    assert all(group.ended for group in host.groups)


def test_who_must_stop_asks_all_to_end_and_keeps_what_they_said() -> None:
    stopped = threading.Event()
    stopped.set()
    host = Far(*[lambda: Scripted(engine(5, "interrupted"), waits=True)] * 2)
    last = events_of(host, stopped.is_set)[-1]
    assert isinstance(last, Summary)
    assert (last.fields["ended"], last.fields["ok"]) == ("interrupted", 10)


def test_an_engine_that_knows_no_clock_is_another_version() -> None:
    with pytest.raises(MachineError, match="driver 1 does not report its clock"):
        events_of(Far(clock=b'{"event": "fault"}\n'))


@pytest.mark.parametrize(("ended", "outcome", "message"), [("abandoned", "interrupted", GONE), ("count", "ok", "")])
def test_a_trial_whose_engine_heard_nothing_of_us_is_interrupted_with_the_reason(
    ended: str, outcome: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said(*_: object) -> Iterator[Event]:
        yield STEADY
        yield Summary({"ended": ended, "drivers": []})

    monkeypatch.setattr("webdyno.conduct.trial.together", said)
    trial = msgspec.structs.replace(fakes.trial(), load=LOAD)
    run = conduct(trial, Bed(tmp_path, "nothing", "never").bench(), BUILT)
    assert (run.outcome, run.message) == (outcome, message)


def test_what_carries_calls_to_other_hosts_is_read_beside_several_drivers_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said(*_: object) -> Iterator[Event]:
        yield STEADY
        yield Summary({"ended": "count", "drivers": []})

    monkeypatch.setattr("webdyno.conduct.trial.together", said)
    bench = Bed(tmp_path, "nothing", "never").bench()
    strapped: Any = bench.strapped
    strapped.daemons = Daemons("in no command line of any process here")
    run = conduct(msgspec.structs.replace(fakes.trial(), load=LOAD), bench, BUILT)
    assert "carrier" in {reading.role for reading in run.readings}
