"""Damaged files of quantized tables, and the check of what becomes of them.

A damaged file must be refused with a ValueError that names it, or be a table like any: mapped and
in memory it is fitted or refused the same, and saved again it is the same table.
"""

import json
import struct
import warnings
import zlib
from hashlib import blake2b

import mutations
import numpy as np

__all__ = ["check_table", "make_tables", "mutate_table", "seal"]

START = struct.Struct("<8sIQ16s")
ALIGNMENT = 64


def make_tables(pb, folder):
    """Return sound files: two classes and more, with weights and without, all features."""
    import pandas as pd

    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "size": rng.normal(size=60).round(2),
            "town": pd.Categorical(rng.choice(["x", "y", "z"], 60)),
            "age": rng.integers(0, 9, 60).astype(float),
            "w": rng.integers(0, 3, 60).astype(float),
            "y": rng.choice(["a", "b"], 60),
        }
    )
    rows.loc[::9, "size"] = np.nan
    tables = {
        "weights": (rows, "w", {}),
        "means": (rows.drop(columns="w"), None, {"bin_means": True}),
        "classes": (rows.assign(y=rng.integers(0, 4, 60)), "w", {"max_bins": 4}),
        "numbers": (rows[["size", "y"]], None, {}),
    }
    files = {}
    for name, (source, weight, parameters) in tables.items():
        table = pb.QuantizedTable.from_batches(source, "y", weight, rows_per_bin=None, **parameters)
        table.save(folder / "sound.codes")
        files[name] = mutations.ModelFile((folder / "sound.codes").read_bytes())
    return files


def split(data):
    """Return the header of a file, and its parts with the bytes between them."""
    length = START.unpack_from(data)[2]
    return json.loads(data[START.size : START.size + length]), data[START.size + length :]


def seal(header, parts, *, version=1):
    """Return a file with this header and a valid digest."""
    begin = START.pack(b"\x89pbtable", version, len(header), b"")[:-16]
    data = begin + blake2b(begin + header, digest_size=16).digest() + header
    return data + parts


def mutate_table(file, other, rng):
    """Return the name of a mutation drawn at random, and the bytes of the mutated file.

    A third are of bytes, a third of the header, with a valid digest, and a third of labels, weights
    and codes, with valid checksums, too.
    """
    draw = rng.integers(3)
    of_bytes = [mutation for name, mutation in mutations.OF_BYTES.items() if name != "pack"]
    if draw == 0:
        chosen = of_bytes[rng.integers(len(of_bytes))]
        return f"table: {chosen.__name__}", chosen(file, other, rng)
    header, parts = split(file.data)
    if draw == 1:
        names = [*mutations.OF_DOCUMENTS]
        name = names[rng.integers(len(names))]
        documents = [
            mutations.ModelFile(json.dumps(split(part.data)[0]).encode()) for part in (file, other)
        ]
        changed = mutations.OF_DOCUMENTS[name](*documents, rng)
        rest = parts
        if rng.random() < 0.7:  # parts begin where the reader expects them
            gap = -(START.size + len(changed)) % ALIGNMENT
            old = -(len(file.data) - len(parts)) % ALIGNMENT
            rest = bytes(gap) + parts[old:]
        return f"table: {name}", seal(changed, rest)
    data = bytearray(parts)
    for _ in range(rng.integers(1, 9)):
        data[rng.integers(len(data))] = rng.choice([0, 1, 2, 127, 128, 254, 255, rng.integers(256)])
    return "table: resealed parts", reseal(header, len(file.data) - len(parts), bytes(data))


def reseal(header, begin, parts):
    """Return a file with valid checksums of its parts."""
    n, old = header["rows"], begin
    for name, size in (("labels", header["labels"]["bytes"]), ("weights", 8)):
        if header[name] is not None:
            at = begin + -begin % ALIGNMENT
            begin = at + n * size
            header[name]["checksum"] = zlib.crc32(parts[at - old : begin - old])
    at, size = begin + -begin % ALIGNMENT - old, header["codes"]["rows"]
    header["codes"]["checksums"] = [
        zlib.crc32(parts[at + j * size : at + (j + 1) * size]) for j in range(len(header["names"]))
    ]
    text = json.dumps(header, separators=(",", ":")).encode()
    gap = -(START.size + len(text)) % ALIGNMENT
    return seal(text, bytes(gap) + parts[-old % ALIGNMENT :])


def check_table(pb, path):
    """Return "refused" or "loaded"; raise AssertionError if the file is neither."""
    whole, mapped = (read(pb, path, mmap=mmap) for mmap in (False, True))
    assert (whole is None) == (mapped is None), "a file is sound only where it is mapped, or not"
    if whole is None or mapped is None:
        return "refused"
    predictions = fit(pb, mapped, path)
    assert fit(pb, whole, path) == predictions, "mapped codes have another model"
    mapped.save(path.with_name("again.codes"))
    again = pb.QuantizedTable.open(path.with_name("again.codes"), mmap=False)
    assert fit(pb, again, path) == predictions, "what was saved is another table"
    return "loaded"


def read(pb, path, *, mmap):
    """Return a table after the check of its codes; None where it is refused."""
    try:
        table = pb.QuantizedTable.open(path, mmap=mmap)
        table.read_codes()
    except ValueError as error:
        if str(path) not in str(error):
            raise AssertionError(f"the error does not name the file: {error}") from error
        return None
    return table


def fit(pb, table, path):
    """Return the model file of a table, or the message of a refusal."""
    model = pb.ProperBoostClassifier(
        n_estimators=1, rows_per_bin=None, n_jobs=1, weak_learner="table"
    )
    model.set_params(max_bins=4 if table.n_bins.max() <= 4 else 255)
    try:
        with warnings.catch_warnings(action="ignore"):
            model.fit(table)
    except ValueError as error:
        return str(error)
    model.save_model(path.with_name("model.json"))
    return path.with_name("model.json").read_bytes()
