"""Softmax regression: one Gaussian over the weights of all classes."""
