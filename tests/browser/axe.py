"""What axe-core finds on a page."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

COLOURS = ["color-contrast", "link-in-text-block"]
"""All of its category cat.color that axe applies unasked."""
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


def faults(page: Page, *, colours_only: bool = False) -> list[str]:
    """What axe calls serious or critical, with the places. Colours alone take a fraction of the time of all rules."""
    asked: dict[str, Any] = {"resultTypes": ["violations"]}
    if colours_only:
        asked["runOnly"] = {"type": "rule", "values": COLOURS}
    found = Axe().run(page, options=asked).response["violations"]
    return [
        f"{fault['id']} ({fault['impact']}): {node['html'][:160]}"
        for fault in found
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]


def in_dark(page: Page) -> list[str]:
    """The same of a page that was light until now: nothing changes but its colours."""
    before = page.evaluate(BACKGROUND)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(BACKGROUND) != before, "it stayed light"
    return faults(page, colours_only=True)
