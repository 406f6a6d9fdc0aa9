"""Pulseq: plans as vendor-neutral sequences, and other phase encodes in a sequence that somebody has."""
