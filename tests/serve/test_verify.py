"""Right and wrong answers, and the sentences about the wrong ones."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import pytest

from webdyno.model.errors import AnswerError
from webdyno.model.workload import Expectation, Request
from webdyno.serve.ask import Answer, NoAnswer
from webdyno.serve.verify import verify, wrong


def answer(body: bytes = b"Hello", status: int = 200, content_type: str | None = "text/plain") -> Answer:
    return Answer(status, content_type, body)


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
    (answer(b"Hello!"), Expectation(body_length=5), "expected a body of 5 bytes, got 'Hello!' (6 bytes)"),
    (answer(b"x"), Expectation(body_sha256=SHA), "expected a body with SHA-256 185f8db32271..., got 'x' (1 byte)"),
    (answer(b"x"), Expectation(body_contains="</html>"), "expected a body that contains '</html>', got 'x' (1 byte)"),
    (answer(b"<p>"), Expectation(json_equals="1"), "expected JSON equal to 1, got '<p>' (3 bytes)"),
    (answer(b"1"), Expectation(json_equals="true"), "expected JSON equal to true, got '1' (1 byte)"),
    (answer(b"[1]"), Expectation(json_equals="[1, 2]"), "expected JSON equal to [1, 2], got '[1]' (3 bytes)"),
    (answer(b"[0]"), Expectation(json_equals="[false]"), "expected JSON equal to [false], got '[0]' (3 bytes)"),
    (answer(b"1\n"), Expectation(body_matches="[0-9]"), r"expected a body that matches '[0-9]', got '1\n' (2 bytes)"),
    (answer(b"\xff"), Expectation(body_matches=".*"), "expected a body that matches '.*', got '\ufffd' (1 byte)"),
    (answer(), Expectation(content_type="text/html"), "expected content type text/html, got text/plain"),
    (answer(content_type=None), Expectation(content_type="text/html"), "expected content type text/html, got none"),
    (answer(b"x" * 999), Expectation(body="y"), f"expected the body 'y' (1 byte), got '{'x' * 60}...' (999 bytes)"),
    (answer(b"\xff\x00"), Expectation(body="y"), "expected the body 'y' (1 byte), got '\ufffd\\x00' (2 bytes)"),
]  # fmt: skip


@pytest.mark.parametrize(("came", "rule", "sentence"), WRONG)
def test_wrong_answers_are_told(came: Answer, rule: Expectation, sentence: str) -> None:
    assert wrong(came, rule) == sentence


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
