"""
Which is best? Rank by comparisons: adaptive rank
=================================================

Five systems, and a judge who is asked about two of them at a time, and favours what is shown first. The judge is a
shell command: it gets two names on standard input, and prints which won.
"""

import os
import shlex
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from adaptive.cli import app

folder = Path(tempfile.mkdtemp())
os.chdir(folder)
os.environ["COLUMNS"] = "100"
Path("systems.csv").write_text("system\nalpha\nbeta\ngamma\ndelta\nepsilon\n")
Path("asked").touch()
Path("judge.sh").write_text("""
read -r left; read -r right
echo "$left $right" | awk -v seed="$(wc -l < asked)" '
    BEGIN { srand(seed); u["alpha"] = 2; u["beta"] = 1; u["gamma"] = 0; u["delta"] = -1; u["epsilon"] = -2 }
    { p = rand(); d = u[$1] - u[$2] + 0.5 + log(p / (1 - p)); print (d > 0 ? $1 : $2) }'
echo >> asked
""")


def command(line):
    os.chdir(folder)
    print("$", line)
    app(shlex.split(line)[1:], standalone_mode=False)


command("adaptive rank systems.csv --ask 'sh judge.sh' --best 2 --comparisons 12 --out run")

# %%
# The report: strengths with intervals, and how probable every rank is.

figure, ax = plt.subplots(figsize=(9, 3))
ax.imshow(plt.imread(folder / "run/ranking.png"))
ax.axis("off")
figure.tight_layout()

# %%
# Comparisons that exist already are ranked alone; ``next.csv`` names those that would teach most.

command("adaptive rank run/answers.csv --best 2 --out again")
print(Path("again/next.csv").read_text())
