"""A small real server that answers correctly and tries to get away: ``python toy.py PORT BEHAVIOUR``.

leaves  moves itself to the top of every hierarchy of cgroups after 50 answers
stows   starts a process then that has neither its session nor its environment, parents or cgroup
bomb    starts 5,000 processes then, or as many as it may
"""

import asyncio
import contextlib
import ctypes
import os
import sys
import time
from pathlib import Path

PORT, BEHAVIOUR = int(sys.argv[1]), sys.argv[2]
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!"
answers = 0


def leave():
    top = Path("/sys/fs/cgroup")
    for procs in (top / "cgroup.procs", *top.glob("*/cgroup.procs")):
        with contextlib.suppress(OSError):
            procs.write_text("0")


def stow():
    ctypes.CDLL(None).prctl(36, 0, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: it adopts no orphans
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            leave()
            os.execve("/bin/sleep", ["stowaway", "3600"], {})
        os._exit(0)
    os.wait()


def bomb():
    for _ in range(5_000):
        try:
            child = os.fork()
        except OSError:
            return
        if child == 0:
            time.sleep(60)
            os._exit(0)


async def client(reader, writer):
    global answers
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        while await reader.readuntil(b"\r\n\r\n"):
            answers += 1
            if answers == 50:
                {"leaves": leave, "stows": stow, "bomb": bomb}[BEHAVIOUR]()
            writer.write(ANSWER)
            await writer.drain()
    writer.close()


async def main():
    server = await asyncio.start_server(client, "127.0.0.1", PORT, backlog=1024)
    async with server:
        await server.serve_forever()


asyncio.run(main())
