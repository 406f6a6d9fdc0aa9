"""``adaptive kspace`` as a process: what it writes, how it resumes after a kill, what it says to bad input."""

from __future__ import annotations

import json

import numpy as np
import pytest

from adaptive.cli import run
from designs import kspace
from tests.cli.processes import columns, finish, interrupt_after, kill_after, logs, n_told, on_a_terminal

pytest.importorskip("skimage")

FILES = ("lines.csv", "lines_of_designs.csv", "designs.csv", "design.png", "summary.json")
DESIGNS = [
    "designed",
    "information_gain",
    "low_pass",
    "equispaced",
    "uniform",
    "variable_density",
    "half_plane_variable_density",
    "one_sided_low_pass",
    "half_plane_quantiles",
]
N_DRAWS = [1, 1, 1, 1, 2, 2, 2, 1, 1]
QUICK = ("--lines", "12", "--initial", "4", "--axis", "1", "--draws", "2")


def contents(folder):
    return {name: (folder / name).read_bytes() for name in FILES}


def head(shape, centre):
    """An ellipse with a structure, which no line alone shows."""
    y, x = np.mgrid[-1 : 1 : shape[0] * 1j, -1 : 1 : shape[1] * 1j]
    y, x = y - centre, x
    image = 0.6 * (x**2 / 0.5 + y**2 / 0.7 < 1) + 0.3 * (x**2 + y**2 < 0.2) - 0.2 * (abs(x - 0.2) + abs(y) < 0.15)
    return np.clip(image + 0.05 * np.sin(25 * x) * (image > 0), 0, 1)


@pytest.fixture(scope="module")
def volume(tmp_path_factory):
    """Three slices of 16 x 24 pixels; the first is empty."""
    path = tmp_path_factory.mktemp("data") / "volume.npy"
    np.save(path, np.stack([np.zeros((16, 24)), head((16, 24), 0.0), head((16, 24), 0.1)]))
    return path


@pytest.fixture(scope="module")
def finished(volume, tmp_path_factory):
    """An uninterrupted run on that volume, by one process."""
    out = tmp_path_factory.mktemp("runs") / "whole"
    found = finish("kspace", volume, "--slice", 1, "--out", out, "--jobs", 1, *QUICK)
    assert found.returncode == 0, found.stderr
    return out, found


def test_lines_come_in_the_order_chosen_central_ones_first(finished):
    lines = columns(finished[0] / "lines.csv")
    assert list(lines) == ["line", "frequency"]
    assert [int(line) - 16 for line in lines["line"]] == [int(frequency) for frequency in lines["frequency"]]
    lines = [int(line) for line in lines["line"]]
    assert lines[:4] == [14, 15, 16, 17]
    assert len(set(lines)) == 12 and set(lines) <= set(range(32))
    summary = json.loads((finished[0] / "summary.json").read_text())
    gained = summary["lines by information gain"]
    assert lines == summary["lines"] and gained[:4] == lines[:4]
    assert f"lines.csv holds the {'design' if summary['lines of'] == 'designed' else 'lines of'}" in finished[1].stdout
    mirrored = {(32 - line) % 32 for line in gained[4:]} & set(gained)
    assert len(mirrored) <= 4  # a mirror is worth no more than what the estimated phase leaves


def test_the_design_says_its_rule_and_the_error_to_expect_everywhere(finished):
    out, found = finished
    summary = json.loads((out / "summary.json").read_text())
    expected, ratios = summary["expected error"], summary["design over others"]
    assert list(expected)[:2] == ["design", "best simple rule"] and {"same", "neighbour"} == ratios.keys()
    assert summary["design"]["rule"] == expected["design"]["design"] and summary["design"]["central"] == 4
    assert {"variable_density", "equispaced"} <= ratios["same"].keys()
    for name, one in ratios["same"].items():  # one number for what is printed in two ways
        other = next(each for each in expected.values() if each["design"] == name)
        assert one["ratio"] == pytest.approx(expected["design"]["error"] / other["error"])
        assert (
            f"{one['ratio']:.2f} times that of {name.replace('_', ' ')} (95% interval {one['low']:.2f}" in found.stdout
        )
    for one in expected.values():
        assert 0 < one["low"] < one["error"] < one["high"]
        for text in (found.stdout, summary["simulated"]):
            assert f"{one['error']:.3f} ({one['low']:.3f} to {one['high']:.3f})" in text
    assert "Assumed: phase smooth, read from its own centre, one coil, SNR 50, no motion." in found.stdout


