"""Other settings beside the defaults: pairs, topics, nets, trees, images, instruments, simulators, questionnaires.

As `other_settings.py`. Of instruments and simulators, whose every further particle or simulation helps a little, a
setting has to be ahead by .01 nats a parameter or .05 deviations of the exact posterior to matter.
"""

from __future__ import annotations

from experiments.defaults.other_settings import judge_families
from experiments.script import Script, command

FAMILIES = (
    "instruments", "pairs", "lines", "next settings", "documents", "games", "answers", "simulators", "photographs",
    "sequences",
)  # fmt: skip
FEW = dict.fromkeys(FAMILIES[-4:], (2, 3))  # sets of each half and splits, of those that take longest

STAYS = {
    "documents": "The default stays for now: metadata of all three sets are groups, and the coverage of weights, the "
    "information about them and the comparison with LDA were measured with it."
}


def run(script: Script) -> None:
    """A verdict for each family, and one table."""
    judge_families(script, FAMILIES[:1] if script.quick else FAMILIES, "default-settings-further", FEW, STAYS)


if __name__ == "__main__":
    command(run, __doc__, __file__)
