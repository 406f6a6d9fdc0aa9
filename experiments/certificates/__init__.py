"""Certificates: how far designs are from the best, when to stop, and whether planning ahead would help."""
