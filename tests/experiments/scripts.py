"""Scripts of `experiments` by their names."""

import importlib

from experiments import claims
from experiments.script import Script, located


def module_of(name):
    """The script's module."""
    return importlib.import_module(located(name).removesuffix(".py").replace("/", "."))


def quick_entries(name, folder):
    """What the script's quick mode judges, by id."""
    module_of(name).run(Script(located(name), folder, quick=True))
    return {entry["id"]: entry for entry in claims.load(folder)}
