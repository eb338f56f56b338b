"""Why a server is left out, as a person reads it."""

from __future__ import annotations

from webdyno.model.errors import BuildError
from webdyno.session.tryout.servers import _reason

UV = """error: No solution found when resolving dependencies
  cause: Because gevent>=26.9.0 depends on greenlet{platform_python_implementation == 'CPython'}>=3.2.2 and
         greenlet{platform_python_implementation == 'CPython'}==2.0.2, we can conclude that gevent>=26.9.0 cannot be
         used.
         And because you require gevent==26.9.0, we can conclude that your requirements are unsatisfiable.
"""


def test_the_resolver_is_quoted_without_its_conclusions() -> None:
    error = BuildError("could not install gevent: uv ended with status 1", UV)
    assert _reason(error) == (
        "it does not go with what the project has: gevent>=26.9.0 depends on greenlet>=3.2.2 and greenlet==2.0.2"
    )


def test_what_fails_otherwise_says_so_itself() -> None:
    error = BuildError(
        "could not install bjoern: uv ended with status 1; it needs of the system: libev", "ev.h: no such file"
    )
    assert _reason(error) == str(error)
