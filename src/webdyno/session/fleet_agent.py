"""Fleet agent: what stands on a host of a fleet and measures there as if it were the only machine.

What takes long is begun, and then heard of by ``next``, which waits a moment: so host and session hear of each other's
end as with any agent. All is done in one thread that lives as long as the agent. Runs are sent block by block, with the
logs of their Trials; nothing is kept here.
"""

from __future__ import annotations

import queue
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from webdyno.build import complete, folders_of, pack, unpack
from webdyno.design import Block
from webdyno.load.driver import DRIVERS, Event
from webdyno.model.block import Taken
from webdyno.model.catalogue import Catalogue
from webdyno.model.errors import MachineError, WebdynoError
from webdyno.model.run import Run
from webdyno.model.trial import Plan, Trial
from webdyno.model.way import WayName
from webdyno.rig.ask import asker
from webdyno.rig.daemons import confined
from webdyno.rig.far import files_of, write_files
from webdyno.rig.memory import free_memory_bytes
from webdyno.rig.strap import Strapped, strap
from webdyno.session.agent import About, Agent, own_engine
from webdyno.session.builds import jobs_of
from webdyno.session.folders import cache_folder
from webdyno.session.loop import Loop, at_work
from webdyno.session.ready import There, build, look
from webdyno.session.scratch import Scratch

