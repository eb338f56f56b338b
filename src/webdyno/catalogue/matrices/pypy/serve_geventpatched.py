"""serve_geventpatched.py HOST PORT APP: gevent's own server; what waits for Redis lets other greenlets go on."""

from gevent import monkey

monkey.patch_all()  # before anything else is imported

import runpy

if __name__ == "__main__":
    runpy.run_module("serve_gevent", run_name="__main__", alter_sys=True)
