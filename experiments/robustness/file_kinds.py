"""Twenty kinds of files that people bring: a sound one each, the reader of it, and what may not come out of any."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["FILES", "Kind"]


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes
    ----------
    ending : str
    make : callable
        Writes a sound file of this name.
    read : callable
        What the library reads of it.
    wrong : callable
        Of what was read: what is wrong with it, "" where nothing can be told.
    text : bool
        Whether people write it by hand.
    sums : bool
        Whether the format keeps check sums, so that nothing else may come out than what was written.
    """

    ending: str
    make: Callable[[Path], Any]
    read: Callable[[Path], Any]
    wrong: Callable[[Any], str]
    text: bool = False
    sums: bool = False


def _rows(separator: str = ",", point: str = ".") -> bytes:
    rng = np.random.default_rng(0)
    rows = [
        separator.join(
            [f"{rng.normal():.3f}".replace(".", point), f"2024-01-{1 + k % 28:02d}", ("red", "blue", "grün")[k % 3],
             f'"a text of some words, number {k}"', ("yes", "no")[k % 2]]
        )
        for k in range(60)
    ]  # fmt: skip
    return ("\n".join([separator.join(["size", "day", "colour", "said", "answer"]), *rows]) + "\n").encode()


def _table(path: Path) -> Any:
    from adaptive.tables import Preparation, columns_of, read_cells

    cells = read_cells(path)
    return cells, Preparation(columns_of(cells, leave_out=["answer"], max_missing=0.5), path.name).features_of()


def _not_finite(value: Any) -> str:
    X = value[1]
    numbers = X.data if hasattr(X, "indptr") else np.asarray(X)
    return "" if np.isfinite(numbers).all() else "features that are NaN or infinite"


def _parquet(path: Path) -> None:
    import pandas as pd

    rng = np.random.default_rng(0)
    block = rng.standard_normal((60, 4)).astype(np.float32)
    frame = pd.DataFrame({"size": rng.normal(size=60), "e": list(block), "answer": ["yes", "no"] * 30})
    frame.to_parquet(path)


def _answers(path: Path) -> Any:
    from adaptive.labelling import read_csv

    return read_csv(path)


def _said(found: Any) -> str:
    wrong = [one for one in found if not isinstance(one.position, int) or isinstance(one.outcome, float) is np.nan]
    return f"answers without a position: {len(wrong)}" if wrong else ""


def _studio(path: Path) -> None:
    tasks = [
        {
            "id": k, "data": {"position": k, "text": f"text {k}"},
            "annotations": [{"completed_by": 1, "result": [{"type": "choices", "value": {"choices": ["yes"]}}]}],
        }
        for k in range(20)
    ]  # fmt: skip
    path.write_text(json.dumps(tasks, indent=1))


def _read_studio(path: Path) -> Any:
    from adaptive.labelling import read_label_studio

    return read_label_studio(path)


TOML = """title = "A small test"
answers = ["never", "sometimes", "often"]
[[items]]
id = "q1"
text = "I sleep well."
[[items]]
id = "q2"
text = "I am tired."
[stop]
questions = 2
"""


def _toml(path: Path) -> None:
    path.write_text(TOML)


def _read_toml(path: Path) -> Any:
    from adaptive.cli.ask.questionnaire_file import read_questionnaire

    return read_questionnaire(path)


def _bank(text: str) -> Callable[[Path], Any]:
    return lambda path: path.write_text(text)


MIRT = '"","a1","d1","d2","d3"\n' + "".join(
    f'"item {k}",{1 + 0.1 * k:.2f},{1.5 - 0.2 * k:.2f},{0.1:.2f},{"NA" if k % 3 else -1.2}\n' for k in range(4)
)


def _own_bank(model: str) -> Callable[[Path], Any]:
    def make(path: Path) -> None:
        from adaptive import Questionnaire

        if model == "ordinal":
            rng = np.random.default_rng(0)
            Questionnaire(max_iter=5).fit(rng.integers(1, 4, (30, 4)).astype(float)).to_bank(path)
        else:
            Questionnaire.from_parameters(
                [1.0, 1.5, 0.7], [0.0, -1.0, 1.0], guessing=[0.2, 0.1, 0.25], upper=[1.0, 0.9, 0.95],
                covariance=[0.01 * np.eye(4)] * 3,
            ).to_bank(path)  # fmt: skip

    return make


def _read_bank(path: Path) -> Any:
    from adaptive import Questionnaire

    bank = Questionnaire.from_bank(path)
    return bank.respondent().predictive(list(bank.items_)).probabilities


def _no_probabilities(p: np.ndarray) -> str:
    sound = np.isfinite(p).all() and (p >= 0).all() and np.allclose(p.sum(axis=1), 1.0, atol=1e-8)
    return "" if sound else "answers whose probabilities are none"


def _image() -> np.ndarray:
    y, x = np.mgrid[-1:1:40j, -1:1:32j]
    return np.exp(-3 * (x**2 + y**2)) + 0.2 * (np.abs(x) < 0.5) * (np.abs(y) < 0.6)


