"""Pages that people answer: adaptive tests and labelling queries, on one folder and without an account anywhere.

    application(Survey(...), store="answers")     an ASGI application; `adaptive serve` runs it with uvicorn
    Store("answers").log(session)                 the log of a session, as `SequentialDesign` takes it
    answers_of(store)                             what people said, in order, with times

Needs the extra ``[web]``. Nothing here is imported by the rest of the library.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from adaptive.lazy import lazily as _lazily

if _TYPE_CHECKING:
    from adaptive.serve.application import application
    from adaptive.serve.attention import Attention
    from adaptive.serve.export import answers_of, forget, sessions_of
    from adaptive.serve.labelling import Pool
    from adaptive.serve.panel import Panel
    from adaptive.serve.rendering import Pictures, Shown
    from adaptive.serve.stores.faults import StoreError, StoreFault
    from adaptive.serve.stores.opening import open_store
    from adaptive.serve.stores.postgres import PostgresStore
    from adaptive.serve.stores.sqlite import Store
    from adaptive.serve.survey import Survey, SurveyItem

__all__ = [
    "Attention",
    "Panel",
    "Pictures",
    "Pool",
    "PostgresStore",
    "Shown",
    "Store",
    "StoreError",
    "StoreFault",
    "Survey",
    "SurveyItem",
    "answers_of",
    "application",
    "forget",
    "open_store",
    "sessions_of",
]

__getattr__, __dir__ = _lazily(__name__)
