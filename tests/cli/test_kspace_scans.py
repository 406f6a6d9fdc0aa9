"""``adaptive kspace`` on what a scanner leaves: raw samples replayed, plans and their exports, and what is refused."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from adaptive.cli import run
from adaptive.cli.errors import CommandError
from adaptive.cli.kspace import plan as plans
from adaptive.cli.kspace import plan_errors, trial, trial_designs, trial_setup
from adaptive.cli.kspace.coil_compression import compressed
from adaptive.cli.kspace.exports import unplaced
from adaptive.cli.kspace.reading import read_raw, read_reference_scan, read_stack, require_alike, turned_to
from adaptive.cli.kspace.runs import _trial_of
from adaptive.cli.kspace.trial_setup import replayed as replayed_of
from adaptive.cli.kspace.values import Known
from adaptive.cli.run_folder import RunFolder
from adaptive.images import head_scan, padded, simulate_coils, simulate_scan
from adaptive.scanner import Geometry, Protocol, Scan, compare_scans, read_scan, write_dicom, write_ismrmrd
from adaptive.scanner.slicing import turned
from designs.kspace import central, equispaced_angles, golden_angles, import_design, reference_lines
from designs.kspace.from_images import halving, portfolio
from tests.cli.processes import columns

pytest.importorskip("skimage")

SHAPE = (32, 32)
HEAD = padded(head_scan()[12].image, 128).reshape(32, 4, 32, 4).mean(axis=(1, 3))
SCAN = simulate_scan(HEAD, snr=100, coils=simulate_coils(SHAPE, 2, random_state=0), random_state=0)
RAW = (37 * SCAN.kspace).astype(np.complex64)
ROWS = np.isin(np.arange(32), [*range(8, 24), 3, 28])


@pytest.fixture(autouse=True)
def few_rules(monkeypatch):
    """Two or three rules beside a plan of lines, and one that stays to the end: the others are tried elsewhere."""
    monkeypatch.setattr(portfolio, "EXPONENTS", (2.0,))
    monkeypatch.setattr(portfolio, "DENSITIES", ())
    monkeypatch.setattr(halving, "LEFT", (1, 1, 1))
    monkeypatch.setattr(halving, "LAST", 1)
    monkeypatch.setattr(plan_errors, "VARIANTS", 2)


@pytest.fixture(scope="module", autouse=True)
def coarse():
    """Images to three percent, and lines learnt from fewer trials."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(trial, "_TOL", 3e-2)
        patched.setattr(plans, "_VARIANTS", {"lines": 1, "points": 1})
        patched.setattr(plans, "_CANDIDATES", 2)
        yield


