"""Losses by their names."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from types import MappingProxyType
from typing import Any

from properboost.losses import builtin
from properboost.losses.builtin import Elicitation, MarginLoss
from properboost.losses.tangent import Tangent
from properboost.parameters.checks import choice, or_else, positive

__all__ = ["LOSSES", "get_loss"]

_NAMED: list[type[MarginLoss]] = [
    loss
    for loss in (*vars(builtin).values(), Tangent)
    if isinstance(loss, type) and issubclass(loss, MarginLoss) and loss is not MarginLoss
]

OBJECTS = (
    "a loss object, such as GLog(), or one of your own by pb.losses.from_functions, from_risk or "
    "from_pdf"
)

# The class of every loss that has a name.
LOSSES: Mapping[str, type[MarginLoss]] = MappingProxyType({loss.name: loss for loss in _NAMED})


def get_loss(
    loss: str | MarginLoss, gain: float | None = None, **loss_parameters: Any
) -> MarginLoss:
    """Return the loss object that a name, or an object, stands for.

    Parameters
    ----------
    loss : str or MarginLoss
        A name in `LOSSES`, or a loss, which carries its own gain and parameters.
    gain : float or None, default=None
        The gain of a named loss; None means 1.  With an object it must be None or the object's
        gain.
    **loss_parameters : float
        The parameters of a named loss, e.g. ``alpha=0.25``.

    Returns
    -------
    MarginLoss

    Examples
    --------
    >>> from properboost.losses import get_loss
    >>> get_loss("gboost", 2.0)
    GBoost(gain=2.0)
    """
    if isinstance(loss, MarginLoss):
        if gain is not None and positive("gain", gain) != loss.gain:
            raise ValueError(
                f"gain={gain!r} contradicts loss={loss!r}, which carries its own gain: "
                f"leave gain at None, or give the loss by its name"
            )
        if loss_parameters:
            raise ValueError(f"loss={loss!r} carries its own parameters; got {loss_parameters!r}")
        return loss
    if isinstance(loss, Elicitation):
        raise ValueError(f"loss={loss!r} is a curve to draw, and no model can be trained with it")
    read = or_else(partial(choice, known=list(LOSSES)), OBJECTS)
    make: Callable[..., MarginLoss] = LOSSES[read("loss", loss)]
    known = [field.name for field in fields(LOSSES[loss]) if field.name != "gain"]  # type: ignore[arg-type]
    unknown = [name for name in loss_parameters if name not in known]
    if unknown:
        raise ValueError(
            f"loss {loss!r} has no parameter {unknown[0]!r}; it takes {known or 'none'}"
        )
    return make(gain=1.0 if gain is None else gain, **loss_parameters)
