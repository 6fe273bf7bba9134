"""Settings are read strictly: what is not understood is refused, in words that help."""

import json
import re
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samekind.errors import SettingError
from samekind.settings import Between, check, override, read, typed, write


@dataclass(frozen=True)
class Inner:
    size: int
    label: str = "none"


@dataclass(frozen=True)
class Named:
    name: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Outer:
    inner: Inner
    ratio: float = 0.5
    mode: Literal["fast", "slow"] = "fast"
    counts: tuple[int, ...] = ()
    limit: float | None = None
    flag: bool = False
    table: dict[str, Inner] = field(default_factory=dict)
    part: Named | None = None
    parts: tuple[Named, ...] = ()


WHOLE = {
    "inner": {"size": 3, "label": "x"},
    "ratio": 0.25,
    "mode": "slow",
    "counts": [1, 2],
    "limit": 1.5,
    "flag": True,
    "table": {"a": {"size": 1}, "b": {"size": 2, "label": "two"}},
    "part": {"name": "MLP", "hidden": [8, 8], "dropout": 0.1},
    "parts": [{"name": "Flip", "vertical": True}, {"name": "Blur"}],
}


def test_every_kind_of_field_is_read():
    assert read(Outer, WHOLE) == Outer(
        inner=Inner(3, "x"),
        ratio=0.25,
        mode="slow",
        counts=(1, 2),
        limit=1.5,
        flag=True,
        table={"a": Inner(1), "b": Inner(2, "two")},
        part=Named("MLP", {"hidden": [8, 8], "dropout": 0.1}),
        parts=(Named("Flip", {"vertical": True}), Named("Blur")),
    )


def test_missing_settings_have_their_defaults():
    assert read(Outer, {"inner": {"size": 3}}) == Outer(Inner(3))


def test_an_instance_is_taken_as_it_is():
    assert read(Outer, {"inner": Inner(7)}).inner == Inner(7)


def test_a_whole_number_is_a_float_but_nothing_else_is_converted():
    ratio = read(Outer, {"inner": Inner(1), "ratio": 2}).ratio
    assert ratio == 2.0
    assert isinstance(ratio, float)


def test_none_is_taken_where_it_is_allowed():
    assert read(Outer, {"inner": Inner(1), "limit": None, "part": None}) == Outer(Inner(1))


def test_the_text_none_is_null_where_that_is_allowed():
    changed = read(Outer, WHOLE | {"limit": "none", "part": "none", "table": {"a": "none", "b": {"size": 2}}})
    assert (changed.limit, changed.part, changed.table) == (None, None, {"b": Inner(2)})
    unchanged = read(
        Outer, WHOLE | {"inner": {"size": 1, "label": "none"}, "part": {"name": "none", "freeze": "none"}}
    )
    assert unchanged.inner == Inner(1, "none")
    assert unchanged.part == Named("none", {"freeze": "none"})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"inner": 3}, ["run.inner", "a table of settings", "3"]),
        ({"inner": {"size": "3"}}, ["run.inner.size", "a whole number", "'3'"]),
        ({"inner": {"size": 3.0}}, ["run.inner.size", "a whole number", "3.0"]),
        ({"inner": {"size": True}}, ["run.inner.size", "a whole number", "True"]),
        ({"inner": {"size": None}}, ["run.inner.size", "a whole number", "None"]),
        ({"inner": {"size": 1, "label": 5}}, ["run.inner.label", "a text", "5"]),
        ({"ratio": "0.5"}, ["run.ratio", "a number", "'0.5'"]),
        ({"ratio": True}, ["run.ratio", "a number", "True"]),
        ({"ratio": None}, ["run.ratio", "a number", "None"]),
        ({"flag": 1}, ["run.flag", "true or false", "1"]),
        ({"flag": "true"}, ["run.flag", "true or false", "'true'"]),
        ({"limit": "nothing"}, ["run.limit", "a number", "'nothing'"]),
        ({"ratio": "none"}, ["run.ratio", "a number", "'none'"]),
        ({"inner": "none"}, ["run.inner", "a table of settings", "'none'"]),
        ({"mode": "slwo"}, ["run.mode", '"slwo"', 'did you mean "slow"?']),
        ({"mode": 3}, ["run.mode", '"3"', "fast, slow"]),
        ({"counts": 3}, ["run.counts", "a list", "3"]),
        ({"counts": "12"}, ["run.counts", "a list", "'12'"]),
        ({"counts": [1, 2.5]}, ["run.counts[1]", "a whole number", "2.5"]),
        ({"counts": [1, True]}, ["run.counts[1]", "a whole number", "True"]),
        ({"table": [1]}, ["run.table", "a table of settings"]),
        ({"table": {"a": {"size": "x"}}}, ["run.table.a.size", "a whole number"]),
        ({"table": {"a": {"siez": 1}}}, ["run.table.a", '"siez"', 'did you mean "size"?']),
        ({"part": {}}, ["run.part", "missing name"]),
        ({"part": {"name": 3}}, ["run.part.name", "a text", "3"]),
        ({"part": {"name": "MLP", "arguments": 5}}, ["run.part.arguments", "a table of settings", "5"]),
        ({"ratoi": 0.1}, ["run:", '"ratoi"', 'did you mean "ratio"?']),
        ({"zzzzzz": 0.1}, ["run:", '"zzzzzz"', "Known: counts, flag, inner"]),
    ],
)
def test_refuses_a_wrong_value_with_its_place(change, words):
    with pytest.raises(SettingError) as refusal:
        read(Outer, WHOLE | change)
    for word in words:
        assert word in str(refusal.value)