@pytest.fixture
def plain(monkeypatch):
    """No pictures, one factor of the noise, few rounds: for tests of what is measured."""
    monkeypatch.setattr(RunFolder, "draw", lambda *_: None)
    monkeypatch.setattr(trial_designs, "SLACKS", (1.0,))
    monkeypatch.setattr(trial_designs, "_ROUNDS", 4)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Raw samples - all of them, some lines, some points - an image, volumes and a folder of DICOM."""
    folder = tmp_path_factory.mktemp("scans")
    points = np.random.default_rng(0).random(SHAPE) < 0.6
    points[8:24, 8:24] = True
    stored = {
        "raw": RAW,
        "some": RAW * ROWS[:, None],
        "points": RAW * points,
        "image": HEAD,
        "tiny": HEAD[::2, ::2],
        "turned": HEAD[:, :24],
    }
    stored |= {"nan": np.where(np.arange(32) == 5, np.nan, RAW), "shifted": np.fft.ifftshift(RAW, (1, 2))}
    stored |= {"zeros": 0 * RAW, "coils_last": np.moveaxis(RAW, 0, -1)}
    stored |= {"maps": np.ones((3, 32, 32)), "series": np.stack([np.stack([HEAD] * 3), np.stack([HEAD.T] * 3)], -1)}
    for name, array in stored.items():
        np.save(folder / f"{name}.npy", array)
    (folder / "cut.npy").write_bytes((folder / "raw.npy").read_bytes()[:5000])
    volume = np.stack([HEAD, HEAD, HEAD], axis=2)
    for name, affine in (("dicom", np.diag([2.0, 2.0, 3.0, 1.0])), ("finer", np.diag([1.0, 1.0, 3.0, 1.0]))):
        write_dicom(folder / name, volume, Geometry.from_affine(affine, volume.shape), Protocol(echo_time=0.03))
    tilted = np.array([[2.0, 0, 0, 0], [0, 1.6, -1.8, 0], [0, 1.2, 2.4, 0], [0, 0, 0, 1]])
    write_dicom(folder / "tilted", volume, Geometry.from_affine(tilted, volume.shape))
    write_ismrmrd(folder / "scan.h5", RAW)
    return folder


@pytest.fixture(scope="module")
def replayed(files, tmp_path_factory):
    out = tmp_path_factory.mktemp("replays") / "run"
    more = ["--export", "ismrmrd", "--export", "npy,text", "--lines", "8", "--draws", "1", "--jobs", "1"]
    assert run(["kspace", "--kspace", str(files / "raw.npy"), "--out", str(out), *more]) == 0
    return out


def summary_of(out):
    return json.loads((out / "summary.json").read_text())


def test_raw_samples_of_several_coils_are_replayed_and_the_plan_is_exported(replayed):
    summary, table = summary_of(replayed), columns(replayed / "designs.csv")
    assert summary["order"][:4] == [14, 15, 16, 17] and len(set(summary["order"])) == 8
    assert "2 coils, all 32 lines of 32 x 32 samples; nothing is simulated" in summary["said"]
    assert "plan.h5" in unplaced(["csv", "ismrmrd"], None) and unplaced(["csv"], None) == ""
    for name, shape in (("plan.csv", None), ("plan.h5", None), ("plan.npy", SHAPE)):
        assert import_design(replayed / name, shape).labels() == summary["order"]
    assert table["design"][0] == "designed" and set(table["design"][1:]) == {
        "equispaced", "variable_density", "half_plane_variable_density", "half_plane_quantiles", "one_sided_low_pass",
        "low_pass",
    }  # fmt: skip
    nmse, psnr = (np.array(table[name], dtype=float) for name in ("nmse", "psnr"))
    assert 0 < nmse[0] < 0.05 and np.all(np.diff(nmse[1:]) >= 0) and np.corrcoef(-np.log(nmse), psnr)[0, 1] > 0.999
    assert {"design.png", "coils.png", "plan.txt"} <= {path.name for path in replayed.iterdir()}


def test_a_replay_that_was_stopped_goes_on_to_the_same_bytes(replayed, tmp_path):
    out = tmp_path / "again"
    (out / "log").mkdir(parents=True)
    shutil.copy(replayed / "settings.json", out)
    events = (replayed / "log/order.jsonl").read_bytes().splitlines(keepends=True)
    (out / "log/order.jsonl").write_bytes(b"".join(events[: len(events) // 2]))
    assert run(["kspace", "--out", str(out), "--resume", "--jobs", "1"]) == 0
    for name in ("plan.csv", "designs.csv", "summary.json", "design.png", "coils.png"):
        assert (out / name).read_bytes() == (replayed / name).read_bytes()


@pytest.mark.parametrize(("name", "kind", "there"), [("some", "lines", 18), ("points", "points", None)])
def test_only_what_was_acquired_is_measured_again(name, kind, there, files, tmp_path, plain):
    more = ["--lines", "8"] if kind == "lines" else ["--lines", "60", "--initial", "6"]
    arguments = ["kspace", "--kspace", str(files / f"{name}.npy"), "--draws", "1", "--jobs", "1", *more]
    assert run([*arguments, "--out", str(tmp_path / "run")]) == 0
    summary = summary_of(tmp_path / "run")
    assert summary["trajectory"] == kind and "No full truth is known" in summary["said"]
    middle = [side // 2 for side in summary["shape"]]  # of the block that was acquired: frequencies are the same
    sampled = {tuple(one) for one in (np.argwhere(np.load(files / f"{name}.npy")[0]) - 16).tolist()}
    assert there in (None, summary["candidates"])
    tried = [tuple(map(int, one.split())) for one in columns(tmp_path / "run/labels_of_designs.csv")["label"]]
    if kind == "lines":
        assert {line - middle[0] for (line,) in tried} <= {line for line, _ in sampled}
    else:
        assert {(a - middle[0], b - middle[1]) for a, b in tried} <= sampled


@pytest.mark.parametrize(("trajectory", "n"), [("spokes", 5), ("spirals", 3)])
def test_shots_of_a_slice_are_tried_in_simulation(trajectory, n, files, tmp_path, plain):
    arguments = ["--image", str(files / "tiny.npy"), "--trajectory", trajectory, "--lines", str(n), "--draws", "1"]
    assert run(["kspace", *arguments, "--jobs", "1", "--out", str(tmp_path / "run")]) == 0
    summary = summary_of(tmp_path / "run")
    assert len(set(summary["order"])) == n and set(summary["designs"]) == {
        "designed", "equispaced_angles", "golden_angles", "random_angles"
    }  # fmt: skip
    plan = import_design(tmp_path / "run/plan.csv")
    assert len(plan) == n and np.allclose(plan.names, summary["order"])


# Plans ---------------------------------------------------------------------------------------------------------------


def test_a_plan_from_dicom_is_that_of_the_library_or_a_rule_and_says_the_error_to_expect(files, tmp_path, capsys):
    arguments = ["--plan", "--reference", str(files / "dicom"), "--lines", "9", "--initial", "6", "--export", "ismrmrd"]
    assert run(["kspace", *arguments, "--jobs", "1", "--out", str(tmp_path / "run")]) == 0
    order = import_design(tmp_path / "run/plan.h5").labels()
    slice_ = read_scan(files / "dicom").slice("axial", 1)
    expected = reference_lines(slice_.data / np.percentile(slice_.data, 99.8), 9, 6, snr=50.0)
    assert order[:6] == list(range(13, 19)) and len(order) == len(expected) == 9
    summary = summary_of(tmp_path / "run")
    errors, said = summary["expected error"], capsys.readouterr().out
    made = errors["design"]["design"] == "as designed"
    assert [one["design"] for one in errors.values()].count("as designed") == 1 and len(errors) == 3
    assert made == ("the simple rule" not in summary["plan"]) and list(summary["plan over others"]) == list(errors)[1:]
    for one in errors.values():
        text = f"{one['error']:.3f} ({one['low']:.3f} to {one['high']:.3f})"
        assert text in said and text in summary["plan"] and one["low"] < one["error"] < one["high"]
    assert "Assumed: one coil, phase smooth, read from its own centre, SNR 50" in said
    found = summary["certificate"]
    assert found["kind"] == "estimate" and found["n"] == 3 and 0 < found["share"] <= 1
    assert "The 3 lines outside the centre tell an estimated" in summary["plan"]
    assert summary["geometry"] == {"plane": "axial", "voxel size (mm)": [2.0, 2.0, 3.0], "matrix": [32, 32, 1]}
    assert summary["protocol"]["echo_time"] == pytest.approx(0.03) and "the same head" in summary["plan"]
    assert not list((tmp_path / "run").glob("designs*"))  # nothing is tried
    table = columns(tmp_path / "run/lines_of_designs.csv")
    assert list(table) == ["design", "rule", "draw", "line", "frequency"]
    lines = {name: [int(one) for one, own in zip(table["line"], table["design"], strict=True) if own == name]
             for name in table["design"]}  # fmt: skip
    assert sorted(lines["plan"]) == sorted(order) and {len(one) for one in lines.values()} == {9}
    assert summary["draws"] == dict.fromkeys(errors, 1) and summary["verdict"] in said.replace("\n", " ")
    assert [len(one) for one in summary["errors by scan"].values()] == [8] * 3


@pytest.mark.parametrize("readout", [0, 1])
def test_a_plan_follows_the_series_its_plane_and_the_way_of_its_phase_encodes(readout, tmp_path, capsys):
    sagittal = Geometry(np.zeros(3), np.array([[0, 0, 1.0], [0, 1, 0], [1, 0, 0]]), np.array([1.0, 1, 4]), (24, 32, 3))
    write_dicom(tmp_path / "head", np.stack([HEAD[4:28]] * 3, axis=2), sagittal, readout=readout)
    assert read_scan(tmp_path / "head").readout == readout
    arguments = ["--plan", "--reference", str(tmp_path / "head"), "--lines", "8", "--initial", "6"]
    assert run(["kspace", *arguments, "--export", "ismrmrd", "--jobs", "1", "--out", str(tmp_path / "run")]) == 0
    summary, plan = summary_of(tmp_path / "run"), import_design(tmp_path / "run/plan.h5")
    # axis 0 of the files points to the head, axis 1 to the front; those of the plan the other way round
    encoded, read = ("anterior-posterior (32, 32 mm)", "head-foot (24, 24 mm)")[:: 1 if readout == 0 else -1]
    assert summary["geometry"]["plane"] == "sagittal" and summary["geometry"]["matrix"] == [32, 24, 1]
    assert (
        f"Phases are encoded {encoded}, read-outs are {read}. The axis of the lines runs towards"
        in capsys.readouterr().out.replace("\n", " ")
    )
    assert plan.axis == readout and plan.image_shape == (32, 24)
    cut = read_scan(tmp_path / "head").slice()
    assert cut.readout == 1 - readout and cut.geometry.direction(cut.readout) == read.split()[0]


def test_maps_of_the_whole_serve_the_block_that_was_acquired_and_its_lines_are_found_in_the_file(tmp_path):
    kspace, smooth = np.where(np.abs(np.arange(32) - 16) < 12, RAW, 0), simulate_coils(SHAPE, 2, random_state=0)
    coarse = trial_setup._coarser(smooth, (32, 24))
    np.testing.assert_allclose(coarse[:, 16, 12], smooth[:, 16, 16])
    np.testing.assert_allclose(coarse[:, :, 9], smooth[:, :, 12])  # three pixels of 4/3 are four
    np.save(tmp_path / "wide.npy", kspace)
    scan = read_raw(str(tmp_path / "wide.npy"), None, None, None)
    for maps in ("estimate", smooth, coarse):
        found = replayed_of(scan, trajectory="lines", axis=1, initial=None, coils=maps)
        assert found.shape == (32, 24) and found.maps.shape == (2, 32, 24)
    assert "its line k is line k + 4 of the 32 in the file" in found.statements[0]


def test_a_plan_takes_coil_maps_and_keeps_the_field_of_view_of_raw_samples(files, tmp_path, capfd):
    """Before: --coils sent to --kspace, which sent back to --reference; without positions the view was lost."""
    told = Protocol(echo_time=0.03, frequency=63.5e6)
    scan = Scan(RAW, "kspace", coils=0, protocol=told, field_of_view=(256.0, 192.0, 4.0))
    reference = write_ismrmrd(tmp_path / "raw.h5", scan)
    np.save(tmp_path / "maps.npy", simulate_coils(SHAPE, 2, random_state=0))
    common = ["kspace", "--plan", "--reference", str(reference), "--lines", "9", "--initial", "6", "--jobs", "1"]
    for coils in ("estimate", str(tmp_path / "maps.npy")):
        out = tmp_path / f"run{len(coils)}"
        assert run([*common, "--coils", coils, "--export", "ismrmrd", "--out", str(out)]) == 0, capfd.readouterr().err
        planned = read_scan(out / "plan.h5")
        assert planned.field_of_view == (256.0, 192.0, 4.0) and planned.protocol.frequency == 63.5e6
        assert "orientation of plan.h5 is zero" in capfd.readouterr().out
        assert summary_of(out)["geometry"] == {"field of view (mm)": [256.0, 192.0, 4.0], "matrix": [32, 32]}
    for arguments, message in (
        ([*common, "--coils", str(files / "maps.npy")], "--coils: maps must have shape (2, 32, 32)"),
        (["kspace", "--plan", "--reference", str(files / "image.npy"), "--coils", "estimate"], "is an image"),
        (
            ["kspace", "--plan", "--image", str(files / "image.npy"), "--coils", "estimate"],
            "for a --plan with --reference",
        ),
    ):
        assert run([*arguments, "--out", str(tmp_path / "bad")]) == 2
        assert message in " ".join(capfd.readouterr().err.split())


def test_a_reference_of_nifti_is_one_and_every_export_keeps_what_it_states(tmp_path):
    affine = np.diag([2.0, 1.5, 3.0, 1.0])
    nibabel = pytest.importorskip("nibabel")
    image = nibabel.Nifti1Image(np.stack([HEAD] * 3, axis=2).astype(np.float32), affine)
    nibabel.save(image, tmp_path / "head.nii.gz")
    more = ["--axis", "1", "--export", "npy,text,ismrmrd", "--jobs", "1", "--out", str(tmp_path / "run")]
    given = ["kspace", "--plan", "--reference", str(tmp_path / "head.nii.gz"), "--lines", "8", "--initial", "6"]
    assert run([*given, *more]) == 0
    summary, out = summary_of(tmp_path / "run"), tmp_path / "run"
    assert "(the same head)" in summary["plan"] and summary["geometry"]["matrix"] == [32, 32, 1]
    plans = [import_design(out / name) for name in ("plan.csv", "plan.npy", "plan.h5")]
    assert {one.axis for one in plans} == {1} and all(one.labels() == summary["order"] for one in plans)
    text = " ".join((out / "plan.txt").read_text().split())
    assert "Field of view 64 x 48 x 3 mm." in text
    assert "Line 16 is the centre of k-space: line k has frequency k - 16, and line 0 has -16." in text
    assert "Axis 1 of the image runs towards A: its pixel 31 lies towards A." in text
    assert "The mirrored order, line 32 - k in the place of line k, is as good" in text
    for name in ("plan.csv.json", "plan.npy.json"):
        assert json.loads((out / name).read_text())["field of view (mm)"] == [64.0, 48.0, 3.0]
    np.testing.assert_allclose(read_scan(out / "plan.h5").geometry.field_of_view, [64, 48, 3], rtol=1e-6)


def test_a_plan_becomes_a_sequence_or_goes_into_ones_own(tmp_path, capfd):
    """The reference's field of view, the times asked for; of the own sequence the read-outs; both hold the plan."""
    pulseq, nibabel = pytest.importorskip("pypulseq"), pytest.importorskip("nibabel")
    from experiments.scanner.shared.pulseq_sequences import gradient_echo

    head, own = tmp_path / "head.nii.gz", tmp_path / "own.seq"
    nibabel.save(nibabel.Nifti1Image(np.stack([HEAD] * 3, axis=2).astype(np.float32), np.diag([2.0, 1.5, 3, 1])), head)
    np.save(tmp_path / "head.npy", HEAD)
    (tmp_path / "scanner.toml").write_text("max_grad = 22\ndwell = 25e-6\n")
    gradient_echo(n=32, fov=0.048).write(str(own))
    size = ["--lines", "8", "--initial", "6", "--jobs", "1"]
    common = ["kspace", "--plan", "--reference", str(head), *size, "--axis", "1", "--export", "pulseq"]
    limits = ["--system", str(tmp_path / "scanner.toml")]
    ours = ["--te", "6", "--flip", "12", *limits, "--out", str(tmp_path / "ours")]
    assert run([*common, *ours]) == 0
    assert run([*common, "--sequence", str(own), "--out", str(tmp_path / "theirs")]) == 0
    for name in ("ours", "theirs"):
        plan = import_design(tmp_path / name / "plan.seq")
        assert (
            plan.labels()
            == import_design(tmp_path / name / "plan.csv").labels()
            == summary_of(tmp_path / name)["order"]
        )
        assert plan.axis == 1 and plan.image_shape == (32, 32)
    made = pulseq.Sequence()
    made.read(str(tmp_path / "ours/plan.seq"))
    assert made.definitions["TE"] == pytest.approx(6e-3, abs=1e-5)
    assert made.definitions["FOV"].tolist() == [0.064, 0.048, 0.003]
    capfd.readouterr()
    bare = ["kspace", "--plan", "--reference", str(tmp_path / "head.npy"), *size]
    for k, (given, message) in enumerate(
        [
            (
                [*bare, "--export", "pulseq"],
                "--export pulseq: the reference does not say its field of view: give it as --fov",
            ),
            ([*common, *limits, "--te", "0.5"], "--export pulseq: te must be at least"),
            ([*common, "--te", "5", "--sequence", str(own)], "--te is that of --sequence"),
            ([*common, "--sequence", str(head)], "--export pulseq: head.nii.gz"),
            ([*common, "--fov", "220"], "--fov must be three lengths in mm, as 220x220x5, got 220."),
            ([*common, "--sequence", str(own), "--trajectory", "spokes"], "--sequence keeps its read-outs"),
            ([*bare, "--tr", "9"], "--tr is about a Pulseq sequence: ask for it with --export pulseq."),
            (
                ["kspace", "--image", str(head), "--export", "pulseq"],
                "--export pulseq writes the sequence of a --plan.",
            ),
        ]
    ):
        assert run([*given, "--out", str(tmp_path / f"refused{k}")]) == 2
        stderr = capfd.readouterr().err
        assert message in stderr and stderr.count("\n") == 1, stderr
    assert run([*bare, "--export", "pulseq", "--fov", "128x128x3", "--out", str(tmp_path / "stated")]) == 0
    assert len(import_design(tmp_path / "stated/plan.seq")) == 8


