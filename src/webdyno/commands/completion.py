"""``webdyno completion``: the script that lets a shell complete commands and flags; names: ``completing``."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from webdyno.commands.printing import out


def completion(
    shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(help="The shell to complete in.")],
    /,
) -> int:
    """Print the completion script for a shell: commands, flags, and names of contenders, studies and workloads.

    Names are looked up when they are asked for, those of a --catalogue on the line too. zsh takes it as `_webdyno` in a
    folder of its `$fpath`, fish as `~/.config/fish/completions/webdyno.fish`.

    Example: `webdyno completion bash > ~/.local/share/bash-completion/completions/webdyno`
    """
    from webdyno.commands import make_app

    out(make_app().generate_completion(shell=shell))
    return 0
