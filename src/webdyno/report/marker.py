"""Markers: how a point of a series looks, so that series differ by more than their colour."""

from __future__ import annotations

from webdyno.report.markup import Markup, element

_SHAPES = (
    "M{x} {y}m-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z",
    "M{x} {y}m-3.3-3.3h6.6v6.6h-6.6z",
    "M{x} {y}m0-4.2l4 7.2h-8z",
    "M{x} {y}m0-4.4l4.4 4.4l-4.4 4.4l-4.4-4.4z",
    "M{x} {y}m0 4.2l-4-7.2h8z",
    "M{x} {y}m-3.2-3.2l6.4 6.4m0-6.4l-6.4 6.4",
)
"""Circle, square, triangle up, diamond, triangle down, cross."""


def marker(place: tuple[float, float], style: int | None, hint: str = "") -> Markup:
    """A point of a series; ``hint`` is shown where the pointer rests."""
    x, y = f"{place[0]:.1f}", f"{place[1]:.1f}"
    return element(
        "path",
        element("title", hint) if hint else None,
        class_=f"marker {kind_of(style)}",
        d=_SHAPES[style or 0].format(x=x, y=y),
    )


def kind_of(style: int | None) -> str:
    """The class of a style; None is context, in grey."""
    return "grey" if style is None else f"s{style}"
