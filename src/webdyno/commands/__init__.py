"""The command line: one file per command, each loaded only when it is called.

Exit codes: 0 fine; 1 a check or a contender failed; 2 the call or a file is wrong; 3 this machine cannot do it (4 from
compare, whose 3 is "cannot tell"); 130 ended by Ctrl-C. Data goes to standard output, progress and error messages to
standard error.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path

from cyclopts import App, CycloptsError, Parameter

from webdyno import __version__
from webdyno.commands.complaining import complaint
from webdyno.commands.printing import err, flush
from webdyno.commands.saying import heard
from webdyno.disk import refused
from webdyno.model.errors import MachineError, WebdynoError

_PR_SET_DUMPABLE = 4
COMMANDS = {
    "run": "Measure a study: which contender wins, by how much, how certain that is, and why.",
    "check": "Build, start, verify and stop contenders, without load.",
    "list": "List what is available: contenders, studies, workloads, apps, runtimes.",
    "show": "Show one entry of the catalogue in full.",
    "plan": "Show what a study would do here, and how long it would take.",
    "report": "Report on a results folder: terminal, HTML, Markdown, CSV, JSON, OpenMetrics, a picture.",
    "view": "Show results, and the run in progress, in a browser on this machine.",
    "export": "Export the raw evidence: Runs as JSON lines, seconds as CSV, histogram logs.",
    "try": "Find the best server and settings for your own application.",
    "load": "Put load on a URL, as wrk or ab would.",
    "capacity": "Find the highest rate at which a server meets its objectives.",
    "compare": "Compare head with base: faster, slower, the same, or undecided.",
    "doctor": "Check whether this machine is fit to measure on.",
    "lock": "Record the exact versions that a contender's requirements resolve to.",
    "completion": "Print the script that completes webdyno's commands in your shell.",
}
"""Each is ``commands/NAME.py`` with a function of that name (words of Python's own end in an underscore)."""
RESUMED = ("run", "compare", "capacity", "try")
"""Those that go on with a results folder."""
CANNOT_HERE: dict[str | None, int] = {"compare": 4}
"""Exit codes for "this machine cannot do it" where 3 says something else: of compare, that the answer is open."""
_FUNCTIONS = {"list": "list:list_", "try": "try_:try_"}

_HELP = """A dynamometer for web servers: which one wins on this machine, by how much, how certain that is, and why.

Begin with `webdyno run quickstart`. `webdyno list` shows what is available.
"""
_EPILOGUE = (
    "Exit codes: 0 fine, 1 a check or contender failed, 2 wrong call, 3 this machine cannot do it (compare: 4, for its "
    "3 is undecided), 130 Ctrl-C."
)


def make_app(called: str | None = None) -> App:
    """The command line as cyclopts sees it; commands are named by import path, so calling one loads only that one.

    The command that is ``called`` speaks for itself (its docstring is its help); the others show their one line.
    """
    app = App(
        name="webdyno",
        help=_HELP,
        help_format="markdown",
        help_epilogue=_EPILOGUE,
        version=__version__,
        version_format="plaintext",
        default_parameter=Parameter(negative=()),
        suppress_keyboard_interrupt=False,
        result_action="return_value",
    )
    for place, name in enumerate(COMMANDS):
        line = None if name == called else COMMANDS[name]
        app.command(f"webdyno.commands.{_FUNCTIONS.get(name, f'{name}:{name}')}", name=name, help=line, sort_key=place)
    return app


def main() -> None:
    """Entry point of the ``webdyno`` program."""
    _open_streams()
    _hide()
    for number in (signal.SIGTERM, signal.SIGHUP):  # end as by Ctrl-C, so that temporary folders are removed
        if signal.getsignal(number) is signal.SIG_DFL:  # not under nohup
            signal.signal(number, signal.default_int_handler)
    sys.exit(call(sys.argv[1:]))


def _hide() -> None:
    """From all other programs of this user, before one is started: an environment may hold tokens and passwords.

    By hand, for ``rig.process`` would be imported by ``--version`` too, which waits for nothing that starts processes.
    """
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def _open_streams() -> None:
    """What was closed by who called us (``>&-``) leads nowhere, so that no file or socket of ours gets its number."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free, which is this one
            if nowhere != number:
                os.dup2(nowhere, number)
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115


def call(arguments: list[str]) -> int:
    """Run one command line and return its exit code; complaints are one sentence on standard error."""
    named = next((word for word in arguments if word in COMMANDS), None)
    app = make_app(named)
    try:
        with heard():
            result = app(arguments, exit_on_error=False, print_error=False)
        flush()
    except CycloptsError as error:
        _complain(complaint(error, named))
        return 2
    except WebdynoError as error:
        _complain(str(error))
        return CANNOT_HERE.get(named, error.exit_code) if isinstance(error, MachineError) else error.exit_code
    except KeyboardInterrupt:
        _complain("stopped by Ctrl-C")
        return 128 + signal.SIGINT
    except OSError as error:
        if isinstance(error, BrokenPipeError) and (unread := _unread()):
            # the reader of our output (head, less) has seen enough; keep Python from complaining again at its own end.
            # A pipe that breaks elsewhere is a fault, and does not end in silence.
            for stream in unread:
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
            return 0
        # the machine's refusals (disk full, no right, too many files) wherever they hit; results are already on disk
        where = f"{error.filename}: " if error.filename else ""
        hint = "webdyno doctor looks at this machine's limits"
        refusal = refused(error, Path(str(error.filename or Path.cwd())))
        if refusal is not None:
            kept = f"; what was measured before is kept, and webdyno {named} --resume FOLDER continues"
            hint = f"make room{kept if named in RESUMED else ''}"
        _complain(f"{where}{refusal or (error.strerror or str(error)).lower()}; {hint}")
        return CANNOT_HERE.get(named, MachineError.exit_code)
    return result if isinstance(result, int) else 0


def _unread() -> list[int]:
    """Which of standard output and error are pipes that nobody reads any more."""
    from webdyno.rig.streams import is_unread  # all that starts processes comes with it

    return [each for each in (1, 2) if is_unread(each)]


def _complain(sentence: str) -> None:
    err(f"webdyno: {sentence}")
