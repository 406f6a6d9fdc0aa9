"""Questionnaires: items and people fitted to answers, and what to ask whom next."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from adaptive.estimators.belief import BeliefEstimator, of_belief
from adaptive.estimators.questionnaires import reports
from adaptive.estimators.questionnaires.answers import Answers, categories_of, is_triples, log_of, pairs_of, table_of
from adaptive.estimators.questionnaires.bank import Bank
from adaptive.estimators.questionnaires.banks import files
from adaptive.estimators.questionnaires.banks.parameters import bank_of_nominal_items, bank_of_parameters
from adaptive.estimators.questionnaires.base import MOST_TOGETHER
from adaptive.estimators.questionnaires.factors.bank import FactorBank
from adaptive.estimators.questionnaires.factors.belief import FactorBelief
from adaptive.estimators.questionnaires.families import family_folds
from adaptive.estimators.questionnaires.item_response_belief import ItemResponseBelief
from adaptive.estimators.questionnaires.ordinal.bank import OrdinalBank
from adaptive.estimators.questionnaires.ordinal.belief import OrdinalBelief
from adaptive.estimators.questionnaires.pools import ContentPool, ExposurePool
from adaptive.estimators.questionnaires.respondent import Respondent
from adaptive.estimators.questionnaires.settings import QuestionnaireSettings
from adaptive.estimators.questionnaires.simulation import Simulation, simulate
from adaptive.estimators.questionnaires.total_band import TotalBand, total_band
from adaptive.pool import has_columns

if TYPE_CHECKING:
    from adaptive.estimators.belief import Belief
    from adaptive.estimators.questionnaires.answers import Given, Label, Pairs
    from adaptive.estimators.questionnaires.base import Traits
    from adaptive.estimators.questionnaires.dimension import Dimension
    from adaptive.estimators.questionnaires.pools import AtMost, Content, Within
    from adaptive.estimators.questionnaires.respondent import Prior, Target
    from adaptive.predictive import Predictive
    from adaptive.types import ArrayLike, Options, Pool, RandomState, Scorer

__all__ = ["Questionnaire"]


class Questionnaire(BeliefEstimator):
    """Items and people of a questionnaire, with the uncertainty of both.

    Parameters
    ----------
    response_model : str, default "ordinal"
        How answers come about: "ordinal" (thresholds of people *and* items, by expectation propagation), or an
        item-response model by marginal likelihood: "rasch", "two_parameter", "three_parameter" (0 and 1; guessed
        right), "four_parameter" (also missed by those who know), "graded", "partial_credit", "nominal" (answers have no
        order), or "continuous" (partial credit of scores that may lie between the ``categories``, taken as they are).
        Which predicts hidden answers best differs from scale to scale (``ours-default-questionnaires``); `adaptive
        calibrate` looks.
    item_traits : sequence or mapping, optional
        The trait, or list of traits, that each item measures.
    n_traits : int or "held_out", default 1
        Where ``item_traits`` is not given. Up to three: item j < n_traits measures the traits up to j, later ones all.
        More, or as many of 1, 2, 4, 8 and 16 as predict hidden answers of other people best ("held_out"): every item
        measures all, people are Gaussians, and items the joint mode of both; of the two-, three- and four-parameter,
        partial credit and continuous models. That is the one for totals of many items.
    categories : sequence of int, optional
        The answers, in order, at most 10. Default: 0 and 1 where nothing else was answered, else from 1, or from 0
        where that was answered, to the highest; ``fit`` says which of them nobody answered.
    reverse : sequence of item labels
        Items of which a higher answer means less of the trait.
    styles : {"both", "items", "people"}, default "both"
        Of the ordinal model: whose thresholds are unknown, those of the others being zero. Chosen by
        ``hennig-tab-4.1``, with ``noise_per_item``.
    response : {"all", "adjacent"}, default "all"
        Of the ordinal model: whether an answer speaks of all thresholds, as in the source, or of its two neighbours.
    trait_noise : float or "evidence", default "evidence"
        Of the ordinal model: standard deviation of an opinion about its trait.
    threshold_noise : float or None, default 0.2
        Of the ordinal model: standard deviation of a threshold in one answer; None: by evidence.
    trait_scale : float or None, default 1.0
        Of the ordinal model: a trait's prior deviation, in those of a threshold; None: by evidence. Chosen, with
        ``response`` and both noises, by ``ours-default-settings-answers``.
    noise_per_item : bool, default False
        Whether each item has a trait noise of its own, by evidence.
    max_iter : int, optional
        Rounds of EM (200) or sweeps of EP (30).
    tol : float, optional
        Largest change of a coordinate (1e-4), or of a mean in posterior deviations (0.02), at which they end.

    Attributes
    ----------
    bank_ : the items
    people_, items_, categories_ : tuples of labels
    item_parameters_ : (items, p) array
        Discriminations, then thresholds (and guessing); of the ordinal model the thresholds.
    trait_mean_, trait_std_ : (people, traits) arrays
    posterior_, log_evidence_, evidence_kind_, objective_trace_, n_iter_, converged_
        The evidence of an item-response model is Laplace's, that of the ordinal model prequential.
    dimension_ : Dimension or None
        Signs that the items measure more than one trait, looked at by ``fit`` where one was asked for, with a split of
        the items, ``item_traits``; None of fewer than 4 items (or over 1,000) or 200 people.
    prequential_evidence_ : float
        Sum of log probabilities of the answers, each given all others: models are compared by it.

    Notes
    -----
    A scale of more than one trait is said so where two traits predict the answers of other people certainly better
    than one (by three standard errors) and by a tenth of what one gains over none: of up to 800 people each half judges
    what the other taught, at the cost of one to three item-response fits. Judged by `ours-questionnaire-dimension`: of
    1,200 drawn scales of one trait none was said to have two.

    Item parameters are many, and maximised; their Gaussian posteriors are then integrated wherever a person is
    concerned. Posteriors of different items are independent, given the origin and unit of the traits, which the
    calibrating people fix only so well: that is added to every ``std``.

    ``partial_fit`` climbs from where the items are and, with a quarter more answers or at a surprise, from where
    ``fit`` starts, too; of the ordinal model it fits anew, its noises at a hundredth more answers. Answers one by one
    lead to the evidence of ``fit``.

    References
    ----------
    P. Hennig (2010), Approximate Inference in Graphical Models, chapter 4 (the ordinal model).  R. Bock and M. Aitkin
    (1981), Marginal maximum likelihood estimation of item parameters.  E. Muraki (1992), A generalized partial credit
    model.  F. Samejima (1969), Estimation of latent ability using a response pattern of graded scores.  R. Bock (1972),
    Estimating item parameters and latent ability when responses are scored in two or more nominal categories.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> trait, difficulty = rng.standard_normal(300), np.linspace(-2, 2, 5)
    >>> answers = (rng.random((300, 5)) < 1 / (1 + np.exp(difficulty - 1.5 * trait[:, None]))).astype(float)
    >>> items = Questionnaire("two_parameter").fit(answers)
    >>> person = items.respondent()
    >>> person.select([0, 1, 2, 3, 4]).tolist()
    [3]
    >>> bool(person.partial_fit([3], [1]).mean[0] > 0)
    True
    """

    _Settings, _Data = QuestionnaireSettings, Answers
    _cites = ("hennig2011",)

    def __init__(
        self,
        response_model: str = "ordinal",
        *,
        item_traits: Traits = None,
        n_traits: int | str = 1,
        categories: Sequence[int] | None = None,
        reverse: Sequence[Label] = (),
        styles: str = "both",
        response: str = "all",
        trait_noise: float | str = "evidence",
        threshold_noise: float | None = 0.2,
        trait_scale: float | None = 1.0,
        noise_per_item: bool = False,
        max_iter: int | None = None,
        tol: float | None = None,
    ) -> None:
        self.response_model = response_model
        self.item_traits = item_traits
        self.n_traits = n_traits
        self.categories = categories
        self.reverse = reverse
        self.styles = styles
        self.response = response
        self.trait_noise = trait_noise
        self.threshold_noise = threshold_noise
        self.trait_scale = trait_scale
        self.noise_per_item = noise_per_item
        self.max_iter = max_iter
        self.tol = tol

    # -- learning ----------------------------------------------------------------------------------------------------

    def fit(self, answers: Given, outcomes: ArrayLike | None = None) -> Self:
        """Forget the earlier fit, and fit items and people to answers.

        Parameters
        ----------
        answers : (people, items) array or frame, or triples (person, item, answer)
            NaN where a person was not asked. With ``outcomes``: (person, item) pairs.
        outcomes : (n,) array, optional
            The answers to the pairs.
        """
        self._fit(answers, outcomes)
        data = self.belief_.data
        unused = data.unused() if self.categories is None and len(data.categories) > 2 else ()
        if unused:
            warnings.warn(
                f"the categories are taken to be {', '.join(map(str, data.categories))}, of which nobody answered "
                f"{', '.join(map(str, unused))}; give categories if they are others.",
                UserWarning,
                stacklevel=2,
            )
        self._say_dimension(None)
        return self

    def partial_fit(self, answers: Given, outcomes: ArrayLike | None = None) -> Self:
        """Learn from further answers, of people and items that may be new; what is refused changes nothing."""
        before = self.belief_.dimension if self.__sklearn_is_fitted__() else None
        self._partial_fit(answers, outcomes)
        self._say_dimension(before)
        return self

    def _say_dimension(self, before: Dimension | None) -> None:
        """Warn where a look, not that of ``before``, found more than one trait."""
        found = self.belief_.dimension
        if found is not None and found is not before and found.several:
            warnings.warn(
                f"{found.sentence()} dimension_.item_traits holds the split, for item_traits.",
                UserWarning,
                stacklevel=3,
            )

    def _belief_about(self, data: Answers | None) -> type[Belief[QuestionnaireSettings, Answers]]:
        if self.response_model == "ordinal":
            return OrdinalBelief
        return FactorBelief if QuestionnaireSettings.of(self).many_traits else ItemResponseBelief

    def _measured(self, X: Any, y: ArrayLike | None, earlier: Answers | None = None) -> Answers:
        if earlier is not None and not len(earlier):
            raise ValueError(
                "these items are known, not fitted: call respondent() for a person, or fit items from answers."
            )
        between = self.response_model == "continuous"
        if y is None and not is_triples(X):
            if earlier is not None:
                raise ValueError("partial_fit takes (person, item, answer) triples, or pairs and their answers.")
            return Answers.of_table(X, self.categories, between)
        if y is None:
            rows = X.to_numpy().tolist() if has_columns(X) else X
            X, y = [(person, item) for person, item, _ in rows], [answer for _, _, answer in rows]
        pairs = pairs_of(X)
        if earlier is not None:
            return earlier.followed_by(pairs, y)
        return Answers.of_pairs(pairs, y, self.categories, between)

    def _candidates(self, X: Given) -> Pairs:
        return pairs_of(X)

    # -- banks -------------------------------------------------------------------------------------------------------

    @classmethod
    def from_parameters(
        cls, discrimination: ArrayLike, difficulty: ArrayLike | None = None, *, guessing: ArrayLike | None = None,
        upper: ArrayLike | None = None, thresholds: ArrayLike | None = None, intercepts: ArrayLike | None = None,
        covariance: ArrayLike | None = None, items: Sequence[Label] | None = None, response_model: str | None = None,
    ) -> Self:  # fmt: skip
        """Items of one trait that are known.

        Parameters
        ----------
        discrimination : (items,) array
            Of nominal items (items, R - 1): slopes of the answers but the first, whose slope and intercept are 0.
        difficulty : (items,) array, optional
        guessing : (items,) array, optional
            The lower asymptote.
        upper : (items,) array, optional
            The upper asymptote.
        thresholds : (items, R - 1) array, optional
            In the place of ``difficulty``, of partial credit or, with ``response_model="graded"``, of that model.
        intercepts : (items, R - 1) array, optional
            Of nominal items, p_r ~ exp(slope_r x + intercept_r), in the place of ``difficulty``; NaN behind the last
            answer of an item with fewer.
        covariance : (items, p, p) array, optional
            Of (discrimination, difficulty or thresholds, guessing, upper), or of (slope, intercept) answer by answer;
            default: known exactly.
        items : sequence of labels, optional
            Default 0, 1, ...
        response_model : str, optional

        Examples
        --------
        >>> bank = Questionnaire.from_parameters([1.0, 2.0], [0.0, 1.0], items=["easy", "hard"])
        >>> bank.respondent().predictive(["easy"]).probabilities
        array([[0.5, 0.5]])
        """
        if intercepts is not None or response_model == "nominal":
            others = (difficulty, guessing, upper, thresholds)
            if any(one is not None for one in others) or response_model not in (None, "nominal") or intercepts is None:
                raise ValueError("nominal items have discrimination and intercepts, and no other parameters.")
            return cls._of_bank(bank_of_nominal_items(discrimination, intercepts, covariance=covariance, items=items))
        return cls._of_bank(bank_of_parameters(
            discrimination, difficulty, guessing=guessing, upper=upper, thresholds=thresholds, covariance=covariance,
            items=items, model=response_model,
        ))  # fmt: skip

    @classmethod
    def from_bank(cls, path: str | os.PathLike[str]) -> Self:
        """Items from a CSV file: ours (``to_bank``), or with the columns of mirt, catR, catsim or jsCAT.

        Parameters
        ----------
        path : path
            mirt's a1, d, g, u, or d1, d2, ... (graded), or ak0, d0, ... (gpcm, nominal), with IRTpars a, b, g, u or b1,
            b2, ... (with a column itemtype) or a1, c1, ... (nominal); catsim's, catR's and jsCAT's a, b, c, d, or
            discrimination, difficulty, guessing, slipping, or TRAIT.a, TRAIT.b, ... of several traits; catR's alphaj,
            betaj1 or bj and c1, deltaj1, lambdaj and delta1, alpha1 and c1. R's NA is a category that an item lacks.

        Raises
        ------
        ValueError
            Naming what the file lacks, or the model that no item here has.
        """
        return cls._of_bank(files.read_bank(path))

    @classmethod
    def from_prior(
        cls, items: Sequence[Label], categories: Sequence[int], *, response_model: str = "graded",
        answers: Mapping[Label, int] | None = None, **parameters: Any,
    ) -> Self:  # fmt: skip
        """Items of which nothing is known yet but what the weak priors say, to ask people without a calibration.

        Parameters
        ----------
        items : sequence of labels
        categories : sequence of int
        response_model : str, default "graded"
        answers : mapping from items to int, optional
            How many of the categories, the first ones, an item has; default all.
        **parameters
            ``item_traits``, ``n_traits``, ``reverse``.
        """
        made = cls(response_model, categories=categories, **parameters)
        settings = QuestionnaireSettings.of(made)
        made.belief_ = ItemResponseBelief.unlearnt(settings, items, answers)
        return made

    @classmethod
    def _of_bank(cls, bank: Bank | OrdinalBank | FactorBank) -> Self:
        reverse = tuple(item for item, turned in zip(bank.items, bank.reverse, strict=True) if turned)
        if isinstance(bank, FactorBank):
            k = len(bank.traits)
            made = cls(
                bank.response_model, n_traits=k if k > MOST_TOGETHER else "held_out", categories=bank.categories,
                reverse=reverse,
            )  # fmt: skip
            nobody = Answers.none(bank.items, bank.categories)
            made.belief_ = FactorBelief.of_bank(QuestionnaireSettings.of(made), nobody, bank)
            return made
        traits = [[trait for trait, there in zip(bank.traits, row, strict=True) if there] for row in bank.loadings.mask]
        ordinal: Options = {}
        if isinstance(bank, OrdinalBank):
            ordinal = {name: getattr(bank.model, name) for name in files.SETTINGS}
        made = cls(
            "ordinal" if isinstance(bank, OrdinalBank) else bank.model,
            item_traits=dict(zip(bank.items, traits, strict=True)), categories=bank.categories,
            reverse=reverse, **ordinal,
        )  # fmt: skip
        settings, nobody = QuestionnaireSettings.of(made), Answers.none(bank.items, bank.categories)
        if isinstance(bank, OrdinalBank):
            made.belief_ = OrdinalBelief.of_bank(settings, nobody, bank)
        else:
            made.belief_ = ItemResponseBelief(settings, nobody, bank)
        return made

    def to_bank(self, path: str | os.PathLike[str], dialect: str | None = None) -> None:
        """Write the items as a CSV file from which ``from_bank`` reads the same numbers.

        Parameters
        ----------
        path : path
        dialect : {"mirt", "catR", "jscat", "catsim"}, optional
            In the columns of another program, by its formulas: in R ``read.csv(path, row.names = 1)``. A UserWarning
            says what that form does not hold, as the uncertainty of items.

        Raises
        ------
        ValueError
            Naming the item that the form cannot hold, or the model. Many traits (more than three, or a number that was
            found) stand in our form, and in mirt's.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "bank.csv"
        >>> Questionnaire.from_parameters([1.5, 0.5], [-1.0, 1.0], items=["q1", "q2"]).to_bank(path, dialect="mirt")
        >>> print(path.read_text())
        item,a1,d,g,u
        q1,1.5,1.5,0.0,1.0
        q2,0.5,-0.5,0.0,1.0
        <BLANKLINE>
        """
        files.write_bank(self.bank_, path, dialect)

    # -- people ------------------------------------------------------------------------------------------------------

    def respondent(
        self, target: Target = None, prior: Prior = None, counted: Sequence[Label] | None = None
    ) -> Respondent:
        """A new person to be asked, over these items: what the loop drives, with item labels as candidates.

        Parameters
        ----------
        target : label of a trait, list of them, or "total", optional
            What questions are to teach about; default all traits. The total of all answers is what a short form
            predicts (``predict_total``); not of the ordinal model.
        prior : (mean, deviation), or mapping from traits to such pairs, optional
            Of a Gaussian; default: Student's t about the calibrated population (of the ordinal model standard normal).
            Chosen by `ours-default-respondent-priors`.
        counted : sequence of item labels, optional
            The items that make the total; default all.
        """
        return Respondent(self.bank_, target, prior, counted)

    def pool(self, content: Content, at_most: AtMost) -> ContentPool:
        """Return a callable pool for the loop: at most so many items of each content.

        Parameters
        ----------
        content : mapping from items to contents, or a sequence with one entry per item
        at_most : int, or mapping from contents to int
        """
        return ContentPool(self.items_, content, at_most)

    def exposure_pool(self, cap: float, within: Within | None = None) -> ExposurePool:
        """Return a callable pool for the loops of many people: no item is asked of more than the share ``cap`` of them.

        Parameters
        ----------
        cap : float
            In (0, 1]. ``pool.tested(respondent)`` counts a test that is over.
        within : callable pool, optional
            As of :meth:`pool`: what bounds this one.
        """
        return ExposurePool(self.items_, cap, within)

    def predict_proba(self, answers: Given) -> np.ndarray:
        """Return (people, items, R): what new people answer, items standing still; theirs so far are ``answers``.

        Parameters
        ----------
        answers : (people, items) array or frame, or triples
        """
        return self.fitted_belief().strangers(self._of_strangers(answers))[2]

    def transform(self, answers: Given, return_std: bool = False) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Return the (people, traits) posterior means of new people, items standing still; and the deviations.

        Parameters
        ----------
        answers : (people, items) array or frame, or triples
        return_std : bool, default False
            Nominal .90 by these covers .91 to .93 of drawn traits, by random or chosen items (``ours-bands-traits``).
        """
        mean, deviation = self.bank_.estimates(self._of_strangers(answers))
        return (mean, deviation) if return_std else mean

    def _of_strangers(self, answers: Given) -> Answers:
        bank = self.bank_
        if is_triples(answers):
            rows: Any = answers.to_numpy().tolist() if has_columns(answers) else answers
            given = Answers.of_pairs([(p, i) for p, i, _ in rows], [a for *_, a in rows], bank.categories, bank.between)
            return given.with_items(bank.items)
        values, people, items = table_of(answers)
        if not has_columns(answers):
            if values.shape[1] != len(bank):
                raise ValueError(
                    f"answers must have a column for each of the {len(bank)} items, got {values.shape[1]}."
                )
            items = list(bank.items)
        person, item = np.nonzero(~np.isnan(values))
        _, places = categories_of(values[person, item], bank.categories, bank.between)
        return Answers(tuple(people), tuple(items), person, item, places, bank.categories).with_items(bank.items)

    def log_predictive(self, pairs: Given, answers: ArrayLike) -> np.ndarray:
        """Return the (n,) log probabilities of answers to (person, item) pairs."""
        listed = pairs_of(pairs)
        _, places = categories_of(np.asarray(answers, dtype=float), self.categories_, self.bank_.between)
        return log_of(self.fitted_belief().probabilities(listed), places)

    def predictive(
        self, candidates: Pool, *, target: str | None = None, random_state: RandomState = None
    ) -> Predictive:
        """Return the belief about the answers to (person, item) pairs: calibration designs.

        Parameters
        ----------
        candidates : sequence of (person, item)
            Of either, new ones as well.
        target : {"items", "people"}, optional
            What answers are to teach about; default both.
        random_state : ignored
        """
        if target not in (None, "items", "people"):
            raise ValueError(f'target must be "items", "people" or left out, got {target!r}.')
        pairs = pairs_of(candidates)
        if self.__sklearn_is_fitted__():
            return self.belief_.predictive(pairs, target=target, random_state=random_state)
        settings, kind = self._Settings.of(self), self._belief_about(None)
        return kind.prior_predictive(settings, pairs, target=target, random_state=random_state)

    def simulate(
        self, answers: Given, n_questions: int, *, scorer: Scorer = "information_gain", stop: float | None = None,
        target: Target = None, prior: Prior = None, counted: Sequence[Label] | None = None,
        exposure: float | None = None, random_state: RandomState = None,
    ) -> Simulation:  # fmt: skip
        """Replay people through adaptive tests: the choices of the loop over ``respondent()``, many people at once.

        Parameters
        ----------
        answers : (people, items) array or frame, or triples
            What people would answer; nobody is asked what is not there.
        n_questions : int
            At most.
        scorer : str or callable, default "information_gain"
        stop : float, optional
            A test ends when the deviation of every target is at most this.
        target, prior, counted
            As of :meth:`respondent`.
        exposure : float, optional
            The largest share of the people, in their order, who are asked an item: as by :meth:`exposure_pool`.
        random_state : None or int
            Seed of scorers that draw: that of the loop.

        Returns
        -------
        Simulation
            ``items``, ``mean``, ``std``, each (people, n_questions); with ``target="total"`` of the total.
        """
        return simulate(
            self.bank_, self._of_strangers(answers), n_questions, scorer=scorer, stop=stop, target=target, prior=prior,
            counted=counted, exposure=exposure, random_state=random_state,
        )  # fmt: skip

    def total_band(
        self, answers: Given, n_questions: int, *, scorer: Scorer = "information_gain", target: Target = None,
        prior: Prior = None, counted: Sequence[Label] | None = None, families: Sequence[Label] | None = None,
        random_state: RandomState = None,
    ) -> TotalBand:  # fmt: skip
        """Return how far predicted totals are off for people who are asked in the same way, once for a bank.

        Parameters
        ----------
        answers : (people, items) array or frame, or triples
            Of a hundred people or so who calibrated nothing (those who did serve, too, where there are many); those who
            lack an answer to an item of the total are left out.
        n_questions : int
            At most.
        scorer, target, prior, counted, random_state
            As of :meth:`simulate`: the way of asking.
        families : sequence of labels, optional
            One for each of the people: then these may be those who calibrated. Each fifth of the families is asked from
            items that the others taught, with the same parameters, copies of them left out.

        Returns
        -------
        TotalBand
            For ``respondent().predict_total(band=...)``.

        Examples
        --------
        >>> items = Questionnaire.from_parameters([1.0, 2.0, 1.5], [0.0, 1.0, -1.0])
        >>> answers = np.random.default_rng(0).integers(0, 2, (40, 3)).astype(float)  # of people unlike the model's
        >>> band = items.total_band(answers, 1)
        >>> person = items.respondent().fit([0], [1])
        >>> person.predict_total(level=0.9).interval, person.predict_total(level=0.9, band=band).interval
        (array([1, 3]), array([1, 3]))
        """
        options: Options = {"scorer": scorer, "target": target, "prior": prior, "counted": counted}
        given = self._of_strangers(answers)
        if families is None:
            return total_band(self.bank_, given, n_questions, **options, random_state=random_state)
        settings, bands = self.fitted_belief().settings, []
        if settings.many_traits:  # as many as were chosen
            settings = replace(settings, n_traits=len(self.bank_.traits))
        for teach, judged in family_folds(given.table(), families):
            bank, others = type(self.belief_).learnt(settings, given.of_people(teach)).bank, given.of_people(judged)
            bands.append(total_band(bank, others, n_questions, **options, random_state=random_state))
        return bands[0]._replace(off=np.concatenate([band.off for band in bands]))

    # -- reports -----------------------------------------------------------------------------------------------------

    def information(self, x: ArrayLike) -> np.ndarray:
        """Return the (items, k) Fisher information of each item at traits ``x`` (k,); the test's is the sum."""
        return reports.information(self.bank_, x)

    def item_fit(self, answers: Given) -> dict[str, np.ndarray]:
        """Return how people's answers fit each item: how many, and the mean squares "outfit" and "infit".

        Each answer is foretold from the person's others, so that mean squares are 1 on average where the model holds.
        ``outfit`` weighs all answers alike, and shows odd ones far from the item; ``infit`` weighs by their variance
        (Wright and Masters, 1982).
        """
        return reports.item_fit(*self._given_others(answers))

    def person_fit(self, answers: Given) -> np.ndarray:
        """Return the (people,) standardised log probability of each person's answers: very negative where odd.

        Each answer is foretold from the person's others.
        """
        return reports.person_fit(*self._given_others(answers)[:2])

    def differential_functioning(self, answers: Given, groups: ArrayLike) -> dict[str, np.ndarray | list[Label]]:
        """Return, for each item and group, how much more its people answer than people of their traits do, and z.

        Each answer is foretold from the person's others. Taken out is what all people answer more.
        """
        return reports.differential_functioning(*self._given_others(answers), groups)

    def exposure(self, simulation: Simulation) -> np.ndarray:
        """Return the (items,) share of the people of a simulation who were asked each item."""
        return reports.exposure(simulation.items, self.items_)

    def _given_others(self, answers: Given) -> tuple[Answers, np.ndarray, np.ndarray]:
        given = self._of_strangers(answers)
        return given, self.fitted_belief().given_others(given), np.asarray(self.categories_, dtype=float)

    # -- what was learnt ---------------------------------------------------------------------------------------------

    bank_ = of_belief("bank", "The items; they stand still and are shared.")
    people_ = of_belief("data.people", "Labels of the people in the fit.")
    items_ = of_belief("bank.items", "Labels of the items.")
    categories_ = of_belief("bank.categories", "The answers, in order.")
    dimension_ = of_belief("dimension", "Signs of a second trait, or None where nothing was looked at.")

    @property
    def item_parameters_(self) -> np.ndarray:
        """Discriminations and thresholds of each item; of the ordinal model the thresholds."""
        return reports.item_parameters(self.bank_)

    @property
    def trait_mean_(self) -> np.ndarray:
        """(people, traits) posterior means."""
        return self.fitted_belief().moments()[0]

    @property
    def trait_std_(self) -> np.ndarray:
        """(people, traits) posterior standard deviations."""
        return self.fitted_belief().moments()[1]

    @property
    def prequential_evidence_(self) -> float:
        """Sum of the log probabilities of the answers, each given all others."""
        return float(self.fitted_belief().prequential.sum())
