"""Contenders as throw-away users: what they cannot do, whatever they try, as SECURITY.md promises it."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.rig.strapping import gone, python, wait_for
from webdyno.model.errors import MachineError, StartError
from webdyno.rig import aside
from webdyno.rig.group import Group
from webdyno.rig.here import MOST_PROCESSES, Here
from webdyno.rig.host import Command, Role
from webdyno.rig.process import all_stats
from webdyno.rig.strap import Strapped, strap
from webdyno.rig.throwaway import USERS, ThrowawayUsers, folders_of, hidden_from

root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may start a process as another user")
pytestmark = pytest.mark.live

TOLD = """
import ctypes, json, os, resource, signal, socket, sys
libc = ctypes.CDLL(None)
def tried(do):
    try:
        return str(do())
    except OSError as error:
        return type(error).__name__
"""
NETWORK = Path("/proc/thread-self/ns/net")
SLEEP = "import time; print('up', flush=True); time.sleep(60)"
OWNER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tests.rig.test_throwaway import SLEEP, contender
from webdyno.rig.strap import strap
with strap(None, Path(sys.argv[1]), as_user=True) as strapped:
    group = strapped.start(contender(strapped, SLEEP))
    group.stdout.readline()
    print(strapped.token, group.pid, Path(f"/proc/{group.pid}").stat().st_uid, flush=True)
    input()
"""


@pytest.fixture
def others() -> Iterator[socket.socket]:
    """A server of somebody else's on loopback, from before the rig."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's, with a secret; readable to all, so that nothing but its being hidden keeps it."""
    folder = tmp_path / "home"
    (folder / ".ssh").mkdir(parents=True)
    (folder / ".ssh" / "id_ed25519").write_text("secret")
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def apart(own_lock: Path, others: socket.socket, home: Path, tmp_path: Path) -> Iterator[Strapped]:
    with strap(None, tmp_path / "cache", as_user=True) as there:
        yield there


def contender(host: Here, code: str, *arguments: str, role: Role = "contender") -> Command:
    """A few lines of Python, at home in a folder of its own."""
    folder = host.folder()
    command = python(TOLD + code, *arguments, role=role, environment={"HOME": str(folder), "TMPDIR": str(folder)})
    return msgspec.structs.replace(command, cwd=folder, reads=(Path(sys.executable).parent,))


def told(host: Here, code: str, *arguments: str, role: Role = "contender") -> Any:
    """What the lines of Python print as JSON."""
    with host.start(contender(host, code, *arguments, role=role)) as group:
        assert group.stdout is not None
        text = group.stdout.read()
    return json.loads(text)


@pytest.fixture
def asleep(apart: Strapped) -> Iterator[Callable[..., Group]]:
    """Starts what only sleeps."""

    def begin(role: Role = "contender") -> Group:
        group = apart.start(contender(apart, SLEEP, role=role))
        assert group.stdout is not None
        group.stdout.readline()
        return group

    yield begin


def owned_by(user: int) -> list[int]:
    found = []
    for path in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            found += [int(path.name)] if path.name.isdecimal() and path.stat().st_uid == user else []
    return found


def user_of(group: Group) -> int:
    return Path(f"/proc/{group.pid}").stat().st_uid


@root
@pytest.mark.parametrize("role", ["contender", "service"])
def test_it_runs_as_a_user_who_is_nobody_and_has_no_right(apart: Strapped, role: Role) -> None:
    code = """
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
rights = [status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")]
print(json.dumps([os.getresuid(), os.getresgid(), os.getgroups(), rights, status["NoNewPrivs"],
    resource.getrlimit(resource.RLIMIT_NPROC), tried(lambda: os.setuid(0)), tried(lambda: os.setgroups([0]))]))
"""
    users, groups, more, rights, no_new, processes, setuid, setgroups = told(apart, code, role=role)
    assert len({*users, *groups}) == 1
    assert users[0] not in {each.pw_uid for each in pwd.getpwall()}
    assert more == []
    assert {int(text, 16) for text in rights} == {0}
    assert no_new == "1"
    assert processes == [MOST_PROCESSES, MOST_PROCESSES]
    assert (setuid, setgroups) == ("PermissionError", "PermissionError")


