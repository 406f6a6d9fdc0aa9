"""Citations: the papers behind an estimator and the inference it uses, as BibTeX.

    cite(estimator)  =  the toolkit, the estimator's own papers, those of its engine

An estimator names its papers by their keys in ``_cites``; engines are in a table here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["BIBLIOGRAPHY", "cite"]

TOOLKIT = "adaptive-designs"
ENGINES = {
    "expectation_propagation": ("minka2001",),
    "variational_bounds": ("seeger2011",),
    "variational_gaussian": ("nickisch2008",),
    "mean_field": ("nickisch2008",),
    "annealed_importance": ("neal2001",),
    "laplace_approximation": ("rasmussen2006",),
}

BIBLIOGRAPHY = {
    TOOLKIT: """@software{adaptive-designs,
  title = {adaptive-designs: sequential experimental design and active learning with approximate Bayesian posteriors},
  year = {2026}
}""",
    "bradley1952": """@article{bradley1952,
  author = {Bradley, Ralph Allan and Terry, Milton E.},
  title = {Rank Analysis of Incomplete Block Designs: {I}. The Method of Paired Comparisons},
  journal = {Biometrika},
  volume = {39},
  year = {1952}
}""",
    "chopin2002": """@article{chopin2002,
  author = {Chopin, Nicolas},
  title = {A Sequential Particle Filter Method for Static Models},
  journal = {Biometrika},
  volume = {89},
  year = {2002}
}""",
    "delmoral2006": """@article{delmoral2006,
  author = {Del Moral, Pierre and Doucet, Arnaud and Jasra, Ajay},
  title = {Sequential {M}onte {C}arlo Samplers},
  journal = {Journal of the Royal Statistical Society B},
  volume = {68},
  year = {2006}
}""",
    "hennig2011": """@phdthesis{hennig2011,
  author = {Hennig, Philipp},
  title = {Approximate Inference in Graphical Models},
  school = {University of Cambridge},
  year = {2011}
}""",
    "ko2014": """@inproceedings{ko2014,
  author = {Ko, Young-Jun and Khan, Mohammad Emtiyaz},
  title = {Variational Gaussian Inference for Bilinear Models of Count Data},
  booktitle = {Asian Conference on Machine Learning},
  year = {2014}
}""",
    "ko2017": """@phdthesis{ko2017,
  author = {Ko, Young-Jun},
  title = {Applications of Approximate Learning and Inference for Probabilistic Models},
  school = {EPFL},
  year = {2017}
}""",
    "minka2001": """@inproceedings{minka2001,
  author = {Minka, Thomas P.},
  title = {Expectation Propagation for Approximate Bayesian Inference},
  booktitle = {Uncertainty in Artificial Intelligence},
  year = {2001}
}""",
    "neal2001": """@article{neal2001,
  author = {Neal, Radford M.},
  title = {Annealed Importance Sampling},
  journal = {Statistics and Computing},
  volume = {11},
  year = {2001}
}""",
    "nickisch2008": """@article{nickisch2008,
  author = {Nickisch, Hannes and Rasmussen, Carl Edward},
  title = {Approximations for Binary Gaussian Process Classification},
  journal = {Journal of Machine Learning Research},
  volume = {9},
  year = {2008}
}""",
    "nickisch2010": """@phdthesis{nickisch2010,
  author = {Nickisch, Hannes},
  title = {Bayesian Inference and Experimental Design for Large Generalised Linear Models},
  school = {Technische Universit{\\"a}t Berlin},
  year = {2010}
}""",
    "paquet2014": """@article{paquet2014,
  author = {Paquet, Ulrich and Koenigstein, Noam and Winther, Ole},
  title = {Scalable {B}ayesian Modelling of Paired Symbols},
  year = {2014}
}""",
    "rao1967": """@article{rao1967,
  author = {Rao, P. V. and Kupper, L. L.},
  title = {Ties in Paired-Comparison Experiments: A Generalization of the {B}radley-{T}erry Model},
  journal = {Journal of the American Statistical Association},
  volume = {62},
  year = {1967}
}""",
    "rasmussen2006": """@book{rasmussen2006,
  author = {Rasmussen, Carl Edward and Williams, Christopher K. I.},
  title = {Gaussian Processes for Machine Learning},
  publisher = {MIT Press},
  year = {2006}
}""",
    "price2018": """@article{price2018,
  author = {Price, Leah F. and Drovandi, Christopher C. and Lee, Anthony and Nott, David J.},
  title = {{B}ayesian Synthetic Likelihood},
  journal = {Journal of Computational and Graphical Statistics},
  volume = {27},
  year = {2018}
}""",
    "seeger2008": """@article{seeger2008,
  author = {Seeger, Matthias W.},
  title = {{B}ayesian Inference and Optimal Design for the Sparse Linear Model},
  journal = {Journal of Machine Learning Research},
  volume = {9},
  year = {2008}
}""",
    "seeger2010": """@article{seeger2010,
  author = {Seeger, Matthias and Nickisch, Hannes and Pohmann, Rolf and Sch{\\"o}lkopf, Bernhard},
  title = {Optimization of k-Space Trajectories for Compressed Sensing by {B}ayesian Experimental Design},
  journal = {Magnetic Resonance in Medicine},
  volume = {63},
  year = {2010}
}""",
    "seeger2011": """@article{seeger2011,
  author = {Seeger, Matthias W. and Nickisch, Hannes},
  title = {Large Scale {B}ayesian Inference and Experimental Design for Sparse Linear Models},
  journal = {SIAM Journal on Imaging Sciences},
  volume = {4},
  year = {2011}
}""",
    "wood2010": """@article{wood2010,
  author = {Wood, Simon N.},
  title = {Statistical Inference for Noisy Nonlinear Ecological Dynamic Systems},
  journal = {Nature},
  volume = {466},
  year = {2010}
}""",
}


def cite(*things: Any) -> str:
    """Return BibTeX of what was used: the toolkit, the estimators' papers, those of their inference.

    Parameters
    ----------
    *things : estimators, or designs (whose ``estimator_`` is meant)
        None: the toolkit alone.

    Examples
    --------
    >>> from adaptive import BayesianLogisticRegression, cite
    >>> [line for line in cite(BayesianLogisticRegression()).splitlines() if line.startswith("@")]
    ['@software{adaptive-designs,', '@phdthesis{nickisch2010,', '@inproceedings{minka2001,']
    """
    keys = dict.fromkeys([TOOLKIT, *(key for thing in things for key in _keys(thing))])
    return "\n\n".join(BIBLIOGRAPHY[key] for key in keys) + "\n"


def _keys(thing: Any) -> Iterable[str]:
    estimator = getattr(thing, "estimator_", thing)  # of a design, and of a pipeline's view
    if estimator is not thing:
        yield from _keys(estimator)
        return
    yield from getattr(type(estimator), "_cites", ())
    for part in getattr(estimator, "reconstructors", ()):
        yield from _keys(part)
    engine = getattr(estimator, "inference", None)
    name = engine if isinstance(engine, str) else getattr(getattr(engine, "func", engine), "__name__", "")
    yield from ENGINES.get(name, ())
