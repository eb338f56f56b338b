"""One contender: what is asked of the host, what is shared, what a failure leaves."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

import msgspec
import pytest

from tests.build.conftest import FOUND, installs, runtime
from tests.build.fake_host import FakeHost, no_such_program
from tests.fakes import contender
from webdyno.build import Job, build
from webdyno.build.recipes import RECIPES
from webdyno.model.built import Built
from webdyno.model.errors import BuildError
from webdyno.rig.host import Command


def test_a_built_contender_says_where_it_is_and_what_was_found_in_it(job: Job, host: FakeHost, tmp_path: Path) -> None:
    built = build(*job, tmp_path / "cache", host)
    (environment,) = (tmp_path / "cache" / "environments").glob("*/")
    assert built.contender == "fast"
    assert built.versions == {"py": "Python 3.11.2", "fast": "1.0", "dependency": "2.0"}
    assert built.environment["PATH"].split(":")[:2] == [str(environment / "bin"), "/usr/bin"]
    assert Path(built.directory).parent == tmp_path / "cache" / "apps"
    assert (Path(built.directory) / "app.py").read_text() == "app = 1\n"
    assert "said by uv" in Path(built.log).read_text()
    assert built.seconds > 0


def test_a_path_names_each_folder_once(job: Job, host: FakeHost, tmp_path: Path) -> None:
    path = build(*job, tmp_path, host).environment["PATH"].split(":")
    assert len(path) == len(set(path))


def test_python_is_installed_with_bytecode_and_hardlinks(job: Job, host: FakeHost, tmp_path: Path) -> None:
    build(*job, tmp_path, host)
    ((*install,),) = host.said("pip", "install")
    assert {"--compile-bytecode", "--link-mode", "hardlink"} <= set(install)
    assert Path(install[-1]).read_text() == "fast==1.0\n"
    assert host.said("compileall")


def test_a_contender_without_requirements_still_has_an_environment_of_its_own(
    job: Job, host: FakeHost, tmp_path: Path
) -> None:
    build(*job._replace(contender=contender("bare")), tmp_path, host)
    assert host.said("venv")
    assert not host.said("pip", "install")


def test_requirements_of_the_app_are_installed_too(job: Job, host: FakeHost, tmp_path: Path) -> None:
    job = job._replace(app=msgspec.structs.replace(job.app, requires=["framework==3.0"]))
    build(*job, tmp_path, host)
    assert Path(host.said("pip", "install")[0][-1]).read_text() == "fast==1.0\nframework==3.0\n"


def test_with_a_lock_exactly_the_lock_is_installed(job: Job, host: FakeHost, tmp_path: Path) -> None:
    lock = tmp_path / "fast.txt"
    lock.write_text(LOCK)
    build(*job._replace(lock=lock), tmp_path, host)
    ((*install,),) = host.said("pip", "install")
    assert {"--no-deps", "--require-hashes"} <= set(install)
    assert Path(install[-1]).read_text() == (
        "fast==1.0 --hash=sha256:aa --hash=sha256:bb\ndependency==2.0 ; sys_platform == 'linux' --hash=sha256:cc\n"
    )
    assert "--build-constraints" not in install


LOCK = """\
# locked
fast==1.0 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
dependency==2.0 ; sys_platform == 'linux' \\
    --hash=sha256:cc