def test_a_single_slice_lies_as_reference_as_it_lies_as_image(tmp_path):
    """Before: of a file that counts towards the left, --reference kept the file's order and --image did not."""
    nibabel = pytest.importorskip("nibabel")
    flipped = nibabel.Nifti1Image(HEAD[:, :24, None].astype(np.float32), np.diag([-2.0, 2.0, 3.0, 1.0]))
    nibabel.save(flipped, tmp_path / "left.nii.gz")
    path = str(tmp_path / "left.nii.gz")
    scan, known = read_reference_scan(path, "axial", None, None)
    np.testing.assert_array_equal(known.images[0], read_stack(path, "axial", None)[0][0].image)
    np.testing.assert_array_equal(known.images[0] > 0, HEAD[::-1, :24] > 0)
    assert known.geometry.side(0) == "R" and known.geometry.side(1) == "A"
    corner = read_scan(path).geometry.place([31, 0, 0])
    np.testing.assert_allclose(scan.geometry.place([0, 0, 0]), corner)


def test_points_across_the_read_out_become_encodes_of_the_volume(files, tmp_path):
    arguments = ["--plan", "--reference", str(files / "dicom"), "--trajectory", "points", "--lines", "72"]
    arguments += ["--export", "ismrmrd"]
    assert run(["kspace", *arguments, "--initial", "8", "--jobs", "1", "--out", str(tmp_path / "run")]) == 0
    plan = import_design(tmp_path / "run/plan.csv")
    assert plan.image_shape == (3, *SHAPE) and plan.readout == 0 and len(plan) == 72
    assert plan.labels() == [tuple(one) for one in summary_of(tmp_path / "run")["order"]]
    assert read_scan(tmp_path / "run/plan.h5").field_of_view == (9.0, 64.0, 64.0)  # before: refused


