"""An environment for somebody's project: made once for what its files say, and anew when that changes."""

from __future__ import annotations

import threading
from pathlib import Path

from tests.build.fake_host import FakeHost
from webdyno.build.own import build_project


def test_what_a_requirements_file_includes_is_part_of_what_it_says(tmp_path: Path, host: FakeHost) -> None:
    project = tmp_path / "project"
    (project / "deep").mkdir(parents=True)
    (project / "requirements.txt").write_text("flask\n-r base.txt  # ours\n--constraint=deep/c.txt\n-r http://x/y\n")
    (project / "base.txt").write_text("-rrequirements.txt\n  --requirement deep/more.txt\n-r none.txt\n")
    (project / "deep" / "c.txt").write_text("click==8.1.0\n")
    (project / "deep" / "more.txt").write_text("jinja2\n-c ../deep/c.txt\n")

    def built() -> tuple[Path, int]:
        made = build_project(project, "requirements.txt", tmp_path / "cache", host, threading.Event())
        return made, len(host.said("pip", "install"))

    first, _ = built()
    assert built() == (first, 1)
    seen = {first}
    for number, name in enumerate(("base.txt", "deep/c.txt", "deep/more.txt", "none.txt"), 2):
        with (project / name).open("a") as file:
            file.write("\n# changed\n")
        changed, installs = built()
        assert changed not in seen
        assert installs == number
        seen.add(changed)
    (project / "unrelated.txt").write_text("x")
    assert built()[0] == changed
