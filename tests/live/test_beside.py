"""Contenders that need of the system more than their runtime: built, served, told and ended as one."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.live.conftest import Call

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]


@pytest.mark.parametrize(
    ("contender", "program"),
    [("nginx-tornado-n", "nginx"), ("puma-workers", "puma"), ("thin", "thin"), ("unicorn", "unicorn")],
)
def test_what_stands_beside_a_runtime_serves_is_told_and_ends_with_it(
    webdyno: Call, contender: str, program: str
) -> None:
    if not (shutil.which(program) or shutil.which(program, path="/usr/sbin")):
        pytest.skip(f"{program} is not installed")
    done = webdyno("check", contender, "--json")
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert {"hello", "json"} <= {each["workload"] for each in results}
    assert all((each["passed"], each["notes"]) == (True, []) for each in results)
    assert all(program in each["versions"][program] for each in results)
