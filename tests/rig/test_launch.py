"""What a started command finds, and what is said when it cannot be started."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.rig.strapping import gone, python, wait_for
from webdyno.model.errors import StartError
from webdyno.rig.here import MOST_PROCESSES, Here
from webdyno.rig.host import Command, Role
from webdyno.rig.strap import Strapped

pytestmark = pytest.mark.live

TELL = """
import json, os, resource, signal, sys
print(json.dumps({
    "environment": dict(os.environ),
    "cores": sorted(os.sched_getaffinity(0)),
    "leads_session": os.getsid(0) == os.getpid(),
    "files": resource.getrlimit(resource.RLIMIT_NOFILE),
    "ignored": open("/proc/self/status").read().partition("SigIgn:")[2].split()[0],
    "open": sorted(int(fd) for fd in os.listdir("/proc/self/fd")),
    "stdin": sys.stdin.read(),
    "cwd": os.getcwd(),
}))
"""


def tell(host: Here, command: Command) -> dict[str, object]:
    with host.start(command) as group:
        assert group.stdout is not None
        told = json.loads(group.stdout.read())
    assert isinstance(told, dict)
    return told


def test_a_command_gets_exactly_its_environment_and_our_mark(here: Here) -> None:
    environment = tell(here, python(TELL, role="tool"))["environment"]
    assert isinstance(environment, dict)
    environment.pop("LC_CTYPE", None)  # Python itself adds it
    assert environment == {"PATH": os.environ["PATH"], "WEBDYNO_RIG": f"{here.token}.tool.1"}


def test_a_variable_arrives_as_it_is_and_stands_in_no_command_line(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    popen = subprocess.Popen

    def noting(argv: list[str], **rest: Any) -> subprocess.Popen[bytes]:
        started.append(argv)
        return popen(argv, **rest)

    monkeypatch.setattr(subprocess, "Popen", noting)
    odd = {"KEY": "hunter2=x", "LINES_OF": "one\ntwo", "EMPTY": "", "NAMED": "na\u00efve", "RAW": "\udcff"}
    environment = tell(here, python(TELL, role="tool", environment=odd))["environment"]
    assert isinstance(environment, dict)
    assert {name: environment[name] for name in odd} == odd
    assert len(started) == 1
    assert not any("hunter2" in word or "KEY" in word for word in started[0])


def test_a_variable_that_no_environment_can_hold_is_refused(here: Here) -> None:
    with pytest.raises(ValueError, match="NUL"):
        here.start(python(TELL, role="tool", environment={"KEY": "a\0OTHER=b"}))


def test_a_command_reads_its_standard_input_to_the_end(here: Here) -> None:
    assert tell(here, python(TELL, role="tool", stdin=b"order" * 50_000))["stdin"] == "order" * 50_000
    assert tell(here, python(TELL, role="tool"))["stdin"] == ""


def test_a_command_has_its_own_session_all_the_files_it_may_and_inherits_nothing(here: Here, tmp_path: Path) -> None:
    with (tmp_path / "ours").open("w"):
        told = tell(here, python(TELL, role="tool"))
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    assert told["leads_session"] is True
    assert told["files"] == [min(hard, 1 << 20), hard]
    assert told["open"] == [0, 1, 2, 3]  # 3: the folder being listed


def most_processes(host: Here, role: Role) -> list[int]:
    code = "import json, resource; print(json.dumps(resource.getrlimit(resource.RLIMIT_NPROC)))"
    with host.start(python(code, role=role)) as group:
        assert group.stdout is not None
        found = json.loads(group.stdout.read())
    assert isinstance(found, list)
    return found


def test_without_a_cgroup_a_contenders_user_may_have_so_many_more_processes(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = list(resource.getrlimit(resource.RLIMIT_NPROC))
    hard = float("inf") if before[1] == resource.RLIM_INFINITY else before[1]
    monkeypatch.setattr(os, "getuid", lambda: 54_321)  # who has none
    assert most_processes(here, "contender") == [min(hard, MOST_PROCESSES)] * 2
    assert most_processes(here, "driver") == before
    monkeypatch.setattr(os, "getuid", lambda: 0)  # who is not bound by it
    assert most_processes(here, "contender") == before


def test_no_ignored_signal_is_handed_down(here: Here) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in a shell's background job
    try:
        status = status_of_a_child(here)
    finally:
        signal.signal(signal.SIGINT, before)
    ignored = int(status.partition("SigIgn:")[2].split()[0], 16)
    # signals 32 and up are the C library's own; make hands them down ignored, and no server minds
    assert ignored & (1 << 31) - 1 == 0


def status_of_a_child(here: Here) -> str:
    shell = Command(
        argv=["/bin/sh", "-c", "cat /proc/self/status"], environment={"PATH": os.environ["PATH"]}, role="tool"
    )
    with here.start(shell) as group:
        assert group.stdout is not None
        return group.stdout.read().decode()


def test_each_role_runs_on_its_own_cores(strapped: Strapped) -> None:
    assert tell(strapped, python(TELL, role="contender"))["cores"] == list(strapped.rig.contender_cores)
    assert tell(strapped, python(TELL, role="driver"))["cores"] == list(strapped.rig.driver_cores)


def test_a_build_may_use_every_core(own_lock: Path, strapped: Strapped) -> None:
    every = sorted({*strapped.rig.contender_cores, *strapped.rig.driver_cores, *strapped.rig.control_cores})
    assert set(every) <= set(tell(strapped, python(TELL, role="build"))["cores"])  # type: ignore[call-overload]


def refused(host: Here, argv: list[str], cwd: Path = Path()) -> str:
    with pytest.raises(StartError) as caught:
        host.start(Command(argv=argv, cwd=cwd, environment={"PATH": "/nowhere"}, role="contender"))
    assert caught.value.exited
    return str(caught.value)


def test_a_program_that_does_not_exist_is_named(here: Here) -> None:
    assert refused(here, ["gunicorm"]) == (
        "gunicorm could not be executed on PATH /nowhere: "
        "there is no such program (or the interpreter in its first line is missing)"
    )


def test_a_program_that_is_no_program_is_said_to_be_none(here: Here, tmp_path: Path) -> None:
    file = tmp_path / "server"
    file.write_bytes(b"\x00\x01")
    assert refused(here, [str(file)]) == f"{file} could not be executed: it is not executable"
    file.chmod(0o755)
    assert refused(here, [str(file)]) == f"{file} could not be executed: it is not a program this machine can execute"


def test_a_folder_that_does_not_exist_is_named(here: Here, tmp_path: Path) -> None:
    assert refused(here, ["x"], tmp_path / "no") == f"the folder to start in, {tmp_path / 'no'}, does not exist"


def test_a_program_is_found_relative_to_its_folder(here: Here, tmp_path: Path) -> None:
    file = tmp_path / "server"
    file.write_text("#!/bin/sh\npwd\n")
    file.chmod(0o755)
    with here.start(Command(argv=["./server"], cwd=tmp_path, environment={"PATH": "/bin"}, role="tool")) as group:
        assert group.stdout is not None
        assert group.stdout.read().decode().strip() == str(tmp_path)


def test_output_goes_to_the_files_asked_for(here: Here, tmp_path: Path) -> None:
    command = Command(
        argv=["/bin/sh", "-c", "echo out; echo err >&2"],
        environment={},
        role="tool",
        stdout=tmp_path / "out",
        stderr=tmp_path / "err",
    )
    for _ in range(2):
        assert here.start(command).wait(10) == 0
    assert (tmp_path / "out").read_text() == "out\nout\n"
    assert (tmp_path / "err").read_text() == "err\nerr\n"


def test_a_command_dies_with_the_webdyno_that_started_it() -> None:
    code = (
        "import sys, time\n"
        "from webdyno.rig.here import Here\n"
        "from webdyno.rig.host import Command\n"
        "print(Here().start(Command(argv=['/bin/sleep', '60'], environment={}, role='tool')).pid, flush=True)\n"
        "time.sleep(60)"
    )
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env={**os.environ})
    assert owner.stdout is not None
    with owner.stdout:
        pid = int(owner.stdout.readline())
        assert not gone(pid)
        owner.send_signal(signal.SIGKILL)
        owner.wait()
    wait_for(lambda: gone(pid))
