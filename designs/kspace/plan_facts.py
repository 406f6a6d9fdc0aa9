"""Facts that a plan was made with, beside a file that has no place for them: ``plan.npy.json`` beside ``plan.npy``.

design, shape, axis or readout         of bare numbers, which do not say along which axis their lines run
matrix, field of view, voxels, place   of the reference, in mm, where it states them
protocol                               echo and repetition time (s), flip angle (rad), frequency (Hz), name
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from adaptive.scanner import Geometry, Protocol

__all__ = ["facts_of", "read_facts", "sentences", "write_facts"]


def facts_of(
    kind: str, design: Any, geometry: Geometry | None, protocol: Protocol | None, view: Sequence[float] | None
) -> dict[str, Any]:
    """The facts of a design and of its reference, by name; only what is known.

    Parameters
    ----------
    kind : {"lines", "phase encodes", "shots"}
    design : LinePool, PhaseEncodePool or TrajectoryPool
    geometry, protocol, view : optional
        As of `export_design`.
    """
    found: dict[str, Any] = {"design": kind, "shape": list(design.image_shape)}
    if kind != "shots":
        name = "axis" if kind == "lines" else "readout"
        found[name] = int(getattr(design, name))
    if geometry is not None:
        place = {name: getattr(geometry, name).tolist() for name in ("position", "directions", "voxel_size")}
        found |= {"matrix": list(geometry.matrix), "field of view (mm)": geometry.field_of_view.tolist(), **place}
    elif view is not None:
        found |= {"field of view (mm)": [float(side) for side in view]}
    if protocol:
        found["protocol"] = {name: value for name, value in asdict(protocol).items() if value not in (None, "")}
    return found


def write_facts(path: Path, facts: dict[str, Any] | None) -> None:
    """Write them beside a file; None: what stands there is of a former one, and goes."""
    beside = _beside(path)
    if facts is None:
        beside.unlink(missing_ok=True)
    else:
        beside.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def read_facts(path: Path) -> dict[str, Any]:
    """Facts that stand beside a file; none where nothing does.

    Raises
    ------
    ValueError
        If what stands there cannot be read.
    """
    beside = _beside(path)
    if not beside.is_file():
        return {}
    try:
        found = json.loads(beside.read_text(encoding="utf-8"))
        if not isinstance(found, dict):
            raise ValueError(f"it holds a {type(found).__name__}")
    except (ValueError, RecursionError) as reason:
        raise ValueError(f"{beside.name} says nothing of a design as export_design writes it ({reason}).") from reason
    return found


def sentences(facts: dict[str, Any]) -> str:
    """Facts of the reference in sentences, for people; empty where there are none.

    Examples
    --------
    >>> sentences({"field of view (mm)": [256.0, 192.0, 4.0], "protocol": {"echo_time": 0.03, "frequency": 123.2e6}})
    'Field of view 256 x 192 x 4 mm. Protocol: echo time 0.03 s, frequency 1.232e+08 Hz.'
    """
    said = []
    if "field of view (mm)" in facts:
        said.append(f"Field of view {' x '.join(f'{side:.4g}' for side in facts['field of view (mm)'])} mm.")
    if "protocol" in facts:
        units = {"flip_angle": " rad", "field_strength": " T", "frequency": " Hz", "name": ""}
        each = [
            f"{name.replace('_', ' ')} {value if isinstance(value, str) else f'{value:.6g}'}{units.get(name, ' s')}"
            for name, value in facts["protocol"].items()
        ]
        said.append(f"Protocol: {', '.join(each)}.")
    return " ".join(said)


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")
