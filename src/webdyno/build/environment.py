"""Environment: what of the user's environment and home a build sees.

A build may execute anybody's code: an sdist's setup.py, a crate's build.rs, a plugin of Maven. So it is given what
stands on a list, and not all but some names, for nobody knows the name of the next secret; and a HOME of its own,
empty but for copies of the files that say where packages come from. What fills up with downloads stays where the user's
tools keep it.

This hides, and does not lock up: a build runs as the user and can read every file that the user can.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

_SEEN = re.compile(
    r"PATH|TZ|TERM|LANG|LANGUAGE|LC_\w+|USER|LOGNAME|SHELL|CI|SOURCE_DATE_EPOCH"
    r"|(?i:(http|https|ftp|all|no)_proxy)"
    # certificates
    r"|SSL_CERT_(FILE|DIR)|(REQUESTS|CURL)_CA_BUNDLE|NODE_EXTRA_CA_CERTS|GIT_SSL_(CAINFO|CAPATH|NO_VERIFY)"
    r"|NIX_SSL_CERT_FILE|CARGO_HTTP_(CAINFO|PROXY|TIMEOUT|CHECK_REVOKE|MULTIPLEXING)|DENO_(CERT|TLS_CA_STORE)"
    # where packages come from, and where they are kept
    r"|PIP_(CERT|CLIENT_CERT|PROXY|TRUSTED_HOST|TIMEOUT|DEFAULT_TIMEOUT|RETRIES|(EXTRA_)?INDEX_URL|NO_INDEX|FIND_LINKS"
    r"|CONFIG_FILE|CACHE_DIR|NO_CACHE_DIR|KEYRING_PROVIDER|DISABLE_PIP_VERSION_CHECK)"
    r"|UV_((SYSTEM|NATIVE)_(CERTS|TLS)|INSECURE_HOST|HTTP_(TIMEOUT|RETRIES)|OFFLINE|(DEFAULT_|EXTRA_)?INDEX(_URL|_STRATEGY)?"
    r"|INDEX_\w+_(USERNAME|PASSWORD)|FIND_LINKS|KEYRING_PROVIDER|CONFIG_FILE|NO_CONFIG|CACHE_DIR|NO_CACHE"
    r"|CONCURRENT_\w+|(PYTHON|PYPY)_INSTALL_(DIR|MIRROR)|PYTHON_DOWNLOADS)"
    r"|(?i:npm_config_(registry|@\w+:registry|cache|cafile|ca|(https?_)?proxy|noproxy|strict_ssl|userconfig|globalconfig"
    r"|offline|prefer_offline|fetch_\w+|nodedir))"
    r"|GO(PROXY|PRIVATE|NOPROXY|NOSUMDB|SUMDB|INSECURE|ENV|PATH|MODCACHE|CACHE|ROOT|TOOLCHAIN)|NETRC"
    r"|CARGO_(HOME|NET_\w+|REGISTRIES_\w+_INDEX|SOURCE_\w+)|RUSTUP_(HOME|TOOLCHAIN|DIST_SERVER|UPDATE_ROOT|AUTO_INSTALL)"
    r"|JAVA_HOME|JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|M2_HOME|MAVEN_(HOME|OPTS|ARGS)|GRADLE_(USER_HOME|OPTS)"
    r"|GEM_(HOME|PATH)|BUNDLE_(PATH|MIRROR\w*|USER_\w+)|YARN_(CACHE_FOLDER|NPM_REGISTRY_SERVER)|BUN_INSTALL(_CACHE_DIR)?"
    r"|DENO_DIR|XDG_CACHE_HOME"
    # compilers, and what finds versions of them
    r"|CC|CXX|AR|LD|CPP|([CF]|CPP|CXX|LD|MAKE)FLAGS|C?PATH|C(PLUS)?_INCLUDE_PATH|(LD_)?LIBRARY_PATH|PKG_CONFIG_\w+"
    r"|CMAKE_PREFIX_PATH|CGO_\w+|(PYENV|RBENV|NODENV|GOENV|JENV)_(ROOT|VERSION)|ASDF_(DATA_)?DIR|MISE_DATA_DIR|VOLTA_HOME"
)
"""Names of variables that a build sees, if the user has them."""

_SETTINGS = (
    *(".npmrc", ".yarnrc.yml", ".bunfig.toml", ".pip/pip.conf", ".gemrc", ".bundle/config", ".mavenrc"),
    ".tool-versions",
)
"""Files of the home that say where packages come from, and which versions of tools are meant."""
_IN_CONFIG = ("pip/pip.conf", "uv/uv.toml", "go/env", "mise/config.toml")
"""The same below XDG_CONFIG_HOME."""
_NAMES_VARIABLES = (".npmrc", ".yarnrc.yml", ".m2/settings.xml")
"""Settings in which a password may stand as ``${NAME}``, or ``${env.NAME}``: then NAME belongs to them."""
_ROOTS = {
    "CARGO_HOME": ".cargo",
    "RUSTUP_HOME": ".rustup",
    "npm_config_cache": ".npm",
    "BUN_INSTALL_CACHE_DIR": ".bun/install/cache",
    "PYENV_ROOT": ".pyenv",
    "RBENV_ROOT": ".rbenv",
    "NODENV_ROOT": ".nodenv",
    "GOENV_ROOT": ".goenv",
    "JENV_ROOT": ".jenv",
    "ASDF_DATA_DIR": ".asdf",
    "MISE_DATA_DIR": ".local/share/mise",
    "VOLTA_HOME": ".volta",
}
"""What tools keep below HOME, with the variable that says where."""
_MADE_ANYWAY = ("CARGO_HOME", "npm_config_cache")
"""Said also where there is none yet: the first download is kept too."""


def environment_in(home: Path, **more: str) -> dict[str, str]:
    """The whole environment of a command that builds. HOME and TMPDIR are ``home``, an empty folder, which gets copies
    of the user's settings of registries.
    """
    user = _home()
    for source, target in _settings(user):
        (home / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, home / target)
    given = {name: os.environ[name] for name in seen()}
    own = {"HOME": str(home), "TMPDIR": str(home), "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
    return {**_places(user), **given, **own, **more}


def seen() -> list[str]:
    """Names of the user's variables that a build sees, sorted."""
    named = set(_named_by_settings(_home()))
    return sorted(name for name in os.environ if _SEEN.fullmatch(name) or name in named)


