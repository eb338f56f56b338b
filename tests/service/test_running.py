"""Services that start, answer, die and are killed: a toy that speaks Redis, and the real one where it is."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from tests import shipped
from tests.rig.strapping import gone, wait_for
from webdyno.model.errors import BuildError, ServiceError
from webdyno.model.service import FoundService, Way
from webdyno.rig.ports import free_port
from webdyno.rig.strap import Strapped
from webdyno.service import Running, Services, find_service
from webdyno.service import redis as speaking
from webdyno.service import running as running_services
from webdyno.service.data import KEY_COUNTER, KEY_STATIC, STATIC
from webdyno.service.redis import Redis

pytestmark = pytest.mark.live

TOY = Path(__file__).parent / "toy.py"
REDIS = shipped.catalogue().services["redis"]


def toy(mode: str, ready_s: float = 10.0) -> FoundService:
    way = Way(kind="program", find=["python3"], serve=["{program}", "-S", str(TOY), "{port}", mode])
    service = msgspec.structs.replace(REDIS, ways=[way], ready_s=ready_s, stop_s=1.0)
    return FoundService(service=service, way=way, program=sys.executable)


@contextmanager
def services(strapped: Strapped, found: FoundService, folder: Path) -> Iterator[Services]:
    with Services({"redis": found}, {}, strapped, lambda name: folder / f"{name}.log") as them:
        yield them


def value(running: Running, key: str) -> str | None:
    """What the service holds."""
    return Redis(running.url)._ask(["GET", key])


def pid(running: Running) -> int:
    assert running.group is not None
    return running.group.pid


def test_it_is_started_once_loaded_reset_and_ended(strapped: Strapped, tmp_path: Path) -> None:
    with services(strapped, toy("good"), tmp_path) as them:
        running = them.ready("redis")
        assert (running.backing.kind, running.backing.version) == ("redis-server", "7.2.4")
        assert not running.backing.is_stand_in
        assert value(running, KEY_STATIC) == STATIC
        assert running.given == {"REDIS_URL": running.url}
        assert os.sched_getaffinity(pid(running)) == set(strapped.rig.service_cores)
        Redis(running.url)._ask(["SET", KEY_COUNTER, "17"])
        assert them.ready("redis") is running
        assert value(running, KEY_COUNTER) == "0"
        folder = running.folder
        assert folder is not None
        assert folder.is_dir()
    assert gone(pid(running))
    assert not folder.exists()


def test_what_only_speaks_its_protocol_is_called_by_its_own_name(strapped: Strapped, tmp_path: Path) -> None:
    with services(strapped, toy("valkey"), tmp_path) as them:
        backing = them.ready("redis").backing
    assert (backing.kind, backing.version, backing.is_stand_in) == ("valkey", "8.1.0", True)


def test_one_that_is_slow_at_first_is_read_for_a_while(strapped: Strapped, tmp_path: Path) -> None:
    cold = toy("good")
    warm = msgspec.structs.replace(cold, way=msgspec.structs.replace(cold.way, warm_s=0.3))
    reads = []
    for found in (cold, warm):
        with services(strapped, found, tmp_path) as them:
            reads.append(int(value(them.ready("redis"), "reads") or 0))
    assert reads[0] == 2  # the version, and this one
    assert reads[1] > 2


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("exit", r"ended with exit status 1 before it answered$"),
        ("silent", r"did not answer within 0.5 s: nothing listens on port \d+$"),
        ("garbage", r"did not answer within 0.5 s: what came is not Redis \(b'HTTP"),
        ("refuses", r"did not answer within 0.5 s: it says: NOAUTH"),
    ],
)
def test_one_that_does_not_come_up_is_a_sentence_and_leaves_nothing(
    mode: str, said: str, strapped: Strapped, tmp_path: Path
) -> None:
    with services(strapped, toy(mode, ready_s=0.5 if mode != "exit" else 10.0), tmp_path) as them:
        with pytest.raises(ServiceError, match=said) as caught:
            them.ready("redis")
        assert str(caught.value).startswith(f"the service redis ({sys.executable}) ")
        with pytest.raises(ServiceError, match=said):  # and it is not waited for a second time
            them.ready("redis")
    assert not strapped._alive
    assert not strapped._folders
    if mode == "exit":
        assert "my disk is gone" in caught.value.log_tail


def test_one_that_was_killed_is_started_again(strapped: Strapped, tmp_path: Path) -> None:
    with services(strapped, toy("good"), tmp_path) as them:
        first = them.ready("redis")
        os.kill(pid(first), signal.SIGKILL)
        wait_for(lambda: first.fault() is not None)
        assert "ended with SIGKILL" in str(first.fault())
        second = them.ready("redis")
        assert pid(second) != pid(first)
        assert value(second, KEY_STATIC) == STATIC


def test_one_that_hangs_is_told_ended_and_started_again(
    strapped: Strapped, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speaking, "_TIMEOUT_S", 0.2)
    with services(strapped, toy("good"), tmp_path) as them:
        first = them.ready("redis")
        assert first.fault() is None
        os.kill(pid(first), signal.SIGSTOP)
        assert str(first.fault()).startswith(f"redis-server, the service redis ({sys.executable}), does not answer: ")
        second = them.ready("redis")
        assert pid(second) != pid(first)
        assert gone(pid(first))
        assert value(second, KEY_STATIC) == STATIC


def test_one_that_finds_its_port_taken_is_started_again_on_another_one(
    strapped: Strapped, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", free_port())) as foreign, services(strapped, toy("good"), tmp_path) as them:
        ports = iter([foreign.getsockname()[1], free_port()])
        monkeypatch.setattr(running_services, "free_port", lambda host: next(ports))
        monkeypatch.setattr(running_services, "wait_free", lambda host, port: None)
        assert them.ready("redis").port != foreign.getsockname()[1]


def test_the_users_own_is_spoken_to_and_left_alone(strapped: Strapped, tmp_path: Path) -> None:
    with services(strapped, toy("good"), tmp_path) as theirs:
        url = theirs.ready("redis").url
        own = FoundService(service=REDIS, way=REDIS.ways[0], url=url)
        with services(strapped, own, tmp_path) as them:
            running = them.ready("redis")
            assert running.group is None
            assert (running.backing.way, running.backing.command) == ("url", [])
            assert running.fault() is None
        assert value(running, KEY_STATIC) == STATIC


def test_the_users_own_that_is_not_there_is_a_sentence(strapped: Strapped, tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        own = FoundService(service=REDIS, way=REDIS.ways[0], url=f"redis://:secret@127.0.0.1:{port}/0")
        with services(strapped, own, tmp_path) as them, pytest.raises(ServiceError) as caught:
            them.ready("redis")
    assert str(caught.value) == (
        f"the service redis (of REDIS_URL) does not answer: 127.0.0.1:{port}: Connection refused"
    )


def test_one_that_could_not_be_built_says_so(strapped: Strapped, tmp_path: Path) -> None:
    way = Way(kind="embedded", server="small", runtime="jvm", requires=["a:b:1"], serve=["small", "{port}"])
    found = FoundService(service=REDIS, way=way)
    built = {"redis": BuildError("could not compile the app", "error: no such class")}
    them = Services({"redis": found}, built, strapped, lambda name: tmp_path / name)
    with pytest.raises(ServiceError, match=r"the service redis \(small\) could not be built: could not comp") as caught:
        them.ready("redis")
    assert caught.value.log_tail == "error: no such class"


def test_ctrl_c_ends_the_waiting(strapped: Strapped, tmp_path: Path) -> None:
    strapped.interrupted.set()
    them = Services({"redis": toy("silent", 60.0)}, {}, strapped, lambda name: tmp_path / name)
    with pytest.raises(ServiceError, match="stopped by the user"):
        them.ready("redis")
    assert not strapped._alive


def test_the_real_redis(strapped: Strapped, tmp_path: Path) -> None:
    if not shutil.which("redis-server"):
        pytest.skip("redis-server is not installed")
    found = find_service(REDIS, {"PATH": os.environ["PATH"]}, lambda _: "no runtime")
    assert isinstance(found, FoundService)
    with services(strapped, found, tmp_path) as them:
        running = them.ready("redis")
        assert running.backing.kind == "redis-server"
        assert value(running, KEY_STATIC) == STATIC
        Redis(running.url.removesuffix("0") + "3").load()
        with pytest.raises(ServiceError, match="does not answer: it says: WRONGPASS"):
            bad = FoundService(service=REDIS, way=REDIS.ways[0], url=running.url.replace("://", "://x:wrong@"))
            Services({"redis": bad}, {}, strapped, lambda name: tmp_path / name).ready("redis")
    assert gone(pid(running))
