"""Labels of several people who differ: what each says of each true label is learnt beside the weights."""
