"""Run the shell lines of the README, the start page and the guide as they stand, once each, in their order.

.venv/bin/python .ci/lines.py     # in a clone; what the lines name (TABLE.csv, ...) is put beside them and taken away

Left to others are the README's line of the tests (``.ci/run`` runs it) and that of the site (``.ci/docs``). Lines that
serve are asked for a page, and stopped as by Ctrl-C.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from commands import TABLE, WINNERS, fill

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from adaptive.cli.example import TABLES  # noqa: E402
from tests.labelling.studio import Studio  # noqa: E402

PAGES = ("README.md", "docs/index.md", "docs/papers/index.md", "docs/guide/*.md")
STARTS = ("python3 ", "python ", "adaptive ", ".venv/bin/")
STOPPED = 130  # whoever answers types q
ELSEWHERE = ("-m pytest", "-m sphinx")
QUESTIONS = """title = "Three questions"
answers = ["no", "yes"]
items = [{id = "a", text = "First?"}, {id = "b", text = "Second?"}, {id = "c", text = "Third?"}]
stop = {questions = 2}
"""
TEXTS = "COLUMN\n" + "".join(f"word {k}\n" for k in range(12))
ANSWERS = (
    ",".join(f"i{k}" for k in range(24))
    + "\n"
    + "".join(
        ",".join(str(int((7 * person + 11 * k * k) % 29 < person % 23 + 3)) for k in range(24)) + "\n"
        for person in range(90)
    )
)
JUDGE = """#!/bin/sh
read -r left; read -r right; printf '%s\\n%s\\n' "$left" "$right" | sort | head -1
"""
ANSWERED = "item,score\n" + "".join(f"item{k},{k % 3 // 2}\n" for k in range(40))
BROUGHT = {
    "ANSWERS.csv": ANSWERS,
    "COMPARISONS.csv": WINNERS,
    "DUELS.csv": TABLES["duels.csv"][0](),
    "NEW.csv": ANSWERED,
    "RESPONSES.csv": TABLES["systems.csv"][0](),
    "TABLE.csv": TABLE,
    "TEST.toml": QUESTIONS,
    "POOL.csv": TEXTS,
    "judge.sh": JUDGE,
    "models.csv": "name\nsmall-model\nlarge-model\nlarge-model-quantised\n",
    "one_item.sh": "#!/bin/sh\necho right\n",
    "responses.csv": TABLES["systems.csv"][0](),
    "token.txt": "secret\n",
}
SLICE = """
import nibabel, numpy as np
from adaptive.images import head_scan
image = np.pad(head_scan()[12].image, ((0, 0), (16, 16)))[16:-16, 16:-16].reshape(48, 2, 48, 2).mean(axis=(1, 3))
nibabel.save(nibabel.Nifti1Image(image[:, :, None].astype(np.float32), np.eye(4)), "SLICE.nii.gz")
"""
SCANNER = """
import numpy as np
from adaptive.images import head_scan, simulate_coils
from adaptive.scanner import Geometry, write_dicom, write_ismrmrd
slices = [np.pad(one.image, ((0, 0), (16, 16)))[16:-16, 16:-16] for one in head_scan()[6:18]]
volume = np.stack([one.reshape(32, 3, 32, 3).mean(axis=(1, 3)) for one in slices], axis=-1)
for name, n_coils in (("raw.h5", 2), ("raw-of-32-coils.h5", 32)):
    coils = np.fft.ifftshift(simulate_coils((32, 32), n_coils) * volume[..., 6], axes=(1, 2))
    samples = np.fft.fftshift(np.fft.fft2(coils, norm="ortho"), axes=(1, 2))
    noise = np.random.default_rng(0).standard_normal((2, *samples.shape))
    write_ismrmrd(name, samples + 0.01 * (noise[0] + 1j * noise[1]))
