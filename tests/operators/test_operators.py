"""Every operator, every precision, every batch: exact adjoint, its own matrix, normal operator, SciPy view, messages.

A new operator adds one row to CASES.
"""

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from adaptive.operators import (
    Coils,
    Convolution,
    Dense,
    Diagonal,
    FiniteDifference,
    FourierLines,
    FourierMask,
    FromSciPy,
    Identity,
    NonuniformFourier,
    Operator,
    Padded,
    Phase,
    Product,
    RealStacked,
    Repeated,
    Reshaped,
    Scaled,
    Sparse,
    Stacked,
    Toeplitz,
    Wavelet,
    adjoint_error,
    as_operator,
)
from tests.culprits import naming

RNG = np.random.default_rng(0)
A = RNG.standard_normal((5, 7))
C = A + 1j * RNG.standard_normal((5, 7))
MASK = RNG.random((6, 5)) < 0.4
WHERE = np.random.default_rng(4).uniform(-np.pi, np.pi, (11, 3))
MAPS = np.exp(1j * np.random.default_rng(6).standard_normal((3, 6, 5))) * np.random.default_rng(7).random((3, 6, 5))
SPOKE = NonuniformFourier((6, 5), WHERE[:, :2], accuracy=1e-14)

CASES = {
    "identity": Identity((3, 4)),
    "dense": Dense(A),
    "dense complex": Dense(C),
    "sparse": Sparse(scipy.sparse.random_array((6, 9), density=0.4, rng=1)),
    "sparse complex": Sparse(scipy.sparse.csc_array(np.where(RNG.random((5, 7)) < 0.5, C, 0))),
    "from scipy": FromSciPy(aslinearoperator(C)),
    "differences 1-d": FiniteDifference(9),
    "differences 2-d": FiniteDifference((5, 4)),
    "differences 3-d": FiniteDifference((3, 1, 4)),
    "wavelet 1-d": Wavelet(16, "db4", 4),
    "wavelet 2-d": Wavelet((12, 16), "db2", 2),
    "wavelet 3-d": Wavelet((8, 4, 2), "haar", 1),
    "lines": FourierLines((6, 5), [4, 0, 3]),
    "lines of axis 1": FourierLines((6, 5), [4, 0], axis=1),
    "lines 3-d": FourierLines((3, 4, 2), [2, 1], axis=-2),
    "line of a vector": FourierLines(8, [3]),
    "mask": FourierMask((6, 5), MASK),
    "nonuniform 1-d": NonuniformFourier(9, WHERE[:, 0], accuracy=1e-14),
    "nonuniform 2-d": SPOKE,
    "nonuniform 3-d": NonuniformFourier((4, 3, 5), WHERE, accuracy=1e-14),
    "toeplitz": Toeplitz([3.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.5, 1.0]),
    "toeplitz complex": Toeplitz(np.fft.ifft2(np.random.default_rng(5).standard_normal((12, 10)))),
    "phase": Phase(A),
    "coils": Coils(MAPS),
    "coils real": Coils(np.abs(MAPS)),
    "coils of volumes": Coils(MAPS.reshape(3, 2, 3, 5)),
    "repeated": Repeated(FourierLines((6, 5), [4, 0]), 3),
    "repeated nonuniform": Repeated(SPOKE, 2),
    "padded": Padded((3, 4), (5, 4)),
    "padded along all axes": Padded((2, 3, 1), (3, 6, 2)),
    "dense reshaped": Reshaped(A, (7, 1)),
    "lines reshaped": Reshaped(FourierLines((6, 5), [4, 0]), (5, 2, 3)),
    "mask of coils": Product(Repeated(FourierMask((6, 5), MASK), 3), Coils(MAPS)),
    "lines of coils": Product(Repeated(FourierLines((6, 5), [4, 0]), 3), Coils(np.abs(MAPS))),
    "spoke of coils": Product(Repeated(SPOKE, 3), Coils(MAPS)),
    "blocks of coils": Product(Stacked([Repeated(SPOKE, 3), Repeated(FourierLines((6, 5), [1]), 3)]), Coils(MAPS)),
    "mixture of coils": Product(FourierMask((3, 6, 5), np.random.default_rng(8).random((3, 6, 5)) < 0.5), Coils(MAPS)),
    "lines behind a phase": Product(FourierLines((6, 5), [4, 0, 3]), Phase(MAPS[0].real)),
    "convolution": Convolution((6, 5), RNG.standard_normal((3, 2))),
    "convolution complex": Convolution((6, 5), C[:3, :2]),
    "diagonal": Diagonal(A),
    "diagonal complex": Diagonal(C),
    "scaled": Scaled(-2.0, FiniteDifference((5, 4))),
    "scaled complex": Scaled(1 - 2j, FourierMask((6, 5), MASK)),
    "product": Product(FourierLines((6, 5), [1, 2]), Diagonal(np.exp(1j * RNG.random((6, 5))))),
    "product real": Product(FourierMask((6, 5), MASK), Convolution((6, 5), np.ones((3, 1)))),
    "product nonuniform": Product(
        NonuniformFourier((6, 5), WHERE[:, 1:], accuracy=1e-14), Diagonal(np.exp(1j * A[:, :5].repeat(2, 0)[:6]))
    ),
    "stacked": Stacked([Wavelet((8, 8), "db2", 2), FiniteDifference((8, 8))]),
    "stacked complex": Stacked([FourierLines((8, 8), [4, 3]), Identity((8, 8)), FourierMask((8, 8), np.eye(8))]),
    "real-stacked": RealStacked(FourierMask((6, 5), MASK)),
    "real-stacked nonuniform": RealStacked(SPOKE, "complex"),
    "real-stacked coils": RealStacked(Product(Repeated(SPOKE, 3), Coils(MAPS)), "complex"),
    "real-stacked real coils": RealStacked(Coils(np.abs(MAPS)), "complex"),
    "real-stacked phase": RealStacked(Phase(A)),
    "real-stacked complex unknown": RealStacked(FourierLines((6, 5), [2]), unknown="complex"),
    "real-stacked real operator": RealStacked(FiniteDifference((3, 4)), unknown="complex"),
}
PRECISION = {"f": 2e-6, "d": 1e-14, "F": 2e-6, "D": 1e-14}


