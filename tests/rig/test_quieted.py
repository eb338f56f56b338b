"""Settings that are set for a while: put back at the end, after a failure or a kill; nobody else's is overwritten."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tests.rig.layouts import write
from tests.rig.test_quiet import CPU, LOUD
from webdyno.model.errors import MachineError
from webdyno.rig import quieted
from webdyno.rig.process import boot_id
from webdyno.rig.quiet import look
from webdyno.rig.quieted import Change, Held, held_quiet, holder, put_back_left, was_left

SOMAXCONN = "proc/sys/net/core/somaxconn"
QUIET = {"governor": "performance", "turbo": "1", "huge-pages": "madvise", "somaxconn": "4096"}
PLAIN = {
    "sys/kernel/mm/transparent_hugepage/enabled": "always",
    "proc/sys/net/ipv4/ip_local_port_range": "32768 60999",
}
"""A plain file keeps what is written, and lists no other values."""
KEEP = ["open-files"]  # it would be that of this process
FATAL = """
import os, sys
from pathlib import Path
from webdyno.rig import quieted
from webdyno.rig.quiet import look
root, journal, left, put = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), quieted._put
def fatal(file, wanted):
    global left
    if left == 0:
        os.kill(os.getpid(), 9)
    left -= 1
    put(file, wanted)
quieted._put = fatal
with quieted.held_quiet(look(root, ["open-files"]), print, journal):
    os.kill(os.getpid(), 9)
