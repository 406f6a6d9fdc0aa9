"""Topics of documents that carry metadata: what users give, what is believed, and the view that the loop reads with."""
