"""Journal: the Runs of one part of a tryout as they come, and those of an earlier sitting instead of measuring again.

A tryout decides on the next block by all that was measured before. So one that is resumed takes the same course from
its beginning: where it asks for Trials that were carried out in an earlier sitting it gets their Runs, and what has
none is measured. The results file is made with the first Run that counts: a call that is refused leaves nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from webdyno.design import Block
from webdyno.design.length import spent_s
from webdyno.model.errors import UsageError
from webdyno.model.run import Run
from webdyno.model.trial import Plan, Trial
from webdyno.session.loop import Conduct
from webdyno.session.scratch import Scratch
from webdyno.store import Store

Make = Callable[[Plan], Store]


class Journal(Scratch):
    """Without ``make`` and ``store`` it keeps Runs only as long as the sitting lasts.

    ``make`` begins a results file for a Plan. ``store``: that of an earlier sitting, which stays its owner's to close;
    ``is_over``: it came to its end then.
    """

    def __init__(
        self, logs: Path, make: Make | None = None, store: Store | None = None, *, is_over: bool = False
    ) -> None:
        super().__init__(logs)
        self._make, self._store, self._is_over = make, store, is_over
        self._made: Store | None = None
        self._plan: Plan | None = None
        self._planned = set() if store is None else {trial.id for trial in store.plan().trials}
        before = [] if store is None else [run for run in store.runs() if run.outcome != "interrupted"]
        self._before = {id(run): run for run in before}
        self._ahead: dict[str, deque[Run]] = {}
        for run in before:
            self._ahead.setdefault(run.trial.id, deque()).append(run)

    @property
    def spent_s(self) -> float:
        """What all Runs so far took, whichever sitting they are of."""
        return spent_s([run for run in self.runs() if run.outcome != "interrupted"])

    def carry_out(self, plan: Plan, block: Block, conduct: Conduct) -> list[Run]:
        """The Runs of a block: those that are there, and for the others what ``conduct`` measures.

        UsageError where something else would have to be measured than was.
        """
        self._plan = plan
        found = {trial.id: self._next(trial) for trial in block}
        left = [trial for trial in block if found[trial.id] is None]
        if left and self._store is not None and (self._is_over or any(self._ahead.values())):
            raise UsageError(
                f"{self._store.folder}: {left[0].contender} would have to be measured next, and the earlier "
                "sitting measured something else: start over without --resume"
            )
        fresh = iter(conduct(left) if left else [])
        return [found[trial.id] or next(fresh) for trial in block]

    def append_all(self, runs: Sequence[Run]) -> None:
        """Keep those of a block, on the disk before anything else is measured."""
        fresh = [run for run in runs if id(run) not in self._before]  # the others are kept since they were asked for
        super().append_all(fresh)
        if self._plan is None or not fresh:
            return
        if self._store is None:
            if self._make is None or all(run.outcome == "interrupted" for run in fresh):
                return
            self._store = self._made = self._make(self._plan)
        elif new := [trial for trial in self._plan.trials if trial.id not in self._planned]:
            self._store.grow(new, self._plan)
        self._planned |= {trial.id for trial in self._plan.trials}
        self._store.append_all(fresh)

    def refuse_moved(self) -> None:
        """MachineError when the results file is no more where it was; before the first Run there is none."""
        if self._store is not None:
            self._store.refuse_moved()

    def close(self) -> None:
        """The results file, where it was made here."""
        if self._made is not None:
            self._made.close()

    def _next(self, trial: Trial) -> Run | None:
        """The Run of an earlier sitting; it counts from here on, so that a block after it gets another number."""
        runs = self._ahead.get(trial.id)
        if not runs:
            return None
        super().append_all([runs[0]])
        return runs.popleft()
