"""What ``webdyno doctor --far`` says: one table of all hosts of a cluster, and what is wrong with any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from webdyno.analyse.words import size, time_ns
from webdyno.commands.printing import out, say_json
from webdyno.model.errors import MachineError
from webdyno.model.place import Cluster
from webdyno.rig.patience import LEAST_S

if TYPE_CHECKING:
    from webdyno.session.far import HostLook

_HEAD = ("host", "cores", "open files", "round trip", "bandwidth", "limited by", "clock", "kernel", "processor")
_FILES = 12_000


def say_hosts(cluster: Cluster, *, json: bool) -> int:
    """Look at all of them and say what was found; the exit code."""
    from webdyno.session.far import look_at_hosts

    hosts = look_at_hosts(cluster)
    wrong = list(faults(hosts))
    if json:
        say_json({"hosts": hosts, "faults": wrong})
    else:
        for line in table([_HEAD, *map(_row, hosts)]):
            out(line)
        for sentence in wrong:
            out(sentence)
    return MachineError.exit_code if wrong else 0


def faults(hosts: Sequence[HostLook]) -> list[str]:
    """Why load cannot be made from one host on another, one sentence each."""
    from webdyno.session.agent import versions

    first = hosts[0]
    wrong = [
        f"{each.address} has {versions(each.about)}, here is {versions(first.about)}: install the same on every host"
        for each in hosts[1:]
        if versions(each.about) != versions(first.about)
    ]
    few = [each for each in hosts if each.about.fingerprint.open_files_limit < _FILES]
    wrong += [
        f"{each.address} allows {each.about.fingerprint.open_files_limit} open files per process: start its node after "
        "ulimit -n 65536"
        for each in few
    ]
    hasty = [(each.address, kept) for each in hosts if (kept := each.about.patience_s) is not None and kept < LEAST_S]
    wrong += [
        f"{address} is the head, and declares a host dead after {kept:g} s without an answer, which a busy one may "
        "need: start the head with RAY_health_check_failure_threshold=10 and no other RAY_health_check_ setting"
        for address, kept in hasty
    ]
    return wrong if len(hosts) > 1 else [*wrong, "the cluster has no second host to generate the load on"]


def _row(host: HostLook) -> tuple[str, ...]:
    machine, reached = host.about.fingerprint, host.reached
    clock = "ours"
    if host.clock_ahead_ns is not None and host.clock_error_ns is not None:
        side = "ahead" if host.clock_ahead_ns >= 0 else "behind"
        clock = f"{time_ns(abs(host.clock_ahead_ns))} {side}, +-{time_ns(host.clock_error_ns)}"
    return (
        host.address,
        str(machine.cores_usable),
        str(machine.open_files_limit),
        "this one" if reached is None else time_ns(reached.round_trip_ns),
        "-" if reached is None else f"{size(round(reached.bytes_per_s))}/s",
        "-" if reached is None else reached.limit or "-",
        clock,
        machine.kernel,
        machine.cpu_model,
    )


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """In columns as wide as they need."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
