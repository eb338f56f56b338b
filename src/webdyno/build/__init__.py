"""From a Contender to a Built one: everything it needs, installed and compiled, once per content.

    order.py     what is to be built, and the tools at hand while doing so
    cache.py     folders named after what went in, published whole or not at all
    environment.py   what of the user's environment and home a build sees
    tool.py      one build command: started through the host, logged, ended whatever happens
    recipes.py   the table: kind of runtime -> Recipe
    python.py python2.py node.py go.py rust.py jvm.py ruby.py native.py   one Recipe each
    runtimes.py  Runtime -> Found, or the line that says why not; npm_runtime.py: those that npm brings
    needs.py     what else a contender lacks of the system, and what to install
    locks.py     exact versions of everything a contender needs, with hashes, written by webdyno's developers
    mismatch.py  a file that is not the one its lock names
    own.py       a server of the catalogue for somebody's own project
    make.py      one contender; several.py: all of a plan, a few at once; embedded.py: a service of our own

It installs nothing outside its cache, runs nothing as another user, and leaves no process behind. Versions are read
from what was installed, never copied from what was asked for.
"""

from webdyno.build.cache import complete, pack, unpack
from webdyno.build.embedded import build_embedded
from webdyno.build.jvm import HASHES, lock_jars
from webdyno.build.locks import KINDS, lines_for, lock, unsatisfied, without_hashes
from webdyno.build.make import build, folders_of
from webdyno.build.needs import lacking
from webdyno.build.runtimes import expect_runtime, fetch_runtime, find_runtime
from webdyno.build.several import Job, build_all

__all__ = [
    "HASHES",
    "KINDS",
    "Job",
    "build",
    "build_all",
    "build_embedded",
    "complete",
    "expect_runtime",
    "fetch_runtime",
    "find_runtime",
    "folders_of",
    "lacking",
    "lines_for",
    "lock",
    "lock_jars",
    "pack",
    "unpack",
    "unsatisfied",
    "without_hashes",
]
