"""gzip by suffix: packed files are read, and those that unpack to too much are refused early."""

import gzip
import io
import json
import os
import threading
import tracemalloc

import numpy as np
import pytest

import properboost as pb
from helpers.time_limits import within
from properboost.persistence import gzipped

X = np.random.default_rng(0).normal(size=(80, 3))


@pytest.fixture(scope="module")
def model():
    return pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(X, X[:, 0] > 0)


def unpack(data, size=1000):
    file = gzipped.UnpackedFile(io.BytesIO(data))
    pieces = []
    while piece := file.read(size):
        assert len(piece) <= size
        pieces.append(piece)
    return b"".join(pieces)


@pytest.mark.parametrize("n", [0, 1, 999, 1000, 300_000])
def test_what_is_packed_is_unpacked(n):
    content = np.random.default_rng(n).integers(0, 9, n, dtype=np.uint8).tobytes()
    packed = b"".join(gzipped.pack([content[:7], content[7:]]))
    assert gzip.decompress(packed) == content
    assert unpack(packed) == content == unpack(gzip.compress(content))


def test_the_suffix_packs_and_the_content_unpacks(model, tmp_path):
    for name in ("model.json", "model.json.gz"):
        model.save_model(tmp_path / name)
        np.testing.assert_array_equal(
            pb.load_model(tmp_path / name).predict_proba(X), model.predict_proba(X)
        )
    plain, packed = ((tmp_path / name).read_bytes() for name in ("model.json", "model.json.gz"))
    assert gzip.decompress(packed) == plain
    assert packed[4:8] == bytes(4)  # no time: the same model makes the same bytes
    (tmp_path / "other.gz").write_bytes(plain)
    (tmp_path / "other.json").write_bytes(packed)
    for name in ("other.gz", "other.json"):
        pb.load_model(tmp_path / name)


def test_paths_of_bytes_and_pipes(model, tmp_path):
    path = os.fsencode(tmp_path / "model.json.gz")
    model.save_model(path)
    os.mkfifo(tmp_path / "pipe.gz")
    writer = threading.Thread(target=model.save_model, args=(tmp_path / "pipe.gz",), daemon=True)
    writer.start()
    with within(60.0):  # each opens the pipe when the other does
        piped = pb.load_model(tmp_path / "pipe.gz")
        writer.join()
    np.testing.assert_array_equal(piped.predict_proba(X), pb.load_model(path).predict_proba(X))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data[:-1], "it is gzip that is cut off"),
        (lambda data: data[:40], "it is gzip that is cut off"),
        (lambda data: data[:2], "it is gzip that is cut off"),
        (lambda data: data + b"\n", "it is gzip that goes on after its end"),
        (lambda data: data + data, "it is gzip that goes on after its end"),
        (
            lambda data: data[:-8] + b"0000" + data[-4:],
            "it is damaged gzip: .*incorrect data check",
        ),
        (lambda data: data[:50] + bytes(9) + data[59:], "it is damaged gzip"),
        (lambda _: gzip.compress(gzip.compress(b"{}")), "it does not hold an object"),
        (lambda _: gzip.compress(b""), "Expecting value near byte 0"),
    ],
    ids=range(9),
)
def test_what_is_wrong_is_refused(change, message, model, tmp_path):
    path = tmp_path / "model.json.gz"
    model.save_model(path)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ValueError, match=rf"model\.json\.gz: not a properboost model: {message}"):
        pb.load_model(path)


@pytest.mark.parametrize("filling", [b" ", b"[],", b"1,"])
def test_a_bomb_is_refused_before_memory_is_taken(filling, tmp_path, monkeypatch):
    """Eight megabytes in eight kilobytes: little more than the allowed size is read."""
    monkeypatch.setattr(gzipped, "MOST_MORE", 2**16)
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(gzip.compress(b'{"format":[' + filling * (2**23 // len(filling))))
    most = gzipped.MOST_MORE + gzipped.MOST_TIMES * path.stat().st_size
    assert most < 2**20
    tracemalloc.start()
    message = r"bomb\.json\.gz: not a properboost model: [\d,]+ bytes of gzip hold more than"
    with pytest.raises(ValueError, match=message):
        pb.load_model(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40 * (most + 2**18)  # a piece is read before it is counted


def test_what_would_be_refused_is_not_written(model, tmp_path, monkeypatch):
    monkeypatch.setattr(gzipped, "MOST_MORE", 0)
    monkeypatch.setattr(gzipped, "MOST_TIMES", 1)
    path = tmp_path / "model.json.gz"
    with pytest.raises(ValueError, match=r"gzip makes the model more than 1 times smaller, which"):
        model.save_model(path)
    assert not path.exists()
    path.write_bytes(gzip.compress(json.dumps([0] * 999).encode()))
    with pytest.raises(ValueError, match="bytes of gzip hold more than"):
        pb.load_model(path)


def test_what_is_written_can_be_read_piece_by_piece(monkeypatch):
    """The bound holds where the beginning shrinks far more than the rest, too."""
    monkeypatch.setattr(gzipped, "MOST_MORE", 100_000)
    rng = np.random.default_rng(0)
    n_written = 0
    for n in range(0, 400_000, 20_000):
        pieces = [b"0" * 5000] * (n // 5000) + [rng.bytes(5000)] * 20
        try:
            packed = b"".join(gzipped.pack(pieces))
        except ValueError:
            continue
        n_written += 1
        for size in (100, 3000, 2**18):
            assert unpack(packed, size) == b"".join(pieces)
    assert 0 < n_written < 20


def test_no_file_is_larger_than_the_limit(monkeypatch):
    monkeypatch.setattr(gzipped, "MOST_IN_ALL", 5)
    assert unpack(gzip.compress(b"12345")) == b"12345"
    with pytest.raises(ValueError, match="hold more than"):
        unpack(gzip.compress(b"123456"))
