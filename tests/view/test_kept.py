"""Replies that are kept: as long as their mark is the same, and no more bytes of them than there may be."""

from __future__ import annotations

from webdyno.view.kept import Kept
from webdyno.view.shell import Reply


def reply(length: int, letter: bytes = b"x") -> Reply:
    return Reply(200, "text/plain", letter * length)


def test_a_reply_is_kept_as_long_as_its_mark_is_the_same() -> None:
    kept = Kept()
    assert kept.get("page", 1) is None
    first = kept.put("page", 1, reply(10))
    assert kept.get("page", 1) is first
    assert kept.get("page", 2) is None
    second = kept.put("page", 2, reply(10, b"y"))
    assert kept.get("page", 2) is second
    assert kept.get("page", 1) is None


def test_what_was_asked_for_the_longest_ago_makes_room() -> None:
    kept = Kept(most_bytes=100)
    for name in "abc":
        kept.put(name, 0, reply(30))
    assert kept.get("a", 0)
    kept.put("d", 0, reply(30))
    assert [bool(kept.get(name, 0)) for name in "abcd"] == [True, False, True, True]


def test_one_in_the_place_of_another_counts_once_and_one_too_large_takes_no_place() -> None:
    kept = Kept(most_bytes=100)
    for mark in range(5):
        kept.put("a", mark, reply(60))
    kept.put("b", 0, reply(40))
    assert kept.put("c", 0, reply(101)).body
    assert [bool(kept.get(*key)) for key in (("a", 4), ("b", 0), ("c", 0))] == [True, True, False]
