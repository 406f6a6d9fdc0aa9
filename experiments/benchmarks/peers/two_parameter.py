"""Two-parameter calibration by girth (marginal maximum likelihood); runs in the peer's own environment."""

import json
import sys
import time

import numpy as np
from girth import twopl_mml


def main(path):
    answers = np.load(path)["answers"].astype(int)
    start = time.process_time()
    found = twopl_mml(answers.T)
    seconds = time.process_time() - start
    print(json.dumps({
        "a": np.asarray(found["Discrimination"]).tolist(), "b": np.asarray(found["Difficulty"]).tolist(),
        "seconds": seconds,
    }))  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1])
