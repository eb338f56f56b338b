"""Several engines on far hosts carry out one load: through agents, with pipes to write to, and clocks of their own."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conduct.test_together import engine
from tests.session.test_agent import Wire, own_lock
from webdyno.conduct.together import posts_on, together
from webdyno.load.order import Event, Fault, Order, Summary
from webdyno.model.errors import MachineError
from webdyno.model.load import Load
from webdyno.model.workload import Request
from webdyno.rig.far import FarHost
from webdyno.session.agent import Agent

__all__ = ["own_lock"]
MINUTE_NS = 60 * 10**9
ENGINE = """#!{python} -S
import json, sys, time
if "--clock" in sys.argv:
    for _ in sys.stdin:
        print(time.monotonic_ns() + {ahead}, flush=True)
    sys.exit()
order = json.loads(sys.stdin.readline())
open({asked!r} + str(order["part"]["index"]), "w").write(json.dumps(order))
{then}
sys.stdout.buffer.write({said!r})
"""
LOAD = Load(connections=4, count=10, warmup_s=0.0, drivers=2)
ORDER = Order(host="h", port=1, requests=[Request(name="r", path="/")], load=LOAD, cores=(0, 1))


@pytest.fixture
def agents(own_lock: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Agent]]:
    made = [Agent(), Agent()]
    for module in ("webdyno.conduct.together", "webdyno.load.several"):
        monkeypatch.setattr(f"{module}.program", lambda: "webdyno-engine")
    yield made
    for agent in made:
        for number in list(agent._started):
            agent.end(number, 0.0)
        agent.give_back()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """An engine of a few lines where the real one is looked for on every host."""

    def install(then: str = "") -> Path:
        path = tmp_path / "webdyno-engine"
        said = engine(5)
        text = ENGINE.format(python=sys.executable, ahead=MINUTE_NS, asked=f"{tmp_path}/", said=said, then=then)
        path.write_text(text)
        path.chmod(0o755)
        monkeypatch.setattr("webdyno.session.agent.program", lambda: str(path))
        return tmp_path

    return install


def carried_out(wires: list[Wire], folder: Path) -> list[Event]:
    hosts = [FarHost(wire, f"10.0.0.{number}") for number, wire in enumerate(wires, start=2)]
    for host, processor in zip(hosts, ("Epyc", "Xeon"), strict=True):
        host.cores, host.processor = (3,), processor
    (folder / "empty").mkdir()
    posts = posts_on(hosts, folder / "empty", Path(os.devnull))
    return list(together(ORDER, posts, lambda: False))


def test_each_begins_at_one_instant_by_a_clock_that_is_wrong_by_a_minute(
    agents: list[Agent], installed: Callable[..., Path]
) -> None:
    folder = installed()
    *_, last = carried_out([Wire(agent) for agent in agents], folder)
    assert isinstance(last, Summary), last
    shares: Any = last.fields["drivers"]
    assert [(share["host"], share["processor"], share["ok"]) for share in shares] == [
        ("10.0.0.2", "Epyc", 5),
        ("10.0.0.3", "Xeon", 5),
    ]
    orders = [json.loads((folder / str(index)).read_text()) for index in (0, 1)]
    assert [order["cpus"] for order in orders] == [[3], [3]], "the cores of its own host"
    for share, order in zip(shares, orders, strict=True):
        assert abs(share["before"]["ns"] - MINUTE_NS) < MINUTE_NS / 10
        assert order["start_at_ns"] - share["before"]["ns"] == orders[0]["start_at_ns"] - shares[0]["before"]["ns"]
    assert not any(agent._started for agent in agents)


def test_a_host_that_is_lost_under_its_load_is_named_and_the_other_is_ended(
    agents: list[Agent], installed: Callable[..., Path]
) -> None:
    folder = installed("import threading; threading.Event().wait(60)")
    lost, other = wires = [Wire(agent) for agent in agents]

    def cut_once_it_loads(verb: str, *arguments: Any, within_s: float = 1.0) -> Any:
        lost.is_cut = lost.is_cut or (folder / "0").exists()
        return Wire.__call__(lost, verb, *arguments, within_s=within_s)

    watched: Any = [cut_once_it_loads, other]
    last = carried_out(watched, folder)[-1]
    assert isinstance(last, Fault)
    assert last.message == "driver 1 of 2: there, the host of the load, has not answered for 15 s"
    assert not other.agent._started
    assert wires[0].is_cut


def test_a_host_that_is_lost_before_its_load_says_so(agents: list[Agent], installed: Callable[..., Path]) -> None:
    folder = installed()
    lost, other = (Wire(agent) for agent in agents)

    def silent(verb: str, *arguments: Any, within_s: float = 1.0) -> Any:
        lost.is_cut = lost.is_cut or verb == "write"
        return Wire.__call__(lost, verb, *arguments, within_s=within_s)

    watched: Any = [silent, other]
    with pytest.raises(MachineError, match="has not answered for 15 s"):
        carried_out(watched, folder)
