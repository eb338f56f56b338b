"""An environment for somebody's project: made once for what its files say, anew when that changes, and not in it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.build.conftest import installs
from tests.build.fake_host import FakeHost
from webdyno.build.project import build_project, project_file
from webdyno.model.errors import UsageError
from webdyno.rig.host import Command

SETUPTOOLS = '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
HATCHLING = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
POETRY = (
    '[build-system]\nrequires = ["poetry-core"]\nbuild-backend = "poetry.core.masonry.api"\n'
    '[tool.poetry]\nname = "shop"\nversion = "1"\n[tool.poetry.dependencies]\nflask = "^3"\n'
)
SHOP = (
    '[project]\nname = "shop"\nversion = "1"\ndependencies = ["flask==3.0"]\n'
    '[project.optional-dependencies]\nfast = ["orjson"]\nall = ["shop[fast]"]\n'
)
DYNAMIC = '[project]\nname = "shop"\nversion = "1"\ndynamic = ["dependencies"]\n'
SOURCES = '[tool.uv.sources]\nmoney = { path = "../money" }\n'


EXPORTED = """\
-e ./libs/money
    # via shop
flask==3.0 ; python_version > '3' \\
    --hash=sha256:aa \\
    --hash=sha256:bb
"""


def makes(command: Command) -> str | int:
    """uv, whose environments have a place for packages, and which reads a lock of one folder and one package."""
    if "export" in command.argv:
        Path(command.argv[-1]).write_text(EXPORTED)
    done = installs(command)
    if "venv" in command.argv:
        (Path(command.argv[-1]) / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    return done


@pytest.fixture
def uv_host() -> FakeHost:
    return FakeHost(makes)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "limits.txt").write_text("flask<4\n")
    return folder


def built(project: Path, file: str, host: FakeHost) -> tuple[Path, str]:
    """The environment's folder, and the note."""
    python, note = build_project(project, file, project.parent / "cache", host, threading.Event())
    return python.parent.parent, note


def installed(host: FakeHost) -> str:
    (command,) = host.said("pip", "install")
    return Path(command[-1]).read_text()


def found(environment: Path) -> list[str]:
    """The folders that its Python finds modules in, beside those that are installed."""
    files = environment.glob("lib/*/site-packages/*.pth")
    return [line for file in files for line in file.read_text().splitlines()]


def test_what_a_requirements_file_includes_is_part_of_what_it_says(tmp_path: Path, host: FakeHost) -> None:
    project = tmp_path / "project"
    (project / "deep").mkdir(parents=True)
    (project / "requirements.txt").write_text("flask\n-r base.txt  # ours\n--constraint=deep/c.txt\n-r http://x/y\n")
    (project / "base.txt").write_text("-rrequirements.txt\n  --requirement deep/more.txt\n-r none.txt\n")
    (project / "deep" / "c.txt").write_text("click==8.1.0\n")
    (project / "deep" / "more.txt").write_text("jinja2\n-c ../deep/c.txt\n")

    def made() -> tuple[Path, int]:
        return built(project, "requirements.txt", host)[0], len(host.said("pip", "install"))

    first, _ = made()
    assert made() == (first, 1)
    seen = {first}
    for number, name in enumerate(("base.txt", "deep/c.txt", "deep/more.txt", "none.txt"), 2):
        with (project / name).open("a") as file:
            file.write("\n# changed\n")
        changed, times = made()
        assert changed not in seen
        assert times == number
        seen.add(changed)
    (project / "unrelated.txt").write_text("x")
    assert made()[0] == changed


def test_a_project_that_requires_itself_is_found_where_it_lies_and_not_built(project: Path, uv_host: FakeHost) -> None:
    (project / "pyproject.toml").write_text(SETUPTOOLS + SHOP)
    (project / "requirements.txt").write_text("-e .[fast]  # ours\n-r base.txt\n-c limits.txt\n")
    (project / "base.txt").write_text("gunicorn ; \\\n  python_version > '3'\n")
    environment, note = built(project, "requirements.txt", uv_host)
    assert installed(uv_host).splitlines() == [
        "flask==3.0",
        "orjson",
        "gunicorn ;    python_version > '3'",
        f"-c {project / 'limits.txt'}",
    ]
    assert found(environment) == [str(project / "src")]
    assert note == "; not installed but imported from its folder, because a build would write there: -e .[fast]"


