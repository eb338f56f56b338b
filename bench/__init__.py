"""Our own speed and truth, beside the load tools that are installed. Not in the package: it needs the sources."""
