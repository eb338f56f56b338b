"""A small real server that answers correctly and has one odd habit: ``python toy.py PORT HABIT``.

none        no habit; /wait takes a tenth of a second
closes      closes the connection after each answer and does not say so
says-close  the same, and says so
http10      answers in HTTP/1.0
rarely      closes after 20 answers without saying so
starves     serves two connections at a time, each until its client leaves
hangs       three connections in four get three answers and then nothing
errs        every tenth answer on a connection has a wrong body
loses       has two workers, of which the first ends after 50 answers and is replaced
one-works   starts three more workers, and lets them idle
plateau     sends head and body apart and lets the kernel delay the body (Nagle)
queue       listens with a queue of four places
hasty       answers /wait at once
dozes       sleeps for 20 ms before each answer
climbs      sleeps before each answer, 20 ms at first and less and less for two seconds
compiles    sleeps before each answer, 10 ms at first and less and less for 600 answers
gil         writes what a free-threaded CPython writes when a module switches the GIL on again
"""

import asyncio
import os
import signal
import socket
import sys
import time

PORT, HABIT = int(sys.argv[1]), sys.argv[2]
BODIES = {b"/": b"Hello, World!", b"/wait": b"waited"}
HEAD = b"HTTP/%b 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n%b\r\n"
VERSION = b"1.0" if HABIT == "http10" else b"1.1"
MORE = b"Connection: close\r\n" if HABIT == "says-close" else b""
LAST = {"closes": 1, "says-close": 1, "http10": 1, "rarely": 20}.get(HABIT)
places = asyncio.Semaphore(2 if HABIT == "starves" else 100_000)
connections = 0
begun = []
is_first = True


async def answers(reader, writer, number):
    given = 0
    while given != LAST:
        path = (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)[1]
        given += 1
        if HABIT == "loses" and is_first and given == 50:
            os._exit(1)
        if HABIT == "hangs" and number % 4 and given > 3:
            await asyncio.sleep(3600)
        if path == b"/wait" and HABIT != "hasty":
            await asyncio.sleep(0.1)
        if HABIT == "dozes":
            await asyncio.sleep(0.02)
        if HABIT == "climbs":
            begun.append(time.monotonic())
            await asyncio.sleep(max(0.002, 0.02 - 0.009 * (begun[-1] - begun[0])))
        if HABIT == "compiles":
            begun.append(None)
            await asyncio.sleep(max(0.001, 0.01 - 0.000015 * len(begun)))
        body = BODIES[path][::-1] if HABIT == "errs" and given % 10 == 0 else BODIES[path]
        head = HEAD % (VERSION, len(body), MORE)
        for part in [head, body] if HABIT == "plateau" else [head + body]:
            writer.write(part)
        await writer.drain()


async def client(reader, writer):
    global connections
    connections += 1
    number = connections
    if HABIT == "plateau":
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
    try:
        async with places:
            await answers(reader, writer, number)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    backlog = 4 if HABIT == "queue" else 1024
    server = await asyncio.start_server(client, "127.0.0.1", PORT, backlog=backlog, reuse_port=HABIT == "loses")
    async with server:
        await server.serve_forever()


if HABIT == "gil":
    print(
        "<frozen importlib._bootstrap>:491: RuntimeWarning: The global interpreter lock (GIL) has been enabled to load "
        "module 'toy_speedups', which has not declared that it can run safely without the GIL.",
        file=sys.stderr,
        flush=True,
    )
if HABIT == "loses":
    started = gone = 0
    while started < 2 or (gone := os.wait()[0]):
        if gone:
            print(f"worker {gone} died, and is replaced", file=sys.stderr, flush=True)
        is_first = started == 0
        started += 1
        if os.fork() == 0:
            break
if HABIT == "one-works":
    for _ in range(3):
        if os.fork() == 0:
            while True:
                signal.pause()
asyncio.run(main())
