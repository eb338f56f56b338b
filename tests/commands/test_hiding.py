"""What other programs of the same user may see of webdyno."""

from __future__ import annotations

import subprocess
import sys

LOOK = """
import atexit, ctypes, sys
from webdyno.commands import main
atexit.register(lambda: print("dumpable:", ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)))
sys.argv = ["webdyno", "--version"]
main()
"""


def test_its_memory_and_environment_are_hidden_before_it_does_anything() -> None:
    done = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "dumpable: 0"
