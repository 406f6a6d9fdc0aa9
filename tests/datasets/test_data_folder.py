"""An absent set is named in one clear line."""

from __future__ import annotations

import pytest

from adaptive import datasets


def test_an_absent_set_says_which_file_and_where(tmp_path, monkeypatch):
    monkeypatch.setenv("ADAPTIVE_DATA", str(tmp_path))
    with pytest.raises(
        datasets.DataNotFoundError, match=r"uci/sonar\.csv is not in the data folder .*set ADAPTIVE_DATA"
    ):
        datasets.uci("sonar")
    monkeypatch.delenv("ADAPTIVE_DATA")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(datasets.DataNotFoundError, match="adaptive_data .*ADAPTIVE_DATA is not set"):
        datasets.libsvm("w8a")
