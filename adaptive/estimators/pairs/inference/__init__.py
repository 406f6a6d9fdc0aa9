"""Poisson factorisation by a variational Gaussian: one row of one factor at a time, and rounds over both factors."""
