"""From what the user typed (a study's name or file, and flags that narrow it) to a Plan for this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import msgspec
from cyclopts import Parameter

from webdyno.commands.completing import contenders, studies, workloads
from webdyno.commands.options import AsUserOption, CpusOption, WayOption, cpus_of, flag, numbers, split
from webdyno.commands.units import LONGEST_LOAD_H, seconds, size_mb
from webdyno.model.catalogue import Catalogue
from webdyno.model.study import Study
from webdyno.plan import brief_of, narrow
from webdyno.session.lookup import driver_called
from webdyno.session.saying import note

StudyArgument = Annotated[
    str, Parameter(help="Name of a study (see: webdyno list studies), or a study's TOML file.", completer=studies)
]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Narrowing:
    """The flags that narrow a study or replace its settings; the same for ``plan`` and ``run``."""

    contender: Annotated[
        list[str] | None,
        flag("--contender", "-k", help="Contenders to use instead of the study's: -k a,b.", offers=contenders),
    ] = None
    workload: Annotated[
        list[str] | None,
        flag("--workload", "-w", help="Workloads to use instead of the study's.", offers=workloads),
    ] = None
    connections: Annotated[
        list[str] | None, flag("--connections", "-c", help="Numbers of connections instead of the study's: -c 8,64.")
    ] = None
    duration: Annotated[str | None, flag("--duration", "-d", help="Length of each steady phase: 2s, 500ms, 1m.")] = None
    rounds: Annotated[int | None, flag("--rounds", "-r", help="Number of rounds instead of the study's.")] = None
    seed: Annotated[int | None, flag("--seed", help="Seed of the random order.")] = None
    driver: Annotated[str | None, flag("--driver", help="Load tool: engine, wrk, wrk2, ab, h2load, oha or jmeter.")] = (
        None
    )
    drivers: Annotated[
        int | None, flag("--drivers", help="Number of engines that share each load; the total load stays the same.")
    ] = None
    memory: Annotated[str | None, flag("--memory", help="Memory limit of each contender: 512M, 2G, or none.")] = None
    cpus: CpusOption = None
    way: WayOption = None
    as_user: AsUserOption = None
    trimmed: Annotated[
        bool, flag("--trimmed", help="Drop the highest and lowest round before averaging, as study wsgi did.")
    ] = False

    alone: Annotated[
        bool, flag("--alone", help="Measure each contender alone, one after the other, even if it could take turns.")
    ] = False

    brief: Annotated[
        bool,
        Parameter(
            name=["--brief"], negative=(), help="The study's brief version: the same question, answered in minutes."
        ),
    ] = False

    @property
    def is_empty(self) -> bool:
        """True when no flag was given."""
        return self == Narrowing()

    @property
    def arguments(self) -> list[str]:
        """The flags as they are typed to have the same again, seed and rounds apart: every Plan has those itself."""
        lists = (("-k", self.contender), ("-w", self.workload), ("-c", self.connections))
        several, cpus = (None if each is None else f"{each:g}" for each in (self.drivers, self.cpus))
        texts = (("-d", self.duration), ("--driver", self.driver), ("--drivers", several), ("--memory", self.memory))
        typed = [part for name, values in lists if values for part in (name, ",".join(values))]
        typed += [
            part
            for name, value in (*texts, ("--way", self.way), ("--cpus", cpus))
            if value is not None
            for part in (name, value)
        ]
        typed += [] if self.as_user is None else ["--as-user" if self.as_user else "--no-as-user"]
        switches = (("--trimmed", self.trimmed), ("--alone", self.alone), ("--brief", self.brief))
        return [*typed, *(flag for flag, given in switches if given)]

    def of(self, study: Study, catalogue: Catalogue) -> Study:
        """``study``, narrowed."""
        narrowed = narrow(
            brief_of(study) if self.brief else study,
            catalogue,
            contenders=split(self.contender),
            workloads=split(self.workload),
            connections=numbers(self.connections, "--connections"),
            duration_s=None if self.duration is None else seconds(self.duration, "--duration", LONGEST_LOAD_H),
            rounds=self.rounds,
            seed=self.seed,
            driver=None if self.driver is None else driver_called(self.driver),
            estimate="trimmed" if self.trimmed else None,
            alone=True if self.alone else None,
            drivers=self.drivers,
            say=lambda sentence: note([sentence]),
        )
        memory_mb = narrowed.memory_mb if self.memory is None else size_mb(self.memory, "--memory")
        cpus, way = narrowed.cpus if self.cpus is None else cpus_of(self.cpus), self.way or narrowed.way
        return msgspec.structs.replace(narrowed, memory_mb=memory_mb, cpus=cpus, way=way)
