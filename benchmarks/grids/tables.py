"""Tables of a grid's results in Markdown, and the page they stand on.

Intervals are 95% intervals over seeds by Student's t; a difference is paired: both systems of a seed had the
same split. What was run once has no interval.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from grids.claims import Claim, compared, in_words, p_value
from grids.results import Results
from samekind.measures import holm, student_interval
from samekind.storage import write_text

#: What is called sure: wrong in at most so many of all cases.
LEVEL = 0.05
#: What stands in the place of a table without rows.
NOTHING = "Not run yet."


def page_with(page: str, written: str, *, mark: str = "tables") -> str:
    """The page with the tables between its two marks, ``<!-- tables: begin -->`` and its end."""
    begins, ends = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
    before, begin, rest = page.partition(begins)
    _, end, after = rest.partition(ends)
    if not begin or not end:
        raise SystemExit(f"the page has no {begins} … {ends} to write the tables between")
    return f"{before}{begins}\n\n{written}\n\n{ends}{after}"


def page_of(page: Path, mark: str) -> Path:
    """Where tables stand: on the page, or on the one beside it for older runs, which is "-older" in name."""
    beside = page.with_name(f"{page.stem}-older{page.suffix}")
    has_mark = f"<!-- {mark}: begin -->" in page.read_text(encoding="utf-8")
    return beside if not has_mark and beside.exists() else page


def write_tables(page: Path, written: str, *, mark: str) -> None:
    """Write tables between their marks."""
    path = page_of(page, mark)
    write_text(path, page_with(path.read_text(encoding="utf-8"), written, mark=mark))


def show(written: str, page: Path | None, *, mark: str) -> None:
    """Print what is ``written``, or write it between the marks of a page."""
    if page is None:
        print(written)
    else:
        write_tables(page, written, mark=mark)


def one_length(results: Results) -> int:
    """The number of epochs of all runs; a mixture of several is refused."""
    epochs = {content["run"]["epochs"] for content in results.contents.values() if content["run"] is not None}
    if len(epochs) > 1:
        raise SystemExit(f"expected runs of equally many epochs, got {sorted(epochs)}: keep one kind of them")
    return int(epochs.pop()) if epochs else 0


def runs_done(results: Results) -> str:
    """The length of all runs and the number of seeds of each, in a sentence."""
    runs = ", ".join(f"{name} ({len(results.seeds(name))})" for name in results.variants())
    length = one_length(results)
    begun = f"Runs of {length} epochs" if length else "Networks that are not trained"
    return f"{begun}, with the number of seeds of each: {runs}."


def mean_of(results: Results, variant: str, measure: str, kind: str, *, epoch: str = "rows") -> str:
    """Mean and half of its interval over seeds; a single value as it is; nothing where there is none."""
    return with_interval(list(results.values(variant, measure, kind, epoch=epoch).values()))


def with_interval(values: Sequence[float], *, digits: int = 2) -> str:
    """The mean and half of its interval over seeds."""
    if len(values) < 2:
        return f"{values[0]:.{digits}f}" if values else ""
    interval = student_interval(values)
    return f"{interval.mean:.{digits}f} ± {interval.half:.{digits}f}"


def markdown(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return NOTHING
    rule = ["--:" if _is_number(cell) else "---" for cell in rows[0]]
    return "\n".join(f"| {' | '.join(row)} |" for row in (heading, rule, *rows))


def sections(tables: Mapping[str, str]) -> list[str]:
    """Tables under their headings; those that have no row yet are left out."""
    return [f"### {title}\n\n{written}" for title, written in tables.items() if written != NOTHING]


def folded(title: str, content: str) -> str:
    """Tables that few will read, behind a line that opens them."""
    return f"<details>\n<summary>{title}</summary>\n\n{content}\n\n</details>"


def claims_table(results: Results, claims: Sequence[Claim]) -> str:
    """Each claim that both sides were run for, with the difference and the verdict, and what of it is left
    when all claims of the table but the primary one are corrected for their number.
    """
    heading = ["claim", "measured", "difference, points", "seeds", "verdict", "p", "p by Holm", "after Holm"]
    measured = [(claim, *compared(results, claim)) for claim in claims]
    measured = [(claim, first, second) for claim, first, second in measured if first]
    p_values = [p_value(*entry) for entry in measured]
    many = [
        place for place, value in enumerate(p_values) if value is not None and not measured[place][0].primary
    ]
    corrected = dict(zip(many, holm([p_values[place] or 0.0 for place in many]), strict=True))
    rows = []
    for place, (claim, first, second) in enumerate(measured):
        outcome, p = in_words(claim, first, second), p_values[place]
        sentence = f"**Primary.** {claim.sentence}" if claim.primary else claim.sentence
        row = [sentence, claim.measured, outcome.difference, str(len(first)), outcome.verdict, _chance(p)]
        if place in corrected:
            left = outcome.verdict if corrected[place] < LEVEL else "cannot be told"
            rows.append([*row, _chance(corrected[place]), left])
        else:
            rows.append([*row, "", outcome.verdict if claim.primary else ""])
    return markdown(heading, rows)


def _chance(p: float | None) -> str:
    return "" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def cost(results: Results) -> str:
    """What a run took."""
    seconds = [content["seconds"] for content in results.contents.values() if content["run"] is not None]
    if not seconds:
        return ""
    training, evaluation = (median(parts[name] for parts in seconds) for name in ("training", "evaluation"))
    return (
        f"A run took {training:.0f} s to train and {evaluation:.0f} s to evaluate (medians of "
        f"{len(seconds)}, several at a time on one device; of a run that was resumed, its last part)."
    )


def _is_number(cell: str) -> bool:
    return not cell or cell.lstrip("*+-< ")[:1].isdecimal()
