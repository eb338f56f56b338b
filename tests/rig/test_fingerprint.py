"""Machines laid out in a folder, and this one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rig.layouts import write
from webdyno import __version__
from webdyno.rig.fingerprint import port_range, read_fingerprint

XEON = {
    "proc/cpuinfo": "processor\t: 0\nmodel name\t: Intel(R) Xeon(R)  Gold 6130 @ 2.10GHz\nflags\t: fpu hypervisor\n",
    "proc/meminfo": "MemTotal:       2048 kB\nMemFree: 1 kB\nSwapTotal:      1024 kB\nHugePages_Total:       0\n",
    "proc/loadavg": "0.52 0.58 0.59 1/467 12345\n",
    "proc/sys/kernel/hostname": "bench-1\n",
    "proc/sys/kernel/osrelease": "6.1.0-18-amd64\n",
    "proc/sys/net/ipv4/ip_local_port_range": "32768\t60999\n",
    "proc/self/mountinfo": "31 23 0:28 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n",
    "etc/os-release": 'ID=debian\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n',
    "sys/devices/system/cpu/online": "0-31\n",
    "sys/devices/system/cpu/cpu0/topology/thread_siblings_list": "0,16\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
    "sys/devices/system/cpu/intel_pstate/no_turbo": "0\n",
    "sys/devices/system/cpu/vulnerabilities/meltdown": "Mitigation: PTI\n",
    "sys/devices/system/cpu/vulnerabilities/l1tf": "Not affected\n",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
    "sys/class/dmi/id/sys_vendor": "QEMU\n",
}


def test_a_virtual_xeon_is_described(tmp_path: Path) -> None:
    found = read_fingerprint(write(tmp_path, XEON))
    assert found.hostname == "bench-1"
    assert found.cpu_model == "Intel(R) Xeon(R) Gold 6130 @ 2.10GHz"
    assert (found.cores, found.threads_per_core) == (32, 2)
    assert (found.governor, found.turbo) == ("performance", True)
    assert (found.memory_bytes, found.swap_bytes) == (2048 * 1024, 1024 * 1024)
    assert (found.kernel, found.distribution) == ("6.1.0-18-amd64", "Debian GNU/Linux 12 (bookworm)")
    assert found.mitigations == {"l1tf": "Not affected", "meltdown": "Mitigation: PTI"}
    assert (found.virtualisation, found.cgroup, found.clocksource) == ("kvm", "v2", "tsc")
    assert (found.port_range, found.load_before) == ((32768, 60999), 0.52)
    assert found.webdyno == __version__


def test_what_cannot_be_read_is_unknown_and_never_fails(tmp_path: Path) -> None:
    found = read_fingerprint(tmp_path)
    assert (found.cpu_model, found.distribution, found.cgroup) == ("unknown", "unknown", "none")
    assert (found.governor, found.turbo, found.threads_per_core, found.clocksource, found.virtualisation) == (None,) * 5
    assert (found.port_range, found.mitigations, found.load_before) == (None, {}, 0.0)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"run/.containerenv": ""}, "podman"),
        ({".dockerenv": ""}, "docker"),
        ({"run/systemd/container": "lxc\n"}, "lxc"),
        ({"proc/sys/kernel/osrelease": "5.15.90.1-microsoft-standard-WSL2\n"}, "wsl"),
        ({"sys/class/dmi/id/sys_vendor": "VMware, Inc.\n"}, "vmware"),
        ({"sys/class/dmi/id/sys_vendor": "Amazon EC2\n"}, "kvm (Amazon EC2)"),
        ({"sys/hypervisor/type": "xen\n"}, "xen"),
        ({"proc/cpuinfo": "flags\t: fpu hypervisor sse\n"}, "a hypervisor"),
        ({"sys/class/dmi/id/sys_vendor": "Dell Inc.\n"}, None),
    ],
)
def test_what_lies_between_us_and_the_metal(tmp_path: Path, files: dict[str, str], expected: str | None) -> None:
    assert read_fingerprint(write(tmp_path, files)).virtualisation == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Model\t\t: Raspberry Pi 4 Model B Rev 1.4\nCPU part\t: 0xd08\n", "Raspberry Pi 4 Model B Rev 1.4"),
        ("CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n", "ARM part 0xd0c (implementer 0x41)"),
        ("cpu\t\t: POWER9, altivec supported\n", "POWER9, altivec supported"),
    ],
)
def test_processors_that_are_not_intels_are_named_too(tmp_path: Path, text: str, expected: str) -> None:
    assert read_fingerprint(write(tmp_path, {"proc/cpuinfo": text})).cpu_model == expected


@pytest.mark.parametrize(
    ("mounts", "expected"),
    [
        ("1 1 0:1 / /c rw - cgroup cgroup rw,memory\n", "v1"),
        ("1 1 0:1 / /c rw - cgroup cgroup rw,memory\n2 1 0:2 / /u rw - cgroup2 cgroup2 rw\n", "hybrid"),
        ("1 1 0:1 / / rw - ext4 /dev/vda rw\n", "none"),
    ],
)
def test_the_kind_of_cgroups_is_read_from_what_is_mounted(tmp_path: Path, mounts: str, expected: str) -> None:
    assert read_fingerprint(write(tmp_path, {"proc/self/mountinfo": mounts})).cgroup == expected


def test_amds_boost_is_turbo(tmp_path: Path) -> None:
    assert read_fingerprint(write(tmp_path, {"sys/devices/system/cpu/cpufreq/boost": "0\n"})).turbo is False


def test_this_machine_is_described() -> None:
    found = read_fingerprint()
    assert found.memory_bytes > 0
    assert 1 <= found.cores_usable <= found.cores
    assert found.open_files_limit > 0
    assert port_range() == found.port_range
