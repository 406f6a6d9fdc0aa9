"""Sets that a machine may not have."""

from __future__ import annotations

import pytest

from adaptive import datasets

__all__ = ["loaded"]


def loaded(loader, *arguments):
    """Return what a loader gives, or skip where this machine does not have the set."""
    try:
        return loader(*arguments)
    except datasets.DataNotFoundError as absent:
        pytest.skip(f"no data: {absent}")
