"""Arrays and JSON of anybody: NumPy's own files come back, and whatever else ends in a sentence."""

import contextlib
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from samekind.plain_files import map_npy, read_json, read_npy, read_toml


def saved(array, version=None):
    content = io.BytesIO()
    np.lib.format.write_array(content, array, version=version)
    return content.getvalue()


def read(content):
    return read_npy(io.BytesIO(content), size=len(content))


KINDS = st.one_of(
    arrays.floating_dtypes(),
    arrays.integer_dtypes(),
    arrays.unsigned_integer_dtypes(),
    arrays.boolean_dtypes(),
    arrays.unicode_string_dtypes(min_len=1, max_len=3),
)


@given(
    arrays.arrays(KINDS, arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)), st.booleans()
)
def test_what_numpy_wrote_comes_back(array, columns_first):
    array = np.asfortranarray(array) if columns_first else array
    again = read(saved(array))
    assert again.dtype == array.dtype
    assert again.flags.writeable
    np.testing.assert_array_equal(again, array)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_version_of_the_format(version, tmp_path):
    array = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(read(saved(array, version)), array)
    (tmp_path / "a.npy").write_bytes(saved(array, version))
    np.testing.assert_array_equal(map_npy(tmp_path / "a.npy"), array)


def test_a_mapped_array_does_not_change_the_file(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3))
    map_npy(tmp_path / "a.npy")[:] = 1
    assert not np.load(tmp_path / "a.npy").any()


def with_header(text):
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode("latin1") + bytes(24)


PLAIN = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"


def test_headers_of_other_programs():
    for text in (
        PLAIN,
        PLAIN.replace("'", '"'),
        "{'shape':(2,3),'descr':'<f4','fortran_order':False}\n",
        PLAIN.replace("2, 3", "2L, 3L"),
    ):
        assert read(with_header(text)).shape == (2, 3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (PLAIN.replace("2, 3", "2, 3000000000000"), "asks for 24,000,000,000,000 bytes"),
        (PLAIN.replace("2, 3", "0, 99999999999999999999999"), "asks for 0 bytes"),
        (PLAIN.replace("2, 3", "1," * 40), "asks for 4 bytes"),
        (PLAIN.replace("2, 3", "-2, 3"), "does not say"),
        (PLAIN.replace("<f4", "|O"), 'type "|O", not numbers or texts'),
        (PLAIN.replace("<f4", "<f3"), 'type "<f3"'),
        (PLAIN.replace("<f4", "<U0"), 'type "<U0"'),
        (PLAIN.replace("<f4", "<U" + "9" * 30), "type"),
        (PLAIN.replace("'<f4'", "[('a', '<f4')]"), "does not say"),
        (PLAIN.replace("False", "'no'"), "does not say"),
        (PLAIN.replace("(2, 3)", "True"), "does not say"),
        (PLAIN.replace("shape", "descr"), "does not say"),
        ("(" * 5000, "does not say"),
        (PLAIN + " " * 20_000, "longer than 10,000"),
        ("", "does not say"),
    ],
)
def test_a_header_that_asks_for_too_much_or_says_too_little(text, says):
    with pytest.raises(ValueError, match=says.replace("|", r"\|")):
        read(with_header(text))


@settings(max_examples=200)
@given(st.integers(0, 150), st.binary(min_size=1, max_size=6), st.integers(0, 170))
def test_any_bytes_give_an_array_or_a_sentence(place, patch, length):
    content = saved(np.arange(8, dtype=np.int32))
    content = (content[:place] + patch + content[place + len(patch) :])[:length]
    with contextlib.suppress(ValueError):
        assert read(content).nbytes <= len(content)


def test_texts_of_impossible_letters_are_refused():
    content = bytearray(saved(np.array(["ab", "c"])))
    content[-1] = 0x7F
    with pytest.raises(ValueError, match="something other than letters"):
        read(bytes(content))


def test_a_stream_that_is_shorter_than_it_says():
    content = saved(np.arange(8))
    with pytest.raises(ValueError, match="it ends after"):
        read_npy(io.BytesIO(content[:-1]), size=len(content))


@pytest.mark.parametrize("text", ["[" * 100_000, "{", b"\xff\xfe", "1" * 5000, ""])
def test_anything_but_json_is_a_value_error(text):
    with pytest.raises(ValueError, match=r"\w"):
        read_json(text)


@pytest.mark.parametrize("text", [b"a = " + b"[" * 100_000, b"a", b'a = "\xff"'])
def test_anything_but_toml_is_a_value_error(text):
    with pytest.raises(ValueError, match=r"\w"):
        read_toml(text)


def test_json_is_read():
    assert read_toml(b"a = [1]") == {"a": [1]}
    assert read_json(b'{"a": [1, 2.5, null]}') == {"a": [1, 2.5, None]}


def test_a_key_that_comes_twice_may_be_refused():
    assert read_json('{"a": 1, "a": 2}') == {"a": 2}
    with pytest.raises(ValueError, match='"a" is there twice'):
        read_json('{"b": {"a": 1, "a": 2}}', keys_once=True)
