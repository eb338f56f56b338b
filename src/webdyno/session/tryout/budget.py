"""Budget: what the time of ``--budget`` has to hold, told before anything is built where it cannot."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field

from webdyno.analyse.words import count, length
from webdyno.design.halving import FINALISTS, LEAST_FINALISTS, RUNG_S
from webdyno.model.errors import UsageError
from webdyno.session.settling import WARMUP_S
from webdyno.session.tryout.final import LEAST_ROUNDS, LEAST_S, MOST_ROUNDS, MOST_S
from webdyno.session.tryout.profile import PROFILE_S, PROGRAM

END_S = 0.6
"""Verifying and ending a server."""
SERVER_S = 0.3
"""Starting one, beside importing the application."""
NOTHING_S = 2.0
"""Of the Run with an app that does nothing."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """For ``bases`` settings as recommended, each of which is ready after ``ready_s``."""

    typed: str
    seconds: float
    bases: int
    current: bool
    """There is a --current, which is in the last comparison in any case."""
    project: bool
    """An application of the catalogue's servers: what is its own is told afterwards."""
    ready_s: float
    least_s: float = 0.0
    """The least steady seconds of a Run, for an application that is slow to answer."""
    profiles: bool = field(default_factory=lambda: shutil.which(PROGRAM) is not None)
    """There is a profiler, which comes last."""

    @property
    def beside_s(self) -> float:
        """What a Run takes beside its steady phase."""
        return self.ready_s + WARMUP_S + END_S

    @property
    def run_s(self) -> float:
        """What a Run of the first rung takes, as far as that is known before."""
        return self.beside_s + max(RUNG_S[0], self.least_s)

    def finalists(self, left_s: float, run_s: float, current_s: float = 0.0) -> int:
        """How many come into the last comparison, --current apart, where a Run of the first rung takes so long.

        Fewer rather than none that were swept: where every answer takes long, time is for few Runs.
        """
        a_round_s = (left_s - self.after_s) / LEAST_ROUNDS - self.current * self._long_s(current_s, LEAST_S)
        return min(max(int(a_round_s / self._long_s(run_s, LEAST_S)), LEAST_FINALISTS), FINALISTS)

    @property
    def after_s(self) -> float:
        """What comes after the last comparison: the app that does nothing, and a profile."""
        if not self.project:
            return 0.0
        profile_s = self.ready_s + END_S + PROFILE_S if self.profiles else 0.0
        return self.beside_s + NOTHING_S + profile_s

    def reserve_s(self, run_s: float, current_s: float) -> float:
        """For the shortest last comparison and what comes after it, where a Run of the first rung takes ``run_s``, and
        one of --current ``current_s``.
        """
        return self._last_s(run_s, current_s, LEAST_FINALISTS, LEAST_ROUNDS, LEAST_S)

    def most_s(self, run_s: float, current_s: float) -> float:
        """For the longest one."""
        return self._last_s(run_s, current_s, FINALISTS, MOST_ROUNDS, MOST_S)

    def _last_s(self, run_s: float, current_s: float, compared: int, rounds: int, steady_s: float) -> float:
        own_s = self.current * self._long_s(current_s, steady_s)
        return rounds * (min(self.bases, compared) * self._long_s(run_s, steady_s) + own_s) + self.after_s

    def _long_s(self, run_s: float, steady_s: float) -> float:
        """What a Run of this many steady seconds takes, by one of the first rung."""
        return max(run_s - max(RUNG_S[0], self.least_s), 0.1) + max(steady_s, self.least_s)

    def refuse_short(self) -> None:
        """UsageError where every server once and the last comparison do not fit into it."""
        run_s = self.run_s
        least_s = self.bases * run_s + self.current * run_s + self.reserve_s(run_s, run_s)
        if least_s > self.seconds:
            raise UsageError(
                f"--budget {self.typed}: {count(self.bases, 'server')} once each and the last comparison take "
                f"about {length(least_s)}; give more"
                + (", or fewer servers (--server granian,uvicorn)" if self.project else "")
            )
