"""``adaptive serve``, ``export`` and ``forget``: pages that people answer, and what they said."""

from adaptive.cli.serve.command import serve
from adaptive.cli.serve.exporting import export, forget

__all__ = ["export", "forget", "serve"]
