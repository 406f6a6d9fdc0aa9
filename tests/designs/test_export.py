"""Designs go out as files and come back; what is written is what others read."""

import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adaptive.images import read_cfl
from adaptive.scanner import Geometry, Protocol, Scan, compare_scans, read_scan, write_dicom, write_ismrmrd
from designs import kspace
from designs.kspace import export_design, import_design

LINES = kspace.lines((16, 12), axis=1).take([6, 5, 9, 0])
ENCODES = kspace.phase_encodes((4, 6, 8), readout=1).take([18, 3, 20])
SPIRALS = kspace.spirals((32, 32), [0.0, 0.7, 2.5], n_samples=50)
SHOTS = [np.random.default_rng(k).uniform(-3, 3, (k, 3)) for k in (5, 2)]
OWN = kspace.trajectories((8, 6, 4), SHOTS, ["a", "b, c"], units="radians per pixel")
DESIGNS = {"lines": LINES, "phase encodes": ENCODES, "spirals": SPIRALS, "shots of several lengths": OWN}


@pytest.mark.parametrize("name", DESIGNS)
def test_csv_says_everything(tmp_path, name):
    design = DESIGNS[name]
    path = export_design(design, tmp_path / "design.csv")
    again = import_design(path)
    assert type(again) is type(design) and again.image_shape == design.image_shape
    assert again.labels() == design.labels()
    assert again.fingerprint() == design.fingerprint()  # to the last bit


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("ending", ["h5", "mrd"])
def test_a_plan_of_acquisitions_is_the_design(tmp_path, name, ending):
    design = DESIGNS[name]
    again = import_design(export_design(design, tmp_path / f"plan.{ending}"))
    assert type(again) is type(design) and again.labels() == design.labels()
    assert again.fingerprint() == design.fingerprint()  # to the last bit


def test_orientation_survives_from_images_to_a_plan_and_its_acquisitions(tmp_path):
    turn = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))[0]
    place = Geometry(np.array([-12.5, 30.25, 7.0]), turn, np.array([0.9, 1.1, 2.5]), (16, 12, 5))
    told = Protocol(echo_time=0.03, repetition_time=2.0, flip_angle=0.5, field_strength=3.0, name="EPI")
    write_dicom(tmp_path / "dicom", np.arange(960).reshape(16, 12, 5), place, told)
    reference = read_scan(tmp_path / "dicom").slice(index=2)
    shape = reference.shape
    design = kspace.lines(shape, axis=1).take([6, 5, 9, 0])
    plan = export_design(design, tmp_path / "plan.mrd", geometry=reference.geometry, protocol=reference.protocol)
    planned = read_scan(plan)
    assert compare_scans(reference, planned) == [] and planned.n_coils == 0
    np.testing.assert_allclose(planned.geometry.affine, reference.geometry.affine, atol=1e-5)  # single precision
    times = [[vars(one)[name] for name in ("echo_time", "repetition_time", "flip_angle", "field_strength")]
             for one in (told, planned.protocol)]  # fmt: skip
    np.testing.assert_allclose(*times, rtol=1e-12)  # seconds from milliseconds, radians from degrees
    assert (planned.sampled.any(axis=0).nonzero()[0] == [0, 5, 6, 9]).all()
    # and on into the acquisitions of the scan that follows the plan
    samples = np.random.default_rng(0).standard_normal((2, *shape)).astype(np.complex64)
    taken = Scan(samples, "kspace", coils=0, geometry=planned.geometry, protocol=planned.protocol)
    scanned = read_scan(write_ismrmrd(tmp_path / "scan.mrd", taken, import_design(plan)))
    assert (scanned.geometry.affine == planned.geometry.affine).all() and compare_scans(reference, scanned) == []
    assert scanned.order.ravel().tolist() == design.labels() == [6, 5, 9, 0]
    with pytest.raises(ValueError, match=r"geometry must have the matrix of the design, \(16, 12\), got \(16, 12, 5\)"):
        export_design(LINES, tmp_path / "bad.mrd", geometry=place)


