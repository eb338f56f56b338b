"""Who takes turns side by side, as `plan` and `run` say it before anything is measured."""

from __future__ import annotations

import json

import msgspec
import pytest

from tests.fakes import catalogue, study
from webdyno.commands import call
from webdyno.commands.sharing import clause, sentence
from webdyno.design.blocks import Room, Sharing, sharing
from webdyno.model.study import Study, StudyLoad
from webdyno.model.trial import Plan
from webdyno.plan import make_plan

PLENTY = Room(memory_bytes=64 * 2**30)
CLOSED = StudyLoad(connections=[64], duration_s=2.0)
OPEN = StudyLoad(connections=[64], rate_per_s=[100.0], duration_s=2.0)


def planned(asked: Study, *names: str) -> Plan:
    return make_plan(asked, catalogue(*names), {})


def said(asked: Study, *names: str, room: Room = PLENTY) -> str:
    plan = planned(asked, *names)
    return sentence(sharing(plan, room), plan)


def test_whoever_can_takes_turns_and_the_most_at_a_time_is_said_where_it_is_less_than_all() -> None:
    assert said(study(*"abc"), *"abc") == "all 3 contenders take turns side by side"
    eleven = "abcdefghijk"
    assert said(study(*eleven), *eleven) == "all 11 contenders take turns side by side, up to 6 at a time"


def test_who_is_measured_alone_is_named_with_the_reason() -> None:
    restless = Room(memory_bytes=64 * 2**30, kept={"c": "it uses 3.0 % of a core while it rests"})
    plan = planned(study(*"abc"), *"abc")
    found = sharing(plan, restless)
    assert sentence(found, plan) == (
        "2 of 3 contenders take turns side by side; alone: c (it uses 3.0 % of a core while it rests)"
    )
    assert clause(found, plan) == "2 of 3 contenders take turns side by side"


def test_a_load_that_cannot_be_cut_into_turns_keeps_all_alone_in_its_tables() -> None:
    mixed = study(*"ab", loads=[CLOSED, OPEN])
    assert said(mixed, *"ab").endswith(
        "; alone: all in some tables (an open load has its own schedule, which turns would interrupt)"
    )
    assert said(study(*"ab", loads=[OPEN]), *"ab").startswith("each contender is measured alone: an open load has")


def test_there_must_be_two_and_room_for_two() -> None:
    assert said(study("a"), "a") == "it is measured alone: no other contender has the same requests"
    small = said(study(*"ab"), *"ab", room=Room(memory_bytes=2**20))
    assert small == "each contender is measured alone: there is no room for two at a time"


def test_alone_and_in_place_are_said_to_be_what_was_asked_for() -> None:
    alone = msgspec.structs.replace(study(*"ab"), alone=True)
    assert said(alone, *"ab") == "each contender is measured alone: the plan asks for it"
    placed = msgspec.structs.replace(study(*"ab"), design="in-place")
    assert said(placed, *"ab").endswith("alone: each server is started once for all its rounds")


def test_who_shares_is_in_the_plan_as_text_and_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["plan", "quickstart", "-k", "waitress,uvicorn,gunicorn-gthread", "-w", "hello"]
    assert call(asked) == 0
    assert "3 contenders take turns side by side" in capsys.readouterr().out
    assert call([*asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert msgspec.convert(told["sharing"], Sharing).most == len(told["contenders"]) == len(told["sharing"]["beside"])
    assert told["sharing"]["alone"] == {}
