"""``webdyno compare`` where a side does not build: head decides, and without a base there is no answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.analyse import fakes
from webdyno.commands import call
from webdyno.model.errors import BuildError
from webdyno.session import machine, ready
from webdyno.session.ready import Ready
from webdyno.session.revisions import Revision, RevisionError, refuse_failed_builds

BASE, HEAD = "waitress", "cheroot"


@pytest.fixture
def unbuilt(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The sides that do not build, on a machine that measures nothing."""
    failing: set[str] = set()

    @contextmanager
    def strapped(*_: object, **__: object) -> Iterator[Any]:
        yield SimpleNamespace(interrupted=threading.Event())

    def build(_known: object, names: list[str], *_: object, **__: object) -> Ready:
        plan = fakes.plan([fakes.run(name) for name in names], trials=[])
        built: dict[str, Any] = {
            name: BuildError("no compiler", "cc: not found\n") for name in names if name in failing
        }
        return Ready(plan=plan, built={**dict.fromkeys(names), **built}, found={}, servers={}, drivers={})

    monkeypatch.setattr(machine, "strapped_here", strapped)
    monkeypatch.setattr(ready, "ready_from_catalogue", build)
    return failing


@pytest.mark.parametrize(("sides", "code", "named"), [((BASE,), 3, BASE), ((HEAD,), 1, HEAD), ((BASE, HEAD), 1, HEAD)])
def test_a_head_that_does_not_build_is_worse_and_without_a_base_nothing_is_known(
    sides: tuple[str, ...], code: int, named: str, unbuilt: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unbuilt.update(sides)
    assert call(["compare", BASE, HEAD, "--results", str(tmp_path)]) == code
    said = capsys.readouterr().err
    assert f"webdyno: {named} does not build: no compiler" in said
    assert "cc: not found" in said


def test_of_two_revisions_that_do_not_build_head_is_named(tmp_path: Path) -> None:
    both = [Revision(side=side, rev=side, commit="1" * 40, folder=tmp_path) for side in ("base", "head")]
    failed = {each.side: BuildError("no compiler", "") for each in both}
    with pytest.raises(RevisionError) as refused:
        refuse_failed_builds(failed, both)
    assert refused.value.side == "head"
