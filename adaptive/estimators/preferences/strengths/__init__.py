"""Beliefs about the strengths of things that are compared in pairs: ties, positions, judges who may be wrong."""
