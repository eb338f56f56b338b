"""How long an answer is waited for after the load: as long as one process may owe answers that take their time."""

from __future__ import annotations

import pytest

from webdyno.model.workload import Request, Workload
from webdyno.serve.serving import after_load_s


@pytest.mark.parametrize(
    ("floor_ms", "connections", "seconds"),
    [
        (0, 0, 8),
        (0, 64, 8.128),
        (0, 10_000, 28),
        (1000, 0, 8),
        (1000, 1, 9),
        (1000, 40, 48),
        (250, 40, 18),
        (1000, 5000, 128),
    ],
)
def test_each_connection_may_have_left_one_request(floor_ms: float, connections: int, seconds: float) -> None:
    asked = Workload(
        name="sleep", title="Sleep", kind="io-wait", requests=[Request(name="a", path="/")], service_floor_ms=floor_ms
    )
    assert after_load_s(asked, connections) == seconds
