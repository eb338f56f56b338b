"""serve_mod_wsgi.py HOST PORT WORKERS THREADS: Apache with mod_wsgi in it, and no other setting than these.

Apache refuses to serve as root. Started by root it is www-data's, as Debian's own, with one right more: to read what is
root's, for the interpreter, its packages and this folder may lie in root's home. Without ``no_setuid_fixup`` access(2), by
which mod_wsgi looks for the environment, would leave that right out.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from string import Template

from mod_wsgi.express import apxs_config

HERE = Path(__file__).resolve().parent
AS_WWW_DATA = [
    "setpriv", "--reuid", "www-data", "--regid", "www-data", "--clear-groups", "--securebits", "+no_setuid_fixup",
    "--inh-caps", "-all,+dac_override", "--ambient-caps", "-all,+dac_override",
]  # fmt: skip

if __name__ == "__main__":
    host, port, workers, threads = sys.argv[1:]
    state = Path(os.environ["HOME"], "apache")  # a fresh folder of this run
    state.mkdir()
    configuration = state / "httpd.conf"
    configuration.write_text(
        Template((HERE / "httpd.conf").read_text()).substitute(
            host=host,
            bind=f"{host}:{port}",
            state=state,
            workers=workers,
            threads=threads,
            app=HERE,
            modules=apxs_config.LIBEXECDIR,
            load=subprocess.run(["mod_wsgi-express", "module-config"], check=True, capture_output=True, text=True).stdout,
        )
    )
    command = [apxs_config.HTTPD, "-f", str(configuration), "-DFOREGROUND"]
    if os.geteuid() == 0:
        for path in (state, configuration):
            shutil.chown(path, "www-data", "www-data")
        command = AS_WWW_DATA + command
    os.execvp(command[0], command)