def test_refuses_missing_settings():
    with pytest.raises(SettingError, match="run: missing inner"):
        read(Outer, {})
    with pytest.raises(SettingError, match=r"run\.inner: missing size"):
        read(Outer, {"inner": {}})


@pytest.mark.parametrize("values", [[], "text", None, 3])
def test_refuses_anything_but_a_table(values):
    with pytest.raises(SettingError, match="here: expected a table of settings"):
        read(Outer, values, where="here")


def test_arguments_are_collected_flat_and_laid_flat_again():
    part = read(Named, {"name": "MLP", "hidden": [8], "arguments": {"dropout": 0.1}})
    assert part == Named("MLP", {"dropout": 0.1, "hidden": [8]})
    assert write(part) == {"name": "MLP", "dropout": 0.1, "hidden": [8]}


def test_typed_is_strict_about_a_single_value():
    assert typed(float, 2, "there") == 2.0
    with pytest.raises(SettingError, match="there: expected a number, got 'x'"):
        typed(float, "x", "there")


names = st.text(st.characters(codec="ascii", categories=["Ll"]), min_size=1, max_size=6)
whole_numbers = st.integers(-1000, 1000)
numbers = st.floats(allow_nan=False)
inners = st.builds(Inner, size=whole_numbers, label=st.text(max_size=5))
plain = st.recursive(
    st.none() | st.booleans() | whole_numbers | numbers | st.text(max_size=5),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(names, values, max_size=3),
    max_leaves=4,
)
arguments = st.dictionaries(names.filter(lambda name: name not in ("name", "arguments")), plain, max_size=3)
outers = st.builds(
    Outer,
    inner=inners,
    ratio=numbers,
    mode=st.sampled_from(["fast", "slow"]),
    counts=st.lists(whole_numbers, max_size=3).map(tuple),
    limit=st.none() | numbers,
    flag=st.booleans(),
    table=st.dictionaries(names, inners, max_size=3),
    part=st.none() | st.builds(Named, name=names, arguments=arguments),
)


@given(outers)
def test_written_settings_are_read_back(outer):
    assert read(Outer, write(outer)) == outer
    assert read(Outer, json.loads(json.dumps(write(outer)))) == outer


def test_override_replaces_one_setting_and_leaves_the_rest_untouched():
    before = json.loads(json.dumps(WHOLE))
    after = override(WHOLE, "table.b.size", 9)
    assert after["table"] == {"a": {"size": 1}, "b": {"size": 9, "label": "two"}}
    assert {key: after[key] for key in after if key != "table"} == {
        key: before[key] for key in before if key != "table"
    }
    assert before == WHOLE  # the one it was made from stays as it was


