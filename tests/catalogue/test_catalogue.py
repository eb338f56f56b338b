"""What every entry of webdyno's own catalogue has to offer, beyond being valid."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from tests import shipped
from webdyno.build.locks import KINDS as LOCKED
from webdyno.build.locks import build_lines, locked_lines, unsatisfied
from webdyno.model.rule import evaluate
from webdyno.read import default_folder
from webdyno.service import data

KNOWN = shipped.catalogue()
PYTHON = [name for name, it in KNOWN.contenders.items() if KNOWN.runtimes[it.runtime].kind in LOCKED]
QUICKSTART = KNOWN.studies["quickstart"]


@pytest.mark.parametrize("name", KNOWN.contenders)
def test_a_contender_says_where_it_comes_from_and_whose_advice_it_follows(name: str) -> None:
    it = KNOWN.contenders[name]
    assert re.search(rf"\bstud(y|ies) ({'|'.join(KNOWN.studies)})\b|https://", it.because)
    assert it.recommended, "recommended: link to the official recommendation"
    assert it.author


@pytest.mark.parametrize("name", KNOWN.contenders)
def test_a_setting_that_varies_reaches_the_contender(name: str) -> None:
    it = KNOWN.contenders[name]
    told = " ".join([*it.serve, *it.environment.values()])
    for setting in it.sweep:
        assert f"{{{setting}}}" in told


@pytest.mark.parametrize("name", KNOWN.contenders)
def test_a_rule_that_is_not_one_reaches_the_contender(name: str) -> None:
    it = KNOWN.contenders[name]
    told = " ".join([*it.serve, *it.environment.values()])
    for setting, rule in (("workers", it.workers), ("threads", it.threads)):
        assert rule == 1 or f"{{{setting}}}" in told


def test_a_contender_that_waits_on_a_service_says_how_many_connections_it_may_open() -> None:
    for it in KNOWN.contenders.values():
        answers = it.answers or KNOWN.apps[it.app].answers
        if any(KNOWN.workloads[name].service for name in answers):
            assert it.pool is not None, it.name


def test_what_is_loaded_is_what_a_right_answer_holds() -> None:
    static, small, big = (KNOWN.workloads[name].requests[0].expect for name in ("static", "mongo-small", "mongo-big"))
    assert static.body == data.STATIC
    assert len(data.STATIC) == 2000
    assert json.loads(small.json_equals or "") == data.SMALL
    assert json.loads(big.json_equals or "") == data.BIG
    assert len(data.BIG) == 301
    assert 5_500 < len(json.dumps(data.BIG, separators=(",", ":"))) < 6_500


NO_WHEEL = ("bjoern==", "meinheld==", "mod-wsgi==", "socketify==")
"""What is on PyPI as an sdist alone, for CPython."""
HASHES = r"( --hash=sha256:[0-9a-f]{64})+"


@pytest.mark.parametrize("name", PYTHON)
def test_a_python_contender_that_needs_packages_has_a_lock_that_fits(name: str) -> None:
    it = KNOWN.contenders[name]
    requires = [*KNOWN.apps[it.app].requires, *it.requires]
    if not requires:
        assert name not in KNOWN.locks
        return
    lines = locked_lines(KNOWN.locks[name].read_text("utf-8"))
    assert unsatisfied(requires, lines) == []
    assert [line for line in lines if not re.match(rf"[\w.\[\],-]+==\S+( ; .*)?{HASHES}$", line)] == []
    built_with = build_lines(KNOWN.locks[name].read_text("utf-8"))
    assert unsatisfied(it.build_with, built_with) == []
    assert built_with or not any(line.startswith(NO_WHEEL) for line in lines)
    assert [line for line in built_with if not re.match(rf"\S+==\S+{HASHES}$", line)] == []


@pytest.mark.parametrize(
    "app", [*KNOWN.app_directories.values(), *KNOWN.service_directories.values()], ids=lambda it: it.name
)
def test_what_an_app_names_for_its_language_has_hashes(app: Path) -> None:
    node, rust = app / "package-lock.json", app / "Cargo.lock"
    if node.is_file():
        packages = json.loads(node.read_text("utf-8"))["packages"]
        assert [name for name, it in packages.items() if name and not it["integrity"].startswith("sha512-")] == []
    if rust.is_file():
        packages = tomllib.loads(rust.read_text("utf-8"))["package"]
        assert [it["name"] for it in packages if "source" in it and len(it["checksum"]) != 64] == []
    if (app / "go.mod").is_file() and "require" in (app / "go.mod").read_text("utf-8"):
        assert "h1:" in (app / "go.sum").read_text("utf-8")
    assert (app / "pom.xml").is_file() == (app / "jars.sha256").is_file()


@pytest.mark.parametrize("name", [name for name, it in KNOWN.runtimes.items() if it.package is not None])
def test_a_runtime_that_npm_brings_has_the_hashes_of_its_packages(name: str) -> None:
    it = KNOWN.runtimes[name]
    assert it.package is not None
    assert it.package.rpartition("@")[0] in it.integrity
    assert any("linux-x64" in package for package in it.integrity)
    assert all(text.startswith("sha512-") for text in it.integrity.values())


def test_no_lock_is_left_over() -> None:
    assert set((default_folder() / "locks").iterdir()) == set(KNOWN.locks.values())


APART = {"gunicorn-eventlet": "gunicorn 25.3.0 is the last one that has this worker"}
"""Contenders that cannot have the version all others have, and why; those of an article (-as-2016) have its year's."""


def test_contenders_that_share_a_server_share_its_version() -> None:
    versions: dict[tuple[str, str], set[str]] = {}
    for it in KNOWN.contenders.values():
        if it.name in APART or it.is_of_article:
            continue
        for requirement in it.requires:
            package, _, version = re.sub(r"\[.*\]", "", requirement).partition("==")
            versions.setdefault((it.runtime, package.lower()), set()).add(version)
    assert {package: found for package, found in versions.items() if len(found) > 1} == {}


def test_the_quickstart_is_what_it_promises() -> None:
    assert len(QUICKSTART.contenders) >= 12
    assert QUICKSTART.workloads == ["hello", "json"]
    assert QUICKSTART.rounds >= 3
    assert [load.keep_alive for load in QUICKSTART.loads] == [True]


@pytest.mark.parametrize("name", QUICKSTART.contenders)
def test_quickstart_contenders_answer_both_workloads(name: str) -> None:
    it = KNOWN.contenders[name]
    assert set(QUICKSTART.workloads) <= set(it.answers or KNOWN.apps[it.app].answers)


def test_event_loops_get_one_process_per_core() -> None:
    for it in KNOWN.contenders.values():
        if it.model.startswith("event loop"):
            assert evaluate(it.workers, 4) == 4, it.name


def test_both_workloads_say_the_same() -> None:
    hello, said = (KNOWN.workloads[name].requests[0].expect for name in ("hello", "json"))
    assert hello.body == "Hello, World!"
    assert said.json_equals is not None
    assert json.loads(said.json_equals) == {"message": hello.body}
