"""Make the site of the documents in target/site/html, and follow every link in it.

    uv run --isolated --frozen --only-group docs tools/pages.py     (or: make docs)

The pages are the repository's own Markdown: docs/, and the documents above it, which join those of docs/ in one folder.
Their links are rewritten for that. Zensical makes the pages by mkdocs.yml and fetches nothing; the sample reports are
taken as they are. Exit code 1: a link leads nowhere, or a page would load something from elsewhere.
"""

# ruff: noqa: T201

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "target" / "site"
PAGES, HTML = SITE / "pages", SITE / "html"
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")
LOADS = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src"}
"""What a browser loads by itself, and by which attribute."""


class Links(HTMLParser):
    """The links, the anchors and the loaded addresses of one page."""

    def __init__(self) -> None:
        """Nothing is read yet."""
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what one tag says."""
        said = {name: value for name, value in attrs if value}
        self.anchors |= {said[name] for name in ("id", "name") if name in said}
        if tag == "a" and "href" in said:
            self.links.append(said["href"])
        address = said.get(LOADS.get(tag, ""))
        if address and said.get("rel") not in ("canonical", "prev", "next"):
            self.loads.append(address)


def main() -> int:
    """Gather the pages, make the site, look at it."""
    shutil.rmtree(SITE, ignore_errors=True)
    for page, place in documents().items():
        place.parent.mkdir(parents=True, exist_ok=True)
        if page.suffix == ".md":
            place.write_text(relinked(page), encoding="utf-8")
        else:
            shutil.copyfile(page, place)
    quiet = {**os.environ, "NO_COLOR": "1"}
    if subprocess.call(["zensical", "build", "--strict", "--config-file", str(ROOT / "mkdocs.yml")], env=quiet) != 0:
        print("site: zensical could not build it, its own words are above", file=sys.stderr)
        return 1
    bad = broken(HTML)
    print("\n".join(bad), file=sys.stderr)
    print(f"site: {len(list(HTML.rglob('*.html')))} pages in {HTML}, {len(bad)} broken links")
    return 1 if bad else 0


def documents() -> dict[Path, Path]:
    """Every file of the site by where it stands in the repository."""
    found = {
        path: PAGES / path.relative_to(ROOT / "docs") for path in sorted((ROOT / "docs").rglob("*")) if path.is_file()
    }
    above = [*ROOT.glob("*.md"), ROOT / "LICENSE", ROOT / "action.yml"]
    return found | {path: PAGES / path.name for path in above}


def relinked(page: Path) -> str:
    """A document whose links lead to where the others stand in the site."""
    places = documents()

    def link(match: re.Match[str]) -> str:
        target = (page.parent / match[2]).resolve()
        if target not in places:
            return match[0]
        return match[1] + os.path.relpath(places[target], places[page].parent) + match[3]

    pieces = re.split(r"(```.*?```)", page.read_text("utf-8"), flags=re.S)
    return "".join(piece if piece.startswith("```") else LINK.sub(link, piece) for piece in pieces)


def broken(site: Path) -> list[str]:
    """One line for each link that leads nowhere and for each thing that a page loads from elsewhere."""
    read: dict[Path, Links] = {}
    for path in sorted(site.rglob("*.html")):
        read[path] = Links()
        read[path].feed(path.read_text("utf-8"))
    lines = []
    for path, page in read.items():
        name = path.relative_to(site)
        lines += [f"{name}: loads {each}" for each in page.loads if elsewhere(each) and not each.startswith("data:")]
        for each in (
            {*page.links, *page.loads} if path.name != "404.html" else ()
        ):  # served for every address there is not
            if not elsewhere(each) and not leads(path, each, read):
                lines.append(f"{name}: {each} leads nowhere")
    return lines


def elsewhere(address: str) -> bool:
    """Whether it is no file of the site."""
    return bool(urlsplit(address).scheme or urlsplit(address).netloc)


def leads(page: Path, address: str, read: dict[Path, Links]) -> bool:
    """Whether a link of a page has a file at its end, and the anchor in it."""
    parts = urlsplit(address)
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    target = target / "index.html" if target.is_dir() else target
    if parts.fragment in ("", "__skip") or target not in read:
        return target.is_file()
    # A report of ours makes its anchors as it is opened.
    return unquote(parts.fragment) in read[target].anchors or target.parent.name == "samples"


if __name__ == "__main__":
    sys.exit(main())
