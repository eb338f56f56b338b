"""Rows: the log that some tools write, one line per request, added up into a Slice per second with every latency in it.

The clock of such a log starts with its first request. A request belongs to the second in which it ended; what a tool
let run beyond the length of the phase was in flight at the end, so it is ``unfinished``, and what it began after that
is not counted at all.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator

from webdyno.histogram import encode
from webdyno.model.sample import Phase, Slice

OK = "ok"
_SECOND_NS = 1_000_000_000
_MOST_S = 200_000
"""More than two days: no load is so long, and a log that says so would take all memory."""
_UNFINISHED = "unfinished"


class Rows:
    """Requests of one phase, in any order. Kept as columns: there can be millions."""

    def __init__(self) -> None:
        self._starts, self._lengths, self._bytes = array("q"), array("q"), array("q")
        self._outcomes = array("B")
        self._names: list[str] = []
        self._timed: set[int] = set()

    def __len__(self) -> int:
        """How many requests."""
        return len(self._starts)

    def add(self, start_ns: int, length_ns: int, outcome: str, *, timed: bool, bytes_in: int = 0) -> None:
        """One request; ``timed``: its length is a latency, which that of a refused connection is not."""
        if outcome not in self._names:
            self._names.append(outcome)
        number = self._names.index(outcome)
        if timed:
            self._timed.add(number)
        self._starts.append(start_ns)
        self._lengths.append(length_ns)
        self._bytes.append(bytes_in)
        self._outcomes.append(number)

    @property
    def first_ns(self) -> int:
        """When the first request began."""
        return min(self._starts, default=0)

    @property
    def last_ns(self) -> int:
        """When the last one ended."""
        return max(self._ends(), default=0)

    def alive(self, duration_ns: int) -> int:
        """How many requests were under way at once at the end of the phase: this many connections still answered.

        At the end means: among those that ended in its last quarter, or in twice the longest wait where that is more,
        so that a connection that only waits is not taken for a dead one.
        """
        if not self._starts:
            return 0
        since = self.first_ns + duration_ns - max(duration_ns // 4, 2 * max(self._lengths))
        steps = []
        for start, end in zip(self._starts, self._ends(), strict=True):
            if end >= since:
                steps += [(start, 1), (end, -1)]
        most = now = 0
        for _, step in sorted(steps):  # at the same instant one ends before the next begins
            now += step
            most = max(most, now)
        return most

    def slices(self, phase: Phase, duration_ns: int, *, offset_ns: int | None, sized: bool) -> list[Slice]:
        """A Slice per second; ``offset_ns`` leads from the log's clock to CLOCK_MONOTONIC, None: nobody knows.

        ``sized``: the rows say their bytes. ValueError for a log that is longer than any load.
        """
        if duration_ns > _MOST_S * _SECOND_NS:
            raise ValueError(f"a log over {duration_ns // _SECOND_NS} s")
        start = self.first_ns
        slices = [_Second() for _ in range(max(1, -(-duration_ns // _SECOND_NS)))]
        for begun, length, outcome, size in zip(self._starts, self._lengths, self._outcomes, self._bytes, strict=True):
            ended = begun + length - start
            if begun - start > duration_ns:
                continue
            if ended > duration_ns:
                slices[-1].outcomes[_UNFINISHED] += 1
                continue
            second = slices[min(ended // _SECOND_NS, len(slices) - 1)]
            second.outcomes[self._names[outcome]] += 1
            second.bytes_in += size
            if outcome in self._timed:
                second.lengths[length] += 1
        return [
            second.slice(
                phase,
                index,
                None if offset_ns is None else start + offset_ns + index * _SECOND_NS,
                min(_SECOND_NS, duration_ns - index * _SECOND_NS),
                sized=sized,
            )
            for index, second in enumerate(slices)
        ]

    def _ends(self) -> Iterator[int]:
        return (start + length for start, length in zip(self._starts, self._lengths, strict=True))


class _Second:
    """What ended in one second."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.lengths: Counter[int] = Counter()
        self.bytes_in = 0

    def slice(self, phase: Phase, index: int, start_ns: int | None, duration_ns: int, *, sized: bool) -> Slice:
        return Slice(
            phase=phase,
            index=index,
            start_ns=start_ns,
            duration_ns=duration_ns,
            offered=self.outcomes.total(),
            ok=self.outcomes[OK],
            errors={kind: count for kind, count in self.outcomes.items() if count and kind != OK},
            bytes_in=self.bytes_in if sized else None,
            latency_hdr=encode(self.lengths) if self.lengths else None,
        )
