"""Pairs that just happened: the belief of `PairedSymbols`, its stream, its predictive, what is best to show."""