"""


def test_what_a_lock_says_to_build_with_is_handed_on_with_its_hashes_and_not_installed(
    job: Job, host: FakeHost, tmp_path: Path
) -> None:
    lock = tmp_path / "fast.txt"
    lock.write_text(f"{LOCK}# built with\nsetuptools==69.5.1 \\\n    --hash=sha256:dd\n")
    apart = contender("fast", requires=["fast==1.0"], overrides=["old==2.0"], build_with=["setuptools==69.5.1"])
    build(*job._replace(lock=lock, contender=apart), tmp_path, host)
    ((*install,),) = host.said("pip", "install")
    constraints = Path(install[install.index("--build-constraints") + 1])
    assert constraints.read_text() == "setuptools==69.5.1 --hash=sha256:dd\n"
    assert "setuptools" not in Path(install[-1]).read_text()
    assert "--overrides" not in install  # the lock holds what they led to


def test_another_hash_is_another_environment(job: Job, host: FakeHost, tmp_path: Path) -> None:
    lock = tmp_path / "fast.txt"
    built = []
    built_with = "# built with\nsetuptools==69.5.1 --hash=sha256:dd\n"
    texts = [LOCK, LOCK.replace("bb", "ee"), LOCK + built_with, LOCK + built_with.replace("dd", "ff")]
    for text in texts:
        lock.write_text(text)
        built.append(build(*job._replace(lock=lock), tmp_path, host).environment["PATH"])
    assert len({*built}) == len(texts)


@pytest.mark.parametrize("text", ["fast==1.0\n", f"{LOCK}# built with\nfast==1.0\n"])
def test_a_lock_without_hashes_is_refused(job: Job, host: FakeHost, tmp_path: Path, text: str) -> None:
    lock = tmp_path / "fast.txt"
    lock.write_text(text)
    with pytest.raises(BuildError) as caught:
        build(*job._replace(lock=lock), tmp_path, host)
    assert str(caught.value) == f"{lock} has no hash of fast==1.0; lock the contender again"


def test_versions_apart_are_told_to_the_installer_and_make_another_environment(
    job: Job, host: FakeHost, tmp_path: Path
) -> None:
    apart = contender("fast", requires=["fast==1.0"], overrides=["old==2.0"], build_with=["setuptools==69.5.1"])
    before, after = build(*job, tmp_path, host), build(*job._replace(contender=apart), tmp_path, host)
    (plain,), (*install,) = host.said("pip", "install")[:1], host.said("pip", "install")[1]
    assert not {"--overrides", "--build-constraints"} & set(plain)
    assert Path(install[install.index("--overrides") + 1]).read_text() == "old==2.0\n"
    assert Path(install[install.index("--build-constraints") + 1]).read_text() == "setuptools==69.5.1\n"
    assert before.environment["PATH"] != after.environment["PATH"]


def test_a_build_that_fails_says_what_it_needs_of_the_system(job: Job, tmp_path: Path) -> None:
    no_libfast = FakeHost(lambda command: 1 if "install" in command.argv else installs(command))
    needy = contender("fast", requires=["fast==1.0"], needs="libfast: apt-get install libfast-dev")
    with pytest.raises(BuildError) as caught:
        build(*job._replace(contender=needy), tmp_path, no_libfast)
    assert str(caught.value) == (
        "could not install fast==1.0: uv ended with status 1; system requirements: libfast: apt-get install libfast-dev"
    )
    assert "said by uv" in caught.value.log_tail


def test_a_lock_that_does_not_fit_any_more_is_refused(job: Job, host: FakeHost, tmp_path: Path) -> None:
    lock = tmp_path / "fast.txt"
    lock.write_text("fast==0.9\n")
    with pytest.raises(BuildError) as caught:
        build(*job._replace(lock=lock), tmp_path, host)
    assert str(caught.value) == f"{lock} does not hold fast==1.0; lock the contender again"
    assert host.commands == []


def test_a_second_build_comes_from_the_cache(job: Job, host: FakeHost, tmp_path: Path) -> None:
    first = build(*job, tmp_path, host)
    started = len(host.commands)
    second = build(*job, tmp_path, host)
    assert second == msgspec.structs.replace(first, seconds=0.0)
    assert len(host.commands) == started


def test_contenders_with_the_same_requirements_share_an_environment(job: Job, host: FakeHost, tmp_path: Path) -> None:
    one = build(*job, tmp_path, host)
    two = build(*job._replace(contender=contender("other", requires=["fast==1.0"])), tmp_path, host)
    assert (one.key, one.environment, one.directory) == (two.key, two.environment, two.directory)
    assert two.seconds == 0.0
    assert len(host.said("venv")) == 1


def keys(built: Built) -> tuple[str, str]:
    """Which environment and which copy of the app."""
    return built.environment["PATH"].partition(":")[0], built.directory


def test_other_requirements_are_another_environment_for_the_same_app(job: Job, host: FakeHost, tmp_path: Path) -> None:
    one = keys(build(*job, tmp_path, host))
    two = keys(build(*job._replace(contender=contender("fast", requires=["fast==1.1"])), tmp_path, host))
    assert [a == b for a, b in zip(one, two, strict=True)] == [False, True]


def test_an_edited_app_is_another_app_in_the_same_environment(job: Job, host: FakeHost, tmp_path: Path) -> None:
    one = keys(build(*job, tmp_path, host))
    (job.sources / "app.py").write_text("app = 2\n")
    two = keys(build(*job, tmp_path, host))
    assert [a == b for a, b in zip(one, two, strict=True)] == [True, False]


def test_what_tools_leave_beside_the_sources_changes_nothing(job: Job, host: FakeHost, tmp_path: Path) -> None:
    one = build(*job, tmp_path, host)
    (job.sources / "__pycache__").mkdir()
    (job.sources / "__pycache__" / "app.cpython-311.pyc").write_bytes(b"x")
    assert build(*job, tmp_path, host).key == one.key


@pytest.mark.parametrize("change", [{"version": "Python 3.11.3"}, {"program": "/opt/python3.11"}])
def test_another_interpreter_is_another_environment(
    job: Job, host: FakeHost, tmp_path: Path, change: dict[str, str]
) -> None:
    one = build(*job, tmp_path, host)
    assert build(*job._replace(found=msgspec.structs.replace(FOUND, **change)), tmp_path, host).key != one.key


def test_a_failing_tool_is_a_build_error_with_the_end_of_the_log(job: Job, tmp_path: Path) -> None:
    def fails(command: Command) -> str | int:
        return 2 if "install" in command.argv else installs(command)

    with pytest.raises(BuildError) as caught:
        build(*job, tmp_path, FakeHost(fails))
    assert str(caught.value) == "could not install fast==1.0: uv ended with status 2"
    assert caught.value.log_tail.endswith("said by uv\n")


def test_a_killed_tool_is_a_build_error(job: Job, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"^could not make an environment: uv ended with signal 9$"):
        build(*job, tmp_path, FakeHost(lambda _: -9))


def test_a_missing_tool_is_a_build_error(job: Job, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"^could not make an environment: .*there is no such program$"):
        build(*job, tmp_path, FakeHost(no_such_program))


def test_a_tail_is_short_and_of_this_build_alone(job: Job, tmp_path: Path) -> None:
    def floods(command: Command) -> int:
        assert isinstance(command.stdout, Path)
        with command.stdout.open("a") as log:
            log.write("x" * 10_000)
        return 1

    tails = []
    for answer in (floods, lambda _: 1):
        with pytest.raises(BuildError) as caught:
            build(*job, tmp_path, FakeHost(answer))
        tails.append(caught.value.log_tail)
    assert len(tails[0]) == 4096
    assert "xxxx" not in tails[1]
    assert tails[1].startswith("$ ")


def test_a_failed_build_is_tried_again_from_nothing(job: Job, host: FakeHost, tmp_path: Path) -> None:
    def leaves_half(command: Command) -> int:
        Path(command.argv[-1]).mkdir()
        (Path(command.argv[-1]) / "half").touch()
        return 1

    with pytest.raises(BuildError):
        build(*job, tmp_path, FakeHost(leaves_half))
    built = build(*job, tmp_path, host)
    environment = Path(built.environment["PATH"].partition(":")[0]).parent
    assert not (environment / "half").exists()


def test_the_wish_to_stop_ends_the_tool_that_runs(job: Job, tmp_path: Path) -> None:
    stop = threading.Event()

    def runs_for_ever(command: Command) -> None:
        stop.set()

    host = FakeHost(runs_for_ever)
    with pytest.raises(KeyboardInterrupt):
        build(*job, tmp_path, host, stop)
    assert [group.ended for group in host.groups] == [True]


def test_a_tool_that_fails_once_it_was_stopped_is_no_failed_build(job: Job, tmp_path: Path) -> None:
    stop = threading.Event()

    def ends_as_it_is_stopped(command: Command) -> int:
        stop.set()
        return 1

    with pytest.raises(KeyboardInterrupt):
        build(*job, tmp_path, FakeHost(ends_as_it_is_stopped), stop)


def test_a_kind_without_a_recipe_says_so(
    job: Job, host: FakeHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(RECIPES, "native")
    with pytest.raises(BuildError, match=r"^webdyno cannot build for native yet$"):
        build(*job._replace(runtime=runtime("native")), tmp_path, host)


@pytest.mark.parametrize("status", [0, 1])
def test_what_a_tool_leaves_among_temporary_files_goes_with_it(status: int, job: Job, tmp_path: Path) -> None:
    asked: list[Path] = []

    def leaves_a_lock(command: Command) -> str | int:
        if command.role == "build":
            asked.append(Path(command.environment["TMPDIR"]))
            (asked[-1] / "uv-of-somebody.lock").touch()
        return status or installs(command)

    with contextlib.suppress(BuildError):
        build(*job, tmp_path, FakeHost(leaves_a_lock))
    assert asked
    assert not any(folder.exists() for folder in asked)


def test_tools_get_the_users_registries_but_not_the_users_environment(
    job: Job, host: FakeHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {"UV_INDEX_URL": "https://mirror", "HTTPS_PROXY": "http://proxy", "UV_PYTHON_INSTALL_DIR": "/p"}
    dropped = {"PYTHONPATH": "/x", "VIRTUAL_ENV": "/v", "UV_PYTHON": "3.9", "GOFLAGS": "-mod=vendor", "RUSTFLAGS": "-O"}
    for name, value in (kept | dropped).items():
        monkeypatch.setenv(name, value)
    build(*job, tmp_path, host)
    given = host.commands[0].environment
    assert kept.items() <= given.items()
    assert not dropped.keys() & given.keys()
