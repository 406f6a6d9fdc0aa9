"""Tables of people: files as spreadsheets, pandas and instruments write them, made into features of a model."""

from adaptive.cli.tables.columns import MISSING, Column, Kind, columns_of, number_of
from adaptive.cli.tables.preparing import Preparation
from adaptive.cli.tables.reading import Cells, listed, read_cells
from adaptive.cli.tables.targets import class_labels, is_missing, refuse_continuous

__all__ = [
    "MISSING",
    "Cells",
    "Column",
    "Kind",
    "Preparation",
    "class_labels",
    "columns_of",
    "is_missing",
    "listed",
    "number_of",
    "read_cells",
    "refuse_continuous",
]
