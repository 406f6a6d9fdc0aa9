"""The test that ``adaptive calibrate`` leaves to begin with: test.toml, with the ids and answers of the bank."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

from adaptive.files import write_file

if TYPE_CHECKING:
    from adaptive.cli.job import Job
    from adaptive.estimators import Questionnaire

__all__ = ["NAME", "write_test"]

NAME = "test.toml"


def write_test(
    learnt: Questionnaire, job: Job, *, stop: float | None, questions: int | None, exposure: float | None
) -> None:
    """Write test.toml, which runs as it stands and ends as the simulated tests do; one that was changed stays.

    Where nothing was simulated a test ends after half of the items.
    """
    n = len(learnt.items_)
    if questions is None and stop is None:
        questions = math.ceil(n / 2) if exposure is None else max(1, int(exposure * n + 1e-9))
    path, first = job.path / NAME, job.log / NAME
    if path.exists() and (not first.exists() or path.read_bytes() != first.read_bytes()):
        return
    known = type(learnt).from_bank(job.path / "bank.csv")  # its ids: numbers, where they look like numbers
    text = _text(known, Path(job.settings["answers"]).stem, stop, questions, exposure).encode()
    write_file(first, text)
    write_file(job.result(NAME), text)


def _text(
    learnt: Questionnaire, title: str, stop: float | None, questions: int | None, exposure: float | None
) -> str:  # fmt: skip
    scale, bank, person = [str(one) for one in learnt.categories_], learnt.bank_, learnt.respondent().person_
    counts = [sum(person.possible(k, place) for place in range(len(scale))) for k in range(len(bank))]
    usual = max(counts)
    ends = [
        f"questions = {questions}" if questions is not None else f"# questions = {math.ceil(len(bank) / 2)}",
        f"deviation = {stop:g}" if stop is not None else "# deviation = 0.4",
    ]
    lines = [
        "# A test to begin with; it runs as it stands. Put your questions in the place of the texts and, if you like,",
        "# words in the place of the answers, in the same order: they count the same. Keep the ids, by which bank.csv",
        "# knows the items. `adaptive ask --example` prints every key that such a file may have.",
        "",
        f"title = {_quoted(title)}",
        f"answers = [{', '.join(map(_quoted, scale[:usual]))}]",
        "# show_result = true    # at the end: higher than how many of 100 people",
        *([f"exposure = {exposure:g}          # no item is asked of a larger share of the people"] if exposure else []),
        "",
        "[stop]                  # what holds first ends the test",
        *(f"{line:<23} # {what}" for line, what in zip(ends, ("at most", "enough is known"), strict=True)),
    ]
    for item, turned, n in zip(bank.items, bank.reverse, counts, strict=True):
        text = _quoted(str(item))
        lines += ["", "[[items]]", f"id = {item if isinstance(item, int) else text}", f"text = {text}"]
        lines += ["reverse = true"] if turned else []
        lines += [f"answers = [{', '.join(map(_quoted, scale[:n]))}]"] if n != usual else []
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A text as TOML has it: JSON's strings, and DEL escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
