"""Making: what the site answers, worked out in a fixed number of threads; one page once for all that ask at a time.

What is there already is answered by threads of its own, so that it never waits for a page that is only being made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Iterator
from typing import TypeVar

from webdyno.analyse import special
from webdyno.model.errors import WebdynoError
from webdyno.view.server.exchange import plain
from webdyno.view.server.workers import Workers
from webdyno.view.shell import Reply
from webdyno.view.site import Later, Site, failed

T = TypeVar("T")
QUICK, LONG = 4, 2
"""Threads for what is short, and for pages that take long. Python runs one at a time: more would make none sooner."""
MOST_WAITING = 32
"""Different pages that are being made or wait for it; who asks for one more is asked to come again."""


class Making:
    """Of an event loop, and to be used in it alone."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._quick, self._long = Workers("view", QUICK), Workers("pages", LONG)
        self._long.do(special.get_ready)  # whoever asks first, a Prometheus above all, need not wait for it
        self._under_way: dict[Hashable, asyncio.Future[Reply]] = {}

    async def reply(self, path: str, query: str) -> Reply | Iterator[bytes]:
        """The reply to one path (still quoted), or a stream of events."""
        try:
            found = await self.quick(lambda: self._site.answer(path, query))
            return await self._once(found) if isinstance(found, Later) else found
        except WebdynoError as error:
            return failed(error)

    async def quick(self, make: Callable[[], T]) -> T:
        """What ``make`` returns or raises, soon."""
        return await asyncio.wrap_future(self._quick.do(make))

    def end(self) -> None:
        """Threads end after what they are doing; nobody waits for them."""
        self._quick.end()
        self._long.end()

    async def _once(self, later: Later) -> Reply:
        """Made now, or with those who asked for the same before; a failure is theirs too, and is not kept."""
        making = self._under_way.get(later.key)
        if making is None:
            if len(self._under_way) >= MOST_WAITING:
                return plain(503, f"{MOST_WAITING} pages are being made already: come again.")
            workers = self._long if later.is_long else self._quick
            making = self._under_way[later.key] = asyncio.wrap_future(workers.do(later.make))
            making.add_done_callback(lambda _: self._under_way.pop(later.key, None))
        return await asyncio.shield(making)  # who leaves takes the page from nobody
