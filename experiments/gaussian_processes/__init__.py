"""Gaussian processes: evidence, marginals and errors of every approximation; designed against random inputs."""