@pytest.mark.parametrize("name", DESIGNS)
def test_any_table_program_opens_the_csv(tmp_path, name):
    """Before: three comment lines stood in front of the header."""
    import pandas as pd

    path = export_design(DESIGNS[name], tmp_path / "plan.csv")
    table = pd.read_csv(path)
    assert list(table.columns[:1]) == ["order"] and table.notna().all().all()
    assert set(table["shape"]) == {" x ".join(map(str, DESIGNS[name].image_shape))}
    path.write_text(path.read_text().replace(f",{table['shape'][0]}", ",9 x 9 x 9", 1))
    with pytest.raises(ValueError, match=r"plan\.csv is not a design as export_design writes it \(design, shape"):
        import_design(path)


def test_a_plan_keeps_field_of_view_and_frequency_where_no_position_is_stated(tmp_path):
    """Before: both were lost with the place in the patient."""
    samples = np.random.default_rng(0).standard_normal((2, 16, 12)).astype(np.complex64)
    told = Protocol(echo_time=0.03, frequency=63_500_123.0, name="EPI")
    raw = Scan(samples, "kspace", coils=0, protocol=told, field_of_view=(192.0, 256.0, 4.0), readout=1)
    reference = read_scan(write_ismrmrd(tmp_path / "raw.h5", raw))
    assert reference.geometry is None and reference.field_of_view == (192.0, 256.0, 4.0)
    design = kspace.lines((16, 12), axis=0).take([8, 7])
    path = export_design(
        design, tmp_path / "plan.h5", protocol=reference.protocol, field_of_view=reference.field_of_view
    )
    planned = read_scan(path)
    assert planned.field_of_view == (192.0, 256.0, 4.0) and planned.geometry is None
    assert planned.protocol.frequency == 63_500_123.0 and planned.protocol.name == "EPI"
    assert planned.protocol.echo_time == pytest.approx(0.03, rel=1e-12)
    with pytest.raises(ValueError, match=r"field_of_view must be three lengths > 0 in mm, got \(1, 2\)"):
        export_design(design, tmp_path / "bad.h5", field_of_view=(1, 2))


@pytest.mark.parametrize("name", ["lines", "phase encodes", "spirals"])
def test_bare_numbers_say_beside_themselves_of_which_image_and_axis_they_are(tmp_path, name):
    """Before: lines of axis 1 came back as lines of axis 0, in silence."""
    design = DESIGNS[name]
    path = export_design(design, tmp_path / "plan.npy")
    again = import_design(path)
    if name == "spirals":
        np.testing.assert_array_equal(again.samples, design.samples)
        return
    assert again.fingerprint() == design.fingerprint()
    with pytest.raises(ValueError, match=r"axis must be that of plan\.npy, 1 by the \.json beside it, got 0\."):
        import_design(path, axis=0)
    with pytest.raises(ValueError, match=r"shape must be that of plan\.npy"):
        import_design(path, (99, 99))
    (tmp_path / "plan.npy.json").write_text("[]")
    with pytest.raises(ValueError, match=r"plan\.npy\.json says nothing of a design as export_design writes it"):
        import_design(path)