def draw(rng, shape, code):
    values = rng.standard_normal(shape)
    return (values + 1j * rng.standard_normal(shape) if code in "FD" else values).astype(code)


def codes(operator):
    return "fd" if isinstance(operator, RealStacked) else "fdFD"


@pytest.mark.parametrize("name", CASES)
def test_the_adjoint_is_exact(name):
    for code in codes(CASES[name]):
        assert adjoint_error(CASES[name], 1, code) < (1e-7 if code in "fF" else 1e-15), code


@pytest.mark.parametrize("name", CASES)
def test_forward_adjoint_and_normal_are_those_of_the_matrix(name):
    operator = CASES[name]
    matrix = operator.to_dense()
    assert matrix.shape == operator.shape
    for code, batch in itertools.product(codes(operator), [(), (3,), (2, 2), (0,)]):
        with naming(f"precision {code}, batch {batch}"):
            is_the_matrix(operator, matrix, code, batch)


def is_the_matrix(operator, matrix, code, batch):
    rng, tol = np.random.default_rng(2), PRECISION[code]
    u = draw(rng, batch + operator.input_shape, code)
    image = operator.forward(u)
    assert image.shape == batch + operator.output_shape
    wanted = u.reshape(*batch, operator.shape[1]) @ matrix.T
    np.testing.assert_allclose(image.reshape(wanted.shape), wanted, atol=tol * 20)

    v = draw(rng, image.shape, image.dtype.char)
    back = operator.adjoint(v)
    assert back.shape == u.shape
    wanted = v.reshape(*batch, operator.shape[0]) @ matrix.conj()
    np.testing.assert_allclose(back.reshape(wanted.shape), wanted, atol=tol * 20)

    for weights in (None, 2.0, rng.random(operator.output_shape)):
        w = np.broadcast_to(1.0 if weights is None else weights, operator.output_shape).ravel()
        gram = (matrix.conj().T * w) @ matrix
        wanted = u.reshape(*batch, operator.shape[1]) @ gram.T
        result = operator.normal(u, weights)
        if code in "fd":  # a real array is a real unknown
            wanted = wanted.real
            assert result.dtype.kind == "f"
        np.testing.assert_allclose(result.reshape(wanted.shape), wanted, atol=tol * 60)


