"""Titles of tables: numbers that are read at a glance, and beside each other only where they differ."""

from __future__ import annotations

import msgspec

from tests.report import once
from tests.report.studied import study
from webdyno.model.verdict import Verdict
from webdyno.report import titles


def verdict(workload: str, load: str, driver: str = "engine") -> Verdict:
    (any_, *_) = once.analysed(study()).verdicts
    return msgspec.structs.replace(any_, workload=workload, load=load, driver=driver)


def test_a_large_number_of_connections_has_its_comma_and_nothing_else_has() -> None:
    assert titles.of(verdict("hello", "10000 connections, keep-alive")) == "hello, 10,000 connections, keep-alive"
    assert titles.of(verdict("page-2012", "1 connection, close", "ab")) == "page-2012, 1 connection, close, by ab"


def test_titles_beside_each_other_leave_out_how_all_of_them_begin_and_end() -> None:
    several = [verdict("hello", f"{number} connections, keep-alive") for number in (100, 1000)]
    assert titles.beside(several) == ["100 connections", "1,000 connections"]
    assert titles.beside([*several, verdict("json", "100 connections, keep-alive")]) == [
        "hello, 100 connections",
        "hello, 1,000 connections",
        "json, 100 connections",
    ]


def test_a_title_alone_and_titles_that_are_alike_stay_whole_enough_to_be_read() -> None:
    one = verdict("hello", "8 connections, close")
    assert titles.beside([one]) == ["hello, 8 connections, close"]
    assert titles.beside([one, one]) == ["hello", "hello"]
