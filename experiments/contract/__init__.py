"""What every estimator promises, asked of all of them: one history leads to one posterior."""
