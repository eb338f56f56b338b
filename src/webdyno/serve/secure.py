"""Secure: TLS over a connection, for one answer (the engine has its own), with a certificate verified or any taken."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable

Secure = Callable[[socket.socket], ssl.SSLSocket]


def secure(server_name: str, *, verify: bool, roots_pem: str | None = None) -> Secure:
    """``roots_pem`` are the certificates to trust; None: those of the machine."""
    context = ssl.create_default_context(cadata=roots_pem)
    if not verify:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return lambda plain: context.wrap_socket(plain, server_hostname=server_name)
