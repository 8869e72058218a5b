"""What a search compares: every combination of the values in its lists."""

import dataclasses
import itertools
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args

import numpy as np

from properboost.engine.options import (
    check_depth_of_policy,
    check_directions_of_lines,
    check_loss_of_step,
    check_smoothing_of_response,
    find_coupling,
    gain_is_free,
    list_couplings,
)
from properboost.fitting import plan
from properboost.fitting.plan import OF_PAIRS
from properboost.losses.builtin import MarginLoss
from properboost.losses.probabilities import Link
from properboost.losses.registry import get_loss
from properboost.notices import warn
from properboost.parameters import checks
from properboost.parameters.declare import (
    check_declared,
    declared,
    parameter,
    parameters,
    read,
)
from properboost.parameters.kinds import (
    AutoLearner,
    AutoResponse,
    Coupling,
    GrowPolicy,
    LossName,
    MaxCells,
    Multiclass,
    MultiStrategy,
    Selection,
    WeakLearner,
)
from properboost.parameters.shared import (
    CONDITIONAL,
    FEWEST_BAGS,
    GROWN,
    LARGEST_INT,
    MOST_BAGS,
    SMOOTHING,
    BoostingOptions,
    BoostingParameters,
    CouplingParameters,
    DrawParameters,
    PairParameters,
    PatienceParameters,
    check_smoothing,
    selection_of,
)

__all__ = [
    "Candidate",
    "SearchParameters",
    "Step",
    "bound_gains",
    "check_grid",
    "count_bags",
    "count_draws",
    "for_pairs",
    "list_candidates",
    "list_interactions",
    "wants_pairs",
    "warn_of_free_gains",
    "with_gain",
]

N_GAINS = 16
"""Gains that "auto" tries: as many as the engine takes together."""

GAIN_RANGE = 64.0
"""Largest gain that "auto" tries, as a multiple of the smallest, for FEW_ROWS rows or more."""

FEW_ROWS = 1000.0
"""Below so many rows the largest gain is multiplied by sqrt(FEW_ROWS / rows)."""

Loss: TypeAlias = LossName | MarginLoss


@dataclasses.dataclass(frozen=True)
class Candidate:
    """Settings that the search compares; `params` are those that a `ProperBoostClassifier` has."""

    loss: MarginLoss
    options: BoostingOptions
    params: dict[str, Any]
    coupling: Coupling | None
    """How the models of several classes are coupled; None with two."""
    family: str | None = None
    """The family that it is of, where families are compared."""

    @property
    def group(self) -> tuple[Hashable, ...]:
        """What is the same for candidates that the engine can take together; selection first."""
        own = self.options
        return (
            own.selection, own.weak_learner, self.coupling, own.multi_strategy, own.response,
            own.l2,
        )  # fmt: skip

    @property
    def pace(self) -> float:
        """How fast it learns, beside one that differs in the shrinkage of steps alone."""
        rate = self.options.learning_rate
        pace = (1.0 if rate is None else rate) / self.loss.gain
        return min(max(pace, 1e-150), 1e150)  # so that the quotient of two is a number

    @property
    def selection(self) -> Selection:
        """How features are selected."""
        return self.options.selection

    def link(self, n_threads: int) -> Link:
        """Return what makes probabilities of its raw predictions."""
        return Link(self.loss, self.coupling, n_threads, self.params.get("temperature"))

    def with_temperature(self, temperature: float) -> "Candidate":
        """Return it with the temperature of its scores, if it is one-vs-rest; NaN is None."""
        if self.coupling != "one_vs_rest":
            return self
        known = None if np.isnan(temperature) else float(temperature)
        return dataclasses.replace(self, params={**self.params, "temperature": known})


class Step(NamedTuple):
    """Other settings of a candidate, and the candidate that has them."""

    settings: Mapping[str, Any]
    candidate: Candidate


def _read_gains(name: str, value: object) -> list[float] | None:
    read = partial(checks.auto_or_list, read=checks.positive)
    return checks.either(read, None)(name, value)


def _read_alphas(name: str, value: object) -> list[float] | None:
    between = partial(checks.between, low=0.0, high=0.5)
    return checks.either(partial(checks.entries, read=between), None)(name, value)


def _read_smoothings(name: str, value: object) -> list[float]:
    entries = partial(checks.entries, read=check_smoothing)
    found = checks.either(entries, "auto", None)(name, value)
    return found if isinstance(found, list) else [SMOOTHING]


