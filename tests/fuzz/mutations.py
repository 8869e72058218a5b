"""Damaged model files, as from an attacker, a bad disk or a careless hand.

Each function takes a file, another one and a generator, and returns the bytes of a mutated file.
Those of `OF_BYTES` use no structure of the files; those of `OF_DOCUMENTS` change the JSON.
"""

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

__all__ = ["OF_BYTES", "OF_DOCUMENTS", "ModelFile", "change", "mutate", "pick"]

EXTREMES = (
    0, -0.0, 1, -1, 2, 0.5, 127, 128, 254, 255, 256, 2**15, 2**31 - 1, 2**31, 2**32, 2**53,
    2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**30, 10**400, 5e-324, 1e-310, 1e300,
    1.7976931348623157e308, -1e308, 1e-17, 3.4e38,
)  # fmt: skip
RAW_NUMBERS = (
    b"1e999", b"-1e999", b"1e-999", b"NaN", b"Infinity", b"1" * 5000, b"0." + b"1" * 5000, b"-0",
    b"1E+2", b"01", b"0x1", b"1_0", b"+1", b".5",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, "", "a", "inf", "-inf", "nan", "\x00", "\ud800", "\U0001d11e", "x" * 300,
    [], {}, [[]], [{}], [None], [1.5], [0, 1], {"": 0}, {"number": "inf"}, {"not saved": "x"},
    {"loss": 0, "gain": 1}, {"of": [[0, 1]]}, "from_dtype", "auto",
)  # fmt: skip
DEPTHS = (1, 2, 10, 60, 64, 65, 1000, 30_000)

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class ModelFile:
    """Sound model file."""

    data: bytes

    @cached_property
    def document(self) -> Any:
        """Document in the file."""
        return json.loads(self.data)


Mutation = Callable[[ModelFile, ModelFile, np.random.Generator], bytes]


def mutate(file: ModelFile, other: ModelFile, rng: np.random.Generator) -> tuple[str, bytes]:
    """Return the name of a mutation drawn at random, and the bytes of the mutated file.

    One in eight is of bytes, and one in four is followed by another.
    """
    names = [*OF_BYTES] if rng.random() < 1 / 8 else [*OF_DOCUMENTS]
    name = names[rng.integers(len(names))]
    mutated = {**OF_BYTES, **OF_DOCUMENTS}[name](file, other, rng)
    if name in OF_DOCUMENTS and rng.random() < 1 / 4:
        try:
            again, mutated = mutate(ModelFile(mutated), other, rng)
        except (ValueError, RecursionError):  # it cannot be parsed any more
            return name, mutated
        return f"{name}, {again}", mutated
    return name, mutated


# -- bytes ----------------------------------------------------------------------------------------


def flip_bits(file: ModelFile, _: ModelFile, rng: np.random.Generator) -> bytes:
    """Flip up to eight bits."""
    data = bytearray(file.data)
    for _ in range(rng.integers(1, 9)):
        data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
    return bytes(data)


def put_bytes(file: ModelFile, _: ModelFile, rng: np.random.Generator) -> bytes:
    """Put other bytes over a few."""
    start = int(rng.integers(len(file.data)))
    put = [b"\0", b'"', b"\\", b"[", b"]", b"{", b"}", b",", b":", b"\xff", b"\xed\xa0\x80",
           b"\xef\xbb\xbf", b"\\ud800", *RAW_NUMBERS]  # fmt: skip
    chosen = put[rng.integers(len(put))]
    return file.data[:start] + chosen + file.data[start + int(rng.integers(0, 3)) :]


def truncate(file: ModelFile, _: ModelFile, rng: np.random.Generator) -> bytes:
    """Cut the end off."""
    return file.data[: rng.integers(len(file.data))]


def remove_bytes(file: ModelFile, _: ModelFile, rng: np.random.Generator) -> bytes:
    """Leave out a stretch."""
    start, length = int(rng.integers(len(file.data))), int(rng.geometric(0.05))
    return file.data[:start] + file.data[start + length :]


def repeat_bytes(file: ModelFile, _: ModelFile, rng: np.random.Generator) -> bytes:
    """Repeat a stretch."""
    start, length = int(rng.integers(len(file.data))), int(rng.geometric(0.02))
    part = file.data[start : start + length] * int(rng.integers(1, 20))
    return file.data[:start] + part + file.data[start:]


def splice(file: ModelFile, other: ModelFile, rng: np.random.Generator) -> bytes:
    """Begin as one file and end as another."""
    return file.data[: rng.integers(len(file.data))] + other.data[rng.integers(len(other.data)) :]


def pack(file: ModelFile, other: ModelFile, rng: np.random.Generator) -> bytes:
    """Pack a mutated file, or mutate a packed one."""
    if rng.random() < 0.5:
        return gzip.compress(mutate(file, other, rng)[1], mtime=0)
    of_packed = (flip_bits, truncate, remove_bytes, repeat_bytes, splice)
    packed, others = (ModelFile(gzip.compress(each.data, mtime=0)) for each in (file, other))
    return of_packed[rng.integers(len(of_packed))](packed, others, rng)


OF_BYTES: Mapping[str, Mutation] = {
    function.__name__: function
    for function in (flip_bits, put_bytes, truncate, remove_bytes, repeat_bytes, splice, pack)
}

# -- documents ------------------------------------------------------------------------------------


def pick(document: Any, rng: np.random.Generator) -> tuple[Place, Any]:
    """Return a place in a document, shallow or deep with equal chance, and its value."""
    place: Place = ()
    value = document
    while isinstance(value, dict | list) and len(value) and (not place or rng.random() < 0.75):
        key: str | int = int(rng.integers(len(value)))
        if isinstance(value, dict):
            key = [*value][key]
        place, value = (*place, key), value[key]
    return place, value


