"""What is not over, or had no rival, recommends no contender: on a terminal, in Markdown and in JSON alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.analyse.fakes import FINGERPRINT, plan, run
from webdyno.commands import call
from webdyno.model.run import Run
from webdyno.store import Store


def written(folder: Path, planned: list[Run], done: int) -> str:
    with Store.create(folder, plan(planned), FINGERPRINT) as store:
        for each in planned[:done]:
            store.append(each)
    return str(folder)


def told(folder: str, capsys: pytest.CaptureFixture[str]) -> tuple[str, str, dict[str, object]]:
    said = []
    for form in ("terminal", "md", "json"):
        assert call(["report", folder, "--format", form]) == 0
        said.append(" ".join(capsys.readouterr().out.split()))
    return said[0], said[1], json.loads(said[2])["analysis"]


TWO = [run(name, rate=rate, round_=r) for r in (1, 2, 3, 4) for name, rate in (("a", 900.0), ("b", 100.0))]


@pytest.mark.parametrize("done", [4, 7])
def test_one_that_is_not_over(done: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    terminal, markdown, data = told(written(tmp_path / "r", TWO, done), capsys)
    sentence = f"no contender can be recommended yet: {8 - done} of 8 planned runs are missing"
    assert sentence in terminal
    assert sentence in markdown
    assert (data["recommended"], data["recommended_command"], data["sentence"]) == (None, [], sentence)
    assert "take a" not in terminal + markdown


def test_the_same_when_it_is_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    terminal, markdown, data = told(written(tmp_path / "r", TWO, 8), capsys)
    assert "take a: it served the most" in terminal
    assert "take a: it served the most" in markdown
    assert data["recommended"] == "a"


def test_one_of_a_single_contender(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    alone = [run("a", round_=r) for r in (1, 2, 3)]
    terminal, markdown, data = told(written(tmp_path / "r", alone, 3), capsys)
    sentence = "no contender can be recommended: only a served, without a rival"
    assert sentence in terminal
    assert sentence in markdown
    assert (data["recommended"], data["recommended_command"]) == (None, [])
    assert "take a" not in terminal + markdown
