"""A log is its lines, wherever they are kept: the same bytes, checks and replay."""

import itertools

import pytest

from adaptive.loop import EventLog, LogError, SequentialDesign
from adaptive.loop.log.storage import MemoryStorage


class Kept(MemoryStorage):
    """A place for lines outside the process, as far as a design can see; it can run full."""

    name, shared = "elsewhere", True

    def __init__(self):
        super().__init__()
        self.snapshot, self.numbers, self.full = None, [], False

    def open(self):
        pass

    def append(self, lines, *, number, end, durable):
        if self.full:
            raise OSError(28, "No space left")
        self.numbers += [(number, durable)]
        super().append(lines, number=number, end=end, durable=durable)

    def read_snapshot(self):
        return self.snapshot

    def write_snapshot(self, content):
        self.snapshot = content


@pytest.mark.parametrize("kind", ["model", "model_with_state"])
def test_any_place_holds_the_same_lines(kind, request, pool, measure, tmp_path, same, monkeypatch):
    build = request.getfixturevalue(kind)
    monkeypatch.setattr("time.monotonic", itertools.repeat(0.0).__next__)  # the lines hold seconds
    kept = Kept()
    logs = [EventLog(tmp_path / "log", snapshot_every=6), EventLog(snapshot_every=6), EventLog(kept, snapshot_every=6)]
    runs = [SequentialDesign(build(), pool, measure, random_state=1, log=log).run(7) for log in logs]
    texts = [log.contents() for log in logs]
    assert texts[0] == texts[2]
    assert texts[1].count(b"\n") <= texts[0].count(b"\n")  # in memory there are no snapshots to note
    assert [number for number, _ in kept.numbers] == list(range(logs[2].n_events))
    assert (kept.snapshot is not None) == (kind == "model_with_state")
    again = SequentialDesign.load(EventLog(kept, snapshot_every=6), build(), pool, measure)
    for run in runs:
        same(again, run)


def test_a_place_that_is_full_keeps_nothing_and_goes_on(model, pool, measure, same):
    kept = Kept()
    design = SequentialDesign(model(), pool, measure, log=EventLog(kept), random_state=1).run(2)
    query, before = design.ask(), kept.read()
    kept.full = True
    with pytest.raises(OSError, match="while writing elsewhere: this tell was not recorded"):
        design.tell(query, 0.0)
    assert kept.read() == before and design.iteration == 2
    kept.full = False
    same(design.run(2), SequentialDesign(model(), pool, measure, random_state=1).run(4))


def test_a_design_kept_elsewhere_is_neither_copied_nor_taken_for_a_file(model, pool):
    import pickle

    design = SequentialDesign(model(), pool, log=EventLog(Kept()))
    with pytest.raises(TypeError, match="writes the log elsewhere"):
        pickle.dumps(design)
    with pytest.raises(ValueError, match="path of a new file, or None, got int 3"):
        EventLog(3)
    with pytest.raises(LogError, match="cannot be opened again"):
        EventLog().open()
