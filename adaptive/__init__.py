"""Sequential experimental design and active learning with approximate Bayesian posteriors."""
