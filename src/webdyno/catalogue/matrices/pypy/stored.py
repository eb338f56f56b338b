"""What the page shows, for apps whose requests may block: a counter in Redis, raised, and 2,000 characters from there.

One pool of connections for the whole server and a client over it for each request, as in the article.
"""

import os

from redis import ConnectionPool, Redis

POOL = ConnectionPool.from_url(os.environ["REDIS_URL"], max_connections=int(os.environ["WEBDYNO_POOL"]))


def page():
    """The greeting's line, and the characters: one client asks for both."""
    redis = Redis(connection_pool=POOL)
    clicks = redis.incr("webdyno:counter")
    return b"Hello world! %d\n" % clicks, redis.get("webdyno:static")
