"""One script per figure or table of the sources, by subject: ``python -m experiments.SUBJECT.NAME`` from the root."""
