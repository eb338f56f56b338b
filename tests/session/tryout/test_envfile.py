"""A file of variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from webdyno.model.errors import UsageError
from webdyno.session.tryout.envfile import read_env_file


def test_an_env_file_is_read_as_shells_and_dotenv_write_it(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text(
        "# comment\n\nA=1\nexport B = two words # said\nC='a # b'\nD=\"x\\ny\" # end\nE=\nF=http://u:p@h/#frag\n"
    )
    assert read_env_file(file) == {
        "A": "1",
        "B": "two words",
        "C": "a # b",
        "D": "x\ny",
        "E": "",
        "F": "http://u:p@h/#frag",
    }


def test_a_line_that_is_no_variable_is_named(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=1\nnonsense\n")
    with pytest.raises(UsageError, match=r"\.env:2: write NAME=value"):
        read_env_file(tmp_path / ".env")
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_env_file(tmp_path / "none")
