"""What many people prefer: one Gaussian over items' utilities, many small inferences, and what they teach it."""
