"""A real browser for the report: Debian's Chromium, driven by Playwright.

Every page is a file on disk, opened without a network. Whatever a page complains of, and whatever it asks for beyond
itself, is written down, and fails its test.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SLOW_MS = 20_000
Show = Callable[..., Page]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.live)
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Closed after this package: while it is open, Playwright's event loop would be in the way of other tests."""
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"none of {', '.join(PROGRAMS)} is on PATH: the report was not tried in a browser")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program)
        yield opened
        opened.close()


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Show]:
    """``show(html)``: that page, open; further arguments are those of a browser context."""
    faults: list[str] = []
    contexts = []

    def opened(html: str, fragment: str = "", *, watched: bool = True, width: int = 1240, **asked: Any) -> Page:
        file = tmp_path / f"report-{len(contexts)}.html"
        file.write_text(html, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900}, **asked)
        context.set_default_timeout(SLOW_MS)
        contexts.append(context)
        page = context.new_page()
        if watched:
            page.on("console", lambda message: faults.append(f"console: {message.text}"))
            page.on("pageerror", lambda error: faults.append(f"error: {error}"))
            page.on("request", lambda request: _asks(faults, request.url, file))
        page.on("dialog", lambda dialog: (faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.goto(f"{file.as_uri()}{fragment}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []


def _asks(faults: list[str], url: str, file: Path) -> None:
    if url.partition("#")[0] != file.as_uri():
        faults.append(f"request: {url}")
