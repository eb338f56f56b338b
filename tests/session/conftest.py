"""What a session says is on standard error, as when a command is called."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from webdyno.commands.saying import heard


@pytest.fixture(autouse=True)
def said() -> Iterator[None]:
    """Where ``capsys`` finds it."""
    with heard():
        yield
