"""``webdyno doctor --quiet``: the settings of the system that move figures, shown, and set while a command runs."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated

import msgspec
from cyclopts import Parameter

from webdyno.commands.options import flag, split
from webdyno.commands.printing import answer, err, err_is_seen, out, out_marked, say_json
from webdyno.model.errors import MachineError, UsageError
from webdyno.rig.in_front import run_in_front, undisturbed
from webdyno.rig.lock import machine_lock
from webdyno.rig.quiet import NAMES, Seen, look
from webdyno.rig.quieted import UNDO, held_quiet, holder, put_back_left, was_left
from webdyno.session.saying import note
from webdyno.session.waiting import waiting

_COLOUR = {"fine": "green", "change": "yellow", "cannot": "yellow", "absent": ""}
HOW_TO_SET = "Nothing is set. While a command runs, it would be: webdyno doctor --quiet -- COMMAND"


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Quieting:
    """The flags that belong to --quiet."""

    quiet: Annotated[
        bool,
        flag("--quiet", help="Show the system settings that affect figures; with -- COMMAND, set them while it runs."),
    ] = False
    yes: Annotated[bool, flag("--yes", help="With --quiet -- COMMAND: set them without asking.")] = False
    keep: Annotated[
        list[str] | None, flag("--keep", help="With --quiet: leave these settings unchanged: --keep turbo,governor.")
    ] = None
    undo: Annotated[bool, flag("--undo", help="With --quiet: restore what a webdyno that was killed had set.")] = False

    def is_meant(self, command: Sequence[str]) -> bool:
        """Whether this is what was asked for; UsageError for what goes with --quiet only, without it."""
        given = {
            "--yes": self.yes,
            "--keep": bool(self.keep),
            "--undo": self.undo,
            repr(" ".join(command)): bool(command),
        }
        if not self.quiet and (without := [name for name, is_given in given.items() if is_given]):
            raise UsageError(f"{without[0]} needs --quiet: webdyno doctor --quiet -- COMMAND")
        return self.quiet

    def carry_out(self, command: Sequence[str], *, wait: bool, json: bool) -> int:
        """The exit code: that of the command, where there is one."""
        kept = split(self.keep) or []
        if unknown := [name for name in kept if name not in NAMES]:
            raise UsageError(f"--keep {unknown[0]}: there are {', '.join(NAMES)}")
        if self.undo:
            if command or self.yes or kept or json:
                raise UsageError(
                    "--undo restores everything that was left, and takes nothing else: webdyno doctor --quiet --undo"
                )
            return _undo(wait)
        if command:
            if json:
                raise UsageError("--json shows the settings, and excludes a command")
            return _run(command, kept, yes=self.yes, wait=wait)
        if self.yes:
            raise UsageError(
                "--yes sets them while a command runs, so give one: webdyno doctor --quiet --yes -- COMMAND"
            )
        return _show(kept, json)


def _show(kept: Sequence[str], json: bool) -> int:
    seen, pid, left = look(keep=kept), holder(), was_left()
    if json:
        say_json({"settings": seen, "held_by": pid, "left": left})
        return 0
    for state, line, why in _lines(seen):
        out_marked(f"{state:<8}", _COLOUR[state], f" {line}")
        if why:
            out_marked(f"{'':<24}", "", why, "dim")
    if pid is not None:
        out(f"A webdyno (pid {pid}) keeps this machine quiet, and restores the settings when its command has ended.")
    elif left:
        out(f"A webdyno that was killed left this machine quiet. To restore the settings, {UNDO}")
    elif any(it.would_change for it in seen):
        out(HOW_TO_SET)
    return 0


def _undo(wait: bool) -> int:
    with machine_lock(waiting(wait)):
        _refuse_held()
        if not was_left():
            out("Nothing was left to restore.")
            return 0
        for sentence in put_back_left():
            out(sentence)
        return MachineError.exit_code if was_left() else 0


def _run(command: Sequence[str], kept: Sequence[str], *, yes: bool, wait: bool) -> int:
    if shutil.which(command[0]) is None:
        raise UsageError(f"{command[0]}: there is no such program to run while the machine is quiet")
    with ExitStack() as until_it_ended:
        with machine_lock(waiting(wait)):  # given back before the command starts, for it may be a webdyno
            note(put_back_left())
            _refuse_held()
            seen = look(keep=kept)
            _agree(seen, kept, yes=yes)
            until_it_ended.enter_context(undisturbed())
            until_it_ended.enter_context(held_quiet(seen, _say))
        try:
            status = run_in_front(command)
        except OSError as error:
            raise UsageError(f"{command[0]} could not be executed: {(error.strerror or str(error)).lower()}") from None
    return status if status >= 0 else 128 - status


def _refuse_held() -> None:
    if (pid := holder()) is not None:
        raise MachineError(
            f"another webdyno (pid {pid}) keeps this machine quiet until its command ends: wait for that, or end it"
        )


def _agree(seen: Sequence[Seen], kept: Sequence[str], *, yes: bool) -> None:
    """UsageError unless the user agrees to what would be set; MachineError where nothing can be, though it should."""
    if not any(it.would_change for it in seen):
        if wrong := {it.name: it for it in seen if it.now != it.quiet and it.name not in kept}:
            first = next(iter(wrong.values()))
            raise MachineError(
                f"{first.name} is {first.now} and cannot be set to {first.quiet}: {first.obstacle}; "
                f"--keep {','.join(wrong)} continues without them"
            )
        err("webdyno: nothing to set: the machine is already as quiet as it gets")
        return
    if not yes and not (sys.stdin.isatty() and err_is_seen()):
        names = ", ".join(dict.fromkeys(it.name for it in seen if it.would_change))
        raise UsageError(
            f"it would set {names}: webdyno shows them on a terminal and asks; --yes sets them without asking"
        )
    for state, line, why in _lines(seen):
        if state in ("change", "cannot"):
            err(f"{state:<8} {line}")
            if why and not yes:
                err(f"{'':<24}{why}")
    if not yes and answer("Set these while the command runs, and restore them after it? [y/N] ") not in ("y", "yes"):
        raise UsageError("nothing was set, and the command was not run; --keep NAME leaves a setting unchanged")


def _lines(seen: Sequence[Seen]) -> Iterator[tuple[str, str, str]]:
    """State, name with what it is and would be, and why; one for all files of a setting that are alike."""
    for first, alike in groupby(seen, lambda it: msgspec.structs.replace(it, file="")):
        number = len(list(alike))
        title, files = f"{first.name:<14} ", f" ({number} files)" if number > 1 else ""
        if first.now is None:
            yield "absent", f"{title}not available here: {first.obstacle}", ""
        elif first.now == first.quiet:
            yield "fine", f"{title}{first.now}{files}", ""
        elif first.obstacle:
            yield "cannot", f"{title}{first.now}{files}, should be {first.quiet}: {first.obstacle}", first.why
        else:
            yield "change", f"{title}{first.now}{files}, would be {first.quiet}", first.why


def _say(sentence: str) -> None:
    err(f"webdyno: {sentence}")
