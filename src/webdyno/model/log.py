"""Log: the end of what a program wrote, and in it the one line that says why it ended.

That line is seldom the last. Node prints a stack and its version after it, Go all its goroutines, a JVM fifty frames;
gunicorn goes on to say that its worker failed; a compiler sums up how many errors there were.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

CUT = "..."
KEPT = 4096
"""Characters of a log that a Run keeps."""
LOOKED_AT_BYTES = 65_536
"""Of the end of a file, for the line that says why."""
_LONGEST = 500
"""Characters of a line that are looked at."""
_FIRST, _LAST = 0, -1
_CAUSES: tuple[tuple[re.Pattern[str], int], ...] = (
    (re.compile(r"(?:Caused by|\s*\[cause\]): \S.*"), _LAST),  # the last one is the root
    (re.compile(r"(?:panic|fatal error|Fatal Python error): .*|thread '.*' .*panicked at .*"), _FIRST),
    (re.compile(r"(?:\S.*[\s(:])?(?:\w+[.:$/]+)*\w*(?:Error|Exception)(?: \[\w+\])?(?:: \S.*)?"), _LAST),
    (re.compile(r"\S.* \((?:\w+::)*\w*(?:Error|Exception)\)"), _LAST),  # Ruby
    (re.compile(r"npm (?:ERR!|error) (?!code |errno |A complete log|path |\s)\S.*"), _FIRST),
    (re.compile(r"(?:\S.*[\s:])?(?:fatal )?error(?: \w+|\[\w+\])?: \S.*"), _FIRST),
    (re.compile(r"\S+\.go:\d+(?::\d+)?: \S.*"), _FIRST),
    (
        re.compile(r"\S.*?\b(?:cannot|can't|could not|couldn't|unable to|not found|no such|denied|in use)\b.*", re.I),
        _LAST,
    ),
    (re.compile(r"\S.*?(?:\b(?:error|fatal|critical|severe)\b|\*\*\*).*", re.I), _LAST),
)
"""What such lines look like, whole, and which of several is meant; the kinds that are surer come first."""


def decisive_line(log: str) -> str | None:
    """The line that says why, with the next one where it ends in a colon; None where none looks like it."""
    lines = [line[:_LONGEST].rstrip() for line in log.splitlines() if line.strip()]
    for pattern, which in _CAUSES:
        if found := [at for at, line in enumerate(lines) if pattern.fullmatch(line)]:
            at = found[which]
            more = [lines[at + 1].strip()] if lines[at].endswith(":") and at + 1 < len(lines) else []
            return " ".join([lines[at].strip(), *more])
    return None


def last_lines(log: str, most: int) -> Sequence[str]:
    """The end of a log in this many lines, led by its decisive one where that lies before them."""
    lines = [line.rstrip() for line in log.splitlines() if line.strip()]
    end, cause = lines[-most:], decisive_line(log)
    if cause is None or len(end) == len(lines) or any(line and cause.startswith(line) for line in end):
        return end
    return [cause, CUT, *end[2:]][:most]


def end_of(text: str, most: int = KEPT) -> str:
    """The end of a log in this many characters and from the start of a line, led by its decisive one as above."""
    if len(text) <= most:
        return text
    cause = decisive_line(text)
    end = text[-most:].partition("\n")[2] or text[-most:]
    if cause is None or cause[:most] in end:
        return end
    lead = f"{cause[: most // 4]}\n{CUT}\n"
    return lead + (text[-(most - len(lead)) :].partition("\n")[2] or text[-(most - len(lead)) :])
