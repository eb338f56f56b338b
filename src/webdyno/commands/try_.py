"""``webdyno try``: which server, with which settings, for an application of one's own, on this machine."""

from __future__ import annotations

import signal
from typing import Annotated

from cyclopts import Parameter

from webdyno.commands.options import CatalogueOption, catalogue_of, out_console, say_json
from webdyno.commands.trying.asking import AppAsking
from webdyno.commands.trying.by_url import try_url
from webdyno.commands.trying.flags import Trying
from webdyno.commands.trying.telling import tell
from webdyno.session.tryout.steps import try_out

_ASKING, _TRYING = AppAsking(), Trying()


def try_(
    app: Annotated[str | None, Parameter(help="The application: module:attribute, such as myapp:app.")] = None,
    /,
    *,
    asking: AppAsking = _ASKING,
    flags: Trying = _TRYING,
    catalogue: CatalogueOption = None,
) -> int:
    """Find the server and the settings for your own application on this machine; the project is left as it is.

    Finds out whether it is WSGI, ASGI or RSGI, tries every server of the catalogue that can serve it with a sweep of
    its settings, drops early what is clearly behind, and compares the best with what you have now. The answer comes in
    words, with the command line to copy. Servers come from webdyno's cache; nothing is installed into your project.

    Example: `webdyno try myapp:app --path /api/items --current 'gunicorn myapp:app -w 4'`
    """
    flags.check(app)
    asking.check()
    if flags.url is not None:
        return try_url(flags.url, asking, flags)
    told, interrupted = try_out(flags.task(app, asking), catalogue_of(catalogue), wait=flags.wait)
    if flags.json:
        say_json(told)
    else:
        tell(told, out_console())
    if interrupted:
        return 128 + signal.SIGINT
    return 0 if told.take is not None else 1
