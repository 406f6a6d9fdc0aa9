"""Another table of phase encodes in a sequence that somebody has: five kinds of it, and what cannot be done."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from adaptive.scanner import exchange_encodes
from designs.kspace import LinePool, PhaseEncodePool, import_design, spokes
from experiments.scanner.shared import pulseq_sequences as sequences
from experiments.scanner.shared.pulseq_sequences import FOV, READ, N

pp = pytest.importorskip("pypulseq")
MM = (1e3 * FOV, 1e3 * FOV, 5.0)
KINDS = {  # (sequence, axes that are encoded as a plan has them, fields of view of them, matrix, place of the centre)
    "gradient echo": (sequences.gradient_echo, "y", (FOV,), (N,), None),
    "labelled gradient echo": (lambda: sequences.gradient_echo(labelled=True), "y", (FOV,), (N,), None),
    "turbo spin echo": (sequences.turbo_spin_echo, "y", (FOV,), (N,), 3),
    "HASTE": (sequences.haste, "y", (FOV,), (N,), 5),
    "MPRAGE": (sequences.mprage, "yx", (0.2, 0.18), (10, 12), 6),
}


def read(path):
    sequence = pp.Sequence()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sequence.read(str(path))
    return sequence


def written(sequence, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sequence.write(str(path))
    return path


def k_of(sequence):
    """(read-outs, samples, 3), by pypulseq."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sequence.calculate_kspace()[0].T.reshape(-1, READ, 3)