def change(document: Any, place: Place, value: Any) -> Any:
    """Return a document with another value at a place; the rest is shared."""
    if not place:
        return value
    changed = document.copy()
    changed[place[0]] = change(document[place[0]], place[1:], value)
    return changed


def _write(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def _at_random(
    new: Callable[[Any, ModelFile, np.random.Generator], Any],
) -> Mutation:
    """Make a mutation from a function that gives a place another value."""

    def mutation(file: ModelFile, other: ModelFile, rng: np.random.Generator) -> bytes:
        place, value = pick(file.document, rng)
        return _write(change(file.document, place, new(value, other, rng)))

    return mutation


def _one_of(values: tuple[Any, ...], rng: np.random.Generator) -> Any:
    return values[rng.integers(len(values))]


def _another_type(value: Any, _: ModelFile, rng: np.random.Generator) -> Any:
    ways = [str, lambda v: [v], lambda v: {"value": v}, lambda v: _one_of(VALUES, rng), bool]
    if isinstance(value, int | float):
        ways += [float, int] if abs(value) < 1e300 else []
    return ways[rng.integers(len(ways))](value)


def _another_number(value: Any, _: ModelFile, rng: np.random.Generator) -> Any:
    if isinstance(value, list) and value:
        return [_one_of(EXTREMES, rng) if rng.random() < 0.3 else entry for entry in value]
    if isinstance(value, int | float) and rng.random() < 0.3 and abs(value) < 1e300:
        return value + int(rng.integers(-2, 3))
    return _one_of(EXTREMES, rng)


def _another_length(value: Any, _: ModelFile, rng: np.random.Generator) -> Any:
    if isinstance(value, str):
        return value * int(rng.integers(0, 4))
    if not isinstance(value, list) or not value:
        return [value] * int(rng.integers(0, 300))
    n = int(rng.integers(0, 2 * len(value) + 2)) if rng.random() < 0.8 else 3000
    return (value * (n // len(value) + 1))[:n]


def _another_order(value: Any, _: ModelFile, rng: np.random.Generator) -> Any:
    if not isinstance(value, list):
        return value
    return [value[k] for k in rng.permutation(len(value))]


def _from_another(_: Any, other: ModelFile, rng: np.random.Generator) -> Any:
    return pick(other.document, rng)[1]


def replace_by_namesake(file: ModelFile, other: ModelFile, rng: np.random.Generator) -> bytes:
    """Put in another file's value at the same place, as far as it has that place."""
    place, _ = pick(file.document, rng)
    value = other.document
    for k, key in enumerate(place):
        try:
            value = value[key]
        except (LookupError, TypeError):
            place = place[:k]
            break
    return _write(change(file.document, place, value))


def remove_entry(file: ModelFile, _: ModelFile, rng: np.random.Generator) -> bytes:
    """Leave out an entry of an object or a list."""
    place, _value = pick(file.document, rng)
    holder = file.document
    for key in place[:-1]:
        holder = holder[key]
    if not place:
        return b"{}"
    if isinstance(holder, dict):
        rest: Any = {key: value for key, value in holder.items() if key != place[-1]}
    else:
        rest = [value for k, value in enumerate(holder) if k != place[-1]]
    return _write(change(file.document, place[:-1], rest))


def repeat_entry(file: ModelFile, _: ModelFile, rng: np.random.Generator) -> bytes:
    """Repeat an entry of a list, or add a key to an object, perhaps an existing one."""
    place, _value = pick(file.document, rng)
    holder = file.document
    for key in place[:-1]:
        holder = holder[key]
    if isinstance(holder, list):
        k = place[-1]
        return _write(change(file.document, place[:-1], [*holder[:k], holder[k], *holder[k:]]))
    text = _write(file.document)
    keys = [f'"{key}":'.encode() for key in holder]
    at = text.find(keys[rng.integers(len(keys))])
    if at < 0 or rng.random() < 0.2:
        return _write(change(file.document, place[:-1], {**holder, "one more": 0}))
    return text[:at] + keys[rng.integers(len(keys))] + b"0," + text[at:]


def nest(file: ModelFile, _: ModelFile, rng: np.random.Generator) -> bytes:
    """Put lists or objects around a value."""
    place, value = pick(file.document, rng)
    mark, n = "(the place)", int(_one_of(DEPTHS, rng))
    opening, closing = ("[", "]") if rng.random() < 0.5 else ('{"a":', "}")
    inner = opening * n + json.dumps(value) + closing * n
    return _write(change(file.document, place, mark)).replace(f'"{mark}"'.encode(), inner.encode())


def put_raw(file: ModelFile, _: ModelFile, rng: np.random.Generator) -> bytes:
    """Put in text that only resembles a JSON number."""
    place, _value = pick(file.document, rng)
    marked = _write(change(file.document, place, "(the place)"))
    return marked.replace(b'"(the place)"', _one_of(RAW_NUMBERS, rng))


OF_DOCUMENTS: Mapping[str, Mutation] = {
    "another_type": _at_random(_another_type),
    "another_number": _at_random(_another_number),
    "another_length": _at_random(_another_length),
    "another_order": _at_random(_another_order),
    "from_another": _at_random(_from_another),
    "from_itself": lambda file, _, rng: OF_DOCUMENTS["from_another"](file, file, rng),
    **{
        function.__name__: function
        for function in (replace_by_namesake, remove_entry, repeat_entry, nest, put_raw)
    },
}
