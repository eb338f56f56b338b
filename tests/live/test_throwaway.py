"""A stranger's catalogue that root runs: its contender tries what it can, as a user who is nobody."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.live.conftest import Call
from tests.live.test_run import assert_nothing_left, only_folder, query
from webdyno.model.run import Run
from webdyno.store import Store

pytestmark = [
    pytest.mark.live,
    pytest.mark.timeout(180),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may start a process as another user"),
]
SAID = "as throw-away users, without your files, without any network but loopback"


@pytest.fixture
def theirs(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalogue from elsewhere. Its contender says who it is and what it can read, leaves a file, and serves."""
    secret = tmp_path / "secret"
    secret.write_text("open sesame")
    folder = tmp_path_factory.mktemp("theirs")
    (folder / "contenders").mkdir()
    tries = (
        f"echo as $(id -u).; cat {secret}; ls -A $HOME/..; touch {tmp_path}/canary; exec python toy.py {{port}} good"
    )
    (folder / "contenders" / "sly.toml").write_text(
        f'app = "toy"\nruntime = "cpython-3.11"\nserver = "toy"\nmodel = "m"\nserve = ["sh", "-c", "{tries}"]\n'
        'because = "b"\nauthor = "a"\n'
    )
    return folder


def measured(folder: Path) -> tuple[list[Run], str]:
    """What was measured, and what the contender wrote."""
    with Store.open(folder) as store:
        return store.runs(), "".join(path.read_text() for path in sorted((folder / "logs").iterdir()))


def test_root_runs_a_strangers_contender_as_somebody_who_finds_nothing_and_writes_nothing(
    webdyno: Call, theirs: Path, tmp_path: Path, cache: Path
) -> None:
    more = ["-k", "sly", "--rounds", "2", "--catalogue", str(theirs)]
    assert SAID in " ".join(webdyno("plan", "toys", *more, "--trust").stdout.split())
    done = webdyno("run", "toys", *more, "--trust")
    assert done.returncode == 0, done.stderr
    runs, log = measured(only_folder(tmp_path))
    assert {(run.outcome, run.rig.as_user, run.rig.own_network) for run in runs} == {("ok", True, True)}
    users = {int(user) for user in re.findall(r"^as (\d+)\.$", log, re.M)}
    assert len(users) == len(runs)
    assert min(users) > 1_000
    assert "No such file or directory" in log
    assert "open sesame" not in log
    assert not (tmp_path / "canary").exists()
    assert SAID in (only_folder(tmp_path) / "report.html").read_text()
    assert {path.stat().st_uid for path in (only_folder(tmp_path) / "logs").iterdir()} == {0}
    assert_nothing_left(cache)


def test_it_runs_as_root_only_if_root_says_so(webdyno: Call, theirs: Path, tmp_path: Path) -> None:
    done = webdyno("check", "sly", "--catalogue", str(theirs), "--trust", "-w", "hello")
    assert done.returncode == 0, done.stdout
    assert not (tmp_path / "canary").exists()
    done = webdyno("check", "sly", "--catalogue", str(theirs), "--no-as-user", "-w", "hello")
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "canary").exists()


@pytest.mark.skipif(not shutil.which("redis-server"), reason="redis-server is not installed")
def test_the_service_behind_it_is_somebody_else_too_and_reached(webdyno: Call, tmp_path: Path, cache: Path) -> None:
    done = webdyno("run", "redis", "-k", "toy-redis", "-w", "counter", "--as-user")
    assert done.returncode == 0, done.stderr
    assert query(only_folder(tmp_path), "SELECT DISTINCT outcome FROM run") == [("ok",)]
    assert_nothing_left(cache)
