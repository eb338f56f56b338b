"""Trial after trial of one plan, and nothing of them stays behind in webdyno."""

from __future__ import annotations

from pathlib import Path

from tests.live.conftest import CATALOGUE
from tests.live.soaking import soak, standing


def test_nothing_stays_open_after_any_of_sixty_trials(tmp_path: Path, environment: dict[str, str]) -> None:
    looks = soak(60, CATALOGUE, tmp_path, environment, timeout_s=200)
    assert [look.outcome for look in looks] == ["ok"] * 60
    assert {standing(look) for look in looks[1:]} == {standing(looks[1])}
