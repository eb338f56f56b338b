"""A real run, followed by a real view: what the page is told while servers are measured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from tests.live.conftest import CATALOGUE
from tests.view.serving import serving

pytestmark = [pytest.mark.live, pytest.mark.timeout(180)]


def test_a_run_is_followed_to_its_end_and_leaves_its_metrics(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    command = ["run", "toys", "--rounds", "2", "-d", "1s", "--metrics", "m.prom", "--catalogue", str(CATALOGUE)]
    process = subprocess.Popen(
        [sys.executable, "-m", "webdyno", *command],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stderr is not None
        for line in process.stderr:  # "[1/2] ...": the first Trial is done, so the store is there and the second runs
            if line.startswith("[1/2]"):
                break
        with serving(tmp_path / "results") as there:
            (folder,) = (tmp_path / "results").iterdir()
            said: list[tuple[str, str]] = []
            with there.events(f"/results/{folder.name}/events") as events:
                said += events
        process.stderr.read()
        assert process.wait() == 0
    assert said[-1][0] == "over"
    assert any(kind == "now" and "<b>toy-good</b>" in data and "/s, 0 errors" in data for kind, data in said)
    assert any(kind == "done" and "2</td>" in data for kind, data in said)
    assert sorted(path.name for path in folder.iterdir()) == ["logs", "report.html", "results.sqlite"]
    families = {family.name: family for family in text_string_to_metric_families((tmp_path / "m.prom").read_text())}
    assert [sample.value for sample in families["webdyno_runs"].samples] == [2]
    assert "webdyno_rate_per_second" in families
