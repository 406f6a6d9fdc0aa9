"""Weighted particles: reweighting, systematic resampling, moves that leave the posterior as it is, tempering."""