def _kspace() -> np.ndarray:
    picture = np.stack([_image() * np.exp(1j * k) for k in range(2)])
    transformed = np.fft.fft2(np.fft.ifftshift(picture, (1, 2)), norm="ortho")
    return np.fft.fftshift(transformed, (1, 2)).astype(np.complex64)


def _npy(path: Path) -> None:
    np.save(path, _image())


def _npz(path: Path) -> None:
    np.savez_compressed(path, kspace=_kspace())


def _nifti(path: Path) -> None:
    import nibabel

    volume = np.stack([_image()] * 3, axis=2).astype(np.float32)
    made = nibabel.MGHImage if path.name.endswith(".mgz") else nibabel.Nifti1Image
    nibabel.save(made(volume, np.diag([2.0, 2.0, 3.0, 1.0])), path)


def _cfl(path: Path) -> None:
    from adaptive.images import write_cfl

    write_cfl(path, np.moveaxis(_kspace(), 0, -1)[:, :, None, :])


def _fastmri(path: Path) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset("kspace", data=_kspace()[None], chunks=(1, 1, 40, 32), compression="gzip")
        file.create_dataset("reconstruction_rss", data=_image()[None].astype(np.float32))
        file.attrs["max"] = 1.0


def _ismrmrd(path: Path) -> None:
    from adaptive.scanner import Geometry, Protocol, Scan, write_ismrmrd

    place = Geometry.from_affine(np.diag([2.0, 2.0, 3.0, 1.0]), (40, 32, 1))
    times = Protocol(echo_time=0.03, repetition_time=2.0)
    write_ismrmrd(path, Scan(_kspace(), "kspace", coils=0, geometry=place, protocol=times, readout=1))


def _dicom(path: Path) -> None:
    from adaptive.scanner import Geometry, Protocol, write_dicom

    place = Geometry.from_affine(np.diag([2.0, 2.0, 3.0, 1.0]), (40, 32, 1))
    folder = path.parent / "dicom"
    write_dicom(folder, _image(), place, Protocol(echo_time=0.03), readout=1)[0].rename(path)
    folder.rmdir()


def _png(path: Path) -> None:
    from PIL import Image

    Image.fromarray((255 * np.clip(_image(), 0, 1)).astype(np.uint8)).save(path)


def _scan(path: Path) -> Any:
    from adaptive.scanner import read_scan

    return read_scan(path)


def _image_of(path: Path) -> Any:
    from adaptive.scanner import read_scan

    return read_scan(path, "image")


def _not_numbers(scan: Any) -> str:
    if not np.isfinite(np.asarray(scan.data)).all():
        return "numbers that are NaN or infinite"
    place = scan.geometry
    if place is not None and not (np.isfinite(place.affine).all() and (place.voxel_size > 0).all()):
        return "a place in the patient that is none"
    times = [getattr(scan.protocol, name, None) for name in ("echo_time", "repetition_time", "flip_angle")]
    return "" if np.isfinite([one for one in times if one is not None]).all() else "times that are NaN or infinite"


def _packed(path: Path) -> None:
    path.write_bytes(gzip.compress(_rows(), mtime=0))


FILES = {
    "CSV": Kind(".csv", lambda path: path.write_bytes(_rows()), _table, _not_finite, text=True),
    "CSV of semicolons": Kind(".csv", lambda path: path.write_bytes(_rows(";", ",")), _table, _not_finite, text=True),
    "CSV packed": Kind(".csv.gz", _packed, _table, _not_finite, sums=True),
    "Parquet": Kind(".parquet", _parquet, _table, _not_finite),
    "labels": Kind(
        ".csv",
        lambda path: path.write_text("position,answer,annotator\n" + "".join(f"{k},yes,Anna\n" for k in range(40))),
        _answers, _said, text=True,
    ),
    "Label Studio": Kind(".json", _studio, _read_studio, _said, text=True),
    "questionnaire": Kind(".toml", _toml, _read_toml, lambda value: "", text=True),
    "bank of mirt": Kind(".csv", _bank(MIRT), _read_bank, _no_probabilities, text=True),
    "bank of ours": Kind(".csv", _own_bank("four_parameter"), _read_bank, _no_probabilities, text=True),
    "ordinal bank": Kind(".csv", _own_bank("ordinal"), _read_bank, _no_probabilities, text=True),
    "NumPy": Kind(".npy", _npy, _scan, _not_numbers),
    "NumPy archive": Kind(".npz", _npz, _scan, _not_numbers, sums=True),
    "NIfTI": Kind(".nii", _nifti, _image_of, _not_numbers),
    "NIfTI packed": Kind(".nii.gz", _nifti, _image_of, _not_numbers, sums=True),
    "MGH packed": Kind(".mgz", _nifti, _image_of, _not_numbers, sums=True),
    "BART": Kind(".cfl", _cfl, _scan, _not_numbers),
    "fastMRI": Kind(".h5", _fastmri, _scan, _not_numbers),
    "ISMRMRD": Kind(".h5", _ismrmrd, _scan, _not_numbers),
    "DICOM": Kind(".dcm", _dicom, _scan, _not_numbers),
    "PNG": Kind(".png", _png, _scan, _not_numbers, sums=True),
}  # fmt: skip
