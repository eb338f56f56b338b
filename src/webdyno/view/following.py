"""Following: answers of the list, sent as they are worked out; the page puts each in its place (server-sent events).

Whatever else changes in the list (a folder more, a run that began) is not patched: the page is told to load itself
anew, once. So nothing is sent and nothing on the page is touched as long as nothing changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from webdyno.report.markup import Markup, element
from webdyno.view.listing import Looked, is_waiting, mark, said
from webdyno.view.live import event


def answers_as_they_come(look: Callable[[], Looked], of: str) -> Iterator[bytes]:
    """The stream, for a page whose list has the mark ``of``; empty bytes where it is to look again after a while.

    It begins with every place of an answer as it is, so a connection that was lost needs nothing of what it missed.
    """
    yield b"retry: 2000\n\n"
    told: dict[int, Markup] = {}
    while True:
        entries, answers, paused = look()
        if mark(entries, paused=paused) != of:
            yield event("changed", Markup("The list has changed."))
            return
        for at, entry in enumerate(entries):
            now = said(entry, answers.get(entry.name), paused=paused)
            if entry.state != "unreadable" and told.get(at) != now:
                told[at] = now
                yield event("said", Markup(f"said-{at}\n{now}"))
        if not is_waiting(entries, answers, paused=paused):
            yield event("over", element("span", "All answers are complete."))
            return
        yield b""
