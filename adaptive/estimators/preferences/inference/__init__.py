"""Preferences of many people: one Gaussian over items' utilities, fitted by as many small inferences."""
