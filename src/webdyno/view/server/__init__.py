"""Server: the site over HTTP/1.1, on 127.0.0.1 alone, for reading alone.

The standard library's event loop, because this is a page for one person on their own machine: a framework (starlette
and uvicorn bring seven packages and twice the memory) would buy nothing that a few GETs and a stream need, and every
user of webdyno would install it. Clients wait in the loop (``connections``), pages are made by a fixed number of
threads (``making``), and the library's parser reads the requests (``exchange``).
"""

from __future__ import annotations

import asyncio
import errno
import socket
import threading
from collections.abc import Callable
from contextlib import suppress

from webdyno.model.errors import MachineError
from webdyno.view.live import POLL_S
from webdyno.view.server.connections import MOST_HEAD_BYTES, Connections, Limits
from webdyno.view.server.making import Making
from webdyno.view.shelf import Shelf
from webdyno.view.site import Site

HOST = "127.0.0.1"
END_S = 3.0
"""How long ``end`` waits for the loop, which ends at once."""
_BACKLOG = 128
_KERNEL_BYTES = 128 << 10
"""What the kernel may hold of a connection in each direction: by itself it grows to megabytes where nobody reads."""


class Server:
    """Bound, and listening from then on; ``serve_forever`` in a thread, then ``end``."""

    def __init__(
        self,
        shelf: Shelf,
        port: int,
        complain: Callable[[str], None],
        poll_s: float = POLL_S,
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> None:
        """``port`` 0: any that is free. MachineError when it is taken. ``poll_s``: how often streams look."""
        self._shelf, self._complain, self._poll_s, self._limits = shelf, complain, poll_s, limits
        self._ending = threading.Event()
        self._ended = threading.Event()
        self._wake: Callable[[], object] | None = None
        try:
            self._socket = _listening(port)
        except OSError as error:
            raise MachineError(_refused(port, error)) from None
        self.server_address = self._socket.getsockname()
        self.server_port: int = self.server_address[1]

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://{HOST}:{self.server_port}/"

    def serve_forever(self) -> None:
        """Until ``end``."""
        try:
            asyncio.run(self._serve())
        finally:
            self._socket.close()
            self._ended.set()

    def end(self) -> None:
        """Stop serving, end the streams cleanly, free the port; pages that are being made are waited for by nobody."""
        self._ending.set()
        if self._wake is not None:
            with suppress(RuntimeError):  # it has ended already
                self._wake()
            self._ended.wait(END_S)

    async def _serve(self) -> None:
        names = (HOST, "localhost")
        hosts = {f"{name}:{self.server_port}" for name in names}
        hosts |= set(names) if self.server_port == 80 else set()  # browsers leave out the usual port
        loop, ending = asyncio.get_running_loop(), asyncio.Event()
        loop.set_exception_handler(lambda _, about: self._complain(f"the server continues after: {about['message']}"))
        making = Making(Site(self._shelf))
        connections = Connections(making, hosts, self.url, self._complain, self._poll_s, self._limits)
        server = await asyncio.start_server(
            connections.serve, sock=self._socket, limit=MOST_HEAD_BYTES, backlog=_BACKLOG
        )
        self._wake = lambda: loop.call_soon_threadsafe(ending.set)
        if not self._ending.is_set():  # asked after ``_wake`` is there: whichever comes first, the other sees it
            await ending.wait()
        server.close()
        await connections.end()
        making.end()


def _listening(port: int) -> socket.socket:
    listening = socket.create_server((HOST, port), backlog=_BACKLOG)
    for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):  # those that are accepted inherit it
        listening.setsockopt(socket.SOL_SOCKET, option, _KERNEL_BYTES)
    return listening


def _refused(port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"--port {port} is taken by another program: give another, or --port 0 for any that is free"
    return f"--port {port} cannot be listened on ({error.strerror}): give one from 1024 to 65535, or 0 for any"
