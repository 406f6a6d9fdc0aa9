"""Tables of people: files as spreadsheets, pandas and instruments write them, made into what models take.

read_cells     text with lines, whatever the encoding, the separator, the packing
Cells          its columns as ids, numbers, times; what is something else is refused by file, line and column
read_responses systems x items, who got what score; long, wide, exports of evaluation programs
columns_of     the kind of every column; Preparation makes features of them
"""

from adaptive.tables.cells import Cells, TableError, listed
from adaptive.tables.columns import Column, Kind, columns_of
from adaptive.tables.preparing import Preparation
from adaptive.tables.reading import TableFile, read_cells
from adaptive.tables.responses import Responses, read_responses
from adaptive.tables.targets import class_labels, refuse_continuous
from adaptive.tables.values import MISSING, is_missing, number_of

__all__ = [
    "MISSING",
    "Cells",
    "Column",
    "Kind",
    "Preparation",
    "Responses",
    "TableError",
    "TableFile",
    "class_labels",
    "columns_of",
    "is_missing",
    "listed",
    "number_of",
    "read_cells",
    "read_responses",
    "refuse_continuous",
]
