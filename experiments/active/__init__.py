"""Which row to have labelled, and what a label teaches: active learning and classical design."""
