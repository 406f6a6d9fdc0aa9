"""Scripts of `experiments` by their names."""

import importlib

from experiments.script import located


def module_of(name):
    """The script's module."""
    return importlib.import_module(located(name).removesuffix(".py").replace("/", "."))
