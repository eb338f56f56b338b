"""A call by a fork is told as one by ``subprocess`` would be: its code, its words, its environment, its end."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.live import forking

pytestmark = [pytest.mark.live, pytest.mark.timeout(60)]


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (["--version"], {}),
        (["run", "nowhere"], {}),
        (["plan", "quickstart", "-k", "tornado-db", "-w", "counter"], {"REDIS_URL": "localhost"}),
        (["load", "http://127.0.0.1:1/", "--body", "@here.txt"], {}),
    ],
    ids=["version", "wrong", "environment", "folder"],
)
def test_it_ends_and_says_as_the_program_does(
    arguments: list[str], variables: dict[str, str], environment: dict[str, str], tmp_path: Path, streams: Path
) -> None:
    given = {**environment, **variables}
    program = subprocess.run(
        [sys.executable, "-m", "webdyno", *arguments],
        cwd=tmp_path, env=given, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    forked = forking.call(arguments, cwd=tmp_path, environment=given, streams=streams, timeout_s=50)
    assert (forked.returncode, forked.stdout, forked.stderr) == (program.returncode, program.stdout, program.stderr)


def test_one_that_takes_too_long_is_killed_with_what_it_said(
    environment: dict[str, str], tmp_path: Path, streams: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        load = ["load", f"http://127.0.0.1:{silent.getsockname()[1]}/", "-d", "50s", "-c", "1"]
        with pytest.raises(subprocess.TimeoutExpired):
            forking.call(load, cwd=tmp_path, environment=environment, streams=streams, timeout_s=1)
