"""Readers of what is typed, and of what another program prints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.reading.registry import Reader, text
from webdyno.build import ruby, runtimes
from webdyno.commands.loading import expecting, pacing
from webdyno.commands.loading.speaking import Speaking, _address
from webdyno.commands.loading.targets import header_of
from webdyno.commands.options import numbers
from webdyno.commands.slo import objectives
from webdyno.commands.units import seconds, share, size_mb
from webdyno.service.mongo import Mongo
from webdyno.service.redis import Redis
from webdyno.session.odd_answers import _read
from webdyno.session.revisions import _words
from webdyno.session.target import one_server
from webdyno.session.tryout import profile
from webdyno.session.tryout.command import read_line
from webdyno.session.tryout.envfile import read_variables
from webdyno.session.tryout.schema import routes_of


def typed(read: Callable[[str], object]) -> Callable[[bytes, Path], object]:
    return lambda data, _: read(data.replace(b"\0", b"").decode("utf-8", "surrogateescape"))


TYPED = [
    Reader(
        "a URL",
        "session/target.py",
        typed(lambda it: one_server((it,))),
        [b"3=https://[::1]:80/a?b=c", b"localhost:80"],
    ),
    Reader("a length of time", "commands/units.py", typed(lambda it: seconds(it, "--duration")), [b"500ms", b"1.5h"]),
    Reader("a size", "commands/units.py", typed(lambda it: size_mb(it, "--memory")), [b"512M", b"2G", b"none"]),
    Reader("connections", "commands/options.py", typed(lambda it: numbers([it], "-c")), [b"8,64", b"256"]),
    Reader("a share", "commands/units.py", typed(lambda it: share(it, "--precision", 0.001, 0.5)), [b"5%", b"5"]),
    Reader("objectives", "commands/slo.py", typed(objectives), [b"p99<50ms, errors<0.1%, rate>5000"]),
    Reader(
        "stages",
        "commands/loading/pacing.py",
        typed(lambda it: pacing._stages(it, None)),
        [b"10s:100, 30s:100-1000", b"5s:1-10 connections"],
    ),
    Reader("bursts", "commands/loading/pacing.py", typed(pacing._burst), [b"100/50ms"]),
    Reader("processors", "commands/loading/speaking.py", typed(lambda it: Speaking(cpus=it).cores()), [b"0-1", b"0"]),
    Reader("an address", "commands/loading/speaking.py", typed(_address), [b"127.0.0.1", b"[::1]"]),
    Reader("a header", "commands/loading/targets.py", typed(header_of), [b"Accept: */*"]),
    Reader(
        "a rule of answers",
        "commands/loading/expecting.py",
        typed(lambda it: expecting.expectation([it], "GET")),
        [b"status in 200,204", b"status in 200-299", b'body=="a\\n"', b"length==5"],
    ),
    Reader(
        "a command line",
        "session/tryout/command.py",
        typed(lambda it: read_line(it, "--cmd")),
        [b"A=1 node 'x y' --port {port}"],
    ),
    Reader("a command of revisions", "session/revisions.py", typed(_words), [b"./run --port {port}"]),
    Reader("a variable", "session/tryout/envfile.py", typed(lambda it: read_variables([it])), [b"A=1"]),
    Reader("a URL of Redis", "service/redis.py", typed(Redis), [b"redis://u:p@localhost:6379/0"], (ValueError,)),
    Reader("a URL of MongoDB", "service/mongo.py", typed(Mongo), [b"mongodb://localhost:27017/"], (ValueError,)),
]

PRINTED = [
    Reader(
        "a head as the engine shows it",
        "session/odd_answers.py",
        lambda data, _: _read(text(data)),
        [b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n"],
    ),
    Reader(
        "an OpenAPI schema",
        "session/tryout/schema.py",
        lambda data, _: routes_of(data),
        [
            b'{"basePath":"/v1","paths":{"/a":{"get":{"parameters":[{"$ref":"#/p/x"}]}},"/b":{"get":{}}},"p":{"x":{"required":false}}}'
        ],
    ),
    Reader(
        "py-spy's samples",
        "session/tryout/profile.py",
        lambda data, _: (profile.functions(text(data)), profile.gil_share(text(data), 10)),
        [b'process 1:"x";thread (0x1);f (a/b.py:3);g (c.py:1) 5\nf (a.py:2) 7\n'],
    ),
    Reader("a version", "build/runtimes.py", lambda data, _: runtimes._numbers(text(data)), [b"h2o version 2.2.5\n"]),
    Reader("a version of a gem", "build/ruby.py", lambda data, _: ruby._numbers(text(data)), [b"2.0.pre1"]),
]
