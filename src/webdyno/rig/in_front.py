"""In front: a command of the user's own on their terminal, as ``time`` or ``sudo`` runs one, with something to do after
it that no signal may prevent.

It has our streams, our process group and our environment. A Ctrl-C of the terminal reaches it without us; a signal that
somebody sends to us is handed on. We end when it has ended.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator, Sequence

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_SI_KERNEL = 0x80
"""Nobody sent it: the terminal did, to all of its foreground."""


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """What would end us waits until the block is left. For a process of one thread, as others take signals too."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*_ENDING, signal.SIGCHLD})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run_in_front(argv: Sequence[str]) -> int:
    """Its exit status, minus the signal's number where one ended it. Within ``undisturbed``; OSError when it cannot be
    executed.
    """
    ignored_by_python = [signal.SIGPIPE, signal.SIGXFSZ]
    pid = os.posix_spawnp(argv[0], list(argv), os.environ, setsigmask=[], setsigdef=ignored_by_python)
    while True:
        info = signal.sigwaitinfo({*_ENDING, signal.SIGCHLD})
        if info.si_signo == signal.SIGCHLD:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
        elif info.si_code != _SI_KERNEL or os.getpgid(pid) != os.getpgrp():
            os.kill(pid, info.si_signo)
