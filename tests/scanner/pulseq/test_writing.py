"""Plans as sequences of our own: where they read out, by pypulseq, and the times and gradients that cannot be had."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.spatial import cKDTree

from adaptive.scanner import Geometry, write_pulseq
from adaptive.scanner.pulseq.hardware import read_hardware
from designs.kspace import (
    LinePool,
    PhaseEncodePool,
    TrajectoryPool,
    equispaced_angles,
    export_design,
    golden_angles,
    import_design,
    spirals,
    spokes,
)

pp = pytest.importorskip("pypulseq")
RNG = np.random.default_rng(0)
DESIGNS = {
    "lines": (LinePool((32, 24), RNG.permutation(32)[:12], 0), (256, 192, 5)),
    "lines along axis 1": (LinePool((32, 24), RNG.permutation(24)[:9], 1), (256, 192, 5)),
    "odd sides": (LinePool((33, 25), [0, 16, 32, 5], 0), (256, 192, 5)),
    "points": (PhaseEncodePool((24, 16, 12), [(8, 6), (0, 0), (15, 11), (3, 7)], 0), (240, 180, 120)),
    "points read out along axis 1": (PhaseEncodePool((16, 24, 12), [(8, 6), (0, 11)], 1), (240, 180, 120)),
    "spokes": (spokes((32, 32), golden_angles(5, np.pi)), (240, 240, 5)),
    "spokes of an oblong": (spokes((32, 24), equispaced_angles(4)), (240, 180, 5)),
    "spirals": (spirals((32, 32), golden_angles(3), revolutions=4), (240, 240, 5)),
}


def read(path):
    sequence = pp.Sequence()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sequence.read(str(path))
    return sequence


def steps_of(sequence, design, view):
    """(shots, samples, axes) in encodes, 1/F, along the axes of the image."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        k = sequence.calculate_kspace()[0].T.reshape(len(design), -1, 3)
    axes = {"lines": lambda: (1 - design.axis, design.axis), "encodes": lambda: (
        design.readout, *(a for a in range(3) if a != design.readout))}  # fmt: skip
    order = next((make() for name, make in axes.items() if hasattr(design, name)), (0, 1))
    found = np.zeros((*k.shape[:2], len(design.image_shape)))
    for place, axis in enumerate(order):
        found[..., axis] = k[..., place] * view[axis] * 1e-3
    return found


def planned(design):
    """The same, of the plan."""
    if hasattr(design, "samples"):
        scale = np.array(design.image_shape) / (2 * np.pi)
        whole = [np.unwrap(one, axis=0) for one in design.samples]  # pi is -pi in a pool
        return [(one - 2 * np.pi * np.round(one.mean(axis=0) / (2 * np.pi))) * scale for one in whole]
    shape = design.image_shape
    readout = 1 - design.axis if hasattr(design, "lines") else design.readout
    entries = design.lines[:, None] if hasattr(design, "lines") else design.encodes
    found = []
    for entry in entries:
        place = np.zeros((shape[readout], len(shape)))
        place[:, readout] = np.arange(shape[readout]) - shape[readout] // 2
        for axis, value in zip([a for a in range(len(shape)) if a != readout], entry, strict=True):
            place[:, axis] = value - shape[axis] // 2
        found.append(place)
    return found


@pytest.fixture(scope="module", params=DESIGNS)
def made(request, tmp_path_factory):
    design, view = DESIGNS[request.param]
    path = write_pulseq(tmp_path_factory.mktemp("plan") / "plan.seq", design, view)
    return design, view, path, read(path)


