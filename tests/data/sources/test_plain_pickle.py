"""Pickles of plain things: arrays come as they were, and nothing a file asks for is done."""

import pickle
import pickletools
import struct

import numpy as np
import pytest

from samekind.data.sources.plain_pickle import _NAMES, array_in, read_pickle
from samekind.errors import DataError


def as_python_2_wrote(content):
    """A pickle of protocol 3 with its bytes as the strings they were in Python 2."""
    written = bytearray(content)
    for code, _, place in pickletools.genops(content):
        if code.name in ("BINBYTES", "SHORT_BINBYTES"):
            written[place : place + 1] = b"T" if code.name == "BINBYTES" else b"U"
    return bytes(written)


ARRAY = np.random.default_rng(0).integers(0, 256, (30, 12), dtype=np.uint8)


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize("order", ["C", "F"])
def test_reads_arrays_exactly(protocol, order):
    content = read_pickle(pickle.dumps({"data": np.array(ARRAY, order=order), "n": [1]}, protocol), "it")
    assert content["n"] == [1]
    assert np.array_equal(array_in(content["data"]), ARRAY)


def test_texts_of_python_2_are_bytes():
    written = as_python_2_wrote(pickle.dumps({b"data": ARRAY, b"names": [b"cat"]}, 3))
    assert b"T" + struct.pack("<i", ARRAY.size) in written
    content = read_pickle(written, "it")
    assert content[b"names"] == [b"cat"]
    assert np.array_equal(array_in(content[b"data"]), ARRAY)


@pytest.mark.parametrize("value", [3, b"bytes", np.zeros((2, 2)), np.array([print, len], dtype=object)])
def test_other_values_are_not_arrays(value):
    if isinstance(value, np.ndarray) and value.dtype == object:
        with pytest.raises(DataError, match=r"asks for builtins\.print, which is not run"):
            read_pickle(pickle.dumps(value), "it")
    else:
        assert array_in(read_pickle(pickle.dumps(value), "it")) is None


class Caller:
    """A pickle of it calls a function when it is read."""

    def __init__(self, function, *arguments):
        self.function, self.arguments = function, arguments

    def __reduce__(self):
        return self.function, self.arguments


@pytest.mark.parametrize("protocol", range(5))
def test_refuses_functions(tmp_path, protocol):
    content = pickle.dumps([Caller(open, tmp_path / "made", "w")], protocol)
    with pytest.raises(DataError, match=r"cannot read batch .* asks for \S+, which is not run"):
        read_pickle(content, "batch")
    assert list(tmp_path.iterdir()) == []


def test_refuses_functions_of_numpy(tmp_path):
    content = pickle.dumps(Caller(np.fromfile, tmp_path / "none"))
    with pytest.raises(DataError, match="which is not run"):
        read_pickle(content, "batch")


@pytest.mark.parametrize("named", [name for name, stands_for in _NAMES.items() if stands_for is not None])
def test_a_file_changes_nothing_that_it_names(named):
    """The instruction to give an object its state, with the name itself for the object."""
    module, name = named
    before = dict(vars(_NAMES[named]))
    state = b"}X\x0c\x00\x00\x00__defaults__K\x05K\x06\x86s"
    with pytest.raises(DataError, match="cannot read batch"):
        read_pickle(b"\x80\x02c%s\n%s\nN%s\x86b." % (module.encode(), name.encode(), state), "batch")
    assert dict(vars(_NAMES[named])) == before


@pytest.mark.parametrize("content", [b"", b"no pickle", pickle.dumps(ARRAY)[:-40], b"\x80\x02}q\x00."[:3]])
def test_refuses_a_damaged_file(content):
    with pytest.raises(DataError, match="cannot read batch as pickled lists and arrays"):
        read_pickle(content, "batch")


@pytest.mark.parametrize("shape", [(-1, -12 * 30), (12,), (True, 360)])
def test_a_shape_that_does_not_fit_the_bytes_is_not_an_array(shape):
    content = pickle.dumps(ARRAY.reshape(360), 2)
    (value,) = [read_pickle(content, "it")]
    value.state = (value.state[0], shape, *value.state[2:])
    assert array_in(value) is None
