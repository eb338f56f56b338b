"""A small Redis that misbehaves on demand: ``toy.py PORT MODE``.

good      answers correctly
valkey    the same, under another name
exit      ends at once, with a last word
silent    never listens
garbage   answers what is no Redis
refuses   wants a password
"""

import asyncio
import sys
import time

PORT, MODE = int(sys.argv[1]), sys.argv[2]
store = {"reads": "0"}
NAME = "server_name:valkey\r\nvalkey_version:8.1.0\r\n" if MODE == "valkey" else ""
INFO = f"# Server\r\nredis_version:7.2.4\r\n{NAME}"


def answer(words):
    if MODE == "garbage":
        return b"HTTP/1.1 400 Bad Request\r\n"
    if MODE == "refuses" and words[0] != "AUTH":
        return b"-NOAUTH Authentication required.\r\n"
    if words[0] == "SET":
        store[words[1]] = words[2]
        return b"+OK\r\n"
    if words[0] in ("GET", "INFO"):
        store["reads"] = str(int(store["reads"]) + 1)
        text = INFO if words[0] == "INFO" else store[words[1]]
        return b"$%d\r\n%b\r\n" % (len(text), text.encode())
    return b"+OK\r\n"


async def client(reader, writer):
    try:
        while line := await reader.readline():
            words = []
            for _ in range(int(line[1:])):
                size = int((await reader.readline())[1:])
                words.append((await reader.readexactly(size + 2))[:size].decode())
            writer.write(answer(words))
            await writer.drain()
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(client, "127.0.0.1", PORT)
    async with server:
        await server.serve_forever()


if MODE == "exit":
    sys.exit("toy: my disk is gone")
if MODE == "silent":
    time.sleep(3600)
asyncio.run(main())
