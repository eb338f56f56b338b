"""The answer on a terminal: words first, then what to copy, then the table, then the doubts."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from webdyno.analyse import words
from webdyno.model.outward import clean
from webdyno.model.verdict import Standing
from webdyno.report.terminal import TO_THE_LEFT, fitting, which_interval
from webdyno.report.words import COLUMNS, cells, compares
from webdyno.session.tryout.copying import Copied
from webdyno.session.tryout.told import Told

_SHOWN = ("rate", "interval", "ratio", "tie", "p50", "p99", "cpu", "memory", "errors")
_SHOWN_DROPPED = 12


def tell(told: Told, console: Console) -> None:
    """Print it."""
    _say(console, told.answer, "bold green" if told.take else "bold yellow")
    if told.limit is not None and told.limit.sentence:
        _say(console, told.limit.sentence[0].upper() + told.limit.sentence[1:] + ".")
    if told.profile.functions:
        gil = told.profile.gil
        held = "" if gil is None else f" (its lock, the GIL, was held {words.per_cent(gil)} of the time)"
        _say(console, f"Of the interpreter's time{held}:")
    for function in told.profile.functions:
        line = f"  {words.per_cent(function.own):>6} own  {words.per_cent(function.total):>6} in all  {function.name}"
        console.print(Text(clean(line)), soft_wrap=True)
    if told.copy is not None:
        if told.copy_of != told.take:
            console.print()
            _say(console, f"To run {told.names.get(told.copy_of or '', told.copy_of)}, which came first:")
        _copy(told.copy, console)
    console.print()
    _table(told, console)
    for sentence in _others(told):
        _say(console, sentence, "dim")
    console.print()
    for doubt in told.doubts:
        mark = "doubt (voids)" if doubt.severity == "voids" else "doubt"
        _say(console, f"{mark}: {doubt.sentence}; {doubt.advice}")
    for note in told.notes:
        _say(console, f"note: {note}")


def _copy(copied: Copied, console: Console) -> None:
    console.print()
    lines = {"needs": copied.needs, "install": copied.install, "command": copied.command, "Procfile": copied.procfile}
    for title, text in {**lines, "Dockerfile": copied.dockerfile, "variables": copied.variables}.items():
        if text:
            console.print(Text(clean(f"{title:<11} {text.replace(chr(10), chr(10) + ' ' * 12)}")), soft_wrap=True)
    for name, content in {**copied.files, "systemd unit": copied.systemd}.items():
        if not content:
            continue
        console.print(Text(clean(f"{name}:")))
        console.print(Text(clean(textwrap.indent(content.rstrip(), "    "))), soft_wrap=True)


def _table(told: Told, console: Console) -> None:
    """The report's ranking without places and doubts, which stand beside it here."""
    names = [told.names.get(standing.contender, standing.contender) for standing in told.standings]
    rows = [_row(standing, name) for standing, name in zip(told.standings, names, strict=True)]
    titles = {"contender": "setting"} | {key: COLUMNS[key].title for key in _SHOWN}
    shown, gap = fitting(titles, rows or [titles], console.width)
    table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="bold")
    for key in shown:
        table.add_column(titles[key], justify="left" if key in TO_THE_LEFT else "right", no_wrap=True)
    plain = not console.is_terminal
    for standing, row in zip(told.standings, rows, strict=True):
        style = "bold" if standing.contender == told.take else ""
        texts = [clean(row[key]) for key in shown]
        table.add_row(*[Text(text.replace("µ", "u") if plain else text) for text in texts], style=style)
    console.print(table)
    dropped = [key for key in titles if key not in shown]
    if compares(told.standings):
        _say(console, which_interval(dropped), "dim")
    if dropped:
        _say(console, f"A wider terminal also shows: {words.listing([titles[key] for key in dropped])}.", "dim")


def _row(standing: Standing, name: str) -> dict[str, str]:
    return cells(standing) | {"contender": name} | ({} if standing.rounds_ok else {"errors": "failed"})


def _others(told: Told) -> Iterator[str]:
    """Who was dropped early, who failed, who was left out."""
    if told.dropped:
        shown = [
            f"{told.names[each.setting]} ({words.rate(each.rate_per_s)})" for each in told.dropped[:_SHOWN_DROPPED]
        ]
        more = len(told.dropped) - len(shown)
        yield f"Dropped early: {'; '.join(shown)}{f'; and {more} more' if more else ''}."
    for name, problem in told.failed.items():
        yield f"Failed: {told.names.get(name, name)}: {problem}"
    for skip in told.skipped:
        yield f"Left out: {skip.contender}: {skip.reason}"
    if told.untried:
        yield f"{words.count(told.untried, 'setting')} not tried: the budget was too short."
    if told.profile.note:
        yield f"Profile: {told.profile.note}."
    if told.saved is not None:
        yield f"Saved: {told.saved}"


def _say(console: Console, sentence: str, style: str = "") -> None:
    text = clean(sentence)
    if not console.is_terminal:
        text = text.replace("µ", "u")
    for line in textwrap.wrap(text, console.width, break_on_hyphens=False, break_long_words=False):
        console.print(Text(line, style=style), soft_wrap=True)
