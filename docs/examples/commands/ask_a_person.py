"""
An adaptive test in the terminal: adaptive ask
==============================================

Questions and answers stand in a small file. The next question is the one whose answer says most about the person; the
test ends when its rule says so. The person's keys are played here.
"""

import io
import os
import tempfile
from pathlib import Path
from unittest import mock

import matplotlib.pyplot as plt
import pandas as pd

from adaptive.cli import app

folder = Path(tempfile.mkdtemp())
os.chdir(folder)
os.environ["COLUMNS"] = "100"
Path("questions.toml").write_text("""title = "How outgoing are you?"
answers = ["no", "rather no", "rather yes", "yes"]
items = [
    {id = "party", text = "I am the life of the party."},
    {id = "start", text = "I start conversations."},
    {id = "quiet", text = "I keep in the background.", reverse = true},
    {id = "many", text = "I talk to many people at once."},
]
stop = {questions = 3}
""")
line = "adaptive ask questions.toml --out run"
print("$", line)
with mock.patch("sys.stdin", io.StringIO("3\n4\n1\n")):  # the keys that a person would press
    app(line.split()[1:], standalone_mode=False)

# %%
# The folder holds the answers and the path that the estimate took:

path = pd.read_csv(folder / "run/path.csv")
print(path.to_string(index=False))
figure, ax = plt.subplots(figsize=(6, 3.2))
ax.errorbar(path["step"], path["mean"], yerr=1.645 * path["std"], marker="o", capsize=3)
ax.set(xlabel="answers", ylabel="trait, with 90% interval")
figure.tight_layout()