MOMENT_S = 2.0
"""That ``next`` waits: a hundred hosts ask fifty times a second."""
PIECE_BYTES = 8 * 2**20
Said = tuple[str, tuple[Any, ...]]
"""``begun`` (a block), ``runs`` (with logs), ``done`` (a value) or ``failed`` (the kind of an error and its text)."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """How a host is taken."""

    name: str
    """Its address."""
    carrier: str
    sign: str
    """As of ``confined``."""
    memory_bytes: int | None
    cores: int | None
    way: WayName | None
    cpus: float | None
    as_user: bool = False


class Luggage(msgspec.Struct, frozen=True, kw_only=True):
    """What a plan needs of a catalogue, with the files that it names."""

    catalogue: Catalogue
    folders: dict[str, dict[str, bytes]]
    """By their paths where they came from; a file is a folder with a file of no name."""


class Needed(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked for on a host."""

    contenders: list[str]
    workloads: list[str]
    drivers: list[str]


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What of it is there, and for what is not, the reason by name."""

    drivers: dict[str, str]
    """Their versions."""
    absent: dict[str, str]
    """Drivers."""
    missing: dict[str, str]
    """Contenders."""
    lacking: dict[str, str]
    """Workloads."""


class FleetAgent(Agent):
    """Every public verb but ``answer`` may be asked by name; those below ``begin`` through it."""

    def __init__(self) -> None:
        super().__init__()
        self._said: queue.Queue[Said] = queue.Queue()
        self._strapped: Strapped | None = None
        self._known: Catalogue | None = None
        self._there: There | None = None
        self._drivers: dict[str, str] = {}
        self._loop: Loop | None = None

    def begin(self, verb: str, arguments: tuple[Any, ...]) -> None:
        """One of ``JOBS``; what comes of it is in ``next``."""
        self._starter.submit(self._do, JOBS[verb], arguments)

    def _do(self, job: Any, arguments: tuple[Any, ...]) -> None:
        try:
            self._said.put(("done", (job(self, *arguments),)))
        except WebdynoError as error:
            self._said.put(("failed", (type(error).__name__, str(error))))
        except KeyboardInterrupt:
            self._said.put(("failed", ("MachineError", "it was interrupted")))
        except OSError as error:
            self._said.put(("failed", ("MachineError", f"{error.filename or 'the disk'}: {error.strerror or error}")))

    def next(self) -> list[Said]:
        """All that was said since; none after a moment of silence."""
        try:
            found = [self._said.get(timeout=MOMENT_S)]
        except queue.Empty:
            return []
        while not self._said.empty():
            found.append(self._said.get())
        return found

    def stop(self) -> None:
        """End the block in flight, record it, and begin no other."""
        if self._strapped is not None:
            self._strapped.interrupted.set()

    def give_back(self) -> None:
        """End everything, and leave the host as it was."""
        self.stop()
        super().give_back()

    def _forsaken(self) -> None:
        self.stop()

    def piece(self, packed: str, offset: int) -> bytes:
        """Of what ``pack`` made."""
        with Path(packed).open("rb") as file:
            file.seek(offset)
            return file.read(PIECE_BYTES)

    def add(self, packed: str, data: bytes) -> None:
        """Append to a file that is to be unpacked."""
        with Path(packed).open("ab") as file:
            file.write(data)

    # Begun

    def man(self, asked: Asked) -> About:
        """Strap this host for contenders and their load."""
        strapped = self._taken.enter_context(
            strap(
                *(asked.memory_bytes, cache_folder(), asked.cores),
                way=asked.way,
                cpus=asked.cpus,
                as_user=asked.as_user,
            )
        )
        daemons = self._taken.enter_context(confined(asked.sign, strapped.rig.control_cores))
        rig = msgspec.structs.replace(
            strapped.rig,
            contender_host=asked.name,
            contender_machine=strapped.fingerprint.kind,
            carrier=asked.carrier,
            carrier_confined=daemons is not None and daemons.are_confined,
        )
        strapped.part((), rig, strapped.fingerprint, strapped.address, daemons)
        self._strapped = self._host = strapped
        return About(
            fingerprint=strapped.fingerprint,
            engine=own_engine(),
            rig=rig,
            cache=str(cache_folder()),
            free_bytes=free_memory_bytes(),
        )

    def look_for(self, luggage: Luggage, needed: Needed) -> Seen:
        """Unpack what a plan needs, and look for what this host has to bring."""
        self._known = unpacked(luggage, self._host.folder())
        absent: dict[str, str] = {}
        for name in needed.drivers:
            try:
                self._drivers[name] = DRIVERS[name]().version(asker(self._host))
            except MachineError as error:
                absent[name] = str(error)
        self._there = look(self._known, needed.contenders, needed.workloads, self._mine())
        return Seen(
            drivers=self._drivers,
            absent=absent,
            missing={**self._there.missing},
            lacking={**self._there.lacking},
        )

    def lacks(self, plan: Plan) -> list[str]:
        """Folders of builds, in the cache, that are still to be made."""
        cache, (known, there) = cache_folder(), self._catalogue()
        found = [
            path
            for job in jobs_of(plan.contenders, known, there.runtimes)
            for path in folders_of(job, cache, self._host)
        ]
        return list(dict.fromkeys(str(path.relative_to(cache)) for path in found if complete(path) is None))

    def pack(self, name: str) -> tuple[str, int]:
        """A folder of a build as a file, and its length; none where it was not built here."""
        folder = cache_folder() / name
        if complete(folder) is None:
            return "", 0
        target = self._host.folder() / "packed"
        pack(folder, target)
        return str(target), target.stat().st_size

    def room(self) -> str:
        """Where to put a file that is to be unpacked."""
        return str(self._host.folder() / "packed")

    def unpack(self, packed: str, name: str) -> None:
        """Such a folder, where it belongs."""
        unpack(Path(packed), cache_folder() / name, self._mine().interrupted)

    def build(self, plan: Plan, first_block: int, step: int) -> int:
        """Build what is not there, and be ready for blocks; how many contenders were built now."""
        known, there = self._catalogue()
        ready = build(known, plan, there, self._drivers, self._mine())
        book = _Sent(self._host.folder(), self._said)
        working = at_work(ready, self._mine(), book, [_Told(self._said)], count(first_block, step))
        self._loop = self._taken.enter_context(working)
        return sum(bool(getattr(each, "seconds", 0.0)) for each in ready.built.values())

    def carry_out(self, batch: Sequence[Block]) -> None:
        """Its blocks, one after the other."""
        for block in batch:
            if self._loop is not None and not self._loop.is_interrupted:
                self._loop.carry_out(block)

    def _mine(self) -> Strapped:
        if self._strapped is None:
            raise MachineError("this host was not taken yet")
        return self._strapped

    def _catalogue(self) -> tuple[Catalogue, There]:
        if self._known is None or self._there is None:
            raise MachineError("this host was told of no catalogue yet")
        return self._known, self._there


JOBS = {
    each.__name__: each
    for each in (
        FleetAgent.man,
        FleetAgent.look_for,
        FleetAgent.lacks,
        FleetAgent.pack,
        FleetAgent.unpack,
        FleetAgent.build,
        FleetAgent.carry_out,
    )
}
"""What takes longer than a call may."""


class _Sent(Scratch):
    """A book whose Runs are sent away, with the logs of their Trials."""

    def __init__(self, folder: Path, said: queue.Queue[Said]) -> None:
        super().__init__(folder)
        self._said = said

    def append_all(self, runs: Sequence[Run]) -> None:
        """Send them."""
        logs: dict[str, bytes] = {}
        for path in {path for run in runs for path in (self.contender_log(run.trial), self.driver_log(run.trial))}:
            if path.is_file():
                logs[path.name] = path.read_bytes()
        self._said.put(("runs", (list(runs), logs)))

    def contender_log(self, trial: Trial) -> Path:
        """By the name that it has in a results folder."""
        return self.folder / f"{trial.id}.contender.log"

    def driver_log(self, trial: Trial) -> Path:
        """Likewise."""
        return self.folder / f"{trial.id}.driver.log"


class _Told:
    """A listener that says which block begins."""

    def __init__(self, said: queue.Queue[Said]) -> None:
        self._said = said

    def begin(self, block: Block) -> None:
        """Say it."""
        self._said.put(("begun", ([*block],)))

    def event(self, _: Event | Taken) -> None:
        """Too much for a network on which others measure."""

    def end(self, _: Run) -> None:
        """It was sent."""


def packed(known: Catalogue, contenders: Sequence[str], workloads: Sequence[str]) -> Luggage:
    """What these need of ``known``."""
    apps = {known.contenders[name].app for name in contenders}
    services = {known.workloads[name].service for name in workloads}
    catalogue = msgspec.structs.replace(
        known,
        studies={},
        app_directories={name: path for name, path in known.app_directories.items() if name in apps},
        locks={name: path for name, path in known.locks.items() if name in contenders},
        lock_places={},
        service_directories={name: path for name, path in known.service_directories.items() if name in services},
    )
    paths = {*catalogue.app_directories.values(), *catalogue.locks.values(), *catalogue.service_directories.values()}
    return Luggage(catalogue=catalogue, folders={str(path): files_of(path) for path in paths})


def unpacked(luggage: Luggage, folder: Path) -> Catalogue:
    """The catalogue, whose files lie in ``folder`` from now on."""
    places = {path: folder / f"{number}" / Path(path).name for number, path in enumerate(luggage.folders)}
    for path, files in luggage.folders.items():
        write_files(places[path], files)

    def moved(paths: dict[str, Path]) -> dict[str, Path]:
        return {name: places[str(path)] for name, path in paths.items()}

    it = luggage.catalogue
    return msgspec.structs.replace(
        it,
        app_directories=moved(it.app_directories),
        locks=moved(it.locks),
        service_directories=moved(it.service_directories),
    )
