"""Inference of topic models: bridges between Dirichlet and Gaussian, the sum factor, a document's own step."""
