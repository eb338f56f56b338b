"""What is asked of which server: URLs with their weights, or a file of requests. One server per load."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from webdyno.commands.loading.expecting import expectation
from webdyno.commands.options import flag
from webdyno.model.errors import UsageError
from webdyno.model.secret import hidden_line
from webdyno.model.workload import Request
from webdyno.read import read_requests
from webdyno.session.target import Target


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Asking:
    """The flags that say what is asked."""

    method: Annotated[
        str | None, flag("--method", "-m", "-X", help="GET, or POST when there is a body; of every URL.")
    ] = None
    header: Annotated[list[str] | None, flag("--header", "-H", help="A header, 'Name: value' (repeatable).")] = None
    body: Annotated[str | None, flag("--body", "-b", help="Body of the request; @FILE reads it from a file.")] = None
    expect: Annotated[
        list[str] | None,
        flag(
            "--expect",
            help="What a correct answer is (repeatable): 'status in 200,204', 'body contains \"x\"', 'length==13', "
            "'type==application/json', 'sha256==...'. [default: a status from 200 to 399]",
        ),
    ] = None
    requests_file: Annotated[
        Path | None,
        flag("--requests-file", help="TOML file of [[requests]], as in a workload, sent to the URL's server."),
    ] = None
    template: Annotated[
        bool,
        flag("--template", help="Fill {{counter}}, {{random}} and {{random:1-9}} with a new value in each request."),
    ] = False

    def requests(self, targets: list[Target]) -> list[Request]:
        """Every request with its weight; UsageError when the flags contradict each other."""
        if self.requests_file is not None:
            found = self._from_file(self.requests_file, targets)
        else:
            text = _body(self.body)
            method = (self.method or ("POST" if text is not None else "GET")).upper()
            headers = [header_of(line) for line in self.header or []]
            expect = expectation(self.expect, method)
            found = [
                Request(
                    name=f"{method} {hidden_line(target.path)}",
                    method=method,
                    path=target.path,
                    headers=headers,
                    body=text,
                    weight=target.weight,
                    expect=expect,
                )
                for target in targets
            ]
        if self.template and not any(_filled(request) for request in found):
            raise UsageError(
                "--template fills {{counter}}, {{random}} and {{random:1-9}} in path, headers and body: none is there"
            )
        return found

    def _from_file(self, path: Path, targets: list[Target]) -> list[Request]:
        given = {"--method": self.method, "--body": self.body, "--expect": self.expect}
        for name, value in given.items():
            if value is not None:
                raise UsageError(f"{name} and --requests-file exclude each other: {path} has it for each request")
        if len(targets) > 1 or targets[0].path != "/" or targets[0].weight != 1:
            raise UsageError(f"--requests-file {path}: give one URL without a path, the file has the paths")
        headers = [header_of(line) for line in self.header or []]
        return [
            msgspec.structs.replace(request, headers=[*request.headers, *headers]) for request in read_requests(path)
        ]


def header_of(line: str) -> tuple[str, str]:
    """``Name: value`` as a header; UsageError."""
    name, colon, value = line.partition(":")
    if not colon or not name.strip():
        first = line.strip().partition(" ")[0]  # the rest may be secret
        raise UsageError(f"--header {first!r}: write it as 'Name: value'")
    return name.strip(), value.strip()


def _body(text: str | None) -> str | None:
    if text is None or not text.startswith("@"):
        return text
    path = Path(text[1:])
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"--body {text}: {path} cannot be read: {reason}") from None


def _filled(request: Request) -> bool:
    return any("{{" in text for text in (request.path, request.body or "", *(value for _, value in request.headers)))
