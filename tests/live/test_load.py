"""``webdyno load`` and calibration, through the real engine, against the server that answers at once."""

from __future__ import annotations

import contextlib
import csv
import http.server
import io
import itertools
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live import forking
from tests.live.conftest import Call
from webdyno.histogram import merge
from webdyno.session.ceilings import CONNECTIONS, PROGRAM

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    program = Path(sys.executable).with_name(PROGRAM)
    assert program.is_file(), "make setup installs it beside the engine"
    with subprocess.Popen([program, "--seconds", "100", "--threads", "2"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}"
        server.kill()


@pytest.fixture
def load(environment: dict[str, str], tmp_path: Path, streams: Path) -> Call:
    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        return forking.call(arguments, cwd=tmp_path, environment=environment, streams=streams, timeout_s=60)

    return call


def test_every_request_is_answered_and_counted_by_route(load: Call, url: str, tmp_path: Path) -> None:
    done = load("load", f"3={url}/", f"{url}/b", "-c", "4", "-n", "400", "--json", "--hdr", "x.hlog")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["summary"]["ok"] == 400
    assert [(route["name"], route["ok"]) for route in said["routes"]] == [("GET /", 300), ("GET /b", 100)]
    assert "route-2 is GET /b" in (tmp_path / "x.hlog").read_text()


def test_a_full_disk_does_not_cost_the_answer(load: Call, url: str) -> None:
    done = load("load", url, "-c", "2", "-n", "10", "--json", "--hdr", "/dev/full")
    assert done.returncode == 3
    assert json.loads(done.stdout)["summary"]["ok"] == 10
    assert "--hdr /dev/full cannot be written (No space left on device)" in done.stderr


def test_an_open_load_in_stages_offers_what_was_due(load: Call, url: str) -> None:
    done = load("load", url, "--stages", "200ms:100, 300ms:100-300", "--drain", "2s", "--csv")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert sum(int(row["offered"]) for row in rows) == 20 + 60
    assert all(row["lag_p99_ns"] for row in rows)


def test_a_broken_expectation_is_an_error_and_exit_code_one(load: Call, url: str) -> None:
    done = load("load", url, "-n", "10", "-c", "2", "--expect", "length==3")
    assert done.returncode == 1
    assert "wrong-body 10" in done.stdout
    assert "answered 200 with 15 bytes, expected 3 bytes" in done.stdout


def test_calibration_finds_a_ceiling_and_keeps_it(load: Call, cache: Path) -> None:
    done = load("doctor", "--calibrate", "--json")
    assert done.returncode == 0, done.stderr
    ceilings = json.loads(done.stdout)["fingerprint"]["ceilings"]
    assert [ceiling["connections"] for ceiling in ceilings] == list(CONNECTIONS)
    assert all(ceiling["rate"]["low"] < ceiling["rate"]["value"] < ceiling["rate"]["high"] for ceiling in ceilings)
    assert (cache / "calibration.json").is_file()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_told_to_end_it_says_what_was_measured(environment: dict[str, str], url: str, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "webdyno", "load", url, "-d", "60s", "--json"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as done:
        asked = Path(f"/proc/{done.pid}/task/{done.pid}/children")
        while not asked.read_text():  # the engine is there
            time.sleep(0.05)
        time.sleep(1)
        done.send_signal(number)
        out, _ = done.communicate(timeout=30)
    assert done.returncode == 130
    said = json.loads(out)
    assert said["summary"]["ended"] == "interrupted"
    assert said["summary"]["ok"] > 0
    assert "interrupted: it was stopped before its end" in said["doubts"]


def test_a_server_that_hangs_misses_its_objective_however_fast_it_was_before(load: Call) -> None:
    with hanging(after=50) as port:
        done = load(
            "load", f"http://127.0.0.1:{port}/", "-c", "2", "-d", "2500ms", "--json", "--slo", "p50<2s, errors<50%"
        )
    assert done.returncode == 1, done.stderr
    said = json.loads(done.stdout)
    assert said["summary"]["ok"] == 50
    assert merge([said["summary"]["unfinished_hdr"]]).count == 2
    (missed,) = (sentence for sentence in said["slo_missed"] if sentence.startswith("missed, "))
    assert missed.endswith("while 2 requests waited")
    assert any(doubt.startswith("hung: no request was answered in the last ") for doubt in said["doubts"])


@contextlib.contextmanager
def hanging(after: int) -> Iterator[int]:
    """The port of a server that answers so many requests and then reads on in silence."""
    left = itertools.count(after, -1)

    class Hanging(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if next(left) > 0:
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
            else:
                self.rfile.read(1)
                self.close_connection = True

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hanging) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_a_port_where_nobody_listens_ends_the_load_at_once(load: Call) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    done = load("load", f"http://127.0.0.1:{port}/", "-c", "8", "-d", "60s")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.rstrip().endswith("nothing listens there: start the server first")
    said = json.loads(load("load", f"http://127.0.0.1:{port}/", "-r", "50", "-d", "60s", "--json").stdout)
    assert said["summary"]["ended"] == "unreachable"
    assert said["summary"]["duration_ns"] < 4e9, "the connect timeout is 5 s"
