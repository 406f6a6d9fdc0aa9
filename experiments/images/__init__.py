"""Photographs and sparse signals from few measurements."""
