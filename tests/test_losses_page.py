"""docs/losses.md tells of every loss, and of the defaults and the scores that the code has."""

import ast
import importlib.util
import inspect
import re
from pathlib import Path

import pytest
import torch

from samekind import losses, miners, penalties, prototypes, similarities

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "losses.md").read_text(encoding="utf-8")
PICTURES = ROOT / "docs" / "pictures"


def tables(page, heading):
    """The rows of all tables under a heading and the smaller ones below it: header -> cell, a row each."""
    level = len(heading) - len(heading.lstrip("#"))
    after = page.partition(f"\n{heading}\n")[2]
    section = re.split(rf"^#{{1,{level}}} ", after, maxsplit=1, flags=re.MULTILINE)[0]
    entries = []
    for block in re.findall(r"(?:^\|.*\n)+", section, flags=re.MULTILINE):
        head, _, *rows = [
            [cell.strip() for cell in line.strip("|\n ").split(" | ")] for line in block.splitlines()
        ]
        entries += [dict(zip(head, row, strict=True)) for row in rows]
    return entries


def name_in(cell):
    """`triplet`, or a link that shows it."""
    return re.fullmatch(r"\[?`(\w+)`(?:\]\(.*\))?", cell)[1]


def values_in(cell):
    """`a=1, b='x'` as a dictionary; none is an empty one."""
    if cell == "none":
        return {}
    call = ast.parse(f"f({cell.strip('`')})", mode="eval").body
    return {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}


def defaults_of(member):
    """What may be set and has a value of its own; None and what must be given are filled in elsewhere."""
    parameters = inspect.signature(member).parameters.values()
    return {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.default not in (inspect.Parameter.empty, None)
        and parameter.kind is parameter.KEYWORD_ONLY
    }


LOSSES = {name_in(row["loss"]): row for row in tables(PAGE, "## All losses")}


# --- the page ---------------------------------------------------------------------------------------


def test_every_loss_has_one_row():
    names = [name_in(row["loss"]) for row in tables(PAGE, "## All losses")]
    assert sorted(names) == sorted(losses.__all__)


@pytest.mark.parametrize("name", losses.__all__)
def test_a_loss_is_shown_as_it_is(name):
    row = LOSSES[name]
    assert values_in(row["defaults"]) == defaults_of(getattr(losses, name))
    assert set(row["accepts"].split(", ")) == set(losses.ACCEPTS.get(name, ["any"]))
    assert re.search(r"\]\(\.\./src/(.*)\.py\)", row["loss"])[1].replace("/", ".") == (
        getattr(losses, name).__module__
    )


@pytest.mark.parametrize(
    ("heading", "column", "room", "names"),
    [
        ("## Miners", "miner", miners, miners.__all__),
        ("## Prototypes", "prototypes", prototypes, prototypes.PROTOTYPES),
        ("## Similarities", "similarity", similarities, similarities.SIMILARITIES),
        ("## Penalties", "penalty", penalties, penalties.__all__),
    ],
)
def test_every_member_of_the_other_rooms_has_one_row(heading, column, room, names):
    rows = tables(PAGE, heading)
    assert sorted(name_in(row[column]) for row in rows) == sorted(names)
    for row in rows:
        member = getattr(room, name_in(row[column]))
        assert values_in(row["settings"]) == defaults_of(member)
        if "quantity" in row:
            assert row["quantity"] == member.quantity


def test_every_scale_has_one_row():
    rows = {name_in(row["scale"]): row["what it is"] for row in tables(PAGE, "## Scales")}
    assert sorted(rows) == sorted(similarities.SCALES)
    for name, words in rows.items():
        for text in re.findall(r"`(\w+=[^`]+)`", words):
            ((setting, value),) = values_in(text).items()
            parameter = inspect.signature(getattr(similarities, name)).parameters[setting]
            assert value in (parameter.default, True)


def test_every_loss_is_either_compared_with_the_peer_or_not_there():
    rows = tables(PAGE, "## Against pytorch-metric-learning")
    compared = {re.match(r"`(\w+)`", row["here"])[1] for row in rows}
    sentence = re.search(r"^(`.*) are not there\.$", PAGE, flags=re.MULTILINE)[1]
    missing = set(re.findall(r"`(\w+)`", sentence))
    assert not compared & missing
    assert compared | missing == set(losses.__all__)


