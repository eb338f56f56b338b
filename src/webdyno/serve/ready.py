"""Ready: wait until the server listens, until it is our server that listens, until it answers correctly.

What ends the waiting: the correct answer; its process ended (StartError, exited); the deadline (StartError, not
exited); an answer that stays wrong (AnswerError); the user (StartError, as soon as ``interrupted`` is set). Polls are a
few milliseconds apart, for the waiting must not be what is measured as a slow start.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event

from webdyno.model.errors import AnswerError, StartError
from webdyno.model.workload import Request
from webdyno.rig.group import Group
from webdyno.rig.here import MOST_PROCESSES
from webdyno.rig.ports import describe_owners, listeners, ports_of
from webdyno.serve.ask import NoAnswer
from webdyno.serve.verify import Asker, asks_for_coding, wrong

_FIRST_POLL_S, _LAST_POLL_S = 0.002, 0.02
TOO_MANY = f"more than {MOST_PROCESSES:,} processes and threads"
_WRONG_S = 2.0
"""How long answers may be wrong before that is taken as the answer: some servers come up with a 404."""


class Waiting:
    """One server being waited for; its methods raise what ends the waiting."""

    def __init__(self, name: str, group: Group, port: int, interrupted: Event, tail: Callable[[], str]) -> None:
        self._name, self._group, self._port = name, group, port
        self._interrupted, self.tail = interrupted, tail

    def check_interrupted(self) -> None:
        """StartError once the user asked for it: the one who set ``interrupted`` knows what it means."""
        if self._interrupted.is_set():
            raise StartError(f"{self._name} was stopped by the user", self.tail(), exited=False)

    def check(self) -> None:
        """Raise when there is nothing left to wait for."""
        self.check_interrupted()
        if not self._group.has_ended():
            return
        self.check_flood()
        memory, too_many = self._group.oom_killed(), self._group.refused_forks()
        how = "went past its memory limit and was killed" if memory else f"ended with {self._group.last_words()}"
        how += f", having been refused {TOO_MANY}," if too_many else ""
        foreign = listeners(self._port)
        taken = f"; its port {self._port} is taken: {describe_owners(self._port)}" if foreign else ""
        said = f"{self._name} {how} before it served{taken}"
        found = bool(foreign)
        raise StartError(said, self.tail(), exited=True, out_of_memory=memory, too_many=too_many, taken=found)

    def check_flood(self) -> None:
        """StartError when it was stopped because of its log: what else went wrong is a consequence."""
        if said := self._group.flooded():
            raise StartError(f"{self._name} {said}", self.tail(), exited=True, flooded=True)

    def until_ready(self, request: Request, asker: Asker, deadline: float) -> int:
        """Return once ``request`` is answered correctly by our own process: how long that answer took, in ns."""
        poll_s, state, wrong_since = _FIRST_POLL_S, f"nothing listened on port {self._port}", None
        while True:
            self.check()
            problem = self._not_listening()
            if problem is None:
                asked_ns = time.monotonic_ns()
                try:
                    answer = asker(request)
                except NoAnswer as reason:
                    problem = f"{request.method} {request.path} was not answered: {reason}"
                else:
                    took_ns = time.monotonic_ns() - asked_ns
                    problem = wrong(answer, request.expect, asked=asks_for_coding(request))
                    if problem is None and self._not_listening() is None:
                        return took_ns
                    wrong_since = wrong_since or time.monotonic()
                    if answer.status < 500 and problem and time.monotonic() - wrong_since > _WRONG_S:
                        raise AnswerError(f"{request.method} {request.path}: {problem}", self.tail())
            state = problem or state
            if time.monotonic() >= deadline:
                self._give_up(request, state, wrong=wrong_since is not None)
            time.sleep(poll_s)
            poll_s = min(poll_s * 1.5, _LAST_POLL_S)

    def _not_listening(self) -> str | None:
        """None when every socket that listens on the port is held by our tree."""
        found = listeners(self._port, ())
        if not found:
            return f"nothing listened on port {self._port}"
        if all(listener.pids for listener in listeners(self._port, self._group.pids())):
            return None
        return f"port {self._port} is not its own: {describe_owners(self._port)}"

    def _give_up(self, request: Request, state: str, *, wrong: bool) -> None:
        self.check()
        if wrong:
            raise AnswerError(f"{request.method} {request.path}: {state}", self.tail())
        elsewhere = [] if listeners(self._port, ()) else ports_of(self._group.pids())
        if elsewhere:
            state += f", but it listens on {', '.join(map(str, elsewhere))}"
        memory, too_many = self._group.oom_killed(), self._group.refused_forks()
        why = "; a process of it went past the memory limit and was killed" if memory else ""
        why += f"; it was refused {TOO_MANY}" if too_many else ""
        said = f"{self._name} did not serve in time: {state}{why}"
        taken = bool(listeners(self._port, ())) and self._not_listening() is not None
        raise StartError(said, self.tail(), exited=False, out_of_memory=memory, too_many=too_many, taken=taken)
