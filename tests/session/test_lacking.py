"""A contender that lacks something of the system is left out with the reason, and its neighbours are not."""

from __future__ import annotations

import msgspec
import pytest

from tests import shipped
from tests.build.fake_host import FakeHost
from tests.fakes import catalogue
from webdyno.rig.host import Command
from webdyno.session.lookup import look_for_runtimes
from webdyno.session.services import look_for_services


def python_is_here(command: Command) -> str:
    return "/usr/bin/python3.11\n" if "find" in command.argv else "Python 3.11.2\n"


def test_only_the_contender_that_lacks_it_is_left_out() -> None:
    known = catalogue("plain", "needy")
    known.contenders["needy"] = msgspec.structs.replace(
        known.contenders["needy"], looks_for=["no-such-program"], needs="it: apt-get install it"
    )
    found, missing = look_for_runtimes(known, ["plain", "needy"], FakeHost(python_is_here), fetch=False)
    assert missing == {"needy": "there is no no-such-program here; it needs it: apt-get install it"}
    assert list(found) == ["python"]


def test_a_database_of_the_users_own_is_asked_but_not_slowed_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONGODB_URL", "mongodb://db.example/")
    asked = ["hello", "mongo-small", "mongo-small-10ms"]
    found, lacking = look_for_services(shipped.catalogue(), asked, FakeHost(python_is_here))
    assert list(found) == ["mongo"]
    assert lacking == {
        "mongo-small-10ms": "the MongoDB that MONGODB_URL names is not slowed down, because others may need it; unset "
        "MONGODB_URL, or slow the network to it (tc netem) and ask mongo-small"
    }


def test_a_database_of_the_users_own_is_out_of_reach_of_contenders_in_a_network_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MONGODB_URL", "mongodb://db.example/")
    asked = ["hello", "mongo-small"]
    _, lacking = look_for_services(shipped.catalogue(), asked, FakeHost(python_is_here), apart=True)
    assert lacking == {
        "mongo-small": "the MongoDB that MONGODB_URL names is out of reach of throw-away users, whose network has only "
        "loopback; unset MONGODB_URL, or use --no-as-user"
    }


def test_a_service_without_a_way_to_be_slow_is_not_asked_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MONGODB_URL", raising=False)
    known = shipped.catalogue()
    monkeypatch.setattr("webdyno.service.find.shutil.which", lambda name, path=None: f"/opt/{name}")
    mongo = known.services["mongo"]
    ways = [msgspec.structs.replace(way, delays=False) for way in mongo.ways]
    known = msgspec.structs.replace(known, services={"mongo": msgspec.structs.replace(mongo, ways=ways)})
    _, lacking = look_for_services(known, ["mongo-small", "mongo-small-1ms"], FakeHost(python_is_here))
    assert lacking == {
        "mongo-small-1ms": "/opt/mongod cannot delay its answers; use it without delay_ms",
    }
