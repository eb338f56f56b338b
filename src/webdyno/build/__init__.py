"""From a Contender to a Built one: everything it needs, installed and compiled, once per content.

    order.py     what is to be built, and the tools at hand while doing so
    cache.py     folders named after what went in, published whole or not at all
    tool.py      one build command: started through the host, logged, ended whatever happens
    recipes.py   the table: kind of runtime -> Recipe
    python.py python2.py node.py go.py rust.py jvm.py ruby.py native.py   one Recipe each
    runtimes.py  Runtime -> Found, or the line that says why not; npm_runtime.py: those that npm brings
    needs.py     what else a contender lacks of the system, and what to install
    locks.py     exact versions of everything a contender needs, written by webdyno's developers
    own.py       a server of the catalogue for somebody's own project
    make.py      one contender; several.py: all of a plan, a few at once; embedded.py: a service of our own

It installs nothing outside its cache, runs nothing as another user, and leaves no process behind. Versions are read
from what was installed, never copied from what was asked for.
"""

from webdyno.build.embedded import build_embedded
from webdyno.build.locks import lines_for, lock, unsatisfied
from webdyno.build.make import build
from webdyno.build.needs import lacking
from webdyno.build.runtimes import expect_runtime, fetch_runtime, find_runtime
from webdyno.build.several import Job, build_all

__all__ = [
    "Job",
    "build",
    "build_all",
    "build_embedded",
    "expect_runtime",
    "fetch_runtime",
    "find_runtime",
    "lacking",
    "lines_for",
    "lock",
    "unsatisfied",
]
