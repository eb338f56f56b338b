"""``webdyno view``: results folders as pages in a browser on this machine."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from webdyno.commands.printing import err
from webdyno.model.errors import UsageError
from webdyno.session.interrupts import listening_for_interrupts

PORT = 8321


def view(
    folder: Annotated[Path, Parameter(help="A folder with results folders, or one of them.")] = Path("results"),
    /,
    *,
    port: Annotated[int, Parameter(name=["--port", "-p"], help="Port on 127.0.0.1; 0: any free port.")] = PORT,
) -> int:
    """Serve results as pages for a browser on this machine: all of them, two over each other, the run in progress.

    Only 127.0.0.1 is listened on, and nothing is ever written. /metrics is OpenMetrics text for a Prometheus. It runs
    at the lowest priority, so that a measurement on the same machine goes first. Ctrl-C ends it.

    Example: `webdyno view results --port 8321`
    """
    if not 0 <= port <= 65535:
        raise UsageError(f"--port {port}: give a number from 0 to 65535; 0 takes any free port")
    from webdyno.view import Server, Shelf

    with suppress(OSError):
        os.nice(19)
    server = Server(Shelf(folder), port, lambda sentence: err(f"webdyno: {sentence}"))
    with listening_for_interrupts() as interrupted:
        serving = threading.Thread(target=server.serve_forever, name="view", daemon=True)
        serving.start()
        err(f"results in {folder}: {server.url} (Ctrl-C stops it)")
        try:
            interrupted.wait()
        finally:
            server.end()
            serving.join()
    return 128 + signal.SIGINT
