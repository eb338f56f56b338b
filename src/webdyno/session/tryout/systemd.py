"""A systemd service for a command.

systemd reads a file of variables nearly as a shell does, but knows no ``export`` and no comment behind a value
(systemd.exec(5), EnvironmentFile); what only a shell reads correctly, a shell reads for it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from webdyno.session.tryout.envfile import Read

_BY_SHELL = 'set -a; . "$0"; exec "$@"'


def unit(words: Sequence[str], variables: Mapping[str, str], folder: Path, read: Read | None) -> str:
    """The text; ``words`` begin with the whole path of a program."""
    given = [f"Environment={_quoted(f'{name}={text}')}" for name, text in variables.items()]
    if read is not None and read.by_systemd and not read.by_shell:
        words = ["/bin/sh", "-c", _BY_SHELL, str(read.path), *words]
    elif read is not None:  # not quoted: systemd takes the rest of the line as the path
        given.append(f"EnvironmentFile={str(read.path).replace('%', '%%')}")
    # dollar signs are its own too, but not in the program's path
    started = " ".join([_quoted(words[0]), *(_quoted(word.replace("$", "$$")) for word in words[1:])])
    lines = [f"WorkingDirectory={str(folder).replace('%', '%%')}", *given, f"ExecStart={started}", "Restart=on-failure"]
    return "\n".join(
        ["[Unit]", "After=network.target", "", "[Service]", *lines, "", "[Install]", "WantedBy=multi-user.target", ""]
    )


def _quoted(word: str) -> str:
    """A word as systemd reads it: percent signs are its own, backslashes escape, quotes and semicolons part words."""
    plain = word.replace("%", "%%").replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return plain if re.fullmatch(r"[^\s'\"\\;]+", word) else f'"{plain}"'
