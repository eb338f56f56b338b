"""``--expect``: what a correct answer is, one rule each, as people write them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from webdyno.model.errors import UsageError
from webdyno.model.workload import ANY_RIGHT, Expectation, Request
from webdyno.read.check_answer import answer_faults

_FORMS = (
    "'status==200', 'status in 200,204', 'status in 200-299', 'body contains \"x\"', 'body==\"x\"', 'length==13', "
    "'type==application/json' or 'sha256==...'"
)
_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"status\s*(?:==|\s+in\s)\s*(\d[\d\s,-]*)"), "statuses"),
    (re.compile(r"body\s+contains\s(.+)", re.DOTALL), "body_contains"),
    (re.compile(r"body\s*==\s*(.+)", re.DOTALL), "body"),
    (re.compile(r"length\s*==\s*(\d+)"), "body_length"),
    (re.compile(r"type\s*==\s*(\S+)"), "content_type"),
    (re.compile(r"sha256\s*==\s*([0-9a-fA-F]+)"), "body_sha256"),
)
_KEYS = {
    "statuses": "status",
    "body_contains": "body contains",
    "body": "body==",
    "body_length": "length",
    "content_type": "type",
    "body_sha256": "sha256",
}


def expectation(rules: list[str] | None, method: str) -> Expectation:
    """All ``rules`` as one; UsageError for one that is none, comes twice, or contradicts another or the method."""
    found: dict[str, Any] = {}
    for rule in rules or []:
        key, value = _rule(rule)
        if key in found:
            raise UsageError(f"--expect {rule!r}: {_KEYS[key]} was given before; give each rule once")
        found[key] = value
    expect = Expectation(**({"statuses": list(ANY_RIGHT)} | found))
    for where, problem in answer_faults(Request(name="load", path="/", method=method, expect=expect)):
        raise UsageError(f"--expect: {_KEYS[str(where[0])]} {problem}")
    return expect


def _rule(text: str) -> tuple[str, Any]:
    read: dict[str, Callable[[str], Any]] = {
        "statuses": _statuses,
        "body_length": int,
        "body": _unquoted,
        "body_contains": _unquoted,
        "body_sha256": str.lower,
    }
    if re.search("[\ud800-\udfff]", text):  # what Python makes of bytes on a command line that are no text
        raise UsageError(f"--expect {text!r} is not UTF-8 text")
    for pattern, key in _RULES:
        if match := pattern.fullmatch(text.strip()):
            value = read.get(key, str)(match[1].strip())
            if value is not None:
                return key, value
    raise UsageError(f"--expect {text!r} is not a rule; write {_FORMS}")


def _statuses(text: str) -> list[int] | None:
    """``200,204`` and ``200-299``; None when it is neither."""
    found: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d{3})(?:-(\d{3}))?", part.strip())
        if match is None:
            return None
        found += range(int(match[1]), int(match[2] or match[1]) + 1)
    return list(dict.fromkeys(found)) or None


def _unquoted(text: str) -> str:
    """What stands in double quotes is read as JSON writes it; anything else is taken as it is."""
    if len(text) >= 2 and text[0] == text[-1] == '"':
        try:
            return msgspec.json.decode(text, type=str)
        except (msgspec.DecodeError, UnicodeError):
            return text[1:-1]
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] == "'" else text
