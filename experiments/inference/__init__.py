"""Potentials, bounds, posteriors and variances: what the approximations are worth, and what they cost."""
