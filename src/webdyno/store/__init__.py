"""Store: one SQLite file per results folder, the only bridge between measuring and judging.

Each Run is one durable transaction (write-ahead log, synchronous=FULL): a killed webdyno loses at most the Run in
flight, and another process may read while this one writes. Closing folds the log back in, so that ``results.sqlite``
alone is everything, but for secrets (model/secret.py), and can be mailed. A Run is never changed once it is in.

The whole of each noun stands in a ``body`` column as JSON; the columns beside it only repeat what somebody with the
sqlite3 program wants to see, and are never read back. What is refused: a file that is not ours, that is damaged, or
that a newer schema wrote. Because a file that was mailed may be made to harm, ``opening`` trusts none of it: not what
lies beside it, not its schema, not its sizes.

Rule of resuming: a Trial is done when it has a Run of any outcome but "interrupted". What a contender did wrong is a
result and is not tried again; what the user stopped was never measured. The interrupted Run stays in the file, and is
left out of ``runs()`` once a later Run of the same Trial has replaced it.

Rule of damage: a Run that cannot be read, or that says what no Run can (``sound``), costs that Run: it has the outcome
"unreadable" and a sentence. Without the plan or the machine nothing can be said, and the file is refused.
"""

from webdyno.store.place import LOGS
from webdyno.store.results import FILE, Store

__all__ = ["FILE", "LOGS", "Store"]
