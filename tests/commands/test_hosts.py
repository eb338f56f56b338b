"""The table of ``doctor --far``, and what is wrong with a host in it."""

from __future__ import annotations

import msgspec

from tests.analyse.fakes import FINGERPRINT
from webdyno.commands.hosts import _HEAD, _row, faults, table
from webdyno.rig.reach import Reached
from webdyno.session.agent import About
from webdyno.session.far import HostLook

HERE = HostLook(address="10.0.0.1", about=About(fingerprint=FINGERPRINT, engine="0.1.0"))
REACHED = Reached(round_trip_ns=50_600, bytes_per_s=118e6, card_bytes_per_s=125e6)
THERE = HostLook(
    address="10.0.0.2", about=HERE.about, reached=REACHED, clock_ahead_ns=-2_000_000_000, clock_error_ns=400_000
)


def test_each_host_has_a_line_with_its_network_and_its_clock() -> None:
    head, first, second = table([_HEAD, _row(HERE), _row(THERE)])
    assert head.index("round trip") == first.index("this one") == second.index("50.6")
    assert head.index("limited by") == first.rindex("-", 0, first.index("ours")) == second.index("network card")
    assert "2.00 s behind, +-400 µs" in second.replace("us", "µs")
    assert faults([HERE, THERE]) == []


def test_what_keeps_load_from_being_made_is_said() -> None:
    older = msgspec.structs.replace(THERE, about=msgspec.structs.replace(THERE.about, engine="0.0.9"))
    few = msgspec.structs.replace(FINGERPRINT, open_files_limit=1024)
    tight = msgspec.structs.replace(THERE, about=msgspec.structs.replace(THERE.about, fingerprint=few))
    assert "engine 0.0.9" in faults([HERE, older])[0]
    assert faults([HERE, tight])[0].startswith("10.0.0.2 allows 1024 open files per process")
    assert "no second host" in faults([HERE])[-1]


def test_a_head_that_calls_busy_hosts_dead_is_said() -> None:
    hasty = msgspec.structs.replace(THERE, about=msgspec.structs.replace(THERE.about, patience_s=12.0))
    patient = msgspec.structs.replace(THERE, about=msgspec.structs.replace(THERE.about, patience_s=65.0))
    assert faults([HERE, patient]) == []
    [said] = faults([HERE, hasty])
    assert said.startswith("10.0.0.2 is the head, and declares a host dead after 12 s without an answer")
