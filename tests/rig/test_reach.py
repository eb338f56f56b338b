"""Reach: two ends of a connection, here over loopback; how quick it is is the machine's business."""

from __future__ import annotations

import pytest

from webdyno.model.errors import MachineError
from webdyno.rig import reach as reach_module
from webdyno.rig.ports import free_port
from webdyno.rig.reach import answering, reach


def test_a_round_trip_takes_time_and_bytes_come_as_often_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach_module, "FLOOD_S", 0.01)
    with answering("127.0.0.1") as port:
        for _ in range(2):
            found = reach("127.0.0.1", port)
            assert found.round_trip_ns > 0 and found.bytes_per_s > 0


def test_where_nobody_answers_one_sentence_says_so() -> None:
    with pytest.raises(MachineError, match=r"127\.0\.0\.1 cannot be reached: connection refused"):
        reach("127.0.0.1", free_port())
