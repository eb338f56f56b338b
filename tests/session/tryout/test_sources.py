"""The files that have to be as they were: which they are, and what counts as a change."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from webdyno.model.errors import UsageError
from webdyno.session.tryout.sources import LARGE_BYTES, refuse_changed, sources, stamps, stamps_of_command

RESULTS = Path("results/try-1")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = ["app.py", "shop/prices.py", ".env", ".git/HEAD", "own/pyvenv.cfg", "own/bin/python", "node_modules/a.js"]
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "model.bin").write_bytes(bytes(LARGE_BYTES))
    os.mkfifo(tmp_path / "queue")  # whoever reads it waits forever
    return tmp_path


def change(path: Path, text: str) -> None:
    """A while later: the clock of a file system has ticks of some milliseconds."""
    path.write_text(text)
    later_ns = time.time_ns() + 10**9
    os.utime(path, ns=(later_ns, later_ns))


def test_environments_hidden_folders_and_files_of_variables_are_none_of_them(project: Path) -> None:
    assert sources(project, stamps(project)).names == ["app.py", "model.bin", "shop/prices.py"]


def test_a_change_is_named_and_its_undoing_is_none(project: Path) -> None:
    was = sources(project, stamps(project))
    refuse_changed(was, project, RESULTS)
    change(project / "shop" / "prices.py", "other")
    (project / "app.py").unlink()
    with pytest.raises(UsageError, match=r"^results/try-1: .* since it began \(app.py and shop/prices.py\), and"):
        refuse_changed(was, project, RESULTS)
    (project / "shop" / "prices.py").write_text("shop/prices.py")
    (project / "app.py").write_text("app.py")
    refuse_changed(was, project, RESULTS)


def test_many_changes_are_counted(project: Path) -> None:
    for at in range(6):
        (project / f"m{at}.py").write_text("before")
    was = sources(project, stamps(project))
    for at in range(6):
        change(project / f"m{at}.py", "after")
    with pytest.raises(UsageError, match=r"\(m0.py, m1.py, m2.py and 3 more\)"):
        refuse_changed(was, project, RESULTS)


def test_a_large_file_is_what_its_length_and_time_say(project: Path) -> None:
    was = sources(project, stamps(project))
    change(project / "model.bin", "1" * LARGE_BYTES)
    with pytest.raises(UsageError, match=r"\(model.bin\)"):
        refuse_changed(was, project, RESULTS)


def test_what_changes_while_the_first_answers_are_given_and_what_is_new_later_does_not_count(project: Path) -> None:
    (project / "shop.db").write_text("empty")
    before = stamps(project)
    (project / "shop.db").write_text("one row")
    was = sources(project, before)
    (project / "shop.db").write_text("two rows")
    (project / "upload.txt").write_text("of somebody")
    refuse_changed(was, project, RESULTS)


def test_a_program_elsewhere_is_one_of_them(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("bin")
    for name in ("serve", "other.js"):
        (elsewhere / name).write_text(name)
        (elsewhere / name).chmod(0o755)
    words = ["serve", f"{elsewhere}/other.js", "shop/prices.py", "{port}", "--at=/"]
    before = stamps_of_command(words, project, str(elsewhere))
    assert list(before) == [str(elsewhere / "serve"), str(elsewhere / "other.js")]
    was = sources(project, before)
    change(elsewhere / "serve", "another")
    with pytest.raises(UsageError, match=rf"\({elsewhere}/serve\)"):
        refuse_changed(was, project, RESULTS)
