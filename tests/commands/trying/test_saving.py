"""``--save``: where it is refused, and that a failure of it does not cost the answer."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from webdyno.commands import call
from webdyno.commands.trying.evidence import keep
from webdyno.commands.trying.flags import Trying
from webdyno.model.errors import UsageError


def test_a_folder_with_files_is_refused_and_an_empty_or_a_new_one_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "serving.py").write_text("the project's own")
    with pytest.raises(UsageError, match=r"--save .*: there are files in it; name a new folder"):
        Trying(save=tmp_path).check("a:b")
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        assert call(["try", "a:b", "--save", "."]) == 2
    finally:
        os.chdir(before)
    assert "--save .: there are files in it" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    Trying(save=tmp_path / "empty").check("a:b")
    Trying(save=tmp_path / "new").check("a:b")


def test_what_cannot_be_kept_is_a_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told: Any = None
    keep(tmp_path / "nowhere", told, tmp_path)
    said = capsys.readouterr().err
    assert said.startswith(f"note: --save {tmp_path / 'nowhere'} is not complete: ")
    assert said.count("\n") == 1
