"""What a lock holds, and how it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.build.conftest import runtime
from tests.build.fake_host import FakeHost
from tests.fakes import contender
from webdyno.build import Job, lines_for, lock, unsatisfied, without_hashes
from webdyno.build.locks import build_lines, locked_lines
from webdyno.model.errors import MachineError, UsageError
from webdyno.rig.host import Command


@pytest.mark.parametrize(
    ("requirement", "line", "held"),
    [
        ("fast==1.0", "fast==1.0", True),
        ("fast==1.0", "fast==1.0.1", False),
        ("fast==1.0", "faster==1.0", False),
        ("Twisted==26.10.0", "twisted==26.10.0", True),
        ("zope.event==6.2", "zope-event==6.2", True),
        ("fast[extra]==1.0", "fast==1.0", True),
        ("fast==1.0", "fast==1.0 ; sys_platform == 'linux'", True),
        ("fast==1.0", "fast==1.0;sys_platform=='linux'", True),
    ],
)
def test_a_requirement_is_held_or_not(requirement: str, line: str, held: bool) -> None:
    assert unsatisfied([requirement], ["other==1", line]) == ([] if held else [requirement])


def test_a_lock_is_resolved_for_every_platform_and_this_version(job: Job, tmp_path: Path) -> None:
    def uv(command: Command) -> str:
        assert command.stdin == b"fast==1.0"
        assert {"--universal", "--python-version", "3.11"} <= set(command.argv)
        assert "--generate-hashes" in command.argv
        return "dependency==2.0\nfast==1.0\n"

    target = tmp_path / "locks" / "fast.txt"
    lock(job.contender, job.app, runtime("python", find=["3.11"]), target, FakeHost(uv))
    assert target.read_text() == "# locked for fast==1.0; written by webdyno\ndependency==2.0\nfast==1.0\n"


def test_a_lock_heeds_versions_apart(job: Job, tmp_path: Path) -> None:
    def uv(command: Command) -> str:
        if command.stdin == b"setuptools==69.5.1":
            return "setuptools==69.5.1 \\\n    --hash=sha256:aa\n"
        files = [command.argv[command.argv.index(option) + 1] for option in ("--overrides", "--build-constraints")]
        assert [Path(file).read_text() for file in files] == ["old==2.0\n", "setuptools==69.5.1\n"]
        return "fast==1.0\nold==2.0\n"

    apart = contender("fast", requires=["fast==1.0"], overrides=["old==2.0"], build_with=["setuptools==69.5.1"])
    lock(apart, job.app, runtime("python", find=["3.11"]), tmp_path / "fast.txt", FakeHost(uv))
    text = (tmp_path / "fast.txt").read_text()
    assert text.endswith("old==2.0\n# built with\nsetuptools==69.5.1 \\\n    --hash=sha256:aa\n")
    assert locked_lines(text) == ["fast==1.0", "old==2.0"]
    assert build_lines(text) == ["setuptools==69.5.1 --hash=sha256:aa"]


def test_what_a_lock_named_to_build_with_stays_and_gets_its_hashes(job: Job, tmp_path: Path) -> None:
    target = tmp_path / "fast.txt"
    target.write_text("fast==0.9\n# built with\nsetuptools==84.2.1\n")

    def uv(command: Command) -> str:
        return f"{(command.stdin or b'').decode()} --hash=sha256:aa\n"  # type: ignore[union-attr]

    lock(job.contender, job.app, runtime("python", find=["3.11"]), target, FakeHost(uv))
    assert target.read_text().partition("\n")[2] == (
        "fast==1.0 --hash=sha256:aa\n# built with\nsetuptools==84.2.1 --hash=sha256:aa\n"
    )


def test_what_cannot_be_resolved_is_not_written(job: Job, tmp_path: Path) -> None:
    with pytest.raises(MachineError, match=r"^fast: uv could not resolve fast==1.0; are all of them on the index\?$"):
        lock(job.contender, job.app, job.runtime, tmp_path / "fast.txt", FakeHost(lambda _: 1))
    assert not (tmp_path / "fast.txt").exists()


def test_only_python_contenders_have_a_lock(job: Job, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^fast: only Python contenders have a lock; node keeps its own in the app$"):
        lock(job.contender, job.app, runtime("node"), tmp_path / "fast.txt", FakeHost(lambda _: 1))


def test_people_are_shown_a_lock_without_its_hashes() -> None:
    lines = lines_for(["fast==1.0"], "fast==1.0 ; sys_platform == 'linux' \\\n    --hash=sha256:aa\n")
    assert lines == ["fast==1.0 ; sys_platform == 'linux' --hash=sha256:aa"]
    assert without_hashes(lines) == ["fast==1.0 ; sys_platform == 'linux'"]


SHARED = """\
# shared by the contenders of grid-new; written by webdyno
click==8.1 ; python_full_version < '3.10' \\
    --hash=sha256:aa \\
    --hash=sha256:bb
    # via flask
