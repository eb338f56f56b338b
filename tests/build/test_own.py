"""A server in an environment of its own, beside the packages of somebody's project."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.build.conftest import installs, runtime
from tests.build.fake_host import FakeHost
from tests.fakes import contender
from webdyno.build.own import OwnJob, Packages, build_own, constraints_of
from webdyno.model.built import Built
from webdyno.model.contender import App
from webdyno.model.errors import BuildError
from webdyno.rig.host import Command

PACKAGES = Packages(program="/usr/bin/python3.11", version="3.11.2", folders=["/shop"], installed={"flask": "3.0"})


def makes(command: Command) -> str | int:
    done = installs(command)
    if "venv" in command.argv:
        (Path(command.argv[-1]) / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    return done


def cannot_list(command: Command) -> str | int:
    return 2 if "list" in command.argv else makes(command)


def built(sources: Path, cache: Path, host: FakeHost) -> Built:
    app = App(name="app", language="Python", interface="wsgi", framework="none", answers=["hello"])
    job = OwnJob(contender=contender("fast", requires=["fast==1.0"]), app=app, runtime=runtime(), sources=sources)
    return build_own(job, PACKAGES, cache, host, threading.Event())


def test_a_list_of_packages_that_fails_fails_the_build_and_is_not_kept(sources: Path, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="could not read which packages were installed: uv pip list failed"):
        built(sources, tmp_path / "cache", FakeHost(cannot_list))
    later = built(sources, tmp_path / "cache", FakeHost(makes))
    assert later.versions == {"py": "Python 3.11.2", "flask": "3.0", "fast": "1.0", "dependency": "2.0"}


def test_everything_installed_is_a_constraint_but_what_the_server_itself_pins() -> None:
    installed = {"Flask": "3.0", "Fast_Server": "0.9"}
    assert constraints_of(installed, ["fast-server[speed]==1.0", "./no-name"]) == ["Flask==3.0"]
