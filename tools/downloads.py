"""What tools/setup downloads: through the proxies and authorities that the environment names, and checked before use.

Only the standard library, from Python 3.9 on, as tools/setup itself.
"""

# It fetches addresses written in tools/setup or set by the user on purpose.
# ruff: noqa: S310

from __future__ import annotations

import base64
import hashlib
import http.client
import os
import re
import ssl
import tempfile
import urllib.parse
import urllib.request
from pathlib import Path


class MissingError(Exception):
    """One sentence: what is missing and what to try."""


def fetch(address: str, accept: str = "*/*") -> bytes:
    """Content of an address, through the proxies and certificate authorities the environment names."""
    authorities = setting("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE")
    request = urllib.request.Request(
        without_password(address), headers={"Accept": accept, "User-Agent": "webdyno-setup"}
    )
    credentials = urllib.parse.unquote(urllib.parse.urlsplit(address).netloc.rpartition("@")[0])
    if credentials:  # unredirected: they are for this host alone
        request.add_unredirected_header("Authorization", f"Basic {base64.b64encode(credentials.encode()).decode()}")
    problem: Exception = OSError("not tried")
    for _ in range(3):
        try:
            context = ssl.create_default_context(cafile=authorities)
            with urllib.request.urlopen(request, timeout=60, context=context) as answer:
                content: bytes = answer.read()
                return content
        except (OSError, http.client.HTTPException) as error:  # URLError and certificate errors are OSErrors
            problem = error
    hint = "is ca-certificates installed?" if "CERTIFICATE" in str(problem) else "behind a proxy, set https_proxy"
    raise MissingError(f"cannot fetch {without_password(address)} ({problem}); {hint}")


def prove(name: str, content: bytes, sha256: str) -> None:
    """Refuse a download that is not the one this file was written with."""
    if hashlib.sha256(content).hexdigest() != sha256:
        raise MissingError(
            f"{name} is not what was expected (its SHA-256 differs from the one in tools/setup); not used"
        )


def write_program(path: Path, content: bytes) -> None:
    """Write an executable file in one step, so that an interrupted setup never leaves half of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=str(path.parent), delete=False) as half:
        half.write(content)
    Path(half.name).chmod(0o755)
    Path(half.name).replace(path)


def setting(*names: str) -> str | None:
    """The first of these environment variables that is set."""
    return next((os.environ[name] for name in names if os.environ.get(name)), None)


def without_password(address: str) -> str:
    """An address as it may be shown: mirrors carry credentials in theirs."""
    return re.sub(r"//[^/@]*@", "//", address)
