"""Memory that is free."""

from pathlib import Path

from webdyno.rig.memory import free_memory_bytes


def test_what_can_be_had_without_swapping(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:       2048 kB\nMemFree:          10 kB\nMemAvailable:    512 kB\n")
    assert free_memory_bytes(meminfo) == 512 * 1024
    meminfo.write_text("MemTotal:       2048 kB\n")
    assert free_memory_bytes(meminfo) is None
    assert free_memory_bytes(tmp_path / "none") is None
