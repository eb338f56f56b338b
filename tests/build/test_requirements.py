"""Lines of requirements files: what they include, and which of them installs a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from webdyno.build.requirements import Local, lines_of, local_of


@pytest.mark.parametrize(
    ("line", "inside", "extras"),
    [
        ("-e .", "", ()),
        ("--editable=./libs/money[a, b] ; python_version > '3'", "libs/money", ("a", "b")),
        ("-e libs", "libs", ()),
        ("./libs/money --config-settings x=y", "libs/money", ()),
        ("libs/money", "libs/money", ()),
        ("file:./libs/money", "libs/money", ()),
        ("-e file://${PROJECT_ROOT}/libs/money", "libs/money", ()),
        ("money[a] @ file:libs/money", "libs/money", ("a",)),
    ],
)
def test_a_folder_is_known_however_it_is_named(line: str, inside: str, extras: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "libs" / "money").mkdir(parents=True)
    assert local_of(line, tmp_path) == Local(line=line, folder=(tmp_path / inside).resolve(), extras=extras)


@pytest.mark.parametrize(
    "line",
    [
        "libs",  # a package of that name on an index
        "flask[async]==3.0 ; python_version > '3'",
        "./libs/money.whl",
        "./nowhere",
        "-e git+https://example.org/libs/money@main#egg=money",
        "money @ https://example.org/money.whl",
        "-c libs",
        "--find-links ./libs",
        "--index-url https://example.org/libs",
    ],
)
def test_what_is_no_folder_is_left_to_uv(line: str, tmp_path: Path) -> None:
    (tmp_path / "libs" / "money").mkdir(parents=True)
    (tmp_path / "libs" / "money.whl").write_text("")
    assert local_of(line, tmp_path) is None


def test_lines_come_with_those_of_included_files_and_other_files_by_their_whole_path(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "more.txt").write_text("-r ../all.txt\n-c c.txt\n-f wheels\n-e .\njinja2 # why\n")
    (tmp_path / "all.txt").write_text("# all\n\nflask \\\n  ==3.0\n-r deep/more.txt\n-r gone.txt\n-r https://x/y.txt\n")
    assert list(lines_of(tmp_path / "all.txt")) == [
        "flask    ==3.0",
        f"-c {tmp_path / 'deep' / 'c.txt'}",
        f"-f {tmp_path / 'deep' / 'wheels'}",
        "-e .",
        "jinja2",
        f"-r {tmp_path / 'gone.txt'}",
        "-r https://x/y.txt",
    ]
