"""Fingerprint: what machine this is, read once per command from /proc, /sys and /etc.

Reads files only, never runs a program, and never fails: what cannot be read is None (or "unknown" where a text is
due). The roots are arguments so that tests can lay out any machine in a folder.
"""

from __future__ import annotations

import os
import platform
import resource
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from webdyno import __version__
from webdyno.model.rig import Fingerprint
from webdyno.rig.cores import parse_list, usable_cores

_T = TypeVar("_T")

_VIRTUAL_VENDORS = {
    "qemu": "kvm",
    "kvm": "kvm",
    "vmware": "vmware",
    "virtualbox": "virtualbox",
    "innotek": "virtualbox",
    "xen": "xen",
    "microsoft corporation": "hyper-v",
    "amazon ec2": "kvm (Amazon EC2)",
    "google": "kvm (Google)",
    "openstack": "kvm (OpenStack)",
    "digitalocean": "kvm (DigitalOcean)",
    "hetzner": "kvm (Hetzner)",
    "parallels": "parallels",
}


def read_fingerprint(root: Path = Path("/")) -> Fingerprint:
    """Of the machine whose /proc, /sys and /etc lie below ``root``."""
    proc, sys = root / "proc", root / "sys"
    cpuinfo = _text(proc / "cpuinfo") or ""
    memory = _memory(_text(proc / "meminfo") or "")
    cores = len(_told(lambda: parse_list(_text(sys / "devices/system/cpu/online") or "")) or []) or os.cpu_count() or 1
    return Fingerprint(
        hostname=(_text(proc / "sys/kernel/hostname") or platform.node()),
        cpu_model=_cpu_model(cpuinfo),
        architecture=platform.machine(),
        cores=cores,
        cores_usable=len(usable_cores()),
        threads_per_core=_threads_per_core(sys),
        governor=_text(sys / "devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        turbo=_turbo(sys),
        memory_bytes=memory.get("MemTotal", 0),
        swap_bytes=memory.get("SwapTotal", 0),
        kernel=_text(proc / "sys/kernel/osrelease") or platform.release(),
        distribution=_distribution(_text(root / "etc/os-release") or ""),
        mitigations=_mitigations(sys),
        virtualisation=_virtualisation(root, cpuinfo),
        cgroup=_cgroup(_text(proc / "self/mountinfo") or ""),
        clocksource=_text(sys / "devices/system/clocksource/clocksource0/current_clocksource"),
        open_files_limit=resource.getrlimit(resource.RLIMIT_NOFILE)[1],
        port_range=port_range(proc),
        load_before=_load(_text(proc / "loadavg") or ""),
        webdyno=__version__,
        python=platform.python_version(),
    )


def port_range(proc: Path = Path("/proc")) -> tuple[int, int] | None:
    """First and last port the kernel gives to outgoing connections."""
    return _told(lambda: _pair(_text(proc / "sys/net/ipv4/ip_local_port_range") or ""))


def _pair(text: str) -> tuple[int, int]:
    low, high = text.split()
    return int(low), int(high)


def _text(path: Path) -> str | None:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return None


def _told(read: Callable[[], _T]) -> _T | None:
    try:
        return read()
    except (ValueError, IndexError):
        return None


def _cpu_model(cpuinfo: str) -> str:
    """x86 says "model name", others "Model", "Processor" or "cpu"; many ARM kernels say only a part number."""
    named = dict(
        reversed([(key.strip(), value.strip()) for key, _, value in map(_colon, cpuinfo.splitlines()) if value.strip()])
    )
    for key in ("model name", "Model", "Processor", "cpu", "uarch"):
        if key in named:
            return " ".join(named[key].split())
    if "CPU part" in named:
        return f"ARM part {named['CPU part']} (implementer {named.get('CPU implementer', '?')})"
    return "unknown"


def _colon(line: str) -> tuple[str, str, str]:
    return line.partition(":")


def _memory(meminfo: str) -> dict[str, int]:
    """In bytes; the file says kB and means KiB."""
    found = {}
    for line in meminfo.splitlines():
        name, _, value = line.partition(":")
        kib = value.split()
        if kib[1:] == ["kB"] and (known := _told(lambda: int(kib[0]))) is not None:  # noqa: B023 - called at once
            found[name] = known * 1024
    return found


def _threads_per_core(sys: Path) -> int | None:
    text = _text(sys / "devices/system/cpu/cpu0/topology/thread_siblings_list")
    return _told(lambda: len(parse_list(text))) if text else None


def _turbo(sys: Path) -> bool | None:
    no_turbo = _text(sys / "devices/system/cpu/intel_pstate/no_turbo")
    if no_turbo is not None:
        return no_turbo == "0"
    boost = _text(sys / "devices/system/cpu/cpufreq/boost")
    return None if boost is None else boost == "1"


def _mitigations(sys: Path) -> dict[str, str]:
    folder = sys / "devices/system/cpu/vulnerabilities"
    try:
        files = sorted(folder.iterdir())
    except OSError:
        return {}
    return {file.name: text for file in files if (text := _text(file))}


def _distribution(os_release: str) -> str:
    for line in os_release.splitlines():
        name, _, value = line.partition("=")
        if name == "PRETTY_NAME":
            return value.strip("\"'")
    return "unknown"


def _virtualisation(root: Path, cpuinfo: str) -> str | None:
    """The nearest layer first: a container, WSL, then what the firmware calls itself, then the CPU's own flag."""
    marks = (
        ("run/.containerenv", "podman"),
        (".dockerenv", "docker"),
    )
    for file, name in marks:
        if (root / file).exists():
            return name
    if container := _text(root / "run/systemd/container"):
        return container
    if "microsoft" in (_text(root / "proc/sys/kernel/osrelease") or "").lower():
        return "wsl"
    dmi = root / "sys/class/dmi/id"
    names = f"{_text(dmi / 'sys_vendor') or ''} {_text(dmi / 'product_name') or ''}".lower()
    for vendor, name in _VIRTUAL_VENDORS.items():
        if vendor in names:
            return name
    if _text(root / "sys/hypervisor/type"):
        return _text(root / "sys/hypervisor/type")
    flags = next((line for line in cpuinfo.splitlines() if line.startswith("flags")), "")
    return "a hypervisor" if " hypervisor" in flags else None


def _cgroup(mountinfo: str) -> str:
    kinds = [words[0] for line in mountinfo.splitlines() if (words := line.partition(" - ")[2].split())]
    if "cgroup2" in kinds:
        return "hybrid" if "cgroup" in kinds else "v2"
    return "v1" if "cgroup" in kinds else "none"


def _load(text: str) -> float:
    return _told(lambda: float(text.split()[0])) or 0.0
