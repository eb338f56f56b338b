"""Contenders that behave, and every way of not behaving."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.rig.strapping import gone
from webdyno.model.built import Built
from webdyno.model.contender import Contender
from webdyno.model.errors import AnswerError, MachineError, StartError
from webdyno.model.workload import Expectation, Request, Workload
from webdyno.rig import flooding, here
from webdyno.rig.host import Command
from webdyno.rig.ports import free_port, listeners
from webdyno.rig.strap import Strapped
from webdyno.serve import serving
from webdyno.serve.serving import Served, serve
from webdyno.serve.trimming import KEPT_BYTES, MOST_BYTES

pytestmark = pytest.mark.live

TOY = Path(__file__).parent / "toy.py"
HELLO = Request(name="hello", path="/", expect=Expectation(body="Hello", content_type="text/plain"))
JSON = Request(name="json", path="/json", expect=Expectation(json_equals='{"a":1,"b":[true]}'))


def contender(mode: str, **changes: Any) -> Contender:
    toy = Contender(
        name="toy",
        app="toy",
        runtime="cpython",
        server="toy",
        model="one thread",
        serve=[sys.executable, "-S", str(TOY), "{port}", mode],
        because="S0",
        author="the tests",
        ready_s=10.0,
        stop_s=1.0,
    )
    return msgspec.structs.replace(toy, **changes)


class Stand:
    """Everything serve() asks for."""

    def __init__(self, strapped: Strapped, folder: Path) -> None:
        self.strapped, self.log = strapped, folder / "toy.log"
        self.given: dict[str, str] = {}
        self.built = Built(
            contender="toy", key="k", directory=str(folder), environment={}, versions={}, log="", seconds=0.0
        )

    def serve(self, toy: Contender, *requests: Request) -> Any:
        workload = Workload(name="hello", title="Hello", kind="cpu", requests=list(requests or [HELLO]))
        return serve(toy, workload, self.built, self.strapped, self.log, self.given)

    def fails_to_start(self, toy: Contender) -> StartError:
        with pytest.raises(StartError) as caught, self.serve(toy):
            pass
        return caught.value


@pytest.fixture
def stand(strapped: Strapped, tmp_path: Path) -> Stand:
    return Stand(strapped, tmp_path)


def test_a_contender_serves_is_described_and_ends(stand: Stand) -> None:
    with stand.serve(contender("ok", workers="2 * cores + 1"), HELLO, JSON) as served:
        assert isinstance(served, Served)
        assert served.command == [sys.executable, "-S", str(TOY), str(served.port), "ok"]
        assert served.workers == 2 * len(stand.strapped.rig.contender_cores) + 1
        assert served.requests[0] == HELLO
        assert served.requests[1].expect.body_length == 21
        assert served.probe is not None
        assert (served.probe.http_version, served.probe.keep_alive, served.probe.framing) == (
            "1.1", True, "content-length",
        )  # fmt: skip
        assert served.probe.backlog == 5
        assert 0 < served.probe.ready_ns < 10e9
        assert [listener.pids for listener in listeners(served.port)] == [(served.group.pid,)]
        served.verify()
    assert served.notes == []
    assert listeners(served.port) == []
    assert gone(served.group.pid)
    assert served.group.memory_peak_bytes() or stand.strapped.rig.cgroup == "none"


def test_it_is_told_where_its_service_is_and_how_many_connections_it_may_open(stand: Stand) -> None:
    toy = contender("ok", workers=3, pool="6000 // workers", environment={"POOL": "{pool}"})
    stand.given = {"REDIS_URL": "redis://me:secret@db/0"}
    with stand.serve(toy) as served:
        raw = Path(f"/proc/{served.group.pid}/environ").read_bytes().decode()
        environment = dict(item.split("=", 1) for item in raw.rstrip("\0").split("\0"))
        assert environment["REDIS_URL"] == "redis://me:secret@db/0"
        assert environment["WEBDYNO_POOL"] == environment["POOL"] == "2000"
        assert served.environment["REDIS_URL"] == "redis://me:***@db/0"


def test_its_environment_is_minimal_and_its_own_programs_lead(stand: Stand) -> None:
    stand.built = msgspec.structs.replace(
        stand.built, environment={"PATH": "/own/bin", "VIRTUAL_ENV": "/own"}, directory=str(TOY.parent)
    )
    with stand.serve(contender("ok", environment={"BIND": "{bind}"})) as served:
        raw = Path(f"/proc/{served.group.pid}/environ").read_bytes().decode()
        assert served.environment == {
            "PATH": "/own/bin", "VIRTUAL_ENV": "/own", "BIND": f"127.0.0.1:{served.port}",
        }  # fmt: skip
        assert Path(f"/proc/{served.group.pid}/cwd").readlink() == TOY.parent
    environment = dict(item.split("=", 1) for item in raw.rstrip("\0").split("\0"))
    assert set(environment) == {"PATH", "HOME", "TMPDIR", "LANG", "VIRTUAL_ENV", "BIND", "WEBDYNO_RIG"}
    assert environment["PATH"].startswith("/own/bin:")
    assert set(os.environ["PATH"].split(":")) <= set(environment["PATH"].split(":"))
    assert environment["HOME"] == environment["TMPDIR"] != os.environ.get("HOME")
    assert not Path(environment["HOME"]).exists()


def test_one_that_exits_is_told_with_its_last_words(stand: Stand) -> None:
    error = stand.fails_to_start(contender("exits"))
    assert str(error) == "toy ended with exit status 1 before it served"
    assert (error.exited, error.out_of_memory) == (True, False)
    assert error.log_tail == f"{'x' * 80}\n{'y' * 79}\ncannot find module flusk\n"


def test_last_words_are_at_most_4_kib_of_whole_lines_and_of_this_start(stand: Stand) -> None:
    stand.log.write_text("of an earlier start\n")
    assert "earlier" not in stand.fails_to_start(contender("exits")).log_tail
    tail = stand.fails_to_start(contender("chatty-exit")).log_tail
    assert 4000 < len(tail) <= 4096
    assert set(tail.splitlines()) == {"line of it", ""}


def test_a_long_log_keeps_its_end_alone(stand: Stand) -> None:
    stand.log.write_bytes(b"GET / 200\n" * (MOST_BYTES // 10 + 1))
    assert "cannot find module flusk\n" in stand.fails_to_start(contender("exits")).log_tail
    kept = stand.log.read_bytes()
    assert KEPT_BYTES - 100 < len(kept) <= KEPT_BYTES
    assert kept.endswith(b"cannot find module flusk\n")


def test_one_that_crashes_is_told_with_its_signal(stand: Stand) -> None:
    error = stand.fails_to_start(contender("crashes"))
    assert (str(error), error.exited) == ("toy ended with SIGSEGV before it served", True)


def test_one_that_cannot_be_executed_is_told(stand: Stand) -> None:
    error = stand.fails_to_start(contender("ok", serve=["gunicorm"]))
    assert str(error).startswith("gunicorm could not be executed on PATH ")
    assert error.exited


def test_one_that_never_listens_is_told_after_its_time(stand: Stand) -> None:
    error = stand.fails_to_start(contender("never", ready_s=0.1))
    assert re.fullmatch(r"toy did not serve in time: nothing listened on port \d+", str(error))
    assert not error.exited


def test_one_that_listens_elsewhere_is_told_with_where(stand: Stand) -> None:
    port = free_port()
    toy = contender("ok", serve=[sys.executable, "-S", str(TOY), str(port), "ok"], ready_s=2.0)
    error = stand.fails_to_start(toy)
    assert re.fullmatch(
        rf"toy did not serve in time: nothing listened on port \d+, but it listens on {port}", str(error)
    )


def test_one_with_a_port_of_its_own_is_served_there_and_not_where_somebody_else_is(stand: Stand) -> None:
    stand.built = msgspec.structs.replace(stand.built, port=free_port())
    with stand.serve(contender("ok")) as served:
        assert served.port == stand.built.port
        error = stand.fails_to_start(contender("ok"))
        assert str(error).startswith(f"port {served.port}, which toy listens on, is taken: pid {served.group.pid} (")
        assert error.exited


def test_one_that_listens_but_never_answers_is_told(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "_TIMEOUT_S", 0.1)
    error = stand.fails_to_start(contender("silent", ready_s=2.0))
    assert str(error) == "toy did not serve in time: GET / was not answered: there was none within 0.1 s"
    assert not error.exited


def test_one_that_dies_of_the_first_request_is_told(stand: Stand) -> None:
    error = stand.fails_to_start(contender("dies-when-asked"))
    assert (str(error), error.exited) == ("toy ended with exit status 4 before it served", True)


def test_one_that_eats_too_much_before_it_serves_is_told(stand: Stand) -> None:
    if stand.strapped.rig.cgroup == "none":
        pytest.skip(stand.strapped.rig.cgroup_reason)
    error = stand.fails_to_start(contender("eats"))
    assert str(error) == "toy went past its memory limit and was killed before it served"
    assert (error.exited, error.out_of_memory) == (True, True)


def test_one_that_starts_too_many_processes_before_it_serves_is_told(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(here, "MOST_PROCESSES", 20)
    if not counts_processes(stand):
        pytest.skip("no cgroup counts processes here")
    error = stand.fails_to_start(contender("crowds"))
    assert "toy ended with exit status 1, having been refused more than 16,384 processes and threads," in str(error)
    assert (error.exited, error.too_many) == (True, True)


def test_one_that_floods_its_log_before_it_serves_is_stopped_and_told(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flooding, "MOST_BYTES", 2 * MOST_BYTES)
    error = stand.fails_to_start(contender("floods"))
    assert re.match(r"toy wrote [\d.]+ MB into its log, where 8\.4 MB are the most, and was stopped: let", str(error))
    assert (error.exited, error.flooded) == (True, True)
    assert error.log_tail.endswith("x\n")
    assert stand.log.stat().st_size <= KEPT_BYTES


def test_a_build_that_is_gone_is_no_fault_of_its_contender(stand: Stand) -> None:
    gone_from = stand.built.directory + "/gone"
    stand.built = msgspec.structs.replace(stand.built, directory=gone_from)
    with pytest.raises(MachineError, match=rf"toy was built in {gone_from}, which is gone from the disk at /.*--res"):
        stand.serve(contender("good")).__enter__()


def counts_processes(stand: Stand) -> bool:
    with stand.strapped.start(Command(argv=["/bin/sleep", "9"], environment={}, role="contender")) as group:
        return group._cgroup is not None and group._cgroup.limits_processes


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"workers": "cpus + 1"}, "toy cannot be started: 'cpus' cannot stand in a rule; "),
        ({"serve": ["toy", "{prot}"]}, "toy cannot be started: {prot} in '{prot}' is not a placeholder; did you mean"),
        ({"environment": {"A": "{x}"}}, "toy cannot be started: {x} in '{x}' is not a placeholder; there are "),
    ],
)
def test_one_whose_file_asks_for_what_there_is_not_is_told(
    stand: Stand, changes: dict[str, Any], sentence: str
) -> None:
    assert str(stand.fails_to_start(contender("ok", **changes))).startswith(sentence)


def test_wrong_answers_are_told_with_what_came(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webdyno.serve.ready._WRONG_S", 0.05)
    with pytest.raises(AnswerError) as caught, stand.serve(contender("wrong")):
        pass
    assert str(caught.value) == "GET /: expected the body 'Hello' (5 bytes), got 'Hullo' (5 bytes)"


def test_a_server_that_stays_unavailable_until_its_time_is_over_answers_wrongly(stand: Stand) -> None:
    with pytest.raises(AnswerError) as caught, stand.serve(contender("unavailable", ready_s=2.0)):
        pass
    assert str(caught.value) == "GET /: expected status 200, got 503 with 'wait' (4 bytes)"


def test_a_server_that_is_unavailable_at_first_is_waited_for(stand: Stand) -> None:
    with stand.serve(contender("unavailable-first")) as served:
        assert served.probe is not None


def test_wrong_answers_after_the_load_are_told(stand: Stand) -> None:
    with (
        pytest.raises(AnswerError, match=r"^GET /: expected the body 'Hello'"),
        stand.serve(contender("wrong-later")) as served,
    ):
        for _ in range(10):
            served.verify()


def test_json_whose_bytes_change_is_noted_once(stand: Stand) -> None:
    with stand.serve(contender("changing"), JSON) as served:
        served.verify()
        assert served.requests[0].expect == Expectation()
    assert [note[:10] for note in served.notes] == ["GET /json:"]


def test_a_foreign_server_on_the_port_is_never_taken_for_ours(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
    foreign = subprocess.Popen([sys.executable, "-S", str(TOY), str(port), "ok"])
    try:
        deadline = time.monotonic() + 10
        while not listeners(port) and time.monotonic() < deadline:
            time.sleep(0.01)
        monkeypatch.setattr(serving, "free_port", lambda host: port)
        monkeypatch.setattr(serving, "wait_free", lambda host, port: None)
        whose = re.escape(f"pid {foreign.pid} (") + r".+\) listens on it"
        never = stand.fails_to_start(contender("never", ready_s=0.2))
        assert re.fullmatch(rf"toy did not serve in time: port {port} is not its own: {whose}", str(never))
        assert not never.exited
        exits = stand.fails_to_start(contender("exits"))
        taken = rf"toy ended with exit status 1 before it served; its port {port} is taken: {whose}"
        assert re.fullmatch(taken, str(exits))
    finally:
        foreign.kill()
        foreign.wait()


def test_a_server_that_makes_itself_a_daemon_serves_and_ends(stand: Stand) -> None:
    with stand.serve(contender("daemon")) as served:
        (worker,) = served.group.pids() if served.group.poll() is not None else served.group.pids()[-1:]
    assert gone(worker)
    assert listeners(served.port) == []


def test_one_that_ignores_sigterm_is_noted(stand: Stand) -> None:
    with stand.serve(contender("deaf", stop_s=0.1)) as served:
        assert served.notes == []
    assert served.notes == ["did not end within 0.1 s of SIGTERM and was killed"]


def test_who_finds_its_port_taken_is_started_again_on_another_one(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", free_port())) as foreign:
        ports = iter([foreign.getsockname()[1], free_port()])
        monkeypatch.setattr(serving, "free_port", lambda host: next(ports))
        with stand.serve(contender("ok")) as served:
            assert served.port != foreign.getsockname()[1]
    assert len(served.notes) == 1
    assert served.notes[0].startswith("it was started again on another port: toy ended with exit status 1 before it")


def test_a_port_that_stays_taken_is_noted(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "wait_free", lambda host, port: "its port 1 is not free again: nobody knows why")
    with stand.serve(contender("ok")) as served:
        pass
    assert served.notes == ["its port 1 is not free again: nobody knows why"]


def test_the_user_ends_the_waiting_at_once(stand: Stand) -> None:
    threading.Timer(0.1, stand.strapped.interrupted.set).start()
    begun = time.monotonic()
    error = stand.fails_to_start(contender("silent"))
    assert (str(error), error.exited) == ("toy was stopped by the user", False)
    assert time.monotonic() - begun < 5


def test_an_interrupt_through_the_block_leaves_nothing(stand: Stand) -> None:
    with pytest.raises(KeyboardInterrupt), stand.serve(contender("ok")) as served:
        raise KeyboardInterrupt
    assert gone(served.group.pid)
    assert listeners(served.port) == []


def test_a_server_that_dies_meanwhile_is_left_without_ado(stand: Stand) -> None:
    with stand.serve(contender("ok")) as served:
        os.kill(served.group.pid, signal.SIGKILL)
        assert served.group.wait(5) == -9
        assert served.log_tail() == ""
        with pytest.raises(AnswerError, match=r"^GET /: expected an answer, but the connection was refused$"):
            served.verify()


def test_what_is_hidden_reaches_the_server_and_no_record(stand: Stand) -> None:
    hidden = {"TOKEN": "secret {port}", "BIND": "mine"}
    stand.built = msgspec.structs.replace(stand.built, environment={"BIND": "built", "A": "b"}, hidden=hidden)
    with stand.serve(contender("ok")) as served:
        raw = Path(f"/proc/{served.group.pid}/environ").read_bytes().decode()
        environment = dict(item.split("=", 1) for item in raw.rstrip("\0").split("\0"))
        assert (environment["TOKEN"], environment["BIND"]) == (f"secret {served.port}", "mine")
        assert served.environment == {"A": "b"}
    stand.built = msgspec.structs.replace(stand.built, hidden={"TOKEN": "secret {prot}"})
    error = stand.fails_to_start(contender("ok"))
    assert str(error) == "toy cannot be started: the value of TOKEN has a word in braces that is no placeholder"
