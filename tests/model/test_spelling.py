"""A name that nobody knows."""

from __future__ import annotations

from webdyno.model.spelling import did_you_mean


def test_the_nearest_name_is_asked_for_and_else_what_there_is_is_said() -> None:
    known = {"waitress": 1, "uvicorn": 2}
    assert did_you_mean("waitres", known, "see: webdyno list") == "did you mean 'waitress'?"
    assert did_you_mean("nginx", known, "see: webdyno list") == "see: webdyno list"
    assert did_you_mean("nginx", [], "see: webdyno list") == "see: webdyno list"
