"""Standing, Verdict, Analysis: what is claimed, always with its interval and its doubts."""

from __future__ import annotations

import msgspec

from webdyno.model.claim import ClaimVerdict, Shape
from webdyno.model.curve import Course, Curve, Percentiles
from webdyno.model.doubt import Doubt
from webdyno.model.estimate import Estimate
from webdyno.model.limit import Limit
from webdyno.model.scaling import Scaling
from webdyno.model.system import Difference, SystemHere
from webdyno.model.warmup import WarmUp

__all__ = ["Analysis", "Estimate", "RouteFigures", "Standing", "Verdict"]


class RouteFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One contender on one request of a workload that has several."""

    route: str
    share: float
    """Of all correct answers."""
    p50: Estimate | None
    p99: Estimate | None
    error_ratio: float


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One contender in one table (one workload under one load)."""

    contender: str
    place: int | None
    """From 1; contenders that are tied share letters, not places. None: not ranked, because no round
    succeeded or because a doubt voids its figures."""
    letters: str
    """Compact letter display: two contenders that share a letter are tied: neither beats the other."""
    rate: Estimate | None
    p50: Estimate | None
    p99: Estimate | None
    cpu_per_request: Estimate | None
    memory_peak: Estimate | None
    ratio_to_best: Estimate | None
    requests_per_connection: float | None
    errors: dict[str, int]
    """Over all rounds, by kind."""
    error_ratio: float
    rounds_ok: int
    rounds_failed: int
    outcomes: dict[str, int]
    """Rounds by outcome."""
    doubts: list[Doubt] = []
    connections: int | None = None
    """Those of a closed load that were to ask; None at a rate."""
    connections_served: int | None = None
    """Of these, the ones that ever got an answer, in the round with the fewest; None where the driver does not tell."""
    service_cpu_per_request: Estimate | None = None
    """Of the service behind it; None without one, and for the user's own."""
    routes: list[RouteFigures] = []
    """Empty for a workload of one request."""
    warm_up: WarmUp | None = None
    """None: no round succeeded."""
    limits: list[Limit] = []
    """What keeps it from serving more, the nearest first; empty where nothing stands out."""
    memory_staying: Estimate | None = None
    """Bytes that stay with each request, at the end of its rounds; below 0 where it gave more back than it took."""

    bytes_per_s: Estimate | None = None
    """Bytes received in a second, heads and bodies; None where the driver does not tell."""

    @property
    def leaks(self) -> bool:
        """Whether that is more than heaps take without a reason."""
        return any(doubt.kind == "leaks" for doubt in self.doubts)


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Who beats whom on one workload under one load, ties included, or why it is undecided."""

    workload: str
    load: str
    sentence: str
    standings: list[Standing]
    """By rate, best first; then those a doubt voids; contenders without a successful round last."""
    winners: list[str]
    """The top group: everyone who is tied with the first, and the first. Empty: nobody served."""
    doubts: list[Doubt] = []
    """About the table as a whole."""
    driver: str = "engine"
    connections: int = 0
    """Of the load."""
    manner: str = ""
    """Of the load, its number of connections apart."""
    pair_apart_s: float | None = None
    """Of a load of pairs: how long after the first of each the second was sent."""


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """Everything ``analyse`` has to say about one results folder."""

    sentence: str
    verdicts: list[Verdict]
    recommended: str | None
    """The contender to take, over all workloads of the study; None when no contender can be recommended."""
    recommended_command: list[str]
    """The command line it was measured with."""
    doubts: list[Doubt]
    claims: list[ClaimVerdict] = []
    """What became of each Claim of the study."""
    shapes: list[Shape] = []
    """Figures of the original beside ours."""
    systems: list[SystemHere] = []
    """Those of the original, each with what is different here."""
    setting: list[Difference] = []
    """What is different here for all of them."""
    curves: list[Curve] = []
    """Against connections, for studies that ask so."""
    percentiles: list[Percentiles] = []
    """Of the times of requests, for studies that ask so."""
    courses: list[Course] = []
    """Over a server's life, for studies that ask so."""
    scalings: list[Scaling] = []
    """Of every contender that was asked at several levels, or with several numbers of workers."""
