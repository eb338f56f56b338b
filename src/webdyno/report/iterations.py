"""Charts of Courses: the rate in each third of a server's life, a chart for each load and runtime, as study pypy's
original drew its iterations: those of one load share their scale, so that a compiler shows beside none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from webdyno.model.curve import Course
from webdyno.report.axis import Axis, short, straight
from webdyno.report.markup import Markup, element
from webdyno.report.svg import STYLES, Frame, Series, lines, room

_THIRDS = Axis("third of the server's life", 0.8, 3.2, ((1.0, "first"), (2.0, "second"), (3.0, "third")))


def iterations(courses: Sequence[Course]) -> list[Markup]:
    """A chart for each workload, load and runtime; one for all contenders where the study has but one runtime."""
    loads: dict[str, list[Course]] = defaultdict(list)
    for course in courses:
        by = "" if course.driver == "engine" else f", by {course.driver}"
        loads[f"{course.workload}, {course.load}{by}"].append(course)
    return [card for about, each in loads.items() for card in _of_load(about, each)]


def _of_load(about: str, courses: Sequence[Course]) -> list[Markup]:
    y = straight("requests/s", [part.value for course in courses for part in course.parts], short)
    styles = {name: at for at, name in enumerate(dict.fromkeys(map(_name, courses))) if at < STYLES}
    by_runtime: dict[str, list[Course]] = defaultdict(list)
    for course in courses:
        by_runtime[course.line if course.facet else ""].append(course)
    return [
        element(
            "div",
            element("h3", f"Iterations on {runtime}" if runtime else "Iterations"),
            element("p", about, class_="says"),
            element("div", _chart(y, each, styles, f"Iterations on {runtime}, {about}"), class_="scroll"),
            class_="card",
        )
        for runtime, each in by_runtime.items()
    ]


def _chart(y: Axis, courses: Sequence[Course], styles: dict[str, int], label: str) -> Markup:
    series = []
    for course in courses:
        points = [(float(at), part.value) for at, part in enumerate(course.parts, 1)]
        series.append(Series(name=_name(course), points=points, style=styles.get(_name(course)), marked=points))
    return lines(Frame(_THIRDS, y, 560, 330, right=room(series)), series, label)


def _name(course: Course) -> str:
    return course.facet or course.contender
