"""JVM: the app's sources, compiled and packed by Maven with the libraries its pom.xml names.

Unless the app says otherwise, one call of Maven compiles, copies every library into ``target/lib`` and lists them with
their versions in ``target/dependencies.txt``; so a pom.xml only has to name its libraries and the release of Java. The
served process finds all of it by CLASSPATH: ``["java", "Main", "{port}"]`` is a complete command. Maven keeps its
downloads where the user's Maven always does.

Every library that is served has to be the one that ``jars.sha256`` beside the pom.xml names by its hash, where there is
such a file. Maven's own plugins are compared only with the repository's checksums (``-C``).
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from tempfile import TemporaryDirectory

from webdyno.build.mismatch import MismatchError, not_as_locked
from webdyno.build.order import Order, Part, app_ingredients
from webdyno.build.tool import Workshop, ask
from webdyno.model.errors import BuildError, MachineError
from webdyno.rig.host import Host

_NUMBER = "1"
"""Raise it when what this recipe does changes: it is part of every key."""
_LISTED = "target/dependencies.txt"
_LIBRARIES = "target/lib"
HASHES = "jars.sha256"
"""As sha256sum writes it."""
_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
PACKAGE = [
    *("mvn", "-q", "-B", "-C", "package", f"{_PLUGIN}:copy-dependencies", f"{_PLUGIN}:list"),
    *("-DincludeScope=runtime", "-DoutputDirectory=target/lib", f"-DoutputFile={_LISTED}"),
]
"""How an app that names no commands of its own is built."""
_LINE = re.compile(r"^\s*([\w.-]+):([\w.-]+):jar:(?:[\w.-]+:)?(\d[\w.-]*):(?:compile|runtime)\b", re.M)
"""``group:artifact:jar[:classifier]:version:scope``, as Maven lists what it has resolved."""


def parts(order: Order) -> list[Part]:
    """One folder: sources, classes and libraries."""
    commands = order.app.build or [PACKAGE]

    def app(folder: Path, workshop: Workshop) -> dict[str, str]:
        order.host.put(order.sources, folder)
        for command in commands:
            workshop.run(f"compile the app ({' '.join(command[:4])})", command, folder, **_java_home(order))
        _refuse_other_jars(folder)
        versions = versions_in(folder / _LISTED)
        order.require_found(versions, "pom.xml", between=":")
        return versions

    words = [word for command in commands for word in command]
    ingredients = ["jvm", _NUMBER, order.found.version, *words, *order.requires, *app_ingredients(order.sources)]
    return [Part("apps", ingredients, app, variables=_class_path)]


def versions_in(listed: Path) -> dict[str, str]:
    """Libraries as ``group:artifact`` and their versions, from the list that Maven wrote; none without one."""
    if not listed.is_file():
        return {}
    return {
        f"{group}:{artifact}": version
        for group, artifact, version in _LINE.findall(listed.read_text("utf-8", "replace"))
    }


def lock_jars(target: Path, host: Host) -> None:
    """Write down the hashes of all libraries that the pom.xml beside ``target`` leads to; MachineError."""
    pom = target.with_name("pom.xml")
    with TemporaryDirectory(prefix="webdyno-lock-") as folder:
        copy = ["mvn", "-q", "-B", "-C", "-f", str(pom), f"{_PLUGIN}:copy-dependencies"]
        if ask(host, [*copy, "-DincludeScope=runtime", f"-DoutputDirectory={folder}"]) is None:
            raise MachineError(f"mvn could not fetch what {pom} names; are all of them in the repository?")
        hashes = _hashes(Path(folder))
    target.write_text("".join(f"{digest}  {name}\n" for name, digest in hashes.items()), encoding="utf-8")


def _refuse_other_jars(folder: Path) -> None:
    """BuildError for a library that is not the one whose hash stands beside the pom.xml; or does not stand there."""
    if not (folder / HASHES).is_file():
        return
    lines = (folder / HASHES).read_text(encoding="utf-8", errors="replace").splitlines()
    known = {words[1]: words[0] for line in lines if len(words := line.split(maxsplit=1)) == 2}
    for name, digest in _hashes(folder / _LIBRARIES).items():
        if name not in known:
            raise BuildError(f"{HASHES} beside pom.xml has no hash of {name}; lock the contender again")
        if known[name] != digest:
            raise MismatchError(not_as_locked(name, HASHES))


def _hashes(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.jar"))}


def _class_path(folder: Path) -> dict[str, str]:
    return {"CLASSPATH": f"{folder}/target/classes:{folder}/target/lib/*"}


def _java_home(order: Order) -> dict[str, str]:
    """The Java that will execute it is the one that compiles it, where it can (a JRE has no compiler)."""
    home = Path(order.found.program).resolve().parent.parent
    return {"JAVA_HOME": str(home)} if (home / "bin" / "javac").is_file() else {}