def test_the_peer_has_what_the_page_says():
    peers = pytest.importorskip("pytorch_metric_learning.losses", reason="needs the extra `peers`")
    for row in tables(PAGE, "## Against pytorch-metric-learning"):
        assert hasattr(peers, name_in(row["there"]))


def test_the_memory_of_every_loss_is_explained():
    told = " ".join(row["losses"] for row in tables(PAGE, "## Memory"))
    margins = {"additive_margin", "arc_face", "sphere_face"}  # "softmax and its margins"
    assert set(re.findall(r"`(\w+)`", told)) | margins == set(losses.__all__)


# --- its pictures -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("draw_losses", ROOT / "benchmarks" / "draw_losses.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_loss_is_drawn(script):
    drawn = {panel.name for panel in (*script.ON_THE_PLANE, *script.ON_THE_CIRCLE)}
    # Of three classes there is no tree to draw by.
    of_tree = {name for name in losses.__all__ if set(losses.FROM_TREE) & set(keywords_of(name))}
    assert drawn == set(losses.__all__) - of_tree


def keywords_of(name):
    return inspect.signature(getattr(losses, name)).parameters


def test_the_panels_the_page_speaks_of_are_where_it_says(script):
    assert "of the three softmaxes over prototypes, the last three panels," in PAGE
    last = [(panel.name, panel.against) for panel in script.ON_THE_PLANE[-3:]]
    assert last == [("softmax", "prototypes")] * 3


def test_a_panel_reads_scores_its_loss_accepts(script):
    for panel in (*script.ON_THE_PLANE, *script.ON_THE_CIRCLE):
        quantity = panel.similarity.quantity
        assert quantity in losses.ACCEPTS.get(panel.name, (quantity,)), panel.title()


def test_every_picture_is_on_the_page_and_they_are_small(script):
    on_this_page = {path.name for path in PICTURES.iterdir()} - {
        "confidence-all.png",
        "demo.png",
        "page-compare.png",
        "page-map.png",
        "voronoi.png",
    }
    assert on_this_page == {f"{name}.png" for name in script.PICTURES}
    for name in script.PICTURES:
        assert f"(pictures/{name}.png)" in PAGE
    assert sum(path.stat().st_size for path in PICTURES.iterdir()) < 1.5 * 2**20


def test_a_moving_item_is_pushed_as_the_loss_says(script):
    """Finite differences of the batch's mean loss at one place."""
    panel = next(panel for panel in script.ON_THE_PLANE if panel.name == "quadruplet")
    point, step = torch.tensor([[0.3, -0.2]], dtype=torch.double, requires_grad=True), 1e-6
    cost = script.batch_cost(panel, script.ON_PLANE, point)
    (slope,) = torch.autograd.grad(cost, point)
    for axis in range(2):
        moved = point.detach().clone()
        moved[0, axis] += step
        ahead = script.batch_cost(panel, script.ON_PLANE, moved)
        assert (ahead - cost).item() / step == pytest.approx(slope[0, axis].item(), abs=1e-4)


# --- and the reader can fail ------------------------------------------------------------------------

SMALL = """
## One

| loss | defaults |
|---|---|
| [`a`](a.py) | `margin=1.0, kind='x'` |

### Within

| loss | defaults |
|---|---|
| `b` | none |

## Two

| loss | defaults |
|---|---|
| `c` | none |
"""


def test_a_section_ends_where_the_next_begins():
    rows = tables(SMALL, "## One")
    assert [name_in(row["loss"]) for row in rows] == ["a", "b"]
    assert [values_in(row["defaults"]) for row in rows] == [{"margin": 1.0, "kind": "x"}, {}]
    assert tables(SMALL, "## Three") == []


def test_defaults_are_those_of_settings_alone():
    def member(scores, *, between=None, dimension, margin=0.3, soft=False): ...

    assert defaults_of(member) == {"margin": 0.3, "soft": False}
