"""nginx as the server of a speed case: one worker that answers at once and counts for us (stub_status)."""

from __future__ import annotations

import http.client
import re
import shutil
import tempfile
import time
from pathlib import Path

from bench.paired import end, start
from webdyno.rig.ports import free_port

_CONFIGURATION = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/error crit;
events {{ worker_connections 16384; }}
http {{
  access_log off; keepalive_requests 1000000000; keepalive_timeout 3600s;
  client_body_temp_path {folder}/1; proxy_temp_path {folder}/2; fastcgi_temp_path {folder}/3;
  uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location = /counted {{ stub_status; }}
    location / {{ default_type text/plain; return 200 "Hello, World!\\n"; }}
  }}
}}
"""


class Nginx:
    """A process of our own, on a port of our own, with all its files in a folder that goes with it."""

    def __init__(self, cpus: set[int]) -> None:
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        self.port = free_port()
        self._asked = 0
        self._folder = tempfile.TemporaryDirectory()
        configuration = Path(self._folder.name) / "nginx.conf"
        configuration.write_text(_CONFIGURATION.format(folder=self._folder.name, port=self.port))
        self._process = start([program, "-p", self._folder.name, "-c", str(configuration)], cpus)
        self._control = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        self._wait()

    def answered(self) -> int:
        """Third of the three numbers below "server accepts handled requests", our own questions taken off."""
        self._control.request("GET", "/counted")
        text = self._control.getresponse().read().decode()
        self._asked += 1
        found = re.search(r"^ \d+ \d+ (\d+)", text, re.M)
        if not found:
            raise RuntimeError(f"nginx does not count: {text[:200]}")
        return int(found[1]) - self._asked

    def close(self) -> None:
        self._control.close()
        end(self._process)
        self._folder.cleanup()

    def _wait(self) -> None:
        for _ in range(100):
            try:
                self._control.connect()
                return
            except OSError:
                time.sleep(0.02)
        self.close()
        raise RuntimeError("nginx does not listen after 2 s")


def found() -> bool:
    """Whether it is installed; Debian puts it where only root's PATH looks."""
    return bool(shutil.which("nginx")) or Path("/usr/sbin/nginx").exists()
