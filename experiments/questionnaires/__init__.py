"""Questionnaires: comparisons of models, adaptive tests, calibration designs."""