def _read_priors(name: str, value: object) -> list[float | None]:
    one = checks.either(checks.positive, None)
    return checks.either(partial(checks.entries, read=one), None)(name, value) or [None]


@parameters
class SearchParameters(
    BoostingParameters[
        float | Sequence[float],
        int | Sequence[int],
        GrowPolicy | Sequence[GrowPolicy],
        bool | Sequence[bool],
        int | Sequence[int | None] | None,
        int | Sequence[int | None] | None,
        MaxCells | Sequence[MaxCells],
        Literal["auto"] | Selection | Sequence[Selection],
        MultiStrategy | Sequence[MultiStrategy],
        float | Sequence[float | None] | None,
        AutoLearner,
        AutoResponse,
    ],
    CouplingParameters[Multiclass | Sequence[Multiclass]],
    DrawParameters[Literal["auto"] | int],
    PairParameters[float | Sequence[float], Literal["auto"] | int | Sequence[int]],
    PatienceParameters,
):
    """What a search chooses from, and how."""

    loss: Loss | Sequence[Loss] = parameter(
        default="glog",
        kw_only=False,
        check=lambda _, value: value,  # together with the alphas
        kind="str or loss object, or a list of these",
        form="losses",
        doc="""
        Losses to choose from.  Objects must have gain 1, unless `gains` is None: the gain is what
        is searched.
        """,
    )
    gains: Literal["auto"] | Sequence[float] | None = parameter(
        default="auto",
        check=_read_gains,
        kind='"auto", list of float or None',
        doc="""
        Gains to choose from.  "auto" tries 16, evenly on a log scale: from the smallest that
        regularises, 1 / (2 mu(1)) (BoostLR, eq. 30), to 64 times as much; with fewer than 1,000
        rows (by sample weight), to 64 sqrt(1000 / rows) times as much.  Where the gain cannot
        matter (see Notes) there is a warning and one gain.  None leaves each loss the gain that it
        carries, as is needed where the link's gain is searched and the binding stays (`from_pdf`
        with alpha, BoostLR, Theorem 6).
        """,
    )
    alphas: Sequence[float] | None = parameter(
        default=None,
        check=_read_alphas,
        kind="list of float or None",
        doc="""
        Alphas to choose from, for ``loss="alpha"``.  None is that loss's default.  Of other
        densities and bindings, give a loss for each alpha (`from_pdf`).
        """,
    )
    weak_learner: AutoLearner = parameter(
        default="auto",
        doc="""
        As in `ProperBoostClassifier`; "auto" compares families of models, see `effort`.  Any other
        name leaves those of that weak learner.
        """,
        option="the weak learner; auto compares them",
    )
    response: AutoResponse = parameter(
        default="auto",
        doc="""
        As in `ProperBoostClassifier`; "auto" is "real", and where families are compared "newton"
        for trees, and from an `effort` of 3 both for the others.
        """,
        option="the value in a bin; auto is newton for trees, and real or either for all else",
    )
    effort: int | None = parameter(
        default=3,
        check=checks.either(partial(checks.integer, low=1, high=5), None),
        kind="int or None",
        doc="""
        How far the search goes, 1 to 5.  1 has look-up tables and symmetric trees with lines in
        their leaves, with settings that are good on most tables, and 2 also stumps and trees; both
        choose on one split (see `cv`).  3 has all families, pairs of features and five folds, and
        moves the settings of the best family one step in each direction, twice if that helped; 4
        and 5 take more steps, with more of the families.  Candidates are dropped when they cannot
        catch up with the best any more, the first ones after two of the five folds where rows are
        not few.  A parameter that is given counts in all families that have it, and no step changes
        it; one that a family contradicts excludes that family.  None compares nothing but the
        combinations of the search's lists, each to its end, of ``weak_learner="histogram"`` unless
        another is named.
        """,
        option="how far the search goes, 1 to 5; none compares lists alone",
    )
    readable: bool = parameter(
        default=False,
        doc="""
        Whether only additive models are compared: sums of look-up tables of one feature, or of
        pairs, which can be looked at one by one.
        """,
        option="compare only models that are tables of single features and of pairs",
    )
    time_limit: float | None = parameter(
        default=None,
        check=checks.either(checks.positive, None),
        doc="""
        Seconds after which no more is compared; the best so far is then fitted to all rows, which
        takes its time, too.  With a limit, what is chosen depends on the machine.
        """,
        option="seconds after which the search takes the best so far; none is no limit",
    )
    smoothings: Literal["auto"] | Sequence[float] | None = parameter(
        default="auto",
        check=_read_smoothings,
        kind='"auto", list of float or None',
        doc="""
        Values of `smoothing` to choose from; None is [0.1].  "auto" is [0.1], and more for the
        smooth tables of `effort` 3.
        """,
    )
    priors: Sequence[float | None] | None = parameter(
        default=None,
        check=_read_priors,
        kind="list of float or None",
        doc="Values of `prior` to choose from; a list may hold None, and None alone means [None].",
    )
    selection: Literal["auto"] | Selection | Sequence[Selection] = parameter(
        default="auto",
        check=checks.either(partial(checks.choice, known=get_args(Selection)), "auto"),
        kind='{"auto", "unbiased", "greedy", "cyclic"}',
        search_default="auto",
        doc="""
        As in `ProperBoostClassifier`, or several to choose from.  "auto" is that of each family,
        and "cyclic" where no families are compared.  In our comparisons cyclic selection had the
        lower log loss on most tables of every bin; greedy selection uses fewer features and was
        better where few of them matter much.
        """,
    )
    multiclass: Multiclass | Sequence[Multiclass] = parameter(
        default="auto",
        doc="""
        With more than two classes, how their models are coupled, as in `ProperBoostClassifier`; or
        a list to choose from.  "auto" chooses by score between the loss's usual joint form, which
        "auto" is there, and "one_vs_rest".
        """,
    )
    n_estimators: Literal["auto"] | int = parameter(
        default="auto",
        check=checks.either(partial(checks.integer, low=1, high=LARGEST_INT), "auto"),
        doc="""
        Rounds (with cyclic selection, cycles), per class where there are more than two.  "auto"
        chooses them for every candidate by the mean of its splits' scores; boosting stops where
        neither this nor the log loss improves any more, see `n_iter_no_change`.  Among equal scores
        the one of least log loss is taken.
        """,
    )
    max_estimators: int | None = parameter(
        default=None,
        check=checks.either(partial(checks.integer, low=1, high=LARGEST_INT), None),
        doc="""The most that "auto" tries; None is 1000 rounds or 200 cycles.""",
    )
    one_standard_error: bool = parameter(
        default=False,
        doc="""
        Take the most regularised candidate instead of the best: among those of the same loss within
        one standard error of the best, the one of largest gain (then of best score), with the
        smallest number of estimators within one standard error of the best.  The choice of pairs is
        not affected.
        """,
    )
    calibrate: bool = parameter(
        default=True,
        doc="""
        Whether the chosen candidate gets a slope and an intercept, see Notes.  Candidates are
        compared without.
        """,
        option="fit a slope and an intercept of raw predictions to the rows that splits hold out",
    )
    refit: bool = parameter(
        default=True,
        doc="Fit the chosen candidate to all rows.  Without it there is no model to predict with.",
    )
    n_draws: Literal["auto"] | int = parameter(
        default="auto",
        check=checks.either(partial(checks.integer, low=1, high=1000), "auto"),
        single=True,
        kind='int or "auto"',
        doc="""
        As in `ProperBoostClassifier`; "auto" is 4 with an `effort` of 2, 8 with 3 and 4, 16 with 5,
        and else 1.  Candidates have one draw each.
        """,
        option="fits of trees that are averaged in the end; auto goes by the effort",
    )
    outer_bags: Literal["auto"] | int = parameter(
        default="auto",
        check=checks.either(partial(checks.integer, low=FEWEST_BAGS, high=MOST_BAGS), 0, "auto"),
        kind='int or "auto"',
        doc="""
        As in `ProperBoostClassifier`, of the chosen model; candidates have none.  "auto" is 16 for
        look-up tables, stumps and pairs with an `effort` of 3 and more, if there are rows enough of
        every class, and else 0.
        """,
        option="fits to shares of the rows, whose mean is the chosen model: 0, 4 to 64, or auto, "
        "which is 16 from effort 3 for models that can be read",
    )
    interactions: Literal["auto"] | int | Sequence[int] = parameter(
        default="auto",
        check=checks.either(partial(checks.integer, low=0, high=LARGEST_INT), "auto"),
        kind='int or "auto"',
        nothing=0,
        doc="""
        Numbers of pairs to choose from; 0 is allowed (give known pairs to `ProperBoostClassifier`).
        The search for pairs follows that for everything else: each split finds its own strongest
        pairs from its training rows, for the best additive model.  "auto" is none up to an `effort`
        of 2; with 3 it is 10, or 3 for each feature; with 4 also 10 for each feature, and with 5
        also 1: at most 500 pairs, and as few as 20 million pairs times rows.
        """,
    )


