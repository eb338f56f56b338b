"""What is kept of a tryout: a failure of it does not cost the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from webdyno.session.tryout.evidence import keep


def test_what_cannot_be_kept_is_a_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told: Any = None
    keep(tmp_path / "nowhere", told, tmp_path)
    said = capsys.readouterr().err
    assert said.startswith(f"note: --save {tmp_path / 'nowhere'} is not complete: ")
    assert said.count("\n") == 1