@pytest.mark.parametrize(
    ("line", "pyproject"),
    [("-e .", ""), ("-e .", DYNAMIC), (".", SETUPTOOLS), ("-e .[all]", SHOP), ("-e .", SHOP + SOURCES)],
)
def test_a_project_whose_needs_only_a_build_tells_is_refused_before_anything_starts(
    line: str, pyproject: str, project: Path, uv_host: FakeHost
) -> None:
    (project / "pyproject.toml").write_text(pyproject)
    (project / "requirements.txt").write_text(f"flask\n{line}\n")
    with pytest.raises(UsageError) as refused:
        built(project, "requirements.txt", uv_host)
    assert str(refused.value) == (
        f"{project / 'requirements.txt'}: {line!r} installs a folder of yours, and its requirements are known "
        "only by building it, which would write into it; make the project's environment yourself, as .venv in "
        "its folder or anywhere "
        "with --python"
    )
    assert uv_host.commands == []


def test_a_build_that_writes_nothing_is_left_to_uv(project: Path, uv_host: FakeHost) -> None:
    (project / "pyproject.toml").write_text(HATCHLING + DYNAMIC)
    (project / "requirements.txt").write_text("-e .\n")
    environment, note = built(project, "requirements.txt", uv_host)
    (command,) = uv_host.said("pip", "install")
    assert (command[-1], note, found(environment)) == (str(project / "requirements.txt"), "", [])


def test_folders_that_a_lock_names_are_found_where_they_lie(project: Path, uv_host: FakeHost) -> None:
    (project / "libs" / "money").mkdir(parents=True)
    (project / "libs" / "money" / "setup.py").write_text("from setuptools import setup; setup()\n")
    (project / "pyproject.toml").write_text(SHOP)
    (project / "uv.lock").write_text("version = 1\n")
    environment, note = built(project, "uv.lock", uv_host)
    hashes = ["--hash=sha256:aa", "--hash=sha256:bb"]
    assert installed(uv_host).split() == ["flask==3.0", ";", "python_version", ">", "'3'", *hashes]
    assert not uv_host.said("--no-hashes")
    assert found(environment) == [str(project / "src"), str(project / "libs" / "money")]
    assert note == ""


@pytest.mark.parametrize(
    ("pyproject", "sentence"),
    [
        (SETUPTOOLS + SHOP, None),
        (SHOP, None),
        (HATCHLING + DYNAMIC, None),
        (SETUPTOOLS + DYNAMIC, "its requirements are known only by building the project"),
        (HATCHLING + SHOP + SOURCES, "its requirements are known only by building the project"),
        (POETRY, None),
        (POETRY + 'money = { path = "../money" }\n', "its requirements are known only by building the project"),
        (
            POETRY + 'money = [{ version = "1" }, { path = "../money" }]\n',
            "its requirements are known only by building",
        ),
        (
            HATCHLING + SHOP.replace("flask", "money @ file:///money"),
            "its requirements are known only by building the project",
        ),
        ("[project", "pyproject.toml cannot be read"),
        ("[project]\ndependencies = 3\n", "Expected `array`, got `int`"),
    ],
)
def test_a_pyproject_is_enough_where_it_says_what_is_needed(
    pyproject: str, sentence: str | None, project: Path, uv_host: FakeHost
) -> None:
    (project / "pyproject.toml").write_text(pyproject)
    if sentence is None:
        environment, _ = built(project, "pyproject.toml", uv_host)
        assert found(environment) == [str(project / "src")]
        return
    with pytest.raises(UsageError, match=sentence):
        built(project, "pyproject.toml", uv_host)
    assert uv_host.commands == []


@pytest.mark.parametrize(
    ("files", "counts"),
    [
        ({}, None),
        ({"pyproject.toml": "[tool.ruff]\nline-length = 100\n"}, None),
        ({"pyproject.toml": SHOP}, "pyproject.toml"),
        ({"pyproject.toml": '[build-system]\nrequires = ["setuptools"]\n'}, "pyproject.toml"),
        ({"pyproject.toml": SHOP, "requirements.txt": ""}, "requirements.txt"),
        ({"uv.lock": "", "requirements.txt": ""}, "requirements.txt"),
        ({"uv.lock": ""}, None),
        ({"pyproject.toml": "[tool.uv.workspace]\nmembers = []\n", "uv.lock": "", "requirements.txt": ""}, "uv.lock"),
    ],
)
def test_the_first_file_that_says_what_is_needed_counts(
    files: dict[str, str], counts: str | None, tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert project_file(tmp_path) == counts
