"""The canonical losses of Table 2, at the gains that Figures 5 to 7 are drawn with here."""

from properboost.losses import GBoost, GGauss, GLaplacian, GLog, MarginLoss

__all__ = ["CANONICAL", "GAINS", "with_gains"]

CANONICAL: dict[str, type[MarginLoss]] = {
    "GLog": GLog,
    "GBoost": GBoost,
    "GGauss": GGauss,
    "GLaplacian": GLaplacian,
}
"""The losses, in the order of Figure 6."""

GAINS = (0.25, 0.5, 1.0, 2.0)
"""Gains from the least that eq. 30 allows; the text does not give the paper's."""


def with_gains(name: str) -> dict[str, MarginLoss]:
    """Return a loss at every gain, by its name in legends."""
    return {f"sigma = {gain:g}": CANONICAL[name](gain) for gain in GAINS}  # type: ignore[call-arg]
