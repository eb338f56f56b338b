"""paced.py HOST PORT SERVICE_US LUCK: answers one request after the other, each SERVICE_US after the one before.

It waits by looking at the clock, so its rate under load is 1e6 / SERVICE_US whatever the machine does, as long as the
machine is faster than that. LUCK is the standard deviation of the logarithm of its speed, drawn anew at each start:
real servers have such luck, and without it every interval would be a hair. Standard library only.
"""

import random
import selectors
import socket
import sys
import time

BODY = b"Hello, World!"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n\r\n%s" % (
    len(BODY),
    BODY,
)


def serve(host, port, service_s):
    listener = socket.create_server((host, port), backlog=1024)
    listener.setblocking(False)
    waiting = selectors.DefaultSelector()
    waiting.register(listener, selectors.EVENT_READ)
    free_at = 0.0
    while True:
        for key, _ in waiting.select():
            if key.fileobj is listener:
                connection, _ = listener.accept()
                connection.setblocking(True)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                waiting.register(connection, selectors.EVENT_READ)
                continue
            try:
                asked = key.fileobj.recv(65536).count(b"\r\n\r\n")
            except OSError:
                asked = 0
            if not asked:
                waiting.unregister(key.fileobj)
                key.fileobj.close()
                continue
            for _ in range(asked):
                now = time.perf_counter()
                free_at = (now if now - free_at > service_s else free_at) + service_s
                while time.perf_counter() < free_at:
                    pass
                try:
                    key.fileobj.sendall(ANSWER)
                except OSError:
                    break


if __name__ == "__main__":
    _, host, port, service_us, luck = sys.argv
    serve(host, int(port), float(service_us) / 1e6 * 2.718281828459045 ** random.gauss(0, float(luck)))
