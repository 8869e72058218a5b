"""JSON in pieces: the same values and refusals as in one go, wherever the text is cut."""

import io
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from properboost.persistence import json_reader, json_writer
from properboost.persistence.json_reader import MOST_DEPTH, MOST_KEYS, read_json
from properboost.persistence.json_writer import write_json

TEXTS = st.text(max_size=6) | st.text('\\",[]{}:', max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=4)


def read(text):
    return read_json(io.BytesIO(text if isinstance(text, bytes) else text.encode()))


@pytest.fixture
def few_at_once(monkeypatch):
    def set_size(n):
        monkeypatch.setattr(json_reader, "_AT_ONCE", n)
        monkeypatch.setattr(json_writer, "_MOST", n)

    return set_size


@given(document=OBJECTS, n=st.integers(1, 60), blanks=st.booleans(), ascii_only=st.booleans())
def test_what_is_read_in_pieces_is_what_json_reads(document, n, blanks, ascii_only):
    text = json.dumps(document, indent=1 if blanks else None, ensure_ascii=ascii_only)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_reader, "_AT_ONCE", n)
        actual = read(text)
    assert actual == document
    assert repr(actual) == repr(json.loads(text))  # and in the same order


@given(
    document=OBJECTS,
    n=st.integers(1, 60),
    place=st.integers(0, 400),
    put=st.sampled_from(["", ",", "]", "[", "{", "}", '"', "\\", ":", "0", "e", " ", "\0", "\xff"]),
)
@settings(max_examples=200)
def test_what_json_refuses_is_refused_in_pieces(document, n, place, put):
    text = json.dumps(document)
    place = min(place, len(text))
    changed = text[:place] + put + text[place + (len(put) == 0) :]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_reader, "_AT_ONCE", n)
        try:
            expected = json.loads(changed)
            assert isinstance(expected, dict)
        except (ValueError, AssertionError):
            with pytest.raises(ValueError, match=r".+"):
                read(changed)
            return
        try:
            actual = read(changed)
        except ValueError as error:
            assert "twice" in str(error)  # noqa: PT017  # which json lets pass
        else:
            assert repr(actual) == repr(expected)


@given(document=OBJECTS, n=st.integers(1, 30))
def test_what_is_written_in_pieces_is_what_json_writes(document, n):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_writer, "_MOST", n)
        written = b"".join(write_json(document))
    assert written == json.dumps(document, separators=(",", ":")).encode() + b"\n"


def test_pieces_are_small():
    rng = np.random.default_rng(0)
    document = {
        "format": "a text comes first",
        "trees": [{"a": rng.random(60).tolist(), "b": rng.random((60, 2)).tolist()}] * 1000,
        "tables": rng.random((1000, 255)).tolist(),
        "models": [{}, {"tables": rng.random((200, 255)).tolist()}, {}],
        "values": rng.random(100_000).tolist(),
        "pairs": rng.random((30_000, 2)).tolist(),
    }
    sizes = [len(piece) for piece in write_json(document)]
    assert max(sizes) < 2**20
    assert len(sizes) < 1000
    assert json.loads(b"".join(write_json(document))) == document


def test_numbers_that_json_does_not_have_are_refused():
    for number in (math.inf, -math.inf, math.nan):
        with pytest.raises(ValueError, match="not JSON compliant"):
            list(write_json({"a": [number]}))
    for text in ("NaN", "Infinity", "-Infinity"):
        with pytest.raises(ValueError, match=f"{text} is not allowed"):
            read(f'{{"a": {text}}}')


@pytest.mark.parametrize("n", [7, 2**20])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "does not hold an object|Expecting value"),
        (b" \n", "Expecting value"),
        (b"[1]", "does not hold an object"),
        (b"\xef\xbb\xbf{}", "does not hold an object"),
        ('{"a":1}'.encode("utf-16"), "does not hold an object"),
        (b"\0" * 100, "does not hold an object"),
        (b'{"a":"' + b"x" * 20 + b"\xff" + b'"}', "can't decode byte 0xff"),
        (b'{"a":"\xed\xa0\x80"}', "can't decode byte 0xed"),
        (b'{"a":"\0"}', "Invalid control character"),
        (b'{"a":1,,"b":2}', "Expecting"),
        (b'{"a":[1,2,3,],"b":2}', "Expecting|Illegal trailing comma"),
        (b'{"a":[1,2,3}', "Expecting"),
        (b'{"a":1}}', "Extra data"),
        (b'{"a":1} {}', "Extra data"),
        (b'{"a":1}' + b" " * 30 + b"x", "Extra data"),
        (b'{"a":1,"b":2,"a":3}', "key 'a' twice"),
        (b'{"a":[{"b":1,"c":[],"b":2}]}', "key 'b' twice"),
        (b'{"(continued)":[1,2,3,4,5,6,7,8],"(continued)":[0]}', "twice"),
        (b'{"a":' + b"1" * 5000 + b"}", "digits"),
        (b'{"a":[0,0,0,0,0,0,0,0,0,0,0,0', "Expecting"),
        (b'{"a":"no end', "Unterminated string"),
        (b'{"a":yes}', "Expecting value near byte 5"),
        (b'{"a":1,"bc":[1,2,3,4,5,6,7,x]}', "Expecting value near byte 27"),
    ],
    ids=lambda value: repr(value[:20]) if isinstance(value, bytes) else None,
)
def test_other_text_is_refused(text, message, n, few_at_once):
    few_at_once(n)
    with pytest.raises(ValueError, match=message):
        read(text)


@pytest.mark.parametrize("n", [7, 2**20])
def test_depth_is_bounded(n, few_at_once):
    few_at_once(n)
    for opening, closing in ("[]", "{}"):
        key = '"k":' if opening == "{" else ""
        fits = f'{{"a":{(opening + key) * (MOST_DEPTH - 2)}{opening}{closing * (MOST_DEPTH - 1)}}}'
        assert read(fits) == json.loads(fits)
        for deep in (fits.replace(opening * 2, opening * 3), f'{{"a":{(opening + key) * 10**5}'):
            if deep.count(opening) > MOST_DEPTH:
                with pytest.raises(ValueError, match=f"nested more than {MOST_DEPTH} deep"):
                    read(deep)
    in_a_string = '{"a":"' + "[{" * 1000 + '\\"' + "[" * 100 + '"}'
    assert read(in_a_string) == json.loads(in_a_string)


@pytest.mark.parametrize("n", [1000, 2**20])
def test_the_number_of_keys_is_bounded(n, few_at_once):
    few_at_once(n)
    fits = {str(k): 0 for k in range(MOST_KEYS)}
    assert read(json.dumps({"a": fits})) == {"a": fits}
    with pytest.raises(ValueError, match=f"more than {MOST_KEYS} keys"):
        read(json.dumps({"a": fits | {"one more": 0}}))


def test_what_is_endless_is_refused_at_once():
    for path in ("/dev/zero", "/dev/urandom"):
        with open(path, "rb") as endless, pytest.raises(ValueError, match="not hold an object"):  # noqa: PTH123
            read_json(endless)


@given(st.lists(st.text(st.sampled_from("a\\\ud83d\ude00\U0001f600\ud800"), max_size=4)))
def test_a_text_that_would_be_read_as_another_is_not_written(texts):
    """Both halves of a surrogate pair together have the escapes of the whole character."""
    joined = [text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
              for text in texts]  # fmt: skip
    if joined == texts:
        assert read(b"".join(write_json({"texts": texts})))["texts"] == texts
    else:
        with pytest.raises(ValueError, match="both halves of a surrogate pair"):
            b"".join(write_json({"texts": texts}))
