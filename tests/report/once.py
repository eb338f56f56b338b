"""What many tests only look at is worked out once in a process: the analysis of a made-up study, and its page."""

from __future__ import annotations

from webdyno.analyse import analyse
from webdyno.model.rig import Fingerprint
from webdyno.model.run import Run
from webdyno.model.trial import Plan
from webdyno.model.verdict import Analysis
from webdyno.report.html import render_html

Made = tuple[Plan, Fingerprint, list[Run]]
_analysed: dict[int, tuple[Made, Analysis]] = {}
"""By the id of what was made, which is kept here, so that nothing else gets that id."""
_pages: dict[int, tuple[Made, str]] = {}


def analysed(made: Made) -> Analysis:
    """What is claimed from these Runs."""
    if id(made) not in _analysed:
        _analysed[id(made)] = (made, analyse(*made))
    return _analysed[id(made)][1]


def page(made: Made) -> str:
    """The report of these Runs for a browser."""
    if id(made) not in _pages:
        _pages[id(made)] = (made, render_html(*made, analysed(made)))
    return _pages[id(made)][1]