def test_without_a_reference_shots_are_a_rules_and_lines_are_learnt(files, tmp_path):
    common = ["--plan", "--image", str(files / "tiny.npy"), "--jobs", "1"]
    assert run(["kspace", *common, "--trajectory", "spokes", "--lines", "7", "--out", str(tmp_path / "spokes")]) == 0
    expected = summary_of(tmp_path / "spokes")["expected error"]
    angles = {"golden angles": golden_angles(7, np.pi), "equispaced angles": equispaced_angles(7, np.pi)}
    np.testing.assert_allclose(import_design(tmp_path / "spokes/plan.csv").names, angles[expected["design"]["design"]])
    assert expected["design"]["error"] <= expected["equispaced angles"]["error"]
    assert run(["kspace", *common, "--lines", "7", "--initial", "6", "--out", str(tmp_path / "lines")]) == 0
    assert import_design(tmp_path / "lines/plan.csv").labels()[:6] == central(16, 6).tolist()


def test_one_of_several_volumes_is_taken_and_said(files, tmp_path, capfd):
    common = ["kspace", "--plan", "--image", str(files / "series.npy"), "--trajectory", "spokes", "--lines", "3"]
    assert run([*common, "--out", str(tmp_path / "first")]) == 0
    assert "Volume 0 of 2; --volume takes another." in capfd.readouterr().out
    assert run([*common, "--volume", "1", "--out", str(tmp_path / "second")]) == 0
    assert "--volume takes another" not in capfd.readouterr().out


