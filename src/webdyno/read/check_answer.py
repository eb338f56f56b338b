"""Rules about one answer that no answer can meet together: a check that would call every server wrong.

Keys are relative to the request's ``expect``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator

from webdyno.model.workload import Expectation, Request
from webdyno.read.lines import Key

BODILESS = {204, 304}
"""Statuses whose answers never have a body (RFC 9110, 6.4.1), like every answer to HEAD."""
_BODY_RULES = ("body", "body_any_of", "body_sha256", "body_length", "body_contains", "body_matches", "json_equals")


def answer_faults(request: Request) -> Iterator[tuple[Key, str]]:
    """Faults of what ``request`` expects, each with its key under ``expect``."""
    it = request.expect
    yield from _form(it)
    rules = [rule for rule in _BODY_RULES if getattr(it, rule) not in (None, [])]
    if rules and request.method == "HEAD":
        yield (rules[0],), "contradicts method HEAD, whose answers have no body"
    if rules and it.statuses and BODILESS.issuperset(it.statuses):
        yield (rules[0],), f"contradicts status {it.statuses[0]}, whose answers have no body"
    if it.body is not None:
        yield from _against_body(it, it.body)
    elif (
        it.body_contains is not None and it.body_length is not None and len(it.body_contains.encode()) > it.body_length
    ):
        yield ("body_contains",), "contradicts body_length: it is longer"


def _form(it: Expectation) -> Iterator[tuple[Key, str]]:
    if not it.statuses:
        yield ("statuses",), "must hold at least one status"
    for at, status in enumerate(it.statuses):
        if not 200 <= status <= 599:
            yield ("statuses", at), f"{status} is not the status of a final answer (200 to 599)"
    if it.body_sha256 is not None and not re.fullmatch(r"[0-9a-f]{64}", it.body_sha256):
        yield ("body_sha256",), "is not a SHA-256; write 64 digits of 0-9 and a-f"
    if it.body_length is not None and it.body_length < 0:
        yield ("body_length",), f"must be 0 or more, but is {it.body_length}"
    if it.body_matches is not None and (fault := _not_an_expression(it.body_matches)):
        yield ("body_matches",), fault
    if it.json_equals is not None and not _is_json(it.json_equals):
        yield ("json_equals",), "is not JSON"
    if it.content_type is not None and not re.fullmatch(r"[^\s;/]+/[^\s;/]+", it.content_type):
        yield ("content_type",), 'must be a media type without parameters, such as "text/plain"'


def _against_body(it: Expectation, body: str) -> Iterator[tuple[Key, str]]:
    """Every other rule must hold for the one exact body."""
    size = len(body.encode())
    if it.body_any_of and body not in it.body_any_of:
        yield ("body_any_of",), "contradicts body, which is none of them"
    if it.body_length is not None and it.body_length != size:
        yield ("body_length",), f"contradicts body, which is {size} bytes long"
    if it.body_sha256 is not None and it.body_sha256 != hashlib.sha256(body.encode()).hexdigest():
        yield ("body_sha256",), "contradicts body, whose SHA-256 is another"
    if it.body_contains is not None and it.body_contains not in body:
        yield ("body_contains",), "contradicts body, which does not contain it"
    pattern = it.body_matches
    if pattern is not None and not _not_an_expression(pattern) and not re.fullmatch(pattern, body):
        yield ("body_matches",), "contradicts body, which does not match it"
    wanted = it.json_equals
    if wanted is not None and _is_json(wanted) and not (_is_json(body) and json.loads(body) == json.loads(wanted)):
        yield ("json_equals",), "contradicts body, which is not equal to it"


def _not_an_expression(pattern: str) -> str | None:
    try:
        re.compile(pattern)
    except re.error as error:
        return f"is not a regular expression: {error}"
    return None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