def encodes_of(sequence, axes, view):
    k = k_of(sequence)[:, READ // 2]
    return np.column_stack([k[:, "xyz".index(axis)] * f for axis, f in zip(axes, view, strict=True)])


def plan(matrix, positions):
    """A plan of these encodes, each a tuple of indices."""
    if len(matrix) == 1:
        return LinePool((matrix[0], READ), [one[0] for one in positions])
    return PhaseEncodePool((READ, *matrix), positions)


@pytest.fixture(scope="module", params=KINDS)
def kind(request, tmp_path_factory):
    make, axes, view, matrix, centre = KINDS[request.param]
    path = written(make(), tmp_path_factory.mktemp("sequence") / "own.seq")
    return path, read(path), axes, view, matrix, centre


def stated(view):
    return None if len(view) > 1 else MM


def test_the_own_table_goes_back_to_where_it_was(kind, tmp_path):
    path, own, axes, view, matrix, _ = kind
    was = encodes_of(own, axes, view)
    indices = (np.round(was).astype(int) + np.array(matrix) // 2) % np.array(matrix)
    again = read(exchange_encodes(tmp_path / "again.seq", path, plan(matrix, indices), stated(view)))
    found = encodes_of(again, axes, view)
    side = np.array(matrix)
    np.testing.assert_allclose((found - was + side / 2) % side - side / 2, 0.0, atol=1e-3)  # n/2 is -n/2
    assert len(again.block_events) == len(own.block_events)
    assert again.check_timing() == (True, [])


def test_a_plan_is_read_out_where_it_says_and_all_else_stays(kind, tmp_path):
    path, own, axes, view, matrix, centre = kind
    rng = np.random.default_rng(0)
    every = [tuple(one) for one in np.argwhere(np.ones(matrix))]
    middle = tuple(n // 2 for n in matrix)
    chosen = [middle, *(every[k] for k in rng.permutation(len(every))[: 2 * len(every) // 5] if every[k] != middle)]
    design = plan(matrix, chosen)
    made = read(exchange_encodes(tmp_path / "plan.seq", path, design, stated(view)))
    found = encodes_of(made, axes, view)
    wanted = np.array(chosen) - np.array(matrix) // 2
    if centre is None:
        np.testing.assert_allclose(found, wanted, atol=1e-3)  # in the plan's order
    assert sorted(map(tuple, np.round(found).astype(int).tolist())) == sorted(map(tuple, wanted.tolist()))
    assert np.abs(found - np.round(found)).max() < 1e-3
    assert made.check_timing() == (True, [])
    labels = made.evaluate_labels(evolution="adc")
    for column, name in enumerate(("LIN", "PAR")[: len(matrix)]):
        np.testing.assert_array_equal(labels[name], np.round(found[:, column]) + matrix[column] // 2)
    # the read-outs that stay are where they were, to 1e-9 of a metre's inverse
    along = ["xyz".index(axis) for axis in "xyz" if axis not in axes]
    was, now = k_of(own)[..., along], k_of(made)[..., along]
    kept = [k for k in range(len(was)) if k < len(now)] if centre is None else _same_places(own, made)
    assert len(now) == len(chosen) == len(kept)
    assert np.abs(now - was[kept]).max() < 1e-9 * max(np.abs(was).max(), 1.0)
    if centre is not None:
        assert _place_in_train(made, int(np.abs(found).sum(axis=1).argmin())) == centre
    assert import_design(tmp_path / "plan.seq").labels() == (
        [one[0] for one in _in_order_of(found, matrix)] if len(matrix) == 1 else _in_order_of(found, matrix)
    )


def _in_order_of(found, matrix):
    return [tuple(row) for row in (np.round(found).astype(int) + np.array(matrix) // 2).tolist()]


def _pulses(sequence):
    """Of each block: how many trains have begun, and how many pulses of this train."""
    starts, trains, pulses = [], 0, 0
    first = "inversion" if any(_use(sequence, j) == "inversion" for j in sequence.block_events) else "excitation"
    for j in sequence.block_events:
        use = _use(sequence, j)
        trains, pulses = (trains + 1, 0) if use == first else (trains, pulses + (use is not None))
        starts.append((trains, pulses))
    return starts


def _use(sequence, j):
    rf = sequence.get_block(j).rf
    return None if rf is None else rf.use


def _reads(sequence):
    return [k for k, j in enumerate(sequence.block_events) if sequence.get_block(j).adc is not None]


def _place_in_train(sequence, number):
    return _pulses(sequence)[_reads(sequence)[number]][1] - 1


def _same_places(own, made):
    """Read-outs of the own sequence that stand where those of the made one do."""
    at = {place: k for k, place in enumerate(_pulses(own)[j] for j in _reads(own))}
    return [at[_pulses(made)[j]] for j in _reads(made)]


def test_every_slice_gets_the_table(tmp_path):
    path = written(sequences.gradient_echo(labelled=True, slices=2, n=8), tmp_path / "own.seq")
    chosen = [(4,), (1,), (6,)]
    made = read(exchange_encodes(tmp_path / "plan.seq", path, plan((8,), chosen)))
    assert np.round(encodes_of(made, "y", (FOV,))).ravel().tolist() == [0, -3, 2] * 2
    labels = made.evaluate_labels(evolution="adc")
    assert labels["LIN"].tolist() == [4, 1, 6] * 2 and labels["SLC"].tolist() == [0, 0, 0, 1, 1, 1]


def test_what_was_not_asked_for_is_not_read_and_the_magnetisation_stays_as_it_was(tmp_path):
    path = written(sequences.turbo_spin_echo(), tmp_path / "own.seq")
    made = read(exchange_encodes(tmp_path / "plan.seq", path, plan((N,), [(k,) for k in range(12, 22)]), MM))
    own = read(path)
    assert len(_reads(made)) == 10
    pulses = [sum(_use(one, j) is not None for j in one.block_events) for one in (own, made)]
    assert pulses == [5 * 9, 3 * 9]  # the dummies and two of four trains, each with all its pulses


def epi():
    made, system = pp.Sequence(sequences.limits()), sequences.limits()
    rf = pp.make_block_pulse(0.2, duration=1e-3, delay=1e-4, system=system, use="excitation")
    gradient = pp.make_trapezoid("x", flat_area=READ / FOV, flat_time=READ * 2e-5, system=system)
    adc = pp.make_adc(READ, duration=gradient.flat_time, delay=gradient.rise_time, system=system)
    made.add_block(rf)
    for sign in (1, -1, 1):
        made.add_block(pp.scale_grad(gradient, sign), adc)
        made.add_block(pp.make_trapezoid("y", area=1 / FOV, system=system))
    made.set_definition("FOV", [FOV, FOV, 5e-3])
    return made


def no_encodes():
    return sequences.gradient_echo(n=1)


def other_lengths():
    """Lobes as short as each can be: to exchange them would shift what follows."""
    made, system = pp.Sequence(sequences.limits()), sequences.limits()
    rf = pp.make_block_pulse(0.2, duration=1e-3, delay=1e-4, system=system, use="excitation")
    gradient = pp.make_trapezoid("x", flat_area=READ / FOV, flat_time=READ * 2e-5, system=system)
    adc = pp.make_adc(READ, duration=gradient.flat_time, delay=gradient.rise_time, system=system)
    for k in (-16, -4, 0, 7):
        made.add_block(rf)
        made.add_block(pp.make_trapezoid("y", area=(k or 0.001) / FOV, system=system))
        made.add_block(gradient, adc)
    made.set_definition("FOV", [FOV, FOV, 5e-3])
    return made


ALL = [(k,) for k in range(N)]
REFUSED = [
    (sequences.haste, plan((N,), ALL[:4]), None, {}, r"own\.seq does not define FOV, and the plan does not say it"),
    (
        sequences.gradient_echo, plan((64,), [(k,) for k in range(64)]), None, {},
        r"the plan has 64 phase encodes, and the sequence 32 read-outs",
    ),
    (sequences.haste, plan((N,), ALL), MM, {}, r"the plan has 32 phase encodes, and the sequence 21 read-outs of a"),
    (
        sequences.gradient_echo, plan((N,), ALL[:3]), (100.0, 100.0, 5.0), {},
        r"field of view along y is 200 mm in own\.seq and 100 mm",
    ),
    (
        sequences.gradient_echo, plan((512,), [(0,), (32,)]), None, {},
        r"phase encode -256 on y needs .* mT/m within the sequence's lobe of 1\.00 ms, and the limit is",
    ),
    (
        sequences.gradient_echo, plan((N,), ALL[:3]), None, {"max_grad": 1.0},
        r"phase encode -16 on y needs .* and the limit is 1\.0",
    ),
    (
        sequences.gradient_echo, PhaseEncodePool((8, 8, 8), [(1, 1)]), None, {},
        r"encodes along y, and the plan has 2 phase encodes .*: plan lines",
    ),
    (sequences.mprage, plan((N,), ALL[:3]), None, {}, r"encodes along x and y, and the plan has 1 .*: plan points"),
    (epi, plan((N,), ALL[:3]), None, {}, r"read-out 2 follows another without a pulse between them: read-outs that"),
    (no_encodes, plan((N,), ALL[:1]), None, {}, r"no lobe before the read-outs differs between them"),
    (other_lengths, plan((N,), ALL[:3]), None, {"max_grad": 60.0, "max_slew": 400.0}, r"do not last equally long"),
    (sequences.gradient_echo, spokes((16, 16), [0.0]), None, {}, r"only lines and phase encodes can take the place"),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_what_cannot_be_done_is_one_sentence(case, tmp_path):
    make, design, view, system, message = REFUSED[case]
    path = written(make(), tmp_path / "own.seq")
    with pytest.raises(ValueError, match=message) as caught:
        exchange_encodes(tmp_path / "plan.seq", path, design, view, system=system)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "plan.seq").exists() and len(list(tmp_path.iterdir())) == 1


def test_files_that_are_no_sequences_are_refused(tmp_path):
    design = plan((N,), ALL[:3])
    for name, text, message in (
        ("none.seq", None, "there is no file"),
        ("empty.seq", "", "holds no sequence|cannot be read"),
        ("text.seq", "[VERSION]\nmajor 9\n", "cannot be read|holds no sequence"),
    ):
        if text is not None:
            (tmp_path / name).write_text(text)
        with pytest.raises(ValueError, match=message):
            exchange_encodes(tmp_path / "plan.seq", tmp_path / name, design)
    with pytest.raises(ValueError, match=r"Pulseq files end in \.seq"):
        exchange_encodes(Path("plan.csv"), tmp_path / "empty.seq", design)