"""
"""It is killed before some write, or after all of them."""
DEAD = 2**22 + 1  # above the largest pid there can be


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "root", LOUD | PLAIN)


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "run" / "webdyno" / "quiet.json"


@pytest.fixture(autouse=True)
def run(journal: Path) -> None:
    journal.parent.parent.mkdir()


def files(root: Path) -> dict[str, str]:
    """Of the table, as they are."""
    return {name: (root / name).read_text().strip() for name in LOUD}


def left(journal: Path, *changes: Change, owner: int = DEAD, start: int = 1, boot: str | None = None) -> None:
    """A journal of one that is gone."""
    journal.parent.mkdir(exist_ok=True)
    held = Held(owner=owner, owner_start=start, boot=boot or boot_id(), changes=list(changes))
    journal.write_bytes(msgspec.json.encode(held))
    journal.chmod(0o644)


def test_it_is_set_inside_and_as_before_after(root: Path, journal: Path) -> None:
    before, told = files(root), list[str]()
    with held_quiet(look(root, KEEP), told.append, journal):
        inside = {it.name: it.now for it in look(root, KEEP) if it.name in QUIET}
        assert inside == QUIET
        assert holder(journal) == os.getpid()
        assert not was_left(journal)
        assert put_back_left(journal) == []  # it is held, and not left
    assert files(root) == before
    assert told == ["put back: governor powersave, turbo 0, huge-pages always, somaxconn 128, port-range 32768 60999"]
    assert list(journal.parent.iterdir()) == []


def test_it_is_put_back_when_what_is_inside_fails(root: Path, journal: Path) -> None:
    before = files(root)
    with pytest.raises(ZeroDivisionError), held_quiet(look(root, KEEP), print, journal):
        raise ZeroDivisionError
    assert files(root) == before


@pytest.mark.parametrize("writes", range(7))
def test_killed_at_any_write_the_next_one_puts_all_back(writes: int, root: Path, journal: Path) -> None:
    before = files(root)
    done = subprocess.run([sys.executable, "-c", FATAL, root, journal, str(writes)], check=False, timeout=30)
    assert done.returncode == -9
    assert (files(root) == before) is (writes == 0)
    assert was_left(journal)
    told = put_back_left(journal)
    assert files(root) == before
    assert all(each.startswith("after a webdyno that was killed (pid ") for each in told)
    assert not was_left(journal)
    assert put_back_left(journal) == []


def test_what_somebody_else_changed_meanwhile_stays_and_is_said(root: Path, journal: Path) -> None:
    told: list[str] = []
    with held_quiet(look(root, KEEP), told.append, journal):
        (root / SOMAXCONN).write_text("1000")
    assert (root / SOMAXCONN).read_text() == "1000"
    assert told[-1] == (
        "somaxconn stays 1000, because somebody else changed it in the meantime: it was 128, and webdyno had set 4096 "
        f"({root / SOMAXCONN})"
    )
    assert not journal.exists()


def test_what_cannot_be_put_back_is_said_and_tried_again(
    root: Path, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, told = files(root), list[str]()
    put = quieted._put

    def refused(file: str, wanted: str) -> None:
        if file.endswith("somaxconn") and wanted == "128":
            raise PermissionError(1, "Operation not permitted")
        put(file, wanted)

    with monkeypatch.context() as patch:
        patch.setattr(quieted, "_put", refused)
        with held_quiet(look(root, KEEP), told.append, journal):
            pass
    assert "somaxconn could not be put back to 128 (operation not permitted" in told[-1]
    assert "webdyno doctor --quiet --undo" in told[-1]
    held = msgspec.json.decode(journal.read_bytes(), type=Held)
    assert [change.name for change in held.changes] == ["somaxconn"]
    left(journal, *held.changes)
    assert put_back_left(journal) == [f"after a webdyno that was killed (pid {DEAD}): put back: somaxconn 128"]
    assert {**files(root), SOMAXCONN: "128"} == {**before, SOMAXCONN: "128"}


def test_what_the_kernel_refuses_or_makes_something_else_of_is_said_and_the_rest_is_set(
    root: Path, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, put = list[str](), quieted._put

    def refused(file: str, wanted: str) -> None:
        if wanted == "performance":
            raise OSError(22, "Invalid argument")
        put(file, wanted)

    monkeypatch.setattr(quieted, "_put", refused)
    with held_quiet(look(root, KEEP), told.append, journal):
        assert (root / SOMAXCONN).read_text() == "4096"
    assert told[0].startswith("governor could not be set to performance (invalid argument): ")
    assert told[-1] == "put back: turbo 0, huge-pages always, somaxconn 128, port-range 32768 60999"


def test_a_core_that_was_taken_out_meanwhile_is_no_failure(root: Path, journal: Path) -> None:
    told: list[str] = []
    with held_quiet(look(root, KEEP), told.append, journal):
        (root / CPU / "cpufreq/policy1/scaling_governor").unlink()
    assert told == ["put back: governor powersave, turbo 0, huge-pages always, somaxconn 128, port-range 32768 60999"]
    assert not journal.exists()


def test_after_a_boot_nothing_is_put_back(root: Path, journal: Path) -> None:
    write(root, {SOMAXCONN: "4096"})
    left(journal, Change("somaxconn", str(root / SOMAXCONN), "128", "4096"), boot="another")
    assert not was_left(journal)
    assert put_back_left(journal) == []
    assert (root / SOMAXCONN).read_text() == "4096"
    assert not journal.exists()


def test_where_nothing_can_be_written_down_nothing_is_set(root: Path, journal: Path) -> None:
    before = files(root)
    journal.parent.write_text("a file")
    with pytest.raises(MachineError, match="nothing was set"), held_quiet(look(root, KEEP), print, journal):
        pass
    assert files(root) == before


@pytest.mark.parametrize("whose", ["a stranger's", "writable by others", "a link", "a pipe", "no JSON"])
def test_a_journal_that_a_stranger_may_have_written_puts_nothing_back(whose: str, root: Path, journal: Path) -> None:
    left(journal, Change("somaxconn", str(root / SOMAXCONN), "1", "128"))
    if whose == "a stranger's":
        if os.geteuid() != 0:
            pytest.skip("only root can give a file away")
        os.chown(journal, 65534, 65534)
    elif whose == "writable by others":
        journal.chmod(0o666)
    elif whose == "a link":
        journal.rename(journal.with_suffix(".other"))
        journal.symlink_to(journal.with_suffix(".other"))
    elif whose == "a pipe":
        journal.unlink()
        os.mkfifo(journal)
    else:
        journal.write_text("{")
    assert put_back_left(journal) == []
    assert (root / SOMAXCONN).read_text() == "128\n"


def test_the_limit_of_open_files_holds_inside_and_not_after(
    root: Path, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits, given = [(1024, 4096)], list[tuple[int, int]]()
    monkeypatch.setattr("resource.getrlimit", lambda _: limits[0])
    monkeypatch.setattr("resource.setrlimit", lambda _, pair: given.append(pair))
    names = ["governor", "turbo", "huge-pages", "somaxconn", "port-range"]
    with held_quiet(look(root, names), print, journal):
        assert given == [(65_536, 65_536)]
        assert not journal.exists()  # it ends with the process, so nobody has to put it back
    assert given == [(65_536, 65_536), (1024, 4096)]
