"""webdyno from Python: what is asked for becomes a study, and a results folder becomes what it holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.analyse.fakes import FINGERPRINT, plan, run
from webdyno import api
from webdyno.design.choice import Choice
from webdyno.model.errors import UsageError
from webdyno.model.race import Race
from webdyno.session.study import Ended
from webdyno.store import Store

RUNS = [run(name, round_=round_, rate=rate) for round_ in (1, 2, 3) for name, rate in (("a", 9000.0), ("b", 3000.0))]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Store.create(tmp_path / "r", plan(RUNS, rounds=3), FINGERPRINT) as store:
        for each in RUNS:
            store.append(each)
    return tmp_path / "r"


def test_results_are_read_with_what_they_come_to(folder: Path) -> None:
    found = api.read(folder)
    assert (found.folder, len(found.runs), found.fingerprint) == (folder, 6, FINGERPRINT)
    (verdict,) = found.analysis.verdicts
    assert [standing.contender for standing in verdict.standings] == ["a", "b"]
    assert verdict.winners == ["a"]


def begun(monkeypatch: pytest.MonkeyPatch, ended: Ended) -> list[Any]:
    seen: list[Any] = []

    def begin(study: Any, known: Any, results: Path, **given: Any) -> Ended:
        seen.extend([study, results, given])
        return ended

    monkeypatch.setattr(api.session, "begin", begin)
    return seen


def test_what_is_given_narrows_the_study_and_the_rest_is_as_it_says(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = begun(monkeypatch, Ended(folder, interrupted=False))
    found = api.measure("quickstart", contenders=["waitress"], connections=[8], budget_s=60.0, results="elsewhere")
    study, results, given = seen
    assert found.folder == folder
    assert (study.contenders, [load.connections for load in study.loads]) == (["waitress"], [[8]])
    assert results == Path("elsewhere")
    assert given["choice"] == Choice(race=Race(budget_s=60.0))


def test_a_study_that_was_stopped_is_a_ctrl_c(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(monkeypatch, Ended(folder, interrupted=True))
    with pytest.raises(KeyboardInterrupt):
        api.measure("quickstart")


def test_what_there_is_not_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no study 'quikstart'; did you mean 'quickstart'"):
        api.measure("quikstart")
    with pytest.raises(UsageError, match="no results here"):
        api.read(tmp_path)


def test_somebody_elses_catalogue_and_results_want_trust(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / "theirs"
    (theirs / "contenders").mkdir(parents=True)
    (theirs / "contenders" / "evil.toml").write_text(
        'app = "python-wsgi"\nruntime = "cpython-3.11"\nserver = "s"\nmodel = "m"\nserve = ["s", "{port}"]\n'
        'because = "b"\nauthor = "a"\n'
    )
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    begun(monkeypatch, Ended(folder, interrupted=False))
    with pytest.raises(UsageError, match=r"contender evil: s '{port}'.* trust=True"):
        api.measure("quickstart", catalogue=[theirs])
    api.measure("quickstart", catalogue=[theirs], trust=True)


def test_results_that_were_not_begun_here_want_trust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def machine(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(api.session, "with_definitions_of", machine)  # what comes next
    with Store.create(tmp_path / "r", plan([run("a")], trials=[]), FINGERPRINT):
        pass
    with pytest.raises(UsageError, match=r"somebody else's.* trust=True"):
        api.resume(tmp_path / "r")
    with pytest.raises(KeyboardInterrupt):
        api.resume(tmp_path / "r", trust=True)
