"""Linear models: one kind of belief per likelihood and number of classes, all of one shape (`Belief`).

    SparseBelief                                        numbers; noise and prior scale by evidence
    BinaryBelief, SoftmaxBelief, OneVsRestBelief        labels of two classes, of more jointly, of each against the rest

Of beliefs about labels ``probabilities(rows)``, ``winners(rows)`` and ``coefficients()`` are asked, too.
"""
