"""The line of a log that says why: what Node, Python, Go, Java and their tools really print, and logs that are long."""

from __future__ import annotations

import pytest

from webdyno.model.log import CUT, decisive_line, end_of, last_lines

NODE = """node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module 'expresss'
Require stack:
- /srv/a.js
    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)
    at Module._load (node:internal/modules/cjs/loader:1038:27)
    at Module.require (node:internal/modules/cjs/loader:1289:19)
    at require (node:internal/modules/helpers:182:18)
    at Object.<anonymous> (/srv/a.js:1:11)
    at Module._compile (node:internal/modules/cjs/loader:1521:14)
    at Module._extensions..js (node:internal/modules/cjs/loader:1623:10)
    at Module.load (node:internal/modules/cjs/loader:1266:32)
    at Module._load (node:internal/modules/cjs/loader:1091:12)
    at Function.executeUserEntryPoint [as runMain] (node:internal/modules/run_main:164:12) {
  code: 'MODULE_NOT_FOUND',
  requireStack: [ '/srv/a.js' ]
}

Node.js v20.20.2
"""
PYTHON = """Traceback (most recent call last):
  File "/srv/a.py", line 4, in <module>
    {}['x']
KeyError: 'x'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/a.py", line 6, in <module>
    f()
  File "/srv/a.py", line 2, in f
    import flaskk
ModuleNotFoundError: No module named 'flaskk'
[2026-11-22 15:00:00 +0000] [812] [ERROR] Reason: Worker failed to boot.
"""
JAVA = """Exception in thread "main" java.lang.RuntimeException: could not start
	at A.main(A.java:1)
	at java.base/java.lang.reflect.Method.invoke(Method.java:569)
Caused by: java.lang.IllegalStateException: port 80
	at A.g(A.java:1)
	... 6 more
"""
GO = """panic: assignment to entry in nil map

goroutine 1 [running]:
main.main()
	/srv/m.go:2 +0x2c
exit status 2
"""
RUST = """thread 'main' (9064) panicked at p.rs:1:54:
index out of bounds: the len is 0 but the index is 3
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
"""


@pytest.mark.parametrize(
    ("log", "line"),
    [
        (NODE, "Error: Cannot find module 'expresss'"),
        ("    at x (y:1:2)\nError [ERR_MODULE_NOT_FOUND]: Cannot find module '/x'\n  code: 'E'", "Error [ERR_MODULE_"),
        ("Error: no database\n    at main (d.js:1:60) {\n  [cause]: Error: pool is empty\n}", "[cause]: Error: pool"),
        (PYTHON, "ModuleNotFoundError: No module named 'flaskk'"),
        ("    assert False\nAssertionError\n", "AssertionError"),
        (JAVA, "Caused by: java.lang.IllegalStateException: port 80"),
        (GO, "panic: assignment to entry in nil map"),
        (RUST, "thread 'main' (9064) panicked at p.rs:1:54: index out of bounds: the len is 0 but the index is 3"),
        ("error[E0308]: mismatched types\n --> t.rs:1:24\nerror: aborting due to 1 previous error\n", "error[E0308]:"),
        ("t.c: In function 'main':\nt.c:1:20: error: 'x' undeclared\nt.c:1:20: note: each\n", "t.c:1:20: error: 'x'"),
        ("# x\n./m.go:2:14: declared and not used: x\n./m.go:3:2: undefined: y\n", "./m.go:2:14: declared"),
        ("a.rb:1:in `require': cannot load such file -- sinatra (LoadError)\n\tfrom a.rb:1\n", "a.rb:1:in `require'"),
        ("npm error code ENOENT\nnpm error enoent Could not read package.json\nnpm error A complete", "npm error eno"),
        ("sh: 1: nodemon: not found\n", "sh: 1: nodemon: not found"),
        ("make: *** No rule to make target 'nope'.  Stop.\n", "make: *** No rule"),
    ],
)  # fmt: skip
def test_the_line_that_says_why_is_found(log: str, line: str) -> None:
    assert (decisive_line(log) or "").startswith(line)


def test_a_log_that_says_nothing_of_it_has_none() -> None:
    assert decisive_line("listening on 8000\nready\n") is None
    assert decisive_line("") is None
    assert last_lines("one\ntwo\nthree\n", 2) == ["two", "three"]


def test_the_end_of_a_log_is_led_by_it_where_it_lies_before() -> None:
    shown = last_lines(NODE, 12)
    assert len(shown) == 12
    assert shown[:2] == ["Error: Cannot find module 'expresss'", CUT]
    assert shown[-1] == "Node.js v20.20.2"
    assert last_lines(JAVA, 4)[0] == "\tat java.base/java.lang.reflect.Method.invoke(Method.java:569)"
    assert last_lines(GO, 12) == [line for line in GO.splitlines() if line]
    assert last_lines(NODE, 1) == ["Error: Cannot find module 'expresss'"]


def test_what_is_kept_of_a_long_log_holds_it() -> None:
    long = GO + "goroutine 9 [select]:\n" * 1_000
    kept = end_of(long, 4096)
    assert len(kept) <= 4096
    assert kept.startswith(f"panic: assignment to entry in nil map\n{CUT}\ngoroutine 9 [select]:\n")
    assert decisive_line(kept) == "panic: assignment to entry in nil map"
    assert end_of(GO, 4096) == GO
    assert end_of("x" * 5_000, 4096) == "x" * 4096


@pytest.mark.parametrize("word", ["a.b", "(", "x: ", "Errors"])
def test_lines_without_end_are_looked_at_for_a_while_only(word: str) -> None:
    assert decisive_line("\n".join([word * 20_000] * 10)) is None
