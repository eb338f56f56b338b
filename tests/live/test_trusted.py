"""Results that came back with another command, which is not run until somebody says so; and one's own, which go on."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.live.conftest import Call
from webdyno.store import FILE

pytestmark = [pytest.mark.live, pytest.mark.timeout(180)]


def changed(folder: Path, canary: Path) -> None:
    """Its contender makes a file before it serves, and nothing was measured of it yet."""
    with closing(sqlite3.connect(folder / FILE)) as connection, connection:
        plan = json.loads(connection.execute("SELECT body FROM plan").fetchone()[0])
        serve = plan["contenders"]["toy-good"]["serve"]
        plan["contenders"]["toy-good"]["serve"] = ["sh", "-c", f'touch {canary}; exec "$@"', "sh", *serve]
        connection.execute("UPDATE plan SET body = ?", (json.dumps(plan),))
        for table in ("run", "slice", "reading"):
            connection.execute(f"DELETE FROM {table}")


def test_a_changed_command_is_run_only_when_it_is_trusted(webdyno: Call, tmp_path: Path) -> None:
    done = webdyno("run", "toys", "--rounds", "2")
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "results").iterdir()
    canary = tmp_path / "canary"
    assert webdyno("run", "--resume", str(folder)).returncode == 0  # as it was, it is ours
    changed(folder, canary)
    done = webdyno("run", "--resume", str(folder))
    assert done.returncode == 2
    assert f"contender toy-good: sh -c 'touch {canary}" in done.stderr
    assert "--trust" in done.stderr
    assert not canary.exists()
    done = webdyno("run", "--resume", str(folder), "--trust")
    assert done.returncode == 0, done.stderr
    assert canary.exists() is (os.geteuid() != 0)  # root runs it as somebody who cannot write there


def test_what_was_begun_here_goes_on_unasked_though_the_catalogue_was_edited_since(
    webdyno: Call, tmp_path: Path
) -> None:
    file = tmp_path / "mine" / "contenders" / "mine.toml"
    file.parent.mkdir(parents=True)
    text = 'app = "toy"\nruntime = "cpython-3.11"\nserver = "toy"\nmodel = "m"\nbecause = "b"\nauthor = "a"\n'
    file.write_text(f'{text}serve = ["python", "toy.py", "{{port}}", "good"]\n')
    more = ["--catalogue", "mine"]
    done = webdyno("run", "toys", "-k", "mine", "--rounds", "2", *more)
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "results").iterdir()
    file.write_text(f'{text}serve = ["python", "toy.py", "{{port}}", "exit"]\n')
    done = webdyno("run", "--resume", str(folder), *more)
    assert done.returncode == 0, done.stderr
