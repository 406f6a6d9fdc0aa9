"""Quick modes of what is judged of the receiver, and of reading and planning."""

from experiments import claims
from experiments.benchmarks import scanner_reading
from experiments.script import Script
from tests.experiments.scripts import quick_entries


def test_noise_read_without_a_noise_scan_is_judged(tmp_path):
    found = quick_entries("noise_estimates", tmp_path)
    names = ("covariance", "cost", "ignored", "raw")
    assert set(found) == {f"ours-scanner-noise-{name}" for name in names}
    errors = found["ours-scanner-noise-covariance"]["value"]["median covariance error"]
    assert errors["noise scan"] < errors["outer samples, full"] < 1


def test_reading_takes_less_time_and_memory_than_the_library_may(tmp_path):
    scanner_reading.run(Script("experiments/benchmarks/scanner_reading.py", tmp_path, quick=True))
    found = {one["id"]: one["value"] for one in claims.load(tmp_path)}
    assert set(found) == {
        f"ours-scanner-{name}" for name in ("reading-time", "planning-time", "memory", "memory-reading")
    }
    assert found["ours-scanner-planning-time"]["products"] > 0
    assert found["ours-scanner-memory-reading"]["times the samples"]["reading"] < 4
