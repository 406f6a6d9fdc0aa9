"""Many traits at once: items by their loadings, people as Gaussians over all traits."""
