"""A real browser for the report and the view: Debian's Chromium, driven by Playwright.

A report is a file on disk, opened without a network; a page of the view comes from its server. Whatever a page
complains of, and whatever it asks for beyond itself, is written down, and fails its test.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.view.serving import Asked

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SLOW_MS = 20_000
Show = Callable[..., Page]
Visit = Callable[..., Page]


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


class Visitor:
    """Opens pages, each in a context of its own, and writes down what they do wrong."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.faults: list[str] = []

    def go(self, url: str, own: Callable[[str], bool], *, watched: bool = True, width: int, **asked: Any) -> Page:
        """The page at ``url``; requests that are not its ``own`` are faults. Other arguments are a context's."""
        context = self._browser.new_context(viewport={"width": width, "height": 900}, **asked)
        context.set_default_timeout(SLOW_MS)
        self._contexts.append(context)
        page = context.new_page()
        if watched:
            page.on("console", lambda message: self.faults.append(f"console: {message.text}"))
            page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
            page.on("request", lambda request: self._asks(request.url, own))
        page.on("dialog", lambda dialog: (self.faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.goto(url)
        return page

    def _asks(self, url: str, own: Callable[[str], bool]) -> None:
        if not own(url):
            self.faults.append(f"request: {url}")

    def close(self) -> None:
        for context in self._contexts:
            context.close()


@pytest.fixture
def visitor(browser: Browser) -> Iterator[Visitor]:
    opened = Visitor(browser)
    yield opened
    opened.close()
    assert opened.faults == []


def unfold(page: Page) -> Page:
    """The page with every fold open, as a reader leaves it who has asked every question."""
    page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    page.evaluate("document.querySelectorAll('.opens input').forEach(fold => fold.checked = true)")
    return page


@pytest.fixture
def show(visitor: Visitor, tmp_path: Path) -> Show:
    """``show(html)``: that page, open; further arguments are those of a browser context."""
    numbers = count()

    def opened(html: str, fragment: str = "", *, watched: bool = True, width: int = 1240, **asked: Any) -> Page:
        file = tmp_path / f"report-{next(numbers)}.html"
        file.write_text(html, encoding="utf-8")
        uri = file.as_uri()
        return visitor.go(
            f"{uri}{fragment}", lambda url: url.partition("#")[0] == uri, watched=watched, width=width, **asked
        )

    return opened


@pytest.fixture
def visit(visitor: Visitor) -> Visit:
    """``visit(server, path)``: that page of a view; further arguments are those of a browser context."""

    def opened(asked: Asked, path: str, *, width: int = 1240, **about: Any) -> Page:
        home = asked.server.url
        own = (home, "data:")
        return visitor.go(f"{home}{path.removeprefix('/')}", lambda url: url.startswith(own), width=width, **about)

    return opened
