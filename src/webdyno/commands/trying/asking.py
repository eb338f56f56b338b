"""What is asked of the application: --path with weights, or the GET routes of its own schema."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from webdyno.commands.loading.targets import Asking
from webdyno.commands.options import flag
from webdyno.model.errors import UsageError
from webdyno.model.workload import Request
from webdyno.session.target import Target, one_server
from webdyno.session.tryout.task import Questions

_WEIGHTED = re.compile(r"(?P<weight>\d+)=(?P<path>/.*)", re.DOTALL)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class AppAsking:
    """The flags that say what is asked of the application."""

    path: Annotated[
        list[str] | None,
        flag(
            "--path",
            "-p",
            help="Path to request (repeatable): /api/items; 3=/a is requested three times as often. [default: /]",
        ),
    ] = None
    openapi: Annotated[
        bool, flag("--openapi", help="Request the GET routes of the app's own schema that have no required parameters.")
    ] = False
    method: Annotated[str | None, flag("--method", "-m", "-X", help="GET, or POST when there is a body.")] = None
    header: Annotated[list[str] | None, flag("--header", "-H", help="A header, 'Name: value' (repeatable).")] = None
    body: Annotated[str | None, flag("--body", "-b", help="Body of the request; @FILE reads it from a file.")] = None
    expect: Annotated[
        list[str] | None,
        flag("--expect", help="What a correct answer is (repeatable): 'status==200', 'body contains \"x\"', ..."),
    ] = None

    def check(self) -> None:
        """UsageError when the flags contradict each other, or one of them cannot be read."""
        if self.openapi and self.path:
            raise UsageError("--openapi picks the paths itself; give either --openapi or --path")
        if self.openapi and (self.body is not None or (self.method or "GET").upper() != "GET"):
            raise UsageError("--openapi requests GET routes; -m and -b need --path")
        self.requests()  # what cannot be asked is said before anything is built

    def requests(self) -> list[Request]:
        """Every request with its weight and what a correct answer is; UsageError."""
        return self.requests_at(one_server(tuple(map(_url, self.path or ["/"]))))

    def requests_at(self, targets: list[Target]) -> list[Request]:
        """The same of those targets."""
        return Asking(method=self.method, header=self.header, body=self.body, expect=self.expect).requests(targets)

    @property
    def questions(self) -> Questions:
        """For an application that is started here; UsageError."""
        return Questions(requests=self.requests(), by_schema=self.openapi, is_unsaid=self.expect is None)

    def targets_below(self, url: str) -> list[Target]:
        """The URL itself, or the paths of --path below it."""
        if not self.path:
            return one_server((url,))
        base = url.rstrip("/")
        urls = []
        for text in self.path:
            weight, _, path = text.partition("=/") if text[:1].isdecimal() else ("", "", text.lstrip("/"))
            if not text.startswith("/") and not weight.isdecimal():
                raise _no_path(text)
            urls.append(f"{weight}={base}/{path}" if weight else f"{base}/{path}")
        return one_server(tuple(urls))


def _url(text: str) -> str:
    weighted = _WEIGHTED.fullmatch(text)
    weight, path = (f"{weighted['weight']}=", weighted["path"]) if weighted else ("", text)
    if not path.startswith("/"):
        raise _no_path(text)
    return f"{weight}http://app{path}"


def _no_path(text: str) -> UsageError:
    return UsageError(f"--path {text}: a path begins with a slash, as in --path /api/items or --path 3=/api/items")
