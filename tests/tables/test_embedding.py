"""Vectors of an encoder: each item once, kept by content, gone on with after a kill; what is wrong names the batch."""

import subprocess
import sys

import numpy as np
import pytest

from adaptive import embed

TEXTS = [f"text {k} of many" for k in range(23)]


def lengths(texts):
    return np.array([[len(text), text.count("1"), 1.0] for text in texts])


class Counting:
    def __init__(self, stop=None):
        self.seen, self.stop = [], stop

    def __call__(self, texts):
        if self.stop is not None and len(self.seen) >= self.stop:
            raise KeyboardInterrupt
        self.seen += texts
        return lengths(texts)


def test_batches_are_one_pass_and_any_size_gives_the_same():
    once = Counting()
    found = embed(TEXTS, once, batch_size=5)
    assert once.seen == TEXTS and found.dtype == np.float32
    np.testing.assert_array_equal(found, lengths(TEXTS).astype(np.float32))
    np.testing.assert_array_equal(embed(TEXTS, lengths, batch_size=100), found)


def test_what_is_kept_is_not_encoded_again(tmp_path):
    first = embed(TEXTS, Counting(), cache=tmp_path, batch_size=4)
    again = Counting()
    found = embed(list(TEXTS), again, cache=tmp_path, batch_size=7)
    assert not again.seen and isinstance(found, np.memmap) and not found.flags.writeable
    np.testing.assert_array_equal(found, first)
    embed([*TEXTS[:-1], "another"], again, cache=tmp_path)
    embed(TEXTS, again, cache=tmp_path, name="version 2")
    assert len(again.seen) == 46 and len(list(tmp_path.glob("*.npy"))) == 3


def test_a_call_that_was_stopped_goes_on(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        embed(TEXTS, Counting(stop=12), cache=tmp_path, batch_size=4)
    rest = Counting()
    np.testing.assert_array_equal(embed(TEXTS, rest, cache=tmp_path, batch_size=4), lengths(TEXTS).astype(np.float32))
    assert rest.seen == TEXTS[12:] and [one.suffix for one in tmp_path.iterdir()] == [".npy"]


def test_a_killed_process_loses_one_batch_at_most(tmp_path):
    program = (
        "import os, sys\nfrom adaptive import embed\nseen = []\n"
        "def lengths(texts):\n    seen.extend(texts)\n    os.kill(os.getpid(), 9) if len(seen) > 12 else None\n"
        "    return [[len(text), text.count('1'), 1.0] for text in texts]\n"
        f"embed({TEXTS!r}, lengths, cache=sys.argv[1], batch_size=4, name='lengths')\n"
    )
    assert subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False).returncode == -9
    rest = Counting()
    found = embed(TEXTS, rest, cache=tmp_path, batch_size=4, name="lengths")
    assert rest.seen == TEXTS[12:]
    np.testing.assert_array_equal(found, lengths(TEXTS).astype(np.float32))


def test_files_arrays_and_bytes_are_known_by_their_content(tmp_path):
    path = tmp_path / "picture.raw"
    path.write_bytes(b"abc")
    calls = []

    def size(items):
        calls.append(len(items))
        return [[float(np.size(item))] for item in items]

    for items in ([path], [np.zeros((2, 2))], [b"abc"]):
        embed(items, size, cache=tmp_path / "kept")
        embed(items, size, cache=tmp_path / "kept")
    path.write_bytes(b"abd")
    embed([path], size, cache=tmp_path / "kept")
    assert len(calls) == 4


@pytest.mark.parametrize(
    ("encoder", "sentence"),
    [
        (lambda some: lengths(some)[:-1], r"one vector of numbers for each item, \(10, d\).*items 0 to 9"),
        (lambda some: np.zeros((len(some), len(some))), "10 numbers before, 3 for items 20 to 22"),
        (lambda some: lengths(some) * (np.nan if "text 11 of many" in some else 1), r"item 10 \(items 10 to 19\)"),
        (lambda some: ["no"] * len(some), "one vector of numbers for each item"),
    ],
)
def test_what_an_encoder_does_wrong_names_the_batch(encoder, sentence):
    with pytest.raises(ValueError, match=sentence):
        embed(TEXTS, encoder, batch_size=10)


def test_items_are_a_sequence_and_not_empty():
    with pytest.raises(ValueError, match="items must be a sequence"):
        embed("a text", lengths)
    with pytest.raises(ValueError, match="at least one"):
        embed([], lengths)
