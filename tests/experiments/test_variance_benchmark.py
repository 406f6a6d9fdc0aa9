from experiments.benchmarks import variances


def test_quick_mode_orders_the_estimators():
    rows = {(row["estimator"], row["size"]): row for row in variances.table(quick=True)}
    plain, ours = rows["sampled", 32], rows["sampled, control variate", 8]
    assert ours["products"] < 0.3 * plain["products"]
    assert ours["relative_error"] < 0.5 * plain["relative_error"]
    assert 0.9 < ours["ratio"] < 1.1
    lanczos = rows["lanczos, reorthogonalisation full", 50]
    assert lanczos["ratio"] < 0.1
    pixels = rows["pixels: sampled, control variate", 8]
    assert pixels["relative_error"] < rows["pixels: sampled", 8]["relative_error"]
