"""Where k-space design pays: against the best of all simple rules, on other slices and other heads."""
