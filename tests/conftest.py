"""What holds for all tests: they see nothing of the shell they are run from, and ask loopback by no proxy."""

from __future__ import annotations

import gc
import os
import signal

TERMINAL = ("FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
for name in (*TERMINAL, "VIRTUAL_ENV", "CONDA_PREFIX"):
    os.environ.pop(name, None)
for name in ("no_proxy", "NO_PROXY"):  # builds may need the proxy
    os.environ[name] = ",".join(filter(None, [os.environ.get(name), "127.0.0.1", "localhost", "::1"]))
# Our matrices are small: more threads cost a tenth of all CPU time, and the workers of xdist have the other cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def pytest_collection_finish() -> None:
    """What was collected stays to the end, so the garbage collector need not look through it again and again."""
    gc.collect()
    gc.freeze()


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in a shell's background job: children would ignore it too
    signal.signal(signal.SIGINT, signal.default_int_handler)
