"""Reach: two ends of a connection, here over loopback; how quick it is is the machine's business."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from webdyno.model.errors import MachineError
from webdyno.rig import reach as reach_module
from webdyno.rig.ports import free_port
from webdyno.rig.reach import Reached, answering, card_bytes_per_s, reach, softirq_s


def test_a_round_trip_takes_time_and_bytes_come_as_often_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach_module, "FLOOD_S", 0.01)
    with answering("127.0.0.1") as port:
        for _ in range(2):
            found = reach("127.0.0.1", port)
            assert found.round_trip_ns > 0 and found.bytes_per_s > 0
            assert found.card_bytes_per_s is None, "loopback has no card"
            assert found.softirq is not None and found.softirq >= 0


def test_what_each_core_spent_on_packets_is_read_from_the_kernel(tmp_path: Path) -> None:
    text = "cpu 9 0 9 9 0 0 300 0 0 0\ncpu0 5 0 5 5 0 0 100 0 0 0\ncpu1 4 0 4 4 0 0 200 0 0 0\nintr 7 1 2 3 4 5 6 7\n"
    (tmp_path / "stat").write_text(text)
    ticks_per_s = os.sysconf("SC_CLK_TCK")
    assert softirq_s(tmp_path / "stat") == {"cpu0": 100 / ticks_per_s, "cpu1": 200 / ticks_per_s}
    assert softirq_s(tmp_path / "missing") == {}


def test_the_speed_of_a_card_is_what_its_driver_says(tmp_path: Path) -> None:
    (tmp_path / "lo").mkdir()
    for said, expected in (("10000\n", 1.25e9), ("-1\n", None), ("", None)):
        (tmp_path / "lo" / "speed").write_text(said)
        assert card_bytes_per_s("127.0.0.1", tmp_path) == expected
    assert card_bytes_per_s("10.255.255.254", tmp_path) is None


@pytest.mark.parametrize(
    ("card_bytes_per_s", "softirq", "limit"),
    [
        (125e6, 0.2, "network card"),
        (1.25e9, 0.97, "softirq of a core"),
        (1.25e9, 0.2, ""),
        (None, None, ""),
    ],
)
def test_what_limits_a_network_is_named_where_it_can_be_known(
    card_bytes_per_s: float | None, softirq: float | None, limit: str
) -> None:
    found = Reached(round_trip_ns=1.0, bytes_per_s=118e6, softirq=softirq, card_bytes_per_s=card_bytes_per_s)
    assert found.limit == limit


def test_where_nobody_answers_one_sentence_says_so() -> None:
    with pytest.raises(MachineError, match=r"127\.0\.0\.1 cannot be reached: connection refused"):
        reach("127.0.0.1", free_port())