def test_override_at_the_top_and_of_a_new_key():
    assert override({"a": 1}, "a", 2) == {"a": 2}
    assert override({"a": {"b": 1}}, "a.c", 2) == {"a": {"b": 1, "c": 2}}
    assert override({"a": {"b": 1}}, "a", {"c": 2}) == {"a": {"c": 2}}


def test_override_begins_a_table_that_was_left_out():
    assert override({"a": 1, "b": None}, "b.c", 2) == {"a": 1, "b": {"c": 2}}
    with pytest.raises(SettingError, match=r'there is no table "c" to set "c\.d" in'):
        override({"b": None}, "b.c.d", 2)


@pytest.mark.parametrize("path", ["tabel.b.size", "ratio.x", "table.c.size", "part.hidden.first"])
def test_override_refuses_a_missing_table(path):
    with pytest.raises(SettingError, match=f'there is no table ".*" to set ".*{path.partition(".")[2]}"'):
        override(WHOLE, path, 1)


TABLES = {"list": [{"name": "A", "x": 1}, {"name": "B"}, {"name": "B", "x": 3}, {"x": 4}]}


@pytest.mark.parametrize(
    ("path", "place", "expected"),
    [
        ("list.A.x", 0, {"name": "A", "x": 9}),
        ("list.0.x", 0, {"name": "A", "x": 9}),
        ("list.2.x", 2, {"name": "B", "x": 9}),
        ("list.3.new", 3, {"x": 4, "new": 9}),
        ("list.1", 1, 9),
    ],
)
def test_override_finds_a_table_in_a_list_by_name_or_number(path, place, expected):
    before = json.loads(json.dumps(TABLES))
    after = override(TABLES, path, 9)["list"]
    assert after[place] == expected
    assert [entry for index, entry in enumerate(after) if index != place] == [
        entry for index, entry in enumerate(before["list"]) if index != place
    ]
    assert before == TABLES


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("list.B.x", 'list: there are 2 of "B"'),
        ("list.4.x", 'list: there is no "4"'),
        ("list.C.x", 'list: there is no "C" to set "C.x" in'),
    ],
)
def test_override_refuses_a_table_missing_from_a_list(path, message):
    with pytest.raises(SettingError, match=re.escape(message)):
        override(TABLES, path, 1)


def test_override_suggests_the_table_that_was_meant():
    with pytest.raises(SettingError, match=r'no table "tabel".*did you mean "table"'):
        override(WHOLE, "tabel.b.size", 1)


@dataclass(frozen=True)
class Ranged:
    side: Annotated[int, Between(1, 9)] | tuple[int, int] = 1
    share: Annotated[int | float, Between(0)] = 0
    names: tuple[str, ...] | Literal["all"] = ()

    def __post_init__(self):
        check(self, where="here")


def test_check_takes_values_in_range_and_turns_lists_into_tuples():
    assert Ranged(side=[2, 3], names=["a"]) == Ranged(side=(2, 3), names=("a",))
    assert Ranged(share=2).share == 2
    assert isinstance(Ranged(share=2).share, int)
    assert Ranged(names="all").names == "all"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"side": 0}, "here.side: expected a whole number (from 1 to 9) or a list of 2; got 0"),
        (
            {"side": (1, 2, 3)},
            "here.side: expected a whole number (from 1 to 9) or a list of 2; got (1, 2, 3)",
        ),
        ({"share": -0.5}, "here.share: expected a whole number or a number (0 or more); got -0.5"),
        ({"share": float("nan")}, "here.share: expected a whole number or a number (0 or more); got nan"),
        ({"share": float("inf")}, "here.share: expected a whole number or a number (0 or more); got inf"),
        ({"names": "some"}, "here.names: expected a list of texts or \"all\"; got 'some'"),
    ],
)
def test_check_refuses_a_wrong_value(values, message):
    with pytest.raises(SettingError, match=re.escape(message)):
        Ranged(**values)
