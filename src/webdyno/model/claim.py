"""Claim and Original: what an article said and measured, as data; ClaimVerdict and Shape: what became of it here."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from webdyno.model.estimate import Estimate

Measure = Literal[
    "rate",
    "p50",
    "p66",
    "p75",
    "p80",
    "p90",
    "p95",
    "p98",
    "p99",
    "latency_mean",
    "latency_stdev",
    "latency_max",
    "errors",
    "memory",
    "cpu",
    "cpu_peak",
    "cpu_per_request",
    "requests_per_connection",
    "kept_alive",
    "served",
    "bytes_per_s",
    "bytes_per_answer",
    "gain",
]
"""``cpu`` is cores' worth of CPU over the steady phase, ``cpu_peak`` the most between two looks at it, ``errors`` the
share of requests that failed, ``memory`` the high-water mark, ``kept_alive`` the share of answers after which the
connection stayed open, ``served`` the share of a closed load's connections that got an answer at all, ``bytes_per_s``
and ``bytes_per_answer`` what was received, heads and bodies, ``gain`` the rate in the last third of a server's life
under load divided by that of the first third."""

RATES: tuple[Measure, ...] = ("rate", "bytes_per_s")
"""Those of them that a load generator or a service can hold back."""
TIMES: tuple[Measure, ...] = (
    *("p50", "p66", "p75", "p80", "p90", "p95", "p98", "p99"),
    *("latency_mean", "latency_stdev", "latency_max"),
)
"""Those of them that are times."""

Relation = Literal["more than", "less than", "at least", "at most", "about", "highest", "lowest"]

Ruling = Literal["holds", "does not hold", "cannot tell"]

Reason = Literal[
    "closes-connections",
    "silent-close",
    "wrong-answers",
    "starved-connections",
    "small-backlog",
    "memory-capped",
    "pool-limited",
    "throttled",
    "uneven-accept",
    "delayed-ack",
    "idle-while-slow",
    "http-1.0",
    "service-bound",
    "generator-bound",
]
"""Kinds of Doubts that explain a figure, and not only shade it: those that explain the most first."""
REASONS: tuple[str, ...] = get_args(Reason)


class Claim(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One statement of an article, so that it can be judged: who, measured how, in what relation, to whom, where."""

    text: str
    """The statement, in few words of ours."""
    quote: str = ""
    """What the article says to it, in few words or figures of its own, so that a reader finds the place."""
    ours: bool = False
    """It is a question of ours beside the article's: the article does not say so. It then has no ``quote``."""
    contenders: list[str]
    """Whom it is about; it must hold for each. ``best`` and ``last`` stand for the ends of the ranking found here;
    a pattern such as ``flask-*-pypy`` for all contenders it fits."""
    measure: Measure = "rate"
    """``cpu`` is cores' worth over the steady phase, ``cpu_peak`` the most between two looks; ``errors`` the share of
    requests that failed; ``kept_alive`` that of answers after which the connection stayed open; ``served`` that of
    connections that got an answer at all; ``memory`` the high-water mark; ``bytes_per_s`` and ``bytes_per_answer`` what
    was received, heads and bodies; ``gain`` the rate in the last third of a server's life divided by that in the
    first."""
    relation: Relation
    """Of its figure to the other; ``about`` within a quarter."""
    times: float = 1.0
    """The figure is this many times that of ``than``; ``about`` allows a quarter more or less."""
    than: list[str] = []
    """With whom it is compared, each of them. Empty for ``highest`` and ``lowest``: everyone else in the table. A
    pattern beside a pattern names the partner of each: ``*-cpython`` of ``*-pypy``."""
    without: list[str] = []
    """Contenders, or patterns of them, that the patterns of ``contenders`` and ``than`` fit and that are not meant."""
    share: float = 1.0
    """For which part of the comparisons it must hold: 0.8 where the article said "nearly all"."""
    value: float | None = None
    """Instead of ``than``, a figure: per second, milliseconds, MB of 2**20 bytes, KB of 2**10 bytes per second, bytes,
    cores' worth, or a share."""
    workload: str | None = None
    """None: all workloads of the study."""
    route: str | None = None
    """Of a workload of several requests, the times of the one with this name alone."""
    connections: list[int] = []
    """Empty: all loads of the study."""
    keep_alive: bool | None = None
    """Loads with or without it; None: both."""
    driver: str | None = None
    """Loads of this driver; None: each for itself."""
    together: bool = False
    """Of ``errors`` and a ``value``: over all of its loads together, where the article gave one share for them all."""
    than_workload: str | None = None
    """Compared with figures on this other workload; ``than`` may then be left out for the same contender."""
    than_connections: int | None = None
    """Compared with figures at this other number of connections."""
    cores: int = 1
    """Cores that contenders must have for it to be judged at all."""
    because: list[Reason] = []
    """Doubts that would explain the figures; empty: any that can."""
    headline: bool = False
    """What became of it, with its figure, leads the report: it answers the study's question, or a part of it."""


