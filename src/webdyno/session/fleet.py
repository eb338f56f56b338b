"""Fleet: a study on several hosts that have contenders, each measuring whole blocks as if it were the only machine.

An agent stands on each host (fleet_agent.py). The plan, the results folder and every decision are here: which host gets
what (``design/fleet.py``), and what a host that was lost did not finish (fleet_course.py). Nothing is measured on this
machine.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from webdyno.analyse.doubts.machine import placement
from webdyno.analyse.words import count, listing
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import MachineError, UsageError
from webdyno.model.place import Cluster
from webdyno.model.rig import Fingerprint
from webdyno.model.study import Study
from webdyno.model.trial import Plan
from webdyno.plan import memory_bytes
from webdyno.rig.far import LOST_S, Call
from webdyno.session.agent import About, error_of, refuse_other_versions
from webdyno.session.fleet_agent import PIECE_BYTES, Asked, FleetAgent, Needed, Seen, packed
from webdyno.session.saying import say

if TYPE_CHECKING:
    from webdyno.rig.by_ray import Attached

TO_END_S = 60.0
"""That a host may take to end what it has begun."""
_LOOK_S = 0.2
"""How often it is looked whether the user wants an end."""
T = TypeVar("T")
Heard = Callable[[str, tuple[Any, ...]], object]


class Member:
    """A host of the fleet, as it is known here."""

    about: About
    """Once it is taken."""

    def __init__(self, call: Call, name: str) -> None:
        self._call, self.name = call, name
        self.is_lost = False

    def do(self, verb: str, *arguments: Any, heard: Heard = lambda *_: None) -> Any:
        """The result of a job there; ``heard`` gets its messages meanwhile. MachineError if the host is lost."""
        self._call("begin", verb, arguments)
        while True:
            for kind, said in self._call("next"):
                if kind == "done":
                    return said[0]
                if kind == "failed":
                    raise error_of(said[0], f"{self.name}: {said[1]}")
                heard(kind, said)

    def stop(self) -> None:
        """Let it end its block, and begin no other."""
        with suppress(MachineError):
            self._call("stop")

    def give_back(self) -> None:
        """End all there and leave it as it was; one that counts as lost may still hear it."""
        with suppress(MachineError):
            self._call("give_back", within_s=LOST_S if self.is_lost else TO_END_S)

    def copy(self, name: str, other: Member) -> None:
        """A folder of a build to ``other``; nothing where it was not built here."""
        source, length = self.do("pack", name)
        if not length:
            return
        target = other._call("room")
        for offset in range(0, length, PIECE_BYTES):
            other._call("add", target, self._call("piece", source, offset))
        other.do("unpack", target, name)


def at_once(members: Sequence[Member], ask: Callable[[Member], T]) -> list[T]:
    """What each of them answers, all asked at the same time; the first error of any."""
    with ThreadPoolExecutor(max(1, len(members)), thread_name_prefix="webdyno-fleet") as pool:
        return list(pool.map(ask, members))


@contextmanager
def manned(cluster: Cluster, like: Study | Plan, interrupted: threading.Event) -> Iterator[list[Member]]:
    """The hosts of ``cluster`` that have contenders, taken as ``like`` asks. UsageError, MachineError.

    All of them end what they are at once ``interrupted`` is set.
    """
    from webdyno.rig.by_ray import attached  # which nobody imports who has one machine

    with (
        attached(msgspec.structs.replace(cluster, allow_public=True)) as node,
        node.manned(FleetAgent, error_of) as calls,
    ):
        members = [Member(call, name) for name, call in calls.items()]
        over = threading.Event()
        threading.Thread(
            target=_watch, args=(members, interrupted, over), name="webdyno-fleet-end", daemon=True
        ).start()
        try:
            at_once(members, lambda member: _man(member, node, like))
            for member in members:
                refuse_other_versions(member.about, member.name)
            refuse_unlike_placements(members)
            say(f"a fleet of {count(len(members), 'host')}: {listing([member.name for member in members])}")
            yield members
        finally:
            over.set()
            at_once(members, Member.give_back)


def _watch(members: Sequence[Member], interrupted: threading.Event, over: threading.Event) -> None:
    while not over.wait(_LOOK_S):
        if interrupted.is_set():
            at_once(members, Member.stop)
            return


def _man(member: Member, node: Attached, like: Study | Plan) -> None:
    asked = Asked(
        name=member.name,
        carrier=node.version,
        sign=node.sign,
        memory_bytes=memory_bytes(like) if isinstance(like, Study) else like.memory_bytes,
        cores=like.cores,
        way=like.way,
        cpus=like.cpus,
        as_user=like.as_user,
    )
    member.about = member.do("man", asked)


def refuse_unlike_placements(members: Sequence[Member]) -> None:
    """UsageError where contenders would have other cores or limits on some hosts: such rates are not compared."""
    found: dict[object, str] = {}
    for member in members:
        if (rig := member.about.rig) is not None:
            cores = count(len(rig.contender_cores), "core")
            found.setdefault(placement(rig), f"{member.name} has {cores} for contenders, limits by {rig.way}")
    if len(found) > 1:
        raise UsageError(
            f"the hosts of the fleet are too unlike to share a study ({'; '.join(found.values())}): give the resource "
            "webdyno_contender to hosts of one size alone"
        )


def look_on(members: Sequence[Member], known: Catalogue, needed: Needed) -> Seen:
    """What all of them have; what one lacks, none has. UsageError where their load tools differ."""
    luggage = packed(known, needed.contenders, needed.workloads)
    seen = at_once(members, lambda member: member.do("look_for", luggage, needed))
    for name in needed.drivers:
        versions = {
            each.drivers[name]: member.name for member, each in zip(members, seen, strict=True) if name in each.drivers
        }
        if len(versions) > 1:
            told = listing([f"{version} on {host}" for version, host in versions.items()])
            raise UsageError(f"{name} is {told}: install the same on every host of the fleet")
    absent = _of_any(members, [each.absent for each in seen])
    if len(absent) == len(needed.drivers):
        raise MachineError("; ".join(absent.values()))
    return Seen(
        drivers={name: version for name, version in seen[0].drivers.items() if name not in absent},
        absent=absent,
        missing=_of_any(members, [each.missing for each in seen]),
        lacking=_of_any(members, [each.lacking for each in seen]),
    )


def _of_any(members: Sequence[Member], reasons: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The first reason for each name, with the host where it holds."""
    found: dict[str, str] = {}
    for member, of_host in zip(members, reasons, strict=True):
        for name, reason in of_host.items():
            found.setdefault(name, f"on {member.name}: {reason}")
    return found


