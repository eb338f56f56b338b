"""MongoDB, through PyMongo: a user's own may want a password, TLS or a replica set; that is no place to improvise."""

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


class Mongo:
    """One server, or the replica set its URL names; see Talker."""

    def __init__(self, url: str) -> None:
        if not url.startswith(("mongodb://", "mongodb+srv://")):
            raise ValueError("must look like mongodb://localhost:27017/")
        self._url = url

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

    def reset(self) -> None:
        """Nothing: no workload writes."""

    @contextmanager
    def _connected(self) -> Iterator[MongoClient[dict[str, Any]]]:
        from pymongo import MongoClient, errors

        try:
            with MongoClient[dict[str, Any]](self._url, serverSelectionTimeoutMS=_TIMEOUT_MS) as client:
                yield client
        except errors.PyMongoError as error:
            raise Unanswered(str(error).partition(", Timeout")[0]) from None