def test_it_reads_out_where_the_plan_says(made):
    """Every sample of lines, encodes and spokes to 1e-3 of an encode; of spirals the curve, through all its samples."""
    design, view, _, sequence = made
    found, wanted = steps_of(sequence, design, view), planned(design)
    assert sequence.check_timing() == (True, [])
    if found.shape == np.shape(wanted):
        np.testing.assert_allclose(found, wanted, atol=1e-3)
        return
    for shot, curve in zip(found, wanted, strict=True):
        path = CubicSpline(np.r_[-0.5, np.arange(len(shot))], np.vstack([np.zeros(2), shot]))
        at = np.linspace(-0.5, len(shot) - 1, 400 * len(shot))
        nearest = at[cKDTree(path(at)).query(curve)[1]]
        along = path(nearest, 1)
        along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
        off = curve - path(nearest)
        assert np.linalg.norm(off - np.sum(off * along, axis=1)[:, None] * along, axis=1).max() < 1e-3
        assert np.linalg.norm(shot[-1] - curve[-1]) < 2e-2  # the last sample at its end


def test_gradients_keep_to_the_limits(made):
    """28 mT/m and 120 T/m/s on every axis, by the waveforms."""
    *_, sequence = made
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        waves = sequence.waveforms_and_times()[0]
    for t, g in waves:
        assert np.abs(g).max() / 42.576e6 <= 28.001e-3
        apart = np.diff(t) > 1e-9
        assert np.abs(np.diff(g)[apart] / np.diff(t)[apart]).max() / 42.576e6 <= 120.1


def test_it_is_read_back(made):
    design, _, path, sequence = made
    again = import_design(path)
    assert type(again) is type(design) and again.image_shape == design.image_shape
    labels = sequence.evaluate_labels(evolution="adc")
    if hasattr(design, "lines"):
        assert again.labels() == design.labels() == labels["LIN"].tolist() and again.axis == design.axis
    elif hasattr(design, "encodes"):
        assert again.labels() == design.labels() and again.readout == design.readout
        assert np.column_stack([labels["LIN"], labels["PAR"]]).tolist() == design.encodes.tolist()
    else:
        assert len(again) == len(design) and labels["LIN"].tolist() == list(range(len(design)))
        if len(again.samples[0]) == len(design.samples[0]):
            off = np.exp(1j * np.array(again.samples)) - np.exp(1j * np.array(design.samples))  # pi is -pi
            assert np.abs(off).max() < 2 * np.pi * 1e-3 / min(design.image_shape)


