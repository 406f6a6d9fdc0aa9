"""Events in time and counts of them: disasters, spikes, visits to a doctor."""

from __future__ import annotations

import numpy as np

from adaptive import checks
from adaptive.datasets.data_folder import file

__all__ = ["coal", "spikes", "visits"]


def coal() -> np.ndarray:
    """Return the (191,) dates, in years, of British coal mining disasters from 1851 to 1962.

    References
    ----------
    R. G. Jarrett (1979), A note on the intervals between coal-mining disasters.

    Examples
    --------
    >>> dates = coal()
    >>> dates.shape, round(float(dates[0]), 2)
    ((191,), 1851.2)
    """
    return np.loadtxt(file("counts/coal.csv"), delimiter=",", skiprows=1, usecols=1)


def spikes(recording: str, neuron: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the spikes of a neuron of a cockroach's antennal lobe, over repeated trials.

    Parameters
    ----------
    recording : str
        Such as "CAL1V" or "e060817citron".
    neuron : int
        From 1.

    Returns
    -------
    trials : ndarray of shape (k,), text
    times : ndarray of shape (k,), float64
        Seconds.

    Raises
    ------
    DataNotFoundError
        If the file is absent.
    ValueError
        If there is no such recording or neuron.

    Examples
    --------
    >>> trials, times = spikes("e060817citron", 1)
    >>> trials.shape == times.shape, bool((times > 0).all())
    (True, True)
    """
    import pandas as pd

    table = pd.read_csv(file("spikes/cockroach_spikes.csv.gz"))
    checks.choice("recording", recording, sorted(table["recording"].unique()))
    rows = table[(table["recording"] == recording) & (table["neuron"] == f"neuron {neuron}")]
    if rows.empty:
        raise ValueError(f"recording {recording!r} has no neuron {neuron!r}.")
    return rows["trial"].to_numpy(dtype=str), rows["time_s"].to_numpy(dtype=float)


def visits() -> tuple[np.ndarray, np.ndarray]:
    """Return X (5190, 11), of two words the later one as 1, and y: visits to a doctor within two weeks.

    Examples
    --------
    >>> X, y = visits()
    >>> X.shape, y[:3]
    ((5190, 11), array([1., 1., 1.]))
    """
    import pandas as pd

    table = pd.read_csv(file("counts/DoctorVisits.csv.gz"))
    y = table["visits"].to_numpy(dtype=float)
    columns = table.drop(columns=[name for name in ("rownames", "visits") if name in table])
    X = np.column_stack(
        [
            column.to_numpy(dtype=float)
            if column.dtype.kind in "fiu"
            else (column == column.max()).to_numpy(dtype=float)
            for _, column in columns.items()
        ]
    )
    return X, y
