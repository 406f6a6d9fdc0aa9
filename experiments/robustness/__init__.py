"""Faults on purpose: mutated files, bad calls, broken logs, and what comes of each."""