@pytest.mark.parametrize("name", CASES)
def test_scipy_sees_the_same_matrix(name):
    operator = CASES[name]
    view, matrix = operator.to_scipy(), operator.to_dense()
    assert isinstance(view, LinearOperator) and view.shape == operator.shape and view.dtype == operator.dtype
    np.testing.assert_allclose(view @ np.eye(operator.shape[1]), matrix, atol=1e-14)
    np.testing.assert_allclose(view.rmatmat(np.eye(operator.shape[0])), matrix.conj().T, atol=1e-14)
    x, y = RNG.standard_normal(operator.shape[1]), RNG.standard_normal(operator.shape[0])
    np.testing.assert_allclose(view.matvec(x), matrix @ x, atol=1e-13)
    np.testing.assert_allclose(view.rmatvec(y), matrix.conj().T @ y, atol=1e-13)


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in CASES
        if not name.startswith(("dense", "sparse", "diagonal", "from scipy", "scaled"))
        and name not in ("product", "product nonuniform")  # their phases are in double precision
    ],
)
def test_single_precision_stays_single(name):
    operator = CASES[name]
    u = np.ones(operator.input_shape, np.float32)
    assert operator.forward(u).dtype in (np.float32, np.complex64)
    assert operator.normal(u, np.ones(operator.output_shape)).dtype == np.float32


@pytest.mark.parametrize("name", CASES)
def test_inputs_are_left_alone_and_results_are_new(name):
    operator = CASES[name]
    u = draw(RNG, operator.input_shape, "d")
    kept = u.copy()
    results = [operator.forward(u), operator.normal(u)]
    v = results[0].copy()
    results.append(operator.adjoint(v))
    np.testing.assert_array_equal(u, kept)
    np.testing.assert_array_equal(v, results[0])
    assert not any(np.shares_memory(result, source) for result in results for source in (u, v))


