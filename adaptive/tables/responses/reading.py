"""One reader for tables of systems and items, whoever wrote them.

table.csv, .csv.gz, .parquet      long: a line for each answer; wide: a line for each system, a column for each item
samples_TASK_DATE.jsonl           lm-evaluation-harness with --log_samples; also a folder of them, a folder a system
details_*.parquet                 exports of the Open LLM Leaderboard and lighteval; also a folder of them
per_instance_stats.json           HELM; also a folder of its runs
*.eval, DATE_TASK_ID.json         logs of Inspect; also a folder of them
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from adaptive.tables.cells import TableError
from adaptive.tables.responses import exports, tabular
from adaptive.tables.responses.inspect_logs import inspect_logs
from adaptive.tables.responses.responses import Record, Responses

__all__ = ["read_responses"]

READERS = {
    ("samples_*.jsonl",): exports.harness_samples,
    ("details_*.parquet",): exports.leaderboard_details,
    ("per_instance_stats.json",): exports.helm_stats,
    ("*.eval", "[12][0-9][0-9][0-9]-*T*_*.json"): inspect_logs,
}


def read_responses(
    path: str | os.PathLike[str], *, columns: Mapping[str, str] | None = None, metric: str | None = None,
    about: str | os.PathLike[str] | None = None, system: str | None = None,
) -> Responses:  # fmt: skip
    """Read who answered what rightly.

    Parameters
    ----------
    path : path
        A table (``.csv``, ``.csv.gz``, ``.parquet``), long or wide; a file ``samples_*.jsonl`` of
        lm-evaluation-harness, ``details_*.parquet`` of a leaderboard, ``per_instance_stats.json`` of HELM, a log of
        Inspect (``.eval``, or ``.json`` with its date in front); or a folder that holds such files at any depth, the
        system being the folder that they are in, or the model that a log of Inspect names.
    columns : mapping, optional
        Names of a table's columns, by what they hold: "system", "item", "score", "benchmark", "text", "family".
        Default: those with the usual names (model, question_id, correct, task, ...). A table with columns of systems,
        items and scores is long, any other wide.
    metric : str, optional
        Of exports that hold several, such as "exact_match"; default: the first of acc_norm, acc, exact_match, ...
    about : path, optional
        A table with a line for each item: item, text, benchmark.
    system : str, optional
        Whose answers those of a table with items and scores, and no column of systems, are.

    Raises
    ------
    TableError
        Naming the file and the line that is wrong.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "runs.csv"
    ...     _ = file.write_text("model,question_id,correct\\nsmall,q1,0\\nsmall,q2,1\\nlarge,q2,1\\n")
    ...     table = read_responses(file)
    >>> table.systems, table.items, table.scores.tolist()
    (('small', 'large'), ('q1', 'q2'), [[0.0, 1.0], [nan, 1.0]])
    """
    source = Path(path)
    found = _exports(source, metric)
    if found is not None:
        responses = Responses.of_records(found, source)
    elif source.is_dir():
        raise TableError(f"{source} holds no {', '.join(name for names in READERS for name in names)}.")
    else:
        responses = tabular.responses_of(source, dict(columns or {}), system)
    return responses if about is None else tabular.described(responses, Path(about))


def _exports(source: Path, metric: str | None) -> Iterator[Record] | None:
    """Yield the answers of all exports in a file or folder; None where it is none."""
    for patterns, read in READERS.items():
        if source.is_dir():
            files = sorted(file for pattern in patterns for file in source.rglob(pattern))
        else:
            lines = source.suffix == ".jsonl" and read is exports.harness_samples  # whatever its name
            files = [source] if lines or any(source.match(pattern) for pattern in patterns) else []
        if files:
            return read(exports.latest(files), metric)
    return None