def check_grid(search: SearchParameters) -> None:
    """Check the parameters of a search that leaves nothing but lists to be chosen."""
    check_declared(search)
    learner, response = search.weak_learner, search.response
    for k, h in enumerate(_read_smoothings("smoothings", search.smoothings)):
        check_smoothing_of_response(f"smoothings[{k}]", h, learner, response)
    for depth in _list_values(search, "max_depth"):
        policies = _list_values(search, "grow_policy")
        check_depth_of_policy("max_depth", depth, learner, policies)
    smooths_pairs = wants_pairs(search) and learner not in GROWN
    for h in _list_values(search, "interaction_smoothing") if smooths_pairs else ():
        check_smoothing_of_response("interaction_smoothing", h, OF_PAIRS, response)
    check_directions_of_lines(search.monotonic_cst, _list_values(search, "linear_leaves"))
    for _, loss in _list_losses(search):
        check_loss_of_step(loss, search.step)
        _list_couplings(search, loss)


def list_candidates(
    search: SearchParameters, total: float, n_classes: int, n_gains: int | None = None
) -> list[Candidate]:
    """List the product of all there is to choose from, gains changing fastest.

    Candidates of one selection, one coupling and one strategy are neighbours: the engine takes
    them together.
    What has no meaning beside the weak learner, the response or the step is not searched: it has
    its default.  `n_gains` is how many "auto" tries; None is its own number.
    """
    lists = _list_choices(search, n_classes)
    gains = _find_gains(search)
    candidates: list[Candidate] = []
    tried: set[tuple[Any, ...]] = set()
    for values in itertools.product(*lists.values()):
        chosen = dict(zip(lists, values, strict=True))
        if _drop_meaningless(search, chosen):
            if tuple(chosen.values()) in tried:
                continue
            tried.add(tuple(chosen.values()))
        name, loss = chosen.pop("loss")
        coupling = chosen.pop("multiclass")
        if not _go_together(search, loss, coupling, chosen, lists["multi_strategy"]):
            continue
        if len(lists["multi_strategy"]) == 1:
            del chosen["multi_strategy"]
        if coupling is not None:
            chosen["multiclass"] = coupling
        if search.gains is None:
            tuned = [loss]
        else:
            tried_gains = gains or _make_gains(search, loss, total, n_gains)
            tuned = [with_gain(loss, gain) for gain in tried_gains]
        candidates += _make_candidates(search, chosen, name, tuned, coupling)
    return candidates


