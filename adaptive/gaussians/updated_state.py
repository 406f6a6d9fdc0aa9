"""A Gaussian that was kept by updates as plain arrays, and back: the numbers themselves, to the last bit.

A factorisation at its sites would give other roundings, and a run that was resumed would part from one that went on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.lapack import dtpttr, dtrttp

from adaptive.gaussians.measurement_covariance import MeasurementCovariance
from adaptive.gaussians.sequential_form import SequentialForm, Work
from adaptive.linalg.subspace_iteration import LeadingSubspace

__all__ = ["restore_updated", "updated_state"]

_ARRAYS = ("mean", "projections", "row_variances")


def updated_state(form: SequentialForm) -> dict[str, Any]:
    """Arrays and numbers from which `restore_updated` makes an equal form.

    Parameters
    ----------
    form : SequentialForm
        At some sites; its covariance takes about 4 n^2 bytes.
    """
    held = form.covariance
    state: dict[str, Any] = {
        **{name: getattr(form, name) for name in _ARRAYS},
        "form": form.form,
        "log_determinant": float(form.log_determinant),
        "since_factorised": form.since_factorised,
        "unchecked": form.unchecked,
        "work": dict(vars(form.work)),
        "lower": dtrttp(held._lower, uplo="L")[0] if len(held._lower) else np.empty(0),
    }
    if isinstance(held, MeasurementCovariance):
        state |= {"data": held._data, "inverse": held.inverse}
    else:
        state["waiting"] = held.waiting()
    if form.subspace is not None:
        subspace = form.subspace
        state["subspace"] = [subspace.basis, subspace.products, subspace.n_products]
    return state


def restore_updated(form: SequentialForm, state: dict[str, Any], pi: np.ndarray, nu: np.ndarray) -> SequentialForm:
    """Make ``form``, fresh from the same model, what `updated_state` described, at the sites ``pi`` and ``nu``."""
    held, packed = form._new(), np.asarray(state["lower"], dtype=float)
    size = int(np.sqrt(2 * len(packed)))  # n (n + 1) / 2 entries
    held._lower = np.zeros((0, 0), order="F") if not size else np.asfortranarray(dtpttr(size, packed, uplo="L")[0])
    if isinstance(held, MeasurementCovariance):
        held._data, held.inverse = np.array(state["data"]), np.array(state["inverse"])
    else:
        held.wait(*(np.asarray(columns) for columns in state["waiting"]))
    form._held, form.pi, form.nu = held, np.array(pi, dtype=float), np.array(nu, dtype=float)
    for name in _ARRAYS:
        setattr(form, name, np.array(state[name], dtype=float))
    form.log_determinant, form.since_factorised = float(state["log_determinant"]), int(state["since_factorised"])
    form.unchecked = int(state["unchecked"])
    form.work = Work(**state["work"])
    if "subspace" in state:
        form.subspace = LeadingSubspace(form.n)
        basis, products, count = state["subspace"]
        form.subspace.basis, form.subspace.products = np.array(basis), np.array(products)
        form.subspace.n_products = int(count)
    return form
