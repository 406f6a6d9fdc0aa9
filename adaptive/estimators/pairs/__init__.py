"""Pairs (user, item): counts of them (`PoissonFactorization`), and pairs that just happened (`PairedSymbols`)."""
