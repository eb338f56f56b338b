"""``webdyno try``: which server, with which settings, for an application of one's own, on this machine."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from webdyno.commands.options import CatalogueOption
from webdyno.commands.printing import err, out_console, say_json
from webdyno.commands.trusting import AsRootOption, TrustOption, agreeing, catalogue_to_run, refuse_as_root
from webdyno.commands.trying.asking import AppAsking
from webdyno.commands.trying.by_url import try_url
from webdyno.commands.trying.flags import Trying
from webdyno.commands.trying.telling import tell
from webdyno.session.tryout.resuming import folder_of, line_to_go_on, resume_try
from webdyno.session.tryout.steps import try_out
from webdyno.session.tryout.told import Told

_ASKING, _TRYING = AppAsking(), Trying()


def try_(
    app: Annotated[str | None, Parameter(help="The application: module:attribute, such as myapp:app.")] = None,
    /,
    *,
    asking: AppAsking = _ASKING,
    flags: Trying = _TRYING,
    catalogue: CatalogueOption = None,
    trust: TrustOption = False,
    no_as_user: AsRootOption = False,
) -> int:
    """Find the best server and settings for your own application on this machine; the project is not changed.

    Detects whether it is WSGI, ASGI or RSGI, and tries every server of the catalogue that can serve it, with a sweep of
    its settings. Drops early what is clearly behind, and compares the best with your current server. The answer is a
    sentence, with the command line to copy. Servers come from webdyno's cache; nothing is installed into your project.
    With `--save`, Ctrl-C keeps what was measured, and `--resume` continues.

    Example: `webdyno try myapp:app --path /api/items --current 'gunicorn myapp:app -w 4'`
    """
    if flags.url is None:
        refuse_as_root("try", False if no_as_user else None, catalogue or [])
    if flags.resume is not None:
        folder, again = folder_of(flags.resume), flags.again(app, asking)
        known, agree = catalogue_to_run(catalogue, trust), agreeing(trust)
        sit = partial(resume_try, folder, known, again, wait=flags.wait, agree=agree)
        return _told(sit, folder, catalogue or [], flags, as_root=no_as_user)
    flags.check(app)
    asking.check()
    if flags.url is not None:
        return try_url(flags.url, asking, flags)
    task, known = flags.task(app, asking), catalogue_to_run(catalogue, trust)
    sit = partial(try_out, task, known, wait=flags.wait)
    return _told(sit, flags.save, catalogue or [], flags, as_root=no_as_user)


def _told(
    sit: Callable[[], tuple[Told, bool]],
    folder: Path | None,
    catalogues: Sequence[Path],
    flags: Trying,
    *,
    as_root: bool,
) -> int:
    """The answer, or how far it came; where it was stopped and kept, with the line that goes on."""
    line: str | None = None
    try:
        told, interrupted = sit()
    except KeyboardInterrupt:
        line = None if folder is None else line_to_go_on(folder, catalogues)
        if line is None:
            raise
        err("stopped; too little was measured for an answer")
    else:
        if flags.json:
            say_json(told)
        else:
            tell(told, out_console())
        if not interrupted:
            return 0 if told.take is not None else 1
        line = None if folder is None else line_to_go_on(folder, catalogues)
    if line is not None:
        err(f"to go on: {line}{' --no-as-user' if as_root else ''}")
    return 128 + signal.SIGINT
