"""A client of the Redis that REDIS_URL names, for Twisted and what is built on it; it connects when it is made."""

import os

from txredisapi import lazyConnectionPool

try:
    from urllib.parse import urlparse
except ImportError:  # Python 2
    from urlparse import urlparse

_client = []


def redis():
    if not _client:
        url = urlparse(os.environ["REDIS_URL"])
        number = int(url.path.strip("/") or 0)
        size = int(os.environ["WEBDYNO_POOL"])
        _client.append(
            lazyConnectionPool(url.hostname, url.port or 6379, dbid=number, poolsize=size, password=url.password)
        )
    return _client[0]
