"""Record what a command really prints, and when, as an animated SVG: docs/recording.svg, which README.md shows.

    uv run python tools/recording.py docs/recording.svg "webdyno run quickstart -k waitress,uvicorn -w hello -c 64"

The line runs in a shell of 80 columns without colours. Every line appears when it was printed; a run of more
than 10 s is played in 10 s, and the last picture stays. It is also what is seen where nothing moves. Colours are those
of the reader's system, light or dark. Folders of this machine become `~`.
"""

# ruff: noqa: T201

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from xml.sax.saxutils import escape

Line = tuple[float, str]
"""Seconds since the start, and what was printed."""

COLUMNS = 80
PLAYED_S = 10.0
ROW, CHARACTER, EDGE = 18, 7.8, 16
STYLE = """
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre }
text { fill: #1f2328 } rect { fill: #f6f8fa; stroke: #d0d7de } .typed { font-weight: bold }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } rect { fill: #0d1117; stroke: #30363d } }
@keyframes come { from { opacity: 0 } to { opacity: 1 } }
@media (prefers-reduced-motion: no-preference) { text { animation: come 1ms both } }
"""


def main(arguments: list[str]) -> int:
    """Run, record, write."""
    if len(arguments) != 2:
        print("usage: tools/recording.py FILE.svg 'COMMAND LINE'", file=sys.stderr)
        return 2
    file, typed = Path(arguments[0]), arguments[1]
    lines, code = recorded(typed)
    file.write_text(drawn(typed, lines), encoding="utf-8")
    print(f"wrote {file}: {len(lines)} lines in {lines[-1][0] if lines else 0:.0f} s, exit code {code}")
    return code


def recorded(typed: str) -> tuple[list[Line], int]:
    """The lines of a command as they come, and its exit code."""
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"}
    began, lines = time.monotonic(), []
    with subprocess.Popen(
        ["sh", "-c", typed],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as running:
        assert running.stdout  # noqa: S101 - a pipe was asked for
        for line in running.stdout:
            text = line.rstrip().replace(str(Path.home()), "~")
            lines.append((time.monotonic() - began, text))
    return lines, running.returncode


def drawn(typed: str, lines: list[Line]) -> str:
    """The SVG: a frame, the command, and each line at its time."""
    took = max(lines[-1][0], 0.001) if lines else 1.0
    slower = min(PLAYED_S / took, 1.0)
    rows = [(0.0, f"$ {typed}"), *((at * slower, text) for at, text in lines)]
    rows = [(at, piece) for at, text in rows for piece in wrapped(text)]
    width, height = round(COLUMNS * CHARACTER + 2 * EDGE), len(rows) * ROW + 2 * EDGE
    texts = [
        f'<text x="{EDGE}" y="{EDGE + ROW * number + 13}" class="{"typed" if at == 0 else "printed"}"'
        f' style="animation-delay:{at:.2f}s">{escape(text)}</text>'
        for number, (at, text) in enumerate(rows)
        if text
    ]
    said = escape(f"A terminal: {typed}; it took {took:.0f} s")
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">',
            f"<title>{said}</title>",
            f"<style>{STYLE}</style>",
            f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>',
            *texts,
            "</svg>\n",
        ]
    )


def wrapped(text: str) -> list[str]:
    """Rows of a terminal, which breaks a line wherever it is full."""
    return [text[at : at + COLUMNS] for at in range(0, max(len(text), 1), COLUMNS)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
