"""Scaling: how a contender's rate grows with what it is given, as the Universal Scalability Law sees it."""

from __future__ import annotations

from typing import Literal

import msgspec

from webdyno.model.estimate import Estimate


class Scaling(msgspec.Struct, frozen=True, kw_only=True):
    """One contender on one workload, over the connections of a study, or one server over its workers."""

    contender: str
    workload: str
    over: Literal["connections", "workers"]
    levels: list[int]
    """Ascending."""
    sentence: str
    refused: str | None = None
    """Why no law was fitted; None: one was."""
    rate_of_one: Estimate | None = None
    """Lambda: correct answers per second at one. None, as all below: refused, and the sentence says why."""
    contention: Estimate | None = None
    """Sigma: share of the work that cannot go on side by side."""
    coherence: Estimate | None = None
    """Kappa: what each pair costs, as a share of the work of one."""
    knee: Estimate | None = None
    """Where the fitted rate is highest; None with a fit: it only rises. Its interval may have no upper end."""
    knee_measured: bool = False
    """Whether the knee lies within the levels that were measured."""
    doubts: list[str] = []
    """Kinds of the Doubts about what it was fitted to; the tables tell them."""
