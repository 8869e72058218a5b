"""Test formulas of probabilities, computed by NumPy."""

import numpy as np
import pytest
from scipy.stats import norm

from properboost import losses
from properboost.export.links import Value, ordered_probabilities, probabilities
from properboost.losses.ordered_link import OrderedLink
from properboost.losses.probabilities import Link, Votes
from properboost.losses.registry import LOSSES

CANONICAL = [losses.GLog, losses.GGauss, losses.GLaplacian, losses.GBoost]


class Arrays(Value):
    """Arrays of shape (n_rows, n)."""

    def __init__(self, array):
        self.array, self.n = array, array.shape[1]

    def _combine(self, operator, other):
        kinds = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "max": np.maximum}
        return Arrays(kinds[operator](self.array, read(other)))

    def apply(self, function):
        kinds = {"abs": np.abs, "exp": np.exp, "ln": np.log, "sqrt": np.sqrt}
        if function == "exp":
            assert self.array.min() > -745.0
            assert self.array.max() <= 0.0
        return Arrays(kinds[function](self.array))

    def where_positive(self, yes, no):
        return Arrays(np.where(self.array > 0.0, read(yes), read(no)))

    def total(self):
        return Arrays(self.array.sum(axis=1, keepdims=True))

    def largest(self):
        return Arrays(self.array.max(axis=1, keepdims=True))

    def is_top(self):
        return Arrays(1.0 * (np.arange(self.n) == self.array.argmax(axis=1)[:, None]))

    def beside(self, other):
        return Arrays(np.hstack([self.array, other.array]))

    def less_each(self, numbers):
        assert self.n == 1
        return Arrays(self.array - numbers)

    def take(self, places):
        return Arrays(self.array[:, places])

    def keep(self):
        return self

    def look_up_cubic(self, cells):
        mantissa, exponent = np.frexp(np.minimum(self.array, np.nextafter(2.0**24, 0.0)))
        within = (2.0 * mantissa - 1.0) * 128
        begin = np.floor(within)
        t, c = within - begin, cells[((exponent - 1) * 128 + begin).astype(int)]
        return Arrays(c[..., 0] + t * (c[..., 1] + t * (c[..., 2] + t * c[..., 3])))


def read(value):
    return value.array if isinstance(value, Arrays) else value


def draw(n_classes, size):
    rng = np.random.default_rng(n_classes)
    raw = size * rng.standard_normal((200, n_classes))
    raw[:9] = 0.0
    raw[9:20, 0] += 1000.0 * size
    raw[20:30, -1] = raw[20:30, 0]
    return raw


def compare(link, raw):
    expected = link.probabilities(raw[:, 0] if raw.shape[1] == 1 else raw)
    actual = probabilities(link, Arrays(raw)).array
    assert np.abs(actual - expected).max() <= 1e-14


@pytest.mark.parametrize("size", [0.01, 1.0, 30.0, 1e8, 1e300])
@pytest.mark.parametrize("n_classes", [1, 3])
@pytest.mark.parametrize("name", LOSSES)
def test_built_in_losses(name, n_classes, size):
    loss = LOSSES[name](gain=0.5)
    compare(Link(loss, None if n_classes == 1 else "one_vs_rest"), draw(n_classes, size))


@pytest.mark.parametrize("size", [0.01, 1.0, 30.0, 1e8, 1e300])
@pytest.mark.parametrize("n_thresholds", [1, 2, 9])
@pytest.mark.parametrize("name", LOSSES)
def test_ordered_classes(name, n_thresholds, size):
    """Thresholds may be equal, and rows far from all of them."""
    thresholds = np.sort(size * np.random.default_rng(n_thresholds).standard_normal(n_thresholds))
    thresholds[:2] = thresholds[0]
    link = OrderedLink(LOSSES[name](gain=0.5), thresholds)
    raw = np.concatenate([draw(1, size), thresholds[:, None]])
    actual = ordered_probabilities(link, Arrays(raw)).array
    assert np.abs(actual - link.probabilities(raw[:, 0])).max() <= 1e-14
    assert actual.min() >= 0.0
    assert np.abs(actual.sum(axis=1) - 1.0).max() <= 1e-14


@pytest.mark.parametrize("size", [0.01, 1.0, 30.0, 1e4, 1e8, 1e200])
@pytest.mark.parametrize("n_classes", [3, 26])
def test_joint_models(n_classes, size):
    raw = draw(n_classes, size)
    designed = losses.from_pdf(norm(0, 1))
    assert "canonical" in designed.joint_forms
    for loss in [*(kind(gain=0.5) for kind in CANONICAL), designed]:
        compare(Link(loss, "canonical"), raw)
    compare(Link(losses.GLog(2.0), "softmax"), raw)
    compare(Link(losses.Savage(2.0), "one_vs_rest", temperature=3.0), raw)
    compare(Link(Votes()), raw)


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e299])
@pytest.mark.parametrize("unit", [1e-9, 1e-100, 5e-324])
def test_raw_predictions_that_are_no_numbers_in_units_of_the_gain(unit, size):
    """A difference of infinities was NaN once."""
    raw = draw(3, size / 10.0)
    for link in (
        Link(losses.GLog(), "one_vs_rest", temperature=unit),
        Link(losses.Savage(unit), "one_vs_rest", temperature=1e100),
        *(Link(losses.GBoost(unit), kind) for kind in ("canonical", "one_vs_rest")),
        Link(losses.GLog(unit), "softmax"),
    ):
        compare(link, raw)
    compare(Link(losses.GLaplacian(unit)), draw(1, size / 10.0))


@pytest.mark.parametrize("size", [0.01, 1.0, 30.0, 1e8])
def test_custom_losses(size):
    for loss in (
        losses.from_pdf(norm(0, 1), gain=2.0),
        losses.from_functions(lambda u: 1.0 / (1.0 + np.exp(u)), name="own"),
    ):
        compare(Link(loss), draw(1, size))


def test_a_loss_without_a_formula_is_refused_by_name():
    class CustomLoss(losses.MarginLoss):
        name = "own"
        gain = 1.0

    with pytest.raises(ValueError, match="loss 'own' has no formula"):
        probabilities(Link(CustomLoss()), Arrays(np.zeros((2, 1))))