def build_on(members: Sequence[Member], plan: Plan, next_block: int) -> None:
    """Build once for each kind of host, on the first of it; the others fetch that, and build what cannot be moved."""
    firsts: dict[tuple[str, str], Member] = {}
    for member in members:
        firsts.setdefault(_kind(member), member)
    numbers = {member.name: next_block + at for at, member in enumerate(members)}

    def build(member: Member) -> None:
        if made := member.do("build", plan, numbers[member.name], len(members)):
            say(f"built {count(made, 'contender')} on {member.name}")

    def fetch(member: Member) -> None:
        lacking = member.do("lacks", plan)
        for name in lacking:
            firsts[_kind(member)].copy(name, member)
        if lacking:
            say(f"{member.name} fetched {count(len(lacking), 'folder')} of builds from {firsts[_kind(member)].name}")

    at_once([*firsts.values()], build)
    others = [member for member in members if member not in firsts.values()]
    for member in others:  # one at a time: each is packed by the first one's only thread
        fetch(member)
    at_once(others, build)


def _kind(member: Member) -> tuple[str, str]:
    """Environments hold absolute paths, so builds are of use only where they lie in the same place."""
    return member.about.fingerprint.kind, member.about.cache


def fingerprint_of(members: Sequence[Member]) -> Fingerprint:
    """Of all of them: the first one's, with all beside it."""
    fleet = {member.name: member.about.fingerprint for member in members}
    return msgspec.structs.replace(members[0].about.fingerprint, fleet=fleet)
