"""Settings that move figures: what is read of a machine laid out in a folder, and what it should be."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from tests.rig.layouts import write
from webdyno.rig.quiet import NAMES, OPEN_FILES, Seen, look, value

CPU = "sys/devices/system/cpu"
LOUD = {
    f"{CPU}/cpufreq/policy0/scaling_governor": "powersave\n",
    f"{CPU}/cpufreq/policy0/scaling_available_governors": "performance powersave\n",
    f"{CPU}/cpufreq/policy1/scaling_governor": "powersave\n",
    f"{CPU}/intel_pstate/no_turbo": "0\n",
    "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
    "proc/sys/net/core/somaxconn": "128\n",
    "proc/sys/net/ipv4/ip_local_port_range": "32768\t60999\n",
    "proc/self/status": "Name:\tx\nCapEff:\t000001ffffffffff\n",
}
"""A laptop of 2018 as it is delivered."""


def seen(root: Path, name: str, **changes: str) -> Seen:
    """The first of that name, on a loud machine with some files changed."""
    write(root, {**LOUD, **changes})
    return next(it for it in look(root) if it.name == name)


def test_a_loud_machine_would_be_changed_wherever_it_can_be(tmp_path: Path) -> None:
    found = [(it.name, it.now, it.quiet) for it in look(write(tmp_path, LOUD)) if it.file and it.would_change]
    assert found == [
        ("governor", "powersave", "performance"),
        ("governor", "powersave", "performance"),
        ("turbo", "0", "1"),
        ("huge-pages", "always", "madvise"),
        ("somaxconn", "128", "4096"),
        ("port-range", "32768 60999", "16384 65535"),
    ]


def test_a_virtual_machine_has_no_clock_to_set_and_says_so(tmp_path: Path) -> None:
    files = {name: text for name, text in LOUD.items() if not name.startswith(CPU)}
    found = {it.name: it for it in look(write(tmp_path, files))}
    assert tuple(found) == NAMES
    for name in ("governor", "turbo"):
        assert (found[name].now, found[name].would_change) == (None, False)
        assert "no cpufreq" in found[name].obstacle


@pytest.mark.parametrize(
    ("name", "file", "now"),
    [
        ("huge-pages", "sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]"),
        ("huge-pages", "sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never"),
        ("somaxconn", "proc/sys/net/core/somaxconn", "65535"),
        ("port-range", "proc/sys/net/ipv4/ip_local_port_range", "1024\t65535"),
        ("turbo", f"{CPU}/intel_pstate/no_turbo", "1"),
    ],
)
def test_what_is_quiet_already_stays(name: str, file: str, now: str, tmp_path: Path) -> None:
    it = seen(tmp_path, name, **{file: now})
    assert (it.quiet, it.would_change) == (it.now, False)


def test_of_two_ways_to_turn_turbo_off_the_driver_s_own_counts(tmp_path: Path) -> None:
    assert seen(tmp_path, "turbo", **{f"{CPU}/cpufreq/boost": "1"}).file.endswith("no_turbo")
    (tmp_path / CPU / "intel_pstate/no_turbo").unlink()
    other = next(it for it in look(tmp_path) if it.name == "turbo")
    assert (other.file, other.now, other.quiet) == (str(tmp_path / CPU / "cpufreq/boost"), "1", "0")


def test_a_governor_that_the_driver_does_not_know_is_not_tried(tmp_path: Path) -> None:
    it = seen(tmp_path, "governor", **{f"{CPU}/cpufreq/policy0/scaling_available_governors": "ondemand powersave"})
    assert not it.would_change
    assert it.obstacle == "its driver knows only ondemand, powersave"


@pytest.mark.parametrize("text", ["", "many", "1 2 3"])
def test_what_makes_no_sense_is_not_to_be_had(text: str, tmp_path: Path) -> None:
    it = seen(tmp_path, "port-range", **{"proc/sys/net/ipv4/ip_local_port_range": text})
    assert (it.now, it.would_change) == (None, False)


def test_without_the_right_to_write_it_is_shown_with_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert seen(tmp_path, "somaxconn").obstacle == "that needs root"
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert "is read-only here" in seen(tmp_path, "somaxconn").obstacle


def test_the_limit_of_open_files_is_raised_only_with_the_right_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 4096))
    it = seen(tmp_path, "open-files")
    assert (it.now, it.quiet, it.would_change) == ("4096", str(OPEN_FILES), True)
    without = seen(tmp_path, "open-files", **{"proc/self/status": "CapEff:\t000001fffeffffff\n"})
    assert not without.would_change
    assert "CAP_SYS_RESOURCE" in without.obstacle
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, resource.RLIM_INFINITY))
    assert seen(tmp_path, "open-files").now == "unlimited"


def test_what_is_kept_stays_and_the_rest_does_not(tmp_path: Path) -> None:
    write(tmp_path, LOUD)
    changed = {it.name for it in look(tmp_path, keep=["turbo", "governor", "open-files"]) if it.would_change}
    assert changed == {"huge-pages", "somaxconn", "port-range"}


def test_a_value_is_the_chosen_one_with_single_blanks() -> None:
    assert [value(text) for text in ("always [madvise] never\n", "32768\t60999\n", "1\n")] == [
        "madvise",
        "32768 60999",
        "1",
    ]