def test_every_design_is_judged_on_both_slices(finished):
    table = columns(finished[0] / "designs.csv")
    assert list(table) == ["design", "slice", "lines", "error", "psnr", "ssim", "error_95", "relative_error"]
    assert list(zip(table["design"], table["slice"], strict=True)) == [
        (design, where) for design in DESIGNS for where in ("same", "neighbour")
    ]
    assert set(table["lines"]) == {"12"}
    error, psnr = (np.array(table[name], dtype=float) for name in ("error", "psnr"))
    fixed = [k for k, design in enumerate(table["design"]) if design in ("designed", "low_pass", "equispaced")]
    everywhere = 10 * np.log10(16 * 32 / error[fixed] ** 2)  # peak 1, padded; the table's is that inside the head
    assert np.all(psnr[fixed] < everywhere) and np.all(psnr[fixed] > everywhere - 10 * np.log10(8))
    assert error.min() > 0.2 and np.all(np.abs(np.array(table["ssim"], dtype=float)) < 1)


def test_the_lines_of_every_design_are_there(finished):
    table = columns(finished[0] / "lines_of_designs.csv")
    assert list(dict.fromkeys(table["design"])) == DESIGNS
    for design, n_draws in zip(DESIGNS, N_DRAWS, strict=True):
        rows = [k for k, name in enumerate(table["design"]) if name == design]
        assert len({(table["draw"][k], table["line"][k]) for k in rows}) == len(rows) == 12 * n_draws
    chosen = columns(finished[0] / "lines.csv")["line"]
    summary = json.loads((finished[0] / "summary.json").read_text())
    handed = [k for k, name in enumerate(table["design"]) if name == summary["lines of"]][:12]
    assert {table["line"][k] for k in handed} == set(chosen)


