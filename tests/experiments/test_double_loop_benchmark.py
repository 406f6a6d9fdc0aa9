from experiments.benchmarks import double_loop


def test_quick_mode_counts_products_and_beats_lanczos():
    row = double_loop.measure("evidence", 32, "float32", lanczos_steps=100, outer=4)
    assert row["products to 1%"] <= row["products"] <= 300 and row["error then"] < 0.01
    assert 0 <= row["regret"] <= row["lanczos regret"] + 0.02
    assert row["cpu"] > 0 and row["pairs per product"] > 0
