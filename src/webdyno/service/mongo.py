"""MongoDB, through PyMongo: a user's own may want a password, TLS or a replica set; that is no place to improvise.

One that webdyno starts answers finds later by the fail point ``failCommand``, which MongoDB has for tests of drivers:
it holds up the connection that asks and no other (https://github.com/mongodb/mongo/wiki/The-failCommand-fail-point).
One older than 4.2.9 takes the command and answers at once all the same, so it is timed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from webdyno.service.data import BIG, COLLECTION, DATABASE, SMALL
from webdyno.service.unanswered import Unanswered

if TYPE_CHECKING:
    from pymongo import MongoClient

_TIMEOUT_MS = 5000
_LIMITS: dict[str, Any] = dict.fromkeys(
    ("serverSelectionTimeoutMS", "connectTimeoutMS", "socketTimeoutMS"), _TIMEOUT_MS
)
_TIMED = 5
"""Finds that are timed after its delay was set; the fastest counts."""


class Mongo:
    """One server, or the replica set its URL names; see Talker."""

    def __init__(self, url: str) -> None:
        if not url.startswith(("mongodb://", "mongodb+srv://")):
            raise ValueError("must look like mongodb://localhost:27017/")
        self._url = url
        self._delay_ms = 0

    def identify(self) -> tuple[str, str]:
        """mongod, or who else answers: FerretDB says so, and what names no storage engine is not a mongod."""
        with self._connected() as client:
            said = client.admin.command("buildInfo")
        version = str(said.get("version", "unknown"))
        if "ferretdb" in said or "ferretdbVersion" in said:
            ferret = said.get("ferretdb") or {}
            return "ferretdb", str(said.get("ferretdbVersion") or ferret.get("version") or version)
        return ("mongod" if "storageEngines" in said else "an unnamed server of its protocol"), version

    def load(self, warm_s: float = 0.0) -> None:
        """The two documents; any other that may be there stays."""
        with self._connected() as client:
            documents = client[DATABASE][COLLECTION]
            for document in (SMALL, BIG):
                documents.replace_one({"_id": document["_id"]}, document, upsert=True)
            until = time.monotonic() + warm_s
            while time.monotonic() < until:
                for document in (SMALL, BIG):
                    documents.find_one({"_id": document["_id"]})

    def reset(self, delay_ms: int = 0) -> None:
        """No workload writes, so all there is to set is how much later it answers a find."""
        if delay_ms == self._delay_ms:
            return
        how = {"failCommands": ["find"], "blockConnection": True, "blockTimeMS": delay_ms}
        with self._connected() as client:
            client.admin.command(
                {"configureFailPoint": "failCommand", "mode": "alwaysOn", "data": how}
                if delay_ms
                else {"configureFailPoint": "failCommand", "mode": "off"}
            )
            took_ms = min(_find_ms(client) for _ in range(_TIMED)) if delay_ms else 0.0
        if took_ms < delay_ms:
            raise Unanswered(f"its answers were to be delayed by {delay_ms} ms, and took {took_ms:.1f} ms")
        self._delay_ms = delay_ms

    @contextmanager
    def _connected(self) -> Iterator[MongoClient[dict[str, Any]]]:
        from pymongo import MongoClient, errors

        try:
            with MongoClient[dict[str, Any]](self._url, **_LIMITS) as client:
                yield client
        except errors.PyMongoError as error:
            raise Unanswered(str(error).partition(", Timeout")[0]) from None


def _find_ms(client: MongoClient[dict[str, Any]]) -> float:
    begun = time.monotonic()
    client[DATABASE][COLLECTION].find_one({"_id": SMALL["_id"]})
    return (time.monotonic() - begun) * 1e3
