"""The sections about the run."""

from samekind.decisions import Ladder, Rung
from samekind.evaluation import Row
from samekind.reports import System
from samekind.reports.measured import measure
from samekind.reports.run_sections import answers_section, gains_section, ladder_section, training_section


def test_the_answers_say_what_was_asked_about(vectors, space_for, rows):
    systems = {"mine": System(space_for(vectors), rows)}
    sets = {"seen": measure(systems, vectors), "unseen": measure(systems, vectors.only(["2"]))}
    section = answers_section(systems, sets)
    assert section.caption.startswith("Seen: 24 items of 3 classes. Unseen: 8 items of 1 class. ")
    assert "It misjudges" in section.html


def test_whether_training_paid_is_said_for_each_system(vectors, space_for):
    space = space_for(vectors)
    own = Row("classification", "seen", "accuracy", "similarity", 0.8, 0.75, 0.85)
    reference = Row("reference", "seen", "accuracy", "<nearest> raw input", 0.7)
    assert gains_section({"mine": System(space, [own])}) is None
    html = gains_section({"mine": System(space, [own, reference])}).html
    assert html.startswith("<p><b>It beats its start, the raw input, in 1 of 1 measures.</b></p>")
    assert "beats 70.00\u00a0% by &lt;nearest&gt; raw input: +10.00 points" in html
    two = {"<a>": System(space, [own, reference]), "b": System(space, [reference])}
    assert gains_section(two).html.count("<b>&lt;a&gt;: It beats") == 1


def test_training_is_shown_for_the_systems_that_have_a_record(vectors, space_for, record):
    space = space_for(vectors)
    systems = {"mine": System(space, [], record), "other": System(space, [])}
    assert len(training_section(systems).figure.axes) == 2
    assert training_section({"other": System(space, [])}) is None


def test_an_adversary_is_explained_where_there_is_one(vectors, space_for, record):
    result = {"coefficient": 0.1, "loss": 1.0, "plain_loss": 0.5}
    watched = [{**entry, "adversary": result} for entry in record]
    for entries, expected in ((record, False), (watched, True)):
        section = training_section({"mine": System(space_for(vectors), [], entries)})
        assert ("class adversary" in section.caption) == expected


def test_the_ladder_is_a_table_with_the_kept_rung_marked(vectors, space_for):
    assert ladder_section({"plain": System(space_for(vectors), [])}) is None
    space = space_for(vectors)
    rungs = (
        Rung("raw <input>", 0.5, 0.25, "similarity", "similarity", 2.0, (0.4, 0.6)),
        Rung("encoder trained", 0.75, 0.125, "fitted", "normalised", 61.2, accuracy=0.875),
    )
    space.ladder = Ladder(rungs, "encoder trained", "4 folds of 2 classes")
    section = ladder_section({"house": System(space, [])})
    assert "4 folds of 2 classes" in section.caption
    assert "<td>raw &lt;input&gt;</td><td>50.0% (40.0% to 60.0%)</td><td>25.0%</td><td></td>" in section.html
    assert "<td>87.5%</td><td>61</td><td><b>kept</b></td></tr>" in section.html
    assert section.html.count("kept") == 1
    # Columns of a width of their own: without the class, the page lays all cells over each other.
    assert '<table class="promises">' in section.html
