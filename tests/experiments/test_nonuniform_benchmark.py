from experiments.benchmarks import nonuniform_fourier


def test_quick_mode_compares_every_transform():
    rows = nonuniform_fourier.table(quick=True)
    assert {(row["dtype"], row["batch"]) for row in rows} == {
        (d, b) for d in ("complex64", "complex128") for b in (1, 8)
    }
    assert {row["what"] for row in rows} == {"type 2", "type 1", "Toeplitz normal", "Toeplitz normal, real image"}
    assert all(row["ms"] > 0 and row["ratio"] > 0 for row in rows)
