"""What carries Trials out, for commands and for programs that import webdyno alike."""
