"""One plan for a long time."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

from tests.live.conftest import CATALOGUE, cache, environment
from tests.live.soaking import soak, standing

pytestmark = [pytest.mark.live, pytest.mark.torture, pytest.mark.timeout(1600)]
__all__ = ["cache", "environment"]
TRIALS, SETTLED = 2_000, 200
RUN_BYTES = 24 << 10
"""Of a Run of one short window, which webdyno keeps until its plan is done."""
SLACK_BYTES = 8 << 20
SLOWER = 1.5


def test_trials_without_end(tmp_path: Path, environment: dict[str, str]) -> None:
    """2,000 trials in one plan: what is open stays as many, time per trial holds, memory grows by a Run for each"""
    looks = soak(TRIALS, CATALOGUE, tmp_path, environment, timeout_s=1500)
    assert [look.outcome for look in looks] == ["ok"] * TRIALS
    assert {standing(look) for look in looks[SETTLED:]} == {standing(looks[SETTLED])}
    grown = max(look.rss_bytes for look in looks[-SETTLED:]) - looks[SETTLED].rss_bytes
    assert grown < (TRIALS - SETTLED) * RUN_BYTES + SLACK_BYTES
    each = [after.cpu_s - before.cpu_s for before, after in pairwise(looks)]
    fifth = TRIALS // 5
    assert median(each[-fifth:]) < SLOWER * median(each[:fifth])
