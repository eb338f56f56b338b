"""Printing: the one way to standard output and standard error, so that nothing from outside can steer a terminal.

All text is cleaned on its way, also what rich draws; nothing is read as rich's markup, for a name may look like some.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from webdyno.model.errors import ContenderError
from webdyno.model.log import last_lines
from webdyno.model.outward import clean

if TYPE_CHECKING:
    from rich.console import Console


def out(line: str) -> None:
    """A line on standard output."""
    print(clean(line))


def err(line: str) -> None:
    """A line on standard error, at once; that nobody reads any more is for the caller to see."""
    print(clean(line), file=sys.stderr, flush=True)


def answer(question: str) -> str:
    """What the user types behind the question, in small letters; empty where that is nothing, or the end of input."""
    print(clean(question), end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:  # Ctrl-D, which ends no line
        err("")
    return line.strip().lower()


def out_marked(mark: str, style: str, rest: str = "", its_style: str = "") -> None:
    """A line on standard output that begins with a coloured part."""
    from rich.text import Text

    out_console().print(Text.assemble((clean(mark), style), (clean(rest), its_style)), soft_wrap=True)


def give(texts: Iterable[str]) -> None:
    """Text that is a whole document on standard output, as far as it is there."""
    for text in texts:
        sys.stdout.write(clean(text))


def give_bytes(content: bytes) -> None:
    """A picture on standard output."""
    sys.stdout.buffer.write(content)


def flush() -> None:
    """Standard output is written."""
    sys.stdout.flush()


def out_is_seen() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def err_is_seen() -> bool:
    """Whether standard error is a terminal."""
    return sys.stderr.isatty()


def say_json(data: Any) -> None:
    """Print ``data`` (structs, dicts, lists) as indented JSON on standard output."""
    import msgspec  # which --version does not wait for

    out(msgspec.json.format(msgspec.json.encode(data, order="deterministic"), indent=2).decode())


def say_failed(error: ContenderError) -> None:
    """What a contender did wrong and the end of what it wrote, on standard error."""
    err(f"webdyno: {error}")
    for line in last_lines(error.log_tail, 12):
        err(f"  | {line}")


def out_console() -> Console:
    """Standard output for people; 80 columns wide at least, colourless where that is asked or nobody looks."""
    console = _console()
    return console if console.is_terminal else _console(width=_piped_width())


def err_console() -> Console:
    """Standard error, for progress."""
    return _console(file=sys.stderr)


def _console(**options: Any) -> Console:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment
    from rich.text import Text

    class Ours(Console):
        def on_broken_pipe(self) -> None:  # rich's own ends the program with exit code 1
            raise BrokenPipeError

        def render_str(self, text: str, **options: Any) -> Text:  # before its width is taken
            return super().render_str(clean(text), **options)

        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                yield segment if segment.control else segment._replace(text=clean(segment.text))

    return Ours(highlight=False, markup=False, emoji=False, **options)


def _piped_width() -> int:
    """A pipe has no width; COLUMNS says what the reader wants, else wide enough that no column is lost."""
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() and int(columns) >= 40 else 140
