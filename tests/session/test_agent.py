"""Agent and far Host: a process on another host is started, heard, asked and ended as if it were here; no network."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.rig.strapping import gone, own_lock, wait_for
from webdyno.conduct.hearing import killed
from webdyno.measure.sampler import Sampler
from webdyno.model.errors import LostError, MachineError, StartError
from webdyno.rig import far as far_module
from webdyno.rig.far import FarGroup, FarHost
from webdyno.rig.host import PIPE, Command
from webdyno.session import agent as agent_module
from webdyno.session.agent import Agent, error_of

__all__ = ["own_lock"]
SAYS = "import sys; print('begun', flush=True); [print(line.strip()[::-1], flush=True) for line in sys.stdin]"
AHEAD_NS = 10**15


class Wire:
    """A carrier that carries nothing far; its host has a clock of its own, and can be unplugged."""

    def __init__(self, agent: Agent) -> None:
        self.agent, self.is_cut = agent, False

    def __call__(self, verb: str, *arguments: Any, within_s: float = 1.0) -> Any:
        if self.is_cut:
            raise LostError("there, the host of the load, has not answered for 15 s")
        kind, value = self.agent.answer(verb, arguments)
        if kind:
            raise error_of(kind, value)
        return value + AHEAD_NS if verb == "now_ns" else value


@pytest.fixture
def wire(own_lock: Path) -> Iterator[Wire]:
    agent = Agent()
    yield Wire(agent)
    for number in list(agent._started):
        agent.end(number, 0.0)
    agent.give_back()


@pytest.fixture
def there(wire: Wire) -> FarHost:
    return FarHost(wire, "there")


def command(code: str, cwd: Path, **fields: Any) -> Command:
    given = {"role": "driver", "stdout": PIPE, "environment": {"PATH": os.environ["PATH"]}, "cwd": cwd}
    return Command(argv=[sys.executable, "-S", "-c", code], **{**given, **fields})


def test_it_is_spoken_with_line_by_line_and_ends_when_it_has_read_all(there: FarHost, tmp_path: Path) -> None:
    group = there.start(command(SAYS, tmp_path, stdin=PIPE))
    assert group.stdin is not None and group.stdout is not None
    assert group.stdout.readline() == b"begun\n"
    group.stdin.write(b"abc\n")
    group.stdin.flush()
    assert group.stdout.readline() == b"cba\n"
    assert group.poll() is None and not group.has_ended()
    assert group.end(1.0) == []
    assert gone(group.pid)


def test_its_folder_holds_what_was_here_and_what_it_writes_comes_back(there: FarHost, tmp_path: Path) -> None:
    (tmp_path / "asked").write_text("how much")
    code = "open('told', 'w').write(open('asked').read() + '?'); import sys; sys.stderr.write('done')"
    group = there.start(command(code, tmp_path, stderr=tmp_path.parent / "log"))
    assert group.stdout is not None and group.stdout.read() == b""
    assert (tmp_path / "told").read_text() == "how much?"
    assert group.wait(5.0) == 0 and group.last_words() == "exit status 0"
    group.end(1.0)
    assert (tmp_path.parent / "log").read_text() == "done"


def test_what_cannot_be_started_there_is_said_here(there: FarHost, tmp_path: Path) -> None:
    missing = Command(argv=["/no/such/program"], environment={}, role="driver", cwd=tmp_path)
    with pytest.raises(StartError, match="/no/such/program"):
        there.start(missing)


def test_it_is_read_there_and_told_at_the_time_of_this_clock(there: FarHost, tmp_path: Path) -> None:
    group = there.start(command(SAYS, tmp_path, stdin=PIPE))
    assert abs(group.clock_ahead_ns - AHEAD_NS) < 10**9
    before_ns = time.monotonic_ns()
    with Sampler({"driver": group}, period_s=60.0) as sampler:
        pass
    looks = [each for each in sampler.readings if each.role == "driver"]
    group.end(0.0)
    assert len(looks) == 2 and all(each.processes == 1 for each in looks)
    # the made-up clock is asked for instants only: what a look says is of the real one
    assert all(before_ns - AHEAD_NS - 10**9 < each.at_ns < time.monotonic_ns() - AHEAD_NS + 10**9 for each in looks)


def test_a_host_that_is_lost_ends_the_output_and_says_so(there: FarHost, wire: Wire, tmp_path: Path) -> None:
    group = there.start(command(SAYS, tmp_path, stdin=PIPE))
    assert group.stdout is not None and group.stdout.readline() == b"begun\n"
    wire.is_cut = True
    assert group.stdout.read() == b""
    assert group.poll() == -9 and group.has_ended()
    assert killed(group) == "", "how it ended is not known"
    assert group.end(1.0) == ["there, the host of the load, has not answered for 15 s"]
    wire.is_cut = False


def test_a_host_that_was_lost_is_asked_nothing_more(there: FarHost, wire: Wire, tmp_path: Path) -> None:
    wire.is_cut = True
    with pytest.raises(LostError):
        there.clock_ahead_ns()
    wire.is_cut = False
    with pytest.raises(LostError, match="there, the host of the load, has not answered for 15 s"):
        there.start(command(SAYS, tmp_path))
    assert there.lost and not wire.agent._started


def test_what_fails_on_a_host_that_answers_is_no_loss_of_the_host(there: FarHost, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    with pytest.raises(MachineError, match="no such file") as raised:
        there.put(tmp_path / "file", Path("/proc/nothing/there"))
    assert not isinstance(raised.value, LostError) and not there.lost


def test_load_without_its_session_ends_by_itself(
    there: FarHost, wire: Wire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_module, "LOST_S", 0.05)
    group = there.start(command(SAYS, tmp_path, stdin=PIPE))
    wire.is_cut = True
    wait_for(lambda: gone(group.pid))
    group.end(0.0)


def test_files_go_there_and_back(there: FarHost, tmp_path: Path) -> None:
    (tmp_path / "here" / "below").mkdir(parents=True)
    (tmp_path / "here" / "below" / "file").write_bytes(b"content")
    there.put(tmp_path / "here", tmp_path / "there")
    there.fetch(tmp_path / "there" / "below" / "file", tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == b"content"


def test_no_name_that_a_host_sends_leads_out_of_its_folder(tmp_path: Path) -> None:
    for name in ("../out", "/etc/out"):
        with pytest.raises(MachineError, match="leads out of"):
            far_module.write_files(tmp_path / "in", {name: b""})
    assert issubclass(FarGroup, object) and not (tmp_path / "out").exists()


def test_a_host_is_taken_for_drivers_alone_and_given_back(there: FarHost, own_lock: Path) -> None:
    before = os.sched_getaffinity(0)
    try:
        about = there.take(None)
        assert about.rig.contender_cores == () and about.rig.driver_cores
        assert (there.cores, there.processor) == (about.rig.driver_cores, about.fingerprint.cpu_model)
        with pytest.raises(MachineError, match="another webdyno"):
            FarHost(Wire(Agent()), "again").take(None)
    finally:
        there.give_back()
    assert os.sched_getaffinity(0) == before
