"""serve.py BIND BACKENDS WORKERS: nginx with so many workers in front of so many Tornado processes.

The backends come first, each on a Unix socket, and each has to answer before this process becomes nginx: nginx would
answer at once, with an error for each backend that is not there yet. All stay in one process group, and end with it.
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from string import Template

HERE = Path(__file__).resolve().parent


def answers(path):
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
            connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
            return connection.makefile("rb").readline().split()[1:2] == [b"200"]
    except OSError:
        return False


def start(paths):
    """One process per path; returns once all of them answer."""
    processes = {path: subprocess.Popen([sys.executable, str(HERE / "backend.py"), path]) for path in paths}
    while processes:
        for path, process in list(processes.items()):
            if process.poll() is not None:
                sys.exit(f"the backend on {path} ended with {process.returncode}")
            if answers(path):
                del processes[path]
        time.sleep(0.01)


if __name__ == "__main__":
    bind, backends, workers = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    os.chdir(tempfile.mkdtemp(prefix="nginx-"))  # paths from here on are short enough for a Unix socket
    paths = [f"backend-{number}.sock" for number in range(backends)]
    start(paths)
    Path("nginx.conf").write_text(
        Template((HERE / "nginx.conf").read_text()).safe_substitute(
            user="user root;" if os.geteuid() == 0 else "",  # nginx's own choice could not reach the sockets
            workers=workers,
            servers="\n        ".join(f"server unix:{path};" for path in paths),
            bind=bind,
        )
    )
    os.execvp("nginx", ["nginx", "-p", os.getcwd(), "-c", "nginx.conf"])
