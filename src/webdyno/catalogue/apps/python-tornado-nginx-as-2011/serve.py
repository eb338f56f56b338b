"""serve.py BIND BACKENDS: nginx in front of Tornado processes, by the configuration that Tornado recommended in 2011.

Each backend has a port of its own, which is taken here and handed on, so that no other program can come between. Each
has to answer before this process becomes nginx: nginx would answer at once, with an error for each backend that is not
there yet. All stay in one process group, and end with it.
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from string import Template

HERE = Path(__file__).resolve().parent
BACKLOG = 128  # Tornado's own, then and now


def start():
    """One backend, as its port and its process."""
    with socket.create_server(("127.0.0.1", 0), backlog=BACKLOG) as listening:
        number = listening.fileno()
        process = subprocess.Popen([sys.executable, str(HERE / "backend.py"), str(number)], pass_fds=[number])
        return listening.getsockname()[1], process


def wait_for(port, process):
    """Until it answers; the kernel already takes connections for it."""
    while process.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).close()
            return
        except OSError:
            time.sleep(0.01)
    sys.exit(f"the backend on port {port} ended with {process.returncode}")


if __name__ == "__main__":
    bind, backends = sys.argv[1], int(sys.argv[2])
    started = [start() for _ in range(backends)]
    for port, process in started:
        wait_for(port, process)
    os.chdir(tempfile.mkdtemp(prefix="nginx-"))
    Path("nginx.conf").write_text(
        Template((HERE / "nginx.conf").read_text()).safe_substitute(
            servers="\n        ".join(f"server 127.0.0.1:{port};" for port, _ in started), bind=bind
        )
    )
    os.execvp("nginx", ["nginx", "-p", os.getcwd(), "-c", "nginx.conf"])
