"""Analyse: written Runs in, Verdicts out. Pure: no process, no socket, no clock, no randomness.

Read in this order: ``latency``, ``steady``, ``turns`` and ``window`` (one Run -> its figures), ``blocks``, ``stolen``
and ``table`` (Runs -> rows that may be compared), ``moderate``, ``additive``, ``estimate``, ``compare``, ``rank`` (one
statistical method each, its paper cited), ``race``, ``undecidable`` and ``replay`` (what is worth measuring next),
``warmup``, ``scale``, ``scalings`` and ``limits`` (why figures are as they are), ``doubts`` (reasons not to believe)
and ``floors`` (how far), ``sentence`` and ``verdict`` (what is claimed). ``words`` writes every number, here and in the
reports.

numpy and scipy are only loaded by the first call, so that commands which analyse nothing do not wait for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.model.verdict import Analysis

__all__ = ["analyse"]


def analyse(plan: Plan, fingerprint: Fingerprint, runs: Sequence[Run]) -> Analysis:
    """Everything that can be claimed from ``runs``, and every reason to doubt it."""
    from webdyno.analyse.verdict import analysis_of

    return analysis_of(plan, fingerprint, runs)