def test_a_trial_says_which_of_several_volumes_it_takes(files):
    options = {"image": str(files / "series.npy"), "kspace": None, "reference": None, "trajectory": "spokes"}
    options |= {"plane": "axial", "slice": None, "lines": 3, "initial": None, "axis": None, "snr": 50.0, "seed": 0}
    for volume, said in ((None, True), (1, False)):
        tried, _ = _trial_of(options | {"volume": volume, "phase": "central", "compress": "auto", "coils": None})
        assert ("Volume 0 of 2; --volume takes another" in tried.statements) == said


def test_images_of_a_file_of_raw_samples_are_said_to_be_that(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "fast.h5", "w") as file:
        file["kspace"] = np.stack([RAW] * 2)
    assert "--kspace replays them" in read_stack(str(tmp_path / "fast.h5"), "axial", None)[1]
    with h5py.File(tmp_path / "fast.h5", "a") as file:
        file["reconstruction_rss"] = np.stack([HEAD] * 2)
    assert read_stack(str(tmp_path / "fast.h5"), "axial", None)[1] == ""


def test_a_reference_is_compared_without_the_oversampling_of_read_outs():
    wide = Scan(np.ones((2, 32, 64), complex), "kspace", coils=0, readout=1, reconstructed=SHAPE, source="wide")
    require_alike(wide, Scan(RAW, "kspace", coils=0))
    require_alike(Scan(HEAD, "image"), wide)
    with pytest.raises(CommandError, match="the matrix of scan is 32 x 32, that of wide 32 x 64"):
        require_alike(replace(wide, reconstructed=None), Scan(RAW, "kspace", coils=0))


