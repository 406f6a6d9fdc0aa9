"""The ordinal model: thresholds of people and items, learnt by expectation propagation."""
