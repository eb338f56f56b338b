"""All readers."""

from __future__ import annotations

from tests.reading.commands import PRINTED, TYPED
from tests.reading.files import FILES
from tests.reading.kernel import KERNEL
from tests.reading.registry import DRIVEN
from tests.reading.wires import WIRES

READERS = [*DRIVEN, *FILES, *TYPED, *PRINTED, *WIRES, *KERNEL]

ELSEWHERE = {
    "build/environment.py": "the user's own settings of tools, searched for names; never refused",
    "build/go.py": "what go prints of programs just built: words of lines",
    "build/mismatch.py": "a lock searched for one hash, for a sentence",
    "build/order.py": "sources, hashed",
    "build/own.py": "scripts of the catalogue, copied",
    "build/packages.py": "what uv, which is a dependency, prints as JSON",
    "build/project.py": "a project's files, hashed",
    "build/python.py": "a lock, whose lines build/locks.py reads",
    "build/python2.py": "names of packages just installed",
    "build/rust.py": "what cargo prints of crates just built: words of lines",
    "commands/show.py": "a lock, whose lines build/locks.py reads",
    "conduct/together.py": "what the readers of drivers have read",
    "measure/proc.py": "/proc of living processes: tests/measure/test_sampler.py",
    "measure/runtime.py": "/proc of living threads; what is no number is left out",
    "model/log.py": "the end of a log, cut: tests/model/test_log.py",
    "model/secret.py": "what is shown, with stars: tests/model/test_secret.py",
    "read/check_answer.py": "a workload's texts, read by read/source.py",
    "read/convert.py": "what read/source.py has read",
    "rig/cgroup.py": "numbers of processes in our own cgroup",
    "rig/cgroup_way.py": "the kernel's list of controllers: words",
    "rig/contained.py": "/proc of living processes; what is no number is left out",
    "rig/containers.py": "what an engine prints, shown; a container's words: tests/rig/test_containers.py",
    "rig/engines.py": "the last line of an engine's complaint, shown",
    "rig/far.py": "files that are sent to another host",
    "rig/fence.py": "/proc of living threads: tests/rig/test_fence.py",
    "rig/network.py": "the kernel's settings of a network, written into another one as they are",
    "rig/reach.py": "the kernel's counters of packets, and the speed of a card: tests/rig/test_reach.py",
    "rig/throwaway.py": "the kernel's tables of user numbers: tests/rig/test_throwaway.py",
    "rig/process.py": "/proc of living processes: tests/rig/test_process.py",
    "service/running.py": "the end of a log, shown",
    "session/agent.py": "the end of what an engine complained about, shown",
    "session/fleet_agent.py": "logs and packed builds, sent to the head as they are",
    "session/trust.py": "hashes that webdyno wrote itself, compared; a file of somebody else's is not read",
    "session/tryout/inspect_app.py": "runs inside the user's own interpreter",
    "session/tryout/installing.py": "searched for one word",
    "session/tryout/project.py": "what inspect_app.py wrote inside the user's own interpreter",
    "session/tryout/sources.py": "sources, hashed",
    "store/bodies.py": "results files: bench/hostile.py and tests/test_store_hostile.py",
    "view/shell.py": "style sheets of our own",
}
"""Modules that read text or bytes and are not in the table, each with what it reads and where that is tested."""
