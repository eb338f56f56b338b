"""A contender that lacks something of the system is left out with the reason, and its neighbours are not."""

from __future__ import annotations

import msgspec

from tests.build.fake_host import FakeHost
from tests.fakes import catalogue
from webdyno.rig.host import Command
from webdyno.session.lookup import look_for_runtimes


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
