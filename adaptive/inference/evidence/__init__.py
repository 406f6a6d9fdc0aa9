"""The evidence as a function of hyper-parameters: its slopes, and the climb to where it is largest."""
