"""``webdyno load``: put a load on a URL that already answers. What wrk, ab and oha do, by webdyno's own engine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from cyclopts import Parameter

from webdyno.commands.loaded import Loaded, carry_out, print_summary, printer
from webdyno.commands.options import JsonOption, flag, say_json
from webdyno.commands.slo import missed, objectives
from webdyno.commands.studying import seconds
from webdyno.load.driver import Order
from webdyno.model.errors import UsageError
from webdyno.model.load import Load
from webdyno.model.workload import Expectation, Request


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Asking:
    """The flags that say what is asked and how: a Request and a Load."""

    connections: Annotated[int, flag("--connections", "-c", help="Looping clients.")] = 64
    duration: Annotated[str | None, flag("--duration", "-d", help="How long; 10s when not given.")] = None
    requests: Annotated[int | None, flag("--requests", "-n", help="How many, instead of how long.")] = None
    warmup: Annotated[str | None, flag("--warmup", help="Load before it counts: 1s. None by default.")] = None
    rate: Annotated[float | None, flag("--rate", "-r", help="Requests per second, come what may: an open load.")] = None
    poisson: Annotated[bool, flag("--poisson", help="With --rate: arrivals at random, not even.")] = False
    seed: Annotated[int | None, flag("--seed", help="With --poisson: repeats the same arrivals.")] = None
    max_connections: Annotated[
        int | None, flag("--max-connections", help="With --rate: how far -c may grow; 10 times.")
    ] = None
    method: Annotated[str | None, flag("--method", "-m", help="GET, or POST when there is a body.")] = None
    header: Annotated[list[str] | None, flag("--header", "-H", help="A header, 'Name: value' (repeatable).")] = None
    body: Annotated[str | None, flag("--body", "-b", help="Body of the request; @FILE reads it from a file.")] = None
    close: Annotated[bool, flag("--close", help="A new connection for every request.")] = False
    http10: Annotated[bool, flag("--http10", help="Speak HTTP/1.0.")] = False
    timeout: Annotated[str, flag("--timeout", help="Longest wait for one answer.")] = "5s"

    def load(self) -> Load:
        """How it is asked; UsageError when the flags contradict each other."""
        _at_least_one("--connections", self.connections)
        if self.requests is not None:
            _at_least_one("--requests", self.requests)
            if self.duration is not None:
                raise UsageError("--requests and --duration exclude each other: give how many or how long")
        return Load(
            connections=self.connections,
            **_open(self.rate, self.poisson, self.seed, self.max_connections, self.connections),
            duration_s=None if self.requests else seconds(self.duration or "10s", "--duration"),
            count=self.requests,
            warmup_s=seconds(self.warmup, "--warmup") if self.warmup else 0.0,
            timeout_s=seconds(self.timeout, "--timeout"),
            keep_alive=not self.close,
            http="1.0" if self.http10 else "1.1",
        )

    def request(self, path: str) -> Request:
        """What is asked."""
        text = _body(self.body)
        return Request(
            name="load",
            method=(self.method or ("POST" if text is not None else "GET")).upper(),
            path=path,
            headers=[_header(line) for line in self.header or []],
            body=text,
            expect=Expectation(statuses=list(range(200, 400))),
        )


def load(
    url: Annotated[str, Parameter(help="Where to: http://host[:port]/path")],
    /,
    *,
    asking: Asking = Asking(),
    threads: Annotated[int, flag("--threads", "-t", help="Threads of the engine.")] = 1,
    slo: Annotated[
        str | None, flag("--slo", help="Exit code 1 when missed: 'p99<50ms, errors<0.1%, rate>5000'.")
    ] = None,
    json: JsonOption = False,
) -> int:
    """Load a URL and say how it answered: by looping clients (closed), or at a rate of its own (--rate: open).

    At a rate, latency counts from the moment a request was due, so a server that stalls cannot hide it. Answers with
    status 200-399 count as right. Exit code 1 when not one request was answered rightly.

    Example: `webdyno load http://127.0.0.1:8000/ -c 64 -d 10s` or `webdyno load http://127.0.0.1:8000/ -r 5000`
    """
    host, port, path = _target(url)
    _at_least_one("--threads", threads)
    asked, wanted = asking.load(), objectives(slo or "")
    order = Order(host=host, port=port, requests=[asking.request(path)], load=asked, cores=(), threads=threads)
    loaded = carry_out(order, (lambda _: None) if json else printer())
    failed = missed(wanted, loaded.summary)
    _say(url, loaded, failed, json)
    return 0 if loaded.ok and not failed else 1


def _open(rate: float | None, poisson: bool, seed: int | None, most: int | None, connections: int) -> dict[str, Any]:
    """What makes a Load open; nothing without a rate."""
    if rate is None:
        if poisson or seed is not None or most is not None:
            raise UsageError("--poisson, --seed and --max-connections go with --rate: without it the load is closed")
        return {}
    if not 0 < rate <= 1e7:
        raise UsageError(f"--rate {rate:g}: give requests per second, above 0 and up to 10,000,000")
    if seed is not None and not poisson:
        raise UsageError("--seed goes with --poisson: even arrivals need none")
    if most is not None and most < connections:
        raise UsageError(f"--max-connections {most}: give at least --connections, which is {connections}")
    arrivals = {"poisson": True, "seed": 1 if seed is None else seed} if poisson else {}
    return {"rate_per_s": rate, "max_connections": 10 * connections if most is None else most, **arrivals}


def _say(url: str, loaded: Loaded, failed: list[str], json: bool) -> None:
    if json:
        say_json({"url": url, **loaded.as_data(), "slo_missed": failed})
        return
    print_summary(url, loaded)
    for sentence in failed:
        print(f"  slo        {sentence}")


def _target(url: str) -> tuple[str, int, str]:
    parts = urlsplit(url if "//" in url else f"http://{url}")
    if parts.scheme == "https":
        raise UsageError(f"{url}: TLS is not spoken yet; load the server behind it over http://")
    if parts.scheme != "http" or not parts.hostname:
        raise UsageError(f"{url}: give a URL such as http://127.0.0.1:8000/path")
    try:
        port = parts.port or 80
    except ValueError:
        raise UsageError(f"{url}: its port is not a number from 1 to 65535") from None
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return parts.hostname, port, path


def _at_least_one(flag: str, value: int) -> None:
    if value < 1:
        raise UsageError(f"{flag} {value}: give a whole number of at least 1")


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not name.strip():
        raise UsageError(f"--header {line!r}: write it as 'Name: value'")
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