def _list_choices(search: SearchParameters, n_classes: int) -> dict[str, list[Any]]:
    """Return the values of each parameter that candidates combine."""
    losses = _list_losses(search)
    couplings: dict[Coupling | None, None] = {None: None}
    if n_classes > 2:
        couplings = dict.fromkeys(c for _, loss in losses for c in _list_couplings(search, loss))
    lists: dict[str, list[Any]] = {
        "selection": list(
            dict.fromkeys(
                selection_of(cast("WeakLearner", search.weak_learner), s)
                for s in _list_values(search, "selection")
            )
        ),
        "multiclass": list(couplings),
        "multi_strategy": _list_values(search, "multi_strategy"),
        "loss": losses,
        "smoothing": _read_smoothings("smoothings", search.smoothings),
        "prior": _read_priors("priors", search.priors),
    }
    for name in ("max_cells", "min_saving"):
        if declared(type(search))[name].applies_to(search):  # not the default of one fit
            lists[name] = _list_values(search, name)
    for name, entry in declared(BoostingOptions).items():
        if name not in lists and checks.is_list(getattr(search, name)) and entry.listable:
            lists[name] = _list_values(search, name)
        if name in lists and not entry.applies_to(search):
            lists[name] = [SMOOTHING if name == "smoothing" else entry.default]
    return lists


def _go_together(
    search: SearchParameters,
    loss: MarginLoss,
    coupling: Coupling | None,
    chosen: Mapping[str, Any],
    strategies: Sequence[Any],
) -> bool:
    """Whether a loss has a coupling, and whether the strategy of several outputs has a meaning."""
    is_joint = bool(Link(loss, coupling).joint_loss)
    if not is_joint and chosen["multi_strategy"] != strategies[0]:
        return False
    return coupling is None or coupling in _list_couplings(search, loss)


