"""
A test that many people answer: adaptive serve
==============================================

One command serves a questionnaire as pages, and every person gets the questions that teach most about them. Here three
people, played by a few lines that press the buttons of the page, answer at once; the tables come from the same folder.
"""

import os
import re
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
from html import unescape
from http.cookiejar import CookieJar
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from adaptive.cli import app

folder = Path(tempfile.mkdtemp())
os.chdir(folder)
os.environ["COLUMNS"] = "100"
Path("questions.toml").write_text("""title = "How outgoing are you?"
show_result = true
answers = ["no", "rather no", "rather yes", "yes"]
items = [
    {id = "party", text = "I am the life of the party."},
    {id = "start", text = "I start conversations."},
    {id = "quiet", text = "I keep in the background.", reverse = true},
    {id = "many", text = "I talk to many people at once."},
]
stop = {questions = 3}
""")
line = "adaptive serve questions.toml --store answers --port 0"
server = subprocess.Popen([sys.executable, "-m", "adaptive.cli", *line.split()[1:]], stdout=subprocess.PIPE, text=True)
print("$", line)
address = re.search(r"http://\S+", server.stdout.readline())[0]
print(address.rsplit(":", 1)[0], "on a free port")


# %%
# A person presses the first button, and then those of the answers, 0 to 3, the other way round where the question is
# turned. The page works without a script, so that this is all a browser does:


def person(outgoing):
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    page = browser.open(address).read().decode()
    while form := re.search(r'<form method="post" action="(/start|/answer)">(.*?)</form>', page, re.DOTALL):
        fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form[2]))
        fields = {name: unescape(value) for name, value in fields.items()}
        if form[1] == "/answer":
            fields["answer"] = 3 - outgoing if "background" in page else outgoing
        request = urllib.request.Request(address.rstrip("/") + form[1], urllib.parse.urlencode(fields).encode())
        page = browser.open(request).read().decode()
    return re.search(r"Your result: .*?\.</p>", page, re.DOTALL)[0].removesuffix("</p>")


for outgoing in 0, 2, 3:
    print(person(outgoing))
server.terminate()
server.wait()

# %%
# What was said, and what is believed of each person; then one of them wants to be forgotten:


def command(line):
    os.chdir(folder)
    print("$", line)
    app(line.split()[1:], standalone_mode=False)


command("adaptive export answers questions.toml")
estimates = pd.read_csv(folder / "answers/export/estimates.csv")
print(estimates.to_string(index=False))
command(f"adaptive forget answers {estimates['session'][0]}")

figure, ax = plt.subplots(figsize=(6, 3))
ax.errorbar(estimates["mean"], range(3), xerr=1.645 * estimates["std"], fmt="o", capsize=3)
ax.set(yticks=range(3), yticklabels=[f"person {k + 1}" for k in range(3)], xlabel="trait, with 90% interval")
ax.set_ylim(-0.5, 2.5)
figure.tight_layout()
