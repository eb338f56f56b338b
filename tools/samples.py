"""Write the sample reports of the docs' site, docs/samples/STUDY.html, from results folders of real studies.

    uv run python tools/samples.py results/quickstart-20261123-214201 results/hello-20261123-185707 ...

A report is made from Runs, and those are too large to lie beside the documents. After a study was measured anew, and
after a change of the report, these pages are written anew by this program. The first table of quickstart becomes the
picture in README.md and on the site's front page, for a light and for a dark background.
"""

# ruff: noqa: T201

from __future__ import annotations

import sys
from pathlib import Path

from webdyno.api import read
from webdyno.report.html import render_html
from webdyno.report.picture import render_picture

PAGES = Path(__file__).resolve().parent.parent / "docs" / "samples"


def main(folders: list[str]) -> int:
    """One page for each folder."""
    if not folders:
        print("usage: tools/samples.py RESULTS-FOLDER...", file=sys.stderr)
        return 2
    for folder in map(Path, folders):
        found = read(folder)
        page = render_html(found.plan, found.fingerprint, found.runs, found.analysis)
        write(
            f"{found.plan.study}.html", page.replace(str(Path.home()), "~")
        )  # whose machine it was matters to no reader
        for ending in ("", "-dark") if found.plan.study == "quickstart" else ():
            dark = bool(ending)
            picture = render_picture(found.plan, found.fingerprint, found.runs, found.analysis, of=[1], dark=dark)
            write(f"quickstart{ending}.svg", picture)
    return 0


def write(name: str, content: str) -> None:
    """One file among the samples."""
    (PAGES / name).write_text(content, encoding="utf-8")
    print(f"wrote docs/samples/{name} ({len(content) // 1000:,} kB)")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
