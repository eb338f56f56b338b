"""How long a cluster's head waits for a node, from the environment it was started with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.rig.strapping import wait_for
from webdyno.rig.patience import HEAD, LEAST_S, patience_here, patience_in
from webdyno.rig.process import name_of


@pytest.mark.parametrize(
    ("environment", "patience_s"),
    [
        (b"", 65.0),
        (b"RAY_health_check_failure_threshold=10\0", 130.0),
        (b"A=1\0RAY_health_check_period_ms=1000\0RAY_health_check_timeout_ms=1000\0", 10.0),
        (b"RAY_health_check_period_ms=soon\0RAY_health_check_other=3", 65.0),
    ],
)
def test_so_many_failures_each_after_a_pause_and_a_wait(environment: bytes, patience_s: float) -> None:
    assert patience_in(environment) == patience_s


def test_rays_own_settings_are_patient_enough() -> None:
    assert patience_in(b"") > LEAST_S


def test_the_head_of_this_host_is_found_and_its_environment_read(tmp_path: Path) -> None:
    program = tmp_path / HEAD
    program.symlink_to(sys.executable)
    environment = {"RAY_health_check_failure_threshold": "2"}
    code = "import sys; sys.stdin.read()"
    with subprocess.Popen([program, "-S", "-c", code], env=environment, stdin=subprocess.PIPE) as head:
        wait_for(lambda: name_of(head.pid) == HEAD)
        found = patience_here()
        head.communicate()
    assert found == 26.0
