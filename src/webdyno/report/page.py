"""Page: what the terminal report writes on. All text is put in as it is; names and logs come from outside."""

from __future__ import annotations

import textwrap

from rich.console import Console
from rich.text import Text

from webdyno.report import words


class Page:
    """A console that takes plain text only, in ASCII when nobody looks at it."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.ascii = not console.is_terminal or not console.encoding.lower().startswith("utf")

    def text(self, content: str, style: str = "") -> Text:
        """Without control characters."""
        clean = words.clean(content)
        return Text(clean.replace("µ", "u") if self.ascii else clean, style=style)

    def line(self, content: str, style: str = "", indent: int = 0) -> None:
        """Wrapped here and not by rich, which would fill every line with blanks up to the margin."""
        margin = " " * indent
        for line in textwrap.wrap(
            content, self.console.width, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False
        ):
            self.console.print(self.text(line, style), soft_wrap=True)

    def heading(self, content: str) -> None:
        """After an empty line."""
        self.console.print()
        self.console.print(self.text(content, "bold underline"))
