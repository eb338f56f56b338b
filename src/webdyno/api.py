"""webdyno from Python: measure a study, go on with one, read results again.

These are the names that stay: ``measure``, ``resume``, ``read``, ``Results``, and the nouns of ``webdyno.model`` that
they hold. Everything else is inside, and may change from version to version.

What happens meanwhile is told to the logger ``webdyno``; what goes wrong is a ``webdyno.model.errors.WebdynoError``
whose text is one sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from webdyno.analyse import analyse
from webdyno.design.choice import Choice
from webdyno.model.catalogue import Catalogue
from webdyno.model.race import Race
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.model.verdict import Analysis
from webdyno.plan import narrow
from webdyno.read import default_folder, read_catalogue
from webdyno.session import study as session
from webdyno.session.lookup import study_called
from webdyno.session.saying import note
from webdyno.session.trust import allow, ask_for_catalogues, refuse, throwaway
from webdyno.store import Store

__all__ = ["Results", "measure", "read", "resume"]


@dataclass(frozen=True)
class Results:
    """All that a results folder holds, and what it comes to."""

    folder: Path
    plan: Plan
    fingerprint: Fingerprint
    runs: list[Run]

    @cached_property
    def analysis(self) -> Analysis:
        """Verdicts, one for each workload and load, with places, intervals and doubts."""
        return analyse(self.plan, self.fingerprint, self.runs)


def measure(
    study: str,
    *,
    contenders: Sequence[str] | None = None,
    workloads: Sequence[str] | None = None,
    connections: Sequence[int] | None = None,
    duration_s: float | None = None,
    rounds: int | None = None,
    budget_s: float | None = None,
    exhaustive: bool = False,
    results: Path | str = "results",
    catalogue: Sequence[Path | str] = (),
    wait: bool = False,
    trust: bool = False,
    as_user: bool | None = None,
) -> Results:
    """As ``webdyno run STUDY``: build, measure, write down. ``study`` is a name or a TOML file.

    What is None stays as the study says. ``budget_s`` makes it a race of at most so long, ``exhaustive`` measures every
    round of everything; ``catalogue`` are folders beside webdyno's own, ``wait`` waits for another webdyno here.
    ``trust`` runs the commands of a catalogue folder that is not the user's own, which is a UsageError without it.
    ``as_user`` runs contenders as throw-away users; None: if root runs somebody else's catalogue. The calling thread is
    then in a network of its own meanwhile. WebdynoError; KeyboardInterrupt after Ctrl-C: what was measured is kept, and
    ``resume`` goes on.
    """
    known = _known(catalogue, trust)
    narrowed = narrow(
        study_called(study, known),
        known,
        contenders=None if contenders is None else [*contenders],
        workloads=None if workloads is None else [*workloads],
        connections=None if connections is None else [*connections],
        duration_s=duration_s,
        rounds=rounds,
        say=lambda sentence: note([sentence]),
    )
    apart = throwaway(as_user, [*map(Path, catalogue)], wanted=narrowed.as_user)
    choice = Choice(race=None if budget_s is None else Race(budget_s=budget_s), exhaustive=exhaustive)
    chosen, manner = msgspec.structs.replace(narrowed, as_user=apart), session.Manner(wait=wait)
    return _read(session.begin(chosen, known, Path(results), choice=choice, manner=manner))


def resume(
    folder: Path | str, *, catalogue: Sequence[Path | str] = (), wait: bool = False, trust: bool = False
) -> Results:
    """As ``webdyno run --resume FOLDER``: carry out what its plan has left. Raises what ``measure`` does.

    ``trust`` also runs the commands of a results folder that was not begun here, where no catalogue has them.
    """
    manner = session.Manner(wait=wait, agree=allow if trust else refuse)
    return _read(session.resume(Path(folder), _known(catalogue, trust), manner=manner))


def read(folder: Path | str) -> Results:
    """What was measured before, by ``measure`` or by a command. WebdynoError."""
    with Store.open(Path(folder)) as store:
        return Results(store.folder, store.plan(), store.fingerprint(), store.runs())


def _known(folders: Sequence[Path | str], trust: bool) -> Catalogue:
    more = [*map(Path, folders)]
    known = read_catalogue([default_folder(), *more])
    ask_for_catalogues(more, known, allow if trust else refuse)
    return known


def _read(ended: session.Ended) -> Results:
    if ended.interrupted:
        raise KeyboardInterrupt
    return read(ended.folder)
