"""Connections: each is a task of the event loop, which costs some kilobytes and no thread, however slow its client is.

There are limits on the time for a request, the time to take each part of a reply, the size of a request's head, and the
number of connections and streams. A client beyond them gets 503 and the time after which to try again.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from webdyno.view.server.exchange import Exchange, plain
from webdyno.view.server.making import Making
from webdyno.view.shell import Reply

MOST_STREAMS = 16
"""Pages that are kept up to date at once; each asks the stores once a second."""
MOST_OPEN, SPARE = 1000, 64
"""Connections that are answered, and those beyond that are told that there is no room; others are closed at once."""
IDLE_S = 30.0
"""How long a connection may stay without a request, or without taking the next part of what is sent."""
HEAD_S = 10.0
"""How long a request may take from its first byte on."""
LEAVE_S = 1.0
"""How long one that was refused may take to see why."""
MOST_HEAD_BYTES = 16 << 10
PART_BYTES = 64 << 10
"""What is handed to a connection at a time; no more of a reply is ever copied."""


class Limits(NamedTuple):
    """What differs in tests."""

    most_open: int = MOST_OPEN
    idle_s: float = IDLE_S
    head_s: float = HEAD_S


class HeadError(Exception):
    """A request that is too long, or too long in coming; its status and a sentence."""


class Connections:
    """Those that are open. ``hosts`` are answered; ``complain`` is given a sentence about what should not happen."""

    def __init__(
        self,
        making: Making,
        hosts: Collection[str],
        url: str,
        complain: Callable[[str], None],
        poll_s: float,
        limits: Limits,
    ) -> None:
        self._making, self._hosts, self._url = making, hosts, url
        self._complain, self._poll_s, self._limits = complain, poll_s, limits
        self._most_open = min(limits.most_open, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)
        self._tasks: set[asyncio.Task[None]] = set()
        self._streams = 0

    def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Begin with one connection."""
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, to its end."""
        try:
            await self._admit(reader, writer)
            async with asyncio.timeout(self._limits.idle_s):
                writer.close()
                await writer.wait_closed()
        except asyncio.CancelledError:  # the server ends, and so do its streams, cleanly
            writer.close()
        except (ConnectionError, TimeoutError):  # they hang up, or take nothing more, and that is no error
            writer.transport.abort()
        except Exception as error:
            writer.transport.abort()
            self._complain(f"a connection was ended ({type(error).__name__}: {error})")

    async def end(self) -> None:
        """All of them, now."""
        for task in (tasks := list(self._tasks)):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.set_write_buffer_limits(high=PART_BYTES)
        if len(self._tasks) > self._most_open + SPARE:
            return
        if len(self._tasks) > self._most_open:
            await self._turn_away(reader, writer, plain(503, f"{self._most_open} connections are open: come again."))
            return
        while True:
            try:
                head = await self._head(reader)
            except HeadError as error:
                await self._turn_away(reader, writer, plain(*error.args))
                return
            exchange = Exchange(head, self._hosts, self._url)
            if not (exchange.is_read or exchange.refused):
                return
            await self._answer(exchange, reader, writer)
            if exchange.close_connection:
                return

    async def _head(self, reader: asyncio.StreamReader) -> bytes:
        """Bytes up to the first empty line; nothing when the client has no more. HeadError, TimeoutError."""
        async with asyncio.timeout(self._limits.idle_s):
            head = await reader.read(1)
        try:
            async with asyncio.timeout(self._limits.head_s):
                while head and not head.endswith((b"\n\n", b"\n\r\n")) and head not in (b"\n", b"\r\n"):
                    line = await reader.readline()
                    head += line
                    if not line or len(head) > MOST_HEAD_BYTES:
                        break
        except TimeoutError:
            raise HeadError(408, f"A request must be complete within {self._limits.head_s:g} s.") from None
        except ValueError:  # a line longer than all may be
            head = b" " * (MOST_HEAD_BYTES + 1)
        if len(head) > MOST_HEAD_BYTES:
            raise HeadError(431, f"The head of a request has at most {MOST_HEAD_BYTES} bytes here.")
        return head

    async def _answer(self, exchange: Exchange, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reply = exchange.refused or await self._reply(exchange)
        if isinstance(reply, Reply):
            await self._send(exchange, writer, reply)
        elif self._streams >= MOST_STREAMS:
            full = plain(503, f"{MOST_STREAMS} pages are kept up to date already: close one.")
            await self._send(exchange, writer, full)
        else:
            self._streams += 1
            try:
                await self._stream(exchange, reader, writer, reply)
            finally:
                self._streams -= 1

    async def _reply(self, exchange: Exchange) -> Reply | Iterator[bytes]:
        path, query = exchange.asked
        try:
            return await self._making.reply(path, query)
        except Exception as error:  # whatever a file holds: one line here and there, and the next page is served
            self._complain(f"{path!r} could not be answered ({type(error).__name__}: {error})")
            exchange.close_connection = True
            return plain(500, f"This page could not be made ({type(error).__name__}).")

    async def _send(self, exchange: Exchange, writer: asyncio.StreamWriter, reply: Reply) -> None:
        whole = memoryview(reply.body if exchange.command != "HEAD" else b"")
        writer.write(exchange.head_of(reply, len(reply.body)) + whole[:PART_BYTES])
        await self._taken(writer)
        for at in range(PART_BYTES, len(whole), PART_BYTES):
            writer.write(whole[at : at + PART_BYTES])
            await self._taken(writer)

    async def _stream(
        self, exchange: Exchange, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, events: Iterator[bytes]
    ) -> None:
        """Server-sent events until they end, the browser leaves, or the server ends."""
        writer.write(exchange.head_of(Reply(200, "text/event-stream; charset=utf-8", b""), None))
        while exchange.command != "HEAD":
            part = await self._making.quick(lambda: next(events, None))
            if part is None:
                return
            if part:
                writer.write(part)
                await self._taken(writer)
            elif await self._leaves(reader):
                return

    async def _leaves(self, reader: asyncio.StreamReader) -> bool:
        """Whether the client of a stream closes it, or says another word, before it is time to look again."""
        try:
            async with asyncio.timeout(self._poll_s):
                await reader.read(1)
        except TimeoutError:
            return False
        return True

    async def _taken(self, writer: asyncio.StreamWriter) -> None:
        """Waits until there is room for the next part."""
        async with asyncio.timeout(self._limits.idle_s):
            await writer.drain()

    async def _turn_away(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, reply: Reply) -> None:
        """Tell why, and wait a moment: a connection that is closed with something unread in it loses the answer."""
        refused = Exchange(b"GET / HTTP/1.1\r\n\r\n", (), self._url)
        writer.write(refused.head_of(reply, len(reply.body)) + reply.body)
        writer.write_eof()
        async with asyncio.timeout(LEAVE_S):
            while await reader.read(PART_BYTES):
                pass
