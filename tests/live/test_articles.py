"""One cell of each article's study, as a user would ask for it: built, served with what it needs, loaded, told."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.live.conftest import Call

pytestmark = pytest.mark.live

REDIS = shutil.which("redis-server") is not None
MONGO = shutil.which("mongod") is not None or (shutil.which("java") is not None and shutil.which("mvn") is not None)


@pytest.mark.parametrize(
    ("study", "contender", "workload", "connections"),
    [
        pytest.param(
            *("battle", "gunicorn-sync-db-as-2014", "mongo-small", "20"),
            marks=pytest.mark.skipif(not MONGO, reason="needs mongod, or Java and Maven for a stand-in"),
        ),
        ("blocking", "tornado-as-2015", "hello", "25"),
        pytest.param(
            *("hello", "go-as-2013", "greeting", "50"),
            marks=pytest.mark.skipif(shutil.which("go") is None, reason="Go is not installed"),
        ),
        pytest.param(
            *("pypy", "bottle-tornado-cpython", "page", "4"),
            marks=pytest.mark.skipif(not REDIS, reason="redis-server is not installed"),
        ),
        ("wsgi", "cherrypy-as-2016", "hello", "100"),
    ],
)
def test_a_cell_of_its_study(
    study: str, contender: str, workload: str, connections: str, webdyno: Call, tmp_path: Path
) -> None:
    cell = ["-k", contender, "-w", workload, "-c", connections, "-d", "1s", "--rounds", "1"]
    done = webdyno("run", study, "--brief", *cell, "--results", "there", "--json", timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert told["runs_done"] == told["runs_planned"] >= 1
    assert told["failures"] == []
    for verdict in told["analysis"]["verdicts"]:
        assert verdict["workload"] == workload
        assert [each["contender"] for each in verdict["standings"]] == [contender]
        assert verdict["standings"][0]["rate"]["value"] > 0
    rulings = {claim["ruling"] for claim in told["analysis"]["claims"]}
    assert rulings and rulings <= {"holds", "does not hold", "cannot tell"}
    assert list(tmp_path.glob(f"there/{study}-*/results.sqlite"))
