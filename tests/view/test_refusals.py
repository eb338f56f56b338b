"""What the server refuses: other hosts, other methods, other paths; and that it leaves no trace whatever is asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.view.serving import Asked, Writer, made, rounds, serving, trace
from webdyno.model.errors import MachineError
from webdyno.store import FILE
from webdyno.view import Server, Shelf

SECRET = "a secret outside the folder"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two results, and beside them what must not be reached, by links either."""
    base = tmp_path_factory.mktemp("base")
    root = base / "results"
    made(root / "one-1", rounds("go"))
    made(root / "two-2", rounds("go", rate=12_000))
    made(base / "outside", rounds("secret"))
    (base / "secret.txt").write_text(SECRET)
    (root / "linked").symlink_to(base / "outside")
    (root / "linked-file").mkdir()
    (root / "linked-file" / FILE).symlink_to(base / "outside" / FILE)
    return root


@pytest.fixture(scope="module")
def asked(root: Path) -> Iterator[Asked]:
    with serving(root) as there:
        yield there
    assert there.complaints == []


OUTSIDE = [
    "/../secret.txt",
    "/results/../../secret.txt",
    "/results/%2e%2e/",
    "/results/%2E%2E/metrics",
    "/results/..%2foutside/",
    "/results/%2e%2e%2foutside/live",
    "/results/one-1%2f..%2f..%2foutside/",
    "/results/%252e%252e/",
    "/results//etc/passwd",
    "/results/%2fetc/",
    "/results/one-1/results.sqlite",
    "/results/one-1/logs",
    "/results/one-1/../../../secret.txt",
    "/results/linked/",
    "/results/linked-file/",
    "/results/one-1%00/",
    "/results/./",
    "/results//",
    "//127.0.0.1/results/one-1/../../secret.txt",
    "/results/one-1/live/x",
    "/view.css/../secret.txt",
    "/etc/passwd",
    "/favicon.ico",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_no_path_leads_outside_the_folder(path: str, asked: Asked) -> None:
    answer = asked.raw(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{asked.port}\r\nConnection: close\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert SECRET.encode() not in answer


def test_links_are_not_listed(asked: Asked) -> None:
    assert "linked" not in asked.get("/").text


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "[::1]:{port}", ""]
)
def test_other_hosts_are_refused(host: str, asked: Asked) -> None:
    named = host.format(port=asked.port)
    answer = asked.raw(f"GET / HTTP/1.1\r\nHost: {named}\r\nConnection: close\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert b"one-1" not in answer


@pytest.mark.parametrize("hosts", ["", "Host: 127.0.0.1:{port}\r\nHost: evil.example\r\n"])
def test_no_host_and_two_hosts_are_refused(hosts: str, asked: Asked) -> None:
    answer = asked.raw(f"GET / HTTP/1.1\r\n{hosts.format(port=asked.port)}Connection: close\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 403 ")


def test_localhost_is_as_good_a_name(asked: Asked) -> None:
    assert asked.get("/", Host=f"localhost:{asked.port}").status == 200
    assert asked.get("/", Host=f"LocalHost:{asked.port}").status == 200


def test_a_whole_url_as_path_is_no_page(asked: Asked) -> None:
    target = f"GET http://evil.example/ HTTP/1.1\r\nHost: 127.0.0.1:{asked.port}\r\nConnection: close\r\n\r\n"
    assert asked.raw(target.encode()).startswith(b"HTTP/1.1 404 ")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"])
def test_only_get_and_head_are_allowed(method: str, asked: Asked) -> None:
    reply = asked.get("/", method)
    assert (reply.status, reply.headers["Allow"]) == (405, "GET, HEAD")


def test_a_body_is_never_read_as_a_second_request(asked: Asked) -> None:
    inside = f"GET /results/one-1/ HTTP/1.1\r\nHost: 127.0.0.1:{asked.port}\r\n\r\n"
    head = f"GET /nothing HTTP/1.1\r\nHost: 127.0.0.1:{asked.port}\r\nContent-Length: {len(inside)}\r\n\r\n"
    assert asked.raw((head + inside).encode()).count(b"HTTP/1.1 ") == 1


def test_what_is_no_request_is_refused_without_an_echo(asked: Asked) -> None:
    for request in (b"<script>alert(1)</script>\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\r\n\r\n"):
        answer = asked.raw(request)
        assert b"script>" not in answer
        assert b" 200 " not in answer


def test_head_has_the_same_headers_and_no_body(asked: Asked) -> None:
    get, head = asked.get("/view.css"), asked.get("/view.css", "HEAD")
    assert head.text == ""
    assert {**head.headers, "Date": ""} == {**get.headers, "Date": ""}
    assert asked.get("/results/one-1/events", "HEAD").text == ""


@pytest.mark.parametrize("path", ["/", "/results/one-1/", "/results/one-1/live", "/live.js", "/nothing", "/metrics"])
def test_every_reply_says_what_a_browser_may_do_with_it(path: str, asked: Asked) -> None:
    headers = asked.get(path).headers
    policy = dict(part.strip().partition(" ")[::2] for part in headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert "unsafe-inline" not in policy.get("script-src", "")
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "Access-Control-Allow-Origin" not in headers


def test_it_listens_on_loopback_alone(asked: Asked) -> None:
    assert asked.server.server_address[0] == "127.0.0.1"


def test_a_port_that_is_taken_is_one_sentence(asked: Asked, root: Path) -> None:
    with pytest.raises(
        MachineError, match=f"--port {asked.port} is taken by another program: give another, or --port 0"
    ):
        Server(Shelf(root), asked.port, print)


PAGES = ["/", "/compare?base=one-1&head=two-2", "/metrics", "/nothing", "/view.css"]
PAGES += [f"/results/{name}/{what}" for name in ("one-1", "two-2") for what in ("", "live", "events", "metrics", "x")]


def test_whatever_is_asked_nothing_is_written(asked: Asked, root: Path) -> None:
    before = trace(root)
    for page in PAGES:
        asked.get(page)
        asked.get(page, "POST")
    assert trace(root) == before


def test_a_store_left_by_a_killed_run_is_read_whole_and_left_as_it_was(tmp_path: Path) -> None:
    with Writer(tmp_path / "killed-1") as writer:
        for at in range(3):
            writer.tell(f"append {at}")
        writer.tell("now 3")
        writer.kill()
    before = trace(tmp_path)
    assert {"killed-1/results.sqlite-wal", "killed-1/results.sqlite-shm", "killed-1/now.json"} <= set(before)
    with serving(tmp_path) as there:
        listed = there.get("/").text
        assert "3 of 4 runs" in listed
        assert "stopped" in listed
        assert "in progress" not in listed
        assert "The run is over" in there.get("/results/killed-1/live").text
        for page in ("/results/killed-1/", "/results/killed-1/metrics", "/metrics"):
            assert there.get(page).status == 200
    assert trace(tmp_path) == before


def test_a_log_without_its_index_is_read_and_left_as_it_was(tmp_path: Path) -> None:
    with Writer(tmp_path / "copied") as writer:
        writer.tell("append 0")
        writer.kill()
    (tmp_path / "copied" / f"{FILE}-shm").unlink()
    before = trace(tmp_path)
    with serving(tmp_path) as there:
        assert "1 of 4 runs" in there.get("/").text
        assert there.get("/results/copied/").status == 200
    assert trace(tmp_path) == before


def test_the_file_alone_out_of_a_running_folder_is_read_and_left_as_it_was(tmp_path: Path) -> None:
    with Writer(tmp_path / "run") as writer:
        writer.tell("append 0")
        (tmp_path / "alone" / "x").mkdir(parents=True)
        (tmp_path / "alone" / "x" / FILE).write_bytes((tmp_path / "run" / FILE).read_bytes())
    before = trace(tmp_path / "alone")
    with serving(tmp_path / "alone") as there:
        assert "1 of 4 runs" in there.get("/").text
    assert trace(tmp_path / "alone") == before
