"""Histories of events, somebody -> what happened in order: words, spikes, a user's own logs."""

from __future__ import annotations

import csv
import re
from collections import Counter
from itertools import chain
from pathlib import Path

import numpy as np

from adaptive import checks
from adaptive.datasets.data_folder import file
from adaptive.datasets.texts import addresses

__all__ = ["address_words", "events", "logs", "spike_trains"]

_LOGS = {  # name -> (file, where to get it, columns of user, item, time)
    "brightkite": (
        "brightkite/loc-brightkite_totalCheckins.txt.gz", "https://snap.stanford.edu/data/loc-Brightkite.html",
        (0, 4, 1),
    ),
    "lastfm-1k": (
        "lastfm-1k/userid-timestamp-artid-artname-traid-traname.tsv", "O. Celma's page of lastfm-dataset-1K",
        (0, 3, 1),
    ),
}  # fmt: skip


def address_words(n_words: int = 6000, n_vocabulary: int = 2000) -> dict[str, list[str]]:
    """Read the words of the State of the Union addresses by president, in order.

    Parameters
    ----------
    n_words : int, default 6000
        The first so many of each president; who said less is left out.
    n_vocabulary : int, default 2000
        The most frequent words; others stand as "*".

    Returns
    -------
    dict
        president -> words in small letters.

    Raises
    ------
    DataNotFoundError
        If the file is absent.

    Examples
    --------
    >>> words = address_words()
    >>> len(words), words["George Washington"][:5]
    (42, ['fellow', 'citizens', 'of', 'the', 'senate'])
    """
    table = addresses()
    spoken: dict[str, list[str]] = {}
    for text, president in zip(table["text"], table["president"], strict=True):
        spoken.setdefault(president, []).extend(re.findall(r"[a-z]+(?:'[a-z]+)?", text.lower()))
    chosen = {who: words[:n_words] for who, words in spoken.items() if len(words) >= n_words}
    frequent = {word for word, _ in Counter(chain.from_iterable(chosen.values())).most_common(n_vocabulary)}
    return {who: [word if word in frequent else "*" for word in words] for who, words in chosen.items()}


def spike_trains(n_pauses: int = 5) -> dict[str, list[str]]:
    """Return trials of all recordings of a cockroach's antennal lobe as sequences of spikes: which neuron, how soon.

    Parameters
    ----------
    n_pauses : int, default 5
        Classes of the time since the spike before, of equal frequency in a recording.

    Returns
    -------
    dict
        "recording trial" -> events such as "neuron 2, pause 0" (0: the shortest).

    Raises
    ------
    DataNotFoundError
        If the file is absent.

    Examples
    --------
    >>> trains = spike_trains()
    >>> len(trains), trains["CAL1S spontaneous"][:2]
    (64, ['neuron 3, pause 4', 'neuron 3, pause 1'])
    """
    import pandas as pd

    table = pd.read_csv(file("spikes/cockroach_spikes.csv.gz")).sort_values("time_s", kind="stable")
    trains: dict[str, list[str]] = {}
    for recording, rows in table.groupby("recording"):
        pauses = rows.groupby("trial")["time_s"].diff()
        edges = np.quantile(pauses.dropna(), np.linspace(0, 1, n_pauses + 1)[1:-1])
        soon = np.searchsorted(edges, pauses.fillna(np.inf).to_numpy(), side="right")
        for trial, neuron, pause in zip(rows["trial"], rows["neuron"], soon.tolist(), strict=True):
            trains.setdefault(f"{recording} {trial}", []).append(f"{neuron}, pause {pause}")
    return trains


def events(path: str | Path, user: str = "user", item: str = "item", time: str | None = None) -> dict[str, list[str]]:
    """Read a user's own CSV of events, one per line, as text: user -> items in order.

    Parameters
    ----------
    path : path
        Not below the data folder.
    user, item, time : str
        Names of columns; without a time, events are in order as they stand. Times sort as numbers where they are.

    Raises
    ------
    ValueError
        If there is no such column.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "mine.csv"
    >>> _ = path.write_text("user,item,when\\nann,b,10\\nben,c,3\\nann,a,9\\n")
    >>> events(path)["ann"], events(path, time="when")["ann"]
    (['b', 'a'], ['a', 'b'])
    """
    import pandas as pd

    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    for name in filter(None, (user, item, time)):
        if name not in table.columns:
            raise ValueError(f"{path} has no column {name!r}, only {', '.join(map(repr, table.columns))}.")
    if time is not None:
        numbers = pd.to_numeric(table[time], errors="coerce")
        table = table.iloc[np.argsort(table[time] if numbers.isna().any() else numbers, kind="stable")]
    return {str(who): rows.tolist() for who, rows in table.groupby(user, sort=False)[item]}


def logs(name: str) -> dict[str, list[str]]:
    """Read a user's own copy of a log: user -> items in order of time.

    Parameters
    ----------
    name : {"brightkite", "lastfm-1k"}
        Check-ins, or plays by artist.

    Returns
    -------
    dict
        user -> places, or artists.

    Raises
    ------
    ValueError
        If ``name`` is neither.
    DataNotFoundError
        If the file is absent: no copy comes with the other sets.

    Examples
    --------
    >>> import gzip, os, tempfile
    >>> from pathlib import Path
    >>> from unittest.mock import patch
    >>> home = Path(tempfile.mkdtemp())
    >>> (home / "brightkite").mkdir()
    >>> with gzip.open(home / "brightkite/loc-brightkite_totalCheckins.txt.gz", "wt") as copy:
    ...     _ = copy.write("0\\t2010-10-17\\t39.7\\t-104.9\\tpark\\n0\\t2010-10-16\\t39.8\\t-105.0\\tcafe\\n")
    >>> with patch.dict(os.environ, ADAPTIVE_DATA=str(home)):
    ...     logs("brightkite")
    {'0': ['cafe', 'park']}
    """
    import pandas as pd

    path, source, columns = _LOGS[checks.choice("name", name, _LOGS)]
    table = pd.read_csv(
        file(path, source), sep="\t", header=None, dtype=str, keep_default_na=False, quoting=csv.QUOTE_NONE
    )
    table = table[list(columns)].set_axis(["user", "item", "time"], axis=1).sort_values("time", kind="stable")
    return {str(who): rows.tolist() for who, rows in table.groupby("user", sort=False)["item"]}
