"""The five lines of docs/how-to/from-python.md, as they stand there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from webdyno.api import read

PAGE = Path(__file__).parent.parent.parent / "docs" / "how-to" / "from-python.md"

pytestmark = [pytest.mark.live, pytest.mark.timeout(180)]


def test_the_page_does_what_it_says(environment: dict[str, str], tmp_path: Path) -> None:
    code = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[0]
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=150,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # nobody listens to what it says
    (folder,) = (tmp_path / "results").iterdir()
    found = read(folder)
    assert done.stdout.splitlines() == [verdict.sentence for verdict in found.analysis.verdicts]
    assert {run.outcome for run in found.runs} == {"ok"}
    assert {run.trial.contender for run in found.runs} == {"waitress", "wsgiref"}