@pytest.mark.parametrize("order, backwards", [([1, 0, 2], [False, True, False]), ([0, 1, 2], [True, False, False])])
def test_lines_of_a_reference_are_those_of_the_scan_however_its_pictures_lie(order, backwards):
    place = Geometry.from_affine(np.diag([2.0, 2.0, 3.0, 1.0]), (32, 24, 1))
    scan = Scan(RAW[..., :24], "kspace", coils=0, geometry=place)
    picture = turned(Scan(HEAD[:, :24], "image", geometry=place), order, backwards)
    assert not compare_scans(picture, scan)
    maps = np.stack([picture.data, 2 * picture.data])
    found = turned_to(Known([picture.data], "head", True, maps), picture, scan)
    np.testing.assert_array_equal(found.images[0], HEAD[:, :24])
    np.testing.assert_array_equal(found.coils, [HEAD[:, :24], 2 * HEAD[:, :24]])
    unplaced = replace(picture, geometry=None)
    assert turned_to(Known([picture.data], "head", True), unplaced, scan).images[0] is picture.data


# Many coils ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "wanted", "few"), [(12, "auto", None), (13, "auto", 5), (13, "off", None), (13, 4, 4), (4, 4, None)]
)
def test_many_coils_are_compressed_to_those_that_keep_the_energy(n, wanted, few):
    samples = simulate_scan(HEAD, snr=200, coils=simulate_coils(SHAPE, n, random_state=0), random_state=0).kspace
    found = compressed(samples, wanted, "--kspace", "raw.npy")
    if few is None:
        assert found.samples is samples and found.matrix is None and found.said == f"{n} coils"
        return
    assert 3 <= len(found.samples) <= few and f"{n} coils, compressed to {len(found.samples)} virtual" in found.said
    np.testing.assert_allclose(found.samples, np.tensordot(found.matrix, samples, 1), atol=1e-9)
    np.testing.assert_allclose(found.matrix @ found.matrix.conj().T, np.eye(len(found.samples)), atol=1e-9)


