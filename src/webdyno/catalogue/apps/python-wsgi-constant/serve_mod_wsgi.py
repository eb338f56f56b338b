"""serve_mod_wsgi.py HOST PORT WORKERS THREADS: Apache with mod_wsgi, through mod_wsgi-express and its defaults of 2016.

Apache refuses to serve as root. Started by root it is www-data's, as in study wsgi's article, with one right more: to
read what is root's, for the interpreter and its packages may lie in root's home. Without ``no_setuid_fixup`` access(2),
by which mod_wsgi looks for the environment, would leave that right out.
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
    host, port, workers, threads = sys.argv[1:]
    state = Path(os.environ["HOME"], "apache")  # a fresh folder of this run
    # fmt: off
    command = [
        "mod_wsgi-express", "start-server", str(Path("app.py").resolve()),
        "--host", host, "--port", port, "--processes", workers, "--threads", threads,
        "--server-root", str(state), "--working-directory", str(Path.cwd()),
        "--keep-alive-timeout", "0",  # off, as it was unless told; 2 s since
    ]
    # fmt: on
    if os.geteuid() == 0:
        state.mkdir()
        shutil.chown(state, "www-data", "www-data")
        command = AS_WWW_DATA + command
    os.execvp(command[0], command)
