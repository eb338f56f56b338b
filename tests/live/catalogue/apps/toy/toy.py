"""A small real server that misbehaves on demand: ``python toy.py PORT BEHAVIOUR``.

good      answers correctly
exit      ends at once, with a last word on standard error
silent    listens and accepts, never answers
wrong     answers other bytes than asked for
die       answers correctly, then ends after 200 answers
flood     answers correctly, then writes into its log without end after 200 answers, and cannot be asked to end
leak      keeps 1 MB for every answer
stubborn  ignores SIGTERM and leaves a child in a session of its own behind
daemon    answers correctly, from a process that outlives the first one
"""

import asyncio
import os
import signal
import sys
import time

PORT, BEHAVIOUR = int(sys.argv[1]), sys.argv[2]
BODY = {"wrong": b"Hello, World?"}.get(BEHAVIOUR, b"Hello, World!")
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n%%b\r\n%b" % (len(BODY), BODY)
answers = 0
kept = []


async def client(reader, writer):
    global answers
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            if BEHAVIOUR == "silent":
                await asyncio.sleep(3600)
            answers += 1
            if BEHAVIOUR == "die" and answers > 200:
                print("toy: out of answers", file=sys.stderr, flush=True)
                os._exit(3)
            if BEHAVIOUR == "flood" and answers > 200:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                while True:
                    os.write(1, b"toy: " + b"x" * 9_994 + b"\n")
            if BEHAVIOUR == "leak" and answers > 10:
                kept.append(bytearray(os.urandom(1024) * 1024))
            # ab speaks HTTP/1.0 and waits for ever when it is not told that the connection stays open
            kept_open = b"Connection: keep-alive\r\n" if b"HTTP/1.0" in head else b""
            writer.write(ANSWER % kept_open)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    if BEHAVIOUR == "exit":
        sys.exit("toy: cannot find its configuration")
    if BEHAVIOUR == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            time.sleep(3600)
    server = await asyncio.start_server(client, "127.0.0.1", PORT, backlog=1024)
    async with server:
        await server.serve_forever()


if BEHAVIOUR == "daemon" and os.fork():
    os._exit(0)
asyncio.run(main())
