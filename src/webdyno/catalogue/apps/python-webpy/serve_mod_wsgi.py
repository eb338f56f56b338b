"""serve_mod_wsgi.py HOST PORT WORKERS THREADS MODULE CALLABLE: Apache with mod_wsgi, through mod_wsgi-express.

Apache refuses to serve as root. Started by root it is www-data's, as Debian's own, with one right more: to read what is
root's, for the interpreter, its packages and this folder may lie in root's home. Without ``no_setuid_fixup`` access(2), by
which mod_wsgi looks for the environment, would leave that right out.
"""

import os
import shutil
import sys
from pathlib import Path

AS_WWW_DATA = [
    "setpriv", "--reuid", "www-data", "--regid", "www-data", "--clear-groups", "--securebits", "+no_setuid_fixup",
    "--inh-caps", "-all,+dac_override", "--ambient-caps", "-all,+dac_override",
]  # fmt: skip

if __name__ == "__main__":
    host, port, workers, threads, module, name = sys.argv[1:]
    state = Path(os.environ["HOME"], "apache")  # a fresh folder of this run
    # fmt: off
    command = [
        "mod_wsgi-express", "start-server", str(Path(module).resolve()), "--callable-object", name,
        "--host", host, "--port", port, "--processes", workers, "--threads", threads,
        "--server-root", str(state), "--working-directory", str(Path.cwd()),
        "--server-backlog", "2048",  # 500 unless told
        "--max-clients", "1024",  # 1.5 times the threads unless told: the other connections wait unanswered
        "--keep-alive-timeout", "60",  # 2 s unless told
        "--log-to-terminal", "--log-level", "error",
    ]
    # fmt: on
    if os.geteuid() == 0:
        state.mkdir()
        shutil.chown(state, "www-data", "www-data")
        command = AS_WWW_DATA + command
    os.execvp(command[0], command)
