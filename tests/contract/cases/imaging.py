"""Images from lines, spirals, patterns, photons, coils."""

from __future__ import annotations

import numpy as np

from adaptive import ImageReconstructor, SeveralImages
from adaptive.images import simulate_scan
from adaptive.images.coils import simulate_coils
from designs import kspace
from designs.kspace.trajectory import spirals
from tests.contract.case import Case

BLOB = np.add.outer(np.linspace(-1, 1, 16) ** 2, np.linspace(-1, 1, 8) ** 2) < 0.7
SCAN = simulate_scan(BLOB.astype(float), snr=100, largest_phase=0.0, random_state=0)
OTHER = simulate_scan(BLOB[:, ::-1] * 0.5, snr=100, largest_phase=0.0, random_state=1)
LINES = kspace.lines(BLOB.shape)
CENTRE = LINES.take(range(5, 11))
OUTER = LINES.take([*range(5), *range(11, 16)])
COIL_MAPS = simulate_coils(BLOB.shape, 2, random_state=0)
DISC = BLOB[::2].astype(float)
SPIRALS = spirals(DISC.shape, np.arange(11) * 0.57, revolutions=2)
CUBE = np.zeros((4, 6, 6))
CUBE[1:3, 1:5, 2:4] = 1.0
ENCODES = kspace.phase_encodes(CUBE.shape)
CENTRAL_ENCODES = ENCODES.take(np.flatnonzero(np.all(np.abs(ENCODES.encodes - 3) <= 1, axis=1)))
SOME_ENCODES = ENCODES.take([0, 5, 6, 10, 13, 17, 19, 24, 30, 35])
PATTERNS = np.random.default_rng(0).standard_normal((23, 64)) / 8


def reconstructor(shape=BLOB.shape, **options):
    return ImageReconstructor(
        shape, prior="tv", prior_scales=0.1, design_noise_variance=1e-4, design_prior_scales=0.05, n_samples=4,
        phase=None, dtype="float64", design_dtype="float64", refine=True, **options,
    )  # fmt: skip


def both(lines):
    """Samples of each line of two images."""
    return [np.stack(pair) for pair in zip(SCAN.measure(lines), OTHER.measure(lines), strict=True)]


def blocks_of(image, maps=None):
    """Samples of blocks with a little noise."""

    def measure(blocks):
        rng = np.random.default_rng(0)
        clean = [block.forward(image if maps is None else maps * image) for block in blocks]
        return [y + 0.01 * (rng.standard_normal(y.shape) + 1j * rng.standard_normal(y.shape)) for y in clean]

    return measure


def of_blocks(name, shape, candidates, first, measure, **options):
    def make():
        return reconstructor(shape, noise_variance=1e-4, **options)

    learn = (first, measure(first))
    return Case(f"ImageReconstructor of {name}", make, candidates, learn, measure, given="blocks", once=True)


def seen(rows):
    return np.asarray(rows) @ DISC.ravel()


def of_patterns(name, **options):
    def make():
        return ImageReconstructor((8, 8), prior_scales=0.2, noise_variance=0.01, n_samples=4, **options)

    learn = (PATTERNS[12:], seen(PATTERNS[12:]))
    return Case(f"ImageReconstructor of patterns{name}", make, PATTERNS[:12], learn, seen, given="blocks")


def photons():
    return ImageReconstructor((8, 8), likelihood="poisson", prior="tv", prior_scales=0.2)


def exposed(rows):
    """Patterns that let through what they do not block, so briefly that tables of counts are short."""
    return 0.15 * (np.asarray(rows) > 0)


def photons_of(rows):
    return np.round(seen(rows))


CASES = [
    Case(
        "ImageReconstructor", reconstructor, OUTER, (CENTRE, SCAN.measure(CENTRE)), SCAN.measure, given="blocks",
        once=True,
    ),
    Case(
        "SeveralImages", lambda: SeveralImages([reconstructor(), reconstructor()]), OUTER, (CENTRE, both(CENTRE)), both,
        given="blocks", once=True,
    ),
    of_blocks("coils", BLOB.shape, OUTER, CENTRE, blocks_of(BLOB, COIL_MAPS), coils=COIL_MAPS),
    of_blocks("spirals", DISC.shape, SPIRALS.take(range(1, 11)), SPIRALS.take([0]), blocks_of(DISC)),
    of_blocks("a volume", CUBE.shape, SOME_ENCODES, CENTRAL_ENCODES, blocks_of(CUBE)),
    of_blocks(
        "a volume by expectation propagation", CUBE.shape, SOME_ENCODES, CENTRAL_ENCODES, blocks_of(CUBE),
        inference="expectation_propagation",
    ),
    of_patterns("", refine=True),
    of_patterns(" by expectation propagation", inference="expectation_propagation"),
    of_patterns(" with a tree", refine=True, prior="tree", wavelet="haar"),
    Case(
        "ImageReconstructor of photons", photons, exposed(PATTERNS[:12]),
        (exposed(PATTERNS[12:]), photons_of(exposed(PATTERNS[12:]))), photons_of, given="direction",
    ),
]  # fmt: skip
