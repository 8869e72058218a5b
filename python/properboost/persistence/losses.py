"""The JSON form of losses: a name, or a table."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from properboost.losses.builtin import MarginLoss
from properboost.losses.custom import CustomLoss
from properboost.losses.registry import get_loss
from properboost.losses.table import LossTable
from properboost.parameters.checks import non_negative, positive
from properboost.persistence.json_node import Node

__all__ = ["LossList", "build_loss", "describe_loss"]

_SIDES = ("right", "right_slope", "left", "left_slope")
_LARGEST_WEIGHT = 1e35


def describe_loss(loss: MarginLoss) -> dict[str, Any]:
    """Return the JSON form of a loss."""
    table = None
    if isinstance(loss, CustomLoss):
        fall = loss.table.find_fall()
        if fall is not None:  # only of an unvalidated loss, which loading would refuse
            raise ValueError(
                f"loss {loss.name!r} cannot be saved: its inverse link falls at the margin {fall:g}"
            )
        table = {
            "scale": loss.table.scale,
            "beyond": loss.table.beyond,
            **{name: getattr(loss.table, name).tolist() for name in _SIDES},
        }
    return {
        "name": loss.name,
        "parameters": dict(loss.parameters),
        "gain": loss.gain,
        "table": table,
    }


def build_loss(node: Node, version: int) -> MarginLoss:
    """Return a loss; files before version 4 have built-in losses only."""
    names = ("name", "parameters", "gain", "table")
    fields = node.fields(*(name for name in names if version > 3 or name != "table"))
    parameters = {name: entry.value for name, entry in fields["parameters"].mapping().items()}
    try:
        if version > 3 and fields["table"].value is not None:
            if parameters.keys() - {"alpha"}:
                fields["parameters"].fail("must hold only alpha with a table")
            return _build_custom_loss(fields, parameters.get("alpha"))
        return get_loss(fields["name"].string(), fields["gain"].value, **parameters)
    except (TypeError, ValueError) as error:
        node.fail(f"is not a loss: {error}")


def _build_custom_loss(fields: dict[str, Node], alpha: float | None) -> CustomLoss:
    name = fields["name"].string()
    table = fields["table"].fields("scale", "beyond", *_SIDES)
    scale = positive("scale", table["scale"].value)
    beyond = non_negative("beyond", table["beyond"].value)
    sides = {side: table[side].reals() for side in _SIDES}
    for side, values in sides.items():
        if np.any(np.abs(values) > _LARGEST_WEIGHT):  # so that no derived number is infinite
            table[side].fail(f"must hold no number beyond {_LARGEST_WEIGHT:g}")
    built = LossTable(scale, beyond, **sides)
    loss = CustomLoss(name, built, fields["gain"].value, alpha=alpha)
    _ = loss.native  # checks the numbers
    fall = built.find_fall()
    if fall is not None:
        raise ValueError(f"its inverse link falls at the margin {fall:g}")
    return loss


class LossList:
    """The list of losses of a document, each of them once, whatever its gains.

    Parameters
    ----------
    losses : sequence of MarginLoss
        The first losses of the list; their gains do not matter.
    """

    def __init__(self, losses: Sequence[MarginLoss] = ()) -> None:
        self._losses = [_with_gain(loss, 1.0) for loss in losses]
        self._places = {loss: k for k, loss in reversed([*enumerate(self._losses)])}

    def refer(self, loss: MarginLoss) -> dict[str, Any]:
        """Return a reference to a loss, which is added to the list if it is new."""
        at_gain_1 = _with_gain(loss, 1.0)
        if at_gain_1 not in self._places:
            self._places[at_gain_1] = len(self._losses)
            self._losses.append(at_gain_1)
        return {"loss": self._places[at_gain_1], "gain": loss.gain}

    def resolve(self, node: Node) -> MarginLoss:
        """Return the loss that `refer` wrote."""
        fields = node.fields("loss", "gain")
        loss = self._losses[fields["loss"].integer(0, len(self._losses) - 1)]
        try:
            return _with_gain(loss, positive("gain", fields["gain"].value))
        except (TypeError, ValueError) as error:
            node.fail(f"is not a loss: {error}")

    def describe(self) -> list[dict[str, Any]]:
        """Return the JSON form of the list."""
        return [describe_loss(loss) for loss in self._losses]

    @classmethod
    def build(cls, node: Node, version: int) -> "LossList":
        """Return the list that `describe` wrote."""
        return cls([build_loss(entry, version) for entry in node.entries()])


def _with_gain(loss: MarginLoss, gain: float) -> MarginLoss:
    tuned: MarginLoss = dataclasses.replace(loss, gain=gain)  # type: ignore[type-var]
    return tuned
