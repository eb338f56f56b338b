"""Python 2: packages unpacked into a folder, by the interpreter's own pip or, where it has none, by uv."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.build.conftest import runtime
from tests.build.fake_host import FakeHost
from tests.fakes import contender
from webdyno.build import Job, build, find_runtime
from webdyno.build.pyenv import programs
from webdyno.build.python2 import interpreters
from webdyno.model.built import Found
from webdyno.model.errors import BuildError
from webdyno.rig.host import Command

JYTHON = Found(runtime="py", program="/usr/bin/jython", version="Jython 2.7.3")


class Installer:
    """pip or uv: it leaves a namespace package in two parts, one as a wheel and one as an egg."""

    def __init__(self, own_pip: bool) -> None:
        self.own_pip = own_pip

    def __call__(self, command: Command) -> str | int:
        if command.argv[-1] == "--version":
            return "pip 19.2.3" if self.own_pip else 1
        if "--target" in command.argv:
            folder = Path(command.argv[command.argv.index("--target") + 1])
            (folder / "zope" / "thing").mkdir(parents=True)
            (folder / "zope.thing-1.0-py2.7.egg-info").mkdir()
            (folder / "zope.thing-1.0-py2.7.egg-info" / "namespace_packages.txt").write_text("zope\n")
            (folder / "Fast_Server-1.0.dist-info").mkdir()
        return 0


@pytest.fixture
def old(job: Job) -> Job:
    return job._replace(
        contender=contender("fast", requires=["fast-server==1.0", "zope.thing==1.0"]),
        runtime=runtime("python-2"),
        found=JYTHON,
    )


def test_its_own_pip_unpacks_without_resolving(old: Job, tmp_path: Path) -> None:
    host = FakeHost(Installer(own_pip=True))
    built = build(*old, tmp_path / "cache", host)
    (argv,) = host.said("--target")
    assert argv[:5] == ["/usr/bin/jython", "-m", "pip", "install", "--disable-pip-version-check"]
    assert "--no-deps" in argv
    assert argv[-2] == "--requirement"
    assert Path(argv[-1]).read_text() == "fast-server==1.0\nzope.thing==1.0\n"
    assert "--require-hashes" not in argv
    assert built.versions == {"py": "Jython 2.7.3", "fast_server": "1.0", "zope.thing": "1.0"}


def test_with_a_lock_its_own_lines_are_unpacked_and_files_are_compared(old: Job, tmp_path: Path) -> None:
    lock = tmp_path / "shared.txt"
    names = ("fast-server", "other", "zope-thing")
    lock.write_text("".join(f"{name}==1.0 \\\n    --hash=sha256:aa\n" for name in names))
    host = FakeHost(Installer(own_pip=True))
    build(*old._replace(lock=lock), tmp_path / "cache", host)
    (argv,) = host.said("--target", "--require-hashes")
    assert Path(argv[-1]).read_text() == "fast-server==1.0 --hash=sha256:aa\nzope-thing==1.0 --hash=sha256:aa\n"


def test_the_pip_of_a_cpython_unpacks_for_an_interpreter_without_one(
    old: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "python2.7").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    installer = Installer(own_pip=True)
    host = FakeHost(lambda command: 1 if command.argv[:3] == [JYTHON.program, "-m", "pip"] else installer(command))
    build(*old, tmp_path / "cache", host)
    (argv,) = host.said("--target")
    assert argv[:4] == [str(tmp_path / "python2.7"), "-m", "pip", "install"]


def test_uv_unpacks_for_an_interpreter_without_pip(old: Job, tmp_path: Path) -> None:
    host = FakeHost(Installer(own_pip=False))
    build(*old, tmp_path / "cache", host)
    (argv,) = host.said("--target")
    assert Path(argv[0]).name == "uv"
    assert {"--no-deps", "--no-compile-bytecode"} <= set(argv)


def test_packages_are_found_by_both_interpreters_and_namespaces_are_packages(old: Job, tmp_path: Path) -> None:
    built = build(*old, tmp_path / "cache", FakeHost(Installer(own_pip=True)))
    folder = built.environment["PYTHONPATH"]
    assert built.environment["JYTHONPATH"] == folder
    assert (Path(folder) / "zope" / "__init__.py").is_file()


def test_what_was_installed_in_another_version_is_refused(old: Job, tmp_path: Path) -> None:
    old = old._replace(contender=contender("fast", requires=["fast-server==1.1"]))
    with pytest.raises(BuildError, match=r"^fast-server==1.1 was installed, but is not there"):
        build(*old, tmp_path / "cache", FakeHost(Installer(own_pip=True)))


def test_nothing_is_installed_for_what_needs_nothing(old: Job, tmp_path: Path) -> None:
    host = FakeHost(Installer(own_pip=True))
    build(*old._replace(contender=contender("fast")), tmp_path / "cache", host)
    assert host.said("--target") == []


def test_behind_a_shim_that_does_not_run_pyenvs_versions_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shim, real = (tmp_path / where / "python2.7" for where in ("shims", "versions/2.7.18/bin"))
    for program in (shim, real):
        program.parent.mkdir(parents=True)
        program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(shim.parent))
    host = FakeHost(lambda command: 127 if command.argv[0] == str(shim) else "Python 2.7.18\n")
    for root in (str(tmp_path), "/nowhere"):  # of itself, and from where the shim lies
        monkeypatch.setenv("PYENV_ROOT", root)
        found = find_runtime(runtime("python-2", find=["python2.7"]), host)
        assert isinstance(found, Found)
        assert found.program == str(real)


def test_every_interpreter_on_path_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("shims", "real"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "python2.7").touch(mode=0o755)
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", ":".join(str(tmp_path / name) for name in ("shims", "empty", "real")))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "none"))
    found = interpreters(runtime("python-2", find=["python2.7"]), FakeHost(lambda _: 1))
    assert found == [str(tmp_path / "shims" / "python2.7"), str(tmp_path / "real" / "python2.7")]


def test_a_pyenv_that_may_not_be_read_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As root's, whose variable is still there after ``su``."""

    def forbidden(self: Path, pattern: str) -> Iterator[Path]:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setattr(Path, "glob", forbidden)
    assert programs(["python2.7"]) == []


def test_one_that_pyenv_has_and_does_not_show_is_looked_at_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "versions" / "2.7.18" / "bin" / "python2.7"
    for program in (kept, tmp_path / "shims" / "python2.7"):
        program.parent.mkdir(parents=True)
        program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "shims"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    found = interpreters(runtime("python-2", find=["python2.7"]), FakeHost(lambda _: 1))
    assert found == [str(tmp_path / "shims" / "python2.7"), str(kept)]