def test_a_replay_of_many_coils_sees_the_virtual_ones(tmp_path):
    maps = simulate_coils(SHAPE, 14, random_state=0)
    samples = 37 * simulate_scan(HEAD, snr=100, coils=maps, random_state=0).kspace
    np.save(tmp_path / "raw.npy", samples)
    scan = read_raw(str(tmp_path / "raw.npy"), None, None, None)
    told = {"trajectory": "lines", "axis": 0, "initial": 8}
    whole, few = (trial_setup.replayed(scan, coils=maps, compress=compress, **told) for compress in ("off", 6))
    assert whole.coils.shape == (14, *SHAPE) and few.coils.shape == few.source.data.shape == (6, *SHAPE)
    assert few.statements[0].startswith("Replayed from raw.npy: 14 coils, compressed to 6 virtual ones with 99.")
    inside = whole.truth > 0.3
    np.testing.assert_allclose(few.truth[inside], whole.truth[inside], rtol=0.05)
    expected = few.coils * np.sum(few.coils.conj() * few.source.images, 0) / np.sum(np.abs(few.coils) ** 2, 0)
    apart = np.linalg.norm((few.source.images - expected)[:, inside]) / np.linalg.norm(expected[:, inside])
    assert apart < 0.1  # the maps are those of the virtual coils


def test_a_plan_from_raw_samples_says_how_many_coils_they_became(files, tmp_path):
    arguments = ["--plan", "--reference", str(files / "raw.npy"), "--compress", "1", "--lines", "9", "--initial", "8"]
    assert run(["kspace", *arguments, "--jobs", "1", "--out", str(tmp_path / "run")]) == 0
    summary = summary_of(tmp_path / "run")
    assert "(2 coils, compressed to 1 virtual one with" in summary["plan"]
    assert summary["settings"]["compress"] == 1


def test_the_main_file_is_an_image_or_raw_samples_by_its_ending(files, capsys):
    image, scan = str(files / "image.npy"), str(files / "scan.h5")
    for words in ([image, "--lines", "12"], ["--image", image, "--lines", "12"]):
        assert run(["kspace", *words, "--dry-run"]) == 0
        assert "image.npy" in capsys.readouterr().out
    assert run(["kspace", scan, "--dry-run"]) == 0
    assert "scan.h5" in capsys.readouterr().out
    assert run(["kspace", image, "--image", image]) == 2
    assert "IMAGE and --image are the same: give one of" in capsys.readouterr().err


