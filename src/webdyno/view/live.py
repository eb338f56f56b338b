"""Live: the run in progress, as the panel on its terminal shows it, sent as it comes (server-sent events).

Once a second the store is asked whether it changed (four system calls); only then are the Runs read that are new. The
Trial in flight comes from the small file the run keeps beside its store (``webdyno.now``). Every connection begins with
the whole state, so one that was lost needs nothing of what it missed. A part of the page is sent as HTML, made by the
same functions that made the page itself: without a script the page is the same, and loads itself again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from webdyno import now as in_flight
from webdyno.model.errors import WebdynoError
from webdyno.model.now import Now
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.report import words
from webdyno.report.markup import Markup, element, join, prose
from webdyno.report.sides import stage
from webdyno.view.course import of_block, of_one
from webdyno.view.listing import DISTURBS
from webdyno.view.shelf import Shelf
from webdyno.view.shell import Reply, page, place

POLL_S = 1.0
SILENCE = 10
"""Polls without news after which a comment is sent, so that a browser that is gone is noticed."""
RECENT = 6
RELOAD_S = 5
"""Of the page without a script."""


class Watch:
    """A results folder looked at again and again."""

    def __init__(self, shelf: Shelf, name: str) -> None:
        self._shelf, self.name = shelf, name
        self._seen: object = None
        self.plan: Plan | None = None
        self.runs: dict[int, Run] = {}
        self.rates: dict[int, float] = {}
        self.now: Now | None = None
        self.written = True

    def look(self) -> set[str]:
        """Read what is new; the parts of the page that changed. WebdynoError when the store cannot be read any more."""
        written = self._shelf.is_written(self.name)  # asked first: what it wrote last is then seen below
        seen, news = self._shelf.changed(self.name), set()
        if seen != self._seen:
            after = max(self.runs, default=0)
            self.plan, runs, rates = self._shelf.read(
                self.name, lambda store: (store.plan(), store.heads(after), store.rates(after))
            )
            self.runs.update(runs)
            self.rates.update(rates)
            self._seen, news = seen, {"now", "done"}
        now = in_flight.read(self._shelf.folder(self.name)) if written else None
        now = None if now is None or now.trial.id in self.finished else now
        if now != self.now or written != self.written:
            news.add("now")
        self.now, self.written = now, written
        return news

    @property
    def finished(self) -> dict[str, int]:
        """Numbers of the last Runs that count, by Trial."""
        return {run.trial.id: number for number, run in self.runs.items() if run.outcome != "interrupted"}

    def part(self, name: str) -> Markup:
        """One part of the page."""
        return self._now() if name == "now" else self._done()

    def _now(self) -> Markup:
        """How far it is, and the Trial in flight."""
        now, done = self.now, len(self.finished)
        entry = self._shelf.entry(self.name) if self.plan and not now else None
        total = (now.total if now else None) or (entry.planned if entry and entry.state != "ended" else None)
        left = f", about {words.length(now.left_s)} left" if now and now.left_s is not None else ""
        at_most = " at most" if self.plan and self.plan.race else ""
        count = f"{done} of{at_most} {words.count(total, 'trial')}" if total else f"{words.count(done, 'trial')} done"
        bar = element("progress", count, value=done, max=total, aria_label="trials done") if total else None
        return join(element("p", element("b", count), left, class_="far"), bar, self._flight())

    def _flight(self) -> Markup:
        now, plan = self.now, self.plan
        if not self.written:
            over = element("b", "The run is over.")
            return element("p", over, " ", element("a", "Open its report", href=place(self.name)), class_="flight")
        if now is None:
            return element("p", "No trial is reported to be in flight.", class_="flight soft")
        of = "" if plan is None or plan.race or plan.further or now.total is None else f"/{plan.rounds}"
        by = "" if now.trial.driver == "engine" else f", by {now.trial.driver}"
        where = f"round {now.trial.round}{of}: "
        what = f" · {now.trial.workload} · {now.trial.load.label}{by}"
        if now.beside:
            return _block(now, where, what)
        latest = next(reversed(now.steady or now.warmup), None)
        rate = (
            "starting" if latest is None else f"{now.phase}, {words.rate(latest)}, {words.count(now.errors, 'error')}"
        )
        head = element("p", where, element("b", now.trial.contender), what, class_="flight")
        warmup = [] if now.left_out else now.warmup
        chart = of_one(warmup, now.steady, now.trial.contender, now.left_out)
        return join(head, element("p", rate, class_="rate"), _drawn(chart, "The trial in flight"))

    def _done(self) -> Markup:
        """The last Trials, and every cell so far."""
        recent = [element("li", self._line(number, self.runs[number])) for number in sorted(self.runs)[-RECENT:]]
        tables: dict[tuple[str, str, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for number in self.finished.values():
            trial = self.runs[number].trial
            tables[trial.workload, trial.load.label, trial.driver][trial.contender].append(number)
        return join(
            element("h2", "Last trials") if recent else None,
            element("ol", *reversed(recent), class_="recent") if recent else None,
            *[self._table(where, tables[where]) for where in sorted(tables)],
        )

    def _line(self, number: int, run: Run) -> Markup:
        trial, rate = run.trial, self.rates.get(number)
        said = words.rate(rate) if run.outcome == "ok" and rate is not None else f"{run.outcome}: {run.message}"
        what = f" · {trial.workload} · {trial.load.label}: "
        return join(
            element("b", trial.contender), what, element("span", said, class_=None if run.outcome == "ok" else "bad")
        )

    def _table(self, where: tuple[str, str, str], rows: dict[str, list[int]]) -> Markup:
        workload, load, driver = where
        title = f"{workload}, {load}" + ("" if driver == "engine" else f", by {driver}")
        told = []
        for name, numbers in rows.items():
            good = [self.rates[n] for n in numbers if self.runs[n].outcome == "ok" and n in self.rates]
            told.append((sum(good) / len(good) if good else 0.0, name, good, len(numbers) - len(good)))
        most = max((mean for mean, *_ in told), default=0.0)
        body = [_row(name, mean, good, failed, most) for mean, name, good, failed in sorted(told, reverse=True)]
        heads = [("contender", ""), ("", ""), ("requests/s", "n"), ("lowest", "n"), ("highest", "n"), ("rounds", "n")]
        head = element("tr", *[element("th", text, class_=kind or None, scope="col") for text, kind in heads])
        table = element("table", element("thead", head), element("tbody", *body), class_="cells")
        return element("div", element("h3", title), element("p", _SAYS, class_="says"), table, class_="card")


def _block(now: Now, where: str, what: str) -> Markup:
    """Contenders that take turns: where they are, and the rate of each turn so far."""
    names = element("b", words.listing(now.beside, len(now.beside)))
    head = element("p", where, names, " side by side", what, class_="flight")
    told = "starting"
    if now.phase is not None and now.rate_per_s is not None:
        figures = f"{words.rate(now.rate_per_s)}, {words.count(now.errors, 'error')}"
        told = f"{stage(now.phase, now.turn, now.passes)}: {now.contender} {figures}"
    return join(head, element("p", told, class_="rate"), _drawn(of_block(now.beside, now.turns), "The block in flight"))


def _drawn(chart: Markup | None, label: str) -> Markup | None:
    return element("div", chart, class_="scroll", tabindex=0, role="region", aria_label=label) if chart else None


_SAYS = "Mean of the rounds so far. The order is claimed only in the report."


def _row(name: str, mean: float, good: list[float], failed: int, most: float) -> Markup:
    wide = round(100 * mean / most, 1) if most else 0
    bar = element(
        "svg",
        element("rect", width=wide, height=10),
        class_="bars",
        viewBox="0 0 100 10",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
    figures = [mean, min(good), max(good)] if good else []
    texts = [words.rate(value).removesuffix("/s") for value in figures] or [words.MISSING] * 3
    rounds = f"{len(good)}" + (f", {failed} failed" if failed else "")
    cells = [element("td", element("b", name), class_="who"), element("td", bar, class_="bar")]
    labels = ("requests/s", "lowest", "highest", "rounds")
    cells += [
        element("td", text, class_="n more", data_label=label)
        for text, label in zip([*texts, rounds], labels, strict=True)
    ]
    return element("tr", *cells)


def live_page(shelf: Shelf, name: str) -> Reply:
    """The page, whole; its script only keeps it so."""
    watch = Watch(shelf, name)
    watch.look()
    title = watch.plan.title if watch.plan else name
    note = element("div", prose(DISTURBS), class_="note") if watch.written else None
    return page(
        name,
        element("h1", title),
        note,
        element("div", id="link", role="status", class_="soft", data_open="Live: this page follows the run."),
        element("div", watch.part("now"), id="now", class_="card"),
        element("div", watch.part("done"), id="done"),
        script=place(name, "events") if watch.written else None,
        reload_s=RELOAD_S if watch.written else None,
    )


def events(watch: Watch) -> Iterator[bytes]:
    """The stream; empty bytes where it is to look again after a while."""
    yield b"retry: 2000\n\n"
    silent = 0
    while True:
        try:
            news = watch.look()
        except WebdynoError as error:
            yield event("over", element("p", str(error), class_="bad"))
            return
        for part in sorted(news):
            yield event(part, watch.part(part))
        if not watch.written:
            yield event("over", element("p", element("a", "Open the report", href=place(watch.name))))
            return
        silent = 0 if news else silent + 1
        if silent >= SILENCE:
            silent = 0
            yield b": still here\n\n"
        yield b""


def event(name: str, content: Markup) -> bytes:
    """One event; every line of its data is marked as such (HTML Standard, 9.2.6)."""
    data = "".join(f"data: {line}\n" for line in content.split("\n"))
    return f"event: {name}\n{data}\n".encode("utf-8", "replace")
