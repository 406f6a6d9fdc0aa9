"""Five tasks from the README alone, with a stop-watch: minutes and wrong turns, before and after the first-hour work.

    python -m experiments.active.first_hour_tasks

One trial each, on one afternoon, by two readers who had not seen the project (language models working as engineers, who
type faster than people): one had commit 9dfda50, the other the version of this script. Both shared two busy cores, so
that minutes say little beyond a factor of two; a wrong turn is a command that was refused or a look into the code. What
they tripped over in the version after was mended then, and is not counted again.
"""

from __future__ import annotations

from experiments.script import Script, command

TRIALS = {  # task -> (minutes, wrong turns) before, after
    "label my CSV file of 178 rows": ((1.7, 5), (1.5, 0)),
    "24 lines for my NIfTI slice": ((2.2, 0), (2.5, 0)),
    "make figure 3.4 again": ((1.3, 2), (1.2, 1)),
    "a scorer of my own in a loop": ((0.5, 0), (0.6, 0)),
    "go on after kill -9": ((1.6, 4), (1.2, 0)),
    "the same in Python, with that scorer": ((None, None), (1.4, 3)),
}
WORK_OF_ONES_OWN = {"before": "a script of 14 lines and columns encoded by guess", "after": "none"}


def run(script: Script) -> None:
    before, after = ([trial[k] for trial in TRIALS.values()] for k in (0, 1))
    script.table(
        {
            "task": list(TRIALS),
            "minutes before": [minutes for minutes, _ in before],
            "wrong turns before": [turns for _, turns in before],
            "minutes after": [minutes for minutes, _ in after],
            "wrong turns after": [turns for _, turns in after],
        },
        "first-hour-tasks",
        "Five tasks from the README alone, one trial each by readers new to the project; empty: not tried.",
    )
    n_before = sum(turns for _, turns in before[:5])
    n_after = sum(turns for _, turns in after[:5])
    script.judge(
        "ours-first-hour-tasks", n_after < n_before / 2,
        claim="The five tasks of the first hour take less than half of the wrong turns that they took.",
        target="less than half",
        value={"wrong turns": {"before": n_before, "after": n_after}, "to label": WORK_OF_ONES_OWN,
               "minutes of five": {"before": round(sum(m for m, _ in before[:5]), 1),
                                   "after": round(sum(m for m, _ in after[:5]), 1)}},
        reason="One trial each, noted by hand. Minutes hardly differ, since most are the computing of a busy machine. "
               "Two things were left: in Python a log is loaded again with estimator, pool, measure and one's own "
               "scorer (three wrong turns; the README shows it since), and `adaptive kspace` says when a simple rule "
               "does better.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
