"""The end of ``webdyno run``: what was found, and where the rest of it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analyse.fakes import FINGERPRINT, plan, run
from webdyno.commands.run import _finish
from webdyno.session.study import Ended
from webdyno.store import Store


def test_it_names_the_page_and_how_to_see_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "my results" / "hello-20261124-120000"
    runs = [run(name, round_=round_) for name in "ab" for round_ in (1, 2)]
    with Store.create(folder, plan(runs), FINGERPRINT) as store:
        for each in runs:
            store.append(each)
    assert _finish(Ended(folder, interrupted=False), json=False, metrics=None) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"Report: {folder}/report.html; in a browser: webdyno view '{folder.parent}'"
    assert (folder / "report.html").is_file()