@root
def test_the_users_home_is_not_there_nor_anybodys_temporary_files(apart: Strapped, home: Path, tmp_path: Path) -> None:
    (tmp_path / "of-somebody").write_text("secret")
    paths = [home / ".ssh" / "id_ed25519", Path("/root/.ssh"), Path("/root/.bash_history"), tmp_path / "of-somebody"]
    code = "print(json.dumps([tried(lambda: os.lstat(path)) for path in sys.argv[1:]]))"
    assert set(told(apart, code, *map(str, paths))) == {"FileNotFoundError"}
    assert told(apart, "print(json.dumps([os.listdir('/home'), os.listdir('/mnt')]))") == [[], []]


@root
def test_it_writes_only_into_its_home_and_into_temporary_folders_that_end_with_it(apart: Strapped) -> None:
    code = """
places = ["/usr", "/etc", "/var/lib", "/opt", "/run", os.path.dirname(sys.executable)]
print(json.dumps([[tried(lambda: open(f"{place}/webdyno-was-here", "w").close()) for place in places],
    [tried(lambda: open(f"{place}/webdyno-was-here", "w").close())
     for place in (os.environ["HOME"], "/tmp", "/var/tmp", "/dev/shm")]]))
"""
    refused, allowed = told(apart, code)
    assert "None" not in refused
    assert set(allowed) == {"None"}
    assert not [path for path in ("/tmp", "/var/tmp", "/dev/shm") if (Path(path) / "webdyno-was-here").exists()]


@root
def test_a_namespace_that_it_makes_for_itself_uncovers_nothing(apart: Strapped, home: Path) -> None:
    code = """
made = libc.unshare(0x10000000 | 0x20000)  # a user and a mount namespace, in which it has all rights
print(json.dumps([made, libc.umount2(sys.argv[1].encode(), 2), libc.umount2(b"/proc", 2),
    libc.mount(None, b"/", None, ctypes.c_ulong(32 | 4096), None),
    tried(lambda: os.lstat(sys.argv[1] + "/.ssh/id_ed25519")),
    tried(lambda: open("/usr/webdyno-was-here", "w").close())]))
"""
    covered = next(path for path in (home, *home.parents) if path in hidden_from([home]))
    made, *refused, found, written = told(apart, code, str(covered))
    assert made in (0, -1)  # a kernel may allow nobody to make one
    assert set(refused) == {-1}
    assert found == "FileNotFoundError"
    assert written != "None"


@root
def test_it_can_neither_see_nor_signal_nor_trace_other_processes(apart: Strapped, asleep: Callable[..., Group]) -> None:
    driver, rival = asleep("driver"), asleep()
    pids = [str(pid) for pid in (os.getpid(), os.getppid(), driver.pid, rival.pid)]
    code = """
pids = [int(pid) for pid in sys.argv[1:]]
print(json.dumps([[name for name in os.listdir("/proc") if name.isdecimal()] == [str(os.getpid())],
    [tried(lambda: os.kill(pid, signal.SIGKILL)) for pid in pids],
    [libc.ptrace(16, pid, None, None) for pid in pids]]))
"""
    alone, killed, traced = told(apart, code, *pids)
    assert alone
    assert set(killed) == {"PermissionError"}
    assert set(traced) == {-1}
    assert driver.poll() is rival.poll() is None


@root
def test_no_two_that_live_are_the_same_user(asleep: Callable[..., Group]) -> None:
    users = [user_of(each) for each in (asleep(), asleep(), asleep("service"))]
    assert len({*users, os.geteuid()}) == 4
    assert user_of(asleep("driver")) == os.geteuid()


