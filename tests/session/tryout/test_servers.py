"""Why a server is left out, as a person reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import shipped
from tests.fakes import contender
from tests.rig.strapping import own_lock, strapped
from webdyno.model.errors import BuildError
from webdyno.rig.strap import Strapped
from webdyno.session.tryout.project import Project, Said
from webdyno.session.tryout.servers import _reason, build_servers

__all__ = ["own_lock", "strapped"]

UV = """error: No solution found when resolving dependencies
  cause: Because gevent>=26.9.0 depends on greenlet{platform_python_implementation == 'CPython'}>=3.2.2 and
         greenlet{platform_python_implementation == 'CPython'}==2.0.2, we can conclude that gevent>=26.9.0 cannot be
         used.
         And because you require gevent==26.9.0, we can conclude that your requirements are unsatisfiable.
"""


def test_the_resolver_is_quoted_without_its_conclusions() -> None:
    error = BuildError("could not install gevent: uv ended with status 1", UV)
    assert _reason(error) == (
        "it conflicts with the project's packages: gevent>=26.9.0 depends on greenlet>=3.2.2 and greenlet==2.0.2"
    )


def test_what_fails_otherwise_says_so_itself() -> None:
    error = BuildError(
        "could not install bjoern: uv ended with status 1; system requirements: libev", "ev.h: no such file"
    )
    assert _reason(error) == str(error)


def test_what_builds_see_is_said_once_before_the_servers_are_built(
    strapped: Strapped, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "secret")
    said = Said(version=[3, 11, 2], implementation="CPython", base="/python", folders=[], packages={})
    project = Project(
        folder=tmp_path, python=Path("/python"), how="", variables={}, target="a:a", interface="wsgi", said=said
    )
    servers = [contender(name, looks_for=["no-such-tool"], needs="it") for name in ("one", "two")]
    with caplog.at_level("INFO", "webdyno"):
        built, skipped = build_servers(servers, project, shipped.catalogue(), strapped, tmp_path)
        assert (built, len(skipped), len(caplog.messages)) == ([], 2, 1)
        build_servers([], project, shipped.catalogue(), strapped, tmp_path)
    (line,) = caplog.messages
    assert line.startswith("note: builds see of your environment ")
    assert "PATH" in line
    assert "GITHUB_TOKEN" not in line
