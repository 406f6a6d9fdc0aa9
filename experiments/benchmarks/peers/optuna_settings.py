"""Settings that Optuna's default sampler asks for, inside its own environment.

    python optuna_settings.py IN.npz OUT.npz

IN holds ``outcomes`` (truths, settings, visits): what each setting answers at each visit, and ``n`` steps; OUT gets
``chosen`` (truths, n), positions of settings, and the CPU seconds of a decision. The outcome is maximised, which is what
an optimiser does; a setting is one number, its place among the settings.
"""

import sys
import time

import numpy as np
import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)


def main(source, target):
    """Ask and tell, n times for each truth."""
    stored = np.load(source)
    outcomes, n = stored["outcomes"], int(stored["n"])
    chosen, taken = np.zeros((len(outcomes), n), dtype=int), []
    for k, table in enumerate(outcomes):
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=k))
        visits = np.zeros(table.shape[0], dtype=int)
        for step in range(n):
            begun = time.process_time()
            trial = study.ask()
            place = trial.suggest_float("place", 0.0, table.shape[0] - 1.0)
            taken.append(time.process_time() - begun)
            position = int(round(place))
            study.tell(trial, float(table[position, visits[position]]))
            visits[position] += 1
            chosen[k, step] = position
    np.savez(target, chosen=chosen, seconds=np.array(taken))


if __name__ == "__main__":
    main(*sys.argv[1:])
