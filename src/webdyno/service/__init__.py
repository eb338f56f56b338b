"""Service: the Redis or MongoDB behind the contenders, one for a whole plan.

    find.py       the first way to have it that this machine offers, or the one line that says how to get it
    running.py    started when the first Trial needs it, its data loaded, kept until the plan ends
    protocol.py   what webdyno says to it, and the table: protocol -> who says it
    redis.py mongo.py   one protocol each
    data.py       what is loaded: the same everywhere

One that the user names by a URL is only spoken to: never started, never ended, and its processes are unknown.
"""

from webdyno.service.find import find_service
from webdyno.service.running import Running, Services

__all__ = ["Running", "Services", "find_service"]
