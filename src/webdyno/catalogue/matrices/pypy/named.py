"""What MODULE:NAME names: the app that a serve script was told."""

from importlib import import_module


def named(text):
    module, _, name = text.partition(":")
    return getattr(import_module(module), name)
