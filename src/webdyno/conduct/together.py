"""Together: several engines carry out one load, each on a Host of its own or all on one, and their events become one's.

Before the load each host's clock is compared with ours; then every engine is started, and told an instant, by its own
clock, at which all begin. While they load each hears every half second that we are there. An engine that does not
hear it ends its load by itself, so none of them goes on where we are gone, stopped, or cut off.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import msgspec

from webdyno.conduct.hearing import STOP_S, TICK_S
from webdyno.load.clocks import Exchange, offset
from webdyno.load.driver import DriverCommand, Event, Fault, Order, Summary
from webdyno.load.engine import Engine, program
from webdyno.load.merging import Merging, merged_summary
from webdyno.load.several import ALIVE_S, WATCH_NS, orders, shared_command
from webdyno.model.errors import LostError, MachineError
from webdyno.model.sample import Slice
from webdyno.model.share import Offset, Share
from webdyno.rig.far import FarHost
from webdyno.rig.group import Group
from webdyno.rig.host import PIPE, Command, Host, Role

LEAD_NS = 300_000_000
"""From telling the last engine to the agreed instant: they have read their order and made all ready by then."""
EXCHANGES = 16
GONE = f"an engine got no signal from webdyno for {WATCH_NS / 1e9:g} s and ended its load"
"""Where one of them ended ``abandoned``: we were stopped, or cut off from it."""


@dataclass(frozen=True, kw_only=True)
class Post:
    """Where one of the drivers works."""

    name: str
    host: Host
    role: Role = "driver"
    cwd: Path
    stderr: Path

    def part(self, order: Order) -> Order:
        """``order``, on the cores that this host has for it."""
        return msgspec.structs.replace(order, cores=self.host.cores) if isinstance(self.host, FarHost) else order


def posts_on(hosts: Sequence[Host], cwd: Path, stderr: Path, role: Role = "driver") -> list[Post]:
    """One on each of ``hosts``, which may be the same one many times."""
    return [
        Post(name=f"driver {number}", host=host, role=role, cwd=cwd, stderr=stderr)
        for number, host in enumerate(hosts, start=1)
    ]


@dataclass(frozen=True, kw_only=True)
class _Seat:
    """One of them at work."""

    post: Post
    order: Order
    clock: Group
    engine: Group
    before: Offset


def together(order: Order, posts: Sequence[Post], must_stop: Callable[[], bool]) -> Generator[Event, None, None]:
    """The load's events, by our clock, as they come; the last is a Summary with ``drivers``, or a Fault.

    As many posts as the load has drivers. ``must_stop`` is asked some ten times a second. Whatever happens, no engine
    is left when this ends. ValueError where the load cannot be shared out so far, MachineError, StartError.
    """
    with contextlib.ExitStack() as ending:
        seats = [_seated(post, post.part(part), ending) for post, part in zip(posts, orders(order), strict=True)]
        begin_ns = time.monotonic_ns() + LEAD_NS
        said: queue.Queue[tuple[int, Event | None]] = queue.Queue()
        for index, seat in enumerate(seats):
            command = shared_command(seat.order, index, len(seats), begin_ns + seat.before.ns)
            _write(seat.engine, command.stdin or b"")
            threading.Thread(target=_follow, args=(index, command, seat.engine, said), daemon=True).start()
        over = threading.Event()
        ending.callback(over.set)
        threading.Thread(target=_stay_alive, args=(seats, over), name="webdyno-alive", daemon=True).start()
        yield from _merged(seats, said, must_stop)


def _seated(post: Post, order: Order, ending: contextlib.ExitStack) -> _Seat:
    """Its clock compared, its engine started and waiting for an order; both end with ``ending``."""

    def start(argv: list[str]) -> Group:
        command = Command(
            argv=argv,
            cwd=post.cwd,
            environment={"LC_ALL": "C"},
            role=post.role,
            stdin=PIPE,
            stdout=PIPE,
            stderr=post.stderr,
        )
        group = post.host.start(command)
        ending.callback(group.end, 2.0)
        return group

    clock = start([program(), "--clock"])
    before = compared(clock)
    if before is None and clock.lost:
        raise LostError(clock.lost)
    if before is None:
        raise MachineError(f"{post.name} does not report its clock: its engine has a different version")
    return _Seat(post=post, order=order, clock=clock, engine=start([program()]), before=before)


def compared(clock: Group) -> Offset | None:
    """How the clock stands that ``engine --clock`` tells; None: it tells nothing."""
    exchanges = []
    for _ in range(EXCHANGES):
        asked_ns = time.monotonic_ns()
        _write(clock, b"\n")
        told = b"" if clock.stdout is None else clock.stdout.readline().strip()
        if not told.isdigit():
            return None
        exchanges.append(Exchange(asked_ns, int(told), time.monotonic_ns()))
    return offset(exchanges)


def _write(group: Group, line: bytes) -> None:
    """What has ended takes nothing any more; what it said before will tell why."""
    if group.stdin is None:
        raise MachineError("the driver was started without a pipe to write to")
    with contextlib.suppress(BrokenPipeError, ValueError):
        group.stdin.write(line)
        group.stdin.flush()


def _stay_alive(seats: Sequence[_Seat], over: threading.Event) -> None:
    """Until the load is over, each engine hears that we are there."""
    while not over.wait(ALIVE_S):
        for seat in seats:
            _write(seat.engine, b"\n")


def _follow(index: int, command: DriverCommand, engine: Group, said: queue.Queue[tuple[int, Event | None]]) -> None:
    """Everything that one of them says, and None when it will say no more."""
    try:
        for event in Engine().read(command, _lines(engine.stdout)):
            said.put((index, event))
    finally:
        said.put((index, None))


def _lines(stream: IO[bytes] | None) -> Iterator[str]:
    with contextlib.suppress(ValueError):  # closed: it was no longer waited for
        for line in stream or ():
            yield line.decode("utf-8", "replace")


def _merged(
    seats: Sequence[_Seat], said: queue.Queue[tuple[int, Event | None]], must_stop: Callable[[], bool]
) -> Iterator[Event]:
    merging = Merging([seat.before.ns for seat in seats])
    steady: dict[int, list[Slice]] = {}
    whole: list[Slice] = []
    for index, event in _heard(seats, said, must_stop):
        match event:
            case Fault(message=message, exit=code):
                seat = seats[index]
                yield Fault(f"{seat.post.name} of {len(seats)}: {seat.engine.lost or message}", code)
                return
            case Slice(phase="steady"):
                steady.setdefault(index, []).append(event)
        for merged in merging.tell(index, event):
            if isinstance(merged, Slice) and merged.phase == "steady":
                whole.append(merged)
            yield merged
    if len(merging.summaries) < len(seats):
        missing = next(seat.post.name for index, seat in enumerate(seats) if index not in merging.summaries)
        yield Fault(f"{missing} of {len(seats)} ended without a summary")
        return
    parts = [merging.summaries[index] for index in range(len(seats))]
    shares = [
        _share(seat, part, steady.get(index, [])) for index, (seat, part) in enumerate(zip(seats, parts, strict=True))
    ]
    yield Summary(merged_summary(parts, whole) | {"drivers": msgspec.to_builtins(shares)})


def _heard(
    seats: Sequence[_Seat], said: queue.Queue[tuple[int, Event | None]], must_stop: Callable[[], bool]
) -> Iterator[tuple[int, Event]]:
    """What they say, until the last has ended. Where one fails or must stop, all are asked to end."""
    left, give_up = len(seats), float("inf")
    while left and time.monotonic() < give_up:
        if give_up == float("inf") and must_stop():
            give_up = time.monotonic() + STOP_S
            for seat in seats:
                seat.engine.terminate()
        try:
            index, event = said.get(timeout=TICK_S)
        except queue.Empty:
            continue
        if event is None:
            left -= 1
        else:
            yield index, event


def _share(seat: _Seat, told: dict[str, object], steady: Sequence[Slice]) -> Share:
    """What one of them was given and gave."""
    kept = msgspec.convert(told, _Told)
    idle, delay = ([getattr(slice_, name) for slice_ in steady] for name in ("idle_ns", "run_delay_ns"))
    far = seat.post.host if isinstance(seat.post.host, FarHost) else None
    return Share(
        name=seat.post.name,
        host=far.name if far else "",
        processor=far.processor if far else "",
        connections=seat.order.load.connections,
        offered=kept.offered,
        ok=kept.ok,
        start_late_ns=kept.start_late_ns,
        before=seat.before,
        after=compared(seat.clock),
        threads=len(kept.threads),
        span_ns=sum(slice_.duration_ns for slice_ in steady),
        idle_ns=None if None in idle else sum(idle),
        run_delay_ns=None if None in delay else sum(delay),
        ended=kept.ended,
    )


class _Told(msgspec.Struct):
    """What of a last word goes into a Share."""

    offered: int
    ok: int
    ended: str
    start_late_ns: int | None = None
    threads: list[dict[str, object]] = []
