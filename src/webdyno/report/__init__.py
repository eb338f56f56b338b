"""Report: what was found, said to people and to programs: terminal, one HTML file, Markdown, CSV, JSON, a picture.

Every form takes its figures from the Analysis and writes them with ``analyse.words``; nothing is computed twice,
and none of them knows more than another. Whatever came from outside (names, logs, versions) is escaped by the form
that shows it.
"""

from __future__ import annotations
