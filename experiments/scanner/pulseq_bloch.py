"""Plans as Pulseq sequences, run by a Bloch simulator over a head: is the image that of the simulated plan?

Retabled: a gradient echo and a turbo spin echo that somebody has, run as they are, give k-space of all lines; what a
plan of some of them would measure is these lines of it. The same sequences with the plan's phase encodes are run, and
both images, with zeros elsewhere, compared. Written: lines, spokes and spirals as sequences of our own, whose samples
are compared with those that the plan's operator gives of the image that all lines have shown.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from adaptive.images import head_scan
from adaptive.operators import NonuniformFourier
from adaptive.plots.scans import mark_sides
from adaptive.scanner import exchange_encodes, write_pulseq
from adaptive.scanner.pulseq.moments import Moments
from adaptive.scanner.pulseq.reading import read_sequence
from designs.kspace import (
    LinePool,
    PhaseEncodePool,
    golden_angles,
    import_design,
    lines,
    spirals,
    spokes,
    variable_density,
)
from experiments.scanner.shared import pulseq_sequences
from experiments.scanner.shared.bloch import simulated
from experiments.script import Script, command, panels

VIEW = (0.2, 0.2, 5e-3)  # m
SEED = 0
DUMMIES = 300  # excitations until nothing changes from one to the next
LIMIT = 0.02  # of the image, or of the samples
PUBLIC = {  # written by the examples of pypulseq 1.4.2, axes as a plan counts them: LIN, PAR
    "gre": ("y", (0.256,)), "gre_label": ("y", (0.224,)), "tse": ("y", (0.256,)), "haste": ("y", (0.256,)),
    "mprage": ("yx", (0.24, 0.192)),
}  # fmt: skip


@cache
def head(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Proton density, T1 and T2 (n, n) of a slice: brighter tissue relaxes more slowly; invented, but for the head."""
    from skimage.transform import resize

    whole = np.abs(head_scan()[12].image)
    density = resize(whole / whole.max(), (n, n), anti_aliasing=True)
    density = np.where(density < 0.05, 0.0, density)
    return density, 0.5 + 1.0 * density, 0.04 + 0.06 * density


