"""What ``webdyno try`` refuses before it begins."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from webdyno.commands import call
from webdyno.commands.trying.flags import Trying
from webdyno.model.errors import UsageError


def test_a_folder_that_is_a_file_is_called_one(tmp_path: Path) -> None:
    (tmp_path / "app.py").touch()
    with pytest.raises(UsageError, match=r"--folder .*app.py: it is a file"):
        _ = Trying(folder=tmp_path / "app.py").project_folder


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