def test_the_summary_says_what_was_tuned_and_what_was_simulated(finished):
    out, found = finished
    summary = json.loads((out / "summary.json").read_text())
    table = columns(out / "designs.csv")
    assert summary["shape"] == [16, 32] and "16 x 24 pixels, to 16 x 32" in summary["padded"]
    assert [summary["designs"][name]["draws"] for name in DESIGNS] == N_DRAWS
    for name in DESIGNS:
        one = summary["designs"][name]
        by_scale = one["mean error by prior scale"]
        assert min(by_scale, key=by_scale.get) == f"{one['prior scale']:g}" and len(by_scale) == 4
        assert ("exponent" in one) == ("density" in name or "quantiles" in name)
    tuned = summary["designs"]["variable_density"]["mean error by exponent"]
    assert list(tuned) == ["0.5", "1", "2", "4", "6"]
    ratio = summary["designs"]["low_pass"]["neighbour"]["error of the designed lines over this"]
    assert ratio == pytest.approx(float(table["error"][1]) / float(table["error"][5]))
    assert summary["information gained"][:4] == [None] * 4 and min(summary["information gained"][4:]) > 0
    for text in (summary["simulated"], found.stdout):
        assert "smooth random phase" in text and "SNR 50" in text and "the true image" in text
    assert "image's length" not in found.stdout and "error: |true - reconstructed| / |true|" in found.stdout
    assert (out / "design.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_the_table_is_printed_and_nothing_goes_to_stderr_where_it_is_no_terminal(finished):
    out, found = finished
    assert found.stderr == "" and max(len(line) for line in found.stdout.splitlines()[:12]) <= 80
    row = next(line for line in found.stdout.splitlines() if "half plane variable density" in line)
    errors = columns(out / "designs.csv")["relative_error"][12:14]
    assert all(f"{float(error):.3f}" in row for error in errors)


@pytest.fixture(scope="module")
def single(tmp_path_factory):
    """An uninterrupted run on a single image, by one process that sees a terminal: its options, folder and words."""
    folder = tmp_path_factory.mktemp("single")
    np.save(folder / "one.npy", head((48, 16), 0.0))
    options = ("--image", folder / "one.npy", "--lines", 12, "--draws", 1)
    code, stdout, shown = on_a_terminal("kspace", *options, "--jobs", 1, "--out", folder / "run")
    assert code == 0, shown
    return options, folder / "run", stdout, shown


def test_a_terminal_shows_progress_a_single_image_has_no_neighbour_and_its_centre_is_chosen(single):
    _, out, stdout, shown = single
    summary = json.loads((out / "summary.json").read_text())
    centre = summary["design"]["central"]
    there = 9 if centre == 6 else 13  # with the rules at an eighth of the lines, where that is not the centre
    assert b"choosing lines" in shown and f"{there}/{there}".encode() in shown  # designs
    table = columns(out / "designs.csv")["design"]
    assert len(set(table)) == there and ("half_plane_quantiles, n/8" in table) == (centre != 6)
    assert set(columns(out / "designs.csv")["slice"]) == {"same"}
    assert "No neighbouring slice: one.npy is a single image." in stdout
    assert "either side would do" in stdout or "one side of it" not in stdout
    assert f"adaptive kspace --reference {single[0][1]} " in stdout and "--plan --export csv --out" in stdout
    assert "A --plan may choose other lines than the design of this table" in stdout
    first = [int(line) for line in columns(out / "lines.csv")["line"]][:centre]
    assert first == kspace.central(48, centre).tolist() and "itself (one.npy)" in summary["simulated"]


def test_a_run_that_was_killed_then_stopped_by_ctrl_c_resumes_to_the_same_bytes(single, tmp_path):
    """Killed while lines are chosen; what was measured before is not measured again, and workers change nothing."""
    options, whole, _, _ = single
    out = tmp_path / "run"
    told = kill_after(3, out, "kspace", *options, "--out", out, "--jobs", 2)
    before = logs(out)["lines.jsonl"]
    assert 3 <= told < 7 and not (out / "lines.csv").exists()
    code, stdout, stderr = interrupt_after(told + 1, out, "kspace", "--out", out, "--resume", "--jobs", 2)
    assert code == 130 and stdout == ""
    assert stderr.startswith("adaptive: stopped after ") and stderr.count("\n") == 1
    assert f"of 12 lines; continue with: adaptive kspace --out {out} --resume" in stderr
    found = finish("kspace", "--out", out, "--resume", "--jobs", 2)
    assert found.returncode == 0, found.stderr
    assert contents(out) == contents(whole)
    assert logs(out)["lines.jsonl"].startswith(before[: before.rfind(b"\n") + 1]) and n_told(out) == 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--image", "absent.png"], "there is no file or folder"),
        (["--image", "NOTES"], "has an unknown ending"),
        (["--image", "BROKEN"], "cannot be read"),
        (["--image", "VOLUME", "--slice", "3"], "--slice 3: volume.npy has no slice 3: there are 3, 0 to 2."),
        (["--image", "VOLUME", "--slice", "-1"], "--slice must be at least 0, got -1."),
        (["--image", "VOLUME", "--slice", "0"], "slice 0 of volume.npy is empty"),
        (["--image", "SMALL"], "has 8 x 9 pixels; at least 16 x 16 are needed"),
        (["--image", "NAN"], "holds 1 pixels that are NaN or infinite"),
        (["--image", "RAMP", "--lines", "20"], "kspace is not centred along axis 0"),
        (["--image", "VOLUME", "--lines", "33"], "--lines 33 is more than the 16 lines along axis 0"),
        (["--lines", "16", "--initial", "16"], "must be more than --initial 16, got 16"),
        (["--lines", "4"], "must be more than --initial 4, got 4"),
        (["--initial", "0"], "--initial must be at least 1, got 0."),
        (["--draws", "0"], "--draws must be at least 1, got 0."),
        (["--axis", "2"], "--axis must be 0 or 1, got 2."),
        (["--lines", "many"], "Invalid value for '--lines'"),
        (["--seed", "-1"], "--seed must be at least 0"),
        (["--out", "NOTES"], "is a file; --out expects a folder"),
        (["--out", "FINISHED"], "holds a run already; add --resume to continue it"),
        (["--out", "EMPTY", "--resume"], "there is no run to resume in"),
        (["--out", "FINISHED", "--resume", "--lines", "15"], "has lines = 12, not 15"),
    ],
)
def test_bad_input_ends_in_one_line_and_exit_code_2(arguments, message, volume, finished, tmp_path, capfd):
    known = {"VOLUME": volume, "FINISHED": finished[0], "EMPTY": tmp_path / "empty"}
    known |= {name: tmp_path / file for name, file in (("NOTES", "notes.txt"), ("BROKEN", "broken.png"))}
    known |= {name: tmp_path / f"{name.lower()}.npy" for name in ("SMALL", "NAN", "RAMP")}
    (tmp_path / "notes.txt").write_text("no image")
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nand no more")
    np.save(known["SMALL"], np.ones((8, 9)))
    image = head((32, 32), 0.0)
    np.save(known["NAN"], np.where(np.arange(1024).reshape(32, 32) == 5, np.nan, image))
    np.save(known["RAMP"], image * np.exp(0.5j * np.pi * np.arange(32))[:, None])
    arguments = [str(known.get(one, one)) for one in arguments]
    if "--out" not in arguments:
        arguments += ["--out", str(tmp_path / "run")]
    assert run(["kspace", "--jobs", "1", *arguments]) == 2
    stdout, stderr = capfd.readouterr()
    assert stdout == "" and stderr.startswith("adaptive: ") and stderr.count("\n") == 1
    assert message in stderr
    assert not (tmp_path / "run/settings.json").exists()  # what was refused leaves the folder free


def test_a_changed_image_is_not_resumed(volume, finished, tmp_path):
    copy, out = tmp_path / "copy.npy", tmp_path / "run"
    copy.write_bytes(volume.read_bytes())
    (out / "log").mkdir(parents=True)
    settings = json.loads((finished[0] / "settings.json").read_text()) | {"image": str(copy)}
    (out / "settings.json").write_text(json.dumps(settings))
    np.save(copy, np.load(copy) ** 2)
    found = finish("kspace", "--out", out, "--resume")
    assert found.returncode == 2 and "the pixels of the image are not those that the run in" in found.stderr