def said() -> str:
    """What a build sees of the user's environment, and what not, in one sentence."""
    shown = seen()
    hidden = len(os.environ) - len(shown)
    return (
        f"builds see of your environment {', '.join(shown) or 'nothing'} (not the other {hidden} variables), and a "
        "HOME of their own with the settings of your registries"
    )


def users_home() -> dict[str, str]:
    """For tools that execute nothing of what is built (git): the user's home, with all settings."""
    return {name: os.environ[name] for name in ("HOME", "XDG_CONFIG_HOME") if name in os.environ}


def user_caches(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables that say where the user's build tools keep what they made and fetched, as they find it themselves.

    With these a command finds it also where HOME is another folder: ``go run`` need not compile the standard library
    at every start, nor ``npx`` fetch.
    """
    home = Path(environment.get("HOME") or "/")
    cache = Path(environment.get("XDG_CACHE_HOME") or home / ".cache")
    go = environment.get("GOPATH", "").split(":")[0] or home / "go"
    places = {
        "GOCACHE": cache / "go-build",
        "GOMODCACHE": Path(go) / "pkg" / "mod",
        "npm_config_cache": home / ".npm",
        "PIP_CACHE_DIR": cache / "pip",
        "UV_CACHE_DIR": cache / "uv",
    }
    return {name: environment.get(name) or str(path) for name, path in places.items()}


def _home() -> Path:
    """The user's."""
    return Path(os.environ.get("HOME") or "/")


def _settings(user: Path) -> Iterator[tuple[Path, str]]:
    """Those that are there, with their names below another home."""
    config = Path(os.environ.get("XDG_CONFIG_HOME") or user / ".config")
    places = [(user / name, name) for name in _SETTINGS] + [(config / name, f".config/{name}") for name in _IN_CONFIG]
    return (place for place in places if place[0].is_file() and os.access(place[0], os.R_OK))


def _named_by_settings(user: Path) -> Iterator[str]:
    for name in _NAMES_VARIABLES:
        if (user / name).is_file() and os.access(user / name, os.R_OK):
            yield from re.findall(r"\$\{(?:env\.)?(\w+)", (user / name).read_text(encoding="utf-8", errors="replace"))


def _places(user: Path) -> dict[str, str]:
    """Where tools find below the user's home what must not be fetched again, unless a variable of the user's says it.

    Go reads that from a file too, which a variable would overrule.
    """
    roots = {name: user / place for name, place in _ROOTS.items() if name in _MADE_ANYWAY or (user / place).is_dir()}
    data = Path(os.environ.get("XDG_DATA_HOME") or user / ".local" / "share")
    roots |= {"XDG_CACHE_HOME": user / ".cache", "UV_PYTHON_INSTALL_DIR": data / "uv" / "python"}
    go = {target: source for source, target in _settings(user)}.get(".config/go/env")
    if go is None or not re.search(r"^GOPATH=", go.read_text(encoding="utf-8", errors="replace"), re.M):
        roots["GOPATH"] = user / "go"
    return {name: str(path) for name, path in roots.items()}
