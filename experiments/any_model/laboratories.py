"""Code of the guide's page on instruments, run on the real packages: Bluesky's run engine, QCoDeS, Optuna.

In the peers' environment (`experiments/benchmarks/peers/laboratories.txt`), block by block as it stands on the page.
Then what must hold: the protocols' run-time checks, a run that ends by the design's rule, the log that goes on, points
set aside where a plan raises.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from experiments.benchmarks.peers.environments import python_of, versions_of
from experiments.script import ROOT, Script, command

PAGE = ROOT / "docs" / "guide" / "instruments.md"
AFTER = {
    "Bluesky": """
from bluesky_adaptive import protocols
names = "Optimizer TrialFaultAware SupportsStoppingCriteria Checkpointable CanRegisterSuggestions".split()
seen["protocols"] = all(isinstance(optimizer, getattr(protocols, name)) for name in names)
known = one_second.estimator_.parameters_
seen["bluesky"] = [known.mean[0], known.std[0], one_second.iteration]
seen["stopped"] = optimizer.should_stop()[0] and bool(optimizer.get_best_points())
optimizer.finalize()
path = "bluesky.log"
fresh = ParticleEstimator(model=photons, prior=prior, noise="poisson", random_state=0)
with SequentialDesign.open(path, fresh, positions[:, None]) as again:
    seen["goes on"] = again.iteration == one_second.iteration and again.finished
broken = SequentialDesign(fresh, positions[:, None], random_state=0)
def raises(uid, suggestions):
    raise RuntimeError("the shutter is closed")
try:
    engine(optimize(OptimizationProblem(Optimizer(broken, ["motor"], "det"), [motor], [detector], raises), n_points=2))
except RuntimeError as problem:
    seen["failures"] = "shutter" in str(problem) and not broken.pending and len(broken.unanswered) == 2
""",
    "QCoDeS": """
known = design.estimator_.parameters_
seen["qcodes"] = [known.mean[0], known.std[0], design.iteration]
seen["rows in its database"] = saver.dataset.number_of_results == design.iteration
""",
    "Optuna": """
seen["optuna"] = abs(study.best_params["motor"] - 1.3)
""",
}


def page() -> str:
    """The page's blocks in their order, each with what is looked at behind it."""
    text = PAGE.read_text(encoding="utf-8")
    parts = ["seen = {}"]
    for own, caption, peers in re.findall(
        r"^```python\n(.*?)^```$|^```\{code-block\} python\n:caption: (\w+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE
    ):
        parts += [own] if own else [peers, AFTER[caption]]
    return "\n".join([*parts, "import json", "print('found', json.dumps(seen, default=float))"])


def run(script: Script) -> None:
    """Run the page, judge."""
    source = page()
    compile(source, str(PAGE), "exec")
    if script.quick:
        print(f"{len(source.splitlines())} lines of the page compile; the peers were not asked")
        return
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "page.py").write_text(source, encoding="utf-8")
        compiled = Path(tempfile.gettempdir()) / "adaptive-laboratories"  # of other versions than ours
        environment = os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(compiled)}
        done = subprocess.run(
            [str(python_of("laboratories")), "page.py"], cwd=folder, env=environment, capture_output=True, text=True
        )
    lines = [line for line in done.stdout.splitlines() if line.startswith("found ")]
    if not lines:
        raise RuntimeError(f"the page did not run to its end:\n{done.stderr[-3000:]}")
    found = json.loads(lines[0].removeprefix("found "))
    known = all(
        abs(found[name][0] - 1.3) < 4 * found[name][1] and found[name][1] <= 0.02 for name in ("bluesky", "qcodes")
    )
    must = ("protocols", "stopped", "goes on", "failures", "rows in its database")
    versions = versions_of("laboratories", "bluesky", "bluesky-adaptive", "ophyd", "gest-api", "qcodes", "optuna")
    script.judge(
        "ours-bridge-laboratories", known and all(found.get(name) is True for name in must), kind="must hold",
        claim="The code of the guide's page on instruments runs on Bluesky, QCoDeS and Optuna as it stands there. "
        "`loop.Optimizer` passes the run-time checks of bluesky-adaptive's protocols and ends by the design's rule. "
        "It sets points aside where a plan raises, and goes on from its log.",
        target="all of it; the centre (1.3) within four of its deviations, each at most 0.02",
        value={key: [round(float(x), 4) for x in one] if isinstance(one, list) else one for key, one in found.items()},
        reason=f"Simulated devices; {', '.join(f'{name} {version}' for name, version in versions.items())}. "
        "tests/loop/test_optimizer.py tries a kill between suggest and ingest, late and repeated outcomes, and two "
        "workers.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
