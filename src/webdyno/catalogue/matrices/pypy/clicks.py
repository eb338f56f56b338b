"""The two answers that wait on Redis, for apps whose requests may block; REDIS_URL and WEBDYNO_POOL come from webdyno.

The client is made by the first request, so in each worker after it was forked.
"""

import os
import threading

_client = []
_lock = threading.Lock()


def _redis():
    with _lock:
        if not _client:
            from redis import BlockingConnectionPool, StrictRedis  # the plain pool raises an error when it is empty

            pool = BlockingConnectionPool.from_url(
                os.environ["REDIS_URL"], max_connections=int(os.environ["WEBDYNO_POOL"])
            )
            _client.append(StrictRedis(connection_pool=pool))
    return _client[0]


def counter():
    """The raised counter as digits."""
    return str(_redis().incr("webdyno:counter")).encode()


def static():
    """2,000 characters."""
    return _redis().get("webdyno:static")