def test_times_and_flip_angle_are_those_asked_for(tmp_path):
    design, view = DESIGNS["lines"]
    sequence = read(write_pulseq(tmp_path / "plan.seq", design, view, tr=20, te=6, flip=25, dummies=3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, _, excited, _, read_out = sequence.calculate_kspace()
    assert np.diff(excited).round(9) == pytest.approx(np.full(14, 20e-3))
    centre = read_out.reshape(len(design), -1)[:, design.image_shape[1] // 2]
    np.testing.assert_allclose(centre - np.array(excited)[3:], 6e-3, atol=1e-5)  # to the raster of the gradients
    rf = sequence.get_block(1).rf
    turned = 2 * np.pi * np.abs(np.trapezoid(rf.signal, rf.t))
    assert np.rad2deg(turned) == pytest.approx(25, rel=1e-2)
    assert sequence.definitions["TR"] == pytest.approx(20e-3)


REFUSED = [
    (
        "lines",
        {"te": 1.0},
        r"te must be at least \d\.\d\d ms for this field of view, matrix and these gradients, got 1\.",
    ),
    ("lines", {"tr": 2.0}, r"tr must be at least \d\.\d\d ms"),
    ("spirals", {"te": 0.5}, r"te must be at least"),
    ("lines", {"field_of_view": None}, r"field_of_view must be given, three lengths in mm"),
    ("lines", {"field_of_view": (0.2, 0.2, 0.005)}, r"field_of_view is in mm"),
    ("lines", {"field_of_view": (200, 200, 0.05)}, r"a slice of 0\.05 mm is beyond the gradients"),
    (
        "lines",
        {"field_of_view": (20, 3, 5)},
        r"reading out at 10 us a sample needs .* mT/m, and the limit is 28\.0: a dwell",
    ),
    ("lines", {"system": {"max_gradient": 30}}, r"system has no 'max_gradient'; it knows max_grad"),
    ("lines", {"system": {"max_grad": 0.03}}, r"max_grad is in mT/m, 1 to 1000, got 0\.03: mixed units"),
    ("lines", {"system": {"dwell": 10}}, r"dwell is in seconds and below 0\.01, got 10: mixed units"),
    ("lines", {"flip": 0}, r"flip must be > 0"),
    ("plane", {}, r"the design is of one plane: a sequence needs the volume"),
    ("volume", {}, r"shots are written of images, and the design is of \(8, 8, 8\)"),
    ("empty", {}, r"the design is empty"),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_what_cannot_be_done_is_one_sentence(case, tmp_path):
    name, options, message = REFUSED[case]
    others = {
        "plane": (PhaseEncodePool((8, 8), [(1, 1)]), (200, 200, 200)),
        "volume": (TrajectoryPool((8, 8, 8), np.zeros((1, 4, 3))), (200, 200, 200)),
        "empty": (LinePool((8, 8), []), (200, 200, 5)),
    }
    design, view = DESIGNS[name] if name in DESIGNS else others[name]
    view = options.pop("field_of_view", view) if "field_of_view" in options else view
    with pytest.raises(ValueError, match=message) as caught:
        write_pulseq(tmp_path / "plan.seq", design, view, **options)
    assert "\n" not in str(caught.value) and not list(tmp_path.iterdir())


def test_a_place_in_the_patient_and_limits_from_a_file(tmp_path):
    (tmp_path / "scanner.toml").write_text("max_grad = 20\nmax_slew = 50\ndwell = 20e-6\n")
    design, _ = DESIGNS["lines"]
    place = Geometry(np.zeros(3), np.eye(3), np.array([8.0, 8.0, 5.0]), (32, 24, 1))
    slow = read(
        write_pulseq(tmp_path / "slow.seq", design, geometry=place, system=read_hardware(tmp_path / "scanner.toml"))
    )
    fast = read(export_design(design, tmp_path / "fast.seq", geometry=place))
    assert slow.definitions["FOV"].tolist() == fast.definitions["FOV"].tolist() == [0.192, 0.256, 0.005]
    assert slow.definitions["TR"] > fast.definitions["TR"]
    (tmp_path / "scanner.toml").write_text("max_grad = \n")
    with pytest.raises(ValueError, match=r"scanner\.toml cannot be read as TOML"):
        read_hardware(tmp_path / "scanner.toml")
    (tmp_path / "scanner.toml").write_text("slew = 3\n")
    with pytest.raises(ValueError, match=r"scanner\.toml: system has no 'slew'"):
        read_hardware(tmp_path / "scanner.toml")


def test_sequences_of_others_are_read_as_designs(tmp_path):
    """Their matrix is what they cover; each encode once, of however many slices."""
    from experiments.scanner.shared import pulseq_sequences as sequences

    for make, wanted, shape in (
        (sequences.gradient_echo, list(range(31, -1, -1)), (32, 40)),
        (lambda: sequences.gradient_echo(labelled=True, slices=2, n=8), [0, 7, 6, 5, 4, 3, 2, 1], (8, 40)),
    ):
        path = tmp_path / "own.seq"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            make().write(str(path))
        found = import_design(path)
        assert found.image_shape == shape and sorted(found.labels()) == sorted(wanted)
        assert found.labels()[1:] == list(range(shape[0] - 1, 0, -1))  # n/2 is -n/2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sequences.mprage().write(str(path))
        volume = import_design(path)
        sequences.haste().write(str(path))
    assert volume.image_shape == (40, 10, 12) and len(volume) == 120 and volume.labels()[0] == (0, 0)
    with pytest.raises(ValueError, match=r"own\.seq does not define FOV"):
        import_design(path)
    with pytest.raises(FileNotFoundError):
        import_design(tmp_path / "none.seq")
