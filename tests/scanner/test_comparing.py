"""In what two scans differ is said once each, and how their axes are kept does not count."""

from itertools import permutations

import numpy as np
import pytest

from adaptive.scanner import Geometry, Protocol, Scan, compare_scans

TURN = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))[0]
PLACE = Geometry(np.array([1.0, 2.0, 3.0]), TURN, np.array([1.0, 2.0, 4.0]), (5, 6, 7))
REFERENCE = Scan(np.random.default_rng(0).random((5, 6, 7)), "image", geometry=PLACE, source="first")


def scan(*, turn=TURN, size=(1.0, 2.0, 4.0), matrix=(5, 6, 7), coils=None, **protocol):
    place = Geometry(PLACE.position, turn, np.array(size), matrix)
    data = np.zeros((coils, *matrix), complex) if coils else np.zeros(matrix)
    kind = "kspace" if coils else "image"
    return Scan(data, kind, geometry=place, protocol=Protocol(**protocol), coils=0 if coils else None, source="later")


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_order_and_direction_of_axes_mean_nothing(order):
    other = Scan(np.zeros([PLACE.matrix[k] for k in order]), "image", geometry=PLACE.turned(order, (True, False, True)))
    assert compare_scans(REFERENCE, other) == []
    turned = REFERENCE.turned_like(other)
    np.testing.assert_allclose(turned.geometry.affine, other.geometry.affine, atol=1e-12)
    assert (turned.data == np.transpose(REFERENCE.data, order)[::-1, :, ::-1]).all()
    np.testing.assert_allclose(turned.turned_like(REFERENCE).geometry.affine, PLACE.affine, atol=1e-12)


@pytest.mark.parametrize(
    ("settings", "sentences"),
    [
        ({}, []),
        ({"size": (1.0, 2.0, 5.0)}, ["the voxel size of later is 1 x 2 x 5 mm, that of first 1 x 2 x 4 mm.",
                                     "the field of view of later is 5 x 12 x 35 mm, that of first 5 x 12 x 28 mm."]),
        ({"matrix": (5, 6, 14), "size": (1.0, 2.0, 2.0)},
         ["the voxel size of later is 1 x 2 x 2 mm, that of first 1 x 2 x 4 mm.",
          "the matrix of later is 5 x 6 x 14, that of first 5 x 6 x 7."]),
        ({"echo_time": 0.03}, []),  # only one of them says
    ],
)  # fmt: skip
def test_every_difference_is_one_sentence(settings, sentences):
    assert compare_scans(REFERENCE, scan(**settings)) == sentences


def test_orientation_coils_and_times():
    c, s = np.cos(0.3), np.sin(0.3)
    tilted = TURN @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    (sentence,) = compare_scans(REFERENCE, scan(turn=tilted))
    assert sentence.startswith("the orientation of later is ") and sentence.endswith("17.2 degrees away.")
    first, later = (
        scan(coils=8, echo_time=0.03, repetition_time=2.0),
        scan(coils=4, echo_time=0.09, repetition_time=2.0),
    )
    assert compare_scans(first, later, protocol=False) == ["the number of coils of later is 4, that of later 8."]
    assert compare_scans(first, later, protocol=True) == ["the echo time of later is 90 ms, that of later 30 ms."]
    assert compare_scans(first, first) == []


def test_slices_of_different_planes_have_another_orientation():
    place = Geometry.from_affine(np.eye(4), (8, 8, 8))
    volume = Scan(np.zeros((8, 8, 8)), "image", geometry=place, source="volume")
    (sentence,) = compare_scans(volume.slice("axial"), volume.slice("sagittal"))
    assert "is sagittal, that of axial slice 4 of volume axial, 90 degrees away" in sentence
    assert compare_scans(volume.slice("axial", 2), volume.slice("axial", 3)) == []
    without = Scan(np.zeros((8, 6)), "image", source="plain")
    assert compare_scans(volume.slice("axial"), without) == ["the matrix of plain is 8 x 6, that of axial slice 4 of "
                                                             "volume 8 x 8."]  # fmt: skip


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"position": np.zeros(2)}, r"a geometry has a position \(3,\)"),
        ({"directions": np.ones((3, 3))}, "directions must be three different directions"),
        ({"voxel_size": np.array([1.0, 0.0, 1.0])}, "voxel_size must be > 0"),
        ({"matrix": (5, 6, 0)}, "matrix must be at least 1"),
        ({"position": np.array([np.nan, 0, 0])}, "position contains nan"),
    ],
)
def test_geometries_are_checked(parts, message):
    whole = {"position": np.zeros(3), "directions": TURN, "voxel_size": np.ones(3), "matrix": (5, 6, 7)}
    with pytest.raises(ValueError, match=message):
        Geometry(**(whole | parts))


def test_affines_and_cropping():
    again = Geometry.from_affine(PLACE.affine, PLACE.matrix)
    np.testing.assert_allclose(again.affine, PLACE.affine, atol=1e-12)
    np.testing.assert_allclose(PLACE.cropped(1, 3).centre, PLACE.centre)
    np.testing.assert_allclose(PLACE.cropped(1, 3).cropped(1, 6).affine, PLACE.affine, atol=1e-12)
    assert PLACE.field_of_view.tolist() == [5, 12, 28]
    with pytest.raises(ValueError, match="plane must be one of 'sagittal', 'coronal', 'axial', got 'oblique'"):
        PLACE.axis_through("oblique")
