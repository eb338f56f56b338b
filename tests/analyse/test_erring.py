"""Whose fault it is that requests fail, from shares that are known."""

from __future__ import annotations

from webdyno.analyse.erring import erring
from webdyno.model.verdict import Standing


def standing(name: str, wrong: int, asked: int = 1000) -> Standing:
    return Standing(
        contender=name,
        place=None,
        letters="",
        rate=None,
        p50=None,
        p99=None,
        cpu_per_request=None,
        memory_peak=None,
        ratio_to_best=None,
        requests_per_connection=None,
        errors={"wrong-status": wrong} if wrong else {},
        error_ratio=wrong / asked,
        rounds_ok=3,
        rounds_failed=0,
        outcomes={"ok": 3},
    )


def said(*standings: Standing, seen: str = "") -> str | None:
    return erring(standings, str.upper, seen)


def test_nothing_is_said_where_nothing_failed() -> None:
    assert said(standing("a", 0), standing("b", 0)) is None
    assert said() is None


def test_what_every_server_fails_alike_is_the_apps() -> None:
    assert said(standing("a", 32), standing("b", 29), seen="got status 500") == (
        "3.0 % of all requests failed (the first: got status 500): A 3.2 %; B 2.9 %; this is the same with "
        "every server, so the app is the cause: see its log, or list the correct statuses with --expect"
    )
    few = said(standing("a", 1, 100), standing("b", 3, 100))  # 3 times as many, and chance does that
    assert few is not None
    assert "the app is the cause" in few
    many = said(standing("a", 30_000, 10**6), standing("b", 33_000, 10**6))  # beyond chance, and nobody's concern
    assert many is not None
    assert "the app is the cause" in many


def test_shares_that_differ_are_not_the_apps_alone() -> None:
    told = said(standing("a", 30), standing("b", 300))
    assert told is not None
    assert told.endswith("A 3.0 %; B 30 %; servers differ in this, so the app alone is not the cause")


def test_a_server_that_fails_where_others_do_not_is_named() -> None:
    told = said(standing("a", 30), standing("b", 0), standing("c", 0))
    assert told == "A 3.0 % of the requests failed, and none with B and C: look at its log first"
    assert said(standing("a", 30)) == "A 3.0 % of the requests failed"


def test_a_few_of_many_servers_are_named() -> None:
    told = said(*(standing(name, 30) for name in "abcdef"))
    assert told is not None
    assert "D 3.0 %; and 2 more; this is" in told
