"""serve.py BIND PROCESSES THREADS WORKERS: uWSGI on a Unix socket, and nginx with so many workers in front of it.

uWSGI comes first: nginx would answer at once, with an error while there is no such socket. Both stay in one process
group, and end with it.
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
SOCKET = "uwsgi.sock"  # in the folder that both work in: short enough for a Unix socket


def listens():
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(SOCKET)
            return True
    except OSError:
        return False


def start(processes, threads):
    """uWSGI with its application loaded; it binds its socket before that, and forks after it."""
    # a full queue of a Unix socket refuses at once, where that of TCP makes wait: 100 unless told
    command = ["pyuwsgi", "--socket", SOCKET, "--listen", "2048", "--chdir", os.getcwd(), "--pythonpath", str(HERE)]
    command += ["--processes", processes, "--threads", threads, "--master", "--need-app", "--die-on-term"]
    uwsgi = subprocess.Popen([*command, "--disable-logging", "--wsgi", "app"])
    while not listens():
        if uwsgi.poll() is not None:
            sys.exit(f"uWSGI ended with {uwsgi.returncode}")
        time.sleep(0.01)


if __name__ == "__main__":
    bind, processes, threads, workers = sys.argv[1:]
    os.chdir(tempfile.mkdtemp(prefix="nginx-"))
    start(processes, threads)
    user = "user root;" if os.geteuid() == 0 else ""  # nginx's own choice could not reach the socket
    asked = Template((HERE / "nginx.conf").read_text())
    Path("nginx.conf").write_text(
        asked.safe_substitute(user=user, workers=workers, bind=bind, socket=f"{os.getcwd()}/{SOCKET}")
    )
    os.execvp("nginx", ["nginx", "-p", os.getcwd(), "-c", "nginx.conf"])
