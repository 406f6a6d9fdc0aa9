"""Beliefs after several answers that come at once: those of what is pending, say, in each of some futures.

`learning` has the algebra, with numbers of the answered candidates alone; `projections` passes it on to Gaussian
projections and mixtures of these, `scores` to the class scores of a softmax.
"""