flask==3.0
    # via the catalogue
greenlet==3.5
    # via
    #   eventlet
    #   gevent
gevent==26.7
    # via the catalogue
zope-event==6.2
    # via gevent
"""


@pytest.mark.parametrize(
    ("requires", "names"),
    [
        (["flask==3.0"], ["click", "flask"]),
        (["Gevent==26.7"], ["greenlet", "gevent", "zope-event"]),
        (["zope.event==6.2", "flask[async]==3.0"], ["click", "flask", "zope-event"]),
        ([], []),
    ],
)
def test_of_a_shared_lock_a_contender_needs_what_its_own_requirements_lead_to(
    requires: list[str], names: list[str]
) -> None:
    assert [line.split("==")[0] for line in lines_for(requires, SHARED)] == names


def test_of_a_lock_that_says_nothing_of_who_needs_what_all_is_needed() -> None:
    assert lines_for(["fast==1.0"], "# locked for fast==1.0\ndependency==2.0\nfast==1.0\n") == [
        "dependency==2.0",
        "fast==1.0",
    ]


def test_contenders_that_share_a_lock_are_resolved_together_and_overrule_what_packages_pin(
    job: Job, tmp_path: Path
) -> None:
    overrides = ""

    def uv(command: Command) -> str:
        nonlocal overrides
        file = command.argv[command.argv.index("--overrides") + 1]
        overrides = Path(file).read_text()
        assert command.stdin == b"cyclone==1.3\nfast==1.0"
        assert "--no-annotate" not in command.argv
        return f"cyclone==1.3\n    # via --override {file}\nfast==1.0\n    # via --override {file}\n"

    target = tmp_path / "grid-new.txt"
    sharing = [job.contender, contender("other", requires=["cyclone==1.3", "fast==1.0"])]
    lock(job.contender, job.app, runtime("python", find=["pypy3.9"], minimum="3.9.12"), target, FakeHost(uv), sharing)
    assert overrides == "cyclone==1.3\nfast==1.0\n"
    assert target.read_text() == (
        "# shared by the contenders of grid-new; written by webdyno\n"
        "cyclone==1.3\n    # via the catalogue\nfast==1.0\n    # via the catalogue\n"
    )


def test_a_lock_of_python_2_looks_each_package_up_and_resolves_nothing(job: Job, tmp_path: Path) -> None:
    def uv(command: Command) -> str:
        assert "--no-deps" in command.argv
        assert "--python-version" not in command.argv
        return f"{(command.stdin or b'').decode().lower()} \\\n    --hash=sha256:aa\n"  # type: ignore[union-attr]

    old = contender("old", requires=["Old==1.0", "six==1.17.0"])
    lock(old, job.app, runtime("python-2"), tmp_path / "old.txt", FakeHost(uv))
    assert (tmp_path / "old.txt").read_text() == (
        "# locked for Old==1.0, six==1.17.0; written by webdyno\n"
        "old==1.0 \\\n    --hash=sha256:aa\nsix==1.17.0 \\\n    --hash=sha256:aa\n"
    )


def test_what_uv_passes_over_for_python_2_stays_as_it_was_written_by_hand(job: Job, tmp_path: Path) -> None:
    target = tmp_path / "old.txt"
    old = contender("old", requires=["Old==1.0"])
    with pytest.raises(MachineError, match=rf"Else write it into {target} yourself, with --hash=sha256: and its hash$"):
        lock(old, job.app, runtime("python-2"), target, FakeHost(lambda _: 1))
    target.write_text("old==1.0 --hash=sha256:aa\n")
    lock(old, job.app, runtime("python-2"), target, FakeHost(lambda _: 1))
    assert locked_lines(target.read_text()) == ["old==1.0 --hash=sha256:aa"]
