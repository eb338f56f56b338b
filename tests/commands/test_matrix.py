"""list, show, plan, check and lock with the combinations of a matrix."""

from __future__ import annotations

import json

import pytest

from webdyno.commands import call
from webdyno.read import default_folder


def said(line: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert call(line.split()) == 0
    return capsys.readouterr().out


def test_every_combination_is_listed_or_excluded_with_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    (matrix,) = json.loads(said("list matrices --json", capsys))
    excluded = json.loads(said("list --excluded --json", capsys))
    assert matrix["contenders"] + matrix["excluded"] == 8 * 14 * 9
    assert len(excluded) == matrix["excluded"]
    assert all(row["reason"] for row in excluded)
    by_name = {row["name"]: row for row in excluded}
    assert by_name["flask-gunicorn-jython"]["error"] == "ImportError: No module named fcntl"
    names = {row["name"] for row in json.loads(said("list --json", capsys))}
    assert not names & set(by_name)
    assert {"flask-gunicorn-pypy", "bottle-cherrypy-jython", "django-fapws3-cpython27"} <= names


def test_numbers_are_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    (study,) = json.loads(said("list studies --study smoke --json", capsys))
    assert (type(study["contenders"]), type(study["rounds"])) == (int, int)
    assert study["connections"] == [4]
    by_name = {row["name"]: row for row in json.loads(said("list --json", capsys))}
    assert (by_name["waitress"]["threads"], by_name["actix"]["workers"]) == (4, "cores")
    assert " 40 2 1 10 25 500 " in said("list studies --study blocking --wide", capsys)


def test_a_study_tells_what_of_its_article_is_not_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    (matrix,) = json.loads(said("list matrices --json", capsys))
    told = said("list --study pypy", capsys)
    assert f"{matrix['excluded']} combinations are excluded; why: webdyno list --study pypy --excluded" in told
    assert "not in it: Google App Engine: " in " ".join(told.split())
    rows = json.loads(said("list --study pypy --excluded --json", capsys))
    absent = [row["name"] for row in rows if not row["matrix"]]
    assert len(rows) == matrix["excluded"] + len(absent)
    assert "Rocket 1.2" in absent
    (row,) = json.loads(said("list --study hello --excluded --json", capsys))
    assert (row["name"].split(",")[0], row["error"]) == ("evma_httpserver", "nothing found")


def test_a_combination_is_shown_with_the_versions_that_are_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    shown = json.loads(said("show bottle-cherrypy-pypy --json", capsys))["contender"]
    locked = [line.split("==")[0] for line in shown["locked"]]
    assert {"bottle", "redis", "cheroot"} <= set(locked)
    assert not {"django", "gevent", "twisted"} & set(locked)
    assert not [line for line in shown["locked"] if "--hash" in line]


def test_a_matrix_is_shown_with_what_it_leaves_out(capsys: pytest.CaptureFixture[str]) -> None:
    shown = json.loads(said("show pypy --json", capsys))["matrix"]
    assert shown["contenders"] + sum(len(it["excluded"]) for it in shown["exclude"]) == 8 * 14 * 9


def test_a_plan_takes_patterns(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["plan", "pypy", "-k", "flask-*-cpython", "-k", "pypy/tornado-*", "--json"]) == 0
    planned = {trial["contender"] for trial in json.loads(capsys.readouterr().out)["trials"]}
    assert len([name for name in planned if name.startswith("flask-")]) == 9
    assert {"tornado-tornado-cpython"} <= planned


@pytest.mark.parametrize("command", ["check", "lock", "plan smoke -k"])
def test_a_pattern_that_matches_nothing_is_one_sentence(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call([*command.split(), "flask-*-perl"]) == 2
    assert capsys.readouterr().err == "webdyno: no contender matches 'flask-*-perl'; see: webdyno list\n"


@pytest.mark.parametrize("command", ["check", "show", "lock", "plan smoke -k"])
def test_an_excluded_combination_gets_its_reason(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call([*command.split(), "flask-gunicorn-jython"]) == 2
    assert capsys.readouterr().err.startswith(
        "webdyno: flask-gunicorn-jython is excluded from the matrix pypy: gunicorn needs fcntl"
    )


def test_what_a_pattern_names_without_a_lock_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    locked: list[tuple[str, int]] = []
    monkeypatch.setattr("webdyno.commands.lock.write_lock", lambda it, *rest: locked.append((it.name, len(rest[-1]))))
    assert said("lock bottle-wsgiref-* flask-wsgiref-*", capsys).splitlines() == [
        str(default_folder() / "locks" / f"pypy-{runtime}.txt") for runtime in ("cpython", "pypy", "jython")
    ]
    assert locked == [("bottle-wsgiref-cpython", 44), ("bottle-wsgiref-pypy", 44), ("bottle-wsgiref-jython", 18)]
    assert call(["lock", "node-*"]) == 2
    assert capsys.readouterr().err == (
        "webdyno: node-*: no contender of these has a lock; only those in Python and on the JVM do\n"
    )