@pytest.mark.parametrize("name", CASES)
def test_read_only_strided_and_integer_arrays_are_taken(name):
    operator = CASES[name]
    u = np.arange(float(operator.shape[1])).reshape(operator.input_shape)
    wanted = operator.forward(u)
    frozen = u.copy()
    frozen.flags.writeable = False
    strided = np.repeat(u, 2, axis=-1)[..., ::2]
    for other in (frozen, strided, np.asfortranarray(u), u.astype(int), u.tolist(), u.astype(np.float16)):
        np.testing.assert_allclose(operator.forward(other), wanted, atol=1e-13)
        np.testing.assert_allclose(operator.normal(other), operator.normal(u), atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_wrong_shapes_end_in_one_sentence(name):
    operator = CASES[name]
    wrong = (operator.input_shape[0] + 1, *operator.input_shape[1:])
    with pytest.raises(ValueError, match=r"forward needs an array of shape \(\.\.\., .*got"):
        operator.forward(np.ones(wrong))
    with pytest.raises(ValueError, match="adjoint needs an array of shape"):
        operator.adjoint(np.ones(()))
    with pytest.raises(ValueError, match="weights must broadcast to the output shape"):
        operator.normal(np.ones(operator.input_shape), np.ones((2, 3, 5, 7)))
    with pytest.raises(ValueError, match="weights must be real numbers"):
        operator.normal(np.ones(operator.input_shape), 1j)
    with pytest.raises(ValueError, match="needs an array of numbers"):
        operator.forward(np.full(operator.input_shape, "a"))


@pytest.mark.parametrize("name", [name for name in CASES if name != "from scipy"])
def test_operators_survive_pickling(name):
    operator = CASES[name]
    again = pickle.loads(pickle.dumps(operator))
    np.testing.assert_array_equal(again.to_dense(), operator.to_dense())
    assert repr(again) == repr(operator)


SPECTRA = {
    name: operator
    for name, operator in CASES.items()
    if operator.normal_spectrum() is not None and not name.startswith("real-stacked")
}


def test_most_operators_know_their_spectrum():
    assert len(SPECTRA) >= 33


@pytest.mark.parametrize("name", SPECTRA)
def test_the_spectrum_is_the_diagonal_in_the_fourier_basis(name):
    operator = SPECTRA[name]
    matrix, shape = operator.to_dense(), operator.input_shape
    basis = np.fft.ifftn(np.eye(operator.shape[1]).reshape(-1, *shape), axes=range(1, 1 + len(shape)), norm="ortho")
    rows = basis.reshape(operator.shape[1], -1) @ matrix.T  # A F^H e_k
    for weights in (None, np.random.default_rng(3).random(operator.output_shape)):
        w = np.ones(operator.shape[0]) if weights is None else weights.ravel()
        found, wanted = operator.normal_spectrum(weights).ravel(), (np.abs(rows) ** 2 * w).sum(1)
        np.testing.assert_allclose(found, wanted, atol=1e-12, err_msg=f"weights {weights}")


def test_adjoint_error_finds_a_wrong_adjoint():
    class Shifted(Operator):
        def _forward(self, u):
            return np.roll(u, 1, -1)

        _adjoint = _forward

    assert adjoint_error(Shifted((4,), (4,))) > 0.01


def test_an_unfinished_operator_says_what_is_missing():
    with pytest.raises(TypeError, match=r"must define _forward"):
        Operator((2,), (2,)).forward([1.0, 2.0])


def test_dense_matrices_beyond_memory_are_refused():
    with pytest.raises(ValueError, match="entries"):
        Identity((512, 512)).to_dense()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Identity(0), "shape must be a positive integer"),
        (lambda: Identity((2, 2.5)), "shape must be a positive integer or a tuple"),
        (lambda: FiniteDifference((1, 1)), "shape must have an axis of length 2 or more"),
        (lambda: Dense([1.0, 2.0]), "matrix must have two axes"),
        (lambda: Dense([[1.0, np.nan]]), "matrix contains nan"),
        (lambda: Dense([["a"]]), "matrix must be an array of numbers"),
        (lambda: Sparse(np.eye(2)), "matrix must be a SciPy sparse matrix"),
        (lambda: Sparse(scipy.sparse.csr_array([[np.inf]])), "contains inf"),
        (lambda: FromSciPy(np.eye(2)), "operator must be a scipy.sparse.linalg.LinearOperator"),
        (lambda: as_operator("A", "X"), "X must be an array of numbers"),
        (lambda: as_operator(np.ones((2, 2, 2))), "A must be a two-dimensional array"),
        (lambda: FourierLines((4, 4), [1, 4]), "lines must be between 0 and 3 .* got 4"),
        (lambda: FourierLines((4, 4), [-1]), "lines must be between 0 and 3 .* got -1"),
        (lambda: FourierLines((4, 4), [1, 2, 1]), "lines must be given once each, got line 1 2 times"),
        (lambda: FourierLines((4, 4), []), "lines must be a list of one or more integers"),
        (lambda: FourierLines((4, 4), [True, False, True, True]), "lines must be a list of one or more integers"),
        (lambda: FourierLines((4, 4), [0.5]), "lines must be a list of one or more integers"),
        (lambda: FourierLines((4, 4), [0], axis=2), "axis must be between 0 and 1"),
        (lambda: FourierMask((4, 4), np.ones((4, 3), bool)), r"mask must be an array of booleans of shape \(4, 4\)"),
        (lambda: FourierMask(3, [0, 2, 1]), "mask must be an array of booleans"),
        (lambda: FourierMask(3, [False] * 3), "mask must be true somewhere"),
        (lambda: Convolution((4, 4), np.ones((5, 1))), "kernel must have 2 axes, none longer"),
        (lambda: Convolution((4, 4), np.ones(3)), "kernel must have 2 axes"),
        (lambda: Toeplitz(np.ones(5)), "kernel must have an even length"),
        (lambda: NonuniformFourier((2, 2, 2, 2), np.zeros((1, 4))), "shape must have one to three axes"),
        (lambda: NonuniformFourier((4, 4), np.zeros((3, 3))), r"samples must have shape \(m, 2\).*got \(3, 3\)"),
        (lambda: NonuniformFourier((4, 4), np.zeros((0, 2))), r"samples must have shape \(m, 2\)"),
        (lambda: NonuniformFourier(4, [0.0, np.nan]), "samples contains nan at position 1"),
        (lambda: NonuniformFourier(4, [0.0, np.pi]), r"samples must lie in \[-pi, pi\), in radians .* modulo 2 pi"),
        (lambda: NonuniformFourier((64, 64), np.arange(-32.0, 32).repeat(2).reshape(-1, 2)), "like cycles per field"),
        (lambda: NonuniformFourier((64, 64), np.linspace(-0.5, 0.5, 64).reshape(-1, 2)), "look like cycles per pixel"),
        (lambda: NonuniformFourier(4, [0.0], accuracy=0), "accuracy must be > 0"),
        (lambda: Coils(np.ones(5)), r"maps must have shape \(coils, \*shape of the image\)"),
        (lambda: Coils(np.zeros((2, 4, 4))), "maps are zero everywhere"),
        (lambda: Coils(np.full((2, 4), np.nan)), r"maps contains nan at position \(0, 0\)"),
        (
            lambda: Product(Repeated(FourierLines((4, 4), [1]), 2), Coils(np.ones((3, 4, 4)))),
            "first must take what seco",
        ),
        (lambda: Repeated(A, 0), "n must be at least 1, got 0"),
        (lambda: Padded((3, 4), (5, 3)), r"larger must have as many axes as shape \(3, 4\), none shorter"),
        (lambda: Reshaped(A, (3, 2)), r"shape must have 7 entries, as many as inputs of Dense.*, got \(3, 2\)"),
        (lambda: Phase(1.0), "map must be an array of angles"),
        (lambda: Phase([1j]), "map must be an array of real numbers, got list"),
        (lambda: Diagonal(2.0), "use Scaled"),
        (lambda: Diagonal([1.0, np.inf]), "entries contains inf"),
        (lambda: Scaled([1.0, 2.0], A), "use Diagonal"),
        (lambda: Product(A, A), "first must take what second gives"),
        (lambda: Stacked([]), "at least one operator"),
        (lambda: Stacked(A), "operators must be a list"),
        (lambda: Stacked([A, np.eye(3)]), r"operators\[1\] must take arrays of shape \(7,\)"),
        (lambda: RealStacked(A), "operator must be complex where the unknown is real"),
        (lambda: RealStacked(C, "Real"), "unknown must be one of"),
        (lambda: RealStacked(C).forward(np.ones(7) * 1j), "needs a real array"),
    ],
)
def test_bad_input_ends_in_one_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_an_operator_of_scipy_without_adjoint_is_named():
    lame = FromSciPy(LinearOperator((2, 2), matvec=lambda x: x))
    with pytest.raises(ValueError, match="must know its adjoint"):
        lame.adjoint([1.0, 2.0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_phase_between_parts_is_turned_in_one_pass(dtype):
    """Compiled, where the precision is the same; else by what every product does."""
    rng = np.random.default_rng(0)
    for entries in (np.complex64, np.complex128):
        turn = Diagonal(np.exp(1j * rng.standard_normal((6, 4))).astype(entries))
        stacked = RealStacked(Product(FourierLines((6, 4), [0, 1, 4]), turn), "complex")
        u = rng.standard_normal((3, 2, 6, 4)).astype(dtype)[:, :, ::-1]
        assert stacked._turns(u) == (np.result_type(dtype, np.complex64) == entries)
        np.testing.assert_allclose(stacked.normal(u), stacked.adjoint(stacked.forward(u)), atol=1e-5)
        whole = (u[:, 0] + 1j * u[:, 1]) * turn.entries
        expected = turn.entries.conj() * stacked.operator.first.normal(whole)
        np.testing.assert_allclose(stacked.normal(u)[:, 1], expected.imag, atol=1e-5)