@pytest.mark.parametrize("ending", ["csv", "npy", "cfl", "txt"])
def test_every_file_keeps_field_of_view_matrix_and_protocol_of_a_reference(tmp_path, ending):
    """Before: all but ISMRMRD refused them."""
    place = Geometry(np.zeros(3), np.eye(3), np.array([1.0, 2.0, 5.0]), (16, 12, 1))
    told = Protocol(echo_time=0.03, frequency=63.5e6, name="EPI")
    path = export_design(LINES, tmp_path / f"plan.{ending}", geometry=place, protocol=told)
    if ending == "txt":
        assert path.read_text().endswith(
            "\nField of view 16 x 24 x 5 mm. Protocol: echo time 0.03 s, name EPI, frequency 6.35e+07 Hz.\n"
        )
        return
    facts = json.loads((tmp_path / f"plan.{ending}.json").read_text())
    assert facts["matrix"] == [16, 12, 1] and facts["field of view (mm)"] == [16.0, 24.0, 5.0] and facts["axis"] == 1
    assert facts["protocol"] == {"echo_time": 0.03, "frequency": 63.5e6, "name": "EPI"}
    export_design(LINES, path, field_of_view=(8, 9, 10))
    facts = json.loads((tmp_path / f"plan.{ending}.json").read_text())
    assert facts["field of view (mm)"] == [8.0, 9.0, 10.0] and "protocol" not in facts and "matrix" not in facts
    export_design(LINES, path)  # nothing is told: what was said of the former plan goes
    assert (tmp_path / f"plan.{ending}.json").is_file() == (ending == "npy")
    with pytest.raises(ValueError, match="field_of_view must be three lengths > 0 in mm"):
        export_design(LINES, path, field_of_view=(0, 1, 1))


@pytest.mark.parametrize("name", ["lines", "phase encodes", "spirals"])
def test_arrays_and_bart(tmp_path, name):
    design = DESIGNS[name]
    axis = getattr(design, "axis", getattr(design, "readout", None))
    again = import_design(export_design(design, tmp_path / "d.npy"), design.image_shape, axis=axis)
    if name == "spirals":
        np.testing.assert_array_equal(again.samples, design.samples)
    else:
        assert again.fingerprint() == design.fingerprint()
    path = export_design(design, tmp_path / "d.cfl")
    again = import_design(path, design.image_shape)
    if name == "spirals":
        np.testing.assert_allclose(again.samples, design.samples, atol=1e-6)
    else:
        assert sorted(again.labels()) == sorted(design.labels()) and import_design(path).labels() == again.labels()
        assert again.image_shape == design.image_shape


def test_what_bart_gets():
    import tempfile
    from pathlib import Path

    folder = Path(tempfile.mkdtemp())
    mask = read_cfl(export_design(LINES, folder / "mask.cfl"))
    assert mask.shape == (16, 12) and set(np.flatnonzero(mask[0].real)) == {6, 5, 9, 0}
    assert (mask == mask[0]).all()
    volume = read_cfl(export_design(ENCODES, folder / "volume.cfl"))
    assert volume.shape == (4, 6, 8) and (volume == volume[:, :1]).all() and volume[:, 0].sum() == 3
    trajectory = read_cfl(export_design(SPIRALS, folder / "trajectory.cfl"))
    assert trajectory.shape == (3, 50, 3) and not trajectory[2].any()
    radius = np.sqrt((np.abs(trajectory[:, -1]) ** 2).sum(axis=0))
    np.testing.assert_allclose(radius, 16, rtol=0.05)  # cycles per field of view: half of 32 at the border


def test_the_text_is_for_people(tmp_path):
    text = export_design(LINES, tmp_path / "scan.txt").read_text()
    assert text.startswith(
        "4 of 12 lines of k-space, in the order of the scan. Image 16 x 12; phase encoding along axis 1"
    )
    assert "Line 6 is the centre" in text
    rows = [line.split() for line in text.splitlines()[-4:]]
    assert rows == [["1", "6", "+0"], ["2", "5", "-1"], ["3", "9", "+3"], ["4", "0", "-6"]]
    text = export_design(ENCODES, tmp_path / "scan.txt").read_text()
    assert "3 of 32 phase encodes" in text and text.splitlines()[-3].split() == ["1", "2", "2", "+0", "-2"]
    text = export_design(SPIRALS, tmp_path / "scan.txt").read_text()
    assert text.splitlines()[-2].split()[:4] == ["2", "0.700000", "40.107", "50"]
    text = export_design(OWN, tmp_path / "scan.txt").read_text()
    assert "b, c" in text
    for line in text.splitlines():
        assert len(line) <= 120