@root
def test_a_user_is_given_again_only_when_all_others_were_and_never_while_it_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = ThrowawayUsers(tmp_path)

    def take(mark: str) -> int:
        return int(users.take(mark, Command(argv=[], environment={"HOME": str(tmp_path)}, role="contender"))[0])

    kept = take("kept")
    given = []
    for number in range(USERS):
        given.append(take(str(number)))
        users.give_back(str(number), "pipe")
    assert kept not in given
    assert len(set(given)) == USERS - 1
    assert given[0] == given[-1] == kept + 1


@root
def test_it_reaches_nothing_but_loopback_where_all_of_the_measurement_is(
    apart: Strapped, others: socket.socket
) -> None:
    port = others.getsockname()[1]
    reach = f"""
def reach(where):
    return tried(lambda: socket.create_connection(where, 2).close())
print(json.dumps([reach(("192.0.2.1", 80)), reach(("127.0.0.1", {port}))]))
"""
    assert told(apart, reach) == ["OSError", "ConnectionRefusedError"]
    assert told(apart, reach, role="driver") == ["OSError", "ConnectionRefusedError"]
    assert told(apart, reach, role="build")[1] == "None"  # which may need a registry
    with socket.create_server(("127.0.0.1", 0)) as ours:
        where = ("127.0.0.1", ours.getsockname()[1])
        code = f"print(json.dumps(tried(lambda: socket.create_connection({where}, 2).close())))"
        assert [told(apart, code, role=role) for role in ("contender", "driver")] == ["None", "None"]
        assert told(apart, code, role="tool") == "ConnectionRefusedError"


@root
def test_its_network_has_the_settings_of_this_machine_and_webdyno_goes_back_to_that(
    own_lock: Path, tmp_path: Path
) -> None:
    here = NETWORK.stat().st_ino
    names = ("core/somaxconn", "ipv4/ip_local_port_range", "ipv4/tcp_fin_timeout", "ipv4/tcp_max_syn_backlog")
    before = [Path(f"/proc/sys/net/{name}").read_text() for name in names]
    with strap(None, tmp_path / "cache", as_user=True) as apart:
        code = f"print(json.dumps([open('/proc/sys/net/' + name).read() for name in {names}]))"
        assert told(apart, code) == before
        assert NETWORK.stat().st_ino != here
    assert NETWORK.stat().st_ino == here


