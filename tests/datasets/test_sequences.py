"""Histories: of words, of spikes, of a user's own log."""

from __future__ import annotations

import pytest

from adaptive import datasets


def test_histories_of_words_and_of_spikes():
    words = datasets.address_words(6000, 2000)
    assert len(words) == 42 and {len(spoken) for spoken in words.values()} == {6000}
    assert len({word for spoken in words.values() for word in spoken}) == 2001  # and "*"
    assert words["George Washington"][:4] == ["fellow", "citizens", "of", "the"]
    trains = datasets.spike_trains()
    assert len(trains) == 64 and sum(map(len, trains.values())) == 35405
    assert len({event for events in trains.values() for event in events}) == 20
    assert all(train[0].endswith("pause 4") for train in trains.values())  # nothing was before


def test_logs_of_a_users_own(tmp_path, monkeypatch):
    monkeypatch.setenv("ADAPTIVE_DATA", str(tmp_path))
    (tmp_path / "mine.csv").write_text("who,what,when\nann,b,10\nben,c,3\nann,a,9\n")
    assert datasets.events(tmp_path / "mine.csv", "who", "what") == {"ann": ["b", "a"], "ben": ["c"]}
    assert datasets.events(tmp_path / "mine.csv", "who", "what", "when") == {"ann": ["a", "b"], "ben": ["c"]}
    with pytest.raises(ValueError, match="has no column 'user', only 'who', 'what', 'when'"):
        datasets.events(tmp_path / "mine.csv")
    with pytest.raises(datasets.DataNotFoundError, match="loc-brightkite"):
        datasets.logs("brightkite")
    (tmp_path / "lastfm-1k").mkdir()
    (tmp_path / "lastfm-1k" / "userid-timestamp-artid-artname-traid-traname.tsv").write_text(
        'u1\t2009-05-02\tx\tThe "B\tt\tsong\nu1\t2009-05-01\ty\tA\tt\tsong\n'
    )
    assert datasets.logs("lastfm-1k") == {"u1": ["A", 'The "B']}