place = Geometry.from_affine(np.diag([6.0, 6.0, 5.0, 1.0]), volume.shape)
write_dicom("dicom-folder", np.round(1000 * volume).astype(np.uint16), place)
"""
MADE = {SLICE: ("SLICE",), SCANNER: ("raw.h5", "raw-of-32", "dicom-folder")}  # before the first line that names it


def lines(root: Path = ROOT) -> list[str]:
    """Return the lines of code blocks that a shell is to run, without those that others repeat."""
    found: list[str] = []
    for page in [path for pattern in PAGES for path in sorted(root.glob(pattern))]:
        text = page.read_text(encoding="utf-8")
        fenced = re.findall(r"^```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        plain = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
        indented = re.findall(r"^    (.*)$", plain, re.MULTILINE)
        for line in [*"".join(fenced).splitlines(), *indented]:
            if line.startswith(STARTS) and not any(bare(line) in bare(one) for one in found):
                found.append(line)
    return [line for line in found if not any(word in line for word in ELSEWHERE)]


def bare(line: str) -> str:
    """Return a line without its remark, and without what does not change what it does."""
    return " ".join(line.split("  #")[0].replace(".venv/bin/", "").replace(" -q ", " ").split())


def run(line: str) -> bool:
    """Run a line, and say how long it took and whether all went well."""
    begun = time.monotonic()
    environment = os.environ | {"PATH": f"{ROOT / '.venv/bin'}{os.pathsep}{os.environ['PATH']}"}
    process = subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", line], cwd=ROOT, env=environment, text=True, start_new_session=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if " --label-studio " in line:
        studio = Studio(n=12)
        studio.tasks = {k: {"text": text} for k, text in zip(studio.tasks, TEXTS.splitlines()[1:], strict=True)}
        with studio.served(8080):
            said = _stopped(process)
    else:
        said = _stopped(process, _first_page) if " serve " in line else process.communicate("1\n2\nq\n", timeout=900)[0]
    good = process.returncode in (0, STOPPED) and "Traceback" not in said
    print(f"{'ok' if good else 'FAILED':6s} {time.monotonic() - begun:5.1f} s  {bare(line)}", flush=True)
    if not good:
        print(said[-4000:])
    return good


def _stopped(process: subprocess.Popen[str], look: Callable[[], str] = str) -> str:
    """Wait until it serves, look at what it does, and stop it."""
    assert process.stdout is not None
    said = ""
    while line := process.stdout.readline():
        said += line
        if "Ctrl-C" in line:
            said += look()
            os.killpg(process.pid, signal.SIGINT)
            break
    return said + process.communicate(timeout=60)[0]


def _first_page() -> str:
    """Ask until the server answers: with a page, or with the sentence for who has no invitation."""
    for _ in range(60):
        try:
            with urllib.request.urlopen("http://127.0.0.1:8000/", timeout=30) as page:
                return f"{page.status}\n"
        except urllib.error.HTTPError as answer:
            return f"{answer.code}\n" if answer.code < 500 else f"Traceback of the server: {answer.code}\n"
        except urllib.error.URLError:
            time.sleep(0.5)
    return "Traceback: no page within 30 seconds\n"


def main() -> int:
    before = set(os.listdir(ROOT)) | {".venv", "build"}
    try:
        for name, text in BROUGHT.items():
            (ROOT / name).write_text(text)
            (ROOT / name).chmod(0o755 if name.endswith(".sh") else 0o644)
        failed, made = [], set()
        for line in lines():
            for program, names in MADE.items():
                if program not in made and any(name in line for name in names):
                    subprocess.run([str(ROOT / ".venv/bin/python"), "-c", program], cwd=ROOT, check=True)
                    made.add(program)
            if told := re.search(r"--tell (\S+\.csv)", line):
                fill(ROOT / told[1])
            if not run(line):
                failed.append(line)
    finally:
        for name in set(os.listdir(ROOT)) - before:
            path = ROOT / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    print(f"{len(failed)} of {len(lines())} lines failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
