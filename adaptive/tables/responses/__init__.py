"""Who answered what rightly: tables of systems and items, and the exports of evaluation programs that hold one."""

from adaptive.tables.responses.reading import read_responses
from adaptive.tables.responses.responses import Responses
from adaptive.tables.responses.scores import score_of

__all__ = ["Responses", "read_responses", "score_of"]
