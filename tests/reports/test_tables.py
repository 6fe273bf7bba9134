"""Tables: read back with a parser, cell by cell."""

from html.parser import HTMLParser

from samekind.evaluation import Row
from samekind.reports.tables import answers, question_table


class Reader(HTMLParser):
    """Lines of cells; what is bold is between stars."""

    def __init__(self, html):
        super().__init__()
        self.lines = []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        if tag == "tr":
            self.lines.append([])
        if tag in ("td", "th"):
            self.lines[-1].append("")
        if tag == "b":
            self.handle_data("*")

    def handle_endtag(self, tag):
        if tag == "b":
            self.handle_data("*")

    def handle_data(self, data):
        if self.lines and self.lines[-1]:
            self.lines[-1][-1] += data


def test_systems_and_kinds_are_columns_measures_and_items_lines(rows):
    other = [Row("verification", "seen", "EER", "similarity", 0.005)]
    assert Reader(question_table({"mine": rows, "other": other}, "verification")).lines == [
        ["", "mine", "other"],
        ["", "similarity", "cosine", "similarity"],
        ["EER, %", "seen", "2.00", "1.00", "*0.50*"],
        ["unseen", "*20.00*", "30.00", "\u2013"],
    ]


def test_an_interval_is_written_behind_the_value(rows):
    lines = Reader(question_table({"mine": rows}, "few-shot")).lines
    assert lines[-1] == ["5-way 1-shot, %", "seen", "90.00 (88.0\u201392.0)"]


def test_the_unit_of_the_intervals_is_said_once(rows):
    html = answers({"mine": [*rows, rows[0]._replace(low=0.01, high=0.03, unit="classes")]})
    assert html.count("In brackets the 95 % interval over classes.") == 1
    assert html.count("In brackets") == 1


def test_a_note_stands_beside_the_items(rows):
    noted = [row._replace(note="selected on test") for row in rows]
    lines = Reader(question_table({"mine": noted}, "clustering")).lines
    assert lines[-1] == ["NMI", "seen, selected on test", "0.925"]


def test_information_has_no_unit(rows):
    assert Reader(question_table({"mine": rows}, "clustering")).lines[-1] == ["NMI", "seen", "0.925"]


def test_lines_of_a_measure_are_together_though_rows_come_by_items():
    rows = [
        Row("retrieval", items, measure, "cosine", 0.5)
        for items in ("seen", "unseen")
        for measure in ("Recall@1", "Recall@2")
    ]
    lines = Reader(question_table({"mine": rows}, "retrieval")).lines[2:]
    assert [line[:-1] for line in lines] == [
        ["Recall@1, %", "seen"],
        ["unseen"],
        ["Recall@2, %", "seen"],
        ["unseen"],
    ]


def test_a_head_spans_the_kinds_of_its_system(rows):
    assert 'colspan="2"><span>mine</span>' in question_table({"mine": rows}, "verification")


def test_questions_come_in_their_order_each_with_its_words(rows):
    html = answers({"mine": [*rows, Row("weather", "seen", "rain", "cosine", 0.5)]})
    places = [
        html.index(words)
        for words in (
            "Are these two the same kind?",
            "It misjudges 2.0\u00a0%",
            "A new class, from a few examples?",
            "What groups are here?",
            "weather",
            "What the measures mean",
        )
    ]
    assert places == sorted(places)
    assert "Which class is it?" not in html


def test_every_name_is_text_whatever_it_is_called():
    row = Row("<i>question", "<u>items", "<s>measure", "<em>kind", 0.5)
    html = answers({"<b>system": [row]})
    for tag in ("<i>", "<u>", "<s>", "<em>", "<b>"):
        assert tag not in html
    assert "&lt;b&gt;system" in html


def test_an_upside_down_score_gets_a_warning():
    wrong = Row("open set", "seen, unseen", "AUROC", "cosine", 0.2, 0.1, 0.3, "items")
    page = answers({"good": [wrong._replace(high=0.7)], "<bad>": [wrong]})
    assert page.count("Careful") == 1
    assert '<b>Careful, "&lt;bad&gt;": unknown items look more familiar than known ones by cosine (' in page


def test_baselines_are_a_question_of_their_own():
    own = Row("classification", "seen", "accuracy", "similarity", 0.5, 0.4, 0.6)
    html = answers({"a": [own, Row("reference", "seen", "accuracy", "nearest raw input", 0.7)]})
    assert html.count("<h3>How good is it without training?</h3>") == 1
    assert "Careful" not in html  # the page begins with it


def test_baselines_are_shown_once_for_all_systems():
    result = Row("reference", "seen", "accuracy", "nearest raw input", 0.7)
    assert answers({"a": [result], "b": [result]}).count("70.00") == 1
    assert "<span>a and b</span>" in answers({"a": [result], "b": [result]})
    assert answers({"a": [result], "b": [result._replace(value=0.6)]}).count("<span>") == 2


def test_many_columns_of_one_table_make_all_of_them_narrow(rows):
    wide = [rows[0]._replace(kind=f"score {n}") for n in range(6)]
    assert answers({"mine": rows + wide}).count('<div class="many">') == 1
    assert '<div class="few">' in answers({"mine": rows + wide[:3]})


def test_no_rows_no_blocks():
    assert answers({"mine": []}) == ""
