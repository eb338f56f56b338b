"""Whose Python a project's is, and what is said where a file that would have told more is not read."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.build.conftest import installs
from tests.build.fake_host import FakeHost
from webdyno.model.errors import UsageError
from webdyno.session.tryout.interpreter import project_python

POETRY = '[tool.poetry]\nname = "shop"\n[build-system]\nrequires = []\nbuild-backend = "poetry.core.masonry.api"\n'
NOT_READ = "is not read: --python takes an environment that was made from it"


def found(folder: Path) -> tuple[Path, str]:
    return project_python(None, folder, folder.parent / "cache", FakeHost(installs), threading.Event())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, where the only Python on PATH is one of this test's."""
    python = tmp_path / "bin" / "python3"
    python.parent.mkdir()
    python.write_text("")
    python.chmod(0o755)
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.setenv("PATH", str(python.parent))
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def test_without_a_file_it_is_the_one_on_path(folder: Path) -> None:
    assert found(folder) == (folder.parent / "bin" / "python3", "python3 on PATH")
    (folder / "pyproject.toml").write_text("[tool.ruff]\nline-length = 100\n")  # only settings of a tool
    assert found(folder)[1] == "python3 on PATH"


def test_a_lock_that_is_not_read_is_named(folder: Path) -> None:
    (folder / "Pipfile.lock").write_text("{}")
    assert found(folder)[1] == f"python3 on PATH; its Pipfile.lock {NOT_READ}"
    (folder / "pyproject.toml").write_text(POETRY)
    (folder / "poetry.lock").write_text("")
    python, how = found(folder)
    assert how == f"made in webdyno's cache from its pyproject.toml; its poetry.lock {NOT_READ}"
    assert python.is_relative_to(folder.parent / "cache")
    (folder / "requirements.txt").write_text("flask\n")
    assert found(folder)[1] == "made in webdyno's cache from its requirements.txt"


def test_a_project_that_requires_itself_is_told_so(folder: Path) -> None:
    (folder / "requirements.txt").write_text("-e .\n")
    with pytest.raises(UsageError, match=r"requirements\.txt: '-e \.' installs a folder of yours"):
        found(folder)
    (folder / "pyproject.toml").write_text('[project]\nname = "shop"\nversion = "1"\n')
    assert found(folder)[1].endswith(": -e .")
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "python").write_text("")
    assert found(folder)[1] == "the project's .venv"
