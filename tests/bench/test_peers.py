"""What other tools say they counted, from texts in the form they really print."""

from __future__ import annotations

from bench.peers import (
    PEERS,
    Ask,
    Said,
    said_by_ab,
    said_by_bombardier,
    said_by_h2load,
    said_by_hey,
    said_by_wrk,
)

WRK = """Running 2s test @ http://127.0.0.1:8080/
  1 threads and 16 connections
  8653 requests in 2.00s, 1.07MB read
  Socket errors: connect 0, read 8637, write 0, timeout 2
  Non-2xx or 3xx responses: 3
Requests/sec:   4320.12
"""
AB = """Complete requests:      2000
Failed requests:        12
   (Connect: 0, Receive: 4, Length: 4, Exceptions: 4)
Non-2xx responses:      7
"""
HEY = """
Summary:
  Total:\t0.1 secs

Status code distribution:
  [200]\t1980 responses
  [500]\t3 responses

Error distribution:
  [17]\tGet "http://127.0.0.1:1/": unexpected EOF
"""
H2LOAD = """requests: 2000 total, 2000 started, 2000 done, 1990 succeeded, 10 failed, 4 errored, 1 timeout
status codes: 1990 2xx, 0 3xx, 0 4xx, 5 5xx
"""
BOMBARDIER = """  HTTP codes:
    1xx - 0, 2xx - 1990, 3xx - 0, 4xx - 0, 5xx - 4
    others - 6
"""


def test_wrk_counts_bad_statuses_among_its_requests() -> None:
    assert said_by_wrk(WRK) == Said(8650, {"status": 3, "read": 8637, "timeout": 2})


def test_ab_counts_failures_among_the_complete_and_statuses_beside_the_failures() -> None:
    assert said_by_ab(AB) == Said(1981, {"failed": 12, "non-2xx": 7})


def test_hey_and_oha_list_statuses_and_errors() -> None:
    assert said_by_hey(HEY) == Said(1980, {"status": 3, "errors": 17})


def test_h2load_counts_errors_and_timeouts_among_the_failed() -> None:
    assert said_by_h2load(H2LOAD) == Said(1990, {"failed": 5, "errored": 4, "timeout": 1})


def test_bombardier_has_one_line_of_codes() -> None:
    assert said_by_bombardier(BOMBARDIER) == Said(1990, {"status": 4, "others": 6})


def test_a_tool_that_broke_off_has_said_nothing() -> None:
    assert [peer.said("Segmentation fault") for peer in PEERS] == [None] * len(PEERS)


def test_every_tool_is_asked_for_the_same_load() -> None:
    ask = Ask("http://127.0.0.1:1/", 16, seconds=2, timeout_s=5)
    for peer in PEERS:
        argv = peer.closed(ask)
        assert argv[0] == peer.name
        assert argv[-1] == ask.url
        assert argv[argv.index("-c") + 1] == "16"


def test_a_tool_that_can_close_is_told_so() -> None:
    for peer in PEERS:
        keep, close = peer.closed(Ask("u", 1, seconds=1)), peer.closed(Ask("u", 1, seconds=1, close=True))
        assert (keep != close) == peer.can_close
