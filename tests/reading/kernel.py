"""Readers of the kernel's text files, from a folder in place of /proc, /sys or a cgroup."""

from __future__ import annotations

import os
from pathlib import Path

from tests.reading.registry import Reader, put, text
from webdyno.conduct.roll import line_about
from webdyno.measure.machine import read_machine
from webdyno.measure.others import others_ns
from webdyno.rig import cgroup_v1, cgroup_v2, cores, lock, memory, mounts, patience, quiet, quieted, sockets
from webdyno.rig.fingerprint import read_fingerprint
from webdyno.rig.ledger import sweep
from webdyno.serve.compiler import compilers

CPUINFO = b"processor\t: 0\nmodel name\t: A  CPU\nflags\t\t: fpu hypervisor\n"
MEMINFO = b"MemTotal:  1000 kB\nMemAvailable:  500 kB\nHugePages_Total: 0\n"
MOUNTS = b"25 30 0:23 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n26 30 0:24 / /c\\040d rw - cgroup c rw,memory\n"
LIMITS = {"cpu.stat": b"usage_usec 5\nuser_usec 3\nsystem_usec 2\nthrottled_usec 1\n", "memory.events": b"oom_kill 1\n"}


def _fingerprint(data: bytes, root: Path) -> object:
    for names in (("proc", "cpuinfo"), ("proc", "meminfo"), ("proc", "loadavg"), ("proc", "self", "mountinfo")):
        put(root, data, *names)
    put(root, data, "etc", "os-release")
    put(root, data, "sys", "devices", "system", "cpu", "online")
    put(root, data, "proc", "sys", "net", "ipv4", "ip_local_port_range")
    return read_fingerprint(root)


def _mounts(data: bytes, proc: Path) -> object:
    put(proc, data, "self", "mountinfo")
    put(proc, data if data.count(b":") > 1 else b"0::/user\n", "self", "cgroup")
    return mounts.places(proc)


def _cores(data: bytes, sys_cpu: Path) -> object:
    put(sys_cpu, data, "cpu0", "topology", "thread_siblings_list")
    return cores.physical_cores([0, 1], sys_cpu)


def _holder(data: bytes, folder: Path) -> object:
    opened = os.open(folder, os.O_RDONLY)
    try:
        return lock._holder(opened, put(folder, data, "locks"))
    finally:
        os.close(opened)


def _group(data: bytes, folder: Path) -> object:
    for name in ("cpu.stat", "memory.events", "memory.peak", "cgroup.procs"):
        put(folder, data, name)
    found = cgroup_v2.oom_kills(folder), cgroup_v2.throttled_ns(folder), cgroup_v2.memory_peak_bytes(folder)
    return found, cgroup_v1.pairs(folder / "cpu.stat")


def _sweep(data: bytes, folder: Path) -> object:
    path = put(folder, data, "entry.json")
    path.chmod(0o600)
    return sweep(folder)


def _others(data: bytes, proc: Path) -> object:
    return others_ns([0], [], put(proc, data, "stat").parent)


def _quiet(data: bytes, root: Path) -> object:
    put(root, b"CapEff:\t0\n", "proc", "self", "status")
    put(root, data, "sys", "devices", "system", "cpu", "cpu0", "cpufreq", "scaling_governor")
    put(root, data, "sys", "devices", "system", "cpu", "cpu0", "cpufreq", "scaling_available_governors")
    put(root, data, "sys", "kernel", "mm", "transparent_hugepage", "enabled")
    put(root, data, "proc", "sys", "net", "core", "somaxconn")
    put(root, data, "proc", "sys", "net", "ipv4", "ip_local_port_range")
    return quiet.look(root)


def _journal(data: bytes, folder: Path) -> object:
    path = put(folder, data, "quiet.json")
    path.chmod(0o600)
    return quieted._read(path)


HELD = b'{"owner":1,"owner_start":0,"boot":"x","changes":[]}'
TCP = b"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n" + (
    b"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 123 1 0 100 0 0 10 0\n"
)
KERNEL = [
    Reader(
        "the environment of a cluster's head",
        "rig/patience.py",
        lambda data, _: patience.patience_in(data),
        [b"PATH=/bin\0RAY_health_check_period_ms=1000\0RAY_health_check_failure_threshold=3\0"],
    ),
    Reader(
        "/proc/stat",
        "measure/machine.py",
        lambda data, at: read_machine(put(at, data, "stat").parent),
        [b"cpu  1 2 3 4 5 6 7 8 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\nprocs_running 2\n"],
    ),
    Reader(
        "/proc, /sys and /etc of a machine",
        "rig/fingerprint.py",
        _fingerprint,
        [CPUINFO, MEMINFO, MOUNTS, b"0-1,3\n", b'PRETTY_NAME="x"\n'],
    ),
    Reader("mountinfo", "rig/mounts.py", _mounts, [MOUNTS]),
    Reader("siblings of a core", "rig/cores.py", _cores, [b"0-1\n", b"0,1\n"]),
    Reader(
        "/proc/meminfo", "rig/memory.py", lambda data, at: memory.free_memory_bytes(put(at, data, "meminfo")), [MEMINFO]
    ),
    Reader("/proc/locks", "rig/lock.py", _holder, [b"1: FLOCK  ADVISORY  WRITE 17 08:01:999 0 EOF\n"]),
    Reader("sockets that listen", "rig/sockets.py", lambda data, at: sockets._read(put(at, data, "tcp")), [TCP]),
    Reader("files of a cgroup", "rig/cgroup_v2.py", _group, list(LIMITS.values())),
    Reader("files of a cgroup of version 1", "rig/cgroup_v1.py", _group, list(LIMITS.values())),
    Reader(
        "what a process has mapped",
        "serve/compiler.py",
        lambda data, at: compilers([1], put(at, data, "1", "maps").parents[1]),
        [b"7f-80 r-xp 00000000 08:01 5 /usr/lib/libjvm.so (deleted)\n"],
    ),
    Reader("what a killed webdyno left", "rig/ledger.py", _sweep),
    Reader("what others took", "measure/others.py", _others, [b"cpu  1 2 3 4 5 6 7 8 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n"]),
    Reader("settings of the system", "rig/quiet.py", _quiet, [b"powersave\n", b"always [madvise] never\n", b"1 2\n"]),
    Reader("settings to be put back", "rig/quieted.py", _journal, [HELD]),
    Reader("the line about a worker", "conduct/roll.py", lambda data, _: line_about(text(data), 17), [b"17 died\n"]),
]
