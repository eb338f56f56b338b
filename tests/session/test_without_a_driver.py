"""A machine without a load tool: its loads are left out with the reason, and the rest of the study goes on."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.fakes import catalogue, study
from webdyno.model.errors import UsageError
from webdyno.model.study import Study, StudyLoad
from webdyno.session.lookup import refuse_what_the_driver_cannot

BY_AB = StudyLoad(connections=[50], count=15_000, driver="ab")
BY_ENGINE = StudyLoad(connections=[50], duration_s=1.0)


@pytest.fixture
def _without_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


def asked(**changes: object) -> Study:
    return msgspec.structs.replace(study("a", workloads=["hello"], loads=[BY_AB, BY_ENGINE]), **changes)


@pytest.mark.usefixtures("_without_tools")
def test_a_load_tool_that_is_not_here_stops_no_study() -> None:
    refuse_what_the_driver_cannot(asked(), catalogue("a"))


@pytest.mark.usefixtures("_without_tools")
def test_what_a_load_tool_cannot_do_is_refused_whether_it_is_here_or_not() -> None:
    too_few = msgspec.structs.replace(BY_AB, count=10)
    with pytest.raises(UsageError, match="ab cannot send 10 requests over 50 connections"):
        refuse_what_the_driver_cannot(asked(loads=[too_few, BY_ENGINE]), catalogue("a"))
