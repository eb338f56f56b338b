"""serve.py HOST PORT WORKERS: the aiohttp application, in one process and socket per worker."""

import signal
import sys
from multiprocessing import get_context

from aiohttp import web
from app import app


def work(host, port, shared):
    web.run_app(
        app, host=host, port=port, reuse_port=shared, backlog=1024, keepalive_timeout=60, access_log=None, print=None
    )


if __name__ == "__main__":
    host, port, workers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    if workers == 1:
        work(host, port, False)
    else:
        processes = [get_context("fork").Process(target=work, args=(host, port, True), daemon=True) for _ in range(workers)]
        for process in processes:
            process.start()
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # which ends the daemon processes too
        for process in processes:
            process.join()