@root
def test_its_log_can_be_opened_by_name_and_is_the_users_again_afterwards(apart: Strapped, tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = contender(apart, "print(os.getuid(), file=open('/dev/stdout', 'a'))")
    with apart.start(msgspec.structs.replace(command, stdout=log)) as group:
        assert group.wait(10.0) == 0
    assert int(log.read_text()) > 1_000
    assert log.stat().st_uid == os.geteuid()


@root
def test_a_command_that_needs_nothing_hidden_is_executed_though_webdynos_own_python_may_be(apart: Strapped) -> None:
    folder = apart.folder()
    environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin"}
    command = Command(argv=["sh", "-c", "echo served"], cwd=folder, environment=environment, role="contender")
    with apart.start(command) as group:
        assert group.stdout is not None
        assert group.stdout.read() == b"served\n"


@root
def test_nothing_is_executed_where_it_cannot_be_put_aside(own_lock: Path, tmp_path: Path) -> None:
    class Failing(ThrowawayUsers):
        def take(self, mark: str, command: Command) -> list[str]:
            words = super().take(mark, command)
            return aside.encode(int(words[0]), words[1], ["/etc/passwd"], [])  # no folder: it cannot be covered

    host, canary = Here(users=Failing(tmp_path)), tmp_path / "canary"
    try:
        with pytest.raises(MachineError, match=r"--as-user is not possible here: .*; --no-as-user runs"):
            host.start(contender(host, "open(sys.argv[1], 'w')", str(canary)))
    finally:
        host.end_all()
    assert not canary.exists()


@root
def test_a_killed_webdyno_leaves_no_such_user_and_the_next_one_its_folders(own_lock: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", OWNER, str(tmp_path / "cache"), str(Path.cwd())]
    environment = {**os.environ, "TMPDIR": str(own_lock)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True) as owner:
        assert owner.stdout is not None
        token, pid, user = owner.stdout.readline().split()
        left = list(own_lock.glob(f"webdyno-{token}-*"))
        assert [path.stat().st_uid for path in left] == [int(user)]
        owner.send_signal(signal.SIGKILL)
    wait_for(lambda: gone(int(pid)))
    with strap(None, tmp_path / "cache") as next_one:
        assert len(next_one.swept) == 1
    assert not [path for path in left if path.exists()]
    assert not [each for each in all_stats().values() if each.alive and each.pid in owned_by(int(user))]


def test_an_ordinary_user_is_told_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(MachineError, match="--as-user needs root: only root may start a process as another user"):
        ThrowawayUsers(tmp_path)


def test_a_container_is_no_place_for_such_a_user(own_lock: Path, tmp_path: Path) -> None:
    refused = pytest.raises(MachineError, match="--as-user and --way container exclude each other")
    with refused, strap(None, tmp_path / "cache", way="container", as_user=True):
        pass


def test_the_interpreter_that_a_link_leads_to_is_shown_with_every_link_on_the_way(home: Path, tmp_path: Path) -> None:
    real, alias = home / ".pyenv/versions/3.11.7", home / ".local/share/uv/python/cpython-3.11"
    environment = tmp_path / "cache/environments/abc/bin"
    for folder in (real / "bin", alias.parent, environment):
        folder.mkdir(parents=True)
    (real / "bin/python3.11").touch()
    alias.symlink_to(real)
    (environment / "python").symlink_to(alias / "bin/python3.11")
    shown = folders_of([environment])
    assert {real, alias, environment.parent} <= {*shown}
    assert not [path for path in shown if path in (home, home / ".pyenv", home / ".local")]


@pytest.mark.parametrize("named", ["", ".ssh", "bin", ".local", ".."])
def test_no_home_and_no_hidden_folder_at_its_top_is_ever_shown(home: Path, named: str) -> None:
    (home / named).mkdir(exist_ok=True)
    assert {*folders_of([home / named])} <= {home / "bin"}


@root
def test_only_what_is_served_from_is_shown_of_a_cache_wherever_links_lead(home: Path, tmp_path: Path) -> None:
    (home / "environments").mkdir()  # a cache at the top of a home
    larger = tmp_path / "larger"
    larger.mkdir()
    (home / "apps").symlink_to(larger)
    command = Command(argv=[], environment={"HOME": str(tmp_path)}, role="contender", cwd=tmp_path)
    words = ThrowawayUsers(home).take("it", command)
    shown = words[3 + int(words[2]) :]
    assert {str(home / "apps"), str(home / "environments"), str(larger)} <= {*shown}
    assert not [path for path in shown if path in (str(home), str(home / ".ssh"))]


@root
def test_a_program_that_is_not_for_all_is_explained(apart: Strapped) -> None:
    command = contender(apart, "")
    program = command.cwd.parent / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    command = msgspec.structs.replace(command, argv=["./program"], cwd=program.parent, reads=(program.parent,))
    with pytest.raises(StartError, match="it is not executable, or only for some users"):
        apart.start(command)


def test_what_bars_the_way_to_what_is_needed_is_covered(home: Path, tmp_path: Path) -> None:
    barred = tmp_path / "mine-alone"
    (barred / "build").mkdir(parents=True)
    barred.chmod(0o700)
    hidden = hidden_from([barred / "build"])
    assert {barred, home, Path("/root")} <= {*hidden} or not Path("/root").is_dir()
    assert Path("/") not in hidden
    assert Path("/usr") not in hidden
