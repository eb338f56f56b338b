"""What the columns of the tables below the rankings mean: said once, at their heads, for all their figures.

Without the page's script a browser shows it where the pointer rests on a head; with it, each figure says it too.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from webdyno.model.claim import Measure
from webdyno.report.markup import Markup, element
from webdyno.report.words import COLUMNS, Column

_NAME = Column("contender", "")
_NOT_MEASURED = "A dash: not measured"

WORK = (
    _NAME,
    Column("requests/s", COLUMNS["rate"].meaning),
    Column(
        "cores used",
        "CPU time of its processes in each second of the steady phase, the median of its rounds: 1.00 is one "
        f"core that was busy all the time. {_NOT_MEASURED}",
    ),
    Column("", ""),
    Column(
        "per core-second",
        "Correct answers for each second of one core that its processes used: the inverse of the ranking's "
        f"CPU/req, with its 95 % interval beside it. {_NOT_MEASURED}",
    ),
    Column("peak memory", f"{COLUMNS['memory'].meaning}. 1 MiB is 1,048,576 bytes. {_NOT_MEASURED}"),
    Column("", ""),
    Column(
        "requests/s per MiB",
        "The rate divided by its peak memory, calculated within each round, with its 95 % interval beside it. "
        f"{_NOT_MEASURED}",
    ),
)
LIMITED = (
    _NAME,
    Column(
        "what limits it",
        "Everything that limited it, the nearest limit first: the first would have to be removed first",
    ),
)
WARM_UP = (
    _NAME,
    Column("cold start", "From the start of its process to its first correct answer, the mean over rounds"),
    Column(
        "first answer", "The first correct answer alone, from its request on: how long the very first client waited"
    ),
    Column(
        "95 % of its rate after",
        "From the start of the load until a second of it had 95 % of the steady rate, the median of the rounds. "
        "Empty: the rounds were too short to determine it",
    ),
    Column(
        "steady after",
        "From the start of the load until its rate was stable, the median of the rounds, to the precision of "
        "one slice of the load, usually a second. Empty: the rounds were too short to determine it",
    ),
)
SCALING = (
    Column("workload", ""),
    Column("finding", "How the rate changes with the number of connections or workers, in words"),
    Column(
        "contention",
        "Share of the work that cannot run in parallel, according to the fit (sigma), with its 95 % interval. At 0.05 "
        "no number of connections or workers brings more than 20 times the rate of one",
    ),
    Column(
        "coherence",
        "What each pair costs, as a share of the work of one (kappa), with its 95 % interval. Above 0 the rate falls "
        "beyond the knee",
    ),
    Column(
        "knee",
        "Where the fitted rate is highest, with its 95 % interval. Not measured: it is outside the measured "
        "levels. A dash: the rate only rises",
    ),
)
CLAIMS = (
    Column("claim", ""),
    Column(
        "here",
        "Holds: the measurement confirms it beyond its intervals. Does not hold: the measurement contradicts it "
        "beyond its intervals. Cannot tell: the intervals allow both, or a doubt voids the figures",
    ),
    Column("why", "The comparison that decided, with its 95 % interval, and the doubts about it"),
)
STARTS = (
    _NAME,
    Column(
        "workers x threads",
        "Processes that serve, and threads of each, as it was started. A dash: it has no such setting. In "
        "brackets: the rule that gave this number for the cores here",
    ),
    Column("command", "The start command, preceded by the variables that were set for it"),
    Column("versions", "The versions of everything it consists of, as found when it was built"),
)
MEANS: dict[Measure, str] = {
    "rate": COLUMNS["rate"].meaning,
    "p50": COLUMNS["p50"].meaning,
    "p66": "66 of 100 answers took at most this long",
    "p75": "75 of 100 answers took at most this long",
    "p80": "80 of 100 answers took at most this long",
    "p90": "90 of 100 answers took at most this long",
    "p95": "95 of 100 answers took at most this long",
    "p98": "98 of 100 answers took at most this long",
    "p99": COLUMNS["p99"].meaning,
    "latency_mean": "The times of all correct answers, divided by their number: it hides the slow ones",
    "latency_stdev": "The spread of the times of single answers around their mean",
    "latency_max": "The longest time of a correct answer in a round",
    "errors": COLUMNS["errors"].meaning,
    "memory": COLUMNS["memory"].meaning,
    "cpu": "Cores' worth of CPU that its processes used over its turns, or the steady phase",
    "cpu_peak": "The most cores' worth of CPU that its processes used between two samples",
    "cpu_per_request": COLUMNS["cpu"].meaning,
    "requests_per_connection": "Answers that came over one connection before it was closed",
    "kept_alive": "Share of the answers after which the connection stayed open",
    "served": "Share of the connections that got at least one answer during the load",
    "bytes_per_s": "Bytes received per second, heads and bodies; ab calls it its transfer rate. 1 KiB is 1,024 bytes",
    "bytes_per_answer": "All bytes received, heads and bodies, divided by the correct answers",
    "gain": "The rate in the last third of a server's life under load, divided by that in the first",
}
"""Each measure in a sentence."""


def head(columns: Sequence[Column], figures: Container[int] = ()) -> Markup:
    """The head of a table; the columns whose numbers are ``figures`` stand to the right."""
    cells = [
        element(
            "th",
            column.title,
            class_="n" if at in figures else None,
            scope="col",
            title=said(column.meaning),
        )
        for at, column in enumerate(columns)
    ]
    return element("thead", element("tr", *cells))


def cell(column: Column, text: str | None, **attributes: str | None) -> Markup:
    """A cell that knows its column by name, for a narrow screen has no head."""
    return element("td", text, data_label=column.title or None, **attributes)


def said(meaning: str) -> str | None:
    """A meaning as the sentence of a title; None without one."""
    return f"{meaning}." if meaning else None