def kspace(sequence: Any, n: int, alike: bool = False) -> tuple[np.ndarray, list[int]]:
    """K-space (read-out, lines), zero where nothing was read, and the lines in the order of the scan.

    ``alike``: all tissue has T1 and T2 of a second.
    """
    density, t1, t2 = head(n)
    signals = simulated(sequence, density, *(np.ones_like(density) if alike else one for one in (t1, t2)), VIEW)
    found, order = np.zeros((n, n), complex), []
    for echo, signal in zip(Moments(sequence).echoes, signals, strict=True):
        line = (round(float(echo.middle[1] * VIEW[1])) + n // 2) % n
        found[:, line] = signal
        order.append(line)
    return found, order


def image(samples: np.ndarray) -> np.ndarray:
    """Return the image, magnitudes."""
    return np.abs(np.fft.fftshift(np.fft.ifft2(np.fft.ifftshift(samples), norm="ortho")))


def retabled(n: int, dummies: int = DUMMIES) -> dict[str, dict[str, np.ndarray]]:
    """Return images of all lines, of the plan's out of them, and of the re-tabled sequence, by kind."""
    chosen = variable_density(n, n // 2, n // 8, exponent=3.0, random_state=SEED)
    plan = LinePool((n, n), chosen)
    train = pulseq_sequences.turbo_spin_echo(n, n, wait=5.0)
    made = {
        "gradient echo": pulseq_sequences.gradient_echo(labelled=True, n=n, read=n, dummies=dummies),
        "turbo spin echo": train,
        "turbo spin echo, T2 a second": train,
    }
    found = {}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind, sequence in made.items():
            own, out = Path(folder) / "own.seq", Path(folder) / "plan.seq"
            sequence.write(str(own))
            exchange_encodes(out, own, plan, (200.0, 200.0, 5.0))
            alike = kind.endswith("second")
            full, _ = kspace(read_sequence(own), n, alike)
            measured, order = kspace(read_sequence(out), n, alike)
            assert set(order) == set(chosen.tolist())
            kept = np.zeros_like(full)
            kept[:, chosen] = full[:, chosen]
            shown = {"all lines": full, "simulated plan": kept, "re-tabled sequence": measured}
            found[kind] = {name: image(samples) for name, samples in shown.items()}
    return found


def written(n: int, dummies: int = DUMMIES) -> dict[str, float]:
    """Return the relative deviation of the samples of sequences of our own from those of the plan's operators."""
    times = {"tr": 25.0, "te": 5.0, "dummies": dummies}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path, mm = Path(folder) / "plan.seq", tuple(1e3 * side for side in VIEW)
        every = read_sequence(write_pulseq(path, lines((n, n), 1), mm, **times))
        full, _ = kspace(every, n)
        seen = np.fft.fftshift(np.fft.ifft2(np.fft.ifftshift(full), norm="ortho"))
        designs = {
            "lines in another order": lines((n, n), 1).take(np.random.default_rng(SEED).permutation(n)[: n // 2]),
            "spokes": spokes((n, n), golden_angles(n // 4, np.pi)),
            "spirals": spirals((n, n), golden_angles(4), revolutions=n / 8),
        }
        found = {}
        for name, design in designs.items():
            sequence = read_sequence(write_pulseq(path, design, mm, **times))
            signals = np.concatenate(simulated(sequence, *head(n), VIEW))
            if isinstance(design, LinePool):
                blocks = [block.forward(seen) for block in design]
            else:
                blocks = [NonuniformFourier((n, n), shot).forward(seen) for shot in import_design(path).samples]
            expected = np.concatenate([np.ravel(one) for one in blocks])
            scale = np.vdot(expected, signals) / np.linalg.norm(expected) ** 2
            found[name] = _off(signals, scale * expected)
    return found


def public(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what became of sequences of pypulseq's examples, with two fifths of their encodes in another order."""
    found = {}
    with tempfile.TemporaryDirectory() as out, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, (axes, sides) in PUBLIC.items():
            own = Moments(read_sequence(folder / f"{name}.seq"))
            encoded = ["xyz".index(axis) for axis in axes]
            where = np.array([echo.middle[encoded] for echo in own.echoes]) * sides
            steps, rng = np.round(where).astype(int), np.random.default_rng(SEED)
            matrix = np.array([2 * int(np.abs(column).max()) for column in steps.T])
            some = rng.permutation(len(steps))[: 2 * len(steps) // 5]
            chosen = steps[np.r_[np.abs(where).sum(axis=1).argmin(), some]]
            chosen = np.unique((chosen + matrix // 2) % matrix, axis=0)
            rng.shuffle(chosen)
            if len(axes) == 1:
                design: Any = LinePool((int(matrix[0]), 8), chosen[:, 0])
                view = [1e3 * sides[0], 200.0, 5.0]
            else:
                design = PhaseEncodePool((8, *matrix.tolist()), chosen)
                view = [256.0, *(1e3 * side for side in sides)]
            path = exchange_encodes(Path(out) / "plan.seq", folder / f"{name}.seq", design, view)
            made = read_sequence(path)
            k = made.calculate_kspace()[0].T.reshape(-1, len(own.echoes[0].k), 3)
            lies = k[:, k.shape[1] // 2, encoded] * sides
            wanted = sorted(map(tuple, (chosen - matrix // 2).tolist()))
            labels = made.evaluate_labels(evolution="adc")
            found[name] = {
                "read-outs": f"{len(k)} of {len(own.echoes)}",
                "encodes as planned": sorted(map(tuple, np.round(lies).astype(int).tolist())) == wanted,
                "deviation of an encode": float(np.abs(lies - np.round(lies)).max()),
                "read-outs differ by, of the largest k": _read_apart(own, Moments(made)),
                "timing": bool(made.check_timing()[0]),
                "LIN": bool((labels["LIN"] == np.round(lies[:, 0]) + matrix[0] // 2).all()),
            }
    return found


def _read_apart(own: Moments, made: Moments) -> float:
    """Return by how much read-outs of the made sequence differ from the nearest of the own, over the largest k."""
    axis = int(np.ptp(own.echoes[0].k, axis=0).argmax())
    was, now = (np.array([echo.k[:, axis] for echo in one.echoes]) for one in (own, made))
    was = np.unique(was.round(12), axis=0)
    return float(max(np.abs(was - row).max(axis=1).min() for row in now) / np.abs(was).max())


def _off(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


def draw(script: Script, images: dict[str, dict[str, np.ndarray]]) -> None:
    """Draw the images of both sequences, and what is left between them."""
    figure, axes = panels(len(images), 4, 10.4, 7.2)
    sides = head_scan()[12].sides
    for row, (kind, each) in zip(axes, images.items(), strict=True):
        top = each["all lines"].max()
        apart = np.abs(each["re-tabled sequence"] - each["simulated plan"])
        shown = [*each.items(), ("difference", apart)]
        for ax, (title, picture) in zip(row, shown, strict=True):
            most = 0.1 * top if title == "difference" else top
            seen = ax.imshow(np.rot90(picture) / top, cmap="gray", vmin=0, vmax=most / top)
            ax.set(xticks=[], yticks=[])
            ax.set_title(f"{kind}:\n{title}" if title == "all lines" else title, fontsize=8)
            ax.grid(False)
            ax.spines[:].set_visible(False)
            if title in ("re-tabled sequence", "difference"):
                figure.colorbar(seen, ax=ax, shrink=0.8, pad=0.02).ax.tick_params(labelsize=7)
        mark_sides(row[0], sides)
    figure.set_facecolor("white")
    script.figure(
        figure,
        "ours-pulseq-retabled",
        "A Bloch simulation of a head (proton density of a scan, T1 and T2 invented from it) by two sequences: with "
        "all their lines, with the plan's half of these lines, and with the plan's encodes put into the sequence; in "
        "units of the brightest pixel of all lines. Letters name the sides of the patient.",
    )


def run(script: Script) -> None:
    """Run sequences, draw, judge."""
    n, dummies = (16, 10) if script.quick else (64, DUMMIES)
    images = retabled(n, dummies)
    draw(script, images)
    off = {kind: _off(each["re-tabled sequence"], each["simulated plan"]) for kind, each in images.items()}
    holds = max(off["gradient echo"], off["turbo spin echo, T2 a second"]) <= LIMIT
    script.judge(
        "ours-pulseq-retabled",
        holds,
        claim="A gradient echo with a plan's phase encodes in it shows, in a Bloch simulation, the image of the "
        "simulated plan; so does a turbo spin echo where T2 is long beside its train.",
        target=f"relative deviation of the images at most {LIMIT:g} (of the train with T2 of a second)",
        value={kind: round(one, 5) for kind, one in off.items()},
        reason="Among fewer lines a line has another place in the train, and so another weight by T2 (40 to 100 ms); "
        "the centre keeps its own." if holds else "",
        seed=SEED,
    )  # fmt: skip
    apart = written(n, dummies)
    holds = max(apart.values()) <= LIMIT
    script.judge(
        "ours-pulseq-written",
        holds,
        claim="Lines, spokes and spirals written as sequences measure in a Bloch simulation what their operators say.",
        target=f"relative deviation of the samples at most {LIMIT:g}, after one common factor",
        value={name: round(one, 5) for name, one in apart.items()},
        seed=SEED,
    )
    folder = os.environ.get("PYPULSEQ_SEQUENCES")
    if folder and not script.quick:
        found = public(Path(folder))
        holds = all(
            one["encodes as planned"] and one["timing"] and one["LIN"] and one["deviation of an encode"] < 1e-3
            and one["read-outs differ by, of the largest k"] < 1e-9
            for one in found.values()
        )  # fmt: skip
        script.judge(
            "ours-pulseq-public",
            holds,
            claim="Gradient echo, labelled gradient echo, TSE, HASTE and MPRAGE of pypulseq's examples take another "
            "table.",
            target="encodes as planned to 1e-3, read-outs unchanged to 1e-9, timing and labels right, for all five",
            value=found,
            reason="The files were written by the example scripts in the source distribution of pypulseq 1.4.2 "
            "(MPRAGE with N = [48, 60, 64]), run under 1.5; their folder is PYPULSEQ_SEQUENCES.",
            seed=SEED,
        )


if __name__ == "__main__":
    command(run, __doc__, __file__)
