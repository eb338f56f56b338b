"""A small server that asks a Redis for every answer: ``python toy.py PORT BEHAVIOUR``.

good      answers what the Redis says
murder    the same, and makes the Redis end itself after 50 answers
cached    asks once and answers from memory from then on
one       asks one question at a time, over one connection
"""

import asyncio
import os
import sys
from urllib.parse import urlsplit

PORT, BEHAVIOUR = int(sys.argv[1]), sys.argv[2]
WORDS = {b"/counter": b"INCR webdyno:counter\r\n", b"/static": b"GET webdyno:static\r\n"}
answers = 0
memory = {}
turn = asyncio.Lock()


async def ask(reader, writer, words):
    writer.write(words)
    line = await reader.readline()
    if line[:1] == b":":
        return line[1:].strip()
    return (await reader.readexactly(int(line[1:]) + 2))[:-2]


async def client(reader, writer):
    global answers
    redis = await asyncio.open_connection(
        urlsplit(os.environ["REDIS_URL"]).hostname, urlsplit(os.environ["REDIS_URL"]).port
    )
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            answers += 1
            if BEHAVIOUR == "murder" and answers > 50:
                redis[1].write(b"SHUTDOWN NOSAVE\r\n")
            path = head.split(b" ")[1]
            if BEHAVIOUR == "one":
                async with turn:
                    body = await ask(*redis, WORDS[path])
            elif not (BEHAVIOUR == "cached" and (body := memory.get(path))):
                body = memory[path] = await ask(*redis, WORDS[path])
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
            )
    except (asyncio.IncompleteReadError, ConnectionError, ValueError):
        pass
    finally:
        writer.close()
        redis[1].close()


async def main():
    server = await asyncio.start_server(client, "127.0.0.1", PORT, backlog=1024)
    async with server:
        await server.serve_forever()


asyncio.run(main())
