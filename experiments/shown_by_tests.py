"""Systems of the sources whose proof is the library's own tests: which test shows what, run here once more.

A row is "reproduced" if every test named exists and passes. Rows that a script of their own judges as well (the double
loop, random querying, ...) take the names of their tests from here.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from experiments.script import Script, command

ROOT = Path(__file__).resolve().parents[1]

# What the source's list of systems says, and anything to know; what shows it is in TESTS.
SYSTEMS: dict[str, tuple[str, str]] = {
    "nickisch-sys-glm-ie": (
        "MAP or penalised least squares and variational inference from four kinds of objects (operators, potentials, "
        "penalties, solvers), sharing only products with X and B.",
        "map_estimate, and variational_bounds with sampled or Lanczos variances, multiply only; with exact variances "
        "operators are read as matrices.",
    ),
    "nickisch-sys-glm-ie-potentials": (
        "Gaussian, Laplace, sech-square, logistic, exponential power, Student t: log density, two derivatives, "
        "symmetry parameter.",
        "The symmetry parameter is `tilt` (and `location`).",
    ),
    "nickisch-sys-glm-ie-penalties": (
        "Penalty derived from a potential (the inner loop), logarithmic, quadratic, power, zero; value and two "
        "derivatives.",
        "",
    ),
    "nickisch-sys-glm-ie-solvers": (
        "CG, CG with backtracking, quasi-Newton, truncated Newton behind one interface.",
        "CG comes with backtracking only.",
    ),
    "nickisch-sys-ep-dense": (
        "Factor L and vector alpha, rank-one updates, fractional parameter 0.9, quadratic cost per site.",
        "The covariance is updated in place of the factor (two BLAS calls per site), refactored after each sweep.",
    ),
    "nickisch-sys-design-loop": (
        "Alternate inference and choice of one measurement or a joint block, greedily.",
        "",
    ),
    "nickisch-sys-transductive": (
        "Constrained choice among candidates: score all, take the best subset greedily.",
        "",
    ),
    "nickisch-alg-6.1": (
        "Score all candidate blocks, append the winner, acquire it, refit; stop at a size or a quality.",
        "Lines, phase encodes and spirals in the same loop; it stops by number, cost, time or information left.",
    ),
    "nickisch-alg-6.2": (
        "The double loop for Laplace potentials on a complex image: the second bound of the log-determinant, variances "
        "by Lanczos, inner least squares reweighted up to 30 times.",
        "Lanczos is an option, at any number of steps; variances are sampled by default, which costs less.",
    ),
    "nickisch-sys-kspace-designs-cartesian": (
        "Equispaced, low-pass, variable-density random without replacement and designed lines, all with the 32 central "
        "ones.",
        "The variable density's exponent is an argument; there is a half-plane switch.",
    ),
    "nickisch-sys-kspace-designs-spiral": (
        "Archimedean interleaves of 8 revolutions and 3,216 samples at equispaced, random and designed offset angles.",
        "With scanner limits 3,336 samples in time, largest step 1.0, slew rate 150 T/m/s, gradient 22.9 mT/m.",
    ),
    "nickisch-sys-kspace-map": (
        "MAP with Laplace penalties on wavelet coefficients, differences and the imaginary part; a complex image, of "
        "which magnitudes are reported.",
        "",
    ),
    "nickisch-sys-kspace-zfdc": (
        "One adjoint product with the samples, weighted by the share of k-space around each; the conjugate samples of "
        "a real image are added.",
        "",
    ),
    "nickisch-sys-kspace-ols": (
        "Least squares of least norm by LSQR, on lines and off the grid.",
        "On whole lines the adjoint is the answer.",
    ),
    "nickisch-sys-kspace-nfft": (
        "Fourier samples anywhere by interpolation on an oversampled grid, FFT and diagonal weights; to 1e-6 of the "
        "explicit sum, forward and adjoint exact adjoints.",
        "By finufft, whose kernel is of the Kaiser-Bessel kind; products with X^H X need no interpolation.",
    ),
    "nickisch-sys-kspace-limits": (
        "Without variances the inner loop is MAP, with large ones least squares, with matched ones ridge.",
        "",
    ),
    "nickisch-sys-inclusion": (
        "One-dimensional bound update, one linear system, rank-one refresh of all pool marginals; blocks of K.",
        "experiments/benchmarks/inclusion.py counts the products on a9a; with expectation propagation or Laplace's "
        "method the site of a new row has the moments of the potential in place of a bound's.",
    ),
    "nickisch-sys-sparse-logistic": (
        "m = 0, B stacked with the identity, Laplace potentials on the weights.",
        "The comparison with the Gaussian prior on a9a is figure 3.7's.",
    ),
    "nickisch-sys-score-cu": (
        "Minus the distance of the predictive class probability from one half, by quadrature.",
        "Plus one half, so that no score is negative and costs may divide it; averages of the logistic function are "
        "exact to 1e-8.",
    ),
    "nickisch-sys-score-ig": (
        "Expected KL divergence of the marginal updated by one site from the current one, both labels weighed.",
        "Its name is variational_information_gain; information_gain is the exact one.",
    ),
}

TESTS: dict[str, tuple[str, ...]] = {
    "nickisch-sys-glm-ie": (
        "tests/inference/test_map_estimate.py::test_matrix_free_images",
        "tests/inference/test_map_estimate.py::test_products_are_counted",
        "tests/inference/test_matrix_free.py::test_many_samples_agree_with_exact_variances",
        "tests/inference/test_matrix_free.py::test_products_are_counted",
    ),
    "nickisch-sys-glm-ie-potentials": (
        "tests/potentials/test_log_density.py::test_densities_integrate_to_one",
        "tests/potentials/test_log_density.py::test_derivatives_are_those_of_log_density",
        "tests/potentials/test_bounds.py::test_the_bound_touches_at_the_tight_width",
    ),
    "nickisch-sys-glm-ie-penalties": (
        "tests/inference/test_map_estimate.py::test_derivatives",
        "tests/inference/test_map_estimate.py::test_penalties_with_closed_solutions",
        "tests/potentials/test_bounds.py::test_no_variance_gives_the_map_penalty",
    ),
    "nickisch-sys-glm-ie-solvers": ("tests/inference/test_map_estimate.py::test_solvers_agree_on_a_minimum",),
    "nickisch-sys-ep-dense": (
        "tests/inference/test_engines.py::test_sequential_equals_parallel",
        "tests/inference/test_reference_problems.py::test_image_problem_by_fractional_ep",
        "tests/linalg/test_gaussian.py::test_rank_one_updates_equal_a_refit",
    ),
    "nickisch-sys-design-loop": (
        "tests/contract/test_contract.py::test_every_estimator_runs_in_the_loop",
        "tests/loop/test_sequential_design.py::test_a_run_asks_what_the_estimator_selects",
        "tests/test_selection.py::test_a_joint_batch_is_greedy_and_adds_up_also_from_a_short_list",
    ),
    "nickisch-sys-transductive": (
        "tests/contract/test_contract.py::test_scores_of_a_joint_batch_add_up_to_its_joint_information",
        "tests/test_selection.py::test_the_highest_score_per_cost_is_chosen_and_its_score_returned",
        "tests/test_selection.py::test_what_is_masked_or_excluded_is_never_looked_at",
    ),
    "nickisch-alg-3.1": (
        "tests/inference/test_brute_force.py::test_variational_bound_is_its_integral_and_stationary",
        "tests/inference/test_convexity.py::test_the_objective_never_rises",
        "tests/inference/test_reference_problems.py::test_both_bounds_reach_the_same_minimum",
    ),
    "ko-alg-1": ("tests/inference/test_convexity.py::test_the_objective_never_rises",),
    "nickisch-sys-convexity": (
        "tests/inference/test_convexity.py::test_marginal_variances_never_exceed_the_widths",
        "tests/inference/test_convexity.py::test_student_breaks_convexity",
        "tests/inference/test_convexity.py::test_the_objective_is_convex_for_log_concave_potentials",
    ),
    "nickisch-sys-student-t-split": (
        "tests/inference/test_convexity.py::test_the_objective_never_rises",
        "tests/potentials/test_bounds.py::test_convex_and_concave_parts_add_up",
        "tests/potentials/test_bounds.py::test_student_widths_of_the_source",
    ),
    "ko-sys-dsb": (
        "tests/inference/test_brute_force.py::test_bounds_stay_below_the_exact_evidence",
        "tests/potentials/test_bounds.py::test_the_bound_is_below_everywhere",
    ),
    "nickisch-sys-ig-gaussian": (
        "tests/inference/test_posterior.py::test_information_gain",
        "tests/scorers/test_information_gain.py::test_gaussian_outcomes_teach_half_the_log_of_one_plus_signal_to_noise",
    ),
    "nickisch-sys-d-optimal-v-bayes": (
        "tests/designs/test_frequentist.py::test_first_toy_the_axis_not_measured_against_the_one_measured",
        "tests/designs/test_frequentist.py::test_flat_priors_make_the_two_agree",
        "tests/designs/test_frequentist.py::test_second_toy_across_what_was_measured_against_along_it",
    ),
    "nickisch-sys-score-random": (
        "tests/loop/test_compare.py::test_intervals_are_paired",
        "tests/test_selection.py::test_random_needs_no_field_and_is_uniform_over_what_is_allowed",
    ),
    "nickisch-sys-inclusion": (
        "tests/estimators/test_inclusion.py::test_a_step_costs_one_product_with_the_pool",
        "tests/estimators/test_inclusion.py::test_blocks_of_any_size_end_near_the_fit_of_all",
        "tests/estimators/test_inclusion.py::test_kept_marginals_are_those_of_the_posterior",
        "tests/estimators/test_inclusion.py"
        "::test_rows_that_lanczos_variances_cannot_judge_are_dropped_until_the_next_block",
        "tests/inference/test_inclusion.py::test_blocks_and_single_inclusion_agree_at_convergence",
        "tests/inference/test_inclusion.py::test_the_width_maximises_the_bound_on_the_evidence",
        "tests/inference/test_inclusion.py::test_updated_moments_are_those_of_a_refit",
    ),
    "nickisch-sys-sparse-logistic": (
        "tests/estimators/test_bayesian_logistic_regression.py::test_a_sparse_prior_finds_few_relevant_features",
        "tests/estimators/test_bayesian_logistic_regression.py"
        "::test_predictive_probabilities_are_near_those_of_the_exact_posterior",
        "tests/estimators/test_inclusion.py::test_kept_marginals_are_those_of_the_posterior",
    ),
    "nickisch-sys-score-cu": (
        "tests/estimators/test_bayesian_logistic_regression.py::test_uncertainty_is_the_distance_from_one_half",
        "tests/scorers/test_outcome_scorers.py::test_of_two_outcomes_all_are_functions_of_the_distance_to_one_half",
    ),
    "nickisch-sys-score-ig": (
        "tests/scorers/test_variational_information_gain.py::test_it_is_finite_never_negative_and_symmetric",
        "tests/scorers/test_variational_information_gain.py::test_it_is_the_divergence_at_the_best_bound",
    ),
    "nickisch-alg-6.1": (
        "tests/designs/test_trajectories.py::test_shots_are_designed_logged_and_replayed",
        "tests/estimators/test_image_reconstructor.py::test_head_scan_line_by_line",
        "tests/estimators/test_image_reconstructor.py::test_the_loop_resumes_to_the_bit",
        "tests/loop/test_stopping.py::test_information_left_is_the_largest_expected_information",
        "tests/loop/test_stopping.py::test_steps_cost_seconds",
    ),
    "nickisch-alg-6.2": (
        "tests/inference/test_matrix_free.py::test_both_log_determinant_bounds_reach_the_same_minimum",
        "tests/inference/test_matrix_free.py::test_lanczos_with_all_steps_is_exact_and_with_few_below",
        "tests/inference/test_matrix_free.py::test_real_stacked_is_the_complex_problem",
        "tests/inference/test_matrix_free.py::test_the_objective_falls_and_the_evidence_is_that_of_the_dense_loop",
    ),
    "nickisch-sys-kspace-designs-cartesian": (
        "tests/designs/test_kspace.py::test_equispaced_lines_have_equal_gaps",
        "tests/designs/test_kspace.py::test_every_design_is_sorted_distinct_complete_and_keeps_the_centre",
        "tests/designs/test_kspace.py::test_low_pass_designs_are_nested_intervals_around_dc",
        "tests/designs/test_kspace.py::test_the_half_plane_pool_has_the_sources_size",
        "tests/designs/test_kspace.py::test_variable_density_follows_its_density",
    ),
    "nickisch-sys-kspace-designs-spiral": (
        "tests/designs/test_trajectories.py::test_a_spiral_under_limits_keeps_to_them_and_uses_them",
        "tests/designs/test_trajectories.py::test_a_spiral_without_limits_is_equispaced_in_arc_length",
        "tests/designs/test_trajectories.py::test_angles",
        "tests/designs/test_trajectories.py::test_shots_are_designed_logged_and_replayed",
    ),
    "nickisch-sys-kspace-map": (
        "tests/estimators/test_image_reconstructor.py::test_complex_images_need_the_prior_on_the_imaginary_part",
        "tests/estimators/test_image_reconstructor.py::test_map_and_mean_and_single_precision_agree_roughly",
        "tests/inference/test_map_estimate.py::test_matrix_free_images",
    ),
    "nickisch-sys-kspace-zfdc": (
        "tests/designs/test_density.py::test_areas_are_those_of_counting",
        "tests/designs/test_density.py::test_weighted_adjoints_are_images",
        "tests/linalg/test_least_squares.py::test_all_lines_reconstruct_exactly_and_half_of_them_with_their_mirrors",
    ),
    "nickisch-sys-kspace-ols": (
        "tests/linalg/test_least_squares.py::test_cartesian_minimum_norm_is_the_adjoint",
        "tests/linalg/test_least_squares.py::test_is_the_pseudo_inverse",
        "tests/operators/test_nonuniform_fourier.py::test_least_squares_off_the_grid_is_the_pseudo_inverse",
    ),
    "nickisch-sys-kspace-nfft": (
        "tests/operators/test_nonuniform_fourier.py::test_samples_are_the_explicit_centred_sum",
        "tests/operators/test_nonuniform_fourier.py::test_samples_on_the_grid_are_those_of_a_mask",
        "tests/operators/test_nonuniform_fourier.py::test_the_adjoint_is_exact_whatever_the_accuracy",
    ),
    "nickisch-sys-kspace-limits": (
        "tests/inference/test_matrix_free.py::test_constant_width_is_ridge",
        "tests/inference/test_matrix_free.py::test_large_variance_is_least_squares",
        "tests/inference/test_matrix_free.py::test_no_variance_is_map",
    ),
}


def named(id: str) -> str:
    """Return the sentence that names the tests of a row."""
    return f"Tests: {', '.join(TESTS[id])}."


def missing() -> list[str]:
    """Return the tests that no file defines."""
    absent = []
    for test in sorted({test for tests in TESTS.values() for test in tests}):
        file, function = test.split("::")
        path = ROOT / file
        if not path.is_file() or not re.search(rf"^def {function}\(", path.read_text(encoding="utf-8"), re.MULTILINE):
            absent.append(test)
    return absent


def outcomes(tests: list[str], root: Path = ROOT) -> dict[str, tuple[int, int]]:
    """Run tests; return how many cases of each passed and did not."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        arguments = ["-q", "--no-header", "--no-summary", f"--junitxml={report}", "-p", "no:cacheprovider", *tests]
        subprocess.run([sys.executable, "-m", "pytest", *arguments], cwd=root, check=False, stdout=subprocess.DEVNULL)
        cases = [(case.get("classname", ""), case.get("name", ""), len(case)) for case in
                 ElementTree.parse(report).iter("testcase")]  # fmt: skip
    counted = {}
    for test in tests:
        file, function = test.split("::")
        module = file.removesuffix(".py").replace("/", ".")
        own = [trouble for name, case, trouble in cases if name == module and case.split("[")[0] == function]
        counted[test] = (own.count(0), len(own) - own.count(0))
    return counted


def run(script: Script) -> None:
    """Run the tests of every system and record what they show; in quick mode only see that they exist."""
    absent = missing()
    if absent:
        raise ValueError(f"tests that are named but do not exist: {', '.join(absent)}")
    if script.quick:
        return
    counted = outcomes(sorted({test for id in SYSTEMS for test in TESTS[id]}))
    for id, (claim, remark) in SYSTEMS.items():
        own = {test: counted[test] for test in TESTS[id]}
        script.judge(
            id,
            all(passed > 0 and other == 0 for passed, other in own.values()),
            claim=claim,
            target="every case of the tests passes",
            value={
                test: f"{passed} passed" + (f", {other} not" if other else "") for test, (passed, other) in own.items()
            },
            reason=remark,
        )


if __name__ == "__main__":
    command(run, __doc__, __file__)