def _make_candidates(
    search: SearchParameters,
    chosen: Mapping[str, Any],
    name: str | None,
    losses: Sequence[MarginLoss],
    coupling: Coupling | None,
) -> list[Candidate]:
    """Return a candidate for each loss, which differ in their gains."""
    options_only = {key: chosen[key] for key in chosen if key in declared(BoostingOptions)}
    options = read(BoostingOptions, search, **options_only)
    # Not the defaults of one fit: calibration finds these.
    level = {"intercept": "share" if options.response == CONDITIONAL else None, "slope": 1.0}
    candidates = []
    for loss in losses:
        named = {"loss": loss if name is None else name, "gain": loss.gain}
        candidates.append(Candidate(loss, options, {**named, **chosen, **level}, coupling))
    return candidates


def _drop_meaningless(search: SearchParameters, chosen: dict[str, Any]) -> bool:
    """Give what has no meaning beside other choices its default; say whether there is any."""

    def find(name: str) -> object:
        return chosen[name] if name in chosen else getattr(search, name)

    known = declared(BoostingOptions)
    dropped = [
        name for name in chosen.keys() & known.keys()
        if chosen.keys() & (known[name].only_with or {}).keys()
        and known[name].find_obstacle(find) is not None
    ]  # fmt: skip
    chosen.update({name: known[name].default for name in dropped})
    return bool(dropped)


def _list_values(search: SearchParameters, name: str) -> list[Any]:
    """Return the values of a parameter that may be a list."""
    value = declared(type(search))[name].read(getattr(search, name))
    return value if isinstance(value, list) else [value]


DRAWS_OF_EFFORT = {2: 4, 3: 8, 4: 8, 5: 16}
"""What "auto" draws are."""

BAGS_FROM, AUTO_BAGS = 3, 16
"""The effort from which "auto" has bags, and how many."""

FEWEST_PAIRS = 10

PAIRS_OF_EFFORT = {3: (3,), 4: (3, 10), 5: (1, 3, 10)}
"""How many pairs for each feature "auto" tries, besides `FEWEST_PAIRS`."""

MOST_PAIRS, MOST_CODES_OF_PAIRS = 500, 20_000_000
"""The most pairs that "auto" tries, and the most codes of theirs, a byte each in every split."""


def count_draws(search: SearchParameters) -> int:
    """Return how many draws a model of trees has in the end."""
    given = search.n_draws
    return DRAWS_OF_EFFORT.get(search.effort or 0, 1) if isinstance(given, str) else int(given)


def count_bags(search: SearchParameters, weak_learner: str) -> int:
    """Return how many bags a model has in the end, if there are rows enough."""
    given = search.outer_bags
    if not isinstance(given, str):
        return int(given)
    wanted = (search.effort or 0) >= BAGS_FROM and weak_learner not in GROWN
    return AUTO_BAGS if wanted else 0


def wants_pairs(search: SearchParameters) -> bool:
    """Whether any number of pairs to choose from is above 0."""
    if search.interactions == "auto":
        return (search.effort or 0) in PAIRS_OF_EFFORT
    return any(n > 0 for n in _list_values(search, "interactions"))


