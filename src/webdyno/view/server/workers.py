"""Workers: a fixed number of threads for what would keep the event loop from its other clients.

Not concurrent.futures.ThreadPoolExecutor: the end of the program waits for its threads, and Ctrl-C shall not wait for a
report that is being made.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
_Order = tuple[Future[Any], Callable[[], Any]]


class Workers:
    """A number of threads, which do what they are given in the order in which they are given it, until ``end``."""

    def __init__(self, name: str, number: int) -> None:
        self._orders: SimpleQueue[_Order | None] = SimpleQueue()
        self._number = number
        for at in range(number):
            threading.Thread(target=self._work, name=f"{name}-{at}", daemon=True).start()

    def do(self, make: Callable[[], T]) -> Future[T]:
        """What ``make`` will return or raise."""
        promised: Future[T] = Future()
        self._orders.put((promised, make))
        return promised

    def end(self) -> None:
        """Each thread ends after what it is doing; nobody waits for it."""
        for _ in range(self._number):
            self._orders.put(None)

    def _work(self) -> None:
        while (order := self._orders.get()) is not None:
            _done(*order)
            del order  # and with it what was made: it may be large, and the next may be long in coming


def _done(promised: Future[Any], make: Callable[[], Any]) -> None:
    if not promised.set_running_or_notify_cancel():
        return
    try:
        made = make()
    except BaseException as error:  # raised where it is waited for
        promised.set_exception(error)
    else:
        promised.set_result(made)
