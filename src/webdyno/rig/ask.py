"""Ask: run one short command on a Host and take all it prints. For versions, and nothing that takes long.

Who asks a dozen programs for their versions cannot wait for one of them: what hangs, or prints without end, is ended.
"""

from __future__ import annotations

import os
import selectors
import shlex
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from webdyno.model.errors import MachineError, StartError
from webdyno.rig.group import Group
from webdyno.rig.host import PIPE, Command, Host

WITHIN_S = 20.0
"""A JVM that has to be read from a slow disk first takes some seconds to say its version."""
MOST_BYTES = 1 << 16


def asker(host: Host) -> Callable[[Sequence[str]], str]:
    """A function that runs a command on ``host`` and returns both its streams as text, whatever its exit status.

    It raises MachineError when the command cannot be executed at all, and as ``heard`` does.
    """

    def ask(argv: Sequence[str]) -> str:
        environment = {"LC_ALL": "C", "PATH": os.environ.get("PATH", os.defpath), "HOME": str(Path.home())}
        command = Command(argv=list(argv), cwd=Path.cwd(), environment=environment, role="tool", stdout=PIPE)
        try:
            group = host.start(command)
        except StartError as error:
            raise MachineError(str(error)) from error
        with group:
            return heard(group, argv).decode("utf-8", "replace")

    return ask


def heard(group: Group, argv: Sequence[str]) -> bytes:
    """What a program that was started as ``argv`` writes until its end.

    MachineError when that takes longer than WITHIN_S, or is more than MOST_BYTES; it is left as it is then.
    """
    if group.stdout is None:
        return b""
    deadline, said = time.monotonic() + WITHIN_S, b""
    with selectors.DefaultSelector() as selector:
        selector.register(group.stdout, selectors.EVENT_READ)
        while len(said) <= MOST_BYTES:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise MachineError(_try(argv, f"did not end within {WITHIN_S:g} s"))
            if not (data := os.read(group.stdout.fileno(), MOST_BYTES)):
                return said
            said += data
    raise MachineError(_try(argv, f"printed more than {MOST_BYTES >> 10} KiB"))


def _try(argv: Sequence[str], what: str) -> str:
    return f"{shlex.join(argv)} {what} and was ended; try it by hand"
