"""webdyno: a dynamometer for web servers.

A Contender is strapped into a Rig, a Driver puts a Load on it, the Run is written down, and only from written Runs do
we ever speak a Verdict. The pipeline's verbs are the package's modules, in its order: read, plan, build, serve, load,
measure (joined by conduct), store; and below the store, which is the only bridge, analyse and report.
"""

__version__ = "0.1.0"
