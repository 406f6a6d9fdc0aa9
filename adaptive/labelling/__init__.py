"""Labels out and in: the queries of a design as files that people fill in, and their answers back into the design.

    write_csv(design, "queries.csv")             a row per candidate that waits; people fill the column "answer"
    tell(design, read_csv("queries.csv"))        what is new is learnt, what was learnt is left alone, or corrected

    write_label_studio(design, "tasks.json")     the same as tasks of Label Studio, with ids, texts and predictions
    tell(design, read_label_studio("export.json"))

    Live(LabelStudio(url, project, token), begin).follow()      a Label Studio that runs, and a design in step with it

The candidates' ids travel with the rows and are compared on the way back. ``tell`` looks at everything before the
design learns anything, and a file may be read again as it fills up or is corrected: an answer is known by its row and
its annotator. Rows that nobody asked for may be answered too, where the file names no query.

Labels that disagree: with ``repeat=True`` every answer to a row counts as an independent noisy answer of the model's
likelihood (two people who say yes and no leave the row's probability near one half, and both are learnt from); the
combination "majority" learns one answer per row instead.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from adaptive.lazy import lazily as _lazily

if _TYPE_CHECKING:
    from adaptive.labelling.answers import Answer, Imported
    from adaptive.labelling.label_studio import read_label_studio, write_label_studio
    from adaptive.labelling.studio.client import LabelStudio, StudioAway, StudioError
    from adaptive.labelling.studio.live import Live, Looked
    from adaptive.labelling.table import read_csv, write_csv
    from adaptive.labelling.telling import tell

__all__ = [
    "Answer",
    "Imported",
    "LabelStudio",
    "Live",
    "Looked",
    "StudioAway",
    "StudioError",
    "read_csv",
    "read_label_studio",
    "tell",
    "write_csv",
    "write_label_studio",
]

__getattr__, __dir__ = _lazily(__name__)
