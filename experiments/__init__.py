"""One script per figure or table of the sources, run from the repository root as ``python -m experiments.NAME``."""