class OriginalFigure(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One number an article published."""

    contender: str
    """Ours, that stands for it today."""
    workload: str
    connections: int | None = None
    """None: it is of all loads together, or of each of them; it stands beside ours, and no ratio is made of it."""
    measure: Measure = "rate"
    value: float
    """In the units of a Claim's ``value``."""
    said: str = ""
    """How the article puts it where it gives no plain number: ``under 3 ms``."""
    as_named: str = ""
    """What the article called it, with its version of then."""


class Graph(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One graph of an article: a figure against connections, a line for each of its systems."""

    title: str
    """The article's."""
    measure: Measure


class Original(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a study comes from, and the figures it published."""

    source: str
    year: int
    baseline: str
    """The contender all others are divided by: machines of then and now have only ratios in common."""
    cores: int | None = None
    """Those the article gave its contenders; None: it does not say, or one."""
    figures: list[OriginalFigure] = []
    graphs: list[Graph] = []
    """Its graphs against connections, in its order: the report draws the same of what was found here."""
    driver: str | None = None
    """The load tool it used, where only figures by the same tool may stand beside its own; None: by any."""
    article: dict[str, str] = {}
    """How it was measured there: tool, its time-out, machine, network, repeats ..."""
    here: dict[str, str] = {}
    """What of that is different here."""


class Absent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing the article had and the study has not: why, and what stands for it."""

    name: str
    """As the article called it."""
    reason: str
    """Why it is not there, in one sentence."""
    tried: str | None = None
    """What was tried to have it."""
    error: str | None = None
    """The error that was seen, in its own words."""
    instead: list[str] = []
    """Contenders of the study that stand for it."""


class ClaimCase(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison that a Claim needs: a contender with another, or with a figure, in one table."""

    workload: str
    load: str
    driver: str
    contender: str
    than: str
    """The other contender, or the figure."""
    ruling: Ruling
    estimate: Estimate | None
    """Of the figure divided by the other's; None when it cannot be judged at all."""
    reason: str
    doubts: list[str] = []
    """Kinds of the Doubts about either side; the tables tell them."""


Open = Literal["not measured", "cores", "missing", "void", "held back", "precision"]
"""What keeps a claim undecided: nothing was measured of it in this version of its study; it needs more cores; a
contender or load tool of it is not here; no figure of a contender counts; the measuring held one back, or left requests
without an answer; or else more rounds would decide it."""


class ClaimVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a Claim here, in words and with every comparison it rests on."""

    text: str
    ruling: Ruling
    sentence: str
    estimate: Estimate | None
    """Of the comparison that decided."""
    cases: list[ClaimCase]
    doubts: list[str] = []
    """Of that comparison."""
    quote: str = ""
    """The Claim's."""
    ours: bool = False
    """The Claim's."""
    unmeasured: bool = False
    """It is undecided, and about a contender that was not in the plan: neither measured nor skipped for a reason."""
    open: Open | None = None
    """Of an undecided one."""
    headline: str = ""
    """It, its ruling and its figure in one sentence; empty unless it is a headline of its study."""


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of the original beside ours, both divided by the baseline's."""

    workload: str
    load: str
    driver: str
    measure: Measure
    contender: str
    baseline: str
    connections: int
    """Of the original, the nearest to ours that it published."""
    as_named: str
    original_value: float
    """In the units of a Claim's ``value``."""
    original: float
    """Ratio to the baseline."""
    value: Estimate | None
    here: Estimate | None
    """Ratio to the baseline."""
    alike: Ruling
    """Whether the two ratios are within a quarter of each other."""
    reason: str = ""
    """Why there is none here, or what explains it."""
    doubts: list[str] = []
    """Kinds of the Doubts about it or its baseline; the tables tell them."""
