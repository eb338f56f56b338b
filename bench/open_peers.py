"""Other people's load tools at an open pace: how each is asked for a constant rate, and the percentiles it prints.

Each is asked for 1000 requests per second over the same 50 connections, in its own way: a rate for the whole (wrk2,
vegeta, fortio) or one for each connection (hey, h2load). What it prints by itself is what its users believe. None of
them says when a request was due, so the truth is taken from the server's books alone: see ``bench.open_truth``.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from typing import NamedTuple

CONNECTIONS = 50
_UNITS = {"us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9}
_WRK2_CALIBRATES_S = 10
"""wrk2 throws away what it measured in its first ten seconds."""

Points = dict[str, int]
"""Nanoseconds by point; a tool leaves out what it does not print."""


class OpenPeer(NamedTuple):
    """One load tool that can hold a rate."""

    name: str
    argv: Callable[[str, int, int], list[str]]
    """From URL, rate per second and seconds."""
    said: Callable[[str], Points]
    before_s: int = 0
    """Seconds it loads before it begins to count."""


def installed() -> tuple[list[OpenPeer], list[str]]:
    """The peers that are here, and the names of those that are not."""
    here = [peer for peer in PEERS if shutil.which(peer.name)]
    return here, [peer.name for peer in PEERS if peer not in here]


def _wrk2(url: str, rate: int, seconds: int) -> list[str]:
    return ["wrk2", "-t", "1", "-c", str(CONNECTIONS), "-R", str(rate), "-d", f"{seconds}s", "--u_latency", "-L", url]


def _vegeta(url: str, rate: int, seconds: int) -> list[str]:
    attack = f"vegeta attack -rate {rate} -duration {seconds}s -timeout 60s -workers {CONNECTIONS}"
    return ["sh", "-c", f"echo GET {url} | {attack} | vegeta report -type json"]


def _fortio(url: str, rate: int, seconds: int) -> list[str]:
    load = ["-qps", str(rate), "-c", str(CONNECTIONS), "-t", f"{seconds}s", "-timeout", "60s"]
    return ["fortio", "load", "-quiet", *load, "-r", "0.00001", "-p", "50,90,99,99.9", "-json", "-", url]


def _hey(url: str, rate: int, seconds: int) -> list[str]:
    return ["hey", "-c", str(CONNECTIONS), "-q", f"{rate / CONNECTIONS:g}", "-z", f"{seconds}s", "-t", "60", url]


def _h2load(url: str, rate: int, seconds: int) -> list[str]:
    load = ["-c", str(CONNECTIONS), f"--rps={rate / CONNECTIONS:g}", "-D", str(seconds)]
    return ["h2load", "--h1", *load, url]


def said_by_wrk2(text: str) -> Points:
    """The spectrum that ``-L`` prints; of its two, the first counts from when a request was due."""
    spectrum = text.partition("Latency Distribution (HdrHistogram")[2].partition("Detailed")[0]
    names = {"50.000": "p50", "90.000": "p90", "99.000": "p99", "99.900": "p99.9", "100.000": "max"}
    found = re.findall(r"^\s*([\d.]+)%\s+([\d.]+)(us|ms|s|m)\s*$", spectrum, re.M)
    return {names[at]: round(float(value) * _UNITS[unit]) for at, value, unit in found if at in names}


def said_by_vegeta(text: str) -> Points:
    """Its JSON report is in nanoseconds, and has no p99.9."""
    latencies = json.loads(text)["latencies"]
    names = {"50th": "p50", "90th": "p90", "99th": "p99", "max": "max"}
    return {point: int(latencies[key]) for key, point in names.items() if key in latencies}


def said_by_fortio(text: str) -> Points:
    """Its JSON report is in seconds."""
    report, _ = json.JSONDecoder().raw_decode(text, text.index("{"))
    histogram = report["DurationHistogram"]
    points = {f"p{each['Percentile']:g}": round(each["Value"] * 1e9) for each in histogram["Percentiles"]}
    return points | {"max": round(histogram["Max"] * 1e9)}


def said_by_hey(text: str) -> Points:
    """Four decimals of a second; no p99.9."""
    found = re.findall(r"^\s*(50|90|99)% in ([\d.]+) secs", text, re.M)
    slowest = re.search(r"Slowest:\s+([\d.]+) secs", text)
    points = {f"p{at}": round(float(value) * 1e9) for at, value in found}
    return points | ({"max": round(float(slowest[1]) * 1e9)} if slowest else {})


def said_by_h2load(text: str) -> Points:
    """Minimum, maximum, mean; newer versions print some percentiles, this reads what all have."""
    found = re.search(r"time for request:\s+\S+\s+([\d.]+)(us|ms|s|m)", text)
    return {"max": round(float(found[1]) * _UNITS[found[2]])} if found else {}


PEERS: tuple[OpenPeer, ...] = (
    OpenPeer("wrk2", _wrk2, said_by_wrk2, before_s=_WRK2_CALIBRATES_S),
    OpenPeer("vegeta", _vegeta, said_by_vegeta),
    OpenPeer("fortio", _fortio, said_by_fortio),
    OpenPeer("hey", _hey, said_by_hey),
    OpenPeer("h2load", _h2load, said_by_h2load),
)