def _some_of(n):
    return st.tuples(st.just(n), st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))


@settings(max_examples=20, deadline=None)
@given(n_chosen=st.integers(2, 40).flatmap(_some_of), m=st.integers(1, 9), axis=st.integers(0, 1))
@example(n_chosen=(3, [1]), m=1, axis=0)  # a mask that has the shape of a trajectory
@example(n_chosen=(3, [2]), m=1, axis=0)
def test_any_set_of_lines_survives_every_format(n_chosen, m, axis, tmp_path_factory):
    n, chosen = n_chosen
    shape = (n, m) if axis == 0 else (m, n)
    pool, folder = kspace.LinePool(shape, chosen, axis), tmp_path_factory.mktemp("d")
    assert import_design(export_design(pool, folder / "a.csv")).labels() == chosen
    assert import_design(export_design(pool, folder / "a.npy"), shape, axis=axis).labels() == chosen
    assert import_design(export_design(pool, folder / "a.cfl"), shape, axis=axis).labels() == sorted(chosen)


# Bad input -----------------------------------------------------------------------------------------------------------


def test_what_is_no_design_is_refused(tmp_path):
    for call, message in (
        (
            lambda: export_design([1, 2], tmp_path / "a.csv"),
            "design must be a pool of lines, phase encodes or shots, got",
        ),
        (lambda: export_design(LINES, tmp_path / "a.mat"), "a.mat has an unknown ending; designs are written as .csv"),
        (lambda: export_design(LINES.take([]), tmp_path / "a.csv"), "the design is empty"),
        (lambda: export_design(OWN, tmp_path / "a.npy"), "several lengths.*write .csv"),
        (lambda: export_design(OWN, tmp_path / "a.cfl"), "several lengths"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_files_that_hold_no_design_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        import_design(tmp_path / "nothing.csv")
    (tmp_path / "a.txt").write_text("")
    with pytest.raises(ValueError, match=r"a.txt: designs are read from .csv"):
        import_design(tmp_path / "a.txt")
    whole = export_design(LINES, tmp_path / "a.csv").read_text()
    damaged = (
        whole[:20],
        whole.replace("16 x 12,1", "16 x 12,7"),
        whole.replace("lines", "leaves"),
        whole + "9,99,3\n",
    )
    for text in (*damaged, whole.replace("line,", "row,"), whole + "4,6,0\n"):
        (tmp_path / "a.csv").write_text(text)
        with pytest.raises(ValueError, match=r"a.csv is not a design as export_design writes it"):
            import_design(tmp_path / "a.csv")
    export_design(LINES, tmp_path / "a.npy")
    (tmp_path / "a.npy.json").unlink()
    with pytest.raises(ValueError, match=r"shape must be given for a.npy"):
        import_design(tmp_path / "a.npy")
    (tmp_path / "a.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:40])
    with pytest.raises(ValueError, match=r"a.npy cannot be read; it seems to be damaged"):
        import_design(tmp_path / "a.npy", (16, 12))
    np.save(tmp_path / "b.npy", np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"b.npy must hold line indices"):
        import_design(tmp_path / "b.npy", (16, 12))


def test_masks_that_are_no_design_are_named(tmp_path):
    from adaptive.images import write_cfl

    points = np.zeros((6, 4))
    points[1, 2] = points[3, 0] = 1
    with pytest.raises(ValueError, match=r"points.cfl must hold whole lines along an axis that is read out"):
        import_design(write_cfl(tmp_path / "points", points))
    with pytest.raises(ValueError, match=r"grey.cfl must hold a mask of zeros and ones"):
        import_design(write_cfl(tmp_path / "grey", points / 2))
    with pytest.raises(ValueError, match=r"points.cfl must hold a mask of shape \(5, 4\), got \(6, 4\)"):
        import_design(tmp_path / "points.cfl", (5, 4))
