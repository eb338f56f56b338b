"""``webdyno completion``: the script that lets a shell complete webdyno's commands and flags."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from webdyno.commands.printing import out


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(help="The shell to complete in.")],
    /,
) -> int:
    """Print the completion script for a shell.

    Example: `webdyno completion bash > ~/.local/share/bash-completion/completions/webdyno`
    """
    from webdyno.commands import make_app

    out(make_app().generate_completion(shell=shell))
    return 0
