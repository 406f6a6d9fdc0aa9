"""Which form a state is of: the forms by their ``kind``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adaptive.checks import choice
from adaptive.gaussians.downdated_form import DowndatedForm
from adaptive.gaussians.empirical_form import EmpiricalForm
from adaptive.gaussians.mean_field_form import MeanFieldForm
from adaptive.gaussians.sequential_form import SequentialForm
from adaptive.gaussians.square_root_form import SquareRootForm
from adaptive.gaussians.with_sites import FACTORISED, unfitted_form

if TYPE_CHECKING:
    from adaptive.gaussians.gaussian_part import GaussianPart
    from adaptive.gaussians.protocols import Gaussian

__all__ = ["FORMS", "gaussian_from_state"]

FORMS: dict[str, type[Gaussian]] = {
    **FACTORISED,
    **{f.kind: f for f in (SequentialForm, MeanFieldForm, DowndatedForm, SquareRootForm, EmpiricalForm)},
}


def gaussian_from_state(state: dict[str, Any], part: GaussianPart) -> Gaussian:
    """The Gaussian that ``state`` described, of the model whose Gaussian part and rows these are.

    Parameters
    ----------
    state : dict
        What ``state()`` of a form returned.
    part : GaussianPart
        Prior, data and rows of the model.

    Returns
    -------
    Gaussian
        Of the kind that the state names.

    Examples
    --------
    >>> import numpy as np
    >>> from adaptive.gaussians import GaussianPart, gaussian_with_sites
    >>> part = GaussianPart(np.eye(2), prior_covariance=1.0)
    >>> form = gaussian_with_sites(**part._asdict()).refit(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    >>> form.state()["kind"], gaussian_from_state(form.state(), part).mean
    ('covariance', array([1., 0.]))
    """
    if state["kind"] is None:  # written before forms had names; the size decided
        return unfitted_form(None, part).refit(state["pi"], state["nu"])
    return FORMS[choice("kind", state["kind"], FORMS)].from_state(state, part)
