"""Verify: every request of a workload asked once, its answer checked against every rule of its Expectation.

A rule that no driver can check (``body_matches``) holds before and after the load only, and a note says so.

What the rules say in values (``json_equals``) is turned into the exact bytes this server sends, so that a driver can
check every answer under load by length and digest. When the bytes differ from one answer to the next though the value
is the same, that is not possible, and only status and content type are checked under load; a note says so. Of several
right bodies (``body_any_of``) the one that came is the rule under load.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from webdyno.model.errors import AnswerError
from webdyno.model.secret import asked
from webdyno.model.workload import Expectation, Request
from webdyno.serve.ask import Answer, NoAnswer
from webdyno.serve.first_answer import first_answer, instead

_SHOWN = 60

Asker = Callable[[Request], Answer]
"""Asks; raises NoAnswer."""


def verify(requests: Sequence[Request], asker: Asker) -> tuple[list[Request], list[str]]:
    """The requests as drivers should check them, and notes. AnswerError for the first wrong answer."""
    effective, notes = [], []
    for request in requests:
        answer = _right_answer(request, asker)
        odd = first_answer(answer.status, answer.headers, answer.body) if request.expect.is_unsaid else None
        notes += [f"{asked(request)}: {odd}"] if odd else []
        if request.expect.body_matches is not None:
            notes.append(
                f"{asked(request)}: that its body matches {request.expect.body_matches!r} is checked "
                "before and after the load; under load no driver can"
            )
            request = without_pattern(request)  # noqa: PLW2901
        if request.expect.body_any_of:
            request = with_body(request, answer.body.decode())  # noqa: PLW2901
        if request.expect.json_equals is None:
            effective.append(request)
            continue
        exact, note = _pin(request, answer, _right_answer(request, asker))
        effective.append(exact)
        notes += [note] if note else []
    return effective, notes


def without_pattern(request: Request) -> Request:
    """The request with the rules that a driver can check."""
    return msgspec.structs.replace(request, expect=msgspec.structs.replace(request.expect, body_matches=None))


def with_body(request: Request, body: str) -> Request:
    """The request with the one of its bodies that its server sends."""
    return msgspec.structs.replace(request, expect=msgspec.structs.replace(request.expect, body=body, body_any_of=[]))


def _right_answer(request: Request, asker: Asker) -> Answer:
    try:
        answer = asker(request)
    except NoAnswer as reason:
        raise AnswerError(f"{asked(request)}: expected an answer, but {reason}") from None
    problem = wrong(answer, request.expect, asked=asks_for_coding(request))
    if problem is None and request.expect.is_unsaid and answer.status >= 300:  # a page may be what was meant
        problem = first_answer(answer.status, answer.headers, answer.body)
    if problem:
        raise AnswerError(f"{asked(request)}: {problem}")
    return answer


def _pin(request: Request, first: Answer, second: Answer) -> tuple[Request, str | None]:
    """The request with the bytes that were seen as its rule."""
    rule = request.expect
    if first.body != second.body:
        loose = Expectation(statuses=rule.statuses, content_type=rule.content_type)
        note = (
            f"{asked(request)}: equal as JSON, but its bytes differ from answer to answer; "
            "under load only status and content type are checked"
        )
        return msgspec.structs.replace(request, expect=loose), note
    exact = msgspec.structs.replace(
        rule, body_sha256=hashlib.sha256(first.body).hexdigest(), body_length=len(first.body)
    )
    return msgspec.structs.replace(request, expect=exact), None


def asks_for_coding(request: Request) -> bool:
    """Whether it says Accept-Encoding; webdyno adds none by itself."""
    return any(name.lower() == "accept-encoding" for name, _ in request.headers)


def wrong(answer: Answer, rule: Expectation, *, asked: bool = False) -> str | None:
    """What is wrong with ``answer``, as "expected ..., got ..."; None when nothing is.

    ``asked``: the request had asked for a content coding, so that one is no surprise.
    """
    if answer.status not in rule.statuses:
        known = instead(answer.status, answer.headers, answer.body)
        said = f"expected status {_statuses(rule.statuses)}, got {answer.status} with {_came(answer, asked=asked)}"
        return said if known is None else f"{said}, {known}"
    for problem in (_wrong_body(answer.body, rule), _wrong_json(answer.body, rule.json_equals)):
        if problem:
            return f"expected {problem}, got {_came(answer, asked=asked)}"
    if rule.content_type is not None and answer.content_type != rule.content_type.lower():
        return f"expected content type {rule.content_type}, got {answer.content_type or 'none'}"
    return None


def _statuses(wanted: Sequence[int]) -> str:
    """``200 or 204``; three and more in a row as ``200 to 399``."""
    runs: list[list[int]] = []
    for status in sorted(set(wanted)):
        if runs and status == runs[-1][-1] + 1:
            runs[-1].append(status)
        else:
            runs.append([status])
    shown = [[f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run) for run in runs]
    return " or ".join(text for run in shown for text in run)


def _wrong_body(body: bytes, rule: Expectation) -> str | None:
    if rule.body is not None and body != rule.body.encode():
        return f"the body {_shown(rule.body.encode())}"
    if rule.body_any_of and body not in [each.encode() for each in rule.body_any_of]:
        return " or ".join(f"the body {_shown(each.encode())}" for each in rule.body_any_of)
    if rule.body_length is not None and len(body) != rule.body_length:
        return f"a body of {_bytes(rule.body_length)}"
    if rule.body_sha256 is not None and hashlib.sha256(body).hexdigest() != rule.body_sha256.lower():
        return f"a body with SHA-256 {rule.body_sha256[:12]}..."
    if rule.body_contains is not None and rule.body_contains.encode() not in body:
        return f"a body that contains {rule.body_contains!r}"
    if rule.body_matches is not None and not _matches(rule.body_matches, body):
        return f"a body that matches {rule.body_matches!r}"
    return None


def _matches(pattern: str, body: bytes) -> bool:
    try:
        return re.fullmatch(pattern, body.decode()) is not None
    except UnicodeDecodeError:
        return False


def _wrong_json(body: bytes, wanted: str | None) -> str | None:
    if wanted is None:
        return None
    try:
        equal = _equal(json.loads(body), json.loads(wanted))
    except (ValueError, RecursionError):
        return f"JSON equal to {_cut(wanted)}"
    return None if equal else f"JSON equal to {_cut(wanted)}"


def _equal(left: Any, right: Any) -> bool:
    """As JSON means it: Python alone would call true and 1 equal."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_equal, left, right))
    return bool(left == right)


def _came(answer: Answer, *, asked: bool) -> str:
    """The body of an answer for a sentence. What nobody can read is named and not shown."""
    coding = answer.headers.get("content-encoding", "").strip().lower()
    if answer.body and coding not in ("", "identity"):
        return f"a body in {coding} ({_bytes(len(answer.body))})" + ("" if asked else ", although it was not requested")
    if answer.body and not _is_text(answer.body):
        return f"a binary body ({_bytes(len(answer.body))}, {answer.content_type or 'no content type'})"
    return _shown(answer.body)


def _is_text(body: bytes) -> bool:
    """UTF-8, as far as it is shown, without control characters but those of lines."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(body[: _SHOWN * 4])  # the last sign may be cut
    except UnicodeDecodeError:
        return False
    return all(sign.isprintable() or sign in "\t\r\n" for sign in text)


def _shown(body: bytes) -> str:
    """A body for a sentence: its beginning and its length."""
    if not body:
        return "an empty body"
    return f"{_cut(body[: _SHOWN * 4].decode(errors='replace'))!r} ({_bytes(len(body))})"


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count} bytes"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
