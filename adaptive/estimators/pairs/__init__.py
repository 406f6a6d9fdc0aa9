"""Who is paired with whom: the belief of a censored stream of pairs, its predictive, and what users give."""
