"""``python -m webdyno``: the same as the ``webdyno`` program."""

from webdyno.commands import main

if __name__ == "__main__":
    main()
