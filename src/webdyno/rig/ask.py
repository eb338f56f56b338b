"""Ask: run one short command on a Host and take all it prints. For versions, and nothing that takes long."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from webdyno.model.errors import MachineError, StartError
from webdyno.rig.host import PIPE, Command, Host


def asker(host: Host) -> Callable[[Sequence[str]], str]:
    """A function that runs a command on ``host`` and returns both its streams as text, whatever its exit status.

    It raises MachineError when the command cannot be executed at all.
    """

    def ask(argv: Sequence[str]) -> str:
        environment = {"LC_ALL": "C", "PATH": os.environ.get("PATH", os.defpath), "HOME": str(Path.home())}
        command = Command(argv=list(argv), cwd=Path.cwd(), environment=environment, role="tool", stdout=PIPE)
        try:
            group = host.start(command)
        except StartError as error:
            raise MachineError(str(error)) from error
        with group:
            return group.stdout.read().decode("utf-8", "replace") if group.stdout else ""

    return ask
