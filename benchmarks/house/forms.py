"""Which form of similarity pays? Each form of a run against the cosine of the same embeddings."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from grids.tables import markdown, with_interval

HEADING = ("data", "embeddings", "similarity", "seeds", "Recall@1", "EER")
TITLE = "### Forms of similarity against the cosine: points more (of the EER, fewer is better)"

Content = dict[str, Any]


class Form(NamedTuple):
    """A kind of score on a rung, the kind that is the cosine there, and what the table calls both."""

    rung: str
    embeddings: str
    kind: str
    cosine: str
    name: str


FIRST, TRAINED = ("fitted similarity", "first rung"), ("encoder trained", "trained encoder")
FORMS = [
    Form(*place, kind, "similarity", name)
    for place in (FIRST, TRAINED)
    for kind, name in (("fitted", "fitted"), ("normalised", "normalised by a cohort"))
]
FORMS.append(Form("network over pairs", "trained encoder", "similarity", "cosine", "network over pairs"))


def gains(contents: Sequence[Content], form: Form, measure: str) -> list[float]:
    """By run: how many points the form has more than the cosine; runs without the form are left out."""
    kinds = [content["systems"].get(form.rung, {}).get("by kind", {}) for content in contents]
    return [
        100 * (some[form.kind][measure] - some[form.cosine][measure])
        for some in kinds
        if form.kind in some and form.cosine in some
    ]


def forms_table(runs: dict[str, Sequence[Content]], called: Callable[[str], str]) -> str:
    """A row for each set of data and form that was measured there."""
    rows = []
    for data, contents in runs.items():
        for form in FORMS:
            recall, errors = (gains(contents, form, measure) for measure in HEADING[-2:])
            if recall:
                cells = str(len(recall)), with_interval(recall), with_interval(errors)
                rows.append([called(data), form.embeddings, form.name, *cells])
    return f"{TITLE}\n\n{markdown(HEADING, rows)}"
