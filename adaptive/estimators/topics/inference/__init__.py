"""What topic models are made of: bridges between Dirichlet and Gaussian, the sum factor, a document's own step."""