def list_interactions(
    search: SearchParameters, n_rows: int, n_features: int
) -> tuple[list[int], list[tuple[float, float]]]:
    """Return the numbers of pairs to choose from, and the product of their rates and smoothings."""
    numbers = _list_values(search, "interactions")
    if numbers == ["auto"]:
        most = max(FEWEST_PAIRS, min(MOST_PAIRS, MOST_CODES_OF_PAIRS // n_rows))
        each = PAIRS_OF_EFFORT.get(search.effort or 0, ())
        numbers = sorted({FEWEST_PAIRS, *(min(k * n_features, most) for k in each)})
    smoothings = _list_values(search, "interaction_smoothing")
    rates = _list_values(search, "interaction_rate")
    return numbers, list(itertools.product(rates, smoothings))


def for_pairs(chosen: Candidate, n: int, rate: float, smoothing: float) -> Candidate:
    """Return the candidate with which `n` pairs are boosted from where `chosen` ended."""
    params = {
        "interactions": n,
        "interaction_rate": rate,
        "interaction_smoothing": smoothing,
    }
    options = plan.for_pairs(chosen.options, rate, smoothing)
    return Candidate(chosen.loss, options, params, chosen.coupling)


def _list_couplings(search: SearchParameters, loss: MarginLoss) -> list[Coupling]:
    """Return how the models of several classes are coupled under a loss: what to choose from."""
    found: list[Coupling] = []
    for multiclass in _list_values(search, "multiclass"):
        if multiclass == "auto":
            found += list_couplings(loss, search.step, search.response)[:1]
            found.append("one_vs_rest")
        else:
            found.append(find_coupling(multiclass, loss, search.step, search.response))
    return list(dict.fromkeys(found))


def _list_losses(search: SearchParameters) -> list[tuple[str | None, MarginLoss]]:
    """Return the losses, with their names where these say it all.

    Their gain is 1, unless it is not searched.
    """
    choice = search.loss
    entries: Sequence[Any] = choice if isinstance(choice, list | tuple) else [choice]
    if len(entries) == 0:
        raise ValueError("loss must not be an empty list")
    losses: dict[MarginLoss, str | None] = {}
    for entry in entries:
        loss = get_loss(entry)
        _check_gain_of_entry(search, entry, loss)
        if entry == "alpha" and search.alphas is not None:
            alphas = _read_alphas("alphas", search.alphas) or []
            losses |= {get_loss("alpha", alpha=alpha): None for alpha in alphas}
        else:
            losses[loss] = entry if isinstance(entry, str) else None
    if search.alphas is not None and not any(
        isinstance(entry, str) and entry == "alpha" for entry in entries
    ):
        raise ValueError(
            f"alphas must be None unless loss is, or has, 'alpha'; got {search.alphas!r} with "
            f"loss={search.loss!r}"
        )
    return [(name, loss) for loss, name in losses.items()]


def _check_gain_of_entry(search: SearchParameters, entry: object, loss: MarginLoss) -> None:
    """Refuse a loss with a gain of its own where the gain is searched."""
    if loss.gain != 1.0 and search.gains is not None:
        raise ValueError(
            f"loss={entry!r} has its own gain, but the gain is searched: pass the "
            f"loss with gain 1, and gains=[{loss.gain!r}], or gains=None"
        )


def _find_gains(search: SearchParameters) -> list[float] | None:
    """Return the user's gains, None for "auto"; a single one where the gain cannot matter.

    Where each loss has its own gain there is none to be found.
    """
    gains = _read_gains("gains", search.gains)
    if not gain_is_free(search.response, search.step, search.l2):
        return gains
    return [1.0 if gains is None or 1.0 in gains else gains[0]]


def warn_of_free_gains(search: SearchParameters, gain: float) -> None:
    """Tell that gains were not tried, as they cannot matter."""
    if not gain_is_free(search.response, search.step, search.l2):
        return
    if search.gains is None:
        return  # nobody asked for others
    if not isinstance(search.gains, str) and set(search.gains) == {gain}:
        return
    settings = f"response={search.response!r} and step={search.step!r}"
    settings += f" and l2={search.l2!r}" if search.response == "newton" else ""
    warn(
        f"with {settings} the gain cannot matter: it scales the raw predictions, and the link "
        f"divides by it. Only gain {gain:g} is fitted; the learning_rate and the number of "
        "estimators regularise instead"
    )


def bound_gains(loss: MarginLoss, n_rows: float, ratio: float) -> tuple[float, float]:
    """Return the smallest and the largest gain worth trying for a loss at gain 1.

    The smallest is the least that regularises (BoostLR, eq. 30); the largest is `ratio` times as
    much, and more for fewer than FEW_ROWS rows.
    """
    least = 0.5 / loss.loss_margin
    return least, least * ratio * max(1.0, (FEW_ROWS / n_rows) ** 0.5)


def _make_gains(
    search: SearchParameters, loss: MarginLoss, total: float, n: int | None
) -> list[float]:
    """Return what "auto" tries for a loss at gain 1 and so many rows."""
    if _cuts_carefully(search):
        total, n = max(total, FEW_ROWS), n or N_GAINS // 2
    gains = np.geomspace(*bound_gains(loss, total, GAIN_RANGE), n or N_GAINS)
    return [float(f"{gain:.3g}") for gain in gains]


def _cuts_carefully(search: SearchParameters) -> bool:
    """Whether chance is kept out of all look-up tables, which leaves less to the gain."""
    if not declared(type(search))["min_saving"].applies_to(search):
        return False
    savings, cells = _list_values(search, "min_saving"), _list_values(search, "max_cells")
    return None not in cells and all(least > 0.0 for least in savings)


def with_gain(loss: MarginLoss, gain: float) -> MarginLoss:
    """Return the loss with another gain."""
    tuned: MarginLoss = dataclasses.replace(loss, gain=gain)  # type: ignore[type-var]
    return tuned
