"""Right and wrong answers, and the sentences about the wrong ones."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest

from webdyno.model.errors import AnswerError
from webdyno.model.workload import ANY_RIGHT, Expectation, Request
from webdyno.serve.ask import Answer, NoAnswer
from webdyno.serve.verify import verify, wrong


def answer(body: bytes = b"Hello", status: int = 200, content_type: str | None = "text/plain") -> Answer:
    return Answer(status, content_type, body)


def answered(body: bytes, status: int = 200, **headers: str) -> Answer:
    return Answer(status, "text/plain", body, {name.replace("_", "-"): value for name, value in headers.items()})


SHA = hashlib.sha256(b"Hello").hexdigest()

RIGHT = [
    (answer(), Expectation()),
    (answer(status=201), Expectation(statuses=[200, 201])),
    (answer(), Expectation(body="Hello", body_sha256=SHA.upper(), body_length=5, body_contains="ell")),
    (answer(), Expectation(content_type="Text/Plain")),
    (answer("Grüße".encode()), Expectation(body="Grüße")),
    (answer(b"17"), Expectation(body_matches="[0-9]+")),
    (answer(b'{ "b" : [1.0, null] , "a": true}'), Expectation(json_equals='{"a":true,"b":[1,null]}')),
    (answer(b"", 204), Expectation(statuses=[204], body="")),
]


@pytest.mark.parametrize(("came", "rule"), RIGHT)
def test_right_answers_pass(came: Answer, rule: Expectation) -> None:
    assert wrong(came, rule) is None


WRONG = [
    (answer(b"no such page", 404), Expectation(), "expected status 200, got 404 with 'no such page' (12 bytes)"),
    (answer(b"", 500), Expectation(statuses=[200, 304]), "expected status 200 or 304, got 500 with an empty body"),
    (answer(b"Hullo"), Expectation(body="Hello"), "expected the body 'Hello' (5 bytes), got 'Hullo' (5 bytes)"),
    (answer(b"Hello!"), Expectation(body="Hello"), "expected the body 'Hello' (5 bytes), got 'Hello!' (6 bytes)"),
    (answer(b"Hello!"), Expectation(body_length=5), "expected a body of 5 bytes, got 'Hello!' (6 bytes)"),
    (answer(b"x"), Expectation(body_sha256=SHA), "expected a body with SHA-256 185f8db32271..., got 'x' (1 byte)"),
    (answer(b"x"), Expectation(body_contains="</html>"), "expected a body that contains '</html>', got 'x' (1 byte)"),
    (answer(b"<p>"), Expectation(json_equals="1"), "expected JSON equal to 1, got '<p>' (3 bytes)"),
    (answer(b"1"), Expectation(json_equals="true"), "expected JSON equal to true, got '1' (1 byte)"),
    (answer(b"[1]"), Expectation(json_equals="[1, 2]"), "expected JSON equal to [1, 2], got '[1]' (3 bytes)"),
    (answer(b"[0]"), Expectation(json_equals="[false]"), "expected JSON equal to [false], got '[0]' (3 bytes)"),
    (answer(b"1\n"), Expectation(body_matches="[0-9]"), r"expected a body that matches '[0-9]', got '1\n' (2 bytes)"),
    (answer(), Expectation(content_type="text/html"), "expected content type text/html, got text/plain"),
    (answer(content_type=None), Expectation(content_type="text/html"), "expected content type text/html, got none"),
    (answer(b"x" * 999), Expectation(body="y"), f"expected the body 'y' (1 byte), got '{'x' * 60}...' (999 bytes)"),
]  # fmt: skip


UNREADABLE = [
    (answer(b"\xff"), Expectation(body_matches=".*"), "a binary body (1 byte, text/plain)"),
    (answer(b"\x89PNG" * 99, content_type=None), Expectation(body="y"), "a binary body (396 bytes, no content type)"),
    (
        answered(b"\x1f\x8b!", content_encoding="gzip"),
        Expectation(body="y"),
        "a body in gzip (3 bytes), although it was not requested",
    ),
]


@pytest.mark.parametrize(("came", "rule", "shown"), UNREADABLE)
def test_what_nobody_can_read_is_named_and_not_shown(came: Answer, rule: Expectation, shown: str) -> None:
    assert str(wrong(came, rule)).partition(", got ")[2] == shown


INSTEAD = [
    (answered(b"", 302, location="/login?next=/"), "an empty body, a redirect to /login..., which looks like a login"),
    (
        answered(b"Invalid host header", 400),
        "'Invalid host header' (19 bytes), as for a Host that the app does not know: add the requested host to "
        "allowed_hosts of TrustedHostMiddleware (Starlette, FastAPI), or send one of these",
    ),
]


@pytest.mark.parametrize(("came", "sentence"), INSTEAD)
def test_what_came_in_place_of_the_status_is_named_where_it_is_known(came: Answer, sentence: str) -> None:
    assert wrong(came, Expectation()) == f"expected status 200, got {came.status} with {sentence}"


@pytest.mark.parametrize(("came", "rule", "sentence"), WRONG)
def test_wrong_answers_are_told(came: Answer, rule: Expectation, sentence: str) -> None:
    assert wrong(came, rule) == sentence


def test_a_coding_that_was_asked_for_is_no_surprise() -> None:
    zipped = answered(b"\x1f\x8b!", content_encoding="gzip")
    request = Request(name="z", path="/", headers=[("accept-encoding", "gzip")], expect=Expectation(body="y"))
    with pytest.raises(AnswerError, match=r"got a body in gzip \(3 bytes\)$"):
        verify([request], lambda _: zipped)


def test_a_redirect_is_only_right_where_somebody_said_so() -> None:
    login = answered(b"", 302, location="/login")
    unsaid = Request(name="p", path="/private", expect=Expectation(statuses=list(ANY_RIGHT)))
    with pytest.raises(AnswerError, match=r"^GET /private: answered with 302, a redirect to /login, which looks like"):
        verify([unsaid], lambda _: login)
    said = Request(name="p", path="/private", expect=Expectation(statuses=[302]))
    assert verify([said], lambda _: login) == ([said], [])


def test_a_page_with_a_password_is_noted_and_measured_where_nobody_said_what_is_right() -> None:
    page = answered(b"<!doctype html><input type=password>", content_type="text/html")
    unsaid = Request(name="p", path="/", expect=Expectation(statuses=list(ANY_RIGHT)))
    ((same,), (note,)) = verify([unsaid], lambda _: page)
    assert same == unsaid
    assert note.startswith("GET /: answered with 200 and a page with a password field")
    assert verify([Request(name="p", path="/")], lambda _: page)[1] == []


def scripted(*bodies: bytes) -> Callable[[Request], Answer]:
    """Answers in turn."""
    turn = iter(bodies)
    return lambda request: answer(next(turn))


JSON = Request(name="json", path="/json", expect=Expectation(json_equals='{"a": 1}', content_type="text/plain"))


def test_json_becomes_the_bytes_this_server_sends() -> None:
    body = b'{"a":1}'
    ((effective,), notes) = verify([JSON], scripted(body, body))
    assert effective.expect == Expectation(
        json_equals='{"a": 1}',
        content_type="text/plain",
        body_sha256=hashlib.sha256(body).hexdigest(),
        body_length=7,
    )
    assert (effective.name, effective.path, notes) == ("json", "/json", [])


def test_json_whose_bytes_change_is_checked_by_status_and_type_only() -> None:
    ((effective,), notes) = verify([JSON], scripted(b'{"a":1}', b'{"a": 1}'))
    assert effective.expect == Expectation(content_type="text/plain")
    assert notes == [
        "GET /json: equal as JSON, but its bytes differ from answer to answer; "
        "under load only status and content type are checked"
    ]


def test_json_that_is_wrong_the_second_time_is_wrong() -> None:
    with pytest.raises(AnswerError, match=r"^GET /json: expected JSON equal to \{\"a\": 1\}, got '\{\"a\":2\}'"):
        verify([JSON], scripted(b'{"a":1}', b'{"a":2}'))


def test_other_requests_are_handed_on_as_they_are() -> None:
    request = Request(name="hello", path="/", expect=Expectation(body="Hello"))
    assert verify([request], scripted(b"Hello")) == ([request], [])


SEVERAL = Request(name="hello", path="/", expect=Expectation(body_any_of=["Hello\n", "Hello!"]))


def test_of_several_right_bodies_the_one_that_came_is_the_rule_under_load() -> None:
    ((effective,), notes) = verify([SEVERAL], scripted(b"Hello!"))
    assert (effective.expect, notes) == (Expectation(body="Hello!"), [])


def test_a_body_that_is_none_of_several_right_ones_is_wrong() -> None:
    with pytest.raises(AnswerError, match=r"^GET /: expected the body 'Hello\\n' .* or the body 'Hello!' .* got 'Hi'"):
        verify([SEVERAL], scripted(b"Hi"))


def test_every_request_is_asked_and_the_first_wrong_one_is_named() -> None:
    requests = [Request(name=path, method="POST", path=path, expect=Expectation(body="y")) for path in ("/a", "/b")]
    with pytest.raises(AnswerError) as caught:
        verify(requests, scripted(b"y", b"z"))
    assert str(caught.value) == "POST /b: expected the body 'y' (1 byte), got 'z' (1 byte)"


def test_an_answer_that_does_not_come_is_a_wrong_answer() -> None:
    def refuse(request: Request) -> Answer:
        raise NoAnswer("there was none within 2 s")

    with pytest.raises(AnswerError, match=r"^GET /json: expected an answer, but there was none within 2 s$"):
        verify([JSON], refuse)


def test_a_pattern_is_checked_here_and_the_driver_gets_the_other_rules() -> None:
    request = Request(name="n", path="/n", expect=Expectation(body_matches="[0-9]+", content_type="text/plain"))
    [under_load], [note] = verify([request], lambda _: answer(b"17"))
    assert under_load.expect == Expectation(content_type="text/plain")
    assert note == (
        "GET /n: that its body matches '[0-9]+' is checked before and after the load; under load no driver can"
    )
    with pytest.raises(AnswerError, match=r"^GET /n: expected a body that matches '\[0-9\]\+', got 'x' "):
        verify([request], lambda _: answer(b"x"))
