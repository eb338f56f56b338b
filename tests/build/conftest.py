"""One job of each kind, and a fake host that installs whatever it is asked to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.build.fake_host import FakeHost
from tests.fakes import contender
from webdyno.build import Job
from webdyno.model.built import Found
from webdyno.model.contender import App, Runtime
from webdyno.rig.host import Command

FOUND = Found(runtime="py", program="/usr/bin/python3.11", version="Python 3.11.2")
LANGUAGES = {"python": "Python", "node": "JavaScript", "go": "Go", "rust": "Rust"}


def runtime(kind: str = "python", **changes: object) -> Runtime:
    fields = {"name": kind[:2], "kind": kind, "language": LANGUAGES.get(kind, kind), "find": ["tool"]}
    return Runtime(**{**fields, "version": ["--version"], "install": "ask around", **changes})  # type: ignore[arg-type]


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "app.py").write_text("app = 1\n")
    return folder


@pytest.fixture
def job(sources: Path) -> Job:
    app = App(name="app", language="Python", interface="wsgi", framework="none", answers=["hello"])
    return Job(contender("fast", requires=["fast==1.0"]), app, runtime(), FOUND, sources, None)


def installs(command: Command) -> str | int:
    """uv as it behaves on a good day."""
    if "venv" in command.argv:
        Path(command.argv[-1]).mkdir()
    if "list" in command.argv:
        return json.dumps([{"name": "fast", "version": "1.0"}, {"name": "dependency", "version": "2.0"}])
    return 0


@pytest.fixture
def host() -> FakeHost:
    return FakeHost(installs)