# What is refused -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kspace", "image"], "--kspace: image.npy holds an image as it seems, and no k-space: give it as --image."),
        (["--image", "raw"], "--image: raw.npy holds k-space as it seems"),
        (["--image", "scan"], "--image: scan.h5 holds raw samples (ISMRMRD): give it as --kspace"),
        (["--kspace", "zeros"], "--kspace: zeros.npy holds no sample: all of its numbers are zero."),
        (["--kspace", "coils_last"], "coils_last.npy holds 32 x 32 x 2 numbers, k-space along its first two axes"),
        (["--kspace", "nan"], "NaN or infinite"),
        (["--kspace", "cut"], "cut.npy cannot be read; it seems to be damaged"),
        (["--kspace", "nothing"], "there is no file"),
        (["--kspace", "shifted"], "kspace is not centred along axes 0 and 1"),
        (["--kspace", "raw", "--image", "image"], "give one of them"),
        (["--kspace", "raw", "--plan"], "give the raw samples as --reference"),
        (["--kspace", "raw", "--trajectory", "spirals"], "cannot be replayed from samples on a grid"),
        (["--kspace", "raw", "--snr", "20"], "--snr is about a simulation"),
        (["--kspace", "raw", "--lines", "33"], "--lines counts the first 4 lines too, and there are 32"),
        (["--kspace", "some", "--axis", "1"], "lines were left out along axis 0"),
        (
            ["--kspace", "some", "--initial", "20"],
            "the 16 central lines were acquired without a gap, and 20 are wanted",
        ),
        (["--kspace", "points", "--trajectory", "lines"], "use --trajectory points"),
        (["--kspace", "raw", "--coils", "maps"], "the file holds maps of 3 coils, and the samples have 2"),
        (["--kspace", "raw", "--coils", "tiny"], "--coils must hold maps of shape (2, 32, 32), got"),
        (
            ["--kspace", "raw", "--reference", "turned"],
            "--reference: the matrix of raw.npy is 32 x 32, that of turned.npy",
        ),
        (["--kspace", "raw", "--slice", "3"], "holds one slice, and --slice 3 asks for another"),
        (
            ["--image", "dicom", "--reference", "finer"],
            "--reference: the voxel size of dicom is 2 x 2 x 3 mm, that of finer",
        ),
        (["--image", "dicom", "--reference", "tilted"], "--reference: the orientation of dicom is axial"),
        (["--image", "series", "--volume", "2"], "--image: series.npy has no volume 2"),
        (
            ["--image", "series", "--series", "3"],
            "--series: series.npy holds 2 volumes, and 3 of them from volume 0 on",
        ),
        (["--image", "series", "--series", "1"], "--series must be at least 2, got 1."),
        (["--image", "series", "--series", "2", "--plan"], "--plan does not go with it"),
        (["--plan", "--image", "image", "--exchanges", "4"], "--exchanges needs the same head"),
        (["--kspace", "raw", "--exchanges", "4"], "--exchanges is about lines that are designed for a slice"),
        (["--plan", "--reference", "some"], "was not sampled completely, and a reference has to be"),
        (["--plan", "--reference", "image", "--image", "image"], "not both"),
        (["--plan", "--reference", "image", "--lines", "5", "--initial", "6"], "--lines counts the first 6 lines too"),
        (["--plan", "--reference", "image", "--lines", "99"], "--lines must be at most 32, all the lines of "),
        (["--plan", "one", "two"], "files and values follow their options"),
        (["--reference", "image"], "--reference is an earlier scan of a head: plan the next one from it with --plan"),
        (["--coils", "estimate"], "--coils is about raw samples"),
        (["--compress", "4"], "--compress is about raw samples of several coils"),
        (["--kspace", "raw", "--compress", "few"], "--compress must be a number of virtual coils of at least 1, auto"),
        (["--kspace", "raw", "--compress", "0"], "auto or off, got 0."),
        (
            ["--kspace", "raw", "--compress", "3"],
            "--compress 3 is more than the coils of --kspace raw.npy, which are 2",
        ),
        (
            ["--plan", "--reference", "raw", "--compress", "3"],
            "more than the coils of --reference raw.npy, which are 2",
        ),
        (["--plan", "--reference", "image", "--draws", "4"], "--draws is about a comparison: a --plan is set beside"),
        (["--image", "series", "--series", "2", "--draws", "4"], "--draws is about a comparison: with --series"),
        (["--trajectory", "rosette"], "--trajectory must be one of lines, points, spirals, spokes, got rosette."),
        (["--plane", "oblique"], "--plane must be one of axial, coronal, sagittal, got oblique."),
        (["--export", "ima"], "--export must be one of csv, npy, bart, ismrmrd, text, pulseq, got ima."),
    ],
)
def test_bad_input_ends_in_one_line_and_leaves_the_folder_free(arguments, message, files, tmp_path, capfd):
    names = {path.stem: str(path) for path in files.iterdir()} | {"nothing": str(files / "nothing.npy")}
    given = [names.get(one, one) for one in arguments]
    assert run(["kspace", "--jobs", "1", "--out", str(tmp_path / "run"), *given]) == 2
    stdout, stderr = capfd.readouterr()
    assert stdout == "" and stderr.startswith("adaptive: ") and stderr.count("\n") == 1, stderr
    assert message in stderr
    assert not (tmp_path / "run/settings.json").exists()
